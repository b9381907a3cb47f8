/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What must hold between frames: plans and regions that change at every frame while earlier frames are in flight,
 * sessions with different taps side by side, sessions in threads, numbers of threads, and frames that the front door
 * rejects.
 */
#include <gst/check/gstcheck.h>

#include <string.h>

#include "plan/plan.h"
#include "support/cases.h"

#define FRAMES 12
#define STEPS 34
#define REGIONS 8
#define THREADS 4
#define THREAD_FRAMES 40
#define NAIVE_FRAMES 4 /* naive is slow, and keeps nothing from frame to frame */

static const CnvSessionOptions any_device = {.device = -1};

/* Multiples of 4, because a GPU accesses words. kernels.c has cases with odd addresses. */
static const TestLayout in_layout = {0, 8, 4}, out_layout = {64, 4, 8};

/* Filters that are unlike each other. Every algorithm supports them. */
static const struct {
  const char *filter;
  int radius;
} mix[] = {{"gaussian", 8}, {"identity", 0}, {"axes-5x4", 0}, {"box", 20}, {"axes-0x33", 0}};

static CnvPlan *
mixed_plan(guint which, const TestVariant *v, const char *format, int width, int height)
{
  TestCase c = {.format = format, .width = width, .height = height};
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan;
  GError *error = NULL;

  which %= G_N_ELEMENTS(mix);
  test_filter_make(test_filter_find(mix[which].filter), mix[which].radius, test_options.seed, &filter);
  filter.border = which;
  test_image_make(&c, &image);
  plan = cnv_plan_new(&filter, &image, v->algorithm, v->backend, &error);
  if (!plan && !g_error_matches(error, CNV_ERROR, CNV_ERROR_UNSUPPORTED))
    test_fail("%s: no plan: %s", v->backend->name, error->message);
  g_clear_error(&error);
  cnv_filter_clear(&filter);
  return plan;
}

/* A frame and its work. Slots are submitted to sessions in turn without waiting. Then all are waited for and
 * checked. */
typedef struct {
  CnvPlan *plan[TEST_MAX_PLANS];
  CnvRegion region[REGIONS];
  CnvWork work;
  TestFrame in, out;
  TestRun run;
} Slot;

/* Prepares a slot, and takes ownership of plan. The whole frame is filtered, unless the caller changes the work. */
static void
slot_init(Slot *slot, CnvPlan *plan, const TestVariant *v, guint32 seed)
{
  const CnvImage *image = &plan->image;

  memset(slot, 0, sizeof *slot);
  slot->plan[0] = plan;
  slot->work = CNV_WORK_ALL(slot->plan);
  slot->work.region = slot->region;
  test_frame_init(&slot->in, image->format, image->width, image->height, in_layout);
  test_frame_init(&slot->out, image->format, image->width, image->height, out_layout);
  test_frame_fill(&slot->in, TEST_NOISE, seed);
  test_run_init(&slot->run, v->memory, &slot->in, &slot->out);
}

static void
slot_finish(Slot *slot, const char *what)
{
  test_run_finish(&slot->run);
  test_output_check(&slot->work, &slot->in, &slot->out, what);
  test_frame_clear(&slot->in);
  test_frame_clear(&slot->out);
  for (guint i = 0; i < slot->work.n_plans; i++)
    cnv_plan_unref(slot->plan[i]);
}

/* Submits all slots, waits, and checks them. n_streams: number of streams on which the sessions work in turn, without a
 * wait in between; 0: their own stream. */
static void
run_slots(Slot *slots, int n, CnvSession *const *sessions, int n_sessions, int n_streams, const char *what)
{
  GError *error = NULL;

  for (int i = 0; i < n && !error; i++) {
    CnvSession *session = sessions[i % n_sessions];

    if (cnv_session_use_stream(session, n_streams > 0 ? test_device_stream(i % n_streams) : NULL, &error))
      cnv_session_submit(session, &slots[i].work, &slots[i].run.from, &slots[i].run.to, &error);
  }
  for (int i = 0; i < n_sessions && !error; i++)
    cnv_session_wait(sessions[i], &error);
  if (error)
    test_fail("%s, %s: %s", sessions[0]->backend->name, what, error->message);
  g_clear_error(&error);
  for (int i = 0; i < n; i++)
    slot_finish(&slots[i], what);
}

