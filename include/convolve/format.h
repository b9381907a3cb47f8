/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pixel format as the engine sees it: a list of planes of interleaved samples. A convolution keeps its format and
 * filters each plane as it is, so nothing else of a format matters. A new format is one row of the table in format.c;
 * caps, planes, tests and benchmark follow. Plain C without GLib, for kernels include it.
 */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CNV_MAX_PLANES 4
#define CNV_MAX_CHANNELS 4

/* x runs along a row, y down a column. */
enum { CNV_X, CNV_Y, CNV_N_AXES };

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
  uint8_t channels;               /* samples of a pixel, 1..4 */
  uint8_t sub_x, sub_y;           /* log2 of the subsampling; plane sizes are rounded up */
  uint8_t role[CNV_MAX_CHANNELS]; /* CnvRole of each channel, in memory order */
  uint8_t step; /* bytes from pixel to pixel; 0: channels * sample_bytes, in a memory plane of its own,
                  of the same number; else all planes lie in memory plane 0 */
  uint8_t
      offset[CNV_MAX_CHANNELS]; /* with a step: where each channel is in it, in bytes, or in bits of a 32-bit word */
} CnvPlaneFormat;

typedef struct {
  const char *name;     /* GStreamer's name of the format, "NV12" */
  uint8_t sample_bytes; /* 1 or 2 (little endian); 4: a pixel's channels are bits of a little-endian 32-bit word */
  uint8_t depth;        /* bits that carry the value, 8..16; alpha in a 32-bit word has the 2 bits that are left */
  uint8_t shift; /* position of the lowest of them: 6 for P010_10LE. Filtered samples have 0 in all other bits, copied
                   ones keep them */
  uint8_t n_planes;
  uint16_t device_since; /* first GStreamer release (122: 1.22) with this format in CUDA memory; 0: none */
  CnvPlaneFormat plane[CNV_MAX_PLANES];
} CnvFormat;

/* All formats; ends with a NULL name. */
extern const CnvFormat cnv_formats[];

/* Returns the row of that name, or NULL. */
const CnvFormat *cnv_format_find(const char *name);

/* Size of a plane in pixels of that plane. plane: 0..n_planes-1. */
int cnv_format_plane_width(const CnvFormat *format, int plane, int width);
int cnv_format_plane_height(const CnvFormat *format, int plane, int height);

/* Planes of memory of a frame, 0..cnv_format_n_frame_planes - 1, which have the rows of the plane of that number, and
 * the bytes from the first sample of a row to its last. */
int cnv_format_n_frame_planes(const CnvFormat *format);
int cnv_format_row_bytes(const CnvFormat *format, int memory, int width);

/* Bits of a channel's value. */
int cnv_format_depth(const CnvFormat *format, CnvRole role);

#ifdef __cplusplus
}
#endif
