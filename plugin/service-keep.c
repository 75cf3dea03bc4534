/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* service-keep.c - kept memory, between the instances and the store */
#include <inttypes.h>
#include <string.h>

#include "plugin/service.h"

static const char *engine_of(const struct worker *w)
{
	return w->device->engine;
}

/* To every instance of the engine but one (NULL: to all). */
static void tell(struct service *svc, const char *engine, const struct worker *but,
		 const char *name, int fd)
{
	uint32_t i;

	for (i = 0; i < svc->n_workers; i++)
		if (&svc->workers[i] != but && !strcmp(engine_of(&svc->workers[i]), engine))
			instance_give(svc->workers[i].inst, name, fd);
}

static void forget(struct service *svc, struct keep_entry *e)
{
	log_info("memory %s of engine %s, %" PRIu64 " MiB, is given back", e->name, e->engine,
		 e->bytes >> 20);
	tell(svc, e->engine, NULL, e->name, -1);
	keep_forget(&svc->keep, e);
}

void service_keep_give(struct worker *w)
{
	struct keep *keep = &w->svc->keep;
	uint32_t i;

	for (i = 0; i < keep->n; i++)
		if (!strcmp(keep->entries[i].engine, engine_of(w)))
			instance_give(w->inst, keep->entries[i].name, keep->entries[i].fd);
}

void service_keep_put(struct worker *w, const char *name, int fd, uint64_t bytes)
{
	struct keep_entry *e;
	int err;

	err = keep_put(&w->svc->keep, engine_of(w), name, fd, bytes, w->ordinal);
	if (err) {
		log_warning("%s: memory %s is not kept: %s", instance_name(w->inst), name,
			    strerror(-err));
		return;
	}
	log_info("%s: memory %s is kept, %" PRIu64 " MiB", instance_name(w->inst), name,
		 bytes >> 20);
	e = keep_find(&w->svc->keep, engine_of(w), name);
	tell(w->svc, engine_of(w), w, name, e->fd);
}

void service_keep_use(struct worker *w, const char *name)
{
	keep_use(&w->svc->keep, engine_of(w), name, w->ordinal);
}

void service_keep_drop(struct worker *w, const char *name)
{
	struct service *svc = w->svc;

	/* until then another instance, which starts, may want it */
	if (keep_drop(&svc->keep, engine_of(w), name, w->ordinal) && svc->keep_settled)
		forget(svc, keep_find(&svc->keep, engine_of(w), name));
}

void service_keep_settle(struct service *svc)
{
	struct keep_entry *e;
	uint32_t i;

	if (svc->keep_settled)
		return;
	for (i = 0; i < svc->n_workers; i++)
		if (!svc->workers[i].tested && !worker_hopeless(&svc->workers[i]))
			return;
	svc->keep_settled = true;
	while ((e = keep_unused(&svc->keep)))
		forget(svc, e);
}
