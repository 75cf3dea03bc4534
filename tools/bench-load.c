/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-load.c - requests to a service, each another work, and what they take */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "engine/groth16/params.h"
#include "engine/groth16/verify.h"
#include "tools/bench-engine.h"
#include "tools/bench-load.h"
#include "tools/bench-monitor.h"
#include "tools/request.h"

struct source {
	char name[64];
	struct request_file file;	/* from a file */
	struct vanilla_sample *sample;	/* or made up */
	ProtobufCBinaryData *proofs;
	Cuzk__V1__SubmitProofRequest message;
	struct vanilla *vanilla;	/* to verify; NULL: the service alone does */
	struct pvk *pvk;
};

static ProtobufCBinaryData binary(const struct cuzk_blob *b)
{
	return (ProtobufCBinaryData){ .len = b->len, .data = (uint8_t *)b->data };
}

static int from_sample(const char *command, struct source *s, const char *kind)
{
	Cuzk__V1__SubmitProofRequest *m = &s->message;
	const struct cuzk_request *req;
	size_t i;
	int ret;

	ret = bench_sample(command, kind, 1, &s->sample);
	if (ret)
		return ret;
	req = &s->sample->req;
	s->proofs = calloc(req->n_vanilla_proofs + 1, sizeof(*s->proofs));
	if (!s->proofs)
		return ctl_fail(command, "no memory");
	for (i = 0; i < req->n_vanilla_proofs; i++)
		s->proofs[i] = binary(&req->vanilla_proofs[i]);
	cuzk__v1__submit_proof_request__init(m);
	m->proof_kind = (Cuzk__V1__ProofKind)req->kind;
	m->sector_size = req->sector_size;
	m->registered_proof = req->registered_proof;
	m->sector_number = req->sector_number;
	m->miner_id = req->miner_id;
	m->vanilla_proof = binary(&req->vanilla_proof);
	m->n_vanilla_proofs = req->n_vanilla_proofs;
	m->vanilla_proofs = s->proofs;
	m->randomness = binary(&req->randomness);
	m->comm_r_old = binary(&req->comm_r_old);
	m->comm_r_new = binary(&req->comm_r_new);
	m->comm_d_new = binary(&req->comm_d_new);
	return 0;
}

static int open_key(const char *command, struct source *s, const char *file, const char *kind,
		    const char *dir)
{
	struct cuzk_error err = { .size = sizeof(err) };
	struct params params;
	char path[4096];
	int ret;

	ret = bench_admit(command, kind, file, 1, NULL, &s->vanilla);
	if (!ret)
		ret = bench_params_path(command, dir, vanilla_circuit(s->vanilla), path);
	if (ret)
		return ret;
	if (params_open(&params, path, &err))
		return ctl_fail(command, "%s", err.text);
	ret = pvk_open(&s->pvk, &params.vk);
	params_close(&params);
	return ret ? ctl_fail(command, "no memory") : 0;
}

int source_open(const char *command, const char *name, const char *params, struct source **out)
{
	struct source *s = calloc(1, sizeof(*s));
	struct circuit c;
	bool file = circuit_find(name, &c) != 0;
	const char *slash = strrchr(name, '/');
	int ret;

	if (!s)
		return ctl_fail(command, "no memory");
	snprintf(s->name, sizeof(s->name), "%.63s", slash ? slash + 1 : name);
	if (file) {
		ret = request_load(command, name, &s->file);
		if (!ret)
			s->message = s->file.message;
	} else {
		ret = from_sample(command, s, name);
	}
	if (!ret && params)
		ret = open_key(command, s, file ? name : NULL, file ? NULL : name, params);
	if (ret)
		source_close(s);
	else
		*out = s;
	return ret;
}

void source_close(struct source *s)
{
	if (!s)
		return;
	request_unload(&s->file);
	vanilla_sample_free(s->sample);
	vanilla_free(s->vanilla);
	pvk_close(s->pvk);
	free(s->proofs);
	free(s);
}

const char *source_name(const struct source *s)
{
	return s->name;
}

