/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The property table. Enum types are made at run time from the engine's tables, so that a new filter, border mode,
 * algorithm or engine shows up by itself.
 */
#include <string.h>

#include "kernelfile.h"
#include "settings.h"
#include "values.h"

typedef enum {
  KIND_INT,
  KIND_UINT,
  KIND_DOUBLE,
  KIND_BOOLEAN,
  KIND_ENUM,
  KIND_FLAGS,
  KIND_STRING,
  KIND_RECTS,
  KIND_ROW,
  KIND_KERNEL,
  KIND_FILE, /* the name of one that holds the kernel */
} Kind;

/* Of the settings' fields. */
static const gsize kind_sizes[] = {
    sizeof(int),    sizeof(guint),    sizeof(double),    sizeof(gboolean),  sizeof(int),    sizeof(guint),
    sizeof(char *), sizeof(GArray *), sizeof(CnvTaps *), sizeof(CnvTaps *), sizeof(char *),
};

typedef struct {
  Kind kind;
  const char *name, *nick, *blurb;
  gsize offset;        /* in GstCudaConvolveSettings */
  double min, max;     /* numbers; of a row max is how many it can hold, 0 for what an axis can */
  GType (*type)(void); /* enums and flags */
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

static GType
flags_from_nicks(const char *name, const CnvNick *rows)
{
  GArray *values = g_array_new(TRUE, TRUE, sizeof(GFlagsValue));
  GType type;

  for (; rows->nick; rows++)
    g_array_append_val(values, ((GFlagsValue){(guint)rows->value, rows->blurb, rows->nick}));
  type = g_flags_register_static(name, (const GFlagsValue *)g_array_free(values, FALSE));
  gst_type_mark_as_plugin_api(type, 0);
  return type;
}

/* Defines a function that makes a type once. */
#define DEFINE_TYPE(function, make)                                                                                    \
  static GType function(void)                                                                                          \
  {                                                                                                                    \
    static gsize once = 0;                                                                                             \
                                                                                                                       \
    if (g_once_init_enter(&once))                                                                                      \
      g_once_init_leave(&once, make);                                                                                  \
    return (GType)once;                                                                                                \
  }
#define DEFINE_ENUM(function, name, rows) DEFINE_TYPE(function, enum_from_nicks(name, rows, sizeof(rows[0])))

static const CnvNick roi_source_nicks[] = {
    {GST_CUDA_CONVOLVE_ROI_NONE, "none", "The whole frame is filtered"},
    {GST_CUDA_CONVOLVE_ROI_PROPERTY, "property", "The rectangles of roi"},
    {GST_CUDA_CONVOLVE_ROI_META, "meta", "The rectangles of each frame's GstVideoRegionOfInterestMeta"},
    {0, NULL, NULL},
};

/* Values of CnvFilter.causal. */
static const CnvNick temporal_mode_nicks[] = {
    {FALSE, "centered", "As many frames after as before, which are waited for"},
    {TRUE, "causal", "Frames before alone, without latency"},
    {0, NULL, NULL},
};

static const CnvNick roi_strength_nicks[] = {
    {GST_CUDA_CONVOLVE_ROI_FIXED, "fixed", "Every region by the filter as it is set"},
    {GST_CUDA_CONVOLVE_ROI_RELATIVE, "relative", "Radius and sigma follow each region's size"},
    {0, NULL, NULL},
};

DEFINE_ENUM(filter_type, "GstCudaConvolveFilter", cnv_filters)
DEFINE_ENUM(gradient_type, "GstCudaConvolveGradient", cnv_gradient_nicks)
DEFINE_ENUM(border_type, "GstCudaConvolveBorder", cnv_border_nicks)
DEFINE_TYPE(planes_type, flags_from_nicks("GstCudaConvolvePlanes", cnv_planes_nicks))
DEFINE_ENUM(chroma_mode_type, "GstCudaConvolveChromaMode", cnv_chroma_mode_nicks)
DEFINE_ENUM(alpha_mode_type, "GstCudaConvolveAlphaMode", cnv_alpha_mode_nicks)
DEFINE_ENUM(algorithm_type, "GstCudaConvolveAlgorithm", cnv_algorithm_nicks)
DEFINE_ENUM(temporal_mode_type, "GstCudaConvolveTemporalMode", temporal_mode_nicks)
DEFINE_ENUM(temporal_border_type, "GstCudaConvolveTemporalBorder", cnv_temporal_border_nicks)
DEFINE_ENUM(roi_source_type, "GstCudaConvolveRoiSource", roi_source_nicks)
DEFINE_ENUM(roi_strength_type, "GstCudaConvolveRoiStrength", roi_strength_nicks)

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

DEFINE_TYPE(backend_type, register_backends())

#define AT(field) offsetof(GstCudaConvolveSettings, field)
#define LIVE (GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING)
#define ANGLE_LIMIT 3600
#define SCALE_LIMIT 1e6
#define BIAS_LIMIT 1e3

static const Property properties[] = {
    {KIND_ENUM, "filter", "Filter", "What the taps are (default gaussian)", AT(filter.type), 0, 0, filter_type, LIVE},
    {KIND_INT, "radius", "Radius",
     "Samples on each side of the centre, 2*radius+1 taps; -1 auto: ceil(truncate*sigma) if sigma is set, else the "
     "filter's own, 8 of a blur and 1 of a derivative (default -1, auto)",
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
    {KIND_DOUBLE, "amount", "Amount", "Strength of sharpen, unsharp and emboss, no unit (default 1)", AT(filter.amount),
     0, CNV_AMOUNT_MAX, NULL, LIVE},
    {KIND_DOUBLE, "angle", "Angle",
     "Direction of motion, emboss and the directional gradient in degrees: 0 is to the right, 90 down (default 0)",
     AT(filter.angle), -ANGLE_LIMIT, ANGLE_LIMIT, NULL, LIVE},
    {KIND_ENUM, "gradient", "Gradient", "What sobel, scharr and prewitt give (default magnitude)", AT(filter.gradient),
     0, 0, gradient_type, LIVE},
    {KIND_KERNEL, "kernel", "Kernel",
     "Taps of filter=custom, as they lie on the picture: numbers make a row, <1,2,1>, rows a 2D kernel, "
     "<<1,2>,<3,4>>, and those one over time, first frame first, <<<1,2>,<3,4>>,<<5,6>,<7,8>>> (default <>, none)",
     AT(filter.kernel), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ROW, "kernel-x", "Kernel along x",
     "Taps of filter=custom along a row; with kernel-y a separable 2D kernel (default <>, none)",
     AT(filter.kernel_axis[CNV_X]), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ROW, "kernel-y", "Kernel along y",
     "Taps of filter=custom along a column, topmost first; with kernel-x a separable 2D kernel (default <>, none)",
     AT(filter.kernel_axis[CNV_Y]), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_FILE, "kernel-location", "Kernel location",
     "Text file with the taps of filter=custom, read when this is set: rows on lines, numbers separated by commas or "
     "spaces, a blank line ends a frame, # begins a comment; of this and kernel the one set last counts (default none)",
     AT(kernel_location), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_INT, "anchor-x", "Anchor along x",
     "Number, from 0, of the tap of filter=custom along a row that lies on the output sample; -1 the middle one "
     "(default -1, middle)",
     AT(filter.anchor[CNV_X]), -1, 2 * CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_INT, "anchor-y", "Anchor along y",
     "Number, from 0, of the tap of filter=custom along a column that lies on the output sample; -1 the middle one "
     "(default -1, middle)",
     AT(filter.anchor[CNV_Y]), -1, 2 * CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_BOOLEAN, "flip-kernel", "Flip kernel",
     "Mirror the taps of filter=custom, which makes it a convolution in the mathematical sense (default false)",
     AT(filter.flip), 0, 0, NULL, LIVE},
    {KIND_BOOLEAN, "normalize", "Normalize", "Divide by the sum of the taps where that is not 0 (default true)",
     AT(filter.normalize), 0, 0, NULL, LIVE},
    {KIND_DOUBLE, "scale", "Scale", "Factor on the result, no unit (default 1)", AT(filter.scale), -SCALE_LIMIT,
     SCALE_LIMIT, NULL, LIVE},
    {KIND_DOUBLE, "bias", "Bias", "Added to the result, as a fraction of full scale (default 0)", AT(filter.bias),
     -BIAS_LIMIT, BIAS_LIMIT, NULL, LIVE},
    {KIND_BOOLEAN, "absolute", "Absolute", "Take the result without its sign, before scale and bias (default false)",
     AT(filter.absolute), 0, 0, NULL, LIVE},
    {KIND_ENUM, "border-mode", "Border mode", "What lies outside the frame (default replicate)", AT(filter.border), 0,
     0, border_type, LIVE},
    {KIND_UINT, "border-color", "Border color",
     "Colour outside the frame for border-mode=constant, 0xAARRGGBB, full-range RGB (default 0xff000000, opaque black)",
     AT(filter.border_color), 0, G_MAXUINT32, NULL, LIVE},
    {KIND_FLAGS, "planes", "Planes", "What is filtered, the rest is copied (default color)", AT(filter.planes), 0, 0,
     planes_type, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ENUM, "chroma-mode", "Chroma mode", "How wide the taps are on subsampled planes (default scaled)",
     AT(filter.chroma_mode), 0, 0, chroma_mode_type, LIVE},
    {KIND_INT, "chroma-radius", "Chroma radius",
     "Radius on chroma planes in their own samples; -1 follows luma (default -1, luma)", AT(filter.chroma_radius), -1,
     CNV_RADIUS_MAX, NULL, LIVE},
    {KIND_DOUBLE, "chroma-sigma", "Chroma sigma",
     "Sigma on chroma planes in their own samples; 0 follows luma (default 0, luma)", AT(filter.chroma_sigma), 0, 256,
     NULL, LIVE},
    {KIND_ENUM, "alpha-mode", "Alpha mode", "What becomes of alpha (default copy)", AT(filter.alpha_mode), 0, 0,
     alpha_mode_type, LIVE},
    {KIND_INT, "temporal-radius", "Radius in time",
     "Frames on each side of the one that is put out, or before it with temporal-mode=causal, weighted by a gaussian; "
     "of every filter (default 0, none)",
     AT(filter.temporal_radius), 0, CNV_TEMPORAL_RADIUS_MAX, NULL, LIVE},
    {KIND_DOUBLE, "temporal-sigma", "Sigma in time",
     "Standard deviation of the weights of frames, in frames; 0 auto: 0.3*(temporal-radius-1)+0.8 (default 0, auto)",
     AT(filter.temporal_sigma), 0, 256, NULL, LIVE},
    {KIND_ROW, "kernel-t", "Kernel in time",
     "Weights of frames, first frame first, at most 31, in place of temporal-radius and of every filter (default <>, "
     "none)",
     AT(filter.kernel_t), 0, CNV_MAX_TEMPORAL_TAPS, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_ENUM, "temporal-mode", "Mode in time",
     "Which of the frames is put out: the middle one, which adds latency, or the last (default centered)",
     AT(filter.causal), 0, 0, temporal_mode_type, LIVE},
    {KIND_ENUM, "temporal-border", "Border in time",
     "What stands for frames before the first and behind the last (default renormalize)", AT(temporal_border), 0, 0,
     temporal_border_type, LIVE},
    {KIND_DOUBLE, "scene-change-threshold", "Scene change threshold",
     "Mean absolute difference of luma between two frames, as a fraction of full scale, above which frames beyond are "
     "left out; 0 looks for no cuts (default 0)",
     AT(scene_change), 0, 1, NULL, LIVE},
    {KIND_BOOLEAN, "drain-on-changes", "Drain on changes",
     "Put out the frames that wait for others with the old filter where it changes, and start anew (default true)",
     AT(drain_on_change), 0, 0, NULL, LIVE},
    {KIND_ENUM, "roi-source", "Regions' source", "Where the regions to be filtered come from (default none)",
     AT(roi.source), 0, 0, roi_source_type, LIVE},
    {KIND_RECTS, "roi", "Regions",
     "Rectangles for roi-source=property, <<x,y,width,height>,<...>> in pixels of the frame (default <>, none)",
     AT(roi.rects), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_STRING, "roi-types", "Types of regions",
     "For roi-source=meta the types of regions that count, separated by commas: face,plate (default none: all)",
     AT(roi.types), 0, 0, NULL, GST_PARAM_MUTABLE_PLAYING},
    {KIND_BOOLEAN, "roi-invert", "Invert the regions", "Filter everything but the regions (default false)",
     AT(roi.invert), 0, 0, NULL, LIVE},
    {KIND_DOUBLE, "roi-expand", "Expand the regions",
     "Added to each region on each side, as a fraction of its width or height (default 0)", AT(roi.expand), 0, 10, NULL,
     LIVE},
    {KIND_DOUBLE, "roi-feather", "Feather",
     "Pixels outside each region over which the filtered picture fades into the other (default 0)", AT(roi.feather), 0,
     1024, NULL, LIVE},
    {KIND_ENUM, "roi-strength", "Strength in regions", "How strongly regions are filtered (default fixed)",
     AT(roi.strength), 0, 0, roi_strength_type, LIVE},
    {KIND_DOUBLE, "roi-relative-size", "Relative size",
     "For roi-strength=relative the radius as a fraction of a region's longer side; sigma is half of it (default 0.2)",
     AT(roi.relative_size), 0.01, 1, NULL, LIVE},
    {KIND_BOOLEAN, "roi-isolated", "Isolated regions",
     "Read nothing outside a region to filter it: the border mode applies at its edge (default false)",
     AT(roi.isolated), 0, 0, NULL, LIVE},
    {KIND_INT, "roi-target-x", "Target along x",
     "Column in pixels where the left edge of the filtered region is placed, with roi-target-y; -1 leaves it in its "
     "place (default -1)",
     AT(roi.target_x), -1, CNV_SIZE_MAX, NULL, LIVE},
    {KIND_INT, "roi-target-y", "Target along y",
     "Row in pixels where the upper edge of the filtered region is placed, with roi-target-x; -1 leaves it in its "
     "place (default -1)",
     AT(roi.target_y), -1, CNV_SIZE_MAX, NULL, LIVE},
    {KIND_ENUM, "backend", "Backend", "What computes (default auto)", AT(backend), 0, 0, backend_type,
     GST_PARAM_MUTABLE_READY},
    {KIND_INT, "cuda-device-id", "CUDA device id",
     "Ordinal of the GPU; -1 takes the one that the pipeline shares, else the first (default -1)", AT(device), -1,
     G_MAXINT, NULL, GST_PARAM_MUTABLE_READY},
    {KIND_ENUM, "algorithm", "Algorithm", "How it is computed (default auto)", AT(algorithm), 0, 0, algorithm_type,
     LIVE},
    {KIND_UINT, "n-threads", "Threads", "Threads of the CPU engine; 0 auto: one a processor (default 0, auto)",
     AT(n_threads), 0, G_MAXINT16, NULL, GST_PARAM_MUTABLE_READY},
    {KIND_UINT, "frames-in-flight", "Frames in flight",
     "Frames that are copied to and from the GPU at once where buffers are in system memory: each is put out when so "
     "many have come or no more come, which adds latency; 0 auto: 3, in a live pipeline 1 (default 0, auto)",
     AT(frames_in_flight), 0, CNV_FLIGHTS_MAX, NULL, GST_PARAM_MUTABLE_READY},
    {KIND_BOOLEAN, "disable-passthrough", "Disable passthrough",
     "Compute also where the taps leave every frame as it is (default false)", AT(disable_passthrough), 0, 0, NULL,
     LIVE},
};

void
gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings)
{
  *settings = (GstCudaConvolveSettings){.device = -1, .roi = GST_CUDA_CONVOLVE_ROI_DEFAULT, .drain_on_change = TRUE};
  cnv_filter_init(&settings->filter);
}

void
gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from)
{
  *to = *from;
  cnv_filter_copy(&to->filter, &from->filter);
  to->kernel_location = g_strdup(from->kernel_location);
  gst_cuda_convolve_roi_copy(&to->roi, &from->roi);
}

