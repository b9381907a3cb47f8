/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Fuzzing of kernels, rectangles and polygons as property values (gst/properties/values.c), and of the taps made from
 * them. If the first byte of an input is a printable character, the input is the text of an array, as in a pipeline.
 * Otherwise it is a program that builds nested arrays of all kinds of values. Meson builds this with replay.c, which
 * runs the files of corpus/values/; tests/README.md has the commands for libFuzzer.
 *
 * Leaks are only checked with the corpus in the sanitized run (lsan.supp), because leaks of GStreamer would end every
 * long search.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/kernel.h"
#include "properties/values.h"
#include "regions/polygon.h"
#include "support/filter.h"
#include "unit/fuzz.h"

#define MAX_VALUES 4096 /* most values in an array with the arrays in it; slower inputs find nothing more */
#define MAX_DEPTH 5
#define LONGEST (2 * CNV_RADIUS_MAX + 1)

typedef struct {
  const guint8 *at, *end;
  guint kind;   /* kind of all values */
  guint values; /* values left to make */
} Bytes;

/* Takes bytes of the input; zeros follow the last one. */
static void
take(Bytes *bytes, void *to, gsize size)
{
  gsize have = MIN(size, (gsize)(bytes->end - bytes->at));

  memset(to, 0, size);
  if (have > 0)
    memcpy(to, bytes->at, have);
  bytes->at += have;
}

static guint
take_byte(Bytes *bytes)
{
  guint8 byte;

  take(bytes, &byte, 1);
  return byte;
}

static gint64
take_int64(Bytes *bytes)
{
  gint64 number;

  take(bytes, &number, sizeof(number));
  return number;
}

static double
take_double(Bytes *bytes)
{
  double number;

  take(bytes, &number, sizeof(number));
  return number;
}

/* Returns a special number, which random bytes would not produce. */
static double
take_special(Bytes *bytes)
{
  static const double numbers[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, G_MAXDOUBLE, -G_MAXDOUBLE, G_MINDOUBLE};

  return numbers[take_byte(bytes) % G_N_ELEMENTS(numbers)];
}

/* Kinds of values. The values of an array of GStreamer have one type, unless they come from a text. */
enum { KIND_FIRST_OTHER = 10, KIND_FIRST_EMPTY = 17, N_KINDS = 20 };

static void
take_number(Bytes *bytes, GValue *value)
{
  switch (bytes->kind) {
  case 0:
    g_value_init(value, G_TYPE_INT);
    g_value_set_int(value, (gint8)take_byte(bytes));
    break;
  case 1:
    g_value_init(value, G_TYPE_DOUBLE);
    g_value_set_double(value, take_double(bytes));
    break;
  case 2:
    g_value_init(value, G_TYPE_DOUBLE);
    g_value_set_double(value, take_special(bytes));
    break;
  case 3:
    g_value_init(value, G_TYPE_FLOAT);
    g_value_set_float(value, (float)take_special(bytes));
    break;
  case 4:
    g_value_init(value, G_TYPE_INT64);
    g_value_set_int64(value, take_int64(bytes));
    break;
  case 5:
    g_value_init(value, G_TYPE_UINT64);
    g_value_set_uint64(value, (guint64)take_int64(bytes));
    break;
  case 6:
    g_value_init(value, G_TYPE_LONG);
    g_value_set_long(value, (glong)take_int64(bytes));
    break;
  case 7:
    g_value_init(value, G_TYPE_ULONG);
    g_value_set_ulong(value, (gulong)take_int64(bytes));
    break;
  case 8:
    g_value_init(value, G_TYPE_UINT);
    g_value_set_uint(value, (guint)take_int64(bytes));
    break;
  default:
    g_value_init(value, GST_TYPE_FRACTION);
    gst_value_set_fraction(value, (gint16)take_int64(bytes), 1 + take_byte(bytes));
  }
}

/* Makes values that are not numbers, though GValue or GStreamer could convert some; and empty values of types that hold
 * a pointer. */
