/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* sample_porep.c - made-up requests: PoRep */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/sample_internal.h"
#include "lib/base64.h"
#include "lib/poseidon/poseidon.h"

#define LOG_BLOCKS 3		/* so many different leaves where nothing is opened */
#define MAX_WHOLE 18		/* log2 of the nodes that are all labelled */
#define SECTOR_NUMBER 1000

/* A node of which the column is opened. */
struct opened_node {
	uint64_t node;
	bool labelled;			/* its labels obey the graph; else they are random */
	uint32_t parents[N_PARENTS];	/* of a labelled one */
	uint8_t rows[MAX_LAYERS][32];
};

struct sector {
	struct vanilla v;		/* shape, version, registered, ids and commitments */
	struct graph graph;
	unsigned int n_partitions, log_block;
	bool whole;			/* every node is labelled */
	size_t n_nodes;
	struct opened_node *nodes;	/* ascending */
	struct fr leaves[1 << LOG_BLOCKS];
	struct sample_tree d, c, r;
	struct fr comm_r;
};

static struct opened_node *find_node(const struct sector *s, uint64_t node)
{
	size_t lo = 0, hi = s->n_nodes;

	while (hi - lo > 1) {
		size_t mid = (lo + hi) / 2;

		if (s->nodes[mid].node <= node)
			lo = mid;
		else
			hi = mid;
	}
	return &s->nodes[lo];
}

static int by_node(const void *a, const void *b)
{
	const struct opened_node *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (int)y->labelled - (int)x->labelled;
}

/* The challenges and their parents; or all nodes. */
static int choose_nodes(struct sector *s)
{
	const unsigned int n = s->v.shape->porep_challenges;
	uint32_t challenges[MAX_POREP_CHALLENGES];
	size_t max = s->whole ? (size_t)1 << s->v.shape->log_nodes :
		     (size_t)s->n_partitions * n * N_COLUMNS, i, at = 0;
	struct opened_node *node;
	unsigned int k, c, p;

	s->nodes = calloc(max, sizeof(*s->nodes));
	if (!s->nodes)
		return -ENOMEM;
	for (i = 0; s->whole && i < max; i++) {
		s->nodes[i].node = i;
		s->nodes[i].labelled = true;
		graph_parents(&s->graph, i, s->nodes[i].parents);
	}
	for (k = 0; !s->whole && k < s->n_partitions; k++) {
		porep_challenges(&s->v, k, n, challenges);
		for (c = 0; c < n; c++) {
			node = &s->nodes[at++];
			node->node = challenges[c];
			node->labelled = true;
			graph_parents(&s->graph, challenges[c], node->parents);
			for (p = 0; p < N_PARENTS; p++)
				s->nodes[at++].node = node->parents[p];
		}
	}
	s->n_nodes = max;
	qsort(s->nodes, max, sizeof(*s->nodes), by_node);
	/* of equals the labelled one is first, and stays */
	for (i = at = 0; i < max; i++)
		if (!at || s->nodes[at - 1].node != s->nodes[i].node)
			s->nodes[at++] = s->nodes[i];
	s->n_nodes = at;
	return 0;
}

static void label_nodes(struct sector *s, uint64_t seed)
{
	const unsigned int layers = s->v.shape->layers;
	const uint8_t *parents[N_PARENTS];
	unsigned int l, p;
	size_t i;

	/* a parent is of the layer before, or of the same one and a lower number */
	for (l = 0; l < layers; l++) {
		for (i = 0; i < s->n_nodes; i++) {
			struct opened_node *node = &s->nodes[i];

			if (!node->labelled) {
				sample_random(seed, "label", node->node * layers + l,
					      node->rows[l]);
				continue;
			}
			for (p = 0; p < (l ? N_PARENTS : POREP_DRG_PARENTS); p++)
				parents[p] = find_node(s, node->parents[p])->
					     rows[p < POREP_DRG_PARENTS ? l : l - 1];
			porep_label(s->v.replica_id, l, node->node, parents, node->rows[l]);
		}
	}
}

