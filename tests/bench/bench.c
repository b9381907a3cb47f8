/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * convolve-bench: each case of a table is first checked on a smaller frame. Then every backend and algorithm is timed
 * on the same frames, beside a copy of them and other libraries that are found. GPU frames are in device memory and
 * rotate through more of it than any L2 cache holds. The table goes to stdout, progress to stderr. A rival's column
 * "off" counts the samples that differ from ours by more than one.
 */
#include "plan/plan.h"
#include "bench/bench.h"
#include "bench/bench_table.h"
#include "support/filter.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SKIP 77
#define REPEATS 21
#define REPEATS_QUICK 3
#define WARM_US 20e3
#define ROTATING_BYTES 200e6 /* of device memory */
#define BUDGET_US 500e3
#define BUDGET_QUICK_US 5e3
#define BUDGET_PLOT_US 20e3
#define REPEATS_PLOT 11
#define PLOT_RIVAL_MAX_US 20e3 /* of a frame; larger radii of the rival are left out */
#define QUICK_SHRINK 20        /* divides width and height, and so the region */
#define QUICK_RADIUS_MAX 64
#define SLOWER_BY 1.05 /* least ratio to the fastest algorithm at which auto's choice is reported */

/* Most products per frame. With more, a frame takes some 20 ms on a GPU and seconds on the CPU, where the plain
 * reference takes ten times as long as the rest. */
#define GPU_PRODUCTS_MAX 3e10
#define RIVAL_PRODUCTS_MAX 2e11
#define CPU_PRODUCTS_MAX 3e9
#define CPU_NAIVE_MAX 2e8
#define QUICK_PRODUCTS_MAX 2e7
#define QUICK_NAIVE_MAX 2e6

static char *only_backend, *only_algorithm, *only_format, *only_filter, *only_region, *set_name;
static char **files;
static int repeats, only_radius = -1, only_frames;
static gboolean quick, list, plots; /* plots: --set plot */

static const GOptionEntry entries[] = {
    {"backend", 0, 0, G_OPTION_ARG_STRING, &only_backend, "Only that one, cuda or cpu", "NAME"},
    {"algorithm", 0, 0, G_OPTION_ARG_STRING, &only_algorithm, "Only that algorithm or rival, beside the copy", "NAME"},
    {"format", 0, 0, G_OPTION_ARG_STRING, &only_format, "Only cases of that format", "NAME"},
    {"filter", 0, 0, G_OPTION_ARG_STRING, &only_filter, "Only cases of that filter", "NAME"},
    {"radius", 0, 0, G_OPTION_ARG_INT, &only_radius, "Only cases of that radius", "N"},
    {"region", 0, 0, G_OPTION_ARG_STRING, &only_region,
     "Only cases of that region, as the table has it; 0: whole frames", "REGION"},
    {"frames", 0, 0, G_OPTION_ARG_INT, &only_frames, "Only cases of so many frames over time", "N"},
    {"set", 0, 0, G_OPTION_ARG_STRING, &set_name,
     "all (default), or plot: gaussians of whole frames by the fast algorithms, for plot.py; a minute on a GPU",
     "NAME"},
    {"list", 0, 0, G_OPTION_ARG_NONE, &list, "List cases, algorithms and rivals", NULL},
    {"output", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &files, "Write the table to FILE.csv or FILE.json, too", "FILE"},
    {"repeats", 0, 0, G_OPTION_ARG_INT, &repeats, "Repeats of each time (default 21; 11 with --set plot)", "N"},
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "Small frames and few repeats, to see that all works", NULL},
    {NULL},
};

static GArray *cases; /* of TestCase: the selected cases */
static GArray *rows;  /* of BenchRow */

static gboolean
is_wanted(const char *only, const char *name)
{
  return !only || g_str_equal(only, name);
}

/* Returns TRUE for plain gaussians, which have enough radii to draw. */
static gboolean
is_plotted(const TestCase *c)
{
  return c->filter->type == CNV_FILTER_GAUSSIAN && c->square == 0 && bench_case_frames(c) == 1 && c->width > 2000;
}

