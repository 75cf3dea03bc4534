/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm_job.c - the buckets of one block: sort, sum, and reduce */
#include <string.h>

#include "gpu/cpu/msm_impl.h"

static size_t align64(size_t n)
{
	return (n + 63) & ~(size_t)63;
}

static size_t max_lists(size_t max_entries)
{
	return MSM_SLOTS + 2 * (max_entries / MSM_JOB_LIST);
}

/* Gives every part its place in mem, or only counts when mem is NULL. */
static size_t work_layout(struct msm_work *w, const struct msm_kernel *k, size_t max_entries,
			  uint8_t *mem)
{
	size_t at = 0, lists = max_lists(max_entries);
	unsigned int i;

#define PLACE(field, size) do {						\
		w->field = mem ? (void *)(mem + at) : NULL;		\
		at += align64(size);					\
	} while (0)
	PLACE(kernel, k->scratch_size);
	PLACE(entry, max_entries * sizeof(uint32_t));
	PLACE(start, (MSM_SLOTS + 1) * sizeof(uint32_t));
	PLACE(count, lists * sizeof(uint32_t));
	PLACE(pos, lists * sizeof(uint32_t));
	PLACE(dest, lists * sizeof(uint32_t));
	PLACE(a, lists * sizeof(uint32_t));
	PLACE(b, lists * sizeof(uint32_t));
	for (i = 0; i < 2; i++)
		PLACE(sums[i], (MSM_SLOTS + lists) * k->sum_size);
#undef PLACE
	w->max_entries = max_entries;
	w->max_lists = lists;
	return at;
}

uint64_t msm_work_size(const struct msm_kernel *k, size_t max_entries)
{
	struct msm_work w;

	/* whole huge pages, so that threads do not share one */
	return (work_layout(&w, k, max_entries, NULL) + (1 << 21) - 1) & ~(uint64_t)((1 << 21) - 1);
}

void msm_work_init(struct msm_work *w, const struct msm_kernel *k, size_t max_entries, void *mem)
{
	work_layout(w, k, max_entries, mem);
}

/* Counting sort of the entries by bucket. Returns how many there are. */
static size_t sort_entries(struct msm_work *w, const struct msm_segment *segment, size_t n_segments,
			   size_t n_buckets)
{
	uint32_t *start = w->start, at = 0;
	size_t i, j;

	memset(start, 0, (n_buckets + 1) * sizeof(*start));
	for (i = 0; i < n_segments; i++)
		for (j = 0; j < segment[i].n; j++)
			start[segment[i].key[j]]++;
	for (i = 0; i < n_buckets; i++) {
		uint32_t n = start[i];

		start[i] = at;
		at += n;
	}
	for (i = 0; i < n_segments; i++)
		for (j = 0; j < segment[i].n; j++)
			w->entry[start[segment[i].key[j]]++] = segment[i].entry[j];
	/* each start is now the end of its bucket: the start of the next */
	for (i = n_buckets; i > 0; i--)
		start[i] = start[i - 1];
	start[0] = 0;
	return at;
}

static void sum_lists(struct msm_work *w, const struct msm_kernel *k, const void *points,
		      size_t n_lists, size_t step)
{
	size_t at;

	for (at = 0; at < n_lists; at += k->best_lists) {
		struct msm_lists l = {
			.entry = w->entry, .pos = w->pos + at, .count = w->count + at,
			.dest = w->dest + at, .step = step,
			.n = n_lists - at < k->best_lists ? n_lists - at : k->best_lists,
		};

		tpool_pass(w->pool, w->thread);
		k->sum_lists(w->kernel, points, &l, w->sums[0]);
	}
}

/*
 * Adds up the pieces of cut buckets: bucket heavy[i] has n_pieces[i] of them, one
 * behind another from sum MSM_SLOTS of sums[0] on.
 */
static void join_pieces(struct msm_work *w, const struct msm_kernel *k, const uint32_t *heavy,
			uint32_t *n_pieces, size_t n_heavy)
{
	size_t size = k->sum_size, i, j, from, pairs, total;
	uint8_t *src = w->sums[0] + MSM_SLOTS * size, *dst = w->sums[1] + MSM_SLOTS * size, *t;
	bool more = true;

	while (more) {
		more = false;
		for (i = total = 0; i < n_heavy; i++)
			total += n_pieces[i];
		/* what an odd one out is added to */
		k->clear(src + total * size, 1);
		for (i = from = pairs = 0; i < n_heavy; i++) {
			for (j = 0; j < n_pieces[i]; j += 2) {
				w->a[pairs] = from + j;
				w->b[pairs++] = j + 1 < n_pieces[i] ? from + j + 1 : total;
			}
			from += n_pieces[i];
			n_pieces[i] = (n_pieces[i] + 1) / 2;
			more |= n_pieces[i] > 1;
		}
		k->add_pairs(w->kernel, dst, src, w->a, w->b, pairs);
		t = src;
		src = dst;
		dst = t;
	}
	for (i = 0; i < n_heavy; i++)
		memcpy(w->sums[0] + heavy[i] * size, src + i * size, size);
}