static int plant_trees(struct sector *s, uint64_t seed)
{
	const struct sector_shape *shape = s->v.shape;
	const unsigned int layers = shape->layers;
	uint64_t *nodes = calloc(s->n_nodes, sizeof(*nodes));
	struct fr *values = calloc(s->n_nodes, sizeof(*values)), column[MAX_LAYERS];
	unsigned int l, blocks = 1u << (shape->log_nodes - s->log_block);
	size_t i, n;
	int ret = -ENOMEM;

	if (!nodes || !values)
		goto out_free;
	for (i = 0; i < s->n_nodes; i++) {
		for (l = 0; l < layers; l++)
			fr_from_bytes_le(&column[l], s->nodes[i].rows[l]);
		nodes[i] = s->nodes[i].node;
		poseidon_hash(layers, column, &values[i]);
	}
	for (i = 0; i < blocks; i++)
		sample_random_fr(seed, "column", i, &s->leaves[i]);
	ret = sample_tree_init(&s->c, &shape->tree_r, false, shape->log_nodes, s->log_block,
			       s->leaves, nodes, values, s->n_nodes);
	if (ret)
		goto out_free;
	for (i = n = 0; i < s->n_nodes; i++) {
		if (!s->nodes[i].labelled)
			continue;
		nodes[n] = s->nodes[i].node;
		fr_from_bytes_le(&column[0], s->nodes[i].rows[layers - 1]);
		fr_add(&values[n++], &column[0], sample_tree_node(&s->d, 0, s->nodes[i].node));
	}
	for (i = 0; i < blocks; i++)
		sample_random_fr(seed, "replica leaf", i, &s->leaves[i]);
	ret = sample_tree_init(&s->r, &shape->tree_r, false, shape->log_nodes, s->log_block,
			       s->leaves, nodes, values, n);
out_free:
	free(nodes);
	free(values);
	return ret;
}

static int make_sector(struct sector *s, uint64_t miner, uint64_t seed)
{
	const struct sector_shape *shape = s->v.shape;
	unsigned int i;
	int ret;

	sample_random(seed, "seed", 0, s->v.seed);
	sample_random(seed, "ticket", 0, s->v.ticket);
	for (i = 0; i < 1u << (shape->log_nodes - s->log_block); i++)
		sample_random_fr(seed, "data", i, &s->leaves[i]);
	ret = sample_tree_init(&s->d, &shape->tree_d, true, shape->log_nodes, s->log_block,
			       s->leaves, NULL, NULL, 0);
	if (ret)
		return ret;
	fr_to_bytes_le(s->v.comm_d, sample_tree_root(&s->d));
	porep_replica_id(&s->v, miner, SECTOR_NUMBER, s->v.replica_id);
	ret = choose_nodes(s);
	if (ret)
		return ret;
	label_nodes(s, seed);
	ret = plant_trees(s, seed);
	if (ret)
		return ret;
	comm_r_hash(&s->comm_r, sample_tree_root(&s->c), sample_tree_root(&s->r));
	fr_to_bytes_le(s->v.comm_r, &s->comm_r);
	return 0;
}

static void out_column(struct sample_out *o, const struct sector *s, uint32_t node)
{
	const struct opened_node *n = find_node(s, node);
	unsigned int l;

	out_text(o, "{\"column\":{\"index\":%u,\"rows\":[", node);
	for (l = 0; l < s->v.shape->layers; l++) {
		out_text(o, l ? "," : "");
		out_json_bytes(o, n->rows[l], 32);
	}
	out_text(o, "],\"_h\":null},\"inclusion_proof\":");
	out_json_merkle(o, &s->c, node);
	out_text(o, "}");
}

static void out_label(struct sample_out *o, const struct sector *s, const struct opened_node *node,
		      unsigned int l)
{
	unsigned int n = l ? N_PARENTS : POREP_DRG_PARENTS, p;

	out_text(o, "{\"parents\":[");
	for (p = 0; p < N_HASHED_PARENTS; p++) {
		out_text(o, p ? "," : "");
		out_json_bytes(o, find_node(s, node->parents[p % n])->
				  rows[p % n < POREP_DRG_PARENTS ? l : l - 1], 32);
	}
	out_text(o, "],\"layer_index\":%u,\"node\":%llu}", l + 1, (unsigned long long)node->node);
}

