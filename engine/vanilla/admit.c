/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* admit.c - which proof a request asks for, and the way to its reader */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/internal.h"

static const struct {
	const char *text, *circuit;
	unsigned int first, count;	/* registered proofs of this kind, by fives */
	int (*admit)(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		     struct cuzk_error *err);
} kinds[CUZK_KIND_COUNT] = {
	[CUZK_KIND_POREP] = { "PoRep", "porep", 0, 20, porep_admit },
	[CUZK_KIND_UPDATE] = { "SnapDeals", "update", 0, 5, update_admit },
	[CUZK_KIND_WINDOW_POST] = { "WindowPoSt", "window", 5, 10, post_admit },
	[CUZK_KIND_WINNING_POST] = { "WinningPoSt", "winning", 0, 5, post_admit },
};

static int set_kind(struct vanilla *v, const struct cuzk_request *req, struct cuzk_error *err)
{
	uint64_t registered = req->registered_proof;

	if (req->kind == CUZK_KIND_UNSPECIFIED || req->kind >= CUZK_KIND_COUNT)
		return input_error(err, "proof_kind: %u is no kind of proof", req->kind);
	v->kind = req->kind;
	if (registered < kinds[v->kind].first ||
	    registered >= kinds[v->kind].first + kinds[v->kind].count)
		return input_error(err, "registered_proof: %llu is no %s proof (%u to %u)",
				   (unsigned long long)registered, kinds[v->kind].text,
				   kinds[v->kind].first,
				   kinds[v->kind].first + kinds[v->kind].count - 1);
	if (v->kind == CUZK_KIND_POREP && registered == 0)
		return 0;	/* perhaps left out: the proof itself says what it is */
	v->registered = registered;
	v->shape = sector_shape(registered % N_SECTOR_SIZES);
	if (req->sector_size && req->sector_size != v->shape->bytes)
		return input_error(err, "sector_size: %llu, but registered_proof %llu is for %s",
				   (unsigned long long)req->sector_size,
				   (unsigned long long)registered, v->shape->text);
	return 0;
}

int vanilla_admit(const struct cuzk_request *req, struct tpool *pool, struct vanilla **out,
		  struct cuzk_plan *plan, struct cuzk_error *err)
{
	struct vanilla *v = calloc(1, sizeof(*v));
	int ret;

	if (!v)
		return memory_error(err, sizeof(*v));
	v->bytes = sizeof(*v);
	ret = set_kind(v, req, err);
	if (ret < 0)
		goto err_free;
	if (req->n_vanilla_proofs && !req->vanilla_proofs) {
		ret = input_error(err, "vanilla_proofs: counted but absent");
		goto err_free;
	}
	ret = kinds[v->kind].admit(v, req, pool, err);
	if (ret < 0)
		goto err_free;
	snprintf(v->circuit, sizeof(v->circuit), "%s-%s", kinds[v->kind].circuit,
		 v->shape->suffix);
	if (plan) {
		memcpy(plan->circuit, v->circuit, sizeof(plan->circuit));
		plan->n_partitions = v->n_partitions;
		plan->host_bytes = v->bytes;
	}
	*out = v;
	return 0;

err_free:
	vanilla_free(v);
	return ret;
}

void vanilla_free(struct vanilla *v)
{
	if (!v)
		return;
	porep_free(v);
	free(v->arena.mem);
	free(v);
}

uint32_t vanilla_partitions(const struct vanilla *v)
{
	return v->n_partitions;
}

const char *vanilla_circuit(const struct vanilla *v)
{
	return v->circuit;
}

union circuit_input vanilla_circuit_input(const struct vanilla *v, uint32_t partition)
{
	union circuit_input in = { NULL };

	assert(partition < v->n_partitions);
	switch (v->kind) {
	case CUZK_KIND_POREP:
		in.porep = porep_input(v, partition);
		break;
	case CUZK_KIND_UPDATE:
		in.update = &v->update[partition];
		break;
	default:
		in.post = &v->post;
	}
	return in;
}
