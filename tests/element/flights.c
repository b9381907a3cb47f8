/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element with several frames in flight. The output is the same as with one, in the same order, whatever is sent
 * between frames. Further tests: how many frames there can be, what is dropped, what upstream sees, the latency, and
 * that a frame leaves as soon as it is done.
 */
#include <gst/app/app.h>
#include <gst/base/gstbasetransform.h>
#include <gst/check/gstharness.h>

#include <convolve/backend.h>
#include <stdlib.h>
#include <string.h>

#include "element/flights.h"
#include "support/noise.h"

static const char *backend;

#define FRAME_TIME (40 * GST_MSECOND)

static const guint flights[] = {1, 2, 3, CNV_IN_FLIGHT_MAX};

/* Sizes of frames that are cut into slices, and that are not. */
static const int sizes[][2] = {{640, 360}, {1920, 1080}};

/* What a pad sends, in order. */
typedef struct {
  GstHarness *h;
  GstVideoInfo info;
  GMutex lock;      /* protects log, out and infos while frames are in flight */
  GString *log;     /* a letter for each event, see letter; f for a frame */
  GPtrArray *out;   /* GstBuffer */
  GArray *infos;    /* GstVideoInfo of each frame */
  guint n_pushed;   /* number of input buffers */
  gint n_freed;     /* number of input buffers that were freed, atomic */
  int size, radius; /* size: row of sizes */
  gboolean bare;    /* keep only the times of the output */
} Run;

static char
letter(GstEvent *event)
{
  switch (GST_EVENT_TYPE(event)) {
  case GST_EVENT_TAG:
    return 't';
  case GST_EVENT_CAPS:
    return 'c';
  case GST_EVENT_SEGMENT:
    return 's';
  case GST_EVENT_GAP:
    return 'g';
  case GST_EVENT_SEGMENT_DONE:
    return 'd';
  case GST_EVENT_EOS:
    return 'e';
  default:
    return 0;
  }
}

/* Returns a copy of the buffer as it is now or, with bare, only its time. */
static GstBuffer *
keep(GstBuffer *buffer, gboolean bare)
{
  GstBuffer *kept = bare ? gst_buffer_new() : gst_buffer_copy_deep(buffer);

  GST_BUFFER_PTS(kept) = GST_BUFFER_PTS(buffer);
  return kept;
}

static GstPadProbeReturn
note(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Run *run = data;

  g_mutex_lock(&run->lock);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    g_string_append_c(run->log, 'f');
    g_ptr_array_add(run->out, keep(GST_PAD_PROBE_INFO_BUFFER(info), run->bare));
    g_array_append_val(run->infos, run->info);
  } else if (letter(GST_PAD_PROBE_INFO_EVENT(info))) {
    g_string_append_c(run->log, letter(GST_PAD_PROBE_INFO_EVENT(info)));
  }
  g_mutex_unlock(&run->lock);
  return GST_PAD_PROBE_OK;
}

static void
set_size(Run *run)
{
  GstVideoInfo info;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, sizes[run->size][0], sizes[run->size][1]);
  GST_VIDEO_INFO_FPS_N(&info) = 25;
  gst_harness_set_src_caps(run->h, gst_video_info_to_caps(&info));
  run->info = info; /* frames with the old caps have come out by now */
}

static void
run_init(Run *run, guint n_flights, gboolean bare)
{
  GstElement *element = gst_element_factory_make("cudaconvolve", NULL);
  GstPad *pad = gst_element_get_static_pad(element, "src");

  gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
  gst_util_set_object_arg(G_OBJECT(element), "filter", "box");
  g_object_set(element, "frames-in-flight", n_flights, "radius", 2, NULL);
  *run = (Run){.h = gst_harness_new_with_element(element, "sink", "src"), .log = g_string_new(NULL), .bare = bare};
  g_mutex_init(&run->lock);
  gst_harness_set_drop_buffers(run->h, bare);
  gst_object_unref(element);
  run->out = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);
  run->infos = g_array_new(FALSE, FALSE, sizeof(GstVideoInfo));
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, note, run, NULL);
  gst_object_unref(pad);
  set_size(run);
}

static void
run_clear(Run *run)
{
  gst_harness_teardown(run->h);
  g_mutex_clear(&run->lock);
  g_string_free(run->log, TRUE);
  g_ptr_array_unref(run->out);
  g_array_unref(run->infos);
  ck_assert_uint_eq((guint)g_atomic_int_get(&run->n_freed), run->n_pushed);
}

