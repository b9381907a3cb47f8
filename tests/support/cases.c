/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a case on every variant of the engine, and compares the outputs with the oracle.
 */
#include "plan/plan.h"
#include "support/cases.h"
#include "support/masks.h"
#include "support/oracle_time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Largest share of samples of noise, up to 12 bits, that may differ by one from the oracle: with float32, and with
 * f16. */
#define INEXACT_SHARE 1e-4
#define TENSOR_INEXACT_SHARE 1e-2
#define REPORTS_MAX 25 /* most reports per set */
TestOptions test_options;

static guint failures, reports, case_number;

/* Most products (taps times samples) in one run, by extent. */
static const double max_products[] = {[TEST_QUICK] = 1e6, [TEST_NORMAL] = 3e7, [TEST_FULL] = 2e9};

/* Part of max_products for naive: on the CPU it is a plain reference, which takes some 20 ns per product. */
#define NAIVE_SHARE 0.2

/* A case that is ready to run. */
typedef struct {
  char *what; /* description for reports */
  const TestCase *test_case;
  CnvFilter filter[TEST_MAX_PLANS];
  CnvImage image;
  CnvWork work; /* without plans, which each variant adds */
  CnvRegion *region;
  CnvMask *mask;
  int terms; /* as in TestFilter */
  int n_frames, center;
  TestFrame frame[CNV_MAX_TEMPORAL_TAPS]; /* the frames of the filter, in order */
  CnvFrame view[CNV_MAX_TEMPORAL_TAPS];
  const TestFrame *in;    /* the frame at center */
  const OracleClip *clip; /* NULL: the frame by itself */
  TestLayout out;
  guint64 hash; /* hash of in */
  OracleExpected *expected[CNV_MAX_PLANES][CNV_MAX_CHANNELS];
  gboolean strict; /* every sample must be exact */
  gboolean noise;  /* INEXACT_SHARE applies */
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

/* Appends the settings that only some cases have. */
static void
add_settings(GString *name, const TestCase *c)
{
  if (c->planes)
    g_string_append_printf(name, ", planes 0x%x", c->planes);
  if (c->chroma_same || c->chroma_set)
    g_string_append_printf(name, ", chroma mode %d set %d radius %d sigma %g", c->chroma_same, c->chroma_set,
                           c->chroma_radius, c->chroma_sigma);
  if (c->alpha_mode)
    g_string_append_printf(name, ", alpha %s", cnv_alpha_mode_nicks[c->alpha_mode].nick);
  if (c->absolute)
    g_string_append(name, ", absolute");
  if (c->interlaced)
    g_string_append(name, ", interlaced");
  if (c->color)
    g_string_append_printf(name, ", colour %08x", c->color);
  if (c->regions)
    g_string_append_printf(name, ", regions \"%s\"", c->regions->name);
  if (c->square)
    g_string_append_printf(name, ", a square of %d, shape %d%s%s", c->square, c->shape, c->isolated ? ", isolated" : "",
                           c->invert ? ", inverted" : "");
  if (c->temporal_radius || c->depth)
    g_string_append_printf(name, ", temporal radius %d, depth %d", c->temporal_radius, c->depth);
}

char *
test_case_label(void)
{
  return g_strdup_printf("case %u (CNV_SEED=%u)", case_number, test_options.seed);
}

static char *
case_name(const TestCase *c, guint32 seed)
{
  GString *name = g_string_new(NULL);

  g_string_printf(name,
                  "case %u (CNV_SEED=%u): %s %dx%d, filter %s radius %d, border %s, %s, offset %d, strides +%d +%d, "
                  "seed %u",
                  case_number, test_options.seed, c->format, c->width, c->height, c->filter->name, c->radius,
                  cnv_border_nicks[c->border].nick, test_pattern_names[c->pattern], c->in.offset, c->in.pad, c->out.pad,
                  seed);
  add_settings(name, c);
  return g_string_free(name, FALSE);
}

#define TIE 1e-9
#define NEAR_TIE 5e-5 /* distance at which float32 cannot distinguish a sum from a tie */

/* Returns 0 if a sample is exact, 1 if it is one off, else more. At a tie, to within float64, both neighbours are
 * exact, unless the job is strict. A strict job must round a tie to even, but near a tie both neighbours are exact. */
static int
sample_error(const Job *job, int depth, double expected, int got)
{
  const int error = abs(got - oracle_round(expected, (1 << depth) - 1));
  const double distance = fabs(fabs(got - expected) - 0.5);

  return error == 1 && (job->strict ? distance > TIE && distance < NEAR_TIE : distance < TIE) ? 0 : error;
}

typedef struct {
  guint64 samples, inexact;
} Tally;

/* Returns TRUE if the bits around a value that no other channel has are right: 0, or the input's bits if it is a
 * copy. */
static gboolean
padding_is_right(const CnvFormat *format, const OracleComponent *component, guint raw, guint raw_in, gboolean copied)
{
  const guint used = format->sample_bytes == 4 ? ~0u : ((1u << component->depth) - 1) << component->shift;

  return !(raw & ~used) || (copied && raw == raw_in);
}

/* Returns TRUE if the oracle accepts a sample. error: how far the sample is off. */
static gboolean
is_accepted(const Job *job, const OracleComponent *component, OracleSample expected, int got, guint raw, guint raw_in,
            int *error)
{
  const gboolean copied = expected.rule == ORACLE_COPIED;

  *error = expected.rule == ORACLE_OPEN ? 0 : sample_error(job, component->depth, expected.value, got);
  return *error <= (copied || job->strict ? 0 : 1) &&
         padding_is_right(job->image.format, component, raw, raw_in, copied);
}

static void
fail_sample(const Job *job, const char *name, int plane, int channel, int i, const OracleSample either[2], int got,
            guint raw)
{
  const int width = oracle_plane_width(job->image.format, plane, job->image.width);
  g_autofree char *second = g_strdup_printf(" or %.6f", either[1].value);

  test_fail("%s, %s: plane %d x %d y %d channel %d: expected %.6f%s%s, got %d (raw 0x%x)", name, job->what, plane,
            i % width, i / width, channel, either[0].value, either[0].rule == ORACLE_COPIED ? " as it was" : "",
            either[1].value != either[0].value ? second : "", got, raw);
}

static void
check_channel(const Job *job, const TestFrame *out, int plane, int channel, const char *name, Tally *tally)
{
  const CnvFormat *format = out->format;
  const OracleComponent component = oracle_component(format, plane, channel);
  const TestPlane *p = &out->plane[component.plane], *q = &job->in->plane[component.plane];
  const int width = oracle_plane_width(format, plane, out->width);
  const int height = oracle_plane_height(format, plane, out->height);
  guint bad = 0;

  for (int i = 0; i < width * height; i++) {
    const guint8 *row = p->block + p->start + (gsize)(i / width) * p->stride;
    const guint8 *row_in = q->block + q->start + (gsize)(i / width) * q->stride;
    const OracleSample *either = job->expected[plane][channel][i].either;
    const int got = oracle_value(&component, row, i % width);
    const guint raw = oracle_raw(&component, row, i % width), raw_in = oracle_raw(&component, row_in, i % width);
    gboolean accepted[2];
    int error[2];

    for (int k = 0; k < 2; k++)
      accepted[k] = is_accepted(job, &component, either[k], got, raw, raw_in, &error[k]);
    tally->samples += either[0].rule == ORACLE_FILTERED;
    tally->inexact += MIN(error[0], error[1]) == 1;
    if (accepted[0] || accepted[1])
      continue;
    if (!bad++)
      fail_sample(job, name, plane, channel, i, either, got, raw);
  }
  if (bad > 1)
    test_fail("%s, %s: plane %d channel %d: %u of %d samples are wrong", name, job->what, plane, channel, bad,
              width * height);
}

/* Returns the largest share of samples that may be one off, over a whole set. */
static double
inexact_share(const TestVariant *v)
{
  return v->algorithm == CNV_ALGORITHM_TENSOR ? TENSOR_INEXACT_SHARE : INEXACT_SHARE;
}

/* Returns the most samples of one frame that may be one off. Chance may add a few to the share of a set, and always
 * one. tensor's errors come together, because samples of small frames are much alike. */
static double
inexact_allowed(const TestVariant *v, guint64 samples)
{
  const double mean = samples * inexact_share(v), deviations = v->algorithm == CNV_ALGORITHM_TENSOR ? 5 : 3;

  return mean + deviations * sqrt(mean) + 1;
}

static void
check_output(const Job *job, const TestFrame *out, const char *name, TestVariant *v)
{
  Tally tally = {0, 0};
  char *stray = test_frame_stray(out);

  if (stray)
    test_fail("%s, %s: stray write: %s", name, job->what, stray);
  g_free(stray);
  for (int p = 0; p < out->format->n_planes; p++)
    for (int c = 0; c < out->format->plane[p].channels; c++)
      check_channel(job, out, p, c, name, &tally);
  if (!job->noise)
    return;
  if (tally.inexact > inexact_allowed(v, tally.samples))
    test_fail("%s, %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples are one off: at most %g may be", name,
              job->what, tally.inexact, tally.samples, inexact_share(v));
  v->samples += tally.samples;
  v->inexact += tally.inexact;
}

static double
plane_products(const CnvPlane *plane)
{
  double taps = 0;

  for (int t = 0; t < plane->n_terms; t++) {
    const int *n = plane->term[t].n;
    const gboolean passes = plane->algorithm >= CNV_ALGORITHM_TEXTURE && plane->term[t].separable;

    taps += passes ? n[CNV_X] + n[CNV_Y] : (double)n[CNV_X] * n[CNV_Y];
    if (cnv_cells_have_means(plane) && plane->algorithm == CNV_ALGORITHM_NAIVE)
      taps += (double)cnv_plane_extent(plane, t, CNV_X) * cnv_plane_extent(plane, t, CNV_Y);
  }
  return taps * plane->width * plane->height * plane->channels;
}

double
test_plan_products(const CnvPlan *plan)
{
  double products = 0;

  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered)
      products += plane_products(&plan->plane[p]);
  return products;
}

