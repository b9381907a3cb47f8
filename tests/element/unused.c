/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Settings without effect: each is reported once, with the fix. Settings in force are not reported.
 */
#include "config.h"

#include <glib/gstdio.h>

#include "element/element.h"

#define CLEAR "the whole frame stays visible"
#define ALL_FILTERED "the whole frame is filtered"

static const struct {
  const char *format;
  const char *set[6];
  int n;
  const char *fragment; /* of each of the n warnings */
} rows[] = {
    {"I420", {"kernel=<1,2,1>"}, 1, "kernel with filter=gaussian has no effect: set filter=custom"},
    {"I420", {"kernel-x=<1,2>", "kernel-y=<1,2>", "anchor-x=1", "filter=box"}, 3, " with filter=box has no effect: "},
    {"I420", {"flip-kernel=true"}, 1, "flip-kernel with filter=gaussian has no effect: set filter=custom, or kernel-t"},
    {"I420", {"amount=2"}, 1, "choose sharpen, unsharp or emboss"},
    {"I420", {"gradient=x"}, 1, "choose sobel, scharr or prewitt"},
    {"I420", {"angle=30"}, 1, "angle with filter=gaussian has no effect"},
    {"I420", {"filter=sobel", "angle=30"}, 1, "angle with gradient=magnitude has no effect: set gradient=directional"},
    {"I420", {"filter=sharpen", "radius=2"}, 1, "radius with filter=sharpen has no effect"},
    {"I420", {"filter=motion", "radius-x=2"}, 1, "radius-x with filter=motion has no effect: set radius"},
    {"I420", {"filter=box", "radius=3", "sigma=2"}, 1, "sigma with filter=box has no effect"},
    {"I420", {"sigma=100", "radius=3"}, 1, "sigma=100 is cut off by the radius"},
    {"I420", {"sigma-y=9", "radius-y=8"}, 1, "sigma-y=9 is cut off by the radius"},
    {"I420", {"truncate=4"}, 1, "truncate=4 has no effect: it computes the radius from sigma"},
    {"I420", {"radius=3", "sigma=1", "truncate=4"}, 1, "truncate=4 has no effect"},
    {"I420", {"bias=128"}, 1, "bias=128 saturates"},
    {"I420", {"filter=sobel", "bias=-128"}, 1, "bias=-128 saturates"},
    {"I420", {"filter=sobel", "radius=3", "gradient=x", "bias=700"}, 1, "bias=700 saturates"},
    {"I420", {"filter=custom", "kernel=<-1,0,1>", "bias=2.1"}, 1, "bias=2.1 saturates"},
    {"I420", {"border-color=1"}, 1, "border-color with border-mode=replicate has no effect: set border-mode=constant"},
    {"I420", {"fill-color=1"}, 1, "fill-color with filter=gaussian has no effect: set filter=fill"},
    {"I420", {"filter=fill", "scale=2", "bias=1", "chroma-radius=2", "temporal-radius=1"}, 4, " gets the fill-color"},
    {"I420", {"filter=fill", "radius=2"}, 1, "radius with filter=fill has no effect"},
    {"I420", {"filter=mosaic", "border-mode=wrap", "sigma=2", "radius=2"}, 2, "with filter=mosaic has no effect"},
    {"I420",
     {"filter=mosaic", "roi-source=property", "roi=<<1,2,3,4>>", "roi-isolated=true"},
     1,
     "roi-isolated with filter=mosaic has no effect: the filter reads nothing outside a rectangle"},
    {"I420",
     {"filter=mosaic", "roi-source=property", "roi=<<1,2,3,4>>", "roi-isolated=true", "roi-shape=ellipse"},
     0,
     NULL},
    {"I420",
     {"filter=mosaic", "roi-source=property", "roi=<<1,2,3,4>>", "roi-isolated=true", "roi-invert=true"},
     0,
     NULL},
    {"I420",
     {"filter=fill", "roi-source=meta", "roi-isolated=true"},
     1,
     "roi-isolated with filter=fill has no effect: the filter reads nothing outside a region"},
    {"GRAY8", {"planes=chroma"}, 1, "planes with format=GRAY8 names none of the frames' planes: nothing is filtered"},
    {"RGB", {"planes=luma+red"}, 1, "planes with format=RGB names some planes that the frames do not have"},
    {"RGB", {"chroma-radius=2"}, 1, "chroma-radius with format=RGB has no effect: the frames have no chroma"},
    {"I420", {"alpha-mode=filter"}, 1, "alpha-mode with format=I420 has no effect: the frames have no alpha"},
    {"I420", {"kernel-t=<1,1>", "temporal-radius=1"}, 1, "temporal-radius=1 has no effect: kernel-t sets the weights"},
    {"I420", {"temporal-sigma=1"}, 1, "temporal-sigma with temporal-radius=0 has no effect"},
    {"I420", {"temporal-mode=causal", "drain-on-changes=false"}, 2, "has no effect: set temporal-radius or kernel-t"},
    {"I420", {"roi=<<1,2,3,4>>"}, 1, "roi with roi-source=none has no effect: " ALL_FILTERED},
    {"I420", {"roi=<<1,2,3,4>>", "roi-source=meta"}, 1, "rectangles that no meta covers stay visible"},
    {"I420", {"roi-units=fraction", "roi-shape=ellipse"}, 2, " with roi-source=none has no effect: " ALL_FILTERED},
    {"I420",
     {"roi-units=fraction", "roi-source=meta"},
     1,
     "roi-units with roi-source=meta has no effect: metas are in"},
    {"I420", {"roi-confidence=0.5", "roi-smooth=3"}, 2, " with roi-source=none has no effect: " ALL_FILTERED},
    {"I420",
     {"roi-source=property", "roi=<<1,2,3,4>>", "roi-smooth=3", "roi-confidence=0.5"},
     2,
     "set roi-source=meta"},
    {"I420", {"roi-types=face"}, 1, "roi-types with roi-source=none has no effect: " ALL_FILTERED},
    {"I420", {"roi-source=property", "roi=<<1,2,3,4>>", "roi-types=face"}, 1, "set roi-source=meta"},
    {"I420", {"roi-expand=0.1", "roi-feather=2"}, 2, " with roi-source=none has no effect: " ALL_FILTERED},
    {"I420",
     {"roi-source=property"},
     1,
     "roi-source=property finds no rectangle or polygon in the frame: nothing is filtered, "},
    {"I420", {"roi-source=property", "roi=<<64,0,9,9>,<-9,0,9,9>,<1,1,0,9>>"}, 1, CLEAR},
    {"I420", {"roi-source=property", "roi=<<-0.5,0,0.5,1>>", "roi-units=fraction"}, 1, CLEAR},
    {"I420",
     {"roi-source=property", "roi=<<0,48,9,9>>", "roi-invert=true"},
     1,
     "with roi-invert=true or roi-missing=filter " ALL_FILTERED},
    {"I420",
     {"roi-source=property", "roi=<<1,1,9,9>,<64,0,9,9>,<0,48,2,2>,<5,5,0,9>>"},
     1,
     "roi: outside the frame of 64x48, or empty, so without effect: rectangle 2 <64,0,9,9>, rectangle 3 "
     "<0,48,2,2>, "
     "rectangle 4 <5,5,0,9>; correct or remove"},
    {"I420",
     {"roi-source=property", "roi=<<-0.5,0,0.5,1>,<0,0,1,1>>", "roi-units=fraction", "roi-invert=true"},
     1,
     "without effect: rectangle 1 <-0.5,0,0.5,1>; correct"},
    {"I420", {"roi-polygons=<<1,2,3,4,5,9>>"}, 1, "roi-polygons with roi-source=none has no effect: " ALL_FILTERED},
    {"I420", {"roi-polygons=<<1,2,3,4,5,9>>", "roi-source=meta"}, 1, "polygons that no meta covers stay visible"},
    {"I420", {"roi-source=property", "roi-polygons=<<64,0,70,9,90,0>>"}, 1, CLEAR},
    {"I420", {"roi-source=property", "roi-polygons=<<64,0,70,9,90,0>>", "roi-invert=true"}, 1, ALL_FILTERED},
    {"I420",
     {"roi-source=property", "roi=<<1,1,9,9>>",
      "roi-polygons=<<70,0,80,9,90,0>,<1,1,9,9,5,5,3,3>,<1,1,9,1,5,5>,<-30,20,20,-30,-30,-30>>"},
     1,
     "roi-polygons: outside the frame of 64x48, or empty, so without effect: polygon 1 <70,0,80,9,90,0>, polygon 2 "
     "<1,1,9,9,5,5,...>, polygon 4 <-30,20,20,-30,-30,-30>; correct or remove"},
    {"I420",
     {"roi-source=property", "roi=<<1,1,9,0>>", "roi-polygons=<<0,0,0,0,0,9>,<1,1,9,1,5,5>>"},
     1,
     "roi, roi-polygons: outside the frame of 64x48, or empty, so without effect: rectangle 1 <1,1,9,0>, polygon "
     "1 "},
    {"I420",
     {"roi-source=property", "roi-polygons=<<1,2,3,4,5,9>>", "roi-shape=ellipse"},
     1,
     "roi-shape with roi-source=property has no effect: polygons keep their shape"},
    {"I420", {"roi-source=property", "roi-polygons=<<0,0,1,0,1,1>>", "roi-units=fraction"}, 0},
    {"I420", {"roi-source=property", "roi-polygons=<<66,0,70,9,90,0>>", "roi-feather=9"}, 0},
    {"I420", {"roi-source=property", "roi-polygons=<<66,0,70,9,90,0>>", "roi-expand=0.2"}, 0},
    {"I420", {"sigma=100", "radius=3", "roi-source=meta", "roi-strength=relative"}, 2, "roi-strength=relative has no"},
    {"I420", {"roi-source=meta", "roi-relative-size=0.5"}, 1, "roi-relative-size with roi-strength=fixed has no"},
    {"I420", {"roi-source=meta", "roi-strength=relative", "radius=9"}, 1, "radius with roi-strength=relative has no"},
    {"I420", {"cuda-device-id=0"}, 1, "cuda-device-id with backend=cpu has no effect"},
    {"I420", {"frames-in-flight=2"}, 1, "frames-in-flight with backend=cpu has no effect"},

    {"I420", {"sigma=5", "truncate=2"}, 0},
    {"I420", {"sigma=3", "radius=3", "chroma-radius=1", "planes=luma"}, 0},
    {"I420", {"filter=box", "sigma=3"}, 0},
    {"I420", {"filter=mosaic", "sigma=3", "scale=0.5", "chroma-mode=same", "temporal-radius=1"}, 0},
    {"I420", {"filter=fill", "fill-color=0xffffffff", "planes=luma"}, 0},
    {"I420", {"chroma-sigma=3", "truncate=2"}, 0},
    {"I420", {"filter=sobel", "gradient=directional", "angle=30", "bias=0.5"}, 0},
    {"I420", {"filter=identity", "scale=-1", "bias=1"}, 0},
    {"I420", {"filter=custom", "kernel=<-1,0,1>", "bias=1.9"}, 0},
    {"I420", {"filter=custom", "kernel=<1,2,1>", "anchor-x=0", "flip-kernel=true"}, 0},
    {"GRAY8", {"planes=color"}, 0},
    {"GRAY8", {"planes=all"}, 0},
    {"I420", {"kernel-t=<1,2>", "flip-kernel=true", "temporal-mode=causal", "temporal-border=reflect"}, 0},
    {"I420", {"roi-source=property", "roi=<<-9,0,9,9>>", "roi-expand=0.2"}, 0},
    {"I420", {"roi-source=property", "roi=<<63,0,9,9>,<63,47,9,9>>", "roi-invert=true"}, 0},
    {"I420", {"roi-source=property", "roi=<<64,0,9,9>,<0,0,9,9>>", "roi-feather=2"}, 0},
    {"I420", {"roi-source=property", "roi=<<1,1,9,9>,<-9,0,9,9>>", "roi-expand=0.2"}, 0},
    {"I420", {"roi-source=none", "backend=cpu"}, 0},
    {"I420", {"roi-source=meta", "roi-types=face", "roi-strength=relative", "roi-relative-size=0.5"}, 0},
    {"I420", {"roi-source=meta", "roi-shape=ellipse", "roi-smooth=5"}, 0},
    {"I420", {"roi-source=property", "roi=<<0.9,0.9,0.1,0.1>>", "roi-units=fraction", "roi-shape=ellipse"}, 0},
};

