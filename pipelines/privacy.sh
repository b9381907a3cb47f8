#!/usr/bin/env bash
# You should see faces and number plates that nobody could recognise, blurred as they move; all else is sharp.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/privacy.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI... X,Y,W,H[,TYPE]...]
# Without a file, of drawn faces and a plate that move through a town of 300 frames, and of the plates of its cars. With a
# file, the rectangles are hidden, in pixels of the video, TYPE being face where none is given:
# pipelines/privacy.sh party.mp4 310,120,180,220 40,40,90,30,plate
# FILTER=gaussian BACKEND=auto ALGORITHM=auto, TYPES=face,plate (roi-types; by default all are hidden), EXPAND=0.1
# (roi-expand), FEATHER=8 (roi-feather): the properties of those names. The file is private.mp4, without the location
# (GPS) of the video.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

takes_regions=true
player=privacy
set_up private "$@"
[[ -z $input ]] || ((${#regions[@]})) || die "no rectangles for '$input': add X,Y,W,H or X,Y,W,H,TYPE for each"
# The program attaches the regions to the frames as metas, which is what a detector of faces does: see privacy.c. Relative
# strength: radius and sigma follow the size of each region, so that a big face is hidden as well as a small one.
play "${regions[@]/#/--region=}" -- cudaconvolve "filter=${FILTER:-gaussian}" roi-source=meta \
  ${TYPES:+"roi-types=$TYPES"} roi-strength=relative "roi-expand=${EXPAND:-0.1}" "roi-feather=${FEATHER:-8}" \
  "backend=${BACKEND:-auto}" "algorithm=${ALGORITHM:-auto}"
