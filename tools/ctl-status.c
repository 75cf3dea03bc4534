/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-status.c - cuzkctl status, metrics, preload, evict */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/proto/cuzk.pb-c.h"
#include "tools/ctl.h"

static const char *tier_name(Cuzk__V1__SRSStatus__Tier tier)
{
	static const char *const names[] = { "hot", "warm", "cold" };

	return (unsigned int)tier < 3 ? names[tier] : "?";
}

static void status_json(const Cuzk__V1__GetStatusResponse *r)
{
	size_t i;

	printf("{\"uptime_seconds\":%" PRIu64 ",\"total_proofs_completed\":%" PRIu64
	       ",\"total_proofs_failed\":%" PRIu64 ",\"pinned_memory_bytes\":%" PRIu64
	       ",\"pinned_memory_limit_bytes\":%" PRIu64 ",\"gpus\":[", r->uptime_seconds,
	       r->total_proofs_completed, r->total_proofs_failed, r->pinned_memory_bytes,
	       r->pinned_memory_limit_bytes);
	for (i = 0; i < r->n_gpus; i++) {
		const Cuzk__V1__GPUStatus *g = r->gpus[i];

		printf("%s{\"ordinal\":%u,\"name\":", i ? "," : "", g->ordinal);
		ctl_quote(g->name);
		printf(",\"vram_total_bytes\":%" PRIu64 ",\"vram_free_bytes\":%" PRIu64
		       ",\"current_job_id\":", g->vram_total_bytes, g->vram_free_bytes);
		ctl_quote(g->current_job_id);
		printf(",\"current_proof_kind\":");
		ctl_quote(g->current_proof_kind);
		printf(",\"state\":");
		ctl_quote(g->state);
		printf(",\"reason\":");
		ctl_quote(g->reason);
		putchar('}');
	}
	printf("],\"loaded_srs\":[");
	for (i = 0; i < r->n_loaded_srs; i++) {
		const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];

		printf("%s{\"circuit_id\":", i ? "," : "");
		ctl_quote(s->circuit_id);
		printf(",\"tier\":\"%s\",\"size_bytes\":%" PRIu64 ",\"ref_count\":%u}",
		       tier_name(s->tier), s->size_bytes, s->ref_count);
	}
	printf("],\"circuits\":[");
	for (i = 0; i < r->n_circuits; i++) {
		const Cuzk__V1__CircuitStatus *s = r->circuits[i];

		printf("%s{\"circuit_id\":", i ? "," : "");
		ctl_quote(s->circuit_id);
		printf(",\"proof_kind\":");
		ctl_quote(s->proof_kind);
		printf(",\"sector_size\":%" PRIu64 ",\"state\":", s->sector_size);
		ctl_quote(s->state);
		printf(",\"reason\":");
		ctl_quote(s->reason);
		putchar('}');
	}
	printf("],\"queues\":[");
	for (i = 0; i < r->n_queues; i++) {
		const Cuzk__V1__QueueStatus *q = r->queues[i];

		printf("%s{\"proof_kind\":", i ? "," : "");
		ctl_quote(q->proof_kind);
		printf(",\"pending\":%u,\"in_progress\":%u}", q->pending, q->in_progress);
	}
	printf("]}\n");
}

/* What cannot be proved: the damaged one by one, then the absent together. */
static void missing_text(const Cuzk__V1__GetStatusResponse *r)
{
	size_t i, n = 0;

	for (i = 0; i < r->n_circuits; i++)
		if (!strcmp(r->circuits[i]->state, "bad"))
			printf("%-20s bad    %s\n", r->circuits[i]->circuit_id,
			       r->circuits[i]->reason);
	for (i = 0; i < r->n_circuits; i++)
		if (!strcmp(r->circuits[i]->state, "absent"))
			printf("%s %s", n++ ? "," : "\nNo parameters of:", r->circuits[i]->circuit_id);
	if (n)
		putchar('\n');
}

