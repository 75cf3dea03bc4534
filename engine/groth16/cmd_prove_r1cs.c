/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_prove_r1cs.c - the command prove --r1cs/--zkey: circuits of circom */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/cs/system.h"
#include "engine/groth16/command.h"
#include "engine/groth16/file.h"
#include "engine/groth16/params.h"
#include "engine/groth16/prover.h"
#include "engine/groth16/r1cs.h"
#include "engine/groth16/snarkjs.h"
#include "engine/groth16/verify.h"
#include "engine/groth16/zkey.h"

/* All that a proof is made from; what is not there is zero. */
struct sources {
	const char *r1cs, *wtns, *params, *zkey;
	struct file_map r1cs_map, zkey_map;
	struct flat_cs *r1cs_cs, *zkey_cs;
	struct zkey z;
	struct params p;
	struct fr *wires;
	struct cs_witness w;
	const struct cs *cs;		/* that the key is for */
	const struct vk *vk;
	struct gpu_srs_desc desc;
	struct gpu_stats stats;
	uint64_t load_ns, verify_ns;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int open_r1cs(struct sources *s, struct cuzk_error *err)
{
	struct r1cs r;
	int ret;

	ret = file_map(&s->r1cs_map, s->r1cs, CUZK_ERROR_INPUT, err);
	if (!ret)
		ret = r1cs_parse(&r, s->r1cs, s->r1cs_map.data, s->r1cs_map.size, err);
	if (!ret)
		ret = r1cs_to_cs(&r, &s->r1cs_cs, err);
	file_unmap(&s->r1cs_map);
	if (!ret)
		s->cs = flat_cs_get(s->r1cs_cs);
	return ret;
}

static int open_zkey(struct sources *s, struct cuzk_error *err)
{
	const struct cs *given = s->cs;
	int ret;

	ret = file_map(&s->zkey_map, s->zkey, CUZK_ERROR_PARAMS, err);
	if (!ret)
		ret = zkey_parse(&s->z, s->zkey, s->zkey_map.data, s->zkey_map.size, err);
	if (!ret)
		ret = zkey_to_cs(&s->z, &s->zkey_cs, err);
	if (ret)
		return ret;
	s->cs = flat_cs_get(s->zkey_cs);
	if (given && (given->n_rows != s->cs->n_rows || given->n_inputs != s->cs->n_inputs ||
		      given->n_aux != s->cs->n_aux))
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL,
				 "%s has %" PRIu64
				 " constraints, %u public wires and %u others, %s %" PRIu64
				 ", %u and %u",
				 s->r1cs, given->n_rows, given->n_inputs, given->n_aux, s->zkey,
				 s->cs->n_rows, s->cs->n_inputs, s->cs->n_aux);
	s->vk = &s->z.vk;
	zkey_srs_desc(&s->z, &s->desc);
	return 0;
}

static int open_params(struct sources *s, struct cuzk_error *err)
{
	int ret;

	ret = params_open(&s->p, s->params, err);
	if (!ret)
		ret = params_match(&s->p, s->params, s->cs, err);
	if (ret)
		return ret;
	s->vk = &s->p.vk;
	params_srs_desc(&s->p, &s->desc);
	return 0;
}

