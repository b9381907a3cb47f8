/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Running a case on every variant of the engine, and the comparison with the oracle.
 */
#include "cases.h"
#include "oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Share of samples of noise that may differ by one from the oracle, for float32 algorithms and up to 12 bits. */
#define INEXACT_SHARE 1e-4
#define REPORTS_MAX 25
TestOptions test_options;
GArray *test_variants;

static guint failures, reports, case_number;

/* Products (taps times samples) that one run may take, by extent. */
static const double max_products[] = {[TEST_QUICK] = 1e6, [TEST_NORMAL] = 3e7, [TEST_FULL] = 2e9};

/* A case made ready. */
typedef struct {
  char *what; /* for reports */
  CnvFilter filter;
  CnvImage image;
  TestFrame in;
  TestLayout out;
  guint64 hash; /* of in */
  double *expected[CNV_MAX_PLANES];
  gboolean strict; /* every sample exact */
  gboolean noise;  /* held to INEXACT_SHARE */
} Job;

void
test_fail(const char *format, ...)
{
  va_list args;

  failures++;
  if (reports == REPORTS_MAX)
    puts("... further mismatches are only counted");
  if (reports++ >= REPORTS_MAX)
    return;
  va_start(args, format);
  fputs("MISMATCH ", stdout);
  vprintf(format, args);
  putchar('\n');
  va_end(args);
  fflush(stdout);
}

static char *
variant_name(const TestVariant *v)
{
  return g_strdup_printf("%s %s%s", v->backend->name, cnv_algorithm_nicks[v->algorithm].nick,
                         v->memory == CNV_MEMORY_DEVICE ? " device-memory" : "");
}

static char *
case_name(const TestCase *c, guint32 seed)
{
  return g_strdup_printf("case %u (CNV_SEED=%u): %s %dx%d, filter %s radius %d, border %s, %s, offset %d, strides +%d "
                         "+%d, seed %u",
                         case_number, test_options.seed, c->format, c->width, c->height, c->filter->name, c->radius,
                         cnv_border_nicks[c->border].nick, test_pattern_names[c->pattern], c->in.offset, c->in.pad,
                         c->out.pad, seed);
}

/* Compares one sample. Returns 0 when exact, 1 when one off, else more. A tie, to within float64, may go either way
 * unless the job is strict. */
static int
sample_error(const Job *job, const CnvFormat *format, double expected, int got)
{
  const int full = (1 << format->depth) - 1;
  const int error = abs(got - oracle_round(expected, full));

  if (error == 1 && !job->strict && fabs(fabs(got - expected) - 0.5) < 1e-9)
    return 0;
  return error;
}

static void
check_plane(const Job *job, const TestFrame *out, int plane, const char *name, guint64 *samples, guint64 *inexact)
{
  const CnvFormat *format = out->format;
  const TestPlane *p = &out->plane[plane];
  const int row = p->row_bytes / format->sample_bytes, channels = format->plane[plane].channels;
  const guint filtered = oracle_filtered(format, plane), used = ((1u << format->depth) - 1) << format->shift;
  guint bad = 0, near = 0;

  for (int y = 0; y < p->rows; y++)
    for (int i = 0; i < row; i++) {
      const guint8 *at = p->block + p->start + (gsize)y * p->stride;
      const double expected = job->expected[plane][(gsize)y * row + i];
      const gboolean copied = !(filtered >> i % channels & 1);
      const guint raw = oracle_raw(format, at, i);
      const int error = sample_error(job, format, expected, oracle_value(format, at, i));

      near += error == 1;
      if (error <= (copied || job->strict ? 0 : 1) && !(raw & ~used))
        continue;
      if (!bad++)
        test_fail("%s, %s: plane %d x %d y %d channel %d: expected %.6f, got %d (raw 0x%x)", name, job->what, plane,
                  i / channels, y, i % channels, expected, oracle_value(format, at, i), raw);
    }
  if (bad > 1)
    test_fail("%s, %s: plane %d: %u of %d samples are wrong", name, job->what, plane, bad, row * p->rows);
  *samples += (guint64)row * p->rows;
  *inexact += near;
}

/* What chance may do to a share that holds over many frames: a few more in a single one, and always one. The whole
 * set is held to the share itself. */
static double
inexact_allowed(guint64 samples)
{
  const double mean = samples * INEXACT_SHARE;

  return mean + 3 * sqrt(mean) + 1;
}

static void
check_output(const Job *job, const TestFrame *out, const char *name, TestVariant *v)
{
  guint64 samples = 0, inexact = 0;
  char *stray = test_frame_stray(out);

  if (stray)
    test_fail("%s, %s: stray write: %s", name, job->what, stray);
  g_free(stray);
  for (int p = 0; p < out->format->n_planes; p++)
    check_plane(job, out, p, name, &samples, &inexact);
  if (!job->noise)
    return;
  if (inexact > inexact_allowed(samples))
    test_fail("%s, %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples are one off: at most %g may be", name,
              job->what, inexact, samples, INEXACT_SHARE);
  v->samples += samples;
  v->inexact += inexact;
}