static void
count_freed(gpointer n_freed, GstMiniObject *buffer)
{
  g_atomic_int_inc((gint *)n_freed);
}

static GstFlowReturn
try_frame(Run *run)
{
  GstBuffer *buffer = noise_buffer(&run->info, run->n_pushed++);

  gst_mini_object_weak_ref(GST_MINI_OBJECT(buffer), count_freed, &run->n_freed);
  return gst_harness_push(run->h, buffer);
}

static void
push_frame(Run *run)
{
  ck_assert_int_eq(try_frame(run), GST_FLOW_OK);
}

static guint
n_out(Run *run)
{
  guint n;

  g_mutex_lock(&run->lock);
  n = run->out->len;
  g_mutex_unlock(&run->lock);
  return n;
}

static void
flush(Run *run)
{
  gst_harness_push_event(run->h, gst_event_new_flush_start());
  gst_harness_push_event(run->h, gst_event_new_flush_stop(TRUE));
}

static void
push_segment(Run *run)
{
  GstSegment segment;

  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = segment.time = run->n_pushed * GST_MSECOND; /* each one differs, so that none is dropped */
  ck_assert(gst_harness_push_event(run->h, gst_event_new_segment(&segment)));
}

/* Does one step of a script. f frame, t tag, c other caps, s segment, g gap, d segment done, e end of stream, r other
 * radius, i identity on or off, o filter over time on or off. */
static void
step(Run *run, char c)
{
  GstElement *element = run->h->element;
  gboolean on;
  int radius;

  switch (c) {
  case 'f':
    push_frame(run);
    break;
  case 't':
    gst_harness_push_event(run->h, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "title", NULL)));
    break;
  case 'c':
    run->size = !run->size;
    set_size(run);
    break;
  case 's':
    push_segment(run);
    break;
  case 'g':
    gst_harness_push_event(run->h, gst_event_new_gap(run->n_pushed * GST_MSECOND, GST_MSECOND));
    break;
  case 'd':
    gst_harness_push_event(run->h, gst_event_new_segment_done(GST_FORMAT_TIME, 0));
    break;
  case 'e':
    gst_harness_push_event(run->h, gst_event_new_eos());
    break;
  case 'r':
    run->radius = run->radius % 3 + 1;
    g_object_set(element, "radius", run->radius, NULL);
    break;
  case 'i':
    g_object_get(element, "radius", &radius, NULL);
    g_object_set(element, "radius", radius ? 0 : 2, NULL);
    break;
  case 'o':
    g_object_get(element, "temporal-radius", &on, NULL);
    g_object_set(element, "temporal-radius", on ? 0 : 1, NULL);
    break;
  default:
    ck_abort_msg("step %c", c);
  }
}

static void
play(Run *run, guint n_flights, const char *script)
{
  run_init(run, n_flights, FALSE);
  for (const char *c = script; *c; c++)
    step(run, *c);
}

static const char *const scripts[] = {
    "ffffffffffffffffffffe",
    "fe",
    "ffe",
    "ffffcfffffffffffffcffe",
    "fffsffffffffffsfe",
    "ffftffttffffffffffftfte",
    "fffftgtfffffffffgffe",
    "fffffdfffffffffffde",
    "fffrfrfrffffrfrffrffe",
    "fffififfffiffffffffffie",
    "ffftfffoffftffffffoffffffffe",
    "ffftofcoftftfsfrfitfiftcffftgfdfe",
};

START_TEST(test_like_one)
{
  const char *script = scripts[_i];
  Run one;

  play(&one, 1, script);
  for (guint i = 0; i < G_N_ELEMENTS(flights); i++) {
    Run many;

    play(&many, flights[i], script);
    ck_assert_msg(strcmp(one.log->str, many.log->str) == 0, "%s, %u in flight: %s, not %s", script, flights[i],
                  many.log->str, one.log->str);
    for (guint f = 0; f < one.out->len; f++) {
      GstBuffer *a = one.out->pdata[f], *b = many.out->pdata[f];
      const GstVideoInfo *info = &g_array_index(one.infos, GstVideoInfo, f);

      ck_assert_uint_eq(GST_BUFFER_PTS(a), f * GST_MSECOND);
      ck_assert_uint_eq(GST_BUFFER_PTS(b), f * GST_MSECOND);
      ck_assert_uint_eq(GST_BUFFER_FLAGS(a) & ~GST_BUFFER_FLAG_TAG_MEMORY,
                        GST_BUFFER_FLAGS(b) & ~GST_BUFFER_FLAG_TAG_MEMORY);
      assert_same(a, b, info);
    }
    run_clear(&many);
  }
  ck_assert_uint_eq(one.out->len, one.n_pushed);
  run_clear(&one);
}
END_TEST

