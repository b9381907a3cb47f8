/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What comes from outside and cannot be right: buffers with false metas, pools and allocators without buffers, caps
 * beyond the limits. Each is rejected with a message, and nothing beside a frame is read or written.
 */
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "element/element.h"

/* ---- metas ---- */

/* A frame of 4x4 in a buffer of 64 bytes, with a meta that does not fit it. */
static const struct {
  const char *format;
  guint n_planes, width, height;
  gsize offset[2];
  int stride[2];
  gsize skip; /* bytes of memory before the buffer, so that reading them does not crash */
} meta_rows[] = {
    {"GRAY8", 1, 4, 4, {12}, {-4}, 0}, /* within the buffer, from its last row upwards */
    {"GRAY8", 1, 4, 4, {0}, {-4}, 32},
    {"GRAY8", 1, 4, 4, {0}, {0}, 0},
    {"GRAY8", 1, 4, 4, {0}, {3}, 0},
    {"GRAY8", 1, 4, 4, {0}, {G_MININT}, 0},
    {"GRAY8", 1, 4, 4, {0}, {G_MAXINT}, 0},
    {"GRAY8", 1, 4, 4, {61}, {4}, 0},
    {"GRAY8", 1, 4, 4, {64}, {4}, 0},
    {"GRAY8", 1, 4, 4, {G_MAXSIZE}, {4}, 0},
    {"GRAY8", 1, 4, 4, {G_MAXSIZE / 2}, {4}, 0},
    {"GRAY8", 1, 4, 4, {(gsize)-4}, {4}, 32},
    {"GRAY8", 0, 4, 4, {0}, {4}, 0},
    {"GRAY8", 4, 4, 4, {0}, {4}, 0},
    {"GRAY8", 9, 4, 4, {0}, {4}, 0},
    {"GRAY8", 1, G_MAXUINT, 4, {0}, {4}, 0},
    {"GRAY8", 1, 3, 4, {0}, {4}, 0},
    {"NV12", 2, 4, 4, {0, 16}, {4, -4}, 0},
    {"NV12", 2, 4, 4, {0, 16}, {4, 0}, 0},
    {"NV12", 2, 4, 4, {0, 16}, {4, G_MININT}, 0},
    {"NV12", 2, 4, 4, {0, 16}, {4, G_MAXINT}, 0},
    {"NV12", 2, 4, 4, {0, G_MAXSIZE - 3}, {4, 4}, 0},
    {"NV12", 2, 4, 4, {0, 57}, {4, 4}, 0},
    {"NV12", 1, 4, 4, {0, 16}, {4, 4}, 0},
};

static void
add_hostile_meta(GstBuffer *buffer, int row)
{
  GstVideoFormat format = gst_video_format_from_string(meta_rows[row].format);
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  gint stride[GST_VIDEO_MAX_PLANES] = {0};
  GstVideoMeta *meta =
      gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, 4, 4,
                                     strcmp(meta_rows[row].format, "NV12") == 0 ? 2 : 1, offset, stride);

  meta->n_planes = meta_rows[row].n_planes;
  meta->width = meta_rows[row].width;
  meta->height = meta_rows[row].height;
  for (int p = 0; p < 2; p++) {
    meta->offset[p] = meta_rows[row].offset[p];
    meta->stride[p] = meta_rows[row].stride[p];
  }
}

static GstBuffer *
hostile_buffer(int row)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, 64 + meta_rows[row].skip, NULL);

  gst_buffer_memset(buffer, 0, 0x55, -1);
  gst_buffer_resize(buffer, meta_rows[row].skip, 64);
  add_hostile_meta(buffer, row);
  stamp(buffer, 0);
  return buffer;
}

static const char *const ways[] = {"radius=1", "temporal-radius=1"};

static void
refuse_input(const char *backend, GstBuffer *buffer, const char *format, const char *way, const char *what)
{
  GstBus *bus;
  GstElement *element = make_element(backend, &bus);
  GstHarness *h;

  SET(element, "filter=box", way, "scene-change-threshold=0.5");
  h = harness_of(gst_object_ref(element), format, 4, 4);
  fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, what), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}

