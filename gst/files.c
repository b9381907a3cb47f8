/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#define LONGEST_NAME 1000 /* characters of a path that a message repeats */
#define CHUNK (256 << 10) /* bytes read at once */

char *
gst_cuda_convolve_file_name(const char *property, const char *path)
{
  g_autofree char *name = g_filename_display_name(path);

  if (g_utf8_strlen(name, -1) > LONGEST_NAME)
    strcpy(g_utf8_offset_to_pointer(name, LONGEST_NAME - 3), "...");
  return g_strdup_printf("%s=%s", property, name);
}

/* NULL with the reason. Another kind of file than a regular one could have no end, or keep a reader waiting for a
 * writer, which is not waited for here. */
static FILE *
open_file(const char *path, const char *what, const char *kind, GError **error)
{
  int number = g_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  FILE *file = number >= 0 ? fdopen(number, "r") : NULL;
  struct stat info;

  if (file && fstat(number, &info) == 0 && S_ISREG(info.st_mode))
    return file;
  if (!file)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: %s: give the path of %s that can be read", what,
                g_strerror(errno), kind);
  else
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: this is %s, no regular file: give the path of %s", what,
                S_ISDIR(info.st_mode)    ? "a directory"
                : S_ISFIFO(info.st_mode) ? "a FIFO"
                                         : "a device",
                kind);
  g_clear_pointer(&file, fclose);
  return NULL;
}

char *
gst_cuda_convolve_file_read(const char *property, const char *path, gsize longest, const char *kind, gsize *size,
                            GError **error)
{
  g_autofree char *what = gst_cuda_convolve_file_name(property, path);
  FILE *file = open_file(path, what, kind, error);
  char *text = NULL;
  gsize n = 0, read;
  gboolean ok;

  if (!file)
    return NULL;
  do {
    text = g_realloc(text, n + CHUNK + 1);
    read = fread(text + n, 1, MIN(CHUNK, longest + 1 - n), file);
    n += read;
  } while (read > 0 && n <= longest);
  text[n] = '\0';
  ok =
      !ferror(file) || cnv_refuse(error, "%s: %s: give the path of %s that can be read", what, g_strerror(errno), kind);
  if (ok && n > longest)
    ok = cnv_refuse(error, "%s: larger than %" G_GSIZE_FORMAT " bytes: give %s", what, longest, kind);
  fclose(file);
  *size = n;
  return ok ? text : (g_free(text), NULL);
}
