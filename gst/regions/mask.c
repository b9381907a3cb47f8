/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "regions/mask.h"

#include <math.h>
#include <string.h>

#include "regions/polygon.h"

gboolean
gst_cuda_convolve_mask_check_size(const char *what, guint64 width, guint64 height, GError **error)
{
  if (width >= 1 && height >= 1 && width <= CNV_SIZE_MAX && height <= CNV_SIZE_MAX &&
      width * height <= GST_CUDA_CONVOLVE_MASK_CELLS)
    return TRUE;
  return cnv_refuse(error,
                    "%s of %" G_GUINT64_FORMAT "x%" G_GUINT64_FORMAT " samples, and masks have 1 to %d columns and "
                    "rows and at most %d samples: scale it to the size of the frame, which is enough",
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

/* Returns FALSE with an error if a buffer is not a mask. Does not check its memory; see check_layout. */
static gboolean
check_meta(GstBuffer *buffer, GError **error)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta(buffer);

  if (gst_cuda_convolve_mask_n_values(buffer) == 0)
    return cnv_refuse(error, "a mask's buffer has no GstVideoMeta of GRAY8 or GRAY16: attach one");
  return gst_cuda_convolve_mask_check_size("a mask", meta->width, meta->height, error);
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

/* Checks that the buffer's memory holds what the meta says. GStreamer itself does not. */
static gboolean
check_layout(const GstVideoMeta *meta, gsize size, GError **error)
{
  guint64 row = (guint64)meta->width * (meta->format == GST_VIDEO_FORMAT_GRAY8 ? 1 : 2);

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

  if (!check_meta(buffer, error))
    return NULL;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) {
    g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
                "a mask's buffer cannot be mapped for reading: use readable memory");
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

/* The size of a mask before it grows, in cells. */
typedef struct {
  guint width, height;
} CellSize;

/* The cells of a mask, and the cells that are added on each side. */
typedef struct {
  int columns, rows; /* of the mask, reduced to one per pixel if it grows and is much finer */
  int left, top, right, bottom;
  int width, height;       /* with the added cells */
  double pixel_x, pixel_y; /* luma pixels per cell */
} Grid;

static gboolean
grows(const GstCudaConvolveMask *mask)
{
  return mask->expand + mask->feather > 0;
}

/* Returns the number of cells along an axis, reduced if there are two or more per pixel. The weight at the centre of a
 * pixel is interpolated between the two nearest cells. With two or more per pixel, both belong to that pixel, so one
 * cell gives the same weight. */
static int
reduced(guint cells, int pixels)
{
  return (int)cells / 2 >= pixels ? pixels : (int)cells;
}

/* Returns the number of cells to add on a side that is `distance` pixels from the frame's edge. One of them is
 * beyond the edge, for interpolation. */
static int
cells_beyond(int distance, double reach, double pixel)
{
  return distance > 0 ? (int)MIN(ceil(reach / pixel), ceil(distance / pixel) + 1) : 0;
}

static CellSize
size_of(const GstCudaConvolveMask *mask)
{
  const GstVideoMeta *meta = mask->polygon ? NULL : gst_buffer_get_video_meta(mask->buffer);

  return meta ? (CellSize){meta->width, meta->height} : (CellSize){(guint)mask->rect.width, (guint)mask->rect.height};
}

static Grid
grid_of(const GstCudaConvolveMask *mask)
{
  const CellSize size = size_of(mask);
  const CnvRect *rect = &mask->rect;
  double reach = mask->expand + mask->feather;
  Grid grid = {.columns = (int)size.width, .rows = (int)size.height};

  if (grows(mask)) {
    grid.columns = reduced(size.width, rect->width);
    grid.rows = reduced(size.height, rect->height);
  }
  grid.pixel_x = (double)rect->width / grid.columns;
  grid.pixel_y = (double)rect->height / grid.rows;
  grid.left = cells_beyond(rect->x, reach, grid.pixel_x);
  grid.right = cells_beyond(mask->frame_width - rect->x - rect->width, reach, grid.pixel_x);
  grid.top = cells_beyond(rect->y, reach, grid.pixel_y);
  grid.bottom = cells_beyond(mask->frame_height - rect->y - rect->height, reach, grid.pixel_y);
  grid.width = grid.left + grid.columns + grid.right;
  grid.height = grid.top + grid.rows + grid.bottom;
  return grid;
}

/* Returns the rectangle with the added cells. */
static CnvRect
larger_rect(const CnvRect *rect, const Grid *grid)
{
  int left = (int)round(grid->left * grid->pixel_x), right = (int)round(grid->right * grid->pixel_x);
  int top = (int)round(grid->top * grid->pixel_y), bottom = (int)round(grid->bottom * grid->pixel_y);

  return (CnvRect){rect->x - left, rect->y - top, left + rect->width + right, top + rect->height + bottom};
}

/* Raises each of n weights to at least its neighbours' weights minus the step. */
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

/* Returns the largest weight of a block of cells, or with `least` the smallest. */
static guint8
weight_of_block(const guint8 *weights, gsize stride, const guint x[2], const guint y[2], gboolean least)
{
  guint8 weight = weights[y[0] * stride + x[0]];

  for (gsize row = y[0]; row < y[1]; row++)
    for (gsize column = x[0]; column < x[1]; column++) {
      guint8 next = weights[row * stride + column];

      weight = least ? MIN(weight, next) : MAX(weight, next);
    }
  return weight;
}

static guint
first_of(int block, guint cells, int blocks)
{
  return (guint)(((guint64)block * cells + (guint)blocks - 1) / (guint)blocks);
}

/* Reduces weights in place to the grid's columns and rows. A block is read before it is overwritten. */
static void
reduce(guint8 *weights, const GstCudaConvolveMask *mask, const Grid *grid)
{
  const CellSize size = size_of(mask);

  if (grid->columns == (int)size.width && grid->rows == (int)size.height)
    return;
  for (int row = 0; row < grid->rows; row++) {
    guint y[] = {first_of(row, size.height, grid->rows), first_of(row + 1, size.height, grid->rows)};

    for (int column = 0; column < grid->columns; column++) {
      guint x[] = {first_of(column, size.width, grid->columns), first_of(column + 1, size.width, grid->columns)};

      weights[(gsize)row * (gsize)grid->columns + (gsize)column] =
          weight_of_block(weights, size.width, x, y, mask->invert);
    }
  }
}

/* Writes the weights, and spreads them over the added cells. Weights are lifted above 1, so that after falling by a
 * step per cell they are still 1 at `expand` pixels. */
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

/* Returns the grown weights as bytes, to be freed; NULL if there is no memory. */
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

/* Computes the grid of a mask. Returns FALSE with an error if its buffer is not a mask, or if it is too large with the
 * added cells. */
static gboolean
make_grid(const GstCudaConvolveMask *mask, Grid *grid, GError **error)
{
  if (!mask->polygon && !check_meta(mask->buffer, error))
    return FALSE;
  *grid = grid_of(mask);
  return gst_cuda_convolve_mask_check_size("a mask with its roi-feather and roi-expand", (guint)grid->width,
                                           (guint)grid->height, error);
}

static guint8 *
draw(const GstCudaConvolveMask *mask, GError **error)
{
  const CellSize size = size_of(mask);
  guint8 *weights = gst_cuda_convolve_mask_alloc("a polygon or a rotated box", size.width, size.height, error);
  gboolean shows;

  if (!weights || gst_cuda_convolve_polygon_draw(mask->polygon, &mask->rect, weights, &shows))
    return weights;
  g_free(weights);
  g_set_error(error, CNV_ERROR, CNV_ERROR_SETTINGS,
              "no memory to draw a polygon or a rotated box of %ux%u pixels: make it smaller", size.width, size.height);
  return NULL;
}

static gboolean
make_region(GstCudaConvolveMask *mask, const Grid *grid, GError **error)
{
  g_autofree guint8 *read =
      mask->polygon ? draw(mask, error) : gst_cuda_convolve_mask_read(mask->buffer, mask->weight_of, error);
  g_autofree guint8 *grown = NULL;
  const guint8 *weights = read;
  CnvRegion *region = &mask->region;

  if (!read)
    return FALSE;
  if (grows(mask)) {
    reduce(read, mask, grid);
    weights = grown = grow(mask, grid, read);
  }
  *region = (CnvRegion){.rect = larger_rect(&mask->rect, grid), .shape = CNV_SHAPE_MASK};
  region->mask = weights ? cnv_mask_new(grid->width, grid->height, grid->width, weights) : NULL;
  return region->mask ||
         cnv_refuse(error, "no memory for a mask of %dx%d samples: scale it", grid->width, grid->height);
}

gboolean
gst_cuda_convolve_mask_place(GstCudaConvolveMask *mask, GError **error)
{
  Grid grid;

  return make_grid(mask, &grid, error) && make_region(mask, &grid, error);
}

/* ---- the list of masks ---- */

static void
clear(gpointer data)
{
  GstCudaConvolveMask *mask = data;

  gst_clear_buffer(&mask->buffer);
  g_clear_pointer(&mask->polygon, g_array_unref);
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
same_polygon(const GArray *a, const GArray *b)
{
  return (a == NULL) == (b == NULL) &&
         (!a || (a->len == b->len && memcmp(a->data, b->data, a->len * sizeof(double)) == 0));
}

static gboolean
is_same(const GstCudaConvolveMask *a, const GstCudaConvolveMask *b)
{
  return a->buffer == b->buffer && memcmp(&a->rect, &b->rect, sizeof(CnvRect)) == 0 &&
         a->frame_width == b->frame_width && a->frame_height == b->frame_height && a->expand == b->expand &&
         a->feather == b->feather && a->invert == b->invert && (a->weight_of == NULL) == (b->weight_of == NULL) &&
         (!a->weight_of || g_bytes_equal(a->weight_of, b->weight_of)) && same_polygon(a->polygon, b->polygon);
}

/* Adds the samples of a mask to the count of the frame: before or after it grows, whichever is more, because both cost
 * memory and time. */
static gboolean
count(GstCudaConvolveMask *mask, const Grid *grid, guint64 *n_cells, GError **error)
{
  const CellSize size = size_of(mask);
  guint64 n = MAX((guint64)size.width * size.height, (guint64)grid->width * (guint64)grid->height);

  if (*n_cells + n > GST_CUDA_CONVOLVE_MASK_CELLS)
    return cnv_refuse(
        error,
        "the masks of a frame have %" G_GUINT64_FORMAT " samples or more with roi-feather and roi-expand, "
        "and the limit is %d: scale them, or lower roi-feather and roi-expand; a polygon or a rotated box "
        "has one sample for each pixel of the rectangle around it",
        *n_cells + n, GST_CUDA_CONVOLVE_MASK_CELLS);
  *n_cells += n;
  return TRUE;
}

gboolean
gst_cuda_convolve_masks_get(GArray *masks, GstCudaConvolveMask *mask, guint64 *n_cells, GError **error)
{
  Grid grid;

  if (!make_grid(mask, &grid, error) || !count(mask, &grid, n_cells, error))
    return FALSE;
  for (guint i = 0; i < masks->len; i++) {
    GstCudaConvolveMask *known = &g_array_index(masks, GstCudaConvolveMask, i);

    if (is_same(known, mask)) {
      known->used = TRUE;
      mask->region = known->region;
      return TRUE;
    }
  }
  if (!make_region(mask, &grid, error))
    return FALSE;
  mask->used = TRUE;
  if (mask->buffer)
    gst_buffer_ref(mask->buffer);
  if (mask->polygon)
    g_array_ref(mask->polygon);
  if (mask->weight_of)
    g_bytes_ref(mask->weight_of);
  g_array_append_val(masks, *mask);
  return TRUE;
}
