/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The property table: a property, which is one row of it, is set, read back, compared, copied and cleared like all
 * others, so that a live change of it is noticed.
 */
#include <stdlib.h>
#include <string.h>

#include <glib/gstdio.h>

#include "properties/settings.h"
#include "support/filter.h"
#include "support/suite.h"

#define N_FILES 3

/* All parts of the settings. */
#define ALL sizeof(GstCudaConvolveSettings)

/* An object with only the properties of the element. */
typedef GObject Holder;
typedef GObjectClass HolderClass;

static guint n_properties;

static GType holder_get_type(void);
G_DEFINE_TYPE(Holder, holder, G_TYPE_OBJECT)

static void
ignore_set(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
}

static void
ignore_get(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
}

static void
holder_class_init(HolderClass *klass)
{
  klass->set_property = ignore_set;
  klass->get_property = ignore_get;
  n_properties = gst_cuda_convolve_properties_install(klass) - 1;
}

static void
holder_init(Holder *self)
{
}

/* Chooses a value that the property accepts and that is not its default. */
static void
choose_other(GParamSpec *spec, char *const file[N_FILES], GValue *value)
{
  const char *array = strcmp(spec->name, "roi") == 0            ? "<<1,2,3,4>>"
                      : strcmp(spec->name, "roi-polygons") == 0 ? "<<1,2,3,4,5.5,9>,<0,0,9,0,9,9,0,9>>"
                                                                : "<1,2,1>";

  g_value_init(value, spec->value_type);
  g_param_value_set_default(spec, value);
  if (G_IS_PARAM_SPEC_INT(spec))
    g_value_set_int(value, g_value_get_int(value) + 1);
  else if (G_IS_PARAM_SPEC_UINT(spec))
    g_value_set_uint(value, g_value_get_uint(value) + 1);
  else if (G_IS_PARAM_SPEC_DOUBLE(spec))
    g_value_set_double(value, g_value_get_double(value) + 0.25);
  else if (G_IS_PARAM_SPEC_BOOLEAN(spec))
    g_value_set_boolean(value, !g_value_get_boolean(value));
  else if (G_IS_PARAM_SPEC_ENUM(spec))
    g_value_set_enum(value, g_value_get_enum(value) == 0 ? 1 : 0);
  else if (G_IS_PARAM_SPEC_FLAGS(spec))
    g_value_set_flags(value, 1);
  else if (G_IS_PARAM_SPEC_STRING(spec))
    g_value_set_string(value, strcmp(spec->name, "kernel-location") == 0     ? file[0]
                              : strcmp(spec->name, "roi-mask-location") == 0 ? file[1]
                              : strcmp(spec->name, "roi-location") == 0      ? file[2]
                                                                             : "face");
  else
    ck_assert_msg(gst_value_deserialize(value, array), "%s has a type that this test does not know", spec->name);
}

/* Returns FALSE for properties that only control how frames are handled: no plan and no region depends on them. */
static gboolean
is_of_work(const char *name)
{
  static const char *const others[] = {"backend",          "cuda-device-id",         "n-threads",
                                       "frames-in-flight", "disable-passthrough",    "temporal-border",
                                       "drain-on-changes", "scene-change-threshold", NULL};

  return !g_strv_contains(others, name);
}

