/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/zones.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "regions/polygon.h"

#define PROPERTY "roi-location"
#define KIND "a zones file"
#define LONGEST_FILE (1u << 20) /* bytes */
#define LONGEST_SHOWN 40        /* characters of a name or value that a message repeats */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"
#define LEAST (-1.0) /* limits of a coordinate, in frames */
#define MOST 2.0
#define DAY (24 * 60 * 60)   /* seconds */
#define CLOCK_TICK 100000000 /* ns; two changes within this time can have the same time in a file system */

struct _GstCudaConvolveZones {
  gint n_references;
  char *path, *text;
  GstCudaConvolveFileStamp stamp;
  GArray *zone; /* GstCudaConvolveZone */
  guint n_points;
};

/* ---- the value ---- */

static void
clear_zone(gpointer data)
{
  GstCudaConvolveZone *zone = data;

  g_free(zone->name);
  g_free(zone->type);
  g_clear_pointer(&zone->points, g_array_unref);
}

static GstCudaConvolveZones *
new_zones(const char *path, const char *text)
{
  GstCudaConvolveZones *zones = g_new0(GstCudaConvolveZones, 1);

  zones->n_references = 1;
  zones->path = g_strdup(path);
  zones->text = g_strdup(text);
  zones->zone = g_array_new(FALSE, TRUE, sizeof(GstCudaConvolveZone));
  g_array_set_clear_func(zones->zone, clear_zone);
  return zones;
}

GstCudaConvolveZones *
gst_cuda_convolve_zones_ref(GstCudaConvolveZones *zones)
{
  g_atomic_int_inc(&zones->n_references);
  return zones;
}

void
gst_cuda_convolve_zones_unref(GstCudaConvolveZones *zones)
{
  if (!g_atomic_int_dec_and_test(&zones->n_references))
    return;
  g_array_unref(zones->zone);
  g_free(zones->path);
  g_free(zones->text);
  g_free(zones);
}

const char *
gst_cuda_convolve_zones_path(const GstCudaConvolveZones *zones)
{
  return zones->path;
}

const GstCudaConvolveFileStamp *
gst_cuda_convolve_zones_stamp(const GstCudaConvolveZones *zones)
{
  return &zones->stamp;
}

gboolean
gst_cuda_convolve_zones_equal(const GstCudaConvolveZones *a, const GstCudaConvolveZones *b)
{
  return strcmp(a->path, b->path) == 0 && strcmp(a->text, b->text) == 0;
}

guint
gst_cuda_convolve_zones_n(const GstCudaConvolveZones *zones)
{
  return zones ? zones->zone->len : 0;
}

const GstCudaConvolveZone *
gst_cuda_convolve_zones_get(const GstCudaConvolveZones *zones, guint i)
{
  return &g_array_index(zones->zone, GstCudaConvolveZone, i);
}

gboolean
gst_cuda_convolve_zones_have_type(const GstCudaConvolveZones *zones)
{
  for (guint i = 0; i < gst_cuda_convolve_zones_n(zones); i++)
    if (gst_cuda_convolve_zones_get(zones, i)->type)
      return TRUE;
  return FALSE;
}

static guint64
seconds_since_midnight(void)
{
  time_t now = (time_t)(g_get_real_time() / G_USEC_PER_SEC);
  struct tm local;

  localtime_r(&now, &local);
  return (guint64)(local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec);
}

gboolean
gst_cuda_convolve_zone_is_in_force(const GstCudaConvolveZone *zone, GstClockTime time, gboolean doubt)
{
  if (zone->period == GST_CUDA_CONVOLVE_ZONE_ALWAYS)
    return TRUE;
  if (zone->period == GST_CUDA_CONVOLVE_ZONE_DAY)
    time = seconds_since_midnight();
  else if (!GST_CLOCK_TIME_IS_VALID(time))
    return doubt;
  if (zone->from <= zone->to)
    return time >= zone->from && time < zone->to;
  return time >= zone->from || time < zone->to;
}

/* ---- values of keys ---- */

/* A place in the file, for messages. */
typedef struct {
  const char *file; /* roi-location=PATH */
  const char *zone, *key, *value;
} Place;

