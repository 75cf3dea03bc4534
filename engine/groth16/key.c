/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* key.c - proving parameters: looked at, loaded on the device, shared, given back */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "engine/circuits/cache.h"
#include "engine/cs/system.h"
#include "engine/groth16/digest.h"
#include "engine/groth16/urgent.h"

#define CS_BYTES_MAX (64ull << 20)	/* of a constraint system; what is less goes back */

static void set_state(struct cuzk_instance *inst, struct circuit_state *line, uint32_t state)
{
	pthread_mutex_lock(circuits_lock(inst));
	/* a file that was found wrong stays so, whatever is loaded of it */
	if (line->state != CUZK_PARAMS_BAD)
		line->state = state;
	pthread_mutex_unlock(circuits_lock(inst));
}

static void key_name(char buf[64], const struct circuit *circuit)
{
	snprintf(buf, 64, "params %s", circuit->name);
}

static void tell(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct cuzk_instance *inst = arg;

	inst->host.heartbeat(inst->host.ctx, inst->gpu_tag, CUZK_STAGE_PARAMS, done, total);
}

/* The file against the manifest; 0 without one. */
static int check_digest(struct cuzk_instance *inst, struct circuit_state *line,
			const struct params *params, const struct progress *progress,
			struct cuzk_error *err)
{
	char want[DIGEST_HEX], have[DIGEST_HEX];
	const char *name = strrchr(line->path, '/') + 1;
	int ret;

	if (!inst->options.manifest)
		return 0;
	ret = manifest_find(inst->options.manifest, name, want, err);
	if (ret == -ENOENT) {
		instance_log(inst, LOG_NOTICE,
			     "%s is not in the manifest %s: not verified by digest", line->path,
			     inst->options.manifest);
		return 0;
	}
	if (ret)
		return ret;
	ret = digest_map_cached(&params->map, inst->options.verdicts, progress, have);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s: digest: %s", line->path,
				 strerror(-ret));
	if (strcmp(want, have))
		return error_set(
			err, CUZK_ERROR_PARAMS, -EBADMSG,
			"%s: its BLAKE2b digest is %s, the manifest has %s: fetch the file again",
			line->path, have, want);
	pthread_mutex_lock(circuits_lock(inst));
	memcpy(line->digest, have, sizeof(have));
	pthread_mutex_unlock(circuits_lock(inst));
	return 0;
}

/* What the host needs for one proof: the witness, and what the device layer takes. */
static uint64_t proof_bytes(struct cuzk_instance *inst, struct circuit_state *line,
			    const struct cs *cs)
{
	uint64_t host = 3 * 32ull << cs->log_domain;

	if (inst->ops->prove_bytes)
		inst->ops->prove_bytes(inst->gpu, cs, &host, &line->device_bytes);
	return host + 32ull * (cs->n_inputs + cs->n_full) + cs->n_aux / 8;
}

int key_system(struct cuzk_instance *inst, const struct circuit *circuit, struct cs **cs,
	       struct cuzk_error *err)
{
	char note[CACHE_NOTE];
	bool mapped;

	if (cache_load(cache_dir(inst->options.cache_dir), circuit, cs, &mapped, note))
		return error_nomem(err, "the constraint system");
	if (*note)
		instance_log(inst, LOG_NOTICE, "%s", note);
	return 0;
}

/* It was truncated while we read; zeros were read in place of what is missing. */
static int shortened(const struct circuit_state *line, struct cuzk_error *err)
{
	return error_set(err, CUZK_ERROR_PARAMS, -ESTALE, "%s was shortened while it was read",
			 line->path);
}

/* Reads all of it, whatever is remembered of a file of this time and size. */
static int check_content(struct cuzk_instance *inst, struct circuit_state *line,
			 const struct params *params, const struct progress *progress,
			 struct cuzk_error *err)
{
	char have[DIGEST_HEX];
	int ret;

	if (!line->digest[0])
		return params_check_points(params, line->path, inst->options.full_check ? 2 : 1,
					   NULL, progress, err);
	ret = digest_map(&params->map, progress, have);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "%s: digest: %s", line->path,
				 strerror(-ret));
	if (strcmp(have, line->digest))
		return error_set(err, CUZK_ERROR_PARAMS, -EBADMSG,
				 "%s: its BLAKE2b digest is %s and was %s: fetch the file again",
				 line->path, have, line->digest);
	return 0;
}