static void
check_noticed(GParamSpec *spec, guint id, const GValue *value)
{
  GstCudaConvolveSettings before, after, copy;
  GValue back = G_VALUE_INIT;
  GError *error = NULL;

  gst_cuda_convolve_settings_init(&before);
  gst_cuda_convolve_settings_init(&after);
  ck_assert(gst_cuda_convolve_settings_equal(&before, &after, ALL));
  ck_assert_msg(gst_cuda_convolve_property_read(&after, id, value, &error), "%s", error ? error->message : spec->name);
  ck_assert_msg(!gst_cuda_convolve_settings_equal(&before, &after, ALL), "a change of %s is not noticed", spec->name);
  ck_assert_msg(gst_cuda_convolve_settings_equal(&before, &after, GST_CUDA_CONVOLVE_SETTINGS_WORK) !=
                    is_of_work(spec->name),
                "a change of %s makes other work, or none", spec->name);

  gst_cuda_convolve_settings_copy(&copy, &after);
  ck_assert(gst_cuda_convolve_settings_equal(&copy, &after, ALL));
  gst_cuda_convolve_settings_clear(&after);
  g_value_init(&back, spec->value_type);
  gst_cuda_convolve_property_get(&copy, id, &back);
  if (!GST_IS_PARAM_SPEC_ARRAY_LIST(spec)) /* an array may hold any kind of number */
    ck_assert_msg(g_param_values_cmp(spec, value, &back) == 0, "%s comes back as another value", spec->name);
  g_value_unset(&back);

  gst_cuda_convolve_property_swap(&before, &copy, id);
  ck_assert(!gst_cuda_convolve_settings_equal(&before, &copy, ALL));
  gst_cuda_convolve_settings_clear(&before);
  gst_cuda_convolve_settings_clear(&copy);
}

GST_START_TEST(test_changes)
{
  /* a kernel, a mask and zones */
  static const char *const contents[N_FILES] = {"1 2 1\n", "P2 1 1 255 0\n", "[door]\nellipse=0,0,1,1\n"};
  GObjectClass *klass = g_type_class_ref(holder_get_type());
  char *file[N_FILES] = {NULL};
  guint n;
  GParamSpec **specs = g_object_class_list_properties(klass, &n);

  for (int i = 0; i < N_FILES; i++) {
    int number = g_file_open_tmp("settings-XXXXXX", &file[i], NULL);

    ck_assert_int_ge(number, 0);
    g_close(number, NULL);
    ck_assert(g_file_set_contents(file[i], contents[i], -1, NULL));
  }
  ck_assert_uint_eq(n, n_properties);
  for (guint i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    choose_other(specs[i], file, &value);
    ck_assert_msg(!g_param_value_validate(specs[i], &value), "%s has no value beside its default", specs[i]->name);
    check_noticed(specs[i], i + 1, &value); /* specs are listed in the order of installation */
    g_value_unset(&value);
  }
  for (int i = 0; i < N_FILES; i++) {
    g_unlink(file[i]);
    g_free(file[i]);
  }
  g_free(specs);
  g_type_class_unref(klass);
}
GST_END_TEST;

/* The defaults of the table are those of the engine and of the GParamSpecs. */
GST_START_TEST(test_defaults)
{
  GObjectClass *klass = g_type_class_ref(holder_get_type());
  GstCudaConvolveSettings settings, engine;
  guint n;
  GParamSpec **specs = g_object_class_list_properties(klass, &n);

  gst_cuda_convolve_settings_init(&settings);
  gst_cuda_convolve_settings_init(&engine);
  test_filter_init(&engine.filter);
  ck_assert(gst_cuda_convolve_settings_equal(&engine, &settings, ALL));
  for (guint i = 0; i < n; i++) {
    const GValue *expected = g_param_spec_get_default_value(specs[i]);
    GValue value = G_VALUE_INIT;

    g_value_init(&value, specs[i]->value_type);
    gst_cuda_convolve_property_get(&settings, i + 1, &value);
    if (GST_IS_PARAM_SPEC_ARRAY_LIST(specs[i]))
      ck_assert_uint_eq(gst_value_array_get_size(&value), 0);
    else
      ck_assert_msg(g_param_values_cmp(specs[i], expected, &value) == 0, "%s has another default", specs[i]->name);
    g_value_unset(&value);
  }
  gst_cuda_convolve_settings_clear(&engine);
  gst_cuda_convolve_settings_clear(&settings);
  g_free(specs);
  g_type_class_unref(klass);
}
GST_END_TEST;

