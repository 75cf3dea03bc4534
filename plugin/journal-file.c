/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* journal-file.c - the records of the journal and the file that holds them */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/sha256.h"
#include "plugin/journal-file.h"
#include "plugin/list.h"

#define SEQ_NAME 24

static uint64_t pad8(uint64_t n)
{
	return (n + 7) & ~7ull;
}

uint64_t record_size(const struct record *record)
{
	return pad8(sizeof(*record) + (uint64_t)record->body_len + record->payload_len);
}

static void record_check(const struct record *record, const void *body,
			 const uint8_t key[JOURNAL_KEY_SIZE], uint8_t check[RECORD_CHECK_SIZE])
{
	struct record head = *record;
	uint8_t digest[SHA256_SIZE];
	struct sha256 h;

	memset(head.check, 0, sizeof(head.check));
	sha256_init(&h);
	sha256_update(&h, key, JOURNAL_KEY_SIZE);
	sha256_update(&h, &head, sizeof(head));
	sha256_update(&h, body, head.body_len);
	sha256_final(&h, digest);
	memcpy(check, digest, RECORD_CHECK_SIZE);
}

void record_seal(struct record *record, const void *body, const uint8_t key[JOURNAL_KEY_SIZE])
{
	record->magic = RECORD_MAGIC;
	record->version = 0;
	record->reserved = 0;
	record_check(record, body, key, record->check);
}

/* ---- what is alive ---- */

struct journal_entry *journal_file_entry(const struct journal_file *file, uint64_t seq)
{
	struct hash_node *node = hash_first(&file->entries, hash_number(seq));

	for (; node; node = hash_next(node)) {
		struct journal_entry *e = list_entry(node, struct journal_entry, node);

		if (e->seq == seq)
			return e;
	}
	return NULL;
}

static void drop_entry(struct journal_file *file, struct journal_entry *e)
{
	file->live -= e->bytes;
	hash_del(&file->entries, &e->node);
	free(e);
}

static void spool_name(char name[SEQ_NAME], uint64_t seq)
{
	snprintf(name, SEQ_NAME, "%016" PRIx64, seq);
}

/*
 * The file of a request that is not needed any more goes when the record that
 * says so is on the disk; what stays is swept at the next start.
 */
static void drop_spooled(struct journal_file *file, struct journal_entry *e)
{
	uint64_t *more;

	if (!e->spooled)
		return;
	e->spooled = false;
	more = reallocarray(file->unneeded, file->n_unneeded + 1, sizeof(*more));
	if (!more)
		return;
	file->unneeded = more;
	file->unneeded[file->n_unneeded++] = e->seq;
}

static void unlink_unneeded(struct journal_file *file)
{
	char name[SEQ_NAME];

	while (file->n_unneeded) {
		spool_name(name, file->unneeded[--file->n_unneeded]);
		unlinkat(file->requests_fd, name, 0);
	}
	free(file->unneeded);
	file->unneeded = NULL;
}

static void needed_again(struct journal_file *file, uint64_t seq)
{
	size_t i;

	for (i = 0; i < file->n_unneeded; i++)
		if (file->unneeded[i] == seq)
			file->unneeded[i--] = file->unneeded[--file->n_unneeded];
}

/* Keeps the index in step with one record that is in the file. */
static int note_record(struct journal_file *file, const struct record *r, const void *body)
{
	struct journal_entry *e = journal_file_entry(file, r->seq);

	if (r->seq > file->max_seq)
		file->max_seq = r->seq;
	if (r->type == RECORD_ACCEPT) {
		if (e)
			drop_entry(file, e);
		e = calloc(1, sizeof(*e));
		if (!e)
			return -ENOMEM;
		e->seq = r->seq;
		e->payload_len = r->payload_len;
		e->spooled = ((const struct record_accept *)body)->spooled;
		hash_add(&file->entries, &e->node, hash_number(r->seq));
	}
	if (!e)
		return 0;	/* of a job whose beginning is lost */
	if (r->type == RECORD_FORGET) {
		drop_spooled(file, e);
		drop_entry(file, e);
		return 0;
	}
	e->bytes += record_size(r);
	file->live += record_size(r);
	if (r->type == RECORD_END && !e->ended) {
		e->ended = true;
		e->bytes -= e->payload_len;
		file->live -= e->payload_len;
		e->payload_len = 0;
		drop_spooled(file, e);
	}
	return 0;
}

/* ---- reading ---- */

