/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "mask.h"

#include <math.h>
#include <string.h>

gboolean
gst_cuda_convolve_mask_check_size(const char *what, guint64 width, guint64 height, GError **error)
{
  if (width >= 1 && height >= 1 && width <= CNV_SIZE_MAX && height <= CNV_SIZE_MAX &&
      width * height <= GST_CUDA_CONVOLVE_MASK_CELLS)
    return TRUE;
  return cnv_refuse(error,
                    "%s of %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " samples, and masks have 1 to %d columns and "
                    "rows and at most %d samples: scale it; as many as the frame has are enough",
                    what, width, height, CNV_SIZE_MAX, GST_CUDA_CONVOLVE_MASK_CELLS);
}

guint8 *
gst_cuda_convolve_mask_alloc(const char *name, guint width, guint height, GError **error)
{
  guint8 *weights = g_try_malloc((gsize)width * height);

  if (!weights)
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS, "%s: no memory for %ux%u samples: scale it", name, width, height);
  return weights;
}

/* ---- buffers ---- */

GstBuffer *
gst_cuda_convolve_mask_new(guint width, guint height, guint8 *weights)
{
  GstBuffer *buffer = gst_buffer_new_wrapped(weights, (gsize)width * height);
  gsize offset[GST_VIDEO_MAX_PLANES] = {0};
  int stride[GST_VIDEO_MAX_PLANES] = {(int)width};

  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, width, height, 1, offset,
                                 stride);
  return buffer;
}

guint
gst_cuda_convolve_mask_n_values(GstBuffer *buffer)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  if (!meta)
    return 0;
  return meta->format == GST_VIDEO_FORMAT_GRAY8                                                     ? 1 << 8
         : meta->format == GST_VIDEO_FORMAT_GRAY16_LE || meta->format == GST_VIDEO_FORMAT_GRAY16_BE ? 1 << 16
                                                                                                    : 0;
}

static void
read_row(const guint8 *from, guint8 *to, const GstVideoMeta *meta, const guint8 *weight_of)
{
  gboolean wide = meta->format != GST_VIDEO_FORMAT_GRAY8, big = meta->format == GST_VIDEO_FORMAT_GRAY16_BE;

  for (guint x = 0; x < meta->width; x++, from += wide ? 2 : 1) {
    guint value = wide ? (guint)(from[!big] << 8 | from[big]) : from[0];

    to[x] = weight_of ? weight_of[value] : (guint8)(wide ? value >> 8 : value);
  }
}

/* The meta is not trusted: GStreamer itself does not compare it with the memory. */
static gboolean
check_layout(const GstVideoMeta *meta, gsize size, GError **error)
{
  guint64 row = (guint64)meta->width * (meta->format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2);

  if (!gst_cuda_convolve_mask_check_size("a mask", meta->width, meta->height, error))
    return FALSE;
  if (meta->stride[0] >= 0 && (guint64)meta->stride[0] >= row && meta->offset[0] <= size &&
      (meta->height - 1) * (guint64)meta->stride[0] + row <= size - meta->offset[0])
    return TRUE;
  return cnv_refuse(error,
                    "a mask's buffer of %" G_GSIZE_FORMAT " bytes does not hold %ux%u samples at offset "
                    "%" G_GSIZE_FORMAT " and stride %d: correct its size or its GstVideoMeta",
                    size, meta->width, meta->height, meta->offset[0], meta->stride[0]);
}

guint8 *
gst_cuda_convolve_mask_read(GstBuffer *buffer, GBytes *weight_of, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);
  guint8 *weights = NULL;
  GstMapInfo map;

  if (gst_cuda_convolve_mask_n_values(buffer) == 0 || !gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "a mask's buffer has no GstVideoMeta of GRAY8 or GRAY16, or cannot be mapped: correct it");
    return NULL;
  }
  if (check_layout(meta, map.size, error)) {
    weights = gst_cuda_convolve_mask_alloc("a mask", meta->width, meta->height, error);
    for (guint y = 0; weights && y < meta->height; y++)
      read_row(map.data + meta->offset[0] + (gsize)y * (gsize)meta->stride[0], weights + (gsize)y * meta->width, meta,
               weight_of ? g_bytes_get_data(weight_of, NULL) : NULL);
  }
  gst_buffer_unmap(buffer, &map);
  return weights;
}

