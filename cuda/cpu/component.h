/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * How the CPU reads and writes the samples of a lane. Rows may begin at any address.
 */
#pragma once

#include <string.h>

#include <convolve/backend.h>

#include "plan/rect_job.h"

G_BEGIN_DECLS

static inline guint8 *
cnv_memory_row(const CnvFrame *frame, int memory, const CnvPatch *patch, int y)
{
  return (guint8 *)frame->data[memory] + (gssize)(y * patch->fields + patch->field) * frame->stride[memory];
}

/* Where the lane's sample at (x, y) of the patch's field is. */
static inline guint8 *
cnv_lane_at(const CnvFrame *frame, const CnvLane *lane, const CnvPatch *patch, int x, int y)
{
  return cnv_memory_row(frame, lane->memory, patch, y) + lane->offset + (gssize)x * lane->step;
}

static inline guint32
cnv_lane_word(const guint8 *at, int bytes)
{
  guint16 half;
  guint32 word;

  if (bytes == 1)
    return *at;
  if (bytes == 2) {
    memcpy(&half, at, 2);
    return GUINT16_FROM_LE(half);
  }
  memcpy(&word, at, 4);
  return GUINT32_FROM_LE(word);
}

/* bytes is lane->bytes, by itself so that loops can be made for each. */
static inline int
cnv_lane_get(const guint8 *at, const CnvLane *lane, int bytes)
{
  return (int)(cnv_lane_word(at, bytes) >> lane->shift & ((1u << lane->bits) - 1));
}

/* Writes bits that no lane has as 0, and keeps those of a word's other lanes. */
static inline void
cnv_lane_put(guint8 *at, const CnvLane *lane, int bytes, int value)
{
  guint32 word = (guint32)value << lane->shift;

  if (bytes == 1) {
    *at = (guint8)word;
  } else if (bytes == 2) {
    guint16 half = GUINT16_TO_LE((guint16)word);

    memcpy(at, &half, 2);
  } else {
    word |= cnv_lane_word(at, 4) & ~(((1u << lane->bits) - 1) << lane->shift);
    word = GUINT32_TO_LE(word);
    memcpy(at, &word, 4);
  }
}

/* Value of the pixel at (x, y) of the patch's field. A mean is taken over rows of that field. */
static inline double
cnv_lane_value(const CnvFrame *frame, const CnvImage *image, const CnvLane *lane, const CnvPatch *patch, int x, int y)
{
  int left = x << lane->sub_x, right = MIN((x + 1) << lane->sub_x, image->width);
  int rows = (image->height - patch->field + patch->fields - 1) / patch->fields;
  int top = y << lane->sub_y, bottom = MIN((y + 1) << lane->sub_y, rows), sum = 0;

  for (int row = top; row < bottom; row++)
    for (int column = left; column < right; column++)
      sum += cnv_lane_get(cnv_lane_at(frame, lane, patch, column, row), lane, lane->bytes);
  return (double)sum / ((right - left) * (bottom - top));
}

G_END_DECLS
