/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * transform.cuh - inverse transforms in the group G1: the kernels
 *
 * Decimation in frequency by radix 2: a stage turns a pair (P, Q) at distance
 * half into P + Q and w^-j (P - Q); natural order in, bit-reversed out.  All the
 * time goes into products of a point by a scalar of 255 bits.  Points are in
 * Jacobian coordinates (x = X/Z^2, y = Y/Z^3, Z = 0 is infinity) rather than
 * XYZZ ones: a product is mostly doublings, which take 2 products and 5 squares
 * here, 6 and 3 there, and a point takes 144 bytes, not 192.
 *
 * The endomorphism phi(x, y) = (beta x, y) acts as lambda = z^2 - 1, and as a
 * primitive cube root w of 1, so k = k0 + k1 lambda is an element of Z[w] with
 * coordinates of 128 bits.  It is written in base 4 with one digit for every
 * residue: the six units, the six units times 1 - w, 0, and 2, 2w, 2w^2.  Each
 * of them is a rotation by phi and a sign away from P, Q = P - phi(P) or 2P.
 *
 * Those three are affine on one curve y^2 = x^3 + b': no formula here uses b, so
 * (X, Y) of a point is an affine point of the isomorphic curve for u = Z, and
 * the factor goes back into Z at the end.  No inversion is needed.
 *
 * A product by a full scalar takes, in products M and squares S of 0.77 M each,
 *
 *   128 doublings				2M + 5S		 749 M
 *   60 sums: of 65 digits, every 16th is 0	8M + 3S		 619 M
 *   the table and Z				21M + 4S	  24 M
 *
 * 1392 M in all.  To double and add over P, phi(P) and P + phi(P), which are
 * affine for free, would take 2290 M in XYZZ coordinates, since some lane of a
 * warp adds at every bit; a sparse form in place of the windows 1330 M, but
 * 2070 M where the lanes' scalars differ; windows of 3 bits about 1290 M with a
 * table four times as long.
 */
#ifndef CUZK_GPU_CUDA_TRANSFORM_CUH
#define CUZK_GPU_CUDA_TRANSFORM_CUH

#include "gpu/cuda/ntt.cuh"
#include "gpu/cuda/points.cuh"

#define TRANSFORM_WINDOWS 65	/* of 2 bits: 128, and a carry */
#define TRANSFORM_PER_THREAD 16	/* points that share an inversion */

struct jacobian {
	fp_t x, y, z;
};

static __device__ __forceinline__ bool point_is_inf(const jacobian &p)
{
	return fe_is_zero(p.z);
}

static __device__ __forceinline__ jacobian jacobian_inf()
{
	fp_t zero = fe_zero<fp_modulus>();

	return jacobian{ zero, zero, zero };
}

static __device__ __forceinline__ jacobian jacobian_neg(const jacobian &p)
{
	return jacobian{ p.x, fe_neg(p.y), p.z };
}

/* Formulas: hyperelliptic.org/EFD g1p/auto-shortw-jacobian-0, dbl-2009-l. */
static __device__ __forceinline__ jacobian jacobian_double(const jacobian &p)
{
	if (point_is_inf(p))
		return p;
	fp_t xx = x_sqr(p.x);
	fp_t yy = x_sqr(p.y);
	fp_t yyyy = x_sqr(yy);
	fp_t d = fe_double(fe_sub(fe_sub(x_sqr(fe_add(p.x, yy)), xx), yyyy));
	fp_t e = fe_add(fe_double(xx), xx);
	jacobian r;

	r.z = fe_double(x_mul(p.y, p.z));
	r.x = fe_sub(x_sqr(e), fe_double(d));
	r.y = fe_sub(x_mul(e, fe_sub(d, r.x)), fe_double(fe_double(fe_double(yyyy))));
	return r;
}

/* Where it is rare: a call. */
static __device__ __noinline__ jacobian jacobian_double_rarely(const jacobian &p)
{
	return jacobian_double(p);
}

/* q finite */
static __device__ __forceinline__ jacobian jacobian_add_affine(const jacobian &p,
							       const g1_affine_t &q)
{
	if (point_is_inf(p))
		return jacobian{ q.x, q.y, fe_one<fp_modulus>() };
	fp_t zz = x_sqr(p.z);
	fp_t h = fe_sub(x_mul(q.x, zz), p.x);
	fp_t t = fe_sub(x_mul(x_mul(q.y, p.z), zz), p.y);

	if (fe_is_zero(h)) {
		if (fe_is_zero(t))
			return jacobian_double_rarely(p);
		return jacobian_inf();
	}
	fp_t hh = x_sqr(h);
	fp_t hhh = x_mul(h, hh);
	fp_t v = x_mul(p.x, hh);
	jacobian r;

	r.x = fe_sub(fe_sub(x_sqr(t), hhh), fe_double(v));
	r.y = fe_sub(x_mul(t, fe_sub(v, r.x)), x_mul(p.y, hhh));
	r.z = x_mul(p.z, h);
	return r;
}

