/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* fault.c - when and how the null engine goes wrong */
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/null/null.h"

static bool is_turn(int64_t every, uint64_t number)
{
	return every && number % every == 0;
}

static bool is_sector(int64_t wanted, uint64_t sector)
{
	return wanted >= 0 && (uint64_t)wanted == sector;
}

static enum null_fault planned(const struct null_config *cfg, uint64_t number, uint64_t sector)
{
	if (is_sector(cfg->crash_sector, sector) || is_turn(cfg->crash_every, number))
		return NULL_FAULT_CRASH;
	if (is_sector(cfg->hang_sector, sector) || is_turn(cfg->hang_every, number))
		return NULL_FAULT_HANG;
	if (is_turn(cfg->exit_every, number))
		return NULL_FAULT_EXIT;
	if (is_turn(cfg->sticky_every, number))
		return NULL_FAULT_STICKY;
	if (is_turn(cfg->twice_every, number))
		return NULL_FAULT_TWICE;
	if (is_turn(cfg->oom_every, number))
		return NULL_FAULT_OOM;
	if (is_turn(cfg->invalid_every, number))
		return NULL_FAULT_INVALID;
	if (is_turn(cfg->wrong_every, number))
		return NULL_FAULT_WRONG;
	if (is_sector(cfg->fail_sector, sector) || is_turn(cfg->fail_every, number))
		return NULL_FAULT_FAIL;
	return NULL_FAULT_NONE;
}

enum null_fault null_choose_fault(const struct null_config *cfg, uint64_t number,
				  uint64_t sector)
{
	enum null_fault fault = planned(cfg, number, sector);

	if (fault != NULL_FAULT_NONE && cfg->token && unlink(cfg->token) < 0)
		return NULL_FAULT_NONE;
	return fault;
}

void null_hang(void)
{
	for (;;)
		pause();
}

void null_crash(void)
{
	prctl(PR_SET_DUMPABLE, 0);	/* a crash on purpose leaves no core */
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
	abort();
}
