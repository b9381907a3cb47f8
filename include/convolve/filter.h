/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A filter as the user sets it: a plain value that can be copied and compared. The engine computes the taps from it.
 *
 * Taps lie on the image as written (correlation): tap 0 is leftmost or topmost. The anchor, which is the tap that lies
 * on the output sample, is tap (n-1)/2 by default.
 *
 * Angles are in degrees: 0 is to the right, 90 down.
 */
#pragma once

#include "border.h"
#include "format.h"
#include "status.h"

#define CNV_RADIUS_MAX 512 /* largest radius of generated and separable taps */
#define CNV_APERTURE_MAX 3 /* largest radius of filters with tabulated taps, for example sobel and laplacian */
#define CNV_DENSE_MAX 127  /* most rows and columns of a kernel that is not separable */
/* Largest sum of the taps' magnitudes; the smallest is 0 or 1 / CNV_TAPS_MAX. Times CNV_SCALE_MAX and a 16-bit sample,
 * this sum still fits in float32. */
#define CNV_TAPS_MAX 1e27
#define CNV_TRUNCATE_DEFAULT 3.0
#define CNV_AMOUNT_MAX 100.0
#define CNV_SCALE_MAX 1e6
#define CNV_BIAS_MAX 1e3

/* The numbers of CnvFilter that the engine checks for every filter: property, member, least and largest value. */
#define CNV_FILTER_NUMBERS(N)                                                                                          \
  N("scale", scale, -CNV_SCALE_MAX, CNV_SCALE_MAX)                                                                     \
  N("bias", bias, -CNV_BIAS_MAX, CNV_BIAS_MAX)                                                                         \
  N("amount", amount, 0, CNV_AMOUNT_MAX)                                                                               \
  N("angle", angle, -G_MAXDOUBLE, G_MAXDOUBLE)                                                                         \
  N("temporal-threshold", temporal_threshold, -1, 1)
#define CNV_MAX_RANK 4 /* most separable terms into which a dense kernel is factored */
#define CNV_TEMPORAL_RADIUS_MAX 15
#define CNV_MAX_TEMPORAL_TAPS 31 /* most taps in time */

/* An array of taps, frame by frame and row by row. It never changes after it is made, so threads may share references
 * to it. */
typedef struct {
  int width, height, depth; /* columns, rows and frames, each at least 1 */
  double value[];           /* depth * height * width taps */
} CnvTaps;

/* Returns new taps, to be freed with cnv_taps_unref. values: depth * height * width numbers, which are copied, or NULL
 * for zeros, which the caller may fill in before sharing the taps. */
CnvTaps *cnv_taps_new(int width, int height, const double *values);
CnvTaps *cnv_taps_new_volume(int width, int height, int depth, const double *values);
CnvTaps *cnv_taps_ref(CnvTaps *taps);
void cnv_taps_unref(CnvTaps *taps);                          /* NULL is allowed */
gboolean cnv_taps_equal(const CnvTaps *a, const CnvTaps *b); /* by value; NULL equals NULL */

/* Returns TRUE if all taps are finite and the sum of their magnitudes is within the limits of CNV_TAPS_MAX, or if taps
 * is NULL. Else returns FALSE with an error that begins with `what`. */
gboolean cnv_taps_check(const CnvTaps *taps, const char *what, GError **error);

/* The settings of a filter. */
typedef struct {
  CnvFilterType type; /* default gaussian */
  int radius;         /* samples, -1..CNV_RADIUS_MAX; -1 (default): ceil(truncate * sigma) if sigma is set, else
                         CnvFilterInfo.default_radius */
  int radius_axis[CNV_N_AXES]; /* samples; -1 (default): radius; 0: this axis is not filtered */
  double sigma; /* samples, 0..256; 0 (default): 0.3 * (radius - 1) + 0.8, as in OpenCV's getGaussianKernel */
  double sigma_axis[CNV_N_AXES]; /* samples; 0 (default): sigma */
  double truncate;               /* radius / sigma, if the radius is computed from sigma; 0.5..16, default 3 */
  double amount;                 /* strength of sharpen, unsharp and emboss: 0..CNV_AMOUNT_MAX, default 1 */
  double angle;                  /* direction of motion, emboss and the directional gradient, in degrees, default 0 */
  CnvGradient gradient;          /* default magnitude */
  int temporal_radius;           /* frames on each side, or before if causal: 0..15, default 0 */
  double temporal_sigma; /* frames; 0 (default): 0.3 * (temporal_radius - 1) + 0.8. The gaussian weights add up to 1 */
  CnvTaps *kernel_t;     /* taps in time instead of the gaussian weights, first frame first; or NULL */
  gboolean causal;       /* TRUE: the last tap in time lies on the output frame; FALSE: the middle one, (n-1)/2 */
  /* Difference at which a frame's weight at a sample is halved, as a fraction of full scale: plan.h has the formula. 0
   * (default): frames have the same weight at all samples; below 0: computed from the noise of each plane. */
  double temporal_threshold;
  CnvTaps *kernel;                  /* custom: a row, a 2D or a 3D array; or NULL */
  CnvTaps *kernel_axis[CNV_N_AXES]; /* custom, separable: taps along x, along y or both; NULL: none along this axis */
  int anchor[CNV_N_AXES];           /* custom: index of the tap on the output sample, 0..n-1; -1 (default): (n-1)/2 */
  gboolean flip;        /* custom: mirror all taps about the anchor, for a convolution in the mathematical sense; also
                           reverses kernel_t of any filter */
  gboolean normalize;   /* divide by the sum of the taps, unless it is 0; default TRUE */
  gboolean absolute;    /* apply scale and bias to |result|; for chroma, |result| is the distance from neutral */
  double scale;         /* the output is result * scale + bias * (2^depth - 1); default 1 */
  double bias;          /* fraction of full scale, default 0 */
  CnvBorder border;     /* default replicate */
  guint32 border_color; /* colour outside with CNV_BORDER_CONSTANT: 0xAARRGGBB in full-range RGB; default opaque
                           black */
  guint32 fill_color;   /* colour of CNV_FILTER_FILL: 0xAARRGGBB in full-range RGB; default opaque black */
  guint planes;         /* bits CNV_PLANES_LUMA and so on, default CNV_PLANES_COLOR */
  gboolean chroma_same; /* TRUE: subsampled planes have luma's taps; FALSE (default): taps that cover the same area */
  int chroma_radius;    /* chroma samples; -1 (default): follows luma. If only this is set, sigma follows from it */
  double chroma_sigma;  /* chroma samples; 0 (default): follows luma. If only this is set, the radius follows from it */
  CnvAlphaMode alpha_mode; /* default copy */
} CnvFilter;

