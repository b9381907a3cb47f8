#!/usr/bin/env bash
# You should see mid-grey where nothing moves; what moves is brighter where it has got brighter, darker where darker.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/timedelta.sh [FILE|URI]  without one, of a moving test picture of 300 frames
# KERNEL="<-1,0,1>" SCALE=1 BACKEND=auto: kernel-t, and the properties of those names. OUTPUT=FILE.mp4: write that file
# instead of timedelta.mp4. Installs and builds what it needs. The sound is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

set_up timedelta.mp4 "$@"
set_source smpte
set_sink
# The next frame minus the last one. That has both signs: bias puts its zero at mid-grey.
play "${source[@]}" \
  ! cudaconvolve filter=identity "kernel-t=${KERNEL:-<-1,0,1>}" "scale=${SCALE:-1}" bias=0.5 "backend=${BACKEND:-auto}" \
  ! videoconvert ! "${sink[@]}"
