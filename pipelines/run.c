/* You should see frames and frames/s each second, messages in plain words, and at the end what ran where.
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
