#!/usr/bin/env bash
# You should see that faces and number plates are blurred beyond recognition as they move, and that everything else is sharp.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/privacy.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI... X,Y,W,H[,TYPE]...]
# Without a FILE it draws a town, 300 frames long, with number plates on its cars, and faces and a plate that move.
# With a FILE it hides the rectangles, which are in pixels of the video. TYPE is face by default. An example:
# pipelines/privacy.sh party.mp4 310,120,180,220 40,40,90,30,plate
# The file is private.mp4. It does not have the location (GPS) of the video.
# TYPES=face,plate: roi-types; by default all rectangles are hidden.
# EXPAND=0.1 FEATHER=8 FILTER=gaussian BACKEND=auto ALGORITHM=auto: roi-expand, roi-feather, filter, backend and algorithm.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

takes_regions=true
player=privacy
set_up private "$@"
[[ -z $input ]] || ((${#regions[@]})) ||
  die "no rectangles for '$input': add X,Y,W,H or X,Y,W,H,TYPE for each rectangle to hide"
# The program attaches the regions to the frames as metas, like a face detector: see privacy.c. With relative strength,
# radius and sigma follow the size of each region, so that large faces are hidden as well as small ones.
play "${regions[@]/#/--region=}" -- cudaconvolve "filter=${FILTER:-gaussian}" roi-source=meta \
  ${TYPES:+"roi-types=$TYPES"} roi-strength=relative "roi-expand=${EXPAND:-0.1}" "roi-feather=${FEATHER:-8}" \
  "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