/* Returns TRUE for algorithms and rivals to time. --set plot leaves out the slowest, which the figure does not show. */
static gboolean
is_timed(const char *name)
{
  static const char *const plotted[] = {"tensor", "fused", "separable", NULL};

  return is_wanted(only_algorithm, name) && (!plots || g_strv_contains(plotted, name) || g_str_has_prefix(name, "npp"));
}

static gboolean
is_picked(const TestCase *c)
{
  g_autofree char *region = bench_case_region(c);

  return (!plots || is_plotted(c)) && (!quick || c->radius <= QUICK_RADIUS_MAX) && is_wanted(only_region, region) &&
         is_wanted(only_format, c->format) && is_wanted(only_filter, c->filter->name) &&
         (only_radius < 0 || only_radius == c->radius);
}

static void
pick_cases(void)
{
  cases = test_timed_cases();
  for (guint i = cases->len; i-- > 0;)
    if (!is_picked(&g_array_index(cases, TestCase, i)))
      g_array_remove_index(cases, i);
}

static gboolean
is_algorithm(const char *name)
{
  for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++)
    if (g_str_equal(nick->nick, name))
      return TRUE;
  return FALSE;
}

/* Returns FALSE if the name is neither an algorithm nor a rival. It would exclude everything without a message. */
static gboolean
algorithm_exists(void)
{
  if (!only_algorithm || is_algorithm(only_algorithm))
    return TRUE;
  for (guint i = 0; bench_rival_name(i); i++)
    if (g_str_equal(bench_rival_name(i), only_algorithm))
      return TRUE;
  return g_str_equal(only_algorithm, "copy");
}

/* Returns TRUE if no earlier rival has the same name. A rival has a row per format. */
static gboolean
is_first_of_name(guint rival)
{
  for (guint i = 0; i < rival; i++)
    if (g_str_equal(bench_rival_name(i), bench_rival_name(rival)))
      return FALSE;
  return TRUE;
}

static void
print_list(void)
{
  for (guint i = 0; i < cases->len; i++) {
    char *name = bench_case_name(&g_array_index(cases, TestCase, i));

    puts(name);
    g_free(name);
  }
  fputs("algorithms:", stdout);
  for (const CnvNick *nick = cnv_algorithm_nicks + 1; nick->nick; nick++)
    printf(" %s", nick->nick);
  fputs("\nrivals:", stdout);
  for (guint i = 0; bench_rival_name(i); i++)
    if (is_first_of_name(i))
      printf(" %s", bench_rival_name(i));
  putchar('\n');
}

static char *progress;  /* "case 1 of 9: ..." */
static GString *slower; /* a line for each case in which an algorithm is faster than auto's choice */
static guint n_judged;

static void
show_progress(const char *what)
{
  bench_progress("%s: %s", progress, what);
}

/* Begins a case, and shows progress. Without a terminal that is a line per case. */
static void
begin_case(guint i, const TestCase *c)
{
  char *name = bench_case_name(c);

  g_free(progress);
  progress = g_strdup_printf("case %u of %u: %s", i + 1, cases->len, name);
  if (!isatty(STDERR_FILENO))
    fprintf(stderr, "%s\n", progress);
  show_progress("checking");
  g_free(name);
}

static BenchEffort
effort(const BenchFrames *f)
{
  return (BenchEffort){.warm_us = quick || f->memory != CNV_MEMORY_DEVICE ? 0 : WARM_US,
                       .budget_us = quick                            ? BUDGET_QUICK_US
                                    : plots                          ? BUDGET_PLOT_US
                                    : f->memory == CNV_MEMORY_DEVICE ? BUDGET_US
                                                                     : 4 * BUDGET_US,
                       .repeats = repeats > 0 ? repeats
                                  : quick     ? REPEATS_QUICK
                                  : plots     ? REPEATS_PLOT
                                              : REPEATS};
}

