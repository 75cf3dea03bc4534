/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * consts.h - constants of BLS12-381, printed by gen-consts.py: do not edit
 *
 * Field elements are in Montgomery form.
 */
#ifndef CUZK_BLS12_381_CONSTS_H
#define CUZK_BLS12_381_CONSTS_H

#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"

#define BLS_ABS_Z 0xd201000000010000ull	/* z is negative */
#define P_INV 0x89f3fffcfffcfffdull	/* -1/p mod 2^64 */
#define P_POS_INV 0x760c000300030003ull	/* 1/p mod 2^64 */
#define R_INV 0xfffffffeffffffffull	/* -1/r mod 2^64 */
#define R_POS_INV 0x0000000100000001ull	/* 1/r mod 2^64 */

/* p */
static const uint64_t P_LIMBS[6] __attribute__((unused)) = {
	0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
	0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a
};

/* (p - 1) / 2 */
static const uint64_t P_HALF[6] __attribute__((unused)) = {
	0xdcff7fffffffd555, 0x0f55ffff58a9ffff, 0xb39869507b587b12,
	0xb23ba5c279c2895f, 0x258dd3db21a5d66b, 0x0d0088f51cbff34d
};

/* (p + 1) / 4 */
static const uint64_t P_PLUS_1_DIV_4[6] __attribute__((unused)) = {
	0xee7fbfffffffeaab, 0x07aaffffac54ffff, 0xd9cc34a83dac3d89,
	0xd91dd2e13ce144af, 0x92c6e9ed90d2eb35, 0x0680447a8e5ff9a6
};

/* (p - 3) / 4 */
static const uint64_t P_MINUS_3_DIV_4[6] __attribute__((unused)) = {
	0xee7fbfffffffeaaa, 0x07aaffffac54ffff, 0xd9cc34a83dac3d89,
	0xd91dd2e13ce144af, 0x92c6e9ed90d2eb35, 0x0680447a8e5ff9a6
};

/* r */
static const uint64_t R_LIMBS[4] __attribute__((unused)) = {
	0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
	0x73eda753299d7d48
};

/* z^2 - 1, the eigenvalue of (x, y) -> (beta x, y) on G1 */
static const uint64_t LAMBDA[2] __attribute__((unused)) = {
	0x00000000ffffffff, 0xac45a4010001a402
};

/* 2^254 / LAMBDA */
static const uint64_t LAMBDA_MU[2] __attribute__((unused)) = {
	0x58fdb948bdb3fb8c, 0x5f1afb3c7807eab7
};

/* 2^768 mod p */
static const struct fp FP_R2 __attribute__((unused)) = {{
	0xf4df1f341c341746, 0x0a76e6a609d104f1, 0x8de5476c4c95b6d5,
	0x67eb88a9939d83c0, 0x9a793e85b519952d, 0x11988fe592cae3aa
}};

/* 2^1152 mod p */
static const struct fp FP_R3 __attribute__((unused)) = {{
	0xed48ac6bd94ca1e0, 0x315f831e03a7adf8, 0x9a53352a615e29dd,
	0x34c04e5e921e1761, 0x2512d43565724728, 0x0aa6346091755d4d
}};

/* 2^512 mod r, 2^768 mod r */
static const struct fr FR_R2 __attribute__((unused)) = {{
	0xc999e990f3f29c6d, 0x2b6cedcb87925c23, 0x05d314967254398f,
	0x0748d9d99f59ff11
}};
static const struct fr FR_R3 __attribute__((unused)) = {{
	0xc62c1807439b73af, 0x1b3e0d188cf06990, 0x73d13c71c7b5f418,
	0x6e2a5bb9c8db33e9
}};

/* b of G1 */
static const struct fp FP_4 __attribute__((unused)) = {{
	0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
	0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e
}};

/* 1/2 */
static const struct fp FP_HALF __attribute__((unused)) = {{
	0x1804000000015554, 0x855000053ab00001, 0x633cb57c253c276f,
	0x6e22d1ec31ebb502, 0xd3916126f2d14ca2, 0x17fbb8571a006596
}};

