/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* journal.c - accepted jobs and finished partitions, on disk */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "plugin/journal-file.h"
#include "plugin/journal.h"
#include "plugin/log.h"
#include "plugin/mail.h"
#include "plugin/request.h"

#define LATE_MS 1000		/* until what could not be written is tried again */

/* A record on its way to the disk; an ACCEPT comes back as its receipt. */
struct entry {
	struct mail mail;
	struct record record;
	int fd;			/* ACCEPT: the request; -1: none */
	int err;
	bool quit;
	_Alignas(8) uint8_t body[];	/* one of the structs of journal-file.h */
};

struct journal {
	const struct journal_ops *ops;
	void *ctx;
	int dir_fd, lock_fd;
	pthread_t writer;
	struct mailbox to_writer, to_owner;
	struct entry *quit;
	uint64_t next_seq, slack;

	struct journal_file file;	/* the writer's while it runs, but for key, which stays */
	struct mail *late, **late_tail;	/* the writer's: what is to be written again, in order */
	uint64_t n_late;

	pthread_mutex_t status_lock;	/* protects status; nothing is taken inside */
	struct journal_status status;
};

/* ---- the writing thread ---- */

static int write_entry(struct journal *j, struct entry *e)
{
	if (e->record.type == RECORD_ACCEPT && e->fd >= 0 && !e->record.payload_len) {
		struct record_accept *body = (struct record_accept *)e->body;
		int err = journal_file_spool(&j->file, e->record.seq, e->fd, body->request_bytes);

		if (err)
			return err;
	}
	return journal_file_append(&j->file, &e->record, e->body, e->fd);
}

static void entry_free(struct entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e);
}

static void publish(struct journal *j, uint64_t records, int err)
{
	int before;

	pthread_mutex_lock(&j->status_lock);
	before = j->status.error;
	j->status.bytes = j->file.size;
	j->status.live_bytes = j->file.live;
	j->status.records += records;
	j->status.syncs++;
	j->status.late = j->n_late;
	j->status.error = err;
	pthread_mutex_unlock(&j->status_lock);
	if (err && err != before)
		log_error("journal: cannot write: %s; new jobs would not survive a restart",
			  strerror(-err));
	else if (!err && before)
		log_notice("journal: can be written again");
}

/* A job that is forgotten needs none of what is late of it. */
static void drop_late(struct journal *j, uint64_t seq)
{
	struct mail **p = &j->late;

	while (*p) {
		struct entry *e = mail_entry(*p, struct entry, mail);

		if (e->record.seq != seq) {
			p = &(*p)->next;
			continue;
		}
		*p = e->mail.next;
		entry_free(e);
		j->n_late--;
	}
	j->late_tail = p;
}

static void add_late(struct journal *j, struct entry *e)
{
	if (e->record.type == RECORD_FORGET)
		drop_late(j, e->record.seq);
	e->mail.next = NULL;
	*j->late_tail = &e->mail;
	j->late_tail = &e->mail.next;
	j->n_late++;
}

/*
 * Writes a list in order.  Behind a record that cannot be written only ACCEPTs
 * are, which need nothing before them: the end of a job without its partitions
 * would be worth nothing.  -errno of the last that failed.
 */
static int write_list(struct journal *j, struct mail *list, uint64_t *n, bool *quit)
{
	bool stuck = false;
	struct mail *mail;
	int err = 0;

	for (mail = list; mail; mail = mail->next) {
		struct entry *e = mail_entry(mail, struct entry, mail);
		bool accept = e->record.type == RECORD_ACCEPT;

		if (e->quit) {
			*quit = true;
			continue;
		}
		e->err = -EAGAIN;
		if (stuck && !accept)
			continue;
		/* of a job that is not in the journal, or no more */
		e->err = 0;
		if (!accept && !journal_file_entry(&j->file, e->record.seq))
			continue;
		e->err = write_entry(j, e);
		(*n)++;
		if (e->err)
			err = e->err;
		stuck |= e->err && !accept;
	}
	return err;
}

