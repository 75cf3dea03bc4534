/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* u-r1cs.c - circom's .r1cs and .wtns and snarkjs' .zkey: reading, damage, the systems they make */
#include <errno.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/r1cs.h"
#include "engine/groth16/zkey.h"
#include "t/tap.h"

static uint8_t *slurp(const char *name, size_t *size)
{
	FILE *f = fopen(data_path(name), "rb");
	uint8_t *buf = malloc(1 << 20);

	if (!f || !buf) {
		printf("Bail out! cannot read %s\n", data_path(name));
		exit(1);
	}
	*size = fread(buf, 1, 1 << 20, f);
	fclose(f);
	return buf;
}

static void lc_value(const struct cs *cs, uint64_t lc, const struct fr *wires, struct fr *v)
{
	uint32_t i = lc ? cs->lc_end[lc - 1] : 0;
	struct fr t;

	*v = fr_zero;
	for (; i < cs->lc_end[lc]; i++) {
		uint32_t ref = cs->terms[i].ref, wire = 0;

		if (CS_REF_KIND(ref) == CS_REF_AUX)
			wire = cs->n_inputs + CS_REF_INDEX(ref);
		else if (CS_REF_KIND(ref) == CS_REF_INPUT)
			wire = 1 + CS_REF_INDEX(ref);
		fr_mul(&t, &cs->coeffs[cs->terms[i].coeff], &wires[wire]);
		fr_add(v, v, &t);
	}
}

/* Rows that hold; with a key's system, whose C is empty, those of other are used. */
static uint64_t rows_satisfied(const struct cs *ab, const struct cs *c, const struct fr *wires)
{
	struct fr va, vb, vc;
	uint64_t row, n = 0;

	for (row = 0; row < ab->n_rows; row++) {
		lc_value(ab, 3 * row, wires, &va);
		lc_value(ab, 3 * row + 1, wires, &vb);
		lc_value(c, 3 * row + 2, wires, &vc);
		fr_mul(&va, &va, &vb);
		n += fr_equal(&va, &vc);
	}
	return n;
}

static void test_good(const char *circuit, uint32_t n_rows, uint32_t n_wires, uint32_t n_inputs,
		      unsigned int log_domain)
{
	size_t r_size, w_size, z_size;
	char name[64];
	struct flat_cs *f = NULL, *zf = NULL;
	struct cuzk_error err = { .text = "" };
	const struct cs *cs, *zcs;
	struct fr *wires = NULL;
	uint8_t *r_data, *w_data, *z_data;
	struct gpu_srs_desc desc;
	struct r1cs r;
	struct zkey z;

	snprintf(name, sizeof(name), "snarkjs/%s.r1cs", circuit);
	r_data = slurp(name, &r_size);
	snprintf(name, sizeof(name), "snarkjs/%s.wtns", circuit);
	w_data = slurp(name, &w_size);
	snprintf(name, sizeof(name), "snarkjs/%s.zkey", circuit);
	z_data = slurp(name, &z_size);

	if (!ok(r1cs_parse(&r, circuit, r_data, r_size, &err) == 0, "%s.r1cs is read", circuit) ||
	    !ok(r1cs_to_cs(&r, &f, &err) == 0, "it becomes a system") ||
	    !ok(wtns_parse(&wires, circuit, w_data, w_size, r.n_wires, &err) == 0,
		"%s.wtns is read", circuit) ||
	    !ok(zkey_parse(&z, circuit, z_data, z_size, &err) == 0, "%s.zkey is read", circuit) ||
	    !ok(zkey_to_cs(&z, &zf, &err) == 0, "it becomes a system")) {
		diag("%s", err.text);
		exit(1);
	}
	cs = flat_cs_get(f);
	zcs = flat_cs_get(zf);
	ok(cs->n_rows == n_rows && cs->n_inputs == n_inputs &&
		   cs->n_inputs + cs->n_aux == n_wires && cs->log_domain == log_domain,
	   "counts: %lu rows, %u inputs, %u aux, domain 2^%u", (unsigned long)cs->n_rows,
	   cs->n_inputs, cs->n_aux, cs->log_domain);
	ok(rows_satisfied(cs, cs, wires) == n_rows, "every row holds");
	ok(zcs->n_rows == n_rows && zcs->n_inputs == n_inputs && zcs->n_aux == cs->n_aux &&
	   zcs->log_domain == log_domain, "the key's counts are the same");
	ok(rows_satisfied(zcs, cs, wires) == n_rows, "every row of the key's A and B holds");
	ok(zcs->n_a_aux == cs->n_a_aux && zcs->n_b_aux == cs->n_b_aux &&
	   zcs->n_b_input == cs->n_b_input, "densities are the same");
	fr_add(&wires[n_wires - 1], &wires[n_wires - 1], &fr_one);
	ok(rows_satisfied(cs, cs, wires) < n_rows, "a wrong value is seen");
	zkey_srs_desc(&z, &desc);
	ok(desc.n_h == 1u << log_domain && desc.n_a == n_wires && desc.dense, "the key's points");
	free(wires);
	flat_cs_close(f);
	flat_cs_close(zf);
	zkey_fini(&z);
	free(r_data);
	free(w_data);
	free(z_data);
}

