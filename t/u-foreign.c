/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-foreign.c - prototypes, and a prover that knows nothing of this project at work */
#include "plugin/foreign-proto.h"
#include "t/instance.h"

static const struct {
	enum proto_op op;
	const char *text, *why;	/* why NULL: good */
} prototypes[] = {
	{ OP_CLOSE, "void f(void *ctx)", NULL },
	{ OP_CLOSE, "void f(void)", NULL },
	{ OP_CLOSE, "void f();", NULL },
	{ OP_CLOSE, "unsigned long long int f ( void * ctx ) ;", NULL },
	{ OP_OPEN, "void *f(const char *device, unsigned threads)", NULL },
	{ OP_OPEN, "int f(void **ctx_out, uint64_t vram_budget, ssize_t host_budget)", NULL },
	{ OP_PROVE, "bool f(void *ctx, char const *vanilla_proof, uint8_t *proof_out)", NULL },
	{ OP_PROVE, "int f(const uint8_t *const *vanilla_proofs, const size_t "
	  "*vanilla_proof_sizes, long n_vanilla_proofs, uint8_t *proof_out, int zero, "
	  "void *zero)", NULL },
	{ OP_LAST_ERROR, "const char *f(void *ctx)", NULL },
	{ OP_CANCEL, "int f(void *ctx, short partition)", NULL },

	{ OP_CLOSE, "", "'' is not a type that can be passed" },
	{ OP_CLOSE, "f(void)", "'f' is not a type that can be passed" },
	{ OP_CLOSE, "double f(void)", "'double' is not a type that can be passed" },
	{ OP_CLOSE, "struct x *f(void)", "'struct' is not a type that can be passed" },
	{ OP_CLOSE, "void (void)", "expected the symbol's name before '('" },
	{ OP_CLOSE, "void f", "expected ( before ''" },
	{ OP_CLOSE, "void f(void *ctx", "expected , or ) before ''" },
	{ OP_CLOSE, "void f(void *ctx) x", "'x' behind the prototype" },
	{ OP_CLOSE, "void f(void *)", "argument 1 has no name; its name says what is passed" },
	{ OP_CLOSE, "void f(void *context)",
	  "'context' is not the name of anything that can be passed" },
	{ OP_CLOSE, "void f(int ctx)", "ctx must be void *" },
	{ OP_CLOSE, "void f(void ***ctx)", "more than two *" },
	{ OP_CLOSE, "void f(void *ctx, void *ctx)", "ctx is passed twice" },
	{ OP_CLOSE, "void f(void *ctx,)", "')' is not a type that can be passed" },
	{ OP_CLOSE, "void f(void *ctx, ...)", "'.' is not a type that can be passed" },
	{ OP_CLOSE, "void f(int partition)", "partition cannot be passed to close" },
	{ OP_CLOSE, "void *f(void)", "close must return void or a status" },
	{ OP_OPEN, "int f(int threads)", "open must return void *, or a status and take ctx_out" },
	{ OP_PROVE, "void f(uint8_t *proof_out)",
	  "prove must return a status: an integer (0: good) or bool (true: good)" },
	{ OP_PROVE, "int f(void *ctx)", "prove must take proof_out" },
	{ OP_PROVE, "int f(const uint8_t *proof_out)",
	  "proof_out must be uint8_t * (or char, void)" },
	{ OP_PROVE, "int f(uint8_t *vanilla_proof, uint8_t *proof_out)",
	  "vanilla_proof must be const uint8_t * (or char, void)" },
	{ OP_PROVE, "int f(uint8_t *proof_out, size_t *proof_size)",
	  "proof_size must be an integer" },
	{ OP_PROVE, "int f(uint8_t *proof_out, char *error)", "error and error_size go together" },
	{ OP_VERIFY, "int f(void *ctx)", "verify must take proof" },
	{ OP_LAST_ERROR, "char *f(void)", "last_error must return const char *" },
};