/* Writes what is late and a batch, makes it durable, sends receipts. True: it was told to quit. */
static bool write_batch(struct journal *j, struct mail *batch)
{
	struct mail *list = batch, *mail, *next;
	bool quit = false;
	uint64_t n = 0;
	int err, sync_err;

	if (j->late) {
		*j->late_tail = batch;
		list = j->late;
	}
	j->late = NULL;
	j->late_tail = &j->late;
	j->n_late = 0;
	err = write_list(j, list, &n, &quit);
	sync_err = journal_file_sync(&j->file);
	for (mail = list; mail; mail = next) {
		struct entry *e = mail_entry(mail, struct entry, mail);

		next = mail->next;
		/* what a disk that failed has of them, nobody knows */
		if (!e->err)
			e->err = sync_err;
		if (e->quit)
			entry_free(e);
		else if (e->record.type == RECORD_ACCEPT)
			mailbox_post(&j->to_owner, &e->mail);
		else if (e->err)
			add_late(j, e);
		else
			entry_free(e);
	}
	publish(j, n, err ? err : sync_err);
	return quit;
}

static void note_compaction(struct journal *j)
{
	pthread_mutex_lock(&j->status_lock);
	j->status.bytes = j->file.size;
	j->status.live_bytes = j->file.live;
	j->status.compactions++;
	pthread_mutex_unlock(&j->status_lock);
}

static void *writer_main(void *arg)
{
	struct journal *j = arg;
	struct mail *batch;
	bool quit = false;
	int err;

	while (!quit) {
		mailbox_wait_ms(&j->to_writer, j->late ? LATE_MS : -1);
		batch = mailbox_take(&j->to_writer);
		if (batch || j->late)
			quit = write_batch(j, batch);
		if (journal_file_wasteful(&j->file, j->slack)) {
			err = journal_file_compact(&j->file);
			if (err)
				log_warning("journal: cannot compact: %s", strerror(-err));
			else
				note_compaction(j);
		}
	}
	return NULL;
}

/* ---- the owner's side ---- */

int journal_fd(const struct journal *j)
{
	return j->to_owner.fd;
}

uint64_t journal_next_seq(const struct journal *j)
{
	return j->next_seq;
}

static void drop_receipts(struct journal *j, bool tell)
{
	struct mail *mail = mailbox_take(&j->to_owner), *next;

	for (; mail; mail = next) {
		struct entry *e = mail_entry(mail, struct entry, mail);

		next = mail->next;
		if (tell)
			j->ops->durable(j->ctx, e->record.seq, e->err);
		entry_free(e);
	}
}

void journal_process(struct journal *j)
{
	drop_receipts(j, true);
}

static struct entry *entry_new(enum record_type type, uint64_t seq, uint32_t body_len)
{
	struct entry *e = calloc(1, sizeof(*e) + body_len);

	if (!e)
		return NULL;
	e->fd = -1;
	e->record.type = type;
	e->record.seq = seq;
	e->record.body_len = body_len;
	return e;
}

static void send(struct journal *j, struct entry *e)
{
	record_seal(&e->record, e->body, j->file.key);
	mailbox_post(&j->to_writer, &e->mail);
}

int journal_accept(struct journal *j, const struct job *job, int request_fd)
{
	uint32_t id_len = strlen(job->request_id);
	struct record_accept *body;
	struct entry *e;

	if (!j)
		return 0;
	e = entry_new(RECORD_ACCEPT, job->seq, sizeof(*body) + id_len);
	if (!e)
		return -ENOMEM;
	e->fd = fcntl(request_fd, F_DUPFD_CLOEXEC, 0);
	if (e->fd < 0) {
		int err = -errno;

		free(e);
		return err;
	}
	body = (struct record_accept *)e->body;
	memcpy(body->digest, job->digest, sizeof(body->digest));
	body->registered_proof = job->registered_proof;
	body->sector_size = job->sector_size;
	body->sector_number = job->sector_number;
	body->miner_id = job->miner_id;
	body->accepted_wall_us = job->accepted_wall_us;
	body->request_bytes = job->bytes;
	body->kind = job->kind;
	body->priority = job->priority;
	body->partition_index = job->partition_index;
	body->uid = job->uid;
	body->id_len = id_len;
	memcpy(body + 1, job->request_id, id_len);
	if (job->bytes <= JOURNAL_INLINE_MAX)
		e->record.payload_len = job->bytes;
	else
		body->spooled = 1;
	send(j, e);
	return 0;
}

int journal_part(struct journal *j, uint64_t seq, uint32_t partition, uint32_t prover,
		 const uint8_t proof[CUZK_PARTITION_PROOF_SIZE])
{
	struct record_part *body;
	struct entry *e;

	if (!j)
		return 0;
	e = entry_new(RECORD_PART, seq, sizeof(*body));
	if (!e)
		return -ENOMEM;
	body = (struct record_part *)e->body;
	body->partition = partition;
	body->prover = prover;
	memcpy(body->proof, proof, sizeof(body->proof));
	send(j, e);
	return 0;
}

