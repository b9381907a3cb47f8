/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A demo: drawn frames, and a wipe that moves over them.
 */
#pragma once

#include <gst/gst.h>

/* Draws into all frames that leave the pad, which are NV12: a view that moves over a picture file, or over the town if
 * picture is NULL. Returns FALSE, with the reason on stderr, if the picture cannot be read. */
gboolean demo_paint(GstPad *pad, const char *picture);

/* Makes the element filter only the part to the right of a moving line, and draws that line. */
void demo_add_wipe(GstElement *filter);
