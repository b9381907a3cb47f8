/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pixel format as the engine sees it: a list of planes of interleaved samples. A convolution keeps its format and
 * filters each plane as it is, so nothing else of a format matters. A new format is one row of the table in format.c;
 * caps, planes, tests and benchmark follow.
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
  CNV_ROLE_A,
} CnvRole;

/* A plane is what is filtered together. Mostly it is a plane of memory too, its samples side by side; in packed 4:2:2
 * luma and chroma are two planes in one plane of memory, each a step from pixel to pixel. */
typedef struct {
  guint8 channels;               /* samples of a pixel, 1..4 */
  guint8 sub_x, sub_y;           /* log2 of the subsampling; plane sizes are rounded up */
  guint8 role[CNV_MAX_CHANNELS]; /* CnvRole of each channel, in memory order */
  guint8 step;                   /* bytes from pixel to pixel; 0: channels * sample_bytes, in a memory plane of its own,
                                    of the same number; else all planes lie in memory plane 0 */
  guint8 offset[CNV_MAX_CHANNELS]; /* with a step: where each channel is in it, in bytes, or in bits of a 32-bit word */
} CnvPlaneFormat;

typedef struct {
  const char *name;    /* GStreamer's name of the format, "NV12" */
  guint8 sample_bytes; /* 1 or 2 (little endian); 4: a pixel's channels are bits of a little-endian 32-bit word */
  guint8 depth;        /* bits that carry the value, 8..16; alpha in a 32-bit word has the 2 bits that are left */
  guint8 shift; /* position of the lowest of them: 6 for P010_10LE. Filtered samples have 0 in all other bits, copied
                   ones keep them */
  guint8 n_planes;
  guint16 device_since; /* first GStreamer release (122: 1.22) with this format in CUDA memory; 0: none */
  CnvPlaneFormat plane[CNV_MAX_PLANES];
} CnvFormat;

/* Where the samples of a channel lie. */
typedef struct {
  guint8 plane;        /* of the frame: CnvFrame.data */
  guint8 bytes;        /* read and written at once, little endian: 1, 2 or 4 */
  guint8 shift, bits;  /* of the value in them */
  guint16 offset;      /* bytes to the row's first */
  guint16 step;        /* bytes from pixel to pixel; with bytes 4 other channels' bits are in the same word */
  guint8 sub_x, sub_y; /* log2: the value is the mean over so many pixels and rows, cut off at the plane's edge. Not 0
                          for the weight of subsampled planes alone */
} CnvComponent;

/* All formats; ends with a NULL name. */
extern const CnvFormat cnv_formats[];

/* Returns the row of that name, or NULL. */
const CnvFormat *cnv_format_find(const char *name);

/* Size of a plane in pixels of that plane. plane: 0..n_planes-1. */
int cnv_format_plane_width(const CnvFormat *format, int plane, int width);
int cnv_format_plane_height(const CnvFormat *format, int plane, int height);

/* Planes of memory of a frame, and of each the bytes from a row's first sample to its last and the rows.
 * memory: 0..cnv_format_n_frame_planes - 1. */
int cnv_format_n_frame_planes(const CnvFormat *format);
int cnv_format_row_bytes(const CnvFormat *format, int memory, int width);
int cnv_format_rows(const CnvFormat *format, int memory, int height);

/* Where a channel of a plane is, by itself: without a mean. */
CnvComponent cnv_format_component(const CnvFormat *format, int plane, int channel);

/* Bits of a channel's value. */
int cnv_format_depth(const CnvFormat *format, CnvRole role);

G_END_DECLS
