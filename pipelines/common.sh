#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions that the scripts in this folder share, for set-up and run. The scripts run from the source tree, or installed as
# cudaconvolve-blur and so on. Each sources this file and then calls, in this order:
#   set_up NAME [ARGUMENT...]          installs and builds what is needed; the output is NAME.mp4, or NAME with suffix $type
#   choose_filter FILTER               sets `settings` to this filter, or to the one in the environment's FILTER
#   add_setting NAME VALUE DEFAULT FILTER...   adds VALUE to `settings`; if it is empty, DEFAULT for these filters
#   test_picture PATTERN               without a FILE: use this pattern of videotestsrc instead of the town
#   photograph                         before set_up; without a FILE: move the view over a portrait
#   need_opencv                        before set_up: need GStreamer's OpenCV elements
#   play [OPTION...] -- ELEMENT ! ...  plays the video through the elements; media.h has the options
# $player is the program that plays; $most is the largest number of files; $takes_regions is true if arguments may be
# rectangles; $only_window is true if a display is needed.
# `shared` lists the settings that a script reads, which --help explains. All scripts also read BUILD_DIR,
# CUDACONVOLVE_BUILD and -DOPTION=VALUE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/setup.sh"
source "$here/several.sh"
# A folder of its own: the build of the tests has kernels for all GPUs, which take minutes to compile.
build=${BUILD_DIR:-$root/build-pipelines}

input=
output=
video_type=mp4
most=999
takes_regions=false
player=run
picture=()       # options for the test picture
photograph=false # true: use a photograph
wipe=      # option for the wipe, if there is no FILE
only_window=false
shared=(--verbose OUTPUT START DURATION CODEC QUALITY FORMAT FRAMES PATIENCE CAMERA)
verbose= # empty, or --verbose
files=()
regions=() # rectangles, if $takes_regions
given=()  # options for Meson
programs= # folder of the programs of pipelines/, see find_programs()

# Returns 0 if the script is installed: only then its programs are in the same folder. An installed script builds nothing.
is_installed()
{
  [[ -x $here/run ]]
}

# command_name NAME: prints the command that a user calls.
command_name()
{
  if is_installed; then
    echo "cudaconvolve-$1"
  else
    echo "pipelines/$1.sh"
  fi
}

# Copies a script's help. If the script is installed, replaces its path by its command, and drops the options for a build.
name_commands()
{
  if is_installed; then
    sed -E 's/pipelines\/([a-z-]+)\.(sh|py)/cudaconvolve-\1/g; s/ \[-DOPTION=VALUE\]\.\.\.//; /^.*--set-up|^The script builds/d
      /^  (-DOPTION|BUILD_DIR|CUDACONVOLVE_BUILD)=/d'
  else
    cat
  fi
}

# explain SETTING: prints its help.
explain()
{
  case $1 in
  --verbose) echo "--verbose: after the run, print all statistics of the element, with taps, times and bytes copied." ;;
  OUTPUT)
    echo "OUTPUT=FILE: write this file, even if there is a display. The suffix chooses the type: .mp4 .mkv .webm .ogv for a"
    echo "video with its sound, .png .jpg for the first frame. A picture always gives a picture. With several files: the"
    echo "folder for the results."
    ;;
  START) echo "START=90: start of the part of FILE to filter, in seconds or as [hours:]minutes:seconds." ;;
  DURATION) echo "DURATION=10: length of that part, or of the recording of a camera. By default everything is filtered." ;;
  CODEC) echo "CODEC=h264: codec of the video in the file: h264 h265 av1 vp9." ;;
  QUALITY) echo "QUALITY=60: quality of the file, from 0 (smallest file) to 100 (best); by default the encoder's default." ;;
  CAMERA) echo "CAMERA=ELEMENTS: elements instead of v4l2src, if FILE is a camera such as /dev/video0; as for gst-launch-1.0." ;;
  FORMAT) echo "FORMAT=Y444_10LE: format of the file's samples; by default 8-bit 4:2:0, which plays everywhere." ;;
  FRAMES) echo "FRAMES=${FRAMES:-300}: number of frames to draw if there is no FILE." ;;
  PATIENCE)
    echo "PATIENCE=10: give up on a local file after this many seconds without data, stream or frame; 0: never."
    ;;
  BUILD_DIR) echo "BUILD_DIR=DIR: build in DIR instead of build-pipelines in the source tree." ;;
  CUDACONVOLVE_BUILD) echo "CUDACONVOLVE_BUILD=DIR: use the build in DIR and install nothing." ;;
  -D) echo "-DOPTION=VALUE: option for Meson, for example -Dcuda=disabled." ;;
  esac
}