static void
take_other(Bytes *bytes, GValue *value)
{
  static const GType empty[] = {G_TYPE_STRING, G_TYPE_OBJECT, G_TYPE_POINTER};

  switch (bytes->kind - KIND_FIRST_OTHER) {
  case 0:
    g_value_init(value, G_TYPE_BOOLEAN);
    g_value_set_boolean(value, TRUE);
    break;
  case 1:
    g_value_init(value, G_TYPE_STRING);
    g_value_take_string(value, g_strdup_printf("%d", (gint8)take_byte(bytes)));
    break;
  case 2:
    g_value_init(value, G_TYPE_CHAR);
    g_value_set_schar(value, (gint8)take_byte(bytes));
    break;
  case 3:
    g_value_init(value, GST_TYPE_INT_RANGE);
    gst_value_set_int_range(value, 1, 2 + take_byte(bytes));
    break;
  case 4:
    g_value_init(value, GST_TYPE_BITMASK);
    gst_value_set_bitmask(value, (guint64)take_int64(bytes));
    break;
  case 5:
    g_value_init(value, GST_TYPE_CAPS);
    break;
  case 6:
    g_value_init(value, GST_TYPE_LIST);
    break;
  default:
    g_value_init(value, empty[bytes->kind - KIND_FIRST_EMPTY]);
  }
}

static void take_array(Bytes *bytes, guint depth, GValue *array);

static void
take_value(Bytes *bytes, guint depth, GValue *value)
{
  if (take_byte(bytes) % 2 == 1 && depth < MAX_DEPTH)
    take_array(bytes, depth + 1, value);
  else if (bytes->kind < KIND_FIRST_OTHER)
    take_number(bytes, value);
  else
    take_other(bytes, value);
}

/* Repeats each value as its count says, so that a few bytes can exceed the limits of size. */
static void
take_array(Bytes *bytes, guint depth, GValue *array)
{
  const guint n = take_byte(bytes) % 16;

  g_value_init(array, GST_TYPE_ARRAY);
  for (guint i = 0; i < n && bytes->values > 0; i++) {
    const guint count = take_byte(bytes);
    const guint copies = count < 192 ? 1 : count < 248 ? count - 190 : LONGEST - 252 + count;
    const guint before = bytes->values--;
    GValue value = G_VALUE_INIT;
    guint each;

    take_value(bytes, depth, &value);
    each = before - bytes->values;
    for (guint copy = 1; copy < copies && bytes->values >= each; copy++) {
      gst_value_array_append_value(array, &value);
      bytes->values -= each;
    }
    gst_value_array_append_and_take_value(array, &value);
  }
}

/* Checks a term: a row and a column, or a dense kernel; all taps are finite, and the anchor is one of them. */
static void
check_term(const CnvKernelTerm *term)
{
  const CnvTaps *arrays[] = {term->dense, term->axis[CNV_X], term->axis[CNV_Y]};
  const CnvTaps *x = term->dense ? term->dense : term->axis[CNV_X];

  CHECK((term->dense == NULL) == (term->axis[CNV_X] && term->axis[CNV_Y]));
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++)
    for (int t = 0; arrays[i] && t < arrays[i]->width * arrays[i]->height; t++)
      CHECK(isfinite(arrays[i]->value[t]));
  CHECK(term->anchor[CNV_X] >= 0 && term->anchor[CNV_X] < x->width);
  CHECK(term->anchor[CNV_Y] >= 0 &&
        term->anchor[CNV_Y] < (term->dense ? term->dense->height : term->axis[CNV_Y]->width));
}

/* If a kernel was accepted but cannot be used, there is an error. If it can, it is finite. */
static void
check_generated(CnvTaps *taps, const int subsample[CNV_N_AXES])
{
  GError *error = NULL;
  CnvKernel kernel;
  CnvFilter filter;

  test_filter_init(&filter);
  filter.type = CNV_FILTER_CUSTOM;
  filter.kernel = cnv_taps_ref(taps);
  if (cnv_filter_generate(&filter, subsample, &kernel, &error)) {
    CHECK(!error && kernel.n_terms >= 1 && kernel.n_terms <= CNV_MAX_TERMS);
    cnv_kernel_factor(&kernel, 0);
    CHECK(kernel.n_terms >= 1 && kernel.n_terms <= CNV_MAX_TERMS);
    for (int i = 0; i < kernel.n_terms; i++)
      check_term(&kernel.term[i]);
    cnv_kernel_clear(&kernel);
  } else {
    CHECK(error && error->domain == CNV_ERROR && error->message[0] != '\0');
    g_clear_error(&error);
  }
  cnv_filter_clear(&filter);
}