GST_START_TEST(test_hostile_input)
{
  for (gsize i = 0; i < G_N_ELEMENTS(meta_rows); i++)
    for (gsize w = 0; w < G_N_ELEMENTS(ways); w++)
      refuse_input(BACKEND, hostile_buffer((int)i), meta_rows[i].format, ways[w],
                   "An input buffer of 64 bytes does not hold or give access to a 4x4");
}
GST_END_TEST;

/* ---- pools ---- */

/* What a sink offers: buffers with a meta of the table, a pool without buffers, or a pool that does not start. */
typedef enum { POOL_HOSTILE, POOL_EMPTY, POOL_IDLE } PoolKind;

typedef struct {
  GstBufferPool parent;
  PoolKind kind;
  int row;
} HostilePool;

typedef GstBufferPoolClass HostilePoolClass;

static GType hostile_pool_get_type(void);
G_DEFINE_TYPE(HostilePool, hostile_pool, GST_TYPE_BUFFER_POOL)

static GstFlowReturn
hostile_pool_alloc(GstBufferPool *pool, GstBuffer **buffer, GstBufferPoolAcquireParams *params)
{
  HostilePool *self = (HostilePool *)pool;

  if (self->kind != POOL_HOSTILE)
    return GST_FLOW_ERROR;
  *buffer = hostile_buffer(self->row);
  return GST_FLOW_OK;
}

static gboolean
hostile_pool_start(GstBufferPool *pool)
{
  return ((HostilePool *)pool)->kind != POOL_IDLE;
}

static void
hostile_pool_class_init(HostilePoolClass *klass)
{
  klass->alloc_buffer = hostile_pool_alloc;
  klass->start = hostile_pool_start;
}

static void
hostile_pool_init(HostilePool *self)
{
}

static GstPadProbeReturn
offer_pool(GstPad *pad, GstPadProbeInfo *info, gpointer pool)
{
  GstQuery *query = GST_PAD_PROBE_INFO_QUERY(info);

  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION)
    return GST_PAD_PROBE_OK;
  gst_query_add_allocation_pool(query, pool, 64, 0, 0);
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, NULL);
  return GST_PAD_PROBE_HANDLED;
}

/* Returns a harness whose sink offers a pool of this kind. Takes ownership of the element. */
static GstHarness *
harness_with_pool(GstElement *element, const char *format, PoolKind kind, int row)
{
  GstHarness *h = gst_harness_new_with_element(element, "sink", "src");
  HostilePool *pool = g_object_new(hostile_pool_get_type(), NULL);
  char *caps = g_strdup_printf("video/x-raw,format=%s,width=4,height=4,framerate=25/1", format);

  gst_object_unref(element);
  gst_object_ref_sink(pool);
  pool->kind = kind;
  pool->row = row;
  gst_pad_add_probe(h->sinkpad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, offer_pool, pool, gst_object_unref);
  gst_harness_set_src_caps_str(h, caps);
  g_free(caps);
  return h;
}

/* Pushes frames until the first one should come out. Returns the last flow. */
static GstFlowReturn
push_flat_frames(GstHarness *h, const char *format, gboolean over_time)
{
  GstFlowReturn flow = GST_FLOW_OK;

  for (guint i = 0; i < (over_time ? 2 : 1) && flow == GST_FLOW_OK; i++) {
    GstVideoInfo info;
    GstBuffer *buffer;

    gst_video_info_set_format(&info, gst_video_format_from_string(format), 4, 4);
    buffer = gst_buffer_new_allocate(NULL, info.size, NULL);
    gst_buffer_memset(buffer, 0, 0x55, -1);
    stamp(buffer, i);
    flow = gst_harness_push(h, buffer);
  }
  return flow;
}

