/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cuda-ntt.c - transforms and the quotient on the device, or on the emulated
 * one, against a transform written out here
 */
#include <errno.h>

#include "gpu/cuda/ntt.h"
#include "t/tap.h"

static struct cuda_ctx *ctx;
static struct cuda_ntt *ntt;
static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state;
}

static void random_fr(struct fr *r)
{
	do {
		for (int i = 0; i < 4; i++)
			r->l[i] = rng();
		r->l[3] >>= 1;
	} while (!scalar_is_canonical((const struct scalar *)r));
}

/* values that carry far among random ones */
static void some_fr(struct fr *r)
{
	struct fr zero = { { 0 } };

	random_fr(r);
	switch (rng() >> 61) {
	case 0:
		*r = zero;
		break;
	case 1:
		/* r - 1 as it lies in memory */
		fr_neg(r, &(struct fr){ { 1 } });
		break;
	case 2:
		*r = (struct fr){ { 1 } };
		break;
	}
}

static size_t reverse(size_t i, unsigned int bits)
{
	size_t r = 0;

	for (unsigned int b = 0; b < bits; b++)
		r |= (i >> b & 1) << (bits - 1 - b);
	return r;
}

/* Textbook recursion: out[k] = sum in[i stride] w^(i k) */
static void reference(struct fr *out, const struct fr *in, size_t n, size_t stride, const struct fr *w)
{
	struct fr ww, x = fr_one, t;

	if (n == 1) {
		*out = *in;
		return;
	}
	fr_sqr(&ww, w);
	reference(out, in, n / 2, 2 * stride, &ww);
	reference(out + n / 2, in + stride, n / 2, 2 * stride, &ww);
	for (size_t i = 0; i < n / 2; i++) {
		fr_mul(&t, &out[i + n / 2], &x);
		fr_sub(&out[i + n / 2], &out[i], &t);
		fr_add(&out[i], &out[i], &t);
		fr_mul(&x, &x, w);
	}
}

static void order_root(struct fr *r, const struct fr *root, unsigned int log_n)
{
	*r = *root;
	for (unsigned int i = log_n; i < 32; i++)
		fr_sqr(r, r);
}

static void test_transform(unsigned int log_n, const struct fr *root, bool inverse)
{
	size_t n = (size_t)1 << log_n, bytes = n * sizeof(struct fr);
	struct fr *in = malloc(bytes), *want = malloc(bytes), *got = malloc(bytes), w;
	CUdeviceptr p;
	bool same = true;
	int r;

	for (size_t i = 0; i < n; i++)
		some_fr(&in[i]);
	order_root(&w, root, log_n);
	if (inverse)
		fr_inv_vartime(&w, &w);
	reference(want, in, n, 1, &w);
	r = cuda_alloc(ctx, &p, bytes);
	if (!r)
		r = cuda_copy_up(ctx, p, in, bytes);
	if (!r)
		r = cuda_ntt_run(ntt, p, log_n, root, inverse, CUDA_NTT_DIF);
	if (!r)
		r = cuda_copy_down(ctx, got, p, bytes);
	for (size_t i = 0; i < n; i++)
		same &= fr_equal(&got[reverse(i, log_n)], &want[i]);
	ok(r == 0 && same, "2^%u %s, natural to reversed", log_n, inverse ? "inverse" : "forward");

	for (size_t i = 0; i < n; i++)
		got[reverse(i, log_n)] = in[i];
	r = cuda_copy_up(ctx, p, got, bytes);
	if (!r)
		r = cuda_ntt_run(ntt, p, log_n, root, inverse, CUDA_NTT_DIT);
	if (!r)
		r = cuda_copy_down(ctx, got, p, bytes);
	ok(r == 0 && memcmp(got, want, bytes) == 0, "2^%u %s, reversed to natural", log_n,
	   inverse ? "inverse" : "forward");
	cuda_free(ctx, p);
	free(in);
	free(want);
	free(got);
}

/* out = values on shift * domain of the polynomial whose values on the domain are in */
static void move(struct fr *out, const struct fr *in, unsigned int log_n, const struct fr *w,
		 const struct fr *shift)
{
	size_t n = (size_t)1 << log_n;
	struct fr *coeff = malloc(n * sizeof(*coeff)), winv, ninv, x;

	fr_inv_vartime(&winv, w);
	reference(coeff, in, n, 1, &winv);
	fr_from_u64(&ninv, n);
	fr_inv_vartime(&ninv, &ninv);
	x = ninv;
	for (size_t i = 0; i < n; i++) {
		fr_mul(&coeff[i], &coeff[i], &x);
		fr_mul(&x, &x, shift);
	}
	reference(out, coeff, n, 1, w);
	free(coeff);
}