/* The data of a case on one backend. */
typedef struct {
  const TestCase *timed_case; /* the case in the table */
  TestCase actual;
  BenchFrames frames;
  const char *region; /* bench_case_region of `actual` */
  double copy_us;     /* 0: not measured yet */
} Run;

static double
measure(Run *run, const BenchWay *way, const char *name, gint64 off)
{
  const CnvSession *session = run->frames.session;
  const BenchEffort how = effort(&run->frames);
  BenchRow row = {.timed_case = run->timed_case,
                  .width = run->actual.width,
                  .height = run->actual.height,
                  .region = run->region,
                  .backend = session->backend->name,
                  .device = session->device_name,
                  .name = name,
                  .bytes = 2 * run->frames.bytes,
                  .off = off};

  show_progress(name);
  row.time = bench_measure(&run->frames, way, &how);
  row.copy_us = run->copy_us > 0 ? run->copy_us : row.time.median;
  bench_progress_clear();
  bench_report_row(&row);
  g_array_append_val(rows, row);
  return row.time.median;
}

static double
products_max(const TestVariant *v)
{
  if (v->memory == CNV_MEMORY_DEVICE)
    return GPU_PRODUCTS_MAX;
  if (v->algorithm == CNV_ALGORITHM_NAIVE)
    return quick ? QUICK_NAIVE_MAX : CPU_NAIVE_MAX;
  return quick ? QUICK_PRODUCTS_MAX : CPU_PRODUCTS_MAX;
}

/* Times a copy, by a plan for single frames, because copies are no filter over time. */
static void
time_copy(Run *run, const CnvPlan *original)
{
  GError *error = NULL;
  CnvFilter filter;
  CnvPlan *plan;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_IDENTITY;
  plan = cnv_plan_new(&filter, &original->image, CNV_ALGORITHM_AUTO, original->backend, &error);
  if (!plan)
    g_error("%s", error->message);
  run->copy_us = measure(run, &(BenchWay){.plan = plan, .copy = TRUE}, "copy", -1);
  cnv_plan_unref(plan);
}

/* Times a plan. Before the first plan of a case, times the copy. */
static void
time_plan(Run *run, CnvPlan *plan, const char *name)
{
  const BenchWay filtered = {.plan = plan}, in_place = {.plan = plan, .in_place = TRUE};
  g_autofree char *name_in_place = g_strdup_printf("%s in place", name);
  gboolean wanted = is_timed(name) && (only_frames == 0 || only_frames == plan->n_temporal_taps);
  CnvSession *session = run->frames.session;
  GError *error = NULL;

  if (run->copy_us == 0)
    time_copy(run, plan);
  if (!bench_frames_fill_history(&run->frames, plan, &error))
    g_error("%s", error->message);
  if (wanted)
    measure(run, &filtered, name, -1);
  if (wanted && bench_frames_can_in_place(&run->frames, plan))
    measure(run, &in_place, name_in_place, -1);
  cnv_session_history_alloc(session, &plan->image, 0, NULL);
}

/* Returns TRUE if, with --set plot, a rival took more than PLOT_RIVAL_MAX_US at a smaller radius in the same format:
 * npp-gauss takes 7 s per frame at radius 512. */
static gboolean
is_too_slow(const Run *run, const char *rival)
{
  for (guint i = 0; i < rows->len && plots; i++) {
    const BenchRow *row = &g_array_index(rows, BenchRow, i);

    if (g_str_equal(row->name, rival) && g_str_equal(row->timed_case->format, run->timed_case->format) &&
        row->time.median > PLOT_RIVAL_MAX_US)
      return TRUE;
  }
  return FALSE;
}

static void
time_rival(Run *run, CnvPlan *plan, guint i)
{
  BenchRival *rival = is_too_slow(run, bench_rival_name(i)) ? NULL : bench_rival_new(i, plan, &run->frames.in);
  const BenchWay way = {.plan = plan, .rival = rival};
  const TestRun *pair = run->frames.pair;
  GError *error = NULL;

  if (!rival)
    return;
  if (bench_rival_run(rival, &pair->from, &pair->to, &error)) {
    measure(run, &way, bench_rival_name(i), bench_compare(&run->frames, plan, rival));
  } else {
    bench_progress_clear();
    fprintf(stderr, "left out: %s\n", error->message);
    g_error_free(error);
  }
  bench_rival_free(rival);
}

