/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * pipeline-bench: frames/s of pipelines that differ only in the filter: nothing in its place, `identity`, and
 * cudaconvolve, over a table of memories, sizes and formats. The frames are noise, sent from a ring of prepared
 * buffers, and the sink discards them. A row for each case goes to stdout, progress to stderr:
 *
 *   source/s identity/s filter/s   frames/s of the three, the medians of 3 repeats without their warm-up
 *   +-%       half of the range from the slowest filter/s to the fastest
 *   added us  microseconds per frame by which cudaconvolve takes longer than identity; outside: without compute
 *   compute, up us, down us, bytes up and down   per frame, from the element's statistics
 *   cpu us    processor time per frame with cudaconvolve, of all threads
 *   duplex/s  frames/s of a copy of a frame's bytes up and down at the same time, in pinned memory, without any
 *             computation; beside it the part of it that filter/s reaches
 *   goal/s    what radius=8 should reach on an H200, and the part of it that filter/s reaches: in CUDA memory 100000
 *             for 1920x1080 NV12 and 60000 for 3840x2160, in memory that is not pinned 1000 for the latter; 85 % of
 *             the duplex copy in the memory that the element offers; after a decoder 99 % of source/s
 *
 * Without a GPU the rows in system memory run on the CPU. The others are skipped, with a line per path that says why.
 * Exit status: 0; 1 after all cases if a pipeline failed or a frame is missing; 77 if all are skipped.
 */
#include "bench/pipeline_bench.h"

#include <gst/video/video.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/bench_table.h"
#include "support/duplex.h"
#include "support/ring_source.h"

#define SKIP 77
#define REPEATS 3
#define WARM_FRAMES 16 /* pools fill and modules load: the ring is sent twice */
#define WARM_US 60000  /* clock rates rise */
#define BUDGET_US 400000
#define BUDGET_QUICK_US 10000
#define QUICK_SHRINK 10 /* divides width and height */

static const PipelinePath paths[] = {
    {"system", "system memory that is not pinned", FEED_PLAIN, "", "", {.nv12 = {0, 1000}}},
    {"offered", "system memory that the element offers upstream", FEED_OFFERED, "", "", {.of_duplex = 0.85}},
    {"cuda", "CUDA memory", FEED_UPLOADED, "", "cudaupload", {.nv12 = {100000, 60000}}},
    {"nvh264dec",
     "decoded into CUDA memory",
     FEED_ENCODED,
     "nvh264dec ! video/x-raw(memory:CUDAMemory) ! ",
     "nvh264dec h264parse x264enc",
     {.of_source = 0.99}},
    {"nvh264dec-system",
     "decoded and downloaded to system memory",
     FEED_ENCODED,
     "nvh264dec ! video/x-raw ! ",
     "nvh264dec h264parse x264enc",
     {.of_source = 0.99}},
};

static const struct {
  int width, height;
} sizes[] = {{1920, 1080}, {3840, 2160}};

static const char *const formats[] = {"NV12", "RGBA", "P010_10LE"};

#define DECODED_FORMAT "NV12" /* of 8-bit H.264 */

static char *filter, *only;
static char **files;
static int n_frames;
static gboolean quick, list;

static const GOptionEntry entries[] = {
    {"filter", 0, 0, G_OPTION_ARG_STRING, &filter, "Settings of cudaconvolve (default \"radius=8\")", "SETTINGS"},
    {"only", 0, 0, G_OPTION_ARG_STRING, &only, "Only cases with that in their line of --list", "TEXT"},
    {"frames", 0, 0, G_OPTION_ARG_INT, &n_frames, "Frames of each repeat (default: as many as 0.4 s take)", "N"},
    {"output", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, "Write the table to FILE.csv or FILE.json, too", "FILE"},
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "Small frames and few of them, to see that all works", NULL},
    {"list", 0, 0, G_OPTION_ARG_NONE, &list, "List the cases", NULL},
    {NULL},
};

/* ---- cases ---- */

static char *
case_name(const PipelineCase *c)
{
  return g_strdup_printf("%s %s %dx%d", c->path->name, c->format, c->width, c->height);
}

static void
add_case(GArray *cases, const PipelineCase *c)
{
  char *name = case_name(c);

  if (!only || strstr(name, only))
    g_array_append_val(cases, *c);
  g_free(name);
}

