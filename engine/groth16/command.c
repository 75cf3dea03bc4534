/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* command.c - the operator's commands: choice, options, progress, devices */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/groth16/command.h"
#include "engine/groth16/prover.h"

static const struct {
	const char *first, *second;
	const char *flag;	/* must be in the line, or the command is not ours */
	int (*run)(struct command *cmd, int argc, char **argv);
} commands[] = {
	{ "params", "make", NULL, command_params_make },
	{ "params", "check", NULL, command_params_check },
	{ "params", "convert", NULL, command_params_convert },
	{ "params", "rearrange", NULL, command_params_rearrange },
	{ "circuit", "digest", NULL, command_circuit_digest },
	{ "circuit", "list", NULL, command_circuit_list },
	{ "circuit", "cache", NULL, command_circuit_cache },
	{ "witness", NULL, NULL, command_witness },
	{ "check", NULL, NULL, command_check },
	{ "prove", NULL, "--offline", command_prove_offline },
	{ "prove", NULL, "--r1cs", command_prove_r1cs },
	{ "prove", NULL, "--zkey", command_prove_r1cs },
	{ "verify", NULL, NULL, command_verify },
};

#define THREADS_MAX 4096u

static bool has_option(int argc, char **argv, const char *name)
{
	size_t len = strlen(name);
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], name, len) && (!argv[i][len] || argv[i][len] == '='))
			return true;
	return false;
}

#define QUIET_MS 2000	/* shorter work shows nothing */
#define TICK_MS 200

static void tell(void *arg, const char *what, uint64_t done, uint64_t total)
{
	struct command *cmd = arg;

	pthread_mutex_lock(&cmd->shown_lock);
	snprintf(cmd->what, sizeof(cmd->what), "%s", what);
	cmd->done = done;
	cmd->total = total;
	pthread_mutex_unlock(&cmd->shown_lock);
}

static void show(struct command *cmd, unsigned int seconds)
{
	if (!*cmd->what)
		return;
	fprintf(stderr, "\r\033[K%s: %s", cmd->name, cmd->what);
	if (cmd->total)
		fprintf(stderr, " %.0f %%",
			cmd->done >= cmd->total ? 100 : 100.0 * cmd->done / cmd->total);
	fprintf(stderr, ", %u s", seconds);
	fflush(stderr);
	cmd->line_shown = true;
}

/* Work that says nothing for a while is shown too, with its seconds counting. */
static void *tick(void *arg)
{
	struct command *cmd = arg;
	struct timespec until;
	unsigned int ms = 0;

	clock_gettime(CLOCK_REALTIME, &until);
	pthread_mutex_lock(&cmd->shown_lock);
	while (!cmd->stop) {
		until.tv_nsec += TICK_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&cmd->stopped, &cmd->shown_lock, &until) != ETIMEDOUT)
			continue;
		ms += TICK_MS;
		if (ms >= QUIET_MS)
			show(cmd, ms / 1000);
	}
	pthread_mutex_unlock(&cmd->shown_lock);
	return NULL;
}

void command_clear(struct command *cmd)
{
	pthread_mutex_lock(&cmd->shown_lock);
	if (cmd->line_shown)
		fputs("\r\033[K", stderr);
	cmd->line_shown = false;
	*cmd->what = '\0';
	pthread_mutex_unlock(&cmd->shown_lock);
}

static void start_ticker(struct command *cmd)
{
	pthread_mutex_init(&cmd->shown_lock, NULL);
	pthread_cond_init(&cmd->stopped, NULL);
	cmd->progress = (struct progress){ tell, cmd };
	cmd->on_terminal = isatty(STDERR_FILENO) &&
			   !pthread_create(&cmd->ticker, NULL, tick, cmd);
}