/* Runs frames with different plans. Returns the number of frames that the variant supports. */
static int
run_mixed(const TestVariant *v, CnvSession *const *sessions, int n_sessions, int n_streams, const char *what)
{
  static const char *const formats[] = {"NV12", "RGB", "GRAY16_LE"};
  Slot slots[FRAMES];
  int n = 0;

  for (guint i = 0; i < FRAMES; i++) {
    CnvPlan *plan = mixed_plan(i, v, formats[i / 4], i < 8 ? 90 : 33, i % 4 == 3 ? 20 : 61);

    if (plan)
      slot_init(&slots[n++], plan, v, test_options.seed + i);
  }
  run_slots(slots, n, sessions, n_sessions, n_streams, what);
  return n;
}

static CnvSession *
open_session(const CnvBackend *backend, const CnvSessionOptions *options)
{
  CnvSessionOptions with_simd = *options;
  GError *error = NULL;
  CnvSession *session;

  if (!with_simd.simd)
    with_simd.simd = test_options.simd;
  session = backend->open(&with_simd, &error);
  ck_assert_msg(session != NULL, "%s: %s", backend->name, error ? error->message : "no error was set");
  return session;
}

START_TEST(test_plan_changes)
{
  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    const guint64 before = v->session->stats.frames;
    const int ran = run_mixed(v, &v->session, 1, 0, "a new plan at every frame");

    ck_assert_msg(v->session->stats.frames - before == (guint64)ran, "%s %s: %d frames ran, stats.frames grew by %d",
                  v->backend->name, cnv_algorithm_nicks[v->algorithm].nick, ran,
                  (int)(v->session->stats.frames - before));
  }
  test_set_finish("plan changes");
}
END_TEST

/* Returns a plan for regions of a frame, or NULL if the variant does not support it. */
static CnvPlan *
blur_plan(const TestVariant *v, const char *format, int radius)
{
  TestCase c = {.format = format, .width = 90, .height = 61};
  CnvFilter filter;
  CnvImage image;
  CnvPlan *plan;
  GError *error = NULL;

  test_filter_make(test_filter_find("gaussian"), radius, test_options.seed, &filter);
  test_image_make(&c, &image);
  plan = cnv_plan_new(&filter, &image, v->algorithm, v->backend, &error);
  cnv_filter_clear(&filter);
  ck_assert_msg(plan || error->code == CNV_ERROR_UNSUPPORTED, "radius %d: %s", radius, plan ? "" : error->message);
  g_clear_error(&error);
  return plan;
}

/* Sets regions other than in the frame before, with several plans; some in fields, inverted or isolated. */
static void
slot_regions(Slot *slot, const TestVariant *v, const char *format, guint32 *state)
{
  CnvWork *work = &slot->work;

  work->whole_frame = FALSE;
  work->n_plans = 1 + test_random(state) % TEST_MAX_PLANS;
  for (guint i = 1; i < work->n_plans; i++)
    slot->plan[i] = blur_plan(v, format, 2 + 3 * i);
  work->n_regions = test_random(state) % (REGIONS + 1);
  for (guint i = 0; i < work->n_regions; i++)
    slot->region[i] = (CnvRegion){{(int)(test_random(state) % 100) - 10, (int)(test_random(state) % 70) - 10,
                                   test_random(state) % 60, test_random(state) % 40},
                                  test_random(state) % work->n_plans};
  work->feather = test_random(state) % 3 == 0 ? 3 : 0;
  work->invert = test_random(state) % 4 == 0;
  work->isolated = test_random(state) % 4 == 0;
  work->interlaced = test_random(state) % 4 == 0;
}

