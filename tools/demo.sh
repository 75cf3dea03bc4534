#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# demo.sh ROOT PREFIX: proves a real vanilla proof through the service, as an
# operator would, from the tree that `make install DESTDIR=ROOT` wrote.
# KIND is winning (default), window, update or porep; sectors are of 2 KiB.
#
# Parameters are made here from published toxic waste: they show that
# everything works and are worth nothing otherwise.
set -eu

root=$1 prefix=$2
kind=${KIND:-winning}
src=${CUZK_SRCDIR:-.}
data=$src/t/data
demo=$(dirname "$root")
case $kind in
winning | window | update | porep) circuit=$kind-2k ;;
*) echo "demo: KIND is winning, window, update or porep, not '$kind'" >&2; exit 2 ;;
esac

bin=$root$prefix/bin sbin=$root$prefix/sbin
params=$demo/params state=$demo/state run=$(mktemp -d "${TMPDIR:-/tmp}/cuzk-demo.XXXXXX")
cuzkctl="$bin/cuzkctl --engine-dir $root$prefix/lib/cuzk"
socket=unix:$run/cuzk.sock
pid=
cleanup() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null || :
	[ -z "$pid" ] || wait "$pid" 2>/dev/null || :
	rm -rf "$run"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
say() { printf '\n== %s\n' "$*"; }

say "development parameters for $circuit"
mkdir -p "$params" "$state"
if ls "$params"/.made-$circuit >/dev/null 2>&1; then
	echo "made before, in $params"
else
	$cuzkctl params make $circuit --toxic 48577,22580,53332,5481,3673 --out "$params"
	: >"$params/.made-$circuit"
fi

say "the service, on the CPU"
cat >"$demo/cuzk.conf" <<EOF
[global]
listen = $run/cuzk.sock
state_dir = $state
runtime_dir = $run
params_dir = $params
instance_program = $root$prefix/libexec/cuzk/cuzk-instance

[engine groth16]
library = $root$prefix/lib/cuzk/groth16.so
cache_dir = $demo/cache

[cpu]
engine = groth16
EOF
cat "$demo/cuzk.conf"
rm -rf "${state:?}"/* "$demo/cuzkd.log"
: >"$demo/cuzkd.log"
"$sbin/cuzkd" --config "$demo/cuzk.conf" 2>>"$demo/cuzkd.log" &
pid=$!
n=0
until grep -q '^<5>ready' "$demo/cuzkd.log"; do
	n=$((n + 1))
	if ! kill -0 $pid 2>/dev/null || [ $n -gt 1200 ]; then
		echo "demo: the service did not come up; $demo/cuzkd.log says:" >&2
		tail -n 20 "$demo/cuzkd.log" >&2
		exit 1
	fi
	sleep 0.1
done
$cuzkctl status --address "$socket"

say "a real vanilla proof ($kind, 2 KiB sector), over gRPC"
start=$(date +%s%N)
$cuzkctl prove --address "$socket" --request "$data/requests/$circuit.json" --out "$demo/proof"
end=$(date +%s%N)
od -An -v -tx1 "$demo/proof" | tr -d ' \n' | fold -w 96
echo
echo "$(stat -c %s "$demo/proof") bytes in $(((end - start) / 1000000)) ms"

say "verified against the key and the public inputs that the reference made"
$cuzkctl verify --vk "$data/$circuit/$circuit.vk" --proof "$demo/proof" --inputs "$data/$circuit/$circuit.inputs"

cat <<EOF

Where to look next:
  $demo/cuzkd.log   what the service said (journalctl -u cuzkd on an installed one)
  $demo/cuzk.conf   its configuration
  make demo KIND=window|update|porep   the other proofs (porep takes a minute, 2 GiB)
  man -M $root$prefix/share/man cuzk.conf
                                       every key; cuzkd and cuzkctl have a page too
  README.md, "Run it"                  installed: systemctl enable --now cuzkd.socket cuzkd.service
EOF
