/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-config.c - the INI reader: what it takes, and the exact words for what it does not */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plugin/config.h"
#include "t/tap.h"

#define TEN "0123456789"
#define LONG TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define GOOD "[engine e]\nlibrary = null\n[cpu]\nengine = e\n"

struct report {
	char text[16384];
	unsigned int lines;
};

static void collect(void *ctx, const char *line)
{
	struct report *r = ctx;
	size_t len = strlen(r->text);

	snprintf(r->text + len, sizeof(r->text) - len, "%s\n", line);
	r->lines++;
}

static int parse(struct config **cfg, const char *text, struct report *r)
{
	memset(r, 0, sizeof(*r));
	return config_parse(cfg, "f", text, strlen(text), collect, r);
}

#define X10(s) s s s s s s s s s s
#define LONG200 X10("xxxxxxxxxxxxxxxxxxxx")

static const struct {
	const char *what, *text, *message;
} mistakes[] = {
	{ "unknown section", GOOD "[gloabl]\nlisten =\n",
	  "f:5: unknown section [gloabl] (there are [global], [engine NAME], [cpu] and [gpu NAME])\n" },
	{ "section without a name", GOOD "[gpu ]\nengine = e\n",
	  "f:5: unknown section [gpu ] (there are [global], [engine NAME], [cpu] and [gpu NAME])\n" },
	{ "section with two blanks", GOOD "[gpu  0]\n",
	  "f:5: unknown section [gpu  0] (there are [global], [engine NAME], [cpu] and [gpu NAME])\n" },
	{ "repeated section", GOOD "[cpu]\nthreads = 1\n",
	  "f:5: section [cpu] is repeated (first at line 3)\n" },
	{ "unclosed section", GOOD "[global\n", "f:5: section without a closing ]\n" },
	{ "text behind a section", GOOD "[global] listen = x\n",
	  "f:5: text behind the section\n" },
	{ "long section", GOOD "[gpu " LONG200 "\n", "f:5: line of 205 bytes, at most 198 are read\n" },
	{ "section that inih would cut",
	  GOOD "[gpu aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffff]\n",
	  "f:5: section name too long (a NAME has at most 40 bytes)\n" },
	{ "unknown key", GOOD "[global]\nlissten = /x\n", "f:6: unknown key lissten in [global]\n" },
	{ "key of another section", GOOD "vram_budget = 1G\n",
	  "f:5: unknown key vram_budget in [cpu]\n" },
	{ "repeated key", GOOD "threads = 1\nkinds = all\nthreads = 2\n",
	  "f:7: threads is repeated in [cpu] (first at line 5)\n" },
	{ "repeated engine parameter",
	  "[engine e]\nlibrary = null\ndelay_ms = 1\ndelay_ms = 2\n[cpu]\nengine = e\n",
	  "f:4: delay_ms is repeated in [engine e] (first at line 3)\n" },
	{ "key before a section", "listen = /x\n" GOOD,
	  "f:1: key listen before the first section\n" },
	{ "continuation line", "[engine e]\nlibrary = null\n  more\n[cpu]\nengine = e\n",
	  "f:3: indented line: a value cannot be continued\n" },
	{ "indented key", GOOD "\tthreads = 1\n",
	  "f:5: indented line: a value cannot be continued\n" },
	{ "over-long line", GOOD "kinds = " LONG200 "\n",
	  "f:5: line of 208 bytes, at most 198 are read\n" },
	{ "over-long line whose tail looks like a key",
	  GOOD "kinds = all" X10("                    ") "threads = 9\n",
	  "f:5: line of 222 bytes, at most 198 are read\n" },
	{ "no value", GOOD "threads\n", "f:5: neither a section nor key = value\n" },
	{ "colon", GOOD "threads: 4\n", "f:5: a key and its value are joined by =, not by :\n" },
	{ "no key", GOOD "= 4\n", "f:5: no key before =\n" },
	{ "odd key", GOOD "thre\xc3\xa4" "ds = 4\n",
	  "f:5: key with a character that is no letter, digit, _ or -\n" },
	{ "control character", GOOD "threads = 1\x01\n", "f:5: control character in column 12\n" },
	{ "not a number", GOOD "threads = many\n", "f:5: threads: 'many' is not a number\n" },
	{ "negative", GOOD "threads = -1\n",
	  "f:5: threads: '-1' is out of range (0 to 4096)\n" },
	{ "too big", GOOD "threads = 4097\n",
	  "f:5: threads: '4097' is out of range (0 to 4096)\n" },
	{ "beyond 64 bits", GOOD "threads = 99999999999999999999999\n",
	  "f:5: threads: '99999999999999999999999' is out of range (0 to 4096)\n" },
	{ "trailing text", GOOD "threads = 4x\n", "f:5: threads: '4x' is not a number\n" },
	{ "bad size", GOOD "host_budget = 4 GB\n",
	  "f:5: host_budget: '4 GB' is not a size (a number, with K, M, G or T behind)\n" },
	{ "overflowing size", GOOD "host_budget = 99999999T\n",
	  "f:5: host_budget: '99999999T' is out of range (0 to 70368744177664 bytes)\n" },
	{ "bad time", GOOD "[global]\ndrain = 5m\n",
	  "f:6: drain: '5m' is not a time (a number, with ms, s, min, h or d behind)\n" },
	{ "time out of range", GOOD "[global]\ndrain = 2d\n",
	  "f:6: drain: '2d' is out of range (0 to 86400000 ms)\n" },
	{ "bad bool", GOOD "[global]\ninsecure = true\n",
	  "f:6: insecure: 'true' is not yes or no\n" },
	{ "bad mode", GOOD "[global]\nlisten_mode = 0999\n",
	  "f:6: listen_mode: '0999' is not an octal file mode\n" },
	{ "mode out of range", GOOD "[global]\nlisten_mode = 4755\n",
	  "f:6: listen_mode: '4755' is out of range (00 to 0777)\n" },
	{ "bad level", GOOD "[global]\nlog_level = 7\n",
	  "f:6: log_level: '7' is not one of err, warning, notice, info, debug\n" },
	{ "bad kind", GOOD "kinds = porep snap\n",
	  "f:5: kinds: 'porep snap' is not a list of porep, update, window-post and winning-post, "
	  "nor all, nor none\n" },
	{ "no kind", GOOD "kinds = none\n", "f:3: [cpu] serves no kind of proof\n" },
	{ "reserved for more than it serves", GOOD "kinds = porep\nreserved_for = winning-post\n",
	  "f:3: [cpu]: reserved_for names kinds that kinds does not\n" },
	{ "relative path", GOOD "[global]\nlisten = cuzk.sock\n",
	  "f:6: listen: 'cuzk.sock' is not an absolute path\n" },
	{ "empty required path", GOOD "[global]\nstate_dir =\n",
	  "f:6: state_dir: '' must not be empty\n" },
	{ "bad address", GOOD "[global]\ninsecure = yes\nlisten_tcp = localhost\n",
	  "f:7: listen_tcp: 'localhost' is not an address HOST:PORT\n" },
	{ "port out of range", GOOD "[global]\nmetrics_listen = :70000\n",
	  "f:6: metrics_listen: ':70000' is not an address HOST:PORT, nor an absolute path\n" },
	{ "bare IPv6 address", GOOD "[global]\nmetrics_listen = ::1:9000\n",
	  "f:6: metrics_listen: '::1:9000' is not an address HOST:PORT, nor an absolute path\n" },
	{ "TCP without TLS", GOOD "[global]\nlisten_tcp = :9820\n",
	  "f:6: listen_tcp wants tls_cert, tls_key and tls_client_ca (or insecure = yes)\n" },
	{ "TLS and insecure", GOOD "[global]\nlisten_tcp = :9820\ninsecure = yes\ntls_cert = /c\n",
	  "f:7: insecure = yes contradicts tls_cert, tls_key and tls_client_ca\n" },
	{ "TLS without an address", GOOD "[global]\ntls_key = /k\ntls_cert = /c\n",
	  "f:7: tls_cert without listen_tcp\nf:6: tls_key without listen_tcp\n" },
	{ "no such group", GOOD "[global]\nlisten_group = no.such.group\n",
	  "f:6: listen_group: 'no.such.group' is no group here\n" },
	{ "socket path too long", GOOD "[global]\nlisten = /" LONG "\nmetrics_listen = /" LONG "0\n",
	  "f:6: listen: path too long for a socket (107 bytes at most)\n"
	  "f:7: metrics_listen: path too long for a socket (107 bytes at most)\n" },
	{ "one socket for two", GOOD "[global]\nlisten = /run/s\nmetrics_listen = /run/s\n",
	  "f:7: metrics_listen: /run/s is where clients connect to\n" },
	{ "bad engine type", "[engine e]\ntype = rust\nlibrary = null\n[cpu]\nengine = e\n",
	  "f:2: type: 'rust' is not plugin or foreign\n" },
	{ "relative library", "[engine e]\nlibrary = ./null.so\n[cpu]\nengine = e\n",
	  "f:2: library: './null.so' is neither an absolute path nor a bare name\n"
	  "f:1: [engine e] has no library\n" },
	{ "no library", "[engine e]\n[cpu]\nengine = e\n", "f:1: [engine e] has no library\n" },
	{ "no such engine", "[engine e]\nlibrary = null\n[cpu]\nengine = f\n",
	  "f:4: there is no [engine f]\n" },
	{ "no engine", "[engine e]\nlibrary = null\n[cpu]\n", "f:3: [cpu] has no engine\n" },
	{ "no device", GOOD "[gpu 0]\nengine = e\n", "f:5: [gpu 0] has no device\n" },
	{ "ordinal for a device", GOOD "[gpu 0]\nengine = e\ndevice = 0\n",
	  "f:7: device: '0' is not a GPU's UUID (GPU-..., MIG-...) nor its PCI address\n"
	  "f:5: [gpu 0] has no device\n" },
	{ "device twice", GOOD "[gpu 0]\nengine = e\ndevice = 0000:65:00.0\n"
	  "[gpu 1]\nengine = e\ndevice = 0000:65:00.0\n",
	  "f:8: [gpu 1] names the device of [gpu 0]\n" },
	{ "no instance", "[engine e]\nlibrary = null\n",
	  "f: no [cpu] and no [gpu NAME] section: nothing could prove\n" },
	{ "all at once", "x = 1\n[cpu]\nengine = e\nthreads = x\ndepth = 0\n y\n[foo]\nbar = 1\n"
	  "[engine e]\nlibrary = null\n",
	  "f:1: key x before the first section\n"
	  "f:4: threads: 'x' is not a number\n"
	  "f:5: depth: '0' is out of range (1 to 64)\n"
	  "f:6: indented line: a value cannot be continued\n"
	  "f:7: unknown section [foo] (there are [global], [engine NAME], [cpu] and [gpu NAME])\n" },
};

