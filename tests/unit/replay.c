/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Runs a fuzz target on each file of a directory, instead of libFuzzer.
 * usage: NAME DIRECTORY
 */
#include <glib.h>

#include "unit/fuzz.h"

static void
replay(const char *directory, const char *name)
{
  char *path = g_build_filename(directory, name, NULL), *data;
  GError *error = NULL;
  gsize size;

  if (!g_file_get_contents(path, &data, &size, &error))
    g_error("%s", error->message);
  g_print("%s\n", name); /* before it runs, so that the last name printed is that of the failed input */
  LLVMFuzzerTestOneInput((const uint8_t *)data, size);
  g_free(data);
  g_free(path);
}

int
main(int argc, char **argv)
{
  const char *directory = argc > 1 ? argv[1] : ".", *name;
  GError *error = NULL;
  guint n = 0;
  GDir *dir;

  LLVMFuzzerInitialize(&argc, &argv);
  dir = g_dir_open(directory, 0, &error);
  if (!dir)
    g_error("%s", error->message);
  for (; (name = g_dir_read_name(dir)); n++)
    replay(directory, name);
  g_dir_close(dir);
  g_print("%u inputs\n", n);
  return n > 0 ? 0 : 1;
}
