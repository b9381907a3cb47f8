/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "support/ring_source.h"

#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#define NOISE (1 << 20)
#define STEP 4099 /* offset in bytes between the noise of successive buffers */

struct _RingSource {
  GstPushSrc parent;
  GstCaps *caps;
  GPtrArray *ring; /* NULL: uses the pool's buffers, or a ring that is made when the first frame is sent */
  /* Protected by the object lock. */
  guint64 sent, last_frame; /* last_frame: the first frame that is not sent */
  gint64 end;               /* monotonic time */
};

#define RING_TYPE_SOURCE (ring_source_get_type())
G_DECLARE_FINAL_TYPE(RingSource, ring_source, RING, SOURCE, GstPushSrc)
G_DEFINE_TYPE(RingSource, ring_source, GST_TYPE_PUSH_SRC)

static GQuark filled; /* marks buffers of a pool that are filled with noise */

/* ---- noise ---- */

static gpointer
make_noise(gpointer unused)
{
  GRand *rng = g_rand_new_with_seed(1);
  guint32 *noise = g_malloc(NOISE);

  for (gsize i = 0; i < NOISE / sizeof *noise; i++)
    noise[i] = g_rand_int(rng);
  g_rand_free(rng);
  return noise;
}

/* Fills all bytes, including those between rows. Returns FALSE if the buffer cannot be written. */
static gboolean
fill(GstBuffer *buffer, guint number)
{
  static GOnce once = G_ONCE_INIT;
  const guint8 *noise = g_once(&once, make_noise, NULL);
  gsize from = number * STEP;
  GstMapInfo map;

  if (!gst_buffer_map(buffer, &map, GST_MAP_WRITE))
    return FALSE;
  for (gsize at = 0, n; at < map.size; at += n, from = 0) {
    n = MIN(map.size - at, NOISE - from);
    memcpy(map.data + at, noise + from, n);
  }
  gst_buffer_unmap(buffer, &map);
  return TRUE;
}

GPtrArray *
ring_new(gsize bytes)
{
  GPtrArray *ring = g_ptr_array_new_with_free_func((GDestroyNotify)gst_buffer_unref);

  for (guint i = 0; i < RING_SIZE; i++) {
    GstBuffer *buffer = gst_buffer_new_allocate(NULL, bytes, NULL);

    fill(buffer, i);
    g_ptr_array_add(ring, buffer);
  }
  return ring;
}

/* ---- where a frame comes from ---- */

/* Acquires a buffer from the pool, like any source, but fills each buffer only once. */
static GstFlowReturn
take_of_pool(GstBufferPool *pool, guint64 number, GstBuffer **buffer)
{
  GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool, buffer, NULL);

  if (flow != GST_FLOW_OK)
    return flow;
  if (gst_mini_object_get_qdata(GST_MINI_OBJECT(*buffer), filled))
    return GST_FLOW_OK;
  if (!fill(*buffer, number % RING_SIZE)) {
    gst_clear_buffer(buffer);
    return GST_FLOW_ERROR;
  }
  gst_mini_object_set_qdata(GST_MINI_OBJECT(*buffer), filled, pool, NULL);
  return GST_FLOW_OK;
}

/* Copies a buffer of the ring. The copy shares its memory. */
static GstFlowReturn
take_of_ring(RingSource *self, guint64 number, GstBuffer **buffer)
{
  GstVideoInfo info;

  if (!self->ring && gst_video_info_from_caps(&info, self->caps))
    self->ring = ring_new(info.size);
  if (!self->ring)
    return GST_FLOW_ERROR;
  *buffer = gst_buffer_copy(g_ptr_array_index(self->ring, number % self->ring->len));
  return GST_FLOW_OK;
}

/* ---- the element ---- */

/* Stores the number of the next frame, which counts as sent. Returns FALSE at the end. */
static gboolean
next_frame(RingSource *self, guint64 *number)
{
  gboolean goes_on;

  GST_OBJECT_LOCK(self);
  goes_on = self->sent < self->last_frame && (self->end == G_MAXINT64 || g_get_monotonic_time() < self->end);
  *number = self->sent;
  self->sent += goes_on;
  GST_OBJECT_UNLOCK(self);
  return goes_on;
}

