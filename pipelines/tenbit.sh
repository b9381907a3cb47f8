#!/usr/bin/env bash
# You should see that tenbit.mkv is written, and that its samples have more than the 256 levels of 8 bits.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/tenbit.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]
# Without a FILE it draws a grey ramp of 8 bits, 300 frames long, in which you can see steps.
# The video is blurred at 10 bits and always written to a file, as FFV1, which is lossless.
# RADIUS=8 FILTER=gaussian BACKEND=auto: the properties of these names.
# OUTPUT=tenbit.mkv: the file, which must end in .mkv.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

most=1
shared=(--verbose START DURATION FRAMES PATIENCE CAMERA) # FORMAT is fixed, and OUTPUT ends in .mkv
format=video/x-raw,format=I420_10LE

# count_levels FILE: prints the number of levels in the first 2 million samples. It uses no decodebin, which might wait for
# the sound, because that is not linked. cat reads what od leaves, so that the writer does not fail.
count_levels()
{
  gst-launch-1.0 -q filesrc "location=$1" ! matroskademux ! avdec_ffv1 ! videoconvert ! "$format" \
    ! identity eos-after=2 ! filesink location=/dev/stdout |
    { od -An -v -tu2 -w2 -N 4000000; cat >/dev/null; } | sort -u | wc -l
}

OUTPUT=${OUTPUT:-tenbit.mkv} FORMAT=I420_10LE
[[ $OUTPUT == *.mkv ]] || die "OUTPUT must end in .mkv; it is '$OUTPUT'"
need element matroskamux gstreamer1.0-plugins-good
need element avenc_ffv1 gstreamer1.0-libav
set_up tenbit "$@"
test_picture gradient
choose_filter gaussian
add_radius 8
# Dithering is off, because it would add levels on the way from 8 bits to 10.
play --encoder=avenc_ffv1 -- videoconvert dither=none ! "$format" \
  ! cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}"
levels=$(count_levels "$output")
say "levels in its samples: $levels; 8 bits hold 256"
