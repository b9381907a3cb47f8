/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Zones files: what a zone hides and when, that a change of the file comes into force while frames flow, and that the
 * last valid version stays if the new one cannot be used. As in regions.c black becomes white where a zone is.
 */
#include <string.h>
#include <time.h>

#include <glib/gstdio.h>

#include "element/element.h"

#define WIDTH 32
#define HEIGHT 24
#define REQUIRED_S 10 /* until a change is in force; it takes 1.5 s on a machine that is not busy */

#define SETTLED_US 200000 /* a file that stayed the same for so long may be read; zoneswatch.c waits for 250 ms */

#define LEFT "rectangle=0,0,0.5,1\n"
#define RIGHT "rectangle=0.5,0,0.5,1\n"

/* ---- files ---- */

/* A folder with a zones file. */
typedef struct {
  char *folder, *path;
} Place;

static void
write_zones(const Place *place, const char *text)
{
  fail_unless(g_file_set_contents(place->path, text, -1, NULL));
}

static Place
place_of(const char *text)
{
  Place place;

  place.folder = g_dir_make_tmp("zones-XXXXXX", NULL);
  place.path = g_build_filename(place.folder, "yard.zones", NULL);
  write_zones(&place, text);
  return place;
}

static void
remove_place(Place *place)
{
  g_unlink(place->path);
  g_rmdir(place->folder);
  g_free(place->path);
  g_free(place->folder);
}

/* ---- frames ---- */

typedef struct {
  GstHarness *h;
  GstBus *bus;
  guint n;
} Run;

static Run
run_with(const char *backend, const Place *place)
{
  Run run = {.bus = gst_bus_new()};
  GstElement *element = make_element(backend, NULL);

  SET(element, NEGATIVE, "roi-source=property");
  g_object_set(element, "roi-location", place->path, NULL);
  gst_element_set_bus(element, run.bus);
  run.h = harness_of(element, "GRAY8", WIDTH, HEIGHT);
  return run;
}

static void
end_run(Run *run)
{
  gst_element_set_bus(run->h->element, NULL);
  gst_harness_teardown(run->h);
  gst_bus_set_flushing(run->bus, TRUE);
  gst_object_unref(run->bus);
}

/* Returns TRUE if each half of a frame is white as expected, else black. */
static gboolean
has_halves(const guint8 *pixels, gboolean left, gboolean right)
{
  for (int i = 0; i < WIDTH * HEIGHT; i++)
    if (pixels[i] != ((i % WIDTH < WIDTH / 2 ? left : right) ? 255 : 0))
      return FALSE;
  return TRUE;
}

/* Pushes a black frame. Returns TRUE if each half of the output is white as expected, else black. */
static gboolean
shows(Run *run, gboolean left, gboolean right)
{
  guint8 pixels[WIDTH * HEIGHT];

  filter_gray(run->h, black_frame(WIDTH, HEIGHT, run->n++), pixels, sizeof(pixels));
  return has_halves(pixels, left, right);
}

/* Pushes frames until the output is as expected. */
static gboolean
will_show(Run *run, gboolean left, gboolean right)
{
  gint64 end = g_get_monotonic_time() + REQUIRED_S * G_TIME_SPAN_SECOND;

  while (!shows(run, left, right)) {
    if (g_get_monotonic_time() > end)
      return FALSE;
    g_usleep(20000);
  }
  return TRUE;
}

/* Pushes frames until there is such a message, each of which must have the fragment, and the left half stays hidden. */
static void
expect_message(Run *run, GstMessageType type, const char *fragment)
{
  gint64 end = g_get_monotonic_time() + REQUIRED_S * G_TIME_SPAN_SECOND;

  while (count_messages(run->bus, type, fragment) == 0) {
    fail_unless(g_get_monotonic_time() < end, "no message with \"%s\"", fragment);
    fail_unless(shows(run, TRUE, FALSE), "the left half became visible");
    g_usleep(20000);
  }
}

static char *
stats_error(GstElement *element, guint *n)
{
  g_autoptr(GstStructure) stats = NULL;

  g_object_get(element, "stats", &stats, NULL);
  fail_unless(gst_structure_get_uint(stats, "zones", n));
  return g_strdup(gst_structure_get_string(stats, "zones-error"));
}

/* ---- what a zone hides ---- */

