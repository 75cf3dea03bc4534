/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* submit.c - a SubmitProofRequest from the wire to a request file */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/text.h"
#include "plugin/descriptors.h"
#include "plugin/request.h"
#include "plugin/submit.h"

#define IOV_BATCH 512
#define BLOB_ALIGN 64
#define BESIDE_MIN (1u << 20)	/* bytes of a message that are worth a thread */

/* A place in the pieces of the message. */
struct stream {
	const struct iovec *iov;
	int n_iov, i;
	size_t off;		/* within iov[i] */
	uint64_t pos, end;	/* counted over all pieces */
};

struct range {
	struct stream at;	/* where it begins */
	uint64_t len;
};

/* The fields as they came. */
struct fields {
	struct submission *sub;
	struct range request_id, vanilla_proof, randomness;
	struct range comm_r_old, comm_r_new, comm_d_new;
	struct range *vanilla_proofs;
	uint64_t n_vanilla_proofs, n_allocated;
	bool seen;		/* a ProveRequest had a submit */
};

static bool stream_step(struct stream *s, uint64_t n)
{
	if (n > s->end - s->pos)
		return false;
	s->pos += n;
	while (n) {
		size_t left = s->iov[s->i].iov_len - s->off;

		if (n < left) {
			s->off += n;
			break;
		}
		n -= left;
		s->i++;
		s->off = 0;
	}
	return true;
}

static bool stream_byte(struct stream *s, uint8_t *byte)
{
	if (s->pos == s->end)
		return false;
	while (s->off == s->iov[s->i].iov_len) {
		s->i++;
		s->off = 0;
	}
	*byte = ((const uint8_t *)s->iov[s->i].iov_base)[s->off];
	s->off++;
	s->pos++;
	return true;
}

static bool stream_varint(struct stream *s, uint64_t *value)
{
	uint64_t v = 0;
	uint8_t byte;
	int shift;

	for (shift = 0; shift < 70; shift += 7) {
		if (!stream_byte(s, &byte))
			return false;
		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80)) {
			*value = v;
			return true;
		}
	}
	return false;
}

/* The next piece of a range; false at its end. */
static bool range_next(struct range *r, struct iovec *piece)
{
	struct stream *s = &r->at;
	size_t left;

	if (!r->len)
		return false;
	while (s->off == s->iov[s->i].iov_len) {
		s->i++;
		s->off = 0;
	}
	left = s->iov[s->i].iov_len - s->off;
	if (left > r->len)
		left = r->len;
	piece->iov_base = (uint8_t *)s->iov[s->i].iov_base + s->off;
	piece->iov_len = left;
	s->off += left;
	r->len -= left;
	return true;
}

static int add_vanilla_proof(struct fields *f, const struct range *r)
{
	if (f->n_vanilla_proofs == REQUEST_PROOFS_MAX)
		return -EMSGSIZE;
	if (f->n_vanilla_proofs == f->n_allocated) {
		uint64_t n = f->n_allocated ? 2 * f->n_allocated : 32;
		struct range *more = reallocarray(f->vanilla_proofs, n, sizeof(*more));

		if (!more)
			return -ENOMEM;
		f->vanilla_proofs = more;
		f->n_allocated = n;
	}
	f->vanilla_proofs[f->n_vanilla_proofs++] = *r;
	return 0;
}

static void set_number(struct submission *sub, uint64_t field, uint64_t value)
{
	switch (field) {
	case 2:
		sub->kind = value;
		break;
	case 3:
		sub->sector_size = value;
		break;
	case 4:
		sub->registered_proof = value;
		break;
	case 5:
		sub->priority = value;
		break;
	case 20:
		sub->sector_number = value;
		break;
	case 21:
		sub->miner_id = value;
		break;
	case 23:
		sub->partition_index = value;
		break;
	}
}

static int set_bytes(struct fields *f, uint64_t field, const struct range *r)
{
	switch (field) {
	case 1:
		f->request_id = *r;
		break;
	case 10:
		f->vanilla_proof = *r;
		break;
	case 11:
		return add_vanilla_proof(f, r);
	case 22:
		f->randomness = *r;
		break;
	case 30:
		f->comm_r_old = *r;
		break;
	case 31:
		f->comm_r_new = *r;
		break;
	case 32:
		f->comm_d_new = *r;
		break;
	}
	return 0;
}

static int read_field(struct fields *f, struct stream *s, int nested);

static int read_message(struct fields *f, struct stream *s, int nested)
{
	int err;

	while (s->pos < s->end) {
		err = read_field(f, s, nested);
		if (err)
			return err;
	}
	return 0;
}

