/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * pairing.h - the optimal ate pairing e: G1 x G2 -> GT
 *
 * e(P, Q) = final_exp(miller_loop(P, Q)).  The points must be of order r, or
 * infinity, whose pairing is 1.  Elements of GT are struct fp12.  Every
 * function's time depends on its operands.
 *
 * A product of pairings costs one final_exp: put all of its pairs into one
 * miller_loop_n.  The left side of Groth16's equation as
 *	e(A, B) e(-L, gamma) e(-C, delta) = e(alpha, beta)
 * is three pairs, two of them with a prepared point.
 */
#ifndef CUZK_BLS12_381_PAIRING_H
#define CUZK_BLS12_381_PAIRING_H

#include "lib/bls12_381/fp12.h"
#include "lib/bls12_381/g1.h"
#include "lib/bls12_381/g2.h"

/* 63 doublings and 5 additions make |z| */
#define BLS_MILLER_LINES 68

/*
 * The lines of the Miller loop for one Q, each divided by its coefficient of
 * y_P: c[0] / y_P + c[1] x_P / y_P v + v w.  13 KiB.
 */
struct g2_prepared {
	struct fp2 line[BLS_MILLER_LINES][2];
	bool infinity;
};

void g2_prepare(struct g2_prepared *r, const struct g2_affine *q);

/* One of q and prepared is not NULL. */
struct miller_pair {
	const struct g1_affine *p;
	const struct g2_affine *q;
	const struct g2_prepared *prepared;
};

/* The product of the pairs' Miller functions; 1 for n = 0. */
void miller_loop_n(struct fp12 *r, const struct miller_pair *pairs, size_t n);
/*
 * f^(3 (p^12 - 1) / r), f != 0.  The 3, which is prime to r, makes the
 * exponent cheap: Hayashida, Hayasaka, Teruya, "Efficient final exponentiation
 * via cyclotomic structure for pairings over families of elliptic curves", 2020.
 */
void final_exp(struct fp12 *r, const struct fp12 *f);
void pairing(struct fp12 *r, const struct g1_affine *p, const struct g2_affine *q);
/* Whether the product of the pairings is 1. */
bool pairing_product_is_one(const struct miller_pair *pairs, size_t n);

#endif
