/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Kernels from files: what is read, what is rejected and where, and that the last kernel that was set counts.
 */
#include <string.h>

#include <glib/gstdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "element/element.h"

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
    {"1 2\n3 x\n", -1, ": line 2, column 3: 'x' is not part of a number: write "},
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
    {"1 nan", -1, ": line 1, column 3: 'n' is not part of a number"},
    {"1 0x10", -1, ": line 1, column 4: 'x' is not part of a number"},
    {"1 1e999", -1, ": line 1, column 3: 1e999 is not finite"},
    {"1\n2\n1e308", -1, ": line 3, column 1: 1e308 is too large, taps reach to 1e+27 either way: scale "},
    {"# two\n9e26 -9e26", -1,
     ": line 2, column 1: the magnitudes of the taps add up to 1.8e+27, and 1e-27 to 1e+27 is "},
    {"1e-300 0", -1, ": line 1, column 1: the magnitudes of the taps add up to 1e-300, and 1e-27 to 1e+27 is "},
    {"1/0", -1, ": line 1, column 1: 1/0 is not finite"},
    {"1/////////////////////////", -1, ": line 1, column 1: '1///////////////' is not a number: write "},
    {"1/", -1, "'1/' is not a number"},
    {"1/2/3", -1, "'1/2/3' is not a number"},
    {"1;2", -1, ": line 1, column 2: ';' is not part of a number"},
    {"1 2\0", 4, ": line 1, column 4: byte 0x00 is not part of a number"},
    {"1 2 #\0", 6, ": line 1, column 6: a byte of 0"},
    {"\xff\xfe"
     "1",
     -1, ": line 1, column 1: byte 0xff"},
    {"1 \xe2\x88\x92"
     "2",
     -1, ": line 1, column 3: byte 0xe2"},
    {"11111111111111111111111111111111111111111111111111111111111111111", -1, "more than 64 characters"},
};

/* A rejected file does not change the kernel, and the element does not start before something good is set. */
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

/* The contents of a file that has no kernel stay out of messages, because messages go to logs. */
GST_START_TEST(test_secret_files)
{
  static const char *const secrets[] = {"root:$6$saltsalt$hashhashhash:19000:0:99999:7:::\n", "1 2 3-secret\n",
                                        "12345678901234567890/secret", "0123456789.0123456789.0123456789\n"};
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++) {
    char *path = write_file(secrets[i], -1);
    GstMessage *message;
    GError *error;

    g_object_set(element, "kernel-location", path, NULL);
    message = gst_bus_pop_filtered(bus, GST_MESSAGE_WARNING);
    fail_unless(message != NULL);
    gst_message_parse_warning(message, &error, NULL);
    for (const char *at = secrets[i]; strlen(at) > 17; at++) {
      char *some = g_strndup(at, 17);

      fail_unless(!strstr(error->message, some), "%s", error->message);
      g_free(some);
    }
    fail_unless(!strstr(error->message, "root") && !strstr(error->message, "secret"), "%s", error->message);
    g_error_free(error);
    gst_message_unref(message);
    g_unlink(path);
    g_free(path);
  }
  free_element(element, bus);
}
GST_END_TEST;

/* Anything but a regular file is rejected at once, without reading it or waiting for a writer. */
GST_START_TEST(test_no_files)
{
  char *folder = g_dir_make_tmp("kernel-XXXXXX", NULL), *fifo = g_build_filename(folder, "fifo", NULL);
  char *address = g_build_filename(folder, "socket", NULL), *link = g_build_filename(folder, "link", NULL);
  char *long_path = g_strnfill(3000000, 'a');
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  const struct {
    const char *path, *fragment;
  } rows[] = {
      {fifo, "/fifo: this is a FIFO, not a regular file: give "},
      {link, "/link: this is a FIFO, not a regular file: give "},
      {folder, ": this is a directory, not a regular file: give "},
      {"/dev/zero", "kernel-location=/dev/zero: this is a device, not a regular file: give "},
      {"/dev/tty", "kernel-location=/dev/tty: "},
      {address, "/socket: "},
      {long_path, "aaa...: "},
  };
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  g_strlcpy(name.sun_path, address, sizeof(name.sun_path));
  fail_unless(mkfifo(fifo, 0600) == 0 && symlink(fifo, link) == 0);
  fail_unless(bind(listener, (struct sockaddr *)&name, sizeof(name)) == 0);
  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_object_set(element, "kernel-location", rows[i].path, NULL);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].fragment), 1);
  }
  close(listener);
  g_unlink(fifo);
  g_unlink(link);
  g_unlink(address);
  g_rmdir(folder);
  g_free(fifo);
  g_free(link);
  g_free(address);
  g_free(folder);
  g_free(long_path);
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
      {1025, 2300, "larger than the limit of 4194304 bytes"},
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

/* Of kernel and kernel-location, the one that was set last counts. Clearing the location clears the taps of the
 * file. */
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
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ": line 1, column 1: 'o' is not part of a number"),
                         1);
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
  tcase_add_test(once, test_secret_files);
  tcase_add_test(once, test_no_files);
  tcase_add_test(once, test_long_files);
  tcase_add_test(once, test_last_kernel_counts);
  tcase_add_test(once, test_file_filters);
}
