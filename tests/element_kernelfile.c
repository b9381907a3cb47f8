/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels from files: what is read, what is refused and where, and that the kernel that was set last counts.
 */
#include <glib/gstdio.h>
#include <unistd.h>

#include "element.h"

static char *
write_file(const char *text, gssize size)
{
  GError *error = NULL;
  char *path;
  int file = g_file_open_tmp("kernel-XXXXXX", &path, &error);

  fail_unless(file >= 0, "%s", error ? error->message : "");
  close(file);
  fail_unless(g_file_set_contents(path, text, size, NULL));
  return path;
}

static char *
kernel_of(GstElement *element)
{
  return read_back(element, "kernel");
}

static const struct {
  const char *text, *kernel;
} good_files[] = {
    {"1 2 1", "< 1, 2, 1 >"},
    {"1,2,1\n", "< 1, 2, 1 >"},
    {"# blur\r\n\r\n  1/16, 2/16\t1e-1 # weights\r\n.5\t-0.25,+3.\r\n\r\n# end",
     "< < 0.0625, 0.125, 0.10000000000000001 >, < 0.5, -0.25, 3 > >"},
    {"1 2\r3 4\r", "< < 1, 2 >, < 3, 4 > >"},
    {"1\n2\n3\n", "< < 1 >, < 2 >, < 3 > >"},
    {"\xef\xbb\xbf"
     "1 2\n# a remark is no blank line\n3 4",
     "< < 1, 2 >, < 3, 4 > >"},
    {"\n\n1 2\n3 4\n\n \t\n5 6\n7 8\n\n", "< < < 1, 2 >, < 3, 4 > >, < < 5, 6 >, < 7, 8 > > >"},
    {"1\n\n2\n\n3", "< < < 1 > >, < < 2 > >, < < 3 > > >"},
};

GST_START_TEST(test_good_files)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  for (gsize i = 0; i < G_N_ELEMENTS(good_files); i++) {
    char *path = write_file(good_files[i].text, -1), *location, *kernel;

    g_object_set(element, "kernel-location", path, NULL);
    g_object_get(element, "kernel-location", &location, NULL);
    kernel = kernel_of(element);
    fail_unless_equals_string(location, path);
    fail_unless_equals_string(kernel, good_files[i].kernel);
    g_unlink(path);
    g_free(path);
    g_free(location);
    g_free(kernel);
  }
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
  free_element(element, bus);
}
GST_END_TEST;

static const struct {
  const char *text;
  gssize size; /* -1: up to the first 0 */
  const char *fragment;
} bad_files[] = {
    {"", -1, ": line 1, column 1: no numbers"},
    {"# nothing\n\n", -1, ": line 3, column 1: no numbers"},
    {"1 2\n3 x\n", -1, ": line 2, column 3: 'x' is not a number: write "},
    {"1 2 3\n4 5\n", -1, ": line 2, column 4: 2 numbers in this row and 3 in line 1"},
    {"# a\n1 2\n3 4 5\n", -1, ": line 3, column 5: more numbers than the 2 of line 2"},
    {"1 2\n\n3 4\n5 6\n", -1, ": line 4, column 1: more rows than the 1 of the first frame"},
    {"1 2\n3 4\n\n5 6\n", -1, ": line 5, column 1: 1 rows in this frame and 2 in the first"},
    {"1 2\n3 4\n\n5 6\n\n7 8", -1, ": line 5, column 1: 1 rows in this frame and 2 in the first"},
    {"1 2\n\n3\n", -1, ": line 3, column 2: 1 numbers in this row and 2 in line 1"},
    {"1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n"
     "1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n\n1\n",
     -1, ": line 63, column 1: more than 31 frames"},
    {"1,,2", -1, ": line 1, column 3: a comma with no number before it"},
    {",1", -1, ": line 1, column 1: a comma with no number before it"},
    {"1, # and\n", -1, ": line 1, column 2: a comma with no number after it"},
    {"1 nan", -1, ": line 1, column 3: 'nan' is not a number"},
    {"1 0x10", -1, ": line 1, column 3: '0x10' is not a number"},
    {"1 1e999", -1, ": line 1, column 3: 1e999 is not finite"},
    {"1/0", -1, ": line 1, column 1: 1/0 is not finite"},
    {"1/", -1, "'1/' is not a number"},
    {"1/2/3", -1, "'1/2/3' is not a number"},
    {"1;2", -1, "'1;2' is not a number"},
    {"1 2\0", 4, ": line 1, column 4: byte 0x00 is not of a number"},
    {"1 2 #\0", 6, ": line 1, column 6: a byte of 0"},
    {"\xff\xfe"
     "1",
     -1, ": line 1, column 1: byte 0xff"},
    {"1 \xe2\x88\x92"
     "2",
     -1, ": line 1, column 3: byte 0xe2"},
    {"11111111111111111111111111111111111111111111111111111111111111111", -1, "more than 64 characters"},
};

