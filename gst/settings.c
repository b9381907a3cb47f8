/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The property table, and all that follows from its rows.
 */
#include <string.h>

#include "kernelfile.h"
#include "maskfile.h"
#include "property.h"
#include "settings.h"
#include "values.h"

static const CnvNick roi_source_nicks[] = {
    {CNV_ROI_NONE, "none", "The whole frame is filtered"},
    {CNV_ROI_PROPERTY, "property", "The regions of roi, roi-polygons and roi-mask-location"},
    {CNV_ROI_META, "meta", "Those of each frame's GstVideoRegionOfInterestMeta and GstAnalyticsRelationMeta"},
    {0, NULL, NULL},
};

static const CnvNick roi_units_nicks[] = {
    {CNV_ROI_PIXELS, "pixels", "Pixels of the frame"},
    {CNV_ROI_FRACTION, "fraction", "Fractions of the frame's width and height, 0 to 1"},
    {0, NULL, NULL},
};

static const CnvNick roi_shape_nicks[] = {
    {CNV_SHAPE_RECTANGLE, "rectangle", "The whole rectangle"},
    {CNV_SHAPE_ELLIPSE, "ellipse", "The ellipse inscribed in it, for faces"},
    {0, NULL, NULL},
};

/* Values of CnvFilter.causal. */
static const CnvNick temporal_mode_nicks[] = {
    {CNV_TEMPORAL_CENTERED, "centered", "As many frames after as before, which are waited for"},
    {CNV_TEMPORAL_CAUSAL, "causal", "Frames before alone, without latency"},
    {0, NULL, NULL},
};

static const CnvNick roi_missing_nicks[] = {
    {CNV_ROI_MISSING_COPY, "copy", "Leave the frame as it is"},
    {CNV_ROI_MISSING_FILTER, "filter", "Filter the whole frame, so that a detector that fails reveals nothing"},
    {0, NULL, NULL},
};

static const CnvNick roi_strength_nicks[] = {
    {CNV_ROI_FIXED, "fixed", "Every region by the filter as it is set"},
    {CNV_ROI_RELATIVE, "relative", "Radius and sigma follow each region's size"},
    {0, NULL, NULL},
};

/* cuda is listed in every build, so that a build without it can give the reason; this build's other engines follow. */
static CnvNick backend_nicks[8] = {
    {CNV_BACKEND_AUTO, "auto", "cuda where there is a GPU, else cpu with a message that says why"},
    {CNV_BACKEND_CUDA, "cuda", "An NVIDIA GPU, or an error"},
};

#define AT(field) offsetof(GstCudaConvolveSettings, field)
#define ENUM(name, rows) .type_name = "GstCudaConvolve" name, .nicks = (rows), .nick_size = sizeof((rows)[0])
#define READY GST_PARAM_MUTABLE_READY
#define PLAYING GST_PARAM_MUTABLE_PLAYING
#define LIVE (GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING)
#define ANGLE_LIMIT 3600
#define SCALE_LIMIT 1e6
#define BIAS_LIMIT 1e3
#define ROI_SMOOTH_LIMIT 300
#define LONGEST_WORDS 60 /* characters of a text that a message repeats */

