#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# build-blst.sh - fetch blst as npm's c-kzg carries it and build libblst.so
#
# A reference for tests and benchmarks only; nothing of it is linked into
# cuzk.  Prints the path of the library; exits 1 with a reason on stderr when
# it cannot be had.  CUZK_BLST_TARBALL names a local c-kzg-4.1.0.tgz.
set -e
version=4.1.0
dir=${CUZK_BUILDDIR:-.}/ref
lib=$dir/libblst.so
if [ -f "$lib" ]; then
	echo "$lib"
	exit 0
fi
mkdir -p "$dir"
work=$(mktemp -d "$dir/blst.XXXXXX")
trap 'rm -rf "$work"' EXIT
if [ -n "$CUZK_BLST_TARBALL" ]; then
	cp "$CUZK_BLST_TARBALL" "$work/c-kzg.tgz"
else
	command -v npm >/dev/null || { echo "npm is not installed" >&2; exit 1; }
	(cd "$work" && npm pack --silent "c-kzg@$version" >/dev/null 2>&1 && mv c-kzg-*.tgz c-kzg.tgz) ||
		{ echo "npm cannot fetch c-kzg@$version" >&2; exit 1; }
fi
tar -xzf "$work/c-kzg.tgz" -C "$work"
(cd "$work/package/deps/blst" && sh build.sh -shared -fPIC >build.log 2>&1) ||
	{ echo "blst does not build: $(tail -1 "$work/package/deps/blst/build.log")" >&2; exit 1; }
mv "$work/package/deps/blst/libblst.so" "$lib.$$"
mv "$lib.$$" "$lib"
echo "$lib"
