/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm_digits.c - signed digits of scalars, portable */
#include "gpu/cpu/msm_impl.h"

static const uint64_t R[4] = {
	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805, 0x73eda753299d7d48
};
static const uint64_t R_HALF[4] = {	/* (r - 1) / 2 */
	0x7fffffff80000000, 0xa9ded2017fff2dff, 0x199cec0404d0ec02, 0x39f6d3a994cebea4
};

void msm_recode_init(struct msm_recode *rc, unsigned int n_windows)
{
	unsigned int i, bit, at = 0;

	rc->n_windows = n_windows;
	rc->halves = (struct scalar){ { 0 } };
	for (i = 0; i < n_windows; i++) {
		rc->width[i] = MSM_SCALAR_BITS / n_windows + (i < MSM_SCALAR_BITS % n_windows);
		rc->offset[i] = at;
		at += rc->width[i];
		bit = at - 1;
		rc->halves.l[bit / 64] |= 1ull << bit % 64;
	}
}

/* a < b */
static bool below(const uint64_t a[4], const uint64_t b[4])
{
	int i;

	for (i = 3; i > 0; i--)
		if (a[i] != b[i])
			return a[i] < b[i];
	return a[0] < b[0];
}

bool msm_digits_port(const struct msm_recode *rc, const struct scalar *s, size_t n,
		     unsigned int first, unsigned int n_windows, uint32_t *digit, size_t stride)
{
	unsigned int w;
	size_t i;
	int k;

	for (i = 0; i < n; i++) {
		unsigned __int128 t = 0;
		uint32_t sign = 0;
		uint64_t v[5];

		if (!below(s[i].l, R))
			return false;
		for (k = 0; k < 4; k++)
			v[k] = s[i].l[k];
		if (below(R_HALF, v)) {
			__int128 d = 0;

			sign = MSM_NEGATIVE;
			for (k = 0; k < 4; k++) {
				d += (__int128)R[k] - v[k];
				v[k] = (uint64_t)d;
				d >>= 64;
			}
		}
		for (k = 0; k < 4; k++) {
			t += (unsigned __int128)v[k] + rc->halves.l[k];
			v[k] = (uint64_t)t;
			t >>= 64;
		}
		v[4] = 0;
		for (w = 0; w < n_windows; w++) {
			unsigned int at = rc->offset[first + w], width = rc->width[first + w];
			uint64_t x = v[at / 64] >> at % 64;
			int64_t d;

			if (at % 64 + width > 64)
				x |= v[at / 64 + 1] << (64 - at % 64);
			d = (int64_t)(x & ((1ull << width) - 1)) - (1ll << (width - 1));
			digit[w * stride + i] = d < 0 ? (uint32_t)-d | (sign ^ MSM_NEGATIVE) :
						(uint32_t)d | sign;
		}
	}
	return true;
}
