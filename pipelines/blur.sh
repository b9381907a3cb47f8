#!/usr/bin/env bash
# You should see a blurred video in a window or, without a display, the file blurred.mp4; then frames/s and what ran where.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/blur.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, a town of 300 frames: a line moves through it, left of which it is as it was, right of it blurred.
# RADIUS=20 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of those names. Of a picture a picture is made.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up blurred "$@"
choose_filter gaussian
add_radius 20
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
