/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * request.h - a request from a file, for the engine's commands
 */
#ifndef CUZK_GROTH16_REQUEST_H
#define CUZK_GROTH16_REQUEST_H

#include "engine/groth16/error.h"

/*
 * Reads the JSON of a SubmitProofRequest (lib/request_json.h).  *req is one
 * object with all it points to, freed by request_free().  CUZK_ERROR_INPUT,
 * CUZK_ERROR_RESOURCE.
 */
int request_read(const char *path, struct cuzk_request **req, struct cuzk_error *err);
void request_free(struct cuzk_request *req);

#endif
