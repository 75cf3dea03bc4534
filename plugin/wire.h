/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * wire.h - messages between the service and the processes of its instances
 *
 * A SEQPACKET socket pair carries one message a packet: a struct wire_header,
 * a body whose layout the type gives, and for some types one file descriptor.
 * Both ends run on one machine and come from one package, so structs travel as
 * they are; the child's first message names WIRE_VERSION and is refused when
 * it is another.  What comes in is not trusted all the same: sizes, enums
 * and strings are checked by whoever receives (wire_recv, wire_text).
 */
#ifndef CUZK_PLUGIN_WIRE_H
#define CUZK_PLUGIN_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plugin/api/cuzk_engine.h"

#define WIRE_MAGIC 0x777a6b63u
#define WIRE_VERSION 4
#define WIRE_BODY_MAX (56 * 1024)
#define WIRE_FD 3		/* of the socket in the child */

enum wire_type {
	/* to the child */
	WIRE_START = 1,		/* struct wire_start */
	WIRE_ADMIT,		/* id: task; tag 1: urgent; the request's descriptor */
	WIRE_TASK_FREE,		/* id: task */
	WIRE_PROVE,		/* id: task, tag; struct wire_prove */
	WIRE_CANCEL,		/* tag */
	WIRE_PRELOAD,		/* id: cookie; circuit */
	WIRE_EVICT,		/* id: cookie; circuit */
	WIRE_CIRCUITS,
	WIRE_BUDGET,		/* id: bytes */
	WIRE_STOP,
	WIRE_KEPT,		/* name; descriptor: kept memory that it may take; first of all */
	WIRE_KEPT_GONE,		/* name: it is no longer to be had */
	WIRE_REFRESH,		/* parameters that were not usable may be by now */

	/* to the service */
	WIRE_HELLO = 64,	/* id: WIRE_VERSION; sent before anything else */
	WIRE_LOADED,		/* struct wire_loaded: the engine is loaded, probe begins */
	WIRE_TESTING,		/* probe is done, the self-test begins */
	WIRE_READY,
	WIRE_ADMITTED,		/* id: task; struct cuzk_plan */
	WIRE_REFUSED,		/* id: task; struct wire_error */
	WIRE_STARTED,		/* tag: the engine gets it now; tag 0: id is a cookie */
	WIRE_BUSY,		/* tag: it did not take it; another WIRE_STARTED follows */
	WIRE_HEARTBEAT,		/* tag; struct wire_heartbeat */
	WIRE_COMPLETED,		/* id: task, tag; struct cuzk_result */
	WIRE_PARAMS,		/* id: cookie; struct wire_params: end of preload or evict */
	WIRE_CIRCUIT_LIST,	/* struct cuzk_circuit, as many as the length holds */
	WIRE_MEMORY,		/* struct wire_memory */
	WIRE_LOG,		/* id: priority; text */
	WIRE_FAILED,		/* id: enum instance_death; text: why; the child ends now */
	WIRE_REPORT,		/* text: "file:line: message" of a check; the child goes on */
	WIRE_KEEP,		/* name, id: bytes; descriptor: memory to keep */
	WIRE_KEEP_USE,		/* name: it has taken what is kept under it */
	WIRE_KEEP_DROP,		/* name: it needs it no more */
	WIRE_TYPE_COUNT
};

struct wire_header {
	uint32_t magic;
	uint16_t type;
	uint16_t reserved;
	uint64_t id, tag;
};

/* What the child does once it has loaded the engine. */
enum wire_mode {
	WIRE_MODE_SERVE,
	WIRE_MODE_CHECK,	/* check parameters, report, end */
};

/*
 * Behind it: strings, each ended by NUL: library, its place, engine name,
 * device id ("" for none), version of the host, params_dir ("" for none), and
 * for each parameter name, value, place.
 */
#define WIRE_START_STRINGS 6
struct wire_start {
	uint32_t mode;
	uint32_t foreign;
	uint32_t gpu;
	uint32_t threads;
	uint32_t ordinal;
	uint32_t n_params;
	uint64_t vram_budget;
	uint64_t host_budget;		/* 0: no limit */
	uint64_t device_host_budget;	/* as the configuration has it */
};

struct wire_prove {
	uint32_t partition;
	uint32_t urgent;	/* by the engine's prove_urgent */
};

struct wire_loaded {
	uint64_t caps;
	char name[64], version[64];
};

struct wire_error {
	int32_t status;
	uint32_t reserved;
	struct cuzk_error error;
};

struct wire_heartbeat {
	uint32_t stage, reserved;
	uint64_t done, total;
};

struct wire_params {
	int32_t status;
	uint32_t was;
	uint64_t bytes;
	struct cuzk_error error;
};

#define WIRE_MEMORY_MAX 32
#define WIRE_MEMORY_NAME 32

struct wire_memory {
	uint64_t reserved, peak, resident, resident_peak;
	uint32_t n, pad;
	struct {
		char name[WIRE_MEMORY_NAME];
		uint64_t reserved, peak;
	} entry[WIRE_MEMORY_MAX];
};

struct wire_message {
	struct wire_header h;
	int fd;			/* -1: none; the receiver's */
	size_t len;		/* of body */
	_Alignas(16) char body[WIRE_BODY_MAX + 1];
};

/*
 * Sends one packet; fd -1 for none, flags as of sendmsg().  -EAGAIN with
 * MSG_DONTWAIT and a full socket; -EPIPE: nobody is there; -EMSGSIZE.
 */
int wire_send(int sock, const struct wire_header *h, const void *body, size_t len, int fd,
	      int flags);

/*
 * Receives one packet.  1: msg is filled and msg->body ends with a NUL that len
 * does not count; 0: end of file; -EAGAIN; -EBADMSG: not one of ours.
 */
int wire_recv(int sock, struct wire_message *msg, int flags);

/* Whether a string may name kept memory: 1 to 63 of [a-z0-9._-]. */
bool wire_memory_name(const char *name);

/* Copies as much of a string as fits, with a NUL. */
void wire_copy(char *dst, size_t size, const char *src);

/* Cuts a string of foreign origin at its field's end and makes it one line of UTF-8. */
void wire_text(char *text, size_t size);

#endif
