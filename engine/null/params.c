/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* params.c - the null engine's parameters */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/null/null.h"

#define DAY_MS 86400000ll

/* One list makes both the table and the module information. */
#define PARAMS(FLAG, NUMBER, BYTES, TEXT, PATH) \
	NUMBER("delay_ms", 0, DAY_MS, "0", "how long a partition takes") \
	NUMBER("urgent_delay_ms", -1, DAY_MS, "-1", \
	       "how long an urgent partition takes; -1: as any other") \
	NUMBER("admit_delay_ms", 0, DAY_MS, "0", "how long admission takes") \
	NUMBER("probe_delay_ms", 0, DAY_MS, "0", "how long opening takes, with heartbeats") \
	NUMBER("preload_delay_ms", 0, DAY_MS, "0", "how long a preload takes") \
	NUMBER("lanes", 1, NULL_LANES_MAX, "1", "partitions at a time") \
	NUMBER("partitions_porep", 1, 1000, "10", "partitions of a PoRep") \
	NUMBER("partitions_update", 1, 1000, "16", "partitions of an update") \
	NUMBER("partitions_window_post", 1, 1000, "1", "partitions of a WindowPoSt") \
	NUMBER("partitions_winning_post", 1, 1000, "1", "partitions of a WinningPoSt") \
	BYTES("reserve", "0", "host memory that each partition reserves") \
	BYTES("params_bytes", "1M", "what a circuit's parameters seem to take") \
	TEXT("absent", "", "kinds whose parameters are absent") \
	TEXT("bad", "", "kinds whose parameters are damaged") \
	NUMBER("fail_every", 0, INT64_MAX, "0", \
	       "every so many partitions one fails with fail_class") \
	TEXT("fail_class", "device", "input, params, device, resource, deadline or internal") \
	NUMBER("hang_every", 0, INT64_MAX, "0", \
	       "every so many partitions one hangs in hang_stage") \
	TEXT("hang_stage", "ntt", "the stage to hang in") \
	FLAG("hang_beats", "what hangs goes on sending heartbeats without progress") \
	NUMBER("crash_every", 0, INT64_MAX, "0", "every so many partitions the process crashes") \
	NUMBER("exit_every", 0, INT64_MAX, "0", \
	       "every so many partitions the process exits with status 0") \
	NUMBER("invalid_every", 0, INT64_MAX, "0", \
	       "every so many partitions the proof does not verify, which is noticed") \
	NUMBER("wrong_every", 0, INT64_MAX, "0", \
	       "every so many partitions the proof is wrong, which is not noticed") \
	NUMBER("oom_every", 0, INT64_MAX, "0", "every so many partitions there is no memory") \
	NUMBER("oom_admit", 0, INT64_MAX, "0", "so many requests find no memory, then all do") \
	NUMBER("sticky_every", 0, INT64_MAX, "0", "every so many partitions the device is lost") \
	NUMBER("twice_every", 0, INT64_MAX, "0", \
	       "every so many partitions completion is called twice") \
	NUMBER("crash_sector", -1, INT64_MAX, "-1", "proving this sector crashes the process") \
	NUMBER("hang_sector", -1, INT64_MAX, "-1", "proving this sector hangs") \
	NUMBER("fail_sector", -1, INT64_MAX, "-1", "proving this sector fails") \
	NUMBER("refuse_sector", -1, INT64_MAX, "-1", "this sector is refused at admission") \
	NUMBER("hang_admit_sector", -1, INT64_MAX, "-1", "admitting this sector hangs") \
	NUMBER("crash_admit_sector", -1, INT64_MAX, "-1", \
	       "admitting this sector crashes the process") \
	PATH("token", "faults happen only if this file can be removed: once per file") \
	FLAG("ignore_cancel", "cancel does nothing") \
	FLAG("refuse_urgent", "no partition is proved beside others") \
	FLAG("fail_probe", "opening fails") \
	FLAG("abort_probe", "the process aborts while opening") \
	FLAG("hang_probe", "opening hangs") \
	FLAG("fail_self_test", "the self-test gives a wrong answer") \
	FLAG("hang_self_test", "the self-test hangs")

#define TABLE_FLAG(n, h) { .name = n, .type = CUZK_PARAM_BOOL, .def = "no", .help = h },
#define TABLE_NUMBER(n, lo, hi, d, h)						\
	{ .name = n, .type = CUZK_PARAM_INT, .min = lo, .max = hi, .def = d, .help = h },
#define TABLE_BYTES(n, d, h)							\
	{ .name = n, .type = CUZK_PARAM_SIZE, .max = 1ll << 46, .def = d, .help = h },
#define TABLE_TEXT(n, d, h) { .name = n, .type = CUZK_PARAM_STRING, .def = d, .help = h },
#define TABLE_PATH(n, h) { .name = n, .type = CUZK_PARAM_PATH, .help = h },

const struct cuzk_param null_params[] = {
	PARAMS(TABLE_FLAG, TABLE_NUMBER, TABLE_BYTES, TABLE_TEXT, TABLE_PATH)
	{ .name = NULL }
};

#define INFO_FLAG(n, h) CUZK_MODINFO("param", n ":bool:no:" h);
#define INFO_NUMBER(n, lo, hi, d, h) CUZK_MODINFO("param", n ":int:" d ":" h);
#define INFO_BYTES(n, d, h) CUZK_MODINFO("param", n ":size:" d ":" h);
#define INFO_TEXT(n, d, h) CUZK_MODINFO("param", n ":string:" d ":" h);
#define INFO_PATH(n, h) CUZK_MODINFO("param", n ":path::" h);

