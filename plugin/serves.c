/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * serves.c - which kinds of proof there is an instance for
 *
 * Two questions.  What is known now: has an instance said that it has parameters
 * of the kind?  It decides what is accepted and what runs where.  And what may
 * still come: an instance that restarts tells anew what it has, and parameters
 * that were there, or that are there and are not usable, are looked at again by
 * the engine once they are repaired.  While that is so an accepted job waits; a
 * job for which nothing can come any more fails and says why.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "plugin/log.h"
#include "plugin/service.h"

bool worker_usable(const struct worker *w)
{
	enum instance_state state = instance_state(w->inst);

	return state == INSTANCE_READY || state == INSTANCE_BUSY;
}

bool worker_hopeless(const struct worker *w)
{
	enum instance_state state = instance_state(w->inst);

	return state == INSTANCE_QUARANTINED || state == INSTANCE_STOPPED;
}

static bool is_missing(const struct cuzk_circuit *c)
{
	return c->state == CUZK_PARAMS_ABSENT || c->state == CUZK_PARAMS_BAD;
}

static bool is_of(const struct cuzk_circuit *c, uint32_t kind, uint64_t sector_size)
{
	return c->kind == kind && (!sector_size || c->sector_size == sector_size);
}

static bool serves_kind(const struct worker *w, uint32_t kind)
{
	const struct config_device *d = w->device;

	if (!(d->kinds & CONFIG_KIND(kind)))
		return false;
	return !d->reserved_for || d->reserved_for & CONFIG_KIND(kind);
}

static bool refused(const struct worker *w, const struct job *job)
{
	return job->refused >> w->ordinal & 1;
}

/*
 * Has it parameters for a kind and size (0: any)?  True as well when it did not
 * name a circuit of that kind and size at all: then admission decides.
 */
static bool has_params(const struct worker *w, uint32_t kind, uint64_t sector_size)
{
	bool named = false;
	int i;

	for (i = 0; i < w->n_circuits; i++) {
		if (!is_of(&w->circuits[i], kind, sector_size))
			continue;
		if (!is_missing(&w->circuits[i]))
			return true;
		named = true;
	}
	return !named;
}

bool worker_serves(const struct worker *w, const struct job *job)
{
	int i;

	if (!serves_kind(w, job->kind) || refused(w, job))
		return false;
	if (!job->planned)
		return has_params(w, job->kind, job->sector_size);
	for (i = 0; i < w->n_circuits; i++)
		if (w->circuit_hash[i] == job->circuit_hash)
			return !is_missing(&w->circuits[i]);
	return true;
}

bool workers_can(const struct service *svc, const struct job *job)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++)
		if (!worker_hopeless(&svc->workers[i]) && worker_serves(&svc->workers[i], job))
			return true;
	return false;
}

/* ---- why not ---- */

struct text {
	char *at;
	size_t left;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->at, t->left, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	if ((size_t)n >= t->left)
		n = (int)t->left - 1;
	t->at += n;
	t->left -= n;
}

/* Where its engine looks for parameters; NULL: the engine's own default. */
static const char *params_folder(const struct worker *w)
{
	const struct config *cfg = w->svc->config;
	const struct config_engine *engine = config_engine(cfg, w->device->engine);
	unsigned int i;

	for (i = 0; engine && i < engine->n_params; i++)
		if (!strcmp(engine->params[i].name, "params_dir"))
			return engine->params[i].value;
	return cfg->global.params_dir;
}

/* What is damaged says more than what is not there. */
static const struct cuzk_circuit *find_missing(const struct worker *w, uint32_t kind,
					       uint64_t sector_size, int *n)
{
	const struct cuzk_circuit *missing = NULL;
	int i;

	for (i = 0, *n = 0; i < w->n_circuits; i++) {
		const struct cuzk_circuit *c = &w->circuits[i];

		if (!is_of(c, kind, sector_size))
			continue;
		++*n;
		if (is_missing(c) && (!missing || (missing->state == CUZK_PARAMS_ABSENT &&
						   c->state == CUZK_PARAMS_BAD)))
			missing = c;
	}
	return missing;
}

/* Its parameters: one that is damaged, the only one, or all that were looked for. */
static void add_missing(struct text *t, const struct worker *w, uint32_t kind,
			uint64_t sector_size)
{
	const char *folder = params_folder(w), *separator = " ";
	const struct cuzk_circuit *missing;
	int i, n;

	missing = find_missing(w, kind, sector_size, &n);
	if (!missing) {
		add(t, "no parameters");
		return;
	}
	if (n == 1 || missing->state != CUZK_PARAMS_ABSENT) {
		add(t, "parameters of %s are %s%s%s", missing->id,
		    missing->state == CUZK_PARAMS_ABSENT ? "absent" : "not usable",
		    missing->reason[0] ? ": " : "", missing->reason);
		return;
	}
	add(t, "no parameters%s%s; looked for", folder ? " in " : "", folder ? folder : "");
	for (i = 0; i < w->n_circuits; i++) {
		if (!is_of(&w->circuits[i], kind, sector_size))
			continue;
		add(t, "%s%s", separator, w->circuits[i].id);
		separator = ", ";
	}
}

static void add_out(struct text *t, const struct worker *w)
{
	struct instance_status st;

	instance_status(w->inst, &st);
	add(t, "%s is %s%s%.160s", instance_name(w->inst), instance_state_name(st.state),
	    st.reason[0] ? ": " : "", st.reason);
}

