#!/usr/bin/env bash
# You should see mid-grey where nothing moves, lighter grey where the picture got brighter, and darker grey where it got darker.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/timedelta.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a town, 300 frames long, over which the view moves. The file is timedelta.mp4.
# KERNEL="<-1,0,1>" SCALE=1 BACKEND=auto: kernel-t, scale and backend.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up timedelta "$@"
# The next frame minus the previous one. The difference has both signs: bias moves its zero to mid-grey.
play -- cudaconvolve filter=identity "kernel-t=${KERNEL:-<-1,0,1>}" "scale=${SCALE:-1}" bias=0.5 \
  "backend=${BACKEND:-auto}"
