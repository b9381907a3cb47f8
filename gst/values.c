/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Arrays of arrays of numbers, in any of GStreamer's number types, to taps or rectangles and back.
 */
#include <math.h>

#include "values.h"

#define LONGEST (2 * CNV_RADIUS_MAX + 1) /* taps along an axis */
#define FARTHEST (32 * CNV_SIZE_MAX)     /* of rectangles, from the frame's corner */

/* Not constants: some are known at run time only. */
#define NUMBERS                                                                                                        \
  G_TYPE_INT, G_TYPE_UINT, G_TYPE_INT64, G_TYPE_UINT64, G_TYPE_LONG, G_TYPE_ULONG, G_TYPE_FLOAT, G_TYPE_DOUBLE,        \
      GST_TYPE_FRACTION

static gboolean refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);

static gboolean
refuse(GError **error, const char *format, ...)
{
  va_list args;

  va_start(args, format);
  g_propagate_error(error, g_error_new_valist(CNV_ERROR, CNV_ERROR_SETTINGS, format, args));
  va_end(args);
  return FALSE;
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

static gboolean
holds_rows(const GValue *array)
{
  return gst_value_array_get_size(array) > 0 && GST_VALUE_HOLDS_ARRAY(gst_value_array_get_value(array, 0));
}

/* A value in words, of the types that GStreamer can put in words whatever they hold; of others the name of the type. */
static char *
describe(const GValue *value)
{
  const GType types[] = {G_TYPE_STRING, G_TYPE_BOOLEAN, NUMBERS};
  char *text = NULL;

  for (gsize i = 0; i < G_N_ELEMENTS(types) && !text; i++)
    if (G_VALUE_HOLDS(value, types[i]))
      text = gst_value_serialize(value);
  return text ? text : g_strdup(G_VALUE_TYPE_NAME(value));
}

static gboolean
refuse_element(const GValue *value, const char *what, guint y, guint x, GError **error)
{
  g_autofree char *text = NULL;

  if (GST_VALUE_HOLDS_ARRAY(value))
    return refuse(error,
                  "%s: row %u, tap %u is an array: numbers make a row, rows a 2D kernel; three levels (time) are not "
                  "supported yet",
                  what, y + 1, x + 1);
  text = describe(value);
  return refuse(error, "%s: row %u, tap %u is %s, not a finite number: write integers, decimals or fractions like 1/16",
                what, y + 1, x + 1, text);
}

static gboolean
read_row(const GValue *row, const char *what, guint y, double *taps, GError **error)
{
  for (guint x = 0; x < gst_value_array_get_size(row); x++) {
    const GValue *value = gst_value_array_get_value(row, x);

    if (!number_from_value(value, &taps[x]) || !isfinite(taps[x]))
      return refuse_element(value, what, y, x, error);
  }
  return TRUE;
}

/* Each row an array, and as long as the first. */
static gboolean
check_rows(const GValue *array, const char *what, guint width, GError **error)
{
  for (guint y = 0; y < gst_value_array_get_size(array); y++) {
    const GValue *row = gst_value_array_get_value(array, y);

    if (!GST_VALUE_HOLDS_ARRAY(row))
      return refuse(error, "%s: entry %u is not a row as the first entry is: put all taps in rows, <<1,2>,<3,4>>", what,
                    y + 1);
    if (gst_value_array_get_size(row) != width)
      return refuse(error, "%s: row %u has %u taps and row 1 has %u: give every row as many (0 fills it up)", what,
                    y + 1, gst_value_array_get_size(row), width);
  }
  return TRUE;
}

static gboolean
check_size(const char *what, guint width, guint height, GError **error)
{
  if (width == 0)
    return refuse(error, "%s: row 1 is empty, and a row has 1 to %d taps: fill it, or write <> for no kernel", what,
                  LONGEST);
  if (width > LONGEST || height > LONGEST)
    return refuse(error, "%s: %ux%u taps, and at most %dx%d are possible: shorten it", what, width, height, LONGEST,
                  LONGEST);
  return TRUE;
}

static gboolean
read_taps(const GValue *array, const char *what, CnvTaps *taps, GError **error)
{
  if (!holds_rows(array))
    return read_row(array, what, 0, taps->value, error);
  for (int y = 0; y < taps->height; y++)
    if (!read_row(gst_value_array_get_value(array, y), what, y, taps->value + y * taps->width, error))
      return FALSE;
  return TRUE;
}

gboolean
gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps, GError **error)
{
  gboolean is_2d = holds_rows(array);
  guint n = gst_value_array_get_size(array);
  guint width = is_2d ? gst_value_array_get_size(gst_value_array_get_value(array, 0)) : n;
  CnvTaps *made = NULL;

  if (is_2d && !rows)
    return refuse(error, "%s: an array of arrays, and it takes one row of numbers: write <1,2,1>, or use kernel", what);
  if (n > 0) {
    if (!check_size(what, width, is_2d ? n : 1, error) || (is_2d && !check_rows(array, what, width, error)))
      return FALSE;
    made = cnv_taps_new(width, is_2d ? n : 1, NULL);
    if (!read_taps(array, what, made, error)) {
      cnv_taps_unref(made);
      return FALSE;
    }
  }
  cnv_taps_unref(*taps);
  *taps = made;
  return TRUE;
}