/* ---- growing ---- */

/* The cells of a mask with those that are added on each side. */
typedef struct {
  int columns, rows; /* of the mask */
  int left, top, right, bottom;
  int width, height;       /* of all */
  double pixel_x, pixel_y; /* luma pixels of a cell */
} Grid;

static int
cells_beyond(gboolean inside, double reach, double pixel)
{
  return inside && reach > 0 ? (int)MIN(ceil(reach / pixel), 2 * CNV_SIZE_MAX) : 0;
}

/* Nothing is added beyond the frame's edge. */
static Grid
grid_of(const GstCudaConvolveMask *mask)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta(mask->buffer);
  const CnvRect *rect = &mask->rect;
  double reach = mask->expand + mask->feather;
  Grid grid = {.columns = (int)meta->width, .rows = (int)meta->height};

  grid.pixel_x = (double)rect->width / grid.columns;
  grid.pixel_y = (double)rect->height / grid.rows;
  grid.left = cells_beyond(rect->x > 0, reach, grid.pixel_x);
  grid.right = cells_beyond(rect->x + rect->width < mask->frame_width, reach, grid.pixel_x);
  grid.top = cells_beyond(rect->y > 0, reach, grid.pixel_y);
  grid.bottom = cells_beyond(rect->y + rect->height < mask->frame_height, reach, grid.pixel_y);
  grid.width = grid.left + grid.columns + grid.right;
  grid.height = grid.top + grid.rows + grid.bottom;
  return grid;
}

/* The rectangle with the cells that are added. */
static CnvRect
larger_rect(const CnvRect *rect, const Grid *grid)
{
  int left = (int)round(grid->left * grid->pixel_x), right = (int)round(grid->right * grid->pixel_x);
  int top = (int)round(grid->top * grid->pixel_y), bottom = (int)round(grid->bottom * grid->pixel_y);

  return (CnvRect){rect->x - left, rect->y - top, left + rect->width + right, top + rect->height + bottom};
}

/* Each of n weights becomes at least its neighbours' less the step. */
static void
spread(float *weight, int n, float step)
{
  for (int i = 1; i < n; i++)
    weight[i] = MAX(weight[i], weight[i - 1] - step);
  for (int i = n - 2; i >= 0; i--)
    weight[i] = MAX(weight[i], weight[i + 1] - step);
}

static void
spread_rows(float *to, const float *from, int n, float step)
{
  for (int i = 0; i < n; i++)
    to[i] = MAX(to[i], from[i] - step);
}

/* Weights above 1 before they fall by a step a cell are what keeps them at 1 over `expand` pixels. */
static void
fill(float *plane, const GstCudaConvolveMask *mask, const Grid *grid, const guint8 *weight)
{
  double fall = 255 / (mask->feather + 1);
  float lift = (float)(1 + mask->expand / (mask->feather + 1));
  float step_x = (float)(fall * grid->pixel_x), step_y = (float)(fall * grid->pixel_y);
  gsize width = (gsize)grid->width;

  for (int y = 0; y < grid->rows; y++) {
    float *row = plane + (gsize)(grid->top + y) * width;

    for (int x = 0; x < grid->columns; x++)
      row[grid->left + x] = lift * *weight++;
    spread(row, grid->width, step_x);
  }
  for (gsize y = 1; y < (gsize)grid->height; y++)
    spread_rows(plane + y * width, plane + (y - 1) * width, grid->width, step_y);
  for (gsize y = (gsize)grid->height - 1; y-- > 0;)
    spread_rows(plane + y * width, plane + (y + 1) * width, grid->width, step_y);
}

