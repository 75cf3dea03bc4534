/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* params_name.c - Filecoin's names of parameter files (filecoin-spec 1.7) */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <openssl/evp.h>

#include "engine/groth16/params_name.h"

static const struct sector {
	const char *name, *tree;
	uint64_t bytes;
	unsigned int layers, porep_challenges;
	unsigned int window_sectors;
} sectors[] = {
	{ "2k",   "merkletree-poseidon_hasher-8-0-0", 2048ull,          2,  2,    2 },
	{ "8m",   "merkletree-poseidon_hasher-8-0-0", 8ull << 20,       2,  2,    2 },
	{ "512m", "merkletree-poseidon_hasher-8-0-0", 512ull << 20,     2,  2,    2 },
	{ "32g",  "merkletree-poseidon_hasher-8-8-0", 32ull << 30,     11, 18, 2349 },
	{ "64g",  "merkletree-poseidon_hasher-8-8-2", 64ull << 30,     11, 18, 2300 },
};

enum family { POREP, WINNING, WINDOW, UPDATE, UPDATE_POSEIDON };

/* The longest prefix first: update- is one of update-poseidon-. */
static const struct {
	const char *prefix;
	enum family family;
} families[] = {
	{ "porep-", POREP },
	{ "winning-", WINNING },
	{ "window-", WINDOW },
	{ "update-poseidon-", UPDATE_POSEIDON },
	{ "update-", UPDATE },
};

#define WINNING_SECTORS 66u

static const struct sector *circuit_parse(const char *circuit, enum family *family)
{
	size_t i, k;

	for (i = 0; i < sizeof(families) / sizeof(*families); i++) {
		size_t len = strlen(families[i].prefix);

		if (strncmp(circuit, families[i].prefix, len))
			continue;
		for (k = 0; k < sizeof(sectors) / sizeof(*sectors); k++)
			if (!strcmp(circuit + len, sectors[k].name)) {
				*family = families[i].family;
				return &sectors[k];
			}
	}
	return NULL;
}

int params_identifier(const char *circuit, char buf[PARAMS_IDENTIFIER_MAX])
{
	enum family family;
	const struct sector *s = circuit_parse(circuit, &family);

	if (!s)
		return -ENOENT;
	switch (family) {
	case POREP:
		return snprintf(
			buf, PARAMS_IDENTIFIER_MAX,
			"layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph"
			"{expansion_degree: 8 base_graph: drgraph::BucketGraph{size: %" PRIu64
			"; degree: 6; hasher: poseidon_hasher} }, challenges: LayerChallenges "
			"{ layers: %u, max_count: %u }, tree: %s }",
			s->bytes / 32, s->layers, s->porep_challenges, s->tree);
	case WINNING:
	case WINDOW:
		return snprintf(buf, PARAMS_IDENTIFIER_MAX,
				"FallbackPoSt::PublicParams{sector_size: %" PRIu64
				", challenge_count: %u, sector_count: %u}", s->bytes,
				family == WINNING ? 1 : 10,
				family == WINNING ? WINNING_SECTORS : s->window_sectors);
	case UPDATE:
	case UPDATE_POSEIDON:
		return snprintf(buf, PARAMS_IDENTIFIER_MAX,
				"empty_sector_update::PublicParams{ sector_nodes: %" PRIu64 " }",
				s->bytes / 32);
	}
	return -ENOENT;
}

static bool is_tiny(const char *circuit)
{
	const char *p = circuit + 5;

	return !strncmp(circuit, "tiny-", 5) && *p && strlen(p) <= 7 &&
	       strspn(p, "0123456789") == strlen(p);
}

int params_name(const char *circuit, const char *suffix, char buf[PARAMS_NAME_MAX])
{
	static const char *const prefixes[] = {
		[POREP] = "stacked-proof-of-replication-",
		[WINNING] = "proof-of-spacetime-fallback-",
		[WINDOW] = "proof-of-spacetime-fallback-",
		[UPDATE] = "empty-sector-update-",
		[UPDATE_POSEIDON] = "empty-sector-update-poseidon-",
	};
	char id[PARAMS_IDENTIFIER_MAX], hex[65];
	unsigned char md[32];
	const struct sector *s;
	enum family family;
	unsigned int i;

	if (is_tiny(circuit))
		return snprintf(buf, PARAMS_NAME_MAX, "%s.%s", circuit, suffix);
	s = circuit_parse(circuit, &family);
	if (!s)
		return -ENOENT;
	params_identifier(circuit, id);
	if (!EVP_Digest(id, strlen(id), md, NULL, EVP_sha256(), NULL))
		return -EIO;
	for (i = 0; i < sizeof(md); i++)
		sprintf(hex + 2 * i, "%02x", md[i]);
	return snprintf(buf, PARAMS_NAME_MAX, "v28-%s%s%s-%s.%s", prefixes[family], s->tree,
			family == POREP ? "-sha256_hasher" : "", hex, suffix);
}