/* Returns how many of the plan's components are filtered and stored where that channel is. */
static guint
filtering_components(const CnvPlan *plan, int plane, int channel)
{
  const OracleComponent at = oracle_component(plan->image.format, plane, channel);
  guint found = 0;

  for (int p = 0; p < plan->n_planes; p++)
    for (int c = 0; c < plan->plane[p].channels; c++) {
      const CnvComponent *component = &plan->plane[p].component[c];

      found += plan->plane[p].filtered >> c & 1 && component->plane == at.plane && component->offset == at.offset &&
               (at.bytes < 4 || component->shift == at.shift);
    }
  return found;
}

/* Returns TRUE for chroma under a gradient, whose taps are never used. */
static gboolean
is_neutral(const CnvPlane *plane)
{
  for (int c = 0; c < plane->channels; c++)
    if (plane->filtered >> c & 1 && plane->gain[c] != 0)
      return FALSE;
  return TRUE;
}

/* Checks that the planned algorithm is the variant's. Otherwise a fast algorithm would not be tested. */
static void
check_algorithms(const CnvPlan *plan, const TestVariant *v, const Job *job)
{
  const CnvFormat *format = plan->image.format;
  char *name = test_variant_name(v);

  for (int p = 0; p < plan->n_planes; p++) {
    const CnvPlane *plane = &plan->plane[p];
    const gboolean factored = v->algorithm >= CNV_ALGORITHM_TEXTURE && plane->sub_x == 0 && plane->sub_y == 0;

    if (plane->algorithm != (plane->filtered ? v->algorithm : CNV_ALGORITHM_AUTO))
      test_fail("%s, %s: plane %d: filtered 0x%x, algorithm %s", name, job->what, p, plane->filtered,
                cnv_algorithm_nicks[plane->algorithm].nick);
    if (plane->filtered && factored && !is_neutral(plane) && job->terms >= 0 && plane->n_terms != MAX(1, job->terms))
      test_fail("%s, %s: plane %d: %d terms", name, job->what, p, plane->n_terms);
  }
  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++)
      if (filtering_components(plan, p, c) != (oracle_filters(&plan->filter, format, p, c) ? 1 : 0))
        test_fail("%s, %s: plane %d channel %d is filtered by %u components", name, job->what, p, c,
                  filtering_components(plan, p, c));
  g_free(name);
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
  /* Reads back the input, too, over the host's blocks: their hash then shows a write to the device's input. */
  test_device_frame_read(&run->device_in, run->in);
  test_device_frame_read(&run->device_out, run->out);
  test_device_frame_clear(&run->device_in);
  test_device_frame_clear(&run->device_out);
}

