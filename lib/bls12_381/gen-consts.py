#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
# gen-consts.py - print consts.h: every constant of BLS12-381, from its parameter z
#
# Only z, the curve equations and the two generators' x and y (the standard's)
# are given; all the rest is computed here and the relations are checked.

Z = -0xd201000000010000
R = Z**4 - Z**2 + 1
P = (Z - 1)**2 * R // 3 + Z
MASK = (1 << 64) - 1

G1X = 0x17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb
G1Y = 0x08b3f481e3aaa0f1a09e30ed741d8ae4fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1
G2X = (0x024aa2b2f08f0a91260805272dc51051c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8,
       0x13e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049334cf11213945d57e5ac7d055d042b7e)
G2Y = (0x0ce5d527727d6e118cc9cdc6da2e351aadfd9baa8cbdd3a76d429a695160d12c923ac9cc3baca289e193548608b82801,
       0x0606c4a02ea734cc32acd2b02bc28b99cb3e287e85a763af267492ab572e99ab3f370d275cec1da1aaa9075ff05f79be)


def mul2(a, b):
    return ((a[0] * b[0] - a[1] * b[1]) % P, (a[0] * b[1] + a[1] * b[0]) % P)


def pow2(a, e):
    r = (1, 0)
    while e:
        if e & 1:
            r = mul2(r, a)
        a = mul2(a, a)
        e >>= 1
    return r


def inv2(a):
    n = pow(a[0] * a[0] + a[1] * a[1], -1, P)
    return (a[0] * n % P, -a[1] * n % P)


def limbs(v, n):
    return ", ".join("0x%016x" % (v >> (64 * i) & MASK) for i in range(n))


def split(v, n):
    h = [("0x%016x" % (v >> (64 * i) & MASK)) for i in range(n)]
    return ",\n\t".join(", ".join(h[i:i + 3]) for i in range(0, n, 3))


def mont(v):
    return v * 2**384 % P


def words(name, v, n, what):
    print("/* %s */" % what)
    print("static const uint64_t %s[%d] __attribute__((unused)) = {\n\t%s\n};\n" % (name, n, split(v, n)))


def fp(name, v, what):
    print("/* %s */" % what)
    print("static const struct fp %s __attribute__((unused)) = {{\n\t%s\n}};\n" % (name, split(mont(v), 6)))


def fp2_body(v):
    return "{{{\n\t%s\n}}, {{\n\t%s\n}}}" % (split(mont(v[0]), 6), split(mont(v[1]), 6))


def fp2(name, v, what):
    print("/* %s */" % what)
    print("static const struct fp2 %s __attribute__((unused)) = %s;\n" % (name, fp2_body(v)))


def define(name, body):
    print("#define %s %s\n" % (name, body.replace("\n", " \\\n")))


def add1(a, b):
    """affine sum on y^2 = x^3 + 4, no special cases but doubling"""
    if a == b:
        m = 3 * a[0] * a[0] * pow(2 * a[1], -1, P)
    else:
        m = (b[1] - a[1]) * pow(b[0] - a[0], -1, P)
    x = (m * m - a[0] - b[0]) % P
    return (x, (m * (a[0] - x) - a[1]) % P)


def times1(k, a):
    r = None
    for bit in bin(k)[2:]:
        if r:
            r = add1(r, r)
        if bit == "1":
            r = add1(r, a) if r else a
    return r


XI = (1, 1)
assert (G1Y * G1Y - G1X**3 - 4) % P == 0
y2, x3 = mul2(G2Y, G2Y), mul2(G2X, mul2(G2X, G2X))
assert ((y2[0] - x3[0] - 4) % P, (y2[1] - x3[1] - 4) % P) == (0, 0)
assert P % 4 == 3 and R % 2**32 == 1

