/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the element rejects, and with which messages: impossible values, buffers that are too short, engines that are
 * not available; and the values and engines that it accepts.
 */
#include <string.h>

#include "element/element.h"

static const struct {
  const char *set[6];
  int warnings; /* number of warnings when the values are set */
  const char *fragment;
} bad_rows[] = {
    {{"kernel=<<1,2>,<3>>"}, 1, "row 2 has 1 taps and row 1 has 2"},
    {{"kernel=<<1,2>,3>"}, 1, "entry 2 is not a row"},
    {{"kernel=<1,x>"}, 1, "tap 2 is x, not a finite number"},
    {{"kernel=<true>"}, 1, "tap 1 is true, not a finite number"},
    {{"kernel=<nan>"}, 1, "not a finite number"},
    {{"kernel=<<1,2>,<inf,1>>"}, 1, "row 2, tap 1 is inf"},
    {{"kernel=<<>>"}, 1, "row 1 is empty"},
    {{"kernel=<<<<1>>>>"}, 1, "kernel: frame 1: row 1, tap 1 is an array"},
    {{"kernel=<<1,<2>>>"}, 1, "kernel: row 1, tap 2 is an array"},
    {{"kernel=<<<1,2>>,<<3>>>"}, 1, "frame 2 has 1x1 taps and frame 1 has 2x1"},
    {{"kernel=<<<1>,<2>>,<<3,4>,<5>>>"}, 1, "frame 2 has 2x2 taps and frame 1 has 1x2"},
    {{"kernel=<<<1>>,<2>>"}, 1, "kernel: frame 2 is not a list of rows, unlike the first"},
    {{"kernel=<<<1>>,3>"}, 1, "kernel: frame 2 is not a list of rows, unlike the first"},
    {{"kernel=<<<>>>"}, 1, "kernel: frame 1: row 1 is empty"},
    {{"kernel=<<<1>>,<<x>>>"}, 1, "kernel: frame 2: row 1, tap 1 is x, not a finite number"},
    {{"kernel-t=<1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1>"},
     1,
     "kernel-t: 32 taps, and the limit is 31"},
    {{"kernel-t=<<1,2>>"}, 1, "kernel-t: an array of arrays"},
    {{"kernel-x=<<1,2>>"}, 1, "kernel-x: an array of arrays"},
    {{"kernel-y=<a>"}, 1, "kernel-y: row 1, tap 1 is a"},
    {{"kernel-y=<a,b>"}, 1, "kernel-y=ab is not an array: write <1,2,3>, or an array of arrays"},
    {{"kernel-y=<ab,c>"}, 1, "kernel-y: row 1, tap 1 is ab"},
    {{"kernel=<1e308,1>"}, 1, "kernel: row 1, tap 1 is 1e+308, and taps reach to 1e+27 either way: scale "},
    {{"kernel=<<1,2>,<3,-1e28>>"}, 1, "kernel: row 2, tap 2 is -1e+28, and taps reach to 1e+27"},
    {{"kernel=<<<1>>,<<1e30>>>"}, 1, "kernel: frame 2: row 1, tap 1 is 1e+30, and taps reach to 1e+27"},
    {{"kernel=<9e26,-9e26>"},
     1,
     "kernel: the magnitudes of the taps add up to 1.8e+27, and 1e-27 to 1e+27 is possible"},
    {{"kernel=<<<9e26>>,<<9e26>>>"}, 1, "kernel: the magnitudes of the taps add up to 1.8e+27"},
    {{"kernel-x=<1e-300,1e-300>"}, 1, "kernel-x: the magnitudes of the taps add up to 2e-300, and 1e-27 to 1e+27"},
    {{"kernel-y=<1e50>"}, 1, "kernel-y: row 1, tap 1 is 1e+50"},
    {{"kernel-t=<1e50>"}, 1, "kernel-t: row 1, tap 1 is 1e+50"},
    {{"filter=custom", "kernel-x=<1e15>", "kernel-y=<1e15>"},
     0,
     "taps along x, y and time together: the magnitudes of the taps add up to 1e+30"},
    {{"filter=custom", "kernel-x=<1e-15>", "kernel-y=<1e-15>"},
     0,
     "taps along x, y and time together: the magnitudes of the taps add up to 1e-30"},
    {{"filter=box", "radius=1", "kernel-t=<1,1e27>"},
     0,
     "taps along x, y and time together: the magnitudes of the taps add up to 9e+27"},
    {{"filter=custom"}, 0, "has no taps"},
    {{"filter=custom", "kernel=<>"}, 0, "has no taps"},
    {{"filter=custom", "kernel=<1>", "kernel-x=<1>"}, 0, "both kernel and kernel-x"},
    {{"sigma=200", "truncate=16"}, 0, "512"},
    {{"filter=custom", "kernel=<1,2,1>", "anchor-x=3"}, 0, "anchor-x"},
    {{"filter=custom", "kernel=<<1,2>,<2,1>>", "anchor-y=2"}, 0, "anchor-y"},
    {{"filter=sobel", "radius=4"}, 0, "sobel"},
    {{"filter=scharr", "radius=2"}, 0, "scharr"},
    {{"kernel-location=/nowhere/kernel"}, 1, "kernel-location=/nowhere/kernel: No such file"},
    {{"kernel-location=/"}, 1, "kernel-location=/: "},
    {{"roi=<80,60,60,60>,<200,100,30,30>"},
     1,
     "roi: <80,60,60,60> is a rectangle outside a list, and GStreamer drops "},
    {{"roi=<0.5,1/2,0,0>"}, 1, "write <<0.5,1/2,0,0>>, or <<0.5,1/2,0,0>,<x,y,width,height>> for several"},
    {{"roi=<1,2,x,4>"}, 1, "roi: <1,2,x,4> is a rectangle outside a list"},
    {{"roi=<1,2,3>"},
     1,
     "roi: rectangle 1 is not four numbers: write a list with <x,y,width,height> for each rectangle"},
    {{"roi=<<1,2,3>>"}, 1, "roi: rectangle 1 is not four numbers"},
    {{"roi=<<1,2,3,4>,5>"}, 1, "roi: rectangle 2 is not four numbers"},
    {{"roi=<<1,2,3,-4>>"}, 1, "rectangle 1, height is -4: write a whole number of pixels, 0 to 1048576"},
    {{"roi=<<1,2,3,4>,<1.5,2,3,4>>"}, 1, "rectangle 2, x is 1.5"},
    {{"roi=<<1,9999999,3,4>>"}, 1, "rectangle 1, y is 9999999"},
    {{"roi=<<0.5,0.5,1.5,1>>"}, 1, "rectangle 1, width is 1.5"},
    {{"roi=<<0.5,0.5,-0.5,1>>"}, 1, "rectangle 1, width is -0.5"},
    {{"roi=<<nan,0.5,0.5,1>>", "roi-units=fraction"}, 1, "rectangle 1, x is nan"},
    {{"roi=<<0.5,0.5,inf,1>>", "roi-units=fraction"}, 1, "rectangle 1, width is inf"},
    {{"roi=<<1,2,3,4>>", "roi-units=fraction", "roi-source=property"}, 0, "rectangle 1 has 2 with roi-units=fraction"},
    {{"roi=<<1,2,3,4>,<0,0.25,1,1>>", "roi-source=property"}, 0, "rectangle 2 has 0.25 with roi-units=pixels: write"},
    {{"roi-polygons=<1,2,3,4,5,9>,<1,2,3,4,5,9>"},
     1,
     "roi-polygons: <1,2,3,4,5,9> has numbers outside a polygon, and GStreamer drops the polygons after it: write <<"},
    {{"roi-polygons=<1,2,3,4,5,9,7,x>"}, 1, "roi-polygons: <1,2,3,4,5,9,...> has numbers outside a polygon"},
    {{"roi-polygons=<<1,2,3,4,5,9>,5>"}, 1, "roi-polygons: <GstValueArray,5> has numbers outside a polygon"},
    {{"roi-polygons=<<>>"},
     1,
     "roi-polygons: polygon 1 has 0 numbers instead of 6 or more: write x and y of at least 3 points"},
    {{"roi-polygons=<<1,2,3,4,5,9>,<1,2>>"}, 1, "roi-polygons: polygon 2 has 2 numbers instead of 6"},
    {{"roi-polygons=<<1,2,3,4,5,9,8>>"}, 1, "polygon 1 has 7 numbers, and the last x has no y: write x and y of each"},
    {{"roi-polygons=<<1,2,3,4,1e9,9>>"}, 1, "polygon 1, point 3, x is 1000000000: write a number of pixels, -1048576"},
    {{"roi-polygons=<<1,2,3,nan,5,9>>"}, 1, "polygon 1, point 2, y is nan: write a number"},
    {{"roi-polygons=<<1,-inf,3,4,5,9>>"}, 1, "polygon 1, point 1, y is -inf: write a number"},
    {{"roi-polygons=<<1,2,3,4,x,9>>"}, 1, "polygon 1, point 3, x is x: write a number"},
    {{"roi-polygons=<<1,2,3,4,<5>,9>>"}, 1, "polygon 1, point 3, x is GstValueArray: write a number"},
    {{"roi-polygons=<<1,2,3,4,5,9>,<0,0,1,0,1,1>>", "roi-source=property"},
     0,
     "roi-polygons: polygon 2 has no number above 1 with roi-units=pixels: write pixels, or set roi-units=fraction"},
    {{"roi-polygons=<<0,0,1,0,2.5,1>>", "roi-units=fraction", "roi-source=property"},
     0,
     "roi-polygons: polygon 1 has 2.5 with roi-units=fraction: write fractions of the frame, -1 to 2"},
    {{"roi-mask-location=/nowhere/mask"}, 1, "roi-mask-location=/nowhere/mask: No such file"},
    {{"roi-mask-location=/"}, 1, "roi-mask-location=/: this is a directory, not a regular file"},
    {{"roi-source=meta", "roi-strength=relative", "filter=sobel"}, 0, "filter=sobel, whose radius is at most 3"},
    {{"roi-source=meta", "roi-strength=relative", "filter=sharpen"}, 0, "filter=sharpen, whose radius is at most 0"},
    {{"roi-source=meta", "roi-strength=relative", "roi-invert=true"}, 0, "roi-strength=relative with roi-invert=true"},
    {{"roi-source=meta", "roi-target-x=5"}, 0, "roi-target-x=5 and roi-target-y=-1: set both"},
    {{"roi-source=property", "roi-target-x=5", "roi-target-y=0", "roi-invert=true"}, 0, "with roi-invert=true"},
};

