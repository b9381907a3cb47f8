/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * CUDA memory that several elements, contexts or devices work on: no frame is read before it is written, or written
 * anew before it is read.
 */
#include <gst/app/app.h>
#include <stdio.h>

#include "convolve/backend.h"
#include "gpu/gpu.h"

#define FRAMES 500

static void
expect_same(const Output *a, const Output *b, const char *what)
{
  ck_assert_uint_eq(a->n_frames, FRAMES);
  ck_assert_uint_eq(b->n_frames, FRAMES);
  for (guint i = 0; i < FRAMES; i++)
    ck_assert_msg(g_array_index(a->hashes, guint, i) == g_array_index(b->hashes, guint, i), "%s: frame %u differs",
                  what, i);
}

#define THREE(memory)                                                                                                  \
  "cudaconvolve name=c0 backend=cuda radius=3 ! " memory " ! cudaconvolve backend=cuda filter=box radius=2 ! " memory  \
  " ! cudaconvolve backend=cuda radius=5 border-mode=wrap"

/* Three elements in a row: in CUDA memory nothing waits on the host between them, in system memory everything does. */
START_TEST(test_row)
{
  Result device, host;

  run_format(&host, SOURCE THREE("video/x-raw") " ! appsink name=out0", 0, FRAMES, "NV12", 320, 180);
  run_format(&device,
             SOURCE "cudaupload ! " CUDA_MEMORY " ! " THREE(CUDA_MEMORY) " ! " CUDA_MEMORY
                                                                         " ! cudadownload ! appsink name=out0",
             0, FRAMES, "NV12", 320, 180);
  expect_same(&device.output[0], &host.output[0], "three elements in CUDA memory");
  ck_assert_uint_eq(stat_number(&device, 0, "bytes-uploaded"), 0);
  ck_assert_uint_eq(stat_number(&device, 0, "bytes-downloaded"), 0);
  result_clear(&device);
  result_clear(&host);
}
END_TEST

#define BRANCH(n) " b. ! queue ! cudaconvolve name=c" n " backend=cuda radius=" n " disable-passthrough=true ! "

/* Two elements read the same memory, each in its thread and on its output's stream. */
START_TEST(test_branches)
{
  Result device, host;

  run_format(&host, SOURCE "tee name=b" BRANCH("0") "appsink name=out0" BRANCH("1") "appsink name=out1", 0, FRAMES,
             "NV12", 320, 180);
  run_format(&device,
             SOURCE "cudaupload ! " CUDA_MEMORY " ! tee name=b" BRANCH("0") CUDA_MEMORY
             " ! cudadownload ! appsink name=out0" BRANCH("1") CUDA_MEMORY " ! cudadownload ! appsink name=out1",
             0, FRAMES, "NV12", 320, 180);
  for (int i = 0; i < 2; i++) {
    expect_same(&device.output[i], &host.output[i], "a branch of two");
    ck_assert_uint_eq(stat_number(&device, i, "bytes-uploaded"), 0);
  }
  result_clear(&device);
  result_clear(&host);
}
END_TEST

static GstFlowReturn
pass_sample(GstAppSink *sink, gpointer source)
{
  GstSample *sample = gst_app_sink_pull_sample(sink);
  GstFlowReturn flow = gst_app_src_push_sample(source, sample);

  gst_sample_unref(sample);
  return flow;
}

static void
pass_end(GstAppSink *sink, gpointer source)
{
  gst_app_src_end_of_stream(source);
}

/* Plays two pipelines, and passes the frames from the appsink "far" of the first to the appsrc "near" of the second.
 * They share no CUDA context. */