static int probe_file(struct cuzk_instance *inst, struct circuit_state *line, bool thorough,
		      const struct progress *progress, struct cuzk_error *err)
{
	struct params params;
	struct cs *cs;
	int ret;

	ret = params_open(&params, line->path, err);
	if (ret)
		return ret;
	line->params_bytes = params.size;
	line->dev = params.map.dev;
	line->ino = params.map.ino;
	line->mtime_ns = params.map.mtime_ns;
	ret = key_system(inst, &line->circuit, &cs, err);
	if (ret)
		goto out;
	line->proof_bytes = proof_bytes(inst, line, cs);
	line->log_domain = cs->log_domain;
	ret = params_match(&params, line->path, cs, err);
	cs_free(cs);
	if (!ret)
		ret = check_digest(inst, line, &params, progress, err);
	if (!ret && thorough)
		ret = check_content(inst, line, &params, progress, err);
out:
	if (file_broken(&params.map))
		ret = shortened(line, err);
	params_close(&params);
	return ret;
}

/* What the file is now; what was known of another is forgotten. */
static int note_identity(struct circuit_state *line)
{
	struct stat st = { 0 };
	int ret = stat(line->path, &st) ? -errno : 0;
	uint64_t mtime_ns = st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec;

	if (line->dev != st.st_dev || line->ino != st.st_ino || line->mtime_ns != mtime_ns ||
	    line->params_bytes != (uint64_t)st.st_size)
		line->digest[0] = '\0';
	line->dev = st.st_dev;
	line->ino = st.st_ino;
	line->mtime_ns = mtime_ns;
	line->params_bytes = st.st_size;
	return ret;
}

void key_probe_again(struct cuzk_instance *inst, struct circuit_state *line, bool thorough,
		     const struct progress *progress)
{
	struct cuzk_error err;
	int ret;

	line->probed = true;
	if (note_identity(line) == -ENOENT) {
		line->state = CUZK_PARAMS_ABSENT;
		snprintf(line->reason, sizeof(line->reason), "%.240s is absent", line->path);
		return;
	}
	progress_tell(progress, "look at", 0, 0);
	ret = probe_file(inst, line, thorough, progress, &err);
	if (ret) {
		line->state = CUZK_PARAMS_BAD;
		snprintf(line->reason, sizeof(line->reason), "%.255s", err.text);
		instance_log(inst, LOG_ERR, "%s", err.text);
		return;
	}
	line->state = CUZK_PARAMS_COLD;
	line->reason[0] = '\0';
	line->urgent = urgent_fits(inst, line);
}

void key_probe(struct cuzk_instance *inst, struct circuit_state *line)
{
	struct progress progress = { tell, inst };

	key_probe_again(inst, line, false, &progress);
}

/* Decodes into memory that the host then keeps. */
static int load_new(struct cuzk_instance *inst, struct key *key, struct gpu_srs_desc *desc,
		    int check, uint64_t *bad)
{
	int ret;

	desc->memory = key->kept.points;
	ret = inst->ops->srs_load(inst->gpu, desc, check, &key->gpu_srs, bad);
	if (ret)
		return ret;
	inst->ops->srs_unload(inst->gpu, key->gpu_srs);
	key->gpu_srs = NULL;
	ret = kept_seal(inst, key, &key->kept);
	if (ret)
		return ret;
	key->line->kept_bad = false;
	desc->memory = key->kept.points;
	desc->prepared = true;
	return inst->ops->srs_load(inst->gpu, desc, check, &key->gpu_srs, bad);
}

/* The points: kept ones, or decoded to be kept, or decoded for this process alone. */
static int load_srs(struct cuzk_instance *inst, struct key *key, bool only_kept, uint64_t *bad)
{
	int check = inst->options.full_check ? 2 : 1, ret;
	struct gpu_srs_desc desc;

	params_srs_desc(&key->params, &desc);
	if (key->coset.inputs)
		coset_srs_desc(&key->coset, &desc);
	if (key->line && kept_offered(inst)) {
		if (!key->line->kept_bad && !kept_take(inst, key, &desc, &key->kept)) {
			key->unseen = true;
			desc.memory = key->kept.points;
			desc.prepared = true;
		} else if (only_kept) {
			return -ESTALE;
		} else {
			ret = kept_new(inst, key, &desc, &key->kept);
			if (!ret)
				return load_new(inst, key, &desc, check, bad);
			instance_log(inst, LOG_WARNING, "the parameters of %s are not kept: %s",
				     key->circuit.name, strerror(-ret));
		}
	}
	return inst->ops->srs_load(inst->gpu, &desc, check, &key->gpu_srs, bad);
}

