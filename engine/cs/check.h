/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* check.h - is a system from a file consistent? */
#ifndef CUZK_CS_CHECK_H
#define CUZK_CS_CHECK_H

#include "lib/cs.h"

/*
 * Every index within bounds, bases as the templates add up to, the fixed
 * coefficients in their places: what the code that reads a system relies on.
 * NULL, or what is wrong.  Densities and full_map are not looked at.
 */
const char *cs_check(const struct cs *cs);

#endif
