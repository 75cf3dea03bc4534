/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* config-table.c - the table of all options */
#include <stddef.h>
#include <string.h>

#include "plugin/config-table.h"

#define SIZE_MIB(n) ((uint64_t)(n) << 20)
#define SIZE_TIB(n) ((uint64_t)(n) << 40)
#define MS_S(n) ((uint64_t)(n) * 1000)
#define MS_D(n) MS_S((n) * 86400ull)

#define GLOBAL(field) .scope = SCOPE_GLOBAL, .offset = offsetof(struct config_global, field)
#define ENGINE(field) .scope = SCOPE_ENGINE, .offset = offsetof(struct config_engine, field)
#define CPU(field) .scope = SCOPE_CPU, .offset = offsetof(struct config_device, field)
#define GPU(field) .scope = SCOPE_GPU, .offset = offsetof(struct config_device, field)

#define BOOL .type = TYPE_BOOL
#define INT(lo, hi) .type = TYPE_INT, .min = (lo), .max = (hi)
#define SIZE(lo, hi) .type = TYPE_SIZE, .min = (lo), .max = (hi)
#define DURATION(lo, hi) .type = TYPE_DURATION, .min = (lo), .max = (hi)
#define TEXT(t) .type = TYPE_##t, .max = 1024
#define HOT .hot = true
#define OPTIONAL .optional = true, .def = ""

#define STAGE(index, suffix, what)						\
	{ "stage_limit" suffix, GLOBAL(stage_limit[index]), DURATION(10, MS_D(7)), HOT,	\
	  .def = "10min", .help = what }

