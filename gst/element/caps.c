/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "element/caps.h"

#include "memory/devicememory.h"

#define DEVICE GST_CUDA_CONVOLVE_FEATURE_DEVICE
#define SYSTEM GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY
#define PIXEL_BYTES_MAX 8 /* 4 samples of 2 bytes */
#define GST_RELEASE (GST_VERSION_MAJOR * 100 + GST_VERSION_MINOR)

/* Returns one structure with all formats that GStreamer has in that kind of memory. */
static GstCaps *
caps_of_memory(gboolean device)
{
  g_autoptr(GArray) formats = g_array_new(FALSE, FALSE, sizeof(GstVideoFormat));
  GstCaps *caps;

  for (const CnvFormat *row = cnv_formats; row->name; row++) {
    GstVideoFormat format = gst_video_format_from_string(row->name);

    if (format != GST_VIDEO_FORMAT_UNKNOWN && (!device || (row->device_since > 0 && row->device_since <= GST_RELEASE)))
      g_array_append_val(formats, format);
  }
  caps = gst_video_make_raw_caps_with_features((const GstVideoFormat *)formats->data, formats->len,
                                               device ? gst_caps_features_new(DEVICE, NULL) : NULL);
  gst_caps_set_simple(caps, "width", GST_TYPE_INT_RANGE, 1, CNV_SIZE_MAX, "height", GST_TYPE_INT_RANGE, 1, CNV_SIZE_MAX,
                      NULL);
  return caps;
}

GstCaps *
gst_cuda_convolve_caps_template(gboolean with_device)
{
  GstCaps *caps = with_device ? caps_of_memory(TRUE) : gst_caps_new_empty();

  gst_caps_append(caps, caps_of_memory(FALSE));
  return caps;
}

/* Appends to `to` the structures of `caps` in from_memory, changed to to_memory. Takes ownership of `to`, and returns
 * it. */
static GstCaps *
merge_as(GstCaps *to, const GstCaps *caps, const char *from_memory, const char *to_memory)
{
  GstCapsFeatures *wanted = gst_caps_features_new(from_memory, NULL);

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    GstCapsFeatures *features = gst_caps_get_features(caps, i);

    if (gst_caps_features_is_any(features) || gst_caps_features_is_equal(features, wanted))
      to = gst_caps_merge_structure_full(to, gst_structure_copy(gst_caps_get_structure(caps, i)),
                                         gst_caps_features_new(to_memory, NULL));
  }
  gst_caps_features_free(wanted);
  return to;
}

GstCaps *
gst_cuda_convolve_caps_transform(const GstCaps *caps, gboolean from_device, gboolean to_device)
{
  GstCaps *result = gst_caps_new_empty();

  if (to_device)
    result = merge_as(result, caps, DEVICE, DEVICE);
  result = merge_as(result, caps, SYSTEM, SYSTEM);
  if (from_device)
    result = merge_as(result, caps, DEVICE, SYSTEM);
  if (to_device)
    result = merge_as(result, caps, SYSTEM, DEVICE);
  return result;
}

gboolean
gst_cuda_convolve_caps_in_device(const GstCaps *caps, guint i)
{
  const GstCapsFeatures *features = gst_caps_get_features(caps, i);

  return features && gst_caps_features_contains(features, DEVICE);
}

/* Rejects frames of 4 GiB and more: pools count sizes in 32 bits, and GStreamer fails above that. */
static gboolean
read_info(const GstCaps *caps, GstVideoInfo *info, GError **error)
{
  const GstStructure *structure = gst_caps_get_structure(caps, 0);
  int width = 0, height = 0;

  if (gst_video_info_from_caps(info, caps) && GST_VIDEO_INFO_SIZE(info) <= G_MAXUINT)
    return TRUE;
  gst_structure_get(structure, "width", G_TYPE_INT, &width, "height", G_TYPE_INT, &height, NULL);
  if (width > 0 && (guint64)width * MAX(height, 0) >= G_MAXUINT / PIXEL_BYTES_MAX)
    g_set_error(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                "A frame of %dx%d %s takes 4 GiB or more, too much for a buffer: scale or crop it first", width, height,
                gst_structure_get_string(structure, "format"));
  else
    g_set_error_literal(error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                        "The caps are not video caps: correct the caps filter upstream");
  return FALSE;
}

static void
make_image(CnvImage *image, const GstVideoInfo *info)
{
  image->format = cnv_format_find(gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(info)));
  image->width = GST_VIDEO_INFO_WIDTH(info);
  image->height = GST_VIDEO_INFO_HEIGHT(info);
  image->full_range = info->colorimetry.range == GST_VIDEO_COLOR_RANGE_0_255;
  if (!gst_video_color_matrix_get_Kr_Kb(info->colorimetry.matrix, &image->kr, &image->kb)) {
    /* RGB needs no matrix. For the rest BT.601 is the default. */
    image->kr = 0.299;
    image->kb = 0.114;
  }
}

gboolean
gst_cuda_convolve_caps_read(GstCudaConvolveCaps *caps, const GstCaps *incaps, const GstCaps *outcaps, GError **error)
{
  if (!read_info(incaps, &caps->in_info, error) || !read_info(outcaps, &caps->out_info, error))
    return FALSE;
  if (GST_VIDEO_INFO_INTERLACE_MODE(&caps->in_info) == GST_VIDEO_INTERLACE_MODE_FIELDS) {
    g_set_error_literal(
        error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
        "interlace-mode=fields, with each field in a view of its own, is not supported, only progressive, "
        "interleaved and mixed: put interlace or deinterlace before this element");
    return FALSE;
  }
  make_image(&caps->image, &caps->in_info);
  caps->out_in_device = gst_cuda_convolve_caps_in_device(outcaps, 0);
  caps->same_memory = gst_cuda_convolve_caps_in_device(incaps, 0) == caps->out_in_device;
  return TRUE;
}
