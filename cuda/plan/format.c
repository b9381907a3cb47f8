/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The table of formats, one row per format. tests/unit/format.c compares each row with GStreamer's own description.
 */
#include <string.h>

#include <glib.h>

#include "plan/arith.h"
#include "plan/plane.h"

/* clang-format off */
/* A plane: number of channels, log2 of the subsampling, roles in memory order. */
#define PLANE(n, sub_x, sub_y, ...) {n, sub_x, sub_y, {__VA_ARGS__}}
#define ONE(role) PLANE(1, 0, 0, CNV_ROLE_##role)
#define THREE(a, b, c) PLANE(3, 0, 0, CNV_ROLE_##a, CNV_ROLE_##b, CNV_ROLE_##c)
#define FOUR(a, b, c, d) PLANE(4, 0, 0, CNV_ROLE_##a, CNV_ROLE_##b, CNV_ROLE_##c, CNV_ROLE_##d)
#define CHROMA1(role, sx, sy) PLANE(1, sx, sy, CNV_ROLE_##role)
#define CHROMA2(a, b, sx, sy) PLANE(2, sx, sy, CNV_ROLE_##a, CNV_ROLE_##b)
#define CNV_ROLE_x CNV_ROLE_PADDING
#define Y1 ONE(Y)
#define Y_U_V(sx, sy) {Y1, CHROMA1(U, sx, sy), CHROMA1(V, sx, sy)}
#define Y_U_V_A(sx, sy) {Y1, CHROMA1(U, sx, sy), CHROMA1(V, sx, sy), ONE(A)}
#define Y_UV(sx, sy) {Y1, CHROMA2(U, V, sx, sy)}
/* All channels of a pixel in a 32-bit word. The arguments are the roles of the channels at bits 0, 10 and 20; alpha has
 * the two highest bits. */
#define WORD(a, b, c) {4, 0, 0, {CNV_ROLE_##a, CNV_ROLE_##b, CNV_ROLE_##c, CNV_ROLE_A}, 4, {0, 10, 20, 30}}
/* Packed 4:2:2 with samples of `bytes` bytes. Luma is every second sample, from y on; chroma is every fourth, from u
 * and v on. */
#define PACKED_Y(bytes, y) {1, 0, 0, {CNV_ROLE_Y}, 2 * (bytes), {(y) * (bytes)}}
#define PACKED_UV(bytes, u, v) {2, 1, 0, {CNV_ROLE_U, CNV_ROLE_V}, 4 * (bytes), {(u) * (bytes), (v) * (bytes)}}
/* clang-format on */

