/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fr.c - constants and conversions of the scalar field; fr_impl.h has the arithmetic */
#include <errno.h>

#include "lib/bls12_381/consts.h"
#include "lib/bls12_381/fr.h"

typedef unsigned __int128 u128;

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

void fr_pow_u64(struct fr *r, const struct fr *a, uint64_t e)
{
	fr_pow_vartime(r, a, &e, 1);
}

void fr_from_u64(struct fr *r, uint64_t v)
{
	struct scalar s = {{ v }};

	fr_from_scalar(r, &s);
}

bool scalar_is_canonical(const struct scalar *s)
{
	int i;

	for (i = 3; i >= 0; i--)
		if (s->l[i] != R_LIMBS[i])
			return s->l[i] < R_LIMBS[i];
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
