/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* vk.c - verifying keys and proofs, bellperson's encodings */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/groth16/binfile.h"
#include "engine/groth16/vk.h"
#include "lib/bls12_381/encoding.h"

/* The fixed points in file order. */
static const struct {
	const char *name;
	size_t offset;		/* in struct vk */
	bool g2;
} fixed_points[] = {
	{ "alpha_g1", offsetof(struct vk, alpha_g1), false },
	{ "beta_g1", offsetof(struct vk, beta_g1), false },
	{ "beta_g2", offsetof(struct vk, beta_g2), true },
	{ "gamma_g2", offsetof(struct vk, gamma_g2), true },
	{ "delta_g1", offsetof(struct vk, delta_g1), false },
	{ "delta_g2", offsetof(struct vk, delta_g2), true },
};

int vk_read(struct vk *out, const char *name, const uint8_t *data, size_t size, size_t *used,
	    struct cuzk_error *err)
{
	enum point_status status;
	struct vk vk;
	const uint8_t *p = data;
	uint32_t i;

	if (size < VK_FIXED_SIZE)
		return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
				 "%s: verifying key: %zu bytes, at least %u are needed", name, size,
				 VK_FIXED_SIZE);
	for (i = 0; i < sizeof(fixed_points) / sizeof(*fixed_points); i++) {
		void *point = (char *)&vk + fixed_points[i].offset;

		if (fixed_points[i].g2)
			status = g2_from_uncompressed(point, p, 0);
		else
			status = g1_from_uncompressed(point, p, 0);
		if (status)
			return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
					 "%s: verifying key: %s %s", name, fixed_points[i].name,
					 point_status_str(status));
		p += fixed_points[i].g2 ? G2_UNCOMPRESSED_SIZE : G1_UNCOMPRESSED_SIZE;
	}
	vk.n_ic = load_be32(p);
	p += 4;
	if (vk.n_ic < 1 || vk.n_ic > VK_IC_MAX)
		return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
				 "%s: verifying key: %u ic points, not 1..%u", name, vk.n_ic,
				 VK_IC_MAX);
	if (VK_SIZE(vk.n_ic) > size)
		return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
				 "%s: verifying key: %u ic points need %llu bytes, there are %zu",
				 name, vk.n_ic, VK_SIZE(vk.n_ic), size);
	if (!used && VK_SIZE(vk.n_ic) < size)
		return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
				 "%s: verifying key: %llu bytes behind the last ic point", name,
				 size - VK_SIZE(vk.n_ic));
	vk.ic = malloc(vk.n_ic * sizeof(*vk.ic));
	if (!vk.ic)
		return error_nomem(err, "the verifying key");
	for (i = 0; i < vk.n_ic; i++) {
		status = g1_from_uncompressed(&vk.ic[i], p, 0);
		if (status) {
			free(vk.ic);
			return error_set(err, CUZK_ERROR_PARAMS, -EINVAL,
					 "%s: verifying key: ic point %u of %u %s", name, i,
					 vk.n_ic, point_status_str(status));
		}
		p += G1_UNCOMPRESSED_SIZE;
	}
	*out = vk;
	if (used)
		*used = p - data;
	return 0;
}

void vk_fini(struct vk *vk)
{
	free(vk->ic);
	memset(vk, 0, sizeof(*vk));
}

void vk_write(uint8_t *out, const struct vk *vk)
{
	uint32_t i;

	for (i = 0; i < sizeof(fixed_points) / sizeof(*fixed_points); i++) {
		const void *point = (const char *)vk + fixed_points[i].offset;

		if (fixed_points[i].g2) {
			g2_to_uncompressed(out, point);
			out += G2_UNCOMPRESSED_SIZE;
		} else {
			g1_to_uncompressed(out, point);
			out += G1_UNCOMPRESSED_SIZE;
		}
	}
	store_be32(out, vk->n_ic);
	out += 4;
	for (i = 0; i < vk->n_ic; i++, out += G1_UNCOMPRESSED_SIZE)
		g1_to_uncompressed(out, &vk->ic[i]);
}

int proof_read(struct proof *out, const uint8_t in[PROOF_SIZE], struct cuzk_error *err)
{
	struct proof proof;
	enum point_status status;
	const char *which = "A";

	status = g1_from_compressed(&proof.a, in, 0);
	if (!status) {
		which = "B";
		status = g2_from_compressed(&proof.b, in + 48, 0);
	}
	if (!status) {
		which = "C";
		status = g1_from_compressed(&proof.c, in + 144, 0);
	}
	if (status)
		return error_set(err, CUZK_ERROR_INPUT, -EINVAL, "proof: point %s %s", which,
				 point_status_str(status));
	*out = proof;
	return 0;
}

void proof_write(uint8_t out[PROOF_SIZE], const struct proof *proof)
{
	g1_to_compressed(out, &proof->a);
	g2_to_compressed(out + 48, &proof->b);
	g1_to_compressed(out + 144, &proof->c);
}
