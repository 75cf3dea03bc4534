/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-update-poseidon.c - EmptySectorUpdate's Poseidon variant is satisfied by
 * an update that is made here, in full, by the definition
 *
 * 64 nodes: all three trees are hashed, each new replica leaf is encoded, the
 * challenges are drawn.  Nothing of engine/vanilla is used.
 */
#include "engine/circuits/circuit.h"
#include "engine/cs/system.h"
#include "lib/poseidon/poseidon.h"
#include "t/tap.h"

#define NODES 64
#define LOG_NODES 6
#define MAX_CHALLENGES 10

struct tree {
	struct fr leaf[NODES], middle[8], root;
};

static struct tree r_old, d_new, r_new;
static struct fr phi, siblings[MAX_CHALLENGES][3][14];
static uint8_t places[MAX_CHALLENGES][2];
static struct update_challenge_input challenges[MAX_CHALLENGES];
static struct update_input in;

static void hash_tree(struct tree *t)
{
	unsigned int i;

	for (i = 0; i < 8; i++)
		poseidon_hash(8, t->leaf + 8 * i, &t->middle[i]);
	poseidon_hash(8, t->middle, &t->root);
}

static void custom(const struct fr *a, const struct fr *b, struct fr *out)
{
	struct fr pair[2] = { *a, *b };

	poseidon_hash_tag(POSEIDON_CUSTOM, 2, pair, out);
}

/* rho of a node: phi and its h = 1 highest bit, the same for all six choices of h */
static void rho(unsigned int node, struct fr *out)
{
	struct fr high;

	fr_from_u64(&high, node >> (LOG_NODES - 1));
	custom(&phi, &high, out);
}

static struct path_input path(const struct tree *t, unsigned int node, const uint8_t *index,
			      struct fr *out)
{
	unsigned int i, n = 0;

	for (i = 0; i < 8; i++)
		if (i != node % 8)
			out[n++] = t->leaf[node / 8 * 8 + i];
	for (i = 0; i < 8; i++)
		if (i != node / 8)
			out[n++] = t->middle[i];
	return (struct path_input){ 2, n, index, out };
}

static void challenge(unsigned int i, unsigned int node)
{
	places[i][0] = node % 8;
	places[i][1] = node / 8;
	challenges[i] = (struct update_challenge_input){
		r_old.leaf[node], d_new.leaf[node], r_new.leaf[node],
		path(&r_old, node, places[i], siblings[i][0]),
		path(&d_new, node, places[i], siblings[i][1]),
		path(&r_new, node, places[i], siblings[i][2]),
	};
}

static void make(const struct circuit *c)
{
	struct fr pair[2], digest, v;
	struct scalar bits;
	unsigned int i;

	for (i = 0; i < NODES; i++) {
		fr_from_u64(&v, 1000 + i);
		custom(&v, &fr_one, &r_old.leaf[i]);
		custom(&v, &fr_zero, &d_new.leaf[i]);
	}
	hash_tree(&r_old);
	hash_tree(&d_new);
	fr_from_u64(&in.comm_c, 77);
	pair[0] = in.comm_c;
	pair[1] = r_old.root;
	poseidon_hash(2, pair, &in.comm_r_old);
	in.comm_d_new = d_new.root;
	custom(&in.comm_d_new, &in.comm_r_old, &phi);
	for (i = 0; i < NODES; i++) {
		rho(i, &v);
		fr_mul(&v, &v, &d_new.leaf[i]);
		fr_add(&r_new.leaf[i], &r_old.leaf[i], &v);
	}
	hash_tree(&r_new);
	pair[1] = r_new.root;
	poseidon_hash(2, pair, &in.comm_r_new);
	in.root_r_old = r_old.root;
	in.root_r_new = r_new.root;
	in.h_select = 1 << 2;
	custom(&in.comm_r_new, &fr_zero, &digest);
	fr_to_scalar(&bits, &digest);
	for (i = 0; i < c->challenges; i++)
		challenge(i, (bits.l[0] >> (LOG_NODES * i)) % NODES);
	in.n_challenges = c->challenges;
	in.challenges = challenges;
}

static bool satisfied(const struct circuit *c, const struct cs *cs, char *where)
{
	struct cs_witness w;
	char err[256] = "";
	uint64_t row;

	if (circuit_witness(c, cs, (union circuit_input){ .update = &in }, NULL, &w, err)) {
		diag("%s", err);
		return false;
	}
	row = cs_first_bad_row(cs, &w, NULL);
	cs_witness_fini(&w);
	cs_row_path(cs, row == UINT64_MAX ? 0 : row, where, 256);
	return row == UINT64_MAX;
}

/* Something of the input becomes another value, and back. */
static void test_changed(const struct circuit *c, const struct cs *cs, struct fr *v,
			 const char *what)
{
	struct fr keep = *v;
	char where[256] = "no witness";

	fr_add(v, v, &fr_one);
	ok(!satisfied(c, cs, where), "another %s is noticed at %s", what, where);
	*v = keep;
}

int main(void)
{
	struct cs_witness w;
	struct circuit c;
	struct cs *cs;
	char where[256] = "", err[256];
	struct fr h;

	if (!ok(circuit_find("update-poseidon-2k", &c) == 0 && circuit_build(&c, &cs) == 0,
		"update-poseidon-2k is built"))
		return tap_done();
	ok(c.challenges == MAX_CHALLENGES && c.partitions == 1, "%u challenges, one partition",
	   c.challenges);
	make(&c);
	if (!ok(satisfied(&c, cs, where), "an update satisfies it"))
		diag("%s", where);
	if (ok(circuit_witness(&c, cs, (union circuit_input){ .update = &in }, NULL, &w, err) == 0 &&
	       cs->n_inputs == 5, "four public inputs")) {
		fr_from_u64(&h, in.h_select);
		ok(fr_equal(&w.inputs[1], &h) && fr_equal(&w.inputs[2], &in.comm_r_old) &&
		   fr_equal(&w.inputs[3], &in.comm_d_new) && fr_equal(&w.inputs[4], &in.comm_r_new),
		   "h_select, comm_r_old, comm_d_new, comm_r_new");
		cs_witness_fini(&w);
	}
	test_changed(&c, cs, &challenges[0].leaf_r_old, "old leaf");
	test_changed(&c, cs, &challenges[3].leaf_d_new, "data leaf");
	test_changed(&c, cs, &challenges[9].leaf_r_new, "new leaf");
	test_changed(&c, cs, &siblings[1][0][3], "sibling of the old replica");
	test_changed(&c, cs, &siblings[2][1][10], "sibling of the data");
	test_changed(&c, cs, &siblings[9][2][13], "sibling of the new replica");
	test_changed(&c, cs, &in.comm_c, "comm_c");
	test_changed(&c, cs, &in.comm_d_new, "comm_d_new");
	test_changed(&c, cs, &in.root_r_new, "root");
	challenge(4, (places[4][0] + 8 * places[4][1]) ^ 1);
	ok(!satisfied(&c, cs, where), "another node than the challenged is noticed at %s", where);
	cs_free(cs);
	return tap_done();
}
