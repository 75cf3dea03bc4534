#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The units under a real systemd: start, a killed instance, reload, restart, stop.
# Needs root, systemd and dbus: systemd-run-ns boots one in a throw-away copy of this machine.
src=${CUZK_SRCDIR:-.}
build=${CUZK_BUILDDIR:-.}
if [ "$1" != inside ]; then
	if [ "$(id -u)" != 0 ] || ! command -v dbus-daemon > /dev/null || [ ! -x /lib/systemd/systemd ]; then
		case $CUZK_TEST_REQUIRE in
		*systemd*) echo "not ok 1 - systemd, dbus and root are required"; echo 1..1; exit 1 ;;
		esac
		echo "1..0 # SKIP systemd: no systemd or dbus here, or not root"
		exit 0
	fi
	# a place that is seen from inside, where /tmp and /run are new
	stage=$(mktemp -d /var/lib/cuzk-test.XXXXXX) || exit 1
	trap 'rm -rf "$stage"' EXIT
	cp "$build/cuzkd" "$build/cuzk-instance" "$build/.libs/null.so" \
		"$build/systemd/cuzkd.service" "$src/systemd/cuzkd.socket" \
		"$src/systemd/sysusers.conf" "$src/systemd/tmpfiles.conf" "$src/conf/null.conf" \
		"$0" "$stage/" || exit 1
	boot=$(cd "$src" && pwd)/t/systemd-run-ns
	cd "$stage" || exit 1
	bash "$boot" -t 60 -- sh "$stage/$(basename "$0")" inside "$stage"
	exit $?
fi

# ---- inside ----
cd "$2" || exit 1
n=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
until_true() {	# until_true COMMAND...: within 5 s
	i=0
	while [ $i -lt 50 ]; do
		"$@" > /dev/null 2>&1 && return 0
		sleep 0.1
		i=$((i + 1))
	done
	return 1
}
place() {	# where the unit expects the program
	sed -n "s|^ExecStart=\([^ ]*\) .*|\1|p" cuzkd.service
}
config=$(sed -n 's|^ExecStart=.*--config \(.*\)|\1|p' cuzkd.service)
mkdir -p "$(dirname "$(place)")" "$(dirname "$config")" /opt/cuzk
cp cuzkd "$(place)"
cp cuzk-instance null.so /opt/cuzk/
sed -e '/metrics_listen/d' -e 's|^library = .*|library = /opt/cuzk/null.so|' \
	-e 's|^\[global\]|&\ninstance_program = /opt/cuzk/cuzk-instance|' null.conf > "$config"
cp cuzkd.service cuzkd.socket /etc/systemd/system/
systemd-sysusers "$PWD/sysusers.conf" 2> /dev/null
systemd-tmpfiles --create "$PWD/tmpfiles.conf"
systemctl daemon-reload

systemctl start cuzkd.socket
[ "$(stat -c %a:%U /run/cuzk/cuzk.sock)" = 660:cuzk ]
ok $? "the socket is there before the service"
systemctl start cuzkd.service
ok $? "the service starts and says that it is ready"
[ "$(systemctl show -p StatusText --value cuzkd | cut -c1-22)" = "1 of 1 instances ready" ]
ok $? "its status is a line for people"
main=$(systemctl show -p MainPID --value cuzkd)
child=$(pgrep -P "$main" | head -1)
[ "$(stat -c %U "/proc/$child")" = cuzk ] &&
	grep -q '^CapBnd:.0000000000000000' "/proc/$child/status" &&
	grep -q '^Seccomp:.2' "/proc/$child/status" &&
	grep -q '^NoNewPrivs:.1' "/proc/$child/status"
ok $? "the instance has no capabilities and a filter of system calls"
kill -9 "$child"
replaced() {
	now=$(pgrep -P "$main" | head -1)
	[ -n "$now" ] && [ "$now" != "$child" ]
}
until_true replaced
ok $? "a killed instance is replaced within 5 s"
[ "$(systemctl show -p MainPID --value cuzkd)" = "$main" ]
ok $? "by the same service"
systemctl reload cuzkd && until_true systemctl is-active --quiet cuzkd
ok $? "it reloads"
begin=$(date +%s%N)
systemctl restart cuzkd
ok $? "it restarts"
ms=$((($(date +%s%N) - begin) / 1000000))
[ $ms -lt 1000 ]
ok $? "and is ready again in $ms ms"
[ -S /run/cuzk/cuzk.sock ]
ok $? "the socket outlives the restart"
main=$(systemctl show -p MainPID --value cuzkd)
kill -9 "$main"
back() {
	now=$(systemctl show -p MainPID --value cuzkd)
	[ "$now" != 0 ] && [ "$now" != "$main" ] && systemctl is-active --quiet cuzkd
}
until_true back
ok $? "a killed service is started again"
[ "$(pgrep -c cuzk-instance)" = 1 ]
ok $? "with one instance: the old one has gone with its service"
systemctl stop cuzkd.service 2> /dev/null
[ "$(systemctl show -p Result --value cuzkd)" = success ] && ! pgrep cuzk-instance > /dev/null
ok $? "it stops in order"
[ -S /run/cuzk/cuzk.sock ]
ok $? "the socket waits for the next"
printf '[nonsense]\n' > "$config"
systemctl start cuzkd.service 2> /dev/null
[ $? != 0 ] && [ "$(systemctl show -p ExecMainStatus --value cuzkd)" = 2 ] &&
	[ "$(systemctl show -p NRestarts --value cuzkd)" = 0 ]
ok $? "a configuration with errors ends it with status 2, and nobody tries again"
journalctl -u cuzkd --no-pager | grep -q 'cuzk.conf:1: unknown section \[nonsense\]'
ok $? "the journal says file and line"
[ -z "$failed" ] || journalctl -u cuzkd --no-pager | sed 's/^/# /'
echo "1..$n"
exit ${failed:-0}
