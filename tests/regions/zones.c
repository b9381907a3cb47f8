/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Zones files (gst/regions/zones.c): what is read, what is rejected and how that is named, when a zone is in force, and
 * that a change of a file changes its stamp.
 */
#include <string.h>
#include <time.h>

#include <glib/gstdio.h>

#include "regions/zones.h"
#include "support/suite.h"

/* ---- good files ---- */

typedef struct {
  const char *name, *type;
  double number[8];
  guint n_points; /* 0: a rectangle or an ellipse */
  CnvShape shape;
  GstCudaConvolveZonePeriod period;
  guint64 from, to;
} Expected;

#define ALWAYS .period = GST_CUDA_CONVOLVE_ZONE_ALWAYS
#define STREAM .period = GST_CUDA_CONVOLVE_ZONE_STREAM
#define OF_DAY .period = GST_CUDA_CONVOLVE_ZONE_DAY

static const struct {
  const char *text;
  Expected zone[3];
} good_files[] = {
    {"[door]\nrectangle=0.25,0.5,0.125,0.5\n", {{"door", NULL, {0.25, 0.5, 0.125, 0.5}, ALWAYS}}},
    {"# of the yard\r\n\r\n[the neighbour's window]\r\n  ellipse = .25; .5; .125; .5  \r\n type = window \r\n",
     {{"the neighbour's window", "window", {0.25, 0.5, 0.125, 0.5}, .shape = CNV_SHAPE_ELLIPSE, ALWAYS}}},
    {"[T\xc3\xbcr]\npolygon=0.25,0.5; 0.75,0.5; 0.5,1\ntype=",
     {{"T\xc3\xbcr", NULL, {.25, .5, .75, .5, .5, 1}, 3, ALWAYS}}},
    {"\xef\xbb\xbf[a]\nrectangle=0,0,1,1", {{"a", NULL, {0, 0, 1, 1}, ALWAYS}}},
    {"[a]\npolygon=0 0 1 0 1e0 1 -.5 +1\n[b]\nrectangle=-1,-1,2,2\n[c]\nrectangle=0,0,1,1\n",
     {{"a", NULL, {0, 0, 1, 0, 1, 1, -0.5, 1}, 4, ALWAYS},
      {"b", NULL, {-1, -1, 2, 2}, ALWAYS},
      {"c", NULL, {0, 0, 1, 1}, ALWAYS}}},
    {"[a]\nrectangle=0,0,1,1\nfrom=1.5\nto=20",
     {{"a", NULL, {0, 0, 1, 1}, STREAM, .from = 1500000000, .to = 20000000000}}},
    {"[a]\nrectangle=0,0,1,1\nfrom=0.25", {{"a", NULL, {0, 0, 1, 1}, STREAM, .from = 250000000, .to = G_MAXUINT64}}},
    {"[a]\nrectangle=0,0,1,1\nto=9", {{"a", NULL, {0, 0, 1, 1}, STREAM, .to = 9000000000}}},
    {"[a]\nrectangle=0,0,1,1\nfrom=08:00\nto=18:30:05",
     {{"a", NULL, {0, 0, 1, 1}, OF_DAY, .from = 8 * 3600, .to = 18 * 3600 + 30 * 60 + 5}}},
    {"[a]\nrectangle=0,0,1,1\nfrom=22:00\nto=06:00",
     {{"a", NULL, {0, 0, 1, 1}, OF_DAY, .from = 22 * 3600, .to = 6 * 3600}}},
    {"[a]\nrectangle=0,0,1,1\nfrom=22:00", {{"a", NULL, {0, 0, 1, 1}, OF_DAY, .from = 22 * 3600, .to = 24 * 3600}}},
    {"[a]\nrectangle=0,0,1,1\nto=24:00", {{"a", NULL, {0, 0, 1, 1}, OF_DAY, .to = 24 * 3600}}},
};

