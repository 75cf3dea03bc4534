#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The systemd units are understood, and let the service do little else than prove.
src=${CUZK_SRCDIR:-.}
build=${CUZK_BUILDDIR:-.}
n=0

ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
if ! command -v systemd-analyze > /dev/null; then
	case $CUZK_TEST_REQUIRE in
	*systemd*) echo "not ok 1 - systemd-analyze is required"; echo 1..1; exit 1 ;;
	esac
	echo "1..0 # SKIP no systemd-analyze"
	exit 0
fi
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

# The programs are not installed: another that is stands for them in the check.
sed -e 's|^\(Exec[A-Za-z]*\)=[^ ]*cuzkd|\1=/bin/true|' "$build/systemd/cuzkd.service" > "$tmp/cuzkd.service"
cp "$src/systemd/cuzkd.socket" "$tmp/"
! grep -q '@[a-z]*dir@\|@systemd-' "$build/systemd/cuzkd.service"
ok $? "all places of the unit are filled in"
systemd-analyze verify --man=no "$tmp/cuzkd.service" "$tmp/cuzkd.socket" > "$tmp/out" 2>&1
grep -E 'cuzkd\.(service|socket)' "$tmp/out" | sed 's/^/# /'
! grep -qE 'cuzkd\.(service|socket)' "$tmp/out"
ok $? "systemd-analyze verify finds nothing"

score() {	# score NAME THRESHOLD-IN-TENTHS DROP-IN...
	name=$1; limit=$2; shift 2
	mkdir -p "$tmp/$name"
	cat "$tmp/cuzkd.service" > "$tmp/$name/cuzkd.service"
	for d in "$@"; do
		# a drop-in's later lines have the last word, so they go to the end of [Service]
		{ echo '[Service]'; sed -n '/^\[Service\]/,$p' "$src/systemd/cuzkd.service.d/$d.conf" |
			sed 1d; } >> "$tmp/$name/cuzkd.service"
	done
	systemd-analyze security --offline=true --no-pager --threshold="$limit" \
		"$tmp/$name/cuzkd.service" > "$tmp/out" 2>&1
	ok $? "$name: $(grep -o 'exposure level.*: [0-9.]*' "$tmp/out" | sed 's/.*: //'), at most $limit tenths"
}
score cpu 15
score gpu 20 gpu
score tcp 20 tcp
score params 15 params

for u in Type=notify WatchdogSec= KillMode=mixed FileDescriptorStoreMax= OOMPolicy=continue \
	RestartPreventExitStatus=2 StateDirectory=cuzk RuntimeDirectory=cuzk LimitMEMLOCK=; do
	grep -q "^$u" "$build/systemd/cuzkd.service"
	ok $? "the unit sets $u"
done
if command -v systemd-sysusers > /dev/null; then
	systemd-sysusers --dry-run "$src/systemd/sysusers.conf" > "$tmp/out" 2>&1
	ok $? "sysusers understands its file"
fi
if command -v systemd-tmpfiles > /dev/null; then
	mkdir -p "$tmp/root/etc"
	printf 'cuzk:x:990:990::/:/bin/false\n' > "$tmp/root/etc/passwd"
	printf 'cuzk:x:990:\n' > "$tmp/root/etc/group"
	systemd-tmpfiles --root="$tmp/root" --cat-config "$src/systemd/tmpfiles.conf" > "$tmp/out" 2>&1
	cp "$src/systemd/tmpfiles.conf" "$tmp/root/t.conf"
	systemd-tmpfiles --root="$tmp/root" --create "$tmp/root/t.conf" > "$tmp/out" 2>&1
	[ -d "$tmp/root/run/cuzk" ]
	ok $? "tmpfiles makes the folder of the socket"
fi
echo "1..$n"
exit ${failed:-0}
