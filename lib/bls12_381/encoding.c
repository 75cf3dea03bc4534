/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* encoding.c - points of G1 and G2 as bytes, the Zcash format */
#include <string.h>

#include "lib/bls12_381/consts.h"
#include "lib/bls12_381/encoding.h"

#define FLAG_COMPRESSED 0x80
#define FLAG_INFINITY 0x40
#define FLAG_LARGER 0x20
#define FLAGS 0xe0

/* Copies the size bytes of in without the flags and judges the flags. */
static enum point_status open_flags(uint8_t *body, const uint8_t *in, size_t size, bool compressed,
				    unsigned int flags, bool *infinity)
{
	uint8_t any = 0;
	size_t i;

	memcpy(body, in, size);
	body[0] &= ~FLAGS;
	*infinity = in[0] & FLAG_INFINITY;
	if (!(in[0] & FLAG_COMPRESSED) != !compressed)
		return POINT_BAD_FLAGS;
	if ((in[0] & FLAG_LARGER) && (!compressed || *infinity))
		return POINT_BAD_FLAGS;
	if (!*infinity)
		return POINT_OK;
	for (i = 0; i < size; i++)
		any |= body[i];
	if (any)
		return POINT_NOT_CANONICAL;
	return flags & POINT_ALLOW_INFINITY ? POINT_OK : POINT_INFINITY;
}

static bool get_fp2(struct fp2 *r, const uint8_t in[96])
{
	return !fp_from_bytes_be(&r->c1, in) && !fp_from_bytes_be(&r->c0, in + 48);
}

static void put_fp2(uint8_t out[96], const struct fp2 *a)
{
	fp_to_bytes_be(out, &a->c1);
	fp_to_bytes_be(out + 48, &a->c0);
}

/* (0, 0) is not on the curve but means infinity here: refuse it as coordinates. */
static enum point_status g1_accept(struct g1_affine *r, const struct g1_affine *a, bool curve_known,
				   unsigned int flags)
{
	if (!curve_known && (g1_affine_is_infinity(a) || !g1_affine_is_on_curve(a)))
		return POINT_NOT_ON_CURVE;
	if (!(flags & POINT_ANY_ORDER) && !g1_in_subgroup(a))
		return POINT_NOT_IN_SUBGROUP;
	*r = *a;
	return POINT_OK;
}

static enum point_status g2_accept(struct g2_affine *r, const struct g2_affine *a, bool curve_known,
				   unsigned int flags)
{
	if (!curve_known && (g2_affine_is_infinity(a) || !g2_affine_is_on_curve(a)))
		return POINT_NOT_ON_CURVE;
	if (!(flags & POINT_ANY_ORDER) && !g2_in_subgroup(a))
		return POINT_NOT_IN_SUBGROUP;
	*r = *a;
	return POINT_OK;
}

enum point_status g1_from_uncompressed(struct g1_affine *r, const uint8_t in[96],
				       unsigned int flags)
{
	enum point_status status;
	struct g1_affine a;
	uint8_t body[96];
	bool infinity;

	status = open_flags(body, in, sizeof(body), false, flags, &infinity);
	if (status)
		return status;
	if (infinity) {
		*r = (struct g1_affine){ { { 0 } } };
		return POINT_OK;
	}
	if (fp_from_bytes_be(&a.x, body) || fp_from_bytes_be(&a.y, body + 48))
		return POINT_NOT_CANONICAL;
	return g1_accept(r, &a, false, flags);
}

enum point_status g1_from_compressed(struct g1_affine *r, const uint8_t in[48], unsigned int flags)
{
	enum point_status status;
	struct g1_affine a;
	uint8_t body[48];
	bool infinity;

