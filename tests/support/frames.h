/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames for tests: planes at any address and stride, with guard bytes around them and between the rows, and patterns
 * to fill them with. Every byte that is not a sample has a known value, so that a stray write is found.
 */
#pragma once

#include "convolve/backend.h"

/* Names: test_pattern_names. */
typedef enum {
  TEST_NOISE,
  TEST_NEAR_ZERO,
  TEST_NEAR_FULL,
  TEST_IMPULSE, /* one full sample per channel, all others 0 */
  TEST_FLAT,    /* one random value per channel */
  TEST_HOLES,   /* noise, with squares in which alpha is 0 */
  TEST_N_PATTERNS,
} TestPattern;

extern const char *const test_pattern_names[TEST_N_PATTERNS];

typedef struct {
  int guard;       /* bytes before and after each plane */
  int offset;      /* bytes from the guard to the first sample, to move it off the block's alignment */
  int pad;         /* bytes between the rows */
  gboolean joined; /* TRUE: on the device, one allocation has all planes; rows begin at multiples of 16 bytes, without
                      pad */
} TestLayout;

typedef struct {
  guint8 *block; /* an allocation for each plane, with nothing after the guards */
  gsize size;
  gsize start; /* offset of the first sample */
  int stride, row_bytes, rows;
} TestPlane;

typedef struct {
  const CnvFormat *format;
  int width, height;
  gboolean joined;
  TestPlane plane[CNV_MAX_PLANES]; /* one per plane of memory */
} TestFrame;

/* Allocates a frame. All bytes, also the samples, have the value of guard bytes. */
void test_frame_init(TestFrame *frame, const CnvFormat *format, int width, int height, TestLayout layout);
void test_frame_clear(TestFrame *frame);

/* Fills the samples with a pattern, and everything between them in a row, also padding bits, with garbage. */
void test_frame_fill(TestFrame *frame, TestPattern pattern, guint32 seed);

/* Fills the samples with values of a function, which is called for each sample and returns 0..full. */
typedef guint (*TestValue)(gpointer data, int plane, int channel, int x, int y, guint full);
void test_frame_fill_with(TestFrame *frame, TestValue value, gpointer data);

/* Set or return a sample's value. x, y: pixel of the plane. Setting it changes no bit beside it. */
void test_frame_put(TestFrame *frame, int plane, int channel, int x, int y, guint value);
int test_frame_get(const TestFrame *frame, int plane, int channel, int x, int y);

void test_frame_view(const TestFrame *frame, CnvFrame *view);

/* Makes a history of n frames, one for each of the plan's taps in time and in its slot. Sets the work's taps in time to
 * them; tap must live as long as the work is used. */
gboolean test_history_fill(CnvSession *session, const CnvPlan *plan, const CnvFrame *frame, int n,
                           CnvTemporalBorder border, CnvWork *work, CnvTemporalTap *tap, GError **error);

/* Returns NULL, or a description of a byte outside the samples that has changed. Free with g_free. */
char *test_frame_stray(const TestFrame *frame);

/* Returns a checksum over all bytes. */
guint64 test_frame_hash(const TestFrame *frame);

/* Returns the next number of xorshift32. state must not be 0. */
static inline guint32
test_random(guint32 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}