static void test_mistakes(void)
{
	struct report r;
	struct config *cfg;
	unsigned int i;
	int ret;

	for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		cfg = NULL;
		ret = parse(&cfg, mistakes[i].text, &r);
		if (!ok(ret == -EINVAL && !cfg && !strcmp(r.text, mistakes[i].message),
			"refused: %s", mistakes[i].what)) {
			diag("returned %d", ret);
			diag("got      %s", r.text);
			diag("expected %s", mistakes[i].message);
		}
		config_free(cfg);
	}
}

static void test_values(void)
{
	static const char text[] =
		"# comment\n"
		"[global] ; comment\n"
		"listen =\n"
		"listen_tcp = [::1]:9820 ; comment\n"
		"insecure = yes\r\n"
		"message_limit = 64M\n"
		"stage_limit_ntt = 1500ms\n"
		"drain = 2 min\n"
		"\n"
		"[engine e]\n"
		"library = /usr/lib/x.so\n"
		"delay_ms = 5\n"
		"[gpu big]\n"
		"engine = e\n"
		"device = GPU-01234567-89ab-cdef-0123-456789abcdef\n"
		"kinds = porep, update\n"
		"vram_budget = 1536M";
	struct config *cfg = NULL;
	struct report r;

	ok(!parse(&cfg, text, &r) && cfg, "a good file is read");
	if (!cfg) {
		diag("%s", r.text);
		return;
	}
	ok(!cfg->global.listen && !strcmp(cfg->global.listen_tcp, "[::1]:9820"),
	   "an empty value is none; a comment ends a value");
	ok(cfg->global.message_limit == 64 << 20 && cfg->global.drain == 120000 &&
	   cfg->global.stage_limit[CUZK_STAGE_NTT] == 1500, "sizes and times");
	ok(cfg->global.stage_limit[CUZK_STAGE_VERIFY] == 600000 && cfg->global.log_level == 6,
	   "defaults");
	ok(cfg->n_engines == 1 && cfg->engines[0].n_params == 1 &&
	   !strcmp(cfg->engines[0].params[0].value, "5") &&
	   cfg->engines[0].params[0].place.line == 12, "a parameter keeps its place");
	ok(cfg->n_devices == 1 && cfg->devices[0].gpu && cfg->devices[0].vram_budget == 1536ull << 20 &&
	   cfg->devices[0].kinds == (CONFIG_KIND(CUZK_KIND_POREP) | CONFIG_KIND(CUZK_KIND_UPDATE)),
	   "a device");
	config_free(cfg);
}