/* Each setting is reported once, although frames, changes and new caps follow. */
GST_START_TEST(test_unused_settings)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;

  set_all(element, rows[__i__].set);
  h = harness_of(gst_object_ref(element), rows[__i__].format, 64, 48);
  for (int i = 0; i < 4; i++) {
    gst_harness_push(h, gst_harness_create_buffer(h, 64 * 48 * 4));
    SET(element, i % 2 ? "normalize=true" : "normalize=false");
    if (i == 2)
      gst_harness_set_src_caps_str(h, "video/x-raw,format=AYUV,width=64,height=48,framerate=25/1");
  }
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, rows[__i__].n > 0 ? rows[__i__].fragment : ""),
                         rows[__i__].n);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

static const struct {
  const char *format;
  const char *before[4], *set[4];
  GstMessageType type;
  const char *fragment;
} live_rows[] = {
    {"I420", {"filter=box", "radius=3"}, {"filter=sharpen"}, GST_MESSAGE_INFO, "radius with filter=sharpen has no"},
    {"I420", {"filter=box", "sigma=3"}, {"radius=3"}, GST_MESSAGE_INFO, "sigma with filter=box has no effect"},
    {"I420", {NULL}, {"bias=128"}, GST_MESSAGE_INFO, "bias=128 saturates"},
    {"RGB", {NULL}, {"planes=luma+red"}, GST_MESSAGE_INFO, "planes with format=RGB names some planes that"},
    {"I420", {"roi-source=property", "roi=<<1,2,3,4>>"}, {"roi-source=none"}, GST_MESSAGE_INFO, ALL_FILTERED},
    {"I420",
     {"roi-source=property", "roi=<<1,2,3,4>>", "roi-invert=true"},
     {"roi=<<64,0,9,9>>"},
     GST_MESSAGE_INFO,
     "with roi-invert=true or roi-missing=filter " ALL_FILTERED},
    {"I420", {"roi-source=property", "roi=<<1,2,3,4>>"}, {"roi=<<64,0,9,9>>"}, GST_MESSAGE_WARNING, CLEAR},
    {"I420",
     {"roi-source=property", "roi=<<1,2,3,4>>"},
     {"roi-source=meta"},
     GST_MESSAGE_WARNING,
     "that no meta covers"},
    {"I420",
     {"roi-source=property", "roi-polygons=<<1,2,3,4,5,9>>"},
     {"roi-polygons=<<64,0,70,9,90,0>>"},
     GST_MESSAGE_WARNING,
     CLEAR},
    {"RGB", {NULL}, {"planes=luma"}, GST_MESSAGE_WARNING, "names none of the frames' planes"},
    {"I420", {"sigma=9"}, {"radius=3"}, GST_MESSAGE_WARNING, "sigma=9 is cut off by the radius"},
    {"I420",
     {"roi-source=property", "roi=<<1,2,3,4>>"},
     {"roi=<<1,2,3,4>,<64,0,9,9>>"},
     GST_MESSAGE_WARNING,
     "roi: outside the frame of 64x48"},
};