/* A file that is refused leaves the kernel as it was, and the element does not start before something good is set. */
GST_START_TEST(test_bad_files)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *path = write_file(bad_files[__i__].text, bad_files[__i__].size), *kernel, *location;

  SET(element, "filter=custom", "kernel=<1,2,1>");
  g_object_set(element, "kernel-location", path, NULL);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, bad_files[__i__].fragment), 1);
  g_object_get(element, "kernel-location", &location, NULL);
  kernel = kernel_of(element);
  fail_unless(location == NULL);
  fail_unless_equals_string(kernel, "< 1, 2, 1 >");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, bad_files[__i__].fragment), 1);
  gst_element_set_state(element, GST_STATE_NULL);
  SET(element, "kernel=<1,3>");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  g_unlink(path);
  g_free(path);
  g_free(kernel);
  free_element(element, bus);
}
GST_END_TEST;

static char *
rows_of_ones(int width, int height)
{
  GString *text = g_string_new(NULL);

  for (int i = 0; i < width * height; i++)
    g_string_append(text, (i + 1) % width == 0 ? "1\n" : "1 ");
  return g_string_free(text, FALSE);
}

GST_START_TEST(test_long_files)
{
  const struct {
    int width, height;
    const char *fragment;
  } rows[] = {
      {1025, 1, NULL},
      {1, 1025, NULL},
      {1026, 1, ": line 1, column 2051: more than 1025x1025 taps"},
      {1, 1026, ": line 1026, column 1: more than 1025x1025 taps"},
      {1025, 2300, "larger than 4194304 bytes"},
  };
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    char *text = rows_of_ones(rows[i].width, rows[i].height), *path = write_file(text, -1);

    g_object_set(element, "kernel-location", path, NULL);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].fragment ? rows[i].fragment : ""),
                           rows[i].fragment ? 1 : 0);
    g_unlink(path);
    g_free(path);
    g_free(text);
  }
  free_element(element, bus);
}
GST_END_TEST;

/* Of kernel and kernel-location the last one that was set counts; clearing the location clears what the file gave. */
GST_START_TEST(test_last_kernel_counts)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *path = write_file("1 5", -1), *bad = write_file("oops", -1);
  const struct {
    const char *name, *value, *kernel, *location;
  } steps[] = {
      {"kernel-location", path, "< 1, 5 >", path}, {"kernel", "<3>", "< 3 >", NULL},
      {"kernel-location", "", "< 3 >", NULL},      {"kernel-location", path, "< 1, 5 >", path},
      {"kernel-location", bad, "< 1, 5 >", path},  {"kernel-location", "", "<  >", NULL},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
    char *kernel, *location;

    gst_util_set_object_arg(G_OBJECT(element), steps[i].name, steps[i].value);
    g_object_get(element, "kernel-location", &location, NULL);
    kernel = kernel_of(element);
    fail_unless_equals_string(kernel, steps[i].kernel);
    fail_unless_equals_string(location, steps[i].location);
    g_free(kernel);
    g_free(location);
  }
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ": line 1, column 1: 'oops'"), 1);
  g_unlink(path);
  g_unlink(bad);
  g_free(path);
  g_free(bad);
  free_element(element, bus);
}
GST_END_TEST;

GST_START_TEST(test_file_filters)
{
  const guint8 shifted[W * H] = {9, 18, 27, 27, 45, 54, 63, 63, 81, 90, 99, 99};
  char *path = write_file("0 0 1\n", -1), *set = g_strconcat("kernel-location=", path, NULL);
  GstHarness *h = HARNESS("cpu", "GRAY8", W, H, "filter=custom", set);

  expect_ramp(h, 0, shifted);
  gst_harness_teardown(h);
  g_unlink(path);
  g_free(path);
  g_free(set);
}
GST_END_TEST;

void
add_kernelfile_tests(TCase *once)
{
  tcase_add_test(once, test_good_files);
  tcase_add_loop_test(once, test_bad_files, 0, G_N_ELEMENTS(bad_files));
  tcase_add_test(once, test_long_files);
  tcase_add_test(once, test_last_kernel_counts);
  tcase_add_test(once, test_file_filters);
}