static void
play_apart(const char *first, const char *second, Result *result)
{
  GstAppSinkCallbacks callbacks = {.new_sample = pass_sample, .eos = pass_end};
  GstElement *from = make_pipeline(first), *to = make_pipeline(second);
  GstElement *sink = gst_bin_get_by_name(GST_BIN(from), "far"), *source = gst_bin_get_by_name(GST_BIN(to), "near");

  g_object_set(sink, "sync", FALSE, NULL);
  gst_app_sink_set_callbacks(GST_APP_SINK(sink), &callbacks, source, NULL);
  gst_element_set_state(from, GST_STATE_PLAYING);
  play(to, second, NULL, result);
  gst_element_set_state(from, GST_STATE_NULL);
  gst_object_unref(sink);
  gst_object_unref(source);
  gst_object_unref(from);
}

#define FAR_FRAMES 30

static void
run_on_cpu(Result *result)
{
  run_format(result, SOURCE "cudaconvolve name=c0 backend=cpu radius=4 ! appsink name=out0", 0, FAR_FRAMES, "NV12", 322,
             182);
}

/* Frames in another context of the device are accepted, and copied through the host. */
START_TEST(test_two_contexts)
{
  char *source =
      g_strdup_printf(SOURCE "cudaupload ! " CUDA_MEMORY " ! appsink name=far", 0, FAR_FRAMES, "NV12", 322, 182);
  Result gpu, cpu;

  run_on_cpu(&cpu);
  play_apart(source,
             "appsrc name=near format=time ! cudaconvolve name=c0 backend=cuda radius=4 ! " CUDA_MEMORY
             " ! cudadownload ! appsink name=out0",
             &gpu);
  compare(&gpu.output[0], &cpu.output[0], "frames of another context");
  ck_assert_uint_eq(gpu.output[0].n_frames, FAR_FRAMES);
  ck_assert_msg(stat_number(&gpu, 0, "bytes-uploaded") > 0, "the context was shared: nothing was tested");
  result_clear(&gpu);
  result_clear(&cpu);
  g_free(source);
}
END_TEST

/* From one device to the other, either way round. */
START_TEST(test_two_devices)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  GError *error = NULL;
  Result gpu, cpu;

  if (!cuda->probe(1, &error)) {
    printf("SKIPPED two devices: %s\n", error->message);
    g_error_free(error);
    return;
  }
  run_on_cpu(&cpu);
  for (int to = 0; to < 2; to++) {
    run_format(&gpu,
               SOURCE "cudaupload cuda-device-id=%d ! " CUDA_MEMORY
                      " ! cudaconvolve name=c0 backend=cuda cuda-device-id=%d radius=4 ! " CUDA_MEMORY
                      " ! cudadownload cuda-device-id=%d ! appsink name=out0",
               0, FAR_FRAMES, "NV12", 322, 182, 1 - to, to, to);
    compare(&gpu.output[0], &cpu.output[0], "frames of another device");
    ck_assert_uint_eq(gpu.output[0].n_frames, FAR_FRAMES);
    result_clear(&gpu);
  }
  result_clear(&cpu);
}
END_TEST

/* The last input frame's memory, and the number of frames that left in the memory of their input. */
typedef struct {
  GstMemory *memory; /* not referenced: only compared */
  guint n_same;
} FrameTransfer;

