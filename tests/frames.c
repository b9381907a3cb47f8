/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Test frames: allocation with guards, patterns, and the search for stray writes.
 */
#include "frames.h"
#include "oracle.h"

#include <string.h>

#define GUARD_BYTE 0xa5

const char *const test_pattern_names[TEST_N_PATTERNS] = {"noise", "near-zero", "near-full", "impulse", "flat"};

void
test_frame_init(TestFrame *frame, const CnvFormat *format, int width, int height, TestLayout layout)
{
  *frame = (TestFrame){.format = format, .width = width, .height = height};
  for (int i = 0; i < format->n_planes; i++) {
    TestPlane *p = &frame->plane[i];

    p->row_bytes = oracle_row_bytes(format, i, width);
    p->rows = oracle_plane_height(format, i, height);
    p->stride = p->row_bytes + layout.pad;
    p->start = layout.guard + layout.offset;
    p->size = p->start + (gsize)(p->rows - 1) * p->stride + p->row_bytes + layout.guard;
    p->block = g_malloc(p->size);
    memset(p->block, GUARD_BYTE, p->size);
  }
}

void
test_frame_clear(TestFrame *frame)
{
  for (int i = 0; i < CNV_MAX_PLANES; i++)
    g_free(frame->plane[i].block);
  memset(frame, 0, sizeof *frame);
}

static guint
pattern_value(TestPattern pattern, guint full, guint flat, gboolean here, guint32 *state)
{
  const guint32 random = test_random(state) >> 8; /* the low bits of xorshift are weak */

  switch (pattern) {
  case TEST_NEAR_ZERO:
    return random % 4;
  case TEST_NEAR_FULL:
    return full - random % 4;
  case TEST_IMPULSE:
    return here ? full : 0;
  case TEST_FLAT:
    return flat;
  default:
    return random & full;
  }
}

static void
fill_plane(TestFrame *frame, int plane, TestPattern pattern, guint32 *state)
{
  const CnvFormat *format = frame->format;
  const TestPlane *p = &frame->plane[plane];
  const guint full = (1u << format->depth) - 1, used = full << format->shift;
  const int samples = p->row_bytes / format->sample_bytes, channels = format->plane[plane].channels;
  const int at_row = test_random(state) % p->rows, at = test_random(state) % (samples / channels);
  guint flat[CNV_MAX_CHANNELS];

  for (int c = 0; c < channels; c++)
    flat[c] = (test_random(state) >> 8) & full;
  for (int y = 0; y < p->rows; y++)
    for (int i = 0; i < samples; i++) {
      gboolean here = y == at_row && i / channels == at;
      guint v = pattern_value(pattern, full, flat[i % channels], here, state) << format->shift;
      guint8 *to = p->block + p->start + (gsize)y * p->stride + (gsize)i * format->sample_bytes;

      v |= test_random(state) & ~used & 0xffff;
      to[0] = v & 255;
      if (format->sample_bytes == 2)
        to[1] = v >> 8;
    }
}

void
test_frame_fill(TestFrame *frame, TestPattern pattern, guint32 seed)
{
  guint32 state = seed * 2654435761u | 1;

  for (int i = 0; i < frame->format->n_planes; i++)
    fill_plane(frame, i, pattern, &state);
}

void
test_frame_view(const TestFrame *frame, CnvFrame *view)
{
  *view = (CnvFrame){.memory = CNV_MEMORY_HOST};
  for (int i = 0; i < frame->format->n_planes; i++) {
    view->data[i] = frame->plane[i].block + frame->plane[i].start;
    view->stride[i] = frame->plane[i].stride;
  }
}

static gboolean
is_sample(const TestPlane *p, gsize at)
{
  gsize from_first = at - p->start;

  return at >= p->start && from_first / p->stride < (gsize)p->rows && from_first % p->stride < (gsize)p->row_bytes;
}

char *
test_frame_stray(const TestFrame *frame)
{
  for (int i = 0; i < frame->format->n_planes; i++) {
    const TestPlane *p = &frame->plane[i];

    for (gsize at = 0; at < p->size; at++)
      if (p->block[at] != GUARD_BYTE && !is_sample(p, at))
        return g_strdup_printf("plane %d: byte %" G_GSSIZE_FORMAT " from the first sample (stride %d, row %d bytes, %d "
                               "rows) was written with 0x%02x",
                               i, (gssize)(at - p->start), p->stride, p->row_bytes, p->rows, p->block[at]);
  }
  return NULL;
}

guint64
test_frame_hash(const TestFrame *frame)
{
  guint64 hash = G_GUINT64_CONSTANT(14695981039346656037);

  for (int i = 0; i < frame->format->n_planes; i++)
    for (gsize at = 0; at < frame->plane[i].size; at++)
      hash = (hash ^ frame->plane[i].block[at]) * G_GUINT64_CONSTANT(1099511628211);
  return hash;
}
