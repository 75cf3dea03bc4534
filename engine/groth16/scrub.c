/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * scrub.c - looks at the parameter files again while there is nothing to prove
 *
 * Every few seconds: is each file still the one that was checked?  Once in a
 * scrub period: is its content?  A file that is not, or that is gone or of another
 * size, disables its circuit, and the reason says so; one that was replaced is
 * checked again when it is loaded (key.c).  What is loaded is not read again: it is in memory.
 *
 * A file that was absent or bad is checked again when it is another than the one
 * that was looked at and has not changed from one look to the next, as one that
 * is still being fetched does; and whenever an operator asks (refresh), be it
 * another or not: then it is read in full, since who repairs a block of a file
 * may well set its time back.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "engine/groth16/urgent.h"

#define LOOK_S 10		/* between two looks at the files' identity */
#define BUSY_US 200000		/* until the next look whether it is idle */

/* False: it is over. asked: somebody wants it to look now. */
static bool sleep_until(struct cuzk_instance *inst, uint64_t seconds, bool *asked)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += seconds;
	pthread_mutex_lock(&inst->scrub_lock);
	while (!inst->scrub_stop && !inst->scrub_asked &&
	       pthread_cond_timedwait(&inst->scrub_wake, &inst->scrub_lock, &until) != ETIMEDOUT)
		;
	*asked = inst->scrub_asked;
	inst->scrub_asked = false;
	pthread_mutex_unlock(&inst->scrub_lock);
	return !inst->scrub_stop;
}

/* Called between two pieces: work comes first. */
static bool may_go_on(void *arg)
{
	struct cuzk_instance *inst = arg;
	unsigned int n;

	while (!inst->scrub_stop) {
		pthread_mutex_lock(&inst->jobs_lock);
		n = inst->n_jobs;
		pthread_mutex_unlock(&inst->jobs_lock);
		if (!n)
			return true;
		usleep(BUSY_US);
	}
	return false;
}

static uint32_t state_of(struct cuzk_instance *inst, struct circuit_state *line)
{
	uint32_t state;

	pthread_mutex_lock(circuits_lock(inst));
	state = line->state;
	pthread_mutex_unlock(circuits_lock(inst));
	return state;
}

static void disable(struct cuzk_instance *inst, struct circuit_state *line, const char *why)
{
	pthread_mutex_lock(circuits_lock(inst));
	line->state = CUZK_PARAMS_BAD;
	snprintf(line->reason, sizeof(line->reason), "%.150s %.100s", line->path, why);
	pthread_mutex_unlock(circuits_lock(inst));
	instance_log(inst, LOG_ERR, "%s is disabled: %s %s", line->circuit.name, line->path, why);
}

enum found { SAME, REPLACED, OTHER_SIZE };

/* One that was replaced by another of its size is checked when it is loaded. */
static enum found compare(struct cuzk_instance *inst, struct circuit_state *line)
{
	enum found found = SAME;
	struct stat st;

	if (stat(line->path, &st) || (uint64_t)st.st_size != line->params_bytes)
		return OTHER_SIZE;
	pthread_mutex_lock(circuits_lock(inst));
	if (st.st_dev != line->dev || st.st_ino != line->ino ||
	    st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec != line->mtime_ns)
		found = REPLACED;
	pthread_mutex_unlock(circuits_lock(inst));
	return found;
}

static void look(struct cuzk_instance *inst)
{
	size_t i;

	for (i = 0; i < inst->n_circuits; i++) {
		struct circuit_state *line = &inst->circuits[i];
		uint32_t state = state_of(inst, line);

		if (state != CUZK_PARAMS_ABSENT && state != CUZK_PARAMS_BAD &&
		    compare(inst, line) == OTHER_SIZE)
			disable(inst, line, "changed since it was checked");
	}
}

/* ---- files that were not usable ---- */

