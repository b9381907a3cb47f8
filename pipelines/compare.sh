#!/usr/bin/env bash
# You should see one picture of two halves: on the left the video as it is, on the right the same frame filtered.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/compare.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a town of 300 frames.
# RADIUS=8 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of those names. The file is compared.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up compared "$@"
choose_filter gaussian
add_radius 8
# Filtered at the size of the video, and only then scaled to its half, so that the radius is in samples of the video.
half=(videoscale ! "video/x-raw,width=960,height=540,pixel-aspect-ratio=1/1")
play -- tee name=original \
  original. ! queue ! "${half[@]}" ! mix.sink_0 \
  original. ! queue ! cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" \
  "algorithm=${ALGORITHM:-auto}" ! "${half[@]}" ! mix.sink_1 \
  compositor name=mix sink_1::xpos=960
