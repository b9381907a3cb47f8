#!/usr/bin/env bash
# You should see the video with crisper detail and, along its edges, thin lines brighter or darker than what is around.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/sharpen.sh [FILE|URI]    without one, a moving test picture of 300 frames is sharpened
# BACKEND=auto: the property of that name. OUTPUT=FILE.mp4: write that file instead of sharpened.mp4.
# Installs and builds what it needs. The sound is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up sharpened.mp4 "$@"
set_source smpte
set_sink
# The sample itself and what distinguishes it from its four neighbours; the taps add up to 1, so flat parts stay.
play "${source[@]}" \
  ! cudaconvolve filter=custom "kernel=<<0,-1,0>,<-1,5,-1>,<0,-1,0>>" "backend=${BACKEND:-auto}" \
  ! videoconvert ! "${sink[@]}"