static GArray *
make_cases(void)
{
  GArray *cases = g_array_new(FALSE, FALSE, sizeof(PipelineCase));

  for (gsize p = 0; p < G_N_ELEMENTS(paths); p++)
    for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++)
      for (gsize f = 0; f < G_N_ELEMENTS(formats); f++)
        if (paths[p].feed != FEED_ENCODED || g_str_equal(formats[f], DECODED_FORMAT))
          add_case(cases, &(PipelineCase){&paths[p], sizes[s].width, sizes[s].height, formats[f]});
  return cases;
}

static int
print_list(const GArray *cases)
{
  for (guint i = 0; i < cases->len; i++) {
    const PipelineCase *c = &g_array_index(cases, PipelineCase, i);
    char *name = case_name(c);

    printf("%-36s %s\n", name, c->path->what);
    g_free(name);
  }
  return EXIT_SUCCESS;
}

/* ---- what is missing ---- */

static gboolean
takes_cuda_memory(void)
{
  GstElementFactory *factory = gst_element_factory_find("cudaconvolve");
  GstCaps *caps = gst_caps_from_string("video/x-raw(memory:CUDAMemory)");
  gboolean takes = gst_element_factory_can_sink_any_caps(factory, caps);

  gst_caps_unref(caps);
  gst_object_unref(factory);
  return takes;
}

/* Returns why the path cannot run, or NULL. Free with g_free. */
static char *
obstacle(const PipelinePath *path)
{
  char **needs = g_strsplit(path->needs, " ", -1), *reason = NULL;

  for (guint i = 0; needs[i] && !reason; i++)
    if (!gst_registry_check_feature_version(gst_registry_get(), needs[i], 0, 0, 0))
      reason = g_strdup_printf("there is no element %s here", needs[i]);
  if (!reason && *needs && !takes_cuda_memory())
    reason = g_strdup("this build of cudaconvolve takes no CUDA memory");
  g_strfreev(needs);
  return reason;
}

static guint
count_of_path(const GArray *cases, const PipelinePath *path)
{
  guint n = 0;

  for (guint i = 0; i < cases->len; i++)
    n += g_array_index(cases, PipelineCase, i).path == path;
  return n;
}

/* Removes cases that cannot run, and prints a line per path. */
static void
skip_cases(GArray *cases)
{
  for (gsize p = 0; p < G_N_ELEMENTS(paths); p++) {
    const guint n = count_of_path(cases, &paths[p]);
    char *reason = n > 0 ? obstacle(&paths[p]) : NULL;

    if (reason)
      printf("SKIPPED %s, of %u cases: %s\n", paths[p].name, n, reason);
    for (guint i = cases->len; reason && i-- > 0;)
      if (g_array_index(cases, PipelineCase, i).path == &paths[p])
        g_array_remove_index(cases, i);
    g_free(reason);
  }
}

/* ---- measuring ---- */

static int
compare(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;

  return (x > y) - (x < y);
}

static PipelineResult
summary(const PipelineTime *times)
{
  double per_s[REPEATS], cpu_us[REPEATS];

  for (int i = 0; i < REPEATS; i++) {
    per_s[i] = times[i].per_s;
    cpu_us[i] = times[i].cpu_us;
  }
  qsort(per_s, REPEATS, sizeof *per_s, compare);
  qsort(cpu_us, REPEATS, sizeof *cpu_us, compare);
  return (PipelineResult){{per_s[REPEATS / 2], per_s[0], per_s[REPEATS - 1]}, cpu_us[REPEATS / 2]};
}

/* Measures the ways in turn, so that changes of the machine affect all of them. */
static gboolean
measure_ways(PipelineRow *row, const Feed *feed, const char *progress, GError **error)
{
  char *convolve = g_strdup_printf("cudaconvolve name=filter %s ! ", row->filter);
  const char *const elements[N_WAYS] = {"", "identity ! ", convolve};
  const PipelineEffort effort = {WARM_FRAMES, quick ? 0 : WARM_US, MAX(n_frames, 0),
                                 quick ? BUDGET_QUICK_US : BUDGET_US};
  PipelineTime times[N_WAYS][REPEATS];
  gboolean right = TRUE;

  for (int i = 0; i < REPEATS * N_WAYS && right; i++) {
    const int way = i % N_WAYS, repeat = i / N_WAYS;
    GstStructure **stats = way == CONVOLVE && repeat == REPEATS - 1 ? &row->stats : NULL;

    bench_progress("%s: %d of %d", progress, i + 1, REPEATS * N_WAYS);
    right = pipeline_measure(row->timed_case, feed, elements[way], &effort, &times[way][repeat], stats, error);
  }
  for (int way = 0; way < N_WAYS && right; way++)
    row->way[way] = summary(times[way]);
  if (right)
    row->frames = times[CONVOLVE][REPEATS - 1].frames;
  g_free(convolve);
  return right;
}

