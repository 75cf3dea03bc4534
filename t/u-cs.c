/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * u-cs.c - the storage of constraint systems against slow, plain code
 *
 * Booleans exhaustively; rows, digests and transposed sums of small circuits
 * against an interpreter that knows nothing of templates' order or kinds;
 * SHA-256 blocks with any pattern of constants.
 */
#include <openssl/evp.h>

#include "engine/circuits/gadgets.h"
#include "engine/cs/build.h"
#include "engine/cs/rec.h"
#include "lib/sha256.h"
#include "t/cs-data.h"

static uint64_t seed = 0x243f6a8885a308d3;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void random_fr(struct fr *v)
{
	struct scalar s;

	do {
		s.l[0] = next();
		s.l[1] = next();
		s.l[2] = next();
		s.l[3] = next() >> 1;
	} while (!scalar_is_canonical(&s));
	fr_from_scalar(v, &s);
}

/* Rows that the values recorded do not satisfy. */
static unsigned int bad_rows(const struct rec *r)
{
	unsigned int i, k, bad = 0;
	size_t first = 0;

	for (i = 0; i < r->n_rows; i++) {
		struct fr v[3];

		for (k = 0; k < 3; k++) {
			struct rec_lc lc = { r->terms.terms + first, r->rows[i].end[k] - first };

			rec_lc_value(r, &lc, &v[k]);
			first = r->rows[i].end[k];
		}
		fr_mul(&v[0], &v[0], &v[1]);
		bad += !fr_equal(&v[0], &v[2]);
	}
	return bad;
}

/* Operand number form: 0, 1, x, !x of the port i, which has the value v. */
static struct rec_bit operand(unsigned int form, unsigned int i)
{
	struct rec_bit x = { REC_IS, false, CS_REF(CS_REF_PORT, i) };

	return form < 2 ? rec_const(form) : form == 2 ? x : rec_not(x);
}

/* op 0 and, 1 xor (two operands), 2 ch, 3 maj */
static bool boolean_case(unsigned int op, const unsigned int form[3], unsigned int values)
{
	struct fr ports[3];
	bool v[3], want, good;
	struct rec_bit in[3], out;
	struct rec r;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		ports[i] = values >> i & 1 ? fr_one : fr_zero;
		in[i] = operand(form[i], i);
	}
	rec_init(&r, ports);
	for (i = 0; i < 3; i++)
		v[i] = rec_bit_value(&r, in[i]);
	switch (op) {
	case 0:
		out = rec_and(&r, in[0], in[1]);
		want = v[0] && v[1];
		break;
	case 1:
		out = rec_xor(&r, in[0], in[1]);
		want = v[0] != v[1];
		break;
	case 2:
		out = rec_ch(&r, in[0], in[1], in[2]);
		want = v[0] ? v[1] : v[2];
		break;
	default:
		out = rec_maj(&r, in[0], in[1], in[2]);
		want = v[0] + v[1] + v[2] >= 2;
	}
	good = !r.err && rec_bit_value(&r, out) == want && bad_rows(&r) == 0 &&
	       r.n_rows == r.n_aux;
	/* no other value satisfies the rows */
	for (i = 0; i < r.n_aux && good; i++) {
		struct fr keep = r.aux[i];

		r.aux[i] = fr_is_zero(&keep) ? fr_one : fr_zero;
		good = bad_rows(&r) > 0;
		r.aux[i] = keep;
	}
	rec_fini(&r);
	return good;
}

static void test_booleans(void)
{
	static const char *const names[] = { "and", "xor", "ch", "maj" };
	unsigned int op, i, values, n, bad;

	for (op = 0; op < 4; op++) {
		for (i = n = bad = 0; i < 64; i++) {
			unsigned int form[3] = { i & 3, i >> 2 & 3, i >> 4 };

			for (values = 0; values < 8; values++, n++)
				if (!boolean_case(op, form, values))
					bad++;
		}
		ok(bad == 0, "%s: %u of %u cases are wrong", names[op], bad, n);
	}
}

/* One row, densely: coefficient of each variable, inputs then aux. */
struct dense {
	size_t n;
	struct fr *coeff[3];
	uint8_t *used[3];
};

static size_t dense_index(const struct cs *cs, const struct cs_instance *inst, uint32_t ref)
{
	uint32_t var;

	switch (CS_REF_KIND(ref)) {
	case CS_REF_AUX:
		return (size_t)cs->n_inputs + inst->aux_base + CS_REF_INDEX(ref);
	case CS_REF_INPUT:
		return inst->input_base + CS_REF_INDEX(ref);
	case CS_REF_PORT:
		var = cs->ports[inst->port_base + CS_REF_INDEX(ref)];
		return (CS_VAR_IS_INPUT(var) ? 0 : cs->n_inputs) + (size_t)CS_VAR_INDEX(var);
	default:
		return 0;
	}
}

