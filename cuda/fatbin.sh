#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs nvcc, and keeps of what it makes on the way the PTX of one architecture and what ptxas reports of each kernel:
# registers, memory, spills. tests/kernel_resources.py reads both.
# usage: fatbin.sh FOLDER ARCHITECTURE PTX REPORT NVCC ARGUMENT...
set -eu
folder=$1 architecture=$2 ptx=$3 report=$4
shift 4
status=0
mkdir -p "$folder"
"$@" -Xptxas -v --keep --keep-dir "$folder" 2>"$report" || status=$?
# What is no report is for people.
grep -vE '^(ptxas info|    [0-9]+ bytes stack frame)' "$report" >&2 || true
# Of a single architecture its name is left out.
if [ $status -eq 0 ]; then
  cp "$folder"/*compute_"$architecture".ptx "$ptx" 2>/dev/null || cp "$folder"/*.ptx "$ptx"
fi
rm -rf "$folder"
exit $status
