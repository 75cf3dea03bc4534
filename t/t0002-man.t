#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The manual pages format without a warning, by mandoc and where it is there by groff.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

# silent COMMAND...: it succeeds and says nothing on standard error or, for -Tlint, at all
silent() {
	"$@" >"$tmp/page" 2>&1 && [ ! -s "$tmp/page" ] || {
		head -n 5 "$tmp/page" >&2
		return 1
	}
}

groff_page() {
	groff -t -man -ww -Tutf8 -z "$1"
}

# cuzk.conf(5) is made from the options that the service knows
for page in "$src"/man/*.[1-46-8] "$build/man/cuzk.conf.5"; do
	name=$(basename "$page")
	if command -v mandoc >/dev/null; then
		ok "$name: mandoc" silent mandoc -Tlint -Wwarning "$page"
	else
		skip mandoc "there is no mandoc"
	fi
	if command -v groff >/dev/null; then
		ok "$name: groff" silent groff_page "$page"
	else
		skip groff "there is no groff"
	fi
done
tap_done
