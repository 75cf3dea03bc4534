/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * bench-chain.c - cuzk-bench chain: a circuit as circom writes it, of any size
 *
 * x_i = x_(i-1) * (x_(i-1) + k) for i = 1..products, bits b with b * b = b, and
 * the last x as the public output: products + bits + 1 constraints, a fifth of
 * the wires 0 or 1 with 52,000 and 13,400 of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/bls12_381/fr.h"
#include "tools/bench.h"
#include "tools/file.h"

#define NAME "chain"

enum { WIRE_ONE, WIRE_OUT, WIRE_X0, WIRE_K, WIRE_X };

static void put_u32(FILE *f, uint32_t v)
{
	uint8_t b[4] = { v, v >> 8, v >> 16, v >> 24 };

	fwrite(b, 1, sizeof(b), f);
}

static void put_u64(FILE *f, uint64_t v)
{
	put_u32(f, v);
	put_u32(f, v >> 32);
}

static void put_fr(FILE *f, const struct fr *v)
{
	uint8_t b[32];

	fr_to_bytes_le(b, v);
	fwrite(b, 1, sizeof(b), f);
}

/* The order of the field: r - 1 is -1. */
static void put_modulus(FILE *f)
{
	struct fr v;
	uint8_t b[32];

	fr_neg(&v, &fr_one);
	fr_to_bytes_le(b, &v);
	b[0]++;			/* r is odd: no carry */
	fwrite(b, 1, sizeof(b), f);
}

/* A linear combination with coefficients 1. */
static void put_lc(FILE *f, uint32_t n, uint32_t first, uint32_t second)
{
	put_u32(f, n);
	if (n > 0) {
		put_u32(f, first);
		put_fr(f, &fr_one);
	}
	if (n > 1) {
		put_u32(f, second);
		put_fr(f, &fr_one);
	}
}

static void put_row(FILE *f, uint32_t a, uint32_t b1, uint32_t b2, uint32_t c)
{
	put_lc(f, 1, a, 0);
	put_lc(f, b2 != UINT32_MAX ? 2 : 1, b1, b2);
	put_lc(f, 1, c, 0);
}

static uint32_t x_wire(uint32_t i)
{
	return i ? WIRE_X + i - 1 : WIRE_X0;
}

static void put_r1cs(FILE *f, uint32_t products, uint32_t bits)
{
	uint32_t wires = WIRE_X + products + bits, rows = products + bits + 1, i;
	const uint64_t lc = 4 + 36;

	fwrite("r1cs", 1, 4, f);
	put_u32(f, 1);
	put_u32(f, 3);

	put_u32(f, 1);
	put_u64(f, 64);
	put_u32(f, 32);
	put_modulus(f);
	put_u32(f, wires);
	put_u32(f, 1);			/* outputs */
	put_u32(f, 0);			/* public inputs */
	put_u32(f, 2);			/* private inputs */
	put_u64(f, wires);		/* labels */
	put_u32(f, rows);

	put_u32(f, 2);
	put_u64(f, 3 * lc * rows + 36ull * products);
	for (i = 1; i <= products; i++)
		put_row(f, x_wire(i - 1), x_wire(i - 1), WIRE_K, x_wire(i));
	for (i = 0; i < bits; i++)
		put_row(f, WIRE_X + products + i, WIRE_X + products + i, UINT32_MAX,
			WIRE_X + products + i);
	put_row(f, x_wire(products), WIRE_ONE, UINT32_MAX, WIRE_OUT);

	put_u32(f, 3);
	put_u64(f, 8ull * wires);
	for (i = 0; i < wires; i++)
		put_u64(f, i);
}

static void put_wtns(FILE *f, uint32_t products, uint32_t bits, struct fr *x)
{
	struct fr k, t, zero = fr_zero;
	uint32_t i;

	fr_from_u64(&x[0], 3);
	fr_from_u64(&k, 5);
	for (i = 1; i <= products; i++) {
		fr_add(&t, &x[i - 1], &k);
		fr_mul(&x[i], &x[i - 1], &t);
	}
	fwrite("wtns", 1, 4, f);
	put_u32(f, 2);
	put_u32(f, 2);
	put_u32(f, 1);
	put_u64(f, 40);
	put_u32(f, 32);
	put_modulus(f);
	put_u32(f, WIRE_X + products + bits);
	put_u32(f, 2);
	put_u64(f, 32ull * (WIRE_X + products + bits));
	put_fr(f, &fr_one);
	put_fr(f, &x[products]);
	put_fr(f, &x[0]);
	put_fr(f, &k);
	for (i = 1; i <= products; i++)
		put_fr(f, &x[i]);
	for (i = 0; i < bits; i++)
		put_fr(f, i % 3 ? &fr_one : &zero);
}

/* A file written in memory; x NULL: the system, else the witness. */
static int save(const char *prefix, uint32_t products, uint32_t bits, struct fr *x)
{
	char path[4096], *text = NULL;
	size_t len = 0;
	int ret;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s.%s", prefix, x ? "wtns" : "r1cs") >=
	    (int)sizeof(path))
		return ctl_fail(NAME, "%s: the path is too long", prefix);
	f = open_memstream(&text, &len);
	if (!f)
		return ctl_fail(NAME, "no memory");
	if (x)
		put_wtns(f, products, bits, x);
	else
		put_r1cs(f, products, bits);
	ret = fclose(f) ? -ENOMEM : ctl_file_write(path, text, len);
	free(text);
	return ret ? ctl_fail(NAME, "%s: %s", path, strerror(-ret)) : 0;
}

int bench_chain(struct bench *b, int argc, char **argv)
{
	const char *products_text = NULL, *bits_text = NULL, *out = NULL;
	const struct ctl_option options[] = {
		{ "--products", &products_text }, { "--bits", &bits_text }, { "--out", &out },
		{ NULL },
	};
	uint64_t products = 52000, bits = 13400;
	struct fr *x;
	int ret;

	(void)b;
	if (ctl_parse(NAME, argc, argv, options, NULL, NULL, 0) < 0 ||
	    bench_number(NAME, "--products", products_text, 1, 1 << 24, &products) ||
	    bench_number(NAME, "--bits", bits_text, 0, 1 << 24, &bits))
		return CTL_USAGE;
	if (!out)
		return ctl_usage(NAME, "--out PREFIX is needed");
	x = malloc((products + 1) * sizeof(*x));
	if (!x)
		return ctl_fail(NAME, "no memory");
	ret = save(out, products, bits, NULL);
	if (!ret)
		ret = save(out, products, bits, x);
	free(x);
	return ret;
}
