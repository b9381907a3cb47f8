/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#define LONGEST_NAME 1000   /* characters of a path that a message repeats */
#define LEAST_CAPACITY 4096 /* bytes of the first read */

char *
gst_cuda_convolve_file_name(const char *property, const char *path)
{
  g_autofree char *name = g_filename_display_name(path);

  if (g_utf8_strlen(name, -1) > LONGEST_NAME)
    strcpy(g_utf8_offset_to_pointer(name, LONGEST_NAME - 3), "...");
  return g_strdup_printf("%s=%s", property, name);
}

static gint64
nanoseconds(const struct timespec *time)
{
  return (gint64)time->tv_sec * G_GINT64_CONSTANT(1000000000) + time->tv_nsec;
}

void
gst_cuda_convolve_file_stamp(const char *path, GstCudaConvolveFileStamp *stamp)
{
  struct stat info;

  *stamp = (GstCudaConvolveFileStamp){0};
  if (g_stat(path, &info) != 0) {
    stamp->error = errno;
    return;
  }
  stamp->device = info.st_dev;
  stamp->inode = info.st_ino;
  stamp->size = (guint64)info.st_size;
  stamp->changed = nanoseconds(&info.st_ctim);
  stamp->modified = nanoseconds(&info.st_mtim);
}

gboolean
gst_cuda_convolve_file_stamps_equal(const GstCudaConvolveFileStamp *a, const GstCudaConvolveFileStamp *b)
{
  return a->device == b->device && a->inode == b->inode && a->size == b->size && a->changed == b->changed &&
         a->modified == b->modified && a->error == b->error;
}

/* Opens a regular file. Returns NULL with the reason if that fails. Other kinds of files are rejected: they could have
 * no end, or block until there is a writer. O_NONBLOCK avoids that block. */
static FILE *
open_file(const char *path, const char *what, const char *kind, struct stat *info, GError **error)
{
  int number = g_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  FILE *file = number >= 0 ? fdopen(number, "r") : NULL;

  if (file && fstat(number, info) == 0 && S_ISREG(info->st_mode))
    return file;
  if (!file)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: %s: give the path of %s that can be read", what,
                g_strerror(errno), kind);
  else
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: this is %s, not a regular file: give the path of %s", what,
                S_ISDIR(info->st_mode)    ? "a directory"
                : S_ISFIFO(info->st_mode) ? "a FIFO"
                                          : "a device",
                kind);
  g_clear_pointer(&file, fclose);
  return NULL;
}

/* Reads at most `longest` + 1 bytes. Does not rely on the size in the file system, because it is 0 in /proc, and a file
 * can grow. Returns NULL if there is no memory. */
static char *
read_all(FILE *file, gsize expected, gsize longest, gsize *size)
{
  gsize capacity = MIN(MAX(expected + 1, LEAST_CAPACITY), longest + 1);
  char *text = NULL;

  *size = 0;
  for (;;) {
    char *larger = g_try_realloc(text, capacity + 1);

    if (!larger) {
      g_free(text);
      return NULL;
    }
    text = larger;
    *size += fread(text + *size, 1, capacity - *size, file);
    text[*size] = '\0';
    if (*size < capacity || capacity == longest + 1)
      return text;
    capacity = MIN(2 * capacity, longest + 1);
  }
}

char *
gst_cuda_convolve_file_read(const char *property, const char *path, gsize longest, const char *kind, gsize *size,
                            GError **error)
{
  g_autofree char *what = gst_cuda_convolve_file_name(property, path);
  struct stat info;
  FILE *file = open_file(path, what, kind, &info, error);
  char *text = NULL;
  gboolean ok;

  if (!file)
    return NULL;
  *size = (gsize)info.st_size;
  if (*size <= longest)
    text = read_all(file, *size, longest, size);
  if (*size > longest)
    ok = cnv_refuse(error, "%s: larger than the limit of %" G_GSIZE_FORMAT " bytes: give %s", what, longest, kind);
  else if (!text)
    ok = cnv_refuse(error, "%s: no memory for a file of %" G_GINT64_FORMAT " bytes: use a smaller file", what,
                    (gint64)info.st_size);
  else
    ok = !ferror(file) ||
         cnv_refuse(error, "%s: %s: give the path of %s that can be read", what, g_strerror(errno), kind);
  fclose(file);
  return ok ? text : (g_free(text), NULL);
}
