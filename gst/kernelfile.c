/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernelfile.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <glib/gstdio.h>

#define LONGEST (2 * CNV_RADIUS_MAX + 1) /* taps along an axis */
#define LONGEST_NUMBER 64                /* bytes */
#define LONGEST_QUOTE 16                 /* bytes of a number that a message repeats */
#define LONGEST_NAME 1000                /* characters of a path that a message repeats */
#define NUMBER_CHARACTERS "0123456789+-.eE/"

typedef struct {
  const char *at, *end, *line_start, *name;
  int line;         /* number of the one at `at`, from 1 */
  GArray *values;   /* double */
  int width;        /* of the rows, 0 before the first is complete */
  int first_line;   /* of the first row */
  int height;       /* rows of this frame that are complete */
  int depth;        /* frames that are complete */
  int frame_height; /* of them */
  GError **error;
} Reader;

static gboolean refuse(const Reader *reader, const char *at, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Says what is wrong at a place in the current line. */
static gboolean
refuse(const Reader *reader, const char *at, const char *format, ...)
{
  g_autofree char *what = NULL;
  va_list args;

  va_start(args, format);
  what = g_strdup_vprintf(format, args);
  va_end(args);
  return cnv_refuse(reader->error, "kernel-location=%s: line %d, column %d: %s", reader->name, reader->line,
                    (int)(at - reader->line_start) + 1, what);
}

/* The end of the text counts as one. */
static gboolean
at_line_end(const Reader *reader)
{
  return reader->at == reader->end || *reader->at == '\n' || *reader->at == '\r';
}

static gboolean
is_blank(char c)
{
  return c == ' ' || c == '\t';
}

static void
skip_blanks(Reader *reader)
{
  while (reader->at < reader->end && is_blank(*reader->at))
    reader->at++;
}

static gboolean
skip_comment(Reader *reader)
{
  for (; !at_line_end(reader); reader->at++)
    if (*reader->at == '\0')
      return refuse(reader, reader->at, "a byte of 0: this is no text; save the kernel as plain text");
  return TRUE;
}

/* Line ends are "\n", "\r\n" or "\r". */
static void
next_line(Reader *reader)
{
  if (reader->at == reader->end)
    return;
  reader->at += reader->end - reader->at >= 2 && reader->at[0] == '\r' && reader->at[1] == '\n' ? 2 : 1;
  reader->line_start = reader->at;
  reader->line++;
}

/* FALSE where the text is no number; one that overflows is infinite. Hexadecimals, "inf" and "nan" are none. */
static gboolean
parse_number(const char *text, double *number)
{
  char *end;

  if (text[strspn(text, NUMBER_CHARACTERS)])
    return FALSE;
  *number = g_ascii_strtod(text, &end);
  if (end == text)
    return FALSE;
  if (*end == '/') {
    const char *below = end + 1;

    *number /= g_ascii_strtod(below, &end);
    if (end == below)
      return FALSE;
  }
  return *end == '\0';
}

/* Any file can be named, one of secrets too, and messages go to logs: but for the byte at fault, only what could be
 * part of a number is repeated. */
static gboolean
refuse_text(const Reader *reader, const char *start, const char *text)
{
  static const char remedy[] = "write integers, decimals or fractions like 1/16, with commas or spaces between";
  gsize good = strspn(text, NUMBER_CHARACTERS);

  if (text[good])
    return refuse(reader, start + good, "'%c' is not of a number: %s", text[good], remedy);
  return refuse(reader, start, "'%.*s' is not a number: %s", LONGEST_QUOTE, text, remedy);
}

static gboolean
read_number(Reader *reader)
{
  const char *start = reader->at;
  char text[LONGEST_NUMBER + 1] = "";
  double number;

  for (; !at_line_end(reader) && !is_blank(*reader->at) && *reader->at != ',' && *reader->at != '#'; reader->at++) {
    if (*reader->at < ' ' || *reader->at > '~')
      return refuse(reader, reader->at, "byte 0x%02x is not of a number: write plain ASCII text, and save it as such",
                    *reader->at & 0xff);
    if (reader->at - start == LONGEST_NUMBER)
      return refuse(reader, start, "a number of more than %d characters: shorten it", LONGEST_NUMBER);
    text[reader->at - start] = *reader->at;
  }
  if (!parse_number(text, &number))
    return refuse_text(reader, start, text);
  if (!isfinite(number))
    return refuse(reader, start, "%.*s is not finite: taps reach to %g either way; divide by no 0", LONGEST_QUOTE, text,
                  CNV_TAPS_MAX);
  if (fabs(number) > CNV_TAPS_MAX)
    return refuse(reader, start,
                  "%.*s is too large, taps reach to %g either way: multiply all by one number, which normalize takes "
                  "out again",
                  LONGEST_QUOTE, text, CNV_TAPS_MAX);
  g_array_append_val(reader->values, number);
  return TRUE;
}

/* FALSE where no number may come: n are in the row so far. */
static gboolean
check_place(const Reader *reader, int n)
{
  if (reader->depth == CNV_MAX_TEMPORAL_TAPS)
    return refuse(reader, reader->at,
                  "more than %d frames: shorten the kernel, or remove the blank lines between rows of a frame",
                  CNV_MAX_TEMPORAL_TAPS);
  if (reader->depth > 0 && reader->height == reader->frame_height)
    return refuse(reader, reader->at,
                  "more rows than the %d of the first frame: give every frame as many (0 fills it up)",
                  reader->frame_height);
  if (n == LONGEST || reader->height == LONGEST)
    return refuse(reader, reader->at, "more than %dx%d taps: shorten the kernel", LONGEST, LONGEST);
  if (n == reader->width && reader->width > 0)
    return refuse(reader, reader->at, "more numbers than the %d of line %d: give every row as many (0 fills it up)", n,
                  reader->first_line);
  return TRUE;
}

/* Reads up to a comment or the line's end. */
static gboolean
read_row(Reader *reader, int *n)
{
  const char *comma = NULL;

  for (*n = 0; skip_blanks(reader), !at_line_end(reader) && *reader->at != '#';) {
    if (*reader->at == ',') {
      if (comma || *n == 0)
        return refuse(reader, reader->at,
                      "a comma with no number before it: remove it, or write the number (0 where there is no tap)");
      comma = reader->at++;
      continue;
    }
    if (!check_place(reader, *n) || !read_number(reader))
      return FALSE;
    comma = NULL;
    ++*n;
  }
  if (comma)
    return refuse(reader, comma,
                  "a comma with no number after it: remove it, or write the number (0 where there is no tap)");
  return TRUE;
}

static gboolean
finish_row(Reader *reader, int n)
{
  if (n < reader->width)
    return refuse(reader, reader->at,
                  "%d numbers in this row and %d in line %d: give every row as many (0 fills it up)", n, reader->width,
                  reader->first_line);
  if (reader->width == 0) {
    reader->width = n;
    reader->first_line = reader->line;
  }
  reader->height++;
  return TRUE;
}

/* At a blank line and at the end of the text. */
static gboolean
finish_frame(Reader *reader)
{
  if (reader->height == 0)
    return TRUE;
  if (reader->depth > 0 && reader->height < reader->frame_height)
    return refuse(reader, reader->at,
                  "%d rows in this frame and %d in the first: give every frame as many (0 fills it up), or remove the "
                  "blank line between rows of a frame",
                  reader->height, reader->frame_height);
  reader->frame_height = reader->height;
  reader->height = 0;
  reader->depth++;
  return TRUE;
}

/* A line with nothing but a comment is none at all: only blank ones divide frames. */
static gboolean
read_lines(Reader *reader)
{
  int n;

  for (; reader->at < reader->end; next_line(reader)) {
    if (!read_row(reader, &n))
      return FALSE;
    if (n > 0 && !finish_row(reader, n))
      return FALSE;
    if (n == 0 && at_line_end(reader) && !finish_frame(reader))
      return FALSE;
    if (!skip_comment(reader))
      return FALSE;
  }
  if (!finish_frame(reader))
    return FALSE;
  return reader->depth > 0 || refuse(reader, reader->at, "no numbers: write rows of taps, 1 2 1 for example");
}

/* NULL with the reason where the taps together are too large or too small. */
static CnvTaps *
make_taps(const Reader *reader)
{
  g_autofree char *what = g_strdup_printf("kernel-location=%s: line %d, column 1", reader->name, reader->first_line);
  CnvTaps *taps =
      cnv_taps_new_volume(reader->width, reader->frame_height, reader->depth, (const double *)reader->values->data);

  if (!cnv_taps_check(taps, what, reader->error))
    g_clear_pointer(&taps, cnv_taps_unref);
  return taps;
}

CnvTaps *
gst_cuda_convolve_kernel_parse(const char *text, gsize size, const char *name, GError **error)
{
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  Reader reader = {.end = text + size, .name = name, .line = 1, .error = error};
  CnvTaps *taps = NULL;

  if (size >= 3 && memcmp(text, byte_order_mark, 3) == 0)
    text += 3;
  reader.at = reader.line_start = text;
  reader.values = g_array_new(FALSE, FALSE, sizeof(double));
  if (read_lines(&reader))
    taps = make_taps(&reader);
  g_array_free(reader.values, TRUE);
  return taps;
}

static void
set_read_error(const char *name, GError **error)
{
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
              "kernel-location=%s: %s: give the path of a text file that can be read", name, g_strerror(errno));
}