static void wait_idle(void *arg, const char *what, uint64_t done, uint64_t total)
{
	may_go_on(arg);
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Another file than the one that was looked at, and the same as at the last look. */
static bool rests(struct cuzk_instance *inst, struct circuit_state *line)
{
	struct stat st = { 0 };
	bool other, still;

	if (stat(line->path, &st))
		memset(&st, 0, sizeof(st));	/* none is one of its own */
	pthread_mutex_lock(circuits_lock(inst));
	other = st.st_dev != line->dev || st.st_ino != line->ino ||
		(uint64_t)st.st_size != line->params_bytes ||
		st.st_mtim.tv_sec * 1000000000ull + st.st_mtim.tv_nsec != line->mtime_ns;
	pthread_mutex_unlock(circuits_lock(inst));
	still = same_file(&st, &line->again);
	line->again = st;
	return other && still;
}

/* The result of another look, unless it is usable by now. */
static bool publish(struct cuzk_instance *inst, struct circuit_state *line,
		    const struct circuit_state *found)
{
	struct cuzk_instance *home = urgent_home(inst, line);
	const struct key *key;
	bool wanted;

	/* what is loaded of it stays loaded, and where it is */
	pthread_mutex_lock(&home->keys_lock);
	for (key = home->keys; key && key->line != line; key = key->next)
		;
	pthread_mutex_lock(circuits_lock(inst));
	wanted = line->state == CUZK_PARAMS_ABSENT || line->state == CUZK_PARAMS_BAD;
	if (wanted) {
		line->dev = found->dev;
		line->ino = found->ino;
		line->mtime_ns = found->mtime_ns;
		line->params_bytes = found->params_bytes;
		line->proof_bytes = found->proof_bytes;
		line->device_bytes = found->device_bytes;
		line->log_domain = found->log_domain;
		if (!key)
			line->urgent = found->urgent;
		memcpy(line->digest, found->digest, sizeof(line->digest));
		memcpy(line->reason, found->reason, sizeof(line->reason));
		line->state = found->state == CUZK_PARAMS_COLD && key ? CUZK_PARAMS_HOT :
			      found->state;
	}
	pthread_mutex_unlock(circuits_lock(inst));
	pthread_mutex_unlock(&home->keys_lock);
	return wanted;
}

static void look_again(struct cuzk_instance *inst, struct circuit_state *line, bool thorough)
{
	struct progress progress = { wait_idle, inst };
	struct circuit_state *found;

	found = malloc(sizeof(*found));
	if (!found || !may_go_on(inst))
		goto out;
	pthread_mutex_lock(circuits_lock(inst));
	*found = *line;
	pthread_mutex_unlock(circuits_lock(inst));
	key_probe_again(inst, found, thorough, &progress);
	if (publish(inst, line, found) && found->state == CUZK_PARAMS_COLD)
		instance_log(inst, LOG_NOTICE, "%s is usable again: %s was checked",
			     line->circuit.name, line->path);
out:
	free(found);
}

static void look_for_repairs(struct cuzk_instance *inst, bool asked)
{
	size_t i;

	for (i = 0; i < inst->n_circuits && !inst->scrub_stop; i++) {
		struct circuit_state *line = &inst->circuits[i];
		uint32_t state = state_of(inst, line);

		if (state != CUZK_PARAMS_ABSENT && state != CUZK_PARAMS_BAD)
			continue;
		if (rests(inst, line) || asked)
			look_again(inst, line, asked && state == CUZK_PARAMS_BAD);
	}
}

void scrub_refresh(struct cuzk_instance *inst)
{
	pthread_mutex_lock(&inst->scrub_lock);
	inst->scrub_asked = true;
	pthread_cond_signal(&inst->scrub_wake);
	pthread_mutex_unlock(&inst->scrub_lock);
}

/* ---- files that were ---- */

static void scrub(struct cuzk_instance *inst)
{
	char hex[DIGEST_HEX];
	bool same;
	size_t i;
	int ret;

	for (i = 0; i < inst->n_circuits && !inst->scrub_stop; i++) {
		struct circuit_state *line = &inst->circuits[i];
		uint32_t state = state_of(inst, line);

		if (state == CUZK_PARAMS_ABSENT || state == CUZK_PARAMS_BAD || !may_go_on(inst))
			continue;
		ret = digest_path(line->path, may_go_on, inst, hex);
		if (ret == -ECANCELED || compare(inst, line) != SAME)
			continue;
		if (ret) {
			disable(inst, line, "cannot be read");
			continue;
		}
		pthread_mutex_lock(circuits_lock(inst));
		if (!line->digest[0])
			memcpy(line->digest, hex, sizeof(hex));
		same = !strcmp(line->digest, hex);
		pthread_mutex_unlock(circuits_lock(inst));
		if (!same)
			disable(inst, line, "has another digest than before: the disk fails");
	}
}

static void *scrub_main(void *arg)
{
	const struct sched_param none = { 0 };
	struct cuzk_instance *inst = arg;
	uint64_t since = 0, wait = LOOK_S;
	bool asked;

	/* only time that nobody wants; where it is refused the pauses must do */
	sched_setscheduler(0, SCHED_IDLE, &none);
	if (inst->options.scrub && inst->options.scrub < wait)
		wait = inst->options.scrub;
	while (sleep_until(inst, wait, &asked)) {
		since += asked ? 0 : wait;
		look(inst);
		look_for_repairs(inst, asked);
		if (!inst->options.scrub || since < inst->options.scrub)
			continue;
		scrub(inst);
		since = 0;
	}
	return NULL;
}

int scrub_start(struct cuzk_instance *inst, struct cuzk_error *err)
{
	int ret;

	if (inst->late)
		return 0;
	ret = pthread_create(&inst->scrubber, NULL, scrub_main, inst);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, -ret, "starting a thread: %s",
				 strerror(ret));
	inst->has_scrubber = true;
	return 0;
}

void scrub_stop(struct cuzk_instance *inst)
{
	if (!inst->has_scrubber)
		return;
	pthread_mutex_lock(&inst->scrub_lock);
	inst->scrub_stop = true;
	pthread_cond_signal(&inst->scrub_wake);
	pthread_mutex_unlock(&inst->scrub_lock);
	pthread_join(inst->scrubber, NULL);
	inst->has_scrubber = false;
}
