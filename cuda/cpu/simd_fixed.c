/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Filters rows and columns by symmetric taps in 16 bits (simd.h), compiled once for each instruction set, like simd.c.
 * It needs an instruction that returns the rounded upper half of a product.
 */
#include "cpu/simd.h"

#include <string.h>

#include "cpu/shorts.h"

#ifdef HAVE_UPPER_HALF

#define ROW_VECTORS 2 /* vectors of even samples, and of odd ones */

G_STATIC_ASSERT(CNV_CPU_FIXED_BLOCK % (2 * ROW_VECTORS * SHORTS) == 0);
G_STATIC_ASSERT(CNV_CPU_ROWS == 4);

/* Returns the product of a and b / 2^15, rounded. */
static inline Shorts
weigh(Shorts a, gint16 b)
{
  return upper_half(a, (guint16)b + (Shorts){0});
}

/* Adds without reordering: in the order that compilers choose, sums of integers need too many registers. */
static inline void
add(Shorts *sum, Shorts more)
{
  *sum += more;
  __asm__("" : IN_REGISTER(*sum));
}

/* ---- 8 bits ---- */

/* Splits bytes into even and odd samples. The even sample is the lower byte of a 16-bit number. */
static inline void
load_both(gint16 *even, gint16 *odd, const guint8 *from)
{
  Shorts both = load_shorts(from);

  store_shorts(even, ((both << 6) & 255 << 6) - CNV_CPU_FIXED_MIDDLE);
  store_shorts(odd, ((both >> 2) & 255 << 6) - CNV_CPU_FIXED_MIDDLE);
}

static void
load(gint16 *restrict to, gsize odd, const guint8 *restrict from, int n)
{
  int i = 0;

  for (; i + VECTOR_BYTES <= n; i += VECTOR_BYTES)
    load_both(to + i / 2, to + odd + i / 2, from + i);
  if (i < n && n >= VECTOR_BYTES) { /* the last vector overlaps the one before */
    i = (n - VECTOR_BYTES) / 2 * 2;
    load_both(to + i / 2, to + odd + i / 2, from + i);
    i += VECTOR_BYTES;
  }
  for (; i < n; i++)
    to[i % 2 * odd + i / 2] = (gint16)CNV_CPU_FIXED_OF(from[i]);
}

/* ---- rows ---- */

/* Sums of two neighbours of a channel, and the samples that taps have reached left of the first and right of the
 * second. */
typedef struct {
  Shorts first, second, left, right;
} Pair;

static inline void
start_pair(Pair *pair, const gint16 *first, const gint16 *second, gint16 tap)
{
  pair->left = load_shorts(first);
  pair->right = load_shorts(second);
  pair->first = weigh(pair->left * 2, tap);
  pair->second = weigh(pair->right * 2, tap);
}

/* Adds the next tap to both sums. Each sum needs a new sample on its outer side. On its inner side it uses the sample
 * that the other sum loaded for the tap before. */
static inline void
widen_pair(Pair *pair, const gint16 *left, const gint16 *right, gint16 tap)
{
  Shorts further_left = load_shorts(left), further_right = load_shorts(right);

  pair->first += weigh(further_left + pair->right, tap);
  pair->second += weigh(pair->left + further_right, tap);
  pair->left = further_left;
  pair->right = further_right;
}

/* Filters a row with an odd number of channels. Neighbours of a channel are an even and an odd sample, so each loaded
 * vector serves both sums. The odd sample is `channels` samples later, so the first even ones are before the row. */