static void
run_regions(TestVariant *v, const char *format, guint32 *state)
{
  const guint64 before = v->session->stats.frames;
  Slot slots[FRAMES];

  for (int n = 0; n < FRAMES; n++) {
    CnvPlan *plan = blur_plan(v, format, 1 + n % 3);

    if (!plan)
      return;
    slot_init(&slots[n], plan, v, test_options.seed + n);
    if (n % 4 != 3)
      slot_regions(&slots[n], v, format, state);
  }
  run_slots(slots, FRAMES, &v->session, 1, 0, "other regions at every frame");
  ck_assert_int_eq(v->session->stats.frames - before, FRAMES);
}

/* Sets regions. Two frames have the same work, and the next two differ from them in only one thing, by the bits of the
 * number's Gray code. */
static void
slot_step(Slot *slot, guint n)
{
  const guint bits = n / 2 ^ n / 4;
  CnvWork *work = &slot->work;

  work->whole_frame = bits >> 4 & 1;
  work->n_plans = 2;
  work->n_regions = 2 + (bits & 1);
  for (guint i = 0; i < work->n_regions; i++)
    slot->region[i] = (CnvRegion){{5 + 20 * i, 7 + 9 * i, 17, 21}, i % 2};
  slot->region[0].rect.x += 3 * (bits >> 1 & 1);
  slot->region[1].plan ^= bits >> 2 & 1;
  work->interlaced = bits >> 3 & 1;
}

static void
run_steps(TestVariant *v, const char *format)
{
  CnvPlan *plans[] = {blur_plan(v, format, 2), blur_plan(v, format, 7)};
  Slot slots[STEPS];

  for (guint n = 0; n < STEPS && plans[0] && plans[1]; n++) {
    slot_init(&slots[n], cnv_plan_ref(plans[0]), v, test_options.seed + n);
    slots[n].plan[1] = cnv_plan_ref(plans[1]);
    slot_step(&slots[n], n);
  }
  if (plans[0] && plans[1])
    run_slots(slots, STEPS, &v->session, 1, 0, "regions that stay, or change by one thing");
  g_clear_pointer(&plans[0], cnv_plan_unref);
  g_clear_pointer(&plans[1], cnv_plan_unref);
}

/* Taps, tables and device buffers of a session stay in order when the stream changes. */
START_TEST(test_stream_changes)
{
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    GError *error = NULL;

    run_mixed(v, &v->session, 1, 3, "a new plan and another stream at every frame");
    if (!cnv_session_use_stream(v->session, NULL, &error))
      test_fail("%s: %s", v->backend->name, error->message);
    g_clear_error(&error);
  }
  test_set_finish("stream changes");
}
END_TEST

START_TEST(test_region_changes)
{
  guint32 state = test_options.seed | 1;

  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    run_regions(v, "NV12", &state);
    run_regions(v, "RGBA", &state);
    run_steps(v, "NV12");
  }
  test_set_finish("region changes");
}
END_TEST

START_TEST(test_sessions_in_turn)
{
  for (guint i = 0; i < test_variants->len; i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvSession *sessions[3] = {v->session, open_session(v->backend, &any_device),
                               open_session(v->backend, &any_device)};

    run_mixed(v, sessions, 3, 0, "three sessions in turn");
    cnv_session_close(sessions[1]);
    cnv_session_close(sessions[2]);
  }
  test_set_finish("sessions in turn");
}
END_TEST

START_TEST(test_cpu_threads)
{
  static const int counts[] = {1, 2, 7, 64};

  for (guint i = 0; i < test_variants->len; i++)
    for (guint t = 0; t < G_N_ELEMENTS(counts); t++) {
      const CnvSessionOptions options = {.device = -1, .n_threads = counts[t]};
      const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
      CnvSession *session;

      if (strcmp(v->backend->name, "cpu") != 0)
        continue;
      session = open_session(v->backend, &options);
      run_mixed(v, &session, 1, 0, "another number of threads");
      cnv_session_close(session);
    }
  test_set_finish("threads of the CPU engine");
}
END_TEST

