/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-engine.h - what the commands that measure the engine's inside share */
#ifndef CUZK_TOOLS_BENCH_ENGINE_H
#define CUZK_TOOLS_BENCH_ENGINE_H

#include "engine/circuits/circuit.h"
#include "engine/vanilla/sample.h"
#include "engine/vanilla/vanilla.h"
#include "lib/cs.h"
#include "lib/tpool.h"

/* These return 0, or an exit status after the error was said for command. */

/* A made-up request of a kind, "porep-32g". */
int bench_sample(const char *command, const char *kind, uint64_t seed,
		 struct vanilla_sample **out);
/* The request of a file, or with file NULL a made-up one, admitted.  kind NULL: the file's. */
int bench_admit(const char *command, const char *kind, const char *file, uint64_t seed,
		struct tpool *pool, struct vanilla **out);
/* Finds and builds the circuit. */
int bench_circuit(const char *command, const char *kind, struct circuit *circuit,
		  struct cs **cs);
/* DIR/NAME.params as Filecoin calls it. */
int bench_params_path(const char *command, const char *dir, const char *kind, char path[4096]);
/* --threads: 0, all that this process may run on. */
int bench_pool(const char *command, const char *threads, struct tpool **pool);

/* Bytes of a witness as it is kept, and with 32 bytes for each variable. */
uint64_t bench_witness_bytes(const struct cs *cs);
uint64_t bench_dense_witness_bytes(const struct cs *cs);

#endif
