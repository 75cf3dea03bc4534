/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* msm.c - sums of multiples of points: the plan, its phases and the end */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/cpu/msm_impl.h"

/* Scratch for the entries of the windows that are worked on at once. */
#define ENTRIES_BUDGET ((uint64_t)512 << 20)
/*
 * Windows at once are as few as keep every thread busy: their entries stay in
 * the cache, and fewer fresh pages are touched.
 */
#define JOBS_PER_THREAD 8
#define ENTRY_SIZE (sizeof(uint32_t) + sizeof(uint16_t))
#define LOG_SLOTS 12
#define SAMPLES 512

_Static_assert(MSM_SLOTS == 1 << LOG_SLOTS, "blocks are a power of two");

/* How the sum is cut up; depends only on sizes, but for n_windows. */
struct plan {
	struct msm_recode rc;
	unsigned int log_buckets;	/* of the widest window, in one block */
	unsigned int share;		/* windows in a block */
	size_t n_blocks;		/* of a window, when share is 1 */
	size_t chunk, n_chunks;		/* scalars */
	unsigned int group;		/* windows at once; a multiple of share, or all */
	size_t ones_chunk, n_ones_chunks;	/* bits */
	size_t max_entries;		/* of a job */
};

/* A job: one block of entries from some chunks, or a range of the bitmap. */
struct job {
	bool ones;
	unsigned int window, n_windows;
	size_t block;
	size_t chunk, n_chunks;
};

struct run {
	struct tpool *pool;
	const struct msm_points *points;
	const struct msm_kernel *kernel;
	const struct msm_curve *curve;
	const struct msm_scalars *what;
	struct plan plan;
	msm_digits_fn *digits;
	atomic_int err;

	/* of the group of windows in work */
	unsigned int first, n_windows;
	uint32_t *entry;		/* [window][scalar] */
	uint16_t *key;
	uint32_t *end;			/* [window][chunk][block]: where its entries end */
	struct job *job;
	size_t n_jobs;
	uint8_t *result;		/* per job: share + share * log_buckets affine points */
	size_t result_size;		/* of one job */

	uint8_t *work_mem;
	size_t work_size;
	uint32_t *digit;		/* per thread: [window][chunk] */
	size_t digit_size;		/* entries per thread */
	struct msm_segment *segment;	/* per thread */
	size_t n_segments;
};

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t div_up(size_t a, size_t b)
{
	return (a + b - 1) / b;
}

/*
 * The number of windows that needs the fewest additions: one for each entry and
 * two for each bucket.  bits is the mean length of a scalar.
 */
static unsigned int best_windows(size_t n, unsigned int bits)
{
	double best = 0;
	unsigned int w, best_w = 0;

	for (w = div_up(MSM_SCALAR_BITS, MSM_MAX_WIDTH); w <= MSM_MAX_WINDOWS; w++) {
		double c = (double)MSM_SCALAR_BITS / w;
		unsigned int wide = MSM_SCALAR_BITS % w, low = MSM_SCALAR_BITS / w;
		double entries = (double)n * (bits / c < 1 ? 1 : bits / c);
		double buckets = (double)wide * (1u << low) + (double)(w - wide) * (1u << (low - 1));
		double cost = entries + 2.2 * buckets;

		if (!best_w || cost < best) {
			best = cost;
			best_w = w;
		}
	}
	return best_w;
}

