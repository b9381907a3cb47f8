/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tests of the element with several frames in flight.
 */
#pragma once

#include <gst/check/gstcheck.h>

/* Adds the tests. backend: name of one that supports several frames in flight. */
void add_flight_tests(TCase *tcase, const char *backend);