/* Returns the beginning of a text in UTF-8, to be freed. */
static char *
shorten(const char *text)
{
  glong n = g_utf8_strlen(text, -1);
  g_autofree char *start = g_utf8_substring(text, 0, MIN(n, LONGEST_SHOWN));

  return g_strconcat(start, n > LONGEST_SHOWN ? "..." : NULL, NULL);
}

/* Sets an error about the value of a key. Always returns FALSE. */
static gboolean G_GNUC_PRINTF(3, 4) refuse_value(GError **error, const Place *at, const char *format, ...)
{
  g_autofree char *zone = shorten(at->zone), *value = shorten(at->value), *reason = NULL;
  va_list args;

  va_start(args, format);
  reason = g_strdup_vprintf(format, args);
  va_end(args);
  return cnv_refuse(error, "%s: zone [%s]: %s=%s: %s", at->file, zone, at->key, value, reason);
}

static gboolean
is_separator(char c)
{
  return c == ',' || c == ';' || g_ascii_isspace(c);
}

/* Reads a number, and moves *at past it. Returns FALSE with an error if there is none, or if it is not finite. */
static gboolean
read_number(const Place *place, const char **at, double *number, GError **error)
{
  gsize length = strspn(*at, "0123456789.+-eE");
  char *end = NULL;

  *number = length > 0 ? g_ascii_strtod(*at, &end) : 0;
  if (length == 0 || end != *at + length || !isfinite(*number)) {
    g_autofree char *rest = shorten(*at);

    return refuse_value(error, place, "\"%s\" is not a number: write numbers such as 0.25, separated by commas", rest);
  }
  *at = end;
  return TRUE;
}

/* Appends the numbers of a list. They are separated by one comma, one semicolon or spaces. */
static gboolean
read_numbers(const Place *place, guint most, GArray *numbers, GError **error)
{
  const char *at = place->value;

  at += strspn(at, " \t");
  while (*at) {
    double number;

    if (numbers->len == most)
      return refuse_value(error, place, "more than %u numbers: write fewer", most);
    if (!read_number(place, &at, &number, error))
      return FALSE;
    if (!(number >= LEAST && number <= MOST))
      return refuse_value(error, place,
                          "%g is outside %g to %g: write fractions of the frame: pixels divided by its width or height",
                          number, LEAST, MOST);
    g_array_append_val(numbers, number);
    if (*at && !is_separator(*at)) {
      g_autofree char *rest = shorten(at);

      return refuse_value(error, place, "\"%s\" follows a number: separate numbers by commas", rest);
    }
    at += strspn(at, " \t");
    at += *at == ',' || *at == ';';
    at += strspn(at, " \t");
  }
  return TRUE;
}

/* Rejects a zone that could not hide anything, which can only be a mistake. */
static gboolean
check_bounds(const Place *place, const double bounds[4], GError **error)
{
  if (!(bounds[2] > 0 && bounds[3] > 0))
    return refuse_value(error, place, "the zone is %g wide and %g high, so it hides nothing: make it larger", bounds[2],
                        bounds[3]);
  if (bounds[0] >= 1 || bounds[1] >= 1 || bounds[0] + bounds[2] <= 0 || bounds[1] + bounds[3] <= 0)
    return refuse_value(error, place,
                        "the zone lies outside the frame, which reaches from 0 to 1: correct or remove it");
  return TRUE;
}

static gboolean
read_rect(const Place *place, GstCudaConvolveZone *zone, GError **error)
{
  g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(double));

  if (!read_numbers(place, 4, numbers, error))
    return FALSE;
  if (numbers->len != 4)
    return refuse_value(error, place, "%u numbers: write x,y,width,height, for example 0.25,0.25,0.5,0.5",
                        numbers->len);
  memcpy(zone->rect, numbers->data, sizeof(zone->rect));
  return check_bounds(place, zone->rect, error);
}

