#!/usr/bin/env bash
# You should see people sharp in front of a blurred background. Then you see in how many frames people were found, and how
# much of the background's detail is left.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/background.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it moves the view over a portrait that Debian ships, for 150 frames. The file is background.mp4.
# GStreamer's facedetect and grabcut find people, at about ten frames/s. People must look into the camera and reach down to
# the lower edge of the picture. Frames without a face are blurred completely.
# RADIUS=48 FILTER=gaussian FEATHER=4 BACKEND=auto ALGORITHM=auto: radius, filter, roi-feather, backend and algorithm.
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
