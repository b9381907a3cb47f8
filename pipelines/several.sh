#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Several files in one call of a script: each is filtered by a call of its own, and gets a line. Sourced by common.sh
# beside it.
set -euo pipefail

# result_of NAME: sets `output` for `input`: holiday.mov becomes holiday-NAME.mp4, in the folder OUTPUT or in this one.
result_of()
{
  local file=${input%%[?#]*}
  [[ $input == *://* ]] || file=$input
  file=${file##*/}
  type=$video_type
  OUTPUT='' choose_output "${OUTPUT:-.}/${file%.*}-$1"
  output=${output#./}
}

# check_each NAME: fills `outputs`, and ends the script before it filters anything if a file is missing or two have the
# same result.
check_each()
{
  local -A source_of=()
  [[ -d ${OUTPUT:-.} ]] || die "OUTPUT must be a folder for several files; it is '$OUTPUT'"
  for input in "${files[@]}"; do
    check_input
    result_of "$1"
    [[ -z ${source_of[$output]:-} ]] ||
      die "'${source_of[$output]}' and '$input' would both be written to '$output': call $(basename "$0") for each"
    source_of[$output]=$input
    outputs+=("$output")
    need_plugins
  done
}

# What a call has said, in one line: all but progress and statistics.
in_one_line()
{
  awk '/^( |==|cudaconvolve[0-9]*:)/ || /the messages above say why$/ { next }
    { printf "%s%s", n++ ? "; " : "", $0 } END { print "" }' "$1"
}

# filter_one OUTPUT LOG: the file `input`. What exists is not overwritten.
filter_one()
{
  if [[ -e $1 || -L $1 ]]; then
    echo "'$1' exists: move it, or set OUTPUT to another folder" >"$2"
    return 1
  fi
  OUTPUT=$1 setpriv --pdeathsig TERM "$0" $verbose "$input" "${regions[@]}" >"$2" 2>&1
}

# filter_each NAME: all files, and then ends the script: with 1 if one of them failed.
filter_each()
{
  local outputs=() i status=0 log
  check_each "$1"
  find_programs "$player"
  is_installed || export CUDACONVOLVE_BUILD=$build
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  for i in "${!files[@]}"; do
    input=${files[i]}
    if filter_one "${outputs[i]}" "$log"; then
      echo "$input: ${outputs[i]}; $(in_one_line "$log")"
    else
      echo "$input: failed; $(in_one_line "$log")"
      status=1
    fi
    [[ -z $verbose ]] || cat "$log"
  done
  exit $status
}