static gboolean
read_polygon(const Place *place, GstCudaConvolveZone *zone, guint most_points, GError **error)
{
  zone->points = g_array_new(FALSE, FALSE, sizeof(double));
  if (!read_numbers(place, 2 * GST_CUDA_CONVOLVE_POLYGON_POINTS, zone->points, error))
    return FALSE;
  if (zone->points->len % 2 || zone->points->len < 6)
    return refuse_value(error, place,
                        "%u numbers: write x and y of at least 3 points, for example 0.1,0.1,0.9,0.1,0.5,0.9",
                        zone->points->len);
  if (zone->points->len / 2 > most_points)
    return refuse_value(error, place, "the polygons of the file have more than %d points: simplify them",
                        GST_CUDA_CONVOLVE_POLYGON_POINTS);
  gst_cuda_convolve_polygon_bounds(zone->points, zone->rect);
  return check_bounds(place, zone->rect, error);
}

/* Reads two digits, and moves *at past them. */
static gboolean
read_digits(const char **at, guint *number)
{
  if (!g_ascii_isdigit((*at)[0]) || !g_ascii_isdigit((*at)[1]))
    return FALSE;
  *number = (guint)(10 * ((*at)[0] - '0') + (*at)[1] - '0');
  *at += 2;
  return TRUE;
}

/* Reads HH:MM or HH:MM:SS. */
static gboolean
read_time_of_day(const Place *place, guint64 *time, GError **error)
{
  const char *at = place->value;
  guint hours = 0, minutes = 0, seconds = 0;
  gboolean ok = read_digits(&at, &hours) && *at++ == ':' && read_digits(&at, &minutes);

  if (ok && *at == ':') {
    at++;
    ok = read_digits(&at, &seconds);
  }
  *time = (guint64)(hours * 3600 + minutes * 60 + seconds);
  if (!ok || *at || minutes > 59 || seconds > 59 || *time > DAY)
    return refuse_value(error, place,
                        "not a time of day: write HH:MM or HH:MM:SS, for example 08:00; or seconds of the "
                        "stream, for example 12.5");
  return TRUE;
}

static gboolean
read_stream_time(const Place *place, guint64 *time, GError **error)
{
  const char *at = place->value;
  double seconds;

  if (!read_number(place, &at, &seconds, error))
    return FALSE;
  if (*at || !(seconds >= 0 && seconds <= 1e9))
    return refuse_value(error, place,
                        "not a time: write seconds of the stream, for example 12.5, or a time of day, for "
                        "example 08:00");
  *time = (guint64)(seconds * GST_SECOND);
  return TRUE;
}

static gboolean
read_time(const Place *place, GstCudaConvolveZone *zone, guint64 *time, GError **error)
{
  GstCudaConvolveZonePeriod period =
      strchr(place->value, ':') ? GST_CUDA_CONVOLVE_ZONE_DAY : GST_CUDA_CONVOLVE_ZONE_STREAM;

  if (zone->period != GST_CUDA_CONVOLVE_ZONE_ALWAYS && zone->period != period)
    return refuse_value(error, place, "from and to must both be seconds of the stream, or both times of day");
  zone->period = period;
  return period == GST_CUDA_CONVOLVE_ZONE_DAY ? read_time_of_day(place, time, error)
                                              : read_stream_time(place, time, error);
}

/* ---- groups ---- */

/* Returns the value of a key without spaces around it, to be freed; NULL if the zone has no such key. */
static char *
value_of(GKeyFile *file, const char *zone, const char *key)
{
  char *value = g_key_file_get_value(file, zone, key, NULL);

  return value ? g_strstrip(value) : NULL;
}

static gboolean
check_keys(GKeyFile *file, const char *name, const char *zone, GError **error)
{
  static const char *const known[] = {"polygon", "rectangle", "ellipse", "type", "from", "to", NULL};
  g_auto(GStrv) keys = g_key_file_get_keys(file, zone, NULL, NULL);
  g_autofree char *short_zone = shorten(zone);

  for (char **key = keys; *key; key++)
    if (!g_strv_contains(known, *key)) {
      g_autofree char *short_key = shorten(*key);

      return cnv_refuse(error,
                        "%s: zone [%s] has no key \"%s\": the keys are polygon, rectangle, ellipse, type, from "
                        "and to",
                        name, short_zone, short_key);
    }
  return TRUE;
}

