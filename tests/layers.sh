#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Holds the one rule of the source: gst/ -> include/ <- cuda/. Prints each line that breaks it.
# usage: layers.sh [SOURCE_ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
broken=0

# Include lines of the folder's files that match no allowed pattern: "file:line:text".
check() {
  folder=$1 why=$2 allowed=$3
  files=$(find "$folder" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \))
  [ -n "$files" ] || { echo "layers: no source in $folder" >&2; exit 1; }
  # shellcheck disable=SC2086 # names in this tree have no spaces
  bad=$(grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null $files | grep -vE "$allowed" || true)
  [ -z "$bad" ] && return 0
  printf '%s: %s\n%s\n' "$folder" "$why" "$bad" >&2
  broken=1
}

# "name.h" in the same folder is a file's own business.
own() {
  (cd "$1" && find . -type f \( -name '*.h' -o -name '*.cuh' \) | sed 's|^\./||; s|[.]|[.]|g' | paste -sd '|' -)
}

system='<(std[a-z]+|string|math|errno|fcntl|limits|unistd|pthread|float|ctype|locale)\.h>'
check gst 'may include GStreamer, GLib, convolve/ and itself alone' \
  "include[[:space:]]*(<(gst/|glib|gmodule|gio/)|[<\"]convolve/|\"($(own gst)|config\.h)\"|$system)"
check include 'may include GLib and itself alone' \
  "include[[:space:]]*(<glib[a-z-]*\.h>|[<\"]convolve/|\"($(own include/convolve))\"|$system)"
check cuda 'may include GLib, CUDA, convolve/ and itself alone' \
  "include[[:space:]]*(<(glib|gmodule|cuda|nvtx3/)|<(immintrin|sys/|sched|mma)|[<\"]convolve/|\"($(own cuda)|config\.h)\"|$system)"
exit $broken