static void test_prototypes(void)
{
	struct proto p;
	char why[PROTO_WHY];
	unsigned int i;

	for (i = 0; i < sizeof(prototypes) / sizeof(prototypes[0]); i++) {
		const char *want = prototypes[i].why;
		int r;

		why[0] = '\0';
		r = proto_parse(&p, prototypes[i].op, prototypes[i].text, why);
		if (!ok(want ? r == -EINVAL && !strcmp(why, want) : !r && !strcmp(p.symbol, "f"),
			"%s: '%s'", want ? "refused" : "read", prototypes[i].text))
			diag("%d %s", r, why);
	}
}

/* Any text: no crash, and a reason. */
static void test_noise(void)
{
	static const char *const words[] = {
		"void", "int", "unsigned", "const", "*", "(", ")", ",", "ctx", "f", "proof_out",
		"uint8_t", "zero", "size_t", " ", ";", "long", "char", "\t", "%", "0",
	};
	uint64_t x = 88172645463325252ull;
	unsigned int i, k, silent = 0;
	struct proto p;

	for (i = 0; i < 50000; i++) {
		char text[600] = "", why[PROTO_WHY] = "";

		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		for (k = 0; k < x % 48; k++) {
			uint64_t y = (x + k) * 0x9e3779b97f4a7c15ull >> 33;

			strcat(text, words[y % (sizeof(words) / sizeof(words[0]))]);
			strcat(text, y & 1024 ? " " : "");
		}
		silent += proto_parse(&p, x % OP_COUNT, text, why) < 0 && !*why;
	}
	ok(!silent, "noise is refused with a reason");
}

/* ---- at work ---- */

#define PROVE "prove = int vendor_prove(void *ctx, const uint8_t *vanilla_proof, "		\
	"size_t vanilla_proof_size, uint64_t sector_number, const uint8_t *prover_id,\n"	\
	"prove_2 = uint16_t partition, uint8_t *proof_out, size_t *proof_size_out, int zero)\n"
#define VERIFY "verify = bool vendor_verify(void *ctx, const uint8_t *vanilla_proof, "		\
	"size_t vanilla_proof_size, uint64_t sector_number, const uint8_t *prover_id,\n"	\
	"verify_2 = uint16_t partition, const uint8_t *proof, size_t proof_size)\n"
#define OPEN "open = void *vendor_new(const char *device, int threads)\n"			\
	"close = void vendor_free(void *ctx)\n"
#define REST "self_test = bool vendor_ready(void *ctx)\n"					\
	"check = short vendor_check(uint32_t kind, unsigned long sector_number, "		\
	"const void *vanilla_proof, size_t vanilla_proof_size)\n"				\
	"cancel = void vendor_stop(void *ctx)\n"						\
	"last_error = const char *vendor_error(void *ctx)\n"

static struct record *open_vendor(const char *keys)
{
	char cwd[2048], lib[3072], text[4096];

	if (!getcwd(cwd, sizeof(cwd)))
		return NULL;
	snprintf(lib, sizeof(lib), "%s/t/.libs/vendor.so",
		 *build_dir() == '/' ? build_dir() : cwd);
	snprintf(text, sizeof(text), "type = foreign\npartitions_porep = 2\n"
		 "serves = porep, window-post\n%s", keys);
	return open_record(lib, "", text);
}

/* What vendor.c makes of the request of make_request(). */
static bool is_right(const struct record *r, uint64_t sector)
{
	static const uint8_t prover_id[32] = { 0xe8, 0x07 };	/* 1000 */
	uint32_t sum = r->partition * 7919u + (uint32_t)sector;
	unsigned int i;

	for (i = 0; i < 7; i++)
		sum = sum * 31 + (uint8_t)"vanilla"[i];
	for (i = 0; i < 32; i++)
		sum = sum * 31 + prover_id[i];
	for (i = 0; i < 192; i++) {
		if (r->result.proof[i] != (uint8_t)(sum >> (8 * (i % 4))))
			return false;
	}
	return !r->result.status;
}

static bool prove(struct record *r, uint64_t task, uint64_t sector, uint32_t partition)
{
	unsigned int before = r->n_completed + r->n_died;

	return admit(r, task, sector) && !instance_prove(r->inst, task, partition, task, false) &&
	       WAIT_FOR(r, r->n_completed + r->n_died > before);
}

