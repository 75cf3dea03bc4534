#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The files in conf/ are good; a bad one gives file:line and exit status 2.
src=${CUZK_SRCDIR:-.}
build=${CUZK_BUILDDIR:-.}
build=$(cd "$build" && pwd)
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
n=0

ok() {	# ok STATUS TEXT
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}

# Each file alone, or as a drop-in beside the default, with the defaults filled in.
for f in "$src"/conf/*.conf "$src"/conf/*.ini; do
	rm -rf "$tmp/c"; mkdir -p "$tmp/c/conf.d"
	case $f in
	*.conf) cp "$f" "$tmp/c/cuzk.conf" ;;
	*.ini) cp "$src/conf/cuzk.conf" "$tmp/c/cuzk.conf"; cp "$f" "$tmp/c/conf.d/" ;;
	esac
	"$build/cuzkd" --config "$tmp/c/cuzk.conf" --dump-config > "$tmp/dump" 2> "$tmp/err"
	ok $? "$(basename "$f") is read"
	sed 's/^/# /' "$tmp/err"
	"$build/cuzkd" --config "$tmp/dump" --dump-config > "$tmp/dump2" 2>> "$tmp/err" &&
		cmp -s "$tmp/dump" "$tmp/dump2"
	ok $? "$(basename "$f"): its dump reads back the same"
done

# Every option of the table is in the dump, the help and the manual page.
"$build/cuzkd" --help-config > "$tmp/help"
missing=0
for o in $(sed -n 's/^\([a-z][a-z_]*\) = .*/\1/p' "$tmp/dump" | sort -u); do
	grep -q "^  $o " "$tmp/help" || { echo "# $o is not in the help"; missing=1; }
	grep -q "^.BR $o " "$build/man/cuzk.conf.5" || { echo "# $o is not in the manual"; missing=1; }
done
ok $missing "help and manual know every option"

# The engine is loaded by --check, and its parameters are checked.
check() {	# check STATUS EXPECTED-STDERR TEXT
	"$build/cuzkd" --config "$tmp/x.conf" --check > /dev/null 2> "$tmp/err"
	status=$?
	sed 's/^cuzkd: //' "$tmp/err" > "$tmp/got"
	printf '%s' "$2" > "$tmp/want"
	[ $status = "$1" ] && cmp -s "$tmp/want" "$tmp/got"
	r=$?
	[ $r = 0 ] || { echo "# status $status"; sed 's/^/# /' "$tmp/got"; }
	ok $r "$3"
}
conf() {	# conf EXTRA-KEYS-OF-THE-ENGINE
	cat > "$tmp/x.conf" <<END
[global]
instance_program = $build/cuzk-instance
[engine null]
library = $build/.libs/null.so
$1
[cpu]
engine = null
END
}
conf ""
check 0 "" "--check of a good configuration"
conf "delay_ms = soon
lanes = 1000
colour = red"
check 2 "$tmp/x.conf:7: the engine has no parameter colour
$tmp/x.conf:5: delay_ms: 'soon' is not a number
$tmp/x.conf:6: lanes: '1000' is out of range (1 to 64)
" "--check names file and line of each wrong parameter"
printf '[cpu]\nengine = x\nthreads = -1\n more\n[cpu]\n' > "$tmp/x.conf"
check 2 "$tmp/x.conf:3: threads: '-1' is out of range (0 to 4096)
$tmp/x.conf:4: indented line: a value cannot be continued
$tmp/x.conf:5: section [cpu] is repeated (first at line 1)
$tmp/x.conf:2: there is no [engine x]
" "all mistakes of a file, with status 2"
rm "$tmp/x.conf"
check 2 "$tmp/x.conf: cannot read: No such file or directory
" "a file that is not there"
echo "1..$n"
exit ${failed:-0}
