/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unused.h"

#include "messages.h"

#define PARAMETERS const GstCudaConvolveSettings *settings, const CnvImage *image, const CnvPlan *plan
#define IN(value) (1u << (value))
#define FILTER(name) IN(CNV_FILTER_##name)
#define GAUSSIANS (FILTER(GAUSSIAN) | FILTER(UNSHARP) | FILTER(LOG))
#define DERIVATIVES (FILTER(SOBEL) | FILTER(SCHARR) | FILTER(PREWITT))

/* ---- conditions of rows ---- */

static gboolean
has_no_kernel_t(PARAMETERS)
{
  return !settings->filter.kernel_t;
}

static gboolean
has_kernel_t(PARAMETERS)
{
  return settings->filter.kernel_t != NULL;
}

static gboolean
is_over_one_frame(PARAMETERS)
{
  return cnv_plan_frames(plan, NULL) == 1;
}

static gboolean
is_derivative(PARAMETERS)
{
  return cnv_filters[settings->filter.type].gradient;
}

static gboolean
has_no_radius(PARAMETERS)
{
  return cnv_filters[settings->filter.type].max_radius == 0;
}

static gboolean
takes_no_radius_of_sigma(PARAMETERS)
{
  const CnvFilter *filter = &settings->filter;
  gboolean takes = FALSE;

  for (int axis = 0; axis < CNV_N_AXES; axis++)
    takes = takes || (filter->radius < 0 && filter->radius_axis[axis] < 0 &&
                      (filter->sigma > 0 || filter->sigma_axis[axis] > 0));
  return !takes || cnv_filters[filter->type].max_radius <= CNV_APERTURE_MAX;
}

static gboolean
has_no_use_of_truncate(PARAMETERS)
{
  return takes_no_radius_of_sigma(settings, image, plan) &&
         (settings->filter.chroma_sigma == 0 || settings->filter.chroma_radius >= 0);
}

/* Less than one sigma is left on a side. */
static gboolean
cuts_sigma(PARAMETERS)
{
  const CnvFilter *filter = &settings->filter;
  gboolean cuts = FALSE;

  for (int axis = 0; axis < CNV_N_AXES; axis++) {
    int radius = cnv_filter_radius(filter, axis);

    cuts = cuts || (radius > 0 && radius < cnv_filter_sigma(filter, axis));
  }
  return cuts && GAUSSIANS >> filter->type & 1;
}

static gboolean
saturates(PARAMETERS)
{
  return cnv_plan_saturates(plan);
}

static guint
planes_of(const CnvFormat *format)
{
  guint planes = 0;

  for (int p = 0; p < format->n_planes; p++)
    for (int c = 0; c < format->plane[p].channels; c++)
      planes |= cnv_role_planes[format->plane[p].role[c]];
  return planes;
}

static gboolean
has_none_of_planes(PARAMETERS)
{
  return !(settings->filter.planes & planes_of(image->format));
}

static gboolean
lacks_planes(PARAMETERS)
{
  guint planes = settings->filter.planes;

  return planes != CNV_PLANES_COLOR && planes != CNV_PLANES_ALL && planes & ~planes_of(image->format);
}

static gboolean
has_no_chroma(PARAMETERS)
{
  return !(planes_of(image->format) & CNV_PLANES_CHROMA);
}

static gboolean
has_no_alpha(PARAMETERS)
{
  return !(planes_of(image->format) & CNV_PLANES_ALPHA);
}

static gboolean
has_regions(PARAMETERS)
{
  return settings->roi.source != CNV_ROI_NONE;
}

static gboolean
is_in_frame(const CnvRect *rect, const GstCudaConvolveRoi *roi, const CnvImage *image)
{
  double beside_x = roi->expand * rect->width + roi->feather, beside_y = roi->expand * rect->height + roi->feather;

  return rect->width > 0 && rect->height > 0 && rect->x + rect->width + beside_x > 0 &&
         rect->y + rect->height + beside_y > 0 && rect->x - beside_x < image->width &&
         rect->y - beside_y < image->height;
}

static gboolean
is_outside(PARAMETERS)
{
  const GstCudaConvolveRoi *roi = &settings->roi;
  gboolean outside = roi->source == CNV_ROI_PROPERTY;

  for (guint i = 0; roi->rects && i < roi->rects->len; i++)
    outside = outside && !is_in_frame(&g_array_index(roi->rects, CnvRect, i), roi, image);
  return outside;
}

static gboolean
hides_nothing(PARAMETERS)
{
  return !settings->roi.invert && is_outside(settings, image, plan);
}

