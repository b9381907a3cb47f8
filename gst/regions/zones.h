/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Zones files: named regions of a fixed camera, in GLib's key-file format, a group per zone. gst/regions.md describes
 * the format. A value is immutable, and may be shared between threads.
 */
#pragma once

#include <convolve/work.h>
#include <gst/gst.h>

#include "files.h"

/* Times at which a zone is in force: always, or during a part of the stream or of each day. */
typedef enum {
  GST_CUDA_CONVOLVE_ZONE_ALWAYS,
  GST_CUDA_CONVOLVE_ZONE_STREAM, /* from and to: stream time in nanoseconds */
  GST_CUDA_CONVOLVE_ZONE_DAY,    /* from and to: local time in seconds since midnight; to < from: past midnight */
} GstCudaConvolveZonePeriod;

typedef struct {
  char *name;
  char *type;     /* NULL: none, and roi-types does not exclude the zone */
  GArray *points; /* of a polygon, as in polygon.h but in fractions of the frame; NULL: the shape in rect */
  double rect[4]; /* x, y, width, height in fractions of the frame */
  CnvShape shape; /* CNV_SHAPE_RECTANGLE or CNV_SHAPE_ELLIPSE */
  GstCudaConvolveZonePeriod period;
  guint64 from, to; /* in force from `from` on, and until before `to` */
} GstCudaConvolveZone;

typedef struct _GstCudaConvolveZones GstCudaConvolveZones;

/* Return NULL with CNV_ERROR_SETTINGS and a message that names the file, the zone, the key, its value and the fix.
 * text: contents of a file of `size` bytes, followed by a 0. */
GstCudaConvolveZones *gst_cuda_convolve_zones_load(const char *path, GError **error);
GstCudaConvolveZones *gst_cuda_convolve_zones_parse(const char *text, gsize size, const char *path, GError **error);

GstCudaConvolveZones *gst_cuda_convolve_zones_ref(GstCudaConvolveZones *zones);
void gst_cuda_convolve_zones_unref(GstCudaConvolveZones *zones);

const char *gst_cuda_convolve_zones_path(const GstCudaConvolveZones *zones);
/* Returns the stamp that the file had when it was read; see files.h. */
const GstCudaConvolveFileStamp *gst_cuda_convolve_zones_stamp(const GstCudaConvolveZones *zones);
/* Returns TRUE if both were read from the same path and the same text. */
gboolean gst_cuda_convolve_zones_equal(const GstCudaConvolveZones *a, const GstCudaConvolveZones *b);

/* Return the number of zones, which is 0 for NULL, and one of them. */
guint gst_cuda_convolve_zones_n(const GstCudaConvolveZones *zones);
const GstCudaConvolveZone *gst_cuda_convolve_zones_get(const GstCudaConvolveZones *zones, guint i);
/* Returns TRUE if at least one zone has a type. */
gboolean gst_cuda_convolve_zones_have_type(const GstCudaConvolveZones *zones);

/* Returns TRUE if a zone is in force. time: stream time of the frame, or NONE if unknown. doubt: returned if that
 * depends on an unknown stream time. */
gboolean gst_cuda_convolve_zone_is_in_force(const GstCudaConvolveZone *zone, GstClockTime time, gboolean doubt);