static gboolean
read_shape(GKeyFile *file, const char *name, guint most_points, GstCudaConvolveZone *zone, GError **error)
{
  static const char *const shapes[] = {"polygon", "rectangle", "ellipse"};
  Place place = {.file = name, .zone = zone->name};
  g_autofree char *short_name = shorten(zone->name), *value = NULL;

  for (guint i = 0; i < G_N_ELEMENTS(shapes); i++) {
    g_autofree char *found = value_of(file, zone->name, shapes[i]);

    if (found && value)
      return cnv_refuse(error, "%s: zone [%s] has both %s and %s: make a zone of each", name, short_name, place.key,
                        shapes[i]);
    if (!found)
      continue;
    value = g_steal_pointer(&found);
    place.key = shapes[i];
    place.value = value;
  }
  if (!value)
    return cnv_refuse(error, "%s: zone [%s] has no shape: add polygon, rectangle or ellipse", name, short_name);
  if (place.key == shapes[0])
    return read_polygon(&place, zone, most_points, error);
  zone->shape = place.key == shapes[1] ? CNV_SHAPE_RECTANGLE : CNV_SHAPE_ELLIPSE;
  return read_rect(&place, zone, error);
}

static gboolean
read_period(GKeyFile *file, const char *name, GstCudaConvolveZone *zone, GError **error)
{
  g_autofree char *from = value_of(file, zone->name, "from"), *to = value_of(file, zone->name, "to");
  const Place from_place = {name, zone->name, "from", from}, to_place = {name, zone->name, "to", to};

  if ((from && !read_time(&from_place, zone, &zone->from, error)) ||
      (to && !read_time(&to_place, zone, &zone->to, error)))
    return FALSE;
  if (!to)
    zone->to = zone->period == GST_CUDA_CONVOLVE_ZONE_DAY ? DAY : G_MAXUINT64;
  if (!to || zone->from < zone->to || (zone->period == GST_CUDA_CONVOLVE_ZONE_DAY && zone->from > zone->to))
    return TRUE;
  return refuse_value(error, &to_place,
                      "not after from=%s, so the zone would never hide anything: correct one of them, "
                      "or remove both",
                      from ? from : "0");
}

/* Rejects a comma, because it separates types in roi-types. */
static gboolean
read_type(GKeyFile *file, const char *name, GstCudaConvolveZone *zone, GError **error)
{
  g_autofree char *type = value_of(file, zone->name, "type");
  const Place place = {name, zone->name, "type", type};

  if (type && strchr(type, ','))
    return refuse_value(error, &place, "a comma separates types in roi-types: write one type without commas");
  if (type && *type)
    zone->type = g_steal_pointer(&type);
  return TRUE;
}

static gboolean
read_zone(GKeyFile *file, const char *name, const char *group, GstCudaConvolveZones *zones, GError **error)
{
  GstCudaConvolveZone zone = {.name = g_strdup(group)};
  guint most_points = GST_CUDA_CONVOLVE_POLYGON_POINTS - zones->n_points;
  gboolean ok = check_keys(file, name, group, error) && read_shape(file, name, most_points, &zone, error) &&
                read_type(file, name, &zone, error) && read_period(file, name, &zone, error);

  zones->n_points += ok && zone.points ? zone.points->len / 2 : 0;
  g_array_append_val(zones->zone, zone);
  return ok;
}

/* ---- lines ---- */

/* Returns the end of the name of a group, or NULL if the line is no group. line: begins with a bracket. */
static const char *
end_of_group(const char *line)
{
  const char *end = strchr(line, ']');

  return end && end[1 + strspn(end + 1, " \t\r")] == '\0' ? end : NULL;
}