static void plan_make(struct plan *p, size_t n, size_t n_ones, unsigned int n_windows,
		      unsigned int threads)
{
	uint64_t group;

	memset(p, 0, sizeof(*p));
	msm_recode_init(&p->rc, n_windows);
	p->log_buckets = p->rc.width[0] - 1;
	p->share = 1;
	p->n_blocks = 1;
	/* windows whose entries fit; one has to, however many scalars there are */
	group = n ? ENTRIES_BUDGET / ((uint64_t)ENTRY_SIZE * n) : 1;
	if (!group)
		group = 1;
	if (p->log_buckets > LOG_SLOTS) {
		p->n_blocks = (size_t)1 << (p->log_buckets - LOG_SLOTS);
		p->log_buckets = LOG_SLOTS;
	} else {
		p->share = min_size(min_size(16, n_windows), 1u << (LOG_SLOTS - p->log_buckets));
		p->share = min_size(p->share, group);
	}
	/* chunks: some for every thread, and long enough for all blocks of a window */
	p->chunk = min_size((size_t)1 << 14, div_up(div_up(n, 4 * threads), 1024) * 1024);
	if (p->chunk < p->n_blocks * 256)
		p->chunk = p->n_blocks * 256;
	if (!p->chunk)
		p->chunk = 1024;
	p->n_chunks = div_up(n, p->chunk);
	if (group > p->share * div_up(JOBS_PER_THREAD * threads, p->n_blocks))
		group = p->share * div_up(JOBS_PER_THREAD * threads, p->n_blocks);
	if (group < p->share)
		group = p->share;
	group -= group % p->share;
	p->group = group < n_windows ? group : n_windows;
	p->ones_chunk = (size_t)1 << 17;
	while (p->ones_chunk > (1 << 12) && n_ones / p->ones_chunk < 4 * threads)
		p->ones_chunk /= 2;
	p->n_ones_chunks = div_up(n_ones, p->ones_chunk);
	p->max_entries = MSM_JOB_ENTRIES;
	if (p->max_entries < p->chunk * p->share)
		p->max_entries = p->chunk * p->share;
}

/* ---- phase 1: digits, and the entries of each chunk by block ---- */

static bool chunk_indices_ok(const struct run *r, size_t first, size_t n)
{
	const uint32_t *index = r->what->index;
	size_t i;

	if (!index)
		return true;
	for (i = first; i < first + n; i++)
		if (index[i] >= r->points->n)
			return false;
	return true;
}

static void chunk_task(void *arg, size_t c, unsigned int thread)
{
	struct run *r = arg;
	const struct plan *p = &r->plan;
	const struct msm_scalars *what = r->what;
	size_t first = c * p->chunk, n = min_size(p->chunk, what->n - first), i, b;
	uint32_t *digit = r->digit + thread * r->digit_size;
	unsigned int w, key_shift = 0;

	if (!chunk_indices_ok(r, first, n) ||
	    !r->digits(&p->rc, what->scalar + first, n, r->first, r->n_windows, digit, p->chunk)) {
		atomic_store(&r->err, EINVAL);
		return;
	}
	for (w = 0; w < r->n_windows; w++) {
		const uint32_t *d = digit + w * p->chunk;
		uint32_t *end = r->end + (w * p->n_chunks + c) * p->n_blocks;
		uint32_t *entry = r->entry + w * what->n + first;
		uint16_t *key = r->key + w * what->n + first;
		uint32_t at = 0;

		key_shift = (w % p->share) << p->log_buckets;
		memset(end, 0, p->n_blocks * sizeof(*end));
		if (p->n_blocks > 1)
			for (i = 0; i < n; i++)
				if (d[i] & ~MSM_NEGATIVE)
					end[((d[i] & ~MSM_NEGATIVE) - 1) >> LOG_SLOTS]++;
		for (b = 0; b < p->n_blocks; b++) {
			uint32_t t = end[b];

			end[b] = at;
			at += t;
		}
		for (i = 0; i < n; i++) {
			uint32_t j = (d[i] & ~MSM_NEGATIVE) - 1;
			uint32_t point = what->index ? what->index[first + i] :
					 what->first + first + i;
			uint32_t *to;

			if (!(d[i] & ~MSM_NEGATIVE))
				continue;
			to = &end[j >> LOG_SLOTS];
			entry[*to] = point | (d[i] & MSM_NEGATIVE);
			key[*to] = (j & (MSM_SLOTS - 1)) + key_shift;
			(*to)++;
		}
	}
}

/* Segment of a window's block in a chunk. */
static struct msm_segment segment_of(const struct run *r, unsigned int w, size_t chunk,
				     size_t block)
{
	const struct plan *p = &r->plan;
	const uint32_t *end = r->end + (w * p->n_chunks + chunk) * p->n_blocks;
	size_t from = block ? end[block - 1] : 0, at = w * r->what->n + chunk * p->chunk + from;

	return (struct msm_segment){ r->entry + at, r->key + at, end[block] - from };
}

/* ---- phase 2: jobs ---- */

