#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compiles each header by itself, included twice, with warnings as errors: in C, and headers in include/ also in C++.
# Without CUDA's headers, the headers that need them are skipped.
# usage: headers.sh SOURCE_ROOT C_COMPILER C++_COMPILER [FLAG...]      C++_COMPILER none: C++ is skipped
set -eu
pkg-config --exists gstreamer-check-1.0 gstreamer-video-1.0 || {
  echo "SKIPPED: GStreamer's headers are not here"
  exit 77
}
root=$1 cc=$2 cxx=$3
shift 3
cd "$root"
flags="-fsyntax-only -Werror -Wall -Wextra -Wshadow -Wno-unused-parameter -Wno-missing-field-initializers -Wno-psabi"
flags="$flags -DGST_USE_UNSTABLE_API -Iinclude -Icuda -Igst -Itests -Ipipelines $(pkg-config --cflags gstreamer-check-1.0 gstreamer-video-1.0)"
flags="$flags $(pkg-config --cflags gstreamer-cuda-1.0 2>/dev/null || true)"
compiled=0 failed=0 left_out=''

# compile HEADER COMPILER LANGUAGE FLAG...
compile() {
  header=$1 compiler=$2 language=$3
  shift 3
  # shellcheck disable=SC2086 # compilers and flags are words
  if printf '#include "%s"\n#include "%s"\n' "$header" "$header" | $compiler -x "$language" $flags "$@" -; then
    compiled=$((compiled + 1))
  else
    echo "headers: $header does not compile alone as $language" >&2
    failed=$((failed + 1))
  fi
}

# misses_cuda HEADER FLAG...: returns 0 if the header needs CUDA's headers and these are missing.
misses_cuda() {
  header=$1
  shift
  ! $cuda_is_here || return 1
  # shellcheck disable=SC2086
  printf '#include "%s"\n' "$header" | $cc -x c $flags "$@" -M -MG - | tr ' \\' '\n\n' | grep -qE '^(cuda|nvtx3/[a-zA-Z]+|gst/cuda/[a-z]+)\.h$'
}

# shellcheck disable=SC2086
if printf '#include <cuda.h>\n#include <nvtx3/nvToolsExt.h>\n#include <gst/cuda/gstcudacontext.h>\n' | $cc -x c $flags "$@" -M - >/dev/null 2>&1; then
  cuda_is_here=true
else
  cuda_is_here=false
fi
for header in $(find include cuda gst tests pipelines -name '*.h' | sort); do
  if misses_cuda "$header" "$@"; then
    left_out="$left_out $header"
    continue
  fi
  compile "$header" "$cc" c -std=gnu11 "$@"
  case $header in
  include/*) [ "$cxx" = none ] || compile "$header" "$cxx" c++ "$@" ;;
  esac
done
[ "$cxx" != none ] || echo "SKIPPED in C++: there is no compiler for it"
[ -z "$left_out" ] || echo "SKIPPED without CUDA's headers:$left_out"
echo "$compiled compiled, $failed failed"
[ "$failed" -eq 0 ] && [ "$compiled" -gt 0 ]
