/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Pipelines on a GPU: each memory path compared with the CPU engine's output, the copies that a path makes, many
 * elements in one context, properties that change at every frame, and device memory that must not grow. Skipped, with
 * the reason, if there is no GPU. Everything runs in this process, because a CUDA context does not survive a fork.
 */
#include <gst/app/app.h>
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/device.h"
#include "gpu/gpu.h"
#include "support/suite.h"

#define SKIP 77

typedef struct {
  GstElement *convolve;
  BeforeFrame before;
  guint frame;
} Probe;

static void
append_plane(GByteArray *bytes, const GstVideoFrame *frame, guint plane)
{
  int component[GST_VIDEO_MAX_COMPONENTS];
  const guint8 *row = GST_VIDEO_FRAME_PLANE_DATA(frame, plane);

  gst_video_format_info_component(frame->info.finfo, plane, component);
  for (int y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(frame, component[0]); y++) {
    const int width =
        GST_VIDEO_FRAME_COMP_WIDTH(frame, component[0]) * GST_VIDEO_FRAME_COMP_PSTRIDE(frame, component[0]);

    g_byte_array_append(bytes, row, width);
    row += GST_VIDEO_FRAME_PLANE_STRIDE(frame, plane);
  }
}

static GBytes *
packed(GstBuffer *buffer, const GstVideoInfo *info)
{
  GByteArray *bytes = g_byte_array_new();
  GstVideoFrame frame;

  if (!gst_video_frame_map(&frame, info, buffer, GST_MAP_READ))
    g_error("an output frame cannot be mapped");
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES(&frame); p++)
    append_plane(bytes, &frame, p);
  gst_video_frame_unmap(&frame);
  return g_byte_array_free_to_bytes(bytes);
}

static GstFlowReturn
on_sample(GstAppSink *sink, gpointer data)
{
  Output *output = data;
  GstSample *sample = gst_app_sink_pull_sample(sink);
  GBytes *bytes;
  guint hash;

  if (!sample)
    return GST_FLOW_EOS;
  gst_video_info_from_caps(&output->info, gst_sample_get_caps(sample));
  bytes = packed(gst_sample_get_buffer(sample), &output->info);
  hash = g_bytes_hash(bytes);
  g_array_append_val(output->hashes, hash);
  if (output->n_frames++ < KEPT_FRAMES)
    g_ptr_array_add(output->kept, bytes);
  else
    g_bytes_unref(bytes);
  gst_sample_unref(sample);
  return GST_FLOW_OK;
}

static GstPadProbeReturn
on_buffer(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  Probe *probe = data;

  probe->before(probe->convolve, probe->frame++);
  return GST_PAD_PROBE_OK;
}

static GstElement *
chain_element(GstElement *pipeline, const char *prefix, int chain)
{
  char *name = g_strdup_printf("%s%d", prefix, chain);
  GstElement *element = gst_bin_get_by_name(GST_BIN(pipeline), name);

  g_free(name);
  return element;
}

/* Attaches to the elements named c0, c1, ... (cudaconvolve) and out0, out1, ... (appsink). Returns the number of
 * chains. */
static int
attach(GstElement *pipeline, Result *result, Probe *probe, BeforeFrame before)
{
  GstAppSinkCallbacks callbacks = {.new_sample = on_sample};
  int chain = 0;
  GstElement *sink;

  for (; (sink = chain_element(pipeline, "out", chain)); chain++) {
    GstElement *convolve = chain_element(pipeline, "c", chain);
    GstPad *pad = gst_element_get_static_pad(convolve, "sink");

    result->output[chain].kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    result->output[chain].hashes = g_array_new(FALSE, FALSE, sizeof(guint));
    g_object_set(sink, "sync", FALSE, NULL);
    gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, &result->output[chain], NULL);
    probe[chain] = (Probe){convolve, before, 0};
    if (before)
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, &probe[chain], NULL);
    gst_object_unref(pad);
    gst_object_unref(convolve);
    gst_object_unref(sink);
  }
  return chain;
}

static void
await_end(GstElement *pipeline, const char *description)
{
  GstBus *bus = gst_element_get_bus(pipeline);
  GstMessage *message = gst_bus_timed_pop_filtered(bus, 120 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);

  ck_assert_msg(message != NULL, "%s: no end after 120 s", description);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    GError *error = NULL;
    char *debug = NULL;

    gst_message_parse_error(message, &error, &debug);
    ck_abort_msg("%s: %s (%s)", description, error->message, debug);
  }
  gst_message_unref(message);
  gst_object_unref(bus);
}

