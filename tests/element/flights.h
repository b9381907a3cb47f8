/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Tests of the element with several frames in flight.
 */
#pragma once

#include <gst/check/gstcheck.h>

/* backend: of the element, one that has them. */
void add_flight_tests(TCase *tcase, const char *backend);