static void
refuse_output(const char *backend, const char *format, int way, PoolKind kind, int row, const char *what)
{
  GstBus *bus;
  GstElement *element = make_element(backend, &bus);
  GstHarness *h;

  SET(element, "filter=box", ways[way]);
  h = harness_with_pool(gst_object_ref(element), format, kind, row);
  fail_unless_equals_int(push_flat_frames(h, format, way == 1), GST_FLOW_ERROR);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, what), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}

GST_START_TEST(test_hostile_output)
{
  for (gsize i = 0; i < G_N_ELEMENTS(meta_rows); i++)
    for (int w = 0; w < (int)G_N_ELEMENTS(ways); w++)
      refuse_output(BACKEND, meta_rows[i].format, w, POOL_HOSTILE, (int)i,
                    "An output buffer of 64 bytes does not hold or give access to a 4x4");
}
GST_END_TEST;

/* If there is no buffer, the message says what it was for, its size and its kind of memory. */
GST_START_TEST(test_no_output)
{
  for (int w = 0; w < (int)G_N_ELEMENTS(ways); w++) {
    refuse_output(BACKEND, "GRAY8", w, POOL_EMPTY, 0, "No output buffer of 16 bytes of system memory");
    refuse_output(BACKEND, "GRAY8", w, POOL_IDLE, 0, "No output buffer of 16 bytes of system memory");
  }
}
GST_END_TEST;

/* ---- frames at any address ---- */

static GstBuffer *
frame_at(GstVideoFormat format, gsize offset, guint8 value)
{
  gsize offsets[GST_VIDEO_MAX_PLANES] = {offset};
  int strides[GST_VIDEO_MAX_PLANES] = {35};
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, offset + 8 * 35, NULL);

  gst_buffer_memset(buffer, 0, value, -1);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format, 8, 8, 1, offsets, strides);
  return buffer;
}

