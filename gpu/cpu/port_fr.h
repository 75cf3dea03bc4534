/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * port_fr.h - the portable twin of ifma_fr.h
 *
 * The same names over eight struct fr, always fully reduced.
 */
#ifndef CUZK_GPU_CPU_PORT_FR_H
#define CUZK_GPU_CPU_PORT_FR_H

#include <stddef.h>

#include "lib/bls12_381/fr.h"

#define FV_LANES 8
#define FV_PRODUCT_FACTOR 1
#define FV_INLINE static inline

struct fv {
	struct fr e[FV_LANES];
};

struct tw {
	struct fr f;
};

FV_INLINE void fv_load(struct fv *r, const struct fr *p, size_t stride)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		r->e[i] = p[i * stride];
}

FV_INLINE void fv_store(struct fr *p, size_t stride, const struct fv *a)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		p[i * stride] = a->e[i];
}

FV_INLINE void fv_add(struct fv *r, const struct fv *a, const struct fv *b)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		fr_add(&r->e[i], &a->e[i], &b->e[i]);
}

FV_INLINE void fv_sub(struct fv *r, const struct fv *a, const struct fv *b)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		fr_sub(&r->e[i], &a->e[i], &b->e[i]);
}

FV_INLINE void fv_mul(struct fv *r, const struct fv *a, const struct fv *b)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		fr_mul(&r->e[i], &a->e[i], &b->e[i]);
}

FV_INLINE void fv_mul_tidy(struct fv *r, const struct fv *a, const struct fv *b)
{
	fv_mul(r, a, b);
}

FV_INLINE void fv_mul_tw(struct fv *r, const struct fv *a, const struct tw *w)
{
	int i;

	for (i = 0; i < FV_LANES; i++)
		fr_mul(&r->e[i], &a->e[i], &w->f);
}

struct fv_ahead {
	struct fv f;
};

FV_INLINE void fv_ahead_shifts(struct fv shifts[5])
{
}

FV_INLINE void fv_ahead_init(struct fv_ahead *w, const struct fv *a, const struct fv shifts[5])
{
	w->f = *a;
}

FV_INLINE void fv_mul_ahead(struct fv *r, const struct fv *a, const struct fv_ahead *w)
{
	fv_mul(r, a, &w->f);
}

FV_INLINE void fv_center(struct fv *r, const struct fv *a)
{
	*r = *a;
}

FV_INLINE void fv_tidy(struct fv *r, const struct fv *a)
{
	*r = *a;
}

FV_INLINE void fv_canon(struct fv *r, const struct fv *a)
{
	*r = *a;
}

FV_INLINE void fv_reduce(struct fv *r, const struct fv *a)
{
	*r = *a;
}

FV_INLINE void tw_from_fr(struct tw *w, const struct fr *a)
{
	w->f = *a;
}

FV_INLINE void fv_factor(struct fv *r, const struct fr a[FV_LANES])
{
	fv_load(r, a, 1);
}

#endif
