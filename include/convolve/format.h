/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A pixel format as the engine sees it: a list of planes of interleaved samples. A convolution keeps the format and
 * filters each plane separately, so it needs to know nothing else. To add a format, add a row to the table in format.c;
 * caps, planes, tests and the benchmark use that table. Plain C without GLib, because CUDA kernels include it.
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
  CNV_ROLE_PADDING, /* the x of RGBx; copied */
  CNV_ROLE_Y,       /* luma or grey */
  CNV_ROLE_U,       /* chroma, like V; filtered about its neutral value 2^(depth-1) */
  CNV_ROLE_V,
  CNV_ROLE_R,
  CNV_ROLE_G,
  CNV_ROLE_B,
  CNV_ROLE_A,
} CnvRole;

/* A plane: channels that are filtered together. In most formats it is also a plane of memory, with its samples side by
 * side. In packed 4:2:2, luma and chroma are two planes in one plane of memory, and each has a step from pixel to
 * pixel. */
typedef struct {
  uint8_t channels;               /* samples per pixel, 1..4 */
  uint8_t sub_x, sub_y;           /* log2 of the subsampling; the plane's size is rounded up */
  uint8_t role[CNV_MAX_CHANNELS]; /* CnvRole of each channel, in memory order */
  uint8_t step; /* bytes from pixel to pixel, if all planes lie in memory plane 0. 0: the plane has a memory plane of
                  its own, with the same number, and pixels are channels * sample_bytes apart */
  uint8_t offset[CNV_MAX_CHANNELS]; /* if step > 0: place of each channel in it, in bytes, or in bits of a word */
} CnvPlaneFormat;

typedef struct {
  const char *name;     /* GStreamer's name of the format, for example "NV12" */
  uint8_t sample_bytes; /* 1, or 2 (little endian); 4: a pixel's channels are bits of a little-endian 32-bit word */
  uint8_t depth;        /* bits that carry the value, 8..16; alpha in a 32-bit word has the remaining 2 bits */
  uint8_t shift; /* position of the lowest of these bits: 6 for P010_10LE. All other bits are 0 in filtered samples, and
                   unchanged in copied ones */
  uint8_t n_planes;
  uint16_t device_since; /* first GStreamer release that has this format in CUDA memory, 122 for 1.22; 0: none */
  CnvPlaneFormat plane[CNV_MAX_PLANES];
} CnvFormat;

/* All formats; ends with a NULL name. */
extern const CnvFormat cnv_formats[];

/* Returns the format of that name, or NULL if there is none. */
const CnvFormat *cnv_format_find(const char *name);

/* Return the width and height of a plane in its own pixels. plane: 0..n_planes-1. width, height: of the frame. */
int cnv_format_plane_width(const CnvFormat *format, int plane, int width);
int cnv_format_plane_height(const CnvFormat *format, int plane, int height);

/* Returns a frame's number of planes of memory. Plane of memory i has as many rows as plane i. */
int cnv_format_n_frame_planes(const CnvFormat *format);

/* Returns the number of bytes from the first sample of a row to its last. memory: number of the plane of memory. width:
 * of the frame, in pixels. */
int cnv_format_row_bytes(const CnvFormat *format, int memory, int width);

/* Returns the number of bits of a channel's value. */
int cnv_format_depth(const CnvFormat *format, CnvRole role);

#ifdef __cplusplus
}
#endif
