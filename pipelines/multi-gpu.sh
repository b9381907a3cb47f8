#!/usr/bin/env bash
# You should see frames/s per stream and in total, on 1, 2, 4 and so on up to all GPUs of the machine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/multi-gpu.sh [-DOPTION=VALUE]...
# STREAMS=N: streams on all GPUs together, by default two per GPU. Fewer GPUs get proportionally fewer.
# DURATION=3: seconds to measure.
# WIDTH=3840 HEIGHT=2160 FORMAT=NV12: size and format of the frames, which contain noise.
# MEMORY=cuda: the frames are in GPU memory instead of system memory.
# RADIUS=8 FILTER=gaussian ALGORITHM=auto: the properties of these names.
# BACKEND=cpu: use the CPU, which is the default if there is no GPU.
set -euo pipefail
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/common.sh"

shared=()
most=0
player=multi-gpu
set_up "" "$@"
choose_filter gaussian
add_radius 8
"$programs/multi-gpu" --streams "${STREAMS:-0}" --duration "${DURATION:-3}" --width "${WIDTH:-3840}" \
  --height "${HEIGHT:-2160}" --format "${FORMAT:-NV12}" --backend "${BACKEND:-auto}" --memory "${MEMORY:-system}" \
  "${settings[@]}" "algorithm=${ALGORITHM:-auto}"
