#!/usr/bin/env bash
# You should see people sharp before a blurred background; then in how many frames, and what is left of the background.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/background.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a portrait that Debian ships, over which the view moves for 150 frames.
# RADIUS=48 FILTER=gaussian FEATHER=4 (roi-feather) BACKEND=auto ALGORITHM=auto: the properties of those names. The file
# is background.mp4. People are told from the rest by GStreamer's facedetect and grabcut, some ten frames a second: they
# have to look into the camera, and be seen down to the lower edge. Without a face in sight all is blurred.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

FRAMES=${FRAMES:-150}
player=background
need_opencv
photograph
set_up background "$@"
choose_filter gaussian
add_radius 48
play -- videoconvert ! cudaconvolve "${settings[@]}" roi-source=meta roi-invert=true roi-isolated=true \
  "roi-feather=${FEATHER:-4}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
