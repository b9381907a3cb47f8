/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The benchmark of the kernels binary.
 */
#pragma once

/* Checks and times every backend and algorithm over a table of cases, prints it, and writes it as CSV to output (NULL:
 * nowhere). Returns the process's exit status. */
int test_bench(const char *output);
