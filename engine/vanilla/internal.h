/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* internal.h - what the vanilla-proof readers share */
#ifndef CUZK_VANILLA_INTERNAL_H
#define CUZK_VANILLA_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/vanilla/vanilla.h"
#include "lib/bincode.h"
#include "lib/field_path.h"

/* ---- sizes (filecoin-spec 4.3, 4.4) ---- */

#define MAX_LEVELS 31		/* TreeD of 64 GiB */
#define MAX_SIBLINGS 71		/* 10 levels of 8 and one of 2 */
#define MAX_LAYERS 11
#define N_PARENTS (POREP_DRG_PARENTS + POREP_EXP_PARENTS)
#define N_HASHED_PARENTS 37
#define MAX_POREP_PARTITIONS 126
#define MAX_POREP_CHALLENGES 18
#define WINNING_CHALLENGES 66
#define WINDOW_CHALLENGES 10
#define MAX_APEX_LEAFS 128

struct tree {
	unsigned int n_levels, n_siblings;
	unsigned int n_parts;			/* 1 Single, 2 Sub, 3 Top */
	unsigned int part_levels[3];		/* base, sub, top */
	uint8_t arity[MAX_LEVELS];		/* of each level, from the leaf up */
};

struct sector_shape {
	const char *suffix;		/* of circuit names */
	const char *text;		/* for messages, and in names of seal proofs */
	uint64_t bytes;
	unsigned int log_nodes;
	struct tree tree_r, tree_d;	/* tree_r is TreeC's shape, too */
	unsigned int layers;
	unsigned int porep_partitions, porep_challenges, ni_partitions;
	unsigned int window_sectors;
	unsigned int update_partitions, update_challenges, update_h, update_h_select;
	unsigned int apex_leafs, apex_levels;
};

#define N_SECTOR_SIZES 5
/* i < N_SECTOR_SIZES, in the order of the registered proofs: 2 KiB ... 64 GiB */
const struct sector_shape *sector_shape(unsigned int i);

/* ---- errors ---- */

/* The failure of the lowest item of a loop on several threads. */
struct fault {
	pthread_mutex_t fault_lock;	/* protects the rest */
	bool set;
	size_t item;
	char text[CUZK_ERROR_TEXT];
};

void fault_init(struct fault *f);
void fault_fini(struct fault *f);
__attribute__((format(printf, 3, 4)))
void fault_set(struct fault *f, size_t item, const char *fmt, ...);
/* Is item of no interest any more, because one below failed? */
bool fault_before(struct fault *f, size_t item);

/* Fills err; returns -EINVAL, or -ENOMEM. */
__attribute__((format(printf, 2, 3)))
int input_error(struct cuzk_error *err, const char *fmt, ...);
int memory_error(struct cuzk_error *err, uint64_t bytes);

/* ---- one admitted request ---- */

/* Memory that is cut up front to back; its size is computed beforehand. */
struct arena {
	uint8_t *mem;
	size_t size, used;
};

int arena_open(struct arena *a, size_t size);
/* Zeroed, aligned to 16.  The size is right, so this cannot fail (assert). */
void *arena_take(struct arena *a, size_t size);
#define ARENA_ROUND(size) (((size) + 15) & ~(size_t)15)

enum seal_version {
	SEAL_V1, SEAL_V1_1, SEAL_SYNTHETIC, SEAL_NON_INTERACTIVE,
};

struct vanilla {
	enum cuzk_proof_kind kind;
	const struct sector_shape *shape;
	char circuit[CUZK_CIRCUIT_ID_SIZE];
	uint32_t n_partitions;
	uint64_t bytes;
	struct arena arena;		/* PoSt and update: all that the inputs point to */

	/* PoSt */
	uint8_t randomness[32];
	bool global_index;		/* challenges count through all sectors (API < 1.2) */
	struct post_input post;
	uint32_t n_given;		/* sectors before padding */
	uint64_t first_sector;		/* of the partition, among all */
	uint64_t *sector_ids;		/* n_given */

	/* PoRep */
	enum seal_version version;
	unsigned int registered;
	uint8_t replica_id[32], comm_r[32], comm_d[32], seed[32], ticket[32];
	struct porep_partition *porep;	/* n_partitions */

	/* update */
	struct update_input *update;	/* n_partitions */
};

/* ---- PoRep ---- */

/* What a challenge's proof says beyond the circuit's input; kept during admission. */
enum { COLUMN_OWN = N_PARENTS, N_COLUMNS };	/* columns: parents, then c_x */
struct porep_extra {
	struct fr leaf_c[N_COLUMNS];	/* of the paths in TreeC */
	uint32_t column_index[N_COLUMNS];
	struct fr own_rows[MAX_LAYERS];	/* c_x */
	struct fr leaf_r;
	uint64_t node;			/* of the labels */
};

