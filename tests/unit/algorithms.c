/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Checks which algorithm runs and which is rejected, for every filter, format and border, against a table, and what
 * auto chooses. Needs no GPU: plans are made for GPUs of a given compute capability.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "support/algorithms.h"
#ifdef HAVE_CUDA
#include "gpu/choice.h"
#endif
#include "support/suite.h"

#define WIDTH 600
#define HEIGHT 24
#define SEED 20240607

TestOptions test_options;

typedef struct {
  CnvBackend backend;
  TestMachine machine;
  CnvBorder from, to; /* range of borders with the same verdicts */
} Machine;

static Machine machines[TEST_N_MACHINES];
static guint n_machines;
static guint turn;
static gboolean all_borders;

#ifdef HAVE_CUDA
#define CAPABILITY 80
#define OLDER_CAPABILITY 75

static gboolean
can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  return cnv_cuda_can_at(CAPABILITY, algorithm, plan, plane, error);
}

static CnvAlgorithm
choose(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_cuda_choose_at(CAPABILITY, plan, plane);
}

static gboolean
older_can(CnvAlgorithm algorithm, const CnvPlan *plan, const CnvPlane *plane, GError **error)
{
  return cnv_cuda_can_at(OLDER_CAPABILITY, algorithm, plan, plane, error);
}

static CnvAlgorithm
older_choose(const CnvPlan *plan, const CnvPlane *plane)
{
  return cnv_cuda_choose_at(OLDER_CAPABILITY, plan, plane);
}

static void
add_gpus(void)
{
  Machine gpu = {*cnv_backend_find("cuda"), TEST_GPU, CNV_BORDER_CONSTANT, CNV_BORDER_REFLECT_101}, older;

  older = gpu;
  older.machine = TEST_OLDER_GPU;
  older.to = CNV_BORDER_RENORMALIZE;
  older.backend.can = older_can;
  older.backend.choose = older_choose;
  gpu.backend.can = can;
  gpu.backend.choose = choose;
  machines[n_machines++] = gpu;
  for (CnvBorder border = CNV_BORDER_WRAP; border <= CNV_BORDER_RENORMALIZE; border++) {
    gpu.machine++;
    gpu.from = gpu.to = border;
    machines[n_machines++] = gpu;
  }
  machines[n_machines++] = older;
}
#endif

static void
list_machines(void)
{
#ifdef HAVE_CUDA
  add_gpus();
#endif
  machines[n_machines++] = (Machine){*cnv_backend_find("cpu"), TEST_CPU, CNV_BORDER_CONSTANT, CNV_BORDER_RENORMALIZE};
}

/* Appends the algorithms that auto chose, each once. */
static void
add_choice(const CnvPlan *plan, char *verdict)
{
  char *choice = verdict + strlen(verdict);

  for (int p = 0; p < plan->n_planes; p++) {
    const char letter = test_algorithm_letters[plan->plane[p].algorithm];

    if (plan->plane[p].filtered && !strchr(choice, letter))
      choice[strlen(choice)] = letter;
  }
}

/* Appends the verdict, in the words of the table. */
static void
judge(const CnvFilter *filter, const CnvImage *image, const CnvBackend *backend, char verdict[16])
{
  memset(verdict, 0, 16);
  for (int i = 0; i <= CNV_ALGORITHM_MOSAIC; i++) {
    const CnvAlgorithm algorithm = (CnvAlgorithm)(i + 1) % (CNV_ALGORITHM_MOSAIC + 1); /* auto last */
    GError *error = NULL;
    CnvPlan *plan = cnv_plan_new(filter, image, algorithm, backend, &error);

    if (!plan && error->code == CNV_ERROR_SETTINGS) {
      strcpy(verdict, "settings");
      g_error_free(error);
      return;
    }
    ck_assert_msg(plan || error->code == CNV_ERROR_UNSUPPORTED, "%s", plan ? "" : error->message);
    if (algorithm == CNV_ALGORITHM_AUTO)
      strcat(verdict, " ");
    else
      verdict[i] = plan ? test_algorithm_letters[algorithm] : '.';
    if (plan && algorithm == CNV_ALGORITHM_AUTO)
      add_choice(plan, verdict);
    cnv_plan_unref(plan);
    g_clear_error(&error);
  }
}

static const char *
expected_verdict(const TestFilter *row, int radius, const CnvFormat *format, CnvAlphaMode alpha_mode, TestMachine m)
{
  const TestAlgorithmKind *kind = test_algorithm_kind(row, radius, format, alpha_mode);

  return kind ? kind->verdict[m] : "nothing";
}

/* Compares with the table, and stores the result in `found`; the last format of a column and the last border remain
 * there. For each machine a check uses one border, in turn, unless all are requested. */
