/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* rpc.c - the gRPC side of the service: its threads, its start and its end */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <grpc/compression.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>
#include <grpc/support/log.h>
#include <grpc/support/time.h>

#include "plugin/log.h"
#include "plugin/rpc-internal.h"

#define RECEIVERS 4
#define REQUESTS_AHEAD 64	/* calls asked for before they come */
#define CLOSE_LIMIT_MS 5000	/* then they are left */
#define CLOSE_GRACE_MS 1000	/* for answers to reach slow clients at the end */
#define KEEPALIVE_MS 60000	/* a dead peer is noticed after this... */
#define KEEPALIVE_TIMEOUT_MS 20000	/* ...and this */
#define HANDSHAKE_MS 10000
#define LOG_LINES 10		/* of the library, in... */
#define LOG_WHILE_MS 10000
#define FRAME_SIZE (1 << 20)	/* bytes of an HTTP/2 frame that we take */
#define LOOKAHEAD (4 << 20)	/* bytes of a stream that may be on their way to us */
#define MESSAGES_AT_A_TIME 8	/* of the longest kind, in the library's memory */
#define STREAMS_MAX 16384	/* open calls of one connection */

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

/* What strangers do at the port must not crowd out what the log is for: some lines a while. */
static bool may_log(void)
{
	static _Atomic uint64_t since, n;
	uint64_t now = now_ms(), begun = atomic_load(&since);

	if (now - begun >= LOG_WHILE_MS && atomic_compare_exchange_strong(&since, &begun, now)) {
		uint64_t before = atomic_exchange(&n, 0);

		if (before > LOG_LINES)
			log_warning("grpc: %llu lines like those before were left out",
				    (unsigned long long)before - LOG_LINES);
	}
	return atomic_fetch_add(&n, 1) < LOG_LINES;
}

static void library_log(gpr_log_func_args *args)
{
	if (args->severity == GPR_LOG_SEVERITY_ERROR && !may_log())
		return;
	log_event(args->severity == GPR_LOG_SEVERITY_ERROR ? LOG_WARNING : LOG_DEBUG, NULL,
		  "grpc: %s", args->message);
}

/* ---- threads ---- */

static void *receiver_main(void *arg)
{
	struct rpc *rpc = arg;
	grpc_event ev;

	for (;;) {
		ev = grpc_completion_queue_next(rpc->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC),
						NULL);
		if (ev.type == GRPC_QUEUE_SHUTDOWN)
			return NULL;
		if (ev.type == GRPC_OP_COMPLETE) {
			struct rpc_op *op = ev.tag;

			rpc_tag_out(op);
			op->done(op, ev.success);
		}
	}
}

static void run_items(struct mailbox *box)
{
	struct mail *mail = mailbox_take(box), *next;

	for (; mail; mail = next) {
		struct rpc_item *item = mail_entry(mail, struct rpc_item, mail);

		next = mail->next;	/* run() may free the item */
		item->run(item);
	}
}

static void *sender_main(void *arg)
{
	struct rpc *rpc = arg;

	while (!rpc->sender_ends) {
		mailbox_wait(&rpc->to_sender);
		run_items(&rpc->to_sender);
	}
	return NULL;
}

/* ---- the owner's side ---- */

int rpc_fd(const struct rpc *rpc)
{
	return rpc->to_owner.fd;
}

unsigned long rpc_submissions(const struct rpc *rpc)
{
	return atomic_load(&rpc->submissions);
}

void rpc_process(struct rpc *rpc)
{
	run_items(&rpc->to_owner);
}

struct connection {
	struct rpc_item item;
	struct rpc *rpc;
	int fd;
	uint32_t uid;
};

static void connection_run(struct rpc_item *item)
{
	struct connection *c = (struct connection *)item;
	grpc_server_credentials *creds = grpc_insecure_server_credentials_create();

	if (c->fd < RPC_PEERS)
		atomic_store(&c->rpc->peer_uid[c->fd], c->uid);
	grpc_server_add_channel_from_fd(c->rpc->server, c->fd, creds);
	grpc_server_credentials_release(creds);
	free(c);
}

void rpc_add_connection(struct rpc *rpc, int fd, uint32_t uid)
{
	struct connection *c = malloc(sizeof(*c));

	if (!c || rpc->draining) {
		free(c);
		close(fd);
		return;
	}
	c->item.run = connection_run;
	c->rpc = rpc;
	c->fd = fd;
	c->uid = uid;
	mailbox_post(&rpc->to_sender, &c->item.mail);
}

/* ---- the end ---- */

static void shutdown_done(struct rpc_op *op, bool good)
{
	struct rpc *rpc = mail_entry(op, struct rpc, shutdown_op);

	atomic_store(&rpc->ended, true);
	mailbox_post(&rpc->to_owner, &rpc->wake_item.mail);
}

