#!/usr/bin/env bash
# You should see the file tenbit.mkv written, and that its samples have more levels than the 256 that 8 bits can hold.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/tenbit.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]
# Without one, a grey ramp of 300 frames, 8 bits deep and so in steps.
# RADIUS=8 FILTER=gaussian BACKEND=auto: the properties of those names. OUTPUT=tenbit.mkv: the file.
# Blurred at 10 bits and written, with a display too, as FFV1, which loses nothing, into a file .mkv.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

most=1
shared=(--verbose START DURATION FRAMES PATIENCE CAMERA) # FORMAT is fixed, and OUTPUT ends in .mkv
format=video/x-raw,format=I420_10LE

# The number of levels among the first 2 million samples of a file. decodebin might wait for its sound, which is not linked. What od leaves is read too, lest the writer fails.
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
# Without dithering: it would make levels of its own on the way from 8 bits to 10.
play --encoder=avenc_ffv1 -- videoconvert dither=none ! "$format" \
  ! cudaconvolve "${settings[@]}" "backend=${BACKEND:-auto}"
levels=$(count_levels "$output")
say "levels in its samples: $levels; 8 bits hold 256"
