/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-loader.c - engines that are loaded, and engines that are refused, with what words */
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/loader.h"
#include "t/tap.h"

static const struct cuzk_host host = {
	.size = sizeof(host), .abi_major = CUZK_ENGINE_ABI_MAJOR,
	.abi_minor = CUZK_ENGINE_ABI_MINOR, .version = "test",
};

static char dir[PATH_MAX - 100];

static const struct {
	const char *what;
	int error;
	const char *why;	/* behind "PATH: " */
} refusals[] = {
	{ "major", -EPROTO, "made for engine ABI 2.2, this host has 1.2" },
	{ "eproto", -EPROTO, "refuses engine ABI 1.2 of this host" },
	{ "eio", -EIO, "cuzk_engine_entry: Input/output error" },
	{ "nothing", -EINVAL, "cuzk_engine_entry gave no operations" },
	{ "no-prove", -EINVAL, "engine bad has no operation prove" },
	{ "short", -EINVAL, "engine bad has no operation admit" },
	{ "tiny", -EINVAL, "operation table of 8 bytes is too short" },
	{ "caps", -EINVAL, "engine bad offers unknown capabilities 0x1000000000000000" },
	{ "no-cancel", -EINVAL, "engine bad has no operation cancel" },
	{ "no-urgent", -EINVAL, "engine bad has no operation prove_urgent" },
	{ "no-backend", -EINVAL, "engine bad serves neither cpu nor gpu" },
	{ "no-name", -EINVAL, "engine without name or version" },
	{ "param-type", -EINVAL, "parameter size has the unknown type 77" },
	{ "param-reserved", -EINVAL, "parameter size: reserved field is not zero" },
	{ "param-range", -EINVAL, "parameter size: min exceeds max" },
	{ "no-symbol", -ENOENT, "no symbol cuzk_engine_entry" },
};

static void path_of(const char *what, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/t/.libs/bad-%s.so", dir, what);
}

static int try(const char *path, struct cuzk_engine_ops *ops, char why[LOADER_WHY])
{
	why[0] = '\0';
	return loader_open(path, &host, ops, why);
}

static void test_refusals(void)
{
	char path[PATH_MAX], why[LOADER_WHY], want[PATH_MAX + 200];
	struct cuzk_engine_ops ops;
	unsigned int i;
	int r;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		path_of(refusals[i].what, path);
		snprintf(want, sizeof(want), "%s: %s", path, refusals[i].why);
		r = try(path, &ops, why);
		if (!ok(r == refusals[i].error && !strcmp(why, want), "refused: %s",
			refusals[i].what))
			diag("%d %s", r, why);
	}
}

static void test_files(void)
{
	char path[PATH_MAX], link[PATH_MAX], why[LOADER_WHY];
	struct cuzk_engine_ops ops;
	int r;

	path_of("good", path);
	r = try(path, &ops, why);
	ok(!r && !strcmp(ops.name, "bad") && ops.size == sizeof(ops), "a good one loads: %s", why);
	ok(ops.preload && ops.evict && ops.cancel && ops.command &&
	   ops.command(&host, 0, NULL) == -ENOSYS, "what it does not offer says -ENOSYS");
	ops.cancel(NULL, 1);
	chmod(path, 0757);
	r = try(path, &ops, why);
	ok(r == -EPERM && strstr(why, "everybody may write to it"), "writable by all: %s", why);
	chmod(path, 0755);
	snprintf(link, sizeof(link), "%s/t/u-loader-link.so", dir);
	unlink(link);
	if (symlink(path, link) < 0)
		diag("no symlink");
	ok(!try(link, &ops, why), "by a symbolic link: %s", why);
	unlink(link);
	ok(try("/dev/null", &ops, why) == -EINVAL && strstr(why, "not a regular file"),
	   "a device: %s", why);
	ok(try("/etc/passwd", &ops, why) == -ENOEXEC && *why, "a text: %s", why);
	ok(try("/nonexistent/x.so", &ops, why) == -ENOENT && *why, "nothing: %s", why);
	ok(try("no-such-engine", &ops, why) == -ENOENT &&
	   strstr(why, "/cuzk/no-such-engine.so: No such file"), "a bare name: %s", why);
}

static void test_linking(void)
{
	char path[PATH_MAX], why[LOADER_WHY];
	struct cuzk_engine_ops ops;

	path_of("newer", path);
	ok(!try(path, &ops, why) && ops.size == sizeof(ops) && ops.abi_minor == 7,
	   "a newer minor version loads: %s", why);
	path_of("older", path);
	ok(!try(path, &ops, why) && ops.size == sizeof(ops) && ops.abi_minor == 1 &&
	   !ops.prove_urgent, "an engine of ABI 1.1 loads, its table is read no further: %s", why);
	path_of("undefined", path);
	ok(try(path, &ops, why) == -ENOEXEC && strstr(why, "defined_nowhere"),
	   "an undefined symbol is found at load: %s", why);
	path_of("borrowed", path);
	ok(try(path, &ops, why) == -ENOENT && strstr(why, "comes from"),
	   "an entry of another library is not its own: %s", why);
}

int main(void)
{
	const char *build = getenv("CUZK_BUILDDIR");
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)))
		return 1;
	snprintf(dir, sizeof(dir), "%.3900s", build ? build : cwd);
	test_refusals();
	test_files();
	test_linking();
	return tap_done();
}
