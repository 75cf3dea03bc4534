/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* porep.c - PoRep: what commit phase 1 claims, checked (filecoin-spec 3.5, 4.1, 4.5) */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/c1.h"
#include "lib/poseidon/many.h"
#include "lib/sha256.h"

struct porep_work {
	struct vanilla *v;
	const struct c1 *c1;
	struct fr comm_d;
	struct graph graph;
	uint32_t *challenges;		/* of all partitions */
	struct fault fault;
};

const char *porep_column_name(unsigned int c)
{
	static const char *const names[N_COLUMNS] = {
		"replica_column_proofs.drg_parents[0]", "replica_column_proofs.drg_parents[1]",
		"replica_column_proofs.drg_parents[2]", "replica_column_proofs.drg_parents[3]",
		"replica_column_proofs.drg_parents[4]", "replica_column_proofs.drg_parents[5]",
		"replica_column_proofs.exp_parents[0]", "replica_column_proofs.exp_parents[1]",
		"replica_column_proofs.exp_parents[2]", "replica_column_proofs.exp_parents[3]",
		"replica_column_proofs.exp_parents[4]", "replica_column_proofs.exp_parents[5]",
		"replica_column_proofs.exp_parents[6]", "replica_column_proofs.exp_parents[7]",
		"replica_column_proofs.c_x",
	};

	return names[c];
}

/* One challenge's proof, and the nodes that it has to be about. */
struct opened {
	struct porep_work *w;
	size_t item;
	unsigned int partition, challenge;	/* indexes */
	const struct porep_challenge_input *in;
	const struct porep_extra *extra;
	const struct path_input *paths[N_COLUMNS + 1];	/* the last: TreeR */
	const struct fr *rows[N_COLUMNS];
	uint32_t node, nodes[N_COLUMNS];
};

__attribute__((format(printf, 3, 4)))
static void fail(const struct opened *o, const char *where, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fault_set(&o->w->fault, o->item, "vanilla_proof: vanilla_proofs[%u][%u].%s%s", o->partition,
		  o->challenge, where, text);
}

static void open_challenge(struct opened *o, struct porep_work *w, size_t item)
{
	const unsigned int n = w->v->shape->porep_challenges;
	struct porep_partition *part = &w->v->porep[item / n];
	unsigned int c;

	o->w = w;
	o->item = item;
	o->partition = item / n;
	o->challenge = item % n;
	o->in = &part->challenges[o->challenge];
	o->extra = &part->extra[o->challenge];
	o->node = w->challenges[item];
	graph_parents(&w->graph, o->node, o->nodes);
	o->nodes[COLUMN_OWN] = o->node;
	for (c = 0; c < N_PARENTS; c++) {
		const struct porep_column_input *col = c < POREP_DRG_PARENTS ? &o->in->drg[c] :
						       &o->in->exp[c - POREP_DRG_PARENTS];

		o->paths[c] = &col->path;
		o->rows[c] = col->rows;
	}
	o->paths[COLUMN_OWN] = &o->in->path_c;
	o->rows[COLUMN_OWN] = o->extra->own_rows;
	o->paths[N_COLUMNS] = &o->in->path_r;
}

static bool check_nodes(const struct opened *o)
{
	const struct sector_shape *shape = o->w->v->shape;
	uint64_t node;
	unsigned int c;

	if (o->extra->node != o->node) {
		fail(o, "labeling_proofs[0].node", ": %llu, but the challenge is %u",
		     (unsigned long long)o->extra->node, o->node);
		return false;
	}
	node = path_node(&shape->tree_d, &o->in->path_d);
	if (node != o->node) {
		fail(o, "comm_d_proofs", ": its path leads to node %llu, but the challenge is %u",
		     (unsigned long long)node, o->node);
		return false;
	}
	node = path_node(&shape->tree_r, &o->in->path_r);
	if (node != o->node) {
		fail(o, "comm_r_last_proof",
		     ": its path leads to node %llu, but the challenge is %u",
		     (unsigned long long)node, o->node);
		return false;
	}
	for (c = 0; c < N_COLUMNS; c++) {
		node = path_node(&shape->tree_r, o->paths[c]);
		if (node != o->nodes[c] || o->extra->column_index[c] != o->nodes[c]) {
			fail(o, porep_column_name(c),
			     ": index %u, path to node %llu, but the graph says %u",
			     o->extra->column_index[c], (unsigned long long)node, o->nodes[c]);
			return false;
		}
	}
	return true;
}

