#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# A release has every file of the repository.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

# what only a clone is for
clone='^(\.gitignore|\.ci/.*|GNUmakefile)$'

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
if ! git -C "$src" ls-files >"$tmp/tracked" 2>/dev/null || ! grep -q . "$tmp/tracked"; then
	skip clone "this is no clone"
else
	printf 'include Makefile\ndistfiles:\n\t@printf "%%s\\n" $(DISTFILES)\n' |
		make -s -C "$build" -f - distfiles | sed "s,^$src/,," >"$tmp/dist"
	# a folder stands for all that is in it
	awk 'NR == FNR { there[$0] = 1; next }
	     { p = $0; while (!(p in there) && sub(/\/[^\/]*$/, "", p)); if (!(p in there)) print }' \
		"$tmp/dist" "$tmp/tracked" | grep -Ev "$clone" >"$tmp/missing"
	ok "a list of files to distribute" test "$(wc -l <"$tmp/dist")" -gt 100
	is "no file of the repository is left out" "" "$(cat "$tmp/missing")"
fi
tap_done
