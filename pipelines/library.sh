#!/usr/bin/env bash
# You should see the progress, and at the end a line for each video that failed. The outputs and report.html are in DIR.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/library.py INPUT... --output DIR [OPTION]... [PROPERTY=VALUE]...
#        pipelines/library.py --set-up     only installs and builds: run it on each machine of a cluster
# Filters all videos of a library with cudaconvolve and these properties. Each video is cut at key frames into segments,
# which workers filter. The filtered segments are joined without encoding them again; sound and subtitles are copied. A call
# continues where the last one stopped. Exit status: 1 if a video failed.
#   INPUT                 file, folder or glob; @FILE is a list with one of them per line
#   --scheduler ADDRESS   address of a Dask cluster whose machines see the same files; none: workers here, without Dask.
#                         A Dask cluster has no authentication by default: anyone who reaches its ports can run programs
#                         there as its user. Pass the three options below to dask-scheduler, dask-worker and library.py.
#   --tls-ca-file FILE --tls-cert FILE --tls-key FILE    encrypt, and admit only those who have the key: see pipelines/README.md
#   --workers N           workers on this machine; by default one per GPU, or without a GPU one per four cores
#   --segment SECONDS     least time between cuts, by default 60
#   --type mp4|m4v|mov|mkv    type of the outputs; by default the type of the input if it is one of these, else mkv
#   --encoder ELEMENTS    by default nvh264enc ! h264parse, or without a GPU x264enc with constant quality
# The script builds in build-pipelines, for the GPUs of this machine:
#   -DOPTION=VALUE        option for Meson, for example -Dcuda=disabled
#   BUILD_DIR=DIR         in the environment: build in DIR
#   CUDACONVOLVE_BUILD=DIR    in the environment: use the build in DIR and install nothing
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

shared=()
arguments=()
for argument; do
  case $argument in
  -h | --help)
    print_head
    exit
    ;;
  -D*) give_option "$argument" ;;
  *) arguments+=("$argument") ;;
  esac
done
need_library
# Without Dask, workers are threads of library.py.
! is_installed || [[ " ${arguments[*]} " != *" --scheduler"[\ =]"none "* ]] ||
  needs=${needs/"python distributed python3-distributed"/}
find_programs
[[ ${arguments[*]} != --set-up ]] || exit 0
! is_installed || export PYTHONDONTWRITEBYTECODE=1 # write nothing into the installation
exec /usr/bin/python3 "$here/library.py" "${arguments[@]}"