/* Shapes of zones give the same samples as the other properties. */
GST_START_TEST(test_zone_shapes)
{
  static const struct {
    const char *zones;
    const char *set[4];
  } rows[] = {
      {"[a]\nrectangle=0.125,0.25,0.5,0.25\n", {"roi=<<0.125,0.25,0.5,0.25>>"}},
      {"[a]\nrectangle=-0.5,0.25,0.75,2\n", {"roi=<<-0.5,0.25,0.75,1>>"}},
      {"[a]\nellipse=0.125,0.25,0.5,0.75\n", {"roi=<<0.125,0.25,0.5,0.75>>", "roi-shape=ellipse"}},
      {"[a]\npolygon=0.1,0.1, 0.9,0.2, 0.3,0.95\n", {"roi-polygons=<<0.1,0.1,0.9,0.2,0.3,0.95>>"}},
      {"[a]\npolygon=0.1,0.1,0.9,0.2,0.3,0.95\n[b]\nrectangle=0.5,0.5,0.5,0.5\n",
       {"roi-polygons=<<0.1,0.1,0.9,0.2,0.3,0.95>>", "roi=<<0.5,0.5,0.5,0.5>>"}},
  };
  static const char *const common[] = {"roi-feather=0", "roi-feather=3", "roi-invert=true", "roi-expand=0.25"};

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
    for (gsize c = 0; c < G_N_ELEMENTS(common); c++) {
      Place place = place_of(rows[i].zones);
      Run run = run_with(BACKEND, &place);
      GstHarness *h = HARNESS(BACKEND, "GRAY8", WIDTH, HEIGHT, NEGATIVE, "roi-source=property", "roi-units=fraction");
      guint8 zones[WIDTH * HEIGHT], rois[WIDTH * HEIGHT];

      SET(run.h->element, common[c]);
      SET(h->element, common[c]);
      set_all(h->element, rows[i].set);
      filter_gray(run.h, black_frame(WIDTH, HEIGHT, 0), zones, sizeof(zones));
      filter_gray(h, black_frame(WIDTH, HEIGHT, 0), rois, sizeof(rois));
      fail_unless(memcmp(zones, rois, sizeof(zones)) == 0, "%s with %s", rows[i].zones, common[c]);
      fail_unless(memchr(zones, 255, sizeof(zones)) && memchr(zones, 0, sizeof(zones)));
      fail_unless_equals_int(count_messages(run.bus, GST_MESSAGE_WARNING | GST_MESSAGE_INFO, ""), 0);
      end_run(&run);
      gst_harness_teardown(h);
      remove_place(&place);
    }
}
GST_END_TEST;

/* Zones and roi are both in force. */
GST_START_TEST(test_zones_beside_roi)
{
  Place place = place_of("[a]\n" LEFT);
  Run run = run_with(BACKEND, &place);
  char *text;

  fail_unless(shows(&run, TRUE, FALSE));
  SET(run.h->element, "roi=<<16,0,16,24>>");
  fail_unless(shows(&run, TRUE, TRUE));
  g_object_get(run.h->element, "roi-location", &text, NULL);
  fail_unless_equals_string(text, place.path);
  g_free(text);
  SET(run.h->element, "roi-location=");
  fail_unless(shows(&run, FALSE, TRUE));
  g_object_get(run.h->element, "roi-location", &text, NULL);
  fail_unless(text == NULL);
  end_run(&run);
  remove_place(&place);
}
GST_END_TEST;

GST_START_TEST(test_zone_types)
{
  static const struct {
    const char *types;
    gboolean left, right;
  } rows[] = {
      {"", TRUE, TRUE},           {"window", TRUE, FALSE}, {"door, Window", TRUE, TRUE},
      {"all,window", TRUE, TRUE}, {"DOOR", FALSE, TRUE},
  };
  Place place = place_of("[a]\n" LEFT "type=window\n[b]\n" RIGHT "type=door\n");
  Run run = run_with("cpu", &place);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_object_set(run.h->element, "roi-types", rows[i].types, NULL);
    fail_unless(shows(&run, rows[i].left, rows[i].right), "%s", rows[i].types);
  }
  fail_unless_equals_int(count_messages(run.bus, GST_MESSAGE_WARNING | GST_MESSAGE_INFO, ""), 0);
  SET(run.h->element, "roi-types=face");
  fail_unless(shows(&run, FALSE, FALSE));
  fail_unless_equals_int(count_messages(run.bus, GST_MESSAGE_WARNING, "the whole frame stays visible"), 1);
  g_object_set(run.h->element, "roi-types", "door", NULL);
  write_zones(&place, "[a]\n" LEFT "\n[b]\n" RIGHT "type=door\n");
  fail_unless(will_show(&run, TRUE, TRUE), "a zone without a type is not in force");
  end_run(&run);
  remove_place(&place);
}
GST_END_TEST;