/* ---- downstream accepts no frame ---- */

static GstPadProbeReturn
stay(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  return GST_PAD_PROBE_OK;
}

static gulong
block(Run *run)
{
  return gst_pad_add_probe(GST_BASE_TRANSFORM_SRC_PAD(run->h->element),
                           GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, stay, NULL, NULL);
}

typedef struct {
  Run *run;
  gint returned; /* atomic */
} Pusher;

static gpointer
push_one_more(gpointer data)
{
  Pusher *pusher = data;
  GstFlowReturn flow = try_frame(pusher->run);

  g_atomic_int_set(&pusher->returned, TRUE);
  return GINT_TO_POINTER(flow);
}

/* The first frame goes out directly. Then n frames can be in flight besides the one that downstream does not accept
 * yet, and the sender of another one waits. A flush drops them all. */
START_TEST(test_waiting_and_flush)
{
  const guint n = flights[_i];
  Run run;
  Pusher pusher = {&run, FALSE};
  GThread *thread;
  gulong probe;

  run_init(&run, n, FALSE);
  push_frame(&run);
  ck_assert_uint_eq(n_out(&run), 1);
  probe = block(&run);
  for (guint i = 0; n > 1 && i < n + 1; i++)
    push_frame(&run);
  ck_assert_uint_eq(gst_harness_query_latency(run.h), (n - 1) * FRAME_TIME);
  thread = g_thread_new("pusher", push_one_more, &pusher);
  g_usleep(50000);
  ck_assert(!g_atomic_int_get(&pusher.returned));
  ck_assert_uint_eq(n_out(&run), 1);
  gst_harness_push_event(run.h, gst_event_new_flush_start());
  ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), GST_FLOW_FLUSHING);
  gst_harness_push_event(run.h, gst_event_new_flush_stop(TRUE));
  gst_pad_remove_probe(GST_BASE_TRANSFORM_SRC_PAD(run.h->element), probe);
  push_segment(&run);
  ck_assert_uint_eq(n_out(&run), 1);
  for (guint i = 0; i < 3; i++)
    push_frame(&run);
  step(&run, 'e');
  ck_assert_uint_eq(n_out(&run), 4);
  for (guint i = 0; i < 3; i++)
    ck_assert_uint_eq(GST_BUFFER_PTS((GstBuffer *)run.out->pdata[1 + i]), (run.n_pushed - 3 + i) * GST_MSECOND);
  run_clear(&run);
}
END_TEST

static int
count_latency_messages(GstBus *bus)
{
  GstMessage *message;
  int n = 0;

  while ((message = gst_bus_pop_filtered(bus, GST_MESSAGE_LATENCY))) {
    gst_message_unref(message);
    n++;
  }
  return n;
}

/* A new latency is reported. A filter over time has a latency of its own. */
START_TEST(test_latency)
{
  const guint n = flights[_i];
  GstBus *bus = gst_bus_new();
  Run run;

  run_init(&run, n, FALSE);
  gst_element_set_bus(run.h->element, bus);
  push_frame(&run);
  count_latency_messages(bus);
  step(&run, 'o');
  push_frame(&run);
  ck_assert_uint_eq(gst_harness_query_latency(run.h), FRAME_TIME);
  ck_assert_int_eq(count_latency_messages(bus), n != 2);
  step(&run, 'o');
  push_frame(&run);
  ck_assert_uint_eq(gst_harness_query_latency(run.h), (n - 1) * FRAME_TIME);
  ck_assert_int_eq(count_latency_messages(bus), n != 2);
  gst_element_set_bus(run.h->element, NULL);
  run_clear(&run);
  gst_object_unref(bus);
}
END_TEST

/* Stops with frames in flight and another one on its way in. Frames that downstream did not get are not counted, and
 * all frames are freed. */
