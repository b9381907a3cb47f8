#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs ptxas and keeps its report on each kernel: registers, memory, spills. tests/unit/kernel_resources.py reads it.
# usage: ptxas.sh REPORT COMMAND...
set -eu
report=$1
shift
status=0
"$@" 2>"$report" || status=$?
# All other output is for people.
grep -vE '^(ptxas info|    [0-9]+ bytes stack frame)' "$report" >&2 || true
exit $status
