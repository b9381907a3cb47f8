/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The Fourier transforms of the CPU engine, of all lengths that it uses and by each instruction set of the machine:
 * forward against sums in float64, backward against what forward was given, and products between the two.
 */
#include <math.h>
#include <string.h>

#include "cpu/cpu.h"
#include "support/suite.h"

#define LONGEST CNV_CPU_FFT_LONGEST
#define FLOATS(n) (2 * CNV_CPU_BAND * (n))
#define GUARD 64
#define GUARD_VALUE 1234.5f

/* Root of the mean square of errors, relative to that of the results: an error of float32 for each pass or so. */
#define ERROR_MOST 3e-7

typedef struct {
  double re, im;
} Number;

typedef struct {
  float given[FLOATS(LONGEST)], numbers[FLOATS(LONGEST) + GUARD], factor[FLOATS(LONGEST)], apart[FLOATS(LONGEST)];
  float table[CNV_CPU_FFT_TABLE(LONGEST) + GUARD];
  Number root[LONGEST];
} Buffers;

static Buffers data;

static Number
number_at(const float *numbers, int i, int lane)
{
  const float *at = numbers + FLOATS(i) + lane;

  return (Number){at[0], at[CNV_CPU_BAND]};
}

/* Where forward puts the sum for k: simd.h states it. */
static int
place(int k, int n)
{
  int radix = CNV_CPU_RADIX(n);

  return n == 8 ? k : k % radix * (n / radix) + place(k / radix, n / radix);
}

static Number
sum_for(const float *given, int k, int n, int lane)
{
  Number sum = {0, 0};

  for (int i = 0; i < n; i++) {
    Number z = number_at(given, i, lane), w = data.root[(gint64)i * k % n];

    sum.re += z.re * w.re - z.im * w.im;
    sum.im += z.re * w.im + z.im * w.re;
  }
  return sum;
}

static void
fill(float *numbers, int n, GRand *random)
{
  for (int i = 0; i < FLOATS(n); i++)
    numbers[i] = (float)g_rand_double_range(random, -1, 1);
}

static void
prepare(int n)
{
  GRand *random = g_rand_new_with_seed((guint32)n);

  for (int i = 0; i < GUARD; i++)
    data.numbers[FLOATS(n) + i] = data.table[CNV_CPU_FFT_TABLE(n) + i] = GUARD_VALUE;
  cnv_cpu_fft_table(data.table, n);
  for (int i = 0; i < n; i++)
    data.root[i] = (Number){cos(2 * G_PI * i / n), -sin(2 * G_PI * i / n)};
  fill(data.given, n, random);
  fill(data.factor, n, random);
  memcpy(data.numbers, data.given, FLOATS(n) * sizeof(float));
  g_rand_free(random);
}

static void
check_guards(const char *name, int n)
{
  for (int i = 0; i < GUARD; i++)
    ck_assert_msg(data.numbers[FLOATS(n) + i] == GUARD_VALUE && data.table[CNV_CPU_FFT_TABLE(n) + i] == GUARD_VALUE,
                  "%s, length %d: float %d beyond the end was written", name, n, i);
}

typedef struct {
  double error, size;
} Squares;

static void
compare(Squares *squares, Number got, Number want)
{
  squares->error += pow(got.re - want.re, 2) + pow(got.im - want.im, 2);
  squares->size += pow(want.re, 2) + pow(want.im, 2);
}

static void
check_squares(const Squares *squares, const char *name, const char *what, int n)
{
  double error = sqrt(squares->error / squares->size);

  ck_assert_msg(error < ERROR_MOST, "%s, %s of length %d: error %g, at most %g", name, what, n, error, ERROR_MOST);
}

