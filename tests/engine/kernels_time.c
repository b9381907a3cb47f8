/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters over several frames, compared with the oracle: every frame of short clips, kept in a ring with one slot per
 * tap in time; with the clip's ends, a cut, regions and fields; on every variant.
 */
#include <gst/check/gstcheck.h>

#include "plan/plan.h"
#include "support/cases.h"
#include "support/oracle_time.h"

#define WIDTH 21
#define HEIGHT 13
#define N_TEMPORAL_BORDERS (CNV_TEMPORAL_REFLECT + 1)
#define MAX_FRAMES 7

/* Multiples of 8, because a GPU accesses words. kernels.c has cases with odd addresses. */
static const TestLayout in_layout = {0, 8, 24}, joined_layout = {.joined = TRUE}, out_layout = {64, 16, 8};

/* Frames of a kernel: the first one, the same doubled, all 0, and negative. */
static const double picture_times_weights[] = {1, 2, 1, 2, 5, 2, 1, 2, 1, 2,  4,  2,  4,  10, 4,  2,  4,  2,
                                               0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -2, -1, -2, -5, -2, -1, -2, -1};
/* Frames that each add up to 0, though not in binary fractions, and are not multiples of each other. */
static const double frames_without_sum[] = {0.1, 0.2, -0.3, -0.7, 0.6, 0.1, 0.4, -0.1, -0.3};
static const double frame_of_zeros[] = {1, 2, 3, 0, 0, 0, 3, 1, 1};
static const double lopsided[] = {0, 0, 1, 0, 3, 0, 5, 0, 0, 2, 0, 0};

#define GENERATED(type) CNV_FILTER_##type, TAPS_NONE, 0, 0, FALSE, -1, -1
#define CUSTOM(taps, width, height) CNV_FILTER_CUSTOM, TAPS_##taps, width, height, FALSE, -1, -1
#define TIME_ALONE CNV_FILTER_CUSTOM, TAPS_NONE, 0, 0, TRUE, -1, -1 /* no taps in the picture */

typedef struct {
  TestFilter filter; /* in the picture */
  int radius;        /* taps in time: radius of a gaussian */
  double sigma;
  int n; /* or number of taps in kernel-t */
  double taps[5];
  gboolean causal;
  double threshold; /* temporal-threshold: frames of noise differ by about 0.14 of full scale */
  enum {
    ANY,
    ROWS_AND_COLUMNS,
    MEANS
  } kind; /* ROWS_AND_COLUMNS: no algorithm rejects it. MEANS: in addition no tap is negative, so that colours can be
             weighted by alpha */
} ClipFilter;