void
gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings)
{
  cnv_filter_clear(&settings->filter);
  g_clear_pointer(&settings->kernel_location, g_free);
  gst_cuda_convolve_roi_clear(&settings->roi);
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
  case KIND_FLAGS:
    return g_param_spec_flags(n, nick, blurb, row->type(), *(const guint *)default_at, flags);
  case KIND_STRING:
  case KIND_FILE:
    return g_param_spec_string(n, nick, blurb, NULL, flags);
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

/* An empty name is none, and taps that came from no file stay then. */
static gboolean
read_kernel_file(GstCudaConvolveSettings *settings, const char *path, GError **error)
{
  if (!path || !*path)
    return TRUE;
  settings->filter.kernel = gst_cuda_convolve_kernel_load(path, error);
  settings->kernel_location = settings->filter.kernel ? g_strdup(path) : NULL;
  return settings->filter.kernel != NULL;
}

static gboolean
read_taps(const Property *row, const GValue *value, CnvTaps **taps, GError **error)
{
  guint n = gst_value_array_get_size(value);

  if (row->max > 0 && n > row->max) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: %u taps, and at most %.0f are possible: shorten it",
                row->name, n, row->max);
    return FALSE;
  }
  return gst_cuda_convolve_taps_from_value(value, row->name, row->kind == KIND_KERNEL, taps, error);
}

