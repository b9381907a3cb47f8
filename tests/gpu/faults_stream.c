/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gpu/faults_stream.h"

#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudautils.h>

#include <stdio.h>
#include <string.h>

#define SLOW_US 2000

const Standin *driver;
const char *job_name;
guint64 run;
guint n_failures;

void
wrong(const char *format, ...)
{
  va_list args;
  char *what;

  va_start(args, format);
  what = g_strdup_vprintf(format, args);
  va_end(args);
  g_strdelimit(what, "\n", ';');
  printf("FAILED %s run %" G_GUINT64_FORMAT " (%s): %s\n", job_name, run,
         driver->failed() ? driver->failed() : "nothing failed", what);
  fflush(stdout);
  g_free(what);
  n_failures++;
}

/* Fills a frame with noise that depends on its number. Every third frame is bright, so that there are cuts. */
static void
fill(GstVideoFrame *frame, guint number)
{
  guint32 state = number * 2654435761u + 1;

  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(frame); p++) {
    int row = GST_VIDEO_FRAME_COMP_WIDTH(frame, p ? 1 : 0) * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, p ? 1 : 0);
    int rows = GST_VIDEO_FRAME_COMP_HEIGHT(frame, p ? 1 : 0);
    guint8 *data = GST_VIDEO_FRAME_PLANE_DATA(frame, p);

    for (int y = 0; y < rows; y++)
      for (int x = 0; x < row; x++) {
        state = state * 1664525u + 1013904223u;
        data[y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, p) + x] =
            (guint8)((state >> 24) / 2 + (number % 3 == 2 ? 128 : 0));
      }
  }
}

static int
row_bytes(const GstVideoInfo *info, guint plane)
{
  return GST_VIDEO_INFO_COMP_WIDTH(info, plane ? 1 : 0) * GST_VIDEO_INFO_COMP_PSTRIDE(info, plane ? 1 : 0);
}

static GBytes *
read_frame(GstVideoFrame *frame)
{
  GByteArray *bytes = g_byte_array_new();

  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(frame); p++)
    for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, p ? 1 : 0); y++)
      g_byte_array_append(bytes,
                          (guint8 *)GST_VIDEO_FRAME_PLANE_DATA(frame, p) + y * GST_VIDEO_FRAME_PLANE_STRIDE(frame, p),
                          row_bytes(&frame->info, p));
  return g_byte_array_free_to_bytes(bytes);
}

/* Checks that the GPU's output in the input's context is on the input's stream, so that no stream waits for another. */
static void
check_stream(const Stream *s, GstMemory *memory)
{
#if GST_CHECK_VERSION(1, 24, 0)
  if (s->stream && strstr(job_name, ",cuda") && gst_is_cuda_memory(memory) &&
      GST_CUDA_MEMORY_CAST(memory)->context == s->context &&
      gst_cuda_memory_get_stream(GST_CUDA_MEMORY_CAST(memory)) != s->stream)
    wrong("a frame is on another stream than its input");
#endif
}

static GstFlowReturn
take_buffer(GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  Stream *s = gst_pad_get_element_private(pad);
  guint64 number = GST_BUFFER_PTS(buffer) / FRAME_TIME;
  GstCaps *caps = gst_pad_get_current_caps(pad);
  GstVideoFrame frame;
  GstVideoInfo info;

  if (s->scenario->grow)
    g_usleep(SLOW_US); /* the next frames stay in flight meanwhile */
  if (number < s->last)
    wrong("frame %d comes after frame %d", (int)number, (int)s->last - 1);
  s->last = number + 1;
  check_stream(s, gst_buffer_peek_memory(buffer, 0));
  gst_video_info_from_caps(&info, caps);
  gst_caps_unref(caps);
  if (gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
    g_hash_table_insert(s->frames, GSIZE_TO_POINTER(number), read_frame(&frame));
    gst_video_frame_unmap(&frame);
  }
  gst_buffer_unref(buffer);
  return GST_FLOW_OK;
}

static gboolean
take_event(GstPad *pad, GstObject *parent, GstEvent *event)
{
  gst_event_unref(event);
  return TRUE;
}