/* The mean of three frames leaves out frames beyond the cut, which is detected from samples at odd addresses. */
GST_START_TEST(test_odd_addresses)
{
  static const char *const formats[] = {"GRAY16_LE", "BGR10A2_LE"};

  for (gsize i = 0; i < 4 * G_N_ELEMENTS(formats); i++) {
    GstVideoFormat format = gst_video_format_from_string(formats[i / 4]);
    GstHarness *h =
        HARNESS(BACKEND, formats[i / 4], 8, 8, "filter=identity", "kernel-t=<1,1,1>", "scene-change-threshold=0.9");

    for (guint f = 0; f < 3; f++) {
      GstBuffer *buffer = frame_at(format, i % 4, f < 2 ? 0 : 0xff);

      stamp(buffer, f);
      fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
    }
    fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
    for (guint f = 0; f < 3; f++) {
      GstBuffer *out = gst_harness_try_pull(h);
      guint8 byte = 1;

      gst_buffer_extract(out, 0, &byte, 1);
      fail_unless_equals_int(byte, f < 2 ? 0 : 0xff);
      gst_buffer_unref(out);
    }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

#define FAR_STRIDE (1 << 29)

typedef struct {
  guint8 *data;
  gsize size;
} Mapping;

static void
free_mapping(gpointer data)
{
  Mapping *mapping = data;

  munmap(mapping->data, mapping->size);
  g_free(mapping);
}

/* Returns a frame of 4x8 in rows half a gigabyte apart, of which only the written parts use memory. Returns NULL if
 * there are not enough addresses. */
static GstBuffer *
far_buffer(guint8 value, guint i)
{
  Mapping mapping = {.size = 7 * (gsize)FAR_STRIDE + 4};
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
  int strides[GST_VIDEO_MAX_PLANES] = {FAR_STRIDE};
  GstBuffer *buffer;

  mapping.data = mmap(NULL, mapping.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping.data == MAP_FAILED)
    return NULL;
  for (int y = 0; y < 8; y++)
    memset(mapping.data + y * (gsize)FAR_STRIDE, value, 4);
  buffer = gst_buffer_new_wrapped_full(0, mapping.data, mapping.size, 0, mapping.size,
                                       g_memdup2(&mapping, sizeof(mapping)), free_mapping);
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 8, 1, offsets, strides);
  stamp(buffer, i);
  return buffer;
}

/* The distance of rows that are compared exceeds an int. */
GST_START_TEST(test_far_rows)
{
  GstHarness *h = HARNESS("cpu", "GRAY8", 4, 8, "filter=identity", "kernel-t=<1,1,1>", "scene-change-threshold=0.9");

  for (guint i = 0; i < 3; i++) {
    GstBuffer *buffer = far_buffer(i < 2 ? 0 : 0xff, i);

    if (!buffer) {
      g_print("SKIPPED: test_far_rows, no room for 4 GB of addresses\n");
      gst_harness_teardown(h);
      return;
    }
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_OK);
  }
  fail_unless(gst_harness_push_event(h, gst_event_new_eos()));
  for (guint i = 0; i < 3; i++) {
    guint8 pixels[4 * 8];
    GstBuffer *out = gst_harness_try_pull(h);

    memset(pixels, i < 2 ? 0 : 0xff, sizeof(pixels));
    fail_unless(gray_equals(out, 4, 8, pixels));
    gst_buffer_unref(out);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* The size changes in the middle of a stream, up to the limits. A cut is found at each size. */
GST_START_TEST(test_sizes_in_turn)
{
  static const int sizes[][2] = {{4, 3}, {CNV_SIZE_MAX, 1}, {1, 1}, {1, CNV_SIZE_MAX}, {1023, 5}, {5, 1025}};
  GstHarness *h = HARNESS(BACKEND, "GRAY8", 4, 3, "filter=identity", "kernel-t=<1,1,1>", "scene-change-threshold=0.99");

  for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
    const int width = sizes[s][0], height = sizes[s][1];
    char *caps = g_strdup_printf("video/x-raw,format=GRAY8,width=%d,height=%d,framerate=25/1", width, height);
    guint8 *pixels = g_malloc(width * height);

    gst_harness_set_src_caps_str(h, caps);
    for (guint i = 0; i < 4; i++) {
      memset(pixels, i < 2 ? 0 : 0xff, width * height);
      fail_unless_equals_int(gst_harness_push(h, gray_buffer(width, height, pixels, i)), GST_FLOW_OK);
    }
    fail_unless(gst_harness_push_event(h, gst_event_new_gap(0, FRAME_TIME))); /* drains */
    for (guint i = 0; i < 4; i++) {
      GstBuffer *out = gst_harness_try_pull(h);

      memset(pixels, i < 2 ? 0 : 0xff, width * height);
      fail_unless(out && gray_equals(out, width, height, pixels), "%dx%d, frame %u", width, height, i);
      gst_buffer_unref(out);
    }
    g_free(pixels);
    g_free(caps);
  }
  gst_harness_teardown(h);
}
GST_END_TEST;

/* ---- taps at their limits ---- */

static const struct {
  const char *set[3], *same[3];
} tap_rows[] = {
    {{"kernel=<2e26,4e26,2e26>"}, {"kernel=<1,2,1>"}},
    {{"kernel=<5e-28,1e-27,5e-28>"}, {"kernel=<1,2,1>"}},
    {{"kernel=<<1e26,2e26>,<3e26,1e26>>"}, {"kernel=<<1,2>,<3,1>>"}},
    {{"kernel=<<1e-27,2e-27>,<3e-27,1e-27>>"}, {"kernel=<<1,2>,<3,1>>"}},
    {{"kernel-x=<1e13,1e13>", "kernel-y=<2e13,1e13>"}, {"kernel-x=<1,1>", "kernel-y=<2,1>"}},
    {{"kernel-x=<4e26,4e26>", "kernel-y=<2e-27,1e-27>"}, {"kernel-x=<1,1>", "kernel-y=<2,1>"}},
};

static GstBuffer *
filter_noise(const char *backend, const char *format, const char *const *set, const char *more)
{
  GstElement *element = make_element(backend, NULL);
  GRand *random = g_rand_new_with_seed(1);
  GstVideoInfo info;
  GstMapInfo map;
  GstBuffer *in, *out;
  GstHarness *h;

  SET(element, "filter=custom", more);
  set_all(element, set);
  h = harness_of(element, format, 16, 16);
  gst_video_info_set_format(&info, gst_video_format_from_string(format), 16, 16);
  in = gst_buffer_new_allocate(NULL, info.size, NULL);
  gst_buffer_map(in, &map, GST_MAP_WRITE);
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8)g_rand_int(random);
  gst_buffer_unmap(in, &map);
  out = gst_harness_push_and_pull(h, in);
  g_rand_free(random);
  gst_harness_teardown(h);
  return out;
}