/* While playing, settings without effect are infos, each once. If something stays visible against the settings, it is a
 * warning, even if the property has had an info. */
GST_START_TEST(test_unused_while_playing)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;
  GstMessageType other = GST_MESSAGE_INFO | GST_MESSAGE_WARNING;

  set_all(element, live_rows[__i__].before);
  h = harness_of(gst_object_ref(element), live_rows[__i__].format, 64, 48);
  gst_buffer_unref(gst_harness_push_and_pull(h, gst_harness_create_buffer(h, 64 * 48 * 3)));
  fail_unless_equals_int(count_messages(bus, other, ""), 0);
  set_all(element, live_rows[__i__].set);
  for (int i = 0; i < 2; i++) {
    GstMessage *message;

    gst_buffer_unref(gst_harness_push_and_pull(h, gst_harness_create_buffer(h, 64 * 48 * 3)));
    message = gst_bus_pop_filtered(bus, other);
    fail_unless((message != NULL) == (i == 0));
    if (message) {
      fail_unless_equals_int(GST_MESSAGE_TYPE(message), live_rows[__i__].type);
      gst_bus_post(bus, message);
      fail_unless_equals_int(count_messages(bus, other, live_rows[__i__].fragment), 1);
    }
  }
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* An info about a property does not prevent a later warning about it. */
GST_START_TEST(test_info_before_warning)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;
  guint n = 0;

  SET(element, "roi-source=property", "roi=<<1,1,2,2>>");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  gst_buffer_unref(push_ramp(h, n++));
  SET(element, "roi-source=none");
  gst_buffer_unref(push_ramp(h, n++));
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_INFO, ALL_FILTERED), 1);
  SET(element, "roi-source=meta");
  gst_buffer_unref(push_ramp(h, n++));
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "rectangles that no meta covers"), 1);
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* Rectangles outside the frame are reported again if they or the frame's size change, and not after other changes. */
GST_START_TEST(test_rectangles_outside)
{
  static const struct {
    const char *set;
    int width, warnings;
    const char *fragment;
  } steps[] = {
      {"roi=<<1,1,9,9>,<64,0,9,9>>", 64, 1, "frame of 64x48, or empty, so without effect: rectangle 2 <64,0,9,9>;"},
      {"radius=3", 64, 0, ""},
      {"roi=<<1,1,9,9>,<65,0,9,9>>", 64, 1, "rectangle 2 <65,0,9,9>;"},
      {"radius=4", 32, 1, "outside the frame of 32x48"},
      {"roi-feather=40", 32, 0, ""},
      {"roi-feather=3", 32, 1, "rectangle 2 <65,0,9,9>;"},
      {"radius=5", 128, 0, ""},
      {"roi=<<300,1,9,9>>", 128, 1, "finds no rectangle or polygon in the frame: nothing is filtered"},
      {"radius=6", 128, 0, ""},
      {"roi=<<301,1,9,9>>", 128, 1, "finds no rectangle or polygon in the frame: nothing is filtered"},
      {"roi=<<1,1,9,9>>", 128, 0, ""},
      {"roi=<<301,1,9,9>>", 128, 1, "finds no rectangle or polygon in the frame: nothing is filtered"},
  };
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;

  SET(element, "roi-source=property", "roi=<<1,1,9,9>,<2,2,3,3>>");
  h = harness_of(gst_object_ref(element), "GRAY8", 64, 48);
  for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
    g_autofree char *caps =
        g_strdup_printf("video/x-raw,format=GRAY8,width=%d,height=48,framerate=25/1", steps[i].width);

    SET(element, steps[i].set);
    gst_harness_set_src_caps_str(h, caps);
    for (int n = 0; n < 3; n++)
      gst_buffer_unref(gst_harness_push_and_pull(h, gst_harness_create_buffer(h, (gsize)steps[i].width * 48)));
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, steps[i].fragment), steps[i].warnings);
  }
  gst_harness_teardown(h);
  free_element(element, bus);
}
GST_END_TEST;

