/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pixel format as the engine sees it: a list of planes of interleaved samples. A convolution keeps its format and
 * filters each plane as it is, so nothing else of a format matters. A new format is one row of the table in format.c;
 * caps, planes, tests and benchmark follow.
 *
 * Packed 4:2:2 and 10-bit RGB in 32 bits are not in the table yet: they need a step between the samples of a channel
 * and a third sample type, both of which belong in CnvPlaneFormat.
 */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define CNV_MAX_PLANES 4
#define CNV_MAX_CHANNELS 4

typedef enum {
  CNV_ROLE_PADDING, /* the x of RGBx: copied */
  CNV_ROLE_Y,       /* luma or grey */
  CNV_ROLE_U,       /* chroma: filtered about its neutral value 2^(depth-1) */
  CNV_ROLE_V,
  CNV_ROLE_R,
  CNV_ROLE_G,
  CNV_ROLE_B,
  CNV_ROLE_A, /* copied */
} CnvRole;

typedef struct {
  guint8 channels;               /* interleaved samples of a pixel, 1..4 */
  guint8 sub_x, sub_y;           /* log2 of the subsampling; plane sizes are rounded up */
  guint8 role[CNV_MAX_CHANNELS]; /* CnvRole of each channel, in memory order */
} CnvPlaneFormat;

typedef struct {
  const char *name;    /* GStreamer's name of the format, "NV12" */
  guint8 sample_bytes; /* 1 or 2 (little endian) */
  guint8 depth;        /* bits that carry the value, 8..16 */
  guint8 shift;        /* position of the lowest of them: 6 for P010_10LE. All other bits are written as 0 */
  guint8 n_planes;
  guint16 device_since; /* first GStreamer release (122: 1.22) with this format in CUDA memory; 0: none */
  CnvPlaneFormat plane[CNV_MAX_PLANES];
} CnvFormat;

/* All formats; ends with a NULL name. */
extern const CnvFormat cnv_formats[];

/* Returns the row of that name, or NULL. */
const CnvFormat *cnv_format_find(const char *name);

/* Size of a plane in pixels of that plane. plane: 0..n_planes-1. */
int cnv_format_plane_width(const CnvFormat *format, int plane, int width);
int cnv_format_plane_height(const CnvFormat *format, int plane, int height);

G_END_DECLS