static GstFlowReturn
create(GstPushSrc *source, GstBuffer **buffer)
{
  RingSource *self = RING_SOURCE(source);
  GstBufferPool *pool;
  GstFlowReturn flow;
  guint64 number;

  if (!next_frame(self, &number))
    return GST_FLOW_EOS;
  pool = gst_base_src_get_buffer_pool(GST_BASE_SRC(source));
  flow = pool ? take_of_pool(pool, number, buffer) : take_of_ring(self, number, buffer);
  gst_clear_object(&pool);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR(self, RESOURCE, FAILED, ("The frames cannot be made"), ("%" GST_PTR_FORMAT, self->caps));
  if (flow != GST_FLOW_OK)
    return flow;
  GST_BUFFER_PTS(*buffer) = number * RING_FRAME_TIME;
  GST_BUFFER_DTS(*buffer) = GST_CLOCK_TIME_NONE;
  GST_BUFFER_DURATION(*buffer) = RING_FRAME_TIME;
  return GST_FLOW_OK;
}

/* Makes a pool as large as a ring, because it hands out its buffers in turn. A given ring needs no pool. */
static gboolean
decide_allocation(GstBaseSrc *source, GstQuery *query)
{
  RingSource *self = RING_SOURCE(source);
  GstBufferPool *pool;
  guint size, min, max;

  while (self->ring && gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  if (gst_query_get_n_allocation_pools(query) > 0) {
    gst_query_parse_nth_allocation_pool(query, 0, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool(query, 0, pool, size, MIN(MAX(min, RING_SIZE), max > 0 ? max : G_MAXUINT), max);
    gst_clear_object(&pool);
  }
  return GST_BASE_SRC_CLASS(ring_source_parent_class)->decide_allocation(source, query);
}

static GstCaps *
get_caps(GstBaseSrc *source, GstCaps *filter)
{
  RingSource *self = RING_SOURCE(source);

  if (!self->caps)
    return GST_BASE_SRC_CLASS(ring_source_parent_class)->get_caps(source, filter);
  return filter ? gst_caps_intersect(self->caps, filter) : gst_caps_ref(self->caps);
}

static gboolean
is_seekable(GstBaseSrc *source)
{
  return FALSE;
}

static void
finalize(GObject *object)
{
  RingSource *self = RING_SOURCE(object);

  gst_clear_caps(&self->caps);
  g_clear_pointer(&self->ring, g_ptr_array_unref);
  G_OBJECT_CLASS(ring_source_parent_class)->finalize(object);
}

static void
ring_source_class_init(RingSourceClass *klass)
{
  static GstStaticPadTemplate template =
      GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

  filled = g_quark_from_static_string("ringsource-filled");
  G_OBJECT_CLASS(klass)->finalize = finalize;
  gst_element_class_add_static_pad_template(GST_ELEMENT_CLASS(klass), &template);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Ring source", "Source/Video",
                                        "Sends the same few buffers again and again", "cudaconvolve");
  GST_BASE_SRC_CLASS(klass)->get_caps = get_caps;
  GST_BASE_SRC_CLASS(klass)->decide_allocation = decide_allocation;
  GST_BASE_SRC_CLASS(klass)->is_seekable = is_seekable;
  GST_PUSH_SRC_CLASS(klass)->create = create;
}

static void
ring_source_init(RingSource *self)
{
  gst_base_src_set_format(GST_BASE_SRC(self), GST_FORMAT_TIME);
  self->last_frame = G_MAXUINT64;
  self->end = G_MAXINT64;
}

void
ring_source_register(void)
{
  if (!gst_element_register(NULL, "ringsource", GST_RANK_NONE, RING_TYPE_SOURCE))
    g_error("the element ringsource cannot be registered");
}

void
ring_source_set(GstElement *source, GstCaps *caps, GPtrArray *ring)
{
  RingSource *self = RING_SOURCE(source);

  gst_caps_replace(&self->caps, caps);
  g_clear_pointer(&self->ring, g_ptr_array_unref);
  self->ring = ring ? g_ptr_array_ref(ring) : NULL;
}

void
ring_source_stop_after(GstElement *source, guint64 frames, gint64 microseconds)
{
  RingSource *self = RING_SOURCE(source);

  GST_OBJECT_LOCK(self);
  self->last_frame = frames > 0 ? self->sent + frames : G_MAXUINT64;
  self->end = microseconds > 0 ? g_get_monotonic_time() + microseconds : G_MAXINT64;
  GST_OBJECT_UNLOCK(self);
}

guint64
ring_source_sent(GstElement *source)
{
  RingSource *self = RING_SOURCE(source);
  guint64 sent;

  GST_OBJECT_LOCK(self);
  sent = self->sent;
  GST_OBJECT_UNLOCK(self);
  return sent;
}