/* ---- the table ---- */

#define NO_EFFECT "has no effect: "

static const struct {
  const char *properties;            /* each is warned of by itself, in this order */
  const char *beside;                /* property, or "format", whose value the message tells; NULL: their own */
  guint used;                        /* bits: values of that property with which they are in use */
  gboolean (*is_unused)(PARAMETERS); /* if not NULL, they are unused with the other values only if this is TRUE */
  const char *text;
} rows[] = {
    {"kernel-location kernel kernel-x kernel-y anchor-x anchor-y", "filter", FILTER(CUSTOM), NULL,
     NO_EFFECT "set filter=custom"},
    {"flip-kernel", "filter", FILTER(CUSTOM), has_no_kernel_t, NO_EFFECT "set filter=custom, or kernel-t"},
    {"amount", "filter", FILTER(SHARPEN) | FILTER(UNSHARP) | FILTER(EMBOSS), NULL,
     NO_EFFECT "choose sharpen, unsharp or emboss, or set scale"},
    {"gradient", "filter", DERIVATIVES, NULL, NO_EFFECT "choose sobel, scharr or prewitt"},
    {"angle", "filter", FILTER(MOTION) | FILTER(EMBOSS) | DERIVATIVES, NULL,
     NO_EFFECT "choose motion or emboss, or sobel, scharr or prewitt with gradient=directional"},
    {"angle", "gradient", IN(CNV_GRADIENT_DIRECTIONAL), is_derivative, NO_EFFECT "set gradient=directional"},
    {"radius radius-x radius-y", "filter", 0, has_no_radius,
     NO_EFFECT "choose a filter that has a radius, gaussian for example"},
    {"radius-x radius-y sigma-x sigma-y", "filter", ~FILTER(MOTION), NULL,
     NO_EFFECT "set radius, which is along the line"},
    {"sigma sigma-x sigma-y", "filter", GAUSSIANS, takes_no_radius_of_sigma,
     NO_EFFECT "choose gaussian, unsharp or log; box, disk and motion take a radius from sigma where radius is -1"},
    {"truncate", NULL, 0, has_no_use_of_truncate, NO_EFFECT "it makes a radius of sigma; set sigma, and radius to -1"},
    {"bias", NULL, 0, saturates,
     "saturates: whatever the picture, samples come out as 0 or at full scale; it is a fraction of full scale, 0.5 for "
     "mid-grey"},
    {"border-color", "border-mode", IN(CNV_BORDER_CONSTANT), NULL, NO_EFFECT "set border-mode=constant"},
    {"planes", "format", 0, has_none_of_planes,
     "names none that the frames have: nothing is filtered, and the whole picture stays in clear; choose luma and "
     "chroma for YUV, luma for grey, red, green and blue for RGB, or color"},
    {"planes", "format", 0, lacks_planes,
     "names planes that the frames do not have, and these names have no effect: choose luma and chroma for YUV, luma "
     "for grey, red, green and blue for RGB, or color"},
    {"chroma-mode chroma-radius chroma-sigma", "format", 0, has_no_chroma,
     NO_EFFECT "the frames have no chroma; convert them to YUV, or leave it at its default"},
    {"alpha-mode", "format", 0, has_no_alpha,
     NO_EFFECT "the frames have no alpha; convert them to a format with it, or set alpha-mode=copy"},
    {"temporal-radius temporal-sigma", NULL, 0, has_kernel_t,
     NO_EFFECT "kernel-t has the weights of frames; set kernel-t=\"<>\", or this to 0"},
    {"temporal-sigma", "temporal-radius", ~IN(0), NULL, NO_EFFECT "set temporal-radius"},
    {"temporal-mode temporal-border scene-change-threshold drain-on-changes", "temporal-radius", 0, is_over_one_frame,
     NO_EFFECT "set temporal-radius or kernel-t"},
    {"roi", "roi-source", ~IN(CNV_ROI_NONE), NULL,
     NO_EFFECT "the whole frame is filtered; set roi-source=property to filter the rectangles alone"},
    {"roi", "roi-source", ~IN(CNV_ROI_META), NULL,
     NO_EFFECT "the metas of a frame are its regions, and the rectangles stay in clear where no meta covers them (with "
               "roi-invert=true they are filtered); set roi-source=property"},
    {"roi-types", "roi-source", ~IN(CNV_ROI_NONE), NULL, NO_EFFECT "the whole frame is filtered; set roi-source=meta"},
    {"roi-types", "roi-source", ~IN(CNV_ROI_PROPERTY), NULL,
     NO_EFFECT "the rectangles of roi are the regions, whatever metas a frame has; set roi-source=meta"},
    {"roi-invert roi-expand roi-feather roi-strength roi-relative-size roi-isolated roi-target-x roi-target-y",
     "roi-source", ~IN(CNV_ROI_NONE), NULL, NO_EFFECT "the whole frame is filtered; set roi-source=property or meta"},
    {"roi-source", NULL, 0, hides_nothing,
     "finds no rectangle in the frame: nothing is filtered, and the whole frame stays in clear; set "
     "roi=\"<<x,y,width,height>>\" in pixels of the frame"},
    {"roi-source", NULL, 0, is_outside,
     "finds no rectangle in the frame: with roi-invert=true the whole frame is filtered; set "
     "roi=\"<<x,y,width,height>>\" in pixels of the frame"},
    {"roi-relative-size", "roi-strength", IN(CNV_ROI_RELATIVE), NULL, NO_EFFECT "set roi-strength=relative"},
    {"radius radius-x radius-y sigma sigma-x sigma-y truncate chroma-radius chroma-sigma", "roi-strength",
     IN(CNV_ROI_FIXED), has_regions,
     NO_EFFECT "radius and sigma follow each region's size; set roi-relative-size, or roi-strength=fixed"},
    {"sigma sigma-x sigma-y", NULL, 0, cuts_sigma,
     "is cut off by the radius: less than one sigma is left on each side, which weakens the filter; set radius, "
     "radius-x and radius-y to -1, which keeps truncate times sigma"},
    {"cuda-device-id frames-in-flight", "backend", ~IN(CNV_BACKEND_CPU), NULL, NO_EFFECT "set backend=auto or cuda"},
    {"n-threads", "backend", ~IN(CNV_BACKEND_CUDA), NULL, NO_EFFECT "set backend=auto or cpu"},
};

