/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* snarkjs.c - proofs, public signals and verifying keys as snarkjs' JSON */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/snarkjs.h"
#include "lib/json.h"

#define DEC_MAX 120	/* digits of 2^384, and to spare */

/* n big-endian bytes as decimal digits. */
static void to_dec(char out[DEC_MAX], const uint8_t *in, size_t n)
{
	uint8_t num[48];
	char digits[DEC_MAX];
	size_t i, k = 0, len = 0;
	unsigned int rem;

	memcpy(num, in, n);
	do {
		rem = 0;
		for (i = k; i < n; i++) {
			rem = rem << 8 | num[i];
			num[i] = rem / 10;
			rem %= 10;
		}
		while (k < n && !num[k])
			k++;
		digits[len++] = '0' + rem;
	} while (k < n);
	for (i = 0; i < len; i++)
		out[i] = digits[len - 1 - i];
	out[len] = '\0';
}

/* Decimal digits as n big-endian bytes; false when it is none or too large. */
static bool from_dec(uint8_t *out, size_t n, const struct json_str *str)
{
	unsigned int carry;
	size_t i, k;

	if (!str->len || str->len >= DEC_MAX)
		return false;
	memset(out, 0, n);
	for (i = 0; i < str->len; i++) {
		if (str->s[i] < '0' || str->s[i] > '9')
			return false;
		carry = str->s[i] - '0';
		for (k = n; k-- > 0; ) {
			carry += out[k] * 10u;
			out[k] = carry;
			carry >>= 8;
		}
		if (carry)
			return false;
	}
	return true;
}

static void put_fp(FILE *f, const char *indent, const struct fp *v, const char *tail)
{
	uint8_t bytes[48];
	char dec[DEC_MAX];

	fp_to_bytes_be(bytes, v);
	to_dec(dec, bytes, sizeof(bytes));
	fprintf(f, "%s\"%s\"%s\n", indent, dec, tail);
}

static void put_g1(FILE *f, const struct g1_affine *p)
{
	fputs("[\n", f);
	put_fp(f, "  ", &p->x, ",");
	put_fp(f, "  ", &p->y, ",");
	fputs("  \"1\"\n ]", f);
}

static void put_fp2(FILE *f, const struct fp2 *v)
{
	fputs("  [\n", f);
	put_fp(f, "   ", &v->c0, ",");
	put_fp(f, "   ", &v->c1, "");
	fputs("  ],\n", f);
}

static void put_g2(FILE *f, const struct g2_affine *p)
{
	fputs("[\n", f);
	put_fp2(f, &p->x);
	put_fp2(f, &p->y);
	fputs("  [\n   \"1\",\n   \"0\"\n  ]\n ]", f);
}

void snarkjs_put_proof(FILE *f, const struct proof *proof)
{
	fputs("{\n \"pi_a\": ", f);
	put_g1(f, &proof->a);
	fputs(",\n \"pi_b\": ", f);
	put_g2(f, &proof->b);
	fputs(",\n \"pi_c\": ", f);
	put_g1(f, &proof->c);
	fputs(",\n \"protocol\": \"groth16\",\n \"curve\": \"bls12381\"\n}", f);
}

void snarkjs_put_public(FILE *f, const struct fr *inputs, size_t n)
{
	uint8_t le[32], be[32];
	char dec[DEC_MAX];
	size_t i, k;

	fputs("[", f);
	for (i = 0; i < n; i++) {
		fr_to_bytes_le(le, &inputs[i]);
		for (k = 0; k < 32; k++)
			be[k] = le[31 - k];
		to_dec(dec, be, sizeof(be));
		fprintf(f, "%s\n \"%s\"", i ? "," : "", dec);
	}
	fputs(n ? "\n]" : "]", f);
}

