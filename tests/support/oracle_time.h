/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's third dimension: the taps in time, and the frames of a clip that they meet.
 */
#pragma once

#include "support/oracle.h"
#include "support/oracle_taps.h"

/* Taps in time, first frame first. */
typedef struct {
  int n, anchor;               /* anchor: index of the tap on the output's frame */
  gboolean not_time_separable; /* TRUE: each has its own taps in the picture, and a weight of 1; FALSE: all have the
                                  same taps */
  double weight[CNV_MAX_TEMPORAL_TAPS];
  double of_frame[CNV_MAX_TEMPORAL_TAPS];   /* sum of the kernel's taps in that frame; if time-separable, only the
                                             weight */
  double magnitudes[CNV_MAX_TEMPORAL_TAPS]; /* the sum of the magnitudes instead */
} OracleTime;

OracleTime oracle_time(const CnvFilter *filter);

/* Returns the taps in the picture for a tap in time, for samples that are `subsample` luma samples apart. */
OracleKernel oracle_time_kernel(const OracleTime *time, const CnvFilter *filter, int tap,
                                const int subsample[CNV_N_AXES]);

/* Finds the number of the frame under each tap, or -1, and the tap's weight at this place of the clip. clip: NULL if
 * there is only one frame, number 0. */
void oracle_time_place(const OracleTime *time, const OracleClip *clip, gboolean causal,
                       int frame[CNV_MAX_TEMPORAL_TAPS], double weight[CNV_MAX_TEMPORAL_TAPS]);
