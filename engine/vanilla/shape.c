/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* shape.c - trees and counts of each sector size (filecoin-spec 4.3 and 4.4) */
#include <stddef.h>

#include "engine/vanilla/internal.h"

#define L8_1 8
#define L8_2 8, 8
#define L8_6 8, 8, 8, 8, 8, 8
#define L8_9 8, 8, 8, 8, 8, 8, 8, 8, 8
#define L2_6 2, 2, 2, 2, 2, 2
#define L2_18 L2_6, L2_6, L2_6
#define L2_24 L2_18, L2_6

#define TREE_D(levels, ...) { levels, levels, 1, { levels }, { __VA_ARGS__ } }

static const struct sector_shape shapes[N_SECTOR_SIZES] = {
	{
		.suffix = "2k", .text = "2KiB", .bytes = 2048, .log_nodes = 6,
		.tree_r = { 2, 14, 1, { 2 }, { L8_2 } },
		.tree_d = TREE_D(6, L2_6),
		.layers = 2, .porep_partitions = 1, .porep_challenges = 2, .ni_partitions = 13,
		.window_sectors = 2,
		.update_partitions = 1, .update_challenges = 10, .update_h = 1,
		.update_h_select = 1, .apex_leafs = 8, .apex_levels = 3,
	}, {
		.suffix = "8m", .text = "8MiB", .bytes = 8 << 20, .log_nodes = 18,
		.tree_r = { 6, 42, 1, { 6 }, { L8_6 } },
		.tree_d = TREE_D(18, L2_18),
		.layers = 2, .porep_partitions = 1, .porep_challenges = 2, .ni_partitions = 13,
		.window_sectors = 2,
		.update_partitions = 4, .update_challenges = 10, .update_h = 10,
		.update_h_select = 8, .apex_leafs = 128, .apex_levels = 7,
	}, {
		.suffix = "512m", .text = "512MiB", .bytes = 512 << 20, .log_nodes = 24,
		.tree_r = { 8, 56, 1, { 8 }, { L8_6, L8_2 } },
		.tree_d = TREE_D(24, L2_24),
		.layers = 2, .porep_partitions = 1, .porep_challenges = 2, .ni_partitions = 13,
		.window_sectors = 2,
		.update_partitions = 16, .update_challenges = 86, .update_h = 10,
		.update_h_select = 8, .apex_leafs = 128, .apex_levels = 7,
	}, {
		.suffix = "32g", .text = "32GiB", .bytes = 32ull << 30, .log_nodes = 30,
		.tree_r = { 10, 70, 2, { 9, 1 }, { L8_9, L8_1 } },
		.tree_d = TREE_D(30, L2_24, L2_6),
		.layers = 11, .porep_partitions = 10, .porep_challenges = 18,
		.ni_partitions = 126, .window_sectors = 2349,
		.update_partitions = 16, .update_challenges = 86, .update_h = 10,
		.update_h_select = 8, .apex_leafs = 128, .apex_levels = 7,
	}, {
		.suffix = "64g", .text = "64GiB", .bytes = 64ull << 30, .log_nodes = 31,
		.tree_r = { 11, 71, 3, { 9, 1, 1 }, { L8_9, L8_1, 2 } },
		.tree_d = TREE_D(31, L2_24, L2_6, 2),
		.layers = 11, .porep_partitions = 10, .porep_challenges = 18,
		.ni_partitions = 126, .window_sectors = 2300,
		.update_partitions = 16, .update_challenges = 86, .update_h = 10,
		.update_h_select = 8, .apex_leafs = 128, .apex_levels = 7,
	},
};

const struct sector_shape *sector_shape(unsigned int i)
{
	return i < N_SECTOR_SIZES ? &shapes[i] : NULL;
}
