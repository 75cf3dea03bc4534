/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-encoding.c - points as bytes: round trips, every refusal, and blst's opinion */
#include "lib/bls12_381/arch.h"
#include "lib/bls12_381/encoding.h"
#include "t/blst.h"
#include "t/tap.h"

static const uint8_t P_BYTES[48] = {
	0x1a, 0x01, 0x11, 0xea, 0x39, 0x7f, 0xe6, 0x9a, 0x4b, 0x1b, 0xa7, 0xb6, 0x43, 0x4b, 0xac,
		0xd7,
	0x64, 0x77, 0x4b, 0x84, 0xf3, 0x85, 0x12, 0xbf, 0x67, 0x30, 0xd2, 0xa0, 0xf6, 0xb0, 0xf6,
		0x24,
	0x1e, 0xab, 0xff, 0xfe, 0xb1, 0x53, 0xff, 0xff, 0xb9, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xaa,
		0xab,
};

static uint64_t next_random(void)
{
	static uint64_t s = 1;
	uint64_t z = s += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static int (*blst_p1_uncompress)(struct g1_affine *, const uint8_t *);
static int (*blst_p1_deserialize)(struct g1_affine *, const uint8_t *);
static int (*blst_p2_uncompress)(struct g2_affine *, const uint8_t *);
static int (*blst_p2_deserialize)(struct g2_affine *, const uint8_t *);
static bool (*blst_p1_affine_in_g1)(const struct g1_affine *);
static bool (*blst_p2_affine_in_g2)(const struct g2_affine *);

static bool open_blst(void)
{
	if (!blst_open())
		return false;
	blst_p1_uncompress = blst_symbol("blst_p1_uncompress");
	blst_p1_deserialize = blst_symbol("blst_p1_deserialize");
	blst_p2_uncompress = blst_symbol("blst_p2_uncompress");
	blst_p2_deserialize = blst_symbol("blst_p2_deserialize");
	blst_p1_affine_in_g1 = blst_symbol("blst_p1_affine_in_g1");
	blst_p2_affine_in_g2 = blst_symbol("blst_p2_affine_in_g2");
	return true;
}

#define G(name) g1_##name
#define GS "G1"
#define SIZE 48
#define POINT struct g1
#define AFFINE struct g1_affine
#define GENERATOR G1_GENERATOR
#define BLST_UNCOMPRESS blst_p1_uncompress
#define BLST_DESERIALIZE blst_p1_deserialize
#define BLST_IN_GROUP blst_p1_affine_in_g1
#include "t/u-encoding-group.h"
#undef G
#undef GS
#undef SIZE
#undef POINT
#undef AFFINE
#undef GENERATOR
#undef BLST_UNCOMPRESS
#undef BLST_DESERIALIZE
#undef BLST_IN_GROUP

#define G(name) g2_##name
#define GS "G2"
#define SIZE 96
#define POINT struct g2
#define AFFINE struct g2_affine
#define GENERATOR G2_GENERATOR
#define BLST_UNCOMPRESS blst_p2_uncompress
#define BLST_DESERIALIZE blst_p2_deserialize
#define BLST_IN_GROUP blst_p2_affine_in_g2
#include "t/u-encoding-group.h"

int main(void)
{
	bool have_blst = open_blst();
	int portable, i;

	for (portable = 0; portable < 2; portable++) {
		bls_set_portable(portable);
		g1_test(have_blst);
		g2_test(have_blst);
	}
	for (i = POINT_OK; i <= POINT_NOT_IN_SUBGROUP; i++)
		ok(strlen(point_status_str(i)) > 5, "status %d %s", i, point_status_str(i));
	return tap_done();
}