static void
row_of_pairs(gint16 *to, const gint16 *from, gsize odd_at, int n, const CpuFixed *taps)
{
  int radius = taps->radius, channels = taps->channels, move = channels / 2;
  gint16 *restrict to_even = to, *restrict to_odd = to + odd_at + move;
  const gint16 *restrict evens = from, *restrict odds = from + odd_at + move;

  for (int x = -move; x < n; x += ROW_VECTORS * SHORTS) {
    Pair pair[ROW_VECTORS];
    const gint16 *even = evens + x, *odd = odds + x;

    for (int v = 0; v < ROW_VECTORS; v++)
      start_pair(&pair[v], even + v * SHORTS, odd + v * SHORTS, taps->tap[0]);
    for (int k = 1, distance = channels; k <= radius; k += 2, distance += channels) {
      for (int v = 0; v < ROW_VECTORS; v++)
        widen_pair(&pair[v], odd + v * SHORTS - distance, even + v * SHORTS + distance, taps->tap[k]);
      if (k == radius)
        break;
      for (int v = 0; v < ROW_VECTORS; v++)
        widen_pair(&pair[v], even + v * SHORTS - distance, odd + v * SHORTS + distance, taps->tap[k + 1]);
    }
    for (int v = 0; v < ROW_VECTORS; v++) {
      store_shorts(to_even + x + v * SHORTS, pair[v].first);
      store_shorts(to_odd + x + v * SHORTS, pair[v].second);
    }
  }
}

/* Filters the even or the odd samples of a row with an even number of channels, half of which are in each half. */
static void
row_of_half(gint16 *restrict to, const gint16 *restrict middle, int n, const CpuFixed *taps)
{
  int channels = taps->channels / 2;

  for (int x = 0; x < n; x += 2 * ROW_VECTORS * SHORTS, middle += 2 * ROW_VECTORS * SHORTS) {
    Shorts acc[2 * ROW_VECTORS];

    for (int v = 0; v < 2 * ROW_VECTORS; v++)
      acc[v] = weigh(load_shorts(middle + v * SHORTS) * 2, taps->tap[0]);
    for (int k = 1; k <= taps->radius; k++)
      for (int v = 0; v < 2 * ROW_VECTORS; v++) {
        const gint16 *at = middle + v * SHORTS;

        acc[v] += weigh(load_shorts(at - k * channels) + load_shorts(at + k * channels), taps->tap[k]);
      }
    for (int v = 0; v < 2 * ROW_VECTORS; v++)
      store_shorts(to + x + v * SHORTS, acc[v]);
  }
}

static void
row(gint16 *to, const gint16 *from, gsize odd, int n, const CpuFixed *taps)
{
  if (taps->channels % 2) {
    row_of_pairs(to, from, odd, (n + 1) / 2, taps);
  } else {
    row_of_half(to, from, n / 2, taps);
    row_of_half(to + odd, from + odd, n / 2, taps);
  }
}

/* ---- columns ---- */

/* Sums of CNV_CPU_ROWS neighbours in a column. Row i above or below them is stored at i % CNV_CPU_ROWS. */
typedef struct {
  Shorts sum[CNV_CPU_ROWS], above[CNV_CPU_ROWS], below[CNV_CPU_ROWS];
} Stack;

/* Adds tap k. turn: k % CNV_CPU_ROWS, a constant, so that the rows that taps have reached stay in registers. middle:
 * row of the first sum. */
ALWAYS_INLINE void
widen_stack(Stack *stack, const gint16 *const *middle, gsize x, int k, const CpuFixed *taps, const int turn)
{
  stack->above[(CNV_CPU_ROWS - turn) % CNV_CPU_ROWS] = load_shorts(middle[-k] + x);
  stack->below[(CNV_CPU_ROWS - 1 + turn) % CNV_CPU_ROWS] = load_shorts(middle[CNV_CPU_ROWS - 1 + k] + x);
  for (int i = 0; i < CNV_CPU_ROWS; i++)
    add(&stack->sum[i],
        weigh(stack->above[(CNV_CPU_ROWS + i - turn) % CNV_CPU_ROWS] + stack->below[(i + turn) % CNV_CPU_ROWS],
              taps->tap[k]));
}

/* Returns the sums of a vector of columns from x on. */
ALWAYS_INLINE Stack
stack_up(const gint16 *const *middle, gsize x, const CpuFixed *taps, const int radius)
{
  Stack stack;
  int k = 1;

  for (int i = 0; i < CNV_CPU_ROWS; i++) {
    stack.above[i] = stack.below[i] = load_shorts(middle[i] + x);
    stack.sum[i] = weigh(stack.above[i] * 2, taps->tap[0]);
  }
  for (; k + 3 <= radius; k += 4) {
    widen_stack(&stack, middle, x, k, taps, 1);
    widen_stack(&stack, middle, x, k + 1, taps, 2);
    widen_stack(&stack, middle, x, k + 2, taps, 3);
    widen_stack(&stack, middle, x, k + 3, taps, 0);
  }
  if (k <= radius)
    widen_stack(&stack, middle, x, k, taps, 1);
  if (k + 1 <= radius)
    widen_stack(&stack, middle, x, k + 1, taps, 2);
  if (k + 2 <= radius)
    widen_stack(&stack, middle, x, k + 2, taps, 3);
  return stack;
}

