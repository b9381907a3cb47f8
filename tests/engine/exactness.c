/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The exactness of each engine and algorithm, by content: percent of samples that are one off from the oracle, and the
 * largest difference, printed as a table and compared with limits. Row sums of dark or bright content are far from the
 * middle, where f16 has coarse steps, so a test with noise only is not enough.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cases.h"

#define SKIP 77
#define WIDTH 128
#define HEIGHT 96
#define SEED 20240607

/* Most percent of samples that may be one off at 16 bits, for any content: float32 is near its limit there. */
#define MOST_OF_16_BITS 0.5

/* The same for averages of frames of 8 and 10 bits by tensor, which rounds weights to integers. */
#define MOST_OF_AVERAGES 0.5

/* Most products of taps and samples in a run of naive on the CPU, which takes some 20 ns for each. */
#define NAIVE_PRODUCTS 4e6

/* Luma and chroma of a decoded film, WIDTH x HEIGHT in NV12. film.py says how it was made. */
static const guint8 film[] = {
#include "film.inc"
};
G_STATIC_ASSERT(sizeof film == WIDTH * HEIGHT * 3 / 2);

typedef enum { NOISE, DARK, BRIGHT, BLACK_AND_WHITE, IMPULSES, GRADIENTS, FILM, N_CONTENTS } Content;
typedef enum { FLOAT32, TENSOR, N_ARITHMETICS } Arithmetic;

/* Filters whose samples are counted together. AVERAGES: of several frames, with temporal-threshold. */
typedef enum { POSITIVE, SIGNED, AVERAGES, N_GROUPS } Group;

static const char *const groups[N_GROUPS] = {"Positive taps", "Signed taps", "Averages with temporal-threshold"};

/* Most percent of the samples of 8 and 10 bits that may be one off, for positive and signed taps. No sample may be two
 * off, at 16 bits either. */
static const struct {
  const char *name;
  double most[N_ARITHMETICS];
} contents[N_CONTENTS] = {
    /* float32, tensor: about twice the values of an H200 */
    [NOISE] = {"noise", {0.01, 0.4}},         [DARK] = {"dark noise", {0.01, 1.0}},
    [BRIGHT] = {"bright noise", {0.01, 1.0}}, [BLACK_AND_WHITE] = {"black and white", {0.01, 0.6}},
    [IMPULSES] = {"impulses", {0.01, 0.4}},   [GRADIENTS] = {"gradients", {0.01, 0.5}},
    [FILM] = {"decoded film", {0.01, 0.5}},
};

static const char *const formats[] = {"GRAY8", "NV12", "P010_10LE", "GRAY16_LE"};

static const struct {
  const char *filter;
  int radius;
  int frames;       /* before and after the output's frame */
  double threshold; /* temporal-threshold */
} taps[] = {
    {"gaussian", 1},
    {"gaussian", 2},
    {"gaussian", 3},
    {"gaussian", 8},
    {"gaussian", 16},
    {"gaussian", 32},
    {"gaussian", 15},
    {"box", 5},
    {"disk", 4},
    {"dense-5x5", 0},
    {"sharpen", 2},
    {"sobel", 0},
    {"dense-signed", 0},
    {"identity", 0, .frames = 1, .threshold = 0.1},
    {"identity", 0, .frames = 3, .threshold = 0.1},
    {"identity", 0, .frames = 15, .threshold = 0.05},
    {"identity", 0, .frames = 15, .threshold = 0.1},
};

#define MAX_FRAMES (2 * CNV_TEMPORAL_RADIUS_MAX + 1)

typedef struct {
  guint64 samples, inexact;
  int largest;
} Tally;

/* The tallies of a variant, by content, format and group. */
typedef Tally Tallies[N_CONTENTS][G_N_ELEMENTS(formats)][N_GROUPS];

typedef struct {
  Content content;
  guint32 state;
  const CnvFormat *format;
  int frame;
} Source;

static guint
film_value(int plane, int channel, int x, int y)
{
  return plane == 0 ? film[y * WIDTH + x] : film[(HEIGHT + y) * WIDTH + 2 * x + channel];
}

static guint
content_value(gpointer data, int plane, int channel, int x, int y, guint full)
{
  Source *source = data;
  const guint32 random = test_random(&source->state) >> 8;
  const guint dark = random % (24 * (full + 1) / 256);

  switch (source->content) {
  case DARK:
    return dark;
  case BRIGHT:
    return full - dark;
  case BLACK_AND_WHITE:
    return random & 1 ? full : 0;
  case IMPULSES:
    return random % 100 < 2 ? full : 0;
  case GRADIENTS:
    return (guint)rint(full * (0.5 + 0.5 * sin((x + 3 * source->frame) / 29.0 + plane + channel) * cos(y / 23.0)));
  case FILM: /* a picture that moves */
    return film_value(plane, channel, (x + source->frame) % oracle_plane_width(source->format, plane, WIDTH), y) *
           full / 255;
  default:
    return random & full;
  }
}

