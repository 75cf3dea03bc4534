/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* params.c - proving parameters, bellperson's .params (filecoin-spec 1.2) */
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/params.h"
#include "lib/bls12_381/encoding.h"

#define PARAMS CUZK_ERROR_PARAMS

static const struct {
	const char *name;
	unsigned int point_size;
} sections[PARAMS_SECTIONS] = {
	[PARAMS_H] = { "h", G1_UNCOMPRESSED_SIZE },
	[PARAMS_L] = { "l", G1_UNCOMPRESSED_SIZE },
	[PARAMS_A] = { "a", G1_UNCOMPRESSED_SIZE },
	[PARAMS_B_G1] = { "b_g1", G1_UNCOMPRESSED_SIZE },
	[PARAMS_B_G2] = { "b_g2", G2_UNCOMPRESSED_SIZE },
};

const char *params_section_name(enum params_section section)
{
	return sections[section].name;
}

static int parse_sections(struct params *p, const char *name, size_t off, struct cuzk_error *err)
{
	unsigned int i;
	uint64_t need;

	for (i = 0; i < PARAMS_SECTIONS; i++) {
		if (p->size - off < 4)
			return error_set(err, PARAMS, -EINVAL,
					 "%s: the file ends at %zu, before the count of section %s",
					 name, p->size, sections[i].name);
		p->section[i].count = load_be32(p->data + off);
		off += 4;
		p->section[i].offset = off;
		need = (uint64_t)p->section[i].count * sections[i].point_size;
		if (p->size - off < need)
			return error_set(err, PARAMS, -EINVAL,
					 "%s: section %s at %zu: %u points need %" PRIu64
					 " bytes, the file has %zu more",
					 name, sections[i].name, off, p->section[i].count, need,
					 p->size - off);
		off += need;
	}
	if (off != p->size)
		return error_set(err, PARAMS, -EINVAL, "%s: %zu bytes behind the last section",
				 name, p->size - off);
	if (p->section[PARAMS_B_G1].count != p->section[PARAMS_B_G2].count)
		return error_set(err, PARAMS, -EINVAL, "%s: %u points in section b_g1, %u in b_g2",
				 name, p->section[PARAMS_B_G1].count,
				 p->section[PARAMS_B_G2].count);
	return 0;
}

int params_parse(struct params *p, const char *name, const void *data, size_t size,
		 struct cuzk_error *err)
{
	size_t off;
	int ret;

	memset(p, 0, sizeof(*p));
	p->data = data;
	p->size = size;
	ret = vk_read(&p->vk, name, data, size, &off, err);
	if (ret)
		return ret;
	ret = parse_sections(p, name, off, err);
	if (ret)
		vk_fini(&p->vk);
	return ret;
}

int params_open(struct params *p, const char *path, struct cuzk_error *err)
{
	struct file_map map;
	int ret;

	ret = file_map(&map, path, PARAMS, err);
	if (ret)
		return ret;
	ret = params_parse(p, path, map.data, map.size, err);
	if (ret)
		file_unmap(&map);
	else
		p->map = map;
	return ret;
}

void params_close(struct params *p)
{
	vk_fini(&p->vk);
	file_unmap(&p->map);
	memset(p, 0, sizeof(*p));
}

enum gpu_h_basis params_h_basis(const struct params *p)
{
	uint32_t n = p->section[PARAMS_H].count;

	return n && (n & (n - 1)) == 0 && n != 1 ? GPU_H_ODD_COSET : GPU_H_POWERS;
}

int params_match(const struct params *p, const char *name, const struct cs *cs,
		 struct cuzk_error *err)
{
	bool odd_coset = params_h_basis(p) == GPU_H_ODD_COSET;
	uint64_t want[PARAMS_SECTIONS] = {
		[PARAMS_H] = (1ull << cs->log_domain) - !odd_coset,
		[PARAMS_L] = cs->n_aux,
		[PARAMS_A] = (uint64_t)cs->n_inputs + cs->n_a_aux,
		[PARAMS_B_G1] = (uint64_t)cs->n_b_input + cs->n_b_aux,
		[PARAMS_B_G2] = (uint64_t)cs->n_b_input + cs->n_b_aux,
	};
	unsigned int i;

	if (p->vk.n_ic != cs->n_inputs)
		return error_set(err, PARAMS, -EINVAL,
				 "%s: %u ic points, the circuit has %u inputs", name, p->vk.n_ic,
				 cs->n_inputs);
	for (i = 0; i < PARAMS_SECTIONS; i++)
		if (p->section[i].count != want[i])
			return error_set(err, PARAMS, -EINVAL,
					 "%s: section %s has %u points, the circuit needs %" PRIu64,
					 name, sections[i].name, p->section[i].count, want[i]);
	return 0;
}

