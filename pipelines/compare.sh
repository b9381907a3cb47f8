#!/usr/bin/env bash
# You should see a picture of two halves: the video on the left, and the same frame filtered on the right.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/compare.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a town, 300 frames long. The file is compared.mp4.
# RADIUS=8 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of these names.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up compared "$@"
choose_filter gaussian
add_radius 8
# Filters at the size of the video and scales afterwards, so that the radius is in samples of the video.
half=(videoscale ! "video/x-raw,width=960,height=540,pixel-aspect-ratio=1/1")
play -- tee name=original \
  original. ! queue ! "${half[@]}" ! mix.sink_0 \
  original. ! queue ! cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" \
  "algorithm=${ALGORITHM:-auto}" ! "${half[@]}" ! mix.sink_1 \
  compositor name=mix sink_1::xpos=960
