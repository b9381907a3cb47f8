#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the built tests on a GPU host, without Meson; then the kernels under compute-sanitizer, where that is installed;
# then the benchmarks. One line a step, the last line counts them; logs, benchmark.csv, benchmark.svg and pipelines.csv
# go to OUT_DIR.
#
# Usage: tests/gpu.sh BUILD_DIR [OUT_DIR]
# GST_PLUGIN_PATH_1_0, where it is set, must lead to the plugin. SANITIZER_TOOLS="memcheck racecheck initcheck" picks
# other tools than the first two, SANITIZER_TOOLS= none.
set -uo pipefail

build=$(cd "${1:?usage: gpu.sh BUILD_DIR [OUT_DIR]}" && pwd) || exit 2
out=${2:-gpu-results}
mkdir -p "$out"
out=$(cd "$out" && pwd)
tests=$build/tests
export GST_PLUGIN_PATH_1_0=${GST_PLUGIN_PATH_1_0:-$build/gst}
export CK_FORK=no # a CUDA context does not survive a fork
export CK_DEFAULT_TIMEOUT=300
passed=0 failed=0 skipped=0

# step NAME SECONDS COMMAND...: exit status 77 is a skip; its reason is the log's last line.
step()
{
  local name=$1 limit=$2 log=$out/$1.log start=$SECONDS status
  shift 2
  timeout "$limit" "$@" >"$log" 2>"$out/$name.err"
  status=$?
  case $status in
  0)
    passed=$((passed + 1))
    echo "ok: $name ($((SECONDS - start)) s)"
    grep '^SKIPPED' "$log" | sed 's/^/  in it: /'
    ;;
  77)
    skipped=$((skipped + 1))
    echo "skipped: $name: $(tail -n 1 "$log")"
    ;;
  *)
    failed=$((failed + 1))
    echo "FAILED: $name (status $status$([[ $status == 124 ]] && echo ", over $limit s")), $log:"
    tail -n 12 "$log"
    tail -n 4 "$out/$name.err"
    ;;
  esac
}

find_sanitizer()
{
  PATH=$PATH:/usr/local/cuda/bin:/opt/cuda/bin command -v compute-sanitizer
}

sanitize()
{
  local sanitizer tool
  if ! sanitizer=$(find_sanitizer); then
    skipped=$((skipped + 1))
    echo "skipped: compute-sanitizer: it is not installed"
    return
  fi
  for tool in ${SANITIZER_TOOLS-memcheck racecheck}; do
    # racecheck takes some 50 ms a launch, and looks within a block alone: fewer cases, and none of many sessions.
    if [[ $tool == racecheck ]]; then
      export CNV_QUICK_STEP=113 CK_RUN_CASE=cases
    fi
    step "$tool" 300 "$sanitizer" --tool "$tool" --error-exitcode 99 "$tests/kernels" --quick --backend cuda
    unset CNV_QUICK_STEP CK_RUN_CASE
  done
}

for name in filter filter_kinds format border plan patches moments slices; do
  step "$name" 120 "$tests/$name"
done
step kernels 300 "$tests/kernels"
step exactness 300 "$tests/exactness"
[[ ! -s $out/exactness.log ]] || cat "$out/exactness.log"
step element 300 "$tests/element"
step gpu 300 "$tests/gpu"
step gpu_host 300 "$tests/gpu_host"
step soak 300 "$tests/soak"
sanitize
step benchmark 600 "$tests/convolve-bench" --backend cuda --output "$out/benchmark.csv" --plot "$out/benchmark.svg"
[[ ! -s $out/benchmark.csv ]] || cat "$out/benchmark.log"
step pipelines 300 "$tests/pipeline-bench" --output "$out/pipelines.csv"
[[ ! -s $out/pipelines.csv ]] || cat "$out/pipelines.log"
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0 && passed > 0))
