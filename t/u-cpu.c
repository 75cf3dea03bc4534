/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cpu.c - gpu_cpu_ops: the five sums of random systems against sums in the
 * exponent, and what happens when memory, patience or the caller fails
 *
 * Tests fault class "memory exhausted".
 */
#include <errno.h>
#include <sys/mman.h>

#include "gpu/cpu/ntt.h"
#include "gpu/gpu.h"
#include "lib/bls12_381/encoding.h"
#include "t/random-cs.h"
#include "t/tap.h"

#define N_KNOWN 1024	/* multiples of the generators that serve as points */

static struct g1_affine known1[N_KNOWN];	/* k G, k = 0 ... */
static struct g2_affine known2[N_KNOWN];
static const struct gpu_ops *ops = &gpu_cpu_ops;

static void make_known(void)
{
	struct g1 p, *j1 = malloc(N_KNOWN * sizeof(*j1));
	struct g2 q, *j2 = malloc(N_KNOWN * sizeof(*j2));
	int k;

	g1_set_infinity(&p);
	g2_set_infinity(&q);
	for (k = 0; k < N_KNOWN; k++) {
		j1[k] = p;
		j2[k] = q;
		g1_add_affine(&p, &p, &G1_GENERATOR);
		g2_add_affine(&q, &q, &G2_GENERATOR);
	}
	g1_batch_to_affine(known1, j1, N_KNOWN);
	g2_batch_to_affine(known2, j2, N_KNOWN);
	free(j1);
	free(j2);
}

/* Parameters whose points are known multiples of the generators. */
struct params {
	struct gpu_srs_desc desc;
	void *points[5];
	struct fr want[5];	/* the sums in the exponent */
};

static void append(struct params *p, int v, uint64_t *n, const struct fr *value, bool infinite)
{
	uint32_t k = infinite ? 0 : 1 + rnd() % (N_KNOWN - 1);
	bool zcash = p->desc.encoding == GPU_POINTS_ZCASH;
	struct fr t;

	if (v == 4 && zcash)
		g2_to_uncompressed((uint8_t *)p->points[v] + 192 * *n, &known2[k]);
	else if (v == 4)
		((struct g2_affine *)p->points[v])[*n] = known2[k];
	else if (zcash)
		g1_to_uncompressed((uint8_t *)p->points[v] + 96 * *n, &known1[k]);
	else
		((struct g1_affine *)p->points[v])[*n] = known1[k];
	fr_from_u64(&t, k);
	fr_mul(&t, &t, value);
	fr_add(&p->want[v], &p->want[v], &t);
	++*n;
}

static bool has(const uint64_t *map, uint32_t i)
{
	return map[i / 64] >> i % 64 & 1;
}

static void params_open(struct params *p, const struct sys *s, enum gpu_point_encoding encoding,
			enum gpu_h_basis basis, bool dense)
{
	const struct cs *cs = &s->cs;
	uint64_t n = 1ull << cs->log_domain, most = n + cs->n_inputs + cs->n_aux, i;
	struct scalar *h = malloc(n * sizeof(*h));
	struct fr *a = malloc(n * sizeof(*a)), *b = malloc(n * sizeof(*b)), t;
	struct gpu_srs_desc *d = &p->desc;
	struct ntt *ntt;
	int v;

	memset(p, 0, sizeof(*p));
	d->encoding = encoding;
	d->h_basis = basis;
	d->dense = dense;
	for (v = 0; v < 5; v++)
		p->points[v] = malloc(most * (v == 4 ? 192 : 96));
	memcpy(a, s->want[0], n * sizeof(*a));
	memcpy(b, s->want[1], n * sizeof(*b));
	if (ntt_open(&ntt, NULL, CPU_ISA_PORTABLE, NULL) ||
	    ntt_quotient(ntt, a, b, cs->log_domain, basis, h))
		abort();
	ntt_close(ntt);
	for (i = 0; i < n - (basis == GPU_H_POWERS); i++) {
		fr_from_scalar(&t, &h[i]);
		append(p, 0, &d->n_h, &t, false);
	}
	for (i = 0; i < cs->n_aux; i++)
		append(p, 1, &d->n_l, &s->aux[i], false);
	for (i = 0; i < cs->n_inputs; i++) {
		append(p, 2, &d->n_a, &s->w.inputs[i], false);
		for (v = 3; v < 5; v++)
			if (dense || has(cs->b_input_density, i))
				append(p, v, v == 3 ? &d->n_bg1 : &d->n_bg2, &s->w.inputs[i],
				       !has(cs->b_input_density, i));
	}
	for (i = 0; i < cs->n_aux; i++) {
		if (dense || has(cs->a_aux_density, i))
			append(p, 2, &d->n_a, &s->aux[i], !has(cs->a_aux_density, i));
		for (v = 3; v < 5; v++)
			if (dense || has(cs->b_aux_density, i))
				append(p, v, v == 3 ? &d->n_bg1 : &d->n_bg2, &s->aux[i],
				       !has(cs->b_aux_density, i));
	}
	d->h = p->points[0];
	d->l = p->points[1];
	d->a = p->points[2];
	d->bg1 = p->points[3];
	d->bg2 = p->points[4];
	free(a);
	free(b);
	free(h);
}