/* Frames, and the expected output of a filter for the middle one. */
typedef struct {
  CnvFilter filter;
  CnvImage image;
  int n_frames;
  TestFrame in[MAX_FRAMES];
  OracleExpected *expected[CNV_MAX_PLANES][CNV_MAX_CHANNELS];
} Job;

static void
job_init(Job *job, Content content, const char *format, guint t)
{
  const TestCase c = {.format = format, .width = WIDTH, .height = HEIGHT};
  const CnvWork all = CNV_WORK_ALL(NULL);
  CnvFrame view[MAX_FRAMES];
  OracleClip clip = {.frame = view, .now = taps[t].frames};

  memset(job, 0, sizeof *job);
  job->n_frames = clip.end = 2 * taps[t].frames + 1;
  test_image_make(&c, &job->image);
  test_filter_make(test_filter_find(taps[t].filter), taps[t].radius, SEED, &job->filter);
  job->filter.border = CNV_BORDER_REFLECT_101;
  job->filter.temporal_radius = taps[t].frames;
  job->filter.temporal_threshold = taps[t].threshold;
  for (int i = 0; i < job->n_frames; i++) {
    Source source = {content, SEED + i, job->image.format, i};

    test_frame_init(&job->in[i], job->image.format, WIDTH, HEIGHT, (TestLayout){0, 0, 0});
    test_frame_fill_with(&job->in[i], content_value, &source);
    test_frame_view(&job->in[i], &view[i]);
  }
  for (int p = 0; p < job->image.format->n_planes; p++)
    for (int ch = 0; ch < job->image.format->plane[p].channels; ch++)
      job->expected[p][ch] = oracle_channel(
          &(OracleWork){&job->image, &job->filter, &all, &view[clip.now], job->n_frames > 1 ? &clip : NULL}, p, ch);
}

static void
job_clear(Job *job)
{
  for (int p = 0; p < CNV_MAX_PLANES; p++)
    for (int c = 0; c < CNV_MAX_CHANNELS; c++)
      g_free(job->expected[p][c]);
  for (int i = 0; i < job->n_frames; i++)
    test_frame_clear(&job->in[i]);
  cnv_filter_clear(&job->filter);
}

/* Returns how far a sample is off. At a tie, to within float64, both neighbours are right. */
static int
difference(double expected, int full, int got)
{
  const int error = abs(got - oracle_round(expected, full));

  return error == 1 && fabs(fabs(got - expected) - 0.5) < 1e-9 ? 0 : error;
}

static void
count_channel(const Job *job, const TestFrame *out, int plane, int channel, Tally *tally)
{
  const OracleComponent component = oracle_component(out->format, plane, channel);
  const int width = oracle_plane_width(out->format, plane, WIDTH);
  const int height = oracle_plane_height(out->format, plane, HEIGHT);
  const TestPlane *p = &out->plane[component.plane];

  for (int i = 0; i < width * height; i++) {
    const OracleSample expected = job->expected[plane][channel][i].either[0];
    const guint8 *row = p->block + p->start + (gsize)(i / width) * p->stride;
    int off;

    if (expected.rule != ORACLE_FILTERED)
      continue;
    off = difference(expected.value, (1 << component.depth) - 1, oracle_value(&component, row, i % width));
    tally->samples++;
    tally->inexact += off > 0;
    tally->largest = MAX(tally->largest, off);
  }
}

/* Filters the middle frame of a clip. */
static gboolean
submit_clip(const Job *job, CnvSession *session, CnvPlan **plan, const CnvFrame *to, GError **error)
{
  const CnvFrame middle = {.memory = CNV_MEMORY_HISTORY, .slot = job->n_frames / 2};
  CnvWork work = CNV_WORK_ALL(plan);
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  CnvFrame view[MAX_FRAMES];

  for (int i = 0; i < job->n_frames; i++)
    test_frame_view(&job->in[i], &view[i]);
  return test_history_fill(session, *plan, view, job->n_frames, CNV_TEMPORAL_REPLICATE, &work, temporal_tap, error) &&
         cnv_session_submit(session, &work, &middle, to, error);
}

static void
run_plan(const Job *job, TestVariant *v, CnvPlan *plan, Tally *tally)
{
  const CnvWork work = CNV_WORK_ALL(&plan);
  GError *error = NULL;
  TestFrame out;
  TestRun run;

  test_frame_init(&out, job->image.format, WIDTH, HEIGHT, (TestLayout){0, 0, 0});
  test_run_init(&run, v->memory, &job->in[0], &out);
  if (!(job->n_frames > 1 ? submit_clip(job, v->session, &plan, &run.to, &error)
                          : cnv_session_submit(v->session, &work, &run.from, &run.to, &error)) ||
      !cnv_session_wait(v->session, &error))
    g_error("%s: %s", v->backend->name, error->message);
  test_run_finish(&run);
  for (int p = 0; p < job->image.format->n_planes; p++)
    for (int c = 0; c < job->image.format->plane[p].channels; c++)
      count_channel(job, &out, p, c, tally);
  test_frame_clear(&out);
  v->runs++;
}

