/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A filter as the user asks for it: a plain value that is set, copied and compared, and from it the taps.
 *
 * Taps lie on the image as written (correlation): tap 0 is the leftmost or
 * topmost. The tap on the output sample, the anchor, is number (n-1)/2 unless something else is said.
 *
 * Angles are in degrees, 0 to the right, 90 down.
 */
#pragma once

#include "border.h"
#include "format.h"
#include "status.h"

#define CNV_RADIUS_MAX 512 /* of generated and separable taps */
#define CNV_APERTURE_MAX 3 /* of filters whose taps are given for a few sizes: sobel, laplacian and the like */
#define CNV_DENSE_MAX 127  /* rows and columns of a kernel that is not separable */
#define CNV_TAPS_MAX                                                                                                   \
  1e27 /* sum of the taps' magnitudes; the least is the inverse of it, or 0: float32 goes little farther */
#define CNV_TRUNCATE_DEFAULT 3.0
#define CNV_AMOUNT_MAX 100.0
#define CNV_MAX_RANK 4 /* rows times columns that a dense kernel is taken apart into */
#define CNV_TEMPORAL_RADIUS_MAX 15
#define CNV_MAX_TEMPORAL_TAPS 31 /* taps in time */

/* An array of taps, frame by frame, row by row. Immutable once made, shared by reference, safe to share between
 * threads.
 */
typedef struct {
  int width, height, depth; /* at least 1; depth: frames */
  double value[];           /* depth * height * width */
} CnvTaps;

/* values: height * width numbers, copied; NULL for zeros, to be filled by the maker before it is shared. */
CnvTaps *cnv_taps_new(int width, int height, const double *values);
CnvTaps *cnv_taps_new_volume(int width, int height, int depth, const double *values); /* the same of several frames */
CnvTaps *cnv_taps_ref(CnvTaps *taps);
void cnv_taps_unref(CnvTaps *taps);                          /* NULL is allowed */
gboolean cnv_taps_equal(const CnvTaps *a, const CnvTaps *b); /* by value; NULL equals NULL */
/* FALSE, and an error that begins with `what`, where a tap is not finite or their sum is beyond CNV_TAPS_MAX. NULL has
 * none. */
gboolean cnv_taps_check(const CnvTaps *taps, const char *what, GError **error);

typedef struct {
  CnvFilterType type;          /* gaussian */
  int radius;                  /* samples, -1..CNV_RADIUS_MAX; -1 auto: ceil(truncate * sigma) if sigma is set, else
                                  CnvFilterInfo.default_radius */
  int radius_axis[CNV_N_AXES]; /* -1 inherits radius; 0 leaves that axis alone */
  double sigma; /* samples, 0..256; 0 auto: 0.3 * (radius - 1) + 0.8, OpenCV's rule (getGaussianKernel) */
  double sigma_axis[CNV_N_AXES]; /* 0 inherits sigma */
  double truncate;               /* sigmas kept where the radius is auto, default 3 */
  double amount;                 /* of sharpen, unsharp, emboss: 0..CNV_AMOUNT_MAX, default 1 */
  double angle;                  /* of motion, emboss and the directional gradient, degrees, default 0 */
  CnvGradient gradient;          /* default magnitude */
  int temporal_radius;           /* frames on each side, or before where causal, 0..15, default 0 */
  double temporal_sigma; /* frames, 0 auto: 0.3 * (temporal_radius - 1) + 0.8: weights of a gaussian that add up to 1 */
  CnvTaps *kernel_t;     /* taps in time, first frame first, in place of the gaussian; or NULL */
  gboolean causal;       /* the last tap in time lies on the output frame; else the middle one, (n-1)/2 */
  CnvTaps *kernel;       /* custom: a row, a 2D or a 3D array, or NULL */
  CnvTaps *kernel_axis[CNV_N_AXES]; /* custom, separable: taps along x and y, each or both; or NULL */
  int anchor[CNV_N_AXES];           /* custom: number of the tap on the output sample, 0..n-1; -1: (n-1)/2 */
  gboolean flip;           /* custom: mathematical convolution: all taps mirrored about the anchor; kernel_t of any
                              filter too, turned round */
  gboolean normalize;      /* divide by the sum of taps where that is not 0; default TRUE */
  gboolean absolute;       /* |result| before scale and bias; chroma's is its distance from neutral */
  double scale;            /* result * scale + bias * full scale, full scale being 2^depth - 1; default 1 */
  double bias;             /* default 0 */
  CnvBorder border;        /* default replicate */
  guint32 border_color;    /* 0xAARRGGBB for CNV_BORDER_CONSTANT, full-range RGB; default opaque black */
  guint32 fill_color;      /* of filter=fill, likewise */
  guint planes;            /* CNV_PLANES_LUMA and so on, default CNV_PLANES_COLOR */
  gboolean chroma_same;    /* subsampled planes have luma's taps; else taps as wide on the picture, the default */
  int chroma_radius;       /* chroma samples, -1 follows luma; else it, with sigma auto, is chroma's radius */
  double chroma_sigma;     /* chroma samples, 0 follows luma; else chroma's, with the radius auto unless set */
  CnvAlphaMode alpha_mode; /* default copy */
} CnvFilter;

/* to: uninitialised, and to be cleared with cnv_filter_clear. */
void cnv_filter_copy(CnvFilter *to, const CnvFilter *from);
void cnv_filter_clear(CnvFilter *filter);

/* The taps for one plane, private to the engine. */
typedef struct CnvKernel CnvKernel;

/* A row of the filter table: one filter and how its taps are made. */
typedef struct {
  CnvNick nick; /* value: CnvFilterType */
  /* From a filter with the radius and sigma of each axis makes the terms for a plane whose samples are subsample[axis]
   * (1, 2 or 4) luma samples apart; a radius or sigma in luma samples is divided by it, so that a blur is as wide on
   * chroma as on luma. Returns FALSE with CNV_ERROR_SETTINGS. */
  gboolean (*generate)(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error);
  int default_radius; /* where neither radius nor sigma is set */
  int max_radius;     /* along either axis; 0: the filter has no radius */
  gboolean gradient;  /* chroma becomes neutral, for a gradient has no colour */
} CnvFilterInfo;

/* In the order of CnvFilterType; ends with a NULL nick. */
extern const CnvFilterInfo cnv_filters[];

/* All of CnvBorder in its order, for properties. */
extern const CnvNick cnv_border_nicks[];

/* All of the other enums in their order, and the planes with their bits as values: luma to blue, color, all. */
extern const CnvNick cnv_gradient_nicks[], cnv_planes_nicks[], cnv_chroma_mode_nicks[], cnv_alpha_mode_nicks[];

/* The bit of CnvFilter.planes of each CnvRole; 0 for padding. */
extern const guint cnv_role_planes[];

/* FALSE with CNV_ERROR_SETTINGS where the filter cannot be: taps that are missing, too many or too large, settings that
 * contradict each other. A plan may still be refused for its size or algorithm. */
gboolean cnv_filter_check(const CnvFilter *filter, GError **error);

/* Number of input frames of one output frame: taps in time, 1 where the filter has none. 0: they cannot be. */
int cnv_filter_frames(const CnvFilter *filter);

/* The radius and sigma in luma samples that are in force along an axis once auto and inherit are resolved. The radius
 * can exceed CNV_RADIUS_MAX here (cnv_filter_generate refuses it). */
int cnv_filter_radius(const CnvFilter *filter, int axis);
double cnv_filter_sigma(const CnvFilter *filter, int axis);
