/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* budget.h - the host memory that the instances may reserve together */
#ifndef CUZK_PLUGIN_BUDGET_H
#define CUZK_PLUGIN_BUDGET_H

#include <stdint.h>

#include "plugin/config.h"

/*
 * What each of the n instances without a host_budget of its own may reserve:
 * an equal part of host_memory, or, when that is 0, of what the control group
 * and the machine leave free, less a tenth, and less the budgets of the others.
 * At least 64 MiB.  kept: bytes of memory that was kept over a restart: it is not free
 * but for the instances, which reserve it as their own.
 */
uint64_t budget_share(const struct config *config, uint32_t n, uint64_t kept);

/* Bytes that this process and its children may still take; UINT64_MAX: not known. */
uint64_t budget_available(uint64_t kept);

#endif