/* In words; a point that the device calls bad is looked at here, in the file that it is from. */
static int load_failed(struct cuzk_instance *inst, struct key *key, int ret, uint64_t bad,
		       struct cuzk_error *err)
{
	const char *name = key->line ? key->line->path : key->circuit.name;
	int level = inst->options.full_check ? 2 : 1;

	if (ret != -EBADMSG)
		return job_gpu_error(inst, "loading the parameters", ret, err);
	if (key->coset.inputs && bad >> 56 <= PARAMS_L)
		ret = coset_bad_point(&key->coset, name, level, bad, err);
	else
		ret = params_bad_point(&key->params, name, level, bad, err);
	if (ret == -EIO)
		atomic_store(&inst->lost, true);
	return ret;
}

static int make(struct cuzk_instance *inst, struct key *key, bool only_kept,
		struct cuzk_error *err)
{
	uint64_t bad = 0;
	int ret;

	ret = pvk_open(&key->pvk, &key->params.vk);
	if (ret)
		return error_nomem(err, "the verifying key");
	ret = inst->ops->cs_load(inst->gpu, key->cs, &key->gpu_cs);
	if (ret) {
		job_gpu_error(inst, "loading the constraint system", ret, err);
		goto err_close_pvk;
	}
	ret = load_srs(inst, key, only_kept, &bad);
	if (ret) {
		ret = load_failed(inst, key, ret, bad, err);
		goto err_close_kept;
	}
	file_forget(&key->params.map);
	if (key->coset.inputs)
		file_forget(&key->coset.map);
	return 0;

err_close_kept:
	kept_close(&key->kept);
	inst->ops->cs_unload(inst->gpu, key->gpu_cs);
	key->gpu_cs = NULL;
err_close_pvk:
	pvk_close(key->pvk);
	key->pvk = NULL;
	return ret;
}

int key_make(struct cuzk_instance *inst, struct key *key, struct cuzk_error *err)
{
	return make(inst, key, false, err);
}

/* What needs gpu_lock of giving a key back. */
static void unload(struct cuzk_instance *inst, struct key *key)
{
	if (key->gpu_srs)
		inst->ops->srs_unload(inst->gpu, key->gpu_srs);
	if (key->gpu_cs)
		inst->ops->cs_unload(inst->gpu, key->gpu_cs);
	key->gpu_srs = NULL;
	key->gpu_cs = NULL;
}

void key_free(struct cuzk_instance *inst, struct key *key)
{
	char name[64];

	if (!key)
		return;
	unload(inst, key);
	kept_close(&key->kept);
	pvk_close(key->pvk);
	coset_close(&key->coset);
	params_close(&key->params);
	cs_free(key->cs);
	if (key->reserved) {
		key_name(name, &key->circuit);
		inst->host.release(inst->host.ctx, name, key->reserved);
	}
	free(key);
}

/*
 * The file may have been replaced since it was looked at, and one of the same
 * circuit has the same size: another needs its digest checked, or proofs would
 * be made, and found good, with parameters that nobody vouches for.
 */
static int check_same(struct cuzk_instance *inst, struct circuit_state *line,
		      const struct params *params, struct cuzk_error *err)
{
	const struct file_map *map = &params->map;
	struct progress progress = { tell, inst };
	int ret;

	if (params->size != line->params_bytes)
		return error_set(err, CUZK_ERROR_PARAMS, -ESTALE,
				 "%s changed since it was checked", line->path);
	if (map->dev == line->dev && map->ino == line->ino && map->mtime_ns == line->mtime_ns)
		return 0;
	instance_log(inst, LOG_NOTICE, "%s was replaced since it was checked: checking it again",
		     line->path);
	ret = check_digest(inst, line, params, &progress, err);
	if (ret)
		return ret;
	pthread_mutex_lock(circuits_lock(inst));
	line->dev = map->dev;
	line->ino = map->ino;
	line->mtime_ns = map->mtime_ns;
	if (!inst->options.manifest)
		line->digest[0] = '\0';	/* the next scrub finds it */
	pthread_mutex_unlock(circuits_lock(inst));
	return 0;
}

