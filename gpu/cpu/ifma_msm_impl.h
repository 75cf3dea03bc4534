/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * ifma_msm_impl.h - affine additions in eight lanes, for either curve
 *
 * The includer defines struct el (eight coordinates), ELEMENTS (base field
 * elements in one), the el_* functions and NAME().
 *
 * An addition of affine points is
 *	l = (y2 - y1) / (x2 - x1), x3 = l^2 - x1 - x2, y3 = l (x1 - x3) - y1,
 * and a round of them shares one inversion (Montgomery's trick): a first pass
 * leaves every difference d and the product of all before it, a second one
 * goes back through them.  A lane that is not a plain addition (a doubling, P - P, infinity,
 * a list that has ended) makes its vector special: special_first()
 * puts something invertible in its place and special_second() blends in the
 * right result.
 */

/* Additions that share an inversion: V vectors of 8. 2 KiB each in G1, to stay in L2. */
#define V (MSM_LISTS / 8)

/* Eight additions. */
struct vec {
	struct el x, y, d;
	struct fp8 before;	/* the product of all norms before its own */
};

struct work {
	struct vec vec[V];
	/* of the second points, with their signs; of this round and the next */
	uint32_t indices[2][8 * V];
	uint32_t *index, *next;
	uint8_t infinite[V];		/* lanes of x, y that are infinity */
	uint8_t special[V], doubled[V], copied[V], kept[V], vanished[V];
};

#define POINT_SIZE (2 * ELEMENTS * 48)
#define SUM_SIZE (2 * ELEMENTS * 64)

enum source { PACKED, WIDE };

FP8_INLINE void rows(const uint8_t *row[8], const void *base, const uint32_t *index, size_t size)
{
	int i;

	for (i = 0; i < 8; i++)
		row[i] = (const uint8_t *)base + (size_t)(index[i] & ~MSM_NEGATIVE) * size;
}

FP8_INLINE __mmask8 load_x(struct el *x, const void *base, const uint32_t *index,
			   enum source source)
{
	const uint8_t *row[8];

	if (source == PACKED) {
		rows(row, base, index, POINT_SIZE);
		el_load_packed(x, row, 0);
	} else {
		rows(row, base, index, SUM_SIZE);
		el_load_wide(x, row, 0);
	}
	return _mm512_test_epi64_mask(x->c[0].l[7], _mm512_set1_epi64(IFMA_INFINITY_LIMB));
}

/* the y as it is stored, and the lanes where its negative is meant */
FP8_INLINE __mmask8 load_y(struct el *y, const void *base, const uint32_t *index,
			   enum source source)
{
	const uint8_t *row[8];

	if (source == PACKED) {
		rows(row, base, index, POINT_SIZE);
		el_load_packed(y, row, ELEMENTS * 48);
		return _mm256_movepi32_mask(_mm256_loadu_si256((const __m256i *)index));
	}
	rows(row, base, index, SUM_SIZE);
	el_load_wide(y, row, ELEMENTS * 64);
	return 0;
}

/* Puts infinity in the lanes of m, in the form of struct work. */
FP8_INLINE void set_infinite(struct el *x, struct el *y, __mmask8 m)
{
	struct el zero;

	el_zero(&zero);
	el_blend(x, m, &zero);
	el_blend(y, m, &zero);
}

static __attribute__((noinline))
void NAME(special_first)(struct work *w, size_t v, __mmask8 active, __mmask8 infinite2,
			 const void *base, enum source source)
{
	const uint32_t *index = &w->index[8 * v];
	__mmask8 infinite1 = w->infinite[v], equal, doubled, copied, kept, vanished, neg;
	struct el y2, t;

	neg = load_y(&y2, base, index, source);
	el_neg_lanes(&y2, neg);
	kept = ~active | infinite2;
	copied = infinite1 & ~kept;
	equal = el_is_zero(&w->vec[v].d) & ~kept & ~copied;
	el_sub(&t, &w->vec[v].y, &y2);
	doubled = equal & el_is_zero(&t);
	vanished = equal & ~doubled;

	el_double(&t, &w->vec[v].y);
	el_blend(&w->vec[v].d, doubled, &t);
	el_one(&t);
	el_blend(&w->vec[v].d, kept | copied | vanished, &t);

	w->special[v] = 1;
	w->doubled[v] = doubled;
	w->copied[v] = copied;
	w->kept[v] = kept;
	w->vanished[v] = vanished;
}

static __attribute__((noinline))
void NAME(special_second)(struct work *w, size_t v, const struct el *inv, const void *base,
			  enum source source)
{
	const uint32_t *index = &w->index[8 * v];
	struct el x2, y2, x2_used, n, l, x3, y3, t;
	__mmask8 neg;

	load_x(&x2, base, index, source);
	neg = load_y(&y2, base, index, source);
	el_neg_lanes(&y2, neg);
	el_sub(&n, &y2, &w->vec[v].y);
	el_sqr_times3(&t, &w->vec[v].x);
	el_blend(&n, w->doubled[v], &t);
	el_mul(&l, &n, inv);
	x2_used = x2;
	el_blend(&x2_used, w->doubled[v], &w->vec[v].x);
	el_sqr_sub_sub(&x3, &l, &w->vec[v].x, &x2_used);
	el_sub(&t, &w->vec[v].x, &x3);
	el_mul_sub(&y3, &l, &t, &w->vec[v].y);

	el_blend(&x3, w->kept[v], &w->vec[v].x);
	el_blend(&y3, w->kept[v], &w->vec[v].y);
	el_blend(&x3, w->copied[v], &x2);
	el_blend(&y3, w->copied[v], &y2);
	set_infinite(&x3, &y3, w->vanished[v]);
	w->infinite[v] = (w->infinite[v] & ~w->copied[v]) | w->vanished[v];
	w->vec[v].x = x3;
	w->vec[v].y = y3;
}

/* The second pass for one vector that is a plain addition. */
static __attribute__((noinline))
void NAME(plain_second)(struct work *w, size_t v, const struct el *inv, const void *base,
			enum source source)
{
	struct el y2, l, x3, t;
	__mmask8 neg;

	neg = load_y(&y2, base, &w->index[8 * v], source);
	el_sub_signed(&t, &y2, neg, &w->vec[v].y);
	el_mul(&l, &t, inv);
	el_sqr_sub_twice_sub(&x3, &l, &w->vec[v].x, &w->vec[v].d);
	el_sub(&t, &w->vec[v].x, &x3);
	el_mul_sub(&w->vec[v].y, &l, &t, &w->vec[v].y);
	w->vec[v].x = x3;
}

/* Fetches eight points to the first or second level cache. */
FP8_INLINE void prefetch(const uint32_t *index, const void *base, size_t size, int level)
{
	size_t i, k;

#pragma GCC unroll 8
	for (i = 0; i < 8; i++)
		for (k = 0; k < size; k += 64) {
			const char *at = (const char *)base + (index[i] & ~MSM_NEGATIVE) * size + k;

			if (level == 1)
				_mm_prefetch(at, _MM_HINT_T0);
			else
				_mm_prefetch(at, _MM_HINT_T1);
		}
}

/* What a vector is at in the second pass. */
struct way {
	struct el inv, slope, x3, t;
};

FP8_INLINE void first_pass(struct work *w, size_t v, size_t n_lanes, struct fp8 *product,
			   const void *base, enum source source)
{
	const uint32_t *index = &w->index[8 * v];
	__mmask8 active, infinite;
	struct el x2;

	infinite = load_x(&x2, base, index, source);
	el_sub(&w->vec[v].d, &x2, &w->vec[v].x);
	active = 8 * (v + 1) <= n_lanes ? 0xff : 8 * v >= n_lanes ? 0 : 0xff >> (8 * (v + 1) - n_lanes);
	w->special[v] = 0;
	if (__builtin_expect((el_maybe_zero(&w->vec[v].d) | infinite | w->infinite[v] |
			      (__mmask8)~active) != 0, 0))
		NAME(special_first)(w, v, active, infinite, base, source);
	w->vec[v].before = *product;
	el_mul_norm(product, &w->vec[v].d);
}

FP8_INLINE void second_inverse(struct work *w, size_t v, const struct fp8 *u, struct way *y)
{
	struct fp8 norm;

	fp8_mul(&norm, u, &w->vec[v].before);
	el_inv_from_norm(&y->inv, &w->vec[v].d, &norm);
}

FP8_INLINE void second_rise(struct work *w, size_t v, struct way *y, const void *base,
			    enum source source)
{
	struct el y2;
	__mmask8 neg = load_y(&y2, base, &w->index[8 * v], source);

	el_sub_signed(&y->t, &y2, neg, &w->vec[v].y);
}

/*
 * The first n_lanes points of w->x, y become themselves plus the points that
 * w->index names in base.  Two vectors are worked on in turn, each with its own
 * chain of products, and in an order that puts the sums of one next to
 * products that do not wait for them: the multipliers are what is scarce.  The second
 * pass reads little, and fetches the n_next points of the next round.
 */
#define AHEAD 6		/* vectors, prefetched; even */

FP8_INLINE void add_round(struct work *w, size_t n_lanes, size_t n_next, const void *base,
			  enum source source)
{
	const size_t size = source == PACKED ? POINT_SIZE : SUM_SIZE;
	const size_t n = (n_lanes + 15) / 16 * 2;
	struct fp8 product0, product1, u0, u1, all;
	struct way a, b;
	size_t i, v;

	for (i = n_lanes; i < 8 * n; i++)
		w->index[i] = 0;
	fp8_set_const(&product0, ifma_one);
	product1 = product0;
	for (v = 0; v < AHEAD && v < n; v++)
		prefetch(&w->index[8 * v], base, size, 1);
	for (v = 0; v < n; v += 2) {
		if (v + AHEAD < n)
			prefetch(&w->index[8 * (v + AHEAD)], base, size, 1);
		first_pass(w, v, n_lanes, &product0, base, source);
		if (v + AHEAD < n)
			prefetch(&w->index[8 * (v + 1 + AHEAD)], base, size, 1);
		first_pass(w, v + 1, n_lanes, &product1, base, source);
	}
	fp8_mul(&all, &product0, &product1);
	fp8_inv_vartime(&all, &all);
	fp8_mul(&u0, &all, &product1);
	fp8_mul(&u1, &all, &product0);
	for (v = n; v > 0;) {
		v -= 2;
		if (8 * (v + 1) <= n_next)
			prefetch(&w->next[8 * v], base, size, 2);
		if (8 * (v + 2) <= n_next)
			prefetch(&w->next[8 * v + 8], base, size, 2);
		if (__builtin_expect(w->special[v] | w->special[v + 1], 0)) {
			second_inverse(w, v, &u0, &a);
			second_inverse(w, v + 1, &u1, &b);
			el_mul_norm(&u0, &w->vec[v].d);
			el_mul_norm(&u1, &w->vec[v + 1].d);
			if (w->special[v])
				NAME(special_second)(w, v, &a.inv, base, source);
			else
				NAME(plain_second)(w, v, &a.inv, base, source);
			if (w->special[v + 1])
				NAME(special_second)(w, v + 1, &b.inv, base, source);
			else
				NAME(plain_second)(w, v + 1, &b.inv, base, source);
			continue;
		}
		second_inverse(w, v, &u0, &a);
		second_rise(w, v, &a, base, source);
		second_inverse(w, v + 1, &u1, &b);
		second_rise(w, v + 1, &b, base, source);
		el_mul(&a.slope, &a.t, &a.inv);
		el_mul(&b.slope, &b.t, &b.inv);
		el_sqr_sub_twice_sub(&a.x3, &a.slope, &w->vec[v].x, &w->vec[v].d);
		el_mul_norm(&u0, &w->vec[v].d);
		el_sub(&a.t, &w->vec[v].x, &a.x3);
		w->vec[v].x = a.x3;
		el_sqr_sub_twice_sub(&b.x3, &b.slope, &w->vec[v + 1].x, &w->vec[v + 1].d);
		el_mul_norm(&u1, &w->vec[v + 1].d);
		el_sub(&b.t, &w->vec[v + 1].x, &b.x3);
		w->vec[v + 1].x = b.x3;
		el_mul_sub(&w->vec[v].y, &a.slope, &a.t, &w->vec[v].y);
		el_mul_sub(&w->vec[v + 1].y, &b.slope, &b.t, &w->vec[v + 1].y);
	}
}

/* Vector v of w to eight sums. */
FP8_INLINE void store_sums(struct work *w, size_t v, uint8_t *const row[8])
{
	__mmask8 m = w->infinite[v];
	struct el x = w->vec[v].x, y = w->vec[v].y;

	if (__builtin_expect(m != 0, 0)) {
		set_infinite(&x, &y, m);
		x.c[0].l[7] = _mm512_mask_mov_epi64(x.c[0].l[7], m,
					_mm512_set1_epi64(IFMA_INFINITY_LIMB));
	}
	el_store_wide(row, 0, &x);
	el_store_wide(row, ELEMENTS * 64, &y);
}

/* The first points of the additions to come, from w->index. */
FP8_INLINE void load_first(struct work *w, size_t n_lanes, const void *base, enum source source)
{
	size_t v, n = (n_lanes + 7) / 8;

	for (v = n_lanes; v < 8 * n; v++)
		w->index[v] = 0;
	for (v = 0; v < n; v++) {
		__mmask8 m = load_x(&w->vec[v].x, base, &w->index[8 * v], source);
		__mmask8 neg = load_y(&w->vec[v].y, base, &w->index[8 * v], source);

		el_neg_lanes(&w->vec[v].y, neg);
		set_infinite(&w->vec[v].x, &w->vec[v].y, m);
		w->infinite[v] = m;
	}
}

static void NAME(sum_lists)(void *scratch, const void *points, const struct msm_lists *l, void *out)
{
	struct work *w = scratch;
	uint8_t dump[SUM_SIZE] __attribute__((aligned(64)));
	size_t n = l->n, n_next, i, v, round;

	w->index = w->indices[0];
	w->next = w->indices[1];
	for (i = 0; i < n; i++)
		w->index[i] = l->entry[l->pos[i]];
	load_first(w, n, points, PACKED);
	for (round = 0;; round++) {
		uint32_t *t;

		for (n_next = n; n_next && l->count[n_next - 1] <= round + 1;)
			n_next--;
		for (i = 0; i < n_next; i++)
			w->next[i] = l->entry[l->pos[i] + (round + 1) * l->step];
		if (round)
			add_round(w, n, n_next, points, PACKED);
		if (!n_next)
			break;
		t = w->index;
		w->index = w->next;
		w->next = t;
		n = n_next;
	}
	for (v = 0; 8 * v < l->n; v++) {
		uint8_t *row[8];

		for (i = 0; i < 8; i++)
			row[i] = 8 * v + i < l->n ? (uint8_t *)out + l->dest[8 * v + i] * SUM_SIZE :
				 dump;
		store_sums(w, v, row);
	}
}

static void NAME(add_pairs)(void *scratch, void *dst, const void *src, const uint32_t *a,
			    const uint32_t *b, size_t n)
{
	struct work *w = scratch;
	uint8_t dump[SUM_SIZE] __attribute__((aligned(64)));
	size_t at, i, v, now;

	w->index = w->indices[0];
	for (at = 0; at < n; at += now) {
		now = n - at < MSM_LISTS ? n - at : MSM_LISTS;
		for (i = 0; i < now; i++)
			w->index[i] = a ? a[at + i] : 2 * (at + i);
		load_first(w, now, src, WIDE);
		for (i = 0; i < now; i++)
			w->index[i] = b ? b[at + i] : 2 * (at + i) + 1;
		add_round(w, now, 0, src, WIDE);
		for (v = 0; 8 * v < now; v++) {
			uint8_t *row[8];

			for (i = 0; i < 8; i++)
				row[i] = 8 * v + i < now ?
					 (uint8_t *)dst + (at + 8 * v + i) * SUM_SIZE : dump;
			store_sums(w, v, row);
		}
	}
}

static void NAME(clear)(void *out, size_t n)
{
	uint64_t *sum = out;
	size_t i;

	memset(out, 0, n * SUM_SIZE);
	for (i = 0; i < n; i++)
		sum[i * (SUM_SIZE / 8) + 7] = IFMA_INFINITY_LIMB;
}

static void NAME(sum_get)(const void *sum, void *out)
{
	const uint64_t *limb = sum;
	struct fp *f = out;
	int i;

	if (limb[7] & IFMA_INFINITY_LIMB) {
		memset(out, 0, 2 * ELEMENTS * sizeof(struct fp));
		return;
	}
	for (i = 0; i < 2 * ELEMENTS; i++)
		ifma_fp_get(&f[i], limb + 8 * i);
}

static void NAME(sum_set)(void *sum, const void *affine)
{
	static const struct fp nothing[2 * ELEMENTS];
	const struct fp *f = affine;
	uint64_t *limb = sum;
	int i;

	if (!memcmp(f, nothing, sizeof(nothing))) {
		NAME(clear)(sum, 1);
		return;
	}
	for (i = 0; i < 2 * ELEMENTS; i++)
		ifma_fp_set(limb + 8 * i, &f[i]);
}