/* --dump-config reads back to the same dump. */
static void test_dump(void)
{
	struct config *a = NULL, *b = NULL;
	char *one = NULL, *two = NULL;
	size_t n_one = 0, n_two = 0;
	struct report r;
	FILE *f;

	ok(!parse(&a, GOOD "kinds = window-post\n[global]\ndrain = 1500ms\nqueue_bytes = 3000000\n"
		  "[engine semicolon]\nlibrary = x\nl=;v = e\n", &r),
	   "read for the dump");
	f = open_memstream(&one, &n_one);
	config_dump(a, f);
	fclose(f);
	ok(!parse(&b, one, &r), "the dump is read");
	if (r.lines)
		diag("%s", r.text);
	if (b) {
		f = open_memstream(&two, &n_two);
		config_dump(b, f);
		fclose(f);
	}
	ok(two && !strcmp(one, two) && strstr(one, "\ndrain = 1500ms\n") &&
	   strstr(one, "\nqueue_bytes = 3000000\n") && strstr(one, "\nl =;v = e\n"),
	   "the dump of the dump is the same");
	free(one);
	free(two);
	config_free(a);
	config_free(b);
}

static void test_reload(void)
{
	struct config *a = NULL, *b = NULL;
	struct report r;
	int n;

	parse(&a, GOOD "kinds = porep\nthreads = 1\n", &r);
	parse(&b, "[engine e]\nlibrary = null\ndelay_ms = 1\n[cpu]\nengine = e\nthreads = 2\n"
	      "[global]\nlisten =\nqueue_limit = 7\n[gpu 0]\nengine = e\ndevice = 65:00.0\n", &r);
	memset(&r, 0, sizeof(r));
	n = config_apply(a, b, collect, &r);
	ok(a->global.queue_limit == 7 && a->devices[0].kinds == CONFIG_KINDS_ALL,
	   "reload: hot keys change");
	ok(n == 4 && a->devices[0].threads == 1 && a->global.listen && a->n_devices == 1 &&
	   !strcmp(r.text,
		   "[global] listen: changed, takes effect at the next start\n"
		   "[engine e] parameters: changed, takes effect at the next start\n"
		   "[cpu] threads: changed, takes effect at the next start\n"
		   "[gpu 0] added: changed, takes effect at the next start\n"),
	   "reload: the others are reported and left");
	config_free(a);
	config_free(b);
}

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (f) {
		fputs(text, f);
		fclose(f);
	}
}

