/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrays of arrays of numbers, in any of GStreamer's number types, to taps or rectangles and back.
 */
#include <math.h>
#include <string.h>

#include "values.h"

#define LONGEST (2 * CNV_RADIUS_MAX + 1) /* taps along an axis */
#define LONGEST_WORDS 60                 /* characters of a value that a message repeats */
#define FARTHEST (32 * CNV_SIZE_MAX)     /* of rectangles, from the frame's corner */

/* Not constants: some are known at run time only. */
#define NUMBERS                                                                                                        \
  G_TYPE_INT, G_TYPE_UINT, G_TYPE_INT64, G_TYPE_UINT64, G_TYPE_LONG, G_TYPE_ULONG, G_TYPE_FLOAT, G_TYPE_DOUBLE,        \
      GST_TYPE_FRACTION

/* The array that a message is about. */
typedef struct {
  const char *what; /* name of the property */
  guint frame;      /* of several, from 1; else 0 */
  GError **error;
} Place;

static gboolean refuse(const Place *place, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
refuse(const Place *place, const char *format, ...)
{
  g_autofree char *text = NULL, *frame = place->frame > 0 ? g_strdup_printf("frame %u: ", place->frame) : NULL;
  va_list args;

  va_start(args, format);
  text = g_strdup_vprintf(format, args);
  va_end(args);
  return cnv_refuse(place->error, "%s: %s%s", place->what, frame ? frame : "", text);
}

/* FALSE for all that is not a number; booleans and strings of digits too, which GValue would convert. */
static gboolean
number_from_value(const GValue *value, double *number)
{
  const GType types[] = {NUMBERS};

  for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
    GValue to = G_VALUE_INIT;

    if (!G_VALUE_HOLDS(value, types[i]))
      continue;
    g_value_init(&to, G_TYPE_DOUBLE);
    g_value_transform(value, &to);
    *number = g_value_get_double(&to);
    g_value_unset(&to);
    return TRUE;
  }
  return FALSE;
}

/* The text of a value, cut since strings can have megabytes. Of types that GStreamer cannot write in every case, the
 * name of the type. */
static char *
describe(const GValue *value)
{
  const GType types[] = {G_TYPE_STRING, G_TYPE_BOOLEAN, NUMBERS};
  char *text = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS(types) && !text; i++)
    if (G_VALUE_HOLDS(value, types[i]))
      text = gst_value_serialize(value);
  if (text && strlen(text) > LONGEST_WORDS)
    strcpy(text + LONGEST_WORDS - 3, "...");
  return text ? text : g_strdup(G_VALUE_TYPE_NAME(value));
}

static guint
size_of(const GValue *array)
{
  return gst_value_array_get_size(array);
}

static gboolean
holds_arrays(const GValue *array)
{
  return size_of(array) > 0 && GST_VALUE_HOLDS_ARRAY(gst_value_array_get_value(array, 0));
}

char *
gst_cuda_convolve_text_from_value(const GValue *array)
{
  g_autoptr(GString) text = g_string_new(NULL);

  for (guint i = 0; i < size_of(array); i++) {
    const GValue *value = gst_value_array_get_value(array, i);
    const char *character = G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : NULL;

    if (!character || g_utf8_strlen(character, -1) != 1)
      return NULL;
    g_string_append(text, character);
  }
  return text->len > 1 ? g_strdup(text->str) : NULL;
}

static gboolean
refuse_tap(const Place *place, const GValue *value, guint y, guint x)
{
  g_autofree char *text = NULL;

  if (GST_VALUE_HOLDS_ARRAY(value))
    return refuse(place,
                  "row %u, tap %u is an array: numbers make a row, rows a 2D kernel and 2D kernels one over time, with "
                  "every number as deep as the first",
                  y + 1, x + 1);
  text = describe(value);
  return refuse(place, "row %u, tap %u is %s, not a finite number: write integers, decimals or fractions like 1/16",
                y + 1, x + 1, text);
}

