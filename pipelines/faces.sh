#!/usr/bin/env bash
# You should see that the faces that GStreamer's facedetect finds are hidden as they move. Then you see how often it
# found faces, how much of their detail is left, and a warning if a face came and went.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/faces.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it moves the view over a portrait that Debian ships, for 300 frames.
# facedetect finds faces that look into the camera, and misses some. Look at the result before you pass it on.
# The file is faceless.mp4. It does not have the location (GPS) of the video.
# FILTER=mosaic SHAPE=ellipse STRENGTH=0.2 EXPAND=0.25 FEATHER=0: filter, roi-shape, roi-relative-size, roi-expand and
# roi-feather.
# SMOOTH=10: roi-smooth, the frames for which a face stays hidden after the detector missed it.
# MISSING=copy: roi-missing. Frames without faces stay unchanged; with MISSING=filter they are hidden completely.
# MIN_SIZE=30: smallest size of a face in pixels. A smaller value finds more faces and takes longer.
# BACKEND=auto ALGORITHM=auto: the properties of these names.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

player=faces
need_opencv
photograph
set_up faceless "$@"
size=${MIN_SIZE:-30}
filter=${FILTER:-mosaic}
strength=(roi-strength=relative "roi-relative-size=${STRENGTH:-0.2}")
[[ $filter != fill ]] || strength=() # fill has no radius
# alt2 is the cascade of OpenCV with the fewest false faces.
hide=(videoconvert
  ! facedetect display=false "profile=${cascade/default/alt2}" "min-size-width=$size" "min-size-height=$size"
  ! cudaconvolve "filter=$filter" roi-source=meta "roi-shape=${SHAPE:-ellipse}" "${strength[@]}"
  "roi-expand=${EXPAND:-0.25}" "roi-feather=${FEATHER:-0}" "roi-smooth=${SMOOTH:-10}"
  "roi-missing=${MISSING:-copy}")
say "by hand: gst-launch-1.0 filesrc location=FILE ! decodebin ! ${hide[*]} ! videoconvert ! autovideosink"
play -- "${hide[@]}" "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