static uint32_t body_min(uint16_t type)
{
	switch (type) {
	case RECORD_ACCEPT:
		return sizeof(struct record_accept);
	case RECORD_PART:
		return sizeof(struct record_part);
	case RECORD_END:
		return sizeof(struct record_end);
	case RECORD_FORGET:
		return 0;
	case RECORD_DEATHS:
		return sizeof(struct record_deaths);
	}
	return UINT32_MAX;
}

/* A variable tail must be what is left of the body. */
static bool tail_fits(const struct record *r, const void *body)
{
	uint32_t left = r->body_len - body_min(r->type);

	if (r->type == RECORD_ACCEPT)
		return ((const struct record_accept *)body)->id_len == left;
	if (r->type == RECORD_END)
		return ((const struct record_end *)body)->text_len == left;
	return left == 0;
}

/* Is there a whole record at p, with left bytes to the end of the file? */
static bool record_at(const uint8_t *p, uint64_t left, const uint8_t *key, struct record *r)
{
	uint8_t check[RECORD_CHECK_SIZE];

	if (left < sizeof(*r))
		return false;
	memcpy(r, p, sizeof(*r));
	if (r->magic != RECORD_MAGIC || r->version || r->body_len > RECORD_BODY_MAX)
		return false;
	if (r->body_len < body_min(r->type) || (r->payload_len && r->type != RECORD_ACCEPT))
		return false;
	if (r->payload_len > left || record_size(r) > left)
		return false;
	record_check(r, p + sizeof(*r), key, check);
	return !memcmp(r->check, check, sizeof(check)) && tail_fits(r, p + sizeof(*r));
}

/* Visits every whole record up to size; *end: behind the last one; *damaged: gaps. */
static int scan(const uint8_t *base, uint64_t size, const uint8_t *key, journal_visit visit,
		void *ctx, uint64_t *end, uint64_t *damaged)
{
	uint64_t pos = JOURNAL_HEAD_SIZE, gap = 0;
	struct record r;
	int err;

	*end = pos;
	while (pos + sizeof(r) <= size) {
		if (!record_at(base + pos, size - pos, key, &r)) {
			gap = gap ? gap : pos;
			pos += 8;
			continue;
		}
		*damaged += gap != 0;
		gap = 0;
		err = visit(ctx, &r, base + pos + sizeof(r), base + pos + sizeof(r) + r.body_len);
		if (err)
			return err;
		pos += record_size(&r);
		*end = pos;
	}
	return 0;
}

static int map_file(int fd, uint64_t size, const uint8_t **base)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	*base = p;
	return 0;
}

static int note_visit(void *ctx, const struct record *r, const void *body, const void *payload)
{
	return note_record(ctx, r, body);
}

struct live_visit {
	struct journal_file *file;
	journal_visit visit;
	void *ctx;
};

static int live_visit(void *ctx, const struct record *r, const void *body, const void *payload)
{
	struct live_visit *v = ctx;

	if (r->type == RECORD_FORGET || !journal_file_entry(v->file, r->seq))
		return 0;
	return v->visit(v->ctx, r, body, payload);
}

int journal_file_read(struct journal_file *file, journal_visit visit, void *ctx)
{
	struct live_visit v = { .file = file, .visit = visit, .ctx = ctx };
	uint64_t end, damaged = 0;
	const uint8_t *base = NULL;
	int err;

	err = map_file(file->fd, file->size, &base);
	if (err)
		return err;
	err = scan(base, file->size, file->key, live_visit, &v, &end, &damaged);
	munmap((void *)base, file->size);
	return err;
}

/* ---- opening ---- */

void journal_head_fill(struct journal_head *head, const uint8_t key[JOURNAL_KEY_SIZE])
{
	uint8_t digest[SHA256_SIZE];
	int i;

	sha256(digest, key, JOURNAL_KEY_SIZE);
	memcpy(head->name, JOURNAL_NAME, sizeof(head->name));
	for (i = 0; i < 2; i++) {
		memcpy(head->copy[i].key, key, sizeof(head->copy[i].key));
		memcpy(head->copy[i].check, digest, sizeof(head->copy[i].check));
	}
}

static int read_head(struct journal_file *file, const struct journal_head *head)
{
	uint8_t digest[SHA256_SIZE];
	int i;

	if (memcmp(head->name, JOURNAL_NAME, sizeof(head->name)))
		return -EMEDIUMTYPE;
	for (i = 0; i < 2; i++) {
		sha256(digest, head->copy[i].key, sizeof(head->copy[i].key));
		if (memcmp(digest, head->copy[i].check, sizeof(head->copy[i].check))) {
			file->damaged++;
			continue;
		}
		memcpy(file->key, head->copy[i].key, sizeof(file->key));
		return 0;
	}
	return -EBADMSG;
}

