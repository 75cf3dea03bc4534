/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_consts.h - constants of ifma_fp.h; written by gen-ifma-consts.py */
#ifndef CUZK_GPU_CPU_IFMA_CONSTS_H
#define CUZK_GPU_CPU_IFMA_CONSTS_H

#include <stdint.h>

#define IFMA_MASK ((1ull << 52) - 1)
#define IFMA_P_INV 0xc000300030003ull		/* 1/p mod 2^52 */
#define IFMA_P_NEG_INV 0x3fffcfffcfffdull	/* -1/p mod 2^52 */

/* p */
static const uint64_t ifma_p[8] = {
	0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
	0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011
};
/* 3 p */
static const uint64_t ifma_3p[8] = {
	0xcffffffff0001, 0xfc13fbffff2df, 0x412e26c5c03ff, 0x383e359277e2e,
	0x62d65e28eda8f, 0x52f722c9e3068, 0x5beac7fb3cee1, 0x000000004e033
};
/* 5 p */
static const uint64_t ifma_5p[8] = {
	0xafffffffe5557, 0xf976a3fffea1f, 0x174ceb4995bff, 0x5dbd03f41d24d,
	0x4f6547998c199, 0x8a468f507a603, 0x9931f7f810377, 0x0000000082055
};
/* 8 p */
static const uint64_t ifma_8p[8] = {
	0x7fffffffd5558, 0xf58a9ffffdcff, 0x587b120f55fff, 0x95fb39869507b,
	0xb23ba5c279c28, 0xdd3db21a5d66b, 0xf51cbff34d258, 0x00000000d0088
};
/* (k p + 1) / 2^52 with k = -1/p mod 2^52 */
static const uint64_t ifma_m[8] = {
	0x04be07d2027cb, 0xd7786e39002d4, 0xf51047083c4dd, 0x96079a7670223,
	0x04ca513044b79, 0x6615d3780ea11, 0xf9a5623d6a279, 0x0000000006803
};
/* 2^390 p from limb 7 on: more than a product of two elements */
static const uint64_t ifma_wide[8] = {
	0xffeaaac000000, 0xfffee7fbfffff, 0x07aaffffac54f, 0xc34a83dac3d89,
	0xe13ce144afd9c, 0x0d2eb35d91dd2, 0xf9a692c6e9ed9, 0x00680447a8e5f
};
/* 1, that is R mod p, R = 2^416 */
static const uint64_t ifma_one[8] = {
	0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
	0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e
};
/* R^2: times it, an integer becomes Montgomery */
static const uint64_t ifma_from_int[8] = {
	0xa5bf4cb89af51, 0x3afbba7ca31a2, 0x2646160ec71f1, 0xa84d710465903,
	0x3480a4a188311, 0x98e5907ad91f5, 0x2075d74507266, 0x0000000008746
};
/* 2^448: times it, x 2^384 becomes x 2^416 */
static const uint64_t ifma_from_384[8] = {
	0x7fde37dba9366, 0x4e27525bc342b, 0x1f5b1e9778489, 0xb872b2b91b9dc,
	0xb206f497dfcaf, 0x4137cc89a9b0b, 0xd9d20d7e39959, 0x000000000411c
};
/* 2^384: times it, x 2^416 becomes x 2^384 */
static const uint64_t ifma_to_384[8] = {
	0x900000002fffd, 0x0bc40c0002760, 0x3c758baebf400, 0x57455f4898575,
	0xd77ce58537052, 0x071a97a256ec6, 0xec3fa80e4935c, 0x0000000015f65
};
/* 1 as an integer: times it, x 2^416 becomes x */
static const uint64_t ifma_to_int[8] = {
	0x0000000000001, 0x0000000000000, 0x0000000000000, 0x0000000000000,
	0x0000000000000, 0x0000000000000, 0x0000000000000, 0x0000000000000
};
/* 2^480: times it, fp_inv of the integer x 2^416 becomes 1/x 2^416 */
static const uint64_t ifma_inv_fix[8] = {
	0x6a0c0a653f6fc, 0xdf21bc8d58e0c, 0x63665a0c7a249, 0xf6cc74d9c6d43,
	0xb33c525492b6b, 0xc5935a887f8c8, 0x487a48f1eb623, 0x000000001447c
};
/* 4, the b of E; both parts of the b of E' */
static const uint64_t ifma_b[8] = {
	0xc203aa3a7e6bb, 0x99c5b63f91e5d, 0xec2218e49b9f5, 0xb47d6b297d25b,
	0x36f29b533dd05, 0xaac3b92d6d85a, 0x25d100f5559b6, 0x0000000005208
};
/* limb j of the largest multiple of p not above i 2^381, at [j][i] */
static const uint64_t ifma_fold[8][8] __attribute__((aligned(64))) = {
	{ 0x0000000000000, 0xeffffffffaaab, 0xdffffffff5556, 0xcffffffff0001,
	  0xbfffffffeaaac, 0x9fffffffe0002, 0x8fffffffdaaad, 0x7fffffffd5558 },
	{ 0x0000000000000, 0xfeb153ffffb9f, 0xfd62a7ffff73f, 0xfc13fbffff2df,
	  0xfac54ffffee7f, 0xf827f7fffe5bf, 0xf6d94bfffe15f, 0xf58a9ffffdcff },
	{ 0x0000000000000, 0x6b0f6241eabff, 0xd61ec483d57ff, 0x412e26c5c03ff,
	  0xac3d8907aafff, 0x825c4d8b807ff, 0xed6bafcd6b3ff, 0x587b120f55fff },
	{ 0x0000000000000, 0x12bf6730d2a0f, 0x257ece61a541e, 0x383e359277e2e,
	  0x4afd9cc34a83d, 0x707c6b24efc5c, 0x833bd255c266b, 0x95fb39869507b },
	{ 0x0000000000000, 0x764774b84f385, 0xec8ee9709e70a, 0x62d65e28eda8f,
	  0xd91dd2e13ce14, 0xc5acbc51db51e, 0x3bf4310a2a8a3, 0xb23ba5c279c28 },
	{ 0x0000000000000, 0x1ba7b6434bacd, 0x374f6c869759a, 0x52f722c9e3068,
	  0x6e9ed90d2eb35, 0xa5ee4593c60d0, 0xc195fbd711b9e, 0xdd3db21a5d66b },
	{ 0x0000000000000, 0x1ea397fe69a4b, 0x3d472ffcd3496, 0x5beac7fb3cee1,
	  0x7a8e5ff9a692c, 0xb7d58ff679dc2, 0xd67927f4e380d, 0xf51cbff34d258 },
	{ 0x0000000000000, 0x000000001a011, 0x0000000034022, 0x000000004e033,
	  0x0000000068044, 0x000000009c066, 0x00000000b6077, 0x00000000d0088 },
};
/* limb j of i p, at [j][i] */
static const uint64_t ifma_multiple[8][8] __attribute__((aligned(64))) = {
	{ 0x0000000000000, 0xeffffffffaaab, 0xdffffffff5556, 0xcffffffff0001,
	  0xbfffffffeaaac, 0xafffffffe5557, 0x9fffffffe0002, 0x8fffffffdaaad },
	{ 0x0000000000000, 0xfeb153ffffb9f, 0xfd62a7ffff73f, 0xfc13fbffff2df,
	  0xfac54ffffee7f, 0xf976a3fffea1f, 0xf827f7fffe5bf, 0xf6d94bfffe15f },
	{ 0x0000000000000, 0x6b0f6241eabff, 0xd61ec483d57ff, 0x412e26c5c03ff,
	  0xac3d8907aafff, 0x174ceb4995bff, 0x825c4d8b807ff, 0xed6bafcd6b3ff },
	{ 0x0000000000000, 0x12bf6730d2a0f, 0x257ece61a541e, 0x383e359277e2e,
	  0x4afd9cc34a83d, 0x5dbd03f41d24d, 0x707c6b24efc5c, 0x833bd255c266b },
	{ 0x0000000000000, 0x764774b84f385, 0xec8ee9709e70a, 0x62d65e28eda8f,
	  0xd91dd2e13ce14, 0x4f6547998c199, 0xc5acbc51db51e, 0x3bf4310a2a8a3 },
	{ 0x0000000000000, 0x1ba7b6434bacd, 0x374f6c869759a, 0x52f722c9e3068,
	  0x6e9ed90d2eb35, 0x8a468f507a603, 0xa5ee4593c60d0, 0xc195fbd711b9e },
	{ 0x0000000000000, 0x1ea397fe69a4b, 0x3d472ffcd3496, 0x5beac7fb3cee1,
	  0x7a8e5ff9a692c, 0x9931f7f810377, 0xb7d58ff679dc2, 0xd67927f4e380d },
	{ 0x0000000000000, 0x000000001a011, 0x0000000034022, 0x000000004e033,
	  0x0000000068044, 0x0000000082055, 0x000000009c066, 0x00000000b6077 },
};

#endif
