/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Limits the memory of a test's process, to test what happens if it is short.
 */
#pragma once

#include <glib.h>
#include <sys/resource.h>
#include <unistd.h>

/* AddressSanitizer and ThreadSanitizer need terabytes of address space. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_LIMIT_MEMORY
#endif

#define ALL_MEMORY RLIM_INFINITY

/* Limits the process's address space to its present size plus `more` bytes. ALL_MEMORY removes the limit. Returns FALSE
 * if that is not possible. */
static inline gboolean
limit_memory(rlim_t more)
{
  struct rlimit limit;
  g_autofree char *text = NULL;

  if (getrlimit(RLIMIT_AS, &limit) != 0 || !g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
    return FALSE;
  limit.rlim_cur = more == ALL_MEMORY ? limit.rlim_max
                                      : (rlim_t)g_ascii_strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE) + more;
  return setrlimit(RLIMIT_AS, &limit) == 0;
}
