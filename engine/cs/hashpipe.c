/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * hashpipe.c - SHA-256 of up to three streams on a thread of its own
 *
 * A ring of slots between one producer and the hashing thread; slots are
 * small enough that the bytes stay in the cache between the two.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/cs/hashpipe.h"

#define SLOTS 4

struct hashpipe {
	unsigned int n;
	EVP_MD_CTX *ctx[HASHPIPE_STREAMS];
	struct hashpipe_slot slots[SLOTS];
	pthread_t thread;

	pthread_mutex_t ring_lock;	/* protects the rest */
	pthread_cond_t changed;
	unsigned long put, taken;	/* slots queued, slots hashed */
	bool end, failed;
};

static void *hash_main(void *arg)
{
	struct hashpipe *p = arg;
	bool failed = false;
	unsigned int k;

	pthread_mutex_lock(&p->ring_lock);
	for (;;) {
		struct hashpipe_slot *s = &p->slots[p->taken % SLOTS];

		if (p->taken == p->put) {
			if (p->end)
				break;
			pthread_cond_wait(&p->changed, &p->ring_lock);
			continue;
		}
		pthread_mutex_unlock(&p->ring_lock);
		for (k = 0; k < p->n; k++)
			if (EVP_DigestUpdate(p->ctx[k], s->buf[k], s->len[k]) != 1)
				failed = true;
		pthread_mutex_lock(&p->ring_lock);
		p->taken++;
		pthread_cond_signal(&p->changed);
	}
	p->failed = failed;
	pthread_mutex_unlock(&p->ring_lock);
	return NULL;
}

static void free_all(struct hashpipe *p)
{
	unsigned int k, i;

	for (k = 0; k < p->n; k++) {
		EVP_MD_CTX_free(p->ctx[k]);
		for (i = 0; i < SLOTS; i++)
			free(p->slots[i].buf[k]);
	}
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->ring_lock);
	free(p);
}

int hashpipe_open(struct hashpipe **out, unsigned int n_streams, size_t slot_size)
{
	struct hashpipe *p = calloc(1, sizeof(*p));
	unsigned int k, i;
	int err = -ENOMEM;

	if (!p)
		return -ENOMEM;
	p->n = n_streams;
	pthread_mutex_init(&p->ring_lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	for (k = 0; k < n_streams; k++) {
		p->ctx[k] = EVP_MD_CTX_new();
		if (!p->ctx[k])
			goto err_free;
		for (i = 0; i < SLOTS; i++) {
			p->slots[i].buf[k] = malloc(slot_size);
			if (!p->slots[i].buf[k])
				goto err_free;
		}
	}
	err = -EIO;
	for (k = 0; k < n_streams; k++)
		if (EVP_DigestInit_ex(p->ctx[k], EVP_sha256(), NULL) != 1)
			goto err_free;
	err = -pthread_create(&p->thread, NULL, hash_main, p);
	if (err)
		goto err_free;
	*out = p;
	return 0;

err_free:
	free_all(p);
	return err;
}

struct hashpipe_slot *hashpipe_get(struct hashpipe *p)
{
	struct hashpipe_slot *s;
	unsigned int k;

	pthread_mutex_lock(&p->ring_lock);
	while (p->put - p->taken == SLOTS)
		pthread_cond_wait(&p->changed, &p->ring_lock);
	s = &p->slots[p->put % SLOTS];
	pthread_mutex_unlock(&p->ring_lock);
	for (k = 0; k < p->n; k++)
		s->len[k] = 0;
	return s;
}

void hashpipe_put(struct hashpipe *p)
{
	pthread_mutex_lock(&p->ring_lock);
	p->put++;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->ring_lock);
}

int hashpipe_close(struct hashpipe *p, uint8_t (*out)[32])
{
	unsigned int k;
	int err;

	pthread_mutex_lock(&p->ring_lock);
	p->end = true;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->ring_lock);
	pthread_join(p->thread, NULL);
	err = p->failed ? -EIO : 0;
	for (k = 0; out && k < p->n && !err; k++)
		if (EVP_DigestFinal_ex(p->ctx[k], out[k], NULL) != 1)
			err = -EIO;
	free_all(p);
	return err;
}
