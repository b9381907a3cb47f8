/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element over many frames: all live properties drawn anew every 10th frame, settings that cannot be among them,
 * and new caps every 1000th. No frame may be lost, each refusal is told once, and memory must not grow.
 *
 * Usage: soak [--frames N] [--seed N]
 */
#include <convolve/backend.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <gst/video/video.h>

#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device.h"

#define FRAME_TIME (40 * GST_MSECOND)
#define SETTINGS_FRAMES 10 /* with the same settings */
#define CAPS_FRAMES 1000   /* with the same caps */
#define KNOWN_FRAME 500    /* of each caps: from here on, for once, settings whose result is known */
#define NOISE (1 << 21)

/* For what is asked millions of times: check writes a line to a file for each of its own assertions that holds. */
#define REQUIRE(condition, ...)                                                                                        \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      ck_abort_msg(__VA_ARGS__);                                                                                       \
  } while (0)

static const struct {
  const char *format;
  int width, height;
} caps_rows[] = {{"NV12", 320, 240}, {"P010_10LE", 322, 238}, {"RGBA", 320, 240}};

#define CYCLE_FRAMES ((int)G_N_ELEMENTS(caps_rows) * CAPS_FRAMES)

/* Memory is compared with that at the end of these: what is made once is there after the first cycle through the caps,
 * and some strings and tables come in the second. */
#define WARM_UP_CYCLES 2

/* All samples are taken with the same caps and settings, and so differ by no more than some hundred bytes. The smallest
 * block, lost at each change of settings, comes to 9 KiB in a cycle; 2 KiB lost at each change of caps to 6. */
#define HEAP_TOLERANCE (16 << 10)

/* The pages behind the heap also hold gaps and the stacks of threads, which settle late: half a MiB was seen. One frame
 * kept at each change of caps comes to 0.6 MiB in a cycle, at each change of settings to 55. */
#define RSS_TOLERANCE (2 << 20)

/* The driver takes memory in pieces of 2 MiB, and others use the GPU too. A frame kept from each that was filtered
 * comes to 500 MiB in a cycle. */
#define DEVICE_TOLERANCE (16 << 20)

static int n_frames = 18000;
static int seed = -1;
static const char *backends[2] = {"cpu"};
static int n_backends = 1;

/* ---- settings ---- */

typedef struct {
  CnvFilterType filter;
  int radius, radius_x, radius_y;
  double sigma, scale, bias;
  CnvBorder border;
  guint border_color;
  CnvAlgorithm algorithm;
  gboolean normalize, disable_passthrough, full_rank;
  const char *kernel, *kernel_x, *kernel_y;
} Settings;

#define NONE "<>"

static const struct {
  const char *kernel;
  gboolean full_rank; /* not a row times a column */
} kernel_rows[] = {
    {NONE, FALSE},           {"<1,2,1>", FALSE},
    {"<0,1,0>", FALSE},      {"<<1,2,1>,<2,4,2>,<1,2,1>>", FALSE},
    {"<<1,2>,<3,4>>", TRUE}, {"<<0,-1,0>,<-1,5,-1>,<0,-1,0>>", TRUE},
};

static const char *const axis_rows[] = {NONE, NONE, "<-1,0,1>", "<1/3,1,1/3,0.5>"};

/* Takes the sample to the right. */
static const Settings shift = {
    .filter = CNV_FILTER_CUSTOM,
    .radius = -1,
    .radius_x = -1,
    .radius_y = -1,
    .scale = 1,
    .border = CNV_BORDER_WRAP,
    .normalize = TRUE,
    .kernel = "<0,0,1>",
    .kernel_x = NONE,
    .kernel_y = NONE,
};

static void
draw_kernels(GRand *rng, Settings *settings)
{
  int row = g_rand_int_range(rng, 0, G_N_ELEMENTS(kernel_rows));

  settings->kernel = kernel_rows[row].kernel;
  settings->full_rank = kernel_rows[row].full_rank;
  settings->kernel_x = axis_rows[g_rand_int_range(rng, 0, G_N_ELEMENTS(axis_rows))];
  settings->kernel_y = axis_rows[g_rand_int_range(rng, 0, G_N_ELEMENTS(axis_rows))];
}

