/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * foreign.h - engines that were never written for cuzk_engine.h, through libffi
 */
#ifndef CUZK_PLUGIN_FOREIGN_H
#define CUZK_PLUGIN_FOREIGN_H

#include "plugin/api/cuzk_engine.h"
#include "plugin/loader.h"
#include "plugin/params.h"

/*
 * Loads library and prepares the calls that given (the keys of [engine NAME])
 * describe.  ops is a table like a plugin's; its params are made of given.
 * -EINVAL and others, with why: "file:line: message" where a key is to blame.
 */
int foreign_open(const char *library, const struct params_given *given, int n,
		 struct cuzk_engine_ops *ops, char why[LOADER_WHY]);

#endif
