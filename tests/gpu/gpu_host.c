/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tests frames in host memory on a GPU: page-locked or not, plane by plane, at any stride. Each is compared bit for bit
 * with the same frame in device memory. Also tests several frames in flight, and the pools that the element offers and
 * uses. Skipped, with the reason, if there is no GPU.
 */
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "support/device.h"
#include "element/flights.h"
#include "support/filter.h"
#include "support/frames.h"
#include "support/noise.h"
#include "support/suite.h"

#define SKIP 77
#define FRAMES 3 /* in flight at once */

/* Which planes are page-locked. */
enum { NONE = 0, FIRST = 1, ALL = 15 };

typedef struct {
  const char *format;
  int width, height;
  CnvFilterType type;
  int radius;
  CnvBorder border;
  CnvAlgorithm algorithm;
} Case;

static const Case cases[] = {
    {"NV12", 1920, 1080, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"NV12", 1280, 720, CNV_FILTER_GAUSSIAN, 3, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"I420", 33, 17, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_REFLECT, CNV_ALGORITHM_AUTO},
#define N_FLIGHT_CASES 3
    {"NV12", 1, 1, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_REFLECT_101, CNV_ALGORITHM_AUTO},
    {"NV12", 3840, 2160, CNV_FILTER_GAUSSIAN, 2, CNV_BORDER_REFLECT, CNV_ALGORITHM_AUTO},
    {"NV12", 640, 360, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_WRAP, CNV_ALGORITHM_AUTO},
    {"NV12", 640, 360, CNV_FILTER_BOX, 20, CNV_BORDER_REFLECT_101, CNV_ALGORITHM_FUSED},
    {"I420", 1023, 767, CNV_FILTER_GAUSSIAN, 5, CNV_BORDER_RENORMALIZE, CNV_ALGORITHM_FUSED},
    {"Y444", 501, 503, CNV_FILTER_BOX, 3, CNV_BORDER_CONSTANT, CNV_ALGORITHM_AUTO},
    {"RGBA", 1280, 721, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_REFLECT_101, CNV_ALGORITHM_AUTO},
    {"RGBA", 16384, 64, CNV_FILTER_GAUSSIAN, 3, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"RGB", 641, 359, CNV_FILTER_GAUSSIAN, 4, CNV_BORDER_REPLICATE, CNV_ALGORITHM_FUSED},
    {"P010_10LE", 960, 540, CNV_FILTER_GAUSSIAN, 4, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"GRAY16_LE", 750, 500, CNV_FILTER_GAUSSIAN, 12, CNV_BORDER_REFLECT, CNV_ALGORITHM_FUSED},
    {"GRAY8", 80, 32000, CNV_FILTER_GAUSSIAN, 8, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"GRAY8", 1100, 550, CNV_FILTER_SHARPEN, 1, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"GRAY8", 1024, 515, CNV_FILTER_GAUSSIAN, 300, CNV_BORDER_REFLECT_101, CNV_ALGORITHM_SEPARABLE},
    {"YUY2", 960, 540, CNV_FILTER_GAUSSIAN, 3, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"RGBA", 640, 360, CNV_FILTER_SOBEL, 1, CNV_BORDER_REPLICATE, CNV_ALGORITHM_TILED},
    {"I420", 640, 360, CNV_FILTER_GAUSSIAN, 3, CNV_BORDER_RENORMALIZE, CNV_ALGORITHM_TEXTURE},
    {"NV12", 640, 360, CNV_FILTER_BOX, 1, CNV_BORDER_REFLECT, CNV_ALGORITHM_NAIVE},
    {"NV12", 960, 540, CNV_FILTER_MOSAIC, 20, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"NV12", 1920, 1080, CNV_FILTER_MOSAIC, 300, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
    {"NV12", 640, 360, CNV_FILTER_FILL, 0, CNV_BORDER_REPLICATE, CNV_ALGORITHM_AUTO},
};

/* Host memory as in real frames: rows without gaps, and rows with gaps at odd addresses. The copy on the device needs
 * multiples of 4. */
static const TestLayout layouts[] = {{0, 0, 0}, {64, 3, 5}};
static const TestLayout device_layout = {64, 4, 8};

static CnvSession *session;
static gboolean quick; /* one kind of memory per case, by its number: for slow drivers */

static CnvPlan *
plan_of(const Case *c, guint planes)
{
  const CnvImage image = {cnv_format_find(c->format), c->width, c->height, 0.2126, 0.0722, FALSE};
  GError *error = NULL;
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = c->type;
  filter.radius = c->radius;
  filter.border = c->border;
  filter.planes = planes ? planes : filter.planes;
  plan = cnv_plan_new(&filter, &image, c->algorithm, session->backend, &error);
  ck_assert_msg(plan != NULL, "%s %dx%d: %s", c->format, c->width, c->height, error ? error->message : "");
  cnv_filter_clear(&filter);
  return plan;
}

/* A frame in host memory with some page-locked planes. */
typedef struct {
  TestFrame frame;
  guint pinned;
  guint8 *block[CNV_MAX_PLANES];
  CnvFrame view;
} HostFrame;

static void
host_frame_init(HostFrame *host, const CnvPlan *plan, TestLayout layout, guint pinned, guint32 seed)
{
  const CnvImage *image = &plan->image;

  *host = (HostFrame){.pinned = pinned, .view = {.memory = CNV_MEMORY_HOST}};
  test_frame_init(&host->frame, image->format, image->width, image->height, layout);
  if (seed)
    test_frame_fill(&host->frame, TEST_NOISE, seed);
  for (int m = 0; m < cnv_format_n_frame_planes(image->format); m++) {
    TestPlane *p = &host->frame.plane[m];

    host->block[m] = pinned >> m & 1 ? test_device_alloc_pinned(p->size) : g_malloc(p->size);
    memcpy(host->block[m], p->block, p->size);
    host->view.data[m] = host->block[m] + p->start;
    host->view.stride[m] = p->stride;
  }
}

/* Copies the memory to the frame. */
static void
host_frame_read(HostFrame *host)
{
  for (int m = 0; m < cnv_format_n_frame_planes(host->frame.format); m++)
    memcpy(host->frame.plane[m].block, host->block[m], host->frame.plane[m].size);
}

static void
host_frame_clear(HostFrame *host)
{
  for (int m = 0; m < CNV_MAX_PLANES; m++)
    if (host->pinned >> m & 1 && host->block[m])
      test_device_free_pinned(host->block[m]);
    else
      g_free(host->block[m]);
  test_frame_clear(&host->frame);
}

static void
run(const CnvWork *work, const CnvFrame *in, const CnvFrame *out)
{
  GError *error = NULL;

  ck_assert_msg(cnv_session_submit(session, work, in, out, &error), "%s", error ? error->message : "");
}

static void
await(void)
{
  GError *error = NULL;

  ck_assert_msg(cnv_session_wait(session, &error), "%s", error ? error->message : "");
}

/* Filters the noise of a seed in device memory. */
static void
run_on_device(const CnvWork *work, guint32 seed, TestFrame *out)
{
  const CnvImage *image = &work->plan[0]->image;
  TestDeviceFrame device_in, device_out;
  CnvFrame from, to;
  TestFrame in;

  test_frame_init(&in, image->format, image->width, image->height, device_layout);
  test_frame_fill(&in, TEST_NOISE, seed);
  test_frame_init(out, image->format, image->width, image->height, device_layout);
  test_device_frame_init(&device_in, &in);
  test_device_frame_init(&device_out, out);
  test_device_frame_view(&device_in, &in, &from);
  test_device_frame_view(&device_out, out, &to);
  run(work, &from, &to);
  await();
  test_device_frame_read(&device_out, out);
  test_device_frame_clear(&device_in);
  test_device_frame_clear(&device_out);
  test_frame_clear(&in);
}

static void
compare(const TestFrame *host, const TestFrame *device, const char *what)
{
  char *stray = test_frame_stray(host);

  ck_assert_msg(stray == NULL, "%s: %s", what, stray);
  for (int m = 0; m < cnv_format_n_frame_planes(host->format); m++) {
    const TestPlane *a = &host->plane[m], *b = &device->plane[m];

    for (int y = 0; y < a->rows; y++)
      ck_assert_msg(memcmp(a->block + a->start + (gsize)y * a->stride, b->block + b->start + (gsize)y * b->stride,
                           a->row_bytes) == 0,
                    "%s: row %d of plane %d is not what it is in device memory", what, y, m);
  }
}

/* Submits several frames without waiting, which then share staging and device buffers. */
static void
check_host(const CnvWork *work, const TestFrame *expected, guint32 seed, guint layout, guint pinned_in,
           guint pinned_out, const char *what)
{
  char *label = g_strdup_printf("%s, layout %u, page-locked %x to %x", what, layout, pinned_in, pinned_out);
  HostFrame in[FRAMES], out[FRAMES];

  for (int i = 0; i < FRAMES; i++) {
    host_frame_init(&in[i], work->plan[0], layouts[layout], pinned_in, seed + i);
    host_frame_init(&out[i], work->plan[0], layouts[layout], pinned_out, 0);
    run(work, &in[i].view, &out[i].view);
  }
  await();
  for (int i = 0; i < FRAMES; i++) {
    host_frame_read(&out[i]);
    compare(&out[i].frame, &expected[i], label);
    host_frame_clear(&in[i]);
    host_frame_clear(&out[i]);
  }
  g_free(label);
}

/* Runs the work in all kinds of host memory. number: of the case. */
static void
check_work(const CnvWork *work, guint number, const char *what)
{
  static const guint pinned[][2] = {{ALL, ALL}, {NONE, NONE}, {FIRST, ALL}, {NONE, FIRST}};
  const guint32 seed = 77;
  TestFrame expected[FRAMES];

  for (int i = 0; i < FRAMES; i++)
    run_on_device(work, seed + i, &expected[i]);
  for (guint i = 0; i < G_N_ELEMENTS(pinned); i++)
    for (guint layout = 0; layout < G_N_ELEMENTS(layouts); layout++)
      if (!quick || number % (G_N_ELEMENTS(pinned) * G_N_ELEMENTS(layouts)) == i + G_N_ELEMENTS(pinned) * layout)
        check_host(work, expected, seed, layout, pinned[i][0], pinned[i][1], what);
  for (int i = 0; i < FRAMES; i++)
    test_frame_clear(&expected[i]);
}

START_TEST(test_host_is_device)
{
  const Case *c = &cases[_i];
  char *what = g_strdup_printf("%s %dx%d, filter %d radius %d, border %d, algorithm %d", c->format, c->width, c->height,
                               c->type, c->radius, c->border, c->algorithm);
  CnvPlan *plan = plan_of(c, 0);

  check_work(&CNV_WORK_ALL(&plan), _i, what);
  cnv_plan_unref(plan);
  g_free(what);
}
END_TEST

/* What is not filtered is unchanged. */
START_TEST(test_other_work)
{
  const Case *c = &cases[0];
  const CnvRegion regions[] = {{{100, 50, 700, 900}, 0}, {{900, 500, 500, 300}, 0}};
  CnvPlan *luma = plan_of(c, CNV_PLANES_LUMA), *all = plan_of(c, 0);
  CnvWork work = CNV_WORK_ALL(&luma);

  check_work(&work, 0, "luma alone");
  work.plan = &all;
  work.interlaced = TRUE;
  check_work(&work, 1, "fields");
  work.interlaced = work.whole_frame = FALSE;
  work.region = regions;
  work.n_regions = G_N_ELEMENTS(regions);
  check_work(&work, 5, "regions");
  cnv_plan_unref(luma);
  cnv_plan_unref(all);
}
END_TEST

/* Frames that stay on the device for a while. Each is uploaded over the frame two before it. */
START_TEST(test_kept_frames)
{
  CnvPlan *plan = plan_of(&cases[0], 0);
  const CnvWork work = CNV_WORK_ALL(&plan);
  GError *error = NULL;

  ck_assert(cnv_session_history_alloc(session, &plan->image, 2, &error));
  for (guint pinned = NONE; pinned <= ALL; pinned += ALL) {
    HostFrame in[FRAMES], out[FRAMES];

    for (int i = 0; i < FRAMES; i++) {
      const CnvFrame slot = {.memory = CNV_MEMORY_HISTORY, .slot = i % 2};

      host_frame_init(&in[i], plan, layouts[1], pinned, 5 + i);
      host_frame_init(&out[i], plan, layouts[1], pinned, 0);
      ck_assert(cnv_session_history_push(session, slot.slot, &in[i].view, FALSE, NULL, &error));
      run(&work, &slot, &out[i].view);
    }
    await();
    for (int i = 0; i < FRAMES; i++) {
      TestFrame expected;

      run_on_device(&work, 5 + i, &expected);
      host_frame_read(&out[i]);
      compare(&out[i].frame, &expected, pinned ? "kept, page-locked" : "kept");
      test_frame_clear(&expected);
      host_frame_clear(&in[i]);
      host_frame_clear(&out[i]);
    }
  }
  ck_assert(cnv_session_history_alloc(session, &plan->image, 0, &error));
  cnv_plan_unref(plan);
}
END_TEST

#define N_SUBMITTED (CNV_IN_FLIGHT_MAX + 3)

/* Submits frames, n of which are in flight at once, in memory of all kinds. Each is complete after the wait for it. */
static void
check_flights(const CnvWork *work, guint n, const TestFrame *expected)
{
  static const guint pinned[][2] = {{ALL, ALL}, {NONE, NONE}, {FIRST, ALL}, {NONE, FIRST}};
  guint64 before = session->stats.frames;
  HostFrame in[N_SUBMITTED], out[N_SUBMITTED];
  guint64 number[N_SUBMITTED];

  for (guint i = 0; i < N_SUBMITTED + n - 1; i++) {
    guint done = i + 1 - n; /* the frame to wait for; only if i + 1 >= n */
    CnvWork this = *work;
    GError *error = NULL;

    if (i < N_SUBMITTED) {
      host_frame_init(&in[i], work->plan[0], layouts[i % 2], pinned[i % 4][0], 300 + i);
      host_frame_init(&out[i], work->plan[0], layouts[i / 2 % 2], pinned[i % 4][1], 0);
      this.overlaps = i % 8 < 5;
      run(&this, &in[i].view, &out[i].view);
      number[i] = session->n_submitted;
      ck_assert_uint_ge(session->stats.frames + n, before + i + 1);
    }
    if (i + 1 < n)
      continue;
    ck_assert(cnv_session_wait_for_frame(session, number[done], &error));
    host_frame_read(&out[done]);
    compare(&out[done].frame, &expected[done], "in flight");
    host_frame_clear(&in[done]);
    host_frame_clear(&out[done]);
  }
  await();
  ck_assert_uint_eq(session->stats.frames, before + N_SUBMITTED);
}

START_TEST(test_flights)
{
  CnvPlan *plan = plan_of(&cases[_i], 0);
  const CnvWork work = CNV_WORK_ALL(&plan);
  TestFrame expected[N_SUBMITTED];

  for (guint i = 0; i < N_SUBMITTED; i++)
    run_on_device(&work, 300 + i, &expected[i]);
  for (guint n = 1; n <= N_SUBMITTED;
       n += quick ? 4 : 1) /* with more than the maximum, a submit waits for the oldest */
    check_flights(&work, n, expected);
  for (guint i = 0; i < N_SUBMITTED; i++)
    test_frame_clear(&expected[i]);
  cnv_plan_unref(plan);
}
END_TEST

/* Bytes in both directions, and times if something was done. */
START_TEST(test_stats)
{
  CnvPlan *plan = plan_of(&cases[0], 0);
  const CnvWork work = CNV_WORK_ALL(&plan);
  const CnvSessionOptions options = {.device = -1};
  CnvSession *shared = session;
  HostFrame in, out;

  session = shared->backend->open(&options, NULL);
  ck_assert(session != NULL);
  host_frame_init(&in, plan, layouts[0], ALL, 1);
  host_frame_init(&out, plan, layouts[0], NONE, 0);
  for (int i = 0; i < 2; i++) {
    run(&work, &in.view, &out.view);
    await();
  }
  ck_assert_uint_eq(session->stats.frames, 2);
  ck_assert_uint_eq(session->stats.bytes_uploaded, 2 * 1920 * 1080 * 3 / 2);
  ck_assert_uint_eq(session->stats.bytes_downloaded, 2 * 1920 * 1080 * 3 / 2);
  ck_assert(session->stats.upload_us > 0 && session->stats.compute_us > 0 && session->stats.download_us > 0);
  cnv_session_close(session);
  session = shared;
  host_frame_clear(&in);
  host_frame_clear(&out);
  cnv_plan_unref(plan);
}
END_TEST

/* ---- the element ---- */

typedef struct {
  guint buffers, pinned;
} Seen;

static GstPadProbeReturn
look(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstBuffer *buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  Seen *seen = data;
  GstMapInfo map;

  ck_assert(gst_buffer_map(buffer, &map, GST_MAP_READ));
  seen->buffers++;
  seen->pinned += test_device_is_pinned(map.data) && test_device_is_pinned(map.data + map.size - 1);
  gst_buffer_unmap(buffer, &map);
  return GST_PAD_PROBE_OK;
}

static void
analyze_taps(GstElement *pipeline, const char *pad_name, Seen *seen)
{
  GstElement *convolve = gst_bin_get_by_name(GST_BIN(pipeline), "c");
  GstPad *pad = gst_element_get_static_pad(convolve, pad_name);

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, look, seen, NULL);
  gst_object_unref(pad);
  gst_object_unref(convolve);
}

