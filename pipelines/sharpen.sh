#!/usr/bin/env bash
# You should see the video with crisper detail and, along its edges, thin lines brighter or darker than what is around.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/sharpen.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, a town of 300 frames: right of a line that moves it is sharpened.
# FILTER=unsharp RADIUS=3 AMOUNT=2 BACKEND=auto: the properties of those names. The file is sharpened.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up sharpened "$@"
# Unsharp masking adds what a blur takes off: the radius says how wide the detail is, the amount how much of it.
choose_filter unsharp
add_radius 3
add_setting amount "${AMOUNT:-}" 2 sharpen unsharp emboss
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}"
