/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-evaluate.c - A w, B w, C w of random systems against a dense evaluation */
#include <errno.h>

#include "gpu/cpu/evaluate.h"
#include "t/random-cs.h"
#include "t/tap.h"

static void test_system(struct sys *s, enum cpu_isa isa, const char *name, struct tpool *pool)
{
	size_t n = (size_t)1 << s->cs.log_domain, size = n * sizeof(struct fr);
	struct fr *out[3];
	uint64_t bad = 7, want_bad;
	uint32_t row;
	int k;

	for (k = 0; k < 3; k++) {
		out[k] = malloc(size);
		memset(out[k], 0xff, size);
	}
	ok(cpu_evaluate(&s->cs, &s->w, isa, pool, NULL, out[0], out[1], out[2], &bad) == 0 &&
	   memcmp(out[0], s->want[0], size) == 0 && memcmp(out[1], s->want[1], size) == 0 &&
	   memcmp(out[2], s->want[2], size) == 0, "%s: %llu rows by definition", name,
	   (unsigned long long)s->cs.n_rows);
	ok(bad == UINT64_MAX, "%s: all rows satisfied", name);
	memset(out[0], 0xff, size);
	ok(cpu_evaluate(&s->cs, &s->w, isa, pool, NULL, out[0], out[1], NULL, NULL) == 0 &&
	   memcmp(out[0], s->want[0], size) == 0 && memcmp(out[1], s->want[1], size) == 0,
	   "%s: without c and check", name);

	/* two wrong values: those of the last rows of the last instances that have some */
	want_bad = UINT64_MAX;
	for (row = s->cs.n_instances; row-- > 0 && want_bad > s->cs.n_rows / 2;) {
		const struct cs_instance *inst = &s->instances[row];
		uint32_t n_rows = s->templates[inst->tmpl].n_rows;

		if (!n_rows)
			continue;
		want_bad = inst->row_base + n_rows - 1;
		fr_add(&s->w.full[inst->full_base + n_rows - 1],
		       &s->w.full[inst->full_base + n_rows - 1], &fr_one);
	}
	ok(cpu_evaluate(&s->cs, &s->w, isa, pool, NULL, out[0], out[1], NULL, &bad) == 0 &&
	   bad <= want_bad && bad != UINT64_MAX, "%s: a wrong value is found", name);
	/* the rows of C alone see it, unless a port leads to it: the oracle decides */
	ok(cpu_evaluate(&s->cs, &s->w, isa, pool, NULL, out[0], out[1], out[2], NULL) == 0,
	   "%s: evaluate the wrong witness", name);
	for (want_bad = 0; want_bad < s->cs.n_rows; want_bad++) {
		struct fr t;

		fr_mul(&t, &out[0][want_bad], &out[1][want_bad]);
		if (!fr_equal(&t, &out[2][want_bad]))
			break;
	}
	ok(bad == want_bad, "%s: the first bad row is %llu", name, (unsigned long long)bad);
	for (k = 0; k < 3; k++)
		free(out[k]);
}

static void test_path(enum cpu_isa isa, const char *name, struct tpool *pool)
{
	struct sys s;

	sys_open(&s, 1, 1, 1);
	test_system(&s, isa, name, pool);
	sys_close(&s);
	sys_open(&s, 5, 300, 30);
	test_system(&s, isa, name, pool);
	sys_close(&s);
	/* one template longer than a chunk of rows */
	sys_open(&s, 1, 1, 20000);
	test_system(&s, isa, name, pool);
	sys_close(&s);
}

static bool always(void *arg)
{
	return true;
}

int main(void)
{
	struct ctl ctl = { .cancelled = always };
	struct fr a[8], b[8];
	struct tpool *pool;
	struct sys s;

	if (tpool_open(&pool, 3)) {
		diag("no threads");
		return 1;
	}
	test_path(CPU_ISA_PORTABLE, "portable", NULL);
	if (cpu_isa_has_ifma())
		test_path(CPU_ISA_IFMA, "ifma", pool);
	else
		skip("ifma", "this build or processor has no AVX-512 IFMA");
	sys_open(&s, 1, 1, 1);
	ok(cpu_evaluate(&s.cs, &s.w, CPU_ISA_PORTABLE, NULL, &ctl, a, b, NULL, NULL) == -ECANCELED,
	   "cancelled");
	sys_close(&s);
	tpool_close(pool);
	return tap_done();
}
