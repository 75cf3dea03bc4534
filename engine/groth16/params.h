/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * params.h - proving parameters, bellperson's .params (filecoin-spec 1.2)
 *
 * The format says nothing of the basis of h.  Files that bellperson writes
 * have 2^k - 1 points there, powers of tau; files that we make from a .zkey
 * have 2^k, its odd coset (gpu.h): the count tells them apart.
 */
#ifndef CUZK_GROTH16_PARAMS_H
#define CUZK_GROTH16_PARAMS_H

#include "engine/groth16/error.h"
#include "engine/groth16/file.h"
#include "engine/groth16/progress.h"
#include "engine/groth16/vk.h"
#include "gpu/gpu.h"
#include "lib/tpool.h"

enum params_section { PARAMS_H, PARAMS_L, PARAMS_A, PARAMS_B_G1, PARAMS_B_G2, PARAMS_SECTIONS };

struct params {
	const uint8_t *data;	/* the caller's, or map's */
	size_t size;
	struct file_map map;
	struct vk vk;
	struct {
		uint64_t offset;	/* of the first point in the file */
		uint32_t count;
	} section[PARAMS_SECTIONS];
};

/*
 * Reads the verifying key, checks every count against the file's size.  The
 * points of the sections are decoded when they are loaded or by
 * params_check_points().  CUZK_ERROR_PARAMS; -ENOENT when there is no file.
 */
int params_open(struct params *p, const char *path, struct cuzk_error *err);
int params_parse(struct params *p, const char *name, const void *data, size_t size,
		 struct cuzk_error *err);
/* Also after params_parse(). */
void params_close(struct params *p);

const char *params_section_name(enum params_section section);
enum gpu_h_basis params_h_basis(const struct params *p);
/* Whether the counts are those of cs. name is for messages. */
int params_match(const struct params *p, const char *name, const struct cs *cs,
		 struct cuzk_error *err);
/* The points in place; they live as long as p. */
void params_srs_desc(const struct params *p, struct gpu_srs_desc *desc);

/*
 * Decodes every point: not infinity, coordinates below p, on the curve and, at
 * level 2, of the right order.  Names section and index of the first bad one.
 */
int params_check_points(const struct params *p, const char *name, int level, struct tpool *pool,
			const struct progress *progress, struct cuzk_error *err);
/*
 * What srs_load() with a check of level reported as *bad, in words.  The point is
 * looked at again here: bad it is CUZK_ERROR_PARAMS and -EBADMSG, good or not
 * there it is the device that errs, CUZK_ERROR_DEVICE and -EIO.  p NULL: it is
 * not to be had, and the report is believed.
 */
int params_bad_point(const struct params *p, const char *name, int level, uint64_t bad,
		     struct cuzk_error *err);

#endif