GstElement *
make_pipeline(const char *description)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch(description, &error);

  ck_assert_msg(error == NULL, "%s: %s", description, error ? error->message : "");
  return pipeline;
}

void
play(GstElement *pipeline, const char *description, BeforeFrame before, Result *result)
{
  Probe probe[MAX_CHAINS];
  int chains;

  memset(result, 0, sizeof *result);
  chains = attach(pipeline, result, probe, before);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  await_end(pipeline, description);
  for (int i = 0; i < chains; i++)
    g_object_get(probe[i].convolve, "stats", &result->stats[i], NULL);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  gst_object_unref(pipeline);
}

static void
run(const char *description, BeforeFrame before, Result *result)
{
  play(make_pipeline(description), description, before, result);
}

void
result_clear(Result *result)
{
  for (int i = 0; i < MAX_CHAINS && result->output[i].kept; i++) {
    g_ptr_array_unref(result->output[i].kept);
    g_array_unref(result->output[i].hashes);
    gst_structure_free(result->stats[i]);
  }
}

guint64
stat_number(const Result *result, int chain, const char *field)
{
  guint64 value = 0;

  ck_assert_msg(gst_structure_get_uint64(result->stats[chain], field, &value), "stats have no %s", field);
  return value;
}

/* Fails unless two frames are equal. Engines may differ by one level in one sample of a hundred, because auto may use
 * f16 on a GPU. */
static void
compare_frames(GBytes *a, GBytes *b, const GstVideoInfo *info, const char *what, guint frame)
{
  const int shift = GST_VIDEO_FORMAT_INFO_SHIFT(info->finfo, 0), bytes = GST_VIDEO_INFO_COMP_DEPTH(info, 0) > 8 ? 2 : 1;
  gsize size, other, different = 0;
  const guint8 *x = g_bytes_get_data(a, &size), *y = g_bytes_get_data(b, &other);

  ck_assert_uint_eq(size, other);
  for (gsize i = 0; i < size; i += bytes) {
    int error = (bytes == 1 ? x[i] - y[i] : GST_READ_UINT16_LE(x + i) - GST_READ_UINT16_LE(y + i)) / (1 << shift);

    ck_assert_msg(abs(error) <= 1, "%s: frame %u byte %" G_GSIZE_FORMAT ": differs by %d", what, frame, i, error);
    different += error != 0;
  }
  ck_assert_msg(different * 100 <= size / bytes,
                "%s: frame %u: %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " samples differ", what, frame, different,
                size / bytes);
}

void
compare(const Output *gpu, const Output *cpu, const char *what)
{
  ck_assert_msg(gpu->n_frames == cpu->n_frames && gpu->n_frames > 0, "%s: %u frames, %u on the CPU", what,
                gpu->n_frames, cpu->n_frames);
  for (guint i = 0; i < gpu->kept->len && i < cpu->kept->len; i++)
    compare_frames(gpu->kept->pdata[i], cpu->kept->pdata[i], &gpu->info, what, i);
}

static const struct {
  const char *name;
  const char *before, *after; /* elements before and after the convolution */
  gboolean uploads, downloads;
} paths[] = {
    {"system to system", "", "", TRUE, TRUE},
    {"CUDA to CUDA", "cudaupload ! " CUDA_MEMORY " ! ", " ! " CUDA_MEMORY " ! cudadownload", FALSE, FALSE},
    {"system to CUDA", "", " ! " CUDA_MEMORY " ! cudadownload", TRUE, FALSE},
    {"CUDA to system", "cudaupload ! " CUDA_MEMORY " ! ", " ! video/x-raw", FALSE, TRUE},
};

/* Returns the description of a chain. On the CPU gaussians, the default filter, run in float32, because auto rounds
 * some samples differently there, too. */
static char *
chain_text(int chain, int frames, const char *format, int width, int height, const char *settings, guint path,
           const char *backend)
{
  char *source = g_strdup_printf(SOURCE, chain, frames, format, width, height);
  gboolean in_float32 = g_str_equal(backend, "cpu") && !strstr(settings, "filter=");
  char *text =
      g_strdup_printf("%s%scudaconvolve name=c%d backend=%s %s%s%s ! appsink name=out%d", source, paths[path].before,
                      chain, backend, in_float32 ? "algorithm=separable " : "", settings, paths[path].after, chain);

  g_free(source);
  return text;
}

