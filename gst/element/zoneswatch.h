/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads the file of roi-location again when it changes, from start to stop, in a thread of its own that looks once a
 * second. Streaming threads notice a change like that of any other property.
 *
 * If a new version cannot be used, the last valid one stays in force. A WARNING is posted, and the statistics have
 * zones-error.
 */
#pragma once

#include "gstcudaconvolve-private.h"

void gst_cuda_convolve_zones_watch_init(GstCudaConvolve *self);
void gst_cuda_convolve_zones_watch_clear(GstCudaConvolve *self);

/* Reads the file again if it changed since it was read. Returns FALSE with the reason if the new version cannot be
 * used. Call before the start. */
gboolean gst_cuda_convolve_zones_refresh(GstCudaConvolve *self, GError **error);

/* Begins to watch the file, and those of later settings. */
void gst_cuda_convolve_zones_watch_start(GstCudaConvolve *self);
/* Ends the thread, and waits for it. */
void gst_cuda_convolve_zones_watch_stop(GstCudaConvolve *self);

/* Watches the file of a property that was just set. Any thread. */
void gst_cuda_convolve_zones_watch_update(GstCudaConvolve *self);