static const ClipFilter filters[] = {
    {{"gaussian", GENERATED(GAUSSIAN), 0, 1, 0}, .radius = 1, .kind = MEANS},
    {{"gaussian far", GENERATED(GAUSSIAN), 0, 1, 0}, .radius = 2, .sigma = 0.7, .kind = MEANS},
    {{"gaussian causal", GENERATED(GAUSSIAN), 0, 1, 0}, .radius = 3, .causal = TRUE, .kind = MEANS},
    {{"box of 31 frames", GENERATED(BOX), 0, 1, 0}, .radius = CNV_TEMPORAL_RADIUS_MAX, .kind = MEANS},
    {{"box of 16 frames back", GENERATED(BOX), 0, 1, 0}, .radius = 15, .sigma = 9, .causal = TRUE, .kind = MEANS},
    {{"box, contrast", GENERATED(BOX), 0, 1.5, -0.25}, .n = 4, .taps = {1, 2, 3, 5}, .kind = MEANS},
    {{"one frame", GENERATED(GAUSSIAN), 0, 1, 0}, .kind = MEANS},
    {{"mean", TIME_ALONE, 0, 1, 0}, .n = 3, .taps = {1, 2, 1}, .kind = MEANS},
    {{"difference", GENERATED(IDENTITY), 0, 1, 0.5}, .n = 3, .taps = {-1, 0, 1}, .kind = ROWS_AND_COLUMNS},
    {{"difference back", GENERATED(IDENTITY), 0, 1, 0.5},
     .n = 2,
     .taps = {-1, 1},
     .causal = TRUE,
     .kind = ROWS_AND_COLUMNS},
    {{"the frame before", GENERATED(IDENTITY), 0, 1, 0}, .n = 3, .taps = {1, 0, 0}, .kind = ROWS_AND_COLUMNS},
    {{"flipped weights", TIME_ALONE, 0, 1, 0, .flip = TRUE}, .n = 3, .taps = {1, 2, 5}, .kind = MEANS},
    {{"raw", GENERATED(IDENTITY), 0, 0.5, 0, TRUE}, .n = 2, .taps = {1, 1.25}, .kind = ROWS_AND_COLUMNS},
    {{"one tap, raw", CNV_FILTER_GAUSSIAN, TAPS_NONE, 0, 0, FALSE, 1, 0, 0, 0.25, 0.25, TRUE},
     .n = 1,
     .taps = {-1.5},
     .kind = ROWS_AND_COLUMNS},
    {{"sharpened", GENERATED(SHARPEN), 0, 1, 0}, .n = 3, .taps = {-1, 4, -1}, .kind = ROWS_AND_COLUMNS},
    {{"sobel", GENERATED(SOBEL), 0, 1, 0, .radius = 1}, .n = 3, .taps = {0.25, 0.5, 0.25}, .kind = ROWS_AND_COLUMNS},
    {{"picture 5x5", CUSTOM(POSITIVE, 5, 5), 0, 1, 0}, .n = 3, .taps = {3, 4, 1}},
    {{"3x3x3", CUSTOM(POSITIVE, 3, 3), 0, 1, 0, .depth = 3}},
    {{"3x3x3 causal, flipped", CUSTOM(POSITIVE, 3, 3), 0, 1, 0, .flip = TRUE, .depth = 3}, .causal = TRUE},
    {{"3x3x3 signed", CUSTOM(SIGNED, 3, 3), 0, 1, 0, .depth = 3}},
    {{"3x3x3 zero sum", CUSTOM(ZERO_SUM, 3, 3), 0, 0.1, 0.5, .depth = 3}},
    {{"3x2x4", CUSTOM(POSITIVE, 3, 2), 0, 1, 0, .anchor_x = 1, .anchor_y = 2, .depth = 4}},
    {{"5x5x5", CUSTOM(POSITIVE, 5, 5), 0, 1, 0, .depth = 5}},
    {{"5x5x5 zero sum, causal", CUSTOM(ZERO_SUM, 5, 5), 0, 0.03, 0.5, .depth = 5}, .causal = TRUE},
    {{"1x1x3", CUSTOM(POSITIVE, 1, 1), 0, 1, 0, .depth = 3}, .kind = MEANS},
    {{"picture times weights", CUSTOM(FIXED, 3, 3), 0, 1, 0, .fixed = picture_times_weights, .depth = 4}},
    {{"frames without sum", CUSTOM(FIXED, 3, 1), 0, 0.5, 0.5, .fixed = frames_without_sum, .depth = 3}},
    {{"a frame of zeros", CUSTOM(FIXED, 3, 1), 0, 1, 0, .fixed = frame_of_zeros, .depth = 3}},
    {{"lopsided, flipped", CUSTOM(FIXED, 2, 2), 0, 1, 0, .fixed = lopsided, .flip = TRUE, .depth = 3}},
    {{"close frames", GENERATED(IDENTITY), 0, 1, 0}, .radius = 3, .threshold = 0.15, .kind = MEANS},
    {{"close frames, blurred", GENERATED(GAUSSIAN), 0, 1, 0}, .radius = 1, .threshold = 0.1, .kind = MEANS},
    {{"close frames back", GENERATED(BOX), 0, 1, 0}, .radius = 4, .causal = TRUE, .threshold = 0.3, .kind = MEANS},
    {{"close frames, many", GENERATED(IDENTITY), 0, 1, 0}, .radius = 15, .threshold = 0.2, .kind = MEANS},
    {{"close frames, given", TIME_ALONE, 0, 1, 0}, .n = 4, .taps = {0, 2, 1, 3}, .threshold = 0.25, .kind = MEANS},
    {{"close frames, exact", GENERATED(IDENTITY), 0, 1, 0}, .radius = 2, .threshold = 1e-5, .kind = MEANS},
    {{"close frames, any", GENERATED(GAUSSIAN), 0, 1, 0}, .radius = 2, .threshold = 1, .kind = MEANS},
    {{"close frames, raw", GENERATED(IDENTITY), 0, 0.5, 0, TRUE},
     .n = 2,
     .taps = {1, 1.25},
     .threshold = 0.1,
     .kind = ROWS_AND_COLUMNS},
    {{"close frames, 5x5", CUSTOM(SIGNED, 5, 5), 0, 1, 0}, .n = 3, .taps = {3, 4, 1}, .threshold = 0.2},
    {{"close frames, 1x1x3", CUSTOM(POSITIVE, 1, 1), 0, 1, 0, .depth = 3}, .threshold = 0.2, .kind = MEANS},
    {{"close frames, mosaic", GENERATED(MOSAIC), 0, 1, 0}, .radius = 2, .threshold = 0.2},
};