static void
column(gint16 *restrict to, gsize stride, const gint16 *const *rows, gsize first, int n, const CpuFixed *taps)
{
  for (gsize x = first; x < first + n; x += SHORTS) {
    Stack stack = stack_up(rows + taps->radius, x, taps, taps->radius);

    for (int i = 0; i < CNV_CPU_ROWS; i++)
      store_shorts(to + i * stride + x, stack.sum[i]);
  }
}

/* Stores the upper bytes of sums relative to 127.5. 0x8080 adds 128 to each byte, half a level more, which rounds to
 * nearest. */
ALWAYS_INLINE void
fill_rows(guint8 *const *to, const gint16 *const *middle, gsize odd, int n, const CpuFixed *taps, const int radius)
{
  for (int x = 0; x < n; x += VECTOR_BYTES) {
    Stack evens = stack_up(middle, x / 2, taps, radius), odds = stack_up(middle, odd + x / 2, taps, radius);

    for (int i = 0; i < CNV_CPU_ROWS; i++) {
      Shorts both = (evens.sum[i] >> 8 | (odds.sum[i] & 0xff00)) ^ 0x8080;

      if (x + VECTOR_BYTES <= n)
        store_shorts(to[i] + x, both);
      else
        memcpy(to[i] + x, &both, n - x);
    }
  }
}

static void
column_to_bytes(guint8 *const *to, const gint16 *const *rows, gsize odd, int n, const CpuFixed *taps)
{
  const gint16 *const *middle = rows + taps->radius;

  if (taps->radius == 1)
    fill_rows(to, middle, odd, n, taps, 1);
  else if (taps->radius == 2)
    fill_rows(to, middle, odd, n, taps, 2);
  else
    fill_rows(to, middle, odd, n, taps, taps->radius);
}

/* Returns a sum, rounded as in fill_rows and composited over a sample, in the upper byte. One sample in 500 is one off.
 * The 1 compensates for the bits that the products lose, and for all of them if the weight is 0 or 255. */
static inline guint16
composite_sum(gint16 sum, guint16 sample, guint16 weight)
{
  guint16 to = (guint16)sum ^ 0x8000, from = (guint16)(sample << 8 | 0x80), factor = (guint16)(weight * 257);
  guint16 rest = (guint16)~factor;

  return (guint16)(((guint32)to * factor >> 16) + ((guint32)from * rest >> 16) + 1);
}

typedef guint16 LooseShort __attribute__((aligned(1), may_alias));

static void
composite(guint8 *restrict to, const gint16 *restrict sums, gsize odd, const guint8 *restrict weight,
          const guint8 *restrict from, int n)
{
  const LooseShort *samples = (const LooseShort *)from, *weights = (const LooseShort *)weight;
  const gint16 *odds = sums + odd;
  LooseShort *both = (LooseShort *)to;

  for (int i = 0; i < n / 2; i++)
    both[i] = (guint16)(composite_sum(sums[i], samples[i] & 0xff, weights[i] & 0xff) >> 8 |
                        (composite_sum(odds[i], samples[i] >> 8, weights[i] >> 8) & 0xff00));
  if (n % 2)
    to[n - 1] = (guint8)(composite_sum(sums[n / 2], from[n - 1], weight[n - 1]) >> 8);
}

const CpuSimdFixed G_PASTE(cnv_cpu_fixed_, CNV_SIMD) = {
    .load = load, .row = row, .column = column, .column_to_bytes = column_to_bytes, .composite = composite};

#else

const CpuSimdFixed G_PASTE(cnv_cpu_fixed_, CNV_SIMD) = {.load = NULL};

#endif
