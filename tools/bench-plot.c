/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bench-plot.c - cuzk-bench plot: the monitor's CSV, and a trace below it, as SVG */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "tools/bench.h"
#include "tools/file.h"

#define NAME "plot"
#define COLUMNS 900		/* of the plot, pixels: each shows the most of its time */
#define LEFT 80
#define TOP 30
#define HEIGHT 300
#define ROW 18
#define PROCESSES_MAX 16
#define ROWS_MAX 128
#define FILE_MAX (256ull << 20)

struct series {
	long pid;
	char name[32];
	double resident[COLUMNS], gpu[COLUMNS];
	double last_s, last_resident, last_gpu;
};

struct span {
	char name[64];
	uint64_t row;
	double start, length;	/* seconds */
	bool stage;
};

struct plot {
	struct series *series;
	size_t n;
	double end, top;		/* seconds, bytes */
	struct span *spans;
	size_t n_spans, size;
	struct {
		uint64_t row;
		char name[64];
	} rows[ROWS_MAX];
	size_t n_rows;
};

/* ---- the CSV ---- */

struct line {
	double seconds, resident, gpu;
	long pid;
	char name[32];
};

/* false: not a line of the monitor. */
static bool read_line(const char *text, struct line *l)
{
	double rest[3];

	return sscanf(text, "%lf,%ld,%31[^,],%lf,%lf,%lf,%lf,%lf", &l->seconds, &l->pid, l->name,
		      &l->resident, &rest[0], &rest[1], &rest[2], &l->gpu) == 8 &&
	       l->seconds >= 0 && l->seconds < 1e9 && l->resident >= 0 && l->gpu >= 0;
}

static struct series *series_of(struct plot *p, const struct line *l)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (p->series[i].pid == l->pid)
			return &p->series[i];
	if (p->n == PROCESSES_MAX)
		return NULL;
	memset(&p->series[p->n], 0, sizeof(p->series[0]));
	p->series[p->n].pid = l->pid;
	memcpy(p->series[p->n].name, l->name, sizeof(l->name));
	return &p->series[p->n++];
}

static size_t column(const struct plot *p, double seconds)
{
	double x = p->end > 0 ? seconds / p->end * (COLUMNS - 1) : 0;

	return x < 0 ? 0 : x > COLUMNS - 1 ? COLUMNS - 1 : (size_t)x;
}

static void larger(double *v, double other)
{
	if (other > *v)
		*v = other;
}

/* A sample holds until the next one of its process. */
static void take(struct plot *p, const struct line *l)
{
	struct series *s = series_of(p, l);
	size_t i, to = column(p, l->seconds);

	if (!s)
		return;
	if (s->last_s > 0)
		for (i = column(p, s->last_s); i < to; i++) {
			larger(&s->resident[i], s->last_resident);
			larger(&s->gpu[i], s->last_gpu);
		}
	larger(&s->resident[to], l->resident);
	larger(&s->gpu[to], l->gpu);
	s->last_s = l->seconds;
	s->last_resident = l->resident;
	s->last_gpu = l->gpu;
}

static int read_csv(struct plot *p, const char *path)
{
	char *text, *at, *end;
	unsigned int pass, number;
	struct line l;
	size_t len, i, k;
	int ret;

	ret = ctl_file_read(path, FILE_MAX, (void **)&text, &len);
	if (ret)
		return ctl_fail(NAME, "%s: %s", path, strerror(-ret));
	if (strncmp(text, "seconds,pid,process,resident,", 29)) {
		free(text);
		return ctl_fail(NAME, "%s: not a file of --monitor: its first line is another", path);
	}
	/* first the length of the time, then the values */
	for (pass = 0; pass < 2; pass++) {
		for (at = strchr(text, '\n'), number = 2; at && at[1]; at = end, number++) {
			end = strchr(at + 1, '\n');
			if (!end)
				break;	/* cut off while it was written */
			if (!read_line(at + 1, &l)) {
				free(text);
				return ctl_fail(NAME, "%s: line %u is none of --monitor", path,
						number);
			}
			if (pass)
				take(p, &l);
			else
				larger(&p->end, l.seconds);
		}
	}
	free(text);
	if (!p->n)
		return ctl_fail(NAME, "%s: no samples", path);
	for (i = 0; i < COLUMNS; i++) {
		double sum = 0, gpu = 0;

		for (k = 0; k < p->n; k++) {
			sum += p->series[k].resident[i];
			gpu += p->series[k].gpu[i];
		}
		larger(&p->top, sum);
		larger(&p->top, gpu);
	}
	return 0;
}

/* ---- the trace ---- */

static void copy(char *to, size_t size, const struct json_str *s)
{
	char buf[256];

	if (json_str_copy(s, buf, sizeof(buf)) < 0)
		snprintf(buf, sizeof(buf), "?");
	snprintf(to, size, "%.*s", (int)size - 1, buf);
}

