/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Values of the element's enum and flags properties, for programs that set them by number. The nicks of
 * gst-inspect-1.0 are the other way. Installed as <cudaconvolve/enums.h>, and plain C.
 */
#pragma once

/* filter. In groups: no tap is negative up to motion; sobel to prewitt are gradients; from sobel to log taps add up to
 * 0; mosaic and fill have cells of one colour in place of taps. */
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

/* gradient: the root of the sum of squares of both derivatives, one of them, or the derivative in the direction of the
 * angle. */
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

/* planes: bits of the channels that are filtered; the others are copied. */
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

/* chroma-mode, a boolean in the engine: CnvFilter.chroma_same. */
enum { CNV_CHROMA_SCALED, CNV_CHROMA_SAME };

/* alpha-mode. copy: alpha is left as it is, unless CNV_PLANES_ALPHA is set. filter: it is filtered like the colours.
 * premultiply: it is filtered, and colours are means weighted by alpha: sum(t*a*c) / sum(t*a) in place of
 * sum(t*c) / sum(t); where that is 0/0, because all is transparent, the colour is left as it is. */
typedef enum { CNV_ALPHA_COPY, CNV_ALPHA_FILTER, CNV_ALPHA_PREMULTIPLY } CnvAlphaMode;

/* temporal-mode, a boolean in the engine: CnvFilter.causal. */
enum { CNV_TEMPORAL_CENTERED, CNV_TEMPORAL_CAUSAL };

/* temporal-border: substitutes for frames before the first and after the last. */
typedef enum { CNV_TEMPORAL_RENORMALIZE, CNV_TEMPORAL_REPLICATE, CNV_TEMPORAL_REFLECT } CnvTemporalBorder;

/* roi-shape: a region's rectangle, or the ellipse inscribed in it. A mask, which is no value of the property, comes
 * with metas and files. */
typedef enum { CNV_SHAPE_RECTANGLE, CNV_SHAPE_ELLIPSE, CNV_SHAPE_MASK } CnvShape;

/* roi-missing: what a frame without regions gets. */
enum { CNV_ROI_MISSING_COPY, CNV_ROI_MISSING_FILTER };

/* roi-source, roi-units and roi-strength. */
enum { CNV_ROI_NONE, CNV_ROI_PROPERTY, CNV_ROI_META };
enum { CNV_ROI_PIXELS, CNV_ROI_FRACTION };
enum { CNV_ROI_FIXED, CNV_ROI_RELATIVE };

/* backend: the values of every build, and what builds can have besides. */
enum { CNV_BACKEND_AUTO, CNV_BACKEND_CUDA, CNV_BACKEND_CPU };

/* algorithm */
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