static GstPad *
own_pad(Stream *s, const char *name, GstPadDirection direction, gboolean device, gboolean system)
{
  GstCaps *caps = gst_caps_from_string(device && system ? "video/x-raw(memory:CUDAMemory); video/x-raw"
                                       : device         ? "video/x-raw(memory:CUDAMemory)"
                                                        : "video/x-raw");
  GstPadTemplate *template = gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps);
  GstPad *pad = gst_pad_new_from_template(template, name);

  gst_object_unref(template);
  gst_caps_unref(caps);
  gst_pad_set_element_private(pad, s);
  if (direction == GST_PAD_SINK) {
    gst_pad_set_chain_function(pad, take_buffer);
    gst_pad_set_event_function(pad, take_event);
  }
  return pad;
}

/* Sets a property. setting: NAME=VALUE. */
static void
set_property(GstElement *element, const char *setting)
{
  char **parts = g_strsplit(setting, "=", 2);

  gst_util_set_object_arg(G_OBJECT(element), parts[0], parts[1]);
  g_strfreev(parts);
}

static void
set_properties(GstElement *element, const Scenario *scenario, const char *backend)
{
  gst_util_set_object_arg(G_OBJECT(element), "backend", backend);
  for (gsize i = 0; i < G_N_ELEMENTS(scenario->set) && scenario->set[i]; i++)
    set_property(element, scenario->set[i]);
}

/* Gives the element a context, with system memory only in every other run. Objects that are left over in the element's
 * own context would be freed with it, and so not be noticed. */
static void
share_context(Stream *s)
{
  GstContext *context;

  if (!s->scenario->in_device && !s->scenario->out_device && run % 2 == 0)
    return;
  s->context = gst_cuda_context_new(0);
  context = gst_context_new_cuda_context(s->context);
  gst_element_set_context(s->element, context);
  gst_context_unref(context);
}

/* backend: with "cpu", frames are in system memory, whatever the scenario says. */
void
stream_open(Stream *s, const Scenario *scenario, const char *backend)
{
  gboolean cpu = g_str_equal(backend, "cpu");
  GstPad *pad;

  *s = (Stream){.scenario = scenario, .element = gst_element_factory_make("cudaconvolve", NULL)};
  gst_object_ref_sink(s->element);
  s->frames = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_bytes_unref);
  s->bus = gst_bus_new();
  gst_element_set_bus(s->element, s->bus);
  set_properties(s->element, scenario, backend);
  if (cpu)
    gst_util_set_object_arg(G_OBJECT(s->element), "algorithm", "auto"); /* the CPU does not have all algorithms */
  if (!cpu)
    share_context(s);
  s->src = own_pad(s, "src", GST_PAD_SRC, FALSE, TRUE);
  s->sink = own_pad(s, "sink", GST_PAD_SINK, scenario->out_device && !cpu, scenario->out_any);
  pad = gst_element_get_static_pad(s->element, "sink");
  gst_pad_link(s->src, pad);
  gst_object_unref(pad);
  pad = gst_element_get_static_pad(s->element, "src");
  gst_pad_link(pad, s->sink);
  gst_object_unref(pad);
}

