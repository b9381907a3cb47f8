#!/usr/bin/env bash
# You should see faces, found by GStreamer's facedetect, hidden as they move; then how often they were found, what is left
# of them, and a warning if one came and went.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/faces.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a portrait that Debian ships, over which the view moves for 300 frames.
# FILTER=mosaic SHAPE=ellipse STRENGTH=0.2 EXPAND=0.25 FEATHER=0 SMOOTH=10: filter, roi-shape, roi-relative-size,
# roi-expand, roi-feather, and roi-smooth: frames that hide a face where it was, when the detector misses it.
# MISSING=copy: roi-missing. A frame without faces stays as it is, since you look at the result; filter hides all of it.
# MIN_SIZE=30: of a face in pixels; less finds more, and takes longer. BACKEND=auto ALGORITHM=auto: as the properties.
# facedetect finds faces that look into the camera, and not in every frame: look at the result before you give it away.
# The file is faceless.mp4, without the location (GPS) of the video.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

player=faces
need_opencv
photograph
set_up faceless "$@"
size=${MIN_SIZE:-30}
filter=${FILTER:-mosaic}
strength=(roi-strength=relative "roi-relative-size=${STRENGTH:-0.2}")
[[ $filter != fill ]] || strength=() # which has no radius
# Of OpenCV's detectors that which takes least for a face that is none.
hide=(videoconvert
  ! facedetect display=false "profile=${cascade/default/alt2}" "min-size-width=$size" "min-size-height=$size"
  ! cudaconvolve "filter=$filter" roi-source=meta "roi-shape=${SHAPE:-ellipse}" "${strength[@]}"
  "roi-expand=${EXPAND:-0.25}" "roi-feather=${FEATHER:-0}" "roi-smooth=${SMOOTH:-10}"
  "roi-missing=${MISSING:-copy}")
say "by hand: gst-launch-1.0 filesrc location=FILE ! decodebin ! ${hide[*]} ! videoconvert ! autovideosink"
play -- "${hide[@]}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