static void dense_row(const struct cs *cs, const struct cs_instance *inst, uint32_t row,
		      struct dense *d)
{
	const struct cs_template *t = &cs->templates[inst->tmpl];
	unsigned int k;

	for (k = 0; k < 3; k++) {
		uint64_t lc = t->first_lc + 3 * (uint64_t)row + k;
		uint32_t i = row || k ? cs->lc_end[lc - 1] : t->first_term;

		memset(d->coeff[k], 0, d->n * sizeof(struct fr));
		memset(d->used[k], 0, d->n);
		for (; i < cs->lc_end[lc]; i++) {
			size_t v = dense_index(cs, inst, cs->terms[i].ref);

			uint32_t coeff = cs_one_coeff(cs, t, cs->terms[i].coeff);

			fr_add(&d->coeff[k][v], &d->coeff[k][v], &cs->coeffs[coeff]);
			d->used[k][v]++;
		}
	}
}

struct oracle {
	const struct cs *cs;
	const struct cs_witness *w;
	const struct fr *l, *a, *b, *c;		/* l: weights; a, b, c: cs_eval_rows */
	struct fr *sum[3];			/* transposed */
	EVP_MD_CTX *md;
	unsigned int bad_values, bad_merges;
};

static void oracle_hash(struct oracle *o, const struct dense *d, unsigned int k)
{
	uint32_t n = 0;
	size_t v;

	for (v = 0; v < d->n; v++)
		n += !fr_is_zero(&d->coeff[k][v]);
	EVP_DigestUpdate(o->md, &n, 4);
	for (v = 0; v < d->n; v++) {
		bool aux = v >= o->cs->n_inputs;
		uint32_t index = aux ? v - o->cs->n_inputs : v;
		uint8_t kind = aux, bytes[32];

		if (fr_is_zero(&d->coeff[k][v]))
			continue;
		fr_to_bytes_le(bytes, &d->coeff[k][v]);
		EVP_DigestUpdate(o->md, &kind, 1);
		EVP_DigestUpdate(o->md, &index, 4);
		EVP_DigestUpdate(o->md, bytes, 32);
	}
}

static void oracle_row(struct oracle *o, const struct dense *d, uint64_t row)
{
	const struct fr *want[3] = { &o->a[row], &o->b[row], &o->c[row] };
	unsigned int k;
	size_t v;

	for (k = 0; k < 3; k++) {
		struct fr sum = fr_zero, x;

		for (v = 0; v < d->n; v++) {
			if (d->used[k][v] > 1)
				o->bad_merges++;
			if (fr_is_zero(&d->coeff[k][v]))
				continue;
			cs_witness_get(o->cs, o->w, v < o->cs->n_inputs ? CS_VAR_INPUT | v :
				       v - o->cs->n_inputs, &x);
			fr_mul(&x, &x, &d->coeff[k][v]);
			fr_add(&sum, &sum, &x);
			fr_mul(&x, &o->l[row], &d->coeff[k][v]);
			fr_add(&o->sum[k][v], &o->sum[k][v], &x);
		}
		o->bad_values += !fr_equal(&sum, want[k]);
		oracle_hash(o, d, k);
	}
}

static void *zeros(size_t n, size_t size)
{
	void *p = calloc(n + 1, size);

	if (!p)
		exit(1);
	return p;
}

/* Everything that reads rows, against the dense interpreter. */
static void check_rows(const char *name, const struct cs *cs, const struct cs_witness *w,
		       struct tpool *pool)
{
	size_t total = cs->n_rows + cs->n_inputs, vars = cs->n_inputs + (size_t)cs->n_aux, v;
	struct fr *a = zeros(total, 32), *b = zeros(total, 32), *c = zeros(total, 32);
	struct fr *l = zeros(total, 32), *t[3];
	struct oracle o = { cs, w, l, a, b, c };
	struct dense d = { .n = vars };
	struct cs_shape_digest sd;
	uint8_t hash[32];
	uint64_t row = 0, at;
	uint32_t i, r, k;
	bool equal = true, density = true;