/* A mask is reported like rectangles, and counts as a region by itself. */
GST_START_TEST(test_unused_mask_file)
{
  static const struct {
    const char *set[3];
    int n;
    const char *fragment;
  } mask_rows[] = {
      {{"roi-source=none"}, 1, "roi-mask-location with roi-source=none has no effect: " ALL_FILTERED},
      {{"roi-source=meta"}, 1, "what the mask covers stays visible"},
      {{"roi-source=property"}, 0, ""},
      {{"roi-source=property", "roi-shape=ellipse", "roi-units=fraction"}, 2, "the mask is the only region"},
      {{"roi-source=property", "roi-shape=ellipse", "roi=<<1,2,3,4>>"}, 0, ""},
  };
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "cudaconvolve-unused-mask.pgm", NULL);

  fail_unless(g_file_set_contents(path, "P2 1 1 255 255", -1, NULL));
  for (gsize i = 0; i < G_N_ELEMENTS(mask_rows); i++) {
    GstBus *bus;
    GstElement *element = make_element("cpu", &bus);
    GstHarness *h;

    g_object_set(element, "roi-mask-location", path, NULL);
    for (int s = 0; s < 3 && mask_rows[i].set[s]; s++)
      SET(element, mask_rows[i].set[s]);
    h = harness_of(gst_object_ref(element), "GRAY8", W, H);
    gst_buffer_unref(push_ramp(h, 0));
    gst_harness_teardown(h);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, mask_rows[i].fragment), mask_rows[i].n);
    free_element(element, bus);
  }
  g_remove(path);
}
GST_END_TEST;

