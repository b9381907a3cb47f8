#!/usr/bin/env bash
# You should see a video with less noise; without a file also its PSNR against the clean picture, higher after than before.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/denoise.sh [--verbose] [-DOPTION=VALUE]... [FILE|URI]...
# Without one, of a test picture of 300 frames that stands still under noise.
# RADIUS=3 SIGMA=1.5 BACKEND=auto: temporal-radius, temporal-sigma and backend. The file is denoised.mp4.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

# mix FRAMES PATTERN...: a picture that stands still, with a tenth of another one over it.
mix()
{
  local caps="video/x-raw,format=I420,width=640,height=360,framerate=30/1"
  mixed=(videotestsrc "num-buffers=$1" pattern=smpte75 ! "$caps" ! mix.sink_0
    videotestsrc "num-buffers=$1" "${@:2}" ! "$caps" ! mix.sink_1
    compositor name=mix sink_1::alpha=0.1 ! "$caps")
}

# record FILE [! ELEMENT...]: the luma of the source, and of what is made of it.
record()
{
  gst-launch-1.0 -q "${mixed[@]}" "${@:2}" ! videoconvert ! video/x-raw,format=GRAY8 ! filesink "location=$1"
}

# psnr FILE FILE: in dB. cmp writes the bytes that differ, in octal.
psnr()
{
  { cmp -l "$1" "$2" || true; } | awk -v n="$(stat -c %s "$1")" '
    function octal(s) { return int(s / 100) * 64 + int(s % 100 / 10) * 8 + s % 10 }
    { d = octal($2) - octal($3); sum += d * d }
    END { if (sum) printf "%.1f\n", 10 * log(255 * 255 * n / sum) / log(10); else print "infinite" }'
}

# What noise is on average is grey, so the clean picture has the same part of that over it.
report_psnr()
{
  folder=$(mktemp -d)
  trap 'rm -r "$folder"' EXIT
  mix 6 pattern=solid-color foreground-color=0xff808080
  record "$folder/clean"
  mix 6 pattern=snow
  record "$folder/noisy"
  record "$folder/denoised" ! "${denoise[@]}"
  say "PSNR in dB: before $(psnr "$folder/clean" "$folder/noisy"), after $(psnr "$folder/clean" "$folder/denoised")"
  rm -r "$folder"
  trap - EXIT
}

set_up denoised "$@"
# Noise is another one in each frame, so that a mean of frames has less of it. Frames of another scene do not take part.
denoise=(cudaconvolve filter=identity "temporal-radius=${RADIUS:-3}" "temporal-sigma=${SIGMA:-1.5}"
  scene-change-threshold=0.1 "backend=${BACKEND:-auto}")
if [[ -z $input ]]; then
  report_psnr
  mix "${FRAMES:-300}" pattern=snow
  picture=("--picture=${mixed[*]}")
fi
play -- "${denoise[@]}"