static bool check_paths(const struct opened *o)
{
	const struct sector_shape *shape = o->w->v->shape;
	struct fr columns[N_COLUMNS * MAX_LAYERS], leaf[N_COLUMNS + 1], root[N_COLUMNS + 1], x;
	unsigned int c;

	for (c = 0; c < N_COLUMNS; c++)
		memcpy(&columns[c * shape->layers], o->rows[c],
		       shape->layers * sizeof(*columns));
	poseidon_hash_many(shape->layers, columns, leaf, N_COLUMNS);
	for (c = 0; c < N_COLUMNS; c++) {
		if (fr_equal(&leaf[c], &o->extra->leaf_c[c]))
			continue;
		fail(o, porep_column_name(c),
		     ".column.rows: hash to another leaf than the inclusion_proof's");
		return false;
	}
	leaf[N_COLUMNS] = o->extra->leaf_r;
	path_roots(&shape->tree_r, o->paths, leaf, N_COLUMNS + 1, root);
	for (c = 0; c < N_COLUMNS; c++) {
		if (!fr_equal(&root[c], &o->w->c1->root_c)) {
			fail(o, porep_column_name(c),
			     ".inclusion_proof: leaf and path hash to another root");
			return false;
		}
	}
	if (!fr_equal(&root[N_COLUMNS], &o->w->c1->root_r)) {
		fail(o, "comm_r_last_proof", ": leaf and path hash to another root");
		return false;
	}
	path_root_sha(&o->in->path_d, 0, shape->log_nodes, &o->in->data_leaf, &x);
	if (!fr_equal(&x, &o->w->comm_d)) {
		fail(o, "comm_d_proofs", ": leaf and path hash to another root than comm_d");
		return false;
	}
	return true;
}

void porep_label(const uint8_t replica_id[32], unsigned int layer, uint32_t node,
		 const uint8_t *const parents[N_PARENTS], uint8_t out[32])
{
	uint8_t head[64] = { 0 };
	unsigned int p, n = layer ? N_PARENTS : POREP_DRG_PARENTS;
	struct sha256 h;
	int i;

	memcpy(head, replica_id, 32);
	head[35] = layer + 1;
	for (i = 0; i < 4; i++)
		head[40 + i] = node >> (24 - 8 * i);
	sha256_init(&h);
	sha256_update(&h, head, sizeof(head));
	/* the sector's first node has none */
	for (p = 0; node && p < N_HASHED_PARENTS; p++)
		sha256_update(&h, parents[p % n], 32);
	sha256_final(&h, out);
	out[31] &= 0x3f;
}

static void check_labels(const struct opened *o)
{
	const unsigned int layers = o->w->v->shape->layers;
	uint8_t rows[N_PARENTS][MAX_LAYERS][32], label[32];
	const uint8_t *parents[N_PARENTS];
	unsigned int c, l;
	struct fr x;

	for (c = 0; c < N_PARENTS; c++)
		for (l = 0; l < layers; l++)
			fr_to_bytes_le(rows[c][l], &o->rows[c][l]);
	for (l = 0; l < layers; l++) {
		/* base parents on the same layer, expander parents on the one before */
		for (c = 0; c < (l ? N_PARENTS : POREP_DRG_PARENTS); c++)
			parents[c] = rows[c][c < POREP_DRG_PARENTS ? l : l - 1];
		porep_label(o->w->v->replica_id, l, o->node, parents, label);
		fr_from_bytes_le(&x, label);		/* 254 bits */
		if (!fr_equal(&x, &o->extra->own_rows[l])) {
			fail(o, porep_column_name(COLUMN_OWN),
			     ".column.rows[%u]: not the label that the parents' labels give", l);
			return;
		}
	}
	fr_add(&x, &o->extra->own_rows[layers - 1], &o->in->data_leaf);
	if (!fr_equal(&x, &o->extra->leaf_r))
		fail(o, "comm_r_last_proof", ".leaf: not the data leaf encoded by the last label");
}

static void challenge_item(void *arg, size_t item, unsigned int thread)
{
	struct porep_work *w = arg;
	struct opened o;

	(void)thread;
	if (fault_before(&w->fault, item))
		return;
	open_challenge(&o, w, item);
	if (check_nodes(&o) && check_paths(&o))
		check_labels(&o);
}