static void
check_path(guint path, const char *format, int width, int height, const char *settings)
{
  const int frames = 10;
  char *on_cpu = chain_text(0, frames, format, width, height, settings, 0, "cpu");
  char *on_gpu = chain_text(0, frames, format, width, height, settings, path, "cuda");
  Result cpu, gpu;

  run(on_cpu, NULL, &cpu);
  run(on_gpu, NULL, &gpu);
  ck_assert_str_eq(gst_structure_get_string(cpu.stats[0], "backend"), "cpu");
  ck_assert_str_eq(gst_structure_get_string(gpu.stats[0], "backend"), "cuda");
  compare(&gpu.output[0], &cpu.output[0], on_gpu);
  ck_assert_uint_eq(stat_number(&gpu, 0, "frames"), frames);
  ck_assert_msg((stat_number(&gpu, 0, "bytes-uploaded") > 0) == paths[path].uploads, "%s: uploads", on_gpu);
  ck_assert_msg((stat_number(&gpu, 0, "bytes-downloaded") > 0) == paths[path].downloads, "%s: downloads", on_gpu);
  result_clear(&cpu);
  result_clear(&gpu);
  g_free(on_cpu);
  g_free(on_gpu);
}

START_TEST(test_paths)
{
  static const char *const formats[] = {"NV12", "I420", "RGBA", "P010_10LE", "Y444"};

  for (guint path = 0; path < G_N_ELEMENTS(paths); path++)
    for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
      check_path(path, formats[f], 322, 182, "radius=6 border-mode=reflect-101");
  check_path(1, "NV12", 321, 181, "filter=box radius=40 border-mode=wrap");
  check_path(0, "GRAY8", 321, 181, "filter=custom kernel=\"<<1,0,2>,<0,3,0>,<4,0,5>>\"");
}
END_TEST

static gboolean
have_element(const char *name)
{
  GstElementFactory *factory = gst_element_factory_find(name);

  if (!factory)
    return FALSE;
  gst_object_unref(factory);
  return TRUE;
}

void
run_format(Result *result, const char *format, ...)
{
  va_list args;
  char *text;

  va_start(args, format);
  text = g_strdup_vprintf(format, args);
  va_end(args);
  run(text, NULL, result);
  g_free(text);
}

static void
check_decoder(const char *file, const char *settings)
{
  const int frames = 60;
  Result none, gpu, cpu;

  run_format(&none,
             SOURCE "x264enc speed-preset=ultrafast ! video/x-h264,stream-format=byte-stream ! filesink location=%s", 0,
             frames, "I420", 640, 360, file);
  run_format(&gpu,
             "filesrc location=%s ! h264parse ! nvh264dec ! " CUDA_MEMORY
             " ! cudaconvolve name=c0 backend=cuda %s ! " CUDA_MEMORY " ! cudadownload ! appsink name=out0",
             file, settings);
  run_format(&cpu,
             "filesrc location=%s ! h264parse ! nvh264dec ! video/x-raw ! cudaconvolve name=c0 backend=cpu %s ! "
             "appsink name=out0",
             file, settings);
  compare(&gpu.output[0], &cpu.output[0], "after nvh264dec");
  ck_assert_uint_eq(gpu.output[0].n_frames, frames);
  ck_assert_uint_eq(stat_number(&gpu, 0, "bytes-uploaded"), 0);
  ck_assert_uint_eq(stat_number(&gpu, 0, "bytes-downloaded"), 0);
  result_clear(&gpu);
  result_clear(&cpu);
}

/* From a decoder to the filter and on, a frame never leaves the device, and none is lost. */
START_TEST(test_decoder)
{
  char *folder = g_dir_make_tmp("cudaconvolve-XXXXXX", NULL), *file = g_build_filename(folder, "test.h264", NULL);

  if (!have_element("x264enc") || !have_element("nvh264dec")) {
    printf("SKIPPED decoder: needs the elements x264enc and nvh264dec\n");
  } else {
    check_decoder(file, "");
    /* The filter waits for 15 frames, more than the decoder has surfaces, so surfaces must return to it at once. */
    check_decoder(file, "radius=2 temporal-radius=7");
    g_remove(file);
  }
  g_rmdir(folder);
  g_free(folder);
  g_free(file);
}
END_TEST