	for (k = 0; k < 3; k++) {
		d.coeff[k] = zeros(vars, sizeof(struct fr));
		d.used[k] = zeros(vars, 1);
		o.sum[k] = zeros(vars, sizeof(struct fr));
		t[k] = zeros(vars, sizeof(struct fr));
	}
	for (at = 0; at < total; at++)
		random_fr(&l[at]);
	/* in uneven pieces */
	for (at = 0; at < total; at += r) {
		r = 1 + next() % 1500;
		if (r > total - at)
			r = total - at;
		cs_eval_rows(cs, w, at, r, a + at, b + at, c + at);
	}
	o.md = EVP_MD_CTX_new();
	EVP_DigestInit_ex(o.md, EVP_sha256(), NULL);
	for (i = 0; i < cs->n_instances; i++)
		for (r = 0; r < cs->templates[cs->instances[i].tmpl].n_rows; r++) {
			dense_row(cs, &cs->instances[i], r, &d);
			oracle_row(&o, &d, row++);
		}
	for (i = 0; i < cs->n_inputs; i++) {
		for (k = 0; k < 3; k++)
			memset(d.coeff[k], 0, vars * sizeof(struct fr));
		d.coeff[0][i] = fr_one;
		oracle_row(&o, &d, row++);
	}
	EVP_DigestFinal_ex(o.md, hash, NULL);
	EVP_MD_CTX_free(o.md);
	ok(o.bad_values == 0, "%s: values of %zu rows", name, total);
	ok(o.bad_merges == 0, "%s: no variable twice in a combination", name);
	ok(cs_digest_shape(cs, &sd) == 0 && !memcmp(sd.matrix, hash, 32), "%s: matrix digest", name);
	cs_shape_digest_fini(&sd);
	ok(cs_transpose_eval(cs, pool, l, t[0], t[1], t[2]) == 0, "%s: is transposed", name);
	for (k = 0; k < 3; k++)
		for (v = 0; v < vars; v++)
			equal &= fr_equal(&t[k][v], &o.sum[k][v]);
	ok(equal, "%s: transposed sums", name);
	/* with random weights a sum is zero only where the variable does not occur */
	for (v = 0; v < vars; v++) {
		size_t x = v < cs->n_inputs ? v : v - cs->n_inputs;
		const uint64_t *bd = v < cs->n_inputs ? cs->b_input_density : cs->b_aux_density;

		density &= (bd[x / 64] >> x % 64 & 1) == !fr_is_zero(&o.sum[1][v]);
		if (v >= cs->n_inputs)
			density &= (cs->a_aux_density[x / 64] >> x % 64 & 1) ==
				   !fr_is_zero(&o.sum[0][v]);
	}
	ok(density, "%s: densities", name);
	for (k = 0; k < 3; k++) {
		free(d.coeff[k]);
		free(d.used[k]);
		free(o.sum[k]);
		free(t[k]);
	}
	free(a);
	free(b);
	free(c);
	free(l);
}

static struct cs *finish(struct synth *s)
{
	struct cs *cs;
	int err = cs_builder_finish(s->b, &cs);

	cs_builder_close(s->b);
	*s = (struct synth){ 0 };
	if (err) {
		printf("Bail out! builder: %d\n", err);
		exit(1);
	}
	return cs;
}

static void test_tiny(struct tpool *pool)
{
	struct tiny_input in;
	struct cs_witness w;
	struct circuit c;
	struct cs *cs;
	char err[256], path[128];

	random_fr(&in.x);
	if (!ok(!circuit_find("tiny-37", &c) && !circuit_build(&c, &cs) &&
		!circuit_witness(&c, cs, (union circuit_input){ .tiny = &in }, pool, &w, err),
		"tiny-37 has a witness"))
		return;
	check_rows("tiny-37", cs, &w, pool);
	cs_row_path(cs, 0, path, sizeof(path));
	ok(!strcmp(path, "head/row 0 of 1"), "row 0 is %s", path);
	cs_row_path(cs, 1, path, sizeof(path));
	ok(!strcmp(path, "step/row 0 of 1"), "row 1 is %s", path);
	cs_row_path(cs, cs->n_rows - 1, path, sizeof(path));
	ok(!strcmp(path, "tail/row 1 of 2"), "the last is %s", path);
	cs_row_path(cs, cs->n_rows + 2, path, sizeof(path));
	ok(!strcmp(path, "input 2"), "behind it is %s", path);
	cs_witness_fini(&w);
	cs_free(cs);
}

/* The same variable twice, ONE, an input and constants as arguments. */
static void alias_circuit(struct synth *s, const struct fr *v)
{
	uint32_t x = gadget_alloc_input(s, v), y = gadget_alloc(s, 1, v ? v + 1 : NULL);
	uint32_t sum, one;
	uint32_t bits = gadget_to_bits(s, y), pack[6];

	sum = gadget_add(s, x, x);
	sum = gadget_add(s, sum, x);
	one = gadget_add(s, CS_ARG_ONE, sum);
	one = gadget_add(s, one, CS_VAR_INPUT | 1);
	gadget_mul(s, one, one);
	gadget_mul(s, CS_VAR_INPUT | 1, CS_ARG_ONE);
	gadget_mul(s, y, CS_VAR_INPUT | 1);
	pack[0] = bits + 3;
	pack[1] = CS_ARG_TRUE;
	pack[2] = bits + 2;
	pack[3] = bits + 3;
	pack[4] = CS_ARG_FALSE;
	pack[5] = bits;
	gadget_pack(s, pack, 6);
	gadget_level(s, 8, y, 5, v ? v + 2 : NULL, pack, &(unsigned int){ 0 });
	gadget_level(s, 4, y, 2, v ? v + 2 : NULL, pack, &(unsigned int){ 0 });
	gadget_level(s, 2, y, 1, v ? v + 2 : NULL, pack, &(unsigned int){ 0 });
}