/* Returns TRUE if an engine may reject a frame: its samples of 16 or 32 bits are on the device at odd addresses. Frames
 * of the history are the engine's own copies, which are aligned. */
static gboolean
is_misaligned(const CnvFrame *frame, const CnvFormat *format)
{
  guintptr bits = 0;

  for (int m = 0; m < oracle_n_frame_planes(format); m++)
    bits |= (guintptr)frame->data[m] | (guintptr)frame->stride[m];
  return frame->memory == CNV_MEMORY_DEVICE && bits % format->sample_bytes != 0;
}

/* Submits a job and waits for it. If it has several frames, all are in the history. */
static gboolean
submit_job(const Job *job, CnvSession *session, CnvPlan *const *plans, const TestRun *run, GError **error)
{
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  CnvFrame in = run[0].from, frame[CNV_MAX_TEMPORAL_TAPS];
  CnvWork work = job->work;

  work.plan = plans;
  if (job->n_frames > 1) {
    for (int k = 0; k < job->n_frames; k++)
      frame[k] = run[k].from;
    if (!test_history_fill(session, plans[0], frame, job->n_frames, CNV_TEMPORAL_REPLICATE, &work, temporal_tap, error))
      return FALSE;
    in = (CnvFrame){.memory = CNV_MEMORY_HISTORY, .slot = job->center};
  }
  return cnv_session_submit(session, &work, &in, &run[0].to, error) && cnv_session_wait(session, error);
}

