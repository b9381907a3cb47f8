/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The installed presets: all set the same properties, to valid values, and cause no warning.
 */
#include "element/element.h"

static GKeyFile *
open_presets(void)
{
  g_autofree char *path = g_build_filename(g_getenv("GST_PRESET_PATH"), "GstCudaConvolve.prs", NULL);
  GKeyFile *file = g_key_file_new();

  fail_unless(g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL), "no presets in %s", path);
  return file;
}

/* Returns the names of the properties, joined. */
static char *
check_values(GKeyFile *file, const char *preset, GstElement *element)
{
  g_auto(GStrv) keys = g_key_file_get_keys(file, preset, NULL, NULL);

  for (char **key = keys; *key; key++) {
    g_autofree char *value = g_key_file_get_value(file, preset, *key, NULL), *read = NULL;

    if (g_str_has_prefix(*key, "_meta/"))
      continue;
    read = read_back(element, *key);
    if (g_ascii_isdigit(*value)) /* reads back as the nearest double, for example 0.10000000000000001 */
      fail_unless(g_ascii_strtod(value, NULL) == g_ascii_strtod(read, NULL), "%s: %s=%s", preset, *key, read);
    else
      fail_unless_equals_string(value, read);
  }
  return g_strjoinv(" ", keys);
}

static void
check_run(GstElement *element, GstBus *bus)
{
  GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);

  for (guint i = 0; i < 3; i++)
    gst_harness_push(h, gray_buffer(W, H, ramp, i));
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, ""), 0);
  gst_harness_teardown(h);
}

GST_START_TEST(test_presets)
{
  static const char *const expected[] = {"denoise", "edges", "motion blur", "privacy", "sharpen", "soft", NULL};
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  g_auto(GStrv) names = gst_preset_get_preset_names(GST_PRESET(element));
  g_autofree char *all = NULL;
  GKeyFile *file = open_presets();

  fail_unless(names && g_strv_equal((const char *const *)names, expected));
  for (char **name = names; *name; name++) {
    g_autofree char *keys = NULL;

    SET(element, "roi-source=meta"); /* presets do not set it */
    fail_unless(gst_preset_load_preset(GST_PRESET(element), *name));
    keys = check_values(file, *name, element);
    if (!all)
      all = g_strdup(keys);
    fail_unless_equals_string(keys, all);
    check_run(element, bus);
  }
  g_key_file_unref(file);
  free_element(element, bus);
}
GST_END_TEST;

void
add_preset_tests(TCase *once)
{
  tcase_add_test(once, test_presets);
}
