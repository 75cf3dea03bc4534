/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* post.c - WinningPoSt and WindowPoSt: FallbackPoStCircuit (filecoin-spec 4.2) */
#include <errno.h>
#include <stdio.h>

#include "engine/circuits/gadgets.h"
#include "engine/circuits/parts.h"

int post_check(const struct circuit *c, const struct post_input *in, char *err)
{
	size_t i, k;
	int ret;

	if (in->n_sectors != c->sectors) {
		snprintf(err, 256, "%s takes %u sectors, not %zu", c->name, c->sectors,
			 in->n_sectors);
		return -EINVAL;
	}
	for (i = 0; i < in->n_sectors; i++) {
		const struct post_sector_input *sector = &in->sectors[i];

		if (sector->n_challenges != c->challenges) {
			snprintf(err, 256, "sector %zu: %u challenges wanted, not %zu", i,
				 c->challenges, sector->n_challenges);
			return -EINVAL;
		}
		for (k = 0; k < sector->n_challenges; k++) {
			ret = path_check(&c->tree, &sector->challenges[k].path,
					 "challenge", i * c->challenges + k, err);
			if (ret)
				return ret;
		}
	}
	return 0;
}

void post_synth(struct synth *s, const struct circuit *c, const struct post_input *in,
		unsigned int i)
{
	const struct post_sector_input *sector = in ? &in->sectors[i] : NULL;
	uint32_t comm_r_last, leaf;
	unsigned int k;

	synth_scope(s, "sector %u", i);
	comm_r_last = gadget_sector(s, sector ? &sector->comm_r_last : NULL,
				    sector ? &sector->comm_c : NULL,
				    sector ? &sector->comm_r : NULL);
	if (sector && c->challenges <= GADGET_LANES) {
		const struct fr *leafs[GADGET_LANES];
		const struct path_input *paths[GADGET_LANES];

		for (k = 0; k < c->challenges; k++) {
			leafs[k] = &sector->challenges[k].leaf;
			paths[k] = &sector->challenges[k].path;
		}
		por_leaf_many(s, &c->tree, comm_r_last, c->challenges, leafs, paths);
		return;
	}
	for (k = 0; k < c->challenges; k++) {
		const struct post_challenge_input *ch = sector ? &sector->challenges[k] : NULL;

		synth_scope(s, "sector %u/challenge %u", i, k);
		leaf = gadget_alloc(s, 1, ch ? &ch->leaf : NULL);
		por_synth(s, &c->tree, leaf, comm_r_last, ch ? &ch->path : NULL);
	}
}
