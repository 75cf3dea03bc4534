# SPDX-License-Identifier: MIT OR Apache-2.0
# tap.sh - the Test Anything Protocol for shell tests; source it first
#
#	ok DESCRIPTION COMMAND...	passes when the command succeeds
#	nok DESCRIPTION COMMAND...	passes when it fails with status 1, in one line on stderr
#	is DESCRIPTION WANT HAVE	passes when the words are equal
#	has DESCRIPTION WORDS TEXT	passes when the text has the words in it
#	skip WHAT REASON [N]		N tests; a failure where CUZK_TEST_REQUIRE names WHAT
#	tap_done			prints the plan, ends with the right status
#
# $out holds the last command's stdout, $err its stderr; $tmp is a folder that
# goes with the test, $src and $build the trees, $engine the built engine.
src=${CUZK_SRCDIR:-.}
build=${CUZK_BUILDDIR:-.}
data=$src/t/data
engine=$build/.libs/groth16.so
tap_n=0
tap_bad=0
tmp=$(mktemp -d "$build/t-XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT

tap_line() {
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_bad=1
		sed 's/^/# /' "$tmp/.err" 2>/dev/null
	fi
}

run() {
	"$@" >"$tmp/.out" 2>"$tmp/.err"
	status=$?
	out=$(cat "$tmp/.out")
	err=$(cat "$tmp/.err")
	return $status
}

ok() {
	tap_what=$1
	shift
	run "$@"
	tap_line $? "$tap_what"
}

nok() {
	tap_what=$1
	shift
	run "$@"
	[ $status = 1 ] && [ "$(wc -l <"$tmp/.err")" = 1 ]
	tap_line $? "$tap_what: $err"
}

is() {
	: >"$tmp/.err"
	[ "$2" = "$3" ] || echo "want $2, have $3" >"$tmp/.err"
	[ "$2" = "$3" ]
	tap_line $? "$1"
}

has() {
	printf '%s\n' "$3" >"$tmp/.err"
	case $3 in
	*"$2"*) tap_line 0 "$1" ;;
	*) tap_line 1 "$1" ;;
	esac
}

skip() {
	tap_k=0
	while [ $tap_k -lt "${3:-1}" ]; do
		tap_k=$((tap_k + 1))
		case " $CUZK_TEST_REQUIRE " in
		*"$1"*) echo "$2" >"$tmp/.err"; tap_line 1 "$1 is required: $2" ;;
		*) tap_n=$((tap_n + 1)); echo "ok $tap_n # SKIP $1: $2" ;;
		esac
	done
}

tap_done() {
	echo "1..$tap_n"
	exit $tap_bad
}

# A command of the engine, without a service.
cuzk() {
	"$build/t/run-engine-command" "$engine" "$@"
}

# The value of a top-level member of a flat JSON object: a string or number.
json_get() {
	sed -n 's/^ *"'"$1"'": *"\{0,1\}\([^",]*\)"\{0,1\},\{0,1\}$/\1/p' | head -n 1
}
