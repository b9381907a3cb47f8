#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by the tests of the scripts in pipelines/: makes a folder of their own, removes the display and the caller's
# settings, and has their checks. CUDACONVOLVE_BUILD names the build.
set -euo pipefail

pipelines=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../pipelines" && pwd)
: "${CUDACONVOLVE_BUILD:?the directory of a build}"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset DISPLAY WAYLAND_DISPLAY OUTPUT FRAMES RADIUS FILTER SCALE ALGORITHM AMOUNT GRADIENT ANGLE TYPES EXPAND FEATHER
unset SHAPE STRENGTH SMOOTH MISSING MIN_SIZE START CODEC QUALITY CAMERA
unset SIGMA MODE KERNEL STREAMS DURATION WIDTH HEIGHT FORMAT PATIENCE
export OPENCV_LOG_LEVEL=SILENT
export BACKEND=cpu # needs no GPU; other tests check what a GPU computes

fail()
{
  echo "FAILED: $*"
  exit 1
}

skip()
{
  echo "SKIPPED: $*"
  exit 77
}

have()
{
  local element
  for element in "$@"; do
    gst-inspect-1.0 --exists "$element" || return 1
  done
}

# expect MEANING NUMBER OPERATOR NUMBER
expect()
{
  (($2 $3 $4)) || fail "$1: $2 is not $3 $4"
}

# refuses WORDS COMMAND...: checks that the command fails, prints WORDS and leaves no file.
refuses()
{
  local words=$1
  shift
  if timeout 20 env "$@" >log 2>&1; then
    fail "no error: $*"
  fi
  cat log
  grep -q -- "$words" log || fail "$*: does not say: $words"
  [[ -z $(find . -name 'out*' -o -name 'blurred*') ]] || fail "$*: leaves a file"
}

# Chooses H.264, the usual output; or, if its plugins are missing, Theora in Ogg, from the base plugins.
type=mp4
choose_type()
{
  have x264enc mp4mux avdec_h264 || type=ogv
}
