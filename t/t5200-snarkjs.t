#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# Circuits of circom: proofs equal to snarkjs', accepted by snarkjs, keys converted.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

s=$data/snarkjs

# The package as npm has it, once for a build tree.
find_snarkjs() {
	snarkjs=$build/t/node/node_modules/.bin/snarkjs
	[ -x "$snarkjs" ] && return 0
	command -v npm >/dev/null || { why="npm is not installed"; return 1; }
	mkdir -p "$build/t/node" && npm install --silent --no-audit --no-fund \
		--prefix "$build/t/node" snarkjs@0.7.6 >"$tmp/npm" 2>&1 && return 0
	why="npm cannot install snarkjs@0.7.6"
	return 1
}

# The three points of a proof, without what else the golden files hold.
points() {
	tr -d ' \n' <"$1" | sed 's/.*"pi_a"\(.*\),"protocol".*/\1/'
}

for c in tiny chain; do
	rs=$(json_get r <$s/$c.proof_fixed_rs.json),$(json_get s <$s/$c.proof_fixed_rs.json)
	ok "$c: a proof by the .zkey" cuzk prove --r1cs $s/$c.r1cs --wtns $s/$c.wtns \
		--zkey $s/$c.zkey --rs "$rs" --out "$tmp/$c.json" --public "$tmp/$c.public.json"
	is "$c: its points are those of snarkjs" "$(points $s/$c.proof_fixed_rs.json)" \
		"$(points "$tmp/$c.json")"
	ok "$c: the public signals are equal" cmp "$tmp/$c.public.json" $s/$c.public.json
	ok "$c: without the .r1cs" cuzk prove --wtns $s/$c.wtns --zkey $s/$c.zkey --rs "$rs" \
		--out "$tmp/$c.2.json"
	ok "$c: the same proof" cmp "$tmp/$c.json" "$tmp/$c.2.json"
	ok "$c: verify takes it" cuzk verify --vk $s/$c.vkey.json --proof "$tmp/$c.json" \
		--inputs "$tmp/$c.public.json"

	ok "$c: the key becomes .params" cuzk params convert --zkey $s/$c.zkey --out "$tmp/$c.params"
	ok "$c: a proof by them" cuzk prove --r1cs $s/$c.r1cs --wtns $s/$c.wtns \
		--params "$tmp/$c.params" --rs "$rs" --out "$tmp/$c.2.json"
	ok "$c: the same proof" cmp "$tmp/$c.json" "$tmp/$c.2.json"
	ok "$c: they become a .zkey" cuzk params convert --params "$tmp/$c.params" \
		--r1cs $s/$c.r1cs --out "$tmp/$c.zkey"
	ok "$c: a proof by it" cuzk prove --r1cs $s/$c.r1cs --wtns $s/$c.wtns \
		--zkey "$tmp/$c.zkey" --rs "$rs" --out "$tmp/$c.2.json"
	ok "$c: the same proof" cmp "$tmp/$c.json" "$tmp/$c.2.json"

	ok "$c: parameters of our own" cuzk params make --r1cs $s/$c.r1cs --out "$tmp/own"
	ok "$c: a proof by them" cuzk prove --r1cs $s/$c.r1cs --wtns $s/$c.wtns \
		--params "$tmp/own/$c.params" --out "$tmp/$c.own.json"
	ok "$c: the key as JSON" cuzk params convert --vk "$tmp/own/$c.vk" --out "$tmp/$c.vkey.json"
	ok "$c: parameters of snarkjs' kind" cuzk params make --r1cs $s/$c.r1cs --snarkjs \
		--out "$tmp/like"
	ok "$c: they become a .zkey" cuzk params convert --params "$tmp/like/$c.params" \
		--r1cs $s/$c.r1cs --out "$tmp/$c.like.zkey"
	ok "$c: a proof by it" cuzk prove --r1cs $s/$c.r1cs --wtns $s/$c.wtns \
		--zkey "$tmp/$c.like.zkey" --out "$tmp/$c.like.json"
	ok "$c: its key as JSON" cuzk params convert --vk "$tmp/like/$c.vk" \
		--out "$tmp/$c.like.vkey.json"
	nok "$c: bellperson's parameters do not become a .zkey" cuzk params convert \
		--params "$tmp/own/$c.params" --r1cs $s/$c.r1cs --out "$tmp/x.zkey"
done

# a witness that is wrong in its last value; keys and witnesses of another circuit
cp $s/tiny.wtns "$tmp/bad.wtns"
printf '\007' | dd of="$tmp/bad.wtns" bs=1 seek=$(($(wc -c <$s/tiny.wtns) - 32)) conv=notrunc 2>/dev/null
nok "a witness that does not satisfy" cuzk prove --r1cs $s/tiny.r1cs --wtns "$tmp/bad.wtns" \
	--zkey $s/tiny.zkey --out "$tmp/x.json"
nok "nor without the .r1cs" cuzk prove --wtns "$tmp/bad.wtns" --zkey $s/tiny.zkey \
	--out "$tmp/x.json"
nok "another circuit's witness" cuzk prove --r1cs $s/tiny.r1cs --wtns $s/chain.wtns \
	--zkey $s/tiny.zkey --out "$tmp/x.json"
nok "another circuit's key" cuzk prove --r1cs $s/tiny.r1cs --wtns $s/tiny.wtns \
	--zkey $s/chain.zkey --out "$tmp/x.json"
nok "another circuit's parameters" cuzk prove --r1cs $s/tiny.r1cs --wtns $s/tiny.wtns \
	--params "$tmp/own/chain.params" --out "$tmp/x.json"
nok "parameters as a key" cuzk prove --r1cs $s/tiny.r1cs --wtns $s/tiny.wtns \
	--zkey "$tmp/own/tiny.params" --out "$tmp/x.json"
for at in 3000 7000; do
	cp $s/tiny.zkey "$tmp/bad.zkey"
	printf '\1' | dd of="$tmp/bad.zkey" bs=1 seek=$at conv=notrunc 2>/dev/null
	nok "a point of the key changed at $at" cuzk prove --r1cs $s/tiny.r1cs --wtns $s/tiny.wtns \
		--zkey "$tmp/bad.zkey" --out "$tmp/x.json"
done
ok "nothing was written by those" test ! -e "$tmp/x.json"

if find_snarkjs; then
	for c in tiny chain; do
		ok "$c: snarkjs verifies our proof" $snarkjs groth16 verify $s/$c.vkey.json \
			"$tmp/$c.public.json" "$tmp/$c.json"
		ok "$c: and the one by our own key" $snarkjs groth16 verify "$tmp/$c.vkey.json" \
			"$tmp/$c.public.json" "$tmp/$c.own.json"
		ok "$c: snarkjs proves by the key that came back" $snarkjs groth16 prove \
			"$tmp/$c.zkey" $s/$c.wtns "$tmp/s.json" "$tmp/s.public.json"
		ok "$c: snarkjs proves by the key that we made" $snarkjs groth16 prove \
			"$tmp/$c.like.zkey" $s/$c.wtns "$tmp/l.json" "$tmp/l.public.json"
		ok "$c: and verifies it" $snarkjs groth16 verify "$tmp/$c.like.vkey.json" \
			"$tmp/l.public.json" "$tmp/l.json"
		ok "$c: we verify that proof" cuzk verify --vk $s/$c.vkey.json --proof "$tmp/s.json" \
			--inputs "$tmp/s.public.json"
	done
else
	skip npm "$why" 12
fi
tap_done
