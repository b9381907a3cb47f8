/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values of the element's enum and flags properties, for programs that set them by number. Programs can also set them
 * by the nicks that gst-inspect-1.0 lists. Plain C, installed as <cudaconvolve/enums.h>.
 *
 * Values never change, so that programs need not be rebuilt. A new one is the next free number.
 */
#pragma once

/* filter */
typedef enum {
  CNV_FILTER_IDENTITY = 0,
  CNV_FILTER_BOX = 1,
  CNV_FILTER_GAUSSIAN = 2,
  CNV_FILTER_DISK = 3,
  CNV_FILTER_MOTION = 4,
  CNV_FILTER_SHARPEN = 5,
  CNV_FILTER_UNSHARP = 6,
  CNV_FILTER_SOBEL = 7,
  CNV_FILTER_SCHARR = 8,
  CNV_FILTER_PREWITT = 9,
  CNV_FILTER_LAPLACIAN = 10,
  CNV_FILTER_LOG = 11,
  CNV_FILTER_EMBOSS = 12,
  CNV_FILTER_MOSAIC = 13,
  CNV_FILTER_FILL = 14,
  CNV_FILTER_CUSTOM = 15,
} CnvFilterType;

/* gradient: the root of the sum of the squares of both derivatives, the derivative along x or y, or the derivative in
 * the direction of the property angle. */
typedef enum {
  CNV_GRADIENT_MAGNITUDE = 0,
  CNV_GRADIENT_X = 1,
  CNV_GRADIENT_Y = 2,
  CNV_GRADIENT_DIRECTIONAL = 3,
} CnvGradient;

/* border-mode, see border.h. */
typedef enum {
  CNV_BORDER_CONSTANT = 0,
  CNV_BORDER_REPLICATE = 1,
  CNV_BORDER_REFLECT = 2,
  CNV_BORDER_REFLECT_101 = 3,
  CNV_BORDER_WRAP = 4,
  CNV_BORDER_RENORMALIZE = 5,
} CnvBorder;

/* planes: bits of the channels to filter; all other channels are copied. */
enum {
  CNV_PLANES_LUMA = 1 << 0,
  CNV_PLANES_CHROMA = 1 << 1,
  CNV_PLANES_ALPHA = 1 << 2,
  CNV_PLANES_RED = 1 << 3,
  CNV_PLANES_GREEN = 1 << 4,
  CNV_PLANES_BLUE = 1 << 5,
  CNV_PLANES_COLOR = 0x3b,
  CNV_PLANES_ALL = 0x3f,
};

/* chroma-mode: the kernel covers the same area of the picture on subsampled planes as on luma, or has the same taps.
 * The engine uses the boolean CnvFilter.chroma_same instead. */
enum { CNV_CHROMA_SCALED = 0, CNV_CHROMA_SAME = 1 };

/* alpha-mode. copy: alpha is copied, unless CNV_PLANES_ALPHA is set. filter: alpha is filtered like the colours.
 * premultiply: alpha is filtered, and colours are weighted by alpha: sum(t*a*c) / sum(t*a) instead of
 * sum(t*c) / sum(t), with taps t, alpha a and colour c. If all samples are transparent (0/0), the colour is copied. */
typedef enum { CNV_ALPHA_COPY = 0, CNV_ALPHA_FILTER = 1, CNV_ALPHA_PREMULTIPLY = 2 } CnvAlphaMode;

/* temporal-mode: the output frame is the middle or the last of the input frames. The engine uses the boolean
 * CnvFilter.causal instead. */
enum { CNV_TEMPORAL_CENTERED = 0, CNV_TEMPORAL_CAUSAL = 1 };

/* temporal-border: substitutes for frames before the first and after the last. */
typedef enum { CNV_TEMPORAL_RENORMALIZE = 0, CNV_TEMPORAL_REPLICATE = 1, CNV_TEMPORAL_REFLECT = 2 } CnvTemporalBorder;

/* roi-shape: a region's rectangle, or the ellipse inscribed in it. CNV_SHAPE_MASK is not a value of the property: masks
 * come from metas, files and polygons. */
typedef enum { CNV_SHAPE_RECTANGLE = 0, CNV_SHAPE_ELLIPSE = 1, CNV_SHAPE_MASK = 2 } CnvShape;

/* roi-missing: what happens to a frame without regions. */
enum { CNV_ROI_MISSING_COPY = 0, CNV_ROI_MISSING_FILTER = 1 };

/* roi-source: source of the regions. */
enum { CNV_ROI_NONE = 0, CNV_ROI_PROPERTY = 1, CNV_ROI_META = 2 };

/* roi-units: unit of roi and roi-polygons. */
enum { CNV_ROI_PIXELS = 0, CNV_ROI_FRACTION = 1 };

/* roi-strength: radius and sigma are fixed, or relative to a region's size. */
enum { CNV_ROI_FIXED = 0, CNV_ROI_RELATIVE = 1 };

/* backend. Every build lists auto and cuda. */
enum { CNV_BACKEND_AUTO = 0, CNV_BACKEND_CUDA = 1, CNV_BACKEND_CPU = 2 };

/* algorithm: auto picks the fastest that can do the work. */
typedef enum {
  CNV_ALGORITHM_AUTO = 0,
  CNV_ALGORITHM_NAIVE = 1,
  CNV_ALGORITHM_TILED = 2,
  CNV_ALGORITHM_TEXTURE = 3,
  CNV_ALGORITHM_SEPARABLE = 4,
  CNV_ALGORITHM_FUSED = 5,
  CNV_ALGORITHM_TENSOR = 6,
  CNV_ALGORITHM_MOSAIC = 7,
} CnvAlgorithm;
