/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-encoding-group.h - the tests of one group, included by u-encoding.c for G1 and for G2 */

/* What blst says: the same verdict, and the same point where it is accepted. */
static bool G(blst_agrees)(const uint8_t *in, bool compressed, enum point_status status,
			   const AFFINE *a)
{
	AFFINE b;
	int err = compressed ? BLST_UNCOMPRESS(&b, in) : BLST_DESERIALIZE(&b, in);

	if (!err && !BLST_IN_GROUP(&b))
		return status == POINT_NOT_IN_SUBGROUP;
	if (err)
		return status != POINT_OK;
	return status == POINT_OK && G(affine_equal)(a, &b);
}

static void G(test)(bool have_blst)
{
	static const AFFINE infinity;
	uint8_t c[SIZE], u[2 * SIZE], bad[2 * SIZE];
	bool round = true, sign = true, flags = true, canonical = true, off = true, kept = true;
	bool blst = true, inf = true;
	unsigned int n_off = 0, n_sub = 0, n_sign = 0;
	enum point_status status;
	AFFINE a, b, neg;
	struct scalar k;
	POINT t;
	int i, j;

	for (i = 0; i < 40; i++) {
		for (j = 0; j < 4; j++)
			k.l[j] = next_random();
		G(mul_vartime)(&t, &GENERATOR, &k);
		G(to_affine)(&a, &t);
		G(to_compressed)(c, &a);
		G(to_uncompressed)(u, &a);
		memset(&b, 1, sizeof(b));
		round &= G(from_compressed)(&b, c, 0) == POINT_OK && G(affine_equal)(&a, &b);
		memset(&b, 1, sizeof(b));
		round &= G(from_uncompressed)(&b, u, 0) == POINT_OK && G(affine_equal)(&a, &b);
		if (have_blst)
			blst &= G(blst_agrees)(c, true, POINT_OK, &a) &&
				G(blst_agrees)(u, false, POINT_OK, &a);
		n_sign += c[0] >> 5 & 1;
		c[0] ^= 0x20;
		G(affine_neg)(&neg, &a);
		sign &= G(from_compressed)(&b, c, 0) == POINT_OK && G(affine_equal)(&neg, &b);

		/* all eight flags in both formats */
		for (j = 0; j < 8; j++) {
			memcpy(bad, c, SIZE);
			bad[0] = (bad[0] & 0x1f) | j << 5;
			status = G(from_compressed)(&b, bad, POINT_ALLOW_INFINITY);
			flags &= status == (j == 4 || j == 5 ? POINT_OK :
					    j == 6 ? POINT_NOT_CANONICAL : POINT_BAD_FLAGS);
			if (have_blst && j >= 4)
				blst &= G(blst_agrees)(bad, true, status, &b);
			memcpy(bad, u, 2 * SIZE);
			bad[0] = (bad[0] & 0x1f) | j << 5;
			status = G(from_uncompressed)(&b, bad, POINT_ALLOW_INFINITY);
			flags &= status == (j == 0 ? POINT_OK : j ==
					    2 ? POINT_NOT_CANONICAL : POINT_BAD_FLAGS);
			if (have_blst && j < 4)
				blst &= G(blst_agrees)(bad, false, status, &b);
		}

		/* p in the place of each coordinate; a larger x */
		b = a;
		for (j = 0; j < 2 * SIZE; j += 48) {
			memcpy(bad, u, 2 * SIZE);
			memcpy(bad + j, P_BYTES, 48);
			canonical &= G(from_uncompressed)(&b, bad, 0) == POINT_NOT_CANONICAL;
			memset(bad + j, 0xff, 48);
			bad[j] = 0x1f;
			canonical &= G(from_uncompressed)(&b, bad, 0) == POINT_NOT_CANONICAL;
			if (j >= SIZE)
				continue;
			memcpy(bad, c, SIZE);
			memcpy(bad + j, P_BYTES, 48);
			bad[0] |= 0x80;
			canonical &= G(from_compressed)(&b, bad, 0) == POINT_NOT_CANONICAL;
			if (have_blst)
				blst &= G(blst_agrees)(bad, true, POINT_NOT_CANONICAL, &b);
		}
		kept &= G(affine_equal)(&a, &b);

		/* y + 1 is off the curve; other x are on it or not, but hardly in the subgroup */
		memcpy(bad, u, 2 * SIZE);
		bad[2 * SIZE - 1] ^= 1;
		off &= G(from_uncompressed)(&b, bad, 0) == POINT_NOT_ON_CURVE;
		for (j = 0; j < 6; j++) {
			memcpy(bad, c, SIZE);
			bad[SIZE - 1 - j] ^= 1 + i;
			status = G(from_compressed)(&b, bad, 0);
			off &= status == POINT_NOT_ON_CURVE || status == POINT_NOT_IN_SUBGROUP;
			n_off += status == POINT_NOT_ON_CURVE;
			if (status == POINT_NOT_IN_SUBGROUP) {
				n_sub++;
				off &= G(from_compressed)(&b, bad, POINT_ANY_ORDER) == POINT_OK &&
				       G(affine_is_on_curve)(&b) && !G(in_subgroup_slow)(&b);
				G(to_uncompressed)(bad, &b);
				off &= G(from_uncompressed)(&b, bad, 0) == POINT_NOT_IN_SUBGROUP &&
				       G(from_uncompressed)(&b, bad, POINT_ANY_ORDER) == POINT_OK;
				G(to_compressed)(bad, &b);
			}
			if (have_blst)
				blst &= G(blst_agrees)(bad, true, status, &b);
		}
	}
	ok(round, "%s %s: round trips", bls_arch_name(), GS);
	ok(sign && n_sign > 5 && n_sign < 35, "%s %s: the sign bit negates", bls_arch_name(), GS);
	ok(flags, "%s %s: all flags", bls_arch_name(), GS);
	ok(canonical, "%s %s: coordinates not below p", bls_arch_name(), GS);
	ok(off && n_off > 50 && n_sub > 50, "%s %s: %u off the curve, %u outside the subgroup",
	   bls_arch_name(), GS, n_off, n_sub);
	ok(kept, "%s %s: a refused point leaves the output alone", bls_arch_name(), GS);

	G(to_compressed)(c, &infinity);
	G(to_uncompressed)(u, &infinity);
	inf &= c[0] == 0xc0 && u[0] == 0x40;
	for (i = 1; i < SIZE; i++)
		inf &= !c[i] && !u[i] && !u[SIZE + i];
	b = GENERATOR;
	inf &= G(from_compressed)(&b, c, 0) == POINT_INFINITY && G(affine_equal)(&b, &GENERATOR);
	inf &= G(from_uncompressed)(&b, u, 0) == POINT_INFINITY && G(affine_equal)(&b, &GENERATOR);
	inf &= G(from_compressed)(&b, c, POINT_ALLOW_INFINITY) == POINT_OK &&
		G(affine_is_infinity)(&b);
	b = GENERATOR;
	inf &= G(from_uncompressed)(&b, u, POINT_ALLOW_INFINITY) == POINT_OK &&
		G(affine_is_infinity)(&b);
	for (i = 0; i < 8 * SIZE; i++) {	/* any other bit set */
		memcpy(bad, c, SIZE);
		bad[i / 8] ^= 1 << i % 8;
		if (bad[0] & 0x40)
			inf &= G(from_compressed)(&b, bad, POINT_ALLOW_INFINITY) != POINT_OK;
		memcpy(bad, u, 2 * SIZE);
		bad[SIZE + i / 8] ^= 1 << i % 8;
		inf &= G(from_uncompressed)(&b, bad, POINT_ALLOW_INFINITY) == POINT_NOT_CANONICAL;
	}
	ok(inf, "%s %s: infinity", bls_arch_name(), GS);
	memset(bad, 0, sizeof(bad));	/* (0, 0) without the flag is no point */
	ok(G(from_uncompressed)(&b, bad, POINT_ALLOW_INFINITY | POINT_ANY_ORDER) ==
	   POINT_NOT_ON_CURVE,
	   "%s %s: (0, 0) as coordinates", bls_arch_name(), GS);
	if (have_blst)
		ok(blst, "%s %s: blst agrees", bls_arch_name(), GS);
	else
		skip("blst", blst_why_not);
}
