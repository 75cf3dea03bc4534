#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# What cannot be built is refused at once, in words.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

mkdir "$tmp/a folder" "$tmp/a folder/clone"
src=$(cd "$src" && pwd)
cd "$tmp/a folder"
run sh "$src/configure"
is "configure in a folder with a space in its path fails" 1 "$status"
has "and says why" "has a space in it" "$err"
cd ..
run sh "$src/configure" --disable-shared
is "so does one without shared objects" 1 "$status"
has "and says why" "engines are shared objects" "$err"
cd "a folder"

if [ -e "$src/GNUmakefile" ] && make --version 2>/dev/null | grep -q GNU; then
	unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
	run make -C clone -f "$src/GNUmakefile"
	is "make in such a clone fails" 2 "$status"
	has "and says why" "has a space in it" "$err"
else
	skip clone "a release has no GNUmakefile" 2
fi
tap_done