/* The rearranged h and l, if they are there; nothing depends on them but speed. */
static void open_coset(struct cuzk_instance *inst, struct key *key)
{
	char path[sizeof(key->line->path) + sizeof(COSET_SUFFIX)];
	struct cuzk_error err;
	int ret;

	snprintf(path, sizeof(path), "%s" COSET_SUFFIX, key->line->path);
	ret = coset_open(&key->coset, path, &key->params, &err);
	if (!ret)
		instance_log(inst, LOG_INFO, "%s: proofs of %s take four transforms", path,
			     key->circuit.name);
	else if (ret != -ENOENT)
		instance_log(inst, LOG_ERR, "%s: not used", err.text);
}

/*
 * Loads under gpu_lock; when there is no room now: -ENOMEM on the device, -ENOBUFS in
 * the host's budget.  only_kept: they are not decoded.
 */
static int key_load(struct cuzk_instance *inst, struct circuit_state *line, bool only_kept,
		    struct key **out, struct cuzk_error *err)
{
	uint64_t bytes = line->params_bytes + CS_BYTES_MAX, spare;
	struct key *key;
	char name[64];
	int ret;

	key = calloc(1, sizeof(*key));
	if (!key)
		return error_nomem(err, "a key");
	key->line = line;
	key->circuit = line->circuit;
	key_name(name, &key->circuit);
	if (inst->host.reserve(inst->host.ctx, name, bytes)) {
		free(key);
		return error_set(err, CUZK_ERROR_RESOURCE, -ENOBUFS,
				 "no room in the memory budget for %" PRIu64
				 " MiB of parameters of %s",
				 bytes >> 20, line->circuit.name);
	}
	key->reserved = bytes;
	ret = params_open(&key->params, line->path, err);
	if (ret)
		goto err_free;
	ret = check_same(inst, line, &key->params, err);
	if (ret)
		goto err_free;
	ret = key_system(inst, &key->circuit, &key->cs, err);
	if (ret)
		goto err_free;
	ret = params_match(&key->params, line->path, key->cs, err);
	if (ret)
		goto err_free;
	open_coset(inst, key);
	ret = make(inst, key, only_kept, err);
	if (ret && key->coset.inputs && err->cls == CUZK_ERROR_PARAMS && !only_kept) {
		/* the parameters themselves may be whole: slower is better than not at all */
		instance_log(inst, LOG_ERR, "%s" COSET_SUFFIX " or its source is damaged: %s: "
			     "trying without it", line->path, err->text);
		coset_close(&key->coset);
		ret = make(inst, key, only_kept, err);
	}
	if (file_broken(&key->params.map)) {
		ret = shortened(line, err);
		kept_drop(inst, line);
	}
	if (ret)
		goto err_free;
	spare = cs_size(key->cs) < CS_BYTES_MAX ? CS_BYTES_MAX - cs_size(key->cs) : 0;
	inst->host.release(inst->host.ctx, name, spare);
	key->reserved -= spare;
	*out = key;
	return 0;

err_free:
	key_free(inst, key);
	return ret;
}

/* Unlinks the one that was used longest ago and has no user; NULL: none. */
static struct key *take_oldest(struct cuzk_instance *inst)
{
	struct key **p, **oldest = NULL, *key = NULL;

	pthread_mutex_lock(&inst->keys_lock);
	for (p = &inst->keys; *p; p = &(*p)->next)
		if (!(*p)->users && !(*p)->checking && (!oldest || (*p)->used_at < (*oldest)->used_at))
			oldest = p;
	if (oldest) {
		key = *oldest;
		*oldest = key->next;
	}
	pthread_mutex_unlock(&inst->keys_lock);
	return key;
}

/* Under keys_lock. */
static struct key *find_key(struct cuzk_instance *inst, const struct circuit_state *line)
{
	struct key *key;

	for (key = inst->keys; key && key->line != line; key = key->next)
		;
	return key;
}

/* Under keys_lock, which it gives up meanwhile: the key is being verified, says the heartbeat. */
static void wait_seen(struct cuzk_instance *inst, struct key *key, uint64_t tag)
{
	uint64_t done = key->seen_blocks, all = kept_blocks(&key->kept);
	struct timespec until;

	key->wanted = true;
	pthread_cond_broadcast(&inst->kept_changed);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec++;
	pthread_cond_timedwait(&inst->kept_changed, &inst->keys_lock, &until);
	pthread_mutex_unlock(&inst->keys_lock);
	inst->host.heartbeat(inst->host.ctx, tag, CUZK_STAGE_PARAMS, done, all);
	pthread_mutex_lock(&inst->keys_lock);
}

