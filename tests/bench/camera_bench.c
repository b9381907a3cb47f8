/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * camera-bench: how many cameras of 30 frames/s a machine can take. Decodes many H.264 streams at once in one process,
 * as pipelines/camera.sh does, hides three zones in each, and encodes them again. A row for each case goes to stdout:
 *
 *   way       decode: only the decoder. zones: cudaconvolve after it, in the memory of the decoder. encode: x264 after
 *             that, with the settings of camera.sh. live: like zones, but each stream sends 30 frames/s, for as many
 *             streams as 95 % of the best frames/s of zones allow
 *   frames/s  of all streams together; slowest: of the slowest stream
 *   cameras   of 30 frames/s
 *   filter us the element's own time per frame: on the GPU, or on the clock on the CPU
 *   cores     processor cores in use, of all threads; decoder and gpu: percent of the GPU's decoders and of its
 *             multiprocessors in use, as the driver reports them
 *   delay ms  live only: the longest time of a frame from when it is due until it leaves the filter
 *
 * With NVIDIA's decoder frames stay in GPU memory; else libav or OpenH264 decodes, and the CPU filters. The streams
 * repeat a moving test picture of two seconds. Exit status: 0; 1 if a case failed; 77 if an element is missing.
 */
#include <glib/gstdio.h>
#include <gmodule.h>
#include <gst/gst.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "support/feed.h"
#include "support/ring_source.h"

#define SKIP 77
#define RATE 30        /* frames/s of a camera */
#define WARM_SENT 64   /* frames that a live stream sends at once, more than decoders hold back */
#define WARM_FRAMES 16 /* frames of each stream that came out before the measurement */
#define WARM_US 300000
#define LOOK_US 50000
#define PATIENCE_US (60 * G_USEC_PER_SEC)
#define MARGIN 0.95 /* of the best frames/s, for live streams */
#define MAX_STREAMS 512
#define QUICK_STREAMS 4 /* most live streams with --quick */
#define QUICK_SHRINK 10 /* divides width and height */

static const char zones[] = "[window]\npolygon=0.62,0.18,0.81,0.15,0.83,0.44,0.63,0.46\n"
                            "[path]\nellipse=0.05,0.55,0.20,0.30\n"
                            "[street]\nrectangle=0.45,0.80,0.25,0.20\n";

static const struct {
  int width, height, kbit_per_s;
} sizes[] = {{1920, 1080, 4000}, {3840, 2160, 14000}};

typedef struct {
  const char *name;
  gboolean filters, encodes, is_live;
} Way;

static const Way ways[] = {
    {"decode", FALSE, FALSE, FALSE},
    {"zones", TRUE, FALSE, FALSE},
    {"encode", TRUE, TRUE, FALSE},
    {"live", TRUE, FALSE, TRUE},
};

static const struct {
  const char *name, *memory; /* memory: caps of its frames */
  const char *streams;       /* numbers to try */
} decoders[] = {
    {"nvh264dec", "video/x-raw(memory:CUDAMemory)", "1,8,32"},
    {"avdec_h264", "video/x-raw", "1,2"},
    {"openh264dec", "video/x-raw", "1,2"},
};

static char *decoder, *streams, *only, *settings;
static const char *memory;
static double seconds = 3;
static gboolean quick;

static const GOptionEntry entries[] = {
    {"decoder", 0, 0, G_OPTION_ARG_STRING, &decoder,
     "nvh264dec, avdec_h264 or openh264dec (default: the first of them)", "NAME"},
    {"streams", 0, 0, G_OPTION_ARG_STRING, &streams, "Numbers of streams to try (default 1,8,32, without a GPU 1,2)",
     "N,N"},
    {"only", 0, 0, G_OPTION_ARG_STRING, &only, "Only cases with that in their first two columns", "TEXT"},
    {"settings", 0, 0, G_OPTION_ARG_STRING, &settings, "Settings of cudaconvolve (default filter=fill)", "SETTINGS"},
    {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &seconds, "Seconds to measure each case (default 3)", "S"},
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "Small frames and a short time, to see that all works", NULL},
    {NULL},
};

/* ---- use of the GPU ---- */

/* Percent in use; negative if the driver does not report it. */
typedef struct {
  int decoder, gpu;
} Use;

typedef struct {
  unsigned gpu, memory;
} NvmlUtilization;

