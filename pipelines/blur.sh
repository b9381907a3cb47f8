#!/usr/bin/env bash
# You should see a blurred video in a window or, without a display, the file blurred.mp4; then frames/s and the device used.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/blur.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a town, 300 frames long. A line moves through it: the part to the right of the line is blurred.
# A picture gives a picture.
# RADIUS=20 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of these names.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up blurred "$@"
choose_filter gaussian
add_radius 20
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
