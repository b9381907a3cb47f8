/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The property table. Enum types are made at run time from the engine's tables, so that a new filter, border mode,
 * algorithm or engine shows up by itself.
 */
#include <string.h>

#include "properties.h"
#include "values.h"

typedef enum { KIND_INT, KIND_UINT, KIND_DOUBLE, KIND_BOOLEAN, KIND_ENUM, KIND_ROW, KIND_KERNEL } Kind;

typedef struct {
  Kind kind;
  const char *name, *nick, *blurb;
  gsize offset;        /* in GstCudaConvolveSettings */
  double min, max;     /* numbers */
  GType (*type)(void); /* enums */
  GParamFlags mutable; /* until when a change counts */
} Property;

/* Makes an enum type of a table whose rows begin with a CnvNick, as all of the engine's do. */
static GType
enum_from_nicks(const char *name, const void *rows, gsize row_size)
{
  GArray *values = g_array_new(TRUE, TRUE, sizeof(GEnumValue));
  GType type;

  for (const CnvNick *row = rows; row->nick; row = (const CnvNick *)((const char *)row + row_size))
    g_array_append_val(values, ((GEnumValue){row->value, row->blurb, row->nick}));
  /* GLib keeps pointing to the values for good. */
  type = g_enum_register_static(name, (const GEnumValue *)g_array_free(values, FALSE));
  gst_type_mark_as_plugin_api(type, 0);
  return type;
}

/* Defines a function that makes the type of a table once. */
#define DEFINE_ENUM(function, name, rows)                                                                              \
  static GType function(void)                                                                                          \
  {                                                                                                                    \
    static gsize once = 0;                                                                                             \
                                                                                                                       \
    if (g_once_init_enter(&once))                                                                                      \
      g_once_init_leave(&once, enum_from_nicks(name, rows, sizeof(rows[0])));                                          \
    return (GType)once;                                                                                                \
  }

DEFINE_ENUM(filter_type, "GstCudaConvolveFilter", cnv_filters)
DEFINE_ENUM(border_type, "GstCudaConvolveBorder", cnv_border_nicks)
DEFINE_ENUM(algorithm_type, "GstCudaConvolveAlgorithm", cnv_algorithm_nicks)

/* auto, then cuda in every build, so that asking for it where it is not gives a reason; then this build's others. */
static GType
register_backends(void)
{
  GArray *nicks = g_array_new(TRUE, TRUE, sizeof(CnvNick));
  GType type;

  g_array_append_val(nicks, ((CnvNick){0, "auto", "cuda where there is a GPU, else cpu with a message that says why"}));
  g_array_append_val(nicks, ((CnvNick){1, "cuda", "An NVIDIA GPU, or an error"}));
  for (int i = 0; cnv_backends[i]; i++)
    if (strcmp(cnv_backends[i]->name, "cuda") != 0)
      g_array_append_val(nicks, ((CnvNick){(int)nicks->len, cnv_backends[i]->name, cnv_backends[i]->blurb}));
  type = enum_from_nicks("GstCudaConvolveBackend", nicks->data, sizeof(CnvNick));
  g_array_free(nicks, TRUE);
  return type;
}

static GType
backend_type(void)
{
  static gsize once = 0;

  if (g_once_init_enter(&once))
    g_once_init_leave(&once, register_backends());
  return (GType)once;
}

#define AT(field) offsetof(GstCudaConvolveSettings, field)
#define LIVE (GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING)
#define SCALE_LIMIT 1e6
#define BIAS_LIMIT 1e3

