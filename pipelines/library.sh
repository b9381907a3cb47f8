#!/usr/bin/env bash
# You should see how far the videos are, and at the end a line for each that failed; outputs and report.html are in DIR.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/library.py INPUT... --output DIR [OPTION]... [PROPERTY=VALUE]...
#        pipelines/library.py --set-up     installs and builds, and no more: on each machine of a cluster
# Filters all videos of a library by cudaconvolve with these properties. Each video is cut at key frames into segments,
# which workers filter; what they make is joined without encoding it again, with sound and subtitles as they are. A call
# goes on where the last one stopped. Exit status: 1 where a video failed.
#   INPUT                 file, folder or glob; @FILE is a list with one on each line
#   --scheduler ADDRESS   of a Dask cluster whose machines see the same files; none: workers here, without Dask.
#                         A Dask cluster has no authentication by default: whoever reaches its ports can run programs there
#                         as its user. Give the three options below to dask-scheduler, dask-worker and library.py.
#   --tls-ca-file FILE --tls-cert FILE --tls-key FILE    encrypt, and let in only who has the key; pipelines/README.md shows how
#   --workers N           on this machine: by default one for each GPU, or without a GPU for each four cores
#   --segment SECONDS     the least time between cuts: 60
#   --type mp4|m4v|mov|mkv    of the outputs: by default that of the input or, where that is another, mkv
#   --encoder ELEMENTS    nvh264enc ! h264parse, or without a GPU x264enc with constant quality
# The script builds in build-pipelines, for the GPUs of this machine:
#   -DOPTION=VALUE        for Meson, like -Dcuda=disabled
#   BUILD_DIR=DIR         in the environment: build in DIR
#   CUDACONVOLVE_BUILD=DIR    in the environment: use the build in DIR as it is, and install nothing
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
! is_installed || export PYTHONDONTWRITEBYTECODE=1 # nothing beside what is installed
exec /usr/bin/python3 "$here/library.py" "${arguments[@]}"
