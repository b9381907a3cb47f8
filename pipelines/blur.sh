#!/usr/bin/env bash
# You should see a blurred video in a window or, without a display, the file blurred.mp4; then frames/s and what ran where.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/blur.sh [FILE|URI]       without one, a moving test picture of 300 frames is blurred
# RADIUS=8 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of those names. OUTPUT=FILE.mp4: write that file.
# Installs and builds what it needs. The sound is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up blurred.mp4 "$@"
set_source smpte
set_sink
play "${source[@]}" \
  ! cudaconvolve "filter=${FILTER:-gaussian}" "radius=${RADIUS:-8}" "backend=${BACKEND:-auto}" \
  "algorithm=${ALGORITHM:-auto}" \
  ! videoconvert ! "${sink[@]}"