/* The slow algorithms get small radii, or all of the time would go into a few frames. */
static Settings
draw_settings(GRand *rng)
{
  Settings settings = {
      .filter = g_rand_int_range(rng, CNV_FILTER_IDENTITY, CNV_FILTER_CUSTOM + 1),
      .algorithm = g_rand_boolean(rng) ? CNV_ALGORITHM_AUTO
                                       : g_rand_int_range(rng, CNV_ALGORITHM_NAIVE, CNV_ALGORITHM_SEPARABLE + 1),
      .border = g_rand_int_range(rng, CNV_BORDER_CONSTANT, CNV_BORDER_RENORMALIZE + 1),
      .border_color = g_rand_int(rng),
      .normalize = g_rand_boolean(rng),
      .disable_passthrough = g_rand_boolean(rng),
      .scale = g_rand_boolean(rng) ? 1 : g_rand_double_range(rng, -3, 3),
      .bias = g_rand_boolean(rng) ? 0 : g_rand_double_range(rng, -1, 1),
  };
  gboolean slow = settings.algorithm == CNV_ALGORITHM_NAIVE || settings.algorithm == CNV_ALGORITHM_TILED;
  int limit = slow ? 1 : 24;

  settings.radius = g_rand_int_range(rng, -1, limit + 1);
  settings.radius_x = g_rand_boolean(rng) ? -1 : g_rand_int_range(rng, 0, limit + 1);
  settings.radius_y = g_rand_boolean(rng) ? -1 : g_rand_int_range(rng, 0, limit + 1);
  settings.sigma = g_rand_int_range(rng, 0, 4) == 0 ? 200 : g_rand_double_range(rng, 0, limit / 3.0);
  draw_kernels(rng, &settings);
  return settings;
}

static gboolean
is_set(const char *kernel)
{
  return strcmp(kernel, NONE) != 0;
}

/* What README says cannot be: for custom no taps, two kinds of them, or separable where they are not a row times a
 * column; else a radius, 3 * sigma where it is automatic, beyond 512. */
static gboolean
is_refused(const Settings *settings)
{
  gboolean axes = is_set(settings->kernel_x) || is_set(settings->kernel_y);
  gboolean automatic = settings->radius < 0 && (settings->radius_x < 0 || settings->radius_y < 0);

  if (settings->filter == CNV_FILTER_IDENTITY)
    return FALSE;
  if (settings->filter != CNV_FILTER_CUSTOM)
    return automatic && 3 * settings->sigma > CNV_RADIUS_MAX;
  return axes == is_set(settings->kernel) ||
         (settings->full_rank && settings->algorithm == CNV_ALGORITHM_SEPARABLE && !axes);
}

static void
set_kernel(GstElement *element, const char *property, const char *kernel)
{
  gst_util_set_object_arg(G_OBJECT(element), property, kernel);
}

static void
set_settings(GstElement *element, const Settings *settings)
{
  g_object_set(element, "filter", settings->filter, "radius", settings->radius, "radius-x", settings->radius_x,
               "radius-y", settings->radius_y, "sigma", settings->sigma, "scale", settings->scale, "bias",
               settings->bias, "border-mode", settings->border, "border-color", settings->border_color, "algorithm",
               settings->algorithm, "normalize", settings->normalize, "disable-passthrough",
               settings->disable_passthrough, NULL);
  set_kernel(element, "kernel", settings->kernel);
  set_kernel(element, "kernel-x", settings->kernel_x);
  set_kernel(element, "kernel-y", settings->kernel_y);
}

/* ---- memory ---- */

typedef struct {
  gint64 rss, heap, device; /* bytes: resident, allocated, in use on the GPU but for a constant */
} Memory;

static gint64
resident_bytes(void)
{
  long all, resident;
  FILE *file = fopen("/proc/self/statm", "r");

  ck_assert_msg(file && fscanf(file, "%ld %ld", &all, &resident) == 2, "/proc/self/statm cannot be read");
  fclose(file);
  return (gint64)resident * sysconf(_SC_PAGESIZE);
}