static int open_wtns(struct sources *s, struct tpool *pool, struct cuzk_error *err)
{
	const struct cs *cs = s->cs;
	struct file_map map;
	uint64_t row;
	int ret;

	ret = file_map(&map, s->wtns, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	ret = wtns_parse(&s->wires, s->wtns, map.data, map.size, cs->n_inputs + cs->n_aux, err);
	file_unmap(&map);
	if (ret)
		return ret;
	if (cs_witness_init(&s->w, cs))
		return error_nomem(err, "the witness");
	memcpy(s->w.inputs, s->wires, cs->n_inputs * sizeof(struct fr));
	memcpy(s->w.full, s->wires + cs->n_inputs, cs->n_aux * sizeof(struct fr));
	if (!s->r1cs_cs)
		return 0;
	row = cs_first_bad_row(flat_cs_get(s->r1cs_cs), &s->w, pool);
	if (row != UINT64_MAX)
		return error_set(err, CUZK_ERROR_INPUT, -EDOM,
				 "%s: the witness does not satisfy constraint %" PRIu64 " of %s",
				 s->wtns, row, s->r1cs);
	return 0;
}

static void sources_fini(struct sources *s)
{
	free(s->wires);
	cs_witness_fini(&s->w);
	flat_cs_close(s->r1cs_cs);
	flat_cs_close(s->zkey_cs);
	zkey_fini(&s->z);
	params_close(&s->p);
	file_unmap(&s->zkey_map);
}

static int device_sums(struct command_device *dev, struct sources *s, struct gpu_sums *sums,
		       struct cuzk_error *err)
{
	uint64_t bad = 0, bad_row;
	struct gpu_srs *srs;
	struct gpu_job *job;
	struct gpu_cs *cs;
	int ret;

	s->load_ns = now_ns();
	ret = dev->ops->cs_load(dev->gpu, s->cs, &cs);
	if (ret)
		return error_set(err, CUZK_ERROR_DEVICE, ret, "loading the system: %s",
				 strerror(-ret));
	ret = dev->ops->srs_load(dev->gpu, &s->desc, 1, &srs, &bad);
	if (ret == -EBADMSG) {
		ret = params_bad_point(s->params ? &s->p : NULL, s->params ? s->params : s->zkey, 1,
				       bad, err);
		goto err_cs;
	}
	if (ret) {
		error_set(err, CUZK_ERROR_DEVICE, ret, "loading the points: %s", strerror(-ret));
		goto err_cs;
	}
	s->load_ns = now_ns() - s->load_ns;
	ret = dev->ops->prove_start(dev->gpu, cs, srs, &s->w, false, &job, &bad_row);
	if (!ret)
		ret = dev->ops->prove_finish(dev->gpu, job, sums);
	dev->ops->stats(dev->gpu, &s->stats);
	if (ret)
		error_set(err, ret == -ENOMEM ? CUZK_ERROR_RESOURCE : CUZK_ERROR_DEVICE, ret,
			  "proving: %s", strerror(-ret));
	dev->ops->srs_unload(dev->gpu, srs);
err_cs:
	dev->ops->cs_unload(dev->gpu, cs);
	return ret;
}

static int prove(struct command_device *dev, struct sources *s, const struct blinding *b,
		 struct proof *proof, struct cuzk_error *err)
{
	uint8_t bytes[PROOF_SIZE];
	struct gpu_sums sums;
	struct pvk *pvk;
	int ret;

	ret = device_sums(dev, s, &sums, err);
	if (ret)
		return ret;
	prover_assemble(proof, s->vk, &sums, b);
	proof_write(bytes, proof);
	ret = proof_read(proof, bytes, err);
	if (ret)
		return ret;
	s->verify_ns = now_ns();
	if (pvk_open(&pvk, s->vk))
		return error_nomem(err, "the verifying key");
	ret = pvk_verify(pvk, proof, s->w.inputs + 1, s->cs->n_inputs - 1);
	pvk_close(pvk);
	s->verify_ns = now_ns() - s->verify_ns;
	if (ret == 1)
		return 0;
	return error_set(err, CUZK_ERROR_INPUT, -EBADMSG, "the proof does not verify: %s",
			 s->r1cs ? "the key is not one for this system" :
			 "the witness does not satisfy the key's system");
}

/* Both files are created before the proof is made: that they cannot be is known early. */
static int create_files(struct file_new *proof, struct file_new *public, const char *out,
			const char *public_out, struct cuzk_error *err)
{
	int ret = file_create(proof, out, err);

	if (ret || !public_out)
		return ret;
	ret = file_create(public, public_out, err);
	if (ret)
		file_discard(proof);
	return ret;
}

static int write_files(struct file_new *out, struct file_new *public, const struct proof *proof,
		       const struct sources *s, struct cuzk_error *err)
{
	int ret;

	snarkjs_put_proof(out->f, proof);
	if (public->f)
		snarkjs_put_public(public->f, s->w.inputs + 1, s->cs->n_inputs - 1);
	ret = file_commit(out, err);
	if (!ret && public->f)
		ret = file_commit(public, err);
	return ret;
}

static void print_report(const struct sources *s, const char *out)
{
	static const char *const names[GPU_STAGE_N] = {
		NULL, "upload", "evaluate", "ntt", "msm_h", "msm_l", "msm_a", "msm_b1", "msm_b2",
	};
	int i;

	printf("{\n  \"constraints\": %" PRIu64 ",\n  \"public\": %u,\n  \"private\": %u,\n"
	       "  \"domain\": %llu,\n  \"verified\": true,\n  \"proof_file\": ", s->cs->n_rows,
	       s->cs->n_inputs - 1, s->cs->n_aux, 1ull << s->cs->log_domain);
	command_put_string(out);
	printf(",\n  \"host_bytes_peak\": %" PRIu64 ",\n  \"device_bytes_peak\": %" PRIu64
	       ",\n  \"seconds\": {\n    \"load\": %.3f", s->stats.host_peak, s->stats.device_peak,
	       s->load_ns / 1e9);
	for (i = 1; i < GPU_STAGE_N; i++)
		printf(",\n    \"%s\": %.3f", names[i], s->stats.ns[i] / 1e9);
	printf(",\n    \"verify\": %.3f\n  }\n}\n", s->verify_ns / 1e9);
}

int command_prove_r1cs(struct command *cmd, int argc, char **argv)
{
	const char *rs = NULL, *out = NULL, *public = NULL;
	struct sources s = { NULL };
	const struct command_option options[] = {
		{ "--r1cs", &s.r1cs }, { "--wtns", &s.wtns }, { "--params", &s.params },
		{ "--zkey", &s.zkey }, { "--rs", &rs }, { "--out", &out }, { "--public", &public },
		{ NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct file_new out_file = { NULL }, public_file = { NULL };
	struct command_device dev;
	struct blinding b;
	struct proof proof;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	if (!s.wtns || !out || !s.params == !s.zkey || (s.params && !s.r1cs))
		return command_usage(
			cmd, "--r1cs FILE --wtns FILE (--params FILE | --zkey FILE) [--rs R,S] "
			     "--out FILE [--public FILE]");
	ret = command_blinding(rs, &b, &err);
	if (ret)
		return command_fail(cmd, &err);
	ret = command_open_device(cmd, &dev, &err);
	if (ret)
		return command_fail(cmd, &err);
	if (s.r1cs)
		ret = open_r1cs(&s, &err);
	if (!ret)
		ret = s.zkey ? open_zkey(&s, &err) : open_params(&s, &err);
	if (!ret)
		ret = open_wtns(&s, dev.pool, &err);
	if (!ret)
		ret = create_files(&out_file, &public_file, out, public, &err);
	if (!ret)
		ret = prove(&dev, &s, &b, &proof, &err);
	if (!ret)
		ret = write_files(&out_file, &public_file, &proof, &s, &err);
	file_discard(&out_file);
	file_discard(&public_file);
	explicit_bzero(&b, sizeof(b));
	command_clear(cmd);
	if (!ret)
		print_report(&s, out);
	command_close_device(&dev);
	sources_fini(&s);
	return ret ? command_fail(cmd, &err) : 0;
}
