#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs one of pipelines/ on a short clip, without a display and in a folder of its own, and looks at the pixels of what
# it writes. Uses the build in CUDACONVOLVE_BUILD, and neither installs nor builds anything.
#
# Usage: tests/examples.sh embed|embed_py|blur|edges|sharpen|compare|tenbit
set -euo pipefail

pipelines=$(cd "$(dirname "${BASH_SOURCE[0]}")/../pipelines" && pwd)
: "${CUDACONVOLVE_BUILD:?the directory of a build}"
width=320 height=240 frames=30
type=mp4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
unset DISPLAY WAYLAND_DISPLAY OUTPUT RADIUS FILTER SCALE ALGORITHM
export BACKEND=cpu # no GPU is needed; what one computes is seen to by other tests

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

# H.264 is what people get; where its plugins are missing, Theora and Ogg, which are in the base plugins.
choose_type()
{
  have x264enc mp4mux avdec_h264 || type=ogv
}

# Flat bars with sharp edges, and noise in a corner.
make_clip()
{
  local sink=(x264enc speed-preset=veryfast ! mp4mux)
  [[ $type == mp4 ]] || sink=(theoraenc ! oggmux)
  gst-launch-1.0 -q videotestsrc num-buffers=$frames horizontal-speed=2 \
    ! "video/x-raw,format=I420,width=$width,height=$height,framerate=30/1" ! "${sink[@]}" \
    ! filesink "location=clip.$type"
}

# measure FILE WIDTH HEIGHT: decodes it to grey. Prints the number of frames and, of the middle one, the darkest and the
# lightest sample and the detail of its left and its right half: the mean difference between neighbours, in hundredths.
measure()
{
  gst-launch-1.0 -q filesrc "location=$1" ! decodebin ! videoconvert \
    ! "video/x-raw,format=GRAY8,width=$2,height=$3" ! filesink location=grey.raw
  python3 - "$2" "$3" <<'PYTHON'
import sys
width, height = map(int, sys.argv[1:])
data = open('grey.raw', 'rb').read()
frames, rest = divmod(len(data), width * height)
assert frames and not rest, f'{len(data)} bytes are not frames of {width}x{height}'
picture = data[frames // 2 * width * height:][:width * height]

def detail(begin, end):
    rows = [picture[y * width + begin:y * width + end] for y in range(height)]
    return sum(abs(a - b) for row in rows for a, b in zip(row, row[1:])) * 100 // (height * (end - begin - 1))

print(frames, min(picture), max(picture), detail(0, width // 2), detail(width // 2, width))
PYTHON
}

# Runs a script on the clip; what it says goes to log.
run_script()
{
  "$pipelines/$1.sh" "clip.$type" >log 2>&1 || {
    cat log
    fail "$1.sh exits with an error"
  }
  cat log
  grep -q "^ *frames  *$frames\$" log || fail "$1.sh does not say that it filtered $frames frames"
  grep -q '^ *backend  *cpu$' log || fail "$1.sh does not say what ran where"
}

# filtered SCRIPT [WIDTH HEIGHT]: of a script that writes video of the clip's type, into `before` and `after`.
filtered()
{
  choose_type
  make_clip
  export OUTPUT=out.$type
  run_script "$1"
  [[ ! -e $OUTPUT.part ]] || fail "$OUTPUT.part is left"
  read -ra before <<<"$(measure "clip.$type" $width $height)"
  read -ra after <<<"$(measure "$OUTPUT" "${2:-$width}" "${3:-$height}")"
  echo "before: ${before[*]}; after: ${after[*]}"
  expect frames "${after[0]}" == $frames
}

test_blur()
{
  filtered blur
  expect "detail left by a blur, right" "${after[4]}" '<' $((before[4] / 2))
  expect "contrast of large areas" $((after[2] - after[1])) '>' 150
}

test_sharpen()
{
  filtered sharpen
  expect "detail made by sharpening, right" "${after[4]}" '>' "${before[4]}"
  expect "detail made by sharpening, left" "${after[3]}" '>' "${before[3]}"
}

# Bars are flat, so nearly all is mid-grey, with edges of both signs.
test_edges()
{
  filtered edges
  expect "darkest" "${after[1]}" '<' 60
  expect "lightest" "${after[2]}" '>' 196
  expect "samples at mid-grey, in a hundred" "$(mid_grey)" '>' 60
}

mid_grey()
{
  python3 -c "data = open('grey.raw', 'rb').read(); print(sum(120 < v < 136 for v in data) * 100 // len(data))"
}

# The clip is 4:3 and each half 16:9, so that a half has black at its sides; both have that alike.
test_compare()
{
  filtered compare 1920 540
  expect "detail on the left, of the original" "${after[3]}" '>' $((after[4] * 3 / 2))
  expect "detail on the right" "${after[4]}" '>' 0
}

# FFV1 loses nothing: only a filter that keeps 10 bits makes more levels than the 8 bits of the clip have.
test_tenbit()
{
  have avenc_ffv1 matroskamux || skip "needs FFV1 and Matroska: gstreamer1.0-libav, gstreamer1.0-plugins-good"
  choose_type
  make_clip
  expect "levels without a filter" "$(tenbit_levels 0)" '<=' 256
  expect "levels of a blur at 10 bits" "$(tenbit_levels 8)" '>' 400
  gst-launch-1.0 filesrc location=tenbit.mkv ! matroskademux ! avdec_ffv1 ! video/x-raw,format=I420_10LE ! fakesink
}

tenbit_levels()
{
  RADIUS=$1 run_script tenbit >&2
  sed -n 's/.*levels in its samples: \([0-9]*\);.*/\1/p' log
}

# check_embed COMMAND...: a generated picture at the speed of the video, so that the change comes while it plays; a file
# that is not there is an error.
check_embed()
{
  local status=0
  "$@" >log 2>&1 || status=$?
  cat log
  [[ $status != 77 ]] || exit 77
  ((status == 0)) || fail "exit status $status"
  grep -q '^ *frames: 90$' log || fail "the statistics do not say that there were 90 frames"
  grep -q 'gaussian with a growing sigma' log || fail "the filter did not change while playing"
  # A sigma near 8 has 49 taps; the box that it started with has 9, and an animation that stands still has 7.
  grep -q '^ *taps: "*4[79]x4[79]"*$' log || fail "sigma was not animated"
  if "$@" /nonexistent.mp4; then
    fail "a file that is not there is no error"
  fi
}

test_embed()
{
  check_embed "$CUDACONVOLVE_BUILD/pipelines/embed"
}

# Python's GStreamer belongs to the Python of the system, which another one may hide.
test_embed_py()
{
  local python=python3
  "$python" -c 'import gi' 2>/dev/null || [[ ! -x /usr/bin/python3 ]] || python=/usr/bin/python3
  check_embed "$python" "$pipelines/embed.py"
}

case ${1:-} in
embed | embed_py | blur | edges | sharpen | compare | tenbit) "test_$1" ;;
*) fail "usage: examples.sh embed|embed_py|blur|edges|sharpen|compare|tenbit" ;;
esac
