/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * service-memory.c - the host memory of the instances, shared out
 *
 * Each instance without a host_budget of its own has an equal part of what
 * there is.  One that is out for good leaves its part to those that are left,
 * once its process is gone: one that could not be killed holds it still.  There
 * is no way back (worker_hopeless()), so a part never shrinks but by a reload
 * that gives another a larger budget of its own.
 */
#include <inttypes.h>

#include "plugin/budget.h"
#include "plugin/log.h"
#include "plugin/service.h"

static bool holds_memory(const struct worker *w)
{
	return !worker_hopeless(w) || instance_lingers(w->inst);
}

static void set_budget(struct worker *w, uint64_t bytes)
{
	struct instance_status st;
	struct list *pos;

	instance_status(w->inst, &st);
	if (st.host_budget == bytes)
		return;
	instance_set_host_budget(w->inst, bytes);
	log_notice("%s: memory: a budget of %" PRIu64 " MiB, after %" PRIu64,
		   instance_name(w->inst), bytes >> 20, st.host_budget >> 20);
	/* what did not fit may fit now */
	list_each(pos, &w->svc->jobs.waiting)
		list_entry(pos, struct job, entry)->refused &= ~(1ull << w->ordinal);
	service_wake(w->svc);
}

void service_share_memory(struct service *svc)
{
	uint64_t others = 0, share;
	uint32_t i, n = 0;

	for (i = 0; i < svc->n_workers; i++) {
		const struct worker *w = &svc->workers[i];

		if (!holds_memory(w))
			continue;
		n += !w->device->host_budget;
		others += w->device->host_budget;
	}
	share = budget_share(svc->host_total, others, n);
	for (i = 0; i < svc->n_workers; i++) {
		struct worker *w = &svc->workers[i];

		if (!worker_hopeless(w))
			set_budget(w, w->device->host_budget ? w->device->host_budget : share);
	}
}
