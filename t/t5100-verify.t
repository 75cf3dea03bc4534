#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# cuzkctl verify: proofs of the network and golden ones, and what must not verify.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

# FILE OFFSET LENGTH
cut_out() {
	tail -c +$(($2 + 1)) "$1" | head -c "$3"
}

w=$data/real/winning32.prf
cut_out "$w" 0 192 >"$tmp/w.proof"
cut_out "$w" 200 $((132 * 32)) >"$tmp/w.inputs"
cut_out "$w" 4424 $((868 + 96 * 133)) >"$tmp/w.vk"
ok "the network's WinningPoSt" cuzk verify --vk "$tmp/w.vk" --proof "$tmp/w.proof" \
	--inputs "$tmp/w.inputs" --big-endian
nok "read as little-endian" cuzk verify --vk "$tmp/w.vk" --proof "$tmp/w.proof" \
	--inputs "$tmp/w.inputs"

x=$data/real/seal32_x10.prf
vk_size=$((868 + 96 * 328))
cut_out "$x" 16 $vk_size >"$tmp/x.vk"
at=$((16 + vk_size))
i=0
while [ $i -lt 10 ]; do
	cut_out "$x" $at 192 >>"$tmp/x.proof"
	cut_out "$x" $((at + 192)) $((327 * 32)) >>"$tmp/x.inputs"
	at=$((at + 192 + 327 * 32))
	i=$((i + 1))
done
ok "the network's PoRep, ten partitions" cuzk verify --vk "$tmp/x.vk" --proof "$tmp/x.proof" \
	--inputs "$tmp/x.inputs" --big-endian
is "ten proofs were verified" 10 "$(echo "$out" | json_get proofs)"
{ head -c 192 "$tmp/x.proof"; head -c 192 "$tmp/x.proof"; tail -c +385 "$tmp/x.proof"; } >"$tmp/y.proof"
nok "the first partition's proof twice" cuzk verify --vk "$tmp/x.vk" --proof "$tmp/y.proof" \
	--inputs "$tmp/x.inputs" --big-endian
is "the second is named" '"invalid": [1]' "$(echo "$out" | grep -o '"invalid".*')"
nok "one partition's inputs are missing" cuzk verify --vk "$tmp/x.vk" --proof "$tmp/x.proof" \
	--inputs "$tmp/w.inputs" --big-endian
head -c 191 "$tmp/w.proof" >"$tmp/short"
nok "a proof of 191 bytes" cuzk verify --vk "$tmp/w.vk" --proof "$tmp/short" \
	--inputs "$tmp/w.inputs" --big-endian
head -c 13000 "$tmp/w.vk" >"$tmp/short"
nok "a key that ends early" cuzk verify --vk "$tmp/short" --proof "$tmp/w.proof" \
	--inputs "$tmp/w.inputs" --big-endian
nok "no such key" cuzk verify --vk "$tmp/none" --proof "$tmp/w.proof" --inputs "$tmp/w.inputs"
run cuzk verify --vk "$tmp/w.vk"
is "wrong usage ends with 2" 2 $status

for c in tiny chain; do
	s=$data/snarkjs/$c
	ok "$c: a proof of snarkjs" cuzk verify --vk $s.vkey.json --proof $s.proof.json \
		--inputs $s.public.json
done
nok "a proof of another circuit" cuzk verify --vk "$data/snarkjs/tiny.vkey.json" \
	--proof "$data/snarkjs/chain.proof.json" --inputs "$data/snarkjs/tiny.public.json"
tap_done