/* Returns TRUE if isolated regions need normalised convolution, and the taps of some plan have no sum to divide by. */
static gboolean
cannot_isolate(const Job *job, CnvPlan *const *plans)
{
  gboolean shaped = job->work.invert, can = TRUE;

  for (guint i = 0; i < job->work.n_regions && !job->work.whole_frame; i++)
    shaped |= job->work.region[i].shape != CNV_SHAPE_RECTANGLE;
  for (guint i = 0; i < job->work.n_plans; i++)
    can &= cnv_plan_can_isolate(plans[i], NULL);
  return job->work.isolated && shaped && !can;
}

static void
run_work(const Job *job, TestVariant *v, CnvPlan *const *plans, const char *name)
{
  TestRun run[CNV_MAX_TEMPORAL_TAPS];
  GError *error = NULL;
  TestFrame out;

  test_frame_init(&out, job->image.format, job->image.width, job->image.height, job->out);
  for (int k = 0; k < job->n_frames; k++)
    test_run_init(&run[k], v->memory, &job->frame[k], &out);
  if (cannot_isolate(job, plans)) {
    if (submit_job(job, v->session, plans, run, &error) || error->code != CNV_ERROR_SETTINGS ||
        !strstr(error->message, "roi-isolated"))
      test_fail("%s, %s: taps without a sum were not refused", name, job->what);
  } else if ((job->n_frames == 1 && is_misaligned(&run[0].from, job->image.format)) ||
             is_misaligned(&run[0].to, job->image.format)) {
    if (submit_job(job, v->session, plans, run, &error) || error->code != CNV_ERROR_UNSUPPORTED)
      test_fail("%s, %s: odd addresses of 16-bit samples were not refused as such", name, job->what);
    v->refusals++;
  } else if (!submit_job(job, v->session, plans, run, &error)) {
    test_fail("%s, %s: %s", name, job->what, error->message);
  }
  for (int k = job->n_frames - 1; k >= 0; k--) /* the first run last, because its output counts */
    test_run_finish(&run[k]);
  if (job->n_frames > 1)
    cnv_session_history_alloc(v->session, &job->image, 0, NULL);
  if (!error)
    check_output(job, &out, name, v);
  if (test_frame_hash(job->in) != job->hash)
    test_fail("%s, %s: the input was written to", name, job->what);
  test_frame_clear(&out);
  g_clear_error(&error);
  v->runs++;
  memcpy(v->method, v->session->stats.method, sizeof v->method);
}