const struct config_option config_options[] = {
	/* access */
	{ "listen", GLOBAL(listen), TEXT(PATH), .optional = true, .def = "/run/cuzk/cuzk.sock",
	  .help = "path of the unix socket that clients connect to; empty: none" },
	{ "listen_mode", GLOBAL(listen_mode), .type = TYPE_MODE, .max = 0777, .def = "0660",
	  .help = "permissions of the unix socket" },
	{ "listen_group", GLOBAL(listen_group), TEXT(STRING), OPTIONAL,
	  .help = "group that owns the unix socket; empty: the service's own" },
	{ "listen_tcp", GLOBAL(listen_tcp), TEXT(ADDRESS), OPTIONAL,
	  .help = "TCP address HOST:PORT to listen on; wants TLS unless insecure; empty: none" },
	{ "insecure", GLOBAL(insecure), BOOL, .def = "no",
	  .help = "serve TCP without TLS: whoever reaches the port may prove" },
	{ "tls_cert", GLOBAL(tls_cert), TEXT(PATH), OPTIONAL,
	  .help = "PEM file with the server's certificate chain" },
	{ "tls_key", GLOBAL(tls_key), TEXT(PATH), OPTIONAL,
	  .help = "PEM file with the key of tls_cert" },
	{ "tls_client_ca", GLOBAL(tls_client_ca), TEXT(PATH), OPTIONAL,
	  .help = "PEM file with the authorities that client certificates must come from" },
	{ "metrics_listen", GLOBAL(metrics_listen), TEXT(ENDPOINT), OPTIONAL,
	  .help = "HOST:PORT or unix socket for /metrics, /status and /healthz, in clear; empty: none" },
	{ "message_limit", GLOBAL(message_limit), SIZE(SIZE_MIB(1), SIZE_MIB(2047)),
	  .def = "256M", .help = "longest gRPC message taken or sent" },
	{ "client_jobs", GLOBAL(client_jobs), INT(0, 1000000), HOT, .def = "0",
	  .help = "unfinished jobs of one client: a user, a certificate's subject, or all of clear TCP; "
		  "0: no limit" },

	/* state */
	{ "state_dir", GLOBAL(state_dir), TEXT(PATH), .def = "/var/lib/cuzk",
	  .help = "folder of the journal of jobs" },
	{ "journal_slack", GLOBAL(journal_slack), SIZE(4096, SIZE_TIB(1)), .def = "64M",
	  .help = "a journal larger than this and less than half in use is written anew" },
	{ "runtime_dir", GLOBAL(runtime_dir), TEXT(PATH), .def = "/run/cuzk",
	  .help = "folder of what lives as long as the machine runs" },
	{ "params_dir", GLOBAL(params_dir), TEXT(PATH), .optional = true,
	  .def = "/var/tmp/filecoin-proof-parameters",
	  .help = "Groth16 parameter files; handed to each engine that declares params_dir" },
	{ "log_level", GLOBAL(log_level), .type = TYPE_LEVEL, HOT, .def = "info",
	  .help = "least important lines to log: err, warning, notice, info or debug" },

	/* jobs */
	{ "queue_limit", GLOBAL(queue_limit), INT(1, 1000000), HOT, .def = "1000",
	  .help = "unfinished jobs; more are refused with RESOURCE_EXHAUSTED" },
	{ "queue_bytes", GLOBAL(queue_bytes), SIZE(SIZE_MIB(1), SIZE_TIB(16)), HOT, .def = "16G",
	  .help = "bytes of the requests of unfinished jobs, which lie in memory; without host_memory at "
		  "most a twentieth of what is free at start" },
	{ "result_ttl", GLOBAL(result_ttl), DURATION(0, MS_D(365)), HOT, .def = "24h",
	  .help = "how long the result of a finished job is kept" },
	{ "result_limit", GLOBAL(result_limit), INT(0, 10000000), HOT, .def = "10000",
	  .help = "results kept at most" },
	{ "retries", GLOBAL(retries), INT(0, 100), HOT, .def = "3",
	  .help = "further runs of a partition that failed for no fault of its own" },
	{ "poison_deaths", GLOBAL(poison_deaths), INT(1, 100), HOT, .def = "2",
	  .help = "a job under which so many instances died is failed" },
	{ "aging", GLOBAL(aging), DURATION(MS_S(1), MS_D(7)), HOT, .def = "15min",
	  .help = "a job that waited so long counts one priority higher" },
	{ "deadline", GLOBAL(deadline), DURATION(0, MS_D(30)), HOT, .def = "0",
	  .help = "deadline of a job that comes without one; 0: none" },
	{ "cancel_on_disconnect", GLOBAL(cancel_on_disconnect), BOOL, HOT, .def = "no",
	  .help = "end a job when the last client that waits for it goes away" },
	{ "drain", GLOBAL(drain), DURATION(0, MS_D(1)), HOT, .def = "5min",
	  .help = "after SIGTERM partitions that run may go on so long" },

	/* memory */
	{ "host_memory", GLOBAL(host_memory), SIZE(0, SIZE_TIB(64)), .def = "0",
	  .help = "host memory of all instances together; 0: what cgroup and machine leave" },

	/* supervision */
	{ "start_limit", GLOBAL(start_limit), DURATION(10, MS_D(1)), HOT, .def = "10min",
	  .help = "loading, opening and self-test of an instance may stand still so long" },
	{ "admit_limit", GLOBAL(admit_limit), DURATION(10, MS_D(1)), HOT, .def = "5min",
	  .help = "checking one request may take so long" },
	STAGE(CUZK_STAGE_IDLE, "", "a partition that is in no named stage may stand still so long"),
	STAGE(CUZK_STAGE_PARAMS, "_params", "limit of reading and uploading parameters"),
	STAGE(CUZK_STAGE_WITNESS, "_witness", "limit of witness generation"),
	STAGE(CUZK_STAGE_UPLOAD, "_upload", "limit of the upload of the witness"),
	STAGE(CUZK_STAGE_EVALUATE, "_evaluate", "limit of constraint evaluation"),
	STAGE(CUZK_STAGE_NTT, "_ntt", "limit of the transforms and the quotient"),
	STAGE(CUZK_STAGE_MSM_H, "_msm_h", "limit of the multi-scalar multiplication H"),
	STAGE(CUZK_STAGE_MSM_L, "_msm_l", "limit of the multi-scalar multiplication L"),
	STAGE(CUZK_STAGE_MSM_A, "_msm_a", "limit of the multi-scalar multiplication A"),
	STAGE(CUZK_STAGE_MSM_B1, "_msm_b1", "limit of the multi-scalar multiplication B in G1"),
	STAGE(CUZK_STAGE_MSM_B2, "_msm_b2", "limit of the multi-scalar multiplication B in G2"),
	STAGE(CUZK_STAGE_FINISH, "_finish", "limit of the assembly of the proof"),
	STAGE(CUZK_STAGE_VERIFY, "_verify", "limit of the verification of the proof"),
	{ "learn_history", GLOBAL(learn_history), INT(0, 64), HOT, .def = "16",
	  .help = "after so many stays in a stage its limit is learnt from them; 0: never" },
	{ "learn_factor", GLOBAL(learn_factor), INT(2, 1000), HOT, .def = "10",
	  .help = "a learnt limit is so many times the slowest of the last stays" },
	{ "learn_floor", GLOBAL(learn_floor), DURATION(10, MS_D(7)), HOT, .def = "30s",
	  .help = "a learnt limit is not shorter" },
	{ "learn_floor_params", GLOBAL(learn_floor_params), DURATION(10, MS_D(7)), HOT,
	  .def = "2min", .help = "nor that of reading and uploading parameters" },
	{ "heartbeat_limit", GLOBAL(heartbeat_limit), DURATION(10, MS_D(1)), HOT, .def = "10s",
	  .help = "a stage over its limit goes on as long as it moves this often" },
	{ "kill_grace", GLOBAL(kill_grace), DURATION(0, MS_S(60)), HOT, .def = "1s",
	  .help = "time between SIGTERM and SIGKILL for an instance that is stuck" },
	{ "restart_delay", GLOBAL(restart_delay), DURATION(0, MS_S(3600)), HOT, .def = "100ms",
	  .help = "pause before an instance restarts; doubles with each fault in a row" },
	{ "restart_delay_max", GLOBAL(restart_delay_max), DURATION(0, MS_S(3600)), HOT,
	  .def = "3s", .help = "longest such pause" },
	{ "quarantine_faults", GLOBAL(quarantine_faults), INT(1, 1000), HOT, .def = "5",
	  .help = "so many faults of an instance within quarantine_window take it out" },
	{ "quarantine_window", GLOBAL(quarantine_window), DURATION(MS_S(1), MS_D(30)), HOT,
	  .def = "1h", .help = "time over which faults count" },
	{ "invalid_limit", GLOBAL(invalid_limit), INT(1, 1000), HOT, .def = "1",
	  .help = "proofs that did not verify before the instance is replaced (a fault)" },
	{ "keep_warm", GLOBAL(keep_warm), DURATION(0, MS_D(1)), HOT, .def = "0",
	  .help = "interval of a WinningPoSt proof that keeps its path warm; 0: none" },
	{ "instance_program", GLOBAL(instance_program), TEXT(PATH),
	  .def = CUZK_LIBEXECDIR "/cuzk-instance",
	  .help = "the program that runs one instance" },

	/* engines */
	{ "type", ENGINE(type), .type = TYPE_ENGINE, .def = "plugin",
	  .help = "plugin: implements cuzk_engine(3); foreign: anything else, cuzk-foreign(7)" },
	{ "library", ENGINE(library), TEXT(LIBRARY), .def = NULL,
	  .help = "the shared object: an absolute path, or NAME for " CUZK_ENGINEDIR "/NAME.so" },

	/* instances */
	{ "engine", CPU(engine), TEXT(NAME), .def = NULL,
	  .help = "the [engine NAME] that it runs" },
	{ "threads", CPU(threads), INT(0, 4096), .def = "0",
	  .help = "host threads it may use; 0: one per processor" },
	{ "host_budget", CPU(host_budget), SIZE(0, SIZE_TIB(64)), HOT, .def = "0",
	  .help = "host memory it may reserve; 0: a share of host_memory" },
	{ "kinds", CPU(kinds), .type = TYPE_KINDS, HOT, .def = "all",
	  .help = "proof kinds it serves: porep update window-post winning-post, or all" },
	{ "reserved_for", CPU(reserved_for), .type = TYPE_KINDS, HOT, .def = "none",
	  .help = "proof kinds that it keeps itself free for, or none" },
	{ "depth", CPU(depth), INT(1, 64), HOT, .def = "1",
	  .help = "partitions handed to it at a time" },
	{ "engine", GPU(engine), TEXT(NAME), .def = NULL,
	  .help = "the [engine NAME] that it runs" },
	{ "device", GPU(device), TEXT(DEVICE), .def = NULL,
	  .help = "the GPU: UUID (GPU-..., MIG-...) or PCI address (0000:65:00.0)" },
	{ "threads", GPU(threads), INT(0, 4096), .def = "0",
	  .help = "host threads it may use; 0: one per processor" },
	{ "vram_budget", GPU(vram_budget), SIZE(0, SIZE_TIB(4)), .def = "0",
	  .help = "device memory it may use; 0: all that is free" },
	{ "host_budget", GPU(host_budget), SIZE(0, SIZE_TIB(64)), HOT, .def = "0",
	  .help = "host memory it may reserve; 0: a share of host_memory" },
	{ "kinds", GPU(kinds), .type = TYPE_KINDS, HOT, .def = "all",
	  .help = "proof kinds it serves: porep update window-post winning-post, or all" },
	{ "reserved_for", GPU(reserved_for), .type = TYPE_KINDS, HOT, .def = "none",
	  .help = "proof kinds that it keeps itself free for, or none" },
	{ "depth", GPU(depth), INT(1, 64), HOT, .def = "2",
	  .help = "partitions handed to it at a time; 11 where parameters are streamed" },
};

const unsigned int config_n_options = sizeof(config_options) / sizeof(config_options[0]);

const struct config_option *config_option(enum config_scope scope, const char *name)
{
	unsigned int i;

	for (i = 0; i < config_n_options; i++) {
		if (config_options[i].scope == scope && !strcmp(config_options[i].name, name))
			return &config_options[i];
	}
	return NULL;
}

const char *config_scope_title(enum config_scope scope)
{
	static const char *const titles[SCOPE_COUNT] = {
		"[global]", "[engine NAME]", "[cpu]", "[gpu NAME]"
	};

	return titles[scope];
}

const char *config_kind_name(unsigned int kind)
{
	static const char *const names[CUZK_KIND_COUNT] = {
		"unspecified", "porep", "update", "window-post", "winning-post"
	};

	return kind < CUZK_KIND_COUNT ? names[kind] : "unknown";
}

const char *config_stage_name(unsigned int stage)
{
	static const char *const names[CUZK_STAGE_COUNT] = {
		"idle", "params", "witness", "upload", "evaluate", "ntt", "msm_h", "msm_l",
		"msm_a", "msm_b1", "msm_b2", "finish", "verify"
	};

	return stage < CUZK_STAGE_COUNT ? names[stage] : "unknown";
}
