/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * msm_port_impl.h - affine additions one after another, for either curve
 *
 * The includer defines F(), FE, G(), AFFINE, ENCODED_SIZE and NAME().  Points and sums
 * are struct g1_affine or g2_affine.  The method is that of ifma_msm_impl.h.
 */

enum kind { ADD, DOUBLE, COPY, KEEP, VANISH };

struct work {
	AFFINE sum[MSM_LISTS];
	FE d[MSM_LISTS], before[MSM_LISTS];
	uint32_t index[MSM_LISTS];
	uint8_t kind[MSM_LISTS];
};

static void NAME(second)(AFFINE *r, const AFFINE *base, uint32_t index)
{
	*r = base[index & ~MSM_NEGATIVE];
	if (index & MSM_NEGATIVE)
		F(neg)(&r->y, &r->y);
}

/* The first n sums become themselves plus the points of base that w->index names. */
static void NAME(add_round)(struct work *w, size_t n, const AFFINE *base)
{
	FE product = F(one), u;
	size_t i;

	for (i = 0; i < n; i++) {
		const AFFINE *a = &w->sum[i], *b = &base[w->index[i] & ~MSM_NEGATIVE];

		if (i + 8 < n) {
			const char *p = (const char *)&base[w->index[i + 8] & ~MSM_NEGATIVE];
			size_t k;

			for (k = 0; k < sizeof(AFFINE); k += 64)
				__builtin_prefetch(p + k);
		}
		w->kind[i] = ADD;
		F(sub)(&w->d[i], &b->x, &a->x);
		if (G(affine_is_infinity)(b)) {
			w->kind[i] = KEEP;
		} else if (G(affine_is_infinity)(a)) {
			w->kind[i] = COPY;
		} else if (F(is_zero)(&w->d[i])) {
			AFFINE t;

			NAME(second)(&t, base, w->index[i]);
			w->kind[i] = F(equal)(&t.y, &a->y) ? DOUBLE : VANISH;
			F(double)(&w->d[i], &a->y);
		}
		w->before[i] = product;
		if (w->kind[i] <= DOUBLE)
			F(mul)(&product, &product, &w->d[i]);
	}
	F(inv_vartime)(&u, &product);
	while (i-- > 0) {
		AFFINE *a = &w->sum[i], b;
		FE l, t, x3;

		NAME(second)(&b, base, w->index[i]);
		switch ((enum kind)w->kind[i]) {
		case COPY:
			*a = b;
			continue;
		case VANISH:
			memset(a, 0, sizeof(*a));
			continue;
		case KEEP:
			continue;
		case DOUBLE:
			F(sqr)(&l, &a->x);
			F(double)(&t, &l);
			F(add)(&l, &l, &t);
			break;
		case ADD:
			F(sub)(&l, &b.y, &a->y);
			break;
		}
		F(mul)(&t, &u, &w->before[i]);
		F(mul)(&u, &u, &w->d[i]);
		F(mul)(&l, &l, &t);
		F(sqr)(&x3, &l);
		F(sub)(&x3, &x3, &a->x);
		F(sub)(&x3, &x3, &b.x);
		F(sub)(&t, &a->x, &x3);
		F(mul)(&t, &t, &l);
		F(sub)(&a->y, &t, &a->y);
		a->x = x3;
	}
}

static void NAME(sum_lists)(void *scratch, const void *points, const struct msm_lists *l, void *out)
{
	struct work *w = scratch;
	size_t n = l->n, i, round;

	for (i = 0; i < n; i++)
		NAME(second)(&w->sum[i], points, l->entry[l->pos[i]]);
	for (round = 1;; round++) {
		while (n && l->count[n - 1] <= round)
			n--;
		if (!n)
			break;
		for (i = 0; i < n; i++)
			w->index[i] = l->entry[l->pos[i] + round * l->step];
		NAME(add_round)(w, n, points);
	}
	for (i = 0; i < l->n; i++)
		((AFFINE *)out)[l->dest[i]] = w->sum[i];
}

static void NAME(add_pairs)(void *scratch, void *dst, const void *src, const uint32_t *a,
			    const uint32_t *b, size_t n)
{
	struct work *w = scratch;
	const AFFINE *from = src;
	size_t at, i, now;

	for (at = 0; at < n; at += now) {
		now = n - at < MSM_LISTS ? n - at : MSM_LISTS;
		for (i = 0; i < now; i++) {
			w->sum[i] = from[a ? a[at + i] : 2 * (at + i)];
			w->index[i] = b ? b[at + i] : 2 * (at + i) + 1;
		}
		NAME(add_round)(w, now, from);
		memcpy((AFFINE *)dst + at, w->sum, now * sizeof(AFFINE));
	}
}

static void NAME(clear)(void *out, size_t n)
{
	memset(out, 0, n * sizeof(AFFINE));
}

static void NAME(sum_get)(const void *sum, void *out)
{
	memcpy(out, sum, sizeof(AFFINE));
}

static void NAME(sum_set)(void *sum, const void *affine)
{
	memcpy(sum, affine, sizeof(AFFINE));
}

static void NAME(points_from_sums)(void *points, const void *sums, size_t n)
{
	memcpy(points, sums, n * sizeof(AFFINE));
}

static bool NAME(point_get)(const void *point, void *out)
{
	memcpy(out, point, sizeof(AFFINE));
	return !G(affine_is_infinity)(point);
}

/* Whether an element of memory is reduced. */
static bool NAME(is_reduced)(const struct fp *a)
{
	static const uint64_t p[6] = {
		0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
		0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a
	};
	int i;

	for (i = 5; i >= 0; i--)
		if (a->l[i] != p[i])
			return a->l[i] < p[i];
	return false;
}

static size_t NAME(points_decode)(void *points, const void *src, size_t n,
				  enum msm_encoding encoding)
{
	AFFINE *out = points, a;
	size_t i, k;

	for (i = 0; i < n; i++) {
		if (encoding == MSM_AFFINE) {
			memcpy(&a, (const uint8_t *)src + i * sizeof(a), sizeof(a));
			for (k = 0; k < sizeof(a) / sizeof(struct fp); k++)
				if (!NAME(is_reduced)((const struct fp *)&a + k))
					return i;
			out[i] = a;
		} else if (!NAME(from_zcash)(&out[i], (const uint8_t *)src + i * ENCODED_SIZE)) {
			return i;
		}
	}
	return n;
}

static size_t NAME(points_on_curve)(const void *points, size_t n)
{
	const AFFINE *p = points;
	size_t i;

	for (i = 0; i < n; i++)
		if (!G(affine_is_infinity)(&p[i]) && !G(affine_is_on_curve)(&p[i]))
			return i;
	return n;
}

static void NAME(sums_to_zcash)(uint8_t *out, const void *sums, size_t n)
{
	const AFFINE *s = sums;
	size_t i;

	for (i = 0; i < n; i++)
		G(to_uncompressed)(out + i * ENCODED_SIZE, &s[i]);
}
