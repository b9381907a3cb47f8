#!/usr/bin/env bash
# You should see the video with crisper detail and, along its edges, thin lines brighter or darker than what is around.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/sharpen.sh [FILE|URI]    without one, a moving test picture of 300 frames is sharpened
# FILTER=unsharp RADIUS=3 AMOUNT=1 BACKEND=auto: the properties of those names. OUTPUT=FILE.mp4: write that file instead of
# sharpened.mp4. Installs and builds what it needs. The sound is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up sharpened.mp4 "$@"
set_source smpte
set_sink
# Unsharp masking adds what a blur takes off: the radius says how wide the detail is, the amount how much of it.
play "${source[@]}" \
  ! cudaconvolve "filter=${FILTER:-unsharp}" "radius=${RADIUS:-3}" "amount=${AMOUNT:-1}" "backend=${BACKEND:-auto}" \
  ! videoconvert ! "${sink[@]}"