static const Property properties[] = {
    {KIND_ENUM, "filter", "Filter", "What the taps are", AT(filter.type), LIVE, CNV_FILTER_GAUSSIAN,
     ENUM("Filter", cnv_filters)},
    {KIND_INT, "radius", "Radius",
     "Samples on each side of the centre, 2*radius+1 taps; -1 auto: ceil(truncate*sigma) if sigma is set, else the "
     "filter's own",
     AT(filter.radius), LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_INT, "radius-x", "Radius along x",
     "Samples on each side along a row; 0 leaves that axis alone, -1 takes radius", AT(filter.radius_axis[CNV_X]), LIVE,
     -1, -1, CNV_RADIUS_MAX},
    {KIND_INT, "radius-y", "Radius along y",
     "Samples on each side along a column; 0 leaves that axis alone, -1 takes radius", AT(filter.radius_axis[CNV_Y]),
     LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_DOUBLE, "sigma", "Sigma",
     "Standard deviation of a gaussian in samples; 0 auto: 0.3*(radius-1)+0.8, as in OpenCV", AT(filter.sigma), LIVE, 0,
     0, 256},
    {KIND_DOUBLE, "sigma-x", "Sigma along x", "Sigma along a row in samples; 0 takes sigma",
     AT(filter.sigma_axis[CNV_X]), LIVE, 0, 0, 256},
    {KIND_DOUBLE, "sigma-y", "Sigma along y", "Sigma along a column in samples; 0 takes sigma",
     AT(filter.sigma_axis[CNV_Y]), LIVE, 0, 0, 256},
    {KIND_DOUBLE, "truncate", "Truncate", "Sigmas kept on each side where the radius is auto", AT(filter.truncate),
     LIVE, CNV_TRUNCATE_DEFAULT, 0.5, 16},
    {KIND_DOUBLE, "amount", "Amount", "Strength of sharpen, unsharp and emboss, no unit", AT(filter.amount), LIVE, 1, 0,
     CNV_AMOUNT_MAX},
    {KIND_DOUBLE, "angle", "Angle",
     "Direction of motion, emboss and the directional gradient in degrees: 0 is to the right, 90 down",
     AT(filter.angle), LIVE, 0, -ANGLE_LIMIT, ANGLE_LIMIT},
    {KIND_ENUM, "gradient", "Gradient", "What sobel, scharr and prewitt give", AT(filter.gradient), LIVE,
     CNV_GRADIENT_MAGNITUDE, ENUM("Gradient", cnv_gradient_nicks)},
    {KIND_KERNEL, "kernel", "Kernel",
     "Taps of filter=custom, as they lie on the picture: numbers make a row, <1,2,1>, rows a 2D kernel, <<1,2>,<3,4>>, "
     "and those one over time, first frame first, <<<1,2>,<3,4>>,<<5,6>,<7,8>>>",
     AT(filter.kernel), PLAYING},
    {KIND_ROW, "kernel-x", "Kernel along x", "Taps of filter=custom along a row; with kernel-y a separable 2D kernel",
     AT(filter.kernel_axis[CNV_X]), PLAYING},
    {KIND_ROW, "kernel-y", "Kernel along y",
     "Taps of filter=custom along a column, topmost first; with kernel-x a separable 2D kernel",
     AT(filter.kernel_axis[CNV_Y]), PLAYING},
    {KIND_FILE, "kernel-location", "Kernel location",
     "Text file with the taps of filter=custom, read when this is set: rows on lines, numbers separated by commas or "
     "spaces, a blank line ends a frame, # begins a comment; of this and kernel the one set last counts",
     AT(kernel_location), PLAYING},
    {KIND_INT, "anchor-x", "Anchor along x",
     "Number, from 0, of the tap of filter=custom along a row that lies on the output sample; -1 the middle one",
     AT(filter.anchor[CNV_X]), LIVE, -1, -1, 2 * CNV_RADIUS_MAX},
    {KIND_INT, "anchor-y", "Anchor along y",
     "Number, from 0, of the tap of filter=custom along a column that lies on the output sample; -1 the middle one",
     AT(filter.anchor[CNV_Y]), LIVE, -1, -1, 2 * CNV_RADIUS_MAX},
    {KIND_BOOLEAN, "flip-kernel", "Flip kernel",
     "Mirror the taps of filter=custom, which makes it a convolution in the mathematical sense", AT(filter.flip), LIVE,
     FALSE},
    {KIND_BOOLEAN, "normalize", "Normalize", "Divide by the sum of the taps where that is not 0", AT(filter.normalize),
     LIVE, TRUE},
    {KIND_DOUBLE, "scale", "Scale", "Factor on the result, no unit", AT(filter.scale), LIVE, 1, -SCALE_LIMIT,
     SCALE_LIMIT},
    {KIND_DOUBLE, "bias", "Bias", "Added to the result, as a fraction of full scale", AT(filter.bias), LIVE, 0,
     -BIAS_LIMIT, BIAS_LIMIT},
    {KIND_BOOLEAN, "absolute", "Absolute", "Take the result without its sign, before scale and bias",
     AT(filter.absolute), LIVE, FALSE},
    {KIND_ENUM, "border-mode", "Border mode", "What lies outside the frame", AT(filter.border), LIVE,
     CNV_BORDER_REPLICATE, ENUM("Border", cnv_border_nicks)},
    {KIND_UINT, "border-color", "Border color",
     "Colour outside the frame for border-mode=constant, 0xAARRGGBB, full-range RGB", AT(filter.border_color), LIVE,
     0xff000000, 0, G_MAXUINT32},
    {KIND_UINT, "fill-color", "Fill color",
     "Colour of filter=fill, 0xAARRGGBB, full-range RGB; alpha takes its own where it is filtered",
     AT(filter.fill_color), LIVE, 0xff000000, 0, G_MAXUINT32},
    {KIND_FLAGS, "planes", "Planes", "What is filtered, the rest is copied", AT(filter.planes), PLAYING,
     CNV_PLANES_COLOR, ENUM("Planes", cnv_planes_nicks)},
    {KIND_ENUM, "chroma-mode", "Chroma mode", "How wide the taps are on subsampled planes", AT(filter.chroma_same),
     LIVE, CNV_CHROMA_SCALED, ENUM("ChromaMode", cnv_chroma_mode_nicks)},
    {KIND_INT, "chroma-radius", "Chroma radius", "Radius on chroma planes in their own samples; -1 follows luma",
     AT(filter.chroma_radius), LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_DOUBLE, "chroma-sigma", "Chroma sigma", "Sigma on chroma planes in their own samples; 0 follows luma",
     AT(filter.chroma_sigma), LIVE, 0, 0, 256},
    {KIND_ENUM, "alpha-mode", "Alpha mode", "What becomes of alpha", AT(filter.alpha_mode), LIVE, CNV_ALPHA_COPY,
     ENUM("AlphaMode", cnv_alpha_mode_nicks)},
    {KIND_INT, "temporal-radius", "Radius in time",
     "Frames on each side of the output frame, or before it with temporal-mode=causal, of which a mean is taken, "
     "weighted by a gaussian; the filter goes on within each frame",
     AT(filter.temporal_radius), LIVE, 0, 0, CNV_TEMPORAL_RADIUS_MAX},
    {KIND_DOUBLE, "temporal-sigma", "Sigma in time",
     "Standard deviation of the weights of frames, in frames; 0 auto: 0.3*(temporal-radius-1)+0.8",
     AT(filter.temporal_sigma), LIVE, 0, 0, 256},
    {KIND_ROW, "kernel-t", "Kernel in time",
     "Weights of frames, first frame first, at most 31, in place of those that temporal-radius makes; the filter goes "
     "on within each frame",
     AT(filter.kernel_t), PLAYING, 0, 0, CNV_MAX_TEMPORAL_TAPS},
    {KIND_ENUM, "temporal-mode", "Mode in time",
     "Which of the frames the output stands for: the middle one, which adds latency, or the last", AT(filter.causal),
     LIVE, CNV_TEMPORAL_CENTERED, ENUM("TemporalMode", temporal_mode_nicks)},
    {KIND_ENUM, "temporal-border", "Border in time", "What stands for frames before the first and behind the last",
     AT(temporal_border), LIVE, CNV_TEMPORAL_RENORMALIZE, ENUM("TemporalBorder", cnv_temporal_border_nicks)},
    {KIND_DOUBLE, "scene-change-threshold", "Scene change threshold",
     "Mean absolute difference of luma between two frames, as a fraction of full scale, above which frames beyond are "
     "left out; 0 looks for no cuts",
     AT(scene_change), LIVE, 0, 0, 1},
    {KIND_BOOLEAN, "drain-on-changes", "Drain on changes",
     "Push the frames that wait for others with the old filter where it changes, and start anew", AT(drain_on_change),
     LIVE, TRUE},
    {KIND_ENUM, "roi-source", "Regions' source", "Where the regions to be filtered come from", AT(roi.source), LIVE,
     CNV_ROI_NONE, ENUM("RoiSource", roi_source_nicks)},
    {KIND_RECTS, "roi", "Regions", "Rectangles for roi-source=property, <<x,y,width,height>,<...>> in roi-units",
     AT(roi.rects), PLAYING},
    {KIND_POLYGONS, "roi-polygons", "Polygons",
     "Polygons for roi-source=property, <<x,y,x,y,x,y>,<...>> in roi-units, filled by the even-odd rule: at least 3 "
     "points each, at most 1024 in all",
     AT(roi.polygons), PLAYING},
    {KIND_ENUM, "roi-units", "Units of the regions", "Units of the numbers of roi and roi-polygons", AT(roi.units),
     LIVE, CNV_ROI_PIXELS, ENUM("RoiUnits", roi_units_nicks)},
    {KIND_MASK, "roi-mask-location", "Mask location",
     "PNG or PGM file with a mask for roi-source=property, read when this is set and stretched over the frame: white "
     "is "
     "filtered, black is not, and grey is a blend",
     AT(roi.mask), PLAYING},
    {KIND_ENUM, "roi-shape", "Shape of the regions",
     "Part of each rectangle that is the region; polygons and masks have their own", AT(roi.shape), LIVE,
     CNV_SHAPE_RECTANGLE, ENUM("RoiShape", roi_shape_nicks)},
    {KIND_STRING, "roi-types", "Types of regions",
     "For roi-source=meta the types of regions that count, separated by commas, in upper or lower case: face,plate; of "
     "segmentation masks also numbers of regions; none: all types but a mask's background",
     AT(roi.types), PLAYING},
    {KIND_DOUBLE, "roi-confidence", "Least confidence",
     "For roi-source=meta the least confidence, 0 to 1, of boxes of GstAnalyticsODMtd that count; 0: all of them",
     AT(roi.confidence), LIVE, 0, 0, 1},
    {KIND_UINT, "roi-smooth", "Smoothing of the regions",
     "For roi-source=meta the number of frames that a region stays when its detector missed it, growing by what it "
     "moved; 0: none",
     AT(roi.smooth), LIVE, 0, 0, ROI_SMOOTH_LIMIT},
    {KIND_ENUM, "roi-missing", "Frames without regions",
     "What happens to a frame without regions, once roi-smooth keeps none; with roi-invert it is always filtered",
     AT(roi.missing), LIVE, CNV_ROI_MISSING_COPY, ENUM("RoiMissing", roi_missing_nicks)},
    {KIND_BOOLEAN, "roi-invert", "Invert the regions", "Filter everything but the regions", AT(roi.invert), LIVE,
     FALSE},
    {KIND_DOUBLE, "roi-expand", "Expand the regions",
     "Added to each region on each side, as a fraction of its width or height", AT(roi.expand), LIVE, 0, 0, 10},
    {KIND_DOUBLE, "roi-feather", "Feather",
     "Pixels outside each region over which the filtered picture fades into the other", AT(roi.feather), LIVE, 0, 0,
     1024},
    {KIND_ENUM, "roi-strength", "Strength in regions", "How strongly regions are filtered", AT(roi.strength), LIVE,
     CNV_ROI_FIXED, ENUM("RoiStrength", roi_strength_nicks)},
    {KIND_DOUBLE, "roi-relative-size", "Relative size",
     "For roi-strength=relative the radius as a fraction of a region's longer side; sigma is half of it",
     AT(roi.relative_size), LIVE, 0.2, 0.01, 1},
    {KIND_BOOLEAN, "roi-isolated", "Isolated regions",
     "Read nothing outside a region to filter it, so that no colour bleeds in. A rectangle has the border mode at its "
     "edge; of other shapes, masks and with roi-invert the taps that remain are scaled to the same sum",
     AT(roi.isolated), LIVE, FALSE},
    {KIND_INT, "roi-target-x", "Target along x",
     "Column in pixels where the left edge of the filtered region is placed, with roi-target-y; -1 leaves it in its "
     "place",
     AT(roi.target_x), LIVE, -1, -1, CNV_SIZE_MAX},
    {KIND_INT, "roi-target-y", "Target along y",
     "Row in pixels where the upper edge of the filtered region is placed, with roi-target-x; -1 leaves it in its "
     "place",
     AT(roi.target_y), LIVE, -1, -1, CNV_SIZE_MAX},
    {KIND_ENUM, "backend", "Backend", "What computes", AT(backend), READY, 0, ENUM("Backend", backend_nicks)},
    {KIND_INT, "cuda-device-id", "CUDA device id",
     "Ordinal of the GPU; -1 takes the one that the pipeline shares, else the first", AT(device), READY, -1, -1,
     G_MAXINT},
    {KIND_ENUM, "algorithm", "Algorithm", "How it is computed", AT(algorithm), LIVE, CNV_ALGORITHM_AUTO,
     ENUM("Algorithm", cnv_algorithm_nicks)},
    {KIND_UINT, "n-threads", "Threads", "Threads of the CPU engine; 0 auto: one a processor", AT(n_threads), READY, 0,
     0, G_MAXINT16},
    {KIND_UINT, "frames-in-flight", "Frames in flight",
     "Frames that are copied to and from the GPU at once where buffers are in system memory, each pushed as soon as it "
     "is done; more than 1 are reported as latency; 0 auto: 3, in a live pipeline 1",
     AT(frames_in_flight), READY, 0, 0, CNV_IN_FLIGHT_MAX},
    {KIND_BOOLEAN, "disable-passthrough", "Disable passthrough",
     "Compute also where the taps leave every frame as it is", AT(disable_passthrough), LIVE, FALSE},
};