/* Returns the frames/s of the duplex copy, or NAN if frames are not both uploaded and downloaded. */
static double
duplex(const PipelineRow *row)
{
  guint64 up, down;
  GstVideoInfo info;

  if (!gst_structure_get_uint64(row->stats, "bytes-uploaded", &up) || up == 0 ||
      !gst_structure_get_uint64(row->stats, "bytes-downloaded", &down) || down == 0)
    return NAN;
  gst_video_info_set_format(&info, gst_video_format_from_string(row->timed_case->format), row->timed_case->width,
                            row->timed_case->height);
  return duplex_per_s(info.size, 1);
}

static gboolean
run_case(const PipelineCase *c, const char *progress, GError **error)
{
  PipelineRow row = {.timed_case = c, .filter = filter ? filter : "radius=8"};
  Feed feed;
  gboolean right;

  bench_progress("%s: making frames", progress);
  right = pipeline_feed_init(&feed, c, error) && measure_ways(&row, &feed, progress, error);
  feed_clear(&feed);
  if (right)
    row.duplex_per_s = duplex(&row);
  bench_progress_clear();
  if (right)
    pipeline_report_row(&row);
  g_clear_pointer(&row.stats, gst_structure_free);
  return right;
}

/* Runs all cases. Without a terminal, progress is a line per case. Returns the number of failures. */
static guint
run_cases(const GArray *cases)
{
  guint failures = 0;

  for (guint i = 0; i < cases->len; i++) {
    PipelineCase c = g_array_index(cases, PipelineCase, i);
    char *name = case_name(&c), *progress = g_strdup_printf("case %u of %u: %s", i + 1, cases->len, name);
    GError *error = NULL;

    if (quick) {
      c.width /= QUICK_SHRINK;
      c.height /= QUICK_SHRINK;
    }
    if (!isatty(STDERR_FILENO))
      fprintf(stderr, "%s\n", progress);
    if (!run_case(&c, progress, &error)) {
      failures++;
      fprintf(stderr, "pipeline-bench: %s\n", error->message);
      g_error_free(error);
    }
    g_free(progress);
    g_free(name);
  }
  return failures;
}

/* ---- the program ---- */

static int
run(GArray *cases, GError **error)
{
  guint failures;

  if (cases->len == 0) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "no case has '%s' in its line of --list", only);
    return EXIT_FAILURE;
  }
  if (!gst_registry_check_feature_version(gst_registry_get(), "cudaconvolve", 0, 0, 0)) {
    g_set_error_literal(error, GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN,
                        "there is no element cudaconvolve: set GST_PLUGIN_PATH to the directory of the plugin");
    return EXIT_FAILURE;
  }
  ring_source_register();
  skip_cases(cases);
  if (cases->len == 0)
    return SKIP;
  if (!pipeline_report_open(files, error)) {
    bench_table_close(NULL);
    return EXIT_FAILURE;
  }
  failures = run_cases(cases);
  if (!bench_table_close(error))
    return EXIT_FAILURE;
  if (failures > 0)
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "%u of %u cases failed, see above", failures,
                cases->len);
  return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static gboolean
parse_options(int *argc, char ***argv, GError **error)
{
  GOptionContext *context = g_option_context_new(NULL);
  gboolean right;

  g_option_context_set_summary(context,
                               "Times pipelines with nothing, identity and cudaconvolve in the filter's place.");
  g_option_context_add_main_entries(context, entries, NULL);
  g_option_context_add_group(context, gst_init_get_option_group());
  right = g_option_context_parse(context, argc, argv, error);
  g_option_context_free(context);
  return right;
}

int
main(int argc, char **argv)
{
  GError *error = NULL;
  GArray *cases = NULL;
  int status = EXIT_FAILURE;

  if (parse_options(&argc, &argv, &error)) {
    setlocale(LC_NUMERIC, "C");
    cases = make_cases();
    status = cases->len > 0 && list ? print_list(cases) : run(cases, &error);
    g_array_unref(cases);
  }
  if (error)
    fprintf(stderr, "pipeline-bench: %s\n", error->message);
  g_clear_error(&error);
  g_free(filter);
  g_free(only);
  g_strfreev(files);
  return status;
}
