#!/usr/bin/env bash
# You should see a window with the video, a wipe between before and after, and a control for each property of the element.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/tune.sh [-DOPTION=VALUE]... [FILE|URI]
# Without a FILE it shows a drawn town. Press in the video to move the wipe. The line below the video, for gst-launch-1.0,
# contains the settings that you changed.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

shared=(CAMERA)
most=1
need typelib Gtk-3.0 gir1.2-gtk-3.0 librsvg2-common
need python gi._gi_cairo python3-gi-cairo
need python gi.repository.Gst,gi.overrides._gi_gst python3-gst-1.0
need element jpegdec gstreamer1.0-plugins-good
only_window=true
set_up "" "$@"
if [[ -z $input ]]; then
  input=$build/town.jpg
  mkdir -p "$build"
  [[ -e $input ]] || step "drawing a town" "$programs/$player" "--output=$input" --frames=1 \
    -- cudaconvolve filter=identity
fi
case $input in
/dev/*) read -ra source <<<"$(camera)" ;;
*://*) source=(uridecodebin "uri=$input") ;;
*) source=(filesrc "location=$input" ! decodebin) ;;
esac
! is_picture "$input" || source+=(! imagefreeze)
[[ ! -f $input ]] || export TUNE_PLAYER="$programs/$player" TUNE_INPUT="$input"
! is_installed || export PYTHONDONTWRITEBYTECODE=1 # write nothing into the installation
exec /usr/bin/python3 "$here/tune.py" "${source[@]}"
