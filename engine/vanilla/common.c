/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* common.c - errors, faults and memory of the vanilla-proof readers */
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/vanilla/internal.h"

void fault_init(struct fault *f)
{
	pthread_mutex_init(&f->fault_lock, NULL);
	f->set = false;
	f->item = SIZE_MAX;
	f->text[0] = '\0';
}

void fault_fini(struct fault *f)
{
	pthread_mutex_destroy(&f->fault_lock);
}

void fault_set(struct fault *f, size_t item, const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&f->fault_lock);
	if (!f->set || item < f->item) {
		f->set = true;
		f->item = item;
		va_start(ap, fmt);
		vsnprintf(f->text, sizeof(f->text), fmt, ap);
		va_end(ap);
	}
	pthread_mutex_unlock(&f->fault_lock);
}

bool fault_before(struct fault *f, size_t item)
{
	bool before;

	pthread_mutex_lock(&f->fault_lock);
	before = f->set && f->item <= item;
	pthread_mutex_unlock(&f->fault_lock);
	return before;
}

int input_error(struct cuzk_error *err, const char *fmt, ...)
{
	va_list ap;

	err->cls = CUZK_ERROR_INPUT;
	va_start(ap, fmt);
	vsnprintf(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return -EINVAL;
}

int memory_error(struct cuzk_error *err, uint64_t bytes)
{
	err->cls = CUZK_ERROR_RESOURCE;
	snprintf(err->text, sizeof(err->text), "out of memory for the vanilla proof (%llu bytes)",
		 (unsigned long long)bytes);
	return -ENOMEM;
}

int arena_open(struct arena *a, size_t size)
{
	a->mem = calloc(1, size ? size : 1);
	if (!a->mem)
		return -ENOMEM;
	a->size = size;
	a->used = 0;
	return 0;
}

void *arena_take(struct arena *a, size_t size)
{
	void *p = a->mem + a->used;

	size = ARENA_ROUND(size);
	assert(size <= a->size - a->used);
	a->used += size;
	return p;
}

int request_fr(const struct cuzk_blob *blob, const char *name, struct fr *x,
	       struct cuzk_error *err)
{
	if (blob->len != 32 || !blob->data)
		return input_error(err, "%s: %zu bytes instead of 32", name, blob->len);
	if (fr_from_bytes_le(x, blob->data) < 0)
		return input_error(err, "%s: not below the field's modulus", name);
	return 0;
}
