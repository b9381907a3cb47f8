#!/usr/bin/env bash
# You should see a blurred video in a window or, without a display, the file blurred.mp4; then frames/s and what ran where.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/blur.sh [FILE|URI]       without one, a moving test picture of 300 frames is blurred
# RADIUS=8 FILTER=gaussian BACKEND=auto ALGORITHM=auto: the properties of those names. OUTPUT=FILE.mp4: write that file.
# Installs and builds what it needs. The sound is left out.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../tests/setup.sh"

input=${1:-}
output=${OUTPUT:-blurred.mp4}
part= # what is written until it is complete

check_input()
{
  [[ -n $input && $input != *://* ]] || return 0
  [[ -f $input ]] || die "there is no file '$input'"
  [[ -r $input ]] || die "'$input' cannot be read"
  [[ ! $input -ef $output ]] || die "'$input' would be overwritten by its own blur; set OUTPUT=FILE.mp4 to another"
}

need_plugins()
{
  need element mp4mux gstreamer1.0-plugins-good
  need element x264enc gstreamer1.0-plugins-ugly
  if [[ -n $input ]]; then
    need element h264parse gstreamer1.0-plugins-bad
    need element avdec_h264 gstreamer1.0-libav
  elif have_gpu; then
    need element h264parse gstreamer1.0-plugins-bad
  fi
  [[ -z ${DISPLAY:-} ]] || need element ximagesink gstreamer1.0-x
  [[ -z ${WAYLAND_DISPLAY:-} ]] || need element waylandsink gstreamer1.0-plugins-bad
}

# autovideosink takes fakesink where nothing else works, which would show nothing.
display_works()
{
  [[ -z ${OUTPUT:-} && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || return 1
  local log
  log=$(timeout 20 gst-launch-1.0 -v videotestsrc num-buffers=1 pattern=black ! videoconvert ! autovideosink 2>&1) &&
    [[ $log != *fake* ]]
}

set_source()
{
  case $input in
  "") source=(videotestsrc num-buffers=300 pattern=smpte horizontal-speed=6
    ! "video/x-raw,format=NV12,width=1280,height=720,framerate=30/1") ;;
  *://*) source=(uridecodebin "uri=$input") ;;
  *) source=(filesrc "location=$input" ! decodebin) ;;
  esac
}

set_sink()
{
  if display_works; then
    say "showing the result in a window, at the speed of the video"
    sink=(autovideosink)
    return
  fi
  say "writing $output"
  part=$output.part
  sink=(mp4mux ! filesink "location=$part")
  if gst-inspect-1.0 --exists nvh264enc; then
    sink=(nvh264enc ! h264parse ! "${sink[@]}")
  else
    sink=(x264enc speed-preset=veryfast ! "${sink[@]}")
  fi
}

(($# <= 1)) || die "one FILE or URI, or none; got $#"
check_input
need_cuda
need_plugins
install_needs
say "building in $build"
configure "$build"
ninja -C "$build" gst/libgstcudaconvolve.so pipelines/run
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
set_source
set_sink
"$build/pipelines/run" "${source[@]}" \
  ! cudaconvolve "filter=${FILTER:-gaussian}" "radius=${RADIUS:-8}" "backend=${BACKEND:-auto}" \
  "algorithm=${ALGORITHM:-auto}" \
  ! videoconvert ! "${sink[@]}" || {
  [[ -z $part ]] || rm -f "$part"
  die "${input:-the test picture} was not blurred; the messages above say why"
}
if [[ -n $part ]]; then
  mv "$part" "$output"
  say "written: $output"
fi
