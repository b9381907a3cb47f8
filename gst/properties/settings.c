/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The property table, and everything that follows from its rows.
 */
#include <string.h>

#include "properties/kernelfile.h"
#include "properties/property.h"
#include "properties/settings.h"
#include "properties/values.h"
#include "regions/maskfile.h"

static const CnvNick roi_source_nicks[] = {
    {CNV_ROI_NONE, "none", "No regions: the whole frame is filtered"},
    {CNV_ROI_PROPERTY, "property", "The properties roi, roi-polygons, roi-mask-location and roi-location"},
    {CNV_ROI_META, "meta", "The GstVideoRegionOfInterestMeta and GstAnalyticsRelationMeta of each frame"},
    {0, NULL, NULL},
};

static const CnvNick roi_units_nicks[] = {
    {CNV_ROI_PIXELS, "pixels", "Pixels of the frame"},
    {CNV_ROI_FRACTION, "fraction", "Fractions of the frame's width and height, 0 to 1"},
    {0, NULL, NULL},
};

static const CnvNick roi_shape_nicks[] = {
    {CNV_SHAPE_RECTANGLE, "rectangle", "The whole rectangle"},
    {CNV_SHAPE_ELLIPSE, "ellipse", "The ellipse inscribed in the rectangle, for faces"},
    {0, NULL, NULL},
};

/* Values of CnvFilter.causal. */
static const CnvNick temporal_mode_nicks[] = {
    {CNV_TEMPORAL_CENTERED, "centered", "The middle: later frames are waited for, which adds latency"},
    {CNV_TEMPORAL_CAUSAL, "causal", "The last: only earlier frames are used, without latency"},
    {0, NULL, NULL},
};

static const CnvNick roi_missing_nicks[] = {
    {CNV_ROI_MISSING_COPY, "copy", "Leave the frame unchanged"},
    {CNV_ROI_MISSING_FILTER, "filter", "Filter the whole frame, so that a detector that fails reveals nothing"},
    {0, NULL, NULL},
};

static const CnvNick roi_strength_nicks[] = {
    {CNV_ROI_FIXED, "fixed", "The same radius and sigma in every region"},
    {CNV_ROI_RELATIVE, "relative", "Radius and sigma in proportion to each region's size"},
    {0, NULL, NULL},
};

/* Every build lists cuda, so that a build without it can give the reason. The other engines of the build are added. */
static CnvNick backend_nicks[8] = {
    {CNV_BACKEND_AUTO, "auto", "cuda if there is a usable GPU, else cpu with a message that gives the reason"},
    {CNV_BACKEND_CUDA, "cuda", "An NVIDIA GPU; an error if there is none"},
};

#define AT(field) offsetof(GstCudaConvolveSettings, field)
#define ENUM(name, rows) .type_name = "GstCudaConvolve" name, .nicks = (rows), .nick_size = sizeof((rows)[0])
#define READY GST_PARAM_MUTABLE_READY
#define PLAYING GST_PARAM_MUTABLE_PLAYING
#define LIVE (GST_PARAM_CONTROLLABLE | GST_PARAM_MUTABLE_PLAYING)
#define ANGLE_LIMIT 3600
#define ROI_SMOOTH_LIMIT 300
#define LONGEST_WORDS 60 /* characters of a text that a message repeats */