static void out_challenge(struct sample_out *o, const struct sector *s, uint32_t challenge)
{
	const struct opened_node *node = find_node(s, challenge);
	const unsigned int layers = s->v.shape->layers;
	unsigned int i;

	out_text(o, "{\"comm_d_proofs\":");
	out_json_merkle(o, &s->d, challenge);
	out_text(o, ",\"comm_r_last_proof\":");
	out_json_merkle(o, &s->r, challenge);
	out_text(o, ",\"replica_column_proofs\":{\"c_x\":");
	out_column(o, s, challenge);
	for (i = 0; i < N_PARENTS; i++) {
		out_text(o, i == 0 ? ",\"drg_parents\":[" :
			    i == POREP_DRG_PARENTS ? "],\"exp_parents\":[" : ",");
		out_column(o, s, node->parents[i]);
	}
	out_text(o, "]},\"labeling_proofs\":[");
	for (i = 0; i < layers; i++) {
		out_text(o, i ? "," : "");
		out_label(o, s, node, i);
	}
	out_text(o, "],\"encoding_proof\":");
	out_label(o, s, node, layers - 1);
	out_text(o, "}");
}

static void out_c1(struct sample_out *o, const struct sector *s)
{
	static const char *const versions[] = {
		"V1", "V1_1", "V1_1_Feat_SyntheticPoRep", "V1_2_Feat_NonInteractivePoRep",
	};
	const struct sector_shape *shape = s->v.shape;
	uint32_t challenges[MAX_POREP_CHALLENGES];
	unsigned int k, i;

	out_text(o, "{\"registered_proof\":\"StackedDrg%s%s\",", shape->text,
		 versions[s->v.version]);
	out_text(o, "\"vanilla_proofs\":{\"StackedDrg%sV1\":[", shape->text);
	for (k = 0; k < s->n_partitions; k++) {
		porep_challenges(&s->v, k, shape->porep_challenges, challenges);
		for (i = 0; i < shape->porep_challenges; i++) {
			out_text(o, i ? "," : k ? ",[" : "[");
			out_challenge(o, s, challenges[i]);
		}
		out_text(o, "]");
	}
	out_text(o, "]},\"comm_r\":");
	out_json_bytes(o, s->v.comm_r, 32);
	out_text(o, ",\"comm_d\":");
	out_json_bytes(o, s->v.comm_d, 32);
	out_text(o, ",\"replica_id\":");
	out_json_bytes(o, s->v.replica_id, 32);
	out_text(o, ",\"seed\":");
	out_json_bytes(o, s->v.seed, 32);
	out_text(o, ",\"ticket\":");
	out_json_bytes(o, s->v.ticket, 32);
	out_text(o, "}");
}

/* Curio's envelope around the C1 */
static int out_envelope(struct vanilla_sample *sample, const struct sample_out *c1,
			const struct sector_shape *shape)
{
	size_t head, len = BASE64_LENGTH(c1->len);
	char *text = sample->owned[0] = malloc(len + 128);

	if (!text)
		return -ENOMEM;
	head = sprintf(text, "{\"SectorNum\":%d,\"Phase1Out\":\"", SECTOR_NUMBER);
	base64_encode(text + head, c1->data, c1->len);
	len += head;
	len += sprintf(text + len, "\",\"SectorSize\":%llu}", (unsigned long long)shape->bytes);
	sample->req.vanilla_proof = (struct cuzk_blob){ text, len };
	return 0;
}

int sample_porep(struct vanilla_sample *sample, const struct sector_shape *shape, uint64_t seed)
{
	enum seal_version version = sample->req.registered_proof / N_SECTOR_SIZES;
	struct sector *s;
	struct sample_out c1 = { 0 };
	int ret;

	if (version >= SEAL_SYNTHETIC && shape->log_nodes > MAX_WHOLE)
		return -ENOTSUP;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->v.kind = CUZK_KIND_POREP;
	s->v.shape = shape;
	s->v.version = version;
	s->v.registered = sample->req.registered_proof;
	s->n_partitions = version == SEAL_NON_INTERACTIVE ? shape->ni_partitions :
			  shape->porep_partitions;
	/* challenges that follow from comm_r can be any: then all labels must be right */
	s->whole = version >= SEAL_SYNTHETIC;
	s->log_block = shape->log_nodes > LOG_BLOCKS ? shape->log_nodes - LOG_BLOCKS : 0;
	graph_init(&s->graph, s->v.registered, shape->log_nodes, version == SEAL_V1);
	sample->req.sector_number = SECTOR_NUMBER;
	ret = make_sector(s, sample->req.miner_id, seed);
	if (!ret) {
		out_c1(&c1, s);
		ret = c1.failed ? -ENOMEM : out_envelope(sample, &c1, shape);
	}
	free(c1.data);
	sample_tree_fini(&s->d);
	sample_tree_fini(&s->c);
	sample_tree_fini(&s->r);
	free(s->nodes);
	free(s);
	return ret;
}