/* The miner's id as an address payload: unsigned LEB128, zero padded. */
static void prover_id(uint64_t miner, uint8_t out[32])
{
	unsigned int i = 0;

	memset(out, 0, 32);
	do {
		out[i++] = (miner & 0x7f) | (miner > 0x7f ? 0x80 : 0);
		miner >>= 7;
	} while (miner);
}

void porep_replica_id(const struct vanilla *v, uint64_t miner, uint64_t sector, uint8_t id[32])
{
	uint8_t in[32 + 8 + 32 + 32 + 32] = { 0 };
	int i;

	prover_id(miner, in);
	for (i = 0; i < 8; i++)
		in[32 + i] = sector >> (56 - 8 * i);
	memcpy(in + 40, v->ticket, 32);
	memcpy(in + 72, v->comm_d, 32);
	in[104] = v->registered;	/* porep id: the number, then zeros */
	sha256(id, in, sizeof(in));
	id[31] &= 0x3f;
}

static int check_replica_id(const struct vanilla *v, const struct c1 *c1, uint64_t miner,
			    struct cuzk_error *err)
{
	uint8_t id[32];

	porep_replica_id(v, miner, c1->sector_number, id);
	if (!memcmp(id, v->replica_id, 32))
		return 0;
	return input_error(err,
			   "vanilla_proof: replica_id: not that of miner %llu, sector %llu, %s",
			   (unsigned long long)miner, (unsigned long long)c1->sector_number,
			   "the ticket and comm_d");
}

static int check_commitments(struct porep_work *w, struct fr *comm_r, struct cuzk_error *err)
{
	struct fr x;

	fr_from_bytes_le(&w->comm_d, w->v->comm_d);	/* the reader has checked both */
	fr_from_bytes_le(comm_r, w->v->comm_r);
	if (!fr_equal(&w->comm_d, &w->c1->root_d))
		return input_error(err,
				   "vanilla_proof: comm_d: not the root of comm_d_proofs");
	comm_r_hash(&x, &w->c1->root_c, &w->c1->root_r);
	if (!fr_equal(&x, comm_r))
		return input_error(err,
				   "vanilla_proof: comm_r: not the hash of the two trees' roots");
	return 0;
}

static void finish(struct porep_work *w, const struct fr *comm_r)
{
	struct vanilla *v = w->v;
	const unsigned int n = v->shape->porep_challenges;
	unsigned int k, i;

	for (k = 0; k < v->n_partitions; k++) {
		struct porep_partition *part = &v->porep[k];

		fr_from_bytes_le(&part->input.replica_id, v->replica_id);
		part->input.comm_d = w->comm_d;
		part->input.comm_r = *comm_r;
		part->input.comm_r_last = w->c1->root_r;
		part->input.comm_c = w->c1->root_c;
		for (i = 0; i < n; i++)
			part->challenges[i].challenge = w->challenges[k * n + i];
		free(part->extra);
		part->extra = NULL;
	}
}

int porep_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		struct cuzk_error *err)
{
	struct c1 c1;
	struct porep_work w = { .v = v, .c1 = &c1 };
	struct fr comm_r;
	unsigned int k, n;
	int ret = porep_c1_read(v, req, pool, &c1, err);

	if (!ret)
		ret = check_replica_id(v, &c1, req->miner_id, err);
	if (!ret)
		ret = check_commitments(&w, &comm_r, err);
	if (ret)
		return ret;
	n = v->shape->porep_challenges;
	w.challenges = calloc((size_t)v->n_partitions * n, sizeof(*w.challenges));
	if (!w.challenges)
		return memory_error(err, (uint64_t)v->n_partitions * n * sizeof(*w.challenges));
	for (k = 0; k < v->n_partitions; k++)
		porep_challenges(v, k, n, &w.challenges[k * n]);
	graph_init(&w.graph, v->registered, v->shape->log_nodes, v->version == SEAL_V1);
	fault_init(&w.fault);
	tpool_run(pool, challenge_item, &w, (size_t)v->n_partitions * n);
	if (w.fault.set)
		ret = input_error(err, "%s", w.fault.text);
	else
		finish(&w, &comm_r);
	fault_fini(&w.fault);
	free(w.challenges);
	return ret;
}

void porep_free(struct vanilla *v)
{
	uint32_t k;

	for (k = 0; v->porep && k < v->n_partitions; k++)
		c1_partition_close(&v->porep[k]);
	free(v->porep);
}

const struct porep_input *porep_input(const struct vanilla *v, uint32_t partition)
{
	return &v->porep[partition].input;
}