static void test_work(void)
{
	struct record *r = open_vendor(OPEN REST PROVE VERIFY);

	ok(wait_ready(r), "a foreign engine is ready: %s", r->reason);
	ok(r->circuits_len == 4 && r->circuits[0].state == CUZK_PARAMS_WARM &&
	   r->circuits[1].state == CUZK_PARAMS_ABSENT, "it serves what it is said to serve");
	ok(prove(r, 1, 1, 1) && is_right(r, 1), "it proves: %s", r->result.text);
	ok(prove(r, 2, 1ull << 40, 0) && is_right(r, 1ull << 40), "for any number");
	ok(!admit(r, 3, 13) && r->refusal.cls == CUZK_ERROR_INPUT &&
	   strstr(r->refusal.text, "foreign vendor_check"), "its check refuses: %s",
	   r->refusal.text);
	ok(prove(r, 4, 14, 0) && r->result.status == -EIO && r->result.cls == CUZK_ERROR_DEVICE &&
	   !strcmp(r->result.text, "foreign vendor_prove: out of luck"),
	   "its failure comes in its words: %s", r->result.text);
	ok(prove(r, 5, 18, 0) && r->result.status == -EPROTO, "a short proof is refused: %s",
	   r->result.text);
	ok(admit(r, 6, 16) && !instance_prove(r->inst, 6, 0, 6, false), "one that takes for ever");
	usleep(50000);
	instance_cancel(r->inst, 6);
	ok(WAIT_FOR(r, r->tag == 6), "ends when it is cancelled");
	ok(prove(r, 7, 15, 0) && r->result.invalid && r->result.status == -EBADMSG,
	   "a wrong proof is caught: %s", r->result.text);
	ok(WAIT_FOR(r, r->n_died == 1) && r->death == INSTANCE_DEATH_RECYCLED && wait_ready(r),
	   "and costs the child");
	ok(prove(r, 8, 17, 0) && WAIT_FOR(r, r->n_died == 2) &&
	   r->death == INSTANCE_DEATH_CRASHED, "a crash is only the child's: %s", r->reason);
	ok(wait_ready(r) && prove(r, 9, 2, 0) && is_right(r, 2), "the next proves");
	instance_stop(r->inst);
	ok(WAIT_FOR(r, r->state == INSTANCE_STOPPED), "and stops");
	close_record(r);
}

static const struct {
	const char *what, *keys, *reason;
	enum instance_death death;
} mistakes[] = {
	{ "no prove", "", "t.conf:9: a foreign engine needs prove = PROTOTYPE",
	  INSTANCE_DEATH_LOAD },
	{ "no verify", PROVE, "t.conf:9: a foreign engine needs verify = PROTOTYPE (or unverified "
	  "= yes, which lets wrong proofs out)", INSTANCE_DEATH_LOAD },
	{ "a bad prototype", "prove = int vendor_prove(void *ctx)\n",
	  "t.conf:13: prove: prove must take proof_out", INSTANCE_DEATH_LOAD },
	{ "a symbol that is not there", "prove = int vendor_prov(uint8_t *proof_out)\n",
	  "no symbol vendor_prov", INSTANCE_DEATH_LOAD },
	{ "an unknown key", PROVE VERIFY "prover = x\n", "parameters are wrong",
	  INSTANCE_DEATH_LOAD },
	{ "an open that fails", PROVE VERIFY
	  "open = int vendor_init(void **ctx_out, char *error, size_t error_size)\n",
	  "foreign vendor_init: no licence", INSTANCE_DEATH_PROBE },
	{ "a self-test that fails", PROVE VERIFY OPEN "self_test = bool vendor_broken(void)\n",
	  "self-test: foreign vendor_broken: returned 0", INSTANCE_DEATH_SELF_TEST },
};

static void test_mistakes(void)
{
	unsigned int i;

	for (i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct record *r;

		r = open_vendor(mistakes[i].keys);
		ok(WAIT_FOR(r, r->n_died) && r->death == mistakes[i].death &&
		   strstr(r->reason, mistakes[i].reason), "%s: %s", mistakes[i].what, r->reason);
		close_record(r);
	}
}

int main(void)
{
	test_prototypes();
	test_noise();
	test_work();
	test_mistakes();
	return tap_done();
}