/* ---- values by kind ---- */

static gsize
size_of(Kind kind)
{
  return kind < KIND_DOUBLE ? sizeof(int) : kind == KIND_DOUBLE ? sizeof(double) : sizeof(gpointer);
}

static guint
next_version(void)
{
  static gint last;

  return (guint)g_atomic_int_add(&last, 1) + 1;
}

void
gst_cuda_convolve_settings_init(GstCudaConvolveSettings *settings)
{
  memset(settings, 0, sizeof(*settings));
  settings->version = next_version();
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
    const Property *row = &properties[i];
    void *at = (char *)settings + row->offset;

    if (row->kind == KIND_DOUBLE)
      *(double *)at = row->def;
    else if (row->kind < KIND_DOUBLE)
      *(guint *)at = (guint)(gint64)row->def;
  }
}

/* How references are taken and given back, of kinds behind KIND_DOUBLE. */
static const struct {
  GBoxedCopyFunc ref;
  GDestroyNotify unref;
} references[] = {
    [KIND_STRING] = {(GBoxedCopyFunc)g_strdup, g_free},
    [KIND_FILE] = {(GBoxedCopyFunc)g_strdup, g_free},
    [KIND_MASK] = {(GBoxedCopyFunc)gst_buffer_ref, (GDestroyNotify)gst_buffer_unref},
    [KIND_RECTS] = {(GBoxedCopyFunc)g_array_ref, (GDestroyNotify)g_array_unref},
    [KIND_POLYGONS] = {(GBoxedCopyFunc)g_ptr_array_ref, (GDestroyNotify)g_ptr_array_unref},
    [KIND_ROW] = {(GBoxedCopyFunc)cnv_taps_ref, (GDestroyNotify)cnv_taps_unref},
    [KIND_KERNEL] = {(GBoxedCopyFunc)cnv_taps_ref, (GDestroyNotify)cnv_taps_unref},
};

