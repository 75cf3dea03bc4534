/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl-job.c - cuzkctl prove, submit, await, cancel */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/proto/cuzk.pb-c.h"
#include "tools/ctl.h"
#include "tools/file.h"
#include "tools/request.h"

static const char *status_name(Cuzk__V1__AwaitProofResponse__Status status)
{
	static const char *const names[] = { "UNKNOWN", "COMPLETED", "FAILED", "CANCELLED",
					     "TIMEOUT" };

	return (unsigned int)status < 5 ? names[status] : "?";
}

static void print_result(const Cuzk__V1__AwaitProofResponse *r)
{
	printf("{\"job_id\":");
	ctl_quote(r->job_id);
	printf(",\"status\":\"%s\",\"proof_bytes\":%zu,\"error_message\":", status_name(r->status),
	       r->proof.len);
	ctl_quote(r->error_message);
	printf(",\"queue_wait_ms\":%" PRIu64 ",\"srs_load_ms\":%" PRIu64 ",\"synthesis_ms\":%"
	       PRIu64 ",\"gpu_compute_ms\":%" PRIu64 ",\"total_ms\":%" PRIu64 "}\n", r->queue_wait_ms,
	       r->srs_load_ms, r->synthesis_ms, r->gpu_compute_ms, r->total_ms);
}

/* The proof to its file, a line to the operator; exit status. */
static int use_result(const char *command, const Cuzk__V1__AwaitProofResponse *r, const char *out,
		      bool json)
{
	int err;

	if (json)
		print_result(r);
	if (r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED)
		return ctl_fail(command, "%s: %s: %s", r->job_id, status_name(r->status),
				r->error_message);
	if (out) {
		err = ctl_file_write(out, r->proof.data, r->proof.len);
		if (err)
			return ctl_fail(command, "%s: %s", out, strerror(-err));
	}
	fprintf(stderr, "cuzkctl %s: %s: %zu bytes of proof in %" PRIu64 " ms (waited %"
		PRIu64 ")\n", command, r->job_id, r->proof.len, r->total_ms, r->queue_wait_ms);
	return 0;
}

int ctl_prove(int argc, char **argv)
{
	Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
	const char *request = NULL, *out = NULL;
	const struct ctl_option options[] = {
		{ "--request", &request }, { "--out", &out }, { NULL }
	};
	struct ctl_connection conn = { 0 };
	Cuzk__V1__ProveResponse *answer;
	struct request_file l;
	int ret;

	if (ctl_parse("prove", argc, argv, options, &conn, NULL, 0) < 0)
		return CTL_USAGE;
	if (!request || !out)
		return ctl_usage("prove", "--request FILE and --out FILE are needed");
	ret = request_load("prove", request, &l);
	if (ret)
		return ret;
	prove.submit = &l.message;
	ret = ctl_call("prove", &conn, "Prove", &prove.base, &cuzk__v1__prove_response__descriptor,
		       "proving", (ProtobufCMessage **)&answer);
	request_unload(&l);
	if (ret)
		return ret;
	if (answer->result)
		ret = use_result("prove", answer->result, out, conn.json);
	else
		ret = ctl_fail("prove", "the service answered without a result");
	cuzk__v1__prove_response__free_unpacked(answer, NULL);
	return ret;
}

int ctl_submit(int argc, char **argv)
{
	const char *request = NULL;
	const struct ctl_option options[] = { { "--request", &request }, { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__SubmitProofResponse *answer;
	struct request_file l;
	int ret;

	if (ctl_parse("submit", argc, argv, options, &conn, NULL, 0) < 0)
		return CTL_USAGE;
	if (!request)
		return ctl_usage("submit", "--request FILE is needed");
	ret = request_load("submit", request, &l);
	if (ret)
		return ret;
	ret = ctl_call("submit", &conn, "SubmitProof", &l.message.base,
		       &cuzk__v1__submit_proof_response__descriptor, "submitting",
		       (ProtobufCMessage **)&answer);
	request_unload(&l);
	if (ret)
		return ret;
	if (conn.json) {
		printf("{\"job_id\":");
		ctl_quote(answer->job_id);
		printf(",\"queue_position\":%u,\"assigned_gpu\":", answer->queue_position);
		ctl_quote(answer->assigned_gpu);
		printf("}\n");
	} else {
		printf("%s\n", answer->job_id);
	}
	cuzk__v1__submit_proof_response__free_unpacked(answer, NULL);
	return 0;
}

int ctl_await(int argc, char **argv)
{
	Cuzk__V1__AwaitProofRequest await = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
	const char *out = NULL, *job = NULL;
	const struct ctl_option options[] = { { "--out", &out }, { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__AwaitProofResponse *answer;
	int ret;

	if (ctl_parse("await", argc, argv, options, &conn, &job, 1) < 0)
		return CTL_USAGE;
	if (!job)
		return ctl_usage("await", "a job id is needed");
	await.job_id = (char *)job;
	/* the service keeps the time, so that it can say how far the job is */
	if (conn.timeout && ctl_duration(conn.timeout, &await.timeout_ms))
		return ctl_usage("await", "--timeout %s: not a duration", conn.timeout);
	conn.timeout = NULL;
	ret = ctl_call("await", &conn, "AwaitProof", &await.base,
		       &cuzk__v1__await_proof_response__descriptor, "waiting for the proof",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	ret = use_result("await", answer, out, conn.json);
	cuzk__v1__await_proof_response__free_unpacked(answer, NULL);
	return ret;
}

int ctl_cancel(int argc, char **argv)
{
	Cuzk__V1__CancelProofRequest cancel = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
	const struct ctl_option options[] = { { NULL } };
	struct ctl_connection conn = { 0 };
	Cuzk__V1__CancelProofResponse *answer;
	const char *job = NULL;
	int ret;

	if (ctl_parse("cancel", argc, argv, options, &conn, &job, 1) < 0)
		return CTL_USAGE;
	if (!job)
		return ctl_usage("cancel", "a job id is needed");
	cancel.job_id = (char *)job;
	ret = ctl_call("cancel", &conn, "CancelProof", &cancel.base,
		       &cuzk__v1__cancel_proof_response__descriptor, "cancelling",
		       (ProtobufCMessage **)&answer);
	if (ret)
		return ret;
	if (conn.json)
		printf("{\"was_running\":%s}\n", answer->was_running ? "true" : "false");
	else
		fprintf(stderr, "cuzkctl cancel: %s: %s\n", job,
			answer->was_running ? "cancelled" : "it had ended before");
	cuzk__v1__cancel_proof_response__free_unpacked(answer, NULL);
	return 0;
}
