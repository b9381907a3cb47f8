/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element with several frames in flight, without a GPU. This program has the element and a CPU engine that claims
 * to support as many frames in flight as a GPU. Its frames are done when they are submitted. The element decides what
 * waits, and in which order everything comes out.
 */
#include <stdlib.h>

#include <convolve/backend.h>
#include <gst/gst.h>

#include "element/flights.h"
#include "gstcudaconvolve-private.h"
#include "support/suite.h"

extern const CnvBackend cnv_backend_cpu;

static CnvBackend cpu_in_flight;

/* The list of engines, which replaces backends.c. */
const CnvBackend *const cnv_backends[] = {&cpu_in_flight, NULL};

static CnvSession *
open_in_flight(const CnvSessionOptions *options, GError **error)
{
  CnvSession *session = cnv_backend_cpu.open(options, error);

  if (session)
    session->backend = &cpu_in_flight;
  return session;
}

static void
add_tests(TCase *tcase)
{
  tcase_set_timeout(tcase, 300);
  add_flight_tests(tcase, "cpu");
}

int
main(int argc, char **argv)
{
  cpu_in_flight = cnv_backend_cpu;
  cpu_in_flight.max_in_flight = CNV_IN_FLIGHT_MAX;
  cpu_in_flight.open = open_in_flight;
  gst_check_init(&argc, &argv);
  if (!GST_ELEMENT_REGISTER(cudaconvolve, NULL))
    return EXIT_FAILURE;
  return test_main("flights", add_tests);
}