/* p, q = p + q, p - q: 13M + 5S, most of them for both */
static __device__ __noinline__ void jacobian_butterfly(jacobian &p, jacobian &q)
{
	if (point_is_inf(q)) {
		q = p;
		return;
	}
	if (point_is_inf(p)) {
		p = q;
		q = jacobian_neg(q);
		return;
	}
	fp_t z1z1 = x_sqr(p.z), z2z2 = x_sqr(q.z);
	fp_t u1 = x_mul(p.x, z2z2);
	fp_t s1 = x_mul(x_mul(p.y, q.z), z2z2);
	fp_t s2 = x_mul(x_mul(q.y, p.z), z1z1);
	fp_t h = fe_sub(x_mul(q.x, z1z1), u1);

	if (fe_is_zero(h)) {
		if (fe_equal(s1, s2)) {
			p = jacobian_double_rarely(p);
			q = jacobian_inf();
		} else {
			q = jacobian_double_rarely(p);
			p = jacobian_inf();
		}
		return;
	}
	fp_t hh = x_sqr(h);
	fp_t hhh = x_mul(h, hh);
	fp_t v = x_mul(u1, hh);
	fp_t w = fe_add(hhh, fe_double(v));
	fp_t t = fe_sub(s2, s1);

	p.z = q.z = x_mul(x_mul(p.z, q.z), h);
	hhh = x_mul(s1, hhh);
	p.x = fe_sub(x_sqr(t), w);
	p.y = fe_sub(x_mul(t, fe_sub(v, p.x)), hhh);
	t = fe_neg(fe_add(s2, s1));
	q.x = fe_sub(x_sqr(t), w);
	q.y = fe_sub(x_mul(t, fe_sub(v, q.x)), hhh);
}

/* ---- scalars ---- */

static __device__ __forceinline__ void mul_128(uint32_t t[8], const uint32_t a[4],
						const uint32_t b[4])
{
#pragma unroll
	for (int i = 0; i < 8; i++)
		t[i] = 0;
#pragma unroll
	for (int i = 0; i < 4; i++) {
		uint32_t carry = 0;

#pragma unroll
		for (int j = 0; j < 4; j++) {
			uint64_t x = (uint64_t)a[i] * b[j] + t[i + j] + carry;

			t[i + j] = (uint32_t)x;
			carry = (uint32_t)(x >> 32);
		}
		t[i + 4] = carry;
	}
}

/*
 * k = k0 + k1 lambda, k0 < lambda, k1 <= lambda + 1: r is lambda^2 + lambda + 1.
 * k is canonical.  The quotient by floor(2^254 / lambda) is a few too small.
 */
static __device__ __forceinline__ void split_lambda(uint32_t k0[4], uint32_t k1[4], const fr_t &k)
{
	const uint32_t lambda[4] = { 0xffffffff, 0x00000000, 0x0001a402, 0xac45a401 };
	const uint32_t mu[4] = { 0xbdb3fb8c, 0x58fdb948, 0x7807eab7, 0x5f1afb3c };
	uint32_t h[4], t[8], rem[5];

#pragma unroll
	for (int i = 0; i < 4; i++)
		h[i] = __funnelshift_l(k.l[3 + i], k.l[4 + i], 1);	/* k / 2^127 */
	mul_128(t, h, mu);
#pragma unroll
	for (int i = 0; i < 4; i++)
		k1[i] = __funnelshift_l(t[3 + i], t[4 + i], 1);
	mul_128(t, k1, lambda);
	rem[0] = sub_cc(k.l[0], t[0]);
#pragma unroll
	for (int i = 1; i < 4; i++)
		rem[i] = subc_cc(k.l[i], t[i]);
	rem[4] = subc(k.l[4], t[4]);
	for (;;) {
		uint32_t d[5];

		d[0] = sub_cc(rem[0], lambda[0]);
#pragma unroll
		for (int i = 1; i < 4; i++)
			d[i] = subc_cc(rem[i], lambda[i]);
		d[4] = subc(rem[4], 0);
		if (d[4] >> 31)
			break;
#pragma unroll
		for (int i = 0; i < 5; i++)
			rem[i] = d[i];
		k1[0] = add_cc(k1[0], 1);
		k1[1] = addc_cc(k1[1], 0);
		k1[2] = addc_cc(k1[2], 0);
		k1[3] = addc(k1[3], 0);
	}
#pragma unroll
	for (int i = 0; i < 4; i++)
		k0[i] = rem[i];
}