/* Programs set values by number, so none may ever change. A new value is added at the end of its line. */
static const struct {
  const char *property, *values;
} numbers[] = {
    {"filter",
     "identity=0 box=1 gaussian=2 disk=3 motion=4 sharpen=5 unsharp=6 sobel=7 scharr=8 prewitt=9 laplacian=10 "
     "log=11 emboss=12 mosaic=13 fill=14 custom=15"},
    {"gradient", "magnitude=0 x=1 y=2 directional=3"},
    {"border-mode", "constant=0 replicate=1 reflect=2 reflect-101=3 wrap=4 renormalize=5"},
    {"planes", "luma=1 chroma=2 alpha=4 red=8 green=16 blue=32 color=59 all=63"},
    {"chroma-mode", "scaled=0 same=1"},
    {"alpha-mode", "copy=0 filter=1 premultiply=2"},
    {"temporal-mode", "centered=0 causal=1"},
    {"temporal-border", "renormalize=0 replicate=1 reflect=2"},
    {"roi-source", "none=0 property=1 meta=2"},
    {"roi-units", "pixels=0 fraction=1"},
    {"roi-shape", "rectangle=0 ellipse=1"},
    {"roi-missing", "copy=0 filter=1"},
    {"roi-strength", "fixed=0 relative=1"},
    {"backend", "auto=0 cuda=1 cpu=2"},
    {"algorithm", "auto=0 naive=1 tiled=2 texture=3 separable=4 fused=5 tensor=6 mosaic=7"},
};

typedef struct {
  int value;
  char *text;
} Number;

static int
compare_numbers(gconstpointer a, gconstpointer b)
{
  return ((const Number *)a)->value - ((const Number *)b)->value;
}

/* Returns the values of an enum or flags type as in the table above, from the least up. */
static char *
list_numbers(const GParamSpec *spec)
{
  GTypeClass *klass = g_type_class_ref(spec->value_type);
  const gboolean is_enum = G_IS_ENUM_CLASS(klass);
  const guint n = is_enum ? ((GEnumClass *)klass)->n_values : ((GFlagsClass *)klass)->n_values;
  g_autofree Number *list = g_new0(Number, n);
  GString *text = g_string_new(NULL);

  for (guint i = 0; i < n; i++) {
    const GEnumValue *value = is_enum ? &((GEnumClass *)klass)->values[i] : NULL;
    const GFlagsValue *flag = is_enum ? NULL : &((GFlagsClass *)klass)->values[i];

    list[i].value = is_enum ? value->value : (int)flag->value;
    list[i].text = g_strdup_printf("%s=%d", is_enum ? value->value_nick : flag->value_nick, list[i].value);
  }
  qsort(list, n, sizeof(*list), compare_numbers);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(text, "%s%s", i > 0 ? " " : "", list[i].text);
    g_free(list[i].text);
  }
  g_type_class_unref(klass);
  return g_string_free(text, FALSE);
}

GST_START_TEST(test_numbers)
{
  GObjectClass *klass = g_type_class_ref(holder_get_type());
  guint n, found = 0;
  GParamSpec **specs = g_object_class_list_properties(klass, &n);

  for (guint i = 0; i < n; i++)
    found += G_TYPE_IS_ENUM(specs[i]->value_type) || G_TYPE_IS_FLAGS(specs[i]->value_type);
  ck_assert_uint_eq(found, G_N_ELEMENTS(numbers));
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    GParamSpec *spec = g_object_class_find_property(klass, numbers[i].property);
    g_autofree char *values = spec ? list_numbers(spec) : NULL;

    ck_assert_msg(spec != NULL, "there is no property %s", numbers[i].property);
    ck_assert_msg(strcmp(values, numbers[i].values) == 0, "%s has the values\n%s, but programs know\n%s",
                  numbers[i].property, values, numbers[i].values);
  }
  g_free(specs);
  g_type_class_unref(klass);
}
GST_END_TEST;

static Suite *
settings_suite(void)
{
  Suite *suite = suite_create("settings");
  TCase *tcase = tcase_create("settings");

  suite_add_tcase(suite, tcase);
  tcase_add_test(tcase, test_changes);
  tcase_add_test(tcase, test_defaults);
  tcase_add_test(tcase, test_numbers);
  return suite;
}

int
main(int argc, char **argv)
{
  g_setenv("GST_REGISTRY_DISABLE", "yes", TRUE); /* because the plugin would register the same enum types */
  gst_init(&argc, &argv);
  return test_suite_run(settings_suite());
}