static void stop_ticker(struct command *cmd)
{
	command_clear(cmd);
	pthread_mutex_lock(&cmd->shown_lock);
	cmd->stop = true;
	pthread_cond_signal(&cmd->stopped);
	pthread_mutex_unlock(&cmd->shown_lock);
	if (cmd->on_terminal)
		pthread_join(cmd->ticker, NULL);
	pthread_cond_destroy(&cmd->stopped);
	pthread_mutex_destroy(&cmd->shown_lock);
}

/* -ENOSYS, or 2 when the second word of a command is missing or wrong. */
static int no_command(int argc, char **argv)
{
	bool found = false;
	size_t i;

	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!commands[i].second || strcmp(argv[0], commands[i].first))
			continue;
		if (!found)
			fprintf(stderr, "%s: expected one of", argv[0]);
		fprintf(stderr, " %s", commands[i].second);
		found = true;
	}
	if (!found)
		return -ENOSYS;
	if (argc > 1)
		fprintf(stderr, ", not %s", argv[1]);
	fputc('\n', stderr);
	return 2;
}

int command_run(const struct cuzk_host *host, int argc, char **argv)
{
	struct command cmd = { .host = host };
	char name[64];
	size_t i;
	int skip, ret;

	if (argc < 1)
		return -ENOSYS;
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[0], commands[i].first))
			continue;
		if (commands[i].second && (argc < 2 || strcmp(argv[1], commands[i].second)))
			continue;
		if (!commands[i].flag || has_option(argc, argv, commands[i].flag))
			break;
	}
	if (i == sizeof(commands) / sizeof(*commands))
		return no_command(argc, argv);
	skip = commands[i].second ? 2 : 1;
	snprintf(name, sizeof(name), "%s%s%s", commands[i].first, skip == 2 ? " " : "",
		 skip == 2 ? commands[i].second : "");
	cmd.name = name;
	start_ticker(&cmd);
	ret = commands[i].run(&cmd, argc - skip, argv + skip);
	stop_ticker(&cmd);
	if ((fflush(stdout) || ferror(stdout)) && !ret) {
		fprintf(stderr, "%s: stdout: %s\n", name, strerror(errno));
		ret = 1;
	}
	return ret;
}

int command_usage(struct command *cmd, const char *fmt, ...)
{
	va_list ap;

	command_clear(cmd);
	fprintf(stderr, "%s: ", cmd->name);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return 2;
}

int command_fail(struct command *cmd, const struct cuzk_error *err)
{
	command_clear(cmd);
	fprintf(stderr, "%s: %s\n", cmd->name, err->text);
	return 1;
}