/*
 * Each instance that is configured for the kind, and why it does not serve it.
 * job: the one that asks, which some may have refused; NULL: none.  False: these are
 * the words of the instance that refused it.
 */
static bool explain(const struct service *svc, uint32_t kind, uint64_t sector_size,
		    const struct job *job, struct cuzk_error *why)
{
	struct text t = { why->text, sizeof(why->text) };
	const struct worker *living = NULL;
	const struct cuzk_circuit *missing;
	uint32_t i, out = 0, n = 0;
	bool was_refused = false;
	int named;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (!serves_kind(w, kind))
			continue;
		n++;
		if (worker_hopeless(w)) {
			out++;
			continue;
		}
		missing = find_missing(w, kind, sector_size, &named);
		if (!living || (missing && missing->state == CUZK_PARAMS_BAD))
			living = w;
		was_refused |= job && refused(w, job);
	}
	why->cls = was_refused ? job->cls : out ? CUZK_ERROR_DEVICE : CUZK_ERROR_PARAMS;
	if (!n) {
		add(&t, "no instance is configured for %s", config_kind_name(kind));
		return true;
	}
	if (!out && was_refused) {
		add(&t, "%s", job->text);
		return false;
	}
	if (!out) {
		add_missing(&t, living, kind, sector_size);
		return true;
	}
	add(&t, "no instance is left for %s: ", config_kind_name(kind));
	for (i = 0, n = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (!serves_kind(w, kind))
			continue;
		add(&t, "%s", n++ ? "; " : "");
		if (worker_hopeless(w)) {
			add_out(&t, w);
			continue;
		}
		add(&t, "%s: ", instance_name(w->inst));
		if (job && refused(w, job))
			add(&t, "%.160s", job->text);
		else
			add_missing(&t, w, kind, sector_size);
	}
	return true;
}

bool workers_have(const struct service *svc, uint32_t kind, uint64_t sector_size,
		  struct cuzk_error *why)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (!worker_hopeless(w) && serves_kind(w, kind) && has_params(w, kind, sector_size))
			return true;
	}
	if (why)
		explain(svc, kind, sector_size, NULL, why);
	return false;
}

/* ---- what is said when it changes ---- */

void workers_tell_kinds(struct service *svc)
{
	struct cuzk_error why;
	uint32_t k;

	for (k = CUZK_KIND_POREP; k < CUZK_KIND_COUNT; k++) {
		bool have = workers_have(svc, k, 0, &why), had = svc->kinds >> k & 1;

		if (svc->kinds_told && have == had)
			continue;
		if (!svc->kinds_told && !have)
			log_notice("%s is disabled: %s", config_kind_name(k), why.text);
		else if (svc->kinds_told && have)
			log_notice("%s is served again", config_kind_name(k));
		else if (svc->kinds_told)
			log_error("%s is disabled: %s", config_kind_name(k), why.text);
		svc->kinds = (svc->kinds & ~(1u << k)) | (uint32_t)have << k;
	}
	svc->kinds_told = true;
}

/* ---- jobs for which nothing can come any more ---- */

/* Parameters that it had, or that it found and cannot use, it may have again. */
static bool may_get_params(const struct worker *w, const struct job *job)
{
	bool named = false;
	int i;

	for (i = 0; i < w->n_circuits; i++) {
		const struct cuzk_circuit *c = &w->circuits[i];

		if (job->planned ? w->circuit_hash[i] != job->circuit_hash :
				   !is_of(c, job->kind, job->sector_size))
			continue;
		if (c->state != CUZK_PARAMS_ABSENT || w->circuit_had[i])
			return true;
		named = true;
	}
	return !named;
}

static bool may_serve(const struct worker *w, const struct job *job)
{
	if (worker_hopeless(w) || !serves_kind(w, job->kind) || refused(w, job))
		return false;
	return !worker_usable(w) || may_get_params(w, job);
}

static bool is_stranded(const struct service *svc, const struct job *job)
{
	uint32_t i;

	if (job->n_running)
		return false;
	for (i = 0; i < svc->n_workers; i++)
		if (job->task[i] == TASK_ADMITTING || may_serve(&svc->workers[i], job))
			return false;
	return true;
}

void job_end_unserved(struct service *svc, struct job *job)
{
	char text[CUZK_ERROR_TEXT];
	struct cuzk_error why;

	/* what an instance said names its component already */
	if (explain(svc, job->kind, job->sector_size, job, &why))
		snprintf(text, sizeof(text), "scheduler: %.1000s", why.text);
	else
		snprintf(text, sizeof(text), "%s", why.text);
	service_end(svc, job, JOB_FAILED, why.cls, text);
}

void workers_end_stranded(struct service *svc)
{
	struct list *pos, *next;
	uint32_t i, out = 0;

	for (i = 0; i < svc->n_workers; i++)
		out += worker_hopeless(&svc->workers[i]);
	/* a service without any instance ends, and the next one goes on with its jobs */
	if (!svc->may_be_stranded || svc->draining || out == svc->n_workers)
		return;
	svc->may_be_stranded = false;
	list_each_safe(pos, next, &svc->jobs.waiting) {
		struct job *job = list_entry(pos, struct job, entry);

		if (is_stranded(svc, job))
			job_end_unserved(svc, job);
	}
}