static const char *const chain_settings[MAX_CHAINS] = {
    "radius=1",
    "radius=8",
    "radius=40 border-mode=wrap",
    "filter=box radius=5",
    "filter=custom kernel=\"<<1,0,2>,<0,3,0>,<4,0,5>>\"",
    "filter=custom kernel-x=\"<1,2,3,4>\"",
    "filter=box radius=0 radius-x=20 scale=-1 bias=1",
    "radius=17 border-mode=renormalize",
};

/* Eight elements in one pipeline, and so in one context: every frame must be the same as if the element ran alone. */
START_TEST(test_many_elements)
{
  const int frames = 500, width = 320, height = 180;
  GString *all = g_string_new(NULL);
  Result alone[MAX_CHAINS], together;

  for (int i = 0; i < MAX_CHAINS; i++) {
    char *on_cpu = chain_text(0, frames, "NV12", width, height, chain_settings[i], 0, "cpu");
    char *on_gpu = chain_text(0, frames, "NV12", width, height, chain_settings[i], i % 2, "cuda");
    char *chain = chain_text(i, frames, "NV12", width, height, chain_settings[i], i % 2, "cuda");
    Result cpu;

    run(on_cpu, NULL, &cpu);
    run(on_gpu, NULL, &alone[i]);
    compare(&alone[i].output[0], &cpu.output[0], on_gpu);
    g_string_append_printf(all, "%s ", chain);
    result_clear(&cpu);
    g_free(on_cpu);
    g_free(on_gpu);
    g_free(chain);
  }
  run(all->str, NULL, &together);
  for (int i = 0; i < MAX_CHAINS; i++) {
    const Output *one = &alone[i].output[0], *many = &together.output[i];

    ck_assert_uint_eq(many->n_frames, frames);
    ck_assert_uint_eq(one->n_frames, frames);
    for (int f = 0; f < frames; f++)
      ck_assert_msg(g_array_index(one->hashes, guint, f) == g_array_index(many->hashes, guint, f),
                    "element %d (%s): frame %d is not what it is alone", i, chain_settings[i], f);
    result_clear(&alone[i]);
  }
  result_clear(&together);
  g_string_free(all, TRUE);
}
END_TEST

static void
change_settings(GstElement *convolve, guint frame)
{
  static const char *const filters[] = {"gaussian", "box", "identity", "gaussian"};
  static const char *const borders[] = {"replicate", "reflect", "wrap", "renormalize", "constant"};

  g_object_set(convolve, "radius", frame * 7 % 23, NULL);
  gst_util_set_object_arg(G_OBJECT(convolve), "filter", filters[frame % G_N_ELEMENTS(filters)]);
  gst_util_set_object_arg(G_OBJECT(convolve), "border-mode", borders[frame % G_N_ELEMENTS(borders)]);
}

/* Each change takes effect at the very next frame, completely, so that both engines agree frame by frame. */
START_TEST(test_live_changes)
{
  for (guint path = 0; path < 2; path++) {
    char *on_cpu = chain_text(0, KEPT_FRAMES, "NV12", 200, 120, "disable-passthrough=true", 0, "cpu");
    char *on_gpu = chain_text(0, KEPT_FRAMES, "NV12", 200, 120, "disable-passthrough=true", path, "cuda");
    Result cpu, gpu;

    run(on_cpu, change_settings, &cpu);
    run(on_gpu, change_settings, &gpu);
    compare(&gpu.output[0], &cpu.output[0], on_gpu);
    result_clear(&cpu);
    result_clear(&gpu);
    g_free(on_cpu);
    g_free(on_gpu);
  }
}
END_TEST

#define CLIP_FRAMES 12
#define CLIP_CUT 6 /* the first frame of the second scene */
#define CLIP_REACH 2

/* Changes the source's pattern after a frame. This runs in the source's thread, which makes its next frame
 * afterwards. */
static void
cut_clip(GstElement *convolve, guint frame)
{
  GstObject *pipeline = gst_object_get_parent(GST_OBJECT(convolve));
  GstElement *source = chain_element(GST_ELEMENT(pipeline), "source", 0);

  if (frame == CLIP_CUT - 1)
    gst_util_set_object_arg(G_OBJECT(source), "pattern", "smpte");
  gst_object_unref(source);
  gst_object_unref(pipeline);
}