const CnvFormat cnv_formats[] = {
    /* name, sample bytes, depth, shift, number of planes, device_since, planes */
    {"NV12", 1, 8, 0, 2, 122, Y_UV(1, 1)},
    {"NV21", 1, 8, 0, 2, 122, {Y1, CHROMA2(V, U, 1, 1)}},
    {"NV16", 1, 8, 0, 2, 0, Y_UV(1, 0)},
    {"NV24", 1, 8, 0, 2, 0, Y_UV(0, 0)},
    {"I420", 1, 8, 0, 3, 122, Y_U_V(1, 1)},
    {"YV12", 1, 8, 0, 3, 122, {Y1, CHROMA1(V, 1, 1), CHROMA1(U, 1, 1)}},
    {"Y42B", 1, 8, 0, 3, 122, Y_U_V(1, 0)},
    {"Y444", 1, 8, 0, 3, 122, Y_U_V(0, 0)},
    {"A420", 1, 8, 0, 4, 0, Y_U_V_A(1, 1)},
    {"GRAY8", 1, 8, 0, 1, 0, {Y1}},
    {"RGBA", 1, 8, 0, 1, 122, {FOUR(R, G, B, A)}},
    {"BGRA", 1, 8, 0, 1, 122, {FOUR(B, G, R, A)}},
    {"ARGB", 1, 8, 0, 1, 122, {FOUR(A, R, G, B)}},
    {"ABGR", 1, 8, 0, 1, 122, {FOUR(A, B, G, R)}},
    {"RGBx", 1, 8, 0, 1, 122, {FOUR(R, G, B, x)}},
    {"BGRx", 1, 8, 0, 1, 122, {FOUR(B, G, R, x)}},
    {"xRGB", 1, 8, 0, 1, 0, {FOUR(x, R, G, B)}},
    {"xBGR", 1, 8, 0, 1, 0, {FOUR(x, B, G, R)}},
    {"AYUV", 1, 8, 0, 1, 0, {FOUR(A, Y, U, V)}},
    {"VUYA", 1, 8, 0, 1, 0, {FOUR(V, U, Y, A)}},
    {"RGB", 1, 8, 0, 1, 122, {THREE(R, G, B)}},
    {"BGR", 1, 8, 0, 1, 122, {THREE(B, G, R)}},
    {"RGBP", 1, 8, 0, 3, 122, {ONE(R), ONE(G), ONE(B)}},
    {"BGRP", 1, 8, 0, 3, 122, {ONE(B), ONE(G), ONE(R)}},
    {"GBR", 1, 8, 0, 3, 122, {ONE(G), ONE(B), ONE(R)}},
    {"GBRA", 1, 8, 0, 4, 122, {ONE(G), ONE(B), ONE(R), ONE(A)}},
    {"YUY2", 1, 8, 0, 2, 122, {PACKED_Y(1, 0), PACKED_UV(1, 1, 3)}},
    {"UYVY", 1, 8, 0, 2, 122, {PACKED_Y(1, 1), PACKED_UV(1, 0, 2)}},
    {"RGB10A2_LE", 4, 10, 0, 1, 122, {WORD(R, G, B)}},
    {"BGR10A2_LE", 4, 10, 0, 1, 122, {WORD(B, G, R)}},
    {"Y410", 4, 10, 0, 1, 0, {WORD(U, Y, V)}},
    {"Y210", 2, 10, 6, 2, 0, {PACKED_Y(2, 0), PACKED_UV(2, 1, 3)}},
    {"Y212_LE", 2, 12, 4, 2, 0, {PACKED_Y(2, 0), PACKED_UV(2, 1, 3)}},
    {"Y412_LE", 2, 12, 4, 1, 0, {FOUR(U, Y, V, A)}},
    {"P010_10LE", 2, 10, 6, 2, 122, Y_UV(1, 1)},
    {"P012_LE", 2, 12, 4, 2, 0, Y_UV(1, 1)},
    {"P016_LE", 2, 16, 0, 2, 122, Y_UV(1, 1)},
    {"I420_10LE", 2, 10, 0, 3, 122, Y_U_V(1, 1)},
    {"I422_10LE", 2, 10, 0, 3, 122, Y_U_V(1, 0)},
    {"Y444_10LE", 2, 10, 0, 3, 0, Y_U_V(0, 0)},
    {"A420_10LE", 2, 10, 0, 4, 0, Y_U_V_A(1, 1)},
    {"A422_10LE", 2, 10, 0, 4, 0, Y_U_V_A(1, 0)},
    {"A444_10LE", 2, 10, 0, 4, 0, Y_U_V_A(0, 0)},
    {"GBR_10LE", 2, 10, 0, 3, 0, {ONE(G), ONE(B), ONE(R)}},
    {"I420_12LE", 2, 12, 0, 3, 0, Y_U_V(1, 1)},
    {"I422_12LE", 2, 12, 0, 3, 122, Y_U_V(1, 0)},
    {"Y444_12LE", 2, 12, 0, 3, 0, Y_U_V(0, 0)},
    {"GBR_12LE", 2, 12, 0, 3, 0, {ONE(G), ONE(B), ONE(R)}},
    {"Y444_16LE", 2, 16, 0, 3, 122, Y_U_V(0, 0)},
    {"GRAY16_LE", 2, 16, 0, 1, 0, {Y1}},
    {"ARGB64", 2, 16, 0, 1, 0, {FOUR(A, R, G, B)}},
    {"RGBA64_LE", 2, 16, 0, 1, 0, {FOUR(R, G, B, A)}},
    {NULL},
};

const CnvFormat *
cnv_format_find(const char *name)
{
  for (const CnvFormat *format = cnv_formats; format->name; format++)
    if (strcmp(format->name, name) == 0)
      return format;
  return NULL;
}

int
cnv_format_plane_width(const CnvFormat *format, int plane, int width)
{
  return cnv_divide_up(width, 1 << format->plane[plane].sub_x);
}

int
cnv_format_plane_height(const CnvFormat *format, int plane, int height)
{
  return cnv_divide_up(height, 1 << format->plane[plane].sub_y);
}

int
cnv_format_n_frame_planes(const CnvFormat *format)
{
  return format->plane[0].step ? 1 : format->n_planes;
}

int
cnv_format_row_bytes(const CnvFormat *format, int memory, int width)
{
  int bytes = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++) {
      CnvComponent component = cnv_format_component(format, p, c);
      int last = cnv_format_plane_width(format, p, width) - 1;

      if (component.plane == memory)
        bytes = MAX(bytes, component.offset + last * component.step + component.bytes);
    }
  return bytes;
}

int
cnv_format_depth(const CnvFormat *format, CnvRole role)
{
  return format->sample_bytes == 4 && role == CNV_ROLE_A ? 2 : format->depth;
}

CnvComponent
cnv_format_component(const CnvFormat *format, int plane, int channel)
{
  const CnvPlaneFormat *from = &format->plane[plane];
  CnvRole role = from->role[channel];
  gboolean word = format->sample_bytes == 4;

  return (CnvComponent){.plane = from->step ? 0 : plane,
                        .bytes = format->sample_bytes,
                        .shift = word ? from->offset[channel] : format->shift,
                        .bits = cnv_format_depth(format, role),
                        .offset = word         ? 0
                                  : from->step ? from->offset[channel]
                                               : channel * format->sample_bytes,
                        .step = from->step ? from->step : from->channels * format->sample_bytes};
}