static void
check_zone(const GstCudaConvolveZone *zone, const Expected *expected)
{
  const double *number = zone->points ? (const double *)zone->points->data : zone->rect;

  ck_assert_str_eq(zone->name, expected->name);
  ck_assert(g_strcmp0(zone->type, expected->type) == 0);
  ck_assert_uint_eq(zone->points ? zone->points->len / 2 : 0, expected->n_points);
  ck_assert(memcmp(number, expected->number, (expected->n_points ? 2 * expected->n_points : 4) * sizeof(double)) == 0);
  ck_assert(zone->points || zone->shape == expected->shape);
  ck_assert_int_eq((int)zone->period, (int)expected->period);
  ck_assert(zone->period == GST_CUDA_CONVOLVE_ZONE_ALWAYS ||
            (zone->from == expected->from && zone->to == expected->to));
}

GST_START_TEST(test_good_files)
{
  for (gsize i = 0; i < G_N_ELEMENTS(good_files); i++) {
    GError *error = NULL;
    GstCudaConvolveZones *zones =
        gst_cuda_convolve_zones_parse(good_files[i].text, strlen(good_files[i].text), "a name", &error);
    guint n = 0;

    ck_assert_msg(zones != NULL, "file %d: %s", (int)i, error ? error->message : "");
    for (; n < G_N_ELEMENTS(good_files[i].zone) && good_files[i].zone[n].name; n++)
      check_zone(gst_cuda_convolve_zones_get(zones, n), &good_files[i].zone[n]);
    ck_assert_uint_eq(gst_cuda_convolve_zones_n(zones), n);
    ck_assert_str_eq(gst_cuda_convolve_zones_path(zones), "a name");
    ck_assert_int_eq(gst_cuda_convolve_zones_have_type(zones), i == 1);
    gst_cuda_convolve_zones_unref(zones);
  }
  ck_assert_uint_eq(gst_cuda_convolve_zones_n(NULL), 0);
}
GST_END_TEST;

/* ---- bad files ---- */

#define ZONE "[door]\n"
#define SQUARE "rectangle=0,0,1,1\n"

