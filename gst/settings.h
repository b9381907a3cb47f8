/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settable properties as one plain value. A row of the table in settings.c is all that a property needs: default,
 * range, description, comparison and copy follow from it.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/gst.h>

#include "roi.h"

/* Copied and cleared by the functions below, since some members are references. The order is that of the parts. */
typedef struct {
  guint version; /* the same in two of them: neither has changed since one was copied from the other */

  CnvFilter filter;
  int algorithm; /* CnvAlgorithm */

  GstCudaConvolveRoi roi;

  char *kernel_location; /* of the file that filter.kernel was read from; NULL: it was not */
  int backend;           /* see gst_cuda_convolve_backend_name */
  int device;            /* CUDA ordinal, -1 the first or the one that the pipeline shares */
  guint n_threads;
  guint frames_in_flight; /* 0..CNV_IN_FLIGHT_MAX, 0 auto */
  gboolean disable_passthrough;
  int temporal_border;      /* CnvTemporalBorder */
  double scene_change;      /* mean absolute difference of luma, fraction of full scale; 0: cuts are not detected */
  gboolean drain_on_change; /* of the filter */
} GstCudaConvolveSettings;

/* Parts of the settings, each with those before it: members that decide on the plan, and on a frame's work. */
#define GST_CUDA_CONVOLVE_SETTINGS_PLAN offsetof(GstCudaConvolveSettings, roi)
#define GST_CUDA_CONVOLVE_SETTINGS_WORK offsetof(GstCudaConvolveSettings, kernel_location)

void gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings); /* to the defaults */
void gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from);
void gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings);
gboolean gst_cuda_convolve_settings_equal(const GstCudaConvolveSettings *a, const GstCudaConvolveSettings *b,
                                          gsize part);

/* Installs all properties. Returns the first free property id. */
guint gst_cuda_convolve_properties_install(GObjectClass *klass);

/* Reads a value into settings that were initialised, or a file that it names. id: of a property that was installed.
 * Returns FALSE with the reason where the value is refused: kernels, files and rectangles have more to check than their
 * GParamSpec does. */
gboolean gst_cuda_convolve_property_read(GstCudaConvolveSettings *settings, guint id, const GValue *value,
                                         GError **error);
/* Exchanges a property between two settings. */
void gst_cuda_convolve_property_swap(GstCudaConvolveSettings *a, GstCudaConvolveSettings *b, guint id);
void gst_cuda_convolve_property_get(const GstCudaConvolveSettings *settings, guint id, GValue *value);

/* TRUE where a property has another value than its default. */
gboolean gst_cuda_convolve_property_is_set(const GstCudaConvolveSettings *settings, guint id);

/* The same number for two properties of which the one that is set last counts. */
gsize gst_cuda_convolve_property_slot(guint id);

/* Name of the engine that a value of the backend property stands for, NULL for auto. */
const char *gst_cuda_convolve_backend_name(int value);
