/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A demo: frames that show something, and a wipe that moves over them.
 */
#pragma once

#include <gst/gst.h>

/* Draws into all frames that leave the pad, which are NV12: a view that moves over a picture file or, where that is
 * NULL, the town. Returns FALSE, with the reason on stderr, where the picture cannot be read. */
gboolean demo_paint(GstPad *pad, const char *picture);

/* Has the element filter only what is right of a line that moves, and draws that line. */
void demo_add_wipe(GstElement *filter);
