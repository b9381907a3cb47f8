/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's taps: every filter is written from its definition, in float64 and at full size. A sum of convolutions is
 * added up to one array. There are two arrays only if rows and columns can be long, or if borders treat the axes
 * separately.
 */
#pragma once

#include "convolve/filter.h"

/* Taps, row by row. anchor: index of the tap on the output sample. */
typedef struct {
  int n[CNV_N_AXES], anchor[CNV_N_AXES];
  double *v;
} OracleArray;

/* One array of two dimensions, or a row and then a column. */
typedef struct {
  int n_passes;
  OracleArray pass[2];
} OracleConvolution;

/* With two parts, the result is the root of the sum of their squares. */
typedef struct {
  int n_parts;
  OracleConvolution part[2];
  double cell[CNV_N_AXES], step[CNV_N_AXES]; /* mosaic, in luma samples: size of a cell, and distance of the plane's
                                                samples */
} OracleKernel;

/* Returns the taps for samples that are `subsample` luma samples apart. Clear with oracle_kernel_clear. */
OracleKernel oracle_kernel(const CnvFilter *filter, const int subsample[CNV_N_AXES]);
void oracle_kernel_clear(OracleKernel *kernel);

/* Returns the sum of the taps, or of their magnitudes. */
double oracle_array_sum(const OracleArray *array, gboolean magnitudes);
