#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# `make fuzz` builds the targets, executes them as often as it is told, and goes on where it stopped.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

# fuzz RUNS: a line of each target; in a folder of its own, so that nobody's state is changed
fuzz() {
	RUNS=$1 TARGETS="wtns prototype" CUZK_SRCDIR=$src CUZK_BUILDDIR=$tmp sh "$src/t/fuzz/run.sh"
}

case " $CUZK_TEST_REQUIRE " in
*long*) ;;
*) skip long "building with libFuzzer takes minutes; ask for it by CUZK_TEST_REQUIRE=long"; tap_done ;;
esac
if ! command -v clang >/dev/null || [ -e "$src/config.status" ]; then
	skip long "there is no clang, or the source is configured in its own folder"
	tap_done
fi
ok "20000 executions" fuzz 20000
is "of each target, without a finding" 2 "$(echo "$out" | awk '$2 == 20000 && $5 == 0' | wc -l)"
first=$out
ok "no more are needed" fuzz 20000
is "and none are made" "$first" "$out"
ok "others are" fuzz 30000
is "that are missing" 2 "$(echo "$out" | awk '$2 == 30000' | wc -l)"
cp "$src/t/fuzz/corpus/wtns/"* "$tmp/fuzz/findings/wtns/"
run fuzz 30000
is "a finding fails it" 1 "$status"
tap_done