/* The part of a frame that is filtered. TWO_PLANS: regions by plans of different radius. MOVED: a region, written at
 * another place. */
typedef enum {
  ALL,
  FIELDS,
  REGIONS,
  TWO_PLANS,
  ISOLATED_FIELDS,
  INVERTED,
  MOVED,
  ISOLATED_INVERTED,
  ISOLATED_ELLIPSES,
  N_PARTS
} Part;

#define MAX_PLANS 2

/* Only TWO_PLANS uses the last region, and MOVED uses only the first. */
static const CnvRegion regions[] = {{{3, 2, 9, 7}, 0}, {{10, 5, 14, 5}, 0}, {{6, 0, 5, 11}, 1}};
static const CnvRegion ellipses[] = {{{3, 2, 9, 7}, 0, CNV_SHAPE_ELLIPSE}, {{8, 1, 16, 10}, 0, CNV_SHAPE_ELLIPSE}};

typedef struct {
  char *what;
  const ClipFilter *row;
  CnvFilter filter; /* filter of plan 0 */
  CnvImage image;
  OracleTime time;
  int n_frames, cut; /* cut: the first frame after it; 0: none */
  CnvTemporalBorder border;
  gboolean one_by_one; /* waits for each frame */
  CnvWork work;
  TestFrame in[MAX_FRAMES], out[MAX_FRAMES];
  CnvFrame view[MAX_FRAMES]; /* of in, for the oracle */
  TestRun run[MAX_FRAMES];
} Clip;

static CnvWork
make_work(Part part)
{
  CnvWork work = {.n_plans = part == TWO_PLANS ? 2 : 1, .whole_frame = part <= FIELDS, .region = regions};

  work.n_regions = part == MOVED ? 1 : work.n_plans + 1;
  work.interlaced = part == FIELDS || part == ISOLATED_FIELDS;
  work.feather = part == REGIONS || part == INVERTED || part == ISOLATED_ELLIPSES ? 3 : 0;
  work.isolated = part == ISOLATED_FIELDS || part >= ISOLATED_INVERTED;
  work.invert = part == INVERTED || part == ISOLATED_INVERTED;
  if (part == ISOLATED_ELLIPSES)
    work.region = ellipses;
  work.moved = part == MOVED;
  work.target_x = work.moved ? 9 : 0;
  work.target_y = work.moved ? 4 : 0;
  return work;
}

static void
make_filter(Clip *clip, guint32 seed, CnvBorder border, gboolean premultiply)
{
  const ClipFilter *row = clip->row;

  test_filter_make(&row->filter, 2, seed, &clip->filter);
  clip->filter.border = border;
  clip->filter.border_color = 0xc03060c0;
  clip->filter.alpha_mode = premultiply ? CNV_ALPHA_PREMULTIPLY : CNV_ALPHA_COPY;
  clip->filter.temporal_radius = row->radius;
  clip->filter.temporal_sigma = row->sigma;
  clip->filter.causal = row->causal;
  clip->filter.temporal_threshold = row->threshold;
  clip->filter.kernel_t = row->n ? cnv_taps_new(row->n, 1, row->taps) : NULL;
}

static guint
pick(guint32 *state, guint n)
{
  return (test_random(state) >> 8) % n;
}