/* Taps that are accepted are right, however large or small: multiples of the same taps give the same picture. */
GST_START_TEST(test_extreme_taps)
{
  static const char *const formats[] = {"GRAY8", "GRAY16_LE", "I420", "ARGB64"};
  static const char *const more[] = {"border-mode=replicate", "border-mode=renormalize", "alpha-mode=premultiply",
                                     "algorithm=naive"};

  for (gsize i = 0; i < G_N_ELEMENTS(tap_rows) * G_N_ELEMENTS(formats) * G_N_ELEMENTS(more); i++) {
    const char *const format = formats[i % 4], *const with = more[i / 4 % 4];
    GstBuffer *out = filter_noise(BACKEND, format, tap_rows[i / 16].set, with);
    GstBuffer *same = filter_noise(BACKEND, format, tap_rows[i / 16].same, with);
    GstMapInfo a, b;

    gst_buffer_map(out, &a, GST_MAP_READ);
    gst_buffer_map(same, &b, GST_MAP_READ);
    for (gsize k = 0; k < a.size; k++) {
      gboolean wide = strstr(format, "16") || strstr(format, "64");
      int one = wide ? GST_READ_UINT16_LE(a.data + k / 2 * 2) : a.data[k];
      int other = wide ? GST_READ_UINT16_LE(b.data + k / 2 * 2) : b.data[k];

      fail_unless(ABS(one - other) <= 1, "%s %s %s: byte %d is of %d, not %d", tap_rows[i / 16].set[0], format, with,
                  (int)k, one, other);
    }
    gst_buffer_unmap(out, &a);
    gst_buffer_unmap(same, &b);
    gst_buffer_unref(out);
    gst_buffer_unref(same);
  }
}
GST_END_TEST;

/* ---- caps ---- */

/* Caps that the pad template allows, but no frame can have. */
GST_START_TEST(test_caps_too_large)
{
  const struct {
    const char *caps, *fragment;
  } rows[] = {
      {"format=ARGB64,width=32768,height=32768", "A frame of 32768x32768 ARGB64 takes 4 GiB or more, too much for a "
                                                 "buffer: scale or crop it first"},
      {"format=BGRx,width=32768,height=32768", "A frame of 32768x32768 BGRx takes 4 GiB or more"},
      {"format=GRAY8,width=7", "The caps are not video caps"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstBus *bus;
    GstElement *element = make_element("cpu", &bus);
    GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);
    char *text = g_strconcat("video/x-raw,framerate=25/1,", rows[i].caps, NULL);
    GstCaps *caps = gst_caps_from_string(text);

    gst_harness_push_event(h, gst_event_new_caps(caps));
    fail_unless(count_messages(bus, GST_MESSAGE_ERROR, rows[i].fragment) > 0);
    gst_caps_unref(caps);
    g_free(text);
    gst_harness_teardown(h);
    free_element(element, bus);
  }
}
GST_END_TEST;

/* ---- contents of buffers and metas ---- */

