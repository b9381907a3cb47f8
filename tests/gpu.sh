#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the built tests on a GPU host, without Meson, from the list that the build writes; then the kernels under
# compute-sanitizer, if it is installed; then the benchmarks. Prints a line per step; the last line counts them. Writes
# logs, benchmark.csv, benchmark.svg, pipelines.csv and the table cameras.log to OUT_DIR (default: gpu-results).
#
# Usage: tests/gpu.sh [--list] BUILD_DIR [OUT_DIR]       --list: only lists what it would run, and what it leaves out
# BUILD_DIR may be a copy of the build folder, if this script is in a source tree of the same version. Environment
# variables that are already set take precedence: GST_PLUGIN_PATH_1_0, if set, must lead to the plugin.
# SUITES="kernels gpu" selects suites, TESTS="element soak" tests by name, STEPS="tests sanitizers benchmarks" some of
# these three steps, and SANITIZER_TOOLS="memcheck racecheck initcheck" the tools, by default the first two.
set -uo pipefail

listing=false
if [[ ${1:-} == --list ]]; then
  listing=true
  shift
fi
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "${1:?usage: gpu.sh [--list] BUILD_DIR [OUT_DIR]}" && pwd) || exit 2
out=${2:-gpu-results}
if ! $listing; then
  mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
fi
tests=$build/tests
export GST_PLUGIN_PATH_1_0=${GST_PLUGIN_PATH_1_0:-$build/gst}
export GST_REGISTRY_1_0=${GST_REGISTRY_1_0:-$out/registry.bin} # the build's own lists another machine's plugins
export CK_FORK=no # a CUDA context does not survive a fork
export CK_DEFAULT_TIMEOUT=300
suites=${SUITES:-unit kernels element gpu}
steps=${STEPS:-tests sanitizers benchmarks}
declare -A left_out=(
  [faults]="run on a stand-in for the driver, and say nothing of a GPU"
  [standin]="are run here on the GPU itself"
  [examples]="run on the CPU, and take encoders that a GPU host may be without"
  [peers]="compare the CPU with OpenCV and SciPy"
)
passed=0 failed=0 skipped=0

# skip NAME REASON
skip()
{
  skipped=$((skipped + 1))
  if $listing; then
    printf 'left out\t%s\t%s\n' "$@"
  else
    echo "skipped: $1: $2"
  fi
}

# step NAME SECONDS COMMAND...: runs a step. Exit status 77 means skipped, with the reason in the last line of the log.
step()
{
  local name=$1 limit=$2 log=$out/$1.log start=$SECONDS status
  shift 2
  if $listing; then
    printf 'step\t%s' "$name"
    printf '\t%s' "$@"
    echo
    return
  fi
  timeout "$limit" "$@" >"$log" 2>"$out/$name.err" </dev/null
  status=$?
  case $status in
  0)
    passed=$((passed + 1))
    echo "ok: $name ($((SECONDS - start)) s)"
    grep '^SKIPPED' "$log" | sed 's/^/  in it: /'
    ;;
  77)
    skip "$name" "$(tail -n 1 "$log")"
    ;;
  *)
    failed=$((failed + 1))
    echo "FAILED: $name (status $status$([[ $status == 124 ]] && echo ", over $limit s")), $log:"
    tail -n 12 "$log"
    tail -n 4 "$out/$name.err"
    ;;
  esac
}

# run_test NAME SECONDS VARIABLE=VALUE... -- COMMAND...
run_test()
{
  local name=$1 limit=$2 variables=() word
  shift 2
  while [[ $1 != -- ]]; do
    [[ -v ${1%%=*} ]] || variables+=("$1")
    shift
  done
  shift
  for word in "${@:2}"; do
    if [[ $word == @("$build"|"$source")/* && ! -e $word ]]; then
      skip "$name" "there is no $word"
      return
    fi
  done
  # The list names the build machine's Python, which may be elsewhere here.
  [[ -x $1 ]] || set -- "${1##*/}" "${@:2}"
  step "$name" "$limit" env "${variables[@]}" "$@"
}

# Runs the tests in the order of the list.
run_tests()
{
  local lines line words suite
  mapfile -t lines <"$tests/tests.list"
  ((${#lines[@]})) || exit 2
  for line in "${lines[@]}"; do
    IFS=$'\t' read -r -a words <<<"$line"
    words=("${words[@]//@BUILD@/$build}")
    words=("${words[@]//@SOURCE@/$source}")
    [[ -z ${TESTS:-} || " $TESTS " == *" ${words[1]} "* ]] || continue
    [[ " $suites " != *" ${words[0]} "* ]] || run_test "${words[@]:1}"
  done
  for suite in "${!left_out[@]}"; do
    skip "$suite" "${left_out[$suite]}"
  done
}

find_sanitizer()
{
  PATH=$PATH:/usr/local/cuda/bin:/opt/cuda/bin command -v compute-sanitizer
}

sanitize()
{
  local sanitizer tool
  if ! sanitizer=$(find_sanitizer); then
    skip compute-sanitizer "it is not installed"
    return
  fi
  for tool in ${SANITIZER_TOOLS-memcheck racecheck}; do
    # racecheck takes some 50 ms per launch, and only checks within a block: fewer cases, and none with several
    # sessions.
    if [[ $tool == racecheck ]]; then
      export CNV_QUICK_STEP=113 CK_RUN_CASE=cases
    fi
    step "$tool" 300 "$sanitizer" --tool "$tool" --error-exitcode 99 "$tests/kernels" --quick --backend cuda
    unset CNV_QUICK_STEP CK_RUN_CASE
  done
}

benchmark()
{
  step benchmark 600 "$tests/convolve-bench" --backend cuda --output "$out/benchmark.csv"
  show benchmark
  step plot 60 python3 "$source/tests/bench/plot.py" "$out/benchmark.csv" "$out/benchmark.svg"
  step pipelines 300 "$tests/pipeline-bench" --output "$out/pipelines.csv"
  show pipelines
  step cameras 300 "$tests/camera-bench"
  show cameras
}

# Prints the log of a step that writes a table.
show()
{
  $listing || [[ ! -s $out/$1.log ]] || cat "$out/$1.log"
}

if [[ $steps == *tests* ]]; then
  run_tests
  show exactness
fi
[[ $steps != *sanitizers* ]] || sanitize
[[ $steps != *benchmarks* ]] || benchmark
if ! $listing; then
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0 && passed > 0))
fi
