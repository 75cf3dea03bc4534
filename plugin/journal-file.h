/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * journal-file.h - the records of the journal and the file that holds them
 *
 * The file opens with a struct journal_head; records follow at multiples of 8,
 * numbers in the machine's order (a journal does not leave its machine).  Used by
 * one thread at a time: the owner's while it opens, then the journal's.
 *
 * A record is checked by a digest that a key of the file's own goes into.  Where a
 * record is damaged the reader looks for the next one, perhaps inside of a
 * payload, which is whatever a client has sent: without the key, which is chosen
 * at random and which only the service can read, nothing in there is a record.
 */
#ifndef CUZK_PLUGIN_JOURNAL_FILE_H
#define CUZK_PLUGIN_JOURNAL_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "plugin/hash.h"
#include "plugin/submit.h"

#define JOURNAL_NAME "cuzk journal 02\n"
#define JOURNAL_NAME_SIZE 16
#define JOURNAL_ASIDE "journal.01"	/* a converted file, as it was */
#define JOURNAL_KEY_SIZE 32
#define RECORD_CHECK_SIZE 16
#define RECORD_MAGIC 0x6a7a7563u	/* "cuzj" */
#define RECORD_BODY_MAX 4096

enum record_type {
	RECORD_ACCEPT = 1,	/* struct record_accept, request_id; then the payload */
	RECORD_PART,		/* struct record_part */
	RECORD_END,		/* struct record_end, text */
	RECORD_FORGET,		/* nothing */
	RECORD_DEATHS,		/* struct record_deaths; the last of a job counts */
};

/* The key is there twice: with a wrong bit in it not one record could be read. */
struct journal_head {
	char name[JOURNAL_NAME_SIZE];
	struct journal_key {
		uint8_t key[JOURNAL_KEY_SIZE];
		uint8_t check[RECORD_CHECK_SIZE];	/* the first bytes of its SHA-256 */
	} copy[2];
};

#define JOURNAL_HEAD_SIZE sizeof(struct journal_head)

struct record {
	uint32_t magic;
	uint16_t type, version;	/* version: 0 */
	uint64_t seq;
	uint32_t body_len, reserved;
	uint64_t payload_len;	/* after the body; its check is the job's digest */
	/* the first bytes of SHA-256 of the key, this head with check 0, and the body */
	uint8_t check[RECORD_CHECK_SIZE];
};

struct record_accept {
	uint8_t digest[SUBMIT_DIGEST_SIZE];
	uint64_t registered_proof, sector_size, sector_number, miner_id;
	uint64_t accepted_wall_us, request_bytes;
	uint32_t kind, priority, partition_index, uid;
	uint32_t spooled;	/* the request is in requests/SEQ */
	uint32_t id_len;
};

struct record_part {
	uint32_t partition;
	uint32_t prover;	/* service_prover(); 0: written before there was one */
	uint8_t proof[192];
};

struct record_deaths {
	uint32_t deaths, reserved;
};

struct record_end {
	uint32_t state, cls, n_partitions, text_len;
	uint64_t finished_wall_us;
};

/* A job that has records and is not forgotten. */
struct journal_entry {
	struct hash_node node;
	uint64_t seq;
	uint64_t bytes;		/* of its records that compaction would keep */
	uint64_t payload_len;	/* that is part of bytes */
	bool ended, spooled;
};

struct journal_file {
	int dir_fd, requests_fd, fd;
	uint8_t key[JOURNAL_KEY_SIZE];	/* of the file, and of the one that takes its place */
	uint64_t size;		/* up to the end of the last whole record */
	uint64_t live;		/* bytes that compaction would keep */
	uint64_t damaged;	/* records lost when it was read */
	uint64_t max_seq;	/* of all records, of forgotten jobs too */
	struct hash entries;	/* struct journal_entry by seq */
	uint64_t *unneeded;	/* whose request files go after the next sync */
	size_t n_unneeded;
};

/* record and body as they lie in the file; payload: record->payload_len bytes. */
typedef int (*journal_visit)(void *ctx, const struct record *record, const void *body,
			     const void *payload);

/* The head of a file with that key. */
void journal_head_fill(struct journal_head *head, const uint8_t key[JOURNAL_KEY_SIZE]);
/* Writes it, durable. */
int journal_write_head(int fd, const uint8_t key[JOURNAL_KEY_SIZE]);
/* Writes a sealed record with its payload and padding at *pos, which moves on. */
int journal_write_record(int fd, const struct record *record, const void *body,
			 const void *payload, uint64_t *pos);
/* Bytes of a record in the file. */
uint64_t record_size(const struct record *record);
/* Fills in magic and check. */
void record_seal(struct record *record, const void *body, const uint8_t key[JOURNAL_KEY_SIZE]);

/*
 * Opens or makes dir/journal and dir/requests, finds what is alive, cuts a torn
 * tail. *what: what failed.
 */
int journal_file_open(struct journal_file *file, int dir_fd, const char **what);
void journal_file_close(struct journal_file *file);

/* The job of that number, or NULL. */
struct journal_entry *journal_file_entry(const struct journal_file *file, uint64_t seq);

/* Visits the records of all jobs that are not forgotten, oldest first. */
int journal_file_read(struct journal_file *file, journal_visit visit, void *ctx);

/* Appends one record; it is durable after journal_file_sync(). On an error nothing is appended. */
int journal_file_append(struct journal_file *file, const struct record *record,
			const void *body, int payload_fd);
int journal_file_sync(struct journal_file *file);

/* The request of a job in a file of its own, durable. */
int journal_file_spool(struct journal_file *file, uint64_t seq, int request_fd, uint64_t bytes);
/* A file descriptor for reading, or -errno. */
int journal_file_spooled(const struct journal_file *file, uint64_t seq);
/* Removes spooled requests that belong to no job. */
void journal_file_sweep(struct journal_file *file);

/* Copies what is alive to a new file, which takes the place of the old one. */
int journal_file_compact(struct journal_file *file);
/* Worth compacting: larger than slack, and less than half alive. */
bool journal_file_wasteful(const struct journal_file *file, uint64_t slack);

/* ---- journal-convert.c ---- */

struct journal_conversion {
	bool converted;		/* there was one to convert */
	uint64_t records;	/* taken over */
	uint64_t unread;	/* bytes from the first damaged or torn record on */
};

/* Before journal_file_open(): format 01 becomes today's; its file stays as JOURNAL_ASIDE. */
int journal_convert(int dir_fd, struct journal_conversion *done);

#endif