/* Prepares a clip. Everything that the sets do not loop over is random, from the case's seed. */
static void
clip_init(Clip *clip, const ClipFilter *row, const char *format, CnvTemporalBorder border, guint32 seed)
{
  const TestCase image = {.format = format, .width = WIDTH, .height = HEIGHT};
  const gboolean premultiply = g_str_equal(format, "A420") && row->kind == MEANS && row->threshold == 0;
  guint32 state = seed | 1;
  const CnvBorder around = pick(&state, CNV_N_BORDERS);
  const gboolean has_sum = row->kind == MEANS || row->filter.taps == TAPS_POSITIVE;
  const Part part = pick(&state, has_sum ? N_PARTS : ISOLATED_INVERTED); /* isolated shapes need a sum to keep */
  char *label = test_case_label();

  *clip = (Clip){.row = row, .n_frames = 1 + pick(&state, MAX_FRAMES), .border = border, .work = make_work(part)};
  clip->cut = clip->n_frames > 2 && pick(&state, 3) == 0 ? 1 + pick(&state, clip->n_frames - 1) : 0;
  clip->one_by_one = pick(&state, 2);
  make_filter(clip, seed, around, premultiply);
  clip->time = oracle_time(&clip->filter);
  test_image_make(&image, &clip->image);
  for (int f = 0; f < clip->n_frames; f++) {
    test_frame_init(&clip->in[f], clip->image.format, WIDTH, HEIGHT, clip->one_by_one ? in_layout : joined_layout);
    test_frame_fill(&clip->in[f], premultiply && pick(&state, 2) ? TEST_HOLES : TEST_NOISE, seed + f);
    test_frame_view(&clip->in[f], &clip->view[f]);
  }
  clip->what =
      g_strdup_printf("%s: %s, %d frames, cut %d, %s, filter \"%s\", border %s in time, %s around, part %d", label,
                      format, clip->n_frames, clip->cut, clip->one_by_one ? "one by one" : "all at once",
                      row->filter.name, cnv_temporal_border_nicks[border].nick, cnv_border_nicks[around].nick, part);
  g_free(label);
}

static void
clip_clear(Clip *clip)
{
  for (int f = 0; f < clip->n_frames; f++)
    test_frame_clear(&clip->in[f]);
  cnv_filter_clear(&clip->filter);
  g_free(clip->what);
}

/* Returns the part of the clip that frame f can read. */
static OracleClip
stretch(const Clip *clip, int f)
{
  const gboolean behind = clip->cut > 0 && f >= clip->cut;

  return (OracleClip){.frame = clip->view,
                      .first = behind ? clip->cut : 0,
                      .end = clip->cut > 0 && !behind ? clip->cut : clip->n_frames,
                      .now = f,
                      .border = clip->border};
}

/* Finds the slots of the frames under the taps in time, for frame f. */
static void
list_slots(const Clip *clip, int f, int slot[CNV_MAX_TEMPORAL_TAPS])
{
  const OracleClip seen = stretch(clip, f);

  for (int k = 0; k < clip->time.n; k++) {
    const int from = f + k - clip->time.anchor;

    slot[k] = from >= seen.first && from < seen.end ? from % clip->time.n : -1;
  }
}

static gboolean
submit_frame(Clip *clip, CnvSession *session, CnvPlan *const *plan, int f, GError **error)
{
  const CnvFrame kept = {.memory = CNV_MEMORY_HISTORY, .slot = f % clip->time.n};
  int slot[CNV_MAX_TEMPORAL_TAPS];
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  CnvWork work = clip->work;
  gboolean right;

  list_slots(clip, f, slot);
  work.plan = plan;
  work.temporal_tap = temporal_tap;
  work.n_temporal_taps = cnv_temporal_taps_make(plan[0], slot, clip->border, temporal_tap);
  right = cnv_session_submit(session, &work, &kept, &clip->run[f].to, error);
  memset(temporal_tap, 0x55, sizeof temporal_tap); /* the session must not use it any more */
  return right && (!clip->one_by_one || cnv_session_wait(session, error));
}

/* Pushes a frame into the history. Two of three frames may be used without a copy, and are on a GPU if they are
 * joined. */
