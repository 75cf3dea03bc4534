/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* total.h - a running sum of points in either group, on the host */
#ifndef CUZK_GPU_CUDA_TOTAL_H
#define CUZK_GPU_CUDA_TOTAL_H

#include "gpu/cuda/msm.h"

struct cuda_total {
	enum cuda_group group;
	struct g1 g1;
	struct g2 g2;
};

union cuda_point {
	struct g1_affine g1;
	struct g2_affine g2;
};

static inline void cuda_total_init(struct cuda_total *t, enum cuda_group group)
{
	t->group = group;
	g1_set_infinity(&t->g1);
	g2_set_infinity(&t->g2);
}

/* p, out: a struct g1_affine or g2_affine by group */
static inline void cuda_total_add(struct cuda_total *t, const void *p)
{
	if (t->group == CUDA_G1)
		g1_add_affine(&t->g1, &t->g1, p);
	else
		g2_add_affine(&t->g2, &t->g2, p);
}

static inline void cuda_total_get(const struct cuda_total *t, void *out)
{
	if (t->group == CUDA_G1)
		g1_to_affine(out, &t->g1);
	else
		g2_to_affine(out, &t->g2);
}

#endif
