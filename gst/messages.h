/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's messages on the bus, and its log category.
 */
#pragma once

#include <gst/gst.h>

GST_DEBUG_CATEGORY_EXTERN(gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

/* Posts an error, warning or info message with the GError's text, and frees the GError. doing: the action that failed,
 * for the debug text. */
void gst_cuda_convolve_post(GstElement *element, GstMessageType type, GError *error, const char *doing);

/* Posts a warning about the settings once: not if the pointer `format`, a constant, is in the set `posted`. Adds it. */
void gst_cuda_convolve_warn_once(GstElement *element, GHashTable *posted, const char *format, ...) G_GNUC_PRINTF(3, 4);
