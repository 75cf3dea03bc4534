/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* circuit.c - the circuits by name: systems and witnesses */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/circuits/circuit.h"
#include "engine/circuits/parts.h"
#include "engine/cs/build.h"
#include "engine/cs/system.h"

static const struct {
	const char *name;
	unsigned int log_nodes;
	struct circuit_tree tree;
	unsigned int layers, porep_challenges, window_sectors;
	unsigned int update_partitions, update_challenges, apex_leafs;
} sizes[] = {
	{ "2k", 6, { 2, 8, 0, 0 }, 2, 2, 2, 1, 10, 8 },
	{ "8m", 18, { 6, 8, 0, 0 }, 2, 2, 2, 4, 10, 128 },
	{ "512m", 24, { 8, 8, 0, 0 }, 2, 2, 2, 16, 86, 128 },
	{ "32g", 30, { 9, 8, 8, 0 }, 11, 18, 2349, 16, 86, 128 },
	{ "64g", 31, { 9, 8, 8, 2 }, 11, 18, 2300, 16, 86, 128 },
};

static const struct {
	const char *name;
	enum circuit_kind kind;
} kinds[] = {
	{ "winning", CIRCUIT_WINNING },
	{ "window", CIRCUIT_WINDOW },
	{ "porep", CIRCUIT_POREP },
	{ "update", CIRCUIT_UPDATE },
	{ "update-poseidon", CIRCUIT_UPDATE_POSEIDON },
};

#define N(a) (sizeof(a) / sizeof((a)[0]))
#define MAX_STEPS 1000000

static int find_tiny(const char *name, struct circuit *c)
{
	unsigned int n = 0;

	if (*name < '1' || *name > '9')
		return -ENOENT;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || n > MAX_STEPS)
			return -ENOENT;
		n = 10 * n + *name - '0';
	}
	if (n > MAX_STEPS)
		return -ENOENT;
	c->kind = CIRCUIT_TINY;
	c->partitions = 1;
	c->steps = n;
	return 0;
}

static int find_sized(const char *name, struct circuit *c)
{
	const char *dash = strrchr(name, '-');
	size_t i, k;

	if (!dash)
		return -ENOENT;
	for (k = 0; k < N(kinds); k++)
		if (!strncmp(kinds[k].name, name, dash - name) && !kinds[k].name[dash - name])
			break;
	for (i = 0; i < N(sizes); i++)
		if (!strcmp(sizes[i].name, dash + 1))
			break;
	if (k == N(kinds) || i == N(sizes))
		return -ENOENT;
	c->kind = kinds[k].kind;
	c->log_nodes = sizes[i].log_nodes;
	c->tree = sizes[i].tree;
	c->partitions = 1;
	switch (c->kind) {
	case CIRCUIT_WINNING:
		c->sectors = 66;
		c->challenges = 1;
		break;
	case CIRCUIT_WINDOW:
		c->sectors = sizes[i].window_sectors;
		c->challenges = 10;
		break;
	case CIRCUIT_POREP:
		c->layers = sizes[i].layers;
		c->challenges = sizes[i].porep_challenges;
		c->partitions = c->layers == 2 ? 1 : 10;
		break;
	case CIRCUIT_UPDATE:
		c->partitions = sizes[i].update_partitions;
		c->challenges = sizes[i].update_challenges;
		c->apex_leafs = sizes[i].apex_leafs;
		break;
	case CIRCUIT_UPDATE_POSEIDON:
		/* one partition with the challenges of all */
		c->challenges = sizes[i].update_challenges * sizes[i].update_partitions;
		break;
	default:
		break;
	}
	return 0;
}

int circuit_find(const char *name, struct circuit *out)
{
	struct circuit c = { .kind = CIRCUIT_TINY };
	int err;

	if (strlen(name) >= sizeof(c.name))
		return -ENOENT;
	strcpy(c.name, name);
	err = !strncmp(name, "tiny-", 5) ? find_tiny(name + 5, &c) : find_sized(name, &c);
	if (!err)
		*out = c;
	return err;
}

const char *circuit_name(size_t i)
{
	static const char *const names[] = {
		"tiny-1", "tiny-3", "tiny-100",
		"winning-2k", "winning-8m", "winning-512m", "winning-32g", "winning-64g",
		"window-2k", "window-8m", "window-512m", "window-32g", "window-64g",
		"porep-2k", "porep-8m", "porep-512m", "porep-32g", "porep-64g",
		"update-2k", "update-8m", "update-512m", "update-32g", "update-64g",
		"update-poseidon-2k", "update-poseidon-8m", "update-poseidon-512m",
		"update-poseidon-32g", "update-poseidon-64g",
	};

	return i < N(names) ? names[i] : NULL;
}

