/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * small-vanilla.c - the engine's door to requests, for a circuit of a hundred rows
 *
 * Linked with the engine in place of libvanilla.la it makes t/small.la: the real
 * engine, from its table of operations to the device, at a size that an
 * emulated device proves in no time.  Any payload is a request: it gives the
 * circuit its inputs.  "refuse" is refused.  A PoRep has three partitions, others one.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/vanilla.h"
#include "lib/sha256.h"

#define CIRCUIT "tiny-100"
#define STEPS 100
#define PARTITIONS 3

struct vanilla {
	uint32_t n_partitions;
	struct tiny_input in[PARTITIONS];
};

int vanilla_admit(const struct cuzk_request *req, struct tpool *pool, struct vanilla **out,
		  struct cuzk_plan *plan, struct cuzk_error *err)
{
	const struct cuzk_blob *payload = req->kind == CUZK_KIND_POREP ? &req->vanilla_proof :
					  req->n_vanilla_proofs ? &req->vanilla_proofs[0] : NULL;
	struct vanilla *v;
	uint8_t hash[32];
	uint64_t x;
	uint32_t i;

	if (!payload || !payload->len || (payload->len == 6 && !memcmp(payload->data, "refuse", 6))) {
		err->cls = CUZK_ERROR_INPUT;
		snprintf(err->text, sizeof(err->text), "the payload is to be refused");
		return -EINVAL;
	}
	v = calloc(1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	v->n_partitions = req->kind == CUZK_KIND_POREP ? PARTITIONS : 1;
	sha256(hash, payload->data, payload->len);
	memcpy(&x, hash, sizeof(x));
	for (i = 0; i < PARTITIONS; i++)
		fr_from_u64(&v->in[i].x, x + i);
	if (plan) {
		plan->n_partitions = v->n_partitions;
		plan->host_bytes = sizeof(*v);
		snprintf(plan->circuit, sizeof(plan->circuit), CIRCUIT);
	}
	*out = v;
	return 0;
}

void vanilla_free(struct vanilla *v)
{
	free(v);
}

uint32_t vanilla_partitions(const struct vanilla *v)
{
	return v->n_partitions;
}

const char *vanilla_circuit(const struct vanilla *v)
{
	return CIRCUIT;
}

union circuit_input vanilla_circuit_input(const struct vanilla *v, uint32_t partition)
{
	return (union circuit_input){ .tiny = &v->in[partition] };
}

int vanilla_public_inputs(const struct vanilla *v, uint32_t partition, struct fr **inputs,
			  size_t *n)
{
	struct fr *in = malloc(2 * sizeof(*in)), three;
	unsigned int i;

	if (!in)
		return -ENOMEM;
	fr_from_u64(&three, 3);
	in[0] = in[1] = v->in[partition].x;
	for (i = 0; i < STEPS; i++) {
		fr_sqr(&in[1], &in[1]);
		fr_add(&in[1], &in[1], &three);
	}
	*inputs = in;
	*n = 2;
	return 0;
}
