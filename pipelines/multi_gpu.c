/* You should see frames/s per stream and in total, on 1, 2, 4 and so on up to all GPUs of the machine.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Shows how to spread streams over GPUs: with cuda-device-id of each stream's cudaconvolve. The streams run side by
 * side in this process.
 *
 *   multi-gpu [OPTION]... [SETTING=VALUE]...     settings of cudaconvolve: multi-gpu --streams 8 radius=8
 *
 * The frames contain noise, are sent as fast as the filter accepts them, and are counted and dropped after it. With one
 * GPU all streams share it; without a GPU they share the CPU. GPUs share the host's memory, so for frames in system
 * memory the program also prints the frames/s of copies to and from the GPU without a filter. Exit status: 0, or 1 if a
 * stream fails.
 */
#include <gst/gst.h>
#include <gst/video/video.h>
#include <stdlib.h>

#include "check.h"
#include "support/duplex.h"
#include "support/feed.h"
#include "support/ring_source.h"

#define MAX_GPUS 64
#define STREAMS_PER_GPU 2
#define WARM_FRAMES 16 /* frames per stream before the measurement */
#define PATIENCE_US (60 * G_USEC_PER_SEC)
#define LOOK_US 10000

static int n_streams, width = 3840, height = 2160;
static double duration = 3;
static char *format, *backend, *memory;
static char **settings;

static const GOptionEntry entries[] = {
    {"streams", 0, 0, G_OPTION_ARG_INT, &n_streams, "Streams on all GPUs together (default two per GPU)", "N"},
    {"duration", 0, 0, G_OPTION_ARG_DOUBLE, &duration, "Seconds to measure (default 3)", "S"},
    {"width", 0, 0, G_OPTION_ARG_INT, &width, "Width of the frames (default 3840)", "PIXELS"},
    {"height", 0, 0, G_OPTION_ARG_INT, &height, "Height of the frames (default 2160)", "PIXELS"},
    {"format", 0, 0, G_OPTION_ARG_STRING, &format, "Format of the frames (default NV12)", "FORMAT"},
    {"memory", 0, 0, G_OPTION_ARG_STRING, &memory,
     "Memory of the frames: system, or cuda for GPU memory (default system)", "NAME"},
    {"backend", 0, 0, G_OPTION_ARG_STRING, &backend, "auto: all GPUs if there are any (default); or cpu", "NAME"},
    {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_STRING_ARRAY, &settings, "Properties of cudaconvolve", "SETTING=VALUE"},
    {NULL},
};

typedef struct {
  GstElement *filter;
  gint frames;       /* atomic: frames that left the filter */
  gint before;       /* value of `frames` at the start of the measurement */
  double per_second; /* frames/s */
} Stream;

typedef struct {
  GstElement *pipeline[MAX_GPUS]; /* one per GPU in use, or one for the CPU */
  Feed feed[MAX_GPUS];            /* one per pipeline */
  Stream *stream;                 /* stream i is in pipeline i modulo their number */
  int n_pipelines, n_streams;
} Run;

/* ---- which GPUs there are ---- */

/* Returns the error of an element or a pipeline, to be freed; NULL if there is none yet. */
static char *
take_error(GstBus *bus)
{
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);
  g_autoptr(GError) error = NULL;

  if (!message)
    return NULL;
  gst_message_parse_error(message, &error, NULL);
  return g_strdup_printf("%s: %s", GST_MESSAGE_SRC_NAME(message), error->message);
}

/* Returns TRUE if cudaconvolve can open the GPU, which it does on the way to PAUSED. */
static gboolean
gpu_works(int device, char **reason)
{
  g_autoptr(GstElement) filter = gst_object_ref_sink(gst_element_factory_make("cudaconvolve", NULL));
  g_autoptr(GstBus) bus = gst_bus_new();
  gboolean works;

  gst_util_set_object_arg(G_OBJECT(filter), "backend", "cuda");
  g_object_set(filter, "cuda-device-id", device, NULL);
  gst_element_set_bus(filter, bus);
  works = gst_element_set_state(filter, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE;
  *reason = works ? NULL : take_error(bus);
  gst_element_set_state(filter, GST_STATE_NULL);
  gst_element_set_bus(filter, NULL);
  return works;
}

/* Returns the number of GPUs to use. Prints the reason if it is less than two. */
static int
count_gpus(void)
{
  g_autofree char *reason = NULL;
  int n = 0;

  if (g_strcmp0(backend, "cpu") == 0) {
    g_print("on the CPU, as requested\n");
    return 0;
  }
  while (n < MAX_GPUS && gpu_works(n, &reason))
    n++;
  if (n == 0)
    g_print("no GPU, so the streams share the CPU: %s\n", reason ? reason : "no reason was given");
  else if (n == 1)
    g_print("one GPU, which the streams share; there is no second one to compare with\n");
  else
    g_print("%d GPUs\n", n);
  return n;
}

/* ---- streams ---- */

static GstPadProbeReturn
count_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  g_atomic_int_inc((gint *)user_data);
  return GST_PAD_PROBE_OK;
}