static int add_span(struct plot *p, const struct span *s)
{
	if (p->n_spans == p->size) {
		size_t size = p->size ? 2 * p->size : 256;
		struct span *more = realloc(p->spans, size * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->spans = more;
		p->size = size;
	}
	p->spans[p->n_spans++] = *s;
	larger(&p->end, s->start + s->length);
	return 0;
}

static int row_index(struct plot *p, uint64_t row)
{
	size_t i;

	for (i = 0; i < p->n_rows; i++)
		if (p->rows[i].row == row)
			return i;
	if (p->n_rows == ROWS_MAX)
		return -1;
	p->rows[p->n_rows].row = row;
	p->rows[p->n_rows].name[0] = '\0';
	return p->n_rows++;
}

static void read_event(struct plot *p, struct json *j)
{
	struct json_str key, name = { "", 0, false }, ph = { "", 0, false }, cat = ph, arg = ph;
	uint64_t ts = 0, dur = 0, tid = 0;
	struct span s;
	int i;

	json_object(j);
	while (json_key(j, &key) > 0) {
		if (json_str_is(&key, "name"))
			json_string(j, &name);
		else if (json_str_is(&key, "ph"))
			json_string(j, &ph);
		else if (json_str_is(&key, "cat"))
			json_string(j, &cat);
		else if (json_str_is(&key, "ts"))
			json_u64(j, &ts);
		else if (json_str_is(&key, "dur"))
			json_u64(j, &dur);
		else if (json_str_is(&key, "tid"))
			json_u64(j, &tid);
		else if (json_str_is(&key, "args")) {
			json_object(j);
			while (json_key(j, &key) > 0) {
				if (json_str_is(&key, "name"))
					json_string(j, &arg);
				else
					json_skip(j);
			}
		} else {
			json_skip(j);
		}
	}
	if (j->error)
		return;
	i = row_index(p, tid);
	if (i >= 0 && json_str_is(&ph, "M")) {
		copy(p->rows[i].name, sizeof(p->rows[i].name), &arg);
	} else if (i >= 0 && json_str_is(&ph, "X")) {
		memset(&s, 0, sizeof(s));
		copy(s.name, sizeof(s.name), &name);
		s.row = i;
		s.start = ts / 1e6;
		s.length = dur / 1e6;
		s.stage = json_str_is(&cat, "stage");
		if (add_span(p, &s))
			json_fail(j, "no memory for so many events");
	}
}

static int read_trace(struct plot *p, const char *path)
{
	struct json_str key;
	char *text, why[256];
	struct json j;
	size_t len;
	int ret;

	ret = ctl_file_read(path, FILE_MAX, (void **)&text, &len);
	if (ret)
		return ctl_fail(NAME, "%s: %s", path, strerror(-ret));
	json_init(&j, text, len);
	json_object(&j);
	while (json_key(&j, &key) > 0) {
		if (!json_str_is(&key, "traceEvents")) {
			json_skip(&j);
			continue;
		}
		json_array(&j);
		while (json_next(&j) > 0)
			read_event(p, &j);
	}
	ret = json_end(&j);
	if (ret) {
		json_error(&j, why, sizeof(why));
		ret = ctl_fail(NAME, "%s: %s", path, why);
	}
	free(text);
	return ret;
}

/* ---- the picture ---- */

static const char *const colours[] = { "#4878a8", "#e49444", "#6a9f58", "#d1605e", "#967662",
				       "#a87c9f", "#85b6b2", "#e7ca60" };
#define COLOUR(i) colours[(i) % (sizeof(colours) / sizeof(colours[0]))]

static void put_text(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			fputs("&lt;", f);
		else if (*s == '>')
			fputs("&gt;", f);
		else if (*s == '&')
			fputs("&amp;", f);
		else if ((unsigned char)*s >= ' ' && (unsigned char)*s < 127)
			putc(*s, f);
		else
			putc('?', f);
	}
}

/* A step of 1, 2 or 5 times a power of ten with at most n of them in v. */
static double step(double v, unsigned int n)
{
	double s = 1e-6;

	for (;;) {
		if (v / s <= n)
			return s;
		if (v / (2 * s) <= n)
			return 2 * s;
		if (v / (5 * s) <= n)
			return 5 * s;
		s *= 10;
	}
}

static void axes(const struct plot *p, FILE *f, double top_mib, unsigned int bottom)
{
	double s = step(top_mib, 6), v;

	for (v = 0; v <= top_mib; v += s)
		fprintf(f, "<path d=\"M%d %.1fh%d\" stroke=\"#ddd\"/><text x=\"%d\" y=\"%.1f\" "
			"text-anchor=\"end\">%g MiB</text>\n", LEFT,
			TOP + HEIGHT - v / top_mib * HEIGHT, COLUMNS, LEFT - 5,
			TOP + HEIGHT - v / top_mib * HEIGHT + 4, v);
	s = step(p->end, 10);
	for (v = 0; v <= p->end; v += s)
		fprintf(f, "<path d=\"M%.1f %dV%u\" stroke=\"#ddd\"/><text x=\"%.1f\" y=\"%u\" "
			"text-anchor=\"middle\">%g s</text>\n", LEFT + v / p->end * COLUMNS, TOP,
			bottom, LEFT + v / p->end * COLUMNS, bottom + 14, v);
}