/* No entry is missing or added. */
static void
check_rows(const GValue *array, const CnvTaps *taps)
{
  CHECK(gst_value_array_get_size(array) == (guint)taps->height);
  for (int y = 0; y < taps->height; y++) {
    const GValue *row = gst_value_array_get_value(array, y);

    CHECK(GST_VALUE_HOLDS_ARRAY(row) && gst_value_array_get_size(row) == (guint)taps->width);
  }
}

static void
check_shape(const GValue *array, const CnvTaps *taps)
{
  const GValue *first = gst_value_array_get_value(array, 0);
  const guint n = gst_value_array_get_size(array);

  if (!GST_VALUE_HOLDS_ARRAY(first)) {
    CHECK(taps->depth == 1 && taps->height == 1 && n == (guint)taps->width);
  } else if (!GST_VALUE_HOLDS_ARRAY(gst_value_array_get_value(first, 0))) {
    CHECK(taps->depth == 1);
    check_rows(array, taps);
  } else {
    CHECK(n == (guint)taps->depth);
    for (guint t = 0; t < n; t++)
      check_rows(gst_value_array_get_value(array, t), taps);
  }
}

static void
check_taps(const GValue *array, const char *what, gboolean rows, CnvTaps *taps)
{
  static const int full_size[CNV_N_AXES] = {1, 1}, quarter[CNV_N_AXES] = {2, 4};
  CnvTaps *again = NULL;
  GValue back = G_VALUE_INIT;
  GError *error = NULL;

  CHECK(taps->width >= 1 && taps->width <= LONGEST && taps->height >= 1 && taps->height <= (rows ? LONGEST : 1));
  CHECK(taps->depth >= 1 && taps->depth <= (rows ? CNV_MAX_TEMPORAL_TAPS : 1));
  for (int i = 0; i < taps->width * taps->height * taps->depth; i++)
    CHECK(isfinite(taps->value[i]));
  check_shape(array, taps);

  g_value_init(&back, GST_TYPE_ARRAY);
  gst_cuda_convolve_taps_to_value(taps, &back);
  CHECK(gst_cuda_convolve_taps_from_value(&back, what, rows, &again, &error));
  CHECK(!error && cnv_taps_equal(taps, again));
  g_value_unset(&back);
  cnv_taps_unref(again);

  check_generated(taps, full_size);
  check_generated(taps, quarter);
}

static void
check_array(const GValue *array, const char *what, gboolean rows)
{
  static const double old_values[] = {1, 2, 3};
  CnvTaps *old = cnv_taps_new(3, 1, old_values), *kept = cnv_taps_new(3, 1, old_values);
  CnvTaps *taps = cnv_taps_ref(old);
  GError *error = NULL;

  if (gst_cuda_convolve_taps_from_value(array, what, rows, &taps, &error)) {
    CHECK(!error && taps != old && (taps == NULL) == (gst_value_array_get_size(array) == 0));
    if (taps)
      check_taps(array, what, rows, taps);
  } else {
    CHECK(taps == old && cnv_taps_equal(old, kept));
    CHECK(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS));
    CHECK(g_str_has_prefix(error->message, what) && strlen(error->message) > strlen(what) + 2);
    CHECK(g_utf8_validate(error->message, -1, NULL));
    g_error_free(error);
  }
  cnv_taps_unref(taps);
  cnv_taps_unref(old);
  cnv_taps_unref(kept);
}

