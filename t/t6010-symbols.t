#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Engines export one symbol and nothing else; the service links no engine, no field, no driver.
build=${CUZK_BUILDDIR:-.}
n=0

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
for so in "$build"/.libs/*.so; do
	case $(basename "$so") in lib*) continue ;; esac
	symbols=$(nm -D --defined-only "$so" | awk '{ print $3 }' | grep -v '^__\(asan\|tsan\|odr_asan\|start_\|stop_\)')
	[ "$symbols" = cuzk_engine_entry ]
	r=$?
	[ $r = 0 ] || echo "# $symbols" | tr '\n' ' '
	ok $r "$(basename "$so") exports cuzk_engine_entry only"
	! readelf -d "$so" | grep -qE 'NEEDED.*(libcuda|libcudart|libstdc\+\+|libgrpc|libsystemd)'
	ok $? "$(basename "$so") needs no driver, C++ or service library"
done
for program in cuzkd cuzk-instance; do
	! readelf -d "$build/$program" | grep -qE 'NEEDED.*(libcuda|libcudart)'
	ok $? "$program links no driver"
	! nm "$build/$program" 2> /dev/null | grep -qE ' [TtDdBb] (fr|fp|g1|g2)_[a-z]'
	ok $? "$program knows no field element"
done
! readelf -d "$build/cuzk-instance" | grep -qE 'NEEDED.*(libgrpc|libgpr|libsystemd|libprotobuf)'
ok $? "cuzk-instance holds no gRPC"
! nm -D "$build/cuzkd" | grep -qE ' U (dlopen|ffi_call)'
ok $? "cuzkd itself loads no shared object"
echo "1..$n"
exit ${failed:-0}
