/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settable properties: a table of them, and the plain value that they set. A property of a number, boolean or enum
 * is one row of the table in properties.c.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/gst.h>

#include "regions.h"

G_BEGIN_DECLS

/* What the user asked for. Copied and cleared by the functions below, since the filter holds references. */
typedef struct {
  CnvFilter filter;
  char *kernel_location; /* of the file that filter.kernel was read from; NULL: it was not */
  GstCudaConvolveRoi roi;
  int backend;   /* of the enum; see gst_cuda_convolve_backend_name */
  int device;    /* CUDA ordinal, -1 the first or the one that the pipeline shares */
  int algorithm; /* CnvAlgorithm */
  guint n_threads;
  guint frames_in_flight; /* 0..CNV_FLIGHTS_MAX, 0 auto */
  gboolean disable_passthrough;
  int temporal_border;      /* CnvTemporalBorder */
  double scene_change;      /* mean absolute difference of luma, fraction of full scale; 0 looks for no cuts */
  gboolean drain_on_change; /* of the filter */
} GstCudaConvolveSettings;

void gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings);
void gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from);
void gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings);

/* Installs them all, with the defaults of gst_cuda_convolve_settings_init. Returns the first free property id. */
guint gst_cuda_convolve_properties_install(GObjectClass *klass);

/* id: one of those installed. Puts the value into settings of its own, that were initialised; a file is read then.
 * Returns FALSE with the reason where the value cannot be: kernels, files and rectangles have more to check than their
 * GParamSpec does. */
gboolean gst_cuda_convolve_property_read(GstCudaConvolveSettings *settings, guint id, const GValue *value,
                                         GError **error);
/* Exchanges that property between two settings. */
void gst_cuda_convolve_property_swap(GstCudaConvolveSettings *a, GstCudaConvolveSettings *b, guint id);
void gst_cuda_convolve_property_get(const GstCudaConvolveSettings *settings, guint id, GValue *value);

/* The same for two properties of which the one that is set last counts. */
gsize gst_cuda_convolve_property_slot(guint id);

/* Name of the engine that a value of the backend property stands for, NULL for auto. */
const char *gst_cuda_convolve_backend_name(int value);

G_END_DECLS
