/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs filters on frames of chosen samples, by every variant of the engine.
 */
#include "engine/trial.h"

#include <math.h>

#define LOOSE_SHARE 0.02 /* of samples that may be one off if two results of the same numbers are compared */

static const TestLayout in_layout = {0, 8, 24}, out_layout = {64, 16, 8};

static void
enter_channel(const TestFrame *frame, TrialSample *s)
{
  const CnvFormat *format = frame->format;

  s->x = s->y = 0;
  s->width = oracle_plane_width(format, s->plane, frame->width);
  s->height = oracle_plane_height(format, s->plane, frame->height);
  s->role = format->plane[s->plane].role[s->channel];
  s->full = (1 << oracle_component(format, s->plane, s->channel).depth) - 1;
  s->zero = s->role == CNV_ROLE_U || s->role == CNV_ROLE_V ? (s->full + 1) / 2 : 0;
}

gboolean
trial_next_sample(const TestFrame *frame, TrialSample *s)
{
  if (s->begun && ++s->x < s->width)
    return TRUE;
  s->x = 0;
  if (s->begun && ++s->y < s->height)
    return TRUE;
  if (s->begun && ++s->channel == frame->format->plane[s->plane].channels) {
    s->channel = 0;
    s->plane++;
  }
  s->begun = TRUE;
  if (s->plane == frame->format->n_planes)
    return FALSE;
  enter_channel(frame, s);
  return TRUE;
}

int
trial_value(const TestFrame *frame, const TrialSample *s, int x, int y)
{
  return test_frame_get(frame, s->plane, s->channel, x, y);
}

guint
trial_noise(const Trial *t, const TrialSample *s, int x, int y, int which)
{
  guint32 state = (t->seed + which) * 2654435761u ^ (guint32)(s->plane * 4 + s->channel) * 2246822519u ^
                  (guint32)x * 3266489917u ^ (guint32)y * 668265263u;

  state |= state == 0;
  test_random(&state);
  test_random(&state);
  return (test_random(&state) >> 8) & (guint)s->full;
}

void
trial_fill(Trial *t, int which, int width, int height, TrialFill value)
{
  TestFrame *frame = &t->in[which];

  test_frame_init(frame, t->image.format, width, height, in_layout);
  for (TrialSample s = {0}; trial_next_sample(frame, &s);)
    test_frame_put(frame, s.plane, s.channel, s.x, s.y, value(t, &s, which));
}

gboolean
trial_init(Trial *t, const char *law, const TestFilter *row, const char *format, int width, int height,
           CnvBorder border)
{
  const TestCase c = {.format = format, .width = width, .height = height, .full_range = TRUE};

  *t = (Trial){.law = law, .row = row};
  if (!test_case_begins(&t->seed))
    return FALSE;
  test_image_make(&c, &t->image);
  test_filter_make(row, 3, t->seed, &t->filter);
  t->filter.border = border;
  cnv_filter_copy(&t->other, &t->filter);
  return TRUE;
}

void
trial_clear(Trial *t)
{
  for (int i = 0; i < 3; i++)
    test_frame_clear(&t->in[i]);
  cnv_filter_clear(&t->filter);
  cnv_filter_clear(&t->other);
}

static char *
trial_name(const Trial *t)
{
  char *variant = test_variant_name(t->v), *label = test_case_label();
  char *name = g_strdup_printf("law of %s, %s, %s: %s %dx%d, filter %s, border %s", t->law, variant, label,
                               t->image.format->name, t->image.width, t->image.height, t->row->name,
                               cnv_border_nicks[t->filter.border].nick);

  g_free(variant);
  g_free(label);
  return name;
}

void
trial_fail(const Trial *t, const char *why)
{
  char *name = trial_name(t);

  test_fail("%s: %s", name, why);
  g_free(name);
}

CnvPlan *
trial_plan(const Trial *t, const CnvFilter *filter, const TestFrame *in)
{
  CnvImage image = t->image;
  GError *error = NULL;
  CnvPlan *plan;

  image.width = in->width;
  image.height = in->height;
  plan = cnv_plan_new(filter, &image, t->v->algorithm, t->v->backend, &error);
  if (!plan && (t->v->algorithm == CNV_ALGORITHM_NAIVE || error->code != CNV_ERROR_UNSUPPORTED))
    trial_fail(t, error->message);
  t->v->refusals += !plan;
  g_clear_error(&error);
  return plan;
}

void
trial_submit(Trial *t, CnvPlan *plan, int which, gboolean (*start)(Trial *, CnvPlan *, TestRun *, GError **))
{
  GError *error = NULL;
  TestRun run;

  test_frame_init(&t->out[which], t->image.format, t->in[which].width, t->in[which].height, out_layout);
  test_run_init(&run, t->v->memory, &t->in[which], &t->out[which]);
  if (!start(t, plan, &run, &error) || !cnv_session_wait(t->v->session, &error))
    trial_fail(t, error->message);
  g_clear_error(&error);
  test_run_finish(&run);
  t->v->runs++;
}

static gboolean
start_frame(Trial *t, CnvPlan *plan, TestRun *run, GError **error)
{
  const CnvWork work = CNV_WORK_ALL(&plan);

  return cnv_session_submit(t->v->session, &work, &run->from, &run->to, error);
}

gboolean
trial_run(Trial *t, const CnvFilter *filter, int which)
{
  CnvPlan *plan = trial_plan(t, filter, &t->in[which]);

  if (!plan)
    return FALSE;
  trial_submit(t, plan, which, start_frame);
  cnv_plan_unref(plan);
  return TRUE;
}

void
trial_run_all(Trial *t, int n, void (*check)(Trial *t))
{
  for (guint i = 0; i < test_variants->len; i++) {
    gboolean done = TRUE;

    t->v = &g_array_index(test_variants, TestVariant, i);
    for (int f = 0; f < n && done; f++)
      done = trial_run(t, f == 0 ? &t->filter : &t->other, f);
    if (done)
      check(t);
    for (int f = 0; f < n; f++)
      test_frame_clear(&t->out[f]);
  }
}

double
trial_rounding(const Trial *t)
{
  return t->v->algorithm == CNV_ALGORITHM_TENSOR || t->image.format->depth > 12 ? 1.5 : 0.51;
}

void
trial_check(Trial *t, const TestFrame *out, TrialExpect expect, double tolerance, gboolean limits_inexact)
{
  guint n = 0, off = 0, bad = 0;

  for (TrialSample s = {0}; trial_next_sample(out, &s);) {
    const double expected = expect(t, &s);
    const int got = trial_value(out, &s, s.x, s.y);
    char *why;

    if (isnan(expected) || !oracle_filters(&t->filter, out->format, s.plane, s.channel))
      continue;
    n++;
    off += got != expected;
    if (fabs(got - expected) <= tolerance || bad++)
      continue;
    why = g_strdup_printf("plane %d channel %d x %d y %d is %d, not %g", s.plane, s.channel, s.x, s.y, got, expected);
    trial_fail(t, why);
    g_free(why);
  }
  if (limits_inexact && test_filter_is_positive(t->row) && t->row->taps != TAPS_FIXED && off > 2 + LOOSE_SHARE * n)
    trial_fail(t, "too many samples are one off");
}
