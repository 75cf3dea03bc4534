/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fp_impl.h - the base field of BLS12-381, over fp_mul and fp_sqr */

#ifndef BLS_OWN_ADD_SUB
void fp_add(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	limbs_add_mod(r->l, a->l, b->l, P_LIMBS, 6);
}

void fp_sub(struct fp *r, const struct fp *a, const struct fp *b)
{
	FP_CHECK(a);
	FP_CHECK(b);
	limbs_sub_mod(r->l, a->l, b->l, P_LIMBS, 6);
}
#endif

void fp_double(struct fp *r, const struct fp *a)
{
	fp_add(r, a, a);
}

void fp_neg(struct fp *r, const struct fp *a)
{
	fp_sub(r, &fp_zero, a);
}

/* Sliding windows of 5 bits over a table of the odd powers below 32. */
void fp_pow_vartime(struct fp *r, const struct fp *a, const uint64_t *e, size_t n_limbs)
{
	struct fp odd[16], acc = fp_one, a2;
	unsigned int pending = 0;	/* squarings to do */
	size_t i = n_limbs * 64;
	bool started = false;
	int k;

	odd[0] = *a;
	fp_sqr(&a2, a);
	for (k = 1; k < 16; k++)
		fp_mul(&odd[k], &odd[k - 1], &a2);
	while (i > 0) {
		unsigned int w = 0, len = 0, used = 0;

		if (!(e[(i - 1) / 64] >> ((i - 1) % 64) & 1)) {
			pending += started;
			i--;
			continue;
		}
		/* the longest window of at most 5 bits that ends in a 1 */
		while (len < 5 && len < i) {
			size_t bit = i - 1 - len;

			len++;
			if (e[bit / 64] >> (bit % 64) & 1) {
				w = (w << (len - used)) | 1;
				used = len;
			}
		}
		if (started) {
			fp_sqr_n(&acc, &acc, pending + used);
			fp_mul(&acc, &acc, &odd[w / 2]);
		} else {
			acc = odd[w / 2];
			started = true;
		}
		pending = 0;
		i -= used;
	}
	if (pending)
		fp_sqr_n(&acc, &acc, pending);
	*r = acc;
}

/* The inverse of a 2^384 times 2^1152 / 2^384. */
void fp_inv_vartime(struct fp *r, const struct fp *a)
{
	struct fp t;

	FP_CHECK(a);
	inv_mod(t.l, a->l, P_LIMBS, P_POS_INV, 6, 7);
	fp_mul(r, &t, &FP_R3);
}

void fp_batch_inv_vartime(struct fp *a, size_t n, struct fp *tmp)
{
	struct fp acc = fp_one;
	size_t i;

	for (i = 0; i < n; i++) {
		tmp[i] = acc;
		if (!fp_is_zero(&a[i]))
			fp_mul(&acc, &acc, &a[i]);
	}
	fp_inv_vartime(&acc, &acc);
	for (i = n; i-- > 0;) {
		struct fp inv;

		if (fp_is_zero(&a[i]))
			continue;
		fp_mul(&inv, &acc, &tmp[i]);
		fp_mul(&acc, &acc, &a[i]);
		a[i] = inv;
	}
}

/* p = 3 mod 4: a^((p+1)/4) */
bool fp_sqrt(struct fp *r, const struct fp *a)
{
	struct fp s, t;

	fp_pow_vartime(&s, a, P_PLUS_1_DIV_4, 6);
	fp_sqr(&t, &s);
	if (!fp_equal(&t, a))
		return false;
	*r = s;
	return true;
}

static void fp_to_canonical(struct fp *r, const struct fp *a)
{
	struct fpw w = { { 0 } };

	memcpy(w.l, a->l, sizeof(a->l));
	fpw_redc(r, &w);
}

void fp_from_u64(struct fp *r, uint64_t v)
{
	struct fp t = {{ v }};

	fp_mul(r, &t, &FP_R2);
}

bool fp_is_larger_half(const struct fp *a)
{
	struct fp t;

	fp_to_canonical(&t, a);
	return limbs_below(P_HALF, t.l, 6);
}

int fp_from_bytes_be(struct fp *r, const uint8_t in[48])
{
	struct fp t;
	int i, j;

	for (i = 0; i < 6; i++) {
		uint64_t v = 0;

		for (j = 0; j < 8; j++)
			v = v << 8 | in[8 * i + j];
		t.l[5 - i] = v;
	}
	if (!limbs_below(t.l, P_LIMBS, 6))
		return -EINVAL;
	fp_mul(r, &t, &FP_R2);
	return 0;
}

void fp_to_bytes_be(uint8_t out[48], const struct fp *a)
{
	struct fp t;
	int i;

	fp_to_canonical(&t, a);
	for (i = 0; i < 48; i++)
		out[47 - i] = t.l[i / 8] >> (8 * (i % 8));
}