static const struct {
  const char *text, *message;
} bad_files[] = {
    {"", "no zone, so nothing would be hidden: add one, or set roi-location to nothing"},
    {"# nothing\n\n", "no zone, so nothing would be hidden"},
    {ZONE, "zone [door] has no shape: add polygon, rectangle or ellipse"},
    {ZONE "type=face\n", "zone [door] has no shape"},
    {ZONE "polygon=0,0,1,0,1,1\n" SQUARE, "zone [door] has both polygon and rectangle: make a zone of each"},
    {ZONE SQUARE "radius=3\n",
     "zone [door] has no key \"radius\": the keys are polygon, rectangle, ellipse, type, from and to"},
    {ZONE SQUARE "polygon[de]=0,0,1,0,1,1\n", "zone [door] has no key \"polygon[de]\""},
    {ZONE "rectangle=\n", "zone [door]: rectangle=: 0 numbers: write x,y,width,height, for example 0.25,0.25,0.5,0.5"},
    {ZONE "rectangle=0,0,1\n", "zone [door]: rectangle=0,0,1: 3 numbers"},
    {ZONE "ellipse=0,0,1,1,1\n", "zone [door]: ellipse=0,0,1,1,1: more than 4 numbers: write fewer"},
    {ZONE "rectangle=0,0,1,x\n", "\"x\" is not a number: write numbers such as 0.25, separated by commas"},
    {ZONE "rectangle=0,0,,1\n", "\",1\" is not a number"},
    {ZONE "rectangle=0,0,1e999,1\n", "\"1e999,1\" is not a number"},
    {ZONE "rectangle=nan,0,1,1\n", "\"nan,0,1,1\" is not a number"},
    {ZONE "rectangle=0x1,0,1,1\n", "\"0x1,0,1,1\" is not a number"},
    {ZONE "rectangle=0/1,0,1,1\n", "\"/1,0,1,1\" follows a number"},
    {ZONE "rectangle=80,60,160,120\n",
     "80 is outside -1 to 2: write fractions of the frame: pixels divided by its width"},
    {ZONE "rectangle=0.5,0.5,0,1\n", "the zone is 0 wide and 1 high, so it hides nothing: make it larger"},
    {ZONE "rectangle=0.5,0.5,1,-1\n", "the zone is 1 wide and -1 high"},
    {ZONE "rectangle=1,0,1,1\n", "the zone lies outside the frame, which reaches from 0 to 1: correct or remove it"},
    {ZONE "ellipse=-1,0,1,1\n", "the zone lies outside the frame"},
    {ZONE "polygon=0,0,1,0\n", "zone [door]: polygon=0,0,1,0: 4 numbers: write x and y of at least 3 points"},
    {ZONE "polygon=0,0,1,0,1,1,0\n", "7 numbers: write x and y"},
    {ZONE "polygon=0,0,1,1,2,2,3,3\n", "3 is outside -1 to 2"},
    {ZONE "polygon=0,0,1,0,0.5,0\n", "the zone is 1 wide and 0 high"},
    {ZONE "polygon=1,0,2,0,2,1\n", "the zone lies outside the frame"},
    {ZONE SQUARE "type=a,b\n", "zone [door]: type=a,b: a comma separates types in roi-types"},
    {ZONE SQUARE "from=8:00\n",
     "zone [door]: from=8:00: not a time of day: write HH:MM or HH:MM:SS, for example 08:00"},
    {ZONE SQUARE "from=08:00x\n", "not a time of day"},
    {ZONE SQUARE "from=08:60\n", "not a time of day"},
    {ZONE SQUARE "to=24:01\n", "not a time of day"},
    {ZONE SQUARE "to=10:00:60\n", "not a time of day"},
    {ZONE SQUARE "from=-1\n", "zone [door]: from=-1: not a time: write seconds of the stream, for example 12.5"},
    {ZONE SQUARE "from=\n", "\"\" is not a number"},
    {ZONE SQUARE "from=1s\n", "not a time"},
    {ZONE SQUARE "from=1\nto=08:00\n", "zone [door]: to=08:00: from and to must both be seconds"},
    {ZONE SQUARE "from=5\nto=5\n", "zone [door]: to=5: not after from=5, so the zone would never hide anything"},
    {ZONE SQUARE "to=0\n", "zone [door]: to=0: not after from=0"},
    {ZONE SQUARE "from=08:00\nto=08:00\n", "zone [door]: to=08:00: not after from=08:00"},
    {SQUARE, "line 1: a key before the first zone: write [NAME] of a zone above it"},
    {ZONE SQUARE "\n" ZONE SQUARE, "line 4: a second zone [door]: give each zone a name of its own"},
    {ZONE SQUARE "rectangle =0,0,.5,.5\n", "line 3: a second key of the same name in a zone: make a zone of each"},
    {"door\n", "line 1: neither [NAME] of a zone, nor KEY=VALUE, nor a comment that begins with #"},
    {ZONE "=0,0,1,1\n", "line 2: neither [NAME]"},
    {"[door\n", "line 1: a zone begins with its name in brackets, [door]"},
    {"[door] 2\n", "line 1: a zone begins with its name in brackets"},
    {"[]\n", "line 1: a zone begins with its name in brackets"},
    {"[a[b]\n" SQUARE, "not a key file of GLib"},
    {"[\xff]\n", "not a text in UTF-8: save it as UTF-8"},
};

static void
check_rejected(const char *text, gsize size, const char *fragment)
{
  g_autoptr(GError) error = NULL;

  ck_assert_msg(!gst_cuda_convolve_zones_parse(text, size, "a name", &error), "\"%s\" was read", text);
  ck_assert(g_error_matches(error, CNV_ERROR, CNV_ERROR_SETTINGS));
  ck_assert_msg(g_str_has_prefix(error->message, "roi-location=a name: ") && strstr(error->message, fragment),
                "\"%s\": \"%s\" has no \"%s\"", text, error->message, fragment);
}

GST_START_TEST(test_bad_files)
{
  for (gsize i = 0; i < G_N_ELEMENTS(bad_files); i++)
    check_rejected(bad_files[i].text, strlen(bad_files[i].text), bad_files[i].message);
  check_rejected("[a]\n\0" SQUARE, 23, "not a text in UTF-8");
}
GST_END_TEST;

/* What is in a file that has no zones stays out of messages, which go to logs. */
GST_START_TEST(test_secret_files)
{
  static const char *const secrets[] = {"root:$6$salt$secret:19000:0:99999:7:::\n", "secret=1\n", ZONE "secret\n",
                                        ZONE SQUARE "password=secret\n"};

  for (gsize i = 0; i < G_N_ELEMENTS(secrets); i++) {
    g_autoptr(GError) error = NULL;

    ck_assert(!gst_cuda_convolve_zones_parse(secrets[i], strlen(secrets[i]), "a name", &error));
    ck_assert_msg(!strstr(error->message, "secret"), "%s", error->message);
  }
}
GST_END_TEST;