/* How many segments follow the prelude. */
static unsigned int n_segments(const struct circuit *c)
{
	switch (c->kind) {
	case CIRCUIT_WINNING:
	case CIRCUIT_WINDOW:
		return c->sectors;
	case CIRCUIT_POREP:
	case CIRCUIT_UPDATE:
	case CIRCUIT_UPDATE_POSEIDON:
		return c->challenges;
	default:
		return 0;
	}
}

/* What a prelude leaves for the segments. */
union vars {
	struct porep_vars porep;
	struct update_vars update;
};

static void prelude(struct synth *s, const struct circuit *c, const union circuit_input *in,
		    union vars *v)
{
	switch (c->kind) {
	case CIRCUIT_TINY:
		tiny_synth(s, c, in ? in->tiny : NULL);
		break;
	case CIRCUIT_POREP:
		porep_prelude(s, c, in ? in->porep : NULL, &v->porep);
		break;
	case CIRCUIT_UPDATE:
	case CIRCUIT_UPDATE_POSEIDON:
		update_prelude(s, c, in ? in->update : NULL, &v->update);
		break;
	default:
		break;
	}
}

static void segment(struct synth *s, const struct circuit *c, const union circuit_input *in,
		    const union vars *v, unsigned int i)
{
	switch (c->kind) {
	case CIRCUIT_WINNING:
	case CIRCUIT_WINDOW:
		post_synth(s, c, in ? in->post : NULL, i);
		break;
	case CIRCUIT_POREP:
		porep_synth(s, c, in ? in->porep : NULL, &v->porep, i);
		break;
	case CIRCUIT_UPDATE:
	case CIRCUIT_UPDATE_POSEIDON:
		update_synth(s, c, in ? in->update : NULL, &v->update, i);
		break;
	default:
		break;
	}
}

int circuit_build(const struct circuit *c, struct cs **cs)
{
	struct synth s = { 0 };
	union vars v;
	unsigned int i;
	int err;

	err = cs_builder_open(&s.b);
	if (err)
		return err;
	prelude(&s, c, NULL, &v);
	for (i = 0; i < n_segments(c); i++)
		segment(&s, c, NULL, &v, i);
	err = cs_builder_finish(s.b, cs);
	cs_builder_close(s.b);
	return err;
}

struct witness_job {
	const struct circuit *c;
	const union circuit_input *in;
	union vars vars;
	struct synth start;		/* at the first segment */
	uint32_t step;			/* instances of a segment */
	atomic_int err;
};

static void witness_segment(void *arg, size_t i, unsigned int thread)
{
	struct witness_job *job = arg;
	struct synth s = job->start;

	s.next += i * job->step;
	segment(&s, job->c, job->in, &job->vars, i);
	if (s.err)
		atomic_store(&job->err, s.err);
}

static int check_input(const struct circuit *c, const union circuit_input *in, char *err)
{
	switch (c->kind) {
	case CIRCUIT_WINNING:
	case CIRCUIT_WINDOW:
		return post_check(c, in->post, err);
	case CIRCUIT_POREP:
		return porep_check(c, in->porep, err);
	case CIRCUIT_UPDATE:
	case CIRCUIT_UPDATE_POSEIDON:
		return update_check(c, in->update, err);
	default:
		return 0;
	}
}

int circuit_witness(const struct circuit *c, const struct cs *cs, union circuit_input input,
		    struct tpool *pool, struct cs_witness *out, char *errline)
{
	struct witness_job job = { c, &input };
	unsigned int n = n_segments(c);
	struct cs_witness w;
	int err;

	err = check_input(c, &input, errline);
	if (err)
		return err;
	err = cs_witness_init(&w, cs);
	if (err) {
		snprintf(errline, 256, "no memory for the witness of %s", c->name);
		return err;
	}
	job.start = (struct synth){ .cs = cs, .w = &w };
	prelude(&job.start, c, &input, &job.vars);
	err = job.start.err;
	if (!err && (cs->n_instances - job.start.next) != n * ((cs->n_instances - job.start.next) /
							       (n ? n : 1)))
		err = -EINVAL;
	if (!err && n) {
		job.step = (cs->n_instances - job.start.next) / n;
		tpool_run(pool, witness_segment, &job, n);
		err = job.err;
	}
	if (err) {
		snprintf(errline, 256, "the constraint system is not that of %s", c->name);
		cs_witness_fini(&w);
		return err;
	}
	*out = w;
	return 0;
}
