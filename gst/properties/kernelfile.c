/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "properties/kernelfile.h"

#include <math.h>
#include <string.h>

#include "files.h"

#define PROPERTY "kernel-location"
#define LONGEST (2 * CNV_RADIUS_MAX + 1) /* taps along an axis */
#define LONGEST_NUMBER 64                /* bytes */
#define LONGEST_FILE (4 << 20)           /* bytes */
#define LONGEST_QUOTE 16                 /* bytes of a number that a message repeats */
#define NUMBER_CHARACTERS "0123456789+-.eE/"
#define LINE_ENDS "\r\n" /* \r\n is one line end */

typedef struct {
  const char *at, *end, *line_start; /* position, end and start of the line, in a text that ends with a 0 */
  const char *name;                  /* beginning of messages */
  int line;                          /* line number at `at`, from 1 */
  int x, y, t;                       /* number of complete numbers in this row, rows in this frame, and frames */
  int width, first_line;             /* length and line number of the first row; width is 0 before it is complete */
  int height;                        /* rows of the first frame */
  GArray *values;                    /* of double */
  GError **error;
} Reader;

/* Sets an error about a place in the current line, and evaluates to FALSE. */
#define refuse(reader, place, format, ...)                                                                             \
  cnv_refuse((reader)->error, "%s: line %d, column %d: " format, (reader)->name, (reader)->line,                       \
             (int)((place) - (reader)->line_start) + 1, ##__VA_ARGS__)

/* Returns FALSE if text of number characters is not a number. A number that overflows is infinite. */
static gboolean
parse_number(const char *text, const char *text_end, double *number)
{
  char *end;

  *number = g_ascii_strtod(text, &end);
  if (end > text && *end == '/') {
    text = end + 1;
    *number /= g_ascii_strtod(text, &end);
  }
  return end > text && end == text_end;
}

/* Reads a number. A user can name any file, even a secret one, and messages go to logs. So messages only repeat text
 * that could be part of a number, and the one byte at fault. Hexadecimal numbers, "inf" and "nan" are rejected. */
static gboolean
read_number(Reader *reader)
{
  static const char remedy[] = "write integers, decimals or fractions like 1/16, separated by commas or spaces";
  const char *start = reader->at, *end = start + strspn(start, NUMBER_CHARACTERS);
  int length = (int)(end - start), quote = MIN(length, LONGEST_QUOTE);
  double number;

  if (length == 0 || strcspn(end, " \t,#" LINE_ENDS) > 0)
    return *end > ' ' && *end <= '~'
               ? refuse(reader, end, "'%c' is not part of a number: %s", *end, remedy)
               : refuse(reader, end, "byte 0x%02x is not part of a number: save the kernel as plain ASCII text",
                        *end & 0xff);
  if (length > LONGEST_NUMBER)
    return refuse(reader, start, "a number of more than %d characters: shorten it", LONGEST_NUMBER);
  if (!parse_number(start, end, &number))
    return refuse(reader, start, "'%.*s' is not a number: %s", quote, start, remedy);
  if (!isfinite(number))
    return refuse(reader, start, "%.*s is not finite, taps reach to %g either way: do not divide by 0", quote, start,
                  CNV_TAPS_MAX);
  if (fabs(number) > CNV_TAPS_MAX)
    return refuse(reader, start,
                  "%.*s is too large, taps reach to %g either way: scale all taps down by one factor, which "
                  "normalize undoes",
                  quote, start, CNV_TAPS_MAX);
  g_array_append_val(reader->values, number);
  reader->at = end;
  return TRUE;
}

/* Returns FALSE if no number is allowed here. */
static gboolean
check_place(const Reader *reader)
{
  if (reader->t == CNV_MAX_TEMPORAL_TAPS)
    return refuse(reader, reader->at,
                  "more than %d frames: shorten the kernel, or remove the blank lines between rows of a frame",
                  CNV_MAX_TEMPORAL_TAPS);
  if (reader->t > 0 && reader->y == reader->height)
    return refuse(reader, reader->at,
                  "more rows than the %d of the first frame: give all frames the same size (pad with 0)",
                  reader->height);
  if (reader->x == LONGEST || reader->y == LONGEST)
    return refuse(reader, reader->at, "more than %dx%d taps: shorten the kernel", LONGEST, LONGEST);
  if (reader->x == reader->width && reader->width > 0)
    return refuse(reader, reader->at, "more numbers than the %d of line %d: give all rows the same length (pad with 0)",
                  reader->x, reader->first_line);
  return TRUE;
}

/* Reads numbers up to a comment or the end of the line. */
static gboolean
read_numbers(Reader *reader)
{
  const char *comma = NULL;

  reader->x = 0;
  while (reader->at += strspn(reader->at, " \t"), reader->at < reader->end && !memchr("#" LINE_ENDS, *reader->at, 3))
    if (*reader->at == ',') {
      if (comma || reader->x == 0)
        return refuse(reader, reader->at,
                      "a comma with no number before it: remove it, or write the number (0 for no tap)");
      comma = reader->at++;
    } else {
      if (!check_place(reader) || !read_number(reader))
        return FALSE;
      comma = NULL;
      reader->x++;
    }
  return !comma ||
         refuse(reader, comma, "a comma with no number after it: remove it, or write the number (0 for no tap)");
}

static gboolean
finish_row(Reader *reader)
{
  if (reader->x < reader->width)
    return refuse(reader, reader->at,
                  "%d numbers in this row and %d in line %d: give all rows the same length (pad with 0)", reader->x,
                  reader->width, reader->first_line);
  if (reader->width == 0) {
    reader->width = reader->x;
    reader->first_line = reader->line;
  }
  reader->y++;
  return TRUE;
}

/* Called at a blank line and at the end of the text. */
static gboolean
finish_frame(Reader *reader)
{
  if (reader->y == 0)
    return TRUE;
  if (reader->t > 0 && reader->y < reader->height)
    return refuse(reader, reader->at,
                  "%d rows in this frame and %d in the first: give all frames the same size (pad with 0), or remove "
                  "the blank line between rows of a frame",
                  reader->y, reader->height);
  reader->height = reader->y;
  reader->y = 0;
  reader->t++;
  return TRUE;
}

/* A line with only a comment is ignored: only blank lines separate frames. */
static gboolean
read_lines(Reader *reader)
{
  for (;; reader->line++) {
    reader->line_start = reader->at;
    if (!read_numbers(reader) || (reader->x > 0 && !finish_row(reader)))
      return FALSE;
    if (reader->x == 0 && *reader->at != '#' && !finish_frame(reader))
      return FALSE;
    reader->at += strcspn(reader->at, LINE_ENDS);
    if (reader->at == reader->end)
      break;
    if (*reader->at == '\0')
      return refuse(reader, reader->at, "a byte of 0, so the file is not text: save the kernel as plain text");
    reader->at += g_str_has_prefix(reader->at, "\r\n") ? 2 : 1;
  }
  if (!finish_frame(reader))
    return FALSE;
  return reader->t > 0 || refuse(reader, reader->at, "no numbers: write rows of taps, for example 1 2 1");
}

CnvTaps *
gst_cuda_convolve_kernel_parse(const char *text, gsize size, const char *path, GError **error)
{
  g_autofree char *name = gst_cuda_convolve_file_name(PROPERTY, path);
  Reader reader = {.at = text, .end = text + size, .name = name, .line = 1, .error = error};
  CnvTaps *taps = NULL;

  if (g_str_has_prefix(text, "\xef\xbb\xbf")) /* byte order mark of UTF-8 */
    reader.at += 3;
  reader.values = g_array_new(FALSE, FALSE, sizeof(double));
  if (read_lines(&reader)) {
    g_autofree char *what = g_strdup_printf("%s: line %d, column 1", name, reader.first_line);

    taps = cnv_taps_new_volume(reader.width, reader.height, reader.t, (const double *)reader.values->data);
    if (!cnv_taps_check(taps, what, error))
      g_clear_pointer(&taps, cnv_taps_unref);
  }
  g_array_free(reader.values, TRUE);
  return taps;
}

CnvTaps *
gst_cuda_convolve_kernel_load(const char *path, GError **error)
{
  gsize size;
  g_autofree char *text =
      gst_cuda_convolve_file_read(PROPERTY, path, LONGEST_FILE, "a text file of numbers", &size, error);

  return text ? gst_cuda_convolve_kernel_parse(text, size, path, error) : NULL;
}