/* Rectangles that are written and read again are equal. */
static void
check_rects(const GValue *array)
{
  GArray *rects = NULL, *again = NULL;
  GValue back = G_VALUE_INIT;
  GError *error = NULL;

  if (!gst_cuda_convolve_rects_from_value(array, "roi", &rects, &error)) {
    CHECK(!rects && g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS) && g_str_has_prefix(error->message, "roi: "));
    CHECK(g_utf8_validate(error->message, -1, NULL));
    g_error_free(error);
    return;
  }
  CHECK(!error && (rects == NULL) == (gst_value_array_get_size(array) == 0));
  g_value_init(&back, GST_TYPE_ARRAY);
  gst_cuda_convolve_rects_to_value(rects, &back);
  CHECK(gst_cuda_convolve_rects_from_value(&back, "roi", &again, &error));
  g_value_unset(&back);
  CHECK((rects == NULL) == (again == NULL));
  if (rects) {
    CHECK(rects->len == again->len && memcmp(rects->data, again->data, rects->len * sizeof(double)) == 0);
    for (guint i = 0; i < rects->len; i++)
      CHECK(g_array_index(rects, double, i) >= (i % 4 < 2 ? -1e9 : 0));
    g_array_unref(rects);
    g_array_unref(again);
  }
}

/* Like check_rects. Also checks the limit of points. */
static void
check_polygons(const GValue *array)
{
  GPtrArray *polygons = NULL, *again = NULL;
  GValue back = G_VALUE_INIT;
  GError *error = NULL;
  guint n = 0;

  if (!gst_cuda_convolve_polygons_from_value(array, "roi-polygons", &polygons, &error)) {
    CHECK(!polygons && g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS));
    CHECK(g_str_has_prefix(error->message, "roi-polygons: ") && g_utf8_validate(error->message, -1, NULL));
    g_error_free(error);
    return;
  }
  CHECK(!error && (polygons == NULL) == (gst_value_array_get_size(array) == 0));
  g_value_init(&back, GST_TYPE_ARRAY);
  gst_cuda_convolve_polygons_to_value(polygons, &back);
  CHECK(gst_cuda_convolve_polygons_from_value(&back, "roi-polygons", &again, &error));
  g_value_unset(&back);
  CHECK((polygons == NULL) == (again == NULL) && (!polygons || polygons->len == again->len));
  for (guint i = 0; polygons && i < polygons->len; i++) {
    const GArray *one = g_ptr_array_index(polygons, i), *other = g_ptr_array_index(again, i);

    CHECK(one->len == other->len && memcmp(one->data, other->data, one->len * sizeof(double)) == 0);
    CHECK(one->len >= 6 && one->len % 2 == 0);
    n += one->len / 2;
  }
  CHECK(n <= GST_CUDA_CONVOLVE_POLYGON_POINTS);
  g_clear_pointer(&polygons, g_ptr_array_unref);
  g_clear_pointer(&again, g_ptr_array_unref);
}

/* A function of its own for lsan.supp: GStreamer leaks if it rejects some texts. */
static G_GNUC_NO_INLINE gboolean
parse_text(const uint8_t *data, size_t size, GValue *array)
{
  char *text = g_strndup((const char *)data, size);
  gboolean parsed;

  g_value_init(array, GST_TYPE_ARRAY);
  parsed = gst_value_deserialize(array, text);
  g_free(text);
  return parsed;
}

/* Calls abort for a message: libFuzzer keeps the input of an abort, but not of the trap of GLib. Ignores warnings of
 * GStreamer, some of which announce a future change in how it reads "1". */
static void
on_message(const char *domain, GLogLevelFlags level, const char *message, gpointer data)
{
  if (g_strcmp0(domain, "GStreamer") == 0 && level & G_LOG_LEVEL_WARNING)
    return;
  g_printerr("%s: %s\n", domain ? domain : "fuzz", message);
  if (level & (G_LOG_LEVEL_ERROR | G_LOG_LEVEL_CRITICAL))
    abort();
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
  /* Plugins are not needed, so GStreamer does not look for them. */
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE);
  g_log_set_default_handler(on_message, NULL);
  gst_init(argc, argv);
  return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  GValue array = G_VALUE_INIT;
  gboolean parsed = TRUE;

  if (size > 0 && data[0] >= ' ') {
    parsed = parse_text(data, size, &array);
  } else {
    Bytes bytes = {data, data + size, size > 0 ? data[0] % N_KINDS : 0, MAX_VALUES};

    bytes.at += MIN(size, 1);
    take_array(&bytes, 1, &array);
  }
  if (parsed) {
    check_array(&array, "kernel", TRUE);
    check_array(&array, "kernel-x", FALSE);
    check_rects(&array);
    check_polygons(&array);
  }
  g_value_unset(&array);
  return 0;
}
