/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * reflection.h - answers of grpc.reflection.v1 (and v1alpha, which is the same)
 *
 * A request is one ServerReflectionRequest, the answer one
 * ServerReflectionResponse.  No state, no threads.
 */
#ifndef CUZK_PLUGIN_REFLECTION_H
#define CUZK_PLUGIN_REFLECTION_H

#include <stddef.h>
#include <stdint.h>

/*
 * *answer is malloc'ed.  0; -EBADMSG: not a request; -ENOMEM.
 */
int reflection_answer(const uint8_t *request, size_t len, uint8_t **answer, size_t *answer_len);

#endif
