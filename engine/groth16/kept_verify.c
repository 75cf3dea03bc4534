/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * kept_verify.c - the thread that verifies points that were kept
 *
 * Keys that were taken out of kept memory are not used until this thread has
 * read them (kept.h says why).  The one that a job waits for goes first, then
 * the smallest: WinningPoSt is there at once.  What is damaged is dropped, and
 * who wants it loads it from its file.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <syslog.h>

#include "engine/groth16/instance.h"

#define PIECE 64u	/* blocks between two looks whether something else is wanted */

struct piece {
	const struct kept *kept;
	uint64_t first;
	_Atomic uint64_t bad;	/* lowest bad block; UINT64_MAX: none */
};

static void check_block(void *arg, size_t i, unsigned int thread)
{
	struct piece *p = arg;
	uint64_t block = p->first + i, seen = atomic_load(&p->bad);

	if (kept_block_good(p->kept, block))
		return;
	while (block < seen && !atomic_compare_exchange_weak(&p->bad, &seen, block))
		;
}

/* Under keys_lock. */
static struct key *next(struct cuzk_instance *inst)
{
	struct key *key, *best = NULL;

	for (key = inst->keys; key; key = key->next) {
		if (!key->unseen || key->damaged || key->let_go)
			continue;
		if (!best || key->wanted > best->wanted ||
		    (key->wanted == best->wanted && key->kept.size < best->kept.size))
			best = key;
	}
	return best;
}

/* Under keys_lock, which it gives up meanwhile: one piece of the key. */
static void check_piece(struct cuzk_instance *inst, struct key *key)
{
	struct piece p = { .kept = &key->kept, .first = key->seen_blocks, .bad = UINT64_MAX };
	uint64_t left = kept_blocks(&key->kept) - key->seen_blocks;
	uint64_t n = left < PIECE ? left : PIECE;

	key->checking = true;
	pthread_mutex_unlock(&inst->keys_lock);
	tpool_run(inst->admit_pool, check_block, &p, n);
	if (p.bad != UINT64_MAX)
		instance_log(inst, LOG_ERR, "what was kept of the parameters of %s is damaged (MiB %"
			     PRIu64 " of %" PRIu64 "): it is given up", key->circuit.name, p.bad,
			     kept_blocks(&key->kept));
	pthread_mutex_lock(&inst->keys_lock);
	key->checking = false;
	key->seen_blocks += n;
	key->damaged = p.bad != UINT64_MAX;
	key->unseen = key->damaged || n < left;
	pthread_cond_broadcast(&inst->kept_changed);
}

static void *verify_main(void *arg)
{
	struct cuzk_instance *inst = arg;
	struct key *key;

	pthread_mutex_lock(&inst->keys_lock);
	while (!inst->kept_stop) {
		key = next(inst);
		if (!key) {
			pthread_cond_wait(&inst->kept_changed, &inst->keys_lock);
			continue;
		}
		check_piece(inst, key);
		if (!key->damaged)
			continue;
		pthread_mutex_unlock(&inst->keys_lock);
		key_drop_damaged(inst);
		pthread_mutex_lock(&inst->keys_lock);
	}
	pthread_mutex_unlock(&inst->keys_lock);
	return NULL;
}

int kept_verify_start(struct cuzk_instance *inst, struct cuzk_error *err)
{
	int ret;

	if (inst->late || !kept_offered(inst))
		return 0;
	ret = pthread_create(&inst->verifier, NULL, verify_main, inst);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, -ret, "starting a thread: %s",
				 strerror(ret));
	inst->has_verifier = true;
	return 0;
}

void kept_verify_stop(struct cuzk_instance *inst)
{
	if (!inst->has_verifier)
		return;
	pthread_mutex_lock(&inst->keys_lock);
	inst->kept_stop = true;
	pthread_cond_broadcast(&inst->kept_changed);
	pthread_mutex_unlock(&inst->keys_lock);
	pthread_join(inst->verifier, NULL);
	inst->has_verifier = false;
}
