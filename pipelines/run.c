/* You should see frames and frames/s each second, readable messages, and at the end the device that ran the filter.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs video and sound through cudaconvolve: see media.h.
 */
#include "media.h"

int
main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  return media_main(argc, argv, FALSE, NULL, NULL, NULL);
}