/* the cube root of 1 that belongs to LAMBDA */
static const struct fp FP_BETA __attribute__((unused)) = {{
	0xcd03c9e48671f071, 0x5dab22461fcda5d2, 0x587042afd3851b95,
	0x8eb60ebe01bacb9e, 0x03f97d6e83d050d2, 0x18f0206554638741
}};

/* FP_BETA squared: belongs to -z^2 */
static const struct fp FP_BETA2 __attribute__((unused)) = {{
	0x30f1361b798a64e8, 0xf3b8ddab7ece5a2a, 0x16a8ca3ac61577f7,
	0xc26a2ff874fd029b, 0x3636b76660701c6e, 0x051ba4ab241b6160
}};

/* b of G2 */
static const struct fp2 FP2_4_4 __attribute__((unused)) = {{{
	0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
	0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e
}}, {{
	0xaa270000000cfff3, 0x53cc0032fc34000a, 0x478fe97a6b0a807f,
	0xb1d37ebee6ba24d7, 0x8ec9733bbf78ab2f, 0x09d645513d83de7e
}}};

/* 1 / xi^((p-1)/3) */
static const struct fp2 PSI_X __attribute__((unused)) = {{{
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000
}}, {{
	0x890dc9e4867545c3, 0x2af322533285a5d5, 0x50880866309b7e2c,
	0xa20d1b8c7e881024, 0x14e4f04fe2db9068, 0x14e56d3f1564853a
}}};

/* 1 / xi^((p-1)/2) */
static const struct fp2 PSI_Y __attribute__((unused)) = {{{
	0x3e2f585da55c9ad1, 0x4294213d86c18183, 0x382844c88b623732,
	0x92ad2afd19103e18, 0x1d794e4fac7cf0b9, 0x0bd592fc7d825ec8
}}, {{
	0x7bcfa7a25aa30fda, 0xdc17dec12a927e7c, 0x2f088dd86b4ebef1,
	0xd1ca2087da74d4a7, 0x2da2596696cebc1d, 0x0e2b7eedbbfd87d2
}}};

/* x of psi^2: N(PSI_X); y changes its sign */
static const struct fp PSI2_X __attribute__((unused)) = {{
	0xcd03c9e48671f071, 0x5dab22461fcda5d2, 0x587042afd3851b95,
	0x8eb60ebe01bacb9e, 0x03f97d6e83d050d2, 0x18f0206554638741
}};

/* xi^(1 (p-1)/6) */
static const struct fp2 FROB_1 __attribute__((unused)) = {{{
	0x07089552b319d465, 0xc6695f92b50a8313, 0x97e83cccd117228f,
	0xa35baecab2dc29ee, 0x1ce393ea5daace4d, 0x08f2220fb0fb66eb
}}, {{
	0xb2f66aad4ce5d646, 0x5842a06bfc497cec, 0xcf4895d42599d394,
	0xc11b9cba40a8e8d0, 0x2e3813cbe5a0de89, 0x110eefda88847faf
}}};

/* xi^(2 (p-1)/6) */
static const struct fp2 FROB_2 __attribute__((unused)) = {{{
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000
}}, {{
	0xcd03c9e48671f071, 0x5dab22461fcda5d2, 0x587042afd3851b95,
	0x8eb60ebe01bacb9e, 0x03f97d6e83d050d2, 0x18f0206554638741
}}};

/* xi^(3 (p-1)/6) */
static const struct fp2 FROB_3 __attribute__((unused)) = {{{
	0x7bcfa7a25aa30fda, 0xdc17dec12a927e7c, 0x2f088dd86b4ebef1,
	0xd1ca2087da74d4a7, 0x2da2596696cebc1d, 0x0e2b7eedbbfd87d2
}}, {{
	0x7bcfa7a25aa30fda, 0xdc17dec12a927e7c, 0x2f088dd86b4ebef1,
	0xd1ca2087da74d4a7, 0x2da2596696cebc1d, 0x0e2b7eedbbfd87d2
}}};

/* xi^(4 (p-1)/6) */
static const struct fp2 FROB_4 __attribute__((unused)) = {{{
	0x890dc9e4867545c3, 0x2af322533285a5d5, 0x50880866309b7e2c,
	0xa20d1b8c7e881024, 0x14e4f04fe2db9068, 0x14e56d3f1564853a
}}, {{
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000,
	0x0000000000000000, 0x0000000000000000, 0x0000000000000000
}}};