/* One field; a field of a wire type that is not its own is unknown, and skipped. */
static int read_field(struct fields *f, struct stream *s, int nested)
{
	uint64_t key, value;
	struct stream inner;
	struct range r;

	if (!stream_varint(s, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
		return -EINVAL;
	switch (key & 7) {
	case 0:
		if (!stream_varint(s, &value))
			return -EINVAL;
		if (!nested)
			set_number(f->sub, key >> 3, value);
		return 0;
	case 1:
		return stream_step(s, 8) ? 0 : -EINVAL;
	case 5:
		return stream_step(s, 4) ? 0 : -EINVAL;
	case 2:
		if (!stream_varint(s, &value))
			return -EINVAL;
		r.at = *s;
		r.len = value;
		if (!stream_step(s, value))
			return -EINVAL;
		if (!nested)
			return set_bytes(f, key >> 3, &r);
		if (key >> 3 != 1)
			return 0;
		f->seen = true;
		inner = r.at;
		inner.end = inner.pos + value;
		return read_message(f, &inner, 0);
	}
	return -EINVAL;
}

/* A label: what cannot be printed becomes '?', what is too long is cut at a character. */
static void read_label(char label[SUBMIT_ID_SIZE], struct range r)
{
	struct iovec piece;
	size_t n = 0;

	while (n < SUBMIT_ID_SIZE - 1 && range_next(&r, &piece)) {
		if (piece.iov_len > SUBMIT_ID_SIZE - 1 - n)
			piece.iov_len = SUBMIT_ID_SIZE - 1 - n;
		memcpy(label + n, piece.iov_base, piece.iov_len);
		n += piece.iov_len;
	}
	label[n] = '\0';
	text_clean(label);
}

/* ---- identity ---- */

static int digest_number(EVP_MD_CTX *md, uint64_t value)
{
	uint8_t le[8];
	int i;

	for (i = 0; i < 8; i++)
		le[i] = value >> (8 * i);
	return EVP_DigestUpdate(md, le, sizeof(le));
}

static int digest_header(EVP_MD_CTX *md, uint32_t kind, uint64_t registered_proof,
			 uint64_t sector_size, uint64_t sector_number, uint64_t miner_id,
			 uint32_t partition_index)
{
	static const char domain[16] = "cuzk.v1 job";

	return EVP_DigestInit_ex(md, EVP_sha256(), NULL) &&
	       EVP_DigestUpdate(md, domain, sizeof(domain)) && digest_number(md, kind) &&
	       digest_number(md, registered_proof) && digest_number(md, sector_size) &&
	       digest_number(md, sector_number) && digest_number(md, miner_id) &&
	       digest_number(md, partition_index);
}

static int digest_range(EVP_MD_CTX *md, struct range r)
{
	struct iovec piece;

	if (!digest_number(md, r.len))
		return 0;
	while (range_next(&r, &piece))
		if (!EVP_DigestUpdate(md, piece.iov_base, piece.iov_len))
			return 0;
	return 1;
}

static int digest_blob(EVP_MD_CTX *md, const struct cuzk_blob *blob)
{
	return digest_number(md, blob->len) && EVP_DigestUpdate(md, blob->data, blob->len);
}

static int digest_fields(const struct fields *f)
{
	const struct submission *sub = f->sub;
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint64_t i;
	int good;

	if (!md)
		return -ENOMEM;
	good = digest_header(md, sub->kind, sub->registered_proof, sub->sector_size,
			     sub->sector_number, sub->miner_id, sub->partition_index) &&
	       digest_range(md, f->randomness) && digest_range(md, f->comm_r_old) &&
	       digest_range(md, f->comm_r_new) && digest_range(md, f->comm_d_new) &&
	       digest_range(md, f->vanilla_proof) && digest_number(md, f->n_vanilla_proofs);
	for (i = 0; good && i < f->n_vanilla_proofs; i++)
		good = digest_range(md, f->vanilla_proofs[i]);
	good = good && EVP_DigestFinal_ex(md, f->sub->digest, NULL);
	EVP_MD_CTX_free(md);
	return good ? 0 : -ENOMEM;
}

int submission_digest(const struct cuzk_request *req, uint8_t digest[SUBMIT_DIGEST_SIZE])
{
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	uint64_t i;
	int good;

	if (!md)
		return -ENOMEM;
	good = digest_header(md, req->kind, req->registered_proof, req->sector_size,
			     req->sector_number, req->miner_id, req->partition_index) &&
	       digest_blob(md, &req->randomness) && digest_blob(md, &req->comm_r_old) &&
	       digest_blob(md, &req->comm_r_new) && digest_blob(md, &req->comm_d_new) &&
	       digest_blob(md, &req->vanilla_proof) && digest_number(md, req->n_vanilla_proofs);
	for (i = 0; good && i < req->n_vanilla_proofs; i++)
		good = digest_blob(md, &req->vanilla_proofs[i]);
	good = good && EVP_DigestFinal_ex(md, digest, NULL);
	EVP_MD_CTX_free(md);
	return good ? 0 : -ENOMEM;
}

/* ---- the request file ---- */

/* Collects pieces and writes them in as few calls as possible. */
struct writer {
	int fd, n;
	uint64_t pos;		/* of the file, after what is collected */
	struct iovec iov[IOV_BATCH];
};

static int writer_flush(struct writer *w)
{
	struct iovec *iov = w->iov;
	ssize_t len;

	while (w->n) {
		len = writev(w->fd, iov, w->n);
		if (len < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		while (w->n && (size_t)len >= iov->iov_len) {
			len -= iov->iov_len;
			iov++;
			w->n--;
		}
		if (w->n) {
			iov->iov_base = (uint8_t *)iov->iov_base + len;
			iov->iov_len -= len;
		}
	}
	return 0;
}

static int writer_add(struct writer *w, const void *data, size_t len)
{
	if (!len)
		return 0;
	if (w->n == IOV_BATCH) {
		int err = writer_flush(w);

		if (err)
			return err;
	}
	w->iov[w->n].iov_base = (void *)data;
	w->iov[w->n].iov_len = len;
	w->n++;
	w->pos += len;
	return 0;
}

static int writer_add_blob(struct writer *w, struct range r)
{
	static const uint8_t zeros[BLOB_ALIGN];
	struct iovec piece;
	int err;

	err = writer_add(w, zeros, -w->pos & (BLOB_ALIGN - 1));
	while (!err && range_next(&r, &piece))
		err = writer_add(w, piece.iov_base, piece.iov_len);
	return err;
}

static uint64_t place(uint64_t *pos, uint64_t len, struct request_range *out)
{
	*pos = (*pos + BLOB_ALIGN - 1) & ~(uint64_t)(BLOB_ALIGN - 1);
	out->offset = *pos;
	out->len = len;
	*pos += len;
	return *pos;
}

static int write_file(const struct fields *f, struct request_header *head,
		      struct request_range *ranges)
{
	const struct submission *sub = f->sub;
	struct writer *w;
	uint64_t i;
	int err;

	w = malloc(sizeof(*w));
	if (!w)
		return -ENOMEM;
	w->fd = sub->fd;
	w->n = 0;
	w->pos = 0;
	err = writer_add(w, head, sizeof(*head));
	if (!err)
		err = writer_add(w, ranges, f->n_vanilla_proofs * sizeof(*ranges));
	if (!err)
		err = writer_add_blob(w, f->vanilla_proof);
	if (!err)
		err = writer_add_blob(w, f->randomness);
	if (!err)
		err = writer_add_blob(w, f->comm_r_old);
	if (!err)
		err = writer_add_blob(w, f->comm_r_new);
	if (!err)
		err = writer_add_blob(w, f->comm_d_new);
	for (i = 0; !err && i < f->n_vanilla_proofs; i++)
		err = writer_add_blob(w, f->vanilla_proofs[i]);
	if (!err)
		err = writer_flush(w);
	free(w);
	return err;
}

static int pack(const struct fields *f)
{
	struct submission *sub = f->sub;
	struct request_range *ranges;
	struct request_header head = {
		.magic = REQUEST_MAGIC,
		.kind = sub->kind,
		.partition_index = sub->partition_index,
		.registered_proof = sub->registered_proof,
		.sector_size = sub->sector_size,
		.sector_number = sub->sector_number,
		.miner_id = sub->miner_id,
		.n_vanilla_proofs = f->n_vanilla_proofs,
	};
	uint64_t pos = sizeof(head) + f->n_vanilla_proofs * sizeof(*ranges), i;
	int err = -ENOMEM;

	ranges = calloc(f->n_vanilla_proofs + 1, sizeof(*ranges));
	if (!ranges)
		return -ENOMEM;
	place(&pos, f->vanilla_proof.len, &head.vanilla_proof);
	place(&pos, f->randomness.len, &head.randomness);
	place(&pos, f->comm_r_old.len, &head.comm_r_old);
	place(&pos, f->comm_r_new.len, &head.comm_r_new);
	place(&pos, f->comm_d_new.len, &head.comm_d_new);
	for (i = 0; i < f->n_vanilla_proofs; i++)
		place(&pos, f->vanilla_proofs[i].len, &ranges[i]);
	head.total = pos;
	sub->bytes = pos;
	if (pos > REQUEST_BYTES_MAX) {
		err = -EMSGSIZE;
		goto err_free_ranges;
	}
	sub->fd = memfd_create("cuzk-request", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (sub->fd < 0) {
		err = -errno;
		goto err_free_ranges;
	}
	if (descriptor_is_beyond(sub->fd, DESCRIPTORS_REQUESTS)) {
		err = -EMFILE;
		goto err_free_ranges;
	}
	err = write_file(f, &head, ranges);
	if (!err && ftruncate(sub->fd, pos) < 0)
		err = -errno;
	if (!err && fcntl(sub->fd, F_ADD_SEALS,
			  F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) < 0)
		err = -errno;
err_free_ranges:
	free(ranges);
	return err;
}

/* ---- all of it ---- */

struct packing {
	const struct fields *fields;
	int err;
};

static void *pack_main(void *arg)
{
	struct packing *p = arg;

	p->err = pack(p->fields);
	return NULL;
}

/*
 * The identity and the request file.  Each reads all of the message and they
 * write different fields of the submission, so the one is made beside the other.
 * The library gives a message only when it has all of it: neither can begin sooner.
 */
static int digest_and_pack(const struct fields *f, uint64_t len)
{
	struct packing packing = { .fields = f };
	pthread_t thread;
	int err;

	if (len < BESIDE_MIN || pthread_create(&thread, NULL, pack_main, &packing)) {
		err = digest_fields(f);
		return err ? err : pack(f);
	}
	err = digest_fields(f);
	pthread_join(thread, NULL);
	return packing.err ? packing.err : err;
}

uint32_t submission_default_priority(uint32_t kind)
{
	switch (kind) {
	case CUZK_KIND_WINNING_POST:
		return SUBMIT_PRIORITY_CRITICAL;
	case CUZK_KIND_WINDOW_POST:
		return SUBMIT_PRIORITY_HIGH;
	default:
		return SUBMIT_PRIORITY_NORMAL;
	}
}

static int check(struct fields *f, int nested, char text[SUBMIT_ERROR_TEXT])
{
	struct submission *sub = f->sub;

	if (nested && !f->seen) {
		snprintf(text, SUBMIT_ERROR_TEXT, "the request has no submit");
		return -ENOENT;
	}
	if (sub->kind == CUZK_KIND_UNSPECIFIED || sub->kind >= CUZK_KIND_COUNT) {
		snprintf(text, SUBMIT_ERROR_TEXT, "proof_kind %u: must be 1 to %u", sub->kind,
			 CUZK_KIND_COUNT - 1);
		return -EINVAL;
	}
	if (sub->priority > SUBMIT_PRIORITY_CRITICAL) {
		snprintf(text, SUBMIT_ERROR_TEXT, "priority %u: must be 0 to %u", sub->priority,
			 SUBMIT_PRIORITY_CRITICAL);
		return -EINVAL;
	}
	if (sub->priority == SUBMIT_PRIORITY_UNSPECIFIED)
		sub->priority = submission_default_priority(sub->kind);
	return 0;
}

static void explain(int err, char text[SUBMIT_ERROR_TEXT])
{
	if (err == -EINVAL)
		snprintf(text, SUBMIT_ERROR_TEXT, "the message is not a valid protocol buffer");
	else if (err == -EMSGSIZE)
		snprintf(text, SUBMIT_ERROR_TEXT, "more than %u vanilla proofs or %llu bytes",
			 REQUEST_PROOFS_MAX, REQUEST_BYTES_MAX);
	else if (err == -EMFILE || err == -ENFILE)
		snprintf(text, SUBMIT_ERROR_TEXT, "resource: service: too many files are open for one "
			 "request more; try again later");
	else
		snprintf(text, SUBMIT_ERROR_TEXT, "no memory for the request: %s", strerror(-err));
}

int submission_read(struct submission **out, const struct iovec *iov, int n_iov, int nested,
		    char text[SUBMIT_ERROR_TEXT])
{
	struct stream s = { .iov = iov, .n_iov = n_iov };
	struct fields f = { 0 };
	int err, i;

	for (i = 0; i < n_iov; i++)
		s.end += iov[i].iov_len;
	f.sub = calloc(1, sizeof(*f.sub));
	if (!f.sub) {
		explain(-ENOMEM, text);
		return -ENOMEM;
	}
	f.sub->fd = -1;
	err = read_message(&f, &s, nested);
	if (err) {
		explain(err, text);
		goto err_free;
	}
	err = check(&f, nested, text);
	if (err)
		goto err_free;
	read_label(f.sub->request_id, f.request_id);
	err = digest_and_pack(&f, s.end);
	if (err) {
		explain(err, text);
		goto err_free;
	}
	free(f.vanilla_proofs);
	*out = f.sub;
	return 0;

err_free:
	free(f.vanilla_proofs);
	submission_free(f.sub);
	return err;
}

void submission_free(struct submission *sub)
{
	if (!sub)
		return;
	if (sub->fd >= 0)
		close(sub->fd);
	free(sub);
}
