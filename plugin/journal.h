/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/*
 * journal.h - accepted jobs and finished partitions, on disk
 *
 * STATE_DIR/journal holds records that are only ever appended; each has a
 * keyed digest, and the payload of a job is covered by the job's own digest, which
 * is looked at when it is read back: a job is never proved from what is not its
 * request.
 * Payloads above JOURNAL_INLINE_MAX lie in files of their own,
 * STATE_DIR/requests/SEQ.  A record that was cut off or damaged costs itself
 * only: the reader goes on at the next one that is whole.
 *
 * Threads.  The owner's calls queue a record and return; a thread writes what
 * has come together, makes it durable with one fdatasync, and reports back
 * through journal_process().  What could not be written is written again once a
 * second and before what comes later, so that a full disk or one that failed
 * costs no result; but for an ACCEPT, whose owner hears of it and may send another
 * with all that came after.  The thread also drops what is no longer needed:
 * when more than half of a large file is dead, the live part is copied to a
 * new file that replaces it.
 */
#ifndef CUZK_PLUGIN_JOURNAL_H
#define CUZK_PLUGIN_JOURNAL_H

#include <stdint.h>

#include "plugin/job.h"

#define JOURNAL_INLINE_MAX (256 << 10)	/* bytes of a request in the journal itself */
#define JOURNAL_ERROR_TEXT 512

struct journal;

/* A job's end as it is kept. */
struct journal_end {
	enum job_state state;
	uint32_t cls, n_partitions;
	uint64_t finished_wall_us;
	char text[CUZK_ERROR_TEXT];
};

struct journal_ops {
	/*
	 * While journal_open() reads, oldest first.  sub->fd is the request
	 * file, or -1 when the job has ended; take it or leave it.  0, or
	 * -errno, which ends the reading.
	 */
	int (*job)(void *ctx, uint64_t seq, struct submission *sub, uint32_t uid,
		   uint64_t accepted_wall_us);
	int (*part)(void *ctx, uint64_t seq, uint32_t partition, uint32_t prover,
		    const uint8_t *proof);
	int (*end)(void *ctx, uint64_t seq, const struct journal_end *end);
	int (*deaths)(void *ctx, uint64_t seq, uint32_t deaths);
	/* Out of journal_process(): the job is on disk (0) or could not be put there (-errno). */
	void (*durable)(void *ctx, uint64_t seq, int err);
};

/*
 * Opens or makes the journal in dir, which exists, reads it, and starts the
 * thread.  One service per directory: -EBUSY when another has it; text then
 * names that process.  Any other -errno: text says what failed.  A file smaller
 * than slack is never compacted.
 */
int journal_open(struct journal **journal, const char *dir, uint64_t slack,
		 const struct journal_ops *ops, void *ctx, char text[JOURNAL_ERROR_TEXT]);
/* Writes what is queued, then frees. NULL is accepted. */
void journal_close(struct journal *journal);

/* Above the number of every job that the journal ever had. */
uint64_t journal_next_seq(const struct journal *journal);

int journal_fd(const struct journal *journal);
void journal_process(struct journal *journal);

/*
 * Each returns 0 or -ENOMEM, and does nothing for a NULL journal (durable()
 * then is not called).  The request file is duplicated.
 */
int journal_accept(struct journal *journal, const struct job *job, int request_fd);
/* prover: who made it, as the reader will be told; 0: nobody in particular. */
int journal_part(struct journal *journal, uint64_t seq, uint32_t partition, uint32_t prover,
		 const uint8_t proof[CUZK_PARTITION_PROOF_SIZE]);
/* So many instances have died with it: it must not start from 0 after a restart. */
int journal_deaths(struct journal *journal, uint64_t seq, uint32_t deaths);
int journal_end(struct journal *journal, const struct job *job);
int journal_forget(struct journal *journal, uint64_t seq);

struct journal_status {
	uint64_t bytes, live_bytes;	/* of the file */
	uint64_t records, syncs, compactions;	/* since open */
	uint64_t damaged;		/* records lost to damage when it was read */
	uint64_t late;			/* records that wait to be written again */
	int error;			/* -errno of the last write; 0: it works */
};

void journal_status(struct journal *journal, struct journal_status *status);

#endif