/* Runs the work in the input's own memory, if that is possible, and checks the output. */
static void
run_in_place(const Job *job, TestVariant *v, CnvPlan *const *plans, const char *name)
{
  g_autofree char *name_in_place = g_strdup_printf("%s in place", name);
  CnvWork work = job->work;
  GError *error = NULL;
  TestFrame frame;
  TestRun run;

  work.plan = plans;
  if (v->memory != CNV_MEMORY_DEVICE || job->n_frames > 1 || !cnv_session_can_in_place(v->session, &work))
    return;
  test_frame_init(&frame, job->image.format, job->image.width, job->image.height, job->test_case->in);
  for (int m = 0; m < CNV_MAX_PLANES; m++)
    if (frame.plane[m].block)
      memcpy(frame.plane[m].block, job->in->plane[m].block, frame.plane[m].size);
  test_run_init(&run, v->memory, job->in, &frame);
  if (!is_misaligned(&run.to, job->image.format)) {
    if (!cnv_session_submit(v->session, &work, &run.to, &run.to, &error) || !cnv_session_wait(v->session, &error))
      test_fail("%s, %s: %s", name_in_place, job->what, error->message);
    test_run_finish(&run);
    if (!error)
      check_output(job, &frame, name_in_place, v);
  } else {
    test_run_finish(&run);
  }
  test_frame_clear(&frame);
  g_clear_error(&error);
}

static gboolean
is_subsampled(const CnvFormat *format)
{
  for (int p = 0; p < format->n_planes; p++)
    if (format->plane[p].sub_x || format->plane[p].sub_y)
      return TRUE;
  return FALSE;
}

static gboolean
has_cells(CnvFilterType type)
{
  return type == CNV_FILTER_MOSAIC || type == CNV_FILTER_FILL;
}

/* Returns TRUE if the documentation gives the algorithm no reason to reject the job: naive none at all, tiled none but
 * cells, and separable none of taps that are known to be a few rows times columns. The fast ones on GPUs have to run on
 * a plane of 8 bits: fused a row times a column, tensor a generated filter that reaches no farther than any of its
 * kernels. */
