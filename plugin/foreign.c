/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* foreign.c - engines that were never written for cuzk_engine.h, through libffi */
#include <errno.h>
#include <stdio.h>
#include "plugin/foreign.h"
int foreign_open(const char *library, const struct params_given *given, int n,
		 struct cuzk_engine_ops *ops, char why[LOADER_WHY])
{
	snprintf(why, LOADER_WHY, "not built");
	return -ENOSYS;
}
