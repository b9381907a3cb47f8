#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Installs a built plugin with `meson install`, for several prefixes and library folders, below a folder of its own.
# Checks that GStreamer finds the plugin and its presets, that pkg-config finds its header, and that Meson's summary
# names what the build lacks. Does not compile the project. Also checks that no script builds in the folder that
# README.md installs from.
#
# Usage: tests/element/install.sh BUILD_DIR
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
plugin=gst/libgstcudaconvolve.so
metainfo=org.freedesktop.gstreamer.cudaconvolve.metainfo.xml
built=$(cd "${1:?usage: install.sh BUILD_DIR}" && pwd)/$plugin
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail()
{
  echo "FAILED: $*"
  exit 1
}

# installs PREFIX PLUGIN_FOLDER MESON_OPTION...: installs the same plugin from a new configuration, without CUDA, which
# is faster to configure.
installs()
{
  local build=$folder/build place=$folder/root$2 share=$folder/root$1/share files
  rm -rf "$build" "$folder/root"
  meson setup "$build" "$root" --prefix="$1" -Dcuda=disabled "${@:3}" >"$folder/log" 2>&1 ||
    fail "meson setup: $(cat "$folder/log")"
  [[ $1 == "$gst_prefix" ]] ||
    grep -q ": export GST_PLUGIN_PATH=$2 GST_PRESET_PATH=$1/share/gstreamer-1.0/presets PKG_CONFIG_PATH=$1/share/pkgconfig$" \
      "$folder/log" || fail "$*: the summary does not say what to export: $(cat "$folder/log")"
  grep -q "^ *Analytics metas *: $analytics" "$folder/log" ||
    fail "$*: the summary does not say '$analytics' of detectors' metas: $(cat "$folder/log")"
  cp "$built" "$build/$plugin"
  meson install -C "$build" --no-rebuild --destdir "$folder/root" >"$folder/log" 2>&1 ||
    fail "meson install: $(cat "$folder/log")"
  files=$(find "$folder/root" -type f | sort)
  [[ $files == "$(printf '%s\n' "$place/${plugin##*/}" "$folder/root$1/include/cudaconvolve/enums.h" \
    "$share/gstreamer-1.0/presets/GstCudaConvolve.prs" "$share/metainfo/$metainfo" "$share/pkgconfig/cudaconvolve.pc" |
    sort)" ]] ||
    fail "$*: not the plugin in $place, its presets and its header, but: $files"
  env -u GST_PLUGIN_PATH -u GST_PLUGIN_PATH_1_0 GST_PLUGIN_SYSTEM_PATH_1_0="$place" GST_REGISTRY_1_0="$folder/registry.bin" \
    GST_PRESET_PATH="$share/gstreamer-1.0/presets" XDG_DATA_HOME="$folder" \
    gst-inspect-1.0 cudaconvolve >"$folder/log" 2>&1 || fail "$*: gst-inspect-1.0: $(cat "$folder/log")"
  grep -q '"motion blur": ' "$folder/log" || fail "$*: no presets: $(cat "$folder/log")"
  # shellcheck disable=SC2046 # flags are words
  echo '#include <cudaconvolve/enums.h>' | cc -fsyntax-only -Wall -Werror -xc - $(
    PKG_CONFIG_PATH="$share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$folder/root" pkg-config --cflags-only-I cudaconvolve)
  echo "$*"
}

# The description for software centres is valid, and has the version of the plugin.
is_described()
{
  local file=$root/gst/$metainfo
  ! command -v appstreamcli >/dev/null || appstreamcli validate --no-net --no-color "$file" || fail "$metainfo is not valid"
  grep -q "<release version=\"$(sed -n "s/^  version: '\(.*\)',$/\1/p" "$root/meson.build")\"" "$file" ||
    fail "$metainfo does not have the version of meson.build"
}

# README.md installs from a folder that no script uses: Meson keeps the options with which a folder was
# first set up, and an installation must not have those of the tests.
has_own_folder()
{
  local folder script
  folder=$(sed -n 's/^ *meson setup \([^ ]*\) --prefix=.*/\1/p' "$root/README.md")
  [[ -n $folder && $folder != *$'\n'* ]] || fail "README.md has not one line that configures an installation: $folder"
  for script in pipelines/setup.sh pipelines/common.sh; do
    # shellcheck disable=SC2016 # of that shell
    [[ $(env -u BUILD_DIR bash -c 'source "$0" && echo "$build"' "$root/$script") != "$root/$folder" ]] ||
      fail "$script builds in $folder, which README.md installs from"
  done
}

has_own_folder
is_described
gst_prefix=$(pkg-config --variable=prefix gstreamer-1.0)
gst_plugins=$(pkg-config --variable=pluginsdir gstreamer-1.0)
if pkg-config --atleast-version=1.24 gstreamer-analytics-1.0; then
  analytics='yes, boxes'
elif pkg-config --atleast-version=1.24 gstreamer-1.0; then
  analytics='no, gstreamer-analytics-1.0 not found: .* install libgstreamer-plugins-bad1.0-dev'
else
  analytics='no, GStreamer 1.24 or newer has them'
fi
installs "$gst_prefix" "$gst_plugins"
installs "$gst_prefix" "$gst_plugins" -Dlibdir=lib64
installs /opt/own "/opt/own${gst_plugins#"$gst_prefix"}"