static gboolean
must_run(const Job *job, const TestVariant *v)
{
  const CnvFilter *filter = &job->filter[0];
  const gboolean cells = has_cells(filter->type);
  const gboolean plain = strcmp(job->image.format->name, "GRAY8") == 0 && job->work.n_plans == 1 && job->n_frames == 1;
  const gboolean gpu = strcmp(v->backend->name, "cuda") == 0;
  const gboolean blur = filter->type == CNV_FILTER_GAUSSIAN || filter->type == CNV_FILTER_BOX;
  const gboolean kept = filter->border != CNV_BORDER_WRAP && filter->border != CNV_BORDER_RENORMALIZE;

  switch (v->algorithm) {
  case CNV_ALGORITHM_NAIVE:
    return TRUE;
  case CNV_ALGORITHM_TILED:
    return !cells;
  case CNV_ALGORITHM_MOSAIC:
    return cells;
  case CNV_ALGORITHM_TEXTURE:
    return gpu && job->terms > 0 && !cells && !is_subsampled(job->image.format);
  case CNV_ALGORITHM_SEPARABLE:
    return job->terms > 0 && !cells && !is_subsampled(job->image.format);
  case CNV_ALGORITHM_FUSED:
    return gpu && plain && blur && filter->radius <= 48;
  case CNV_ALGORITHM_TENSOR:
    return gpu && plain && filter->radius <= 6 && filter->type != CNV_FILTER_CUSTOM && !cells && kept;
  default:
    return FALSE;
  }
}

/* Checks that a job which must run does, if the GPU is new enough. Returns TRUE for such a job. */
static gboolean
check_refusal(const Job *job, TestVariant *v, const GError *error, const char *name)
{
  const gboolean old = error && strstr(error->message, "compute capability") != NULL;
  const gboolean expected = must_run(job, v) && !old;

  if (error && (error->code != CNV_ERROR_UNSUPPORTED || expected))
    test_fail("%s, %s: no plan: %s", name, job->what, error->message);
  v->refusals += error != NULL;
  return expected;
}

static void
run_variant(const Job *job, TestVariant *v)
{
  CnvPlan *plan[TEST_MAX_PLANS] = {NULL};
  char *name = test_variant_name(v);
  GError *error = NULL;
  double products = 0, most = max_products[test_options.extent];
  gboolean expected;

  if (v->algorithm == CNV_ALGORITHM_NAIVE && v->memory == CNV_MEMORY_HOST)
    most *= NAIVE_SHARE;
  for (guint i = 0; i < job->work.n_plans && !error; i++) {
    plan[i] = cnv_plan_new(&job->filter[i], &job->image, v->algorithm, v->backend, &error);
    products += plan[i] ? test_plan_products(plan[i]) : 0;
  }
  expected = check_refusal(job, v, error, name);
  if (!error && products <= most) {
    v->expected += expected;
    check_algorithms(plan[0], v, job);
    run_work(job, v, plan, name);
    if (!cannot_isolate(job, plan))
      run_in_place(job, v, plan, name);
  }
  for (guint i = 0; i < job->work.n_plans; i++)
    cnv_plan_unref(plan[i]);
  g_clear_error(&error);
  g_free(name);
}

/* Makes the case's filter for a plan. Plans after plan 0 have a wider filter of the same kind or a wider box. */
void
test_case_filter(const TestCase *c, guint plan, guint32 seed, CnvFilter *filter)
{
  const gboolean cells = has_cells(c->filter->type);
  TestFilter row = plan % 2 && !cells ? *test_filter_find("box") : *c->filter;

  row.depth = c->depth ? c->depth : row.depth;
  test_filter_make(&row, c->radius + 2 * plan, seed, filter);
  filter->temporal_radius = c->temporal_radius;
  filter->temporal_threshold = row.threshold;
  filter->border = c->border;
  filter->border_color = c->color ? c->color : 0xff000000;
  filter->fill_color = filter->border_color ^ 0x40a050; /* another colour */
  filter->planes = c->planes ? c->planes : CNV_PLANES_COLOR;
  filter->chroma_same = c->chroma_same;
  filter->chroma_radius = c->chroma_set ? c->chroma_radius : -1;
  filter->chroma_sigma = c->chroma_set ? c->chroma_sigma : 0;
  filter->alpha_mode = c->alpha_mode;
  filter->absolute = c->absolute;
}