GST_START_TEST(test_bad_properties)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  set_all(element, bad_rows[__i__].set);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, bad_rows[__i__].fragment), bad_rows[__i__].warnings);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, bad_rows[__i__].fragment), 1);
  /* The element starts after good values are set. */
  gst_element_set_state(element, GST_STATE_NULL);
  SET(element, "filter=box", "radius=1", "sigma=0", "kernel=<1,2,1>", "kernel-x=<>", "kernel-y=<>", "kernel-t=<>",
      "roi-source=none", "roi=<>", "roi-polygons=<>", "roi-mask-location=");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  free_element(element, bus);
}
GST_END_TEST;

static char *
ones(int n)
{
  GString *text = g_string_new("kernel=<1");

  for (int i = 1; i < n; i++)
    g_string_append(text, ",1");
  g_string_append_c(text, '>');
  return g_string_free(text, FALSE);
}

GST_START_TEST(test_long_kernels)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *longest = ones(2 * CNV_RADIUS_MAX + 1), *longer = ones(2 * CNV_RADIUS_MAX + 2);
  GValue kernel = G_VALUE_INIT;

  SET(element, longest);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, ""), 0);
  SET(element, longer);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "the limit is 1025x1025"), 1);
  g_value_init(&kernel, GST_TYPE_ARRAY);
  g_object_get_property(G_OBJECT(element), "kernel", &kernel);
  fail_unless_equals_int(gst_value_array_get_size(&kernel), 1025);
  g_value_unset(&kernel);
  g_free(longest);
  g_free(longer);
  free_element(element, bus);
}
GST_END_TEST;