# Prints the comment at the head of the script.
print_head()
{
  sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0" | grep -v SPDX | name_commands
}

usage()
{
  local name
  print_head
  echo
  is_installed || shared+=(BUILD_DIR CUDACONVOLVE_BUILD -D)
  for name in "${shared[@]}"; do
    explain "$name"
  done
  exit 0
}

# shares SETTING: returns 0 if the script reads it.
shares()
{
  [[ " ${shared[*]} " == *" $1 "* ]]
}

is_picture()
{
  [[ ${1,,} == *.@(png|jpg|jpeg|webp|bmp|tif|tiff|ppm|pgm) ]]
}

# check_number NAME VALUE LEAST [MOST]: sets NAME to the value without leading zeros, which would make it octal.
check_number()
{
  local most=${4:-999999999}
  [[ $2 != *[!0-9]* && ${#2} -le 9 ]] && ((10#$2 >= $3 && 10#$2 <= most)) ||
    die "$1 must be a number from $3 to $most, not '$2'"
  printf -v "$1" %d "$((10#$2))"
}

# check_time NAME VALUE: sets NAME to the time in seconds.
check_time()
{
  [[ $2 =~ ^(([0-9]{1,4}:)?[0-9]{1,5}:)?[0-9]{1,7}(\.[0-9]{1,9})?$ ]] ||
    die "$1 must be a time in seconds, such as 90 or 1.5, or as [hours:]minutes:seconds, such as 1:30; not '$2'"
  printf -v "$1" %s "$(LC_ALL=C awk -F: '{ for (i = 1; i <= NF; i++) s = 60 * s + $i; printf "%.6f", s }' <<<"$2")"
  [[ $1 != DURATION || $DURATION == *[1-9]* ]] || die "DURATION must be more than 0, not '$2'"
}

# Checks the settings that are the same for all files.
check_settings()
{
  ! shares FRAMES || check_number FRAMES "${FRAMES:-300}" 1
  ! shares PATIENCE || check_number PATIENCE "${PATIENCE:-10}" 0
  if shares START; then
    [[ -z ${START:-} ]] || check_time START "$START"
    [[ -z ${DURATION:-} ]] || check_time DURATION "$DURATION"
  fi
  shares CODEC || return 0
  [[ -z ${QUALITY:-} ]] || check_number QUALITY "$QUALITY" 0 100
  [[ ${CODEC:-h264} == @(h264|h265|av1|vp9) ]] || die "CODEC must be h264, h265, av1 or vp9, not '$CODEC'"
  [[ ${CODEC:-} != vp9 ]] || video_type=webm
}

# give_option -DOPTION=VALUE
give_option()
{
  ! is_installed || die "there is no option '$1', because an installed command builds nothing: see --help"
  given+=("$1")
}

parse_arguments()
{
  local argument
  for argument; do
    case $argument in
    -h | --help) usage ;;
    -D*) give_option "$argument" ;;
    --verbose)
      shares --verbose || die "there is no option '$argument': see --help"
      verbose=--verbose
      ;;
    -*) die "there is no option '$argument': see --help" ;;
    *)
      if $takes_regions && ((${#files[@]})) && [[ $argument == *([-0-9]),* && ! -e $argument ]]; then
        regions+=("$argument")
      else
        files+=("$argument")
      fi
      ;;
    esac
  done
  ((${#files[@]} <= most)) || die "too many arguments: see --help"
  check_settings
  input=${files:-}
  [[ -n $input ]] || wipe=--wipe
}

is_camera()
{
  [[ -c $1 ]]
}

# Prints the elements for the camera `input`, which may produce raw frames, JPEG or an encoded stream.
camera()
{
  echo "${CAMERA:-v4l2src device=\"$input\"} ! decodebin ! videoconvert"
}

check_input()
{
  if shares START; then
    [[ -z ${START:-} ]] || [[ -n $input && ! -c $input ]] || die "START needs a FILE that is a video, not '$input'"
    [[ -z ${START:-}${DURATION:-} ]] || ! is_picture "$input" ||
      die "'$input' is a picture, which has no START or DURATION: unset them"
  fi
  [[ -n $input && $input != *://* ]] || return 0
  [[ -e $input ]] || die "there is no file '$input'"
  [[ -f $input || -p $input ]] || is_camera "$input" || die "'$input' is a folder or a device: give a file or a camera"
  [[ -r $input ]] || die "'$input' cannot be read: check its permissions"
}

# choose_output NAME: sets `output` to the file to write if there is no display.
choose_output()
{
  type=$video_type
  ! is_picture "$input" || type=png
  [[ ${input,,} != *.@(jpg|jpeg) ]] || type=jpg
  output=${OUTPUT:-$1.$type}
  case ${output,,} in
  *.mp4 | *.mkv | *.webm | *.ogv)
    ! is_picture "$input" || die "'$input' is a picture, so OUTPUT must end in .png or .jpg, not '$output'"
    ;;
  *.png | *.jpg | *.jpeg) ;;
  *) die "OUTPUT must end in .mp4 .mkv .webm or .ogv for a video, in .png or .jpg for a picture, not '$output'" ;;
  esac
  [[ -d $(dirname -- "$output") ]] || die "there is no folder '$(dirname -- "$output")' for OUTPUT"
  [[ ! -d $output ]] || die "OUTPUT must name a file, but '$output' is a folder"
}

# want KIND NAME PACKAGE: something useful but optional, which is only installed for a build.
want()
{
  is_installed || need "$@"
}

# need_encoder CODEC
need_encoder()
{
  case $1 in
  h264) need element x264enc gstreamer1.0-plugins-ugly ;;
  h265) need element x265enc gstreamer1.0-plugins-bad ;;
  av1) need element av1enc gstreamer1.0-plugins-bad ;;
  vp9) need element vp9enc gstreamer1.0-plugins-good ;;
  esac
}