static const Property properties[] = {
    {KIND_ENUM, "filter", "Filter", "What the taps are (default gaussian)", AT(filter.type), 0, 0, filter_type, LIVE},
    {KIND_INT, "radius", "Radius",
     "Samples on each side of the centre, 2*radius+1 taps; -1 auto: ceil(truncate*sigma) if sigma is set, else 8 "
     "(default -1, auto)",
     AT(filter.radius), -1, CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_INT, "radius-x", "Radius along x",
     "Samples on each side along a row; 0 leaves that axis alone, -1 takes radius (default -1, radius)",
     AT(filter.radius_axis[CNV_X]), -1, CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_INT, "radius-y", "Radius along y",
     "Samples on each side along a column; 0 leaves that axis alone, -1 takes radius (default -1, radius)",
     AT(filter.radius_axis[CNV_Y]), -1, CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_DOUBLE, "sigma", "Sigma",
     "Standard deviation of a gaussian in samples; 0 auto: 0.3*(radius-1)+0.8, as in OpenCV (default 0, auto)",
     AT(filter.sigma), 0, 256, NULL, LIVE},
    {KIND_DOUBLE, "sigma-x", "Sigma along x", "Sigma along a row in samples; 0 takes sigma (default 0, sigma)",
     AT(filter.sigma_axis[CNV_X]), 0, 256, NULL, LIVE},
    {KIND_DOUBLE, "sigma-y", "Sigma along y", "Sigma along a column in samples; 0 takes sigma (default 0, sigma)",
     AT(filter.sigma_axis[CNV_Y]), 0, 256, NULL, LIVE},
    {KIND_DOUBLE, "truncate", "Truncate", "Sigmas kept on each side where the radius is auto (default 3)",
     AT(filter.truncate), 0.5, 16, NULL, LIVE},
    {KIND_KERNEL, "kernel", "Kernel",
     "Taps of filter=custom, as they lie on the picture: numbers make a row, <1,2,1>, rows a 2D kernel, "
     "<<1,2>,<3,4>> (default <>, none)",
     AT(filter.kernel), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ROW, "kernel-x", "Kernel along x",
     "Taps of filter=custom along a row; with kernel-y a separable 2D kernel (default <>, none)",
     AT(filter.kernel_axis[CNV_X]), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ROW, "kernel-y", "Kernel along y",
     "Taps of filter=custom along a column, topmost first; with kernel-x a separable 2D kernel (default <>, none)",
     AT(filter.kernel_axis[CNV_Y]), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_BOOLEAN, "normalize", "Normalize", "Divide by the sum of the taps where that is not 0 (default true)",
     AT(filter.normalize), 0, 0, NULL, LIVE},
    {KIND_DOUBLE, "scale", "Scale", "Factor on the result, no unit (default 1)", AT(filter.scale), -SCALE_LIMIT,
     SCALE_LIMIT, NULL, LIVE},
    {KIND_DOUBLE, "bias", "Bias", "Added to the result, as a fraction of full scale (default 0)", AT(filter.bias),
     -BIAS_LIMIT, BIAS_LIMIT, NULL, LIVE},
    {KIND_ENUM, "border-mode", "Border mode", "What lies outside the frame (default replicate)", AT(filter.border), 0,
     0, border_type, LIVE},
    {KIND_UINT, "border-color", "Border color",
     "Colour outside the frame for border-mode=constant, 0xAARRGGBB, full-range RGB (default 0xff000000, opaque black)",
     AT(filter.border_color), 0, G_MAXUINT32, NULL, LIVE},
    {KIND_ENUM, "backend", "Backend", "What computes (default auto)", AT(backend), 0, 0, backend_type,
     GST_PARAM_MUTABLE_READY},
    {KIND_INT, "cuda-device-id", "CUDA device id",
     "Ordinal of the GPU; -1 takes the one that the pipeline shares, else the first (default -1)", AT(device), -1,
     G_MAXINT, NULL, GST_PARAM_MUTABLE_READY},
    {KIND_ENUM, "algorithm", "Algorithm", "How it is computed (default auto)", AT(algorithm), 0, 0, algorithm_type,
     LIVE},
    {KIND_UINT, "n-threads", "Threads", "Threads of the CPU engine; 0 auto: one a processor (default 0, auto)",
     AT(n_threads), 0, G_MAXINT16, NULL, GST_PARAM_MUTABLE_READY},
    {KIND_BOOLEAN, "disable-passthrough", "Disable passthrough",
     "Compute also where the taps leave every frame as it is (default false)", AT(disable_passthrough), 0, 0, NULL,
     LIVE},
};

