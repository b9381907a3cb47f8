/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Converts arrays of arrays of numbers, of any number type of GStreamer, to taps, rectangles or polygons, and back.
 */
#include <math.h>
#include <string.h>

#include "properties/values.h"
#include "regions/polygon.h"

#define LONGEST (2 * CNV_RADIUS_MAX + 1) /* taps along an axis */
#define LONGEST_WORDS 60                 /* characters of a value that a message repeats */
#define FARTHEST (32 * CNV_SIZE_MAX)     /* largest coordinate, and size of a rectangle, in pixels */

static guint
size_of(const GValue *array)
{
  return gst_value_array_get_size(array);
}

static const GValue *
entry(const GValue *array, guint i)
{
  return gst_value_array_get_value(array, i);
}

static gboolean
holds_arrays(const GValue *array)
{
  return size_of(array) > 0 && GST_VALUE_HOLDS_ARRAY(entry(array, 0));
}

/* Returns FALSE also for booleans and strings of digits, which GValue would convert. */
static gboolean
is_number(const GValue *value)
{
  const GType types[] = {G_TYPE_INT,   G_TYPE_UINT,  G_TYPE_INT64,  G_TYPE_UINT64,    G_TYPE_LONG,
                         G_TYPE_ULONG, G_TYPE_FLOAT, G_TYPE_DOUBLE, GST_TYPE_FRACTION};
  gboolean is = FALSE;

  for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
    is = is || G_VALUE_HOLDS(value, types[i]);
  return is;
}

/* Returns NAN if the value is not a number. */
static double
number_of(const GValue *value)
{
  GValue number = G_VALUE_INIT;

  if (!is_number(value))
    return NAN;
  g_value_init(&number, G_TYPE_DOUBLE);
  g_value_transform(value, &number);
  return g_value_get_double(&number);
}

/* Returns the text of a value, shortened because strings can have megabytes. For types that GStreamer cannot always
 * write, returns the name of the type. */
static char *
describe(const GValue *value)
{
  gboolean can = is_number(value) || G_VALUE_HOLDS_STRING(value) || G_VALUE_HOLDS_BOOLEAN(value);
  char *text = can ? gst_value_serialize(value) : NULL;

  if (text && strlen(text) > LONGEST_WORDS)
    strcpy(text + LONGEST_WORDS - 3, "...");
  return text ? text : g_strdup(G_VALUE_TYPE_NAME(value));
}

/* ---- taps ---- */

char *
gst_cuda_convolve_text_from_value(const GValue *array)
{
  g_autoptr(GString) text = g_string_new(NULL);

  for (guint i = 0; i < size_of(array); i++) {
    const GValue *value = entry(array, i);
    const char *character = G_VALUE_HOLDS_STRING(value) ? g_value_get_string(value) : NULL;

    if (!character || !g_utf8_validate(character, -1, NULL) || g_utf8_strlen(character, -1) != 1)
      return NULL;
    g_string_append(text, character);
  }
  return text->len > 1 ? g_strdup(text->str) : NULL;
}

/* what: beginning of the message: the property and, if there are several, the frame. */
static gboolean
refuse_tap(const char *what, const GValue *value, guint y, guint x, GError **error)
{
  g_autofree char *text = NULL;

  if (GST_VALUE_HOLDS_ARRAY(value))
    return cnv_refuse(
        error,
        "%s: row %u, tap %u is an array: a row is numbers, a 2D kernel is rows, a 3D kernel is 2D kernels, "
        "and all numbers are in as many arrays as the first",
        what, y + 1, x + 1);
  text = describe(value);
  return cnv_refuse(error,
                    "%s: row %u, tap %u is %s, not a finite number: write integers, decimals or fractions like 1/16",
                    what, y + 1, x + 1, text);
}

static gboolean
read_row(const char *what, const GValue *row, guint y, double *taps, GError **error)
{
  for (guint x = 0; x < size_of(row); x++) {
    taps[x] = number_of(entry(row, x));
    if (!isfinite(taps[x]))
      return refuse_tap(what, entry(row, x), y, x, error);
    if (fabs(taps[x]) > CNV_TAPS_MAX)
      return cnv_refuse(error,
                        "%s: row %u, tap %u is %g, and taps reach to %g either way: scale all taps down by one "
                        "factor, which normalize undoes",
                        what, y + 1, x + 1, taps[x], CNV_TAPS_MAX);
  }
  return TRUE;
}