static Memory
memory_now(const char *backend)
{
  struct mallinfo2 info = mallinfo2();
  gboolean cuda = strcmp(backend, "cuda") == 0;

  return (Memory){resident_bytes(), info.uordblks + info.hblkhd, cuda ? -(gint64)test_device_free_bytes() : 0};
}

/* AddressSanitizer holds back what is freed, and has an allocator of its own. */
static gboolean
memory_can_be_told(void)
{
#ifdef __SANITIZE_ADDRESS__
  return FALSE;
#else
  return TRUE;
#endif
}

static void
check_memory(const Memory *now, const Memory *first, const char *backend, int frame)
{
  const struct {
    const char *name;
    gint64 grown, tolerance;
  } rows[] = {
      {"resident memory", now->rss - first->rss, RSS_TOLERANCE},
      {"the heap", now->heap - first->heap, HEAP_TOLERANCE},
      {"memory on the GPU", now->device - first->device, DEVICE_TOLERANCE},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
    ck_assert_msg(rows[i].grown <= rows[i].tolerance, "%s: %s grew by %" G_GINT64_FORMAT " bytes up to frame %d",
                  backend, rows[i].name, rows[i].grown, frame);
}

/* ---- the stream ---- */

typedef struct {
  const char *backend;
  GstElement *element;
  GstBus *bus;
  GstHarness *harness;
  GRand *rng;
  guint8 *noise;
  GstVideoInfo info;
  Settings settings;
  int warnings, refused; /* messages that came, and that should have */
  Memory first;          /* after the warm-up */
  gint64 start;
} Soak;

static void
soak_init(Soak *soak, const char *backend)
{
  *soak = (Soak){.backend = backend, .settings = shift, .start = g_get_monotonic_time()};
  soak->element = gst_object_ref_sink(gst_element_factory_make("cudaconvolve", NULL));
  ck_assert_msg(soak->element != NULL, "no element cudaconvolve");
  soak->bus = gst_bus_new();
  gst_element_set_bus(soak->element, soak->bus);
  gst_util_set_object_arg(G_OBJECT(soak->element), "backend", backend);
  set_settings(soak->element, &shift);
  soak->harness = gst_harness_new_with_element(soak->element, "sink", "src");
  soak->rng = g_rand_new_with_seed(seed);
  soak->noise = g_malloc(NOISE);
  for (int i = 0; i < NOISE; i++)
    soak->noise[i] = g_rand_int(soak->rng);
}

static void
soak_clear(Soak *soak)
{
  gst_harness_teardown(soak->harness);
  gst_element_set_bus(soak->element, NULL);
  gst_object_unref(soak->bus);
  gst_object_unref(soak->element);
  g_rand_free(soak->rng);
  g_free(soak->noise);
}

static void
next_caps(Soak *soak, int frame)
{
  gsize row = frame / CAPS_FRAMES % G_N_ELEMENTS(caps_rows);
  const char *format = caps_rows[row].format;
  int width = caps_rows[row].width, height = caps_rows[row].height;

  gst_video_info_set_format(&soak->info, gst_video_format_from_string(format), width, height);
  soak->info.fps_n = 25;
  gst_harness_set_src_caps(soak->harness, gst_video_info_to_caps(&soak->info));
  soak->refused += is_refused(&soak->settings); /* it is told again for new caps */
}

/* Now and then also a value that is refused when it is set; a good one follows. */
static void
next_settings(Soak *soak, int frame)
{
  if (g_rand_int_range(soak->rng, 0, 16) == 0) {
    set_kernel(soak->element, "kernel", "<1,x>");
    soak->refused++;
  }
  soak->settings = frame % CAPS_FRAMES == KNOWN_FRAME ? shift : draw_settings(soak->rng);
  set_settings(soak->element, &soak->settings);
  soak->refused += is_refused(&soak->settings);
}

static GstBuffer *
make_frame(const Soak *soak, guint frame)
{
  GstBuffer *buffer = gst_buffer_new_allocate(NULL, soak->info.size, NULL);

  gst_buffer_fill(buffer, 0, soak->noise + frame * 61 % (NOISE - soak->info.size), soak->info.size);
  GST_BUFFER_PTS(buffer) = frame * FRAME_TIME;
  GST_BUFFER_DTS(buffer) = frame * FRAME_TIME + 1;
  GST_BUFFER_DURATION(buffer) = FRAME_TIME;
  return buffer;
}

/* Compares a row's first channel with the input's, one pixel further. */
static gboolean
row_is_shifted(const GstVideoInfo *info, const guint8 *in, const guint8 *out)
{
  int step = GST_VIDEO_INFO_COMP_PSTRIDE(info, 0), shift_bits = GST_VIDEO_FORMAT_INFO_SHIFT(info->finfo, 0);
  gboolean bytes = GST_VIDEO_INFO_COMP_DEPTH(info, 0) <= 8, equal = TRUE;

  for (int x = 0; x < info->width; x++) {
    const guint8 *a = in + (x + 1) % info->width * step, *b = out + x * step;

    equal &= bytes ? *a == *b : GST_READ_UINT16_LE(a) >> shift_bits << shift_bits == GST_READ_UINT16_LE(b);
  }
  return equal;
}

static void
check_shifted(const Soak *soak, GstBuffer *in, GstBuffer *out, guint number)
{
  GstVideoFrame from, to;

  REQUIRE(gst_video_frame_map(&from, &soak->info, in, GST_MAP_READ), "frame %u cannot be mapped", number);
  REQUIRE(gst_video_frame_map(&to, &soak->info, out, GST_MAP_READ), "output frame %u cannot be mapped", number);
  for (int y = 0; y < soak->info.height; y++) {
    const guint8 *a = (guint8 *)GST_VIDEO_FRAME_COMP_DATA(&from, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&from, 0);
    const guint8 *b = (guint8 *)GST_VIDEO_FRAME_COMP_DATA(&to, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0);

    REQUIRE(row_is_shifted(&soak->info, a, b), "%s: frame %u is wrong in row %d", soak->backend, number, y);
  }
  gst_video_frame_unmap(&from);
  gst_video_frame_unmap(&to);
}

static void
check_frame(const Soak *soak, GstBuffer *in, GstBuffer *out, guint frame)
{
  REQUIRE(out != NULL && gst_harness_buffers_in_queue(soak->harness) == 0,
          "%s: frame %u was lost or came out more than once", soak->backend, frame);
  REQUIRE(GST_BUFFER_PTS(out) == GST_BUFFER_PTS(in) && GST_BUFFER_DTS(out) == GST_BUFFER_DTS(in) &&
              GST_BUFFER_DURATION(out) == GST_BUFFER_DURATION(in),
          "%s: frame %u has other times than it came with", soak->backend, frame);
  REQUIRE(gst_buffer_get_size(out) == soak->info.size, "%s: frame %u has another size", soak->backend, frame);
  if (frame % CAPS_FRAMES / SETTINGS_FRAMES == KNOWN_FRAME / SETTINGS_FRAMES)
    check_shifted(soak, in, out, frame);
}

static void
push_frame(Soak *soak, guint frame)
{
  GstBuffer *in = make_frame(soak, frame), *out;
  GstFlowReturn flow = gst_harness_push(soak->harness, gst_buffer_ref(in));

  REQUIRE(flow == GST_FLOW_OK, "%s: frame %u: %s", soak->backend, frame, gst_flow_get_name(flow));
  out = gst_harness_try_pull(soak->harness);
  check_frame(soak, in, out, frame);
  gst_buffer_unref(out);
  gst_buffer_unref(in);
}

/* Events and messages are taken too, or they would be what grows. */
static void
read_messages(Soak *soak, int frame)
{
  GstMessage *message;
  GstEvent *event;

  while ((message = gst_bus_pop(soak->bus))) {
    REQUIRE(GST_MESSAGE_TYPE(message) != GST_MESSAGE_ERROR, "%s: an error at frame %d", soak->backend, frame);
    soak->warnings += GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING;
    gst_message_unref(message);
  }
  REQUIRE(soak->warnings == soak->refused, "%s: up to frame %d %d settings were refused, and not %d", soak->backend,
          frame, soak->warnings, soak->refused);
  while ((event = gst_harness_try_pull_event(soak->harness)))
    gst_event_unref(event);
  while ((event = gst_harness_try_pull_upstream_event(soak->harness)))
    gst_event_unref(event);
}

/* Once a cycle, while the settings are the known ones; some ten are printed. */
static void
look_at_memory(Soak *soak, int frame)
{
  Memory now = memory_now(soak->backend);
  int cycle = frame / CYCLE_FRAMES, cycles = n_frames / CYCLE_FRAMES;

  if (cycle % ((cycles + 9) / 10) == 0 || cycle == cycles - 1)
    g_print("%s: frame %6d, %5.1f s: resident %8.1f KiB, heap %8.1f KiB, GPU %+.1f KiB, %d settings refused\n",
            soak->backend, frame, (g_get_monotonic_time() - soak->start) / 1e6, now.rss / 1024.0, now.heap / 1024.0,
            (now.device - soak->first.device) / 1024.0, soak->warnings);
  if (cycle < WARM_UP_CYCLES)
    soak->first = now;
  else if (memory_can_be_told())
    check_memory(&now, &soak->first, soak->backend, frame);
}

static void
check_count(const Soak *soak)
{
  GstStructure *stats;
  guint64 frames;

  g_object_get(soak->element, "stats", &stats, NULL);
  ck_assert(gst_structure_get_uint64(stats, "frames", &frames));
  ck_assert_uint_eq(frames, n_frames);
  ck_assert_str_eq(gst_structure_get_string(stats, "backend"), soak->backend);
  ck_assert_msg(soak->warnings > 0, "no settings were refused");
  gst_structure_free(stats);
}

START_TEST(test_soak)
{
  Soak soak;

  soak_init(&soak, backends[_i]);
  for (int frame = 0; frame < n_frames; frame++) {
    if (frame % CAPS_FRAMES == 0)
      next_caps(&soak, frame);
    if (frame % SETTINGS_FRAMES == 0)
      next_settings(&soak, frame);
    push_frame(&soak, frame);
    read_messages(&soak, frame);
    if (frame % CYCLE_FRAMES == KNOWN_FRAME + SETTINGS_FRAMES - 1)
      look_at_memory(&soak, frame);
  }
  check_count(&soak);
  soak_clear(&soak);
}
END_TEST

static void
parse_options(int *argc, char ***argv)
{
  const GOptionEntry entries[] = {
      {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames, "Frames on each backend, rounded up to whole cycles of 3000", "N"},
      {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "Draw the settings of an earlier run", "N"},
      {NULL},
  };
  GOptionContext *context = g_option_context_new(NULL);
  GError *error = NULL;

  g_option_context_add_main_entries(context, entries, NULL);
  if (!g_option_context_parse(context, argc, argv, &error))
    g_error("%s", error->message);
  g_option_context_free(context);
  n_frames = MAX(WARM_UP_CYCLES + 1, (n_frames + CYCLE_FRAMES - 1) / CYCLE_FRAMES) * CYCLE_FRAMES;
  if (seed < 0)
    seed = g_random_int_range(0, G_MAXINT);
}

static Suite *
soak_suite(void)
{
  const CnvBackend *cuda = cnv_backend_find("cuda");
  Suite *suite = suite_create("soak");
  TCase *tcase = tcase_create("each backend");

  if (cuda && cuda->probe(-1, NULL))
    backends[n_backends++] = "cuda";
  else
    g_print("SKIPPED on a GPU: there is none, or this build has no CUDA; the same runs on the CPU\n");
  if (!memory_can_be_told())
    g_print("SKIPPED memory: AddressSanitizer holds back what is freed; leaks are found all the same\n");
  suite_add_tcase(suite, tcase);
  tcase_add_loop_test(tcase, test_soak, 0, n_backends);
  return suite;
}

int
main(int argc, char **argv)
{
  SRunner *runner;
  int failed;

  parse_options(&argc, &argv);
  gst_check_init(&argc, &argv);
  g_print("%d frames on each backend, --seed %d\n", n_frames, seed);
  runner = srunner_create(soak_suite());
  srunner_set_fork_status(runner, CK_NOFORK); /* a CUDA context does not survive a fork, nor does a run its timeout */
  srunner_run_all(runner, CK_NORMAL);
  failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed > 0;
}