/* Frames last 40 ms. Without a time every zone hides; with roi-invert nothing stays clear. */
GST_START_TEST(test_zone_times)
{
  static const gboolean expected[][2] = {{FALSE, TRUE}, {FALSE, TRUE}, {TRUE, TRUE},
                                         {TRUE, TRUE},  {TRUE, FALSE}, {FALSE, FALSE}};
  Place place = place_of("[a]\n" LEFT "from=0.08\nto=0.2\n[b]\n" RIGHT "to=0.16\n");
  Run run = run_with(BACKEND, &place);
  guint8 pixels[WIDTH * HEIGHT];
  GstBuffer *frame;

  for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
    fail_unless(shows(&run, expected[i][0], expected[i][1]), "frame %d", (int)i);
  for (int invert = 0; invert < 2; invert++) {
    SET(run.h->element, ROI_INVERT(invert));
    frame = black_frame(WIDTH, HEIGHT, 0);
    GST_BUFFER_PTS(frame) = GST_CLOCK_TIME_NONE;
    filter_gray(run.h, frame, pixels, sizeof(pixels));
    for (int i = 0; i < WIDTH * HEIGHT; i++)
      fail_unless_equals_int(pixels[i], 255);
  }
  end_run(&run);
  remove_place(&place);
}
GST_END_TEST;

GST_START_TEST(test_zone_times_of_day)
{
  time_t now = time(NULL), before = now - 7200, after = now + 7200;
  char text[200];
  struct tm at;
  size_t n = strftime(text, sizeof(text), "[a]\n" LEFT "from=%H:%M\n", localtime_r(&before, &at));
  Place place;
  Run run;

  n += strftime(text + n, sizeof(text) - n, "to=%H:%M\n[b]\n" RIGHT "from=%H:%M\n", localtime_r(&after, &at));
  strftime(text + n, sizeof(text) - n, "to=%H:%M\n", localtime_r(&before, &at));
  place = place_of(text);
  run = run_with("cpu", &place);
  fail_unless(shows(&run, TRUE, FALSE), "%s", text);
  end_run(&run);
  remove_place(&place);
}
GST_END_TEST;

/* ---- changes of the file ---- */

GST_START_TEST(test_zones_change)
{
  Place place = place_of("[a]\n" RIGHT);
  Run run = run_with(BACKEND, &place);
  char *error;
  guint n;

  fail_unless(shows(&run, FALSE, TRUE));
  write_zones(&place, "[a]\n" LEFT);
  fail_unless(will_show(&run, TRUE, FALSE));
  expect_message(&run, GST_MESSAGE_INFO, "yard.zones: read again, zones in force: 1");

  /* Each of these leaves the left half hidden. */
  write_zones(&place, "[a]\nrectangle=0,0,0,0\n");
  expect_message(&run, GST_MESSAGE_WARNING, "yard.zones: zone [a]: rectangle=0,0,0,0: the zone is 0 wide");
  error = stats_error(run.h->element, &n);
  fail_unless(n == 1 && strstr(error, "the zone is 0 wide"));
  g_free(error);
  write_zones(&place, "");
  expect_message(&run, GST_MESSAGE_WARNING, "the zones read before stay in force: roi-location=");
  g_unlink(place.path);
  expect_message(&run, GST_MESSAGE_WARNING, "No such file or directory");
  fail_unless_equals_int(g_mkdir(place.path, 0700), 0);
  expect_message(&run, GST_MESSAGE_WARNING, "this is a directory");
  g_rmdir(place.path);
  expect_message(&run, GST_MESSAGE_WARNING, "No such file or directory");

  /* The same text as before is news again. */
  write_zones(&place, "[a]\n" LEFT);
  expect_message(&run, GST_MESSAGE_INFO, "read again, zones in force: 1");
  error = stats_error(run.h->element, &n);
  fail_unless_equals_string(error, "");
  g_free(error);
  write_zones(&place, "[a]\n" LEFT "[b]\n" RIGHT);
  fail_unless(will_show(&run, TRUE, TRUE));
  end_run(&run);
  remove_place(&place);
}
GST_END_TEST;