void snarkjs_put_vkey(FILE *f, const struct vk *vk)
{
	uint32_t i;

	fprintf(f, "{\n \"protocol\": \"groth16\",\n \"curve\": \"bls12381\",\n \"nPublic\": %u,\n",
		vk->n_ic - 1);
	fputs(" \"vk_alpha_1\": ", f);
	put_g1(f, &vk->alpha_g1);
	fputs(",\n \"vk_beta_2\": ", f);
	put_g2(f, &vk->beta_g2);
	fputs(",\n \"vk_gamma_2\": ", f);
	put_g2(f, &vk->gamma_g2);
	fputs(",\n \"vk_delta_2\": ", f);
	put_g2(f, &vk->delta_g2);
	fputs(",\n \"IC\": [", f);
	for (i = 0; i < vk->n_ic; i++) {
		fputs(i ? ",\n " : "\n ", f);
		put_g1(f, &vk->ic[i]);
	}
	fputs("\n ]\n}\n", f);
}

static int get_fp(struct json *j, struct fp *v)
{
	struct json_str str;
	uint8_t bytes[48];

	if (json_next(j) <= 0)
		return json_fail(j, "expected a coordinate");
	if (json_string(j, &str))
		return -EBADMSG;
	if (!from_dec(bytes, sizeof(bytes), &str) || fp_from_bytes_be(v, bytes))
		return json_fail(j, "expected a decimal number below the field's modulus");
	return 0;
}

/* The array's end. */
static int get_close(struct json *j)
{
	int ret = json_next(j);

	return ret > 0 ? json_fail(j, "expected the array's end") : ret;
}

static int get_g1(struct json *j, struct g1_affine *p)
{
	struct fp z;

	if (json_array(j) || get_fp(j, &p->x) || get_fp(j, &p->y) || get_fp(j, &z) || get_close(j))
		return -EBADMSG;
	if (!fp_is_one(&z))
		return json_fail(j, "expected a last coordinate of 1");
	if (g1_affine_is_infinity(p) || !g1_affine_is_on_curve(p) || !g1_in_subgroup(p))
		return json_fail(j, "not a point of the curve's subgroup");
	return 0;
}

static int get_fp2(struct json *j, struct fp2 *v)
{
	if (json_next(j) <= 0)
		return json_fail(j, "expected a coordinate");
	return json_array(j) || get_fp(j, &v->c0) || get_fp(j, &v->c1) || get_close(j) ? -EBADMSG :
											 0;
}

static int get_g2(struct json *j, struct g2_affine *p)
{
	struct fp2 z;

	if (json_array(j) || get_fp2(j, &p->x) || get_fp2(j, &p->y) || get_fp2(j, &z) ||
	    get_close(j))
		return -EBADMSG;
	if (!fp2_is_one(&z))
		return json_fail(j, "expected a last coordinate of 1");
	if (g2_affine_is_infinity(p) || !g2_affine_is_on_curve(p) || !g2_in_subgroup(p))
		return json_fail(j, "not a point of the curve's subgroup");
	return 0;
}

/* A member that must have one value. */
static int get_word(struct json *j, const char *want)
{
	struct json_str str;

	if (json_string(j, &str))
		return -EBADMSG;
	return json_str_is(&str, want) ? 0 : json_fail(j, "not Groth16 over bls12381");
}

/* json_end() with the reader's error in words. */
static int get_end(struct json *j, const char *name, enum cuzk_error_class cls,
		   struct cuzk_error *err)
{
	char where[160];

	if (json_end(j) == 0)
		return 0;
	json_error(j, where, sizeof(where));
	return error_set(err, cls, -EINVAL, "%s: %s", name, where);
}

int snarkjs_get_proof(struct proof *out, const char *name, const char *text, size_t len,
		      struct cuzk_error *err)
{
	unsigned int have = 0;
	struct proof proof;
	struct json_str key;
	struct json j;

	json_init(&j, text, len);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (json_str_is(&key, "pi_a"))
			have |= get_g1(&j, &proof.a) ? 0 : 1;
		else if (json_str_is(&key, "pi_b"))
			have |= get_g2(&j, &proof.b) ? 0 : 2;
		else if (json_str_is(&key, "pi_c"))
			have |= get_g1(&j, &proof.c) ? 0 : 4;
		else if (json_str_is(&key, "protocol"))
			get_word(&j, "groth16");
		else if (json_str_is(&key, "curve"))
			get_word(&j, "bls12381");
		else
			json_skip(&j);
	}
	if (get_end(&j, name, CUZK_ERROR_INPUT, err))
		return -EINVAL;
	if (have != 7)
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "%s: pi_a, pi_b or pi_c is missing", name);
	*out = proof;
	return 0;
}