static void
run_pipeline(const char *text, Seen *in, Seen *out)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(text, &error);
  GstMessage *message;
  GstBus *bus;

  ck_assert_msg(error == NULL, "%s: %s", text, error ? error->message : "");
  analyze_taps(pipeline, "sink", in);
  analyze_taps(pipeline, "src", out);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  bus = gst_element_get_bus(pipeline);
  message = gst_bus_timed_pop_filtered(bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  ck_assert_msg(message && GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS, "%s: no end", text);
  gst_message_unref(message);
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

/* Buffers from our pools are page-locked: buffers that upstream fills, and buffers that go downstream. */
START_TEST(test_pools)
{
  static const struct {
    const char *text;
    gboolean in, out;
  } rows[] = {
      {"videotestsrc num-buffers=8 ! video/x-raw,format=NV12,width=642,height=362 ! "
       "cudaconvolve name=c backend=cuda radius=3 ! fakesink",
       TRUE, TRUE},
      {"videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=642,height=362 ! "
       "cudaconvolve backend=cuda radius=3 ! cudaconvolve name=c backend=cuda radius=2 ! queue ! fakesink",
       TRUE, TRUE},
      {"videotestsrc num-buffers=8 ! video/x-raw,format=I420,width=642,height=362 ! "
       "cudaconvolve backend=cpu radius=3 ! cudaconvolve name=c backend=cuda radius=2 ! "
       "cudaconvolve backend=cuda radius=1 ! fakesink",
       TRUE, TRUE},
      {"videotestsrc num-buffers=8 ! video/x-raw,format=NV12,width=642,height=362 ! "
       "cudaconvolve name=c backend=cpu radius=3 ! fakesink",
       FALSE, FALSE},
  };

  for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
    Seen in = {0}, out = {0};

    run_pipeline(rows[i].text, &in, &out);
    ck_assert_uint_eq(in.buffers, 8);
    ck_assert_uint_eq(out.buffers, 8);
    ck_assert_msg(in.pinned == (rows[i].in ? 8 : 0), "%s: %u of 8 input buffers page-locked", rows[i].text, in.pinned);
    ck_assert_msg(out.pinned == (rows[i].out ? 8 : 0), "%s: %u of 8 output buffers page-locked", rows[i].text,
                  out.pinned);
  }
}
END_TEST