START_TEST(test_stop)
{
  const guint n = flights[_i];
  Run run;
  Pusher pusher = {&run, FALSE};
  GstStructure *stats;
  GThread *thread;
  guint64 frames;
  gulong probe;

  run_init(&run, n, FALSE);
  for (guint i = 0; i < 5; i++)
    push_frame(&run);
  step(&run, 's');
  ck_assert_uint_eq(n_out(&run), 5);
  probe = block(&run);
  for (guint i = 0; n > 1 && i < n + 1; i++)
    push_frame(&run);
  thread = g_thread_new("pusher", push_one_more, &pusher);
  g_usleep(50000);
  ck_assert(!g_atomic_int_get(&pusher.returned));
  gst_element_set_state(run.h->element, GST_STATE_NULL);
  ck_assert_int_eq(GPOINTER_TO_INT(g_thread_join(thread)), GST_FLOW_FLUSHING);
  g_object_get(run.h->element, "stats", &stats, NULL);
  ck_assert(gst_structure_get_uint64(stats, "frames", &frames));
  ck_assert_uint_eq(frames, 6);
  ck_assert_uint_eq(n_out(&run), 5);
  gst_structure_free(stats);
  gst_pad_remove_probe(GST_BASE_TRANSFORM_SRC_PAD(run.h->element), probe);
  run_clear(&run);
}
END_TEST

/* ---- what upstream sees ---- */

static GstPadProbeReturn
refuse(GstPad *pad, GstPadProbeInfo *info, gpointer n_left)
{
  guint *n = n_left;

  if (*n == 0 || --*n > 0)
    return GST_PAD_PROBE_OK;
  gst_buffer_unref(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_NOT_LINKED;
  return GST_PAD_PROBE_HANDLED;
}

/* The flow return of a frame that downstream rejects is returned once, for that frame or a later one. Frames continue
 * after that. */
START_TEST(test_flow)
{
  GstFlowReturn flow = GST_FLOW_OK;
  guint n_left = 3;
  Run run;

  run_init(&run, flights[_i], TRUE);
  gst_pad_add_probe(GST_BASE_TRANSFORM_SRC_PAD(run.h->element), GST_PAD_PROBE_TYPE_BUFFER, refuse, &n_left, NULL);
  for (int i = 0; i < 100 && flow == GST_FLOW_OK; i++) {
    flow = try_frame(&run);
    g_usleep(1000);
  }
  ck_assert_int_eq(flow, GST_FLOW_NOT_LINKED);
  for (int i = 0; i < 5; i++)
    push_frame(&run);
  step(&run, 'e');
  ck_assert_uint_eq(GST_BUFFER_PTS((GstBuffer *)run.out->pdata[n_out(&run) - 1]), (run.n_pushed - 1) * GST_MSECOND);
  run_clear(&run);
}
END_TEST

/* A query between frames is answered after the frames before it are out. The position is the last frame's. */
START_TEST(test_queries)
{
  GstQuery *drain = gst_query_new_drain(), *position = gst_query_new_position(GST_FORMAT_TIME);
  gint64 time;
  Run run;

  run_init(&run, flights[_i], TRUE);
  for (guint i = 0; i < 20; i++) {
    push_frame(&run);
    if (i % 4 > 0)
      continue;
    gst_pad_peer_query(run.h->srcpad, drain);
    ck_assert_uint_eq(n_out(&run), i + 1);
    ck_assert(gst_pad_query(GST_BASE_TRANSFORM_SRC_PAD(run.h->element), position));
    gst_query_parse_position(position, NULL, &time);
    ck_assert_int_eq(time, i * GST_MSECOND);
  }
  gst_query_unref(drain);
  gst_query_unref(position);
  run_clear(&run);
}
END_TEST

/* A frame from a pool with few buffers comes out at once, so that nobody waits for a buffer that is in flight. */
START_TEST(test_small_pool)
{
  GstBufferPool *pool = gst_buffer_pool_new();
  GstStructure *config = gst_buffer_pool_get_config(pool);
  GstCaps *caps;
  Run run;

  run_init(&run, flights[_i], FALSE);
  caps = gst_video_info_to_caps(&run.info);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&run.info), 1, 1);
  gst_caps_unref(caps);
  ck_assert(gst_buffer_pool_set_config(pool, config) && gst_buffer_pool_set_active(pool, TRUE));
  for (guint i = 0; i < 6; i++) {
    GstBuffer *buffer = NULL;

    ck_assert_int_eq(gst_buffer_pool_acquire_buffer(pool, &buffer, NULL), GST_FLOW_OK);
    gst_buffer_memset(buffer, 0, (guint8)i, -1);
    ck_assert_int_eq(gst_harness_push(run.h, buffer), GST_FLOW_OK);
    ck_assert_uint_eq(run.out->len, i + 1);
  }
  run_clear(&run);
  gst_buffer_pool_set_active(pool, FALSE);
  gst_object_unref(pool);
}
END_TEST