/* Copies a filter, with references to its taps. to: uninitialised; clear it with cnv_filter_clear. */
void cnv_filter_copy(CnvFilter *to, const CnvFilter *from);

/* Drops the references to the taps. */
void cnv_filter_clear(CnvFilter *filter);

/* The taps for one plane; private to the engine. */
typedef struct CnvKernel CnvKernel;

/* A filter from which taps are generated. Every radius and sigma is set, so none is inherited or left to a default. It
 * borrows the settings and their taps. */
typedef struct {
  const CnvFilter *settings; /* source of all settings except radius, sigma and kernel */
  int radius[CNV_N_AXES];    /* luma samples, 0..CnvFilterInfo.max_radius; 0: the axis is not filtered */
  double sigma[CNV_N_AXES];  /* luma samples */
  const CnvTaps *kernel;     /* custom: the 2D array of taps, or one frame of a 3D array; or NULL */
} CnvResolvedFilter;

/* A filter type and how its taps are computed. */
typedef struct {
  CnvNick nick; /* value: CnvFilterType */
  /* Computes the terms for one plane. subsample: distance of the plane's samples along each axis, in luma samples (1, 2
   * or 4). A radius or sigma in luma samples is divided by it, so that a blur is as wide on chroma as on luma. Returns
   * FALSE with CNV_ERROR_SETTINGS if that is not possible. */
  gboolean (*generate)(const CnvResolvedFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel,
                       GError **error);
  const char *properties; /* properties that this filter uses but not every filter, separated by spaces: "amount angle";
                             NULL: none */
  int default_radius;     /* samples, if neither radius nor sigma is set */
  int max_radius;         /* samples, along either axis; 0: the filter has no radius */
  gboolean is_positive;   /* no tap is negative */
  gboolean is_gradient;   /* a gradient has no colour, so chroma becomes neutral */
  gboolean sums_to_0;     /* a derivative: the taps add up to 0 */
} CnvFilterInfo;

/* All filter types, in the order in which they are listed to users; ends with a NULL nick. */
extern const CnvFilterInfo cnv_filters[];

/* Returns the row of a filter type. */
const CnvFilterInfo *cnv_filter_info(CnvFilterType type);

/* Returns TRUE if the row of a filter type names the property. */
gboolean cnv_filter_uses(CnvFilterType type, const char *property);

/* Nicks of CnvBorder. */
extern const CnvNick cnv_border_nicks[];

/* Nicks of the other enums. The values of cnv_planes_nicks are bits: luma to blue, color, all. */
extern const CnvNick cnv_gradient_nicks[], cnv_planes_nicks[], cnv_chroma_mode_nicks[], cnv_alpha_mode_nicks[];

/* The bit in CnvFilter.planes for each CnvRole; 0 for padding. */
extern const guint cnv_role_planes[];

/* Returns TRUE if the filter is valid, else FALSE with CNV_ERROR_SETTINGS: taps that are missing, too many or too
 * large, or settings that contradict each other. cnv_plan_new may still reject its size or algorithm. */
gboolean cnv_filter_check(const CnvFilter *filter, GError **error);

/* Returns the number of input frames for one output frame: the number of taps in time, 1 if the filter has none, or 0
 * if they are not valid. */
int cnv_filter_frames(const CnvFilter *filter);

/* Return the radius and sigma in force along an axis, in luma samples. The radius may exceed CNV_RADIUS_MAX;
 * cnv_filter_check rejects such a filter. */
int cnv_filter_radius(const CnvFilter *filter, int axis);
double cnv_filter_sigma(const CnvFilter *filter, int axis);
