#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# t2001-consts.t - the committed constants are what gen-consts.py prints
dir=${CUZK_SRCDIR:-.}/lib/bls12_381
echo 1..1
if ! command -v python3 >/dev/null; then
	case " $CUZK_TEST_REQUIRE " in
	*python3*) echo "not ok 1 - python3 is required" ;;
	*) echo "ok 1 # SKIP python3: not installed" ;;
	esac
	exit 0
fi
if python3 "$dir/gen-consts.py" | cmp - "$dir/consts.h"; then
	echo "ok 1 - consts.h"
else
	echo "not ok 1 - consts.h"
fi
