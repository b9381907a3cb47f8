#!/usr/bin/env bash
# You should see frames/s of each stream and of all together, on 1, 2, 4 and so on up to all GPUs of the machine.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/multi-gpu.sh [-DOPTION=VALUE]...
# STREAMS=N: of all GPUs together, by default two for each; fewer GPUs get their part. DURATION=3: seconds that are counted.
# WIDTH=3840 HEIGHT=2160 FORMAT=NV12: of the frames, which are noise. MEMORY=cuda: on the GPUs already, not in system memory.
# RADIUS=8 FILTER=gaussian ALGORITHM=auto: the properties of those names. BACKEND=cpu: without GPUs, as it also is where there
# are none.
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