static void params_close(struct params *p)
{
	int v;

	for (v = 0; v < 5; v++)
		free(p->points[v]);
}

static bool sums_right(const struct params *p, const struct gpu_sums *sums)
{
	const struct g1_affine *got[4] = { &sums->h, &sums->l, &sums->a, &sums->b1 };
	struct g1_affine a1;
	struct g2_affine a2;
	struct scalar k;
	struct g1 p1;
	struct g2 p2;
	int v;

	for (v = 0; v < 4; v++) {
		fr_to_scalar(&k, &p->want[v]);
		g1_mul_vartime(&p1, &G1_GENERATOR, &k);
		g1_to_affine(&a1, &p1);
		if (!g1_affine_equal(&a1, got[v])) {
			diag("sum %d is wrong", v);
			return false;
		}
	}
	fr_to_scalar(&k, &p->want[4]);
	g2_mul_vartime(&p2, &G2_GENERATOR, &k);
	g2_to_affine(&a2, &p2);
	return g2_affine_equal(&a2, &sums->b2);
}

/* Load, prove, unload.  The first error. */
static int prove(struct gpu *gpu, const struct sys *s, const struct params *p, bool check,
		 struct gpu_sums *sums, uint64_t *bad_row)
{
	uint64_t bad_point = 0;
	struct gpu_srs *srs;
	struct gpu_job *job;
	struct gpu_cs *cs;
	int err;

	err = ops->cs_load(gpu, &s->cs, &cs);
	if (err)
		return err;
	err = ops->srs_load(gpu, &p->desc, 1, &srs, &bad_point);
	if (err)
		goto out_cs;
	err = ops->prove_start(gpu, cs, srs, &s->w, check, &job, bad_row);
	if (!err)
		err = ops->prove_finish(gpu, job, sums);
	ops->srs_unload(gpu, srs);
out_cs:
	ops->cs_unload(gpu, cs);
	return err;
}

/* The same with the points in memory of ours, taken a second time from there when it is only read. */
static void test_memory(struct gpu *gpu, const char *name, const struct sys *s, struct params *p)
{
	struct gpu_sums sums[2];
	uint64_t bytes, bad = 0;
	char layout[32];
	void *memory;
	int err;

	bytes = ops->srs_memory(gpu, &p->desc, layout);
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		abort();
	p->desc.memory = memory;
	err = prove(gpu, s, p, true, &sums[0], &bad);
	ok(!err && sums_right(p, &sums[0]), "%s: parameters in the caller's memory, %s", name, layout);
	mprotect(memory, bytes, PROT_READ);
	p->desc.prepared = true;
	p->desc.h = p->desc.l = p->desc.a = p->desc.bg1 = p->desc.bg2 = NULL;
	err = prove(gpu, s, p, true, &sums[1], &bad);
	ok(!err && sums_right(p, &sums[1]), "%s: taken again, without the file", name);
	p->desc.memory = NULL;
	ok(prove(gpu, s, p, true, &sums[1], &bad) == -EINVAL, "%s: nothing to take", name);
	munmap(memory, bytes);
}

static void test_sums(struct gpu *gpu, const char *name, uint32_t n_templates,
		      uint32_t n_instances, uint32_t max_rows)
{
	static const struct {
		enum gpu_point_encoding encoding;
		enum gpu_h_basis basis;
		bool dense;
		const char *name;
	} kinds[] = {
		{ GPU_POINTS_ZCASH, GPU_H_POWERS, false, "params" },
		{ GPU_POINTS_MONT, GPU_H_ODD_COSET, true, "zkey" },
		{ GPU_POINTS_MONT, GPU_H_POWERS, false, "sparse in memory" },
	};
	struct gpu_stats before, after;
	struct gpu_sums sums;
	struct params p;
	uint64_t bad = 0;
	struct sys s;
	int i, err;

	sys_open(&s, n_templates, n_instances, max_rows);
	for (i = 0; i < 3; i++) {
		params_open(&p, &s, kinds[i].encoding, kinds[i].basis, kinds[i].dense);
		ops->stats(gpu, &before);
		err = prove(gpu, &s, &p, true, &sums, &bad);
		ops->stats(gpu, &after);
		ok(err == 0 && sums_right(&p, &sums), "%s: %u aux variables, %s: five sums", name,
		   s.cs.n_aux, kinds[i].name);
		ok(after.host_bytes == before.host_bytes && after.host_peak > before.host_bytes &&
		   after.ns[GPU_STAGE_MSM_B2] > 0, "%s: memory is given back, times are kept", name);
		test_memory(gpu, name, &s, &p);
		params_close(&p);
	}
	sys_close(&s);
}