/* Times the rivals. They are compared with naive, whose plan has all taps in one term, or if that takes too long with
 * separable. */
static void
time_rivals(Run *run)
{
  const CnvBackend *backend = run->frames.session->backend;
  CnvPlan *plan = bench_case_plan(&run->actual, backend, CNV_ALGORITHM_NAIVE, RIVAL_PRODUCTS_MAX);

  if (!plan)
    plan = bench_case_plan(&run->actual, backend, CNV_ALGORITHM_SEPARABLE, G_MAXDOUBLE);

  for (guint i = 0; plan && run->timed_case->square == 0 && bench_rival_name(i); i++)
    if (is_timed(bench_rival_name(i)))
      time_rival(run, plan, i);
  cnv_plan_unref(plan);
}

/* Returns the fastest row of an algorithm, from row `first` on. name: only that algorithm; NULL: any. Returns NULL if
 * there is none. */
static const BenchRow *
find_row(guint first, const char *name)
{
  const BenchRow *found = NULL;

  for (guint i = first; i < rows->len; i++) {
    const BenchRow *row = &g_array_index(rows, BenchRow, i);

    if (is_algorithm(row->name) && (!name || g_str_equal(row->name, name)) &&
        (!found || row->time.median < found->time.median))
      found = row;
  }
  return found;
}

/* Compares auto's choice with the fastest algorithm that was timed. */
static void
judge_auto(const Run *run, guint first)
{
  CnvPlan *plan = bench_case_plan(&run->actual, run->frames.session->backend, CNV_ALGORITHM_AUTO, G_MAXDOUBLE);
  const BenchRow *own = find_row(first, cnv_algorithm_nicks[plan->plane[0].algorithm].nick);
  const BenchRow *best = find_row(first, NULL);

  cnv_plan_unref(plan);
  if (!own)
    return;
  n_judged++;
  if (own->time.median <= best->time.median * SLOWER_BY)
    return;
  char *name = bench_case_name(run->timed_case);

  g_string_append_printf(slower, "  %s, %s: auto takes %s, %.1f us; %s takes %.1f\n", own->backend, name, own->name,
                         own->time.median, best->name, best->time.median);
  g_free(name);
}

/* Times a case on a backend. first: the backend's variant that has the memory to time it in. */
static void
time_case(const TestCase *c, const TestVariant *first)
{
  Run run = {.timed_case = c, .actual = *c};
  const guint first_row = rows->len;
  g_autofree char *region = NULL;

  if (quick) {
    run.actual.width /= QUICK_SHRINK;
    run.actual.height /= QUICK_SHRINK;
    run.actual.square /= QUICK_SHRINK;
  }
  region = bench_case_region(&run.actual);
  run.region = g_intern_string(region);
  bench_frames_init(&run.frames, &run.actual, first->session, first->memory, quick ? 0 : ROTATING_BYTES);
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);
    CnvPlan *plan = v->backend == first->backend && v->memory == first->memory
                        ? bench_case_plan(&run.actual, v->backend, v->algorithm, products_max(v))
                        : NULL;

    if (plan)
      time_plan(&run, plan, cnv_algorithm_nicks[v->algorithm].nick);
    cnv_plan_unref(plan);
  }
  if (first->memory == CNV_MEMORY_DEVICE && run.copy_us > 0)
    time_rivals(&run);
  judge_auto(&run, first_row);
  bench_frames_clear(&run.frames);
}

/* Returns TRUE for one variant per backend, with the memory in which the backend is timed. */
static gboolean
stands_for_backend(const TestVariant *v)
{
  return v->algorithm == CNV_ALGORITHM_NAIVE &&
         v->memory == (v->backend->takes_device_memory ? CNV_MEMORY_DEVICE : CNV_MEMORY_HOST);
}