PARAMS(INFO_FLAG, INFO_NUMBER, INFO_BYTES, INFO_TEXT, INFO_PATH)

/* Where the text of a parameter goes. */
struct field {
	const char *name;
	enum { FIELD_FLAG, FIELD_NUMBER } type;
	size_t offset;
};

#define FIELD(n, t) { #n, FIELD_##t, offsetof(struct null_config, n) }
#define KIND_FIELD(n, k)							\
	{ n, FIELD_NUMBER, offsetof(struct null_config, partitions) + (k) * sizeof(int64_t) }

static const struct field fields[] = {
	FIELD(fail_self_test, FLAG), FIELD(hang_self_test, FLAG), FIELD(abort_probe, FLAG),
	FIELD(hang_probe, FLAG), FIELD(fail_probe, FLAG), FIELD(ignore_cancel, FLAG),
	FIELD(hang_beats, FLAG), FIELD(refuse_urgent, FLAG), FIELD(delay_ms, NUMBER),
	FIELD(urgent_delay_ms, NUMBER), FIELD(admit_delay_ms, NUMBER),
	FIELD(probe_delay_ms, NUMBER), FIELD(preload_delay_ms, NUMBER), FIELD(lanes, NUMBER),
	KIND_FIELD("partitions_porep", CUZK_KIND_POREP),
	KIND_FIELD("partitions_update", CUZK_KIND_UPDATE),
	KIND_FIELD("partitions_window_post", CUZK_KIND_WINDOW_POST),
	KIND_FIELD("partitions_winning_post", CUZK_KIND_WINNING_POST),
	FIELD(reserve, NUMBER), FIELD(params_bytes, NUMBER), FIELD(fail_every, NUMBER),
	FIELD(hang_every, NUMBER), FIELD(crash_every, NUMBER), FIELD(exit_every, NUMBER),
	FIELD(invalid_every, NUMBER), FIELD(wrong_every, NUMBER), FIELD(oom_every, NUMBER),
	FIELD(oom_admit, NUMBER),
	FIELD(sticky_every, NUMBER), FIELD(twice_every, NUMBER), FIELD(crash_sector, NUMBER),
	FIELD(hang_sector, NUMBER), FIELD(fail_sector, NUMBER), FIELD(refuse_sector, NUMBER),
	FIELD(hang_admit_sector, NUMBER), FIELD(crash_admit_sector, NUMBER),
};

/* The host has checked the syntax. */
static int64_t to_number(const char *text)
{
	char *end;
	int64_t v = strtoll(text, &end, 10);

	switch (*end) {
	case 'K':
		return v << 10;
	case 'M':
		return v << 20;
	case 'G':
		return v << 30;
	case 'T':
		return v << 40;
	default:
		return v;
	}
}

static const char *const kind_names[CUZK_KIND_COUNT] = {
	"", "porep", "update", "window-post", "winning-post"
};

static const char *const stage_names[CUZK_STAGE_COUNT] = {
	"idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a",
	"msm_b1", "msm_b2", "finish", "verify"
};

static const char *const class_names[] = {
	"none", "input", "params", "device", "resource", "deadline", "cancelled", "internal"
};

static int find_name(const char *const *names, unsigned int n, const char *text, size_t len,
		     unsigned int *index)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (strlen(names[i]) == len && !strncmp(names[i], text, len)) {
			*index = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int to_kinds(const char *text, unsigned int *set)
{
	unsigned int kind;

	while (*text) {
		size_t len = strcspn(text, " ,");

		if (!len || find_name(kind_names, CUZK_KIND_COUNT, text, len, &kind) < 0)
			return -EINVAL;
		*set |= 1u << kind;
		text += len;
		text += strspn(text, " ,");
	}
	return 0;
}

static int set_text(struct null_config *cfg, const struct cuzk_option *o)
{
	if (!strcmp(o->name, "hang_stage"))
		return find_name(stage_names, CUZK_STAGE_COUNT, o->value, strlen(o->value),
				 &cfg->hang_stage);
	if (!strcmp(o->name, "fail_class"))
		return find_name(class_names, sizeof(class_names) / sizeof(class_names[0]),
				 o->value, strlen(o->value), &cfg->fail_class);
	if (!strcmp(o->name, "absent"))
		return to_kinds(o->value, &cfg->absent);
	if (!strcmp(o->name, "bad"))
		return to_kinds(o->value, &cfg->bad);
	if (!strcmp(o->name, "token"))
		cfg->token = o->value;
	return 0;
}

static int set_option(struct null_config *cfg, const struct cuzk_option *o)
{
	unsigned int i;

	for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		char *p = (char *)cfg + fields[i].offset;

		if (strcmp(fields[i].name, o->name))
			continue;
		if (fields[i].type == FIELD_FLAG)
			*(bool *)p = !strcmp(o->value, "yes");
		else
			*(int64_t *)p = to_number(o->value);
		return 0;
	}
	return set_text(cfg, o);
}

int null_config_init(struct null_config *cfg, const struct cuzk_option *options,
		     struct cuzk_error *err)
{
	memset(cfg, 0, sizeof(*cfg));
	for (; options->name; options++) {
		if (!set_option(cfg, options))
			continue;
		err->cls = CUZK_ERROR_INPUT;
		snprintf(err->text, sizeof(err->text), "null: %s: '%s' is not known",
			 options->name, options->value);
		return -EINVAL;
	}
	return 0;
}

const char *null_circuit_id(uint32_t kind)
{
	static const char *const ids[CUZK_KIND_COUNT] = {
		"", "null-porep", "null-update", "null-window-post", "null-winning-post"
	};

	return ids[kind];
}