/* 1024 zones, and polygons of 1024 points in all, are the most; long values are shortened in messages. */
GST_START_TEST(test_limits)
{
  GString *text = g_string_new(NULL), *polygons = g_string_new(NULL), *line = g_string_new(ZONE "rectangle=");
  GstCudaConvolveZones *zones;

  for (guint i = 0; i < 1024; i++)
    g_string_append_printf(text, "[%u]\n" SQUARE, i);
  zones = gst_cuda_convolve_zones_parse(text->str, text->len, "a name", NULL);
  ck_assert_uint_eq(gst_cuda_convolve_zones_n(zones), 1024);
  gst_cuda_convolve_zones_unref(zones);
  g_string_append(text, "[one more]\n" SQUARE);
  check_rejected(text->str, text->len, "1025 zones, and the limit is 1024: join some");

  for (guint zone = 0; zone < 2; zone++) {
    g_string_append_printf(polygons, "[%u]\npolygon=", zone);
    for (guint i = 0; i < 512; i++)
      g_string_append_printf(polygons, "%s%g,%g", i ? "," : "", i / 512.0, (double)(i % 2));
    g_string_append(polygons, "\n");
  }
  zones = gst_cuda_convolve_zones_parse(polygons->str, polygons->len, "a name", NULL);
  ck_assert_uint_eq(gst_cuda_convolve_zones_n(zones), 2);
  gst_cuda_convolve_zones_unref(zones);
  g_string_append(polygons, "[2]\npolygon=0,0,1,0,1,1\n");
  check_rejected(polygons->str, polygons->len, "the polygons of the file have more than 1024 points: simplify them");

  for (guint i = 0; i < 1000; i++)
    g_string_append(line, "\xc3\xbc");
  check_rejected(line->str, line->len, "\xc3\xbc...");
  g_string_free(text, TRUE);
  g_string_free(polygons, TRUE);
  g_string_free(line, TRUE);
}
GST_END_TEST;

/* ---- times ---- */

static GstCudaConvolveZones *
zones_of(const char *period)
{
  g_autofree char *text = g_strdup_printf(ZONE SQUARE "%s", period);
  GError *error = NULL;
  GstCudaConvolveZones *zones = gst_cuda_convolve_zones_parse(text, strlen(text), "a name", &error);

  ck_assert_msg(zones != NULL, "%s", error ? error->message : "");
  return zones;
}

GST_START_TEST(test_stream_times)
{
  static const struct {
    const char *period;
    gboolean in_force[4]; /* at 0, 1, 2 and 100 s */
  } rows[] = {
      {"", {TRUE, TRUE, TRUE, TRUE}},
      {"from=1\n", {FALSE, TRUE, TRUE, TRUE}},
      {"to=2\n", {TRUE, TRUE, FALSE, FALSE}},
      {"from=1\nto=2\n", {FALSE, TRUE, FALSE, FALSE}},
      {"from=2\nto=100.5\n", {FALSE, FALSE, TRUE, TRUE}},
  };
  static const guint times[] = {0, 1, 2, 100};

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    GstCudaConvolveZones *zones = zones_of(rows[i].period);
    const GstCudaConvolveZone *zone = gst_cuda_convolve_zones_get(zones, 0);

    for (gsize t = 0; t < G_N_ELEMENTS(times); t++)
      ck_assert_msg(gst_cuda_convolve_zone_is_in_force(zone, times[t] * GST_SECOND, FALSE) == rows[i].in_force[t],
                    "%s at %u s", rows[i].period, times[t]);
    ck_assert(gst_cuda_convolve_zone_is_in_force(zone, GST_CLOCK_TIME_NONE, TRUE));
    ck_assert(gst_cuda_convolve_zone_is_in_force(zone, GST_CLOCK_TIME_NONE, FALSE) == (i == 0));
    gst_cuda_convolve_zones_unref(zones);
  }
}
GST_END_TEST;