/* xi^(5 (p-1)/6) */
static const struct fp2 FROB_5 __attribute__((unused)) = {{{
	0x82d83cf50dbce43f, 0xa2813e53df9d018f, 0xc6f0caa53c65e181,
	0x7525cf528d50fe95, 0x4a85ed50f4798a6b, 0x171da0fd6cf8eebd
}}, {{
	0x3726c30af242c66c, 0x7c2ac1aad1b6fe70, 0xa04007fbba4b14a2,
	0xef517c3266341429, 0x0095ba654ed2226b, 0x02e370eccc86f7dd
}}};

/* xi^(1 (p^2-1)/6) */
static const struct fp FROB2_1 __attribute__((unused)) = {{
	0xecfb361b798dba3a, 0xc100ddb891865a2c, 0x0ec08ff1232bda8e,
	0xd5c13cc6f1ca4721, 0x47222a47bf7b5c04, 0x0110f184e51c5f59
}};

/* xi^(2 (p^2-1)/6) */
static const struct fp FROB2_2 __attribute__((unused)) = {{
	0x30f1361b798a64e8, 0xf3b8ddab7ece5a2a, 0x16a8ca3ac61577f7,
	0xc26a2ff874fd029b, 0x3636b76660701c6e, 0x051ba4ab241b6160
}};

/* xi^(3 (p^2-1)/6) */
static const struct fp FROB2_3 __attribute__((unused)) = {{
	0x43f5fffffffcaaae, 0x32b7fff2ed47fffd, 0x07e83a49a2e99d69,
	0xeca8f3318332bb7a, 0xef148d1ea0f4c069, 0x040ab3263eff0206
}};

/* xi^(4 (p^2-1)/6) */
static const struct fp FROB2_4 __attribute__((unused)) = {{
	0xcd03c9e48671f071, 0x5dab22461fcda5d2, 0x587042afd3851b95,
	0x8eb60ebe01bacb9e, 0x03f97d6e83d050d2, 0x18f0206554638741
}};

/* xi^(5 (p^2-1)/6) */
static const struct fp FROB2_5 __attribute__((unused)) = {{
	0x890dc9e4867545c3, 0x2af322533285a5d5, 0x50880866309b7e2c,
	0xa20d1b8c7e881024, 0x14e4f04fe2db9068, 0x14e56d3f1564853a
}};

#define FP_ONE_INIT {{ \
	0x760900000002fffd, 0xebf4000bc40c0002, 0x5f48985753c758ba, \
	0x77ce585370525745, 0x5c071a97a256ec6d, 0x15f65ec3fa80e493 \
}}

#define G1_GENERATOR_INIT { \
{{ \
	0x5cb38790fd530c16, 0x7817fc679976fff5, 0x154f95c7143ba1c1, \
	0xf0ae6acdf3d0e747, 0xedce6ecc21dbf440, 0x120177419e0bfb75 \
}}, {{ \
	0xbaac93d50ce72271, 0x8c22631a7918fd8e, 0xdd595f13570725ce, \
	0x51ac582950405194, 0x0e1c8c3fad0059c0, 0x0bbc3efc5008a26a \
}}}

#define G2_GENERATOR_INIT { \
{{{ \
	0xf5f28fa202940a10, 0xb3f5fb2687b4961a, 0xa1a893b53e2ae580, \
	0x9894999d1a3caee9, 0x6f67b7631863366b, 0x058191924350bcd7 \
}}, {{ \
	0xa5a9c0759e23f606, 0xaaa0c59dbccd60c3, 0x3bb17e18e2867806, \
	0x1b1ab6cc8541b367, 0xc2b6ed0ef2158547, 0x11922a097360edf3 \
}}}, \
{{{ \
	0x4c730af860494c4a, 0x597cfa1f5e369c5a, 0xe7e6856caa0a635a, \
	0xbbefb5e96e0d495f, 0x07d3a975f0ef25a2, 0x0083fd8e7e80dae5 \
}}, {{ \
	0xadc0fc92df64b05d, 0x18aa270a2b1461dc, 0x86adac6a3be4eba0, \
	0x79495c4ec93da33a, 0xe7175850a43ccaed, 0x0b2bc2a163de1bf2 \
}}}}

#endif
