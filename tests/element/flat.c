/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/flat.h"

#include <string.h>

const guint8 values[N] = {0, 24, 120, 48, 192, 72, 240, 96, 0, 168, 216, 24};

static int
model_value(const Model *model, int frame)
{
  static const int weight[3] = {1, 2, 1};
  int sum = 0, weights = 0;

  for (int i = 0; i < 3; i++) {
    int other = frame + i - model->now;

    if (other < 0 || other >= N || (other < model->cut) != (frame < model->cut))
      continue;
    sum += weight[i] * values[other];
    weights += weight[i];
  }
  return sum / weights / (frame >= model->halved ? 2 : 1);
}

GstBuffer *
flat_buffer(guint8 value, guint i)
{
  guint8 pixels[W * H];

  memset(pixels, value, sizeof(pixels));
  return gray_buffer(W, H, pixels, i);
}

void
push_flat(GstHarness *h, guint8 value, guint i)
{
  GstBuffer *buffer = flat_buffer(value, i);

  gst_buffer_add_video_region_of_interest_meta(buffer, "face", i, 0, 1, 1);
  GST_BUFFER_OFFSET(buffer) = 100 + i;
  fail_unless_equals_int(gst_harness_push(h, gst_buffer_ref(buffer)), GST_FLOW_OK);
  ASSERT_MINI_OBJECT_REFCOUNT(buffer, "input", 1); /* the element does not hold the input while a frame waits */
  gst_buffer_unref(buffer);
}

void
push_some(GstHarness *h, int from, int to)
{
  for (int i = from; i < to; i++)
    push_flat(h, values[i], i);
}

void
pull_flat(GstHarness *h, int value, guint i, const char *what)
{
  GstBuffer *out = gst_harness_try_pull(h);
  GstVideoRegionOfInterestMeta *roi;
  guint8 pixels[W * H], got = 0;

  fail_unless(out != NULL, "%s: frame %u did not come", what, i);
  gst_buffer_extract(out, 0, &got, 1);
  memset(pixels, value, sizeof(pixels));
  fail_unless_equals_uint64(GST_BUFFER_PTS(out), i * FRAME_TIME);
  fail_unless(gray_equals(out, W, H, pixels), "%s: frame %u is %d, not %d", what, i, got, value);
  fail_unless_equals_uint64(GST_BUFFER_DURATION(out), FRAME_TIME);
  fail_unless_equals_uint64(GST_BUFFER_OFFSET(out), 100 + i);
  roi = gst_buffer_get_video_region_of_interest_meta_id(out, 0);
  fail_unless(roi && roi->x == i);
  gst_buffer_unref(out);
}

void
pull_model(GstHarness *h, const Model *model, int from, int to, const char *what)
{
  for (int i = from; i < to; i++)
    if (i != model->missing)
      pull_flat(h, model_value(model, i), i, what);
}

void
expect_none(GstHarness *h, const char *what)
{
  fail_unless_equals_int(gst_harness_buffers_in_queue(h), 0);
  fail_unless(gst_harness_try_pull(h) == NULL, "%s: a frame too many", what);
}

void
end(GstHarness *h)
{
  fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
}

void
push_flush(GstHarness *h)
{
  GstSegment segment;

  fail_unless(gst_harness_push_event(h, gst_event_new_flush_start()));
  fail_unless(gst_harness_push_event(h, gst_event_new_flush_stop(TRUE)));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  fail_unless(gst_harness_push_event(h, gst_event_new_segment(&segment)));
}