/* bellman's way, with the coset of 7 and a division; snarkjs's; and values alone */
static void reference_quotient(struct fr *h, const struct fr *a, const struct fr *b,
			       unsigned int log_n, enum gpu_h_basis basis)
{
	const struct fr *root = basis == GPU_H_ODD_COSET ? &FR_ROOT_5 : &FR_ROOT_7;
	size_t n = (size_t)1 << log_n, bytes = n * sizeof(*h);
	struct fr *c = malloc(bytes), *x = malloc(bytes), *y = malloc(bytes), w, z, f, shift;

	for (size_t i = 0; i < n; i++)
		fr_mul(&c[i], &a[i], &b[i]);
	order_root(&w, root, log_n);
	if (basis == GPU_H_POWERS)
		shift = FR_GENERATOR;
	else
		order_root(&shift, root, log_n + 1);
	move(x, a, log_n, &w, &shift);
	move(y, b, log_n, &w, &shift);
	move(h, c, log_n, &w, &shift);
	for (size_t i = 0; i < n; i++) {
		fr_mul(&x[i], &x[i], &y[i]);
		if (basis == GPU_H_COSET)
			h[i] = x[i];
		else
			fr_sub(&h[i], &x[i], &h[i]);
	}
	if (basis == GPU_H_POWERS) {
		fr_pow_u64(&z, &shift, n);
		fr_sub(&z, &z, &fr_one);
		fr_inv_vartime(&z, &z);
		for (size_t i = 0; i < n; i++)
			fr_mul(&x[i], &h[i], &z);
		fr_inv_vartime(&w, &w);
		reference(h, x, n, 1, &w);
		fr_from_u64(&f, n);
		fr_inv_vartime(&f, &f);
		fr_inv_vartime(&shift, &shift);
		for (size_t i = 0; i < n; i++) {
			fr_mul(&h[i], &h[i], &f);
			fr_mul(&f, &f, &shift);
		}
	}
	free(c);
	free(x);
	free(y);
}

static void test_quotient(unsigned int log_n, enum gpu_h_basis basis)
{
	size_t n = (size_t)1 << log_n, bytes = n * sizeof(struct fr);
	struct fr *a = malloc(bytes), *b = malloc(bytes), *want = malloc(bytes);
	struct scalar *got = malloc(bytes), s;
	/* the last basis in place */
	int out = basis == GPU_H_COSET ? 0 : 2, r = 0;
	CUdeviceptr p[3] = { 0 };
	bool same = true;

	for (size_t i = 0; i < n; i++) {
		some_fr(&a[i]);
		some_fr(&b[i]);
	}
	reference_quotient(want, a, b, log_n, basis);
	for (int i = 0; i < 3 && !r; i++)
		r = cuda_alloc(ctx, &p[i], bytes);
	if (!r)
		r = cuda_copy_up(ctx, p[0], a, bytes);
	if (!r)
		r = cuda_copy_up(ctx, p[1], b, bytes);
	if (!r)
		r = cuda_quotient(ntt, p[0], p[1], p[out], log_n, basis);
	if (!r)
		r = cuda_copy_down(ctx, got, p[out], bytes);
	for (size_t i = 0; i < n; i++) {
		size_t at = basis == GPU_H_POWERS ? reverse(i, log_n) : i;

		fr_to_scalar(&s, &want[i]);
		same &= memcmp(&s, &got[at], sizeof(s)) == 0;
	}
	ok(r == 0 && same, "quotient of 2^%u, %s", log_n,
	   basis == GPU_H_POWERS ? "powers" : basis == GPU_H_COSET ? "coset" : "odd coset");
	for (int i = 0; i < 3; i++)
		cuda_free(ctx, p[i]);
	free(a);
	free(b);
	free(want);
	free(got);
}

static void print_log(void *arg, int priority, const char *line)
{
	diag("%s", line);
}

int main(void)
{
	struct gpu_config config = { .size = sizeof(config), .log = print_log };
	unsigned int largest = getenv("CUZK_TEST_LOG") ? (unsigned int)atoi(getenv("CUZK_TEST_LOG")) : 16;
	uint64_t used;
	char err[256];
	int r;

	r = cuda_ctx_open(&ctx, &config, err);
	if (r == -ENOSYS || r == -ENODEV) {
		skip("gpu", err);
		return tap_done();
	}
	if (!ok(r == 0, "device opens%s%s", r ? ": " : "", r ? err : ""))
		return tap_done();
	used = cuda_arena_used(ctx->arena);
	ok(cuda_ntt_open(&ntt, ctx) == 0, "tables open");
	for (unsigned int log_n = 0; log_n <= largest; log_n++) {
		test_transform(log_n, &FR_ROOT_7, false);
		test_transform(log_n, log_n % 2 ? &FR_ROOT_7 : &FR_ROOT_5, true);
	}
	for (unsigned int log_n = 0; log_n <= largest; log_n += log_n < 3 ? 1 : 5) {
		test_quotient(log_n, GPU_H_POWERS);
		test_quotient(log_n, GPU_H_ODD_COSET);
		test_quotient(log_n, GPU_H_COSET);
	}
	cuda_ntt_close(ntt);
	/* the ways of long transforms: factors of every level, or of the upper ones, in two tables */
	for (unsigned int direct = 0; direct <= 12; direct += 12) {
		ok(cuda_ntt_open(&ntt, ctx) == 0, "tables open");
		cuda_ntt_set_direct(ntt, direct);
		for (unsigned int log_n = 12; log_n <= 15; log_n += 3) {
			test_transform(log_n, &FR_ROOT_5, false);
			test_quotient(log_n, GPU_H_COSET);
		}
		cuda_ntt_close(ntt);
	}
	ok(cuda_arena_used(ctx->arena) == used, "no device memory is left behind");
	cuda_ctx_close(ctx);
	return tap_done();
}