/* With out NULL only counts them. */
static size_t jobs_make(struct run *r, struct job *out, bool ones)
{
	const struct plan *p = &r->plan;
	unsigned int w, i, n_windows;
	size_t n = 0, b, c;

#define EMIT(...) do { if (out) out[n] = (struct job){ __VA_ARGS__ }; n++; } while (0)
	if (ones)
		for (c = 0; c < p->n_ones_chunks; c++)
			EMIT(.ones = true, .chunk = c);
	for (w = 0; w < r->n_windows; w += p->share) {
		n_windows = min_size(p->share, r->n_windows - w);
		for (b = 0; b < p->n_blocks; b++) {
			size_t total = 0, from = 0;

			for (c = 0; c < p->n_chunks; c++) {
				size_t add = 0;

				for (i = 0; i < n_windows; i++)
					add += segment_of(r, w + i, c, b).n;
				if (total && total + add > p->max_entries) {
					EMIT(.window = w, .n_windows = n_windows, .block = b,
					     .chunk = from, .n_chunks = c - from);
					total = 0;
				}
				if (!total)
					from = c;
				total += add;
			}
			if (total)
				EMIT(.window = w, .n_windows = n_windows, .block = b,
				     .chunk = from, .n_chunks = c - from);
		}
	}
#undef EMIT
	return n;
}

static void ones_job(struct run *r, const struct job *job, struct msm_work *work)
{
	const struct msm_scalars *what = r->what;
	size_t first = job->chunk * r->plan.ones_chunk, n = 0, i;
	size_t end = min_size(what->n_ones, first + r->plan.ones_chunk);

	for (i = first; i < end; i += 64) {
		uint64_t bits = what->ones[i / 64];

		if (end - i < 64)
			bits &= (1ull << (end - i)) - 1;
		for (; bits; bits &= bits - 1)
			work->entry[n++] = what->ones_first + i + __builtin_ctzll(bits);
	}
	msm_job_plain(work, r->kernel, r->points->data, n);
}

static void job_task(void *arg, size_t i, unsigned int thread)
{
	struct run *r = arg;
	const struct job *job = &r->job[i];
	uint8_t *result = r->result + i * r->result_size;
	struct msm_segment *segment = r->segment + thread * r->n_segments;
	struct msm_work work;
	size_t n = 0, c, n_results = 1;
	unsigned int w;

	msm_work_init(&work, r->kernel, r->plan.max_entries, r->work_mem + thread * r->work_size);
	work.pool = r->pool;
	work.thread = thread;
	if (job->ones) {
		ones_job(r, job, &work);
	} else {
		for (w = 0; w < job->n_windows; w++)
			for (c = job->chunk; c < job->chunk + job->n_chunks; c++)
				segment[n++] = segment_of(r, job->window + w, c, job->block);
		msm_job_buckets(&work, r->kernel, r->points->data, segment, n,
				r->plan.log_buckets, job->n_windows);
		n_results = (1 + r->plan.log_buckets) * job->n_windows;
	}
	for (c = 0; c < n_results; c++)
		msm_job_result(&work, r->kernel, c, result + c * r->curve->affine_size);
}

/* ---- phase 3: the jobs' results to the sum ---- */

union point {
	struct g1 g1;
	struct g2 g2;
};

/* sum += (j + 1) bucket j over one window of a job, from its totals and bits */
static void add_job_window(const struct run *r, const struct job *job, const uint8_t *result,
			   unsigned int i, union point *sum)
{
	const struct msm_curve *curve = r->curve;
	union point t;
	unsigned int k;

#define RESULT(k) (result + ((k) * job->n_windows + i) * curve->affine_size)
	curve->set_infinity(&t);
	for (k = r->plan.log_buckets; k > 0; k--) {
		curve->double_(&t, &t);
		curve->add_affine(&t, &t, RESULT(k));
	}
	curve->add(sum, sum, &t);
	curve->add_affine(sum, sum, RESULT(0));
#undef RESULT
}

