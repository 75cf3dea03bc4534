#!/bin/sh
# SPDX-License-Identifier: MIT OR Apache-2.0
# The larger 2 KiB proofs equal the reference's to the byte: minutes, 4 GB of disk.
. "${CUZK_SRCDIR:-.}/t/tap.sh"

case " $CUZK_TEST_REQUIRE " in
*" long "*) ;;
*)
	skip long "porep-2k and update-2k take minutes; CUZK_TEST_REQUIRE=long runs them"
	tap_done
	;;
esac
for k in update-2k porep-2k; do
	ok "$k: parameters are made" cuzk params make $k --toxic 48577,22580,53332,5481,3673 \
		--out "$tmp/params"
	vk=$(echo "$out" | json_get vk_file)
	ok "$k: the verifying key is the golden one" cmp "$vk" "$data/$k/$k.vk"
	ok "$k: a proof is made and verified" cuzk prove --offline \
		--request "$data/requests/$k.json" --params "$tmp/params" --rs 27134,17146 \
		--out "$tmp/$k.proof"
	echo "$out" | sed 's/^/# /'
	ok "$k: its bytes are the golden ones" cmp "$tmp/$k.proof" "$data/$k/$k.proof"
	rm -r "$tmp/params"
done
tap_done