# the cube root of unity for which (x, y) -> (beta x, y) is multiplication by z^2 - 1
lam = Z * Z - 1
g = 2
while pow(g, (P - 1) // 3, P) == 1:
    g += 1
beta = pow(g, (P - 1) // 3, P)
target = times1(lam, (G1X, G1Y))
if target != (beta * G1X % P, G1Y):
    beta = beta * beta % P
assert target == (beta * G1X % P, G1Y)

# psi(x, y) = (conj(x) / xi^((p-1)/3), conj(y) / xi^((p-1)/2)), multiplication by z on G2
psi_x = inv2(pow2(XI, (P - 1) // 3))
psi_y = inv2(pow2(XI, (P - 1) // 2))

print("""/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * consts.h - constants of BLS12-381, printed by gen-consts.py: do not edit
 *
 * Field elements are in Montgomery form.
 */
#ifndef CUZK_BLS12_381_CONSTS_H
#define CUZK_BLS12_381_CONSTS_H

#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"
""")
print("#define BLS_ABS_Z 0x%016xull\t/* z is negative */" % -Z)
print("#define P_INV 0x%016xull\t/* -1/p mod 2^64 */" % (-pow(P, -1, 2**64) % 2**64))
print("#define P_POS_INV 0x%016xull\t/* 1/p mod 2^64 */" % pow(P, -1, 2**64))
print("#define R_INV 0x%016xull\t/* -1/r mod 2^64 */" % (-pow(R, -1, 2**64) % 2**64))
print("#define R_POS_INV 0x%016xull\t/* 1/r mod 2^64 */\n" % pow(R, -1, 2**64))
words("P_LIMBS", P, 6, "p")
words("P_HALF", (P - 1) // 2, 6, "(p - 1) / 2")
words("P_PLUS_1_DIV_4", (P + 1) // 4, 6, "(p + 1) / 4")
words("P_MINUS_3_DIV_4", (P - 3) // 4, 6, "(p - 3) / 4")
words("R_LIMBS", R, 4, "r")
words("LAMBDA", lam, 2, "z^2 - 1, the eigenvalue of (x, y) -> (beta x, y) on G1")
words("LAMBDA_MU", 2**254 // lam, 2, "2^254 / LAMBDA")
assert 2**254 // lam < 2**128
fp("FP_R2", 2**384, "2^768 mod p")
fp("FP_R3", 2**768, "2^1152 mod p")
print("/* 2^512 mod r, 2^768 mod r */")
print("static const struct fr FR_R2 __attribute__((unused)) = {{\n\t%s\n}};" % split(2**512 % R, 4))
print("static const struct fr FR_R3 __attribute__((unused)) = {{\n\t%s\n}};\n" % split(2**768 % R, 4))
fp("FP_4", 4, "b of G1")
fp("FP_HALF", (P + 1) // 2, "1/2")
fp("FP_BETA", beta, "the cube root of 1 that belongs to LAMBDA")
fp("FP_BETA2", beta * beta % P, "FP_BETA squared: belongs to -z^2")
fp2("FP2_4_4", (4, 4), "b of G2")
fp2("PSI_X", psi_x, "1 / xi^((p-1)/3)")
fp2("PSI_Y", psi_y, "1 / xi^((p-1)/2)")
fp("PSI2_X", mul2(psi_x, (psi_x[0], -psi_x[1] % P))[0], "x of psi^2: N(PSI_X); y changes its sign")
assert mul2(psi_y, (psi_y[0], -psi_y[1] % P)) == (P - 1, 0)
for i in range(1, 6):
    fp2("FROB_%d" % i, pow2(XI, i * (P - 1) // 6), "xi^(%d (p-1)/6)" % i)
for i in range(1, 6):
    v = pow2(XI, i * (P * P - 1) // 6)
    assert v[1] == 0
    fp("FROB2_%d" % i, v[0], "xi^(%d (p^2-1)/6)" % i)
define("FP_ONE_INIT", "{{\n\t%s\n}}" % split(mont(1), 6))
define("G1_GENERATOR_INIT", "{\n{{\n\t%s\n}}, {{\n\t%s\n}}}" % (split(mont(G1X), 6), split(mont(G1Y), 6)))
define("G2_GENERATOR_INIT", "{\n%s,\n%s}" % (fp2_body(G2X), fp2_body(G2Y)))
print("#endif")