/* Another kind of file could have no end, or keep a reader waiting for a writer. */
static gboolean
is_regular(int file, const char *name, GError **error)
{
  struct stat info;
  gboolean known = fstat(file, &info) == 0;

  if (known && S_ISREG(info.st_mode))
    return TRUE;
  return cnv_refuse(error, "kernel-location=%s: this is %s, no regular file: give the path of a text file", name,
                    !known                   ? "unknown"
                    : S_ISDIR(info.st_mode)  ? "a directory"
                    : S_ISFIFO(info.st_mode) ? "a FIFO"
                                             : "a device");
}

/* Does not wait for a writer. NULL with the reason. */
static FILE *
open_file(const char *path, const char *name, GError **error)
{
  int number = g_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
  FILE *file = number >= 0 ? fdopen(number, "r") : NULL;

  if (!file)
    set_read_error(name, error);
  else if (!is_regular(number, name, error))
    g_clear_pointer(&file, fclose);
  return file;
}

/* A path as a message can hold it: properties take megabytes. */
static char *
name_of(const char *path)
{
  g_autofree char *all = g_filename_display_name(path), *start = NULL;

  if (g_utf8_strlen(all, -1) <= LONGEST_NAME)
    return g_steal_pointer(&all);
  start = g_utf8_substring(all, 0, LONGEST_NAME);
  return g_strconcat(start, "...", NULL);
}

CnvTaps *
gst_cuda_convolve_kernel_load(const char *path, GError **error)
{
  const gsize most = GST_CUDA_CONVOLVE_KERNEL_FILE_MAX;
  g_autofree char *name = name_of(path), *text = g_malloc(most + 1);
  FILE *file = open_file(path, name, error);
  CnvTaps *taps = NULL;
  gsize size;

  if (!file)
    return NULL;
  size = fread(text, 1, most + 1, file);
  if (ferror(file))
    set_read_error(name, error);
  else if (size > most)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "kernel-location=%s: larger than %d bytes, and no kernel needs as many: give a text file of numbers",
                name, GST_CUDA_CONVOLVE_KERNEL_FILE_MAX);
  else
    taps = gst_cuda_convolve_kernel_parse(text, size, name, error);
  fclose(file);
  return taps;
}