/* Like write_zones, but waits for no disk. */
static void
write_at_once(const Place *place, const char *text)
{
  g_autofree char *next = g_strconcat(place->path, ".next", NULL);

  fail_unless(g_file_set_contents_full(next, text, -1, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
  fail_unless_equals_int(g_rename(next, place->path), 0);
}

/* Writes the file every 50 ms for 3 s. Returns FALSE if it stayed the same for SETTLED_US once, because the machine was
 * busy: then it may have been read. */
static gboolean
write_all_the_time(Run *run, const Place *place)
{
  gint64 written = g_get_monotonic_time(), end = written + 3 * G_TIME_SPAN_SECOND;
  gboolean same = TRUE, busy = FALSE;

  for (guint i = 0; written < end && same && !busy; i++) {
    gint64 before = written;

    write_at_once(place, i % 2 ? "[a]\n" RIGHT : "");
    written = g_get_monotonic_time();
    same = shows(run, TRUE, FALSE);
    g_usleep(50000);
    busy = MAX(written - before, g_get_monotonic_time() - written) > SETTLED_US;
  }
  fail_unless(same || busy, "half a file was read");
  return !busy;
}

/* A file that is only touched is no news. A file that changes all the time is not read before it stays the same. */
GST_START_TEST(test_zones_unsettled)
{
  gboolean done = FALSE;

  for (guint try = 0; !done && try < 20; try++) {
    Place place = place_of("[a]\n" LEFT);
    Run run = run_with("cpu", &place);

    done = write_all_the_time(&run, &place);
    if (done) {
      write_at_once(&place, "[a]\n" LEFT);
      for (gint64 end = g_get_monotonic_time() + 2 * G_TIME_SPAN_SECOND; g_get_monotonic_time() < end;) {
        fail_unless(shows(&run, TRUE, FALSE));
        g_usleep(50000);
      }
      fail_unless_equals_int(count_messages(run.bus, GST_MESSAGE_WARNING | GST_MESSAGE_INFO, ""), 0);
    }
    end_run(&run);
    remove_place(&place);
  }
  fail_unless(done, "the machine is too busy to change a file all the time");
}
GST_END_TEST;

/* The file may change between setting the property and the start, and between two starts. */
GST_START_TEST(test_zones_at_start)
{
  Place place = place_of("[a]\n" LEFT);
  GstBus *bus;
  GstElement *element = make_element("cpu", &bus);
  char *error;
  guint n;

  SET(element, "roi-source=property");
  g_object_set(element, "roi-location", place.path, NULL);
  write_zones(&place, "[a]\n" LEFT "[b]\n" RIGHT);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  error = stats_error(element, &n);
  fail_unless_equals_int((int)n, 2);
  g_free(error);
  gst_element_set_state(element, GST_STATE_NULL);
  write_zones(&place, "[a]\nrectangle=1,2,3\n");
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "rectangle=1,2,3: 3 is outside -1 to 2"), 1);
  g_unlink(place.path);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_ERROR, "No such file or directory"), 1);
  g_object_set(element, "roi-location", place.path, NULL);
  fail_unless_equals_int(count_messages(bus, GST_MESSAGE_WARNING, "No such file or directory"), 1);
  write_zones(&place, "[a]\n" LEFT);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  g_object_set(element, "roi-location", place.path, NULL);
  fail_unless_equals_int(gst_element_set_state(element, GST_STATE_PAUSED), GST_STATE_CHANGE_SUCCESS);
  free_element(element, bus);
  remove_place(&place);
}
GST_END_TEST;

static gpointer
set_often(gpointer data)
{
  gpointer *at = data;
  const Place *places = at[1];

  for (guint i = 0; i < 2000; i++)
    g_object_set(at[0], "roi-location", i % 3 == 2 ? NULL : places[i % 3].path, NULL);
  gst_object_unref(at[0]);
  return NULL;
}

/* The property changes from file to file and to none in another thread, while frames flow, and over the end of the
 * stream. Each frame has the zones of one of the files, or none. */
