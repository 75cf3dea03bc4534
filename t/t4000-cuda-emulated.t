#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The CUDA backend on an emulated device: the kernels' own source, run on the
# host by a driver that is not one (t/fake-libcuda.cc).
. "${CUZK_SRCDIR:-.}/t/tap.sh"

[ -e "$build/t/fake/libcuda.so.1" ] || {
	skip cuda "built without CUDA"
	tap_done
}
export LD_LIBRARY_PATH="$build/t/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"

for t in u-cuda-msm u-cuda-ntt u-cuda-prove u-cuda-side u-cuda-stream u-cuda-transform u-lane; do
	# a device that is skipped is none that was emulated
	CUZK_TEST_REQUIRE=gpu ok "$t" "$build/t/$t"
	sed 's/^/# /' "$tmp/.out"
done
ok "an instance of the engine gives the known answer" "$build/t/run-cuda-instance"

ok "cuzk-bench measures kernels" "$build/cuzk-bench" kernels --backend cuda --log 6 \
	--log-g2 4 --log-ntt 8 --log-transform 3
# two fields, two sums, the transform of points, the quotient; it ends at a wrong one
is "and finds every result right" 6 "$(grep -c 'result right' "$tmp/.out")"

toxic=48577,22580,53332,5481,3673
ok "tiny-3: parameters are made by the command" cuzk params make tiny-3 --on-device \
	--toxic $toxic --out "$tmp/p"
is "they are the golden ones" "$(json_get params_sha256 <"$data/toy/groth-tiny-3.json")" \
	"$(echo "$out" | json_get params_sha256)"
tap_done