/* Sizes that go up and down, with a flush between them: each frame comes out at once, and is the one that went in. */
START_TEST(test_caps_and_flush)
{
  static const int sizes[][2] = {{640, 360}, {1920, 1080}, {33, 17}, {2560, 1440}, {1282, 722}, {1920, 1080}};
  GstHarness *h = gst_harness_new_parse("cudaconvolve backend=cuda filter=identity disable-passthrough=true");
  guint number = 0;

  for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
    GstVideoInfo info;

    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, sizes[i][0], sizes[i][1]);
    GST_VIDEO_INFO_FPS_N(&info) = 25;
    gst_harness_set_src_caps(h, gst_video_info_to_caps(&info));
    for (int frame = 0; frame < 3; frame++, number++) {
      GstBuffer *in = noise_buffer(&info, number), *out;

      ck_assert_int_eq(gst_harness_push(h, gst_buffer_ref(in)), GST_FLOW_OK);
      out = gst_harness_try_pull(h);
      ck_assert_msg(out && out != in, "frame %u did not come out", number);
      ck_assert_uint_eq(GST_BUFFER_PTS(out), number * GST_MSECOND);
      assert_same(in, out, &info);
      gst_buffer_unref(in);
      gst_buffer_unref(out);
    }
    if (i % 2) {
      GstSegment segment;

      gst_segment_init(&segment, GST_FORMAT_TIME);
      gst_harness_push_event(h, gst_event_new_flush_start());
      gst_harness_push_event(h, gst_event_new_flush_stop(TRUE));
      gst_harness_push_event(h, gst_event_new_segment(&segment));
    }
  }
  ck_assert(gst_harness_push_event(h, gst_event_new_eos()));
  ck_assert_uint_eq(gst_harness_buffers_received(h), number);
  gst_harness_teardown(h);
}
END_TEST