void params_srs_desc(const struct params *p, struct gpu_srs_desc *desc)
{
	memset(desc, 0, sizeof(*desc));
	desc->encoding = GPU_POINTS_ZCASH;
	desc->h_basis = params_h_basis(p);
	desc->n_h = p->section[PARAMS_H].count;
	desc->n_l = p->section[PARAMS_L].count;
	desc->n_a = p->section[PARAMS_A].count;
	desc->n_bg1 = p->section[PARAMS_B_G1].count;
	desc->n_bg2 = p->section[PARAMS_B_G2].count;
	desc->h = p->data + p->section[PARAMS_H].offset;
	desc->l = p->data + p->section[PARAMS_L].offset;
	desc->a = p->data + p->section[PARAMS_A].offset;
	desc->bg1 = p->data + p->section[PARAMS_B_G1].offset;
	desc->bg2 = p->data + p->section[PARAMS_B_G2].offset;
}

#define CHECK_CHUNK 4096u

struct check {
	const uint8_t *points;
	unsigned int point_size, flags;
	uint32_t first, count;		/* of this round */
	_Atomic uint64_t bad;		/* lowest bad index << 8 | status; ~0: none */
};

static void check_chunk(void *arg, size_t chunk, unsigned int thread)
{
	struct check *c = arg;
	uint64_t i = c->first + chunk * CHECK_CHUNK, end = i + CHECK_CHUNK, bad, seen;
	enum point_status status = POINT_OK;
	struct g1_affine g1;
	struct g2_affine g2;

	if (end > (uint64_t)c->first + c->count)
		end = (uint64_t)c->first + c->count;
	for (; i < end; i++) {
		const uint8_t *p = c->points + i * c->point_size;

		if (c->point_size == G1_UNCOMPRESSED_SIZE)
			status = g1_from_uncompressed(&g1, p, c->flags);
		else
			status = g2_from_uncompressed(&g2, p, c->flags);
		if (status)
			break;
	}
	if (i == end)
		return;
	bad = i << 8 | status;
	seen = atomic_load(&c->bad);
	while (bad < seen && !atomic_compare_exchange_weak(&c->bad, &seen, bad))
		;
}

int params_check_points(const struct params *p, const char *name, int level, struct tpool *pool,
			const struct progress *progress, struct cuzk_error *err)
{
	/* a round takes a fraction of a second, then progress is told */
	uint32_t round = CHECK_CHUNK * 4 * tpool_threads(pool), left;
	uint64_t done = 0, total = 0;
	unsigned int i;

	for (i = 0; i < PARAMS_SECTIONS; i++)
		total += p->section[i].count;
	for (i = 0; i < PARAMS_SECTIONS; i++) {
		struct check c = {
			.points = p->data + p->section[i].offset,
			.point_size = sections[i].point_size,
			.flags = level < 2 ? POINT_ANY_ORDER : 0,
			.bad = UINT64_MAX,
		};

		for (left = p->section[i].count; left; left -= c.count) {
			c.count = left < round ? left : round;
			tpool_run(pool, check_chunk, &c, (c.count + CHECK_CHUNK - 1) / CHECK_CHUNK);
			if (c.bad != UINT64_MAX)
				return error_set(err, PARAMS, -EBADMSG,
						 "%s: section %s: point %" PRIu64 " of %u %s", name,
						 sections[i].name, c.bad >> 8, p->section[i].count,
						 point_status_str(c.bad & 0xff));
			c.first += c.count;
			done += c.count;
			progress_tell(progress, "points", done, total);
		}
	}
	return 0;
}

static enum point_status look_at(const struct params *p, unsigned int section, uint64_t index,
				 unsigned int flags)
{
	const uint8_t *point = p->data + p->section[section].offset +
			       index * sections[section].point_size;
	struct g1_affine p1;
	struct g2_affine p2;

	if (sections[section].point_size == G1_UNCOMPRESSED_SIZE)
		return g1_from_uncompressed(&p1, point, flags);
	return g2_from_uncompressed(&p2, point, flags);
}

int params_bad_point(const struct params *p, const char *name, int level, uint64_t bad,
		     struct cuzk_error *err)
{
	unsigned int section = bad >> 56;
	uint64_t index = bad & ((1ull << 56) - 1);
	enum point_status status;

	if (!p)
		return error_set(err, PARAMS, -EBADMSG, "%s: section %s: point %" PRIu64
				 " is not a valid point of the curve", name,
				 section < PARAMS_SECTIONS ? sections[section].name : "?", index);
	if (section >= PARAMS_SECTIONS || index >= p->section[section].count)
		return error_set(err, CUZK_ERROR_DEVICE, -EIO,
				 "%s: the device found a bad point where none is: it computes wrongly",
				 name);
	status = look_at(p, section, index, level < 2 ? POINT_ANY_ORDER : 0);
	if (status == POINT_OK)
		return error_set(err, CUZK_ERROR_DEVICE, -EIO,
				 "%s: section %s: the device finds point %" PRIu64
				 " bad, which is good: it computes wrongly",
				 name, sections[section].name, index);
	return error_set(err, PARAMS, -EBADMSG, "%s: section %s: point %" PRIu64 " %s", name,
			 sections[section].name, index, point_status_str(status));
}
