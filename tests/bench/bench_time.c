/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames that rotate through more memory than any L2 cache holds, so that each is read from DRAM and written to it, and
 * their time back to back.
 */
#include "plan/plan.h"
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/oracle.h"

#define DISC 160 /* cells along a side of a mask, as segmenters produce */
#define PAIRS_MIN 16
#define BATCH_MIN 64      /* frames between two events on a GPU, if they are fast */
#define HOST_BATCH_US 1e3 /* long compared with the clock's microsecond */
#define REPEATS_MIN 3

static gsize
frame_bytes(const TestFrame *frame)
{
  gsize bytes = 0;

  for (int i = 0; i < oracle_n_frame_planes(frame->format); i++)
    bytes += (gsize)frame->plane[i].row_bytes * frame->plane[i].rows;
  return bytes;
}

/* Returns a disc with an edge of one cell, or noise. */
static CnvMask *
make_mask(gboolean noise)
{
  guint8 cells[DISC * DISC];

  for (int i = 0; i < DISC * DISC; i++)
    cells[i] =
        noise
            ? (guint8)(i * 7919 >> 3)
            : (guint8)(255 * CLAMP(DISC / 2.0 - hypot(i % DISC + 0.5 - DISC / 2.0, i / DISC + 0.5 - DISC / 2.0), 0, 1));
  return cnv_mask_new(DISC, DISC, DISC, cells);
}

void
bench_frames_init(BenchFrames *f, const TestCase *c, CnvSession *session, CnvMemory memory, double rotating_bytes)
{
  const TestLayout layout = {.joined = TRUE};

  *f = (BenchFrames){.session = session, .memory = memory};
  f->mask = make_mask(c->noise);
  f->n_regions = test_case_squares(c, f->mask, f->region);
  f->feather = c->feather;
  f->isolated = c->isolated;
  f->invert = c->invert;
  test_frame_init(&f->in, cnv_format_find(c->format), c->width, c->height, layout);
  test_frame_init(&f->out, cnv_format_find(c->format), c->width, c->height, layout);
  test_frame_fill(&f->in, TEST_NOISE, test_options.seed);
  f->bytes = frame_bytes(&f->in);
  f->n_pairs = memory == CNV_MEMORY_DEVICE ? MAX(PAIRS_MIN, (int)(rotating_bytes / (2.0 * f->bytes)) + 1) : 1;
  f->pair = g_new0(TestRun, f->n_pairs);
  for (int i = 0; i < f->n_pairs; i++)
    test_run_init(&f->pair[i], memory, &f->in, &f->out);
}

void
bench_frames_clear(BenchFrames *f)
{
  for (int i = 0; i < f->n_pairs; i++)
    test_run_finish(&f->pair[i]);
  g_free(f->pair);
  test_frame_clear(&f->in);
  test_frame_clear(&f->out);
  cnv_mask_unref(f->mask);
}

/* Pushes a frame into the history. It may be used without a copy, because its memory does not change. */
static gboolean
push(const BenchFrames *f, int slot, const TestRun *pair, GError **error)
{
  gboolean kept;

  return cnv_session_history_push(f->session, slot, &pair->from, FALSE, &kept, error);
}

gboolean
bench_frames_fill_history(const BenchFrames *f, const CnvPlan *plan, GError **error)
{
  int n = plan->n_temporal_taps;
  gboolean ok = n == 1 || cnv_session_history_alloc(f->session, &plan->image, n, error);

  for (int i = 0; i < n && n > 1 && ok; i++)
    ok = push(f, i, &f->pair[i % f->n_pairs], error);
  return ok;
}

/* Pushes a frame as number i of a stream, and submits the output in which it is the last frame. */
static gboolean
submit_in_time(const BenchFrames *f, CnvPlan *plan, const TestRun *pair, int i, GError **error)
{
  const int n = plan->n_temporal_taps;
  CnvTemporalTap temporal_tap[CNV_MAX_TEMPORAL_TAPS];
  CnvWork work = CNV_WORK_ALL(&plan);
  CnvFrame in = {.memory = CNV_MEMORY_HISTORY, .slot = i % n};
  int slot[CNV_MAX_TEMPORAL_TAPS];

  for (int k = 0; k < n; k++)
    slot[k] = (i + 1 + k) % n;
  work.temporal_tap = temporal_tap;
  work.n_temporal_taps = cnv_temporal_taps_make(plan, slot, CNV_TEMPORAL_REPLICATE, temporal_tap);
  return push(f, i % n, pair, error) && cnv_session_submit(f->session, &work, &in, &pair->to, error);
}