/* Adds the group's windows to window_sum[first...], and the bitmap's points to *ones. */
static void group_finish(const struct run *r, union point *window_sum, union point *ones)
{
	const struct plan *p = &r->plan;
	const struct msm_curve *curve = r->curve;
	size_t j = 0, b, k;
	unsigned int i;

	for (; j < r->n_jobs && r->job[j].ones; j++)
		curve->add_affine(ones, ones, r->result + j * r->result_size);
	while (j < r->n_jobs) {
		/* the jobs of a window, or of windows that share a block, follow each other */
		unsigned int w = r->job[j].window;
		size_t from = j;

		for (; j < r->n_jobs && r->job[j].window == w; j++)
			for (i = 0; i < r->job[j].n_windows; i++)
				add_job_window(r, &r->job[j], r->result + j * r->result_size, i,
					       &window_sum[r->first + w + i]);
		if (p->n_blocks > 1) {
			/* sum of b * (total of block b), times the buckets of a block */
			union point run, sum;

			curve->set_infinity(&run);
			curve->set_infinity(&sum);
			for (k = j, b = p->n_blocks - 1; b > 0; b--) {
				for (; k > from && r->job[k - 1].block == b; k--)
					curve->add_affine(&run, &run,
							  r->result + (k - 1) * r->result_size);
				curve->add(&sum, &sum, &run);
			}
			for (b = 0; b < LOG_SLOTS; b++)
				curve->double_(&sum, &sum);
			curve->add(&window_sum[r->first + w], &window_sum[r->first + w], &sum);
		}
	}
}

/* ---- all of it ---- */

/* The mean length in bits of the scalars or their negatives, and how many are not zero. */
static void sample(const struct msm_scalars *what, unsigned int *bits, size_t *n)
{
	size_t step = what->n / SAMPLES + 1, i, used = 0, seen = 0, total = 0;
	int k;

	for (i = 0; i < what->n; i += step, seen++) {
		const uint64_t *l = what->scalar[i].l;

		for (k = 3; k >= 0 && !l[k]; k--)
			;
		if (k < 0)
			continue;
		used++;
		/* r - 1 and the like are short when negated */
		if (l[3] == 0x73eda753299d7d48 && l[2] == 0x3339d80809a1d805)
			total += 64;
		else
			total += 64 * k + 64 - __builtin_clzll(l[k]);
	}
	*bits = used ? total / used : 1;
	*n = seen ? (size_t)((double)what->n * used / seen) : 0;
}

struct sizes {
	uint64_t entry, key, end, digit, segment, work, total;
	size_t digit_size, n_segments, work_size;
};

static uint64_t align_page(uint64_t n)
{
	return (n + 4095) & ~(uint64_t)4095;
}

static void plan_sizes(const struct plan *p, const struct msm_kernel *k, size_t n,
		       unsigned int threads, struct sizes *s)
{
	s->digit_size = (size_t)p->group * p->chunk;
	s->n_segments = p->share * p->n_chunks;
	s->work_size = msm_work_size(k, p->max_entries);
	s->entry = align_page((uint64_t)p->group * n * sizeof(uint32_t));
	s->key = align_page((uint64_t)p->group * n * sizeof(uint16_t));
	s->end = align_page((uint64_t)p->group * p->n_chunks * p->n_blocks * sizeof(uint32_t));
	s->digit = n ? align_page((uint64_t)threads * s->digit_size * sizeof(uint32_t)) : 0;
	s->segment = align_page((uint64_t)threads * s->n_segments * sizeof(struct msm_segment));
	s->work = (uint64_t)threads * s->work_size;
	s->total = s->work + s->entry + s->key + s->end + s->digit + s->segment;
}

uint64_t msm_scratch_bytes(enum msm_group group, size_t n, size_t n_ones, unsigned int threads)
{
	uint64_t most = 0, jobs;
	unsigned int w, path;

	if (!threads)
		threads = 1;
	/* the number of windows depends on the scalars: take what needs most */
	for (path = MSM_PATH_PORTABLE; path <= MSM_PATH_IFMA; path++) {
		const struct msm_kernel *k = msm_kernel_of(group, path);

		for (w = div_up(MSM_SCALAR_BITS, MSM_MAX_WIDTH); k && w <= MSM_MAX_WINDOWS; w++) {
			struct plan p;
			struct sizes s;

			plan_make(&p, n, n_ones, w, threads);
			plan_sizes(&p, k, n, threads, &s);
			jobs = p.n_ones_chunks + (uint64_t)p.group *
			       (p.n_blocks + (uint64_t)n / (p.max_entries / 2 + 1) + 1);
			s.total += jobs * (sizeof(struct job) + p.share * (1 + p.log_buckets) *
					   MSM_AFFINE_MAX);
			if (s.total > most)
				most = s.total;
		}
	}
	return most;
}

