/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* trace.c - the values inside a Poseidon hash that its circuit makes variables */
#include <assert.h>
#include <string.h>

#include "lib/poseidon/many.h"
#include "lib/poseidon/trace.h"

#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define LANES 8
#define WORTH_IT 1	/* eight at once take less time than two apart */

static struct fr *sbox(struct fr *x, bool fresh, const struct fr *post, struct fr *full)
{
	if (!fresh)
		*full++ = *x;
	fr_sqr(&full[0], x);
	fr_sqr(&full[1], &full[0]);
	fr_mul(&full[2], x, &full[1]);
	if (post)
		fr_add(&full[2], &full[2], post);
	*x = full[2];
	return full + 3;
}

static void mix(struct fr *s, const struct fr *m, unsigned int t)
{
	struct fr out[POSEIDON_MAX_WIDTH], u;
	unsigned int i, j;

	for (j = 0; j < t; j++) {
		fr_mul(&out[j], &s[0], &m[j]);
		for (i = 1; i < t; i++) {
			fr_mul(&u, &s[i], &m[i * t + j]);
			fr_add(&out[j], &out[j], &u);
		}
	}
	memcpy(s, out, t * sizeof(*s));
}

size_t poseidon_trace(enum poseidon_tag tag, unsigned int arity, const struct fr *in,
		      struct fr *full)
{
	const struct poseidon_constants *c = poseidon_constants(arity);
	struct fr s[POSEIDON_MAX_WIDTH], u, corner, first[3], *p = full;
	const struct fr *key, *sp;
	unsigned int i, r, t;

	assert(c);
	t = c->width;
	key = c->keys;
	poseidon_tag(tag, arity, &s[0]);
	memcpy(&s[1], in, arity * sizeof(*s));
	for (i = 0; i < t; i++)
		fr_add(&s[i], &s[i], key++);
	for (r = 0; r < HALF; r++) {
		for (i = 0; i < t; i++, key++) {
			if (r == 0 && i == 0)
				sbox(&s[i], true, key, first);
			else
				p = sbox(&s[i], r == 0, key, p);
		}
		mix(s, r == HALF - 1 ? c->pre_sparse : c->mds, t);
	}
	for (r = 0, sp = c->sparse; r < c->partial_rounds; r++, sp += 2 * t - 1) {
		p = sbox(&s[0], false, key++, p);
		corner = s[0];
		fr_mul(&s[0], &s[0], &sp[0]);
		for (i = 1; i < t; i++) {
			fr_mul(&u, &s[i], &sp[i]);
			fr_add(&s[0], &s[0], &u);
			fr_mul(&u, &corner, &sp[t + i - 1]);
			fr_add(&s[i], &s[i], &u);
		}
	}
	for (r = 0; r < HALF; r++) {
		for (i = 0; i < t; i++)
			p = sbox(&s[i], false, r < HALF - 1 ? key++ : NULL, p);
		mix(s, c->mds, t);
	}
	*p++ = s[1];
	return p - full;
}

size_t poseidon_trace_size(unsigned int arity)
{
	const struct poseidon_constants *c = poseidon_constants(arity);
	size_t boxes;

	assert(c);
	boxes = (size_t)POSEIDON_FULL_ROUNDS * c->width + c->partial_rounds;
	return 4 * boxes - c->width - 3 + 1;
}

#ifdef CUZK_X86
/* n <= LANES lanes by way of memory of their own */
static void trace_part(unsigned int arity, const struct fr *in, struct fr *const *full, size_t n)
{
	struct fr part[LANES * POSEIDON_MAX_ARITY], values[LANES * POSEIDON_MAX_TRACE];
	size_t size = poseidon_trace_size(arity), i;

	memset(part, 0, sizeof(part));
	memcpy(part, in, n * arity * sizeof(*in));
	poseidon_trace_8_ifma(arity, part, values, size);
	for (i = 0; i < n; i++)
		memcpy(full[i], values + i * size, size * sizeof(*values));
}
#endif

void poseidon_trace_many(unsigned int arity, const struct fr *in, struct fr *const *full, size_t n)
{
#ifdef CUZK_X86
	if (poseidon_has_ifma()) {
		for (; n > WORTH_IT; in += LANES * arity, full += LANES) {
			size_t k = n < LANES ? n : LANES;

			trace_part(arity, in, full, k);
			n -= k;
		}
	}
#endif
	for (; n > 0; n--, in += arity, full++)
		poseidon_trace(POSEIDON_MERKLE, arity, in, *full);
}