static gboolean
read_row(const Place *place, const GValue *row, guint y, double *taps)
{
  for (guint x = 0; x < size_of(row); x++) {
    const GValue *value = gst_value_array_get_value(row, x);

    if (!number_from_value(value, &taps[x]) || !isfinite(taps[x]))
      return refuse_tap(place, value, y, x);
    if (fabs(taps[x]) > CNV_TAPS_MAX)
      return refuse(place,
                    "row %u, tap %u is %g, and taps reach to %g either way: multiply all by one number, which "
                    "normalize takes out again",
                    y + 1, x + 1, taps[x], CNV_TAPS_MAX);
  }
  return TRUE;
}

/* A frame's rows, as long as the first. A frame that is not 2D is a row. */
static gboolean
read_frame(const Place *place, const GValue *frame, gboolean is_2d, guint width, double *taps)
{
  for (guint y = 0; y < (is_2d ? size_of(frame) : 1); y++) {
    const GValue *row = is_2d ? gst_value_array_get_value(frame, y) : frame;

    if (!GST_VALUE_HOLDS_ARRAY(row))
      return refuse(place, "entry %u is not a row as the first entry is: put all taps in rows, <<1,2>,<3,4>>", y + 1);
    if (size_of(row) != width)
      return refuse(place, "row %u has %u taps and row 1 has %u: give every row as many (0 fills it up)", y + 1,
                    size_of(row), width);
    if (!read_row(place, row, y, taps + y * width))
      return FALSE;
  }
  return TRUE;
}

static gboolean
check_size(const Place *place, guint width, guint height)
{
  if (width == 0)
    return refuse(place, "row 1 is empty, and a row has 1 to %d taps: fill it, or write <> for no kernel", LONGEST);
  if (width > LONGEST || height > LONGEST)
    return refuse(place, "%ux%u taps, and at most %dx%d are possible: shorten it", width, height, LONGEST, LONGEST);
  return TRUE;
}

/* Frame t is rows, and as large as the first. */
static gboolean
check_frame(const Place *place, const GValue *frame, guint t, const CnvTaps *taps)
{
  guint width, height;

  if (!GST_VALUE_HOLDS_ARRAY(frame) || !holds_arrays(frame))
    return refuse(place, "frame %u is not rows as the first is: write each as <<1,2>,<3,4>>", t + 1);
  height = size_of(frame);
  width = size_of(gst_value_array_get_value(frame, 0));
  return (height == (guint)taps->height && width == (guint)taps->width) ||
         refuse(place, "frame %u has %ux%u taps and frame 1 has %dx%d: give every frame as many (0 fills it up)", t + 1,
                width, height, taps->width, taps->height);
}

/* An array that is not empty: a row, rows or frames of rows. NULL with the reason. */
static CnvTaps *
read_taps(const Place *place, const GValue *array)
{
  gboolean is_2d = holds_arrays(array), is_3d = is_2d && holds_arrays(gst_value_array_get_value(array, 0));
  const GValue *frame = is_3d ? gst_value_array_get_value(array, 0) : array;
  guint width = size_of(is_2d ? gst_value_array_get_value(frame, 0) : frame), height = is_2d ? size_of(frame) : 1;
  guint depth = is_3d ? size_of(array) : 1;
  Place in_frame = {place->what, is_3d ? 1 : 0, place->error};
  CnvTaps *taps;
  gboolean ok = TRUE;

  if (depth > CNV_MAX_TEMPORAL_TAPS)
    refuse(place, "%u frames, and at most %d are possible: shorten it", depth, CNV_MAX_TEMPORAL_TAPS);
  if (depth > CNV_MAX_TEMPORAL_TAPS || !check_size(&in_frame, width, height))
    return NULL;
  taps = cnv_taps_new_volume((int)width, (int)height, (int)depth, NULL);
  for (guint t = 0; ok && t < depth; t++) {
    frame = is_3d ? gst_value_array_get_value(array, t) : array;
    in_frame.frame = is_3d ? t + 1 : 0;
    ok = (!is_3d || check_frame(place, frame, t, taps)) &&
         read_frame(&in_frame, frame, is_2d, width, taps->value + (gsize)t * height * width);
  }
  if (!ok)
    g_clear_pointer(&taps, cnv_taps_unref);
  return taps;
}

gboolean
gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps, GError **error)
{
  const Place place = {what, 0, error};
  CnvTaps *made = NULL;

  if (holds_arrays(array) && !rows)
    return refuse(&place, "an array of arrays, and it takes one row of numbers: write <1,2,1>, or use kernel");
  if (size_of(array) > 0) {
    made = read_taps(&place, array);
    if (!made || !cnv_taps_check(made, what, error)) {
      cnv_taps_unref(made);
      return FALSE;
    }
  }
  cnv_taps_unref(*taps);
  *taps = made;
  return TRUE;
}