void
gst_cuda_convolve_settings_copy(GstCudaConvolveSettings *to, const GstCudaConvolveSettings *from)
{
  *to = *from;
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
    gpointer *at = (gpointer *)((char *)to + properties[i].offset);

    if (properties[i].kind > KIND_DOUBLE && *at)
      *at = references[properties[i].kind].ref(*at);
  }
}

void
gst_cuda_convolve_settings_clear(GstCudaConvolveSettings *settings)
{
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
    if (properties[i].kind > KIND_DOUBLE)
      g_clear_pointer((gpointer *)((char *)settings + properties[i].offset), references[properties[i].kind].unref);
}

static gboolean
equal_numbers(const GArray *a, const GArray *b)
{
  guint n = a ? a->len : 0;

  return n == (b ? b->len : 0) && (n == 0 || memcmp(a->data, b->data, n * sizeof(double)) == 0);
}

static gboolean
equal_polygons(const GPtrArray *a, const GPtrArray *b)
{
  guint n = a ? a->len : 0;
  gboolean equal = n == (b ? b->len : 0);

  for (guint i = 0; equal && i < n; i++)
    equal = equal_numbers(g_ptr_array_index(a, i), g_ptr_array_index(b, i));
  return equal;
}

static gboolean
equal_values(Kind kind, const void *a, const void *b)
{
  if (kind == KIND_STRING || kind == KIND_FILE)
    return g_strcmp0(*(char *const *)a, *(char *const *)b) == 0;
  if (kind == KIND_RECTS)
    return equal_numbers(*(GArray *const *)a, *(GArray *const *)b);
  if (kind == KIND_POLYGONS)
    return equal_polygons(*(GPtrArray *const *)a, *(GPtrArray *const *)b);
  if (kind > KIND_POLYGONS)
    return cnv_taps_equal(*(CnvTaps *const *)a, *(CnvTaps *const *)b);
  return memcmp(a, b, size_of(kind)) == 0;
}