static void
append_row(GValue *array, const double *taps, int n)
{
  for (int i = 0; i < n; i++) {
    GValue number = G_VALUE_INIT;

    g_value_init(&number, G_TYPE_DOUBLE);
    g_value_set_double(&number, taps[i]);
    gst_value_array_append_and_take_value(array, &number);
  }
}

void
gst_cuda_convolve_taps_to_value(const CnvTaps *taps, GValue *array)
{
  if (!taps)
    return;
  if (taps->height == 1) {
    append_row(array, taps->value, taps->width);
    return;
  }
  for (int y = 0; y < taps->height; y++) {
    GValue row = G_VALUE_INIT;

    g_value_init(&row, GST_TYPE_ARRAY);
    append_row(&row, taps->value + y * taps->width, taps->width);
    gst_value_array_append_and_take_value(array, &row);
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
read_rect(const GValue *value, const char *what, guint i, CnvRect *rect, GError **error)
{
  static const char *const names[] = {"x", "y", "width", "height"};
  int *const fields[] = {&rect->x, &rect->y, &rect->width, &rect->height};

  if (!GST_VALUE_HOLDS_ARRAY(value) || gst_value_array_get_size(value) != G_N_ELEMENTS(fields))
    return refuse(error, "%s: rectangle %u is not four numbers: write <x,y,width,height>", what, i + 1);
  for (guint f = 0; f < G_N_ELEMENTS(fields); f++) {
    const GValue *number = gst_value_array_get_value(value, f);
    int min = f < 2 ? -FARTHEST : 0;

    if (!read_pixels(number, min, fields[f])) {
      g_autofree char *text = describe(number);

      return refuse(error, "%s: rectangle %u, %s is %s: write a whole number of pixels, %d to %d", what, i + 1,
                    names[f], text, min, FARTHEST);
    }
  }
  return TRUE;
}

static gboolean
read_rects(const GValue *array, const char *what, GArray *rects, GError **error)
{
  guint n = gst_value_array_get_size(array);
  gboolean one = n > 0 && !GST_VALUE_HOLDS_ARRAY(gst_value_array_get_value(array, 0));

  if (n > CNV_MAX_REGIONS && !one)
    return refuse(error, "%s: %u rectangles, and at most %d are possible: merge some", what, n, CNV_MAX_REGIONS);
  for (guint i = 0; i < (one ? 1 : n); i++) {
    CnvRect rect;

    if (!read_rect(one ? array : gst_value_array_get_value(array, i), what, i, &rect, error))
      return FALSE;
    g_array_append_val(rects, rect);
  }
  return TRUE;
}

gboolean
gst_cuda_convolve_rects_from_value(const GValue *array, const char *what, GArray **rects, GError **error)
{
  GArray *made = g_array_new(FALSE, FALSE, sizeof(CnvRect));

  if (!read_rects(array, what, made, error)) {
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
    const int fields[] = {rect->x, rect->y, rect->width, rect->height};
    GValue entry = G_VALUE_INIT;

    g_value_init(&entry, GST_TYPE_ARRAY);
    for (guint f = 0; f < G_N_ELEMENTS(fields); f++) {
      GValue number = G_VALUE_INIT;

      g_value_init(&number, G_TYPE_INT);
      g_value_set_int(&number, fields[f]);
      gst_value_array_append_and_take_value(&entry, &number);
    }
    gst_value_array_append_and_take_value(array, &entry);
  }
}
