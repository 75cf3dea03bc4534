#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Tests fault class "silent CPU fallback, GPU unused".
# Tests fault class "wrong GPU".
# Tests fault class "opaque errors and status".
# What the CUDA backend says when the driver, the device or a kernel fails.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

fake=$build/t/fake
[ -e "$fake/libcuda.so.1" ] || {
	skip cuda "built without CUDA"
	tap_done
}

# DESCRIPTION PATTERN [NAME=VALUE...] [-- ARGUMENT...]: what run-cuda-instance prints
says() {
	what=$1
	pattern=$2
	shift 2
	vars="LD_LIBRARY_PATH=$fake"
	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		vars="$vars $1"
		shift
	done
	[ $# = 0 ] || shift
	# the variables' values have no spaces
	run env $vars "$build/t/run-cuda-instance" "$@"
	line=$(echo "$out" | grep -v '^#' | tail -n 1)
	case "$status $line" in
	[01]" "$pattern) tap_line 0 "$what: $line" ;;
	*) echo "want $pattern, status $status: $line" >"$tmp/.err"; tap_line 1 "$what" ;;
	esac
}

# CALL:N:ERROR, errors by cuda.h's numbers
oom=2
no_device=100
illegal_address=700
launch_timeout=702
launch_failed=719
ecc=214
invalid=1

mkdir "$tmp/none"
if LD_LIBRARY_PATH=$tmp/none "$build/t/run-cuda-instance" | grep -q 'no CUDA driver'; then
	says "no driver" "open device ENOSYS usable *no CUDA driver: libcuda.so.1*" \
		"LD_LIBRARY_PATH=$tmp/none"
else
	skip driver "this machine has a CUDA driver"
fi
says "a good one" good
says "a driver too old" "open device ENOSYS usable *speaks CUDA 11.8, need 12.0*" \
	FAKE_CUDA_VERSION=11080
says "a driver that does not start" "open device ENOSYS usable *does not start*" \
	FAKE_CUDA_FAIL=cuInit:1:$no_device
says "no device" "open device ENODEV usable *sees no device" FAKE_CUDA_DEVICES=0
says "two devices and no name" "open device ENODEV usable *there are 2 CUDA devices*" \
	FAKE_CUDA_DEVICES=2
for order in forward reverse; do
	says "by UUID, listed $order" good FAKE_CUDA_DEVICES=2 FAKE_CUDA_ORDER=$order \
		-- GPU-a1a1a1a1-a1a1-a1a1-a1a1-a1a1a1a1a1a1
	says "by PCI address, listed $order" \
		"open device EIO usable *gpu 0000:11:00.0: *" FAKE_CUDA_DEVICES=2 \
		FAKE_CUDA_ORDER=$order FAKE_CUDA_FAIL=cuMemGetInfo_v2:1:$invalid -- 00000000:11:00.0
done
says "a UUID that is not there" "open device ENODEV usable *no CUDA device is GPU-ff*" \
	-- GPU-ff
says "too little memory for the budget" "open resource ENOMEM usable *1024 MiB are free*" \
	FAKE_CUDA_MEMORY=0x40000000 -- "" 0x80000000
says "memory gone between asking and taking" "open resource ENOMEM usable *cannot reserve*" \
	FAKE_CUDA_FAIL=cuMemAlloc_v2:1:$oom
says "no pinned memory" "open resource ENOMEM usable *no memory for its buffers*" \
	FAKE_CUDA_FAIL=cuMemHostAlloc:2:$oom
says "a budget with no room to work" "self-test resource ENOMEM usable *Cannot allocate memory" \
	-- "" 0x200000
says "kernels not in this build" "open device EIO usable *no kernels for this device*" \
	FAKE_CUDA_FAIL=cuModuleLoadData:2:209
says "a kernel is missing" "open device EIO usable *kernel * is missing" \
	FAKE_CUDA_FAIL=cuModuleGetFunction:5:500

# every kind of error that the device cannot come back from
for error in $illegal_address $launch_timeout $launch_failed $ecc; do
	says "error $error in a launch" "self-test device EIO lost *" \
		FAKE_CUDA_FAIL=cuLaunchKernel:9:$error
done
# every call of a run fails once: always an error with its class, never a crash or a leak
for call in cuCtxSetCurrent cuDevicePrimaryCtxRetain cuStreamCreate cuEventCreate \
	cuDeviceGetCount; do
	says "$call fails" "open device EIO usable *" FAKE_CUDA_FAIL=$call:1:$invalid
done
n=0
for at in 1 2 5 12 25 40 60; do
	for call in cuLaunchKernel cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2 cuStreamSynchronize \
		cuEventSynchronize cuEventRecord; do
		line=$(LD_LIBRARY_PATH=$fake FAKE_CUDA_FAIL=$call:$at:$invalid \
			"$build/t/run-cuda-instance" 2>&1 | grep -v '^#' | tail -n 1)
		case "$line" in
		good | "self-test device EIO lost "*) n=$((n + 1)) ;;
		*) echo "# $call:$at: $line" ;;
		esac
	done
done
is "a failure in any of 42 places is told, or not reached" 42 $n

# streamed parameters, two proofs in a pass: a call fails in the midst of it
n=0
for call in cuMemcpyHtoDAsync_v2 cuEventSynchronize cuEventRecord cuMemsetD32Async \
	cuMemcpyDtoDAsync_v2 cuLaunchKernel cuMemHostAlloc; do
	for at in 3 11 31 47; do
		if LD_LIBRARY_PATH=$fake CUZK_TEST_REQUIRE=gpu \
			FAKE_CUDA_FAIL=$call:$at:$invalid \
			"$build/t/u-cuda-stream" --fail >"$tmp/.out" 2>&1; then
			n=$((n + 1))
		else
			sed "s/^/# $call:$at: /" "$tmp/.out"
		fi
	done
done
is "a failure in any of 28 places of a pass is told and leaves nothing behind" 28 $n
tap_done
