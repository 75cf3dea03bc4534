/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* budget.h - the host memory that the instances may reserve together */
#ifndef CUZK_PLUGIN_BUDGET_H
#define CUZK_PLUGIN_BUDGET_H

#include <stdint.h>

#include "plugin/config.h"

#define BUDGET_NOTHING 1	/* bytes; 0 would be no limit */

/*
 * What all instances may reserve together: host_memory, or, when that is 0, what
 * the control group and the machine leave free, less a tenth.  0: not known, no
 * limit.  kept: bytes of memory that was kept over a restart: it is not free but
 * for the instances, which reserve it as their own.
 */
uint64_t budget_total(const struct config *config, uint64_t kept);
/*
 * What each of n instances without a host_budget of its own may reserve: an
 * equal part of total, less the budgets of the others, never more.  BUDGET_NOTHING where nothing is left;
 * 0: no limit.
 */
uint64_t budget_share(uint64_t total, uint64_t others, uint32_t n);

/*
 * What the requests of unfinished jobs may take, which lie in memory beside what the
 * instances reserve: queue_bytes, but where host_memory was not set no more than
 * half of the tenth that budget_total() leaves, or one message.
 */
uint64_t budget_requests(const struct config *config, uint64_t available);

/* Bytes that this process and its children may still take; UINT64_MAX: not known. */
uint64_t budget_available(uint64_t kept);

#endif
