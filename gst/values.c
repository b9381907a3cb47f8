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

/* A value in words, of the types that GStreamer can put in words whatever they hold; of others the name of the type.
 * Strings can have megabytes. */
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

static gboolean
refuse_element(const GValue *value, const char *what, guint y, guint x, GError **error)
{
  g_autofree char *text = NULL;

  if (GST_VALUE_HOLDS_ARRAY(value))
    return refuse(error,
                  "%s: row %u, tap %u is an array: numbers make a row, rows a 2D kernel and 2D kernels one over time, "
                  "with every number as deep as the first",
                  what, y + 1, x + 1);
  text = describe(value);
  return refuse(error, "%s: row %u, tap %u is %s, not a finite number: write integers, decimals or fractions like 1/16",
                what, y + 1, x + 1, text);
}

static gboolean
refuse_large(double tap, const char *what, guint y, guint x, GError **error)
{
  return refuse(
      error,
      "%s: row %u, tap %u is %g, and taps reach to %g either way: multiply all by one number, which normalize "
      "takes out again",
      what, y + 1, x + 1, tap, CNV_TAPS_MAX);
}

static gboolean
read_row(const GValue *row, const char *what, guint y, double *taps, GError **error)
{
  for (guint x = 0; x < gst_value_array_get_size(row); x++) {
    const GValue *value = gst_value_array_get_value(row, x);

    if (!number_from_value(value, &taps[x]) || !isfinite(taps[x]))
      return refuse_element(value, what, y, x, error);
    if (fabs(taps[x]) > CNV_TAPS_MAX)
      return refuse_large(taps[x], what, y, x, error);
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

/* Taps of one frame: a row or an array of rows. */
static gboolean
read_frame(const GValue *array, const char *what, int width, int height, double *taps, GError **error)
{
  if (!holds_rows(array))
    return read_row(array, what, 0, taps, error);
  for (int y = 0; y < height; y++)
    if (!read_row(gst_value_array_get_value(array, y), what, y, taps + y * width, error))
      return FALSE;
  return TRUE;
}

/* Taps of a frame of a kernel's rows; NULL with the reason. */
static CnvTaps *
make_frame(const GValue *array, const char *what, GError **error)
{
  gboolean is_2d = holds_rows(array);
  guint n = gst_value_array_get_size(array), height = is_2d ? n : 1;
  guint width = is_2d ? gst_value_array_get_size(gst_value_array_get_value(array, 0)) : n;
  CnvTaps *made;

  if (!check_size(what, width, height, error) || (is_2d && !check_rows(array, what, width, error)))
    return NULL;
  made = cnv_taps_new(width, height, NULL);
  if (!read_frame(array, what, width, height, made->value, error))
    g_clear_pointer(&made, cnv_taps_unref);
  return made;
}

/* Each frame an array of rows, and as large as the first. */
static gboolean
check_frame(const GValue *frame, const char *what, guint t, const CnvTaps *first, GError **error)
{
  guint width, height;

  if (!GST_VALUE_HOLDS_ARRAY(frame) || !holds_rows(frame))
    return refuse(error, "%s: frame %u is not rows as the first is: write each as <<1,2>,<3,4>>", what, t + 1);
  height = gst_value_array_get_size(frame);
  width = gst_value_array_get_size(gst_value_array_get_value(frame, 0));
  if (first && (height != (guint)first->height || width != (guint)first->width))
    return refuse(error, "%s: frame %u has %ux%u taps and frame 1 has %dx%d: give every frame as many (0 fills it up)",
                  what, t + 1, width, height, first->width, first->height);
  return TRUE;
}

static gboolean
read_volume(const GValue *array, const char *what, GPtrArray *frames, GError **error)
{
  guint n = gst_value_array_get_size(array);

  if (n > CNV_MAX_TEMPORAL_TAPS)
    return refuse(error, "%s: %u frames, and at most %d are possible: shorten it", what, n, CNV_MAX_TEMPORAL_TAPS);
  for (guint t = 0; t < n; t++) {
    const GValue *frame = gst_value_array_get_value(array, t);
    g_autofree char *place = g_strdup_printf("%s: frame %u", what, t + 1);
    CnvTaps *made;

    if (!check_frame(frame, what, t, t > 0 ? g_ptr_array_index(frames, 0) : NULL, error))
      return FALSE;
    made = make_frame(frame, place, error);
    if (!made)
      return FALSE;
    g_ptr_array_add(frames, made);
  }
  return TRUE;
}

static CnvTaps *
make_volume(const GValue *array, const char *what, GError **error)
{
  GPtrArray *frames = g_ptr_array_new_with_free_func((GDestroyNotify)cnv_taps_unref);
  CnvTaps *made = NULL;

  if (read_volume(array, what, frames, error)) {
    const CnvTaps *first = g_ptr_array_index(frames, 0);
    gsize n = (gsize)first->width * first->height;

    made = cnv_taps_new_volume(first->width, first->height, (int)frames->len, NULL);
    for (guint t = 0; t < frames->len; t++)
      memcpy(made->value + t * n, ((const CnvTaps *)g_ptr_array_index(frames, t))->value, n * sizeof(double));
  }
  g_ptr_array_unref(frames);
  return made;
}

gboolean
gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps, GError **error)
{
  gboolean is_2d = holds_rows(array), is_3d = is_2d && holds_rows(gst_value_array_get_value(array, 0));
  CnvTaps *made = NULL;

  if (is_2d && !rows)
    return refuse(error, "%s: an array of arrays, and it takes one row of numbers: write <1,2,1>, or use kernel", what);
  if (gst_value_array_get_size(array) > 0) {
    made = is_3d ? make_volume(array, what, error) : make_frame(array, what, error);
    if (!made || !cnv_taps_check(made, what, error)) {
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

static void
append_frame(GValue *array, const double *taps, int width, int height)
{
  for (int y = 0; y < height; y++) {
    GValue row = G_VALUE_INIT;

    g_value_init(&row, GST_TYPE_ARRAY);
    append_row(&row, taps + y * width, width);
    gst_value_array_append_and_take_value(array, &row);
  }
}

void
gst_cuda_convolve_taps_to_value(const CnvTaps *taps, GValue *array)
{
  if (!taps)
    return;
  if (taps->depth == 1 && taps->height == 1) {
    append_row(array, taps->value, taps->width);
    return;
  }
  if (taps->depth == 1) {
    append_frame(array, taps->value, taps->width, taps->height);
    return;
  }
  for (int t = 0; t < taps->depth; t++) {
    GValue frame = G_VALUE_INIT;

    g_value_init(&frame, GST_TYPE_ARRAY);
    append_frame(&frame, taps->value + (gsize)t * taps->width * taps->height, taps->width, taps->height);
    gst_value_array_append_and_take_value(array, &frame);
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