/* Reads the use of the first GPU, through NVIDIA's management library. Returns FALSE if there is none. */
static gboolean
read_use(Use *use)
{
  static GModule *library;
  static int (*start)(void), (*get_device)(unsigned, void **), (*get_decoder)(void *, unsigned *, unsigned *),
      (*get_gpu)(void *, NvmlUtilization *);
  static void *device;
  unsigned percent, period;
  NvmlUtilization utilization;

  if (!library) {
    library = g_module_open("libnvidia-ml.so.1", G_MODULE_BIND_LAZY);
    if (!library || !g_module_symbol(library, "nvmlInit_v2", (gpointer *)&start) ||
        !g_module_symbol(library, "nvmlDeviceGetHandleByIndex_v2", (gpointer *)&get_device) ||
        !g_module_symbol(library, "nvmlDeviceGetDecoderUtilization", (gpointer *)&get_decoder) ||
        !g_module_symbol(library, "nvmlDeviceGetUtilizationRates", (gpointer *)&get_gpu) || start() != 0 ||
        get_device(0, &device) != 0)
      device = NULL;
  }
  if (!device || get_decoder(device, &percent, &period) != 0 || get_gpu(device, &utilization) != 0)
    return FALSE;
  *use = (Use){percent, utilization.gpu};
  return TRUE;
}

/* ---- streams ---- */

typedef struct Run Run;

typedef struct {
  Run *run;
  int number;
  GstElement *filter; /* NULL: none */
  int sent;           /* used by the source's thread */
  gint frames;        /* atomic: frames that reached the sink */
  gint before;        /* value of `frames` at the start of the measurement */
  gint worst_ms;      /* atomic: longest delay in the measurement */
} Stream;

struct Run {
  const Way *way;
  GstElement *pipeline;
  Stream stream[MAX_STREAMS];
  int n;
  GMutex lock;
  GCond changed;
  /* Protected by the lock. */
  gint64 begin; /* monotonic time at which live streams begin; 0: not yet */
  gboolean ends;
};

/* Returns the time at which a stream sends its frame, once all are warm; streams send in turn. */
static gint64
due(const Stream *stream, gint64 begin, guint64 frame)
{
  return begin + (gint64)((frame - WARM_SENT + (double)stream->number / stream->run->n) * G_USEC_PER_SEC / RATE);
}

/* Holds a live stream's frame back until it is due. The first ones go at once. */
static GstPadProbeReturn
pace(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;
  Run *run = stream->run;
  const int frame = stream->sent++;

  if (frame < WARM_SENT)
    return GST_PAD_PROBE_OK;
  g_mutex_lock(&run->lock);
  while (!run->begin && !run->ends)
    g_cond_wait(&run->changed, &run->lock);
  while (!run->ends && g_cond_wait_until(&run->changed, &run->lock, due(stream, run->begin, frame)))
    continue;
  g_mutex_unlock(&run->lock);
  return GST_PAD_PROBE_OK;
}

static GstPadProbeReturn
count_frame(GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Stream *stream = user_data;
  const guint64 frame = (GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info)) + RING_FRAME_TIME / 2) / RING_FRAME_TIME;

  if (stream->run->way->is_live && frame >= WARM_SENT) {
    const int ms = (g_get_monotonic_time() - due(stream, stream->run->begin, frame)) / 1000;

    if (ms > g_atomic_int_get(&stream->worst_ms))
      g_atomic_int_set(&stream->worst_ms, ms);
  }
  g_atomic_int_inc(&stream->frames);
  return GST_PAD_PROBE_OK;
}

static GstElement *
find(const Run *run, const char *prefix, int number)
{
  g_autofree char *name = g_strdup_printf("%s%d", prefix, number);

  return gst_bin_get_by_name(GST_BIN(run->pipeline), name);
}

static void
add_probe(const Run *run, const char *element, const char *pad_name, GstPadProbeCallback call, Stream *stream)
{
  g_autoptr(GstElement) owner = find(run, element, stream->number);
  g_autoptr(GstPad) pad = gst_element_get_static_pad(owner, pad_name);

  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, call, stream, NULL);
}

/* Returns the text of n streams, to be freed. */
static char *
describe(const Way *way, int n, int width, int height, const char *zones_file)
{
  GString *text = g_string_new(NULL);

  for (int i = 0; i < n; i++) {
    g_string_append_printf(text, "ringsource name=source%d ! %s ! %s ! ", i, decoder, memory);
    if (way->filters)
      g_string_append_printf(text, "cudaconvolve name=filter%d roi-source=property roi-location=%s %s ! ", i,
                             zones_file, settings ? settings : "filter=fill fill-color=0xff404040");
    if (way->encodes)
      g_string_append_printf(text,
                             "video/x-raw ! x264enc tune=zerolatency speed-preset=superfast key-int-max=60 bframes=0 "
                             "bitrate=%d ! ",
                             (int)(width * height * RATE * 0.07 / 1000));
    g_string_append_printf(text, "fakesink name=sink%d sync=false ", i);
  }
  return g_string_free(text, FALSE);
}

