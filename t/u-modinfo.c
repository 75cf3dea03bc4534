/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-modinfo.c - module information of good, bad and damaged files */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/modinfo.h"
#include "t/tap.h"

static char dir[PATH_MAX - 100];

static const char *built(const char *name)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void test_good(void)
{
	struct modinfo info;
	const char *p = NULL;
	unsigned int n = 0, params = 0;
	int r;

	r = modinfo_read(&info, built(".libs/null.so"));
	ok(!r, "the null engine has module information");
	if (r)
		return;
	ok(!strcmp(modinfo_get(&info, "name"), "null") &&
	   !strcmp(modinfo_get(&info, "licence"), "MIT OR Apache-2.0") &&
	   !strcmp(modinfo_get(&info, "abi"), "1.2") && !modinfo_get(&info, "nam") &&
	   !modinfo_get(&info, "absent"), "keys are found");
	while ((p = modinfo_next(&info, p))) {
		n++;
		params += !strncmp(p, "param=", 6);
	}
	ok(params == 41 && n == params + 5, "%u entries, %u parameters", n, params);
	modinfo_free(&info);
}

static void test_others(void)
{
	struct modinfo info;

	ok(modinfo_read(&info, built("t/.libs/bad-no-modinfo.so")) == -ENODATA,
	   "a shared object without the section");
	ok(modinfo_read(&info, "/etc/passwd") == -ENOEXEC, "a text");
	ok(modinfo_read(&info, "/dev/null") == -EINVAL, "a device");
	ok(modinfo_read(&info, "/") == -EISDIR, "a folder");
	ok(modinfo_read(&info, "/nonexistent") == -ENOENT, "nothing");
}

static size_t read_all(const char *path, unsigned char **data)
{
	struct stat st;
	size_t n = 0;
	FILE *f = fopen(path, "re");

	if (!f || fstat(fileno(f), &st) < 0)
		return 0;
	*data = malloc(st.st_size);
	n = fread(*data, 1, st.st_size, f);
	fclose(f);
	return n;
}

static int try(const char *path, const unsigned char *data, size_t len)
{
	struct modinfo info = { 0 };
	const char *p = NULL;
	FILE *f = fopen(path, "we");
	int r;

	fwrite(data, 1, len, f);
	fclose(f);
	r = modinfo_read(&info, path);
	while (!r && (p = modinfo_next(&info, p)))
		;
	modinfo_free(&info);
	return r;
}

/* Cut anywhere, with any header field changed: an error or an answer, no crash. */
static void test_damage(void)
{
	char path[] = "/tmp/u-modinfo-XXXXXX";
	int fd = mkstemp(path), r, fine = 0, odd = 0;
	unsigned char *data = NULL;
	uint64_t x = 88172645463325252ull;
	size_t len, i;

	len = read_all(built("t/.libs/bad-good.so"), &data);
	ok(fd >= 0 && len > 4096 && !try(path, data, len), "a copy is read");
	close(fd);
	for (i = 0; i < 64; i++) {
		r = try(path, data, len * i / 64);
		odd += r != -ENOEXEC && r != -EBADMSG;
	}
	ok(!odd, "cut files are refused");
	for (i = 0; i < 3000; i++) {
		size_t where, shoff;
		unsigned char old;

		memcpy(&shoff, data + 40, 8);
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		where = x % 3 ? shoff + x / 3 % (len - shoff) : x / 3 % 64;
		old = data[where];
		data[where] ^= 1 << (x >> 40) % 8;
		r = try(path, data, len);
		fine += !r;
		data[where] = old;
	}
	ok(fine > 0 && fine < 3000, "one flipped bit in the headers: no crash (%d still read)",
	   fine);
	unlink(path);
	free(data);
}

int main(void)
{
	const char *build = getenv("CUZK_BUILDDIR");
	char cwd[PATH_MAX];

	if (!getcwd(cwd, sizeof(cwd)))
		return 1;
	snprintf(dir, sizeof(dir), "%.3900s", build ? build : cwd);
	test_good();
	test_others();
	test_damage();
	return tap_done();
}