static const struct command_option *find_option(const struct command_option *o, const char *name,
						size_t len)
{
	for (; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	return NULL;
}

int command_parse(struct command *cmd, int argc, char **argv, const struct command_option *options,
		  const char **rest, int max)
{
	const struct command_option common[] = {
		{ "--backend", &cmd->backend }, { "--device", &cmd->device },
		{ "--threads", &cmd->threads }, { NULL },
	};
	const struct command_option *o;
	uint64_t seen = 0, bit, number = 0;
	int i, n = 0;

	for (i = 0; i < argc; i++) {
		const char *eq = strchr(argv[i], '=');
		size_t len = eq ? (size_t)(eq - argv[i]) : strlen(argv[i]);

		if (strncmp(argv[i], "--", 2)) {
			if (n == max) {
				command_usage(cmd, "unexpected argument %s", argv[i]);
				return -1;
			}
			rest[n++] = argv[i];
			continue;
		}
		o = find_option(options, argv[i], len);
		bit = 1ull << (o ? o - options : 0);
		if (!o) {
			o = find_option(common, argv[i], len);
			bit = 1ull << 32 << (o ? o - common : 0);
		}
		if (!o) {
			command_usage(cmd, "unknown option %.*s", (int)len, argv[i]);
			return -1;
		}
		if (seen & bit) {
			command_usage(cmd, "%s is given twice", o->name);
			return -1;
		}
		seen |= bit;
		if (o->flag ? eq != NULL : (!eq && i + 1 == argc)) {
			command_usage(cmd, o->flag ? "%s takes no value" : "%s needs a value",
				      o->name);
			return -1;
		}
		if (o->flag)
			*o->flag = true;
		else
			*o->value = eq ? eq + 1 : argv[++i];
	}
	if (cmd->threads && command_number(cmd->threads, THREADS_MAX, &number)) {
		command_usage(cmd, "--threads %s: expected a number up to %u", cmd->threads,
			      THREADS_MAX);
		return -1;
	}
	cmd->n_threads = number;
	return n;
}

int command_number(const char *text, uint64_t max, uint64_t *number)
{
	unsigned long long n;
	char *end;

	/* strtoull() would take a sign and white space */
	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (*end || errno || n > max)
		return -EINVAL;
	*number = n;
	return 0;
}

void command_device_desc(const struct command *cmd, struct cuzk_device *desc)
{
	memset(desc, 0, sizeof(*desc));
	desc->size = sizeof(*desc);
	desc->backend = cmd->backend ? cmd->backend : "cpu";
	desc->id = cmd->device;
	desc->threads = cmd->n_threads;
}

static void device_progress(void *arg, enum gpu_stage stage, uint64_t done, uint64_t total)
{
	struct command_device *dev = arg;

	progress_tell(&dev->cmd->progress, "device", done, total);
}

static void device_log(void *arg, int priority, const char *line)
{
	struct command_device *dev = arg;

	dev->cmd->host->log(dev->cmd->host->ctx, priority, line);
}

int command_open_device(struct command *cmd, struct command_device *dev, struct cuzk_error *err)
{
	struct gpu_config config = {
		.size = sizeof(config), .progress = device_progress, .arg = dev,
		.log = cmd->host->log ? device_log : NULL,
	};
	struct cuzk_device desc;
	char text[256] = "";
	int ret;

	memset(dev, 0, sizeof(*dev));
	dev->cmd = cmd;
	command_device_desc(cmd, &desc);
	dev->ops = strcmp(desc.backend, "cpu") ? gpu_cuda_ops() : &gpu_cpu_ops;
	if (strcmp(desc.backend, "cpu") && strcmp(desc.backend, "gpu"))
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL, "no backend of the name %s",
				 desc.backend);
	if (!dev->ops)
		return error_set(err, CUZK_ERROR_DEVICE, -ENODEV, "built without CUDA");
	config.device = desc.id;
	config.threads = desc.threads;
	ret = tpool_open(&dev->pool, desc.threads);
	if (ret)
		return error_set(err, CUZK_ERROR_RESOURCE, ret, "starting threads: %s",
				 strerror(-ret));
	ret = dev->ops->open(&dev->gpu, &config, text);
	if (ret) {
		tpool_close(dev->pool);
		return error_set(err, CUZK_ERROR_DEVICE, ret, "%s: %s", dev->ops->name,
				 *text ? text : strerror(-ret));
	}
	return 0;
}

void command_close_device(struct command_device *dev)
{
	dev->ops->close(dev->gpu);
	tpool_close(dev->pool);
}

void command_put_string(const char *s)
{
	putchar('"');
	for (; *s; s++)
		if (*s == '"' || *s == '\\')
			printf("\\%c", *s);
		else if ((unsigned char)*s < ' ')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	putchar('"');
}

int command_blinding(const char *text, struct blinding *b, struct cuzk_error *err)
{
	int ret;

	if (!text) {
		ret = blinding_random(b);
		if (ret)
			error_set(err, CUZK_ERROR_INTERNAL, ret, "getrandom: %s", strerror(-ret));
		return ret;
	}
	ret = blinding_parse(b, text);
	if (ret)
		return error_set(
			err, CUZK_ERROR_INPUT, ret,
			"--rs %s: expected two decimal numbers below the modulus, with a comma",
			text);
	return 0;
}
