/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Reads and writes the samples of a component in host memory. Rows may begin at any address.
 */
#pragma once

#include <string.h>

#include "plan/arith.h"
#include "plan/plan.h"
#include "plan/job.h"

/* Returns the address of the component's sample at (x, y) of the job's field. */
static inline guint8 *
cnv_component_at(const CnvFrame *frame, const CnvComponent *component, const CnvJob *job, int x, int y)
{
  return (guint8 *)frame->data[component->plane] +
         (gssize)(y * job->fields + job->field) * frame->stride[component->plane] + component->offset +
         (gssize)x * component->step;
}

static inline guint32
cnv_component_word(const guint8 *at, int bytes)
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

/* Returns the value of the sample at an address. bytes: component->bytes, passed separately so that the compiler can
 * specialise loops for it. */
static inline int
cnv_component_get(const guint8 *at, const CnvComponent *component, int bytes)
{
  return (int)(cnv_component_word(at, bytes) >> component->shift & ((1u << component->bits) - 1));
}

/* Writes the value of a sample. Bits that belong to no component become 0; the other components of a 32-bit word keep
 * their bits. */
static inline void
cnv_component_put(guint8 *at, const CnvComponent *component, int bytes, int value)
{
  guint32 word = (guint32)value << component->shift;

  if (bytes == 1) {
    *at = (guint8)word;
  } else if (bytes == 2) {
    guint16 half = GUINT16_TO_LE((guint16)word);

    memcpy(at, &half, 2);
  } else {
    word |= cnv_component_word(at, 4) & ~(((1u << component->bits) - 1) << component->shift);
    word = GUINT32_TO_LE(word);
    memcpy(at, &word, 4);
  }
}

/* Returns the value of component c of the pixel at (x, y) of the job's field. If sub_x or sub_y is not 0, this is the
 * mean over the component's pixels, in rows of that field. */
static inline double
cnv_component_value(const CnvFrame *frame, const CnvPlane *plane, int c, const CnvJob *job, int x, int y)
{
  const CnvComponent *component = &plane->component[c];
  int left = x << component->sub_x, right = MIN((x + 1) << component->sub_x, plane->image_width);
  int rows = cnv_divide_up(plane->image_height - job->field, job->fields);
  int top = y << component->sub_y, bottom = MIN((y + 1) << component->sub_y, rows), sum = 0;

  for (int row = top; row < bottom; row++)
    for (int column = left; column < right; column++)
      sum += cnv_component_get(cnv_component_at(frame, component, job, column, row), component, component->bytes);
  return (double)sum / ((right - left) * (bottom - top));
}
