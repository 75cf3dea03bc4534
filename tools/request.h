/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* request.h - a request out of its JSON file, as a message to a service */
#ifndef CUZK_TOOLS_REQUEST_H
#define CUZK_TOOLS_REQUEST_H

#include "lib/proto/cuzk.pb-c.h"
#include "lib/request_json.h"

/* The message points into parsed. */
struct request_file {
	struct request_json *parsed;
	ProtobufCBinaryData *vanilla_proofs;
	Cuzk__V1__SubmitProofRequest message;
};

/* "-" is standard input.  0, or an exit status after the error was said. */
int request_load(const char *command, const char *path, struct request_file *l);
void request_unload(struct request_file *l);

#endif