gboolean
gst_cuda_convolve_settings_equal(const GstCudaConvolveSettings *a, const GstCudaConvolveSettings *b, gsize part)
{
  if (a->version == b->version)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++) {
    gsize offset = properties[i].offset;

    if (offset < part && !equal_values(properties[i].kind, (const char *)a + offset, (const char *)b + offset))
      return FALSE;
  }
  return TRUE;
}

/* ---- installation ---- */

static void
list_backends(void)
{
  int n = 2;

  for (int i = 0; cnv_backends[i]; i++)
    if (strcmp(cnv_backends[i]->name, "cuda") != 0 && n + 1 < (int)G_N_ELEMENTS(backend_nicks)) {
      backend_nicks[n] = (CnvNick){n, cnv_backends[i]->name, cnv_backends[i]->blurb};
      n++;
    }
}

guint
gst_cuda_convolve_properties_install(GObjectClass *klass)
{
  list_backends();
  for (guint i = 0; i < G_N_ELEMENTS(properties); i++)
    g_object_class_install_property(klass, i + 1, gst_cuda_convolve_property_spec(&properties[i]));
  return G_N_ELEMENTS(properties) + 1;
}

/* ---- reading and writing a property ---- */

/* Without a name, taps that came from no file stay. */
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
read_mask_file(GstBuffer **mask, const char *path, GError **error)
{
  *mask = path && *path ? gst_cuda_convolve_mask_load(path, error) : NULL;
  return *mask || !path || !*path;
}

