/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* random-srs.h - random parameters for random systems, and proofs with them */
#ifndef CUZK_T_RANDOM_SRS_H
#define CUZK_T_RANDOM_SRS_H

#include "gpu/gpu.h"
#include "lib/bls12_381/encoding.h"
#include "t/random-cs.h"

static struct gpu *host;	/* of gpu_cpu_ops, opened by the test */

/* Random points for a system: they need not be right, only the same. */
struct random_srs {
	struct gpu_srs_desc desc;
	void *data[5];
};

static inline void *rnd_points(uint64_t n, bool g2)
{
	struct scalar *s = xalloc(n, sizeof(*s));
	void *out = xalloc(n, g2 ? 192 : 96);
	uint64_t i;

	/* never zero: infinity is no point of a file */
	for (i = 0; i < n; i++)
		s[i] = (struct scalar){ { rnd() | 1, rnd() } };
	if (g2 ? gpu_cpu_ops.mul_base_g2(host, &G2_GENERATOR, s, n, out) :
		 gpu_cpu_ops.mul_base_g1(host, &G1_GENERATOR, s, n, out))
		abort();
	free(s);
	return out;
}

static inline void to_mont(void *data, uint64_t n, bool g2)
{
	uint8_t *p = data;
	uint64_t i;

	for (i = 0; i < n; i++, p += g2 ? 192 : 96) {
		struct g1_affine a1;
		struct g2_affine a2;

		if (g2 ? g2_from_uncompressed(&a2, p, POINT_ANY_ORDER) :
			 g1_from_uncompressed(&a1, p, POINT_ANY_ORDER))
			abort();
		memcpy(p, g2 ? (void *)&a2 : (void *)&a1, g2 ? 192 : 96);
		/* what was left out of a sparse file */
		if (i % 5 == 3)
			memset(p, 0, g2 ? 192 : 96);
	}
}

static inline void random_srs_open(struct random_srs *s, const struct cs *cs, bool dense)
{
	uint64_t all = (uint64_t)cs->n_inputs + cs->n_aux, n[5];
	int i;

	memset(s, 0, sizeof(*s));
	n[0] = (UINT64_C(1) << cs->log_domain) - !dense;
	n[1] = cs->n_aux;
	n[2] = dense ? all : cs->n_inputs + cs->n_a_aux;
	n[3] = n[4] = dense ? all : cs->n_b_input + cs->n_b_aux;
	for (i = 0; i < 5; i++) {
		s->data[i] = rnd_points(n[i], i == 4);
		if (dense)
			to_mont(s->data[i], n[i], i == 4);
	}
	s->desc = (struct gpu_srs_desc){
		.encoding = dense ? GPU_POINTS_MONT : GPU_POINTS_ZCASH,
		.h_basis = dense ? GPU_H_ODD_COSET : GPU_H_POWERS,
		.n_h = n[0], .n_l = n[1], .n_a = n[2], .n_bg1 = n[3], .n_bg2 = n[4],
		.h = s->data[0], .l = s->data[1], .a = s->data[2], .bg1 = s->data[3],
		.bg2 = s->data[4], .dense = dense,
	};
}

static inline void random_srs_close(struct random_srs *s)
{
	int i;

	for (i = 0; i < 5; i++)
		free(s->data[i]);
}

static inline int prove(const struct gpu_ops *ops, struct gpu *gpu, const struct cs *cs,
		 const struct gpu_srs_desc *desc, const struct cs_witness *w, bool check,
		 uint64_t *bad_row, struct gpu_sums *sums)
{
	struct gpu_srs *srs = NULL;
	struct gpu_cs *gcs = NULL;
	struct gpu_job *job;
	uint64_t bad;
	int r;

	r = ops->cs_load(gpu, cs, &gcs);
	if (!r)
		r = ops->srs_load(gpu, desc, 1, &srs, &bad);
	if (!r)
		r = ops->prove_start(gpu, gcs, srs, w, check, &job, bad_row);
	if (!r)
		r = ops->prove_finish(gpu, job, sums);
	ops->srs_unload(gpu, srs);
	ops->cs_unload(gpu, gcs);
	return r;
}

static inline bool sums_equal(const struct gpu_sums *a, const struct gpu_sums *b)
{
	return g1_affine_equal(&a->h, &b->h) && g1_affine_equal(&a->l, &b->l) &&
	       g1_affine_equal(&a->a, &b->a) && g1_affine_equal(&a->b1, &b->b1) &&
	       g2_affine_equal(&a->b2, &b->b2);
}

#endif