/* A kernel reads back as it was set, in doubles. */
GST_START_TEST(test_kernel_values)
{
  const char *rows[][2] = {
      {"<1,2,1>", "<(double)1,(double)2,(double)1>"},
      {"<<1,0.5>,<1/4,-3>>", "<<(double)1,(double)0.5>,<(double)0.25,(double)-3>>"},
      {"<>", "<>"},
  };
  GstElement *element = make_element("cpu", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GValue kernel = G_VALUE_INIT, expected = G_VALUE_INIT;
    char *text = g_strdup(rows[i][1]); /* the parser writes into it */

    g_value_init(&kernel, GST_TYPE_ARRAY);
    g_value_init(&expected, GST_TYPE_ARRAY);
    fail_unless(gst_value_deserialize(&expected, text));
    g_free(text);
    SET(element, "kernel=<5>");
    gst_util_set_object_arg(G_OBJECT(element), "kernel", rows[i][0]);
    g_object_get_property(G_OBJECT(element), "kernel", &kernel);
    fail_unless_equals_int(gst_value_compare(&kernel, &expected), GST_VALUE_EQUAL);
    g_value_unset(&kernel);
    g_value_unset(&expected);
  }
  gst_object_unref(element);
}
GST_END_TEST;

/* Sets an array of characters, which is how Python's bindings pass a string. */
static void
set_characters(GstElement *element, const char *name, const char *text)
{
  GValue array = G_VALUE_INIT;

  g_value_init(&array, GST_TYPE_ARRAY);
  for (gsize n; *text; text += n) {
    GValue character = G_VALUE_INIT;

    n = g_utf8_get_char_validated(text, -1) < 0x110000 ? (gsize)(g_utf8_next_char(text) - text) : 1;
    g_value_init(&character, G_TYPE_STRING);
    g_value_take_string(&character, g_strndup(text, n));
    gst_value_array_append_and_take_value(&array, &character);
  }
  g_object_set_property(G_OBJECT(element), name, &array);
  g_value_unset(&array);
}