/* Reads a frame: rows as long as the first, or a single row. */
static gboolean
read_frame(const char *what, const GValue *frame, gboolean is_2d, guint width, double *taps, GError **error)
{
  for (guint y = 0; y < (is_2d ? size_of(frame) : 1); y++) {
    const GValue *row = is_2d ? entry(frame, y) : frame;

    if (!GST_VALUE_HOLDS_ARRAY(row))
      return cnv_refuse(error, "%s: entry %u is not a row, unlike the first: put all taps in rows, <<1,2>,<3,4>>", what,
                        y + 1);
    if (size_of(row) != width)
      return cnv_refuse(error, "%s: row %u has %u taps and row 1 has %u: give all rows the same length (pad with 0)",
                        what, y + 1, size_of(row), width);
    if (!read_row(what, row, y, taps + y * width, error))
      return FALSE;
  }
  return TRUE;
}

/* Reads frame t of several, which must have the size of the first. */
static gboolean
read_nth_frame(const char *what, const GValue *frame, guint t, CnvTaps *taps, GError **error)
{
  g_autofree char *which = g_strdup_printf("%s: frame %u", what, t + 1);
  guint width, height;

  if (!GST_VALUE_HOLDS_ARRAY(frame) || !holds_arrays(frame))
    return cnv_refuse(error, "%s is not a list of rows, unlike the first: write each frame as <<1,2>,<3,4>>", which);
  height = size_of(frame);
  width = size_of(entry(frame, 0));
  if (height != (guint)taps->height || width != (guint)taps->width)
    return cnv_refuse(error, "%s has %ux%u taps and frame 1 has %dx%d: give all frames the same size (pad with 0)",
                      which, width, height, taps->width, taps->height);
  return read_frame(which, frame, TRUE, width, taps->value + (gsize)t * height * width, error);
}

/* frame: next part of the message; "frame 1: " if there are several. */
static gboolean
check_size(const char *what, const char *frame, guint width, guint height, guint depth, GError **error)
{
  if (depth > CNV_MAX_TEMPORAL_TAPS)
    return cnv_refuse(error, "%s: %u frames, and the limit is %d: shorten it", what, depth, CNV_MAX_TEMPORAL_TAPS);
  if (width == 0)
    return cnv_refuse(error, "%s: %srow 1 is empty, and a row has 1 to %d taps: fill it, or write <> for no kernel",
                      what, frame, LONGEST);
  if (width > LONGEST || height > LONGEST)
    return cnv_refuse(error, "%s: %s%ux%u taps, and the limit is %dx%d: shorten it", what, frame, width, height,
                      LONGEST, LONGEST);
  return TRUE;
}

/* Reads an array that is not empty: a row, rows, or frames of rows. Returns NULL with the reason if it is not valid. */
static CnvTaps *
read_taps(const char *what, const GValue *array, GError **error)
{
  gboolean is_2d = holds_arrays(array), is_3d = is_2d && holds_arrays(entry(array, 0)), ok;
  const GValue *frame = is_3d ? entry(array, 0) : array;
  guint width = size_of(is_2d ? entry(frame, 0) : frame), height = is_2d ? size_of(frame) : 1;
  guint depth = is_3d ? size_of(array) : 1;
  CnvTaps *taps;

  if (!check_size(what, is_3d ? "frame 1: " : "", width, height, depth, error))
    return NULL;
  taps = cnv_taps_new_volume((int)width, (int)height, (int)depth, NULL);
  ok = is_3d || read_frame(what, array, is_2d, width, taps->value, error);
  for (guint t = 0; is_3d && ok && t < depth; t++)
    ok = read_nth_frame(what, entry(array, t), t, taps, error);
  if (!ok || !cnv_taps_check(taps, what, error))
    g_clear_pointer(&taps, cnv_taps_unref);
  return taps;
}

