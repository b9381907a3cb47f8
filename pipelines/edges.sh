#!/usr/bin/env bash
# You should see mid-grey with edges: brighter where the picture gets brighter to the right, and darker where it gets darker.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/edges.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a town, 300 frames long. A line moves through it: the edges are to the right of the line.
# The file is edges.mp4.
# FILTER=sobel GRADIENT=x ANGLE=0 SCALE=0.5 BACKEND=auto: the properties of these names. GRADIENT=directional ANGLE=45 takes
# the derivative towards the lower right.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up edges "$@"
# A derivative has both signs: bias moves its zero to mid-grey. Without it negative values would be black.
choose_filter sobel
add_setting gradient "${GRADIENT:-}" x sobel scharr prewitt
add_setting angle "${ANGLE:-}" ""
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" "scale=${SCALE:-0.5}" bias=0.5