/* An instruction set other than the best: one that every machine of the family has. */
START_TEST(test_cpu_simd)
{
#ifdef __aarch64__
  const char *least = "neon";
#else
  const char *least = "plain";
#endif
  const CnvSessionOptions options = {.device = -1, .simd = least};

  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvSession *session;

    if (strcmp(v->backend->name, "cpu") != 0)
      continue;
    session = open_session(v->backend, &options);
    ck_assert_msg(g_str_has_suffix(session->device_name, least), "%s, not %s", session->device_name, least);
    run_mixed(v, &session, 1, 0, "the least instruction set");
    cnv_session_close(session);
  }
  test_set_finish("the least instruction set");
}
END_TEST

/* A session in a thread of its own, always with the same frame: the output must equal the output without other
 * threads. */
typedef struct {
  CnvSession *session;
  CnvPlan *plan;
  TestFrame in, out;
  guint64 alone; /* hash of the output without other threads */
  int frames;
  guint different;
} Worker;

static gboolean
worker_frame(Worker *w)
{
  const CnvWork work = CNV_WORK_ALL(&w->plan);
  CnvFrame from, to;

  test_frame_view(&w->in, &from);
  test_frame_view(&w->out, &to);
  return cnv_session_submit(w->session, &work, &from, &to, NULL) && cnv_session_wait(w->session, NULL);
}

static gpointer
worker_run(gpointer data)
{
  Worker *w = data;

  for (int i = 0; i < w->frames; i++)
    w->different += !worker_frame(w) || test_frame_hash(&w->out) != w->alone;
  return NULL;
}

static void
worker_init(Worker *w, const TestVariant *v, CnvPlan *plan, guint which)
{
  const CnvWork work = CNV_WORK_ALL(&w->plan);

  *w = (Worker){.session = open_session(v->backend, &any_device), .plan = plan};
  w->frames = v->algorithm == CNV_ALGORITHM_NAIVE ? NAIVE_FRAMES : THREAD_FRAMES;
  test_frame_init(&w->in, plan->image.format, plan->image.width, plan->image.height, in_layout);
  test_frame_init(&w->out, plan->image.format, plan->image.width, plan->image.height, out_layout);
  test_frame_fill(&w->in, TEST_NOISE, test_options.seed + which);
  if (!worker_frame(w))
    test_fail("%s: a frame failed", v->backend->name);
  test_output_check(&work, &w->in, &w->out, "a session in a thread");
  w->alone = test_frame_hash(&w->out);
}

static void
worker_clear(Worker *w)
{
  cnv_session_close(w->session);
  test_frame_clear(&w->in);
  test_frame_clear(&w->out);
  cnv_plan_unref(w->plan);
}

static void
run_threads(const TestVariant *v)
{
  Worker workers[THREADS];
  GThread *threads[THREADS];

  for (guint i = 0; i < THREADS; i++)
    worker_init(&workers[i], v, mixed_plan(i, v, "NV12", 130, 70), i);
  for (guint i = 0; i < THREADS; i++)
    threads[i] = g_thread_new("worker", worker_run, &workers[i]);
  for (guint i = 0; i < THREADS; i++) {
    g_thread_join(threads[i]);
    if (workers[i].different)
      test_fail("%s %s: %u of %d frames of session %u differ from what it gives alone", v->backend->name,
                cnv_algorithm_nicks[v->algorithm].nick, workers[i].different, workers[i].frames, i);
    worker_clear(&workers[i]);
  }
}

START_TEST(test_sessions_in_threads)
{
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvPlan *plan = mixed_plan(0, v, "NV12", 130, 70);

    if (plan && v->memory == CNV_MEMORY_HOST)
      run_threads(v);
    cnv_plan_unref(plan);
  }
  test_set_finish("sessions in threads");
}
END_TEST

static void
expect_refusal(const TestVariant *v, const Slot *slot, const CnvFrame *from, const CnvFrame *to, const char *value,
               const char *limit)
{
  GError *error = NULL;

  ck_assert(!cnv_session_submit(v->session, &slot->work, from, to, &error));
  ck_assert_msg(strstr(error->message, value) && strstr(error->message, limit), "%s", error->message);
  g_clear_error(&error);
}