gboolean
gst_cuda_convolve_property_read(GstCudaConvolveSettings *settings, guint id, const GValue *value, GError **error)
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
  case KIND_FLAGS:
    *(guint *)at = g_value_get_flags(value);
    break;
  case KIND_STRING:
    *(char **)at = g_value_dup_string(value);
    break;
  case KIND_RECTS:
    return gst_cuda_convolve_rects_from_value(value, row->name, (GArray **)at, error);
  case KIND_FILE:
    return read_kernel_file(settings, g_value_get_string(value), error);
  default:
    return read_taps(row, value, (CnvTaps **)at, error);
  }
  return TRUE;
}

static void
swap(void *a, void *b, gsize size)
{
  char kept[sizeof(double)];

  memcpy(kept, a, size);
  memcpy(a, b, size);
  memcpy(b, kept, size);
}

void
gst_cuda_convolve_property_swap(GstCudaConvolveSettings *a, GstCudaConvolveSettings *b, guint id)
{
  const Property *row = &properties[id - 1];

  if (row->kind == KIND_KERNEL || (row->kind == KIND_FILE && (a->kernel_location || b->kernel_location))) {
    swap(&a->filter.kernel, &b->filter.kernel, sizeof(CnvTaps *));
    swap(&a->kernel_location, &b->kernel_location, sizeof(char *));
  } else {
    swap((char *)a + row->offset, (char *)b + row->offset, kind_sizes[row->kind]);
  }
}

gsize
gst_cuda_convolve_property_slot(guint id)
{
  return properties[id - 1].kind == KIND_FILE ? AT(filter.kernel) : properties[id - 1].offset;
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
  case KIND_FLAGS:
    g_value_set_flags(value, *(const guint *)at);
    break;
  case KIND_STRING:
  case KIND_FILE:
    g_value_set_string(value, *(char *const *)at);
    break;
  case KIND_RECTS:
    gst_cuda_convolve_rects_to_value(*(GArray *const *)at, value);
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
