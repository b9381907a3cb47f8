/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The main function of a test program.
 */
#pragma once

#include <pthread.h>

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

/* Runs the suite in this process, whatever the environment says, because a CUDA context does not survive a fork. */
static inline int
test_suite_run_in_process(Suite *suite)
{
  g_setenv("CK_FORK", "no", TRUE);
  return test_suite_run(suite);
}

/* Runs a suite with one test case. */
static inline int
test_main(const char *name, void (*add_tests)(TCase *tcase))
{
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);

  suite_add_tcase(suite, tcase);
  add_tests(tcase);
  return test_suite_run(suite);
}

/* Sanitizers make stack frames larger. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_SMALL_STACK (2 << 20)
#else
#define TEST_SMALL_STACK (128 << 10)
#endif

typedef struct {
  const char *name;
  void (*add_tests)(TCase *tcase);
  int status;
} TestMainCall;

static inline gpointer
test_main_call(gpointer data)
{
  TestMainCall *call = data;

  call->status = test_main(call->name, call->add_tests);
  return NULL;
}

/* Runs a suite like test_main, but on a thread with a stack of 128 KiB, as in some programs. Processes that it forks
 * have the same stack. */
static inline int
test_main_on_small_stack(const char *name, void (*add_tests)(TCase *tcase))
{
#ifdef __SANITIZE_ADDRESS__ /* it reports memory of the thread as leaks of the forked processes */
  return test_main(name, add_tests);
#else
  TestMainCall call = {name, add_tests, 1};
  pthread_attr_t attributes;
  pthread_t thread;

  if (pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, TEST_SMALL_STACK) == 0 &&
      pthread_create(&thread, &attributes, test_main_call, &call) == 0)
    pthread_join(thread, NULL);
  return call.status;
#endif
}