int journal_deaths(struct journal *j, uint64_t seq, uint32_t deaths)
{
	struct record_deaths *body;
	struct entry *e;

	if (!j)
		return 0;
	e = entry_new(RECORD_DEATHS, seq, sizeof(*body));
	if (!e)
		return -ENOMEM;
	body = (struct record_deaths *)e->body;
	body->deaths = deaths;
	send(j, e);
	return 0;
}

int journal_end(struct journal *j, const struct job *job)
{
	uint32_t text_len = strlen(job->text);
	struct record_end *body;
	struct entry *e;

	if (!j)
		return 0;
	e = entry_new(RECORD_END, job->seq, sizeof(*body) + text_len);
	if (!e)
		return -ENOMEM;
	body = (struct record_end *)e->body;
	body->state = job->state;
	body->cls = job->cls;
	body->n_partitions = job->plan.n_partitions;
	body->finished_wall_us = job->finished_wall_us;
	body->text_len = text_len;
	memcpy(body + 1, job->text, text_len);
	send(j, e);
	return 0;
}

int journal_forget(struct journal *j, uint64_t seq)
{
	struct entry *e;

	if (!j)
		return 0;
	e = entry_new(RECORD_FORGET, seq, 0);
	if (!e)
		return -ENOMEM;
	send(j, e);
	return 0;
}

void journal_status(struct journal *j, struct journal_status *status)
{
	pthread_mutex_lock(&j->status_lock);
	*status = j->status;
	pthread_mutex_unlock(&j->status_lock);
}

/* ---- reading back ---- */

