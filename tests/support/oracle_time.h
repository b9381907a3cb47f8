/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The oracle's third dimension: the taps in time, and which frames of a clip they lie on.
 */
#pragma once

#include "support/oracle.h"
#include "support/oracle_taps.h"

/* Taps in time, first frame first. */
typedef struct {
  int n, anchor;               /* anchor: number of the tap on the output's frame */
  gboolean not_time_separable; /* each has taps in the picture of its own, and a weight of 1; else all have the same */
  double weight[CNV_MAX_TEMPORAL_TAPS];
  double of_frame[CNV_MAX_TEMPORAL_TAPS]; /* sum of the tap's share of the whole kernel, and of its magnitudes; not not
                                             time-separable: */
  double magnitudes[CNV_MAX_TEMPORAL_TAPS]; /* of the weight alone */
} OracleTime;

OracleTime oracle_time(const CnvFilter *filter);

/* The taps in the picture of a tap in time, for samples that are subsample luma samples apart. */
OracleKernel oracle_time_kernel(const OracleTime *time, const CnvFilter *filter, int tap,
                                const int subsample[CNV_N_AXES]);

/* The number of the frame under each tap, or -1, and the tap's weight at this place of the clip. clip: NULL where there
 * is one frame alone, number 0. */
void oracle_time_place(const OracleTime *time, const OracleClip *clip, gboolean causal,
                       int frame[CNV_MAX_TEMPORAL_TAPS], double weight[CNV_MAX_TEMPORAL_TAPS]);
