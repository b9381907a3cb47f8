#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds with ThreadSanitizer and runs the tests of the element that use several threads; a race fails the test. Takes
# some ten minutes, so run.sh does not run it. tsan_glib.c and tsan.supp explain what is not reported as a race.
#
# Usage: tests/tsan.sh [TEST]...        the default: element flights regions_hostile
# BUILD_DIR=DIR: build in DIR-tsan instead of build-tests-tsan.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../pipelines/setup.sh"

tests=("$@")
((${#tests[@]})) || tests=(element flights regions_hostile)
dir=$build-tsan

install_needs
say "building in $dir with ThreadSanitizer"
configure "$dir" -Dtests=true -Dcuda=disabled -Db_sanitize=thread -Db_lundef=false
ninja -C "$dir"

# Misuse of mutexes is not reported: GLib makes the locks, and ThreadSanitizer sees only some calls on those that are
# pthread mutexes. As in run.sh, the tests scan our plugin themselves, and all others are scanned before.
GST_REGISTRY_1_0=$dir/tests/registry.bin gst-inspect-1.0 >/dev/null
export GST_REGISTRY_FORK=no G_SLICE=always-malloc CK_FORK=no
export TSAN_OPTIONS=suppressions=$root/tests/support/tsan.supp:history_size=4:report_mutex_bugs=0
say "running ${tests[*]}"
# One test at a time, the element first, because the first test writes the registry.
meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes 1 --timeout-multiplier 10 "${tests[@]}"