static void
run_variant(const Job *job, TestVariant *v, Tally *tally)
{
  const gboolean slow = strcmp(v->backend->name, "cpu") == 0 && v->algorithm == CNV_ALGORITHM_NAIVE;
  GError *error = NULL;
  CnvPlan *plan = cnv_plan_new(&job->filter, &job->image, v->algorithm, v->backend, &error);

  if (!plan) {
    v->refusals++; /* tests/unit/algorithms.c checks which plans may be rejected */
    g_error_free(error);
    return;
  }
  if (!slow || test_plan_products(plan) <= NAIVE_PRODUCTS)
    run_plan(job, v, plan, tally);
  cnv_plan_unref(plan);
}

static Group
group_of(guint t)
{
  return taps[t].frames > 0 ? AVERAGES : test_filter_is_positive(test_filter_find(taps[t].filter)) ? POSITIVE : SIGNED;
}

static void
run_all(Tallies *tallies)
{
  for (Content content = 0; content < N_CONTENTS; content++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (guint t = 0; t < G_N_ELEMENTS(taps); t++) {
        Job job;

        job_init(&job, content, formats[f], t);
        for (guint i = 0; i < test_variants->len; i++) {
          TestVariant *v = &g_array_index(test_variants, TestVariant, i);

          if (v->memory == CNV_MEMORY_HOST) /* device memory has the same kernels */
            run_variant(&job, v, &tallies[i][content][f][group_of(t)]);
        }
        job_clear(&job);
      }
}

/* Returns FALSE and prints the reason if the limits are exceeded. A few samples of a small number may be off by
 * chance. */
static gboolean
check(const Tally *tally, const TestVariant *v, Content content, guint f, Group group)
{
  const Arithmetic arithmetic = v->algorithm == CNV_ALGORITHM_TENSOR ? TENSOR : FLOAT32;
  const gboolean deep = cnv_format_find(formats[f])->depth > 12;
  const double most = deep                                        ? MOST_OF_16_BITS
                      : arithmetic == TENSOR && group == AVERAGES ? MOST_OF_AVERAGES
                                                                  : contents[content].most[arithmetic];

  if (tally->largest <= 1 && tally->inexact <= 3 + most / 100 * tally->samples)
    return TRUE;
  printf("MISMATCH %s %s, %s, %s: %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " samples are off, by at most %d; "
         "%g %% may be, by 1\n",
         v->backend->name, cnv_algorithm_nicks[v->algorithm].nick, contents[content].name, formats[f], tally->inexact,
         tally->samples, tally->largest, most);
  return FALSE;
}

/* Prints a column for each variant that ran. */
static void
print_head(Group group)
{
  printf("\n%s: percent one off, and the largest difference\n%-16s %-10s", groups[group], "content", "format");
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (v->runs)
      printf(" %4s %-9s", v->backend->name, cnv_algorithm_nicks[v->algorithm].nick);
  }
  putchar('\n');
}

static gboolean
report_row(const Tallies *tallies, Content content, guint f, Group group)
{
  gboolean right = TRUE;

  printf("%-16s %-10s", contents[content].name, formats[f]);
  for (guint i = 0; i < test_variants->len; i++) {
    const Tally *tally = &tallies[i][content][f][group];

    if (tally->samples)
      printf(" %9.4f (%d) ", 100.0 * tally->inexact / tally->samples, tally->largest);
    else if (g_array_index(test_variants, TestVariant, i).runs)
      printf(" %9s     ", "-");
  }
  putchar('\n');
  for (guint i = 0; i < test_variants->len; i++)
    right &= check(&tallies[i][content][f][group], &g_array_index(test_variants, TestVariant, i), content, f, group);
  return right;
}

static gboolean
report(const Tallies *tallies)
{
  gboolean right = TRUE;

  for (Group group = 0; group < N_GROUPS; group++) {
    print_head(group);
    for (Content content = 0; content < N_CONTENTS; content++)
      for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
        right &= report_row(tallies, content, f, group);
  }
  return right;
}

int
main(void)
{
  gboolean right;
  Tallies *tallies;

  if (!test_variants_open()) {
    puts("SKIPPED: no backend is here");
    return SKIP;
  }
  tallies = g_new0(Tallies, test_variants->len);
  run_all(tallies);
  right = report(tallies);
  test_variants_close();
  g_free(tallies);
  return right ? EXIT_SUCCESS : EXIT_FAILURE;
}
