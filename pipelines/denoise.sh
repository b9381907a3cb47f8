#!/usr/bin/env bash
# You should see a video with less noise. Without a FILE you see three pictures: a test picture with noise, in which a
# ball moves; the plain mean of the frames, in which the ball leaves a trail; and the result, in which it leaves none.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/denoise.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without a FILE it filters the test picture, 300 frames long, and prints its PSNR against the clean picture: before, of
# the mean and of the result. The file is denoised.mp4.
# RADIUS=3 SIGMA=3 THRESHOLD=-1 BACKEND=auto: temporal-radius, temporal-sigma, temporal-threshold and backend.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

# mix FRAMES PATTERN...: fills `mixed` with the elements of a still picture, before which a ball moves, blended with a
# fifth of another picture.
mix()
{
  local source=(videotestsrc "num-buffers=$1") rate="framerate=30/1"
  local caps="video/x-raw,format=I420,width=640,height=360,$rate"
  mixed=("${source[@]}" pattern=smpte75 ! "$caps" ! mix.sink_0
    "${source[@]}" pattern=ball ! "video/x-raw,format=I420,width=320,height=180,$rate" ! mix.sink_1
    "${source[@]}" "${@:2}" ! "$caps" ! mix.sink_2
    compositor name=mix sink_1::xpos=160 sink_1::ypos=90 sink_2::alpha=0.2 ! "$caps")
}

# record FILE [! ELEMENT...]: writes the luma of the source, after the elements.
record()
{
  gst-launch-1.0 -q "${mixed[@]}" "${@:2}" ! videoconvert ! video/x-raw,format=GRAY8 ! filesink "location=$1"
}

# psnr FILE FILE: prints the PSNR in dB. cmp prints the bytes that differ, in octal.
psnr()
{
  { cmp -l "$1" "$2" || true; } | awk -v n="$(stat -c %s "$1")" '
    function octal(s) { return int(s / 100) * 64 + int(s % 100 / 10) * 8 + s % 10 }
    { d = octal($2) - octal($3); sum += d * d }
    END { if (sum) printf "%.1f\n", 10 * log(255 * 255 * n / sum) / log(10); else print "infinite" }'
}

# The mean of the noise is grey, so the clean picture is blended with the same share of grey.
report_psnr()
{
  folder=$(mktemp -d)
  trap 'rm -r "$folder"' EXIT
  mix 12 pattern=solid-color foreground-color=0xff808080
  record "$folder/clean"
  mix 12 pattern=snow
  record "$folder/noisy"
  record "$folder/mean" ! "${mean[@]}"
  record "$folder/denoised" ! "${denoise[@]}"
  say "PSNR in dB: before $(psnr "$folder/clean" "$folder/noisy"), of the mean $(psnr "$folder/clean" "$folder/mean")," \
    "after $(psnr "$folder/clean" "$folder/denoised")"
  rm -r "$folder"
  trap - EXIT
}

set_up denoised "$@"
# Noise differs from frame to frame, so a mean of frames has less of it. The mean leaves out samples that move, and
# frames of another scene.
mean=(cudaconvolve filter=identity "temporal-radius=${RADIUS:-3}" "temporal-sigma=${SIGMA:-3}"
  scene-change-threshold=0.2 "backend=${BACKEND:-auto}")
denoise=("${mean[@]}" "temporal-threshold=${THRESHOLD:--1}")
if [[ -n $input ]]; then
  play -- "${denoise[@]}"
else
  report_psnr
  mix "${FRAMES:-300}" pattern=snow
  picture=("--picture=${mixed[*]}")
  wipe=
  play -- tee name=noisy \
    noisy. ! queue ! show.sink_0 \
    noisy. ! queue ! "${mean[@]}" ! show.sink_1 \
    noisy. ! queue ! "${denoise[@]}" ! show.sink_2 \
    compositor name=show sink_1::xpos=640 sink_2::xpos=1280
fi
