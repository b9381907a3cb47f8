#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the scripts beside it share: set-up, source, sink and run. Each sources it, and then calls, in this order,
#   set_up OUTPUT [FILE|URI]   installs and builds what is needed; OUTPUT is "" where no file is written
#   set_source PATTERN         fills the array `source`: the FILE or URI, or else a moving test picture of 300 frames
#   set_sink                   fills the array `sink`: a window where there is a display, else the encoder for the file
#   play ELEMENT ! ELEMENT...  runs the pipeline and completes the file; $player is the program that runs it
# OUTPUT=FILE.mp4 or FILE.ogv writes that file, also where there is a display. FRAMES=300: of the moving test picture.
# BUILD_DIR=DIR: build in DIR instead of build-pipelines. CUDACONVOLVE_BUILD=DIR uses the build in DIR as it is, and installs
# nothing.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
# Not that of the tests, which has the kernels for all GPUs: they take minutes to compile.
build=${BUILD_DIR:-$root/build-pipelines}

input=
output=
part= # what is written until it is complete
player=(run)

check_input()
{
  [[ -n $input && $input != *://* ]] || return 0
  [[ -f $input ]] || die "there is no file '$input'"
  [[ -r $input ]] || die "'$input' cannot be read"
  [[ ! $input -ef $output ]] || die "'$input' would be overwritten by its own result; set OUTPUT to another file"
}

need_plugins()
{
  if [[ -n $output && $output != *.ogv ]]; then
    need element mp4mux gstreamer1.0-plugins-good
    need element x264enc gstreamer1.0-plugins-ugly
  fi
  if [[ -n $input ]]; then
    need element h264parse gstreamer1.0-plugins-bad
    need element avdec_h264 gstreamer1.0-libav
  elif have_gpu; then
    need element h264parse gstreamer1.0-plugins-bad
  fi
  [[ -z ${DISPLAY:-} ]] || need element ximagesink gstreamer1.0-x
  [[ -z ${WAYLAND_DISPLAY:-} ]] || need element waylandsink gstreamer1.0-plugins-bad
}

# The compute capabilities of the GPUs that CUDA sees, a line each: 90 for 9.0. None without a driver.
compute_capabilities()
{
  python3 - <<'PYTHON'
import ctypes

MAJOR, MINOR = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_*


def ask(function, *arguments):
    number = ctypes.c_int()
    return number.value if function(ctypes.byref(number), *arguments) == 0 else 0


try:
    driver = ctypes.CDLL('libcuda.so.1')
except OSError:
    raise SystemExit
if driver.cuInit(0) == 0:
    for device in range(ask(driver.cuDeviceGetCount)):
        print(10 * ask(driver.cuDeviceGetAttribute, MAJOR, device) + ask(driver.cuDeviceGetAttribute, MINOR, device))
PYTHON
}

# What nvcc can build for that the GPUs here run, "sm_75,sm_90": for each the last that is not above it, of which a newer one
# takes the PTX.
gpu_architectures()
{
  local capability known
  known=$("$(find_nvcc)" --list-gpu-code | sed -n 's/^sm_\([0-9]*\)$/\1/p' | sort -n)
  for capability in $(compute_capabilities); do
    awk -v most="$capability" '$1 <= most { last = $1 } END { if (last) print last }' <<<"$known"
  done | sort -nu | sed 's/^/sm_/' | paste -sd,
}

can_build_for_gpus()
{
  have_gpu && find_nvcc >/dev/null
}

# Fills the array `options` for Meson. All are stated, as a build directory keeps those of the last time.
choose_options()
{
  local architectures= all=
  ! find_nvcc >/dev/null || all=" (tests/run.sh builds for all GPUs, in minutes; CUDACONVOLVE_BUILD=build then uses that)"
  ! can_build_for_gpus || architectures=$(gpu_architectures)
  if [[ -n $architectures ]]; then
    say "building for the GPU here, $architectures, and the CPU$all"
    options=(-Dcuda=enabled "-Dcuda-arch=$architectures")
  else
    say "building for the CPU alone: found no nvcc, or no GPU that it can build for$all"
    options=(-Dcuda=disabled)
  fi
}

install_and_build()
{
  local options
  ! can_build_for_gpus || need_cuda
  need_plugins
  install_needs
  choose_options
  say "building in $build"
  configure "$build" "${options[@]}"
  ninja -C "$build" gst/libgstcudaconvolve.so "pipelines/${player[0]}"
}

set_up()
{
  output=${1:+${OUTPUT:-$1}}
  shift
  (($# <= 1)) || die "one FILE or URI, or none; got $#"
  input=${1:-}
  check_input
  if [[ -n ${CUDACONVOLVE_BUILD:-} ]]; then
    build=$CUDACONVOLVE_BUILD
  else
    install_and_build
  fi
  export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
}

set_source()
{
  case $input in
  "") source=(videotestsrc "num-buffers=${FRAMES:-300}" "pattern=$1" horizontal-speed=6
    ! "video/x-raw,format=NV12,width=1280,height=720,framerate=30/1") ;;
  *://*) source=(uridecodebin "uri=$input") ;;
  *) source=(filesrc "location=$input" ! decodebin) ;;
  esac
}

# autovideosink takes fakesink where nothing else works, which would show nothing.
display_works()
{
  [[ -z ${OUTPUT:-} && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] || return 1
  local log
  log=$(timeout 20 gst-launch-1.0 -v videotestsrc num-buffers=1 pattern=black ! videoconvert ! autovideosink 2>&1) &&
    [[ $log != *fake* ]]
}

# write_with ELEMENT ! ELEMENT...: encoder and muxer of the file.
write_with()
{
  say "writing $output"
  part=$output.part
  sink=("$@" ! filesink "location=$part")
}

set_sink()
{
  if display_works; then
    say "showing the result in a window, at the speed of the video"
    sink=(autovideosink)
  elif [[ $output == *.ogv ]]; then
    write_with theoraenc ! oggmux
  elif gst-inspect-1.0 --exists nvh264enc; then
    write_with nvh264enc ! h264parse ! mp4mux
  else
    write_with x264enc speed-preset=veryfast ! mp4mux
  fi
}

play()
{
  "$build/pipelines/${player[0]}" "${player[@]:1}" "$@" || {
    [[ -z $part ]] || rm -f "$part"
    die "nothing was made of ${input:-the test picture}; the messages above say why"
  }
  if [[ -n $part ]]; then
    mv "$part" "$output"
    say "written: $output"
  fi
}