static void
run_clip(const char *format, guint path, const char *backend, double threshold, Result *result)
{
  char *settings = g_strdup_printf("radius=1 temporal-radius=%d scene-change-threshold=%g", CLIP_REACH, threshold);
  char *text = chain_text(0, CLIP_FRAMES, format, 322, 182, settings, path, backend);

  run(text, cut_clip, result);
  ck_assert_uint_eq(result->output[0].n_frames, CLIP_FRAMES);
  g_free(text);
  g_free(settings);
}

/* Checks that the cut is found wherever the frames are, and that it changes only the frames beside it. */
static void
check_cut(const char *format, guint path)
{
  Result cpu, gpu, blind;

  run_clip(format, 0, "cpu", 0.1, &cpu);
  run_clip(format, path, "cuda", 0.1, &gpu);
  run_clip(format, path, "cuda", 0, &blind);
  compare(&gpu.output[0], &cpu.output[0], format);
  for (int i = 0; i < CLIP_FRAMES; i++) {
    gboolean equal = g_bytes_equal(gpu.output[0].kept->pdata[i], blind.output[0].kept->pdata[i]);
    gboolean beside = i >= CLIP_CUT - CLIP_REACH && i < CLIP_CUT + CLIP_REACH;

    ck_assert_msg(equal == !beside, "%s, %s: frame %d is %s without the cut", format, paths[path].name, i,
                  equal ? "the same" : "another");
  }
  result_clear(&cpu);
  result_clear(&gpu);
  result_clear(&blind);
}

START_TEST(test_scene_cut)
{
  static const char *const formats[] = {"I420", "P010_10LE", "Y444", "RGBA", "BGR", "RGBP"};

  for (guint path = 0; path < G_N_ELEMENTS(paths); path++)
    check_cut("NV12", path);
  for (guint f = 0; f < G_N_ELEMENTS(formats); f++)
    check_cut(formats[f], 1);
}
END_TEST

#define LEAK_FIRST 200
#define LEAK_LAST 2000

static gsize free_first, free_last;

static void
change_and_look(GstElement *convolve, guint frame)
{
  change_settings(convolve, frame);
  if (frame == LEAK_FIRST)
    free_first = test_device_free_bytes();
  if (frame == LEAK_LAST - 1)
    free_last = test_device_free_bytes();
}

/* If one frame stayed of each, it would be some 600 MB. Other programs on the GPU may use a little. */
START_TEST(test_memory_stays)
{
  const gsize tolerance = 32 << 20;

  for (guint path = 0; path < 2; path++) {
    char *text = chain_text(0, LEAK_LAST, "NV12", 640, 360, "", path, "cuda");
    Result result;

    run(text, change_and_look, &result);
    ck_assert_uint_eq(result.output[0].n_frames, LEAK_LAST);
    ck_assert_msg(free_first > 0 && free_last + tolerance >= free_first,
                  "%s: free device memory fell from %" G_GSIZE_FORMAT " to %" G_GSIZE_FORMAT, paths[path].name,
                  free_first, free_last);
    result_clear(&result);
    g_free(text);
  }
}
END_TEST

static Suite *
gpu_suite(void)
{
  Suite *suite = suite_create("gpu");
  TCase *tcase = tcase_create("pipelines");

  suite_add_tcase(suite, tcase);
  tcase_set_timeout(tcase, 600);
  tcase_add_test(tcase, test_paths);
  tcase_add_test(tcase, test_decoder);
  tcase_add_test(tcase, test_many_elements);
  tcase_add_test(tcase, test_live_changes);
  tcase_add_test(tcase, test_scene_cut);
  tcase_add_test(tcase, test_memory_stays);
  add_order_tests(tcase);
  return suite;
}

/* Returns NULL if the tests can run, else the reason. Free with g_free. */
static char *
reason_to_skip(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  GError *error = NULL;
  char *reason;

  if (!cuda)
    return g_strdup("this build has no CUDA");
  if (!cuda->probe(-1, &error)) {
    reason = g_strdup(error->message);
    g_error_free(error);
    return reason;
  }
  if (!have_element("cudaupload"))
    return g_strdup("no element cudaupload: GStreamer's nvcodec plugin is missing");
  return NULL;
}

int
main(int argc, char **argv)
{
  char *reason;

  gst_check_init(&argc, &argv);
  reason = reason_to_skip();
  if (reason) {
    printf("SKIPPED: %s\n", reason);
    g_free(reason);
    return SKIP;
  }
  return test_suite_run_in_process(gpu_suite());
}
