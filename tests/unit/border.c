/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Compares the border function with rows written by hand, up to several times the size of the frame outside it.
 */
#include <string.h>

#include <convolve/border.h>

#include "support/suite.h"

/* The row between the bars is the frame. k: there is no sample. */
static const struct {
  CnvBorder border;
  const char *row;
} rows[] = {
    {CNV_BORDER_CONSTANT, "kkkkkkkkk|abcd|kkkkkkkkk"},
    {CNV_BORDER_RENORMALIZE, "kkkkkkkkk|abcd|kkkkkkkkk"},
    {CNV_BORDER_REPLICATE, "aaaaaaaaa|abcd|ddddddddd"},
    {CNV_BORDER_REFLECT, "abcddcba|abcd|dcbaabcddcb"},
    {CNV_BORDER_REFLECT, "dcbaabcddcba|abcd|dcbaabcddcba"},
    {CNV_BORDER_REFLECT_101, "dcbabcdcb|abcd|cbabcdcba"},
    {CNV_BORDER_REFLECT_101, "abcdcbabcdcb|abcd|cbabcdcbabcd"},
    {CNV_BORDER_WRAP, "dabcdabcd|abcd|abcdabcda"},
    {CNV_BORDER_REFLECT, "abba|ab|baabb"},
    {CNV_BORDER_REFLECT_101, "babab|ab|ababa"},
    {CNV_BORDER_WRAP, "babab|ab|ababa"},
    {CNV_BORDER_REPLICATE, "aaa|a|aaa"},
    {CNV_BORDER_REFLECT, "aaa|a|aaa"},
    {CNV_BORDER_REFLECT_101, "aaa|a|aaa"},
    {CNV_BORDER_WRAP, "aaa|a|aaa"},
    {CNV_BORDER_CONSTANT, "kkk|a|kkk"},
};

START_TEST(test_rows)
{
  for (guint r = 0; r < G_N_ELEMENTS(rows); r++) {
    const char *frame = strchr(rows[r].row, '|') + 1;
    const int n = strchr(frame, '|') - frame, before = frame - 1 - rows[r].row;
    const int after = strlen(frame) - n - 1;

    for (int i = -before; i < n + after; i++) {
      const char expected = i < 0 ? frame[i - 1] : i < n ? frame[i] : frame[i + 1];
      const int index = cnv_border_index(rows[r].border, i, n);

      ck_assert_msg((index < 0 ? 'k' : "abcd"[index]) == expected, "%s: position %d gives index %d", rows[r].row, i,
                    index);
    }
  }
}
END_TEST

/* Compares with reflections and wraps that are found in steps of one, far outside the frame. */
START_TEST(test_far)
{
  static const int sizes[] = {1, 2, 3, 7, 100};

  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    const int n = sizes[s];
    int reflect = 0, reflect_step = 1, mirror = 0, mirror_step = 1;

    for (int i = 0; i < 5000; i++) {
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_WRAP, i, n), i % n);
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_WRAP, -i - 1, n), n - 1 - i % n);
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_REFLECT, i, n), reflect);
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_REFLECT, -i - 1, n), reflect);
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_REFLECT_101, i, n), mirror);
      ck_assert_int_eq(cnv_border_index(CNV_BORDER_REFLECT_101, -i, n), mirror);
      if (reflect + reflect_step < 0 || reflect + reflect_step >= n)
        reflect_step = -reflect_step; /* the edge sample is repeated */
      else
        reflect += reflect_step;
      if (n > 1 && (mirror + mirror_step < 0 || mirror + mirror_step >= n))
        mirror_step = -mirror_step;
      mirror += n > 1 ? mirror_step : 0;
    }
  }
}
END_TEST

/* Checks the properties of each mode against its index function. */
START_TEST(test_answers)
{
  const int n = 100;

  for (CnvBorder border = CNV_BORDER_CONSTANT; border < CNV_N_BORDERS; border++) {
    gboolean missing = cnv_border_index(border, -1, n) < 0, far = FALSE;

    for (int d = 1; d < n; d++)
      far |= cnv_border_index(border, -d, n) > d || (!missing && cnv_border_index(border, n - 1 + d, n) < n - 1 - d);
    ck_assert_int_eq(cnv_border_has_value(border) + cnv_border_renormalizes(border), missing);
    ck_assert_int_eq(cnv_border_reads_far(border), far);
  }
  ck_assert(cnv_border_reads_far(CNV_N_BORDERS)); /* an unknown mode */
}
END_TEST

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_rows);
  tcase_add_test(tcase, test_far);
  tcase_add_test(tcase, test_answers);
}

int
main(void)
{
  return test_main("border", add_tests);
}
