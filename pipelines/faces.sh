#!/usr/bin/env bash
# You should see faces, found by GStreamer's facedetect, hidden as they move; then how many, and what is left of them.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/faces.sh [-DOPTION=VALUE]... [FILE|URI]
# Without one, of a portrait that Debian ships, over which the view moves for 300 frames.
# FILTER=gaussian EXPAND=0.2 (roi-expand), FEATHER=8 (roi-feather), BACKEND=auto ALGORITHM=auto: the properties of those
# names. MIN_SIZE=30: of a face, in pixels; less finds more, and takes longer. The file is faceless.mp4.
# facedetect finds faces that look into the camera, and not in every frame: look at the result before you give it away.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

player=faces
need_opencv
photograph
set_up faceless "$@"
size=${MIN_SIZE:-30}
hide=(videoconvert ! facedetect display=false "min-size-width=$size" "min-size-height=$size"
  ! cudaconvolve "filter=${FILTER:-gaussian}" roi-source=meta roi-strength=relative "roi-expand=${EXPAND:-0.2}"
  "roi-feather=${FEATHER:-8}")
play -- "${hide[@]}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
say "by hand: gst-launch-1.0 filesrc location=FILE ! decodebin ! ${hide[*]} ! videoconvert ! autovideosink"