gboolean
gst_cuda_convolve_taps_from_value(const GValue *array, const char *what, gboolean rows, CnvTaps **taps, GError **error)
{
  CnvTaps *values = NULL;

  if (holds_arrays(array) && !rows)
    return cnv_refuse(error, "%s: an array of arrays instead of one row of numbers: write <1,2,1>, or use kernel",
                      what);
  if (size_of(array) > 0 && !(values = read_taps(what, array, error)))
    return FALSE;
  cnv_taps_unref(*taps);
  *taps = values;
  return TRUE;
}

/* Appends n[0] numbers of a type, or n[0] arrays of n[1] entries each, and so on. Returns the position after the last
 * number. */
static const double *
append(GValue *array, GType type, const int *n, int levels, const double *number)
{
  for (int i = 0; i < n[0]; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init(&value, levels > 1 ? GST_TYPE_ARRAY : type);
    if (levels > 1)
      number = append(&value, type, n + 1, levels - 1, number);
    else if (type == G_TYPE_INT)
      g_value_set_int(&value, (int)*number++);
    else
      g_value_set_double(&value, *number++);
    gst_value_array_append_and_take_value(array, &value);
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

/* ---- rectangles ---- */

/* The units are another property, which can be set later. So fractions of the frame, -1 to 1, are accepted. */
static gboolean
read_rect(const char *what, const GValue *value, guint i, GArray *rects, GError **error)
{
  static const char *const names[] = {"x", "y", "width", "height"};

  if (!GST_VALUE_HOLDS_ARRAY(value) || size_of(value) != G_N_ELEMENTS(names))
    return cnv_refuse(error,
                      "%s: rectangle %u is not four numbers: write a list with <x,y,width,height> for each rectangle, "
                      "<<x,y,width,height>>",
                      what, i + 1);
  for (guint f = 0; f < G_N_ELEMENTS(names); f++) {
    double number = number_of(entry(value, f)) + 0.0, whole = floor(number); /* 0 has no sign */
    int min = f < 2 ? -FARTHEST : 0;

    if (!(number >= min && number <= FARTHEST) || (number != whole && fabs(number) > 1)) {
      g_autofree char *text = describe(entry(value, f));

      return cnv_refuse(error,
                        "%s: rectangle %u, %s is %s: write a whole number of pixels, %d to %d, or with "
                        "roi-units=fraction a part of the frame, 0 to 1",
                        what, i + 1, names[f], text, min, FARTHEST);
    }
    g_array_append_val(rects, number);
  }
  return TRUE;
}

/* Returns the first values of an array, separated by commas. */
static char *
describe_first(const GValue *array, guint n)
{
  g_autoptr(GString) text = g_string_new(NULL);

  for (guint i = 0; i < MIN(n, size_of(array)); i++) {
    g_autofree char *number = describe(entry(array, i));

    g_string_append_printf(text, "%s%s", i > 0 ? "," : "", number);
  }
  return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Rejects a rectangle outside a list. It may be the first of several: GStreamer drops everything after the first array.
 */
static gboolean
refuse_flat(const char *what, const GValue *array, GError **error)
{
  g_autofree char *text = describe_first(array, 4);

  return cnv_refuse(
      error,
      "%s: <%s> is a rectangle outside a list, and GStreamer drops the rectangles after it: write <<%s>>, or "
      "<<%s>,<x,y,width,height>> for several",
      what, text, text, text);
}

gboolean
gst_cuda_convolve_rects_from_value(const GValue *array, const char *what, GArray **rects, GError **error)
{
  g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
  guint n = size_of(array);

  if (n == 4 && !holds_arrays(array))
    return refuse_flat(what, array, error);
  if (n > CNV_MAX_REGIONS)
    return cnv_refuse(error, "%s: %u rectangles, and the limit is %d: merge some", what, n, CNV_MAX_REGIONS);
  for (guint i = 0; i < n; i++)
    if (!read_rect(what, entry(array, i), i, values, error))
      return FALSE;
  g_clear_pointer(rects, g_array_unref);
  *rects = n > 0 ? g_steal_pointer(&values) : NULL;
  return TRUE;
}

static gboolean
are_whole(const GArray *numbers)
{
  gboolean whole = TRUE;

  for (guint i = 0; i < numbers->len; i++)
    whole = whole && g_array_index(numbers, double, i) == floor(g_array_index(numbers, double, i));
  return whole;
}

void
gst_cuda_convolve_rects_to_value(const GArray *rects, GValue *array)
{
  if (rects)
    append(array, are_whole(rects) ? G_TYPE_INT : G_TYPE_DOUBLE, (const int[]){(int)rects->len / 4, 4}, 2,
           (const double *)rects->data);
}

/* ---- polygons ---- */

/* Checks the number of coordinates. The first array may be the first of several: GStreamer drops everything after it.
 */
static gboolean
check_polygon_size(const char *what, const GValue *array, guint i, GError **error)
{
  const GValue *value = entry(array, i);
  g_autofree char *text = NULL;
  guint n;

  if (!GST_VALUE_HOLDS_ARRAY(value)) {
    text = describe_first(array, 6);
    return cnv_refuse(error,
                      "%s: <%s%s> has numbers outside a polygon, and GStreamer drops the polygons after it: write "
                      "<<x,y,x,y,x,y>>, or <<x,y,x,y,x,y>,<...>> for several",
                      what, text, size_of(array) > 6 ? ",..." : "");
  }
  n = size_of(value);
  if (n < 6)
    return cnv_refuse(error, "%s: polygon %u has %u numbers instead of 6 or more: write x and y of at least 3 points",
                      what, i + 1, n);
  if (n % 2 == 1)
    return cnv_refuse(error, "%s: polygon %u has %u numbers, and the last x has no y: write x and y of each point",
                      what, i + 1, n);
  return TRUE;
}

static gboolean
check_polygon_sizes(const char *what, const GValue *array, GError **error)
{
  guint64 n = 0;

  for (guint i = 0; i < size_of(array); i++) {
    if (!check_polygon_size(what, array, i, error))
      return FALSE;
    n += size_of(entry(array, i)) / 2;
  }
  if (n > GST_CUDA_CONVOLVE_POLYGON_POINTS)
    return cnv_refuse(error,
                      "%s: %" G_GUINT64_FORMAT " points in all, and the limit is %d: remove some, or use "
                      "roi-mask-location",
                      what, n, GST_CUDA_CONVOLVE_POLYGON_POINTS);
  return TRUE;
}

static gboolean
read_polygon(const char *what, const GValue *value, guint i, GArray *points, GError **error)
{
  for (guint n = 0; n < size_of(value); n++) {
    double number = number_of(entry(value, n)) + 0.0; /* 0 has no sign */

    if (!(fabs(number) <= FARTHEST)) {
      g_autofree char *text = describe(entry(value, n));

      return cnv_refuse(error,
                        "%s: polygon %u, point %u, %s is %s: write a number of pixels, %d to %d, or with "
                        "roi-units=fraction a part of the frame, 0 to 1",
                        what, i + 1, n / 2 + 1, n % 2 ? "y" : "x", text, -FARTHEST, FARTHEST);
    }
    g_array_append_val(points, number);
  }
  return TRUE;
}

gboolean
gst_cuda_convolve_polygons_from_value(const GValue *array, const char *what, GPtrArray **polygons, GError **error)
{
  g_autoptr(GPtrArray) values = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

  if (!check_polygon_sizes(what, array, error))
    return FALSE;
  for (guint i = 0; i < size_of(array); i++) {
    GArray *points = g_array_new(FALSE, FALSE, sizeof(double));

    g_ptr_array_add(values, points);
    if (!read_polygon(what, entry(array, i), i, points, error))
      return FALSE;
  }
  g_clear_pointer(polygons, g_ptr_array_unref);
  *polygons = values->len > 0 ? g_steal_pointer(&values) : NULL;
  return TRUE;
}

void
gst_cuda_convolve_polygons_to_value(const GPtrArray *polygons, GValue *array)
{
  gboolean whole = TRUE; /* all arrays in an array need one type */

  for (guint i = 0; polygons && i < polygons->len; i++)
    whole = whole && are_whole(g_ptr_array_index(polygons, i));
  for (guint i = 0; polygons && i < polygons->len; i++) {
    const GArray *points = g_ptr_array_index(polygons, i);
    GValue value = G_VALUE_INIT;

    g_value_init(&value, GST_TYPE_ARRAY);
    append(&value, whole ? G_TYPE_INT : G_TYPE_DOUBLE, (const int[]){(int)points->len}, 1,
           (const double *)points->data);
    gst_value_array_append_and_take_value(array, &value);
  }
}