/* Checks and times a case. Returns the number of failures; a wrong case is not timed. */
static guint
run_case(const TestCase *c)
{
  const guint failures = bench_case_check(c);

  for (guint i = 0; i < test_variants->len && failures == 0; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (stands_for_backend(v))
      time_case(c, v);
  }
  return failures;
}

static guint
run_cases(void)
{
  guint failures = 0;

  for (guint i = 0; i < cases->len; i++) {
    const TestCase *c = &g_array_index(cases, TestCase, i);

    begin_case(i, c);
    failures += run_case(c);
  }
  bench_progress_clear();
  g_clear_pointer(&progress, g_free);
  return failures;
}

static void
open_rivals(void)
{
  for (guint i = 0; i < test_variants->len; i++) {
    const TestVariant *v = &g_array_index(test_variants, TestVariant, i);

    if (stands_for_backend(v) && v->memory == CNV_MEMORY_DEVICE)
      bench_rivals_open(v->session);
  }
}

/* Runs all cases. Sessions must be open. Returns FALSE with the reason if a case is wrong or a file could not be
 * written. */
static gboolean
run_all(GError **error)
{
  guint failures;
  gboolean right = bench_report_open(files, error);

  rows = g_array_new(FALSE, FALSE, sizeof(BenchRow));
  slower = g_string_new(NULL);
  if (right) {
    open_rivals();
    failures = run_cases();
    if (failures > 0)
      g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%u mismatches, see above; those cases were not timed",
                  failures);
    right = failures == 0;
  }
  right = bench_table_close(right ? error : NULL) && right;
  if (n_judged > 0 && !only_algorithm)
    printf("auto takes the fastest algorithm, or one within %.0f %%, in %s\n%s", 100 * (SLOWER_BY - 1),
           slower->len > 0 ? "all cases but these:" : "all cases", slower->str);
  g_string_free(slower, TRUE);
  bench_rivals_close();
  g_array_free(rows, TRUE);
  return right;
}

static int
run(void)
{
  GError *error = NULL;

  test_options.seed = 20240607;
  test_options.extent = TEST_NORMAL;
  test_options.backend = only_backend;
  if (!test_variants_open()) {
    puts("SKIPPED: no such backend is here");
    return SKIP;
  }
  if (!run_all(&error))
    fprintf(stderr, "convolve-bench: %s\n", error->message);
  test_variants_close();
  if (!error)
    return EXIT_SUCCESS;
  g_error_free(error);
  return EXIT_FAILURE;
}

static gboolean
parse(int *argc, char ***argv, GError **error)
{
  GOptionContext *context = g_option_context_new(NULL);
  gboolean right;

  g_option_context_set_summary(context, "Times cudaconvolve's engines, and what else is here, over a table of cases.");
  g_option_context_add_main_entries(context, entries, NULL);
  right = g_option_context_parse(context, argc, argv, error);
  g_option_context_free(context);
  if (!right)
    return FALSE;
  plots = set_name && g_str_equal(set_name, "plot");
  if (set_name && !plots && !g_str_equal(set_name, "all")) {
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, "there is no set %s: all or plot", set_name);
    return FALSE;
  }
  pick_cases();
  if (cases->len > 0 && algorithm_exists())
    return TRUE;
  g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
              "no case has that format and filter, or nothing has that algorithm: see --list");
  return FALSE;
}

int
main(int argc, char **argv)
{
  GError *error = NULL;
  int status = EXIT_SUCCESS;

  setlocale(LC_NUMERIC, "C");
  if (!parse(&argc, &argv, &error)) {
    fprintf(stderr, "convolve-bench: %s\n", error->message);
    g_error_free(error);
    status = EXIT_FAILURE;
  } else if (list) {
    print_list();
  } else {
    status = run();
  }
  if (cases)
    g_array_unref(cases);
  g_free(only_backend);
  g_free(only_algorithm);
  g_free(only_format);
  g_free(only_region);
  g_free(only_filter);
  g_free(set_name);
  g_strfreev(files);
  return status;
}