double
test_plan_products(const CnvPlan *plan)
{
  double products = 0;

  for (int p = 0; p < plan->image.format->n_planes; p++) {
    const CnvPlanePlan *plane = &plan->plane[p];
    const CnvTapSet *t = &plane->taps;
    double taps = (double)t->n[CNV_X] * t->n[CNV_Y];

    if (t->separable && plane->algorithm == CNV_ALGORITHM_SEPARABLE)
      taps = t->n[CNV_X] + t->n[CNV_Y];
    products += taps * plane->width * plane->height * plane->channels;
  }
  return products;
}

/* The fast path is only tested where it was the fast path that ran. */
static void
check_algorithms(const CnvPlan *plan, const TestVariant *v, const Job *job)
{
  for (int p = 0; p < plan->image.format->n_planes; p++) {
    const CnvPlanePlan *plane = &plan->plane[p];
    CnvAlgorithm should = plane->filtered ? v->algorithm : CNV_ALGORITHM_AUTO;

    if (plane->filtered != oracle_filtered(plan->image.format, p) || plane->algorithm != should)
      test_fail("%s %s, %s: plane %d: filtered 0x%x, algorithm %s", v->backend->name,
                cnv_algorithm_nicks[v->algorithm].nick, job->what, p, plane->filtered,
                cnv_algorithm_nicks[plane->algorithm].nick);
  }
}

void
test_run_init(TestRun *run, CnvMemory memory, const TestFrame *in, TestFrame *out)
{
  *run = (TestRun){.in = in, .out = out, .memory = memory};
  test_frame_view(in, &run->from);
  test_frame_view(out, &run->to);
  if (memory != CNV_MEMORY_DEVICE)
    return;
  test_device_frame_init(&run->device_in, in);
  test_device_frame_init(&run->device_out, out);
  test_device_frame_view(&run->device_in, in, &run->from);
  test_device_frame_view(&run->device_out, out, &run->to);
}

void
test_run_finish(TestRun *run)
{
  if (run->memory != CNV_MEMORY_DEVICE)
    return;
  /* The input too, over the host's blocks: a hash of these then shows a write to the device's input. */
  test_device_frame_read(&run->device_in, run->in);
  test_device_frame_read(&run->device_out, run->out);
  test_device_frame_clear(&run->device_in);
  test_device_frame_clear(&run->device_out);
}

/* The one thing that an engine may refuse of a frame: 16-bit samples on the device at odd addresses. */
static gboolean
is_misaligned(const CnvFrame *frame, const CnvFormat *format)
{
  guintptr bits = 0;

  for (int p = 0; p < format->n_planes; p++)
    bits |= (guintptr)frame->data[p] | (guintptr)frame->stride[p];
  return frame->memory == CNV_MEMORY_DEVICE && bits % format->sample_bytes != 0;
}

static void
run_plan(const Job *job, TestVariant *v, CnvPlan *plan, const char *name)
{
  GError *error = NULL;
  TestFrame out;
  TestRun run;

  test_frame_init(&out, job->image.format, job->image.width, job->image.height, job->out);
  test_run_init(&run, v->memory, &job->in, &out);
  if (is_misaligned(&run.from, job->image.format) || is_misaligned(&run.to, job->image.format)) {
    if (cnv_session_submit(v->session, plan, &run.from, &run.to, &error) || error->code != CNV_ERROR_UNSUPPORTED)
      test_fail("%s, %s: odd addresses of 16-bit samples were not refused as such", name, job->what);
    v->refusals++;
  } else if (!cnv_session_submit(v->session, plan, &run.from, &run.to, &error) ||
             !cnv_session_wait(v->session, &error)) {
    test_fail("%s, %s: %s", name, job->what, error->message);
  }
  test_run_finish(&run);
  if (!error)
    check_output(job, &out, name, v);
  if (test_frame_hash(&job->in) != job->hash)
    test_fail("%s, %s: the input was written to", name, job->what);
  test_frame_clear(&out);
  g_clear_error(&error);
  v->runs++;
}

static void
run_variant(const Job *job, TestVariant *v)
{
  GError *error = NULL;
  CnvPlan *plan = cnv_plan_new(&job->filter, &job->image, v->algorithm, v->backend, &error);
  char *name = variant_name(v);

  if (!plan) {
    if (v->algorithm == CNV_ALGORITHM_NAIVE || error->code != CNV_ERROR_UNSUPPORTED)
      test_fail("%s, %s: no plan: %s", name, job->what, error->message);
    v->refusals++;
  } else if (test_plan_products(plan) <= max_products[test_options.extent]) {
    check_algorithms(plan, v, job);
    run_plan(job, v, plan, name);
  }
  cnv_plan_unref(plan);
  g_clear_error(&error);
  g_free(name);
}