static void test_aliases(struct tpool *pool)
{
	struct synth s = { 0 };
	struct cs_witness w;
	struct fr v[16];
	struct cs *cs;
	unsigned int i;

	for (i = 0; i < 16; i++)
		random_fr(&v[i]);
	cs_builder_open(&s.b);
	alias_circuit(&s, NULL);
	cs = finish(&s);
	cs_witness_init(&w, cs);
	s = (struct synth){ .cs = cs, .w = &w };
	alias_circuit(&s, v);
	ok(!s.err && s.next == cs->n_instances, "a witness pass takes every instance");
	ok(cs_first_bad_row(cs, &w, pool) == UINT64_MAX, "bound ports are satisfied");
	check_rows("bound ports", cs, &w, pool);
	cs_witness_fini(&w);
	cs_free(cs);
}

/* args from 765 bits and constants, each word with its own share of constants */
static void sha_args(const uint32_t *bits, uint32_t *args)
{
	static const unsigned int shares[] = { 0, 0, 3, 50, 97, 100 };
	unsigned int i, share = 0;

	for (i = 0; i < SHA_BLOCK_BITS + SHA_STATE_BITS; i++) {
		if (i % 32 == 0)
			share = shares[next() % 6];
		args[i] = next() % 100 < share ? CS_ARG_FALSE | (next() & 1) : bits[next() % 765];
	}
	args[SHA_BLOCK_BITS] = args[SHA_BLOCK_BITS + 128] = bits[0];
	/* every word of the state ends in sums with a variable */
	for (i = 0; i < 8; i++)
		args[SHA_BLOCK_BITS + 32 * i] = bits[next() % 765];
}

static void sha_circuit(struct synth *s, const struct fr *v, uint32_t *args, uint32_t *state)
{
	uint32_t bits[765], i, at;

	for (i = 0; i < 3; i++) {
		at = gadget_to_bits(s, gadget_alloc(s, 1, v ? &v[i] : NULL));
		for (unsigned int k = 0; k < 255; k++)
			bits[255 * i + k] = at + k;
	}
	if (s->b)
		sha_args(bits, args);
	memcpy(state, args + SHA_BLOCK_BITS, SHA_STATE_BITS * sizeof(*state));
	gadget_sha256_block(s, args, state);
}

static void test_sha256(struct tpool *pool)
{
	uint32_t args[SHA_BLOCK_BITS + SHA_STATE_BITS], state[SHA_STATE_BITS];
	unsigned int round, bad = 0, unsat = 0, i, k, rounds = 24;

	for (round = 0; round < rounds; round++) {
		struct synth s = { 0 };
		uint32_t words[8] = { 0 }, got[8] = { 0 };
		uint8_t block[64] = { 0 };
		struct cs_witness w;
		struct cs *cs;
		struct fr v[3];

		for (i = 0; i < 3; i++)
			random_fr(&v[i]);
		cs_builder_open(&s.b);
		sha_circuit(&s, NULL, args, state);
		cs = finish(&s);
		cs_witness_init(&w, cs);
		s = (struct synth){ .cs = cs, .w = &w };
		sha_circuit(&s, v, args, state);
		unsat += s.err || cs_first_bad_row(cs, &w, pool) != UINT64_MAX;
		for (i = 0; i < 512; i++)
			block[i / 8] |= synth_get_bit(&s, args[i]) << (7 - i % 8);
		for (i = 0; i < 8; i++)
			for (k = 0; k < 32; k++) {
				words[i] |= (uint32_t)synth_get_bit(&s, args[512 + 32 * i + k]) << k;
				got[i] |= (uint32_t)synth_get_bit(&s, state[32 * i + k]) << k;
			}
		sha256_compress(words, block, 1);
		bad += memcmp(words, got, sizeof(got)) != 0;
		cs_witness_fini(&w);
		cs_free(cs);
	}
	ok(unsat == 0, "sha256 with constants anywhere: %u of %u unsatisfied", unsat, rounds);
	ok(bad == 0, "sha256 with constants anywhere: %u of %u wrong", bad, rounds);
}

int main(void)
{
	struct tpool *pool;

	if (!ok(tpool_open(&pool, 2) == 0, "a pool of two threads"))
		return tap_done();
	test_booleans();
	test_tiny(pool);
	test_aliases(pool);
	test_sha256(pool);
	tpool_close(pool);
	return tap_done();
}