need_plugins()
{
  case ${output,,} in
  *.mp4 | *.mkv)
    need element mp4mux gstreamer1.0-plugins-good
    need_encoder "${CODEC:-h264}"
    ;;
  *.webm) need_encoder "${CODEC:-vp9}" ;;
  *.png | *.jp*) need element pngenc gstreamer1.0-plugins-good ;;
  esac
  if [[ -n $input ]] && ! is_picture "$input"; then
    need element avdec_h264 gstreamer1.0-libav
    # For codecs on the GPU, and for streams that need a parser, such as H.264 in .avi.
    [[ ${input,,} == *.@(mp4|m4v|mov|mkv|webm|ogv) ]] && ! have_gpu || want element h264parse gstreamer1.0-plugins-bad
  fi
  [[ ${input,,} != *.webp ]] || need element webpdec gstreamer1.0-plugins-bad
  ! is_camera "$input" || need element v4l2src gstreamer1.0-plugins-good
  [[ $input != *://* ]] || need element souphttpsrc gstreamer1.0-plugins-good
  [[ -z ${DISPLAY:-} ]] || want element ximagesink gstreamer1.0-x
  [[ -z ${WAYLAND_DISPLAY:-} ]] || want element waylandsink gstreamer1.0-plugins-bad
}

# Prints the compute capabilities of the GPUs that CUDA sees, one per line: 90 for 9.0. Prints none without a driver.
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

# Prints the architectures to build for, such as "sm_75,sm_90": for each GPU here the newest that nvcc knows and that is not
# above the GPU's own. A newer GPU compiles the PTX of that one.
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

# Returns 0 if the build includes CUDA: as the options for Meson say, or else if there are a GPU and nvcc.
wants_cuda()
{
  case " ${given[*]} " in
  *" -Dcuda=enabled "*) true ;;
  *" -Dcuda=disabled "*) false ;;
  *) can_build_for_gpus ;;
  esac
}

# Fills the array `options` for Meson. It states each option, because a build directory keeps the options of the last run.
choose_options()
{
  local architectures=
  ! can_build_for_gpus || architectures=$(gpu_architectures)
  if [[ -n $architectures ]]; then
    target="the GPU here, $architectures, and the CPU"
    options=(-Dcuda=enabled "-Dcuda-arch=$architectures")
  else
    target="the CPU only: found no nvcc, or no GPU that it can build for"
    options=(-Dcuda=disabled)
  fi
}

photograph()
{
  photograph=true
  need element pngdec gstreamer1.0-plugins-good
}

need_opencv()
{
  need element facedetect gstreamer1.0-opencv
  need file "$cascade" opencv-data
  export OPENCV_LOG_LEVEL=SILENT # hides messages about optional files of facedetect that Debian does not ship
}

# Fetches the portrait, which is needed if no file is given.
take_photograph()
{
  local photo=$build/portrait.png
  [[ -e $photo || -n ${CUDACONVOLVE_BUILD:-} ]] || is_installed || step "fetching a photograph, 21 MB" fetch_portrait "$photo"
  [[ -e $photo ]] || die "there is no photograph in '$photo': give a FILE instead"
  picture=("--still=$photo")
}

