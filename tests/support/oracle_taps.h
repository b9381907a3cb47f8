/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's taps: every filter written out from its definition, in float64 and at full size. A sum of convolutions
 * is added up to one array; only where rows and columns can be long, or where borders treat axes apart, are there two.
 */
#pragma once

#include "convolve/filter.h"

/* Taps row by row; anchor: number of the tap on the output sample. */
typedef struct {
  int n[CNV_N_AXES], anchor[CNV_N_AXES];
  double *v;
} OracleArray;

/* One array of two dimensions, or a row and then a column. */
typedef struct {
  int n_passes;
  OracleArray pass[2];
} OracleConvolution;

/* Two parts: the root of the sum of their squares. */
typedef struct {
  int n_parts;
  OracleConvolution part[2];
  double cell[CNV_N_AXES], step[CNV_N_AXES]; /* mosaic: luma samples of a cell, and from one sample to the next */
} OracleKernel;

/* The taps for samples that are subsample luma samples apart. */
OracleKernel oracle_kernel(const CnvFilter *filter, const int subsample[CNV_N_AXES]);
void oracle_kernel_clear(OracleKernel *kernel);

/* Sum of the taps or of their magnitudes. */
double oracle_array_sum(const OracleArray *array, gboolean magnitudes);