static void wake_run(struct rpc_item *item)
{
}

static void drain_run(struct rpc_item *item)
{
	struct rpc *rpc = mail_entry(item, struct rpc, drain_item);

	health_end(rpc);
	rpc_tag_in(&rpc->shutdown_op);
	grpc_server_shutdown_and_notify(rpc->server, rpc->cq, &rpc->shutdown_op);
}

static void cut_run(struct rpc_item *item)
{
	struct rpc *rpc = mail_entry(item, struct rpc, cut_item);

	grpc_server_cancel_all_calls(rpc->server);
}

static void quit_run(struct rpc_item *item)
{
	struct rpc *rpc = mail_entry(item, struct rpc, quit_item);

	rpc->sender_ends = true;
}

void rpc_drain(struct rpc *rpc)
{
	if (rpc->draining)
		return;
	rpc->draining = true;
	mailbox_post(&rpc->to_sender, &rpc->drain_item.mail);
}

/*
 * A client that does not read keeps what it is sent, and with it the library, for
 * ever.  Connections of clients are the only connected stream sockets that are
 * left by now, but for those of standard output and error.
 */
static void cut_connections(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int fd, type, listens;
	struct dirent *d;
	socklen_t len;

	while (dir && (d = readdir(dir))) {
		fd = atoi(d->d_name);
		len = sizeof(int);
		if (fd <= STDERR_FILENO ||
		    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_STREAM)
			continue;
		len = sizeof(int);
		if (!getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) && !listens)
			shutdown(fd, SHUT_RDWR);
	}
	if (dir)
		closedir(dir);
}

/* Waits until the library has let go of every call; the impatient ones are cut, which cut tells. */
static bool wait_ended(struct rpc *rpc, bool *cut)
{
	uint64_t start = now_ms();
	int step = 0;

	while (!atomic_load(&rpc->ended)) {
		struct pollfd pfd = { .fd = rpc->to_owner.fd, .events = POLLIN };
		uint64_t waited = now_ms() - start;

		if (step == 0 && waited >= CLOSE_GRACE_MS) {
			mailbox_post(&rpc->to_sender, &rpc->cut_item.mail);
			step = 1;
		} else if (step == 1 && waited >= 2 * CLOSE_GRACE_MS) {
			cut_connections();
			*cut = true;
			step = 2;
		} else if (waited >= CLOSE_LIMIT_MS) {
			return false;
		}
		poll(&pfd, 1, 100);
		rpc_process(rpc);
	}
	return true;
}

static void end_sender(struct rpc *rpc)
{
	mailbox_post(&rpc->to_sender, &rpc->quit_item.mail);
	pthread_join(rpc->sender, NULL);
	while (rpc->to_sender.head)	/* nobody else posts any more */
		run_items(&rpc->to_sender);
}

static void join_threads(struct rpc *rpc, unsigned int n)
{
	grpc_completion_queue_shutdown(rpc->cq);
	while (n)
		pthread_join(rpc->receivers[--n], NULL);
}

bool rpc_close(struct rpc *rpc)
{
	bool cut = false;

	if (!rpc)
		return true;
	rpc->closing = true;
	rpc_drain(rpc);
	if (!wait_ended(rpc, &cut)) {
		log_warning("grpc: connections do not end; they are left to the end of the process");
		return false;
	}
	join_threads(rpc, rpc->n_receivers);
	end_sender(rpc);
	rpc_process(rpc);
	grpc_server_destroy(rpc->server);
	grpc_completion_queue_destroy(rpc->cq);
	/* what was cut is still on its way out in there, and would be waited for */
	if (cut)
		return false;
	grpc_shutdown();
	rpc_tls_close(rpc);
	mailbox_fini(&rpc->to_owner);
	mailbox_fini(&rpc->to_sender);
	pthread_mutex_destroy(&rpc->handover_lock);
	free(rpc->receivers);
	free(rpc);
	return true;
}

/* ---- the start ---- */