	status = open_flags(body, in, sizeof(body), true, flags, &infinity);
	if (status)
		return status;
	if (infinity) {
		*r = (struct g1_affine){ { { 0 } } };
		return POINT_OK;
	}
	if (fp_from_bytes_be(&a.x, body))
		return POINT_NOT_CANONICAL;
	fp_sqr(&a.y, &a.x);
	fp_mul(&a.y, &a.y, &a.x);
	fp_add(&a.y, &a.y, &FP_4);
	if (!fp_sqrt(&a.y, &a.y))
		return POINT_NOT_ON_CURVE;
	if (fp_is_larger_half(&a.y) != !!(in[0] & FLAG_LARGER))
		fp_neg(&a.y, &a.y);
	return g1_accept(r, &a, true, flags);
}

enum point_status g2_from_uncompressed(struct g2_affine *r, const uint8_t in[192],
				       unsigned int flags)
{
	enum point_status status;
	struct g2_affine a;
	uint8_t body[192];
	bool infinity;

	status = open_flags(body, in, sizeof(body), false, flags, &infinity);
	if (status)
		return status;
	if (infinity) {
		*r = (struct g2_affine){ { { { 0 } } } };
		return POINT_OK;
	}
	if (!get_fp2(&a.x, body) || !get_fp2(&a.y, body + 96))
		return POINT_NOT_CANONICAL;
	return g2_accept(r, &a, false, flags);
}

enum point_status g2_from_compressed(struct g2_affine *r, const uint8_t in[96], unsigned int flags)
{
	enum point_status status;
	struct g2_affine a;
	uint8_t body[96];
	bool infinity;

	status = open_flags(body, in, sizeof(body), true, flags, &infinity);
	if (status)
		return status;
	if (infinity) {
		*r = (struct g2_affine){ { { { 0 } } } };
		return POINT_OK;
	}
	if (!get_fp2(&a.x, body))
		return POINT_NOT_CANONICAL;
	fp2_sqr(&a.y, &a.x);
	fp2_mul(&a.y, &a.y, &a.x);
	fp2_add(&a.y, &a.y, &FP2_4_4);
	if (!fp2_sqrt(&a.y, &a.y))
		return POINT_NOT_ON_CURVE;
	if (fp2_is_larger_half(&a.y) != !!(in[0] & FLAG_LARGER))
		fp2_neg(&a.y, &a.y);
	return g2_accept(r, &a, true, flags);
}

void g1_to_uncompressed(uint8_t out[96], const struct g1_affine *a)
{
	fp_to_bytes_be(out, &a->x);
	fp_to_bytes_be(out + 48, &a->y);
	if (g1_affine_is_infinity(a))
		out[0] |= FLAG_INFINITY;
}

void g1_to_compressed(uint8_t out[48], const struct g1_affine *a)
{
	fp_to_bytes_be(out, &a->x);
	out[0] |= FLAG_COMPRESSED;
	if (g1_affine_is_infinity(a))
		out[0] |= FLAG_INFINITY;
	else if (fp_is_larger_half(&a->y))
		out[0] |= FLAG_LARGER;
}

void g2_to_uncompressed(uint8_t out[192], const struct g2_affine *a)
{
	put_fp2(out, &a->x);
	put_fp2(out + 96, &a->y);
	if (g2_affine_is_infinity(a))
		out[0] |= FLAG_INFINITY;
}

void g2_to_compressed(uint8_t out[96], const struct g2_affine *a)
{
	put_fp2(out, &a->x);
	out[0] |= FLAG_COMPRESSED;
	if (g2_affine_is_infinity(a))
		out[0] |= FLAG_INFINITY;
	else if (fp2_is_larger_half(&a->y))
		out[0] |= FLAG_LARGER;
}

const char *point_status_str(enum point_status status)
{
	static const char *const str[] = {
		[POINT_OK] = "is valid",
		[POINT_BAD_FLAGS] = "has flag bits that do not fit its format",
		[POINT_NOT_CANONICAL] = "is not encoded canonically",
		[POINT_INFINITY] = "is the point at infinity",
		[POINT_NOT_ON_CURVE] = "is not on the curve",
		[POINT_NOT_IN_SUBGROUP] = "is not in the subgroup of order r",
	};

	return status < sizeof(str) / sizeof(*str) ? str[status] : "has an unknown status";
}
