/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main function's work of a test program that needs no GStreamer pipeline.
 */
#pragma once

#include <gst/check/gstcheck.h>

/* Runs the suite, with CK_FORK as the environment has it, and returns the process's exit status. */
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