int journal_write_head(int fd, const uint8_t key[JOURNAL_KEY_SIZE])
{
	struct journal_head head;

	journal_head_fill(&head, key);
	if (pwrite(fd, &head, sizeof(head), 0) != sizeof(head))
		return errno ? -errno : -EIO;
	return fdatasync(fd) < 0 ? -errno : 0;
}

/* A new file, or one that was cut off at its birth; what else is there is not ours. */
static int make(struct journal_file *file, uint64_t size)
{
	char there[JOURNAL_NAME_SIZE];
	size_t len = size < sizeof(there) ? size : sizeof(there);

	if (pread(file->fd, there, len, 0) != (ssize_t)len)
		return errno ? -errno : -EIO;
	if (memcmp(there, JOURNAL_NAME, len))
		return -EMEDIUMTYPE;
	if (getrandom(file->key, sizeof(file->key), 0) != sizeof(file->key))
		return errno ? -errno : -EIO;
	file->size = JOURNAL_HEAD_SIZE;
	return journal_write_head(file->fd, file->key);
}

static int load(struct journal_file *file)
{
	const uint8_t *base = NULL;
	uint64_t end = 0;
	struct stat st;
	int err;

	if (fstat(file->fd, &st) < 0)
		return -errno;
	if (st.st_size < (off_t)JOURNAL_HEAD_SIZE)
		return make(file, st.st_size);
	err = map_file(file->fd, st.st_size, &base);
	if (err)
		return err;
	err = read_head(file, (const struct journal_head *)base);
	if (!err)
		err = scan(base, st.st_size, file->key, note_visit, file, &end, &file->damaged);
	munmap((void *)base, st.st_size);
	if (err)
		return err;
	file->size = end;
	if (end != (uint64_t)st.st_size) {
		file->damaged++;
		if (ftruncate(file->fd, end) < 0)
			return -errno;
	}
	return 0;
}

int journal_file_open(struct journal_file *file, int dir_fd, const char **what)
{
	int err;

	memset(file, 0, sizeof(*file));
	file->dir_fd = dir_fd;
	*what = "journal";
	err = hash_init(&file->entries);
	if (err)
		return err;
	*what = "requests";
	if (mkdirat(dir_fd, "requests", 0700) < 0 && errno != EEXIST) {
		err = -errno;
		goto err_fini_entries;
	}
	file->requests_fd = openat(dir_fd, "requests", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->requests_fd < 0) {
		err = -errno;
		goto err_fini_entries;
	}
	*what = "journal";
	file->fd = openat(dir_fd, "journal", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file->fd < 0) {
		err = -errno;
		goto err_close_requests;
	}
	err = load(file);
	if (!err && fsync(dir_fd) < 0)
		err = -errno;
	if (!err)
		return 0;
	close(file->fd);
err_close_requests:
	close(file->requests_fd);
err_fini_entries:
	hash_fini(&file->entries);
	return err;
}

void journal_file_close(struct journal_file *file)
{
	size_t i;

	for (i = 0; i < file->entries.n_slots; i++) {
		struct hash_node *node = file->entries.slots[i], *next;

		for (; node; node = next) {
			next = node->next;
			free(list_entry(node, struct journal_entry, node));
		}
	}
	hash_fini(&file->entries);
	free(file->unneeded);
	close(file->fd);
	close(file->requests_fd);
}

/* ---- writing ---- */

static int write_all(int fd, const void *data, size_t len, uint64_t *pos)
{
	const uint8_t *p = data;
	ssize_t n;

	while (len) {
		n = pwrite(fd, p, len, *pos);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		p += n;
		len -= n;
		*pos += n;
	}
	return 0;
}

/* From the start of in to *pos of out; out's own position is lost. */
static int copy_fd(int out, int in, uint64_t len, uint64_t *pos)
{
	off_t from = 0;
	ssize_t n;

	if (lseek(out, *pos, SEEK_SET) < 0)
		return -errno;
	while (len) {
		n = sendfile(out, in, &from, len > (1 << 30) ? 1 << 30 : len);
		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		if (n == 0)
			return -EIO;	/* in is shorter than it was said to be */
		len -= n;
		*pos += n;
	}
	return 0;
}

static int write_record(int fd, const struct record *r, const void *body, uint64_t *pos)
{
	uint8_t buf[sizeof(*r) + RECORD_BODY_MAX + 8] = { 0 };
	size_t len = sizeof(*r) + r->body_len;

	memcpy(buf, r, sizeof(*r));
	memcpy(buf + sizeof(*r), body, r->body_len);
	if (!r->payload_len)
		len = pad8(len);
	return write_all(fd, buf, len, pos);
}

