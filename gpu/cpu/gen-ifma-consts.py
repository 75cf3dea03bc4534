#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# Writes ifma_consts.h: the constants of the 8-lane base field (ifma_fp.h).
p = 0x1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab
B = 52
R = 1 << 416


def limbs(v, n=8):
    out = []
    for i in range(n):
        out.append(v & ((1 << B) - 1))
        v >>= B
    assert v == 0
    return out


def row(v):
    l = ["0x%013x" % x for x in limbs(v)]
    return "{ " + ", ".join(l[:4]) + ",\n\t  " + ", ".join(l[4:]) + " }"


def const(name, v, what):
    print("/* %s */\nstatic const uint64_t %s[8] = {\n\t%s\n};" %
          (what, name, ", ".join("0x%013x" % x for x in limbs(v)[:4]) + ",\n\t" +
           ", ".join("0x%013x" % x for x in limbs(v)[4:])))


print("""/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ifma_consts.h - constants of ifma_fp.h; written by gen-ifma-consts.py */
#ifndef CUZK_GPU_CPU_IFMA_CONSTS_H
#define CUZK_GPU_CPU_IFMA_CONSTS_H

#include <stdint.h>
""")
k = pow(-p, -1, 1 << B)
M = k * p + 1
assert M % (1 << B) == 0
M >>= B
print("#define IFMA_MASK ((1ull << 52) - 1)")
print("#define IFMA_P_INV 0x%013xull\t\t/* 1/p mod 2^52 */" % pow(p, -1, 1 << B))
print("#define IFMA_P_NEG_INV 0x%013xull\t/* -1/p mod 2^52 */\n" % k)
const("ifma_p", p, "p")
for i in (3, 5, 8):
    const("ifma_%dp" % i, i * p, "%d p" % i)
const("ifma_m", M, "(k p + 1) / 2^52 with k = -1/p mod 2^52")
const("ifma_wide", (p << 390) >> (52 * 7), "2^390 p from limb 7 on: more than a product of two elements")
assert (p << 390) % (1 << (52 * 7)) == 0 and (p << 390) > (3 * p) * (24 * p)
const("ifma_one", R % p, "1, that is R mod p, R = 2^416")
const("ifma_from_int", R * R % p, "R^2: times it, an integer becomes Montgomery")
const("ifma_from_384", (1 << (416 + 32)) % p, "2^448: times it, x 2^384 becomes x 2^416")
const("ifma_to_384", (1 << 384) % p, "2^384: times it, x 2^416 becomes x 2^384")
const("ifma_to_int", 1, "1 as an integer: times it, x 2^416 becomes x")
const("ifma_inv_fix", (1 << 480) % p,
      "2^480: times it, fp_inv of the integer x 2^416 becomes 1/x 2^416")
const("ifma_b", 4 * R % p, "4, the b of E; both parts of the b of E'")
q = [i * (1 << 381) // p for i in range(8)]
print("/* limb j of the largest multiple of p not above i 2^381, at [j][i] */")
print("static const uint64_t ifma_fold[8][8] __attribute__((aligned(64))) = {")
t = [limbs(x * p) for x in q]
for j in range(8):
    print("\t{ " + ", ".join("0x%013x" % t[i][j] for i in range(4)) + ",\n\t  " +
          ", ".join("0x%013x" % t[i][j] for i in range(4, 8)) + " },")
print("};")
print("/* limb j of i p, at [j][i] */")
print("static const uint64_t ifma_multiple[8][8] __attribute__((aligned(64))) = {")
t = [limbs(i * p) for i in range(8)]
for j in range(8):
    print("\t{ " + ", ".join("0x%013x" % t[i][j] for i in range(4)) + ",\n\t  " +
          ", ".join("0x%013x" % t[i][j] for i in range(4, 8)) + " },")
print("};\n\n#endif")
