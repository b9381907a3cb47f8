/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values of the element's enum and flags properties, for programs that set them by number. Programs can also set them
 * by the nicks that gst-inspect-1.0 lists. Plain C, installed as <cudaconvolve/enums.h>.
 */
#pragma once

/* filter. The order groups them: up to motion, no tap is negative; sobel to prewitt are gradients; from sobel to log,
 * the taps add up to 0; mosaic and fill have cells of one colour instead of taps. */
typedef enum {
  CNV_FILTER_IDENTITY,
  CNV_FILTER_BOX,
  CNV_FILTER_GAUSSIAN,
  CNV_FILTER_DISK,
  CNV_FILTER_MOTION,
  CNV_FILTER_SHARPEN,
  CNV_FILTER_UNSHARP,
  CNV_FILTER_SOBEL,
  CNV_FILTER_SCHARR,
  CNV_FILTER_PREWITT,
  CNV_FILTER_LAPLACIAN,
  CNV_FILTER_LOG,
  CNV_FILTER_EMBOSS,
  CNV_FILTER_MOSAIC,
  CNV_FILTER_FILL,
  CNV_FILTER_CUSTOM,
} CnvFilterType;

/* gradient: the root of the sum of the squares of both derivatives, the derivative along x or y, or the derivative in
 * the direction of the property angle. */
typedef enum {
  CNV_GRADIENT_MAGNITUDE,
  CNV_GRADIENT_X,
  CNV_GRADIENT_Y,
  CNV_GRADIENT_DIRECTIONAL,
} CnvGradient;

/* border-mode, see border.h. */
typedef enum {
  CNV_BORDER_CONSTANT,
  CNV_BORDER_REPLICATE,
  CNV_BORDER_REFLECT,
  CNV_BORDER_REFLECT_101,
  CNV_BORDER_WRAP,
  CNV_BORDER_RENORMALIZE,
} CnvBorder;

/* planes: bits of the channels to filter; the others are copied. */
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

/* chroma-mode: the kernel covers the same area of the picture on subsampled planes as on luma, or has the same taps. In
 * the engine the boolean CnvFilter.chroma_same. */
enum { CNV_CHROMA_SCALED, CNV_CHROMA_SAME };

/* alpha-mode. copy: alpha is copied, unless CNV_PLANES_ALPHA is set. filter: alpha is filtered like the colours.
 * premultiply: alpha is filtered, and colours are weighted by alpha: sum(t*a*c) / sum(t*a) instead of
 * sum(t*c) / sum(t), with taps t, alpha a and colour c. If all samples are transparent (0/0), the colour is copied. */
typedef enum { CNV_ALPHA_COPY, CNV_ALPHA_FILTER, CNV_ALPHA_PREMULTIPLY } CnvAlphaMode;

/* temporal-mode: the output frame is the middle or the last of the input frames. In the engine the boolean
 * CnvFilter.causal. */
enum { CNV_TEMPORAL_CENTERED, CNV_TEMPORAL_CAUSAL };

/* temporal-border: substitutes for frames before the first and after the last. */
typedef enum { CNV_TEMPORAL_RENORMALIZE, CNV_TEMPORAL_REPLICATE, CNV_TEMPORAL_REFLECT } CnvTemporalBorder;

/* roi-shape: a region's rectangle, or the ellipse inscribed in it. CNV_SHAPE_MASK is not a value of the property: masks
 * come from metas, files and polygons. */
typedef enum { CNV_SHAPE_RECTANGLE, CNV_SHAPE_ELLIPSE, CNV_SHAPE_MASK } CnvShape;

/* roi-missing: what happens to a frame without regions. */
enum { CNV_ROI_MISSING_COPY, CNV_ROI_MISSING_FILTER };

/* roi-source: source of the regions. */
enum { CNV_ROI_NONE, CNV_ROI_PROPERTY, CNV_ROI_META };

/* roi-units: unit of roi and roi-polygons. */
enum { CNV_ROI_PIXELS, CNV_ROI_FRACTION };

/* roi-strength: radius and sigma are fixed, or relative to a region's size. */
enum { CNV_ROI_FIXED, CNV_ROI_RELATIVE };

/* backend. Every build lists auto and cuda. */
enum { CNV_BACKEND_AUTO, CNV_BACKEND_CUDA, CNV_BACKEND_CPU };

/* algorithm: auto picks the fastest that can do the work. */
typedef enum {
  CNV_ALGORITHM_AUTO,
  CNV_ALGORITHM_NAIVE,
  CNV_ALGORITHM_TILED,
  CNV_ALGORITHM_TEXTURE,
  CNV_ALGORITHM_SEPARABLE,
  CNV_ALGORITHM_FUSED,
  CNV_ALGORITHM_TENSOR,
  CNV_ALGORITHM_MOSAIC,
} CnvAlgorithm;
