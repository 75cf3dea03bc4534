/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* instance-check.c - loads an engine in a process of its own and checks its parameters */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "plugin/instance-private.h"

#define CHECK_MS 60000

struct check {
	config_report_fn report;
	void *ctx;
	bool ended;
	unsigned int reports;
	int result;
};

static void on_report(void *ctx, const char *line)
{
	struct check *c = ctx;

	c->reports++;
	c->report(c->ctx, line);
}

static void on_died(void *ctx, struct instance *inst, enum instance_death death,
		    const char *reason, const struct instance_flight *flight, int n)
{
	struct check *c = ctx;

	c->ended = true;
	if (death == INSTANCE_DEATH_STOPPED)
		return;
	c->result = -EINVAL;
	/* wrong parameters have been reported one by one */
	if (!c->reports)
		c->report(c->ctx, reason);
}

int instance_check(const struct config_engine *engine, const struct config_global *global,
		   config_report_fn report, void *ctx)
{
	static const struct instance_ops ops = { .died = on_died };
	struct instance_config config = { .engine = engine, .global = global };
	struct check c = { .report = report, .ctx = ctx };
	uint64_t end = instance_now_ms() + CHECK_MS;
	struct instance *inst;
	int r;

	r = instance_open_mode(&inst, &config, WIRE_MODE_CHECK, &ops, &c);
	if (r < 0)
		return r;
	inst->report = on_report;
	while (!c.ended && instance_now_ms() < end) {
		struct pollfd fd = { instance_fd(inst), POLLIN };

		if (poll(&fd, 1, 1000) > 0)
			instance_process(inst);
	}
	instance_close(inst);
	return c.ended ? c.result : -ETIMEDOUT;
}