guint
test_case_squares(const TestCase *c, CnvMask *mask, CnvRegion *region)
{
  int count = MAX(c->count, 1), columns = (int)ceil(sqrt(count)), rows = (count + columns - 1) / columns;

  for (int i = 0; i < count && c->square; i++) {
    int x = (2 * (i % columns) + 1) * c->width / (2 * columns), y = (2 * (i / columns) + 1) * c->height / (2 * rows);

    region[i] = (CnvRegion){
        .rect = {x - c->square / 2, y - c->square / 2, c->square, c->square}, .shape = c->shape, .mask = mask};
  }
  return c->square ? (guint)count : 0;
}

static void
make_work(Job *job, const TestCase *c, guint32 seed)
{
  const TestRegions *r = c->regions;
  guint32 state = seed | 1;

  job->work = CNV_WORK_ALL(NULL);
  job->work.interlaced = c->interlaced;
  job->mask = test_mask_new();
  if (c->square) {
    job->region = g_new(CnvRegion, CNV_MAX_REGIONS);
    job->work = (CnvWork){
        .n_plans = 1, .region = job->region, .feather = c->feather, .isolated = c->isolated, .invert = c->invert};
    job->work.n_regions = test_case_squares(c, job->mask, job->region);
  }
  if (!r)
    return;
  job->work = (CnvWork){.n_plans = r->n_plans,
                        .n_regions = r->n_regions + r->n_random,
                        .invert = r->invert,
                        .isolated = r->isolated,
                        .feather = r->feather,
                        .moved = r->moved,
                        .target_x = r->target_x,
                        .target_y = r->target_y,
                        .interlaced = c->interlaced};
  job->work.region = job->region = g_new0(CnvRegion, job->work.n_regions);
  for (guint i = 0; i < job->work.n_regions; i++) {
    CnvRegion *to = &job->region[i];

    to->mask = job->mask;
    if (i < r->n_regions) {
      to->rect = r->region[i].rect;
      to->plan = r->region[i].plan;
      to->shape = r->region[i].shape;
      continue;
    }
    to->shape = (CnvShape)(r->any_shape ? i % 3 : 0);
    to->rect.x = (int)(test_random(&state) >> 8) % (c->width + 10) - 5;
    to->rect.y = (int)(test_random(&state) >> 8) % (c->height + 10) - 5;
    to->rect.width = (test_random(&state) >> 8) % 9;
    to->rect.height = (test_random(&state) >> 8) % 7 + 1;
    to->plan = (test_random(&state) >> 8) % r->n_plans;
  }
}

static void
make_frames(Job *job, const TestCase *c, guint32 seed)
{
  OracleTime time = oracle_time(&job->filter[0]);

  job->n_frames = time.n;
  job->center = time.anchor;
  for (int k = 0; k < time.n; k++) {
    test_frame_init(&job->frame[k], job->image.format, c->width, c->height, c->in);
    test_frame_fill(&job->frame[k], c->pattern, seed + k);
    test_frame_view(&job->frame[k], &job->view[k]);
  }
  job->in = &job->frame[time.anchor];
  job->hash = test_frame_hash(job->in);
}

static void
job_init(Job *job, const TestCase *c, guint32 seed)
{
  const TestFilter *row = c->filter;

  memset(job, 0, sizeof *job);
  job->what = case_name(c, seed);
  job->test_case = c;
  job->terms = c->depth ? -1 : row->terms;
  make_work(job, c, seed);
  for (guint i = 0; i < job->work.n_plans; i++)
    test_case_filter(c, i, seed, &job->filter[i]);
  test_image_make(c, &job->image);
  make_frames(job, c, seed);
  job->out = c->out;
  job->strict = row->exact || (row->type == CNV_FILTER_FILL && !c->regions) ||
                (c->pattern == TEST_FLAT && c->border != CNV_BORDER_CONSTANT && test_filter_keeps_flat(row));
  /* With a small window that is isolated by a constant colour, wide taps mostly read that colour. */
  job->noise = c->pattern == TEST_NOISE && test_filter_is_positive(row) && row->scale <= 1 && !row->raw &&
               c->alpha_mode != CNV_ALPHA_PREMULTIPLY && job->image.format->depth <= 12 && job->n_frames == 1 &&
               !(job->work.isolated && c->border == CNV_BORDER_CONSTANT);
}

