#!/usr/bin/env bash
# You should see the video with crisper detail and with thin lines along its edges, brighter or darker than around them.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/sharpen.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it draws a town, 300 frames long. A line moves through it: the part to the right of the line is sharpened.
# The file is sharpened.mp4.
# FILTER=unsharp RADIUS=3 AMOUNT=2 BACKEND=auto: the properties of these names.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

set_up sharpened "$@"
# Unsharp masking adds the detail that a blur removes: radius sets the width of the detail, amount its strength.
choose_filter unsharp
add_radius 3
add_setting amount "${AMOUNT:-}" 2 sharpen unsharp emboss
play $wipe -- cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}"