static void test_files(void)
{
	char dir[] = "/tmp/u-config-XXXXXX", path[512], sub[512], want[2048];
	struct config *cfg = NULL;
	struct report r = { 0 };

	if (!mkdtemp(dir)) {
		ok(false, "a folder for files");
		return;
	}
	snprintf(path, sizeof(path), "%s/cuzk.conf", dir);
	snprintf(sub, sizeof(sub), "%s/conf.d", dir);
	ok(config_read(&cfg, path, collect, &r) == -ENOENT && r.lines == 1 &&
	   strstr(r.text, "cuzk.conf: cannot read: No such file"), "a file that is not there");
	write_file(dir, "cuzk.conf", GOOD "threads = 1\n");
	memset(&r, 0, sizeof(r));
	ok(!config_read(&cfg, path, collect, &r), "a file without drop-ins");
	config_free(cfg);
	cfg = NULL;

	mkdir(sub, 0700);
	write_file(sub, "20-b.ini", "[cpu]\nthreads = 3\n");
	write_file(sub, "10-a.ini", "[cpu]\nthreads = 2\ndepth = 5\n[engine e]\nx = 1\n");
	write_file(sub, "30-c.conf", "nonsense");
	write_file(sub, ".40-d.ini", "nonsense");
	ok(!config_read(&cfg, path, collect, &r) && cfg->devices[0].threads == 3 &&
	   cfg->devices[0].depth == 5 && cfg->n_devices == 1 && cfg->engines[0].n_params == 1,
	   "drop-ins override in order; other files are not read");
	config_free(cfg);
	cfg = NULL;

	write_file(sub, "10-a.ini", "[cpu]\nthreads = x\n");
	write_file(sub, "20-b.ini", "[cpu]\nengine = f\n");
	memset(&r, 0, sizeof(r));
	snprintf(want, sizeof(want), "%s/10-a.ini:2: threads: 'x' is not a number\n"
		 "%s/20-b.ini:2: there is no [engine f]\n", sub, sub);
	ok(config_read(&cfg, path, collect, &r) == -EINVAL && !strcmp(r.text, want),
	   "errors of all files, each with its file");

	memset(&r, 0, sizeof(r));
	ok(config_read(&cfg, dir, collect, &r) == -EINVAL && strstr(r.text, "not a regular file"),
	   "a folder is no file");
	snprintf(path, sizeof(path), "rm -r '%s'", dir);
	ok(!system(path), "clean up");
}

/* Any bytes at all: no crash, and an error has a message. */
static void test_noise(void)
{
	static const char alphabet[] = "[]=;# \n\t:\"ae01gpucenlobr";
	uint64_t x = 88172645463325252ull;
	bool silent = false;
	char text[400];
	unsigned int i, k;

	for (i = 0; i < 20000; i++) {
		struct config *cfg = NULL;
		struct report r = { 0 };

		for (k = 0; k < sizeof(text); k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			text[k] = alphabet[x % (sizeof(alphabet) - 1)];
		}
		if (config_parse(&cfg, "f", text, x % sizeof(text), collect, &r) < 0 && !r.lines)
			silent = true;
		config_free(cfg);
	}
	ok(!silent, "noise is refused with a message");
}

int main(void)
{
	test_mistakes();
	test_values();
	test_dump();
	test_reload();
	test_files();
	test_noise();
	return tap_done();
}
