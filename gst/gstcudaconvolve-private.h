/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The element's instance, shared by its source files:
 *
 *   gstcudaconvolve.c   class, properties, state, messages, stats
 *   backend.c           which engine runs: opening, falling back
 *   negotiation.c       caps, memory kinds, allocation
 *   frames.c            a frame: plan, passthrough, mapping, engine
 *
 * Locks: the object lock covers what says so; all else belongs to the streaming thread (start and stop run when there
 * is none).
 */
#pragma once

#include <convolve/backend.h>
#include <gst/video/video.h>

#include "devicememory.h"
#include "gstcudaconvolve.h"
#include "properties.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN(gst_cuda_convolve_debug);
#define GST_CAT_DEFAULT gst_cuda_convolve_debug

struct _GstCudaConvolve {
  GstBaseTransform parent;

  /* Under the object lock. */
  GstCudaConvolveSettings settings;
  GHashTable *refused;   /* property name to message: its last value could not be, and is not in settings */
  GstObject *context;    /* GstCudaContext, or NULL */
  gboolean takes_device; /* with a session: CUDA memory can be negotiated */
  CnvPlan *plan;         /* of the last frame; NULL before the first caps. Written by the streaming thread alone */
  char *device_name;     /* the session's */
  CnvSessionStats stats; /* the session's, after the last frame */
  guint64 frames, dropped;

  CnvSession *session; /* from start to stop; the pointer also under the object lock */

  /* Since the last caps. */
  GstVideoInfo in_info, out_info;
  CnvImage image;
  gboolean same_memory, out_in_device; /* kinds of memory of the pads */
  gboolean out_takes_meta;             /* downstream reads GstVideoMeta */
  gboolean has_bad;                    /* the two below made no plan, which was reported */
  CnvFilter bad;
  CnvAlgorithm bad_algorithm;

  gboolean may_pass; /* this frame: identity goes through untouched */
};

/* Posts an error, warning or info message with the GError's text. doing: what was attempted, for the debug text. */
void gst_cuda_convolve_post(GstCudaConvolve *self, GstMessageType type, const GError *error, const char *doing);

/* backend.c. Both return FALSE with the reason where no engine could be opened; an automatic choice is announced. */
gboolean gst_cuda_convolve_open(GstCudaConvolve *self, const GstCudaConvolveSettings *settings, GError **error);
/* Replaces an engine that failed with error before it did a frame by the next in the list. FALSE where the user chose
 * the engine, it has done frames, or there is no next. */
gboolean gst_cuda_convolve_fall_back(GstCudaConvolve *self, const GError *error);
void gst_cuda_convolve_close(GstCudaConvolve *self);

/* negotiation.c */
GstCaps *gst_cuda_convolve_template_caps(gboolean with_device);
void gst_cuda_convolve_negotiation_class_init(GstBaseTransformClass *klass);

/* frames.c */
void gst_cuda_convolve_frames_class_init(GstBaseTransformClass *klass);
/* Settles the plan for new caps. Posts its errors. */
gboolean gst_cuda_convolve_set_format(GstCudaConvolve *self, const GstVideoInfo *in, const GstVideoInfo *out);
void gst_cuda_convolve_forget_plan(GstCudaConvolve *self);

G_END_DECLS