static void test_refusals(struct gpu *gpu)
{
	struct gpu_sums sums;
	uint64_t bad = 0;
	struct gpu_srs *srs;
	struct params p;
	struct sys s;

	sys_open(&s, 4, 20, 10);
	params_open(&p, &s, GPU_POINTS_ZCASH, GPU_H_POWERS, false);
	p.desc.n_a--;
	ok(prove(gpu, &s, &p, true, &sums, &bad) == -EINVAL, "parameters of another system");
	p.desc.n_a++;
	((uint8_t *)p.points[2])[96 * 3 + 95] ^= 1;
	ok(ops->srs_load(gpu, &p.desc, 1, &srs, &bad) == -EBADMSG && bad == (2ull << 56 | 3),
	   "a point of a that is not on the curve");
	((uint8_t *)p.points[2])[96 * 3 + 95] ^= 1;
	((uint8_t *)p.points[4])[192 * 2 + 191] ^= 1;
	ok(ops->srs_load(gpu, &p.desc, 1, &srs, &bad) == -EBADMSG && bad == (4ull << 56 | 2),
	   "a point of bg2 that is not on the curve");
	((uint8_t *)p.points[4])[192 * 2 + 191] ^= 1;
	p.desc.dense = true;
	ok(ops->srs_load(gpu, &p.desc, 1, &srs, &bad) == -EINVAL, "dense points are not zcash's");
	p.desc.dense = false;
	/* the value that the last row's C holds alone */
	fr_add(&s.w.full[s.instances[0].full_base], &s.w.full[s.instances[0].full_base], &fr_one);
	ok(prove(gpu, &s, &p, true, &sums, &bad) == -EDOM && bad == 0, "row 0 is not satisfied");
	ok(prove(gpu, &s, &p, false, &sums, &bad) == 0, "nor looked at, if not asked to");
	params_close(&p);
	sys_close(&s);
}

/* Runs out of patience at the n-th question. */
struct patience {
	long left;
	unsigned long stages;	/* seen */
	bool backwards;		/* progress went back within a stage */
	uint64_t last;
	enum gpu_stage stage;
};

static bool impatient(void *arg)
{
	struct patience *p = arg;

	return p->left >= 0 && p->left-- == 0;
}

static void progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	struct patience *p = arg;

	if (done > total || (stage == p->stage && done && done < p->last))
		p->backwards = true;
	p->stage = stage;
	p->last = done;
	p->stages |= 1ul << stage;
}

static void test_cancel(void)
{
	struct patience patience = { .left = -1 };
	struct gpu_config config = {
		.size = sizeof(config), .threads = 1, .cancelled = impatient,
		.progress = progress, .arg = &patience,
	};
	struct gpu_stats before, after;
	struct gpu_sums sums;
	struct gpu *gpu;
	struct params p;
	uint64_t bad = 0;
	struct sys s;
	char err[256];
	bool good = true;
	long n;
	int ret = 0;

	sys_open(&s, 4, 20, 10);
	params_open(&p, &s, GPU_POINTS_ZCASH, GPU_H_POWERS, false);
	if (!ok(ops->open(&gpu, &config, err) == 0, "open with callbacks"))
		return;
	ops->stats(gpu, &before);
	for (n = 0; n < 1000; n++) {
		patience.left = n;
		ret = prove(gpu, &s, &p, true, &sums, &bad);
		ops->stats(gpu, &after);
		if (after.host_bytes != before.host_bytes)
			good = false;
		if (ret != -ECANCELED)
			break;
	}
	ok(n > 15 && ret == 0 && sums_right(&p, &sums), "cancelled %ld times, then proved", n);
	ok(good, "no memory is left behind");
	ok(patience.stages == ((1ul << GPU_STAGE_N) - 1 - (1ul << GPU_STAGE_IDLE)) &&
	   !patience.backwards, "every stage told its progress");
	ops->close(gpu);
	params_close(&p);
	sys_close(&s);
}

