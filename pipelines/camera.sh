#!/usr/bin/env bash
# You should see a line per camera with its address, and then its frames/s, latency and state. A player shows the address:
# the picture with its zones hidden, or a grey one with the reason if there is no picture or no valid zones.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/camera.sh [-DOPTION=VALUE]... [SOURCE]...
# A SOURCE is rtsp://HOST/PATH, a device such as /dev/video0, or a video file, which is repeated. Without a SOURCE it shows a
# drawn town. The first camera is served at rtsp://127.0.0.1:8554/camera1. Lost cameras are tried again until they are back.
# Ctrl-C or SIGTERM ends it, and leaves complete recordings.
# ZONES=FILE: zones to hide, for all cameras; or FILE:FILE for each. pipelines/tune.sh draws them.
# DETECTOR=ELEMENTS: also hide what a detector finds. Written as for gst-launch-1.0, such as "facedetect display=false".
# MISSING=copy: the property roi-missing, for the regions of the detector.
# FILTER=fill RADIUS=24 COLOR=0xff404040: the properties filter, radius and fill-color.
# CAMERA_USER=NAME CAMERA_PASSWORD=SECRET: log in to the cameras. No password is accepted as an argument.
# CAMERAS=FILE: cameras in a key file, one group for each, with source, user, password, zones and detector. The group
# [server] has the user and password of viewers. With a password, its mode must be 600.
# LISTEN=127.0.0.1 PORT=8554: address to serve at. An address that other machines reach needs SERVE_USER and SERVE_PASSWORD.
# SERVE_USER=NAME SERVE_PASSWORD=SECRET: user and password of viewers, by digest authentication.
# RECORD=FOLDER MINUTES=10: record the served pictures, in files of this many minutes.
# BITRATE=4000: kbit/s of each stream; the default depends on its frame size.
# STATUS=10: seconds between the status lines; 0: no lines.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

shared=(CAMERA)
need typelib GstRtspServer-1.0 gir1.2-gst-rtsp-server-1.0
need python gi.repository.Gst,gi.overrides._gi_gst python3-gst-1.0
need typelib GstVideo-1.0 gir1.2-gst-plugins-base-1.0
need element rtspsrc gstreamer1.0-plugins-good
need element h264parse gstreamer1.0-plugins-bad
need element x264enc gstreamer1.0-plugins-ugly
need element avdec_h264 gstreamer1.0-libav
need element textoverlay gstreamer1.0-x
# Read by camera.py; passwords are in no argument.
export ZONES="${ZONES:-}" MISSING="${MISSING:-copy}" CAMERAS="${CAMERAS:-}" LISTEN="${LISTEN:-}" PORT="${PORT:-}"
export CAMERA_USER="${CAMERA_USER:-}" CAMERA_PASSWORD="${CAMERA_PASSWORD:-}" SERVE_USER="${SERVE_USER:-}"
export SERVE_PASSWORD="${SERVE_PASSWORD:-}" RECORD="${RECORD:-}" MINUTES="${MINUTES:-}" BITRATE="${BITRATE:-}"
export STATUS="${STATUS:-}" DETECTOR="${DETECTOR:-}"
export MALLOC_ARENA_MAX=2 # memory that threads of a lost camera freed is used again; with more arenas it grows for minutes
[[ $DETECTOR != *facedetect* ]] || need_opencv
parse_arguments "$@"
for input in "${files[@]}"; do
  [[ $input == *://* ]] || check_input
done
input=
find_programs "$player"
if [[ ${#files[@]} == 0 && -z $CAMERAS ]]; then
  files=("$build/town.mp4")
  mkdir -p "$build"
  [[ -e $files ]] || step "drawing a town" "$programs/$player" "--output=$files" --frames=300 -- cudaconvolve filter=identity
  if [[ -z $ZONES$DETECTOR ]]; then
    ZONES=$build/town.zones
    [[ -e $ZONES ]] || printf '[street]\nrectangle=0,0.8,1,0.2\n\n[window]\nellipse=0.4,0.2,0.2,0.4\n' >"$ZONES"
    say "hiding the zones of $ZONES: change them while it runs"
  fi
fi
choose_filter fill
add_radius 24
add_setting fill-color "${COLOR:-}" 0xff404040 fill
! is_installed || export PYTHONDONTWRITEBYTECODE=1 # write nothing into the installation
exec /usr/bin/python3 "$here/camera.py" "${settings[@]/#/--set=}" "${files[@]}"