static guint
check_format(const TestFilter *row, int radius, const CnvFormat *format, CnvAlphaMode alpha_mode,
             char found[TEST_N_MACHINES][16])
{
  const TestCase c = {.format = format->name, .width = WIDTH, .height = HEIGHT};
  CnvFilter filter;
  CnvImage image;
  guint bad = 0;

  turn++;
  test_image_make(&c, &image);
  test_filter_make(row, radius, SEED, &filter);
  filter.alpha_mode = alpha_mode;
  for (guint m = 0; m < n_machines; m++)
    for (CnvBorder border = machines[m].from; border <= machines[m].to; border++) {
      const TestMachine machine = machines[m].machine;
      const char *expected = expected_verdict(row, radius, format, alpha_mode, machine);

      if (!all_borders && (border + turn) % (machines[m].to - machines[m].from + 1) != 0)
        continue;
      filter.border = border;
      judge(&filter, &image, &machines[m].backend, found[machine]);
      if (strcmp(found[machine], expected) == 0)
        continue;
      printf("MISMATCH %s radius %d, %s alpha %s, border %s, %s%s: \"%s\", the table has \"%s\"\n", row->name, radius,
             format->name, cnv_alpha_mode_nicks[alpha_mode].nick, cnv_border_nicks[border].nick,
             machines[m].backend.name, machine == TEST_OLDER_GPU ? " before 8.0" : "", found[machine], expected);
      bad++;
    }
  cnv_filter_clear(&filter);
  return bad;
}

/* Returns the letter of a result, or '?' with a kind that the table lacks. */
static char
letter_of(char found[TEST_N_MACHINES][16])
{
  const TestAlgorithmKind *kind = test_algorithm_kinds;

  for (; kind->letter; kind++) {
    gboolean same = TRUE;

    for (guint m = 0; m < n_machines; m++)
      same &= strcmp(found[machines[m].machine], kind->verdict[machines[m].machine]) == 0;
    if (same)
      return kind->letter;
  }
  printf("    {'?', {\"%s\", \"%s\", \"%s\", \"%s\", \"%s\"}},\n", found[0], found[1], found[2], found[3], found[4]);
  return '?';
}

/* Prints a row in the layout of the table. */
static void
print_row(const TestFilter *row, int radius, char found[][TEST_N_MACHINES][16], guint n)
{
  GString *kinds = g_string_new(NULL);
  const char *blanks = test_algorithm_rows[0].kinds;

  for (guint i = 0; i < n; blanks++) {
    const char letter = *blanks == ' ' ? ' ' : letter_of(found[i]);

    g_string_append_c(kinds, letter);
    i += *blanks != ' ';
  }
  if (!test_filter_takes_radius(row))
    radius = 0;
  printf("    {\"%s\", %d, %d, \"%s\"},\n", row->name, radius, radius, kinds->str);
  g_string_free(kinds, TRUE);
}

static guint
check_filter(const TestFilter *row, int radius)
{
  const guint n = g_strv_length((char **)test_algorithm_columns);
  char(*found)[TEST_N_MACHINES][16] = g_malloc0(n * sizeof *found);
  guint bad = 0;

  for (const CnvFormat *format = cnv_formats; format->name; format++)
    for (CnvAlphaMode alpha = CNV_ALPHA_COPY; alpha <= CNV_ALPHA_PREMULTIPLY; alpha++) {
      const int column = test_algorithm_column(format, alpha);

      if (alpha != CNV_ALPHA_COPY && !test_format_has_alpha(format))
        continue;
      ck_assert_msg(column >= 0, "%s with alpha %s is in no column", format->name, cnv_alpha_mode_nicks[alpha].nick);
      bad += check_format(row, radius, format, alpha, found[column]);
    }
  if (bad)
    print_row(row, radius, found, n);
  g_free(found);
  return bad;
}

START_TEST(test_table)
{
  const TestAlgorithmRow *row = &test_algorithm_rows[_i];
  g_auto(GStrv) names = g_strsplit(row->filters, " ", -1);
  guint bad = 0;

  turn = _i;
  for (int i = 0; names[i]; i++) {
    const TestFilter *filter = test_filter_find(names[i]);
    const gboolean takes = test_filter_takes_radius(filter);

    ck_assert_msg(takes == (row->from || row->to || row == test_algorithm_rows), "row %d, %s: the radius", _i,
                  names[i]);
    bad += check_filter(filter, row->from);
    if (row->to > row->from)
      bad += check_filter(filter, row->to);
  }
  fflush(stdout);
  ck_assert_msg(bad == 0, "row %d: %u verdicts are not those of the table, see above", _i, bad);
}
END_TEST

START_TEST(test_complete)
{
  for (const TestFilter *row = test_filters; row->name; row++)
    ck_assert_msg(test_algorithm_kind(row, 3, cnv_format_find("GRAY8"), CNV_ALPHA_COPY) != NULL,
                  "filter %s is in no row with radius 3", row->name);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  int n = 0;

  while (test_algorithm_rows[n].filters)
    n++;
  tcase_add_loop_test(tcase, test_table, 0, n);
  tcase_add_test(tcase, test_complete);
}

/* --all: check every border. */
int
main(int argc, char **argv)
{
  all_borders = argc > 1 && g_str_equal(argv[1], "--all");
  list_machines();
  return test_main("algorithms", add_tests);
}