static void test_budget(void)
{
	struct gpu_config config = { .size = sizeof(config), .threads = 1 };
	struct gpu_stats stats = { .host_bytes = 0 };
	struct gpu_sums sums;
	struct gpu *gpu;
	struct params p;
	uint64_t bad = 0, need;
	struct sys s;
	char err[256] = "";
	bool good = true;
	int ret = 0, refused = 0;

	sys_open(&s, 4, 20, 10);
	params_open(&p, &s, GPU_POINTS_ZCASH, GPU_H_POWERS, false);
	config.host_budget = 1000;
	ok(ops->open(&gpu, &config, err) == -ENOMEM && *err, "no budget: %s", err);
	config.host_budget = 0;
	if (!ok(ops->open(&gpu, &config, err) == 0 && !prove(gpu, &s, &p, true, &sums, &bad), "open"))
		return;
	ops->stats(gpu, &stats);
	need = stats.host_peak;
	ops->close(gpu);
	for (config.host_budget = stats.host_bytes; config.host_budget < 2 * need;
	     config.host_budget += need / 64) {
		uint64_t base;

		if (ops->open(&gpu, &config, err))
			continue;
		ops->stats(gpu, &stats);
		base = stats.host_bytes;
		ret = prove(gpu, &s, &p, true, &sums, &bad);
		ops->stats(gpu, &stats);
		good &= stats.host_bytes == base && stats.host_peak <= config.host_budget;
		good &= ret == (config.host_budget < need ? -ENOMEM : 0);
		refused += ret == -ENOMEM;
		ops->close(gpu);
	}
	ok(good && ret == 0 && refused > 3, "budgets below the peak are refused (%d), and kept", refused);
	params_close(&p);
	sys_close(&s);
}

static void test_pieces(struct gpu *gpu, const char *name)
{
	struct scalar k[20];
	struct fr x[64], y[64], sum = fr_zero, f;
	uint8_t out[20][96], want[96], out2[20][192], want2[192];
	struct g1_affine a1, w1;
	struct g2_affine a2, w2;
	struct g1 p1;
	struct g2 p2;
	bool good = true;
	int i;

	for (i = 0; i < 64; i++)
		rnd_fr(&x[i]);
	memcpy(y, x, sizeof(x));
	ok(!ops->ntt(gpu, y, 6, false, &FR_ROOT_5, NULL) && memcmp(x, y, sizeof(x)) &&
	   !ops->ntt(gpu, y, 6, true, &FR_ROOT_5, NULL) && !memcmp(x, y, sizeof(x)),
	   "%s: ntt there and back", name);
	ok(ops->ntt(gpu, y, 33, true, &FR_ROOT_5, NULL) == -EINVAL, "%s: 2^33 is refused", name);
	for (i = 0; i < 20; i++) {
		fr_from_u64(&f, i);
		fr_mul(&f, &f, &x[i]);
		fr_add(&sum, &sum, &f);
		fr_to_scalar(&k[i], &x[i]);
	}
	ok(!ops->msm_g1(gpu, known1, k, 20, &a1) && !ops->msm_g2(gpu, known2, k, 20, &a2), "%s: msm",
	   name);
	fr_to_scalar(&k[0], &sum);
	g1_mul_vartime(&p1, &G1_GENERATOR, &k[0]);
	g1_to_affine(&w1, &p1);
	g2_mul_vartime(&p2, &G2_GENERATOR, &k[0]);
	g2_to_affine(&w2, &p2);
	ok(g1_affine_equal(&a1, &w1) && g2_affine_equal(&a2, &w2), "%s: msm of known points", name);
	good = !ops->mul_base_g1(gpu, &known1[3], k, 20, out) &&
	       !ops->mul_base_g2(gpu, &known2[3], k, 20, out2);
	for (i = 0; i < 20; i++) {
		g1_mul_vartime(&p1, &known1[3], &k[i]);
		g1_to_affine(&w1, &p1);
		g1_to_uncompressed(want, &w1);
		g2_mul_vartime(&p2, &known2[3], &k[i]);
		g2_to_affine(&w2, &p2);
		g2_to_uncompressed(want2, &w2);
		good &= !memcmp(want, out[i], 96) && !memcmp(want2, out2[i], 192);
	}
	ok(good, "%s: multiples of one point", name);
}

int main(void)
{
	static const char *const names[] = { "portable", "ifma", NULL };
	struct gpu_config config = { .size = sizeof(config), .threads = 3 };
	struct gpu *gpu;
	char err[256] = "";
	int i;

	make_known();
	for (i = 0; i < 3; i++) {
		const char *name = names[i] ? names[i] : "default";

		config.device = names[i];
		if (i == 1 && !cpu_isa_has_ifma()) {
			skip("ifma", "this build or processor has no AVX-512 IFMA");
			continue;
		}
		if (!ok(ops->open(&gpu, &config, err) == 0, "%s: open", name))
			continue;
		test_sums(gpu, name, 1, 1, 1);
		test_sums(gpu, name, 5, 60, 20);
		if (i == 1)
			test_sums(gpu, name, 5, 2000, 50);	/* several pieces */
		test_pieces(gpu, name);
		if (!names[i])
			test_refusals(gpu);
		ops->close(gpu);
	}
	config.device = "abacus";
	ok(ops->open(&gpu, &config, err) == -EINVAL, "refused: %s", err);
	ops->close(NULL);
	test_cancel();
	test_budget();
	return tap_done();
}
