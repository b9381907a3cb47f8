/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A demo: frames that show something, and a wipe that moves over them.
 */
#pragma once

#include <gst/gst.h>

/* Draws the town into all frames that leave the pad, which are NV12. */
void demo_paint_town(GstPad *pad);

/* Has the element filter only what is right of a line that moves, and draws that line. */
void demo_add_wipe(GstElement *filter);
