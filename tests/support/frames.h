/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Frames for tests: planes at any address and stride, with guard bytes around them and between the rows, and patterns
 * to fill them with. Everything that is not a sample holds a known byte, so that a stray write is found.
 */
#pragma once

#include "convolve/backend.h"

/* Names: test_pattern_names. */
typedef enum {
  TEST_NOISE,
  TEST_NEAR_ZERO,
  TEST_NEAR_FULL,
  TEST_IMPULSE, /* one full sample a channel, on zeros */
  TEST_FLAT,    /* one random value a channel */
  TEST_HOLES,   /* noise with squares of no alpha */
  TEST_N_PATTERNS,
} TestPattern;

extern const char *const test_pattern_names[TEST_N_PATTERNS];

typedef struct {
  int guard;       /* bytes before and after each plane */
  int offset;      /* bytes by which the first sample is moved off the block's alignment */
  int pad;         /* bytes between the rows */
  gboolean joined; /* on the device one allocation has all planes; rows lie on multiples of 16 bytes, without pad */
} TestLayout;

typedef struct {
  guint8 *block; /* the whole allocation, its own for each plane, with nothing beyond the guards */
  gsize size;
  gsize start; /* of the first sample */
  int stride, row_bytes, rows;
} TestPlane;

typedef struct {
  const CnvFormat *format;
  int width, height;
  gboolean joined;
  TestPlane plane[CNV_MAX_PLANES]; /* of memory */
} TestFrame;

/* All bytes hold the guard byte, the samples' too. */
void test_frame_init(TestFrame *frame, const CnvFormat *format, int width, int height, TestLayout layout);
void test_frame_clear(TestFrame *frame);

/* Fills the samples, and what lies between them in a row, padding bits too, with garbage. */
void test_frame_fill(TestFrame *frame, TestPattern pattern, guint32 seed);

/* The same by a function, which is asked for each sample, from 0 to full. */
typedef guint (*TestValue)(gpointer data, int plane, int channel, int x, int y, guint full);
void test_frame_fill_with(TestFrame *frame, TestValue value, gpointer data);

/* One sample's value, by pixel of its plane: writes no bit beside it. */
void test_frame_put(TestFrame *frame, int plane, int channel, int x, int y, guint value);
int test_frame_get(const TestFrame *frame, int plane, int channel, int x, int y);

void test_frame_view(const TestFrame *frame, CnvFrame *view);

/* Returns NULL, or where a byte that is no sample has changed (g_free). */
char *test_frame_stray(const TestFrame *frame);

/* A checksum over all bytes. */
guint64 test_frame_hash(const TestFrame *frame);

/* xorshift32; state must not be 0. */
static inline guint32
test_random(guint32 *state)
{
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}
