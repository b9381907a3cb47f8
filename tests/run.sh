#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs what is needed, and builds and runs all tests; the last line counts them. Asks nothing, and needs neither a
# GPU nor nvcc. It does not look for races between threads: tests/tsan.sh does.
#
# Usage: tests/run.sh [--no-sanitizers] [--long] [--peers] [--packages] [--suite NAME]... [-DOPTION=VALUE]...
#   --no-sanitizers   leave out the second build, with AddressSanitizer and UndefinedBehaviorSanitizer
#   --long            run all cases, also of tests that then take minutes with sanitizers or on the stand-in driver
#   --peers           install OpenCV and SciPy, which are large, for the suite peers; it skips a peer that is missing
#   --packages        build, install, try and remove the Debian packages in bare roots, see tests/package.sh
#   --suite NAME      run only this suite: unit kernels element faults standin gpu peers examples
#   -DOPTION=VALUE    passed to meson, like -Dcuda=disabled or -Dcuda-arch=sm_90
# BUILD_DIR=DIR: build in DIR and DIR-asan instead of build-tests and build-tests-asan. CI=true: warnings are errors.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../pipelines/setup.sh"

passed=0 failed=0 skipped=0 finished=false
sanitizers=true long=false peers=false packages=false suites=() options=(-Dtests=true)

usage()
{
  sed -n '/^# Usage/,/^# BUILD_DIR/s/^# //p' "${BASH_SOURCE[0]}"
  exit 2
}