static const Property properties[] = {
    {KIND_ENUM, "filter", "Filter", "Filter type", AT(filter.type), LIVE, CNV_FILTER_GAUSSIAN,
     ENUM("Filter", cnv_filters)},
    {KIND_INT, "radius", "Radius",
     "Radius of the kernel in samples, for 2*radius+1 taps. -1 = ceil(truncate*sigma) if sigma is set, else the "
     "filter's default",
     AT(filter.radius), LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_INT, "radius-x", "Radius along x", "Radius along rows, in samples. 0 does not filter along rows, -1 = radius",
     AT(filter.radius_axis[CNV_X]), LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_INT, "radius-y", "Radius along y",
     "Radius along columns, in samples. 0 does not filter along columns, -1 = radius", AT(filter.radius_axis[CNV_Y]),
     LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_DOUBLE, "sigma", "Sigma",
     "Standard deviation of the gaussian, in samples. 0 = 0.3*(radius-1)+0.8, as in OpenCV", AT(filter.sigma), LIVE, 0,
     0, 256},
    {KIND_DOUBLE, "sigma-x", "Sigma along x", "Standard deviation along rows, in samples. 0 = sigma",
     AT(filter.sigma_axis[CNV_X]), LIVE, 0, 0, 256},
    {KIND_DOUBLE, "sigma-y", "Sigma along y", "Standard deviation along columns, in samples. 0 = sigma",
     AT(filter.sigma_axis[CNV_Y]), LIVE, 0, 0, 256},
    {KIND_DOUBLE, "truncate", "Truncate", "Radius divided by sigma, if the radius is computed from sigma",
     AT(filter.truncate), LIVE, CNV_TRUNCATE_DEFAULT, 0.5, 16},
    {KIND_DOUBLE, "amount", "Amount", "Strength of sharpen, unsharp and emboss, as a factor", AT(filter.amount), LIVE,
     1, 0, CNV_AMOUNT_MAX},
    {KIND_DOUBLE, "angle", "Angle",
     "Direction of motion, emboss and gradient=directional, in degrees: 0 is right, 90 is down", AT(filter.angle), LIVE,
     0, -ANGLE_LIMIT, ANGLE_LIMIT},
    {KIND_ENUM, "gradient", "Gradient", "Derivative that sobel, scharr and prewitt compute", AT(filter.gradient), LIVE,
     CNV_GRADIENT_MAGNITUDE, ENUM("Gradient", cnv_gradient_nicks)},
    {KIND_KERNEL, "kernel", "Kernel",
     "Taps of filter=custom, in the order of the picture: <1,2,1> is a row, <<1,2>,<3,4>> are the rows of a 2D kernel, "
     "<<<1,2>,<3,4>>,<<5,6>,<7,8>>> are the frames of a 3D kernel, first frame first",
     AT(filter.kernel), PLAYING},
    {KIND_ROW, "kernel-x", "Kernel along x",
     "Taps of filter=custom along rows, at most 1025; kernel-x and kernel-y together make a separable 2D kernel",
     AT(filter.kernel_axis[CNV_X]), PLAYING},
    {KIND_ROW, "kernel-y", "Kernel along y",
     "Taps of filter=custom along columns, topmost first, at most 1025; kernel-x and kernel-y together make a "
     "separable 2D kernel",
     AT(filter.kernel_axis[CNV_Y]), PLAYING},
    {KIND_FILE, "kernel-location", "Kernel location",
     "Text file with the taps of filter=custom, read when the property is set: a line per row, numbers separated by "
     "commas or spaces, a blank line between frames, # begins a comment. Of kernel and this one, the last set counts",
     AT(kernel_location), PLAYING},
    {KIND_INT, "anchor-x", "Anchor along x",
     "Column of the filter=custom tap that lies on the output sample, counted from 0. -1 = the middle one, (n-1)/2",
     AT(filter.anchor[CNV_X]), LIVE, -1, -1, 2 * CNV_RADIUS_MAX},
    {KIND_INT, "anchor-y", "Anchor along y",
     "Row of the filter=custom tap that lies on the output sample, counted from 0. -1 = the middle one, (n-1)/2",
     AT(filter.anchor[CNV_Y]), LIVE, -1, -1, 2 * CNV_RADIUS_MAX},
    {KIND_BOOLEAN, "flip-kernel", "Flip kernel",
     "Mirror the taps of filter=custom and kernel-t, for a convolution in the mathematical sense", AT(filter.flip),
     LIVE, FALSE},
    {KIND_BOOLEAN, "normalize", "Normalize", "Divide the taps by their sum, unless the sum is 0", AT(filter.normalize),
     LIVE, TRUE},
    {KIND_DOUBLE, "scale", "Scale", "Factor by which the result is multiplied", AT(filter.scale), LIVE, 1,
     -CNV_SCALE_MAX, CNV_SCALE_MAX},
    {KIND_DOUBLE, "bias", "Bias",
     "Offset that is added to the result, as a fraction of full scale: 0.5 is mid-grey. Not added to chroma and alpha",
     AT(filter.bias), LIVE, 0, -CNV_BIAS_MAX, CNV_BIAS_MAX},
    {KIND_BOOLEAN, "absolute", "Absolute", "Take the absolute value of the result, before scale and bias",
     AT(filter.absolute), LIVE, FALSE},
    {KIND_ENUM, "border-mode", "Border mode", "How samples outside the frame are obtained", AT(filter.border), LIVE,
     CNV_BORDER_REPLICATE, ENUM("Border", cnv_border_nicks)},
    {KIND_UINT, "border-color", "Border color",
     "Colour of the samples outside the frame for border-mode=constant, 0xAARRGGBB in full-range RGB",
     AT(filter.border_color), LIVE, 0xff000000, 0, G_MAXUINT32},
    {KIND_UINT, "fill-color", "Fill color",
     "Colour of filter=fill, 0xAARRGGBB in full-range RGB. AA only counts if alpha is filtered", AT(filter.fill_color),
     LIVE, 0xff000000, 0, G_MAXUINT32},
    {KIND_FLAGS, "planes", "Planes", "Planes to filter, joined by +; the rest are copied", AT(filter.planes), PLAYING,
     CNV_PLANES_COLOR, ENUM("Planes", cnv_planes_nicks)},
    {KIND_ENUM, "chroma-mode", "Chroma mode", "Size of the kernel on subsampled planes", AT(filter.chroma_same), LIVE,
     CNV_CHROMA_SCALED, ENUM("ChromaMode", cnv_chroma_mode_nicks)},
    {KIND_INT, "chroma-radius", "Chroma radius", "Radius on chroma planes, in chroma samples. -1 follows luma",
     AT(filter.chroma_radius), LIVE, -1, -1, CNV_RADIUS_MAX},
    {KIND_DOUBLE, "chroma-sigma", "Chroma sigma",
     "Standard deviation on chroma planes, in chroma samples. 0 follows luma", AT(filter.chroma_sigma), LIVE, 0, 0,
     256},
    {KIND_ENUM, "alpha-mode", "Alpha mode", "How the alpha channel is filtered", AT(filter.alpha_mode), LIVE,
     CNV_ALPHA_COPY, ENUM("AlphaMode", cnv_alpha_mode_nicks)},
    {KIND_INT, "temporal-radius", "Radius in time",
     "Frames that are averaged on each side of the output frame, or before it with temporal-mode=causal, with gaussian "
     "weights. filter still applies within each frame. 0 = none",
     AT(filter.temporal_radius), LIVE, 0, 0, CNV_TEMPORAL_RADIUS_MAX},
    {KIND_DOUBLE, "temporal-sigma", "Sigma in time",
     "Standard deviation of the frame weights, in frames. 0 = 0.3*(temporal-radius-1)+0.8", AT(filter.temporal_sigma),
     LIVE, 0, 0, 256},
    {KIND_DOUBLE, "temporal-threshold", "Threshold in time",
     "Noise reduction without trails: at each sample, a frame counts by half if it differs this much from the output "
     "frame, as a fraction of full scale, fully up to half of it, and not at all from 1.5 times of it on. 0 = frames "
     "count everywhere. -1 = from the noise of each plane",
     AT(filter.temporal_threshold), LIVE, 0, -1, 1},
    {KIND_ROW, "kernel-t", "Kernel in time",
     "Weights of frames, first frame first, at most 31. Overrides temporal-radius. filter still applies within each "
     "frame",
     AT(filter.kernel_t), PLAYING, 0, 0, CNV_MAX_TEMPORAL_TAPS},
    {KIND_ENUM, "temporal-mode", "Mode in time",
     "Position of the output frame among the input frames of a filter over time", AT(filter.causal), LIVE,
     CNV_TEMPORAL_CENTERED, ENUM("TemporalMode", temporal_mode_nicks)},
    {KIND_ENUM, "temporal-border", "Border in time", "Substitute for frames before the first and after the last",
     AT(temporal_border), LIVE, CNV_TEMPORAL_RENORMALIZE, ENUM("TemporalBorder", cnv_temporal_border_nicks)},
    {KIND_DOUBLE, "scene-change-threshold", "Scene change threshold",
     "Mean absolute difference of luma between two frames, as a fraction of full scale, above which there is a cut "
     "between them. A filter over time does not mix frames across a cut. 0 disables detection",
     AT(scene_change), LIVE, 0, 0, 1},
    {KIND_BOOLEAN, "drain-on-changes", "Drain on changes",
     "When the filter changes, filter the waiting frames with the old one, and start the new one without earlier "
     "frames. false = filter the waiting frames with the new one",
     AT(drain_on_change), LIVE, TRUE},
    {KIND_ENUM, "roi-source", "Regions' source", "Source of the regions to filter", AT(roi.source), LIVE, CNV_ROI_NONE,
     ENUM("RoiSource", roi_source_nicks)},
    {KIND_RECTS, "roi", "Regions",
     "Rectangles to filter with roi-source=property, <<x,y,width,height>,<...>> in roi-units, at most 1024",
     AT(roi.rects), PLAYING},
    {KIND_POLYGONS, "roi-polygons", "Polygons",
     "Polygons to filter with roi-source=property, <<x,y,x,y,x,y>,<...>> in roi-units, by the even-odd rule. At least "
     "3 points per polygon, at most 1024 points in all",
     AT(roi.polygons), PLAYING},
    {KIND_ENUM, "roi-units", "Units of the regions", "Unit of the numbers in roi and roi-polygons", AT(roi.units), LIVE,
     CNV_ROI_PIXELS, ENUM("RoiUnits", roi_units_nicks)},
    {KIND_MASK, "roi-mask-location", "Mask location",
     "PNG or PGM file with a mask for roi-source=property, read when the property is set and stretched over the frame: "
     "white is filtered, black is not, grey is a blend",
     AT(roi.mask), PLAYING},
    {KIND_ZONES, "roi-location", "Zones location",
     "Key file with zones for roi-source=property, a group per zone: a polygon, rectangle or ellipse in fractions of "
     "the frame; optionally a type, and the times from and to, in seconds of the stream or as time of day. Outside "
     "these times the zone hides nothing. Read when the property is set, and again when the file changes",
     AT(roi.zones), PLAYING},
    {KIND_ENUM, "roi-shape", "Shape of the regions", "Shape of rectangular regions; polygons and masks keep their own",
     AT(roi.shape), LIVE, CNV_SHAPE_RECTANGLE, ENUM("RoiShape", roi_shape_nicks)},
    {KIND_STRING, "roi-types", "Types of regions",
     "Regions to use, by the type of their meta or zone, separated by commas, in upper or lower case: face,plate. "
     "Zones without a type are always used. Regions of a segmentation mask can also be chosen by number. Not set, or "
     "all: every type except the background of a mask",
     AT(roi.types), PLAYING},
    {KIND_DOUBLE, "roi-confidence", "Least confidence",
     "Lowest confidence of the GstAnalyticsODMtd boxes to use with roi-source=meta. 0 = all boxes", AT(roi.confidence),
     LIVE, 0, 0, 1},
    {KIND_UINT, "roi-smooth", "Smoothing of the regions",
     "Frames for which a region stays after the detector lost it, with roi-source=meta. It grows meanwhile, at the "
     "speed at which it moved. 0 = none",
     AT(roi.smooth), LIVE, 0, 0, ROI_SMOOTH_LIMIT},
    {KIND_ENUM, "roi-missing", "Frames without regions",
     "What to do with a frame that has no regions, and none kept by roi-smooth. With roi-invert it is always filtered",
     AT(roi.missing), LIVE, CNV_ROI_MISSING_COPY, ENUM("RoiMissing", roi_missing_nicks)},
    {KIND_BOOLEAN, "roi-invert", "Invert the regions", "Filter everything except the regions", AT(roi.invert), LIVE,
     FALSE},
    {KIND_DOUBLE, "roi-expand", "Expand the regions",
     "Margin added on each side of a region, as a fraction of its width or height", AT(roi.expand), LIVE, 0, 0, 10},
    {KIND_DOUBLE, "roi-feather", "Feather",
     "Width in pixels of the edge around each region in which the filtered picture fades into the unfiltered one",
     AT(roi.feather), LIVE, 0, 0, 1024},
    {KIND_ENUM, "roi-strength", "Strength in regions", "How strongly each region is filtered", AT(roi.strength), LIVE,
     CNV_ROI_FIXED, ENUM("RoiStrength", roi_strength_nicks)},
    {KIND_DOUBLE, "roi-relative-size", "Relative size",
     "Radius as a fraction of a region's longer side, for roi-strength=relative. Sigma is half the radius",
     AT(roi.relative_size), LIVE, 0.2, 0.01, 1},
    {KIND_BOOLEAN, "roi-isolated", "Isolated regions",
     "Read nothing outside a region to filter it, so that no colour bleeds in. Rectangles apply border-mode at their "
     "edges; other shapes, masks and roi-invert skip the taps outside and scale the rest to the same sum",
     AT(roi.isolated), LIVE, FALSE},
    {KIND_INT, "roi-target-x", "Target along x",
     "Column in pixels at which to place the left edge of the filtered region; set roi-target-y too. -1 leaves it in "
     "its place",
     AT(roi.target_x), LIVE, -1, -1, CNV_SIZE_MAX},
    {KIND_INT, "roi-target-y", "Target along y",
     "Row in pixels at which to place the top edge of the filtered region; set roi-target-x too. -1 leaves it in its "
     "place",
     AT(roi.target_y), LIVE, -1, -1, CNV_SIZE_MAX},
    {KIND_ENUM, "backend", "Backend", "Engine that runs the filter", AT(backend), READY, 0,
     ENUM("Backend", backend_nicks)},
    {KIND_INT, "cuda-device-id", "CUDA device id",
     "Ordinal of the GPU. -1 = the GPU that the pipeline shares, else the first", AT(device), READY, -1, -1, G_MAXINT},
    {KIND_ENUM, "algorithm", "Algorithm", "Algorithm; auto picks the fastest that can do the work", AT(algorithm), LIVE,
     CNV_ALGORITHM_AUTO, ENUM("Algorithm", cnv_algorithm_nicks)},
    {KIND_UINT, "n-threads", "Threads", "Threads of the CPU engine. 0 = one per processor", AT(n_threads), READY, 0, 0,
     G_MAXINT16},
    {KIND_UINT, "frames-in-flight", "Frames in flight",
     "Frames that are copied to and from the GPU at the same time, if buffers are in system memory. Each frame is "
     "pushed as soon as it is done; more than 1 add latency, which is reported. 0 = 3, or 1 in a live pipeline",
     AT(frames_in_flight), READY, 0, 0, CNV_IN_FLIGHT_MAX},
    {KIND_BOOLEAN, "disable-passthrough", "Disable passthrough", "Run the filter even if it changes nothing",
     AT(disable_passthrough), LIVE, FALSE},
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

/* Functions that copy and free the values of kinds after KIND_DOUBLE. */
static const struct {
  GBoxedCopyFunc ref;
  GDestroyNotify unref;
} references[] = {
    [KIND_STRING] = {(GBoxedCopyFunc)g_strdup, g_free},
    [KIND_FILE] = {(GBoxedCopyFunc)g_strdup, g_free},
    [KIND_MASK] = {(GBoxedCopyFunc)gst_buffer_ref, (GDestroyNotify)gst_buffer_unref},
    [KIND_ZONES] = {(GBoxedCopyFunc)gst_cuda_convolve_zones_ref, (GDestroyNotify)gst_cuda_convolve_zones_unref},
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

/* An empty name does nothing, so that taps which were set directly stay. */
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
read_zones_file(GstCudaConvolveZones **zones, const char *path, GError **error)
{
  *zones = path && *path ? gst_cuda_convolve_zones_load(path, error) : NULL;
  return *zones || !path || !*path;
}

static gboolean
read_taps(const Property *row, const GValue *value, CnvTaps **taps, GError **error)
{
  guint n = gst_value_array_get_size(value);

  if (row->max > 0 && n > row->max)
    return cnv_refuse(error, "%s: %u taps, and the limit is %.0f: shorten it", row->name, n, row->max);
  return gst_cuda_convolve_taps_from_value(value, row->name, row->kind == KIND_KERNEL, taps, error);
}

/* Returns TRUE if text follows the first array. GStreamer would ignore it. */
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

/* Returns the beginning of a text for messages, to be freed. Cuts between characters, so that it stays UTF-8. */
static char *
beginning_of(const char *text)
{
  return g_utf8_substring(text, 0, MIN(g_utf8_strlen(text, -1), LONGEST_WORDS));
}

/* Reads an array from text in UTF-8. */
static gboolean
read_text(GstCudaConvolveSettings *settings, guint id, const char *text, GError **error)
{
  g_autofree char *beginning = beginning_of(text);
  GValue array = G_VALUE_INIT;
  gboolean ok;

  g_value_init(&array, GST_TYPE_ARRAY);
  if (has_tail(text))
    ok = cnv_refuse(error, "%s=%s is more than one array: write < > around them, <<1,2>,<3,4>>",
                    properties[id - 1].name, beginning);
  else if (gst_value_deserialize(&array, text))
    ok = gst_cuda_convolve_property_read(settings, id, &array, error);
  else
    ok = cnv_refuse(error, "%s=%s is not an array: write <1,2,3>, or an array of arrays, <<1,2>,<3,4>>",
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
  case KIND_ZONES:
    return read_zones_file((GstCudaConvolveZones **)at, g_value_get_string(value), error);
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
  case KIND_ZONES:
    g_value_set_string(value,
                       *(gconstpointer *)at ? gst_cuda_convolve_zones_path(*(GstCudaConvolveZones *const *)at) : NULL);
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

gboolean
gst_cuda_convolve_settings_replace_zones(GstCudaConvolveSettings *settings, const GstCudaConvolveZones *old,
                                         GstCudaConvolveZones **zones)
{
  GstCudaConvolveZones *kept = settings->roi.zones;

  if (kept != old)
    return FALSE;
  settings->version = next_version();
  settings->roi.zones = *zones;
  *zones = kept;
  return TRUE;
}

const char *
gst_cuda_convolve_backend_name(int value)
{
  return value == 0 ? NULL : backend_nicks[value].nick;
}
