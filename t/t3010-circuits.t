#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Circuits and witnesses by command: digests, the cache, and who notices a wrong value.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

r=$data/requests
for n in tiny-3 winning-2k window-2k winning-32g update-8m; do
	ok "circuit digest $n" cuzk circuit digest $n
	f=$data/shapes/shape-$n.json
	[ -e "$f" ] || f=$data/toy/shape-$n.json
	is "it is the golden one" "$(cat "$f")" "$out"
done
nok "no such circuit" cuzk circuit digest porep-3k

c=$tmp/cache
ok "circuit cache writes two files" cuzk circuit cache --cache "$c" window-2k winning-32g
is "they are there" "window-2k.cs winning-32g.cs" "$(ls "$c" | tr '\n' ' ' | sed 's/ $//')"
before=$(ls -i "$c/window-2k.cs")
for n in winning-2k window-2k winning-32g; do
	ok "witness of $n" cuzk witness --request "$r/$n.json" --cache "$c"
	is "it is the golden one" "$(cat "$data/$n/witness-$n.json")" "$out"
	ok "$n satisfies every constraint" cuzk witness --check --request "$r/$n.json" --cache "$c"
done
is "the file was used" "$before" "$(ls -i "$c/window-2k.cs")"
ok "the third is there too" test -e "$c/winning-2k.cs"

printf 'X' | dd of="$c/window-2k.cs" bs=1 seek=70000 conv=notrunc 2>/dev/null
ok "a damaged file does no harm" cuzk witness --request "$r/window-2k.json" --cache "$c"
is "the witness is the golden one" "$(cat "$data/window-2k/witness-window-2k.json")" "$out"
is "it is said" 1 "$(echo "$err" | grep -c 'window-2k.cs: damaged.*written again')"
ok "and only once" cuzk witness --check --request "$r/window-2k.json" --cache "$c"
is "it is whole again" "" "$err"
nok "a folder that cannot be" cuzk circuit cache --cache /dev/null/x tiny-1

# a changed value, and the constraint that notices it by its place in the circuit
alter() {
	nok "$1: $2 changed" cuzk witness --check --request "$r/$1.json" --alter "$2"
	is "$1: it is named" 1 "$(echo "$err" | grep -c "constraint [0-9]* of [0-9]* is not satisfied: $3")"
}
alter window-2k aux:0 'sector 0/'
alter window-2k aux:20000 'sector 1/challenge [0-9]*/.*row [0-9]* of [0-9]*$'
alter window-2k input:3 'sector 0/'
alter winning-2k aux:80000 'sector [0-9]*/challenge 0/.*row [0-9]* of [0-9]*$'
alter porep-2k aux:800000 'challenge 0/.*row [0-9]* of [0-9]*$'
alter porep-2k input:39 'challenge 1/.*row [0-9]* of [0-9]*$'
alter update-2k aux:500000 'challenge [0-9]*/.*row [0-9]* of [0-9]*$'
nok "no such variable" cuzk witness --check --request "$r/window-2k.json" --alter aux:99999999
nok "no variable at all" cuzk witness --check --request "$r/window-2k.json" --alter x
nok "no such partition" cuzk witness --check --request "$r/window-2k.json" --partition 1
tap_done
