#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The scripts of pipelines/ build only for the GPUs of the machine, and only for the CPU if there is none. Uses a false
# driver and a false nvcc, which only report what a machine has.
#
# Usage: tests/element/architectures.sh
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../../pipelines/common.sh"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH=$folder:$PATH

# machine CAPABILITY...: makes a driver with GPUs of these compute capabilities.
machine()
{
  cc -shared -fPIC -o "$folder/libcuda.so.1" -x c - <<C
static const int capability[] = {${*/%/,} 0};
int cuInit(unsigned flags) { return flags != 0; }
int cuDeviceGetCount(int *n) { *n = $#; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
  *value = attribute == 75 ? capability[device] / 10 : capability[device] % 10;
  return attribute != 75 && attribute != 76;
}
C
}

# toolkit NAME...: makes an nvcc that supports these architectures.
toolkit()
{
  printf '#!/bin/sh\n[ "$1" = --list-gpu-code ] && printf "%%s\\n" %s\n' "$*" >"$folder/nvcc"
  chmod +x "$folder/nvcc"
}

have_gpu()
{
  $gpu
}

# expect MEANING OPTION...
expect()
{
  local options
  LD_LIBRARY_PATH=$folder choose_options >"$folder/said"
  [[ ${options[*]} == "${*:2}" ]] || {
    echo "FAILED: $1: ${options[*]} instead of ${*:2}"
    exit 1
  }
  echo "$1: ${options[*]}"
}

gpu=true
toolkit sm_75 sm_80 sm_86 sm_89 sm_90 sm_90a sm_100 sm_120
machine 90
expect "one GPU" -Dcuda=enabled -Dcuda-arch=sm_90
machine 120 75 120
expect "three GPUs, two of them alike, the newest first" -Dcuda=enabled -Dcuda-arch=sm_75,sm_120
machine 103
expect "a GPU newer than the toolkit" -Dcuda=enabled -Dcuda-arch=sm_100
machine 61
expect "a GPU too old for the toolkit" -Dcuda=disabled
machine 61 90
expect "one of two GPUs too old for the toolkit" -Dcuda=enabled -Dcuda-arch=sm_90
machine
expect "a driver without a GPU" -Dcuda=disabled
echo "no library" >"$folder/libcuda.so.1"
expect "a driver that does not load" -Dcuda=disabled
gpu=false
machine 90
expect "no device" -Dcuda=disabled
