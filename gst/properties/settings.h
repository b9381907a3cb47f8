/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The settable properties as one plain value. Each property is one row of the table in settings.c, from which default,
 * range, description, comparison and copy follow.
 */
#pragma once

#include <convolve/backend.h>
#include <gst/gst.h>

#include "regions/roi_settings.h"

/* The values of all properties. Some members are references, so use the functions below to copy and clear it. The order
 * of the members defines the parts. */
typedef struct {
  guint version; /* equal if neither of two values has changed since one was copied from the other */

  CnvFilter filter;
  int algorithm; /* CnvAlgorithm */

  GstCudaConvolveRoi roi;

  char *kernel_location; /* path of the file of filter.kernel; NULL: the kernel is not from a file */
  int backend;           /* see gst_cuda_convolve_backend_name */
  int device;            /* CUDA ordinal; -1: the device that the pipeline shares, else the first */
  guint n_threads;
  guint frames_in_flight; /* 0..CNV_IN_FLIGHT_MAX; 0: automatic */
  gboolean disable_passthrough;
  int temporal_border;      /* CnvTemporalBorder */
  double scene_change;      /* mean absolute difference of luma, as a fraction of full scale; 0: no detection of cuts */
  gboolean drain_on_change; /* when the filter changes */
} GstCudaConvolveSettings;

/* Parts of the settings, each up to an offset: the members that determine the plan, and those that determine the work
 * on a frame. */
#define GST_CUDA_CONVOLVE_SETTINGS_PLAN offsetof(GstCudaConvolveSettings, roi)
#define GST_CUDA_CONVOLVE_SETTINGS_WORK offsetof(GstCudaConvolveSettings, kernel_location)

void gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings); /* sets all defaults */
void gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from);
void gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings);
gboolean gst_cuda_convolve_settings_equal(const GstCudaConvolveSettings *a, const GstCudaConvolveSettings *b,
                                          gsize part);

/* Installs all properties. Returns the first free property id. */
guint gst_cuda_convolve_properties_install(GObjectClass *klass);

/* Sets a property of initialised settings to a value, and reads the file that it names. id: of an installed property.
 * Returns FALSE with the reason if the value is rejected: kernels, files and rectangles have stricter rules than their
 * GParamSpec. */
gboolean gst_cuda_convolve_property_read(GstCudaConvolveSettings *settings, guint id, const GValue *value,
                                         GError **error);
/* Exchanges the values of a property in two settings. */
void gst_cuda_convolve_property_swap(GstCudaConvolveSettings *a, GstCudaConvolveSettings *b, guint id);
/* Exchanges the zones with *zones, if they still are `old`, which is not NULL. Otherwise returns FALSE. */
gboolean gst_cuda_convolve_settings_replace_zones(GstCudaConvolveSettings *settings, const GstCudaConvolveZones *old,
                                                  GstCudaConvolveZones **zones);
void gst_cuda_convolve_property_get(const GstCudaConvolveSettings *settings, guint id, GValue *value);

/* Returns TRUE if a property does not have its default. */
gboolean gst_cuda_convolve_property_is_set(const GstCudaConvolveSettings *settings, guint id);

/* Returns a slot key, which is equal for properties that override each other. */
gsize gst_cuda_convolve_property_slot(guint id);

/* Returns the name of the engine for a value of the backend property, or NULL for auto. */
const char *gst_cuda_convolve_backend_name(int value);