/* ---- messages ---- */

static GValue
value_of(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = G_VALUE_INIT;

  g_value_init(&value, spec->value_type);
  gst_cuda_convolve_property_get(settings, spec->param_id, &value);
  return value;
}

/* The value as it is written in a pipeline. */
static char *
describe(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = value_of(settings, spec);
  char *text =
      G_VALUE_HOLDS_DOUBLE(&value) ? g_strdup_printf("%g", g_value_get_double(&value)) : gst_value_serialize(&value);

  g_value_unset(&value);
  return text;
}

/* An enum, or a small number. */
static guint
bit_of(const GstCudaConvolveSettings *settings, GParamSpec *spec)
{
  GValue value = value_of(settings, spec);

  return IN(G_VALUE_HOLDS_ENUM(&value) ? g_value_get_enum(&value) : g_value_get_int(&value));
}

static void
warn(GstElement *element, const char *name, const char *beside, const char *value, const char *text)
{
  g_autofree char *with = beside ? g_strdup_printf(" with %s", beside) : g_strdup("");

  gst_cuda_convolve_post(element, GST_MESSAGE_WARNING,
                         g_error_new(CNV_ERROR, CNV_ERROR_SETTINGS, "%s%s=%s %s", name, with, value, text),
                         "checking the settings");
}

void
gst_cuda_convolve_warn_of_unused(GstElement *element, const GstCudaConvolveSettings *settings, const CnvImage *image,
                                 const CnvPlan *plan, GHashTable *told)
{
  GObjectClass *klass = G_OBJECT_GET_CLASS(element);

  for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
    g_auto(GStrv) names = NULL;
    GParamSpec *beside = rows[i].beside ? g_object_class_find_property(klass, rows[i].beside) : NULL;

    if ((rows[i].used && bit_of(settings, beside) & rows[i].used) ||
        (rows[i].is_unused && !rows[i].is_unused(settings, image, plan)))
      continue;
    names = g_strsplit(rows[i].properties, " ", -1);
    for (char **name = names; *name; name++) {
      GParamSpec *spec = g_object_class_find_property(klass, *name);
      g_autofree char *value = NULL;

      if (!gst_cuda_convolve_property_is_set(settings, spec->param_id) ||
          !g_hash_table_add(told, GSIZE_TO_POINTER(gst_cuda_convolve_property_slot(spec->param_id))))
        continue;
      value = rows[i].beside && !beside ? g_strdup(image->format->name) : describe(settings, beside ? beside : spec);
      warn(element, *name, rows[i].beside, value, rows[i].text);
    }
  }
}
