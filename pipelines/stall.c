/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stall.h"

#include <string.h>
#include <time.h>

#define STEPS_PER_S 10 /* steps of CPU time; the check itself needs far less */

static guint64
field(const char *text, const char *name)
{
  const char *at = strstr(text, name);

  return at ? g_ascii_strtoull(at + strlen(name), NULL, 10) : 0;
}

/* Returns the bytes that this process has read: by system calls, from files and pipes, and from storage, because that
 * number grows even during one long read. Does not count the reads of this function. */
static guint64
bytes_read(void)
{
  static gsize own;
  g_autofree char *text = NULL;
  gsize length = 0;
  guint64 sum = 0;

  if (g_file_get_contents("/proc/self/io", &text, &length, NULL))
    sum = field(text, "rchar: ") + field(text, "read_bytes: ") - own;
  own += length;
  return sum;
}

guint64
stall_work(void)
{
  return bytes_read() + (guint64)clock() / (CLOCKS_PER_SEC / STEPS_PER_S);
}

/* Returns FALSE if an element reads anything but a local file. Stores the name of a local file in *file. Before the
 * file is open, only uridecodebin knows it. */
static gboolean
is_local(GstElement *element, char **file)
{
  GstElementFactory *factory = gst_element_get_factory(element);
  const char *kind = factory ? GST_OBJECT_NAME(factory) : "";
  g_autofree char *uri = NULL;

  if (!GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE))
    return TRUE;
  if (strcmp(kind, "filesrc") == 0) {
    g_free(*file);
    g_object_get(element, "location", file, NULL);
  } else if (strcmp(kind, "uridecodebin") == 0) {
    g_object_get(element, "uri", &uri, NULL);
    g_free(*file);
    *file = uri ? g_filename_from_uri(uri, NULL, NULL) : NULL;
  } else {
    return GST_IS_BIN(element);
  }
  return *file != NULL;
}

char *
stall_file(GstElement *pipeline)
{
  g_autoptr(GstIterator) all = gst_bin_iterate_recurse(GST_BIN(pipeline));
  g_auto(GValue) value = G_VALUE_INIT;
  g_autofree char *file = NULL;

  while (gst_iterator_next(all, &value) == GST_ITERATOR_OK) {
    if (!is_local(g_value_get_object(&value), &file))
      return NULL;
    g_value_reset(&value);
  }
  return g_steal_pointer(&file);
}