#ifndef HAVE_ANALYTICS
/* Boxes with a confidence need GStreamer 1.24. */
GST_START_TEST(test_unused_confidence)
{
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  GstHarness *h;

  SET(element, "roi-source=meta", "roi-confidence=0.5");
  h = harness_of(gst_object_ref(element), "GRAY8", W, H);
  gst_buffer_unref(push_ramp(h, 0));
  gst_harness_teardown(h);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "this build cannot read GstAnalyticsODMtd boxes"), 1);
  free_element(element, bus);
}
GST_END_TEST;
#endif

/* The taps of a kernel file are reported under one name, and again after another start. */
GST_START_TEST(test_unused_kernel_file)
{
  g_autofree char *path = g_build_filename(g_get_tmp_dir(), "cudaconvolve-unused-kernel.txt", NULL);
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);

  fail_unless(g_file_set_contents(path, "1 2 1", -1, NULL));
  g_object_set(element, "kernel-location", path, NULL);
  for (int i = 0; i < 2; i++) {
    GstHarness *h = harness_of(gst_object_ref(element), "GRAY8", W, H);

    gst_buffer_unref(push_ramp(h, 0));
    gst_harness_teardown(h);
    fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "kernel-location with filter=gaussian"), 1);
  }
  g_remove(path);
  free_element(element, bus);
}
GST_END_TEST;