/* All sums of one lane, another one for each length, and some of the other lanes. */
static void
check_forward(const CpuSimd *simd, int n)
{
  Squares squares = {0, 0};

  prepare(n);
  simd->transform->forward(data.numbers, NULL, n, data.table);
  check_guards(simd->name, n);
  for (int k = 0; k < n; k++)
    for (int lane = 0; lane < CNV_CPU_BAND; lane++)
      if (lane == k % CNV_CPU_BAND || lane == n / 32 % CNV_CPU_BAND)
        compare(&squares, number_at(data.numbers, place(k, n), lane), sum_for(data.given, k, n, lane));
  check_squares(&squares, simd->name, "forward", n);
}

/* Forward and backward, with products by `factor` between them if they are made in one call. */
static void
check_backward(const CpuSimd *simd, int n, gboolean one_call)
{
  Squares squares = {0, 0};

  prepare(n);
  for (int i = 0; i < n && one_call; i++) /* products by a number for each lane, as it comes back multiplied */
    for (int lane = 0; lane < CNV_CPU_BAND; lane++) {
      data.factor[FLOATS(i) + lane] = (float)(lane + 1);
      data.factor[FLOATS(i) + CNV_CPU_BAND + lane] = -0.5f;
    }
  if (one_call) {
    simd->transform->convolve(data.numbers, data.factor, n, data.table);
  } else {
    simd->transform->forward(data.numbers, NULL, n, data.table);
    simd->transform->backward(data.numbers, NULL, n, data.table);
  }
  check_guards(simd->name, n);
  for (int i = 0; i < n; i++)
    for (int lane = 0; lane < CNV_CPU_BAND; lane++) {
      Number z = number_at(data.given, i, lane), w = {one_call ? lane + 1 : 1, one_call ? -0.5 : 0};

      compare(&squares, number_at(data.numbers, i, lane),
              (Number){n * (z.re * w.re - z.im * w.im), n * (z.re * w.im + z.im * w.re)});
    }
  check_squares(&squares, simd->name, one_call ? "convolve" : "backward", n);
}

/* convolve with any factors, against forward, products in float64 and backward. */
static void
check_products(const CpuSimd *simd, int n)
{
  Squares squares = {0, 0};

  prepare(n);
  simd->transform->forward(data.numbers, NULL, n, data.table);
  for (int i = 0; i < n; i++)
    for (int lane = 0; lane < CNV_CPU_BAND; lane++) {
      Number a = number_at(data.numbers, i, lane), b = number_at(data.factor, i, lane);

      data.numbers[FLOATS(i) + lane] = (float)(a.re * b.re - a.im * b.im);
      data.numbers[FLOATS(i) + CNV_CPU_BAND + lane] = (float)(a.re * b.im + a.im * b.re);
    }
  simd->transform->backward(data.numbers, NULL, n, data.table);
  memcpy(data.apart, data.numbers, FLOATS(n) * sizeof(float));
  memcpy(data.numbers, data.given, FLOATS(n) * sizeof(float));
  simd->transform->convolve(data.numbers, data.factor, n, data.table);
  for (int i = 0; i < n; i++)
    for (int lane = 0; lane < CNV_CPU_BAND; lane++)
      compare(&squares, number_at(data.numbers, i, lane), number_at(data.apart, i, lane));
  check_squares(&squares, simd->name, "products", n);
}

START_TEST(test_transforms)
{
  static const char *const names[] = {"plain", "neon", "avx2", "avx512"};
  int sets = 0;

  for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
    const CpuSimd *simd = cnv_cpu_choose_simd(names[i]);

    if (strcmp(simd->name, names[i]) != 0)
      continue;
    sets++;
    for (int n = CNV_CPU_FFT_SHORTEST; n <= CNV_CPU_FFT_LONGEST; n *= 2) {
      check_forward(simd, n);
      check_backward(simd, n, FALSE);
      check_backward(simd, n, TRUE);
      check_products(simd, n);
    }
  }
  ck_assert_int_gt(sets, 0);
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_transforms);
}

int
main(void)
{
  return test_main("transform", add_tests);
}
