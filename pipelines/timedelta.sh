#!/usr/bin/env bash
# You should see mid-grey where nothing moves; what moves is brighter where it has got brighter, darker where darker.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/timedelta.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a town of 300 frames, along which the view moves.
# KERNEL="<-1,0,1>" SCALE=1 BACKEND=auto: kernel-t, and the properties of those names. The file is timedelta.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up timedelta "$@"
# The next frame minus the last one. That has both signs: bias puts its zero at mid-grey.
play -- cudaconvolve filter=identity "kernel-t=${KERNEL:-<-1,0,1>}" "scale=${SCALE:-1}" bias=0.5 \
  "backend=${BACKEND:-auto}"