static void status_text(const Cuzk__V1__GetStatusResponse *r)
{
	size_t i;

	printf("up %" PRIu64 " s, %" PRIu64 " proofs completed, %" PRIu64 " failed\n",
	       r->uptime_seconds, r->total_proofs_completed, r->total_proofs_failed);
	printf("\n%-20s %-12s %-14s %s\n", "INSTANCE", "STATE", "PROVES", "JOB");
	for (i = 0; i < r->n_gpus; i++) {
		const Cuzk__V1__GPUStatus *g = r->gpus[i];

		printf("%-20s %-12s %-14s %s\n", g->name, g->state[0] ? g->state : "-",
		       g->current_proof_kind[0] ? g->current_proof_kind : "-",
		       g->current_job_id[0] ? g->current_job_id : "-");
		if (g->reason[0])
			printf("  %s\n", g->reason);
	}
	printf("\n%-20s %8s %12s\n", "KIND", "PENDING", "IN PROGRESS");
	for (i = 0; i < r->n_queues; i++)
		printf("%-20s %8u %12u\n", r->queues[i]->proof_kind, r->queues[i]->pending,
		       r->queues[i]->in_progress);
	if (r->n_loaded_srs)
		printf("\n%-20s %-6s %12s %6s\n", "PARAMETERS", "STATE", "MIB", "USERS");
	for (i = 0; i < r->n_loaded_srs; i++) {
		const Cuzk__V1__SRSStatus *s = r->loaded_srs[i];

		printf("%-20s %-6s %12" PRIu64 " %6u\n", s->circuit_id, tier_name(s->tier),
		       s->size_bytes >> 20, s->ref_count);
	}
	missing_text(r);
}

int ctl_status(int argc, char **argv)
{
	Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
	const struct ctl_option options[] = { { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__GetStatusResponse *answer;
	int ret;

	if (ctl_parse("status", argc, argv, options, &conn, NULL, 0) < 0)
		return CTL_USAGE;
	ret = ctl_call("status", &conn, "GetStatus", &request.base,
		       &cuzk__v1__get_status_response__descriptor, "waiting for the service",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	if (conn.json)
		status_json(answer);
	else
		status_text(answer);
	cuzk__v1__get_status_response__free_unpacked(answer, NULL);
	return 0;
}

int ctl_metrics(int argc, char **argv)
{
	Cuzk__V1__GetMetricsRequest request = CUZK__V1__GET_METRICS_REQUEST__INIT;
	const struct ctl_option options[] = { { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__GetMetricsResponse *answer;
	int ret;

	if (ctl_parse("metrics", argc, argv, options, &conn, NULL, 0) < 0)
		return CTL_USAGE;
	if (conn.json)
		return ctl_usage("metrics", "--json: there is cuzkctl status --json");
	ret = ctl_call("metrics", &conn, "GetMetrics", &request.base,
		       &cuzk__v1__get_metrics_response__descriptor, "waiting for the service",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	fputs(answer->prometheus_text, stdout);
	cuzk__v1__get_metrics_response__free_unpacked(answer, NULL);
	return 0;
}

int ctl_preload(int argc, char **argv)
{
	Cuzk__V1__PreloadSrsRequest request = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
	const struct ctl_option options[] = { { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__PreloadSrsResponse *answer;
	const char *circuit = NULL;
	int ret;

	if (ctl_parse("preload", argc, argv, options, &conn, &circuit, 1) < 0)
		return CTL_USAGE;
	if (!circuit)
		return ctl_usage("preload", "the name of a circuit is needed");
	request.circuit_id = (char *)circuit;
	ret = ctl_call("preload", &conn, "PreloadSRS", &request.base,
		       &cuzk__v1__preload_srs_response__descriptor, "loading parameters",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	if (conn.json)
		printf("{\"already_loaded\":%s,\"load_time_ms\":%" PRIu64 "}\n",
		       answer->already_loaded ? "true" : "false", answer->load_time_ms);
	else
		fprintf(stderr, "cuzkctl preload: %s: %s, %" PRIu64 " ms\n", circuit,
			answer->already_loaded ? "was loaded" : "loaded", answer->load_time_ms);
	cuzk__v1__preload_srs_response__free_unpacked(answer, NULL);
	return 0;
}

int ctl_evict(int argc, char **argv)
{
	Cuzk__V1__EvictSrsRequest request = CUZK__V1__EVICT_SRS_REQUEST__INIT;
	const struct ctl_option options[] = { { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__EvictSrsResponse *answer;
	const char *circuit = NULL;
	int ret;

	if (ctl_parse("evict", argc, argv, options, &conn, &circuit, 1) < 0)
		return CTL_USAGE;
	if (!circuit)
		return ctl_usage("evict", "the name of a circuit is needed");
	request.circuit_id = (char *)circuit;
	ret = ctl_call("evict", &conn, "EvictSRS", &request.base,
		       &cuzk__v1__evict_srs_response__descriptor, "giving memory back",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	if (conn.json)
		printf("{\"was_loaded\":%s,\"freed_bytes\":%" PRIu64 "}\n",
		       answer->was_loaded ? "true" : "false", answer->freed_bytes);
	else
		fprintf(stderr, "cuzkctl evict: %s: %s, %" PRIu64 " bytes freed\n", circuit,
			answer->was_loaded ? "was loaded" : "was not loaded", answer->freed_bytes);
	cuzk__v1__evict_srs_response__free_unpacked(answer, NULL);
	return 0;
}