void
gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings)
{
  *settings = (GstCudaConvolveSettings){.device = -1};
  cnv_filter_init(&settings->filter);
}

void
gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from)
{
  *to = *from;
  cnv_filter_copy(&to->filter, &from->filter);
}

void
gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings)
{
  cnv_filter_clear(&settings->filter);
}

/* default_at: the property's place in settings that hold the defaults. */
static GParamSpec *
make_spec(const Property *row, const void *default_at)
{
  GParamFlags flags = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | row->mutable;
  const char *n = row->name, *nick = row->nick, *blurb = row->blurb;

  switch (row->kind) {
  case KIND_INT:
    return g_param_spec_int(n, nick, blurb, (int)row->min, (int)row->max, *(const int *)default_at, flags);
  case KIND_UINT:
    return g_param_spec_uint(n, nick, blurb, (guint)row->min, (guint)row->max, *(const guint *)default_at, flags);
  case KIND_DOUBLE:
    return g_param_spec_double(n, nick, blurb, row->min, row->max, *(const double *)default_at, flags);
  case KIND_BOOLEAN:
    return g_param_spec_boolean(n, nick, blurb, *(const gboolean *)default_at, flags);
  case KIND_ENUM:
    return g_param_spec_enum(n, nick, blurb, row->type(), *(const int *)default_at, flags);
  default:
    return gst_param_spec_array(n, nick, blurb, NULL, flags);
  }
}

guint
gst_cuda_convolve_properties_install(GObjectClass *klass)
{
  GstCudaConvolveSettings defaults;

  gst_cuda_convolve_settings_init(&defaults);
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
    g_object_class_install_property(klass, i + 1,
                                    make_spec(&properties[i], (const char *)&defaults + properties[i].offset));
  gst_cuda_convolve_settings_clear(&defaults);
  return G_N_ELEMENTS(properties) + 1;
}

gboolean
gst_cuda_convolve_property_set(GstCudaConvolveSettings *settings, guint id, const GValue *value, GError **error)
{
  const Property *row = &properties[id - 1];
  void *at = (char *)settings + row->offset;

  switch (row->kind) {
  case KIND_INT:
    *(int *)at = g_value_get_int(value);
    break;
  case KIND_UINT:
    *(guint *)at = g_value_get_uint(value);
    break;
  case KIND_DOUBLE:
    *(double *)at = g_value_get_double(value);
    break;
  case KIND_BOOLEAN:
    *(gboolean *)at = g_value_get_boolean(value);
    break;
  case KIND_ENUM:
    *(int *)at = g_value_get_enum(value);
    break;
  default:
    return gst_cuda_convolve_taps_from_value(value, row->name, row->kind == KIND_KERNEL, (CnvTaps **)at, error);
  }
  return TRUE;
}

void
gst_cuda_convolve_property_get(const GstCudaConvolveSettings *settings, guint id, GValue *value)
{
  const Property *row = &properties[id - 1];
  const void *at = (const char *)settings + row->offset;

  switch (row->kind) {
  case KIND_INT:
    g_value_set_int(value, *(const int *)at);
    break;
  case KIND_UINT:
    g_value_set_uint(value, *(const guint *)at);
    break;
  case KIND_DOUBLE:
    g_value_set_double(value, *(const double *)at);
    break;
  case KIND_BOOLEAN:
    g_value_set_boolean(value, *(const gboolean *)at);
    break;
  case KIND_ENUM:
    g_value_set_enum(value, *(const int *)at);
    break;
  default:
    gst_cuda_convolve_taps_to_value(*(CnvTaps *const *)at, value);
  }
}

const char *
gst_cuda_convolve_backend_name(int value)
{
  GEnumClass *klass = g_type_class_ref(backend_type());
  const GEnumValue *row = g_enum_get_value(klass, value);

  g_type_class_unref(klass);
  return value == 0 ? NULL : row->value_nick;
}
