#!/usr/bin/env bash
# You should see mid-grey, with edges in it: brighter where the picture gets brighter to the right, darker where darker.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/edges.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, a town of 300 frames: right of a line that moves are its edges.
# FILTER=sobel GRADIENT=x ANGLE=0 SCALE=0.5 BACKEND=auto: the properties of those names; GRADIENT=directional ANGLE=45 looks
# to the lower right. The file is edges.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up edges "$@"
# A derivative has both signs: bias puts its zero at mid-grey, or else what is negative would be black.
choose_filter sobel
add_setting gradient "${GRADIENT:-}" x sobel scharr prewitt
add_setting angle "${ANGLE:-}" ""
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" "scale=${SCALE:-0.5}" bias=0.5
