#!/usr/bin/env bash
# You should see that moving objects draw a fading trail, and that everything else stays sharp.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/motionblur.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a ball that moves for 300 frames. The file is motionblur.mp4.
# RADIUS=10 SIGMA=6 MODE=causal BACKEND=auto: temporal-radius, temporal-sigma, temporal-mode and backend. MODE=centered
# also blurs ahead of the motion, like a long exposure.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up motionblur "$@"
test_picture ball
# identity does not change the picture, so frames are only mixed, and not across a cut.
play -- cudaconvolve filter=identity "temporal-mode=${MODE:-causal}" "temporal-radius=${RADIUS:-10}" \
  "temporal-sigma=${SIGMA:-6}" scene-change-threshold=0.2 "backend=${BACKEND:-auto}"
