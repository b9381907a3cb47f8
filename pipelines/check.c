/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "check.h"

#include <glib/gstdio.h>
#include <string.h>

/* The names of all values; *normal is set to that of the default. */
static char *
list_nicks(GType type, const GValue *value, char **normal)
{
  GString *text = g_string_new(NULL);
  gpointer class = g_type_class_ref(type);

  if (G_TYPE_IS_ENUM(type)) {
    *normal = g_strdup(g_enum_get_value(class, g_value_get_enum(value))->value_nick);
    for (guint i = 0; i < G_ENUM_CLASS(class)->n_values; i++)
      g_string_append_printf(text, " %s", G_ENUM_CLASS(class)->values[i].value_nick);
  } else {
    for (guint i = 0; i < G_FLAGS_CLASS(class)->n_values; i++) {
      const GFlagsValue *flag = &G_FLAGS_CLASS(class)->values[i];

      g_string_append_printf(text, " %s", flag->value_nick);
      if (flag->value == g_value_get_flags(value))
        *normal = g_strdup(flag->value_nick);
    }
  }
  g_type_class_unref(class);
  return g_string_free(text, FALSE);
}

/* For people: -1 and not (GstSomeEnum)-1. */
static char *
number_to_string(const GValue *value)
{
  g_auto(GValue) number = G_VALUE_INIT;

  g_value_init(&number, G_TYPE_DOUBLE);
  return g_value_transform(value, &number) ? g_strdup_printf("%.10g", g_value_get_double(&number)) : NULL;
}

/* "-1 to 512", or NULL for a type that has no range. */
static char *
range_of(const GParamSpec *pspec)
{
  if (G_IS_PARAM_SPEC_INT(pspec))
    return g_strdup_printf("%d to %d", G_PARAM_SPEC_INT(pspec)->minimum, G_PARAM_SPEC_INT(pspec)->maximum);
  if (G_IS_PARAM_SPEC_UINT(pspec))
    return g_strdup_printf("%u to %u", G_PARAM_SPEC_UINT(pspec)->minimum, G_PARAM_SPEC_UINT(pspec)->maximum);
  if (G_IS_PARAM_SPEC_DOUBLE(pspec))
    return g_strdup_printf("%g to %g", G_PARAM_SPEC_DOUBLE(pspec)->minimum, G_PARAM_SPEC_DOUBLE(pspec)->maximum);
  return NULL;
}

/* What a property takes, with its default, for people. */
static char *
describe(GParamSpec *pspec)
{
  GString *text = g_string_new("takes");
  const GValue *value = g_param_spec_get_default_value(pspec);
  g_autofree char *range = range_of(pspec), *nicks = NULL, *normal = NULL;

  if (range) {
    g_string_append_printf(text, " %s", range);
    normal = number_to_string(value);
  } else if (G_IS_PARAM_SPEC_BOOLEAN(pspec)) {
    g_string_append(text, " true or false");
    normal = gst_value_serialize(value);
  } else if (G_IS_PARAM_SPEC_ENUM(pspec) || G_IS_PARAM_SPEC_FLAGS(pspec)) {
    nicks = list_nicks(pspec->value_type, value, &normal);
    g_string_append_printf(text, " %s%s", G_IS_PARAM_SPEC_ENUM(pspec) ? "one of" : "these, joined by +:", nicks);
  } else {
    g_string_append_printf(text, " a list, like <1,2,1> or <<1,2>,<3,4>>: %s", g_param_spec_get_blurb(pspec));
  }
  if (normal)
    g_string_append_printf(text, "; without it: %s", normal);
  return g_string_free(text, FALSE);
}

static gboolean
has_checks(const GParamSpec *pspec)
{
  g_autofree char *range = range_of(pspec);

  return range || G_IS_PARAM_SPEC_BOOLEAN(pspec) || G_IS_PARAM_SPEC_ENUM(pspec) || G_IS_PARAM_SPEC_FLAGS(pspec) ||
         pspec->value_type == GST_TYPE_ARRAY;
}

static gboolean
check_value(GParamSpec *pspec, const char *text)
{
  g_auto(GValue) value = G_VALUE_INIT;

  g_value_init(&value, pspec->value_type);
  return gst_value_deserialize_with_pspec(&value, text, pspec) && !g_param_value_validate(pspec, &value);
}

static gboolean
check_setting(GObjectClass *class, const char *setting)
{
  const char *equals = strchr(setting, '=');
  g_autofree char *name = g_strndup(setting, equals - setting), *takes = NULL;
  GParamSpec *pspec = g_object_class_find_property(class, name);

  if (!pspec || !has_checks(pspec) || check_value(pspec, equals + 1))
    return TRUE;
  takes = describe(pspec);
  g_printerr("%s cannot be: %s %s\n", setting, name, takes);
  return FALSE;
}

gboolean
check_settings(const char *const *arguments)
{
  gboolean right = TRUE;
  GstElement *element = NULL;

  for (; *arguments; arguments++) {
    const char *equals = strchr(*arguments, '=');

    if (equals && element) {
      right &= check_setting(G_OBJECT_GET_CLASS(element), *arguments);
    } else if (!equals) {
      gst_clear_object(&element);
      if (g_ascii_isalpha(**arguments) && !strpbrk(*arguments, "./"))
        element = gst_element_factory_make(*arguments, NULL);
      if (element)
        gst_object_ref_sink(element);
    }
  }
  gst_clear_object(&element);
  return right;
}

/* Returns the path of a local file, or NULL. Of a URI, sources like filesrc and pushfilesrc drop what is after '#'. */
static char *
path_of(const char *input)
{
  const char *rest = strstr(input, "://");
  g_autofree char *uri = NULL;

  if (!rest)
    return g_strdup(input);
  if (rest - input < 4 || g_ascii_strncasecmp(rest - 4, "file", 4) != 0)
    return NULL;
  uri = g_strdup_printf("file%.*s", (int)strcspn(rest, "#"), rest);
  return g_filename_from_uri(uri, NULL, NULL);
}

gboolean
check_output(const char *input, const char *output)
{
  g_autofree char *named = input ? path_of(input) : NULL;
  GStatBuf read, written;

  if (!named || g_stat(named, &read) != 0 || g_stat(output, &written) != 0 || read.st_dev != written.st_dev ||
      read.st_ino != written.st_ino)
    return TRUE;
  g_printerr(
      "'%s' and '%s' are the same file, which would be overwritten by its own result; set OUTPUT to another file\n",
      input, output);
  return FALSE;
}

GMappedFile *
check_map_input(const char *input)
{
  g_autofree char *path = path_of(input);

  return path && g_file_test(path, G_FILE_TEST_IS_REGULAR) ? g_mapped_file_new(path, FALSE, NULL) : NULL;
}

gboolean
check_part(double start, double duration, gboolean has_input)
{
  const double longest = 1e9;

  if (!(start >= 0 && start <= longest))
    g_printerr("START=%g cannot be: it must be from 0 to %g seconds\n", start, longest);
  else if (!(duration >= 0 && duration <= longest))
    g_printerr("DURATION=%g cannot be: it must be from 0 to %g seconds\n", duration, longest);
  else if (start > 0 && !has_input)
    g_printerr("START=%g cannot be: a test picture or a camera has no other beginning\n", start);
  else
    return TRUE;
  return FALSE;
}

gboolean
check_quality(int quality)
{
  if (quality >= -1 && quality <= 100)
    return TRUE;
  g_printerr("QUALITY=%d cannot be: it must be from 0 to 100\n", quality);
  return FALSE;
}