static gboolean
push_frame(Clip *clip, CnvSession *session, int f, GError **error)
{
  const CnvFrame *from = &clip->run[f].from;
  const gboolean asks = f % 3 != 1;
  gboolean kept = TRUE;

  if (!cnv_session_history_push(session, f % clip->time.n, from, FALSE, asks ? &kept : NULL, error))
    return FALSE;
  if (asks && kept != (from->memory == CNV_MEMORY_DEVICE && clip->in[f].joined))
    test_fail("%s: frame %d was%s copied", clip->what, f, kept ? " not" : "");
  return TRUE;
}

/* Submits all frames. Each one is pushed just before the first output that needs it, into the slot of a frame that is
 * not needed any more. */
static gboolean
submit_clip(Clip *clip, CnvSession *session, CnvPlan *const *plan, GError **error)
{
  const int ahead = clip->time.n - 1 - clip->time.anchor;
  int n = 0;

  if (!cnv_session_history_alloc(session, &clip->image, clip->time.n, error))
    return FALSE;
  for (int f = 0; f < clip->n_frames; f++) {
    for (; n < clip->n_frames && n <= f + ahead; n++)
      if (!push_frame(clip, session, n, error))
        return FALSE;
    if (!submit_frame(clip, session, plan, f, error))
      return FALSE;
  }
  return cnv_session_wait(session, error);
}

static void
check_clip(Clip *clip, CnvPlan *const *plan, const guint64 *hash, const char *name)
{
  CnvWork work = clip->work;

  work.plan = plan;
  for (int f = 0; f < clip->n_frames; f++) {
    const OracleClip seen = stretch(clip, f);
    char *what = g_strdup_printf("%s, %s, frame %d", name, clip->what, f);

    test_clip_check(&work, &seen, &clip->in[f], &clip->out[f], what);
    if (test_frame_hash(&clip->in[f]) != hash[f])
      test_fail("%s: the input was written to", what);
    g_free(what);
  }
}

static guint64
frame_bytes(const Clip *clip)
{
  guint64 bytes = 0;

  for (int m = 0; m < oracle_n_frame_planes(clip->image.format); m++)
    bytes += (guint64)clip->in[0].plane[m].row_bytes * clip->in[0].plane[m].rows;
  return bytes;
}

/* Checks that each frame is uploaded once, however often it is used. */
static void
check_stats(const Clip *clip, const TestVariant *v, const CnvSessionStats *before, const char *name)
{
  const gboolean uploads = v->backend->takes_device_memory && v->memory == CNV_MEMORY_HOST;
  const guint64 expected = uploads ? frame_bytes(clip) * clip->n_frames : 0;
  const guint64 uploaded = v->session->stats.bytes_uploaded - before->bytes_uploaded;

  if (uploaded != expected)
    test_fail("%s, %s: %" G_GUINT64_FORMAT " bytes were uploaded, not %" G_GUINT64_FORMAT, name, clip->what, uploaded,
              expected);
  if (v->session->stats.frames - before->frames != (guint64)clip->n_frames)
    test_fail("%s, %s: stats.frames grew by %" G_GUINT64_FORMAT, name, clip->what,
              v->session->stats.frames - before->frames);
}

static void
run_plans(Clip *clip, TestVariant *v, CnvPlan *const *plan, const char *name)
{
  const CnvSessionStats before = v->session->stats;
  guint64 hash[MAX_FRAMES];
  GError *error = NULL;

  for (int f = 0; f < clip->n_frames; f++) {
    hash[f] = test_frame_hash(&clip->in[f]);
    test_frame_init(&clip->out[f], clip->image.format, WIDTH, HEIGHT, out_layout);
    test_run_init(&clip->run[f], v->memory, &clip->in[f], &clip->out[f]);
  }
  if (submit_clip(clip, v->session, plan, &error)) {
    check_stats(clip, v, &before, name);
  } else {
    test_fail("%s, %s: %s", name, clip->what, error->message);
    cnv_session_wait(v->session, NULL);
  }
  for (int f = 0; f < clip->n_frames; f++)
    test_run_finish(&clip->run[f]);
  if (!error)
    check_clip(clip, plan, hash, name);
  for (int f = 0; f < clip->n_frames; f++)
    test_frame_clear(&clip->out[f]);
  g_clear_error(&error);
  v->runs++;
}