# install_and_build [PROGRAM]
install_and_build()
{
  local options target
  ! wants_cuda || need_cuda
  need_plugins
  install_needs
  choose_options
  step "configuring $build" configure "$build" "${options[@]}" "${given[@]}"
  ((${#given[@]} == 0)) || target="${given[*]}"
  step "building for $target" ninja -C "$build" gst/libgstcudaconvolve.so "${@/#/pipelines/}"
}

# use_build FILE...: uses the build in CUDACONVOLVE_BUILD, which must have these files.
use_build()
{
  local file
  for file; do
    [[ -x $CUDACONVOLVE_BUILD/$file ]] ||
      die "CUDACONVOLVE_BUILD: there is no $file in '$CUDACONVOLVE_BUILD'; build there with -Dtests=true, or unset it"
  done
  build=$CUDACONVOLVE_BUILD
}

# Uses the programs in the script's folder and the plugin that GStreamer finds. Pictures are kept in the user's cache.
use_installation()
{
  local packages
  needs=${needs#"$build_needs"}
  need element cudaconvolve gstreamer1.0-cudaconvolve
  need_plugins
  packages=$(missing_packages)
  [[ -z $packages ]] ||
    die "packages are missing; run as root: apt install" $packages "(or set GST_PLUGIN_PATH, if the plugin is elsewhere)"
  programs=$here
  build=${XDG_CACHE_HOME:-$HOME/.cache}/cudaconvolve/pictures
}

# find_programs [PROGRAM]: finds the plugin, and sets `programs` to the folder of the program: in the build that
# CUDACONVOLVE_BUILD names, or in the script's installation. A script of the source tree builds both.
find_programs()
{
  if [[ -n ${CUDACONVOLVE_BUILD:-} ]]; then
    use_build gst/libgstcudaconvolve.so "${@/#/pipelines/}"
  elif is_installed; then
    use_installation
    return
  else
    install_and_build "$@"
  fi
  programs=$build/pipelines
  export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  is_installed || export GST_PRESET_PATH=$root/gst
}

# set_up NAME [ARGUMENT...]: see above. If NAME is empty, no file is written. With several files it does not return.
set_up()
{
  parse_arguments "${@:2}"
  ((${#files[@]} < 2)) || filter_each "$1"
  [[ -z $1 ]] || choose_output "$1"
  check_input
  ! $only_window || [[ -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] ||
    die "there is no display for a window; to write a file, use $(command_name compare)"
  find_programs "$player"
  ! $photograph || [[ -n $input ]] || take_photograph
}

choose_filter()
{
  filter=${FILTER:-$1}
  settings=("filter=$filter")
}

# See above. With other filters the default would have no effect, or be rejected.
add_setting()
{
  local value=$2
  [[ -n $value || " ${*:4} " != *" $filter "* ]] || value=$3
  [[ -z $value ]] || settings+=("$1=$value")
}

# add_radius DEFAULT
add_radius()
{
  add_setting radius "${RADIUS:-}" "$1" box gaussian disk motion unsharp log mosaic
}

test_picture()
{
  picture=("--picture=videotestsrc num-buffers=${FRAMES:-300} pattern=$1 horizontal-speed=6 \
    ! video/x-raw,format=NV12,width=1280,height=720,framerate=30/1")
}

# If no video sink works, autovideosink uses fakesink, which shows nothing.
display_works()
{
  [[ -z ${OUTPUT:-} && -n ${DISPLAY:-}${WAYLAND_DISPLAY:-} ]] && ! is_picture "$input" || return 1
  local log
  log=$(timeout 20 gst-launch-1.0 -v videotestsrc num-buffers=1 pattern=black ! videoconvert ! autovideosink 2>&1) &&
    [[ $log != *fake* ]]
}

# setpriv ends the program if this script is killed; the program then removes its unfinished file.
play()
{
  local options=("--output=$output" ${FORMAT:+"--format=$FORMAT"} ${PATIENCE:+"--patience=$PATIENCE"} $verbose)
  options+=(${START:+"--start=$START"} ${DURATION:+"--duration=$DURATION"} ${CODEC:+"--codec=$CODEC"})
  options+=(${QUALITY:+"--quality=$QUALITY"})
  if is_camera "$input"; then
    options+=("--picture=$(camera)")
  elif [[ -n $input ]]; then
    options+=("--input=$input")
  else
    options+=("--frames=${FRAMES:-300}" "${picture[@]}")
  fi
  if display_works; then
    say "showing the result in a window, at the speed of the video"
    options=("${options[@]/#--output=*/--window}")
  else
    say "writing $output"
  fi
  setpriv --pdeathsig TERM "$programs/$player" "${options[@]}" "$@" ||
    die "${input:-the test picture} was not filtered; the messages above say why"
}