static gboolean
read_taps(const Property *row, const GValue *value, CnvTaps **taps, GError **error)
{
  guint n = gst_value_array_get_size(value);

  if (row->max > 0 && n > row->max)
    return cnv_refuse(error, "%s: %u taps, and at most %.0f are possible: shorten it", row->name, n, row->max);
  return gst_cuda_convolve_taps_from_value(value, row->name, row->kind == KIND_KERNEL, taps, error);
}

/* Returns TRUE if text follows the array that the text begins with: GStreamer would drop it. */
static gboolean
has_tail(const char *text)
{
  int depth = 0;

  text += strspn(text, " ");
  do
    depth += (*text == '<') - (*text == '>');
  while (depth > 0 && *++text);
  return *text == '>' && text[1 + strspn(text + 1, " ")] != '\0';
}

/* Returns the beginning of a text, which messages repeat, to be freed. A cut inside a character would not be UTF-8. */
static char *
beginning_of(const char *text)
{
  return g_utf8_substring(text, 0, MIN(g_utf8_strlen(text, -1), LONGEST_WORDS));
}

/* An array that was given as text, in UTF-8. */
static gboolean
read_text(GstCudaConvolveSettings *settings, guint id, const char *text, GError **error)
{
  g_autofree char *beginning = beginning_of(text);
  GValue array = G_VALUE_INIT;
  gboolean ok;

  g_value_init(&array, GST_TYPE_ARRAY);
  if (has_tail(text))
    ok = cnv_refuse(error, "%s=%s is more than one array: write <> around them, <<1,2>,<3,4>>", properties[id - 1].name,
                    beginning);
  else if (gst_value_deserialize(&array, text))
    ok = gst_cuda_convolve_property_read(settings, id, &array, error);
  else
    ok = cnv_refuse(error, "%s=%s is no array: write <1,2,3>, or arrays of these, <<1,2>,<3,4>>",
                    properties[id - 1].name, beginning);
  g_value_unset(&array);
  return ok;
}