struct porep_partition {
	struct porep_input input;
	struct porep_challenge_input *challenges;
	struct porep_extra *extra;	/* NULL when admitted */
	struct arena arena;
};

/* What the C1 said that belongs to the whole of it. */
struct c1 {
	uint64_t sector_number;
	struct fr root_c, root_r, root_d;	/* equal in all challenges */
};

/*
 * Parses the envelope and the C1 in it into v->porep: sizes, counts, order of
 * field elements, equal roots, labels' parents equal to the columns' rows.
 */
int porep_c1_read(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		  struct c1 *c1, struct cuzk_error *err);
void porep_free(struct vanilla *v);
const struct porep_input *porep_input(const struct vanilla *v, uint32_t partition);
/* From v's registered proof, ticket and comm_d. */
void porep_replica_id(const struct vanilla *v, uint64_t miner, uint64_t sector, uint8_t id[32]);
/*
 * Label of node on layer (from 0): parents are the labels of the base parents
 * on the same layer, and above layer 0 of the expander parents on the one before.
 */
void porep_label(const uint8_t replica_id[32], unsigned int layer, uint32_t node,
		 const uint8_t *const parents[N_PARENTS], uint8_t out[32]);
/* Column c of a challenge, for messages: "replica_column_proofs.drg_parents[3]". */
const char *porep_column_name(unsigned int c);

/* ---- Merkle proofs ---- */

/* Of one path: index bytes and siblings, n each. */
size_t path_size(const struct tree *tree);
void path_alloc(struct path_input *path, const struct tree *tree, struct arena *a);

/* What a Merkle proof says besides its path. */
struct merkle_ends {
	struct fr root, leaf;
};

/*
 * Reads a Merkle proof of tree's shape whose path must lead to leaf number
 * node; siblings go to where path_alloc() pointed.  Failure: in b.
 */
void merkle_read(struct bincode *b, const struct tree *tree, uint64_t node,
		 struct path_input *path, struct merkle_ends *ends);
void fr_read(struct bincode *b, const char *field, struct fr *x);

/* The place of node on level i, as a path's index gives it. */
unsigned int tree_index(const struct tree *tree, unsigned int level, uint64_t node);
/* Node that a path leads to. */
uint64_t path_node(const struct tree *tree, const struct path_input *path);

/* Hashes n paths of one shape, Poseidon, from leaf up; all at once, level by level. */
#define PATH_BATCH 16
void path_roots(const struct tree *tree, const struct path_input *const *paths,
		const struct fr *leaf, size_t n, struct fr *root);
/* TreeD: SHA-256 with the two top bits cleared.  n_levels of the path, from its first. */
void sha_node(struct fr *out, const struct fr *left, const struct fr *right);
void path_root_sha(const struct path_input *path, unsigned int first, unsigned int n_levels,
		   const struct fr *leaf, struct fr *root);
void comm_r_hash(struct fr *out, const struct fr *comm_c, const struct fr *comm_r_last);

/* ---- challenges and the graph ---- */

uint64_t post_challenge(const uint8_t randomness[32], uint64_t sector, uint64_t index,
			uint64_t nodes);
/* n challenges of partition k into out. */
void porep_challenges(const struct vanilla *v, unsigned int k, unsigned int n, uint32_t *out);
/* Those from number first on, chosen among so many candidates. */
void synthetic_challenges(const uint8_t replica_id[32], const uint8_t comm_r[32],
			  const uint8_t seed[32], uint64_t nodes, uint32_t candidates,
			  uint64_t first, unsigned int n, uint32_t *out);
void update_challenges(const struct sector_shape *shape, const struct fr *comm_r_new,
		       unsigned int k, uint32_t *out);

/* The stacked graph of one porep id. */
struct graph {
	uint32_t nodes;
	bool legacy;			/* ApiVersion 1.0 */
	uint8_t drg_seed[32];		/* 28 bytes, then the node */
	uint64_t feistel_keys[3];
	unsigned int half_bits;
};

void graph_init(struct graph *g, unsigned int registered, unsigned int log_nodes, bool legacy);
/* 6 base parents, 8 expander parents */
void graph_parents(const struct graph *g, uint32_t node, uint32_t parents[N_PARENTS]);

/* ---- kinds ---- */

int post_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
	       struct cuzk_error *err);
int porep_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		struct cuzk_error *err);
int update_admit(struct vanilla *v, const struct cuzk_request *req, struct tpool *pool,
		 struct cuzk_error *err);

/* A commitment of the request: 32 bytes, canonical. */
int request_fr(const struct cuzk_blob *blob, const char *name, struct fr *x,
	       struct cuzk_error *err);

#endif
