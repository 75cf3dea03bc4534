/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* ctl.c - what the commands of cuzkctl share */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/ctl.h"

#define PROGRESS_AFTER_MS 2000
#define PROGRESS_EVERY_MS 200

const char *ctl_program = "cuzkctl";

static void say(const char *command, const char *fmt, va_list ap)
{
	fprintf(stderr, "%s %s: ", ctl_program, command);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

int ctl_fail(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(command, fmt, ap);
	va_end(ap);
	return CTL_FAILURE;
}

int ctl_usage(const char *command, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(command, fmt, ap);
	va_end(ap);
	return CTL_USAGE;
}

/* ---- options ---- */

static const struct ctl_option *find_option(const struct ctl_option *o, const char *name,
					    size_t len)
{
	for (; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

int ctl_parse(const char *command, int argc, char **argv, const struct ctl_option *options,
	      struct ctl_connection *conn, const char **rest, int max)
{
	struct ctl_connection unused;
	struct ctl_connection *c = conn ? conn : &unused;
	const struct ctl_option common[] = {
		{ "--address", &c->address }, { "--tls-ca", &c->tls_ca },
		{ "--tls-cert", &c->tls_cert }, { "--tls-key", &c->tls_key },
		{ "--timeout", &c->timeout }, { "--json", NULL, &c->json }, { NULL },
	};
	const struct ctl_option *o;
	uint64_t seen = 0, bit;
	int i, n = 0;

	for (i = 0; i < argc; i++) {
		const char *eq = strchr(argv[i], '=');
		size_t len = eq ? (size_t)(eq - argv[i]) : strlen(argv[i]);

		if (strncmp(argv[i], "--", 2)) {
			if (n == max) {
				ctl_usage(command, "unexpected argument '%s'", argv[i]);
				return -1;
			}
			rest[n++] = argv[i];
			continue;
		}
		o = find_option(options, argv[i], len);
		bit = 1ull << (o ? o - options : 0);
		if (!o && conn) {
			o = find_option(common, argv[i], len);
			bit = 1ull << 32 << (o ? o - common : 0);
		}
		if (!o) {
			ctl_usage(command, "unknown option '%.*s'", (int)len, argv[i]);
			return -1;
		}
		if (seen & bit) {
			ctl_usage(command, "%s is given twice", o->name);
			return -1;
		}
		seen |= bit;
		if (o->flag ? eq != NULL : (!eq && i + 1 == argc)) {
			ctl_usage(command, o->flag ? "%s takes no value" : "%s needs a value",
				  o->name);
			return -1;
		}
		if (o->flag)
			*o->flag = true;
		else
			*o->value = eq ? eq + 1 : argv[++i];
	}
	return n;
}

int ctl_take_option(int *argc, char **argv, const char *name, const char **value)
{
	size_t len = strlen(name);
	int i, n;

	for (i = 1; i < *argc; i++) {
		if (strncmp(argv[i], name, len) || (argv[i][len] && argv[i][len] != '='))
			continue;
		n = argv[i][len] == '=' ? 1 : 2;
		if (i + n > *argc)
			return ctl_usage(argv[1], "%s needs a value", name);
		*value = n == 1 ? argv[i] + len + 1 : argv[i + 1];
		memmove(&argv[i], &argv[i + n], (*argc - i - n + 1) * sizeof(*argv));
		*argc -= n;
		i--;
	}
	return 0;
}

int ctl_duration(const char *text, uint64_t *ms)
{
	static const struct {
		const char *suffix;
		uint64_t ms;
	} units[] = {
		{ "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "min", 60000 }, { "h", 3600000 }
	};
	char *end;
	uint64_t n;
	size_t i;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(end, units[i].suffix))
			continue;
		if (errno || n > UINT32_MAX * 1000ull / units[i].ms)
			return -EINVAL;
		*ms = n * units[i].ms;
		return 0;
	}
	return -EINVAL;
}

void ctl_quote(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = *s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ')
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

/* ---- progress ---- */

static uint64_t ms_since(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - t->tv_sec) * 1000 + (now.tv_nsec - t->tv_nsec) / 1000000;
}

void ctl_progress_start(struct ctl_progress *p, const char *what)
{
	p->what = what;
	p->visible = false;
	clock_gettime(CLOCK_MONOTONIC, &p->started);
	p->shown = p->started;
}

bool ctl_progress_tick(void *ctx)
{
	struct ctl_progress *p = ctx;

	if (!isatty(STDERR_FILENO) || ms_since(&p->started) < PROGRESS_AFTER_MS ||
	    ms_since(&p->shown) < PROGRESS_EVERY_MS)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &p->shown);
	fprintf(stderr, "\r\033[K%s, %" PRIu64 " s", p->what, ms_since(&p->started) / 1000);
	fflush(stderr);
	p->visible = true;
	return true;
}

void ctl_progress_clear(struct ctl_progress *p)
{
	if (p->visible)
		fputs("\r\033[K", stderr);
	p->visible = false;
}

/* ---- calls ---- */

int ctl_ask(const struct ctl_connection *conn, const char *method,
	    const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	    bool (*wait)(void *ctx), void *ctx, ProtobufCMessage **answer,
	    char text[CLIENT_ERROR_TEXT])
{
	struct client_config config = {
		.address = conn->address ? conn->address : CLIENT_DEFAULT_ADDRESS,
		.tls_ca = conn->tls_ca,
		.tls_cert = conn->tls_cert,
		.tls_key = conn->tls_key,
		.wait = wait,
		.ctx = ctx,
	};
	uint64_t timeout_ms = 0;
	struct client *client;
	int ret;

	if (conn->timeout && ctl_duration(conn->timeout, &timeout_ms)) {
		snprintf(text, CLIENT_ERROR_TEXT, "--timeout %s: not a duration", conn->timeout);
		return CTL_USAGE;
	}
	if (!conn->tls_cert != !conn->tls_key) {
		snprintf(text, CLIENT_ERROR_TEXT, "--tls-cert and --tls-key go together");
		return CTL_USAGE;
	}
	if (client_open(&client, &config, text))
		return CTL_FAILURE;
	ret = client_call(client, method, request, type, timeout_ms, answer, text);
	client_close(client);
	return ret ? CTL_FAILURE : 0;
}

int ctl_call(const char *command, const struct ctl_connection *conn, const char *method,
	     const ProtobufCMessage *request, const ProtobufCMessageDescriptor *type,
	     const char *what, ProtobufCMessage **answer)
{
	struct ctl_progress progress;
	char text[CLIENT_ERROR_TEXT];
	int ret;

	ctl_progress_start(&progress, what);
	ret = ctl_ask(conn, method, request, type, ctl_progress_tick, &progress, answer, text);
	ctl_progress_clear(&progress);
	if (ret)
		fprintf(stderr, "%s %s: %s\n", ctl_program, command, text);
	return ret;
}