/* Returns the work of a plan on a frame. It points to the plan's pointer. */
static CnvWork
work_of(const BenchFrames *f, CnvPlan *const *plan)
{
  return (CnvWork){.plan = plan,
                   .n_plans = 1,
                   .whole_frame = f->n_regions == 0,
                   .region = f->region,
                   .n_regions = f->n_regions,
                   .invert = f->invert,
                   .isolated = f->isolated,
                   .feather = f->feather};
}

gboolean
bench_frames_can_in_place(const BenchFrames *f, CnvPlan *plan)
{
  const CnvWork work = work_of(f, &plan);

  return f->memory == CNV_MEMORY_DEVICE && cnv_session_can_in_place(f->session, &work);
}

static gboolean
submit(const BenchFrames *f, const BenchWay *way, int i, GError **error)
{
  const CnvWork work = work_of(f, &way->plan);
  const TestRun *pair = &f->pair[i % f->n_pairs];

  if (way->copy)
    return test_copy(f->session, way->plan, &pair->from, &pair->to, error);
  if (way->rival)
    return bench_rival_run(way->rival, &pair->from, &pair->to, error);
  if (way->plan->n_temporal_taps > 1)
    return submit_in_time(f, way->plan, pair, i, error);
  return cnv_session_submit(f->session, &work, &pair->from, way->in_place ? &pair->from : &pair->to, error);
}

static void
check(const BenchFrames *f, gboolean right, GError *error)
{
  if (!right)
    g_error("%s: %s", f->session->backend->name, error->message);
}

/* Returns the microseconds of `count` frames together. */
static double
batch_us(BenchFrames *f, const BenchWay *way, int count)
{
  GError *error = NULL;

  test_timer_start(f->session);
  for (int i = 0; i < count; i++)
    check(f, submit(f, way, f->next++, &error), error);
  return test_timer_stop(f->session);
}

static int
by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static int
batch_frames(const BenchFrames *f, const BenchEffort *effort, double frame_us)
{
  if (f->memory == CNV_MEMORY_DEVICE)
    return CLAMP(effort->budget_us / effort->repeats / frame_us, 1, MAX(BATCH_MIN, f->n_pairs));
  return CLAMP(HOST_BATCH_US / frame_us, 1, BATCH_MIN);
}

BenchTiming
bench_measure(BenchFrames *f, const BenchWay *way, const BenchEffort *effort)
{
  double *us = g_new(double, effort->repeats), spent = 0;
  int n = 0, frames = 0, count;
  BenchTiming timing;
  GError *error = NULL;

  f->next = 0;
  for (; frames == 0 || spent < effort->warm_us; frames += f->n_pairs)
    spent += batch_us(f, way, f->n_pairs);
  count = batch_frames(f, effort, spent / frames);
  spent = 0;
  while (n < effort->repeats && (n < REPEATS_MIN || spent < effort->budget_us)) {
    const double batch = batch_us(f, way, count);

    us[n++] = batch / count;
    spent += batch;
  }
  check(f, cnv_session_wait(f->session, &error), error);
  qsort(us, n, sizeof *us, by_value);
  timing = (BenchTiming){us[n / 2], us[0], us[n - 1], n};
  g_free(us);
  return timing;
}

/* Copies pair 0's output to f->out. */
static void
fetch(BenchFrames *f)
{
  GError *error = NULL;

  check(f, cnv_session_wait(f->session, &error), error);
  test_device_frame_read(&f->pair[0].device_out, &f->out);
}

gint64
bench_compare(BenchFrames *f, CnvPlan *plan, BenchRival *rival)
{
  const BenchWay ours = {.plan = plan}, copy = {.plan = plan, .copy = TRUE}, theirs = {.plan = plan, .rival = rival};
  const CnvPlane *p = &plan->plane[0];
  const TestPlane *memory = &f->out.plane[0];
  GError *error = NULL;
  gint64 off = 0;
  guint8 *expected;

  check(f, submit(f, &ours, 0, &error), error);
  fetch(f);
  expected = g_malloc(memory->size);
  memcpy(expected, memory->block, memory->size);
  /* The output has the input first, so that a rival that writes nothing is noticed. */
  check(f, submit(f, &copy, 0, &error) && submit(f, &theirs, 0, &error), error);
  fetch(f);
  for (gsize i = 0; i < memory->size; i++)
    if (p->filtered >> i % p->channels & 1)
      off += ABS(expected[i] - memory->block[i]) > 1;
  g_free(expected);
  return off;
}
