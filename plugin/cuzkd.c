/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cuzkd.c - the proving service */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "plugin/listen.h"
#include "plugin/log.h"
#include "plugin/pem.h"
#include "plugin/service.h"

#define DEFAULT_CONFIG CUZK_SYSCONFDIR "/cuzk/cuzk.conf"

static void usage(FILE *f)
{
	fprintf(f,
		"Usage: cuzkd [OPTION]...\n"
		"Prove for Filecoin storage hosts.\n"
		"\n"
		"  -c, --config FILE  read FILE instead of " DEFAULT_CONFIG "\n"
		"      --check        check the configuration and the engines' parameters, exit\n"
		"      --dump-config  print the configuration with all defaults, then exit\n"
		"      --help-config  print all options of the configuration, then exit\n"
		"  -h, --help         print this, then exit\n"
		"      --version      print the version, then exit\n"
		"\n"
		"Exit status: 0 after an orderly end, 1 after a failure, 2 when the configuration\n"
		"has errors, 75 when something that it names cannot be used now.  See cuzkd(8)\n"
		"and cuzk.conf(5).\n");
}

enum action {
	ACTION_RUN,
	ACTION_CHECK,
	ACTION_DUMP,
};

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *si, void *ctx)
{
	struct service *svc = ctx;

	if (si->ssi_signo == SIGHUP)
		service_reload(svc);
	else
		service_stop(svc);
	return 0;
}

/* Signals come through the loop; threads and children start with them blocked. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);	/* a file at its limit is an error like a full disk */
	return -pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int add_signals(struct service *svc)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	size_t i;
	int r;

	for (i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		r = sd_event_add_signal(svc->event, NULL, signals[i], on_signal, svc);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A job holds a descriptor while it waits: as many as the system allows. */
static void raise_descriptors(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur == lim.rlim_max)
		return;
	lim.rlim_cur = lim.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		log_warning("cannot raise the limit of open files: %m");
}

/* The status that a start would end with, as far as that can be told without one. */
static int check_all(const struct config *config)
{
	bool pem = !pem_check(config, log_report, NULL);
	unsigned int i;
	int bad = 0;

	for (i = 0; i < config->n_engines; i++)
		if (instance_check(&config->engines[i], &config->global, log_report, NULL))
			bad++;
	if (bad)
		return EXIT_CONFIG;
	return pem ? 0 : EXIT_NOT_READY;
}

/* Is it the machine that cannot read the file now, and not the file? */
static bool is_passing(int err)
{
	return err == -EIO || err == -ENOMEM || err == -EMFILE || err == -ENFILE ||
	       err == -ESTALE || err == -EINTR;
}

static int run(struct service *svc)
{
	int r;

	r = block_signals();
	if (r >= 0)
		r = sd_event_default(&svc->event);
	if (r < 0) {
		log_error("cannot start: %s", strerror(-r));
		return EXIT_NOT_READY;
	}
	r = add_signals(svc);
	if (r < 0) {
		log_error("cannot start: %s", strerror(-r));
		svc->exit_status = EXIT_NOT_READY;
	} else {
		r = service_open(svc);
	}
	if (r >= 0) {
		log_info("cuzkd " PACKAGE_VERSION " starts with %u instance(s)", svc->n_workers);
		r = sd_event_loop(svc->event);
		if (r < 0)
			log_error("event loop: %s", strerror(-r));
		r = r < 0 ? EXIT_FAILURE : r;
	} else {
		listen_turn_away();
		r = svc->exit_status;
	}
	service_close(svc);
	sd_event_unref(svc->event);
	log_info("cuzkd ends");
	return r;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "check", no_argument, NULL, 'C' },
		{ "dump-config", no_argument, NULL, 'D' },
		{ "help-config", no_argument, NULL, 'H' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 }
	};
	static struct service svc;
	enum action action = ACTION_RUN;
	int c, err, status;

	svc.config_path = DEFAULT_CONFIG;
	log_open("cuzkd");
	while ((c = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			svc.config_path = optarg;
			break;
		case 'C':
			action = ACTION_CHECK;
			break;
		case 'D':
			action = ACTION_DUMP;
			break;
		case 'H':
			config_help(stdout);
			return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
		case 'h':
			usage(stdout);
			return EXIT_SUCCESS;
		case 'V':
			printf("cuzkd %s\n", PACKAGE_VERSION);
			return EXIT_SUCCESS;
		default:
			usage(stderr);
			return EXIT_CONFIG;
		}
	}
	if (action != ACTION_RUN)
		log_to_person();
	if (optind < argc) {
		log_error("unexpected argument '%s'", argv[optind]);
		return EXIT_CONFIG;
	}
	err = config_read(&svc.config, svc.config_path, log_report, NULL);
	if (err) {
		if (action == ACTION_RUN)
			listen_turn_away();
		return is_passing(err) ? EXIT_NOT_READY : EXIT_CONFIG;
	}
	if (action == ACTION_DUMP) {
		config_dump(svc.config, stdout);
		status = fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	} else if (action == ACTION_CHECK) {
		status = check_all(svc.config);
	} else {
		log_set_level((int)svc.config->global.log_level);
		raise_descriptors();
		/* one heap: each thread of the network library would keep pages of its own */
		mallopt(M_ARENA_MAX, 1);
		status = run(&svc);
	}
	config_free(svc.config);
	if (svc.abandoned)
		_exit(status);
	return status;
}
