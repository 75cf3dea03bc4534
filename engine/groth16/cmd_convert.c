/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* cmd_convert.c - the command params convert */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/command.h"
#include "engine/groth16/convert.h"
#include "engine/groth16/file.h"
#include "engine/groth16/r1cs.h"
#include "engine/groth16/snarkjs.h"

struct conversion {
	const char *zkey, *params, *vk, *r1cs, *out;
	struct zkey z;
	struct params p;
	struct vk v;
	struct file_map map;		/* of zkey, which z points into */
	const struct vk *key;
};

static bool ends_with(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n >= k && !strcmp(s + n - k, suffix);
}

static int open_source(struct conversion *c, struct cuzk_error *err)
{
	struct file_map map;
	int ret;

	if (c->params) {
		ret = params_open(&c->p, c->params, err);
		c->key = &c->p.vk;
	} else if (c->zkey) {
		ret = file_map(&c->map, c->zkey, CUZK_ERROR_PARAMS, err);
		if (!ret)
			ret = zkey_parse(&c->z, c->zkey, c->map.data, c->map.size, err);
		c->key = &c->z.vk;
	} else {
		ret = file_map(&map, c->vk, CUZK_ERROR_PARAMS, err);
		if (ret)
			return ret;
		ret = vk_read(&c->v, c->vk, map.data, map.size, NULL, err);
		file_unmap(&map);
		c->key = &c->v;
	}
	return ret;
}

static int put_zkey(struct conversion *c, FILE *f, struct cuzk_error *err)
{
	struct flat_cs *flat = NULL;
	struct file_map map;
	struct r1cs r;
	int ret;

	ret = file_map(&map, c->r1cs, CUZK_ERROR_INPUT, err);
	if (ret)
		return ret;
	ret = r1cs_parse(&r, c->r1cs, map.data, map.size, err);
	if (!ret)
		ret = r1cs_to_cs(&r, &flat, err);
	if (!ret)
		ret = convert_params_to_zkey(&c->p, c->params, flat_cs_get(flat), f, err);
	flat_cs_close(flat);
	file_unmap(&map);
	return ret;
}

static int put_vk(const struct vk *vk, FILE *f, struct cuzk_error *err)
{
	uint8_t *bytes = malloc(VK_SIZE(vk->n_ic));

	if (!bytes)
		return error_nomem(err, "the verifying key");
	vk_write(bytes, vk);
	fwrite(bytes, 1, VK_SIZE(vk->n_ic), f);
	free(bytes);
	return 0;
}

static int convert(struct conversion *c, FILE *f, struct cuzk_error *err)
{
	if (ends_with(c->out, ".params"))
		return convert_zkey_to_params(&c->z, c->zkey, f, err);
	if (ends_with(c->out, ".zkey"))
		return put_zkey(c, f, err);
	if (ends_with(c->out, ".vk"))
		return put_vk(c->key, f, err);
	snarkjs_put_vkey(f, c->key);
	return 0;
}

int command_params_convert(struct command *cmd, int argc, char **argv)
{
	struct conversion c = { NULL };
	const struct command_option options[] = {
		{ "--zkey", &c.zkey }, { "--params", &c.params }, { "--vk", &c.vk },
		{ "--r1cs", &c.r1cs }, { "--out", &c.out },	  { NULL },
	};
	struct cuzk_error err = { .size = sizeof(err) };
	struct file_new file;
	int ret;

	if (command_parse(cmd, argc, argv, options, NULL, 0) < 0)
		return 2;
	if (!c.out || !!c.zkey + !!c.params + !!c.vk != 1 ||
	    (ends_with(c.out, ".params") && !c.zkey) ||
	    (ends_with(c.out, ".zkey") && (!c.params || !c.r1cs)) ||
	    !(ends_with(c.out, ".params") || ends_with(c.out, ".zkey") || ends_with(c.out, ".vk") ||
	      ends_with(c.out, ".json")))
		return command_usage(
			cmd,
			"--zkey FILE --out FILE.params; --params FILE --r1cs FILE --out FILE.zkey; "
			"--zkey|--params|--vk FILE --out FILE.vk|FILE.json");
	ret = open_source(&c, &err);
	if (!ret)
		ret = file_create(&file, c.out, &err);
	if (!ret) {
		ret = convert(&c, file.f, &err);
		if (ret)
			file_discard(&file);
		else
			ret = file_commit(&file, &err);
	}
	zkey_fini(&c.z);
	params_close(&c.p);
	vk_fini(&c.v);
	file_unmap(&c.map);
	return ret ? command_fail(cmd, &err) : 0;
}