#define E15_BUT_1 "\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9\u00e9"
#define E15 E15_BUT_1 "\u00e9"

GST_START_TEST(test_arrays_as_characters)
{
  static const struct {
    const char *name, *text, *read, *warning;
  } rows[] = {
      {"kernel", "<<1,2,1>,<1/2,0,1>>", "< < 1, 2, 1 >, < 0.5, 0, 1 > >"},
      {"kernel-x", "<1, 2>", "< 1, 2 >"},
      {"kernel-x", "<<1,2>>", "< 1, 2 >", "kernel-x: an array of arrays"},
      {"kernel-x", "x<1,2>", "< 1, 2 >", "kernel-x=x<1,2> is not an array"},
      {"kernel-x", "<1,2", "< 1, 2 >", "kernel-x=<1,2 is not an array"},
      {"roi", "<<1,2,3,4>>", "< < 1, 2, 3, 4 > >"},
      {"roi", "<80,60,60,60>,<200,100,30,30>", "< < 1, 2, 3, 4 > >", "is more than one array: write < > around them"},
      {"roi", "<<80,60,60,60>>, <<200,100,30,30>>", "< < 1, 2, 3, 4 > >", "is more than one array"},
      {"roi", "<80,60,60,60> ", "< < 1, 2, 3, 4 > >", "write <<80,60,60,60>>, or <<80,60,60,60>,<"},
      {"kernel", "<1,2,1>,<2,4,2>", "< < 1, 2, 1 >, < 0.5, 0, 1 > >", "kernel=<1,2,1>,<2,4,2> is more than one array"},
      {"roi", "1,2,3,4", "< < 1, 2, 3, 4 > >", "roi=1,2,3,4 is not an array"},
      {"roi-polygons", "<<1,2,3,4,5,9>>", "< < 1, 2, 3, 4, 5, 9 > >"},
      {"roi-polygons", "<1,2,3,4,5,8>,<1,2,3,4,5,7>", "< < 1, 2, 3, 4, 5, 9 > >", "is more than one array: write < >"},
      {"roi-polygons", "<1,2,3,4,5,8>", "< < 1, 2, 3, 4, 5, 9 > >", "<1,2,3,4,5,8> has numbers outside a polygon"},
      {"kernel", "", "<  >"},
      /* a message is UTF-8: the text is cut between characters, and bytes that are no text are escaped */
      {"roi", "<" E15 E15 E15 E15 E15, "< < 1, 2, 3, 4 > >", "roi=<" E15 E15 E15 E15_BUT_1 " is not an array"},
      {"roi", "<\xc3\xc3\xff", "< < 1, 2, 3, 4 > >",
       "roi: <\"\\<\",\"\\303\",\"\\303\",\"\\377\"> is a rectangle outside"},
  };
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_autofree char *text = NULL;

    set_characters(element, rows[i].name, rows[i].text);
    text = read_back(element, rows[i].name);
    fail_unless_equals_string(text, rows[i].read);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[i].warning ? rows[i].warning : ""),
                           rows[i].warning != NULL);
  }
  free_element(element, bus);
}
GST_END_TEST;