/* Hours around the present one, which can be on both sides of midnight, in three time zones. */
GST_START_TEST(test_times_of_day)
{
  static const char *const time_zones[] = {"UTC0", "XXX-10", "XXX+9"};
  static const struct {
    int from, to; /* hours from now */
    gboolean in_force;
  } rows[] = {{-1, 1, TRUE}, {-8, 1, TRUE}, {-1, 20, TRUE}, {1, 2, FALSE}, {-3, -1, FALSE}, {2, 22, FALSE}};

  for (gsize z = 0; z < G_N_ELEMENTS(time_zones); z++) {
    g_setenv("TZ", time_zones[z], TRUE);
    tzset();
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
      time_t now = time(NULL), from = now + rows[i].from * 3600, to = now + rows[i].to * 3600;
      char period[64];
      struct tm at;
      size_t n = strftime(period, sizeof(period), "from=%H:%M\n", localtime_r(&from, &at));
      GstCudaConvolveZones *zones;

      strftime(period + n, sizeof(period) - n, "to=%H:%M:%S\n", localtime_r(&to, &at));
      zones = zones_of(period);
      for (int known = 0; known < 2; known++)
        ck_assert_msg(gst_cuda_convolve_zone_is_in_force(gst_cuda_convolve_zones_get(zones, 0),
                                                         known ? 5 : GST_CLOCK_TIME_NONE,
                                                         !rows[i].in_force) == rows[i].in_force,
                      "%s in %s", period, time_zones[z]);
      gst_cuda_convolve_zones_unref(zones);
    }
  }
  g_unsetenv("TZ");
  tzset();
}
GST_END_TEST;

/* ---- files on disk ---- */

static GstCudaConvolveZones *
load(const char *path)
{
  GError *error = NULL;
  GstCudaConvolveZones *zones = gst_cuda_convolve_zones_load(path, &error);

  ck_assert_msg(zones != NULL, "%s", error ? error->message : "");
  return zones;
}

static gboolean
has_changed(const char *path, const GstCudaConvolveZones *zones)
{
  GstCudaConvolveFileStamp stamp;

  gst_cuda_convolve_file_stamp(path, &stamp);
  return !gst_cuda_convolve_file_stamps_equal(&stamp, gst_cuda_convolve_zones_stamp(zones));
}

/* A file that was just written may change again within the same tick of the clock, so it counts as changed. */
GST_START_TEST(test_stamps)
{
  char *folder = g_dir_make_tmp("zones-XXXXXX", NULL), *path = g_build_filename(folder, "a.zones", NULL);
  GstCudaConvolveZones *young, *old, *same;
  GError *error = NULL;

  ck_assert(g_file_set_contents(path, ZONE SQUARE, -1, NULL));
  young = load(path);
  ck_assert(has_changed(path, young));
  g_usleep(200000);
  old = load(path);
  ck_assert(!has_changed(path, old) && gst_cuda_convolve_zones_equal(young, old));
  ck_assert_int_eq(g_chmod(path, 0600), 0);
  ck_assert(has_changed(path, old));
  same = load(path);
  ck_assert(gst_cuda_convolve_zones_equal(same, old));
  ck_assert(g_file_set_contents(path, ZONE "ellipse=0,0,1,1", -1, NULL));
  gst_cuda_convolve_zones_unref(same);
  same = load(path);
  ck_assert(!gst_cuda_convolve_zones_equal(same, old));
  ck_assert_int_eq(g_unlink(path), 0);
  ck_assert(has_changed(path, same));
  ck_assert(!gst_cuda_convolve_zones_load(path, &error));
  ck_assert(strstr(error->message, "a.zones: ") && strstr(error->message, "give the path of a zones file"));
  g_error_free(error);
  gst_cuda_convolve_zones_unref(young);
  gst_cuda_convolve_zones_unref(old);
  gst_cuda_convolve_zones_unref(same);
  g_rmdir(folder);
  g_free(folder);
  g_free(path);
}
GST_END_TEST;

static void
add_tests(TCase *tcase)
{
  tcase_add_test(tcase, test_good_files);
  tcase_add_test(tcase, test_bad_files);
  tcase_add_test(tcase, test_secret_files);
  tcase_add_test(tcase, test_limits);
  tcase_add_test(tcase, test_stream_times);
  tcase_add_test(tcase, test_times_of_day);
  tcase_add_test(tcase, test_stamps);
}

int
main(int argc, char **argv)
{
  return test_main("zones", add_tests);
}