/*
 * The digit of residue c0 + 4 c1 of k0 + k1 w modulo 4: which multiple, 3 t + i
 * for w^i times T = 1, 1 - w or 2 (t = 0, 1, 2); whether negative; and of which
 * coordinates it is below zero, so that subtracting it carries:
 *
 *        c1 = 0     1         2            3
 * c0 = 0    0       w         2w           -w
 *      1    1       -w^2      w(1 - w)     1 - w
 *      2    2       -w^2(1-w) -2w^2        w^2(1 - w)
 *      3    -1      -(1 - w)  -w(1 - w)    w^2
 */
struct digit_table {
	uint64_t multiple;		/* four bits each */
	uint32_t negative, carry0, carry1;
};

static __host__ __device__ constexpr struct digit_table digit_table_make()
{
	constexpr int multiple[16] = { 0, 0, 6, 0, 1, 2, 5, 3, 7, 4, 8, 4, 1, 3, 5, 2 };
	constexpr int negative[16] = { 0, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 1, 1, 0, 0, 0 };
	constexpr int carry0[16] = { 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1 };
	constexpr int carry1[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1 };
	struct digit_table t = { 0, 0, 0, 0 };

	for (int i = 0; i < 16; i++) {
		t.multiple |= (uint64_t)multiple[i] << (4 * i);
		t.negative |= (uint32_t)negative[i] << i;
		t.carry0 |= (uint32_t)carry0[i] << i;
		t.carry1 |= (uint32_t)carry1[i] << i;
	}
	return t;
}

/* k = k / 4 + carry */
static __device__ __forceinline__ void next_digit(uint32_t k[4], uint32_t carry)
{
	k[0] = add_cc(__funnelshift_r(k[0], k[1], 2), carry);
	k[1] = addc_cc(__funnelshift_r(k[1], k[2], 2), 0);
	k[2] = addc_cc(__funnelshift_r(k[2], k[3], 2), 0);
	k[3] = addc(k[3] >> 2, 0);
}

#define DIGIT_WORDS ((TRANSFORM_WINDOWS + 7) / 8)

/* Residues, eight to a word, from the lowest. */
static __device__ __forceinline__ void make_digits(uint32_t digits[DIGIT_WORDS], const fr_t &k)
{
	constexpr struct digit_table table = digit_table_make();
	uint32_t k0[4], k1[4];

	split_lambda(k0, k1, k);
#pragma unroll 1
	for (int w = 0; w < DIGIT_WORDS; w++) {
		uint32_t word = 0;

		/* behind the last are zeros */
#pragma unroll 1
		for (int i = 0; i < 32; i += 4) {
			uint32_t d = (k1[0] & 3) << 2 | (k0[0] & 3);

			word |= d << i;
			next_digit(k0, table.carry0 >> d & 1);
			next_digit(k1, table.carry1 >> d & 1);
		}
		digits[w] = word;
	}
}

/* ---- products ---- */

/* T, phi(T) and phi^2(T) for T = P, P - phi(P) and 2P; y is the same for three */
struct multiples {
	fp_t x[9], y[3];
};

static __device__ __forceinline__ fp_t fp_beta()
{
	return fp_t{ { 0x8671f071, 0xcd03c9e4, 0x1fcda5d2, 0x5dab2246, 0xd3851b95, 0x587042af,
		       0x01bacb9e, 0x8eb60ebe, 0x83d050d2, 0x03f97d6e, 0x54638741, 0x18f02065 } };
}

/*
 * Multiples of the affine (x, y), of order r, on the curve whose u is returned.
 * P - phi(P) has Z = h = beta x - x, by the sum with -phi(P) = (beta x, -y), and
 * 2P has Z = d = 2y; u = h d.
 */
static __device__ __noinline__ fp_t multiples_init(struct multiples *m, const fp_t &x,
						 const fp_t &y)
{
	fp_t beta = fp_beta(), d = fe_double(y), dd = x_sqr(d), ddd = x_mul(d, dd);
	fp_t h = fe_sub(x_mul(beta, x), x), hh = x_sqr(h), hhh = x_mul(h, hh);
	fp_t v = x_mul(x, hh), s = x_mul(y, hhh);
	fp_t xd = x_mul(x, dd), t = x_sqr(x);

	m->x[0] = x_mul(v, dd);
	m->y[0] = x_mul(s, ddd);
	/* the sum's slope is -2y / h */
	m->x[3] = fe_sub(fe_sub(dd, hhh), fe_double(v));
	m->y[1] = x_mul(fe_sub(x_mul(d, fe_sub(m->x[3], v)), s), ddd);
	m->x[3] = x_mul(m->x[3], dd);
	/* 8 y^4 = y d^3 */
	t = fe_add(fe_double(t), t);
	m->x[6] = fe_sub(x_sqr(t), fe_double(xd));
	m->y[2] = x_mul(fe_sub(x_mul(t, fe_sub(xd, m->x[6])), x_mul(y, ddd)), hhh);
	m->x[6] = x_mul(m->x[6], hh);
	/* 1 + beta + beta^2 = 0 */
#pragma unroll 1
	for (int i = 0; i < 9; i += 3) {
		m->x[i + 1] = x_mul(beta, m->x[i]);
		m->x[i + 2] = fe_neg(fe_add(m->x[i], m->x[i + 1]));
	}
	return x_mul(h, d);
}

