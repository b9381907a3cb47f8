#!/usr/bin/env bash
# You should see the videos of a library filtered, on all GPUs or cores of this machine or on those of a Dask cluster.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/library.py INPUT... --output DIR [OPTION]... [PROPERTY=VALUE]...; pipelines/library.py --help lists them
#        pipelines/library.py --set-up     installs and builds, and no more: on each machine of a cluster
# It sets up what library.py needs, which then takes over.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

need element matroskamux gstreamer1.0-plugins-good
need element x264enc gstreamer1.0-plugins-ugly
need element h264parse gstreamer1.0-plugins-bad
need element avdec_h264 gstreamer1.0-libav
need python gi.repository.Gst,gi.overrides._gi_gst python3-gst-1.0
need typelib GstVideo-1.0 gir1.2-gst-plugins-base-1.0
need python distributed python3-distributed

for argument; do
  case $argument in
  -D*) given+=("$argument") ;;
  *) arguments+=("$argument") ;;
  esac
done
if [[ -n ${CUDACONVOLVE_BUILD:-} ]]; then
  build=$CUDACONVOLVE_BUILD
else
  install_and_build
fi
[[ ${arguments[*]} != --set-up ]] || exit 0
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_PRESET_PATH=$root/gst
exec /usr/bin/python3 "$root/pipelines/library.py" "${arguments[@]}"
