/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Test frames: allocation with guards, patterns, and the search for stray writes.
 */
#include "support/frames.h"

#include "plan/plan.h"
#include "support/oracle.h"

#include <string.h>

#define GUARD_BYTE 0xa5
#define HOLE 9 /* pixels: wider than some taps, narrower than others */

const char *const test_pattern_names[TEST_N_PATTERNS] = {"noise", "near-zero", "near-full", "impulse", "flat", "holes"};

void
test_frame_init(TestFrame *frame, const CnvFormat *format, int width, int height, TestLayout layout)
{
  *frame = (TestFrame){.format = format, .width = width, .height = height, .joined = layout.joined};
  for (int i = 0; i < oracle_n_frame_planes(format); i++) {
    TestPlane *p = &frame->plane[i];

    p->row_bytes = oracle_row_bytes(format, i, width);
    p->rows = oracle_rows(format, i, height);
    p->stride = layout.joined ? (p->row_bytes + 15) / 16 * 16 : p->row_bytes + layout.pad;
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

/* Writes a value, and changes no bit beside it. */
static void
put(const OracleComponent *component, guint8 *row, int x, guint value)
{
  const guint used = ((1u << component->depth) - 1) << component->shift;
  const guint raw = (oracle_raw(component, row, x) & ~used) | value << component->shift;

  for (int i = 0; i < component->bytes; i++)
    row[x * component->step + component->offset + i] = raw >> 8 * i & 255;
}

/* Returns TRUE if the pixel is in a block of HOLE pixels whose alpha is 0. */
static gboolean
in_hole(int x, int y)
{
  return ((x / HOLE) ^ (y / HOLE)) & 1;
}

static void
fill_channel(TestFrame *frame, int plane, int channel, TestPattern pattern, const guint32 at[2], guint32 *state)
{
  const CnvPlaneFormat *p = &frame->format->plane[plane];
  const OracleComponent component = oracle_component(frame->format, plane, channel);
  const TestPlane *memory = &frame->plane[component.plane];
  const int width = oracle_plane_width(frame->format, plane, frame->width);
  const int height = oracle_plane_height(frame->format, plane, frame->height);
  const guint full = (1u << component.depth) - 1, flat = (test_random(state) >> 8) & full;

  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const gboolean here = (guint32)x == at[0] % width && (guint32)y == at[1] % height;
      guint value = pattern_value(pattern, full, flat, here, state);

      if (pattern == TEST_HOLES && p->role[channel] == CNV_ROLE_A && in_hole(x, y))
        value = 0;
      put(&component, memory->block + memory->start + (gsize)y * memory->stride, x, value);
    }
}

static void
fill_garbage(const TestPlane *p, guint32 *state)
{
  for (int y = 0; y < p->rows; y++)
    for (int i = 0; i < p->row_bytes; i++)
      p->block[p->start + (gsize)y * p->stride + i] = test_random(state) >> 16 & 255;
}

void
test_frame_fill(TestFrame *frame, TestPattern pattern, guint32 seed)
{
  const CnvFormat *format = frame->format;
  guint32 state = seed * 2654435761u | 1;

  for (int i = 0; i < oracle_n_frame_planes(format); i++)
    fill_garbage(&frame->plane[i], &state);
  for (int p = 0; p < format->n_planes; p++) {
    const guint32 at[2] = {test_random(&state) >> 8, test_random(&state) >> 8};

    for (int c = 0; c < format->plane[p].channels; c++)
      fill_channel(frame, p, c, pattern, at, &state);
  }
}

static guint8 *
row_of(const TestFrame *frame, const OracleComponent *component, int y)
{
  const TestPlane *memory = &frame->plane[component->plane];

  return memory->block + memory->start + (gsize)y * memory->stride;
}

void
test_frame_put(TestFrame *frame, int plane, int channel, int x, int y, guint value)
{
  const OracleComponent component = oracle_component(frame->format, plane, channel);

  put(&component, row_of(frame, &component, y), x, value);
}

int
test_frame_get(const TestFrame *frame, int plane, int channel, int x, int y)
{
  const OracleComponent component = oracle_component(frame->format, plane, channel);

  return oracle_value(&component, row_of(frame, &component, y), x);
}

void
test_frame_fill_with(TestFrame *frame, TestValue value, gpointer data)
{
  const CnvFormat *format = frame->format;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++) {
      const OracleComponent component = oracle_component(format, p, c);
      const TestPlane *memory = &frame->plane[component.plane];
      const int width = oracle_plane_width(format, p, frame->width);
      const int n = width * oracle_plane_height(format, p, frame->height);

      for (int i = 0; i < n; i++)
        put(&component, memory->block + memory->start + (gsize)(i / width) * memory->stride, i % width,
            value(data, p, c, i % width, i / width, (1u << component.depth) - 1));
    }
}

void
test_frame_view(const TestFrame *frame, CnvFrame *view)
{
  *view = (CnvFrame){.memory = CNV_MEMORY_HOST};
  for (int i = 0; i < oracle_n_frame_planes(frame->format); i++) {
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
  for (int i = 0; i < oracle_n_frame_planes(frame->format); i++) {
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

  for (int i = 0; i < oracle_n_frame_planes(frame->format); i++)
    for (gsize at = 0; at < frame->plane[i].size; at++)
      hash = (hash ^ frame->plane[i].block[at]) * G_GUINT64_CONSTANT(1099511628211);
  return hash;
}

gboolean
test_history_fill(CnvSession *session, const CnvPlan *plan, const CnvFrame *frame, int n, CnvTemporalBorder border,
                  CnvWork *work, CnvTemporalTap *tap, GError **error)
{
  int slot[CNV_MAX_TEMPORAL_TAPS];

  if (!cnv_session_history_alloc(session, &plan->image, (guint)n, error))
    return FALSE;
  for (int k = 0; k < n; k++) {
    slot[k] = k;
    if (!cnv_session_history_push(session, (guint)k, &frame[k], FALSE, NULL, error))
      return FALSE;
  }
  work->temporal_tap = tap;
  work->n_temporal_taps = cnv_temporal_taps_make(plan, slot, border, tap);
  return TRUE;
}