static bool verify(const struct source *s, const ProtobufCBinaryData *proofs, char *why,
		   size_t size)
{
	struct cuzk_error err = { .size = sizeof(err) };
	uint32_t n = vanilla_partitions(s->vanilla), i;
	struct proof proof;
	struct fr *inputs;
	size_t n_inputs;
	int ret;

	if (proofs->len != (size_t)n * PROOF_SIZE) {
		snprintf(why, size, "%zu bytes of proof for %u partitions", proofs->len, n);
		return false;
	}
	for (i = 0; i < n; i++) {
		if (proof_read(&proof, proofs->data + (size_t)i * PROOF_SIZE, &err)) {
			snprintf(why, size, "partition %u: %.200s", i, err.text);
			return false;
		}
		ret = vanilla_public_inputs(s->vanilla, i, &inputs, &n_inputs);
		if (!ret) {
			ret = pvk_verify(s->pvk, &proof, inputs, n_inputs);
			free(inputs);
		}
		if (ret != 1) {
			snprintf(why, size, "partition %u: the proof does not verify", i);
			return false;
		}
	}
	return true;
}

static void take_result(const struct source *s, const Cuzk__V1__AwaitProofResponse *r,
			struct outcome *out)
{
	if (!r || r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED) {
		snprintf(out->why, sizeof(out->why), "%.250s",
			 r ? r->error_message : "no result in the answer");
		return;
	}
	out->queued_ms = r->queue_wait_ms;
	out->synthesis_ms = r->synthesis_ms;
	out->compute_ms = r->gpu_compute_ms;
	out->total_ms = r->total_ms;
	out->done = !s->vanilla || verify(s, &r->proof, out->why, sizeof(out->why));
}

void source_prove(const struct source *s, struct client *client, uint64_t number,
		  uint64_t timeout_ms, struct outcome *out)
{
	Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
	Cuzk__V1__SubmitProofRequest m = s->message;
	char text[CLIENT_ERROR_TEXT] = "", id[96];
	Cuzk__V1__ProveResponse *answer;
	int ret;

	memset(out, 0, sizeof(*out));
	snprintf(id, sizeof(id), "bench-%s-%" PRIu64, s->name, number);
	m.request_id = id;
	if (m.proof_kind == CUZK__V1__PROOF_KIND__WINDOW_POST_PARTITION ||
	    m.proof_kind == CUZK__V1__PROOF_KIND__WINNING_POST)
		m.miner_id += number;
	else
		m.partition_index += number;
	prove.submit = &m;
	out->start = bench_ns();
	ret = client_call(client, "Prove", &prove.base, &cuzk__v1__prove_response__descriptor,
			  timeout_ms, (ProtobufCMessage **)&answer, text);
	out->end = bench_ns();
	if (ret) {
		snprintf(out->why, sizeof(out->why), "%.250s", text);
		return;
	}
	take_result(s, answer->result, out);
	cuzk__v1__prove_response__free_unpacked(answer, NULL);
}

/* The process at the other end of a unix socket, or 0. */
static pid_t load_peer(const char *address)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	int fd;

	if (strncmp(address, "unix:", 5) || strlen(address + 5) >= sizeof(at.sun_path))
		return 0;
	strcpy(at.sun_path, address + 5);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (struct sockaddr *)&at, sizeof(at)) ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		cred.pid = 0;
	close(fd);
	/* the manager's own socket, passed on: nobody's memory that is asked for */
	return cred.pid == 1 ? 0 : cred.pid;
}

pid_t load_begin(struct bench *b, const struct ctl_connection *conn, pid_t pid,
		 struct client_config *config)
{
	*config = (struct client_config){
		.address = conn->address ? conn->address : CLIENT_DEFAULT_ADDRESS,
		.tls_ca = conn->tls_ca, .tls_cert = conn->tls_cert, .tls_key = conn->tls_key,
	};
	if (!pid)
		pid = load_peer(config->address);
	if (pid)
		monitor_add(b->monitor, pid);
	return pid;
}

void load_print_memory(struct bench *b, pid_t pid)
{
	struct monitor_process seen[64];
	size_t n = monitor_processes(b->monitor, seen, 64), i;
	double busy = monitor_gpu_busy(b->monitor);

	if (!pid)
		printf("memory of the service: not known, name its process with --pid\n");
	for (i = 0; i < n && i < 64; i++)
		printf("memory of %s %d: peak %.1f MiB; %.2f s of processor time\n", seen[i].name,
		       (int)seen[i].pid, seen[i].peak / 1048576., seen[i].cpu);
	if (pid)
		printf("memory of all of them at one time: peak %.1f MiB\n",
		       monitor_peak(b->monitor) / 1048576.);
	if (busy >= 0)
		printf("GPU busy: %.1f %% of the time\n", 100 * busy);
	else
		printf("GPU busy: no NVIDIA device here\n");
}
