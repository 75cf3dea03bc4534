/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fr_impl.h - the scalar field of BLS12-381, over fr_mul and fr_sqr */

#ifndef BLS_OWN_ADD_SUB
void fr_add(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	limbs_add_mod(r->l, a->l, b->l, R_LIMBS, 4);
}

void fr_sub(struct fr *r, const struct fr *a, const struct fr *b)
{
	FR_CHECK(a);
	FR_CHECK(b);
	limbs_sub_mod(r->l, a->l, b->l, R_LIMBS, 4);
}
#endif

void fr_double(struct fr *r, const struct fr *a)
{
	fr_add(r, a, a);
}

void fr_neg(struct fr *r, const struct fr *a)
{
	fr_sub(r, &fr_zero, a);
}

void fr_pow_vartime(struct fr *r, const struct fr *a, const uint64_t *e, size_t n_limbs)
{
	struct fr acc = fr_one, base = *a;
	size_t i = n_limbs * 64;

	while (i-- > 0) {
		fr_sqr(&acc, &acc);
		if (e[i / 64] >> (i % 64) & 1)
			fr_mul(&acc, &acc, &base);
	}
	*r = acc;
}

/* The inverse of a 2^256 times 2^768 / 2^256. */
void fr_inv_vartime(struct fr *r, const struct fr *a)
{
	struct fr t;

	FR_CHECK(a);
	inv_mod(t.l, a->l, R_LIMBS, R_POS_INV, 4, 5);
	fr_mul(r, &t, &FR_R3);
}

void fr_batch_inv_vartime(struct fr *a, size_t n, struct fr *tmp)
{
	struct fr acc = fr_one;
	size_t i;

	for (i = 0; i < n; i++) {
		tmp[i] = acc;
		if (!fr_is_zero(&a[i]))
			fr_mul(&acc, &acc, &a[i]);
	}
	fr_inv_vartime(&acc, &acc);
	for (i = n; i-- > 0;) {
		struct fr inv;

		if (fr_is_zero(&a[i]))
			continue;
		fr_mul(&inv, &acc, &tmp[i]);
		fr_mul(&acc, &acc, &a[i]);
		a[i] = inv;
	}
}

void fr_from_scalar(struct fr *r, const struct scalar *s)
{
	struct fr t;

	memcpy(&t, s, sizeof(t));
	fr_mul(r, &t, &FR_R2);
}

void fr_to_scalar(struct scalar *s, const struct fr *a)
{
	static const struct fr one = {{ 1 }};
	struct fr t;

	fr_mul(&t, a, &one);
	memcpy(s, &t, sizeof(t));
}