static void areas(const struct plot *p, FILE *f, double top)
{
	double base[COLUMNS] = { 0 };
	size_t i, k;

	for (k = 0; k < p->n; k++) {
		fprintf(f, "<path fill=\"%s\" fill-opacity=\".8\" d=\"M", COLOUR(k));
		for (i = 0; i < COLUMNS; i++)
			fprintf(f, "%zu %.1f ", LEFT + i, TOP + HEIGHT - base[i] / top * HEIGHT);
		for (i = COLUMNS; i--;) {
			base[i] += p->series[k].resident[i];
			fprintf(f, "L%zu %.1f ", LEFT + i, TOP + HEIGHT - base[i] / top * HEIGHT);
		}
		fprintf(f, "Z\"/>\n<text x=\"%zu\" y=\"18\" fill=\"%s\">", LEFT + 180 * k, COLOUR(k));
		put_text(f, p->series[k].name);
		fprintf(f, " %ld</text>\n", p->series[k].pid);
	}
}

static void gpu_line(const struct plot *p, FILE *f, double top)
{
	double most = 0;
	size_t i, k;

	for (k = 0; k < p->n; k++)
		for (i = 0; i < COLUMNS; i++)
			larger(&most, p->series[k].gpu[i]);
	if (most <= 0)
		return;
	fprintf(f, "<path fill=\"none\" stroke=\"#000\" d=\"");
	for (i = 0; i < COLUMNS; i++) {
		double gpu = 0;

		for (k = 0; k < p->n; k++)
			gpu += p->series[k].gpu[i];
		fprintf(f, "%c%zu %.1f ", i ? 'L' : 'M', LEFT + i, TOP + HEIGHT - gpu / top * HEIGHT);
	}
	fprintf(f, "\"><title>GPU memory in use</title></path>\n");
}

static void timeline(const struct plot *p, FILE *f)
{
	size_t i;

	for (i = 0; i < p->n_rows; i++) {
		fprintf(f, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">", LEFT - 5,
			TOP + HEIGHT + 10 + ROW * i + 13);
		put_text(f, p->rows[i].name);
		fprintf(f, "</text>\n");
	}
	for (i = 0; i < p->n_spans; i++) {
		const struct span *s = &p->spans[i];
		double x = LEFT + s->start / p->end * COLUMNS, w = s->length / p->end * COLUMNS;
		size_t y = TOP + HEIGHT + 10 + ROW * s->row;
		unsigned int c = 0;
		const char *n;

		for (n = s->name; *n; n++)
			c = c * 31 + (unsigned char)*n;
		fprintf(f, "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" fill=\"%s\" "
			"fill-opacity=\"%s\"><title>", x, y + (s->stage ? 3 : 0), w > .3 ? w : .3,
			s->stage ? ROW - 7 : ROW - 2, COLOUR(c), s->stage ? ".9" : ".3");
		put_text(f, s->name);
		fprintf(f, ", %.3f s</title></rect>\n", s->length);
		if (w < 6. * strlen(s->name))
			continue;
		fprintf(f, "<text x=\"%.1f\" y=\"%zu\" font-size=\"9\">", x + 2, y + 12);
		put_text(f, s->name);
		fprintf(f, "</text>\n");
	}
}

static void draw(const struct plot *p, FILE *f)
{
	double top = p->top > 0 ? p->top * 1.05 : 1;
	unsigned int bottom = TOP + HEIGHT + (p->n_rows ? 10 + ROW * p->n_rows : 0);

	fprintf(f, "<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
		"width=\"%d\" height=\"%u\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n", LEFT + COLUMNS + 20,
		bottom + 24);
	axes(p, f, top / 1048576, bottom);
	areas(p, f, top);
	gpu_line(p, f, top);
	timeline(p, f);
	fprintf(f, "</svg>\n");
}

static int write_svg(const struct plot *p, const char *path)
{
	char *text = NULL;
	size_t len = 0;
	int ret;
	FILE *f;

	f = open_memstream(&text, &len);
	if (!f)
		return ctl_fail(NAME, "no memory");
	draw(p, f);
	ret = fclose(f) ? -ENOMEM : ctl_file_write(path, text, len);
	free(text);
	return ret ? ctl_fail(NAME, "%s: %s", path, strerror(-ret)) : 0;
}

int bench_plot(struct bench *b, int argc, char **argv)
{
	const char *csv = NULL, *trace = NULL, *out = NULL;
	const struct ctl_option options[] = { { "--trace", &trace }, { "--out", &out }, { NULL } };
	struct plot p = { NULL };
	int ret = 0;

	(void)b;
	if (ctl_parse(NAME, argc, argv, options, NULL, &csv, 1) < 0)
		return CTL_USAGE;
	if (!csv || !out)
		return ctl_usage(NAME, "FILE.csv and --out FILE.svg are needed");
	p.series = calloc(PROCESSES_MAX, sizeof(*p.series));
	if (!p.series)
		return ctl_fail(NAME, "no memory");
	if (trace)
		ret = read_trace(&p, trace);
	if (!ret)
		ret = read_csv(&p, csv);
	if (!ret)
		ret = write_svg(&p, out);
	free(p.series);
	free(p.spans);
	return ret;
}