static gboolean
start(Run *run, const Feed *feed, int width, int height, const char *zones_file, GError **error)
{
  g_autofree char *text = describe(run->way, run->n, width, height, zones_file);

  run->pipeline = gst_parse_launch(text, error);
  if (*error)
    return FALSE;
  for (int i = 0; i < run->n; i++) {
    g_autoptr(GstElement) source = find(run, "source", i);
    Stream *stream = &run->stream[i];

    stream->run = run;
    stream->number = i;
    stream->filter = run->way->filters ? find(run, "filter", i) : NULL;
    feed_set_source(feed, source);
    add_probe(run, "sink", "sink", count_frame, stream);
    if (run->way->is_live)
      add_probe(run, "source", "src", pace, stream);
  }
  gst_element_set_state(run->pipeline, GST_STATE_PLAYING);
  return TRUE;
}

static void
stop(Run *run)
{
  g_mutex_lock(&run->lock);
  run->ends = TRUE;
  g_cond_broadcast(&run->changed);
  g_mutex_unlock(&run->lock);
  if (run->pipeline)
    gst_element_set_state(run->pipeline, GST_STATE_NULL);
  for (int i = 0; i < run->n; i++)
    gst_clear_object(&run->stream[i].filter);
  gst_clear_object(&run->pipeline);
}

/* ---- measuring ---- */

typedef struct {
  double per_s, slowest, cores, filter_us; /* filter_us: 0 without a filter */
  Use use;                                 /* the means */
  int worst_ms;
} Result;

static gboolean
is_healthy(Run *run, GError **error)
{
  g_autoptr(GstBus) bus = gst_element_get_bus(run->pipeline);
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR);

  if (message)
    gst_message_parse_error(message, error, NULL);
  return !message;
}

/* Waits until no more frames come out. Then all live streams have sent their first WARM_SENT frames. */
static void
drain(Run *run)
{
  for (gint before = -1, sum = 0; sum > before;) {
    before = sum;
    g_usleep(2 * LOOK_US);
    sum = 0;
    for (int i = 0; i < run->n; i++)
      sum += g_atomic_int_get(&run->stream[i].frames);
  }
}

/* Waits until each stream has sent some frames through, and then for the clocks to rise. */
static gboolean
warm_up(Run *run, GError **error)
{
  const gint64 until = g_get_monotonic_time() + PATIENCE_US;

  for (int i = 0; i < run->n;) {
    if (g_atomic_int_get(&run->stream[i].frames) >= WARM_FRAMES) {
      i++;
      continue;
    }
    if (!is_healthy(run, error))
      return FALSE;
    if (g_get_monotonic_time() > until) {
      g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "stream %d: no %d frames in %d s", i, WARM_FRAMES,
                  (int)(PATIENCE_US / G_USEC_PER_SEC));
      return FALSE;
    }
    g_usleep(LOOK_US / 10);
  }
  if (run->way->is_live)
    drain(run);
  g_mutex_lock(&run->lock);
  run->begin = g_get_monotonic_time() + LOOK_US;
  g_cond_broadcast(&run->changed);
  g_mutex_unlock(&run->lock);
  g_usleep(quick ? LOOK_US : WARM_US);
  return TRUE;
}