static GstPadProbeReturn
on_way_in(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  ((FrameTransfer *)data)->memory = gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
on_way_out(GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  FrameTransfer *passage = data;

  passage->n_same += passage->memory == gst_buffer_peek_memory(GST_PAD_PROBE_INFO_BUFFER(info), 0);
  return GST_PAD_PROBE_OK;
}

static void
watch_passage(GstElement *pipeline, FrameTransfer *passage)
{
  GstElement *convolve = gst_bin_get_by_name(GST_BIN(pipeline), "c0");
  GstPad *in = gst_element_get_static_pad(convolve, "sink"), *out = gst_element_get_static_pad(convolve, "src");

  gst_pad_add_probe(in, GST_PAD_PROBE_TYPE_BUFFER, on_way_in, passage, NULL);
  gst_pad_add_probe(out, GST_PAD_PROBE_TYPE_BUFFER, on_way_out, passage, NULL);
  gst_object_unref(in);
  gst_object_unref(out);
  gst_object_unref(convolve);
}

#define SEPARABLE "cudaconvolve name=c0 backend=cuda algorithm=separable roi-source=property "
#define FIELDS "capssetter caps=video/x-raw,interlace-mode=interleaved ! "

/* Regions that are filtered in the input's memory equal regions that are filtered into a copy; the first frame is
 * always copied. All samples must be equal, because the sums of `separable` do not depend on where a tile begins.
 * source: elements after the source, each followed by " ! ". */
static void
check_in_place(const char *format, const char *source, const char *settings)
{
  char *text = g_strdup_printf(SOURCE "%scudaupload ! " CUDA_MEMORY " ! " SEPARABLE "%s ! " CUDA_MEMORY
                                      " ! cudadownload ! appsink name=out0",
                               0, FRAMES, format, 320, 180, source, settings);
  GstElement *pipeline = make_pipeline(text);
  FrameTransfer passage = {NULL, 0};
  Result device, host;

  watch_passage(pipeline, &passage);
  play(pipeline, text, NULL, &device);
  run_format(&host,
             SOURCE
             "%scudaconvolve name=c0 backend=cuda algorithm=separable roi-source=property %s ! appsink name=out0",
             0, FRAMES, format, 320, 180, source, settings);
  expect_same(&device.output[0], &host.output[0], text);
  ck_assert_msg(passage.n_same == FRAMES - 1, "%s: %u of %d frames were filtered in place", text, passage.n_same,
                FRAMES);
  result_clear(&device);
  result_clear(&host);
  g_free(text);
}

START_TEST(test_in_place)
{
  check_in_place("NV12", "", "radius=6 roi=\"<<10,20,60,50>,<201,101,33,31>>\"");
  check_in_place("NV12", "", "radius=6 roi=\"<<10,20,60,50>,<40,40,33,31>>\" roi-feather=5");
  check_in_place("RGBA", "", "radius=20 roi=\"<<-10,-20,60,50>,<300,160,33,31>>\" roi-feather=2");
  check_in_place("P010_10LE", "", "filter=box radius=9 roi=<<10,20,61,51>> roi-isolated=true");
  check_in_place("I420", "", "radius=3 roi=<<10,20,61,51>> planes=luma");
  check_in_place("NV12", FIELDS, "radius=6 roi=\"<<10,21,60,51>,<40,40,33,31>>\"");
  check_in_place("RGBA", FIELDS, "filter=box radius=9 roi=<<11,-5,61,50>> roi-feather=5");
}
END_TEST

#define COPIED                                                                                                         \
  " b. ! queue ! cudaconvolve name=c0 backend=cuda algorithm=separable "                                               \
  "roi-source=property roi=<<10,20,60,50>> ! "
#define UNTOUCHED "cudaconvolve name=c1 filter=identity ! "

/* A frame that another branch also holds is not written to. If that branch has released it, it is filtered in place; so
 * the algorithm is `separable`, because `tensor` rounds differently there. */
START_TEST(test_shared_stays)
{
  Result device, host;

  run_format(&host, SOURCE "tee name=b" COPIED "appsink name=out0 b. ! queue ! " UNTOUCHED "appsink name=out1", 0,
             FRAMES, "NV12", 320, 180);
  run_format(&device,
             SOURCE "cudaupload ! " CUDA_MEMORY " ! tee name=b" COPIED CUDA_MEMORY
                    " ! cudadownload ! appsink name=out0 b. ! queue ! cudadownload ! " UNTOUCHED "appsink name=out1",
             0, FRAMES, "NV12", 320, 180);
  for (int i = 0; i < 2; i++)
    expect_same(&device.output[i], &host.output[i], i ? "the branch without a filter" : "the branch with regions");
  result_clear(&device);
  result_clear(&host);
}
END_TEST

void
add_order_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_in_place);
  tcase_add_test(tcase, test_shared_stays);
  tcase_add_test(tcase, test_row);
  tcase_add_test(tcase, test_branches);
  tcase_add_test(tcase, test_two_contexts);
  tcase_add_test(tcase, test_two_devices);
}