static int group_run(struct tpool *pool, struct run *r, union point *window_sum, union point *ones)
{
	bool with_ones = r->first == 0;

	tpool_run(pool, chunk_task, r, r->plan.n_chunks);
	if (atomic_load(&r->err))
		return -atomic_load(&r->err);
	r->n_jobs = jobs_make(r, NULL, with_ones);
	if (!r->n_jobs)
		return 0;
	r->job = malloc(r->n_jobs * sizeof(*r->job));
	r->result = malloc(r->n_jobs * r->result_size);
	if (!r->job || !r->result) {
		free(r->job);
		free(r->result);
		return -ENOMEM;
	}
	jobs_make(r, r->job, with_ones);
	tpool_run(pool, job_task, r, r->n_jobs);
	group_finish(r, window_sum, ones);
	free(r->job);
	free(r->result);
	return 0;
}

int msm_run(struct tpool *pool, const struct msm_points *points, const struct msm_scalars *what,
	    unsigned int n_windows, void *affine)
{
	unsigned int threads = tpool_threads(pool), bits, w, k;
	struct run r = { .pool = pool, .points = points, .kernel = points->kernel, .what = what };
	union point window_sum[MSM_MAX_WINDOWS], ones, sum;
	size_t n_effective, n_ones = what->ones ? what->n_ones : 0;
	struct msm_scalars clean = *what;
	struct sizes s;
	uint8_t *mem;
	int err = 0;

	if (what->n > MSM_MAX_POINTS || (what->n && !what->scalar) ||
	    (!what->index && (what->first > points->n || what->n > points->n - what->first)) ||
	    (n_ones && (what->ones_first > points->n || n_ones > points->n - what->ones_first)))
		return -EINVAL;
	clean.n_ones = n_ones;
	r.what = &clean;
	r.curve = points->group == MSM_G1 ? &msm_curve_g1 : &msm_curve_g2;
	r.digits = msm_digits_port;
#ifdef CUZK_X86
	if (points->path == MSM_PATH_IFMA)
		r.digits = msm_digits_ifma;
#endif
	sample(what, &bits, &n_effective);
	plan_make(&r.plan, what->n, n_ones, n_windows ? n_windows : best_windows(n_effective, bits),
		  threads);
	plan_sizes(&r.plan, r.kernel, what->n, threads, &s);
	mem = msm_alloc(s.total);
	if (!mem)
		return -ENOMEM;
	r.work_mem = mem;
	r.entry = (uint32_t *)(r.work_mem + s.work);
	r.key = (uint16_t *)((uint8_t *)r.entry + s.entry);
	r.end = (uint32_t *)((uint8_t *)r.key + s.key);
	r.digit = (uint32_t *)((uint8_t *)r.end + s.end);
	r.segment = (struct msm_segment *)((uint8_t *)r.digit + s.digit);
	r.work_size = s.work_size;
	r.digit_size = s.digit_size;
	r.n_segments = s.n_segments;
	r.result_size = r.plan.share * (1 + r.plan.log_buckets) * r.curve->affine_size;

	r.curve->set_infinity(&ones);
	for (w = 0; w < r.plan.rc.n_windows; w++)
		r.curve->set_infinity(&window_sum[w]);
	for (w = 0; w < r.plan.rc.n_windows && !err; w += r.plan.group) {
		r.first = w;
		r.n_windows = min_size(r.plan.group, r.plan.rc.n_windows - w);
		err = group_run(pool, &r, window_sum, &ones);
	}
	msm_free(mem, s.total);
	if (err)
		return err;
	r.curve->set_infinity(&sum);
	for (w = r.plan.rc.n_windows; w-- > 0;) {
		for (k = 0; k < r.plan.rc.width[w]; k++)
			r.curve->double_(&sum, &sum);
		r.curve->add(&sum, &sum, &window_sum[w]);
	}
	r.curve->add(&sum, &sum, &ones);
	r.curve->to_affine(affine, &sum);
	return 0;
}