/* Weights as bytes, to be freed; NULL where there is no memory. */
static guint8 *
grow(const GstCudaConvolveMask *mask, const Grid *grid, const guint8 *from)
{
  gsize n = (gsize)grid->width * (gsize)grid->height;
  g_autofree float *plane = g_try_malloc0(n * sizeof(float));
  guint8 *weights = plane ? g_try_malloc(n) : NULL;

  if (!weights)
    return NULL;
  fill(plane, mask, grid, from);
  for (gsize i = 0; i < n; i++)
    weights[i] = (guint8)(MIN(plane[i], 255) + 0.5f);
  return weights;
}

gboolean
gst_cuda_convolve_mask_place(GstCudaConvolveMask *mask, GError **error)
{
  g_autofree guint8 *read = gst_cuda_convolve_mask_read(mask->buffer, mask->weight_of, error), *grown = NULL;
  const guint8 *weights = read;
  CnvRegion *region = &mask->region;
  Grid grid;

  if (!read)
    return FALSE;
  grid = grid_of(mask);
  if (!gst_cuda_convolve_mask_check_size("a mask with its feather", (guint)grid.width, (guint)grid.height, error))
    return FALSE;
  if (mask->expand + mask->feather > 0)
    weights = grown = grow(mask, &grid, read);
  *region = (CnvRegion){.rect = larger_rect(&mask->rect, &grid), .shape = CNV_SHAPE_MASK};
  region->mask = weights ? cnv_mask_new(grid.width, grid.height, grid.width, weights) : NULL;
  return region->mask || cnv_refuse(error, "no memory for a mask of %dx%d samples: scale it", grid.width, grid.height);
}

/* ---- those that frames have ---- */

static void
clear(gpointer data)
{
  GstCudaConvolveMask *mask = data;

  gst_clear_buffer(&mask->buffer);
  g_clear_pointer(&mask->weight_of, g_bytes_unref);
  g_clear_pointer(&mask->region.mask, cnv_mask_unref);
}

GArray *
gst_cuda_convolve_masks_new(void)
{
  GArray *masks = g_array_new(FALSE, FALSE, sizeof(GstCudaConvolveMask));

  g_array_set_clear_func(masks, clear);
  return masks;
}

void
gst_cuda_convolve_masks_next(GArray *masks)
{
  for (guint i = masks->len; i-- > 0;)
    if (!g_array_index(masks, GstCudaConvolveMask, i).used)
      g_array_remove_index_fast(masks, i);
    else
      g_array_index(masks, GstCudaConvolveMask, i).used = FALSE;
}

static gboolean
is_same(const GstCudaConvolveMask *a, const GstCudaConvolveMask *b)
{
  return a->buffer == b->buffer && memcmp(&a->rect, &b->rect, sizeof(CnvRect)) == 0 &&
         a->frame_width == b->frame_width && a->frame_height == b->frame_height && a->expand == b->expand &&
         a->feather == b->feather && (a->weight_of == NULL) == (b->weight_of == NULL) &&
         (!a->weight_of || g_bytes_equal(a->weight_of, b->weight_of));
}

gboolean
gst_cuda_convolve_masks_get(GArray *masks, GstCudaConvolveMask *mask, GError **error)
{
  for (guint i = 0; i < masks->len; i++) {
    GstCudaConvolveMask *known = &g_array_index(masks, GstCudaConvolveMask, i);

    if (is_same(known, mask)) {
      known->used = TRUE;
      mask->region = known->region;
      return TRUE;
    }
  }
  if (!gst_cuda_convolve_mask_place(mask, error))
    return FALSE;
  mask->used = TRUE;
  gst_buffer_ref(mask->buffer);
  if (mask->weight_of)
    g_bytes_ref(mask->weight_of);
  g_array_append_val(masks, *mask);
  return TRUE;
}
