#!/usr/bin/env bash
# You should see that what moves draws a trail behind it that fades, while what stands still is sharp.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/motionblur.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a ball that moves through 300 frames.
# RADIUS=10 SIGMA=6 MODE=causal BACKEND=auto: temporal-radius, temporal-sigma, temporal-mode and backend; MODE=centered
# blurs ahead too, as a shutter that is open for long. The file is motionblur.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up motionblur "$@"
test_picture ball
# identity leaves the picture as it is: only frames are mixed, and those before a cut are not.
play -- cudaconvolve filter=identity "temporal-mode=${MODE:-causal}" "temporal-radius=${RADIUS:-10}" \
  "temporal-sigma=${SIGMA:-6}" scene-change-threshold=0.2 "backend=${BACKEND:-auto}"