enum kind { R1CS, WTNS, ZKEY };

/* 0: accepted. The bytes are in a block of exactly that size. */
static int parse(enum kind kind, const uint8_t *data, size_t size, struct cuzk_error *err)
{
	uint8_t *copy = malloc(size + !size);
	struct fr *wires;
	struct zkey z;
	struct r1cs r;
	int ret;

	memcpy(copy, data, size);
	switch (kind) {
	case R1CS:
		ret = r1cs_parse(&r, "f", copy, size, err);
		break;
	case WTNS:
		ret = wtns_parse(&wires, "f", copy, size, 8, err);
		if (!ret)
			free(wires);
		break;
	default:
		ret = zkey_parse(&z, "f", copy, size, err);
		if (!ret)
			zkey_fini(&z);
	}
	free(copy);
	return ret;
}

static bool refused(int ret, enum kind kind, const struct cuzk_error *err)
{
	enum cuzk_error_class cls = kind == ZKEY ? CUZK_ERROR_PARAMS : CUZK_ERROR_INPUT;

	if (ret < 0 && err->cls == cls && !strncmp(err->text, "f: ", 3))
		return true;
	diag("ret %d class %u: %s", ret, err->cls, ret ? err->text : "");
	return false;
}

/* tiny.* cut at any length, and with every step-th byte changed */
static void test_damage(const char *name, enum kind kind, size_t step)
{
	struct cuzk_error err;
	size_t size, i, accepted = 0, bad = 0;
	uint8_t *data = slurp(name, &size);

	for (i = 0; i < size; i++)
		bad += !refused(parse(kind, data, i, &err), kind, &err);
	ok(bad == 0, "%s cut at any of %zu places is refused", name, size);
	for (i = 0; i < size; i += step) {
		int ret;

		data[i] ^= 0x41;
		ret = parse(kind, data, size, &err);
		if (ret == 0)
			accepted++;
		else if (!refused(ret, kind, &err))
			bad++;
		data[i] ^= 0x41;
	}
	ok(bad == 0,
	   "%s with a byte changed: no crash, one line (%zu changes are only other values)", name,
	   accepted);
	free(data);
}

static void test_messages(void)
{
	static const struct {
		const char *file;
		enum kind kind;
		size_t at;
		uint8_t bytes[4];
		const char *text;
	} cases[] = {
		{ "snarkjs/tiny.r1cs", R1CS, 0, "r1cz", "f: not a .r1cs file" },
		{ "snarkjs/tiny.r1cs", R1CS, 4, { 2, 0, 0, 0 }, "f: .r1cs version 2, not 1" },
		{ "snarkjs/tiny.r1cs",
		  R1CS,
		  8,
		  { 255, 255, 255, 255 },
		  "f: 4294967295 sections, more than 32" },
		{ "snarkjs/tiny.wtns",
		  WTNS,
		  24,
		  { 31, 0, 0, 0 },
		  "f: header: the field is not that of BLS12-381" },
		{ "snarkjs/tiny.zkey",
		  ZKEY,
		  24,
		  { 2, 0, 0, 0 },
		  "f: protocol 2 is not Groth16 (1)" },
	};
	struct cuzk_error err = { .text = "" };
	size_t i, size;

	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t *data = slurp(cases[i].file, &size);

		memcpy(data + cases[i].at, cases[i].bytes, 4);
		parse(cases[i].kind, data, size, &err);
		ok(!strcmp(err.text, cases[i].text), "%s", err.text);
		free(data);
	}
}

int main(void)
{
	test_good("tiny", 4, 8, 5, 4);
	test_good("chain", 751, 754, 3, 10);
	test_damage("snarkjs/tiny.r1cs", R1CS, 1);
	test_damage("snarkjs/tiny.wtns", WTNS, 1);
	test_damage("snarkjs/tiny.zkey", ZKEY, 11);
	test_messages();
	return tap_done();
}
