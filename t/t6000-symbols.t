#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Every engine exports exactly one symbol, and needs nothing that it does not name.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

for so in "$build"/.libs/*.so; do
	case $so in
	*/groth16.so|*/null.so|*/skeleton.so) ;;
	*) continue ;;
	esac
	is "${so##*/} exports its entry alone" cuzk_engine_entry \
		"$(nm -D --defined-only "$so" | awk '{ print $3 }' | tr '\n' ' ' | sed 's/ $//')"
	ok "${so##*/} needs no more than the C library and libcrypto" sh -c \
		"! readelf -d '$so' | grep NEEDED | grep -vE 'lib(c|m|crypto|pthread|asan|ubsan|tsan|gcc_s)[.]so|ld-linux'"
done
tap_done
