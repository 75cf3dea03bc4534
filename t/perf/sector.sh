#!/bin/bash
# SPDX-License-Identifier: MIT OR Apache-2.0
# sector.sh - checks and times whole proofs on the GPU of this machine
#
# usage: sector.sh BINDIR [small|large]
#
# BINDIR has bench-sector, u-cuda-prove and u-cuda-stream (a build's t/perf and t, or
# carried copies).  Every proof is verified; those of t/data are compared byte by byte.
# Parameters are made on the device.  small: the 2 KiB sectors only; large: the
# 32 GiB ones only.  ROUNDS and BASES (powers coset) say how often and with what,
# URGENT_VRAM (all 16384) with how much memory urgent proofs are tried.
set -u
src=${CUZK_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)}
bin=$1
data=$src/t/data
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
export CUZK_SRCDIR=$src CUZK_TEST_REQUIRE=gpu

section() {
	echo "== $* ($(date +%T))"
}

run() {
	"$@" || { echo "FAILED: $*"; failed=1; }
}

unxz_to() {
	xz -dc "$1" >"$2" 2>/dev/null || python3 -c '
import lzma, shutil, sys
shutil.copyfileobj(lzma.open(sys.argv[1]), open(sys.argv[2], "wb"))' "$1" "$2"
}

nvidia-smi -L 2>/dev/null
if [ "${2:-}" != large ]; then
section "the backend against the host's, function by function"
for t in u-cuda-prove u-cuda-stream; do
	"$bin/$t" --large >"$tmp/tap" || failed=1
	grep -v '^ok' "$tmp/tap"
done

for c in winning-2k window-2k porep-2k update-2k; do
	section "$c"
	run "$bin/bench-sector" --golden "$data/$c" --rounds 2 "$data/requests/$c.json"
done
fi
if [ "${2:-}" != small ]; then
	section "winning-32g"
	run "$bin/bench-sector" --golden "$data/winning-32g" --rounds 3 \
		"$data/requests/winning-32g.json"
	section "update-32g: 16 partitions"
	unxz_to "$data/update-32g/vanilla.tar.xz" "$tmp/vanilla.tar"
	tar -xf "$tmp/vanilla.tar" -C "$tmp"
	run "$bin/bench-sector" --golden "$data/update-32g" --rounds 1 --update "$tmp"
	unxz_to "$data/porep-32g/c1.json.xz" "$tmp/c1.json"
	# VRAM in MiB (empty: all), BASIS, ROUNDS
	porep() {
		"$bin/bench-sector" --golden "$data/porep-32g" --rounds "$3" --basis "$2" \
			${1:+--vram "$1"} --c1 "$tmp/c1.json" >"$tmp/$2${1:-}" || failed=1
		cat "$tmp/$2${1:-}"
	}
	for basis in ${BASES:-powers coset}; do
		section "porep-32g: 10 partitions from C1 JSON, basis $basis, parameters resident"
		porep "" $basis "${ROUNDS:-2}"
		section "the same within 16 GiB of device memory, parameters streamed"
		porep 16384 $basis "${ROUNDS:-2}"
		section "basis $basis: what streaming should cost, and does"
		run python3 "$src/t/perf/stream-model.py" "$tmp/$basis" "$tmp/${basis}16384"
	done
	section "50 urgent winning-32g beside it, basis $basis"
	for vram in ${URGENT_VRAM:-all 16384}; do
		[ $vram = all ] && vram=
		run "$bin/bench-sector" --golden "$data/porep-32g" ${vram:+--vram $vram} --basis $basis \
			--urgent "$data/requests/winning-32g.json" \
			--urgent-golden "$data/winning-32g/winning-32g.proof" --c1 "$tmp/c1.json"
	done
fi
[ $failed = 0 ] && echo "all checks passed" || echo "SOME CHECKS FAILED"
exit $failed
