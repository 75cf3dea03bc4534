/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* public.c - public inputs as a verifier derives them (filecoin-spec 4.1 to 4.3) */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/vanilla/internal.h"

static size_t post_inputs(const struct vanilla *v, struct fr *out)
{
	const unsigned int n = v->post.sectors[0].n_challenges;
	const uint64_t nodes = 1ull << v->shape->log_nodes;
	bool winning = v->kind == CUZK_KIND_WINNING_POST;
	size_t s, at = 0, i;

	for (s = 0; s < v->post.n_sectors; s++) {
		/* beyond the given ones, the last is repeated; winning has one in 66 parts */
		size_t given = s < v->n_given ? s : v->n_given - 1u;
		uint64_t first = winning ? s : v->global_index ? (v->first_sector + given) * n : 0;

		out[at++] = v->post.sectors[s].comm_r;
		for (i = 0; i < n; i++)
			fr_from_u64(&out[at++], post_challenge(v->randomness, v->sector_ids[given],
							       first + i, nodes));
	}
	return at;
}

/* bytes that admission found canonical */
static void from_bytes(struct fr *x, const uint8_t bytes[32])
{
	int ret = fr_from_bytes_le(x, bytes);

	assert(ret == 0);
	(void)ret;
}

static size_t porep_inputs(const struct vanilla *v, uint32_t partition, struct fr *out)
{
	const unsigned int n = v->shape->porep_challenges;
	uint32_t challenges[MAX_POREP_CHALLENGES], parents[N_PARENTS];
	unsigned int i, p;
	struct graph graph;
	size_t at = 0;

	from_bytes(&out[at++], v->replica_id);
	from_bytes(&out[at++], v->comm_d);
	from_bytes(&out[at++], v->comm_r);
	graph_init(&graph, v->registered, v->shape->log_nodes, v->version == SEAL_V1);
	porep_challenges(v, partition, n, challenges);
	for (i = 0; i < n; i++) {
		graph_parents(&graph, challenges[i], parents);
		fr_from_u64(&out[at++], challenges[i]);		/* TreeD */
		for (p = 0; p < N_PARENTS; p++)
			fr_from_u64(&out[at++], parents[p]);
		fr_from_u64(&out[at++], challenges[i]);		/* the node, TreeR, TreeC */
		fr_from_u64(&out[at++], challenges[i]);
		fr_from_u64(&out[at++], challenges[i]);
	}
	return at;
}

static size_t update_inputs(const struct vanilla *v, uint32_t partition, struct fr *out)
{
	const struct update_input *in = &v->update[partition];
	unsigned int bits = __builtin_ctz(v->shape->update_partitions);

	fr_from_u64(&out[0], partition | (uint64_t)v->shape->update_h_select << bits);
	out[1] = in->comm_r_old;
	out[2] = in->comm_d_new;
	out[3] = in->comm_r_new;
	return 4;
}

int vanilla_public_inputs(const struct vanilla *v, uint32_t partition, struct fr **inputs,
			  size_t *n)
{
	size_t max;

	assert(partition < v->n_partitions);
	switch (v->kind) {
	case CUZK_KIND_POREP:
		max = 3 + v->shape->porep_challenges * (N_PARENTS + 4);
		break;
	case CUZK_KIND_UPDATE:
		max = 4;
		break;
	default:
		max = v->post.n_sectors * (1 + v->post.sectors[0].n_challenges);
	}
	*inputs = calloc(max, sizeof(**inputs));
	if (!*inputs)
		return -ENOMEM;
	switch (v->kind) {
	case CUZK_KIND_POREP:
		*n = porep_inputs(v, partition, *inputs);
		break;
	case CUZK_KIND_UPDATE:
		*n = update_inputs(v, partition, *inputs);
		break;
	default:
		*n = post_inputs(v, *inputs);
	}
	assert(*n == max);
	return 0;
}