/* The default, a value, and how it reads back. */
static const struct {
  const char *name, *before, *set, *after;
} property_rows[] = {
    {"amount", "1", "2.5", "2.5"},
    {"angle", "0", "-90", "-90"},
    {"gradient", "magnitude", "directional", "directional"},
    {"kernel-location", NULL, "", NULL},
    {"anchor-x", "-1", "1024", "1024"},
    {"anchor-y", "-1", "0", "0"},
    {"flip-kernel", "false", "true", "true"},
    {"absolute", "false", "true", "true"},
    {"planes", "0x3b", "luma+alpha", "0x5"},
    {"planes", "0x5", "all", "0x3f"},
    {"chroma-mode", "scaled", "same", "same"},
    {"chroma-radius", "-1", "512", "512"},
    {"chroma-sigma", "0", "1.5", "1.5"},
    {"alpha-mode", "copy", "premultiply", "premultiply"},
    {"roi-source", "none", "property", "property"},
    {"roi", "<  >", "<<-1,2,3,4>>", "< < -1, 2, 3, 4 > >"},
    {"roi", "< < -1, 2, 3, 4 > >", "<<1,2,3,4>,<5,6,7,8>>", "< < 1, 2, 3, 4 >, < 5, 6, 7, 8 > >"},
    {"roi", "< < 1, 2, 3, 4 >, < 5, 6, 7, 8 > >", "<<0,0.25,1,1/2>>", "< < 0, 0.25, 1, 0.5 > >"},
    {"roi-polygons", "<  >", "<<1,2,3,4,5,9>,<0,0,9.5,0,9,9,0,9>>",
     "< < 1, 2, 3, 4, 5, 9 >, < 0, 0, 9.5, 0, 9, 9, 0, 9 > >"},
    {"roi-polygons", "< < 1, 2, 3, 4, 5, 9 >, < 0, 0, 9.5, 0, 9, 9, 0, 9 > >", "<<0,0.25,1,1/2,0,1>>",
     "< < 0, 0.25, 1, 0.5, 0, 1 > >"},
    {"roi-units", "pixels", "fraction", "fraction"},
    {"roi-shape", "rectangle", "ellipse", "ellipse"},
    {"roi-mask-location", NULL, "", NULL},
    {"roi-confidence", "0", "0.5", "0.5"},
    {"roi-smooth", "0", "300", "300"},
    {"roi-types", NULL, "face,plate", "\"face\\,plate\""},
    {"roi-invert", "false", "true", "true"},
    {"roi-expand", "0", "0.25", "0.25"},
    {"roi-feather", "0", "12.5", "12.5"},
    {"roi-strength", "fixed", "relative", "relative"},
    {"roi-relative-size", "0.20000000000000001", "0.5", "0.5"},
    {"roi-isolated", "false", "true", "true"},
    {"roi-target-x", "-1", "32768", "32768"},
    {"roi-target-y", "-1", "7", "7"},
};