/* A sealed request file of what was kept. */
static int restore_file(const void *payload, uint64_t len, int from_fd)
{
	const uint8_t *p = payload;
	uint8_t buf[65536];
	int fd, err = 0;
	ssize_t n;

	fd = memfd_create("cuzk-request", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	while (!err && (from_fd >= 0 || len)) {
		if (from_fd >= 0) {
			n = read(from_fd, buf, sizeof(buf));
			if (n <= 0) {
				err = n < 0 ? -errno : 0;
				break;
			}
			p = buf;
		} else {
			n = len < sizeof(buf) ? len : sizeof(buf);
		}
		if (write(fd, p, n) != n)
			err = errno ? -errno : -EIO;
		p += n;
		len -= from_fd >= 0 ? 0 : n;
	}
	if (!err && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK |
			  F_SEAL_SEAL) < 0)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* Does the restored request still have the digest of its job? */
static int check_file(int fd, const uint8_t digest[SUBMIT_DIGEST_SIZE])
{
	uint8_t found[SUBMIT_DIGEST_SIZE];
	struct request_map map;
	int err;

	err = request_map(&map, fd);
	if (err)
		return err;
	err = submission_digest(&map.request, found);
	request_unmap(&map);
	if (err)
		return err;
	return memcmp(found, digest, sizeof(found)) ? -EBADMSG : 0;
}

static int restore_request(struct journal *j, const struct record *r,
			   const struct record_accept *a, const void *payload)
{
	int from_fd = -1, fd, err;

	if (a->spooled) {
		from_fd = journal_file_spooled(&j->file, r->seq);
		if (from_fd < 0)
			return from_fd;
	}
	fd = restore_file(payload, r->payload_len, from_fd);
	if (from_fd >= 0)
		close(from_fd);
	if (fd < 0)
		return fd;
	err = check_file(fd, a->digest);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int replay_accept(struct journal *j, const struct record *r,
			 const struct record_accept *a, const void *payload)
{
	struct submission *sub = calloc(1, sizeof(*sub));
	struct journal_entry *entry;
	uint32_t id_len = a->id_len;
	int err;

	if (!sub)
		return -ENOMEM;
	memcpy(sub->digest, a->digest, sizeof(sub->digest));
	if (id_len > SUBMIT_ID_SIZE - 1)
		id_len = SUBMIT_ID_SIZE - 1;
	memcpy(sub->request_id, a + 1, id_len);
	sub->kind = a->kind < CUZK_KIND_COUNT ? a->kind : CUZK_KIND_UNSPECIFIED;
	sub->priority = a->priority;
	sub->partition_index = a->partition_index;
	sub->registered_proof = a->registered_proof;
	sub->sector_size = a->sector_size;
	sub->sector_number = a->sector_number;
	sub->miner_id = a->miner_id;
	sub->bytes = a->request_bytes;
	sub->fd = -1;
	entry = journal_file_entry(&j->file, r->seq);
	if (!entry->ended) {
		sub->fd = restore_request(j, r, a, payload);
		if (sub->fd < 0) {
			log_error("journal: the request of job %" PRIu64 " (%s) is lost: %s",
				  r->seq, sub->request_id, strerror(-sub->fd));
			submission_free(sub);
			return 0;
		}
	}
	err = j->ops->job(j->ctx, r->seq, sub, a->uid, a->accepted_wall_us);
	submission_free(sub);
	return err;
}

static int replay_end(struct journal *j, const struct record *r, const struct record_end *body)
{
	struct journal_end end = {
		.state = body->state,
		.cls = body->cls,
		.n_partitions = body->n_partitions,
		.finished_wall_us = body->finished_wall_us,
	};
	size_t len = body->text_len;

	if (body->state <= JOB_WAITING || body->state > JOB_CANCELLED)
		return 0;
	if (len > sizeof(end.text) - 1)
		len = sizeof(end.text) - 1;
	memcpy(end.text, body + 1, len);
	return j->ops->end(j->ctx, r->seq, &end);
}

static int replay(void *ctx, const struct record *r, const void *body, const void *payload)
{
	struct journal *j = ctx;
	const struct record_part *part = body;

	switch (r->type) {
	case RECORD_ACCEPT:
		return replay_accept(j, r, body, payload);
	case RECORD_PART:
		return j->ops->part(j->ctx, r->seq, part->partition, part->prover, part->proof);
	case RECORD_END:
		return replay_end(j, r, body);
	case RECORD_DEATHS:
		return j->ops->deaths(j->ctx, r->seq, ((const struct record_deaths *)body)->deaths);
	}
	return 0;
}

/* ---- opening ---- */

static int take_lock(struct journal *j, const char *dir, char *text)
{
	char pid[32] = "";
	ssize_t n;
	int err;

	j->lock_fd = openat(j->dir_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (j->lock_fd < 0) {
		err = -errno;
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/lock: %s", dir, strerror(-err));
		return err;
	}
	if (flock(j->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		n = pread(j->lock_fd, pid, sizeof(pid) - 1, 0);
		while (n > 0 && pid[n - 1] == '\n')
			pid[--n] = '\0';
		snprintf(text, JOURNAL_ERROR_TEXT,
			 "%s: another cuzkd uses this directory: process %s", dir,
			 n > 0 ? pid : "unknown");
		close(j->lock_fd);
		return -EBUSY;
	}
	/* over what is there: a disk without room must not keep finished work from its clients */
	n = snprintf(pid, sizeof(pid), "%ld\n", (long)getpid());
	if (pwrite(j->lock_fd, pid, n, 0) != n || ftruncate(j->lock_fd, n) < 0)
		log_warning("%s/lock: cannot write: %s", dir, strerror(errno));
	return 0;
}

static int convert(struct journal *j, const char *dir, char *text)
{
	struct journal_conversion done;
	int err;

	err = journal_convert(j->dir_fd, &done);
	if (err) {
		snprintf(text, JOURNAL_ERROR_TEXT,
			 "%s/journal: of format 01, which cannot be converted: %s", dir,
			 strerror(-err));
		return err;
	}
	if (!done.converted)
		return 0;
	log_notice("journal: %s/journal was of format 01 and is converted: %" PRIu64
		   " record(s); it was kept as %s/" JOURNAL_ASIDE ", which may be removed", dir,
		   done.records, dir);
	if (done.unread)
		log_warning("journal: %" PRIu64 " bytes of %s/" JOURNAL_ASIDE
			    " from a damaged or torn record on are not taken; jobs in them are "
			    "lost",
			    done.unread, dir);
	return 0;
}

/* What stands in the way, and what to do about it. */
static void explain(struct journal *j, const char *dir, const char *what, int err, char *text)
{
	char name[JOURNAL_NAME_SIZE + 1] = "";
	int fd;

	if (err == -EBADMSG) {
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/%s: its head is damaged, no record can be "
			 "read: move it away to start without its jobs", dir, what);
		return;
	}
	if (err != -EMEDIUMTYPE) {
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/%s: %s", dir, what, strerror(-err));
		return;
	}
	fd = openat(j->dir_fd, "journal", O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && pread(fd, name, JOURNAL_NAME_SIZE, 0) < 0)
		name[0] = '\0';
	if (fd >= 0)
		close(fd);
	name[strcspn(name, "\n")] = '\0';
	if (!strncmp(name, JOURNAL_NAME, JOURNAL_NAME_SIZE - 3))
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/%s: of format %.2s, this version reads 01 "
			 "and 02: go on with the version that wrote it, or move it away to start "
			 "without its jobs", dir, what, name + JOURNAL_NAME_SIZE - 3);
	else
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/%s: not a journal: move it away", dir, what);
}

static int read_back(struct journal *j, const char *dir, char *text)
{
	const char *what;
	int err;

	err = convert(j, dir, text);
	if (err)
		return err;
	err = journal_file_open(&j->file, j->dir_fd, &what);
	if (err) {
		explain(j, dir, what, err, text);
		return err;
	}
	if (j->file.damaged)
		log_warning("journal: %" PRIu64 " damaged or torn record(s) skipped in %s/journal",
			    j->file.damaged, dir);
	err = journal_file_read(&j->file, replay, j);
	if (err) {
		snprintf(text, JOURNAL_ERROR_TEXT, "%s/journal: %s", dir, strerror(-err));
		journal_file_close(&j->file);
		return err;
	}
	journal_file_sweep(&j->file);
	j->next_seq = j->file.max_seq + 1;
	j->status.damaged = j->file.damaged;
	return 0;
}

int journal_open(struct journal **out, const char *dir, uint64_t slack,
		 const struct journal_ops *ops, void *ctx, char text[JOURNAL_ERROR_TEXT])
{
	struct journal *j = calloc(1, sizeof(*j));
	int err;

	snprintf(text, JOURNAL_ERROR_TEXT, "%s: no memory", dir);
	if (!j)
		return -ENOMEM;
	j->ops = ops;
	j->ctx = ctx;
	j->slack = slack;
	j->late_tail = &j->late;
	j->dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->dir_fd < 0) {
		err = -errno;
		snprintf(text, JOURNAL_ERROR_TEXT, "%s: %s", dir, strerror(-err));
		goto err_free;
	}
	err = take_lock(j, dir, text);
	if (err)
		goto err_close_dir;
	err = read_back(j, dir, text);
	if (err)
		goto err_unlock;
	snprintf(text, JOURNAL_ERROR_TEXT, "%s: cannot start the journal's thread", dir);
	err = mailbox_init(&j->to_writer);
	if (err)
		goto err_close_file;
	err = mailbox_init(&j->to_owner);
	if (err)
		goto err_fini_writer;
	err = -ENOMEM;
	j->quit = entry_new(RECORD_FORGET, 0, 0);
	if (!j->quit)
		goto err_fini_owner;
	j->quit->quit = true;
	err = -pthread_mutex_init(&j->status_lock, NULL);
	if (err)
		goto err_free_quit;
	err = -pthread_create(&j->writer, NULL, writer_main, j);
	if (err)
		goto err_destroy_lock;
	*out = j;
	return 0;

err_destroy_lock:
	pthread_mutex_destroy(&j->status_lock);
err_free_quit:
	free(j->quit);
err_fini_owner:
	mailbox_fini(&j->to_owner);
err_fini_writer:
	mailbox_fini(&j->to_writer);
err_close_file:
	journal_file_close(&j->file);
err_unlock:
	close(j->lock_fd);
err_close_dir:
	close(j->dir_fd);
err_free:
	free(j);
	return err;
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	mailbox_post(&j->to_writer, &j->quit->mail);
	pthread_join(j->writer, NULL);
	if (j->late)
		log_error("journal: %" PRIu64 " record(s) could not be written: what they tell is "
			  "done again after the next start", j->n_late);
	while (j->late) {
		struct entry *e = mail_entry(j->late, struct entry, mail);

		j->late = e->mail.next;
		entry_free(e);
	}
	drop_receipts(j, false);
	mailbox_fini(&j->to_owner);
	mailbox_fini(&j->to_writer);
	pthread_mutex_destroy(&j->status_lock);
	journal_file_close(&j->file);
	close(j->lock_fd);
	close(j->dir_fd);
	free(j);
}