gboolean
gst_cuda_convolve_property_read(GstCudaConvolveSettings *settings, guint id, const GValue *value, GError **error)
{
  const Property *row = &properties[id - 1];
  void *at = (char *)settings + row->offset;
  g_autofree char *text = row->kind >= KIND_RECTS ? gst_cuda_convolve_text_from_value(value) : NULL;
  GValue whole = G_VALUE_INIT;

  if (text)
    return read_text(settings, id, text, error);
  settings->version = next_version();
  switch (row->kind) {
  case KIND_DOUBLE:
    *(double *)at = g_value_get_double(value);
    break;
  case KIND_STRING:
    *(char **)at = g_value_dup_string(value);
    break;
  case KIND_FILE:
    return read_kernel_file(settings, g_value_get_string(value), error);
  case KIND_MASK:
    return read_mask_file((GstBuffer **)at, g_value_get_string(value), error);
  case KIND_RECTS:
    return gst_cuda_convolve_rects_from_value(value, row->name, (GArray **)at, error);
  case KIND_POLYGONS:
    return gst_cuda_convolve_polygons_from_value(value, row->name, (GPtrArray **)at, error);
  case KIND_ROW:
  case KIND_KERNEL:
    return read_taps(row, value, (CnvTaps **)at, error);
  default:
    g_value_init(&whole, G_TYPE_INT64);
    g_value_transform(value, &whole);
    *(guint *)at = (guint)g_value_get_int64(&whole);
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

  a->version = next_version();
  b->version = next_version();
  if (row->kind == KIND_KERNEL || (row->kind == KIND_FILE && (a->kernel_location || b->kernel_location))) {
    swap(&a->filter.kernel, &b->filter.kernel, sizeof(CnvTaps *));
    swap(&a->kernel_location, &b->kernel_location, sizeof(char *));
  } else {
    swap((char *)a + row->offset, (char *)b + row->offset, size_of(row->kind));
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
  GValue whole = G_VALUE_INIT;

  switch (row->kind) {
  case KIND_DOUBLE:
    g_value_set_double(value, *(const double *)at);
    break;
  case KIND_STRING:
  case KIND_FILE:
    g_value_set_string(value, *(char *const *)at);
    break;
  case KIND_MASK:
    g_value_set_string(value, *(gconstpointer *)at ? gst_cuda_convolve_mask_path(*(GstBuffer *const *)at) : NULL);
    break;
  case KIND_RECTS:
    gst_cuda_convolve_rects_to_value(*(GArray *const *)at, value);
    break;
  case KIND_POLYGONS:
    gst_cuda_convolve_polygons_to_value(*(GPtrArray *const *)at, value);
    break;
  case KIND_ROW:
  case KIND_KERNEL:
    gst_cuda_convolve_taps_to_value(*(CnvTaps *const *)at, value);
    break;
  default:
    g_value_init(&whole, G_TYPE_INT64);
    g_value_set_int64(&whole, *(const int *)at);
    g_value_transform(&whole, value);
  }
}

gboolean
gst_cuda_convolve_property_is_set(const GstCudaConvolveSettings *settings, guint id)
{
  const Property *row = &properties[id - 1];
  const void *at = (const char *)settings + row->offset;

  if (row->kind < KIND_DOUBLE)
    return *(const guint *)at != (guint)(gint64)row->def;
  return row->kind == KIND_DOUBLE ? *(const double *)at != row->def : *(const gconstpointer *)at != NULL;
}

const char *
gst_cuda_convolve_backend_name(int value)
{
  return value == 0 ? NULL : backend_nicks[value].nick;
}
