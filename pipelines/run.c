/* You should see frames and frames/s each second, messages in plain words, and at the end what ran where.
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a pipeline with cudaconvolve in it:  run ELEMENT ! ELEMENT ...  as for gst-launch-1.0.
 * Exit status: 0 at the end of the stream, 1 on an error or where no frame came through, 2 where nothing could start.
 */
#include "play.h"

int
main(int argc, char **argv)
{
  g_autoptr(GstElement) pipeline = NULL;

  gst_init(&argc, &argv);
  pipeline = play_parse((const char **)argv + 1);
  return pipeline ? play(pipeline) : 2;
}
