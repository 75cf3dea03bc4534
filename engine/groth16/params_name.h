/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * params_name.h - Filecoin's names of parameter files (filecoin-spec 1.7)
 */
#ifndef CUZK_GROTH16_PARAMS_NAME_H
#define CUZK_GROTH16_PARAMS_NAME_H

#include <stddef.h>

#define PARAMS_NAME_MAX 192
#define PARAMS_IDENTIFIER_MAX 512

/*
 * The string whose SHA-256 is in the file name, e.g. of "winning-32g".  The
 * length, or -ENOENT for a name that has none (the tiny circuits and unknown ones).
 */
int params_identifier(const char *circuit, char buf[PARAMS_IDENTIFIER_MAX]);
/*
 * File name without a folder; suffix is "params", "vk" or "meta".  The tiny
 * circuits have names of their own, tiny-3.params.  -ENOENT as above.
 */
int params_name(const char *circuit, const char *suffix, char buf[PARAMS_NAME_MAX]);

#endif