/* ---- no other frame follows ---- */

#define PATIENCE_US (10 * G_USEC_PER_SEC)

static void
await_frames(Run *run)
{
  gint64 end = g_get_monotonic_time() + PATIENCE_US;

  while (n_out(run) < run->n_pushed && g_get_monotonic_time() < end)
    g_thread_yield();
  ck_assert_uint_eq(n_out(run), run->n_pushed);
}

/* A frame comes out even if no other one follows. */
START_TEST(test_alone)
{
  Run run;

  run_init(&run, flights[_i], TRUE);
  for (int i = 0; i < 70; i++) {
    push_frame(&run);
    await_frames(&run);
  }
  run_clear(&run);
}
END_TEST

#define ALONE 200
#define ROUNDS 10
#ifdef __SANITIZE_THREAD__
#define ADDED_US 5000 /* times say nothing in this build */
#else
#define ADDED_US 200
#endif
#define ADDED_SLOWLY_US 5000 /* if CNV_QUICK_STEP is set, because frames are slow then */

static int
compare_times(gconstpointer a, gconstpointer b)
{
  const gint64 *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

/* Returns how many of n tries to make: fewer if CNV_QUICK_STEP is set. */
static int
tries(int n)
{
  const char *step = g_getenv("CNV_QUICK_STEP");

  return n / MAX(1, step ? atoi(step) : 1);
}

/* Returns the median time of a frame that is awaited before the next one is sent. */
static gint64
time_alone(Run *run)
{
  const int n = MAX(1, tries(ALONE));
  gint64 times[ALONE];

  for (int i = 0; i < n; i++) {
    gint64 start = g_get_monotonic_time();

    push_frame(run);
    await_frames(run);
    times[i] = g_get_monotonic_time() - start;
  }
  qsort(times, n, sizeof(gint64), compare_times);
  return times[n / 2];
}

/* Frames in flight cost next to nothing for a sender that awaits each frame. The best of some rounds counts, because
 * machines are busy with other things, too. */
START_TEST(test_added_time)
{
  const gint64 most = g_getenv("CNV_QUICK_STEP") ? ADDED_SLOWLY_US : ADDED_US;
  gint64 least = G_MAXINT64;
  Run one, many;

  run_init(&one, 1, TRUE);
  run_init(&many, 3, TRUE);
  for (int round = 0; round < ROUNDS && (round < 3 || least >= most); round++)
    least = MIN(least, time_alone(&many) - time_alone(&one));
  run_clear(&one);
  run_clear(&many);
  g_print("3 frames in flight add %" G_GINT64_FORMAT " us to a frame that is awaited\n", least);
  ck_assert_int_lt(least, most);
}
END_TEST

/* Both threads run at random times. The order stays. */
START_TEST(test_order_by_chance)
{
  const int n = tries(1500);
  GRand *rand = g_rand_new_with_seed(7 + _i);
  GString *expected = g_string_new(NULL);
  Run run;

  run_init(&run, flights[_i], TRUE);
  for (int i = 0; i < n; i++) {
    const char c = g_rand_int_range(rand, 0, 16) == 0 ? 't' : 'f';

    step(&run, c);
    g_string_append_c(expected, c);
    if (g_rand_int_range(rand, 0, 100) == 0)
      g_usleep(g_rand_int_range(rand, 0, 4000));
    if (g_rand_int_range(rand, 0, 50) == 0)
      step(&run, 'r');
  }
  step(&run, 'e');
  g_string_append_c(expected, 'e');
  ck_assert_msg(g_str_has_suffix(run.log->str, expected->str), "%s, not %s", run.log->str, expected->str);
  for (guint f = 0; f < run.out->len; f++)
    ck_assert_uint_eq(GST_BUFFER_PTS((GstBuffer *)run.out->pdata[f]), f * GST_MSECOND);
  run_clear(&run);
  g_string_free(expected, TRUE);
  g_rand_free(rand);
}
END_TEST

/* Flushes meet the task of the source pad at any time. A frame comes out once or is dropped, and none comes out after
 * its flush. */
START_TEST(test_flush_by_chance)
{
  const int rounds = tries(100);
  GRand *rand = g_rand_new_with_seed(11 + _i);
  Run run;

  run_init(&run, flights[_i], TRUE);
  for (int round = 0; round < rounds; round++) {
    const int n = g_rand_int_range(rand, 0, 12);
    guint before;

    for (int i = 0; i < n; i++)
      push_frame(&run);
    g_usleep(g_rand_int_range(rand, 0, 3000));
    flush(&run);
    push_segment(&run);
    before = n_out(&run);
    g_usleep(g_rand_int_range(rand, 0, 3000));
    ck_assert_uint_eq(n_out(&run), before);
  }
  for (guint f = 1; f < run.out->len; f++)
    ck_assert_uint_lt(GST_BUFFER_PTS((GstBuffer *)run.out->pdata[f - 1]),
                      GST_BUFFER_PTS((GstBuffer *)run.out->pdata[f]));
  step(&run, 'f');
  step(&run, 'e');
  ck_assert_uint_eq(GST_BUFFER_PTS((GstBuffer *)run.out->pdata[run.out->len - 1]), (run.n_pushed - 1) * GST_MSECOND);
  run_clear(&run);
  g_rand_free(rand);
}
END_TEST

/* After a source that is not live, three frames overlap, and all come out. After a live one, none overlap. */
START_TEST(test_auto)
{
  const gboolean live = _i;
  char *text =
      g_strdup_printf("appsrc name=source is-live=%d format=time caps=video/x-raw,format=NV12,width=640,height=360,"
                      "framerate=25/1 ! cudaconvolve name=filter backend=%s ! appsink name=sink sync=false",
                      live, backend);
  GstElement *pipeline = gst_parse_launch(text, NULL);
  GstElement *source = gst_bin_get_by_name(GST_BIN(pipeline), "source");
  GstElement *sink = gst_bin_get_by_name(GST_BIN(pipeline), "sink");
  GstElement *filter = gst_bin_get_by_name(GST_BIN(pipeline), "filter");
  GstQuery *query = gst_query_new_latency();
  GstClockTime latency;
  GstVideoInfo info;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 640, 360);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  for (int round = 0; round < 3; round++) { /* each round sends one frame more, after all frames before it came out */
    for (int i = 0; i <= round; i++)
      ck_assert_int_eq(gst_app_src_push_buffer(GST_APP_SRC(source), noise_buffer(&info, i)), GST_FLOW_OK);
    for (int i = 0; i <= round; i++) {
      GstSample *sample = gst_app_sink_try_pull_sample(GST_APP_SINK(sink), PATIENCE_US * GST_USECOND);

      ck_assert(sample != NULL);
      ck_assert_uint_eq(GST_BUFFER_PTS(gst_sample_get_buffer(sample)), i * GST_MSECOND);
      gst_sample_unref(sample);
    }
  }
  ck_assert(gst_pad_query(GST_BASE_TRANSFORM_SRC_PAD(filter), query));
  gst_query_parse_latency(query, NULL, &latency, NULL);
  ck_assert_uint_eq(latency, live ? 0 : 2 * FRAME_TIME);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_query_unref(query);
  gst_object_unref(source);
  gst_object_unref(sink);
  gst_object_unref(filter);
  gst_object_unref(pipeline);
  g_free(text);
}
END_TEST

void
add_flight_tests(TCase *tcase, const char *with)
{
  backend = with;
  tcase_add_loop_test(tcase, test_like_one, 0, G_N_ELEMENTS(scripts));
  tcase_add_loop_test(tcase, test_waiting_and_flush, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_latency, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_stop, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_flow, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_queries, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_small_pool, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_alone, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_order_by_chance, 0, G_N_ELEMENTS(flights));
  tcase_add_loop_test(tcase, test_flush_by_chance, 0, G_N_ELEMENTS(flights));
  tcase_add_test(tcase, test_added_time);
  tcase_add_loop_test(tcase, test_auto, 0, 2);
}