static grpc_server *make_server(const struct rpc_config *config)
{
	int limit = config->message_limit > INT32_MAX ? INT32_MAX : (int)config->message_limit;
	const struct {
		const char *key;
		int value;
	} settings[] = {
		{ GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, limit },
		{ GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, limit },
		{ GRPC_ARG_MAX_CONCURRENT_STREAMS, STREAMS_MAX },
		{ GRPC_ARG_HTTP2_MAX_FRAME_SIZE, FRAME_SIZE },
		{ GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, LOOKAHEAD },
		{ GRPC_ARG_KEEPALIVE_TIME_MS, KEEPALIVE_MS },
		{ GRPC_ARG_KEEPALIVE_TIMEOUT_MS, KEEPALIVE_TIMEOUT_MS },
		{ GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1 },
		/* who has shown no certificate yet holds a descriptor no longer than this */
		{ GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, HANDSHAKE_MS },
		{ GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0 },
		/* clients ping as they like: a prove call is silent for minutes */
		{ GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000 },
		{ GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0 },
		/* a megabyte would unfold to a gigabyte before its length is looked at */
		{ GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET, 1u << GRPC_COMPRESS_NONE },
		{ GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0 },
		/* two services must not share a port without knowing */
		{ GRPC_ARG_ALLOW_REUSEPORT, 0 },
	};
	enum { N = sizeof(settings) / sizeof(settings[0]) };
	uint64_t most = MESSAGES_AT_A_TIME * (uint64_t)limit;
	grpc_arg args[N + 1];
	grpc_channel_args list = { .num_args = N + 1, .args = args };
	grpc_resource_quota *quota;
	grpc_server *server;
	int i;

	for (i = 0; i < N; i++) {
		args[i].type = GRPC_ARG_INTEGER;
		args[i].key = (char *)settings[i].key;
		args[i].value.integer = settings[i].value;
	}
	/* what clients send, all together, before it is in its request file */
	quota = grpc_resource_quota_create("cuzkd");
	grpc_resource_quota_resize(quota, most);
	args[N].type = GRPC_ARG_POINTER;
	args[N].key = (char *)GRPC_ARG_RESOURCE_QUOTA;
	args[N].value.pointer.p = quota;
	args[N].value.pointer.vtable = grpc_resource_quota_arg_vtable();
	server = grpc_server_create(&list, NULL);
	grpc_resource_quota_unref(quota);
	return server;
}

static int start_threads(struct rpc *rpc)
{
	unsigned int n;
	int err;

	err = pthread_create(&rpc->sender, NULL, sender_main, rpc);
	if (err)
		return -err;
	for (n = 0; n < rpc->n_receivers; n++) {
		err = pthread_create(&rpc->receivers[n], NULL, receiver_main, rpc);
		if (err)
			break;
	}
	if (!err)
		return 0;
	if (!n) {
		end_sender(rpc);
		return -err;
	}
	log_warning("only %u of %u receiving threads started: %s", n, rpc->n_receivers,
		    strerror(err));
	rpc->n_receivers = n;
	return 0;
}

int rpc_open(struct rpc **out, const struct rpc_config *config, const struct rpc_ops *ops,
	     void *ctx)
{
	struct rpc *rpc = calloc(1, sizeof(*rpc));
	int err, i;

	if (!rpc)
		return -ENOMEM;
	rpc->ops = ops;
	rpc->ctx = ctx;
	rpc->n_receivers = config->threads ? config->threads : RECEIVERS;
	rpc->shutdown_op.done = shutdown_done;
	rpc->drain_item.run = drain_run;
	rpc->cut_item.run = cut_run;
	rpc->quit_item.run = quit_run;
	rpc->wake_item.run = wake_run;
	rpc->health_item.run = health_run;
	for (i = 0; i < RPC_PEERS; i++)
		atomic_init(&rpc->peer_uid[i], UINT32_MAX);
	err = -pthread_mutex_init(&rpc->handover_lock, NULL);
	if (err)
		goto err_free;
	rpc->receivers = calloc(rpc->n_receivers, sizeof(*rpc->receivers));
	err = -ENOMEM;
	if (!rpc->receivers)
		goto err_destroy_lock;
	err = mailbox_init(&rpc->to_owner);
	if (err)
		goto err_free_receivers;
	err = mailbox_init(&rpc->to_sender);
	if (err)
		goto err_fini_owner;
	gpr_set_log_function(library_log);
	gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
	grpc_init();
	rpc->cq = grpc_completion_queue_create_for_next(NULL);
	rpc->server = make_server(config);
	grpc_server_register_completion_queue(rpc->server, rpc->cq, NULL);
	err = rpc_tls_listen(rpc, config);
	if (err)
		goto err_destroy_server;
	grpc_server_start(rpc->server);
	err = start_threads(rpc);
	if (err)
		goto err_destroy_server;
	for (i = 0; i < REQUESTS_AHEAD; i++)
		call_request(rpc);
	*out = rpc;
	return 0;

err_destroy_server:
	grpc_server_shutdown_and_notify(rpc->server, rpc->cq, &rpc->shutdown_op);
	grpc_completion_queue_next(rpc->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
	grpc_server_destroy(rpc->server);
	grpc_completion_queue_shutdown(rpc->cq);
	grpc_completion_queue_destroy(rpc->cq);
	grpc_shutdown();
	rpc_tls_close(rpc);
	mailbox_fini(&rpc->to_sender);
err_fini_owner:
	mailbox_fini(&rpc->to_owner);
err_free_receivers:
	free(rpc->receivers);
err_destroy_lock:
	pthread_mutex_destroy(&rpc->handover_lock);
err_free:
	free(rpc);
	return err;
}