static double
processor_seconds(void)
{
  struct rusage usage;

  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Lets all streams run until a time, and averages the use of the GPU. */
static gboolean
watch(Run *run, gint64 until, Use *mean, GError **error)
{
  Use sum = {0, 0}, use;
  int n = 0;

  while (g_get_monotonic_time() < until) {
    g_usleep(CLAMP(until - g_get_monotonic_time(), 0, LOOK_US));
    if (!is_healthy(run, error))
      return FALSE;
    if (read_use(&use)) {
      sum.decoder += use.decoder;
      sum.gpu += use.gpu;
      n++;
    }
  }
  *mean = n > 0 ? (Use){sum.decoder / n, sum.gpu / n} : (Use){-1, -1};
  return TRUE;
}

static double
filter_time(GstElement *filter)
{
  g_autoptr(GstStructure) stats = NULL;
  double us = 0;

  g_object_get(filter, "stats", &stats, NULL);
  gst_structure_get_double(stats, "compute-time-us", &us);
  return us;
}

static gboolean
measure(Run *run, Result *result, GError **error)
{
  gint64 start;
  double cpu;

  if (!warm_up(run, error))
    return FALSE;
  start = g_get_monotonic_time();
  cpu = processor_seconds();
  for (int i = 0; i < run->n; i++) {
    run->stream[i].before = g_atomic_int_get(&run->stream[i].frames);
    g_atomic_int_set(&run->stream[i].worst_ms, 0);
  }
  if (!watch(run, start + (gint64)(seconds * G_USEC_PER_SEC), &result->use, error))
    return FALSE;
  cpu = processor_seconds() - cpu;
  result->slowest = G_MAXDOUBLE;
  for (int i = 0; i < run->n; i++) {
    Stream *stream = &run->stream[i];
    const double clock = (g_get_monotonic_time() - start) / 1e6;
    const double per_s = (g_atomic_int_get(&stream->frames) - stream->before) / clock;

    result->per_s += per_s;
    result->slowest = MIN(result->slowest, per_s);
    result->worst_ms = MAX(result->worst_ms, g_atomic_int_get(&stream->worst_ms));
    result->filter_us += stream->filter ? filter_time(stream->filter) / run->n : 0;
    result->cores = cpu / clock;
  }
  return TRUE;
}

static gboolean
run_case(const Way *way, const Feed *feed, int size, int n, const char *zones_file, Result *result, GError **error)
{
  Run *run = g_new0(Run, 1);
  gboolean right;

  *result = (Result){0};
  run->way = way;
  run->n = n;
  g_mutex_init(&run->lock);
  g_cond_init(&run->changed);
  right = start(run, feed, sizes[size].width, sizes[size].height, zones_file, error) && measure(run, result, error);
  stop(run);
  g_mutex_clear(&run->lock);
  g_cond_clear(&run->changed);
  g_free(run);
  return right;
}

/* ---- the table ---- */

static void
print_head(void)
{
  printf("%-9s %-6s %7s %9s %8s %7s %9s %6s %7s %4s %8s\n", "size", "way", "streams", "frames/s", "slowest", "cameras",
         "filter us", "cores", "decoder", "gpu", "delay ms");
}

static void
print_row(const char *size, const Way *way, int n, const Result *result)
{
  g_autofree char *filter = result->filter_us > 0 ? g_strdup_printf("%.1f", result->filter_us) : g_strdup("-");
  g_autofree char *coder = result->use.decoder < 0 ? g_strdup("-") : g_strdup_printf("%d%%", result->use.decoder);
  g_autofree char *gpu = result->use.gpu < 0 ? g_strdup("-") : g_strdup_printf("%d%%", result->use.gpu);
  g_autofree char *delay = way->is_live ? g_strdup_printf("%d", result->worst_ms) : g_strdup("-");

  printf("%-9s %-6s %7d %9.1f %8.1f %7d %9s %6.1f %7s %4s %8s\n", size, way->name, n, result->per_s, result->slowest,
         way->is_live ? n : (int)(result->per_s / RATE), filter, result->cores, coder, gpu, delay);
  fflush(stdout);
}

static gboolean
is_chosen(const char *size, const Way *way)
{
  g_autofree char *name = g_strdup_printf("%s %s", size, way->name);

  return !only || strstr(name, only);
}

/* Runs the ways with each number of streams, and live streams with a number of their own. Returns the number of
 * failures. */
static int
run_size(int size, const Feed *feed, const char *zones_file)
{
  g_autofree char *name = g_strdup_printf("%dx%d", sizes[size].width, sizes[size].height);
  g_auto(GStrv) numbers = g_strsplit(streams, ",", 0);
  double best = 0; /* frames/s of zones */
  int failures = 0;

  for (gsize i = 0; i < G_N_ELEMENTS(ways); i++) {
    for (char **number = numbers; *number && is_chosen(name, &ways[i]); number++) {
      const int live = CLAMP(best * MARGIN / RATE, 1, quick ? QUICK_STREAMS : MAX_STREAMS);
      const int n = ways[i].is_live && best > 0 ? live : atoi(*number);
      GError *error = NULL;
      Result result;

      if (ways[i].is_live && best > 0 && number != numbers)
        break;
      if (run_case(&ways[i], feed, size, n, zones_file, &result, &error)) {
        print_row(name, &ways[i], n, &result);
        best = g_str_equal(ways[i].name, "zones") ? MAX(best, result.per_s) : best;
      } else {
        failures++;
        fprintf(stderr, "camera-bench: %s %s, %d streams: %s\n", name, ways[i].name, n, error->message);
        g_clear_error(&error);
      }
    }
  }
  return failures;
}

static int
make_and_run_size(int size, const char *zones_file)
{
  const int shrink = quick ? QUICK_SHRINK : 1;
  g_autofree char *encoder =
      g_strdup_printf("x264enc speed-preset=superfast bframes=0 bitrate=%d", sizes[size].kbit_per_s / shrink);
  Feed feed = {.caps = feed_caps("I420", sizes[size].width / shrink, sizes[size].height / shrink)};
  GError *error = NULL;
  gsize bytes = 0;
  int failures = 1;

  if (feed_encode(&feed, encoder, &error)) {
    for (guint i = 0; i < feed.ring->len; i++)
      bytes += gst_buffer_get_size(g_ptr_array_index(feed.ring, i));
    printf("%dx%d: %u frames of %.1f Mbit/s\n", sizes[size].width, sizes[size].height, feed.ring->len,
           bytes * 8. * RATE / feed.ring->len / 1e6);
    failures = run_size(size, &feed, zones_file);
  } else {
    fprintf(stderr, "camera-bench: %s\n", error->message);
    g_error_free(error);
  }
  feed_clear(&feed);
  return failures;
}

/* ---- the program ---- */

static gboolean
exists(const char *element)
{
  return gst_registry_check_feature_version(gst_registry_get(), element, 0, 0, 0);
}

/* Chooses the decoder, and the numbers of streams. Returns FALSE if there is none. */
static gboolean
choose_decoder(void)
{
  for (gsize i = 0; i < G_N_ELEMENTS(decoders); i++) {
    if (!exists(decoders[i].name) || (decoder && !g_str_equal(decoder, decoders[i].name)))
      continue;
    decoder = decoder ? decoder : g_strdup(decoders[i].name);
    memory = decoders[i].memory;
    streams = streams ? streams : g_strdup(decoders[i].streams);
    return TRUE;
  }
  printf("SKIPPED: there is no element %s here\n", decoder ? decoder : "nvh264dec, avdec_h264 or openh264dec");
  return FALSE;
}

static gboolean
check_options(GError **error)
{
  g_auto(GStrv) numbers = g_strsplit(streams, ",", 0);
  guint64 value;

  for (char **number = numbers; *number; number++) {
    if (!g_ascii_string_to_unsigned(*number, 10, 1, MAX_STREAMS, &value, NULL)) {
      g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                  "--streams %s: must be numbers from 1 to %d, as in 1,8", streams, MAX_STREAMS);
      return FALSE;
    }
  }
  if (!(seconds > 0 && seconds <= 3600)) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "--seconds %g: must be above 0, up to 3600", seconds);
    return FALSE;
  }
  return TRUE;
}

