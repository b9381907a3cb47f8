#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds with ThreadSanitizer and runs the tests of the element in which threads meet; a race fails the test. On demand:
# it takes some ten minutes. What is told apart from races, and how, is in the heads of tsan_glib.c and tsan.supp.
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

# Of bugs with mutexes nothing is told: GLib has the locks, and what of them are pthread mutexes is seen in part alone.
# As with AddressSanitizer (run.sh) the plugin is scanned by the tests themselves, and all others before.
GST_REGISTRY_1_0=$dir/tests/registry.bin gst-inspect-1.0 >/dev/null
export GST_REGISTRY_FORK=no G_SLICE=always-malloc CK_FORK=no
export TSAN_OPTIONS=suppressions=$root/tests/support/tsan.supp:history_size=4:report_mutex_bugs=0
say "running ${tests[*]}"
# One at a time, the element first: who comes first writes the registry.
meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes 1 --timeout-multiplier 10 "${tests[@]}"