/* Returns the streams number first, first + step, ... as text for a pipeline. device: -1 for the CPU. */
static char *
describe_streams(int first, int step, int n, int device)
{
  g_autofree char *chosen = settings ? g_strjoinv(" ", settings) : g_strdup("");
  g_autofree char *where =
      device < 0 ? g_strdup("backend=cpu") : g_strdup_printf("backend=cuda cuda-device-id=%d", device);
  GString *text = g_string_new(NULL);

  for (int i = first; i < n; i += step)
    g_string_append_printf(text, "ringsource name=source%d ! cudaconvolve name=filter%d %s %s ! fakesink ", i, i, where,
                           chosen);
  return g_string_free(text, FALSE);
}

static GstElement *
find(GstElement *pipeline, const char *prefix, int number)
{
  g_autofree char *name = g_strdup_printf("%s%d", prefix, number);

  return gst_bin_get_by_name(GST_BIN(pipeline), name);
}

static GstCaps *
make_caps(void)
{
  return feed_caps(format ? format : "NV12", width, height);
}

static gboolean
in_cuda_memory(void)
{
  return g_strcmp0(memory, "cuda") == 0;
}

static void
prepare_stream(GstElement *pipeline, const Feed *feed, Stream *stream, int number)
{
  g_autoptr(GstElement) source = find(pipeline, "source", number);
  g_autoptr(GstPad) pad = NULL;

  feed_set_source(feed, source);
  stream->filter = find(pipeline, "filter", number);
  pad = gst_element_get_static_pad(stream->filter, "src");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, count_frame, &stream->frames, NULL);
}

/* Makes the frames. In system memory, the source uses the pool that the element proposes, if there is one. */
static gboolean
make_feed(Feed *feed, int device, GError **error)
{
  *feed = (Feed){.caps = make_caps()};
  if (!in_cuda_memory())
    return TRUE;
  feed_set_plain(feed);
  return feed_upload(feed, device, error);
}

/* Returns FALSE, with the reason on stderr, if that fails. */
static gboolean
start_pipeline(Run *run, int number, int device)
{
  g_autofree char *text = describe_streams(number, run->n_pipelines, run->n_streams, device);
  g_autoptr(GError) error = NULL;
  GstElement *pipeline = run->pipeline[number] = gst_parse_launch(text, &error);

  if (error || !make_feed(&run->feed[number], device, &error)) {
    g_printerr("the pipeline cannot be built: %s\n", error->message);
    return FALSE;
  }
  feed_set_context(&run->feed[number], pipeline);
  for (int i = number; i < run->n_streams; i += run->n_pipelines)
    prepare_stream(pipeline, &run->feed[number], &run->stream[i], i);
  gst_element_set_state(pipeline, GST_STATE_PLAYING);
  return TRUE;
}

static void
run_clear(Run *run)
{
  for (int i = 0; i < run->n_streams; i++)
    gst_clear_object(&run->stream[i].filter);
  for (int i = 0; i < run->n_pipelines; i++)
    if (run->pipeline[i])
      gst_element_set_state(run->pipeline[i], GST_STATE_NULL);
  for (int i = 0; i < run->n_pipelines; i++) {
    gst_clear_object(&run->pipeline[i]);
    feed_clear(&run->feed[i]);
  }
  g_free(run->stream);
}

static gboolean
is_healthy(GstElement *pipeline)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(pipeline);
  g_autofree char *error = take_error(bus);

  if (error)
    g_printerr("%s\n", error);
  return !error;
}

/* Waits until a time, or until each stream has that many frames, whichever comes first. Returns FALSE if a stream
 * failed. */
static gboolean
await(Run *run, gint64 until, gint frames)
{
  for (gboolean waits = TRUE; waits && g_get_monotonic_time() < until;) {
    waits = FALSE;
    for (int i = 0; i < run->n_pipelines; i++)
      if (!is_healthy(run->pipeline[i]))
        return FALSE;
    for (int i = 0; i < run->n_streams; i++)
      waits |= g_atomic_int_get(&run->stream[i].frames) < frames;
    if (waits)
      g_usleep(CLAMP(until - g_get_monotonic_time(), 0, LOOK_US));
  }
  return TRUE;
}

/* Measures all streams over the same time, while all of them run. */
static gboolean
count_streams(Run *run)
{
  gint64 start;

  if (!await(run, g_get_monotonic_time() + PATIENCE_US, WARM_FRAMES))
    return FALSE;
  start = g_get_monotonic_time();
  for (int i = 0; i < run->n_streams; i++)
    run->stream[i].before = g_atomic_int_get(&run->stream[i].frames);
  if (!await(run, start + (gint64)(duration * G_USEC_PER_SEC), G_MAXINT))
    return FALSE;
  for (int i = 0; i < run->n_streams; i++) {
    Stream *stream = &run->stream[i];
    const double seconds = (g_get_monotonic_time() - start) / 1e6;

    stream->per_second = (g_atomic_int_get(&stream->frames) - stream->before) / seconds;
    if (stream->per_second == 0) {
      g_printerr("stream %d: no frame came through in %.1f s\n", i, seconds);
      return FALSE;
    }
  }
  return TRUE;
}

