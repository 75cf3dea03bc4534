#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Parameters and proofs equal the reference's to the byte.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

toxic=48577,22580,53332,5481,3673
p=$tmp/params

# FOLDER CIRCUIT [--full]: parameters from the golden toxic waste
params() {
	g=$data/$1/groth-$2.json
	ok "$2: parameters are made" cuzk params make "$2" --toxic $toxic --out "$p"
	made=$out
	for key in params_sha256 params_size vk_sha256 ic n_h n_l n_a n_b; do
		want=$(json_get $key <"$g")
		[ -z "$want" ] || is "$2: $key" "$want" "$(echo "$made" | json_get $key)"
	done
	ok "$2: params check finds them good" cuzk params check --params "$p" $3 "$2"
}

# FOLDER CIRCUIT: the golden request with the golden r and s
prove() {
	ok "$2: a proof is made and verified" cuzk prove --offline --request "$data/requests/$2.json" \
		--params "$p" --rs 27134,17146 --out "$tmp/$2.proof"
	ok "$2: its bytes are the golden ones" cmp "$tmp/$2.proof" "$data/$1/$2.proof"
	ok "$2: verify agrees" cuzk verify --vk "$data/$1/$2.vk" --proof "$tmp/$2.proof" \
		--inputs "$data/$1/$2.inputs"
}

for n in 1 3 100; do
	params toy tiny-$n --full
done
for k in window winning; do
	# testing the order of all points takes longer than making them
	params $k-2k $k-2k
	prove $k-2k $k-2k
done

# h and l rearranged: the same proofs, and a damaged file costs only speed
w=$(ls "$p"/*0170db1f*.params)
ok "window-2k: its parameters are rearranged" cuzk params rearrange window-2k --toxic $toxic \
	--params "$p"
ok "window-2k: params check finds both files good" cuzk params check --params "$p" window-2k
run cuzk prove --offline --verbose --request "$data/requests/window-2k.json" --params "$p" \
	--rs 27134,17146 --out "$tmp/rearranged.proof"
is "window-2k: a proof is made" 0 $status
has "window-2k: with the rearranged parameters" "four transforms" "$err"
ok "window-2k: its bytes are the golden ones" cmp "$tmp/rearranged.proof" \
	"$data/window-2k/window-2k.proof"
size=$(wc -c <"$w.coset")
printf '\377' | dd of="$w.coset" bs=1 seek=$((size - 100)) conv=notrunc 2>/dev/null
nok "window-2k: a byte of the rearranged is changed: params check" cuzk params check \
	--params "$p" window-2k
run cuzk prove --offline --verbose --request "$data/requests/window-2k.json" --params "$p" \
	--rs 27134,17146 --out "$tmp/rearranged.proof"
is "window-2k: a proof is made without it" 0 $status
has "window-2k: and it is said why" "trying without it" "$err"
ok "window-2k: its bytes are the golden ones" cmp "$tmp/rearranged.proof" \
	"$data/window-2k/window-2k.proof"
rm "$w.coset"
nok "no circuit has that name" cuzk params rearrange nonesuch --params "$p"
ok "tiny-3: rearranged from the parameters alone" cuzk params rearrange tiny-3 --params "$p"
ok "tiny-3: params check finds them good" cuzk params check --params "$p" tiny-3

# random r and s: another proof, just as valid
ok "window-2k: random r and s" cuzk prove --offline --request "$data/requests/window-2k.json" \
	--params "$p" --out "$tmp/random.proof"
ok "window-2k: verify takes that proof" cuzk verify --vk "$data/window-2k/window-2k.vk" \
	--proof "$tmp/random.proof" --inputs "$data/window-2k/window-2k.inputs"
run cmp -s "$tmp/random.proof" "$data/window-2k/window-2k.proof"
is "window-2k: it is another one" 1 $status

# a manifest: the file's digest, then another one
w=$(ls "$p"/*0170db1f*.params)
run cuzk params check --params "$p" window-2k
digest=$(echo "$out" | sed -n 's/.*"blake2b": "\([0-9a-f]*\)".*/\1/p')
manifest() {
	echo "{\"${w##*/}\": {\"cid\": \"x\", \"digest\": \"$1\", \"sector_size\": 2048}}"
}
manifest "$digest" >"$tmp/m.json"
ok "a manifest with the file's digest" cuzk prove --offline --manifest "$tmp/m.json" \
	--request "$data/requests/window-2k.json" --params "$p" --out "$tmp/random.proof"
manifest "$(echo "$digest" | tr 0-9a-f 1-9a-f0)" >"$tmp/m2.json"
nok "a manifest with another digest" cuzk params check --manifest "$tmp/m2.json" --params "$p" \
	window-2k
nok "and no proof with it" cuzk prove --offline --manifest "$tmp/m2.json" \
	--request "$data/requests/window-2k.json" --params "$p" --out "$tmp/x"
echo "<html>" >"$tmp/m3.json"
nok "a manifest that is none" cuzk params check --manifest "$tmp/m3.json" --params "$p" window-2k

# one circuit's proof of another's request, wrong parameters, none at all
mkdir "$tmp/none"
nok "no parameters" cuzk prove --offline --request "$data/requests/window-2k.json" \
	--params "$tmp/none" --out "$tmp/x"
mkdir "$tmp/mixed"
cp "$p/tiny-3.params" "$tmp/mixed/${w##*/}"
nok "parameters of another circuit" cuzk prove --offline \
	--request "$data/requests/window-2k.json" --params "$tmp/mixed" --out "$tmp/x"
# a flipped byte in each section, from the end: b_g2, b_g1, a, l, h
for off in 100 3200000 4700000 6500000 9000000; do
	cp "$w" "$tmp/mixed/${w##*/}"
	size=$(wc -c <"$w")
	printf '\377' | dd of="$tmp/mixed/${w##*/}" bs=1 seek=$((size - off)) conv=notrunc 2>/dev/null
	nok "a byte changed $off before the end" cuzk prove --offline \
		--request "$data/requests/window-2k.json" --params "$tmp/mixed" --out "$tmp/x"
done
head -c 5000000 "$w" >"$tmp/mixed/${w##*/}"
nok "half a file" cuzk prove --offline --request "$data/requests/window-2k.json" \
	--params "$tmp/mixed" --out "$tmp/x"
ok "nothing was written by those" test ! -e "$tmp/x"
tap_done