/* Appends n[0] numbers of a type, or n[0] arrays of n[1] entries each and so on. Returns the number behind the last. */
static const double *
append(GValue *array, GType type, const int *n, int levels, const double *number)
{
  for (int i = 0; i < n[0]; i++) {
    GValue entry = G_VALUE_INIT;

    if (levels > 1) {
      g_value_init(&entry, GST_TYPE_ARRAY);
      number = append(&entry, type, n + 1, levels - 1, number);
    } else {
      g_value_init(&entry, type);
      if (type == G_TYPE_INT)
        g_value_set_int(&entry, (int)*number++);
      else
        g_value_set_double(&entry, *number++);
    }
    gst_value_array_append_and_take_value(array, &entry);
  }
  return number;
}

void
gst_cuda_convolve_taps_to_value(const CnvTaps *taps, GValue *array)
{
  if (taps) {
    const int n[] = {taps->depth, taps->height, taps->width};
    int levels = taps->depth > 1 ? 3 : taps->height > 1 ? 2 : 1;

    append(array, G_TYPE_DOUBLE, n + 3 - levels, levels, taps->value);
  }
}

/* Whole pixels from min up. */
static gboolean
read_pixels(const GValue *value, int min, int *pixels)
{
  double number;

  if (!number_from_value(value, &number) || !(number >= min && number <= FARTHEST) || number != floor(number))
    return FALSE;
  *pixels = (int)number;
  return TRUE;
}

static gboolean
read_rect(const Place *place, const GValue *value, guint i, CnvRect *rect)
{
  static const char *const names[] = {"x", "y", "width", "height"};
  int *const fields[] = {&rect->x, &rect->y, &rect->width, &rect->height};

  if (!GST_VALUE_HOLDS_ARRAY(value) || size_of(value) != G_N_ELEMENTS(fields))
    return refuse(place, "rectangle %u is not four numbers: write <x,y,width,height>", i + 1);
  for (guint f = 0; f < G_N_ELEMENTS(fields); f++) {
    const GValue *number = gst_value_array_get_value(value, f);
    int min = f < 2 ? -FARTHEST : 0;

    if (!read_pixels(number, min, fields[f])) {
      g_autofree char *text = describe(number);

      return refuse(place, "rectangle %u, %s is %s: write a whole number of pixels, %d to %d", i + 1, names[f], text,
                    min, FARTHEST);
    }
  }
  return TRUE;
}

static gboolean
read_rects(const Place *place, const GValue *array, GArray *rects)
{
  guint n = size_of(array);
  gboolean one = n > 0 && !holds_arrays(array);

  if (n > CNV_MAX_REGIONS && !one)
    return refuse(place, "%u rectangles, and at most %d are possible: merge some", n, CNV_MAX_REGIONS);
  for (guint i = 0; i < (one ? 1 : n); i++) {
    CnvRect rect;

    if (!read_rect(place, one ? array : gst_value_array_get_value(array, i), i, &rect))
      return FALSE;
    g_array_append_val(rects, rect);
  }
  return TRUE;
}

gboolean
gst_cuda_convolve_rects_from_value(const GValue *array, const char *what, GArray **rects, GError **error)
{
  const Place place = {what, 0, error};
  GArray *made = g_array_new(FALSE, FALSE, sizeof(CnvRect));

  if (!read_rects(&place, array, made)) {
    g_array_unref(made);
    return FALSE;
  }
  if (made->len == 0)
    g_clear_pointer(&made, g_array_unref);
  g_clear_pointer(rects, g_array_unref);
  *rects = made;
  return TRUE;
}

void
gst_cuda_convolve_rects_to_value(const GArray *rects, GValue *array)
{
  for (guint i = 0; rects && i < rects->len; i++) {
    const CnvRect *rect = &g_array_index(rects, CnvRect, i);
    const double fields[] = {rect->x, rect->y, rect->width, rect->height};

    append(array, G_TYPE_INT, (const int[]){1, G_N_ELEMENTS(fields)}, 2, fields);
  }
}