parse_options()
{
  while (($#)); do
    case $1 in
    --no-sanitizers) sanitizers=false ;;
    --long) long=true ;;
    --peers) peers=true ;;
    --packages) packages=true ;;
    --suite)
      suites+=("${2:?--suite needs a name}")
      shift
      ;;
    -D*) options+=("$1") ;;
    *) usage ;;
    esac
    shift
  done
  ((${#suites[@]})) || suites=(unit kernels element faults standin gpu peers examples)
  options+=("-Dlong-tests=$long")
  [[ ${CI:-} != true ]] || options+=(-Dwerror=true)
  [[ " ${options[*]}" == *" -Dcuda-arch="* ]] || options+=(-Dcuda-arch=auto) # else the folder would keep its last value
}

# Prints the last line, however the script ends. A failed build counts as a failure.
finish()
{
  $finished || failed=$((failed + 1))
  echo "$passed passed, $failed failed, $skipped skipped"
  ((failed == 0 && passed > 0)) || exit 1
}

# check NAME COMMAND...: runs a test that Meson does not run.
check()
{
  local name=$1
  shift
  if "$@"; then
    echo "ok: $name"
    passed=$((passed + 1))
  else
    echo "FAILED: $name"
    failed=$((failed + 1))
  fi
}

# Passes lines on. If none comes for 10 seconds, prints the time since the start.
with_pulse()
{
  local line part= status
  while true; do
    status=0
    IFS= read -r -t 10 line || status=$?
    part+=$line
    if ((status > 128)); then
      echo "$((SECONDS / 60)) min $((SECONDS % 60)) s since the start"
    elif ((status > 0)); then
      break
    else
      printf '%s\n' "$part"
      part=
    fi
  done
}

# run_suites DIR TIMEOUT_MULTIPLIER SUITE...
run_suites()
{
  local dir=$1 multiplier=$2 p f s
  shift 2
  say "running in $dir: $*"
  rm -f "$dir/meson-logs/testlog.json"
  # The exit status says less than the log, which names the failed tests.
  meson test -C "$dir" --no-rebuild --print-errorlogs --timeout-multiplier "$multiplier" "${@/#/--suite=}" |
    with_pulse || true
  read -r p f s <<<"$(python3 "$root/tests/support/tally.py" "$dir/meson-logs/testlog.json")"
  passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
  ((p + f + s > 0)) || die "there is no test in: $*"
}

# Releases of clang-format format differently, so the sources follow that of Debian 12. Newer systems have it as an
# additional package, or not at all.
find_formatter()
{
  command -v clang-format-14 || { clang-format --version | grep -q ' 14\.' && command -v clang-format; }
}

check_format()
{
  local formatter
  find_formatter >/dev/null 2>&1 || try_install clang-format-14
  if formatter=$(find_formatter 2>/dev/null); then
    check "C and CUDA sources are formatted as .clang-format says" formatted "$formatter"
  else
    echo "skipped: format: needs clang-format 14, which this system does not have"
    skipped=$((skipped + 1))
  fi
}

formatted()
{
  find "$root"/{cuda,gst,include,pipelines,tests} -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' |
    xargs "$1" --dry-run -Werror
}

scripts_parse()
{
  local script bad=0
  for script in "$root"/{cuda/gpu,tests,tests/element,tests/support,tests/unit,pipelines}/*.sh "$root"/debian/tests/{pipeline,tools} \
    "$root/pipelines/tools/completion.bash" "$root"/.{ci/run,githooks/pre-commit}; do
    bash -n "$script" || bad=1
  done
  return $bad
}

# GStreamer scans plugins in a helper program, which cannot load a library built with AddressSanitizer. So the tests
# scan in their own process. The registry gets all other plugins beforehand, so that the tests only scan ours.
scan_other_plugins()
{
  GST_REGISTRY_1_0=$1/tests/registry.bin gst-inspect-1.0 >/dev/null
}

# Unwinds whole stacks, which is slow, because lsan.supp names functions in the middle of them. The check for use after
# return is off: with it, GCC 13.2 misaligns vectors of 64 bytes, and reading them faults.
run_sanitized()
{
  local dir=$build-asan
  say "configuring $dir"
  configure "$dir" "${options[@]}" -Dcuda=disabled -Db_sanitize=address,undefined -Db_lundef=false
  step "building in $dir with AddressSanitizer and UndefinedBehaviorSanitizer" ninja -C "$dir"
  scan_other_plugins "$dir"
  ASAN_OPTIONS=halt_on_error=1:detect_leaks=1:strict_string_checks=1:fast_unwind_on_malloc=0
  export ASAN_OPTIONS+=:detect_stack_use_after_return=0
  export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
  export LSAN_OPTIONS=suppressions=$root/tests/support/lsan.supp:print_suppressions=0
  export GST_REGISTRY_FORK=no G_SLICE=always-malloc
  run_suites "$dir" 5 "$@"
}

parse_options "$@"
exec 2>&1 </dev/null
trap finish EXIT

need_cuda
need command c++ g++ # the public headers are for C++ too
need command python3 python3
! $packages || need command debootstrap debootstrap
if find_nvcc >/dev/null && have_gpu; then # CUDA memory and a decoder, for the tests of the suite gpu
  need element h264parse gstreamer1.0-plugins-bad
  need element x264enc gstreamer1.0-plugins-ugly
fi
if $peers; then
  need python numpy python3-numpy
  need python scipy.ndimage python3-scipy
  need python cv2 python3-opencv
fi
if [[ " ${suites[*]} " == *" examples "* ]]; then # for library.sh; downloads 103 or 123 MB on Debian 12 or 13
  need_library
  need command openssl openssl
fi
install_needs
# For the test of tune.sh, which is skipped without these: 9 or 7 MB more on Debian 12 or 13.
{ found typelib Gtk-3.0 && found python gi._gi_cairo && found command Xvfb; } ||
  try_install gir1.2-gtk-3.0 librsvg2-common python3-gi-cairo xvfb
# For the test of camera.sh, which is skipped without these: 0.4 MB more than library.py needs.
{ found typelib GstRtspServer-1.0 && found element textoverlay; } ||
  try_install gir1.2-gst-rtsp-server-1.0 gstreamer1.0-x gstreamer1.0-plugins-bad
# For programs in Python: libgstreamer1.0-dev has everything except the overrides, which convert lists to values.
found python gi.repository.Gst,gi.overrides._gi_gst || try_install python3-gst-1.0
# For noise.py, which is skipped without it: 5 MB more on Debian 12.
found python numpy || try_install python3-numpy
# For the tests of faces.sh and background.sh, which are skipped without these: 54 or 62 MB more.
{ found element facedetect && found file "$cascade"; } || try_install gstreamer1.0-opencv opencv-data
take_headers

say "configuring $build"
configure "$build" "${options[@]}"
found file "$build/portrait.png" || (step "fetching a photograph, 21 MB" fetch_portrait "$build/portrait.png") || true
step "building in $build" ninja -C "$build"
run_suites "$build" 1 "${suites[@]}"
if $sanitizers; then
  # That build has no CUDA. In peers and examples, other programs would have to load a library with AddressSanitizer.
  sanitized=$(printf '%s\n' "${suites[@]}" | grep -vE '^(faults|standin|gpu|peers|examples)$' || true)
  [[ -z $sanitized ]] || run_sanitized $sanitized
fi
check "an installed plugin is where GStreamer looks" "$root/tests/element/install.sh" "$build"
check "the scripts of pipelines/ build for the GPUs here" "$root/tests/element/architectures.sh"
! $packages || check "the Debian packages can be built, installed, used and removed" "$root/tests/package.sh"
check_format
check "the scripts are right bash" scripts_parse
finished=true