/* Programs read the same reasons, also for properties that are not set, and the values of those that are automatic. */
GST_START_TEST(test_lists)
{
  GstElement *element = make_element("cpu", NULL);
  g_autoptr(GstStructure) none = NULL, unused = NULL, effective = NULL;
  GstHarness *h;
  double sigma;
  int radius;

  SET(element, "filter=unsharp", "sigma-x=2");
  g_object_get(element, "unused", &none, NULL);
  fail_unless(none == NULL, "reasons before the first caps");
  h = harness_of(element, "GRAY8", W, H);
  gst_buffer_unref(push_ramp(h, 0));
  g_object_get(element, "unused", &unused, "effective", &effective, NULL);
  check_string(unused, "gradient", "filter=unsharp: choose sobel, scharr or prewitt");
  check_string(unused, "alpha-mode",
               "format=GRAY8: the frames have no alpha; convert them to a format with alpha, or set alpha-mode=copy");
  check_string(unused, "border-color", "border-mode=replicate: set border-mode=constant");
  fail_if(gst_structure_has_field(unused, "amount") || gst_structure_has_field(unused, "sigma") ||
          gst_structure_has_field(unused, "filter") || gst_structure_has_field(unused, "bias"));
  fail_unless(gst_structure_get_int(effective, "radius-x", &radius) && radius == 6);
  fail_unless(gst_structure_get_double(effective, "sigma", &sigma) && sigma > 0);
  fail_unless(gst_structure_get_double(effective, "sigma-y", &sigma));
  fail_if(gst_structure_has_field(effective, "sigma-x"));
  fail_unless(gst_structure_has_field(effective, "n-threads"));
  gst_harness_teardown(h);
}
GST_END_TEST;

/* A property that filters name has no effect with all others, and the reason lists the filters that name it. sigma may
 * have an effect with filters that do not name it. */
GST_START_TEST(test_properties_of_filters)
{
  for (const CnvFilterInfo *row = cnv_filters; row->nick.nick; row++) {
    g_auto(GStrv) names = g_strsplit(row->properties ? row->properties : "", " ", -1);

    for (char **name = names; *name; name++)
      for (const CnvFilterInfo *other = cnv_filters; other->nick.nick; other++) {
        GstHarness *h = HARNESS("cpu", "GRAY8", W, H, "kernel=<1,2,1>");
        g_autoptr(GstStructure) unused = NULL;
        const char *reason;

        fail_unless(g_object_class_find_property(G_OBJECT_GET_CLASS(h->element), *name) != NULL, "%s: there is no %s",
                    row->nick.nick, *name);
        g_object_set(h->element, "filter", other->nick.value, NULL);
        gst_buffer_unref(push_ramp(h, 0));
        g_object_get(h->element, "unused", &unused, NULL);
        reason = gst_structure_get_string(unused, *name);
        if (cnv_filter_uses((CnvFilterType)other->nick.value, *name))
          fail_if(reason && g_str_has_prefix(reason, "filter="), "%s %s: %s", other->nick.nick, *name, reason);
        else if (!g_str_has_prefix(*name, "sigma"))
          fail_unless(reason && g_str_has_prefix(reason, "filter=") && strstr(reason, row->nick.nick), "%s %s: %s",
                      other->nick.nick, *name, reason ? reason : "no reason");
        gst_harness_teardown(h);
      }
  }
}
GST_END_TEST;

void
add_unused_tests(TCase *once)
{
  tcase_add_loop_test(once, test_unused_settings, 0, G_N_ELEMENTS(rows));
  tcase_add_loop_test(once, test_unused_while_playing, 0, G_N_ELEMENTS(live_rows));
  tcase_add_test(once, test_info_before_warning);
  tcase_add_test(once, test_lists);
  tcase_add_test(once, test_properties_of_filters);
  tcase_add_test(once, test_rectangles_outside);
  tcase_add_test(once, test_unused_kernel_file);
  tcase_add_test(once, test_unused_mask_file);
#ifndef HAVE_ANALYTICS
  tcase_add_test(once, test_unused_confidence);
#endif
}