/* Checks that the requested algorithm is the one that runs. */
static void
check_plan(const Clip *clip, const TestVariant *v, const CnvPlan *plan, const char *name)
{
  if (plan->n_temporal_taps != clip->time.n || plan->center != clip->time.anchor ||
      !plan->not_time_separable != !clip->time.not_time_separable)
    test_fail("%s, %s: %d taps in time, number %d now, solid %d", name, clip->what, plan->n_temporal_taps, plan->center,
              plan->not_time_separable);
  for (int p = 0; p < plan->n_planes; p++)
    if (plan->plane[p].filtered && plan->plane[p].algorithm != v->algorithm)
      test_fail("%s, %s: plane %d is done by %s", name, clip->what, p,
                cnv_algorithm_nicks[plan->plane[p].algorithm].nick);
}

/* Returns TRUE if the algorithm has no reason to reject the clip, for a single plane of 8 bits on a GPU. fused must
 * support means of few enough frames that shared memory has room for their tiles. tensor must support 3D kernels, if
 * the GPU has tensor cores. */
static gboolean
must_be_fast(const Clip *clip, const TestVariant *v, const GError *refusal)
{
  if (strcmp(v->backend->name, "cuda") != 0 || strcmp(clip->image.format->name, "GRAY8") != 0)
    return FALSE;
  if (v->algorithm == CNV_ALGORITHM_FUSED)
    return clip->row->kind == MEANS && !clip->time.not_time_separable && clip->time.n <= 7 &&
           clip->filter.temporal_threshold == 0;
  return v->algorithm == CNV_ALGORITHM_TENSOR && clip->time.not_time_separable &&
         clip->filter.border != CNV_BORDER_RENORMALIZE && !strstr(refusal->message, "compute capability");
}

static void
check_refusal(const Clip *clip, TestVariant *v, const GError *error, const char *name)
{
  const gboolean never = v->algorithm == CNV_ALGORITHM_NAIVE || must_be_fast(clip, v, error) ||
                         (v->algorithm == CNV_ALGORITHM_SEPARABLE && clip->row->kind != ANY);

  if (never || error->code != CNV_ERROR_UNSUPPORTED)
    test_fail("%s, %s: no plan: %s", name, clip->what, error->message);
  v->refusals++;
}

static void
run_variant(Clip *clip, TestVariant *v)
{
  CnvPlan *plan[MAX_PLANS] = {NULL};
  CnvFilter filter = clip->filter; /* borrows the references: only the radius changes */
  char *name = test_variant_name(v);
  GError *error = NULL;

  for (guint i = 0; i < clip->work.n_plans && !error; i++) {
    plan[i] = cnv_plan_new(&filter, &clip->image, v->algorithm, v->backend, &error);
    filter.radius += clip->row->filter.radius == 0 ? 2 : 0; /* unless it has a radius of its own */
  }
  if (error) {
    check_refusal(clip, v, error, name);
  } else {
    check_plan(clip, v, plan[0], name);
    run_plans(clip, v, plan, name);
  }
  for (guint i = 0; i < clip->work.n_plans; i++)
    cnv_plan_unref(plan[i]);
  g_clear_error(&error);
  g_free(name);
}

static void
give_up_history(void)
{
  const CnvImage image = {cnv_format_find("GRAY8"), WIDTH, HEIGHT, 0.2126, 0.0722, FALSE};

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (!cnv_session_history_alloc(v->session, &image, 0, NULL))
      test_fail("%s: the history could not be given up", v->backend->name);
  }
}

START_TEST(test_clips)
{
  static const char *const formats[] = {"GRAY8", "NV12", "RGBA", "P010_10LE", "YUY2", "A420"};

  for (guint k = 0; k < G_N_ELEMENTS(filters); k++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      for (int border = 0; border < N_TEMPORAL_BORDERS; border++) {
        Clip clip;
        guint32 seed;

        if (!test_case_begins(&seed))
          continue;
        clip_init(&clip, &filters[k], formats[f], border, seed);
        for (guint i = 0; i < test_variants->len; i++)
          run_variant(&clip, &g_array_index(test_variants, TestVariant, i));
        clip_clear(&clip);
      }
  give_up_history();
  test_set_finish("clips");
}
END_TEST

TCase *
test_time_tcase(void)
{
  TCase *tcase = tcase_create("time");

  tcase_add_test(tcase, test_clips);
  return tcase;
}
