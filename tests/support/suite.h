/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main function of a test program.
 */
#pragma once

#include <gst/check/gstcheck.h>

/* Runs the suite and returns the process's exit status. CK_FORK in the environment says whether each test forks. */
static inline int
test_suite_run(Suite *suite)
{
  SRunner *runner = srunner_create(suite);
  int failed;

  srunner_run_all(runner, CK_NORMAL);
  failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed ? 1 : 0;
}

/* In this process, whatever the environment has: a CUDA context does not survive a fork. */
static inline int
test_suite_run_in_process(Suite *suite)
{
  g_setenv("CK_FORK", "no", TRUE);
  return test_suite_run(suite);
}

/* Runs a suite of one case of tests. */
static inline int
test_main(const char *name, void (*add_tests)(TCase *tcase))
{
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);

  suite_add_tcase(suite, tcase);
  add_tests(tcase);
  return test_suite_run(suite);
}