/* Buffers stay valid memory after the element that they came from is gone. */
START_TEST(test_buffers_outlive)
{
  GstHarness *h = gst_harness_new_parse("cudaconvolve backend=cuda filter=identity disable-passthrough=true");
  GstBuffer *in, *out;
  GstVideoInfo info;
  GstMapInfo map;

  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_NV12, 1920, 1080);
  gst_harness_set_src_caps(h, gst_video_info_to_caps(&info));
  in = noise_buffer(&info, 1);
  out = gst_harness_push_and_pull(h, gst_buffer_ref(in));
  gst_harness_teardown(h);
  ck_assert(gst_buffer_map(out, &map, GST_MAP_READ));
  ck_assert(test_device_is_pinned(map.data));
  gst_buffer_unmap(out, &map);
  assert_same(in, out, &info);
  gst_buffer_unref(in);
  gst_buffer_unref(out);
}
END_TEST

static Suite *
host_suite(void)
{
  Suite *suite = suite_create("gpu_host");
  TCase *tcase = tcase_create("sessions"), *element = tcase_create("element"), *flight = tcase_create("flight");

  suite_add_tcase(suite, tcase);
  suite_add_tcase(suite, element);
  suite_add_tcase(suite, flight);
  tcase_set_timeout(tcase, 300);
  tcase_set_timeout(flight, 300);
  tcase_add_loop_test(tcase, test_host_is_device, 0, G_N_ELEMENTS(cases));
  tcase_add_test(tcase, test_other_work);
  tcase_add_test(tcase, test_kept_frames);
  tcase_add_test(tcase, test_stats);
  tcase_add_loop_test(flight, test_flights, 0, N_FLIGHT_CASES);
  add_flight_tests(flight, "cuda");
  tcase_add_test(element, test_pools);
  tcase_add_test(element, test_caps_and_flush);
  tcase_add_test(element, test_buffers_outlive);
  return suite;
}

/* Opens the session. Returns FALSE and prints the reason if that is not possible. */
static gboolean
open_session(void)
{
  const CnvSessionOptions options = {.device = -1};
  const CnvBackend *cuda = cnv_backend_find("cuda");
  GError *error = NULL;

  if (!cuda)
    printf("SKIPPED: this build has no CUDA\n");
  else if (!cuda->probe(-1, &error) || !(session = cuda->open(&options, &error)))
    printf("SKIPPED: %s\n", error->message);
  g_clear_error(&error);
  return session != NULL;
}

int
main(int argc, char **argv)
{
  int status;

  quick = argc > 1 && g_str_equal(argv[1], "--quick");
  argc = 1;
  gst_check_init(&argc, &argv);
  if (!open_session())
    return SKIP;
  status = test_suite_run_in_process(host_suite());
  cnv_session_close(session);
  return status;
}
