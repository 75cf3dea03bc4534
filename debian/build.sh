#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# build.sh RELEASE.tar.xz FOLDER: makes packages of a release in FOLDER/, without root.
# DEB_BUILD_PROFILES=pkg.cuzk.cuda makes the one with CUDA kernels too.
set -eu

tarball=$1 out=$2
release=$(basename "$tarball" .tar.xz)
rm -rf "$out"
mkdir -p "$out"
tar -xJf "$tarball" -C "$out"
version=$(dpkg-parsechangelog -l "$out/$release/debian/changelog" -S Version)
case cuzk-$version in
"$release" | "$release"[+~-]*) ;;
*) echo "deb: debian/changelog says $version, the release is $release" >&2; exit 1 ;;
esac

# what a make above says about its own jobs and variables is not for the packages
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
(cd "$out/$release" && dpkg-buildpackage -us -uc) >"$out/build.log" 2>&1 || {
	tail -n 30 "$out/build.log" >&2
	echo "deb: failed; all of it is in $out/build.log" >&2
	exit 1
}
rm -rf "${out:?}/$release"
lintian --fail-on error --tag-display-limit 0 "$out"/*.changes
ls "$out"/*.deb