GST_START_TEST(test_property_values)
{
  GstElement *element = make_element("cpu", NULL);

  for (gsize i = 0; i < G_N_ELEMENTS(property_rows); i++) {
    GParamSpec *spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), property_rows[i].name);
    char *text = read_back(element, property_rows[i].name);

    fail_unless(strstr(g_param_spec_get_blurb(spec), "(default ") != NULL, "%s does not tell its default", spec->name);
    fail_unless_equals_string(text, property_rows[i].before);
    g_free(text);
    gst_util_set_object_arg(G_OBJECT(element), property_rows[i].name, property_rows[i].set);
    text = read_back(element, property_rows[i].name);
    fail_unless_equals_string(text, property_rows[i].after);
    g_free(text);
  }
  gst_object_unref(element);
}
GST_END_TEST;

/* Each enum property has the engine's rows, so that a new row appears in it. The values are in enums.h. */
GST_START_TEST(test_enums)
{
  static const struct {
    const char *name, *nick;
    int value;
  } value_rows[] = {
      {"backend", "auto", CNV_BACKEND_AUTO},
      {"backend", "cuda", CNV_BACKEND_CUDA},
      {"backend", "cpu", CNV_BACKEND_CPU},
      {"roi-source", "meta", CNV_ROI_META},
      {"roi-units", "fraction", CNV_ROI_FRACTION},
      {"roi-shape", "ellipse", CNV_SHAPE_ELLIPSE},
      {"roi-strength", "relative", CNV_ROI_RELATIVE},
      {"temporal-mode", "causal", CNV_TEMPORAL_CAUSAL},
      {"temporal-border", "reflect", CNV_TEMPORAL_REFLECT},
      {"border-mode", "reflect-101", CNV_BORDER_REFLECT_101},
      {"algorithm", "tensor", CNV_ALGORITHM_TENSOR},
      {"algorithm", "mosaic", CNV_ALGORITHM_MOSAIC},
      {"gradient", "directional", CNV_GRADIENT_DIRECTIONAL},
  };
  GstElement *element = make_element("cpu", NULL);

  for (const CnvFilterInfo *row = cnv_filters; row->nick.nick; row++) {
    int value;

    gst_util_set_object_arg(G_OBJECT(element), "filter", row->nick.nick);
    g_object_get(element, "filter", &value, NULL);
    fail_unless_equals_int(value, row->nick.value);
  }
  for (gsize i = 0; i < G_N_ELEMENTS(value_rows); i++) {
    int value;

    gst_util_set_object_arg(G_OBJECT(element), value_rows[i].name, value_rows[i].nick);
    g_object_get(element, value_rows[i].name, &value, NULL);
    fail_unless_equals_int(value, value_rows[i].value);
  }
  gst_object_unref(element);
}
GST_END_TEST;

GST_START_TEST(test_cuda_without_gpu)
{
  GstBus *bus;
  GstElement *element;

  if (have_gpu()) {
    g_print("SKIPPED: test_cuda_without_gpu, this machine has a GPU\n");
    return;
  }
  element = make_element("cuda", &bus);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "backend=cuda cannot run: "), 1);
  free_element(element, bus);
}
GST_END_TEST;