static void
expect_not_kept(const TestVariant *v, const CnvFrame *frame, const char *value, const char *limit)
{
  GError *error = NULL;

  ck_assert_msg(!cnv_session_history_push(v->session, 0, frame, FALSE, NULL, &error), "%s: a stride of %s was taken",
                v->backend->name, value);
  ck_assert_msg(strstr(error->message, value) && strstr(error->message, limit), "%s", error->message);
  g_clear_error(&error);
}

/* Checks that the history, too, rejects frames whose rows overlap. */
static void
keep_bad_frames(const TestVariant *v, const Slot *slot, int memory, int row, const char *limit)
{
  const int strides[] = {row - 1, 0, -row, G_MININT};
  CnvFrame frame = slot->run.from;
  GError *error = NULL;

  ck_assert(cnv_session_history_alloc(v->session, &slot->plan[0]->image, 1, &error));
  for (gsize i = 0; i < G_N_ELEMENTS(strides); i++) {
    char *value = g_strdup_printf(" stride %d,", strides[i]);

    frame.stride[memory] = strides[i];
    expect_not_kept(v, &frame, value, limit);
    g_free(value);
  }
  frame = slot->run.from;
  frame.data[memory] = NULL;
  expect_not_kept(v, &frame, "no address", limit);
  ck_assert(cnv_session_history_push(v->session, 0, &slot->run.from, FALSE, NULL, &error) &&
            cnv_session_wait(v->session, &error));
  ck_assert(cnv_session_history_alloc(v->session, &slot->plan[0]->image, 0, &error));
}

/* A stride shorter than a row and a missing plane of memory give errors, not invalid accesses. */
START_TEST(test_bad_frames)
{
  static const struct {
    const char *format;
    int memory, row;
  } rows[] = {{"NV12", 1, 22}, {"YUY2", 0, 44}, {"UYVY", 0, 43}, {"RGB10A2_LE", 0, 84}, {"I420", 2, 11}};

  for (guint i = 0; i < test_variants->len * G_N_ELEMENTS(rows); i++) {
    TestVariant *v = &g_array_index(test_variants, TestVariant, i / G_N_ELEMENTS(rows));
    const char *format = rows[i % G_N_ELEMENTS(rows)].format;
    const int memory = rows[i % G_N_ELEMENTS(rows)].memory, row = rows[i % G_N_ELEMENTS(rows)].row;
    CnvPlan *plan = mixed_plan(0, v, format, 21, 10);
    char *value = g_strdup_printf("%d", row - 1), *limit = g_strdup_printf("%d", row);
    CnvFrame from, to;
    Slot slot;

    if (plan) {
      slot_init(&slot, plan, v, 1);
      from = slot.run.from;
      to = slot.run.to;
      to.stride[memory] = row - 1;
      expect_refusal(v, &slot, &from, &to, value, limit);
      to = slot.run.to;
      from.data[memory] = NULL;
      expect_refusal(v, &slot, &from, &to, format, limit);
      keep_bad_frames(v, &slot, memory, row, limit);
      run_slots(&slot, 1, &v->session, 1, 0, "a good frame after bad ones");
    }
    g_free(value);
    g_free(limit);
  }
  test_set_finish("bad frames");
}
END_TEST

TCase *
test_sessions_tcase(void)
{
  TCase *tcase = tcase_create("sessions");

  tcase_add_test(tcase, test_plan_changes);
  tcase_add_test(tcase, test_stream_changes);
  tcase_add_test(tcase, test_region_changes);
  tcase_add_test(tcase, test_sessions_in_turn);
  tcase_add_test(tcase, test_cpu_threads);
  tcase_add_test(tcase, test_cpu_simd);
  tcase_add_test(tcase, test_sessions_in_threads);
  tcase_add_test(tcase, test_bad_frames);
  return tcase;
}
