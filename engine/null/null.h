/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* null.h - the null engine's own types */
#ifndef CUZK_ENGINE_NULL_NULL_H
#define CUZK_ENGINE_NULL_NULL_H

#include <pthread.h>

#include "engine/null/rule.h"

#define NULL_LANES_MAX 64

/* The parameters by name; see null_params in params.c for what each means. */
struct null_config {
	bool fail_self_test, hang_self_test, abort_probe, hang_probe, fail_probe;
	bool ignore_cancel, hang_beats, refuse_urgent;
	int64_t delay_ms, urgent_delay_ms, admit_delay_ms, probe_delay_ms, preload_delay_ms, lanes;
	int64_t partitions[CUZK_KIND_COUNT];
	int64_t fail_every, hang_every, crash_every, exit_every, invalid_every, wrong_every;
	int64_t oom_every, oom_admit, sticky_every, twice_every;
	int64_t crash_sector, hang_sector, fail_sector, refuse_sector;
	int64_t hang_admit_sector, crash_admit_sector;
	int64_t reserve, params_bytes;
	uint32_t hang_stage, fail_class;
	unsigned int absent, bad;	/* sets of kinds */
	const char *token;		/* NULL: none */
};

extern const struct cuzk_param null_params[];

/* options as of probe(). -EINVAL with err. */
int null_config_init(struct null_config *cfg, const struct cuzk_option *options,
		     struct cuzk_error *err);

const char *null_circuit_id(uint32_t kind);

enum null_fault {
	NULL_FAULT_NONE,
	NULL_FAULT_FAIL,
	NULL_FAULT_HANG,
	NULL_FAULT_CRASH,
	NULL_FAULT_EXIT,
	NULL_FAULT_INVALID,
	NULL_FAULT_WRONG,
	NULL_FAULT_OOM,
	NULL_FAULT_STICKY,
	NULL_FAULT_TWICE,
};

/*
 * The fault of the proof with this number (from 1) in this process, for this
 * sector.  Where a token is set, a fault happens only if it can be removed.
 */
enum null_fault null_choose_fault(const struct null_config *cfg, uint64_t number,
				  uint64_t sector);

/* Ways to go wrong that do not return. */
__attribute__((noreturn)) void null_hang(void);
__attribute__((noreturn)) void null_crash(void);

#endif