static int
run(GError **error)
{
  const char *needed[] = {"cudaconvolve", "x264enc", "h264parse"};
  g_autofree char *zones_file = NULL;
  int file, failures = 0;

  for (gsize i = 0; i < G_N_ELEMENTS(needed); i++) {
    if (!exists(needed[i])) {
      printf("SKIPPED: there is no element %s here\n", needed[i]);
      return SKIP;
    }
  }
  if (!choose_decoder())
    return SKIP;
  if (!check_options(error) || (file = g_file_open_tmp("camera-bench-XXXXXX", &zones_file, error)) < 0)
    return EXIT_FAILURE;
  g_close(file, NULL);
  ring_source_register();
  if (g_file_set_contents(zones_file, zones, -1, error)) {
    printf("%s, %u processor cores, %g s of each case\n", decoder, g_get_num_processors(), seconds);
    print_head();
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++)
      failures += make_and_run_size(i, zones_file);
  }
  g_unlink(zones_file);
  return failures > 0 || *error ? EXIT_FAILURE : EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
  GOptionContext *context = g_option_context_new(NULL);
  GError *error = NULL;
  int status = EXIT_FAILURE;

  g_option_context_set_summary(context, "Times many H.264 streams that are decoded, filtered and encoded at once.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_group(context, gst_init_get_option_group());
  if (g_option_context_parse(context, &argc, &argv, &error)) {
    setlocale(LC_NUMERIC, "C");
    seconds = quick ? 0.2 : seconds;
    status = run(&error);
  }
  if (error)
    fprintf(stderr, "camera-bench: %s\n", error->message);
  g_clear_error(&error);
  g_option_context_free(context);
  return status;
}