int journal_write_record(int fd, const struct record *r, const void *body, const void *payload,
			 uint64_t *pos)
{
	static const uint8_t zeros[8];
	int err;

	err = write_record(fd, r, body, pos);
	if (!err && r->payload_len)
		err = write_all(fd, payload, r->payload_len, pos);
	if (!err)
		err = write_all(fd, zeros, pad8(*pos) - *pos, pos);
	return err;
}

int journal_file_append(struct journal_file *file, const struct record *r, const void *body,
			int payload_fd)
{
	uint64_t pos = file->size;
	int err;

	err = write_record(file->fd, r, body, &pos);
	if (!err && r->payload_len)
		err = copy_fd(file->fd, payload_fd, r->payload_len, &pos);
	/* the padding need not be there until another record follows, but then it is zero */
	if (!err && ftruncate(file->fd, file->size + record_size(r)) < 0)
		err = -errno;
	if (!err)
		err = note_record(file, r, body);
	if (err) {
		/* what is left of it is overwritten by the next record, or cut off at a start */
		if (ftruncate(file->fd, file->size) < 0)
			file->damaged++;
		return err;
	}
	file->size += record_size(r);
	return 0;
}

int journal_file_sync(struct journal_file *file)
{
	if (fdatasync(file->fd) < 0)
		return -errno;
	unlink_unneeded(file);
	return 0;
}

int journal_file_spool(struct journal_file *file, uint64_t seq, int request_fd, uint64_t bytes)
{
	char name[SEQ_NAME];
	uint64_t pos = 0;
	int fd, err;

	needed_again(file, seq);
	spool_name(name, seq);
	fd = openat(file->requests_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	err = copy_fd(fd, request_fd, bytes, &pos);
	if (!err && fdatasync(fd) < 0)
		err = -errno;
	close(fd);
	if (!err && fsync(file->requests_fd) < 0)
		err = -errno;
	if (err)
		unlinkat(file->requests_fd, name, 0);
	return err;
}

int journal_file_spooled(const struct journal_file *file, uint64_t seq)
{
	char name[SEQ_NAME];
	int fd;

	spool_name(name, seq);
	fd = openat(file->requests_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

void journal_file_sweep(struct journal_file *file)
{
	int fd = openat(file->requests_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct journal_entry *e;
	struct dirent *de;
	unsigned long long seq;
	DIR *dir;

	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return;
	}
	while ((de = readdir(dir))) {
		if (strlen(de->d_name) != 16 || sscanf(de->d_name, "%16llx", &seq) != 1)
			continue;
		e = journal_file_entry(file, seq);
		if (!e || !e->spooled)
			unlinkat(file->requests_fd, de->d_name, 0);
	}
	closedir(dir);
}

/* ---- compaction ---- */

struct compaction {
	struct journal_file *file;
	int fd;
	uint64_t pos;
};

static int compact_visit(void *ctx, const struct record *r, const void *body,
			 const void *payload)
{
	struct compaction *c = ctx;
	const struct journal_entry *e = journal_file_entry(c->file, r->seq);
	struct record copy = *r;

	if (r->type == RECORD_ACCEPT && e->ended) {	/* its payload is not needed any more */
		copy.payload_len = 0;
		record_seal(&copy, body, c->file->key);
	}
	return journal_write_record(c->fd, &copy, body, payload, &c->pos);
}

int journal_file_compact(struct journal_file *file)
{
	struct compaction c = { .file = file, .pos = JOURNAL_HEAD_SIZE };
	int err;

	c.fd = openat(file->dir_fd, "journal.new", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (c.fd < 0)
		return -errno;
	err = journal_write_head(c.fd, file->key);
	if (!err)
		err = journal_file_read(file, compact_visit, &c);
	if (!err && fdatasync(c.fd) < 0)
		err = -errno;
	if (!err && renameat(file->dir_fd, "journal.new", file->dir_fd, "journal") < 0)
		err = -errno;
	if (err) {
		close(c.fd);
		unlinkat(file->dir_fd, "journal.new", 0);
		return err;
	}
	/* from here on the new file has the name, whatever comes: the old one is lost */
	close(file->fd);
	file->fd = c.fd;
	file->size = c.pos;
	file->live = c.pos - JOURNAL_HEAD_SIZE;
	return fsync(file->dir_fd) < 0 ? -errno : 0;
}

bool journal_file_wasteful(const struct journal_file *file, uint64_t slack)
{
	return file->size > slack && file->live < file->size / 2;
}