/* Checks a line that is neither empty nor a comment. seen: all groups and their keys. *group: the current group. */
static gboolean
check_line(const char *name, guint number, const char *line, char **group, GHashTable *seen, GError **error)
{
  const char *equals = strchr(line, '=');
  g_autofree char *what = NULL;

  if (*line == '[') {
    const char *end = end_of_group(line);

    if (!end || end == line + 1)
      return cnv_refuse(error, "%s: line %u: a zone begins with its name in brackets, [door]", name, number);
    g_free(*group);
    *group = g_strndup(line, (gsize)(end - line));
    if (g_hash_table_add(seen, g_strdup(*group)))
      return TRUE;
    what = shorten(*group + 1);
    return cnv_refuse(error, "%s: line %u: a second zone [%s]: give each zone a name of its own", name, number, what);
  }
  if (!equals || equals == line)
    return cnv_refuse(error, "%s: line %u: neither [NAME] of a zone, nor KEY=VALUE, nor a comment that begins with #",
                      name, number);
  if (!*group)
    return cnv_refuse(error, "%s: line %u: a key before the first zone: write [NAME] of a zone above it", name, number);
  what = g_strndup(line, (gsize)(equals - line));
  g_strchomp(what);
  if (g_hash_table_add(seen, g_strconcat(*group, "]", what, NULL)))
    return TRUE;
  return cnv_refuse(error, "%s: line %u: a second key of the same name in a zone: make a zone of each", name, number);
}

/* GLib merges groups and keys that appear twice, which would lose a zone. Names the line of anything it cannot read. */
static gboolean
check_lines(const char *name, const char *text, GError **error)
{
  g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_autofree char *group = NULL;

  for (guint i = 0; lines[i]; i++) {
    const char *line = g_strstrip(lines[i]);

    if (*line && *line != '#' && !check_line(name, i + 1, line, &group, seen, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- files ---- */

static gboolean
read_zones(const char *text, gsize size, const char *name, GstCudaConvolveZones *zones, GError **error)
{
  g_autoptr(GKeyFile) file = g_key_file_new();
  g_autoptr(GError) unread = NULL;
  g_auto(GStrv) groups = NULL;
  gboolean ok = TRUE;

  if (!g_utf8_validate(text, (gssize)size, NULL))
    return cnv_refuse(error, "%s: not a text in UTF-8: save it as UTF-8", name);
  if (!check_lines(name, text, error))
    return FALSE;
  if (size > 0 && !g_key_file_load_from_data(file, text, size, G_KEY_FILE_KEEP_TRANSLATIONS, &unread))
    return cnv_refuse(error, "%s: not a key file of GLib: a zone is [NAME], and lines of KEY=VALUE below it", name);
  groups = g_key_file_get_groups(file, NULL);
  if (!*groups)
    return cnv_refuse(error, "%s: no zone, so nothing would be hidden: add one, or set roi-location to nothing", name);
  if (g_strv_length(groups) > CNV_MAX_REGIONS)
    return cnv_refuse(error, "%s: %u zones, and the limit is %d: join some", name, g_strv_length(groups),
                      CNV_MAX_REGIONS);
  for (char **group = groups; ok && *group; group++)
    ok = read_zone(file, name, *group, zones, error);
  return ok;
}

GstCudaConvolveZones *
gst_cuda_convolve_zones_parse(const char *text, gsize size, const char *path, GError **error)
{
  g_autofree char *name = gst_cuda_convolve_file_name(PROPERTY, path);
  GstCudaConvolveZones *zones = new_zones(path, text);

  if (g_str_has_prefix(text, BYTE_ORDER_MARK)) {
    text += strlen(BYTE_ORDER_MARK);
    size -= strlen(BYTE_ORDER_MARK);
  }
  if (read_zones(text, size, name, zones, error))
    return zones;
  gst_cuda_convolve_zones_unref(zones);
  return NULL;
}

/* Takes the stamp first: if the file changes while it is read, the stamp is already old, and the file is read again.
 * The file is also read again if it changed less than CLOCK_TICK before, because another change might not show in the
 * stamp. */
GstCudaConvolveZones *
gst_cuda_convolve_zones_load(const char *path, GError **error)
{
  GstCudaConvolveFileStamp stamp;
  GstCudaConvolveZones *zones;
  g_autofree char *text = NULL;
  gsize size;
  gint64 age;

  gst_cuda_convolve_file_stamp(path, &stamp);
  text = gst_cuda_convolve_file_read(PROPERTY, path, LONGEST_FILE, KIND, &size, error);
  zones = text ? gst_cuda_convolve_zones_parse(text, size, path, error) : NULL;
  if (!zones)
    return NULL;
  zones->stamp = stamp;
  age = g_get_real_time() * 1000 - stamp.changed;
  if (age >= 0 && age < CLOCK_TICK)
    zones->stamp.changed--;
  return zones;
}
