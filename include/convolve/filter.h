/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What the user asked for: a plain value that is set, copied and compared, and from it the taps.
 *
 * Axes: x runs along a row, y down a column. Taps lie on the image as written (correlation): tap 0 is the leftmost or
 * topmost. The tap on the output sample is number (n-1)/2.
 */
#pragma once

#include "border.h"
#include "status.h"

G_BEGIN_DECLS

#define CNV_RADIUS_MAX 512   /* of generated and separable taps */
#define CNV_DENSE_MAX 127    /* rows and columns of a kernel that is not separable */
#define CNV_RADIUS_DEFAULT 8 /* where neither radius nor sigma is set */
#define CNV_TRUNCATE_DEFAULT 3.0

typedef enum { CNV_X, CNV_Y, CNV_N_AXES } CnvAxis;

/* An array of taps, row by row. Immutable once made, shared by reference, safe to share between threads. */
typedef struct {
  gatomicrefcount refs;
  int width, height; /* at least 1 */
  double value[];    /* height * width */
} CnvTaps;

/* values: height * width numbers, copied; NULL for zeros, to be filled by the maker before it is shared. */
CnvTaps *cnv_taps_new(int width, int height, const double *values);
CnvTaps *cnv_taps_ref(CnvTaps *taps);
void cnv_taps_unref(CnvTaps *taps);                          /* NULL is allowed */
gboolean cnv_taps_equal(const CnvTaps *a, const CnvTaps *b); /* by value; NULL equals NULL */

typedef enum {
  CNV_FILTER_IDENTITY,
  CNV_FILTER_BOX,
  CNV_FILTER_GAUSSIAN,
  CNV_FILTER_CUSTOM,
} CnvFilterType;

typedef struct {
  CnvFilterType type; /* gaussian */
  int radius;         /* samples, -1..CNV_RADIUS_MAX; -1 auto: ceil(truncate * sigma) if sigma is set, else 8 */
  int radius_axis[CNV_N_AXES]; /* -1 inherits radius; 0 leaves that axis alone */
  double sigma; /* samples, 0..256; 0 auto: 0.3 * (radius - 1) + 0.8, OpenCV's rule (getGaussianKernel) */
  double sigma_axis[CNV_N_AXES];    /* 0 inherits sigma */
  double truncate;                  /* sigmas kept where the radius is auto, default 3 */
  CnvTaps *kernel;                  /* custom: a row or a 2D array, or NULL */
  CnvTaps *kernel_axis[CNV_N_AXES]; /* custom, separable: taps along x and y, each or both; or NULL */
  gboolean normalize;               /* divide by the sum of taps where that is not 0; default TRUE */
  double scale;                     /* result * scale + bias * full scale, full scale being 2^depth - 1; default 1 */
  double bias;                      /* default 0 */
  CnvBorder border;                 /* default replicate */
  guint32 border_color;             /* 0xAARRGGBB for CNV_BORDER_CONSTANT, full-range RGB; default opaque black */
} CnvFilter;

/* Sets the defaults. A filter that was initialised or copied is cleared with cnv_filter_clear. */
void cnv_filter_init(CnvFilter *filter);
void cnv_filter_copy(CnvFilter *to, const CnvFilter *from); /* to: uninitialised */
void cnv_filter_clear(CnvFilter *filter);
gboolean cnv_filter_equal(const CnvFilter *a, const CnvFilter *b);

/* The taps for one plane: either a row and a column (then the kernel is their outer product), or dense. Not
 * normalised. */
typedef struct {
  CnvTaps *axis[CNV_N_AXES]; /* each n x 1; NULL when dense */
  CnvTaps *dense;            /* NULL when separable */
} CnvKernel;

void cnv_kernel_clear(CnvKernel *kernel);

/* A row of the filter table: one filter and how its taps are made. */
typedef struct {
  CnvNick nick; /* value: CnvFilterType */
  /* Makes the taps for a plane whose samples are subsample[axis] (1, 2 or 4) luma samples apart; a radius or sigma in
   * luma samples is divided by it, so that a blur is as wide on chroma as on luma. Returns FALSE with
   * CNV_ERROR_SETTINGS. */
  gboolean (*generate)(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel, GError **error);
} CnvFilterInfo;

/* In the order of CnvFilterType; ends with a NULL nick. */
extern const CnvFilterInfo cnv_filters[];

/* All of CnvBorder in its order, for properties. */
extern const CnvNick cnv_border_nicks[];

/* Makes the taps, finds a dense kernel of rank 1 to be separable, and trims nothing. Checks the limits above. */
gboolean cnv_filter_generate(const CnvFilter *filter, const int subsample[CNV_N_AXES], CnvKernel *kernel,
                             GError **error);

/* The radius and sigma in luma samples that are in force along an axis once auto and inherit are resolved. The radius
 * can exceed CNV_RADIUS_MAX here (cnv_filter_generate refuses it). */
int cnv_filter_radius(const CnvFilter *filter, CnvAxis axis);
double cnv_filter_sigma(const CnvFilter *filter, CnvAxis axis);

G_END_DECLS