GST_START_TEST(test_zones_set_while_playing)
{
  Place places[] = {place_of("[a]\n" LEFT), place_of("[a]\n" LEFT "[b]\n" RIGHT)};
  Run run = run_with("cpu", &places[0]);
  gpointer data[] = {gst_object_ref(run.h->element), places};
  GThread *thread = g_thread_new("set", set_often, data);
  guint8 pixels[WIDTH * HEIGHT];

  for (guint i = 0; i < 100; i++) {
    filter_gray(run.h, black_frame(WIDTH, HEIGHT, run.n++), pixels, sizeof(pixels));
    fail_unless(has_halves(pixels, TRUE, FALSE) || has_halves(pixels, TRUE, TRUE) || has_halves(pixels, FALSE, FALSE));
  }
  g_thread_join(thread);
  gst_object_ref(data[0]);
  thread = g_thread_new("set", set_often, data);
  end_run(&run); /* the thread still sets it */
  g_thread_join(thread);
  remove_place(&places[0]);
  remove_place(&places[1]);
}
GST_END_TEST;

/* ---- messages ---- */

GST_START_TEST(test_zones_unused)
{
  static const struct {
    const char *zones;
    const char *set[4];
    int n;
    const char *fragment;
  } rows[] = {
      {"[a]\n" LEFT, {"roi-source=property"}, 0, NULL},
      {"[a]\n" LEFT, {"roi-source=none"}, 1, "roi-location with roi-source=none has no effect: the whole frame is"},
      {"[a]\n" LEFT, {"roi-source=meta"}, 1, "roi-location with roi-source=meta has no effect: regions come only from"},
      {"[a]\n" LEFT,
       {"roi-source=property", "roi-units=fraction", "roi-shape=ellipse"},
       2,
       " with roi-source=property has no effect: zones have their own units and shapes"},
      {"[a]\n" LEFT, {"roi-source=property", "roi-shape=ellipse", "roi=<<1,2,3,4>>"}, 0, NULL},
      {"[a]\n" LEFT,
       {"roi-source=property", "roi-types=face"},
       1,
       "roi-types with roi-source=property has no effect: regions come only from properties, and no zone of "
       "roi-location names a type"},
      {"[a]\n" LEFT "type=door\n",
       {"roi-source=property", "roi-types=face"},
       1,
       "roi-source=property finds no rectangle or polygon in the frame: nothing is filtered, "},
      {"[a]\n" LEFT "type=door\n",
       {"roi-source=property", "roi-types=face", "roi-missing=filter"},
       1,
       "the whole frame is filtered"},
      {"[a]\n" LEFT "[a line]\npolygon=0.1,0.1,0.5,0.5,0.9,0.9\n",
       {"roi-source=property"},
       1,
       "roi-location: outside the frame of 16x16, or empty, so without effect: zone [a line]; correct or remove them"},
  };

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    Place place = place_of(rows[i].zones);
    GstElement *element = make_element("cpu", NULL);
    GstBus *bus = gst_bus_new();
    GstHarness *h;
    int n;

    g_object_set(element, "roi-location", place.path, NULL);
    set_all(element, rows[i].set);
    gst_element_set_bus(element, bus);
    h = harness_of(element, "GRAY8", 16, 16);
    gst_buffer_unref(gst_harness_push_and_pull(h, black_frame(16, 16, 0)));
    n = count_messages(bus, GST_MESSAGE_WARNING, rows[i].fragment ? rows[i].fragment : "");
    fail_unless(n == rows[i].n, "row %d: %d messages", (int)i, n);
    gst_element_set_bus(element, NULL);
    gst_harness_teardown(h);
    gst_bus_set_flushing(bus, TRUE);
    gst_object_unref(bus);
    remove_place(&place);
  }
}
GST_END_TEST;

void
add_zone_tests(TCase *once, TCase *each)
{
  EACH(test_zone_shapes);
  EACH(test_zones_beside_roi);
  EACH(test_zone_times);
  EACH(test_zones_change);
  tcase_add_test(once, test_zone_types);
  tcase_add_test(once, test_zone_times_of_day);
  tcase_add_test(once, test_zones_unsettled);
  tcase_add_test(once, test_zones_at_start);
  tcase_add_test(once, test_zones_set_while_playing);
  tcase_add_test(once, test_zones_unused);
}