/*
 * sums[0] holds n_windows << levels buckets.  Halving a list adds its elements
 * in pairs.  Level k halves what is there, and the odd elements that it found
 * in the list of buckets become a list of their own: their sum is that of
 * the buckets with bit k set.
 */
static void reduce(struct msm_work *w, const struct msm_kernel *k, unsigned int levels,
		   size_t n_windows)
{
	size_t size = k->sum_size, n = n_windows << levels, lists = 1, i;
	uint8_t *src = w->sums[0], *dst = w->sums[1], *t;
	unsigned int level;

	for (level = 0; level < levels; level++, lists++, n /= 2) {
		k->add_pairs(w->kernel, dst, src, NULL, NULL, lists * n / 2);
		for (i = 0; i < n / 2; i++)
			memcpy(dst + (lists * n / 2 + i) * size, src + (2 * i + 1) * size, size);
		t = src;
		src = dst;
		dst = t;
	}
	if (src != w->sums[0])
		memcpy(w->sums[0], src, lists * n * size);
}

/* Lists for the sorted buckets, the longest first; pieces for those above cap. */
static size_t make_lists(struct msm_work *w, size_t n_buckets, uint32_t cap, uint32_t *heavy,
			 uint32_t *n_pieces, size_t *n_heavy)
{
	uint32_t *place = w->b, piece = 0;
	size_t i, n_lists, n;

	memset(place, 0, (cap + 1) * sizeof(*place));
	for (i = 0; i < n_buckets; i++) {
		n = w->start[i + 1] - w->start[i];
		place[cap] += n / cap;
		if (n % cap)
			place[n % cap]++;
	}
	for (i = cap, n_lists = 0; i > 0; i--) {
		n = place[i];
		place[i] = n_lists;
		n_lists += n;
	}
	*n_heavy = 0;
	for (i = 0; i < n_buckets; i++) {
		uint32_t pos = w->start[i];

		n = w->start[i + 1] - pos;
		if (n > cap) {
			heavy[*n_heavy] = i;
			n_pieces[(*n_heavy)++] = (n + cap - 1) / cap;
		}
		for (bool cut = n > cap; n;) {
			uint32_t now = n < cap ? n : cap, at = place[now]++;

			w->pos[at] = pos;
			w->count[at] = now;
			w->dest[at] = cut ? MSM_SLOTS + piece++ : i;
			pos += now;
			n -= now;
		}
	}
	return n_lists;
}

void msm_job_buckets(struct msm_work *w, const struct msm_kernel *k, const void *points,
		     const struct msm_segment *segment, size_t n_segments,
		     unsigned int log_buckets, unsigned int n_windows)
{
	size_t n_buckets = (size_t)n_windows << log_buckets, total, used, i, n_lists, n_heavy, cap;
	uint32_t heavy[MSM_SLOTS], n_pieces[MSM_SLOTS];

	total = sort_entries(w, segment, n_segments, n_buckets);
	k->clear(w->sums[0], n_buckets);
	for (i = used = 0; i < n_buckets; i++)
		used += w->start[i + 1] != w->start[i];
	if (used) {
		/* long lists end in rounds of few additions; enough lists make large rounds */
		cap = 2 * (total + used - 1) / used;
		if (cap > total / (MSM_SLOTS / 2))
			cap = total / (MSM_SLOTS / 2);
		if (cap < MSM_JOB_LIST)
			cap = MSM_JOB_LIST;
		n_lists = make_lists(w, n_buckets, cap, heavy, n_pieces, &n_heavy);
		sum_lists(w, k, points, n_lists, 1);
		if (n_heavy)
			join_pieces(w, k, heavy, n_pieces, n_heavy);
	}
	reduce(w, k, log_buckets, n_windows);
}

void msm_job_plain(struct msm_work *w, const struct msm_kernel *k, const void *points, size_t n)
{
	size_t i, lists = 1, size = k->sum_size;
	uint8_t *src = w->sums[0], *dst = w->sums[1], *t;

	k->clear(w->sums[0], 1);
	if (!n)
		return;
	while (2 * lists <= k->best_lists && 16 * lists <= n)
		lists *= 2;
	/* list i has every lists-th entry: points are read in order */
	for (i = 0; i < lists; i++) {
		w->pos[i] = i;
		w->count[i] = (n - i + lists - 1) / lists;
		w->dest[i] = i;
	}
	sum_lists(w, k, points, lists, lists);
	for (; lists > 1; lists /= 2) {
		k->add_pairs(w->kernel, dst, src, NULL, NULL, lists / 2);
		t = src;
		src = dst;
		dst = t;
	}
	if (src != w->sums[0])
		memcpy(w->sums[0], src, size);
}

void msm_job_result(const struct msm_work *w, const struct msm_kernel *k, size_t i, void *affine)
{
	k->sum_get(w->sums[0] + i * k->sum_size, affine);
}