static gboolean
has_sum(const TestFilter *row)
{
  return row->taps != TAPS_ZERO_SUM && !row->raw && row->scale == 1 && row->bias == 0;
}

static void
job_init(Job *job, const TestCase *c, guint32 seed)
{
  const TestFilter *row = c->filter;

  memset(job, 0, sizeof *job);
  job->what = case_name(c, seed);
  test_filter_make(row, c->radius, seed, &job->filter);
  job->filter.border = c->border;
  job->filter.border_color = c->color ? c->color : 0xff000000;
  test_image_make(c, &job->image);
  test_frame_init(&job->in, job->image.format, c->width, c->height, c->in);
  test_frame_fill(&job->in, c->pattern, seed);
  job->hash = test_frame_hash(&job->in);
  job->out = c->out;
  job->strict = row->exact || (c->pattern == TEST_FLAT && c->border != CNV_BORDER_CONSTANT && has_sum(row));
  job->noise = c->pattern == TEST_NOISE && row->taps < TAPS_SIGNED && row->scale <= 1 && !row->raw &&
               job->image.format->depth <= 12;
}

static void
job_clear(Job *job)
{
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    g_free(job->expected[p]);
  test_frame_clear(&job->in);
  cnv_filter_clear(&job->filter);
  g_free(job->what);
}

static void
job_expect(Job *job)
{
  for (int p = 0; p < job->image.format->n_planes; p++) {
    const TestPlane *plane = &job->in.plane[p];

    job->expected[p] = oracle_plane(&job->filter, &job->image, p, plane->block + plane->start, plane->stride);
  }
}

void
test_case_run(const TestCase *c)
{
  guint32 seed = test_options.seed + 7919 * ++case_number;
  Job job;

  if (test_options.only && test_options.only != case_number)
    return;
  if (test_options.extent == TEST_QUICK && case_number % test_options.quick_step)
    return;
  if (isatty(2))
    fprintf(stderr, "\rcase %u ", case_number);
  job_init(&job, c, seed);
  job_expect(&job);
  for (guint i = 0; i < test_variants->len; i++)
    run_variant(&job, &g_array_index(test_variants, TestVariant, i));
  job_clear(&job);
}

void
test_output_check(const CnvPlan *plan, const TestFrame *in, const TestFrame *out, const char *what)
{
  Job job = {.what = (char *)what, .filter = plan->filter, .image = plan->image, .in = *in};

  job_expect(&job);
  check_output(&job, out, plan->backend->name, NULL);
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    g_free(job.expected[p]);
}

guint
test_cases_finish(const char *set)
{
  guint found;

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (v->inexact > 3 + v->samples * INEXACT_SHARE)
      test_fail("%s %s, set %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples of noise are one off",
                v->backend->name, cnv_algorithm_nicks[v->algorithm].nick, set, v->inexact, v->samples);
    v->all_samples += v->samples;
    v->all_inexact += v->inexact;
    v->samples = v->inexact = 0;
  }
  found = failures;
  failures = 0;
  return found;
}

static void
add_variants(const CnvBackend *backend, CnvSession *session)
{
  CnvMemory last = backend->takes_device_memory ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST;

  for (CnvMemory memory = CNV_MEMORY_HOST; memory <= last; memory++)
    for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++) {
      TestVariant v = {backend, session, nick->value, memory};

      g_array_append_val(test_variants, v);
    }
}

/* NULL, with the reason printed, where the backend is not here. One that is must open. */
static CnvSession *
open_backend(const CnvBackend *backend)
{
  const CnvSessionOptions options = {.device = -1, .n_threads = 3};
  GError *error = NULL;
  CnvSession *session;

  if (!backend->probe(-1, &error)) {
    printf("backend %s is not here: %s\n", backend->name, error->message);
    g_error_free(error);
    return NULL;
  }
  session = cnv_session_open(backend, &options, &error);
  if (!session)
    g_error("backend %s: %s", backend->name, error->message);
  printf("backend %s: %s\n", backend->name, session->device_name);
  return session;
}

gboolean
test_variants_open(void)
{
  test_variants = g_array_new(FALSE, FALSE, sizeof(TestVariant));
  for (int i = 0; cnv_backends[i]; i++) {
    CnvSession *session;

    if (test_options.backend && strcmp(test_options.backend, cnv_backends[i]->name) != 0)
      continue;
    session = open_backend(cnv_backends[i]);
    if (session)
      add_variants(cnv_backends[i], session);
  }
  return test_variants->len > 0;
}

void
test_variants_close(void)
{
  CnvSession *last = NULL;

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    char *name = variant_name(v);

    printf("%-28s %6u runs, %5u refused; %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples of noise one off\n",
           name, v->runs, v->refusals, v->all_inexact, v->all_samples);
    g_free(name);
    if (v->session != last)
      cnv_session_close(v->session);
    last = v->session;
  }
  g_array_free(test_variants, TRUE);
}
