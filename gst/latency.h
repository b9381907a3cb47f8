/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The latency that frames which wait for others add, and the position of the last frame that came out.
 */
#pragma once

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Under the element's object lock. */
typedef struct {
  GstClockTime latency;    /* as reported; like what follows written by the streaming thread alone */
  GstClockTime frame_time; /* 0: unknown */
  GstClockTime position;   /* end of the last frame, as its segment counts time; NONE: no frame yet */
} GstCudaConvolveLatency;

/* The frame time of new caps. */
void gst_cuda_convolve_latency_set_rate(GstCudaConvolveLatency *self, const GstVideoInfo *info);

/* Without a rate in the caps the longest duration is the frame time: live sinks drop what comes later than was said.
 */
void gst_cuda_convolve_latency_learn(GstCudaConvolveLatency *self, const GstVideoInfo *info, GstBuffer *buffer);

/* Reports the latency of so many frames, if it is another than before. */
void gst_cuda_convolve_latency_update(GstCudaConvolveLatency *self, GstElement *element, guint n_frames);

/* With the object lock. */
void gst_cuda_convolve_latency_set_position(GstCudaConvolveLatency *self, GstBuffer *buffer);

/* TRUE if it is answered. */
gboolean gst_cuda_convolve_latency_query(GstCudaConvolveLatency *self, GstPad *sink_pad, GstQuery *query);
gboolean gst_cuda_convolve_latency_query_position(GstCudaConvolveLatency *self, GstElement *element,
                                                  const GstSegment *segment, GstQuery *query);

G_END_DECLS