/* NULL: there is none, or what there was is damaged. */
static struct key *take_user(struct cuzk_instance *inst, const struct circuit_state *line,
			     uint64_t tag)
{
	struct key *key;

	pthread_mutex_lock(&inst->keys_lock);
	while ((key = find_key(inst, line)) && key->unseen)
		wait_seen(inst, key, tag);
	if (key) {
		key->users++;
		key->used_at = ++inst->clock;
	}
	pthread_mutex_unlock(&inst->keys_lock);
	return key;
}

static void add_users(struct cuzk_instance *inst, struct circuit_state *line, int n)
{
	if (!line)
		return;
	pthread_mutex_lock(circuits_lock(inst));
	line->users += n;
	pthread_mutex_unlock(circuits_lock(inst));
}

/*
 * Nobody shall have it any more, but at the instance's end.  It is unloaded, and no lock is held:
 * to unmap tens of gigabytes takes a while, and the proof before may be at its end.
 */
static void drop(struct cuzk_instance *inst, struct key *key)
{
	bool kept = key->kept.map && key->line;

	if (key->line)
		set_state(inst, key->line, CUZK_PARAMS_COLD);
	if (kept)
		kept_drop(inst, key->line);
	key_free(inst, key);
}

static void add_key(struct cuzk_instance *inst, struct key *key, unsigned int users)
{
	pthread_mutex_lock(&inst->keys_lock);
	key->users = users;
	key->used_at = ++inst->clock;
	key->next = inst->keys;
	inst->keys = key;
	pthread_cond_broadcast(&inst->kept_changed);
	pthread_mutex_unlock(&inst->keys_lock);
}

void key_drop_damaged(struct cuzk_instance *inst)
{
	struct key **p, *key = NULL;

	/* before anybody can load it again, which puts other memory in its place */
	pthread_mutex_lock(&inst->gpu_lock);
	pthread_mutex_lock(&inst->keys_lock);
	for (p = &inst->keys; *p && !(*p)->damaged; p = &(*p)->next)
		;
	key = *p;
	if (key) {
		*p = key->next;
		key->line->kept_bad = true;
	}
	pthread_cond_broadcast(&inst->kept_changed);
	pthread_mutex_unlock(&inst->keys_lock);
	if (key)
		drop(inst, key);
	pthread_mutex_unlock(&inst->gpu_lock);
}

/* An error that will not go away by itself marks the circuit. */
static void mark_bad(struct cuzk_instance *inst, struct circuit_state *line,
		     const struct cuzk_error *err)
{
	pthread_mutex_lock(circuits_lock(inst));
	line->state = CUZK_PARAMS_BAD;
	snprintf(line->reason, sizeof(line->reason), "%.255s", err->text);
	pthread_mutex_unlock(circuits_lock(inst));
}

/*
 * Drops a key that nobody uses; false: there is none.  Under gpu_lock, which is given up for a
 * while.  Where it is the host's memory that is short, a key of the other one of instance and
 * lane may go last; neither waits for the other's device.
 */
static bool make_room(struct cuzk_instance *inst, const struct circuit_state *line,
		      bool host_short)
{
	struct cuzk_instance *other = inst->parent ? inst->parent : inst->urgent, *from = inst;
	struct key *old = take_oldest(inst);

	if (old) {
		unload(inst, old);
	} else if (host_short && other && !pthread_mutex_trylock(&other->gpu_lock)) {
		from = other;
		old = take_oldest(other);
		if (old)
			unload(other, old);
		pthread_mutex_unlock(&other->gpu_lock);
	}
	if (!old)
		return false;
	instance_log(inst, LOG_INFO, "the parameters of %s make room for those of %s",
		     old->circuit.name, line->circuit.name);
	pthread_mutex_unlock(&inst->gpu_lock);
	drop(from, old);
	pthread_mutex_lock(&inst->gpu_lock);
	return true;
}

static bool is_loaded(struct cuzk_instance *inst, const struct circuit_state *line)
{
	const struct key *key;

	pthread_mutex_lock(&inst->keys_lock);
	key = find_key(inst, line);
	pthread_mutex_unlock(&inst->keys_lock);
	return key;
}

/* *key has one user, or is NULL: it is loaded and has to be taken. */
static int load(struct cuzk_instance *inst, struct circuit_state *line, uint64_t tag,
		struct key **key, struct cuzk_error *err)
{
	uint32_t state;
	bool unseen;
	int ret;