static GstBuffer *
odd_buffer(int kind)
{
  switch (kind) {
  case 0:
    return gst_buffer_new();
  case 1:
    return gst_buffer_new_allocate(NULL, 0, NULL);
  default:
    return gst_buffer_new_allocate(NULL, 1, NULL);
  }
}

GST_START_TEST(test_odd_buffers)
{
  for (int kind = 0; kind < 3; kind++)
    for (gsize w = 0; w < G_N_ELEMENTS(ways); w++)
      refuse_input(BACKEND, odd_buffer(kind), "NV12", ways[w], "does not hold or give access to a 4x4 NV12");
}
GST_END_TEST;

/* Regions as large and as far out as a meta can say, some without a type. */
GST_START_TEST(test_hostile_regions)
{
  static const guint ends[] = {0, 3, G_MAXINT, (guint)G_MAXINT + 1, G_MAXUINT};
  static const char *const more[] = {"roi-expand=10",   "roi-feather=1024", "roi-strength=relative",
                                     "roi-invert=true", "roi-target-y=1",   "temporal-radius=2"};
  const guint n = G_N_ELEMENTS(ends);

  for (gsize m = 0; m < G_N_ELEMENTS(more); m++) {
    GstHarness *h = HARNESS(BACKEND, "NV12", 8, 6, "filter=box", "radius=1", "roi-source=meta",
                            m == 4 ? "roi-target-x=3" : "roi-target-x=-1", more[m]);

    for (guint i = 0; i < n * n * n * n; i++) {
      GstBuffer *in = gst_buffer_new_allocate(NULL, 72, NULL), *out;
      GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta(
          in, "face", ends[i % n], ends[i / n % n], ends[i / n / n % n], ends[i / n / n / n]);

      gst_buffer_memset(in, 0, 100, -1);
      gst_video_region_of_interest_meta_add_param(meta, gst_structure_new("detection", "confidence", G_TYPE_DOUBLE,
                                                                          G_MAXDOUBLE, "label_id", G_TYPE_INT, G_MININT,
                                                                          NULL));
      if (i % 2)
        meta->roi_type = 0;
      stamp(in, i);
      fail_unless_equals_int(gst_harness_push(h, in), GST_FLOW_OK);
      while ((out = gst_harness_try_pull(h))) {
        fail_unless(gst_buffer_memcmp(out, 0, (const guint8[]){100, 100, 100, 100}, 4) == 0);
        gst_buffer_unref(out);
      }
    }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Limit of the CPU time of a frame with METAS_MANY metas. */
#define METAS_MANY 100000
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define METAS_SECONDS 60
#else
#define METAS_SECONDS 2
#endif

/* Returns a frame with metas all over it and beyond it. masks: each meta has a mask that is all white. */
static GstBuffer *
frame_with_many_metas(gboolean masks)
{
  GstBuffer *frame = gst_buffer_new_allocate(NULL, 640 * 360, NULL), *mask = gst_buffer_new_allocate(NULL, 12, NULL);

  gst_buffer_memset(frame, 0, 0, -1);
  gst_buffer_memset(mask, 0, 255, -1);
  gst_buffer_add_video_meta(mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 4, 3);
  for (guint i = 0; i < METAS_MANY; i++) {
    GstVideoRegionOfInterestMeta *meta = gst_buffer_add_video_region_of_interest_meta(
        frame, "face", i * 7 % 641, i % 361, i % 3 ? 1 : G_MAXUINT, i % 5 ? 1 : G_MAXINT);

    if (masks)
      gst_video_region_of_interest_meta_add_param(meta,
                                                  gst_structure_new("mask", "buffer", GST_TYPE_BUFFER, mask, NULL));
  }
  gst_buffer_unref(mask);
  return frame;
}

/* Far more metas than there can be regions, all over the frame and beyond it: each of them is hidden, in bounded
 * time. */
GST_START_TEST(test_many_metas)
{
  static const struct {
    const char *set[2];
    gboolean masks, fills; /* fills: each region becomes white */
  } rows[] = {
      {{"roi-expand=0"}, FALSE, TRUE},
      {{"roi-isolated=true"}, FALSE, TRUE},
      {{"roi-smooth=5"}, FALSE, TRUE},
      {{"roi-feather=1024"}, FALSE, TRUE},
      {{"roi-strength=relative", "filter=mosaic"}},
      {{"roi-shape=ellipse"}},
      {{"roi-invert=true"}},
      {{"roi-invert=true", "filter=gaussian"}, TRUE},
      {{"roi-expand=0.1"}, TRUE, TRUE},
  };
  static guint8 pixels[640 * 360];

  for (gsize m = 0; m < G_N_ELEMENTS(rows); m++) {
    const char *what = rows[m].set[0];
    GstHarness *h = HARNESS("cpu", "GRAY8", 640, 360, "filter=fill", "roi-source=meta", "fill-color=4294967295", what,
                            rows[m].set[1]);

    for (guint f = 0; f < 2; f++) {
      GstBuffer *frame = frame_with_many_metas(rows[m].masks);
      clock_t start = clock();

      stamp(frame, f);
      frame = gst_harness_push_and_pull(h, frame);
      fail_unless(clock() - start < METAS_SECONDS * CLOCKS_PER_SEC, "%s: %.1f s", what,
                  (double)(clock() - start) / CLOCKS_PER_SEC);
      gst_buffer_extract(frame, 0, pixels, sizeof(pixels));
      for (guint i = 0; i < METAS_MANY && rows[m].fills; i++)
        fail_unless(i * 7 % 641 >= 640 || i % 361 >= 360 || pixels[i % 361 * 640 + i * 7 % 641] == 255,
                    "%s: region %u is not hidden", what, i);
      gst_buffer_unref(frame);
    }
    gst_harness_teardown(h);
  }
}
GST_END_TEST;

/* Frames so long that the latency cannot be counted in nanoseconds. */
GST_START_TEST(test_long_frames)
{
  GstElement *element = make_element(BACKEND, NULL);
  GstHarness *h;

  SET(element, "filter=box", "radius=1", "temporal-radius=15");
  h = harness_of(element, "GRAY8", 4, 4);
  gst_harness_set_src_caps_str(h, "video/x-raw,format=GRAY8,width=4,height=4,framerate=1/2147483647");
  fail_unless_equals_uint64(gst_harness_query_latency(h), G_MAXINT64);
  gst_harness_teardown(h);
}
GST_END_TEST;

/* Messages about long strings stay readable. */
GST_START_TEST(test_long_strings)
{
  static const char *const properties[] = {"kernel", "kernel-x", "roi", "kernel-location"};
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *text = g_strnfill(3000000, 'a'), *array = g_strdup_printf("<1,2,3,%s>", text);

  for (gsize i = 0; i < G_N_ELEMENTS(properties); i++) {
    GstMessage *message;
    GError *error;

    gst_util_set_object_arg(G_OBJECT(element), properties[i], i < 3 ? array : text);
    message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    fail_unless(message != NULL);
    gst_message_parse_warning(message, &error, NULL);
    fail_unless(strstr(error->message, "aaa...") && strlen(error->message) < 1200, "%s: %d characters", properties[i],
                (int)strlen(error->message));
    g_error_free(error);
    gst_message_unref(message);
  }
  g_free(text);
  g_free(array);
  free_element(element, bus);
}
GST_END_TEST;

void
add_hostile_tests(TCase *once, TCase *each)
{
  EACH(test_hostile_input);
  EACH(test_hostile_output);
  EACH(test_no_output);
  EACH(test_odd_addresses);
  EACH(test_sizes_in_turn);
  EACH(test_extreme_taps);
  tcase_add_test(once, test_caps_too_large);
  tcase_add_test(once, test_far_rows);
  tcase_add_test(once, test_long_strings);
  EACH(test_long_frames);
  EACH(test_odd_buffers);
  EACH(test_hostile_regions);
  tcase_add_test(once, test_many_metas);
}