int snarkjs_get_public(struct fr **out, size_t *n_out, const char *name, const char *text,
		       size_t len, struct cuzk_error *err)
{
	struct fr *inputs = NULL, *more;
	size_t n = 0, room = 0;
	struct json_str str;
	uint8_t be[32];
	struct json j;

	json_init(&j, text, len);
	json_array(&j);
	while (json_next(&j) > 0) {
		if (n == room) {
			room = room ? 2 * room : 16;
			more = realloc(inputs, room * sizeof(*inputs));
			if (!more) {
				free(inputs);
				return error_nomem(err, "the public signals");
			}
			inputs = more;
		}
		if (json_string(&j, &str))
			break;
		if (!from_dec(be, sizeof(be), &str) || fr_from_bytes_be(&inputs[n], be)) {
			json_fail(&j, "expected a decimal number below the field's modulus");
			break;
		}
		n++;
	}
	if (get_end(&j, name, CUZK_ERROR_INPUT, err)) {
		free(inputs);
		return -EINVAL;
	}
	*out = inputs;
	*n_out = n;
	return 0;
}

static int get_ic(struct json *j, struct vk *vk)
{
	struct g1_affine *more;
	size_t room = 0;

	if (vk->ic)
		return json_fail(j, "repeated member");
	if (json_array(j))
		return -EBADMSG;
	while (json_next(j) > 0) {
		if (vk->n_ic == VK_IC_MAX)
			return json_fail(j, "too many points");
		if (vk->n_ic == room) {
			room = room ? 2 * room : 16;
			more = realloc(vk->ic, room * sizeof(*more));
			if (!more)
				return json_fail(j, "out of memory");
			vk->ic = more;
		}
		if (get_g1(j, &vk->ic[vk->n_ic]))
			return -EBADMSG;
		vk->n_ic++;
	}
	return j->error ? -EBADMSG : 0;
}

int snarkjs_get_vkey(struct vk *out, const char *name, const char *text, size_t len,
		     struct cuzk_error *err)
{
	struct vk vk = { .n_ic = 0 };
	unsigned int have = 0;
	struct json_str key;
	struct json j;

	json_init(&j, text, len);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (json_str_is(&key, "vk_alpha_1"))
			have |= get_g1(&j, &vk.alpha_g1) ? 0 : 1;
		else if (json_str_is(&key, "vk_beta_2"))
			have |= get_g2(&j, &vk.beta_g2) ? 0 : 2;
		else if (json_str_is(&key, "vk_gamma_2"))
			have |= get_g2(&j, &vk.gamma_g2) ? 0 : 4;
		else if (json_str_is(&key, "vk_delta_2"))
			have |= get_g2(&j, &vk.delta_g2) ? 0 : 8;
		else if (json_str_is(&key, "IC"))
			have |= get_ic(&j, &vk) ? 0 : 16;
		else if (json_str_is(&key, "protocol"))
			get_word(&j, "groth16");
		else if (json_str_is(&key, "curve"))
			get_word(&j, "bls12381");
		else
			json_skip(&j);
	}
	if (get_end(&j, name, CUZK_ERROR_PARAMS, err))
		goto err_fini;
	if (have != 31 || !vk.n_ic) {
		error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
			  "%s: vk_alpha_1, vk_beta_2, vk_gamma_2, vk_delta_2 or IC is missing",
			  name);
		goto err_fini;
	}
	/* the two points that only a prover needs are not in this format */
	memset(&vk.beta_g1, 0, sizeof(vk.beta_g1));
	memset(&vk.delta_g1, 0, sizeof(vk.delta_g1));
	*out = vk;
	return 0;

err_fini:
	vk_fini(&vk);
	return -EINVAL;
}
