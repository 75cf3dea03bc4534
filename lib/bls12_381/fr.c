/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fr.c - the scalar field of BLS12-381, portable */
#include <errno.h>
#include <string.h>

#include "lib/bls12_381/fr.h"

typedef unsigned __int128 u128;

static const uint64_t R[4] = {
	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
};
#define R_INV 0xfffffffeffffffffull	/* -1/r mod 2^64 */

static const struct fr R2 = {{	/* 2^512 mod r */
	0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f, 0x0748d9d99f59ff11
}};

const struct fr fr_zero;
const struct fr fr_one = {{
	0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f
}};
const struct fr FR_ROOT_7 = {{
	0xb9b58d8c5f0e466a, 0x5b1b4c801819d7ec, 0x0af53ae352a31e64, 0x5bf3adda19e9b27b
}};
const struct fr FR_ROOT_5 = {{
	0x9cab6d5c0c17f47c, 0x1ce1e93dfd4b71e5, 0x0d6db230471dd505, 0x3f0ee990743a3b6a
}};
const struct fr FR_GENERATOR = {{
	0x0000000efffffff1, 0x17e363d300189c0f, 0xff9c57876f8457b0, 0x351332208fc5a8c4
}};

/* r = t - R if t >= R, else t; carry is bit 256 of t */
static void reduce_once(struct fr *r, const uint64_t t[4], uint64_t carry)
{
	uint64_t d[4], borrow = 0, mask;
	int i;

	for (i = 0; i < 4; i++) {
		u128 x = (u128)t[i] - R[i] - borrow;

		d[i] = x;
		borrow = (uint64_t)(x >> 64) & 1;
	}
	mask = -(uint64_t)(carry < borrow);	/* keep t */
	for (i = 0; i < 4; i++)
		r->l[i] = (t[i] & mask) | (d[i] & ~mask);
}

void fr_add(struct fr *r, const struct fr *a, const struct fr *b)
{
	uint64_t t[4];
	u128 x = 0;
	int i;

	for (i = 0; i < 4; i++) {
		x += (u128)a->l[i] + b->l[i];
		t[i] = x;
		x >>= 64;
	}
	reduce_once(r, t, x);
}

void fr_double(struct fr *r, const struct fr *a)
{
	fr_add(r, a, a);
}

void fr_sub(struct fr *r, const struct fr *a, const struct fr *b)
{
	uint64_t t[4], borrow = 0, mask;
	u128 x = 0;
	int i;

	for (i = 0; i < 4; i++) {
		u128 d = (u128)a->l[i] - b->l[i] - borrow;

		t[i] = d;
		borrow = (uint64_t)(d >> 64) & 1;
	}
	mask = -borrow;
	for (i = 0; i < 4; i++) {
		x += (u128)t[i] + (R[i] & mask);
		r->l[i] = x;
		x >>= 64;
	}
}

void fr_neg(struct fr *r, const struct fr *a)
{
	fr_sub(r, &fr_zero, a);
}

void fr_mul(struct fr *r, const struct fr *a, const struct fr *b)
{
	uint64_t t[6] = { 0 };
	int i, j;

	for (i = 0; i < 4; i++) {
		u128 x = 0;
		uint64_t m;

		for (j = 0; j < 4; j++) {
			x += (u128)a->l[j] * b->l[i] + t[j];
			t[j] = x;
			x >>= 64;
		}
		x += t[4];
		t[4] = x;
		t[5] = x >> 64;
		m = t[0] * R_INV;
		x = ((u128)m * R[0] + t[0]) >> 64;
		for (j = 1; j < 4; j++) {
			x += (u128)m * R[j] + t[j];
			t[j - 1] = x;
			x >>= 64;
		}
		x += t[4];
		t[3] = x;
		t[4] = t[5] + (uint64_t)(x >> 64);
	}
	reduce_once(r, t, t[4]);
}

void fr_sqr(struct fr *r, const struct fr *a)
{
	fr_mul(r, a, a);
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

void fr_pow_u64(struct fr *r, const struct fr *a, uint64_t e)
{
	fr_pow_vartime(r, a, &e, 1);
}

void fr_inv_vartime(struct fr *r, const struct fr *a)
{
	uint64_t e[4] = { R[0] - 2, R[1], R[2], R[3] };

	fr_pow_vartime(r, a, e, 4);
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

void fr_from_u64(struct fr *r, uint64_t v)
{
	struct scalar s = {{ v }};

	fr_from_scalar(r, &s);
}

bool fr_is_zero(const struct fr *a)
{
	return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

bool fr_equal(const struct fr *a, const struct fr *b)
{
	return ((a->l[0] ^ b->l[0]) | (a->l[1] ^ b->l[1]) |
		(a->l[2] ^ b->l[2]) | (a->l[3] ^ b->l[3])) == 0;
}

bool fr_is_one(const struct fr *a)
{
	return fr_equal(a, &fr_one);
}

void fr_from_scalar(struct fr *r, const struct scalar *s)
{
	struct fr t;

	memcpy(&t, s, sizeof(t));
	fr_mul(r, &t, &R2);
}

void fr_to_scalar(struct scalar *s, const struct fr *a)
{
	static const struct fr one = {{ 1 }};
	struct fr t;

	fr_mul(&t, a, &one);
	memcpy(s, &t, sizeof(t));
}

bool scalar_is_canonical(const struct scalar *s)
{
	int i;

	for (i = 3; i >= 0; i--)
		if (s->l[i] != R[i])
			return s->l[i] < R[i];
	return false;
}

int fr_from_bytes_le(struct fr *r, const uint8_t in[32])
{
	struct scalar s;
	int i;

	for (i = 0; i < 4; i++) {
		uint64_t v = 0;
		int j;

		for (j = 7; j >= 0; j--)
			v = v << 8 | in[8 * i + j];
		s.l[i] = v;
	}
	if (!scalar_is_canonical(&s))
		return -EINVAL;
	fr_from_scalar(r, &s);
	return 0;
}

int fr_from_bytes_be(struct fr *r, const uint8_t in[32])
{
	uint8_t le[32];
	int i;

	for (i = 0; i < 32; i++)
		le[i] = in[31 - i];
	return fr_from_bytes_le(r, le);
}

void fr_to_bytes_le(uint8_t out[32], const struct fr *a)
{
	struct scalar s;
	int i;

	fr_to_scalar(&s, a);
	for (i = 0; i < 32; i++)
		out[i] = s.l[i / 8] >> (8 * (i % 8));
}

int fr_from_dec(struct fr *r, const char *s)
{
	struct scalar v = { { 0 } };

	if (!*s)
		return -EINVAL;
	for (; *s; s++) {
		u128 x;
		int i;

		if (*s < '0' || *s > '9')
			return -EINVAL;
		x = *s - '0';
		for (i = 0; i < 4; i++) {
			x += (u128)v.l[i] * 10;
			v.l[i] = x;
			x >>= 64;
		}
		if (x)
			return -EINVAL;
	}
	if (!scalar_is_canonical(&v))
		return -EINVAL;
	fr_from_scalar(r, &v);
	return 0;
}
