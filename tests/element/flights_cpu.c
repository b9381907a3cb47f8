/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element with several frames in flight where there is no GPU: this program holds the element and a CPU engine that
 * says of itself that it has as many as a GPU's. Its frames are done when they are submitted; what waits, and in which
 * order all comes out, is the element's doing.
 */
#include <stdlib.h>

#include <gst/gst.h>

#include "element/flights.h"
#include "gstcudaconvolve.h"
#include "support/suite.h"

static void
add_tests(TCase *tcase)
{
  tcase_set_timeout(tcase, 300);
  add_flight_tests(tcase, "cpu");
}

int
main(int argc, char **argv)
{
  gst_check_init(&argc, &argv);
  if (!GST_ELEMENT_REGISTER(cudaconvolve, NULL))
    return EXIT_FAILURE;
  return test_main("flights", add_tests);
}