/* k p, p of order r, k canonical */
static __device__ __noinline__ jacobian jacobian_mul(const jacobian &p, const fr_t &k)
{
	constexpr struct digit_table table = digit_table_make();
	uint32_t digits[DIGIT_WORDS];
	struct multiples m;
	jacobian acc = jacobian_inf();
	fp_t u;

	if (point_is_inf(p))
		return acc;
	make_digits(digits, k);
	u = multiples_init(&m, p.x, p.y);
#pragma unroll 1
	for (int i = TRANSFORM_WINDOWS - 1; i >= 0; i--) {
		uint32_t digit = digits[i / 8] >> (4 * (i % 8)) & 15;

#pragma unroll 1
		for (int k = 0; k < 2; k++)
			acc = jacobian_double(acc);
		if (digit) {
			uint32_t place = (uint32_t)(table.multiple >> (4 * digit)) & 15;
			g1_affine_t q = { m.x[place], m.y[place / 3] };

			if (table.negative >> digit & 1)
				q.y = fe_neg(q.y);
			acc = jacobian_add_affine(acc, q);
		}
	}
	acc.z = x_mul(acc.z, x_mul(p.z, u));
	return acc;
}

/* ---- kernels ---- */

/* out[i] = x^(first + i) in[i], i < n; powers give x's, canonical */
static __device__ __forceinline__ void transform_load_body(const g1_affine_t *in, uint32_t n,
							   uint32_t first,
							   const struct power_table &powers,
							   jacobian *out)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	jacobian p;

	if (i >= n)
		return;
	p.x = in[i].x;
	p.y = in[i].y;
	p.z = point_is_inf(in[i]) ? fe_zero<fp_modulus>() : fe_one<fp_modulus>();
	out[i] = jacobian_mul(p, power(powers, first + i));
}

/*
 * Pairs first to first + n - 1 of a stage with `level` bits above its pairs'.
 * roots gives powers of w^-1, canonical.  Neighbouring threads take the same
 * power in different blocks, as far as there are any: those that multiply by 1
 * end together.
 */
static __device__ __forceinline__ void transform_stage_body(jacobian *points, uint32_t first,
							    uint32_t n, int log_n, int level,
							    const struct power_table &roots)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t half = 1u << (log_n - 1 - level), block, j;
	jacobian *at, p, q;

	if (i >= n)
		return;
	block = (first + i) & ((1u << level) - 1);
	j = (first + i) >> level;
	at = points + (2 * (size_t)half * block + j);
	p = at[0];
	q = at[half];
	jacobian_butterfly(p, q);
	at[0] = p;
	if (j)
		q = jacobian_mul(q, power(roots, j << level));
	at[half] = q;
}

/*
 * out[i] = point first + i of the transform, affine, i < n: points are in
 * bit-reversed order.  A thread takes every n_threads-th, at most
 * TRANSFORM_PER_THREAD of them, which share one inversion.
 */
static __device__ __forceinline__ void transform_store_body(const jacobian *points, uint32_t first,
							    uint32_t n, int log_n,
							    uint32_t n_threads, fp_t *prefix,
							    g1_affine_t *out)
{
	uint32_t t = blockIdx.x * blockDim.x + threadIdx.x, last = t;
	fp_t product = fe_one<fp_modulus>();

	if (t >= n_threads || t >= n)
		return;
	for (uint32_t i = t; i < n; i += n_threads) {
		fp_t z = points[point_place(first + i, log_n)].z;

		prefix[i] = product;
		if (!fe_is_zero(z))
			product = fe_mul(product, z);
		last = i;
	}
	product = f_inv(product);
	for (uint32_t i = last;; i -= n_threads) {
		jacobian p = points[point_place(first + i, log_n)];
		g1_affine_t r = { fe_zero<fp_modulus>(), fe_zero<fp_modulus>() };

		if (!point_is_inf(p)) {
			fp_t inv = fe_mul(product, prefix[i]), square = fe_sqr(inv);

			product = fe_mul(product, p.z);
			r.x = fe_mul(p.x, square);
			r.y = fe_mul(p.y, fe_mul(square, inv));
		}
		out[i] = r;
		if (i == t)
			break;
	}
}

#endif
