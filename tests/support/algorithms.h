/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which algorithms run a test filter on a format, which refuse it, and what auto takes: the table that
 * tests/unit/algorithms.c holds the engines against, and by which cases.c knows a refusal that should not be.
 */
#pragma once

#include "support/cases.h"

/* Columns of a kind of verdict: GPUs of compute capability 8.0 and newer by border, older GPUs, the CPU. */
typedef enum {
  TEST_GPU,
  TEST_GPU_WRAP,
  TEST_GPU_RENORMALIZE,
  TEST_OLDER_GPU,
  TEST_CPU,
  TEST_N_MACHINES,
} TestMachine;

/* A letter for each algorithm from naive to tensor (M, for matrices) and mosaic (C, for cells) where it runs, a dot
 * where it refuses; then what auto takes, for the planes in their order, each algorithm once. Or "settings": no plan is
 * made at all. */
typedef struct {
  char letter; /* in TestAlgorithmRow */
  const char *verdict[TEST_N_MACHINES];
} TestAlgorithmKind;

typedef struct {
  const char *filters; /* names of rows of test_filters */
  int from, to;        /* radius, where the filter takes the case's; else 0 */
  const char *kinds;   /* a letter for each column of formats, blanks aside */
} TestAlgorithmRow;

extern const TestAlgorithmKind test_algorithm_kinds[]; /* ends with a letter of 0 */
extern const TestAlgorithmRow test_algorithm_rows[];   /* ends with NULL filters */
extern const char *const test_algorithm_columns[];     /* formats, with ":filter" or ":premultiply"; ends with NULL */
extern const char test_algorithm_letters[];            /* by CnvAlgorithm */

/* The column of a format with an alpha mode, or -1. */
int test_algorithm_column(const CnvFormat *format, CnvAlphaMode alpha_mode);

/* The verdict's kind; NULL where the table has no such filter and radius. */
const TestAlgorithmKind *test_algorithm_kind(const TestFilter *filter, int radius, const CnvFormat *format,
                                             CnvAlphaMode alpha_mode);

/* The letter of an algorithm that runs the case, a dot where it refuses, 0 where the table has no such case. Of a GPU
 * that is older than 8.0 it does not know, and of tensor on frames smaller than many taps. */
char test_algorithm_verdict(const TestCase *c, const CnvBackend *backend, CnvAlgorithm algorithm);

/* TRUE where the filter takes its radius from the case. */
gboolean test_filter_takes_radius(const TestFilter *filter);

gboolean test_format_has_alpha(const CnvFormat *format);