/* Prints the device that the stream ran on, as the element reports it. */
static void
show_stream(const Stream *stream, int number)
{
  g_autoptr(GstStructure) stats = NULL;
  int device;

  g_object_get(stream->filter, "stats", &stats, "cuda-device-id", &device, NULL);
  g_print("  stream %d", number);
  if (device >= 0)
    g_print(" on GPU %d", device);
  g_print(", %s: %.1f frames/s\n", gst_structure_get_string(stats, "device"), stream->per_second);
}

/* ---- the comparison ---- */

/* Runs n streams on a number of GPUs in turn; 0: on the CPU. Returns frames/s of all streams, below 0 if one failed. */
static double
run_streams(int n, int gpus)
{
  Run run = {.stream = g_new0(Stream, n), .n_pipelines = CLAMP(gpus, 1, n), .n_streams = n};
  gboolean right = TRUE;
  double sum = 0;

  for (int i = 0; i < run.n_pipelines && right; i++)
    right = start_pipeline(&run, i, gpus > 0 ? i : -1);
  right = right && count_streams(&run);
  for (int i = 0; i < n && right; i++) {
    show_stream(&run.stream[i], i);
    sum += run.stream[i].per_second;
  }
  run_clear(&run);
  return right ? sum : -1;
}

/* Returns frames/s of copies only. */
static double
run_copies(int gpus)
{
  g_autoptr(GstCaps) caps = make_caps();
  GstVideoInfo info;

  return gst_video_info_from_caps(&info, caps) ? duplex_per_s(info.size, gpus) : 0;
}

static void
show_sum(double sum, double one, gboolean several)
{
  g_print("%.1f frames/s", sum);
  if (several)
    g_print(", %.2f times one GPU", sum / one);
}

/* Runs the streams on 1, 2, 4 and so on up to all GPUs. With fewer GPUs, the number of streams is proportionally
 * smaller; each GPU has at least one. */
static gboolean
compare(int found_gpus)
{
  const int n_all = n_streams > 0 ? n_streams : STREAMS_PER_GPU * MAX(found_gpus, 1);
  const int all_gpus = MIN(found_gpus, n_all);
  const gboolean copies = found_gpus > 0 && !in_cuda_memory();
  double one = 0, one_copied = 0;

  for (int gpus = MIN(all_gpus, 1);; gpus = MIN(2 * gpus, all_gpus)) {
    const int n = gpus > 0 ? n_all * gpus / all_gpus : n_all;
    const double sum = run_streams(n, gpus);

    if (sum < 0)
      return FALSE;
    one = gpus <= 1 ? sum : one;
    g_print("GPUs %d, streams %d: together ", gpus, n);
    show_sum(sum, one, gpus > 1);
    if (copies) {
      const double copied = run_copies(gpus);

      one_copied = gpus <= 1 ? copied : one_copied;
      g_print("; copies only ");
      show_sum(copied, one_copied, gpus > 1);
    }
    g_print("\n");
    if (gpus == all_gpus)
      return TRUE;
  }
}

static gboolean
compare_all(void)
{
  const int n = count_gpus();

  if (n > 0 || !in_cuda_memory())
    return compare(n);
  g_printerr("--memory cuda: there is no GPU; use --memory system\n");
  return FALSE;
}

/* Checks the settings, and prints the allowed values if one is not valid. */
static gboolean
settings_are_right(void)
{
  g_autofree char *text = settings ? g_strjoinv(" ", settings) : g_strdup("");
  g_autofree char *element = g_strconcat("cudaconvolve ", text, NULL);
  g_auto(GStrv) arguments = g_strsplit(element, " ", 0);

  return check_settings((const char *const *)arguments);
}

static gboolean
parse(int *argc, char ***argv)
{
  g_autoptr(GOptionContext) context = g_option_context_new(NULL);
  g_autoptr(GError) error = NULL;

  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_group(context, gst_init_get_option_group());
  if (!g_option_context_parse(context, argc, argv, &error))
    g_printerr("%s\n", error->message);
  else if (n_streams < 0 || duration <= 0)
    g_printerr(
        "--streams %d --duration %g: streams must be 1 or more, or 0 for two per GPU; the duration must be above 0\n",
        n_streams, duration);
  else if (backend && !g_str_equal(backend, "auto") && !g_str_equal(backend, "cpu"))
    g_printerr("--backend %s: must be auto or cpu\n", backend);
  else if (memory && !g_str_equal(memory, "system") && !in_cuda_memory())
    g_printerr("--memory %s: must be system or cuda\n", memory);
  else
    return TRUE;
  return FALSE;
}

int
main(int argc, char **argv)
{
  if (!parse(&argc, &argv))
    return EXIT_FAILURE;
  if (!gst_registry_check_feature_version(gst_registry_get(), "cudaconvolve", 0, 0, 0)) {
    g_printerr("there is no element cudaconvolve: set GST_PLUGIN_PATH to the directory of the plugin\n");
    return EXIT_FAILURE;
  }
  if (!settings_are_right())
    return EXIT_FAILURE;
  ring_source_register();
  return compare_all() ? EXIT_SUCCESS : EXIT_FAILURE;
}