/* Returns FALSE if the element does not start. */
gboolean
stream_start(Stream *s)
{
  s->last = 0;
  gst_pad_set_active(s->src, TRUE);
  gst_pad_set_active(s->sink, TRUE);
  if (gst_element_set_state(s->element, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE)
    return FALSE;
  gst_pad_push_event(s->src, gst_event_new_stream_start("faults"));
  return TRUE;
}

static void
drop_pool(Stream *s)
{
  if (s->pool)
    gst_buffer_pool_set_active(s->pool, FALSE);
  gst_clear_object(&s->pool);
}

static void
open_pool(Stream *s, GstCaps *caps)
{
#if GST_CHECK_VERSION(1, 24, 0)
  GstCudaStream *stream = gst_cuda_stream_new(s->context);
#endif
  GstStructure *config;

  drop_pool(s);
  s->pool = gst_cuda_buffer_pool_new(s->context);
  config = gst_buffer_pool_get_config(s->pool);
  gst_buffer_pool_config_set_params(config, caps, GST_VIDEO_INFO_SIZE(&s->info), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
#if GST_CHECK_VERSION(1, 24, 0)
  if (stream)
    gst_buffer_pool_config_set_cuda_stream(config, stream);
  s->stream = stream; /* the pool keeps it */
  gst_clear_cuda_stream(&stream);
#endif
  gst_buffer_pool_set_config(s->pool, config);
  gst_buffer_pool_set_active(s->pool, TRUE);
}

void
push_caps(Stream *s, int scale)
{
  const Scenario *c = s->scenario;
  GstSegment segment;
  GstCaps *caps;

  gst_video_info_set_format(&s->info, gst_video_format_from_string(c->format), c->width + 8 * scale,
                            c->height + 2 * scale);
  GST_VIDEO_INFO_FPS_N(&s->info) = 25;
  GST_VIDEO_INFO_FPS_D(&s->info) = 1;
  caps = gst_video_info_to_caps(&s->info);
  if (s->context && c->in_device)
    gst_caps_set_features_simple(caps, gst_caps_features_new("memory:CUDAMemory", NULL));
  gst_pad_push_event(s->src, gst_event_new_caps(caps));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(s->src, gst_event_new_segment(&segment));
  if (s->context && c->in_device)
    open_pool(s, caps);
  gst_caps_unref(caps);
}

/* Returns NULL if GStreamer's own allocation fails. */
GstBuffer *
make_buffer(Stream *s, guint number)
{
  GstBuffer *buffer = NULL;
  GstVideoFrame frame;

  if (s->pool)
    gst_buffer_pool_acquire_buffer(s->pool, &buffer, NULL);
  else
    buffer = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&s->info), NULL);
#if GST_CHECK_VERSION(1, 24, 0) /* the upload of its last frame may still read what is written now */
  if (s->pool && buffer)
    gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
#endif
  if (!buffer || !gst_video_frame_map(&frame, &s->info, buffer, GST_MAP_WRITE)) {
    gst_clear_buffer(&buffer);
    return NULL;
  }
  fill(&frame, number);
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = number * FRAME_TIME;
  GST_BUFFER_DURATION(buffer) = FRAME_TIME;
  if (s->scenario->regions)
    gst_buffer_add_video_region_of_interest_meta(buffer, "face", 4 + 2 * number % 12, 6, 16, 12);
  return buffer;
}

/* Pushes a frame. Returns FALSE if the stream should end. */
static gboolean
push_frame(Stream *s, guint number, gboolean goes_on)
{
  GstBuffer *buffer = make_buffer(s, number);
  GstFlowReturn flow = buffer ? gst_pad_push(s->src, buffer) : GST_FLOW_OK;

  s->refused |= flow == GST_FLOW_NOT_NEGOTIATED;
  if (number == 0)
    s->calls_to_first = driver->calls();
  return flow == GST_FLOW_OK || goes_on;
}

static void
push_flush(Stream *s)
{
  GstSegment segment;

  gst_pad_push_event(s->src, gst_event_new_flush_start());
  gst_pad_push_event(s->src, gst_event_new_flush_stop(TRUE));
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_push_event(s->src, gst_event_new_segment(&segment));
}

void
read_bus(Stream *s)
{
  GstMessage *message;

  while ((message = gst_bus_pop(s->bus))) {
    GError *error = NULL;

    if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
      gst_message_parse_error(message, &error, NULL);
      if (!s->error)
        s->error = g_strdup(error->message);
      s->n_errors++;
    } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_INFO) {
      s->n_infos++;
    }
    g_clear_error(&error);
    gst_message_unref(message);
  }
}

void
stream_stop(Stream *s)
{
  drop_pool(s);
  gst_element_set_state(s->element, GST_STATE_NULL);
  gst_pad_set_active(s->src, FALSE);
  gst_pad_set_active(s->sink, FALSE);
  read_bus(s);
}

void
stream_close(Stream *s)
{
  gst_object_unref(s->element);
  gst_object_unref(s->src);
  gst_object_unref(s->sink);
  gst_object_unref(s->bus);
  gst_clear_object(&s->context);
  g_hash_table_unref(s->frames);
  g_free(s->error);
}

/* first: number of the first frame. goes_on: TRUE: frames are pushed after an error, too. */
void
stream_play(Stream *s, guint first, gboolean goes_on)
{
  gboolean ok = TRUE;

  for (gsize i = 0; s->scenario->grow && i < G_N_ELEMENTS(s->scenario->set) && s->scenario->set[i]; i++)
    set_property(s->element, s->scenario->set[i]);
  push_caps(s, 0);
  for (guint i = 0; i < FRAMES && ok; i++) {
    if (i == NEW_CAPS)
      push_caps(s, 1);
    if (i == FLUSH)
      push_flush(s);
    if (i == GROWS && s->scenario->grow)
      set_property(s->element, s->scenario->grow);
    ok = push_frame(s, first + i, goes_on);
  }
  gst_pad_push_event(s->src, gst_event_new_eos());
  read_bus(s);
}