static void
job_clear_expected(Job *job)
{
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    for (int c = 0; c < CNV_MAX_CHANNELS; c++)
      g_free(job->expected[p][c]);
}

static void
job_clear(Job *job)
{
  job_clear_expected(job);
  for (int k = 0; k < job->n_frames; k++)
    test_frame_clear(&job->frame[k]);
  for (guint i = 0; i < job->work.n_plans; i++)
    cnv_filter_clear(&job->filter[i]);
  g_free(job->region);
  cnv_mask_unref(job->mask);
  g_free(job->what);
}

static void
job_expect(Job *job)
{
  CnvFrame in;
  const OracleClip whole = {
      .frame = job->view, .end = job->n_frames, .now = job->center, .border = CNV_TEMPORAL_REPLICATE};
  const OracleWork work = {&job->image, job->filter, &job->work, &in, job->n_frames > 1 ? &whole : job->clip};

  test_frame_view(job->in, &in);
  for (int p = 0; p < job->image.format->n_planes; p++)
    for (int c = 0; c < job->image.format->plane[p].channels; c++)
      job->expected[p][c] = oracle_channel(&work, p, c);
}

gboolean
test_case_begins(guint32 *seed)
{
  *seed = test_options.seed + 7919 * ++case_number;
  if (test_options.only && test_options.only != case_number)
    return FALSE;
  if (test_options.extent == TEST_QUICK && case_number % test_options.quick_step)
    return FALSE;
  if (isatty(2))
    fprintf(stderr, "\rcase %u ", case_number);
  return TRUE;
}

void
test_case_run(const TestCase *c)
{
  guint32 seed;
  Job job;

  if (!test_case_begins(&seed))
    return;
  job_init(&job, c, seed);
  job_expect(&job);
  for (guint i = 0; i < test_variants->len; i++)
    run_variant(&job, &g_array_index(test_variants, TestVariant, i));
  job_clear(&job);
}

void
test_clip_check(const CnvWork *work, const OracleClip *clip, const TestFrame *in, const TestFrame *out,
                const char *what)
{
  Job job = {.what = (char *)what, .image = work->plan[0]->image, .work = *work, .clip = clip, .in = in};

  for (guint i = 0; i < work->n_plans; i++)
    job.filter[i] = work->plan[i]->filter;
  job_expect(&job);
  check_output(&job, out, work->plan[0]->backend->name, NULL);
  job_clear_expected(&job);
}

void
test_output_check(const CnvWork *work, const TestFrame *in, const TestFrame *out, const char *what)
{
  test_clip_check(work, NULL, in, out, what);
}

guint
test_cases_finish(const char *set)
{
  guint found;

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (v->inexact > 3 + v->samples * inexact_share(v))
      test_fail("%s %s, set %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples of noise are one off",
                v->backend->name, cnv_algorithm_nicks[v->algorithm].nick, set, v->inexact, v->samples);
    if (v->expected > 0 && v->runs == v->runs_before && test_options.extent != TEST_QUICK)
      test_fail("%s %s, set %s: none of %u cases ran that must", v->backend->name,
                cnv_algorithm_nicks[v->algorithm].nick, set, v->expected);
    v->expected = 0;
    v->runs_before = v->runs;
    v->all_samples += v->samples;
    v->all_inexact += v->inexact;
    v->samples = v->inexact = 0;
  }
  found = failures;
  failures = reports = 0;
  return found;
}