GST_START_TEST(test_auto_backend)
{
  GstBus *bus;
  GstElement *element = make_element("auto", &bus);
  GstHarness *h;
  GstStructure *stats;

  SET(element, "filter=box", "radius=1");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  for (guint i = 0; i < 3; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_INFO, "backend=auto runs on the cpu: "), have_gpu() ? 0 : 1);
  g_object_get(element, "stats", &stats, NULL);
  check_string(stats, "backend", have_gpu() ? "cuda" : "cpu");
  gst_structure_free(stats);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* While playing, settings that are not valid are reported once, and the last filter stays in force. */
GST_START_TEST(test_bad_change_keeps_filter)
{
  GstBus *bus;
  GstElement *element = make_element(BACKEND, &bus);
  GstHarness *h;

  SET(element, "filter=box", "radius=1");
  gst_object_ref(element);
  h = harness_of(element, "GRAY8", W, H);
  expect_ramp(h, 0, ramp_box);
  SET(element, "filter=custom");
  for (guint i = 1; i < 4; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "has no taps"), 1);
  SET(element, "kernel=<1,x>");
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "tap 2 is x"), 1);
  expect_ramp(h, 4, ramp_box);
  SET(element, "kernel=<1>");
  expect_ramp(h, 5, ramp);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, ""), 0);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* Settings of regions that are not valid are handled alike. Filter and regions stay together. */
GST_START_TEST(test_bad_regions_keep_filter)
{
  GstBus *bus;
  GstElement *element = make_element(BACKEND, &bus);
  GstHarness *h;

  SET(element, "filter=box", "radius=1");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  expect_ramp(h, 0, ramp_box);
  SET(element, "filter=sharpen", "radius=-1", "roi-source=property", "roi-strength=relative");
  for (guint i = 1; i < 4; i++)
    expect_ramp(h, i, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "roi-strength=relative with filter=sharpen"), 1);
  SET(element, "roi-target-x=1"); /* wrong in another way, so it is reported again */
  expect_ramp(h, 4, ramp_box);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "roi-strength=relative"), 1);
  SET(element, "roi-strength=fixed", "roi-target-x=-1");
  expect_ramp(h, 5, ramp);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING | GST_MESSAGE_ERROR, "finds no rectangle"), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* A buffer whose planes reach beyond its end is an error, not a crash. */
GST_START_TEST(test_short_buffers)
{
  for (int i = 0; i < 2; i++) {
    GstBus *bus;
    GstElement *element = make_element(BACKEND, &bus);
    GstHarness *h;
    GstBuffer *buffer = i == 0 ? gst_buffer_new_allocate(NULL, 5, NULL) : strided_ramp(3, 7);

    if (i == 1)
      gst_buffer_set_size(buffer, 3 + 2 * 7 + W - 1);
    gst_object_ref(element);
    h = harness_of(element, "GRAY8", W, H);
    fail_unless_equals_int(gst_harness_push(h, buffer), GST_FLOW_ERROR);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "4x3 GRAY8 frame"), 1);
    gst_harness_teardown(h);
    free_element(element, bus);
  }
}
GST_END_TEST;

void
add_error_tests(TCase *once, TCase *each)
{
  tcase_add_loop_test(once, test_bad_properties, 0, G_N_ELEMENTS(bad_rows));
  tcase_add_test(once, test_long_kernels);
  tcase_add_test(once, test_kernel_values);
  tcase_add_test(once, test_arrays_as_characters);
  tcase_add_test(once, test_property_values);
  tcase_add_test(once, test_enums);
  tcase_add_test(once, test_cuda_without_gpu);
  tcase_add_test(once, test_auto_backend);
  EACH(test_bad_change_keeps_filter);
  EACH(test_bad_regions_keep_filter);
  EACH(test_short_buffers);
}