	*key = NULL;
	pthread_mutex_lock(circuits_lock(inst));
	state = line->state;
	if (state == CUZK_PARAMS_ABSENT || state == CUZK_PARAMS_BAD)
		error_set(err, CUZK_ERROR_PARAMS, -ENOENT, "%s: %s", line->circuit.name,
			  line->reason);
	pthread_mutex_unlock(circuits_lock(inst));
	if (state == CUZK_PARAMS_ABSENT || state == CUZK_PARAMS_BAD)
		return -ENOENT;

	pthread_mutex_lock(&inst->gpu_lock);
	do {
		/* a lane's is asked for by two threads */
		if (is_loaded(inst, line)) {
			ret = 0;
			break;
		}
		inst->gpu_job = NULL;
		inst->gpu_tag = tag;
		ret = key_load(inst, line, false, key, err);
	} while ((ret == -ENOMEM || ret == -ENOBUFS) && make_room(inst, line, ret == -ENOBUFS));
	if (!ret && *key) {
		/* what another instance has put is verified before its first use */
		unseen = (*key)->unseen;
		add_key(inst, *key, unseen ? 0 : 1);
		if (unseen)
			*key = NULL;
	}
	pthread_mutex_unlock(&inst->gpu_lock);
	if (ret && err->cls == CUZK_ERROR_PARAMS)
		mark_bad(inst, line, err);
	return ret == -ENOBUFS ? -ENOMEM : ret;
}

int key_get(struct cuzk_instance *inst, struct circuit_state *line, uint64_t tag,
	    struct key **out, bool *was, struct cuzk_error *err)
{
	struct key *key;
	int ret;

	*was = true;
	while (!(key = take_user(inst, line, tag))) {
		*was = false;
		ret = load(inst, line, tag, &key, err);
		if (ret)
			return ret;
		set_state(inst, line, CUZK_PARAMS_HOT);
		if (key)
			break;
	}
	add_users(inst, line, 1);
	*out = key;
	return 0;
}

void key_put(struct cuzk_instance *inst, struct key *key)
{
	add_users(inst, key->line, -1);
	pthread_mutex_lock(&inst->keys_lock);
	key->users--;
	pthread_mutex_unlock(&inst->keys_lock);
}

int key_evict(struct cuzk_instance *inst, struct circuit_state *line, bool *was, uint64_t *bytes)
{
	struct key **p, *key = NULL;
	int ret = 0;

	pthread_mutex_lock(&inst->keys_lock);
	while ((key = find_key(inst, line)) && key->checking) {
		key->let_go = true;
		pthread_cond_wait(&inst->kept_changed, &inst->keys_lock);
	}
	key = NULL;
	for (p = &inst->keys; *p && (*p)->line != line; p = &(*p)->next)
		;
	if (*p && (*p)->users) {
		ret = -EBUSY;
	} else if (*p) {
		key = *p;
		*p = key->next;
	}
	pthread_mutex_unlock(&inst->keys_lock);
	if (ret)
		return ret;
	*was = key != NULL;
	*bytes = key ? key->reserved : 0;
	if (key) {
		pthread_mutex_lock(&inst->gpu_lock);
		unload(inst, key);
		pthread_mutex_unlock(&inst->gpu_lock);
		drop(inst, key);
	}
	return 0;
}

void key_evict_all(struct cuzk_instance *inst)
{
	struct key *key;

	/* what is kept stays with the host, for the next process */
	while ((key = take_oldest(inst)))
		key_free(inst, key);
}

void key_restore(struct cuzk_instance *inst)
{
	struct cuzk_instance *owner = inst->parent ? inst->parent : inst;
	struct cuzk_error err;
	struct key *key;
	size_t i;

	for (i = 0; kept_offered(inst) && i < owner->n_circuits; i++) {
		struct circuit_state *line = &owner->circuits[i];

		if (urgent_home(owner, line) != inst || !kept_exists(inst, line))
			continue;
		tell(inst, "take", i, owner->n_circuits);
		if (line->state != CUZK_PARAMS_COLD || key_load(inst, line, true, &key, &err)) {
			instance_log(inst, LOG_NOTICE,
				     "the parameters of %s were kept and are not taken: %s",
				     line->circuit.name,
				     line->state == CUZK_PARAMS_COLD ? err.text : line->reason);
			kept_drop(inst, line);
			continue;
		}
		add_key(inst, key, 0);
		set_state(inst, line, CUZK_PARAMS_HOT);
		instance_log(inst, LOG_INFO, "the parameters of %s were kept", line->circuit.name);
	}
}
