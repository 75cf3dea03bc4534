#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# run.sh - builds every fuzz target with clang's libFuzzer, ASan and UBSan, and runs it
#
# By `make fuzz`.  In the build folder, fuzz/ holds what outlives a run: the build, the corpus that
# grew (NAME/), executions and milliseconds so far (NAME.total), the last log (NAME.log), and inputs
# with which a target failed (findings/NAME/).  A run goes on where the one before stopped: until
# each target has been executed RUNS times, the fastest first, or until TIME seconds are over.
set -eu

src=${CUZK_SRCDIR:-$(cd "$(dirname "$0")/../.." && pwd)} build=${CUZK_BUILDDIR:-$PWD}
runs=${RUNS:-10000000} time=${TIME:-0} slice=${SLICE:-120}
dir=$build/fuzz
all=$(cd "$src/t/fuzz" && printf '%s\n' fuzz-*.c | sed 's/^fuzz-//; s/\.c$//')
programs=$(printf 't/fuzz/fuzz-%s ' $all)
targets=${TARGETS:-$all}
began=$(date +%s)
slices=0
# what a make above says about its own jobs and variables is not for the one here
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

# Bytes of the longest input: what the format's smallest whole file needs.  Time is proportional
# to it, so a whole C1, of 100,000 bytes, has its turn in one slice of four.
max_len() {
	case $1 in
	bincode-update) echo 16000 ;;
	c1) if [ $((slices % 4)) = 0 ]; then echo 100100; else echo 5000; fi ;;
	bincode-post | zkey) echo 8000 ;;
	*) echo 5000 ;;
	esac
}

if [ -e "$src/config.status" ]; then
	echo "fuzz: the source is configured in its own folder; do so in another one (mkdir build)" >&2
	exit 2
fi
if ! command -v clang >/dev/null; then
	echo "fuzz: there is no clang (Debian: clang libclang-rt-14-dev)" >&2
	exit 2
fi

mkdir -p "$dir/build"
cd "$dir/build"
# no branch of the arithmetic depends on a file's form; counting there only takes time
printf 'src:*/lib/bls12_381/core_*\nsrc:*/lib/poseidon/*\nsrc:*/lib/sha256*\n' >uncounted
[ -e config.status ] || "$src/configure" -q CC=clang \
	CFLAGS="-O2 -g -fsanitize=fuzzer-no-link -fsanitize-coverage-ignorelist=$PWD/uncounted" \
	--enable-asan --enable-ubsan --with-cuda=no >configure.log 2>&1 || {
	tail -n 5 configure.log >&2
	exit 2
}
{
	make lib/proto/cuzk.pb-c.c lib/proto/cuzk.pb-c.h &&
	make -j"${JOBS:-2}" LDFLAGS=-fsanitize=fuzzer CPPFLAGS=-DCUZK_LIBFUZZER \
		$programs
} >make.log 2>&1 || {
	tail -n 20 make.log >&2
	exit 2
}

# NAME.total holds executions and milliseconds
executed() {
	if [ -e "$dir/$1.total" ]; then cut -d' ' -f1 "$dir/$1.total"; else echo 0; fi
}

took() {
	if [ -e "$dir/$1.total" ]; then cut -d' ' -f2 "$dir/$1.total"; else echo 0; fi
}

findings() {
	find "$dir/findings/$1" -type f 2>/dev/null | wc -l
}

# fuzz NAME SECONDS: one run of a target, added to its total
fuzz() {
	left=$((runs - $(executed "$1")))
	[ $left -gt 0 ] || return 0
	if [ "$time" -gt 0 ] && [ $(($(date +%s) - began)) -ge "$time" ]; then
		return 0
	fi
	mkdir -p "$dir/$1" "$dir/findings/$1"
	slices=$((slices + 1))
	t0=$(date +%s%N)
	# a quarantine of 256 MiB would fill caches with what was freed long ago
	ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}" \
		"$dir/build/t/fuzz/fuzz-$1" -runs=$left -max_total_time="$2" -max_len="$(max_len "$1")" \
		-timeout=60 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
		-artifact_prefix="$dir/findings/$1/" \
		"$dir/$1" "$src/t/fuzz/corpus/$1" >"$dir/$1.log" 2>&1 </dev/null || :
	t1=$(date +%s%N)
	n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$dir/$1.log")
	[ -n "$n" ] || {
		echo "fuzz: $1 did not run; see $dir/$1.log" >&2
		exit 2
	}
	echo "$(($(executed "$1") + n)) $(($(took "$1") + (t1 - t0) / 1000000))" >"$dir/$1.total.new"
	mv "$dir/$1.total.new" "$dir/$1.total"
}

# executions in a second so far
speed() {
	awk '{ printf "%d\n", $2 ? $1 * 1000 / $2 : 0 }' "$dir/$1.total"
}

line() {
	printf '%-16s %12d %9d %9d %9d\n' "$1" "$(executed "$1")" "$(($(took "$1") / 1000))" \
		"$(speed "$1")" "$(findings "$1")"
}

printf '%-16s %12s %9s %9s %9s\n' target executions seconds exec/s findings
for t in $targets; do
	[ -e "$dir/$t.total" ] || fuzz "$t" 5
done
by_speed=$(for t in $targets; do echo "$(speed "$t") $t"; done | sort -rn | cut -d' ' -f2)
for t in $by_speed; do
	before=-1
	while now=$(executed "$t") && [ "$now" -lt "$runs" ] && [ "$now" != "$before" ] &&
	      [ "$(findings "$t")" = 0 ]; do
		before=$now
		fuzz "$t" "$slice"
	done
	line "$t"
done
for t in $targets; do
	[ "$(findings "$t")" = 0 ] || exit 1
done
