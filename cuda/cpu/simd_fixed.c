/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Rows and columns of symmetric taps in 16 bits (simd.h), by vectors; built once for each instruction set as simd.c is.
 * There are none without an instruction for the rounded upper half of a product.
 */
#include "cpu/simd.h"
#include "cpu/vector.h"

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#define HAVE_UPPER_HALF
#elif defined(__aarch64__)
#include <arm_neon.h>
#define HAVE_UPPER_HALF
#endif

#ifdef HAVE_UPPER_HALF

#define SHORTS (VECTOR_BYTES / 2)
#define ROW_VECTORS 4
#define COLUMN_VECTORS 2

/* Unsigned, for what lies beyond a row may wrap. */
typedef guint16 Shorts __attribute__((vector_size(VECTOR_BYTES)));
typedef guint16 LooseShorts __attribute__((vector_size(VECTOR_BYTES), aligned(2), may_alias));

G_STATIC_ASSERT(CNV_CPU_BLOCK % (ROW_VECTORS * SHORTS) == 0);

static inline Shorts
load_shorts(const gint16 *from)
{
  return *(const LooseShorts *)from;
}

static inline void
store_shorts(gint16 *to, Shorts shorts)
{
  *(LooseShorts *)to = shorts;
}

/* The product of a and b / 2^15, rounded. */
static inline Shorts
weigh(Shorts a, gint16 b)
{
  Shorts all = (guint16)b + (Shorts){0};

#if defined(__AVX512BW__)
  return (Shorts)_mm512_mulhrs_epi16((__m512i)a, (__m512i)all);
#elif defined(__AVX2__)
  return (Shorts)_mm256_mulhrs_epi16((__m256i)a, (__m256i)all);
#else
  return (Shorts)vqrdmulhq_s16((int16x8_t)a, (int16x8_t)all);
#endif
}

static void
load(gint16 *restrict to, const guint8 *restrict from, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = (gint16)(guint16)(from[i] * 64u - 255u * 32u); /* CNV_CPU_FIXED_OF, for compilers to count in 16 bits */
}

/* The upper byte, once what stands for 0 is 0: half a level lies between that and -127.5. */
static void
store(guint8 *restrict to, const gint16 *restrict from, int n)
{
  for (int i = 0; i < n; i++)
    to[i] = (guint8)(((guint16)from[i] >> 8) ^ 0x80);
}

static void
row(gint16 *restrict to, const gint16 *restrict from, int n, const CpuFixed *taps, int channels)
{
  const gint16 *middle = from + taps->radius * channels;

  for (int x = 0; x < n; x += ROW_VECTORS * SHORTS, middle += ROW_VECTORS * SHORTS) {
    Shorts acc[ROW_VECTORS];

    for (int v = 0; v < ROW_VECTORS; v++)
      acc[v] = weigh(load_shorts(middle + v * SHORTS) * 2, taps->tap[0]);
    for (int k = 1; k <= taps->radius; k++)
      for (int v = 0; v < ROW_VECTORS; v++) {
        const gint16 *at = middle + v * SHORTS;

        acc[v] += weigh(load_shorts(at - k * channels) + load_shorts(at + k * channels), taps->tap[k]);
      }
    for (int v = 0; v < ROW_VECTORS; v++)
      store_shorts(to + x + v * SHORTS, acc[v]);
  }
}

/* Each row that is loaded serves both rows of output. */
static void
column(gint16 *restrict to, gsize stride, const gint16 *const *rows, int n, const CpuFixed *taps)
{
  int middle = taps->radius;

  for (int x = 0; x < n; x += COLUMN_VECTORS * SHORTS) {
    Shorts upper[COLUMN_VECTORS], lower[COLUMN_VECTORS], above[COLUMN_VECTORS], below[COLUMN_VECTORS];

    for (int v = 0; v < COLUMN_VECTORS; v++) {
      above[v] = load_shorts(rows[middle] + x + v * SHORTS);
      below[v] = load_shorts(rows[middle + 1] + x + v * SHORTS);
      upper[v] = weigh(above[v] * 2, taps->tap[0]);
      lower[v] = weigh(below[v] * 2, taps->tap[0]);
    }
    for (int k = 1; k <= taps->radius; k++)
      for (int v = 0; v < COLUMN_VECTORS; v++) {
        Shorts first = load_shorts(rows[middle - k] + x + v * SHORTS);
        Shorts last = load_shorts(rows[middle + 1 + k] + x + v * SHORTS);

        upper[v] += weigh(first + below[v], taps->tap[k]);
        lower[v] += weigh(above[v] + last, taps->tap[k]);
        above[v] = first;
        below[v] = last;
      }
    for (int v = 0; v < COLUMN_VECTORS; v++) {
      store_shorts(to + x + v * SHORTS, upper[v]);
      store_shorts(to + stride + x + v * SHORTS, lower[v]);
    }
  }
}

const CpuSimdFixed G_PASTE(cnv_cpu_fixed_, CNV_SIMD) = {.load = load, .store = store, .row = row, .column = column};

#else

const CpuSimdFixed G_PASTE(cnv_cpu_fixed_, CNV_SIMD) = {.load = NULL};

#endif
