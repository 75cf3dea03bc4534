/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* glv_impl.h - digits of scalars, and scalars split for the endomorphism of G1 */

#define WNAF_MAX 132	/* positions: 128 bits and a carry, rounded up */

struct wnaf_digit {
	int16_t pos, value;
};

/*
 * Signed digits of k, n_limbs <= 2, from the lowest: odd and below
 * 2^(width - 1) in absolute value, at positions that are width or more apart,
 * so at most 130 / width + 1 of them.  Returns their number.
 */
static int wnaf(struct wnaf_digit *digits, const uint64_t *k, int n_limbs, unsigned int width)
{
	u128 v = (u128)(n_limbs > 1 ? k[1] : 0) << 64 | k[0];
	int n = 0, pos = 0;

	while (v) {
		int zeros = (uint64_t)v ? __builtin_ctzll(v) : 64 + __builtin_ctzll(v >> 64);
		int d;

		pos += zeros;
		v >>= zeros;
		d = v & ((1u << width) - 1);
		v >>= width;
		if (d >> (width - 1)) {
			d -= 1 << width;
			v++;
		}
		digits[n++] = (struct wnaf_digit){ pos, d };
		pos += width;
	}
	return n;
}

static void scalar_mod_r(uint64_t r[4], const struct scalar *k)
{
	memcpy(r, k, 32);
	limbs_reduce_once(r, r, 0, R_LIMBS, 4);
	limbs_reduce_once(r, r, 0, R_LIMBS, 4);
}

/*
 * k mod r = k1 LAMBDA + k0, both below 2^128.  The quotient is estimated with
 * floor(2^254 / LAMBDA) and is at most a few too small.
 */
static void split_lambda(uint64_t k0[2], uint64_t k1[2], const struct scalar *scalar)
{
	u128 lambda = (u128)LAMBDA[1] << 64 | LAMBDA[0];
	uint64_t k[4], h[2], t[4], borrow;
	u128 x, q, rem;

	scalar_mod_r(k, scalar);
	h[0] = k[1] >> 63 | k[2] << 1;		/* k / 2^127 */
	h[1] = k[2] >> 63 | k[3] << 1;
	x = (u128)h[0] * LAMBDA_MU[0];
	x = (x >> 64) + (u128)h[0] * LAMBDA_MU[1];
	q = (x >> 64);
	x = (uint64_t)x + (u128)h[1] * LAMBDA_MU[0];
	t[1] = x;				/* of the product: limbs 1..3 */
	x = q + (x >> 64) + (u128)h[1] * LAMBDA_MU[1];
	t[2] = x;
	t[3] = x >> 64;
	q = (u128)(t[3] << 1 | t[2] >> 63) << 64 | (t[2] << 1 | t[1] >> 63);

	/* k - q lambda, which fits 128 bits and some */
	x = (u128)(uint64_t)q * LAMBDA[0];
	t[0] = x;
	x = (x >> 64) + (u128)(uint64_t)q * LAMBDA[1];
	t[2] = x >> 64;
	x = (uint64_t)x + (u128)(uint64_t)(q >> 64) * LAMBDA[0];
	t[1] = x;
	t[2] += (uint64_t)(x >> 64) + (uint64_t)(q >> 64) * LAMBDA[1];
	borrow = limb_subb(&t[0], k[0], t[0], 0);
	borrow = limb_subb(&t[1], k[1], t[1], borrow);
	limb_subb(&t[2], k[2], t[2], borrow);
	rem = (u128)t[1] << 64 | t[0];
	while (t[2] || rem >= lambda) {
		t[2] -= rem < lambda;
		rem -= lambda;
		q++;
	}
	k0[0] = rem;
	k0[1] = rem >> 64;
	k1[0] = q;
	k1[1] = q >> 64;
}
