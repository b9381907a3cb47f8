#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The archive of `meson dist` contains exactly the files that git knows, and at its top only the folders named below.
# From it, plugin and commands can be built, tested and installed without git. All places that name the version agree.
# Skipped in a source tree without git, such as that archive.
#
# Usage: tests/element/dist.sh
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail()
{
  echo "FAILED: $*"
  exit 1
}

# quietly COMMAND...: shows the output only if the command fails.
quietly()
{
  "$@" >"$folder/log" 2>&1 || fail "$*: $(tail -n 40 "$folder/log")"
}

expected=".ci .clang-format .editorconfig .githooks .github .gitignore CONTRIBUTING.md COPYING Containerfile NEWS.md README.md \
RELEASING.md SECURITY.md cuda debian gst include meson.build meson_options.txt pipelines tests "

[[ -e $root/.git ]] && command -v git >/dev/null || {
  echo "SKIPPED: needs git and a source tree of it"
  exit 77
}
quietly meson setup "$folder/build" "$root" -Dcuda=disabled
quietly meson dist -C "$folder/build" --no-tests --allow-dirty --formats gztar
archive=("$folder"/build/meson-dist/*.tar.gz)
tar -tzf "${archive[0]}" | grep -v '/$' | sort >"$folder/listed"
name=$(head -n 1 "$folder/listed" | cut -d / -f 1)
git -C "$root" -c safe.directory="$root" ls-tree -r --name-only HEAD | sed "s|^|$name/|" | sort >"$folder/wanted"
cmp "$folder/listed" "$folder/wanted" || fail "the archive has other files: $(diff "$folder/wanted" "$folder/listed")"
top=$(cut -d / -f 2 "$folder/listed" | LC_ALL=C sort -u | tr '\n' ' ')
[[ $top == "$expected" ]] || fail "at the top of the archive is $top, not $expected"
echo "files in ${archive[0]##*/}: $(wc -l <"$folder/listed"), in $top"

version=${name#cudaconvolve-}
grep -q "^cudaconvolve ($version) " <(head -n 1 "$root/debian/changelog") || fail "debian/changelog does not begin with $version"
[[ $(grep -m 1 '<release ' "$root"/gst/*.metainfo.xml) == *"version=\"$version\""* ]] || fail "the metainfo does not begin with $version"
[[ $(grep -m 1 '^## ' "$root/NEWS.md") == "## $version "* ]] || fail "NEWS.md does not begin with $version"

printf '#!/bin/sh\necho "git is called: $*" >&2\nexit 1\n' >"$folder/git"
chmod +x "$folder/git"
export PATH=$folder:$PATH
tar -xzf "${archive[0]}" -C "$folder"
quietly meson setup "$folder/own" "$folder/$name" -Dcuda=disabled -Dtools=true --prefix=/usr
quietly ninja -C "$folder/own"
quietly meson install -C "$folder/own" --no-rebuild --destdir "$folder/root"
for file in bin/cudaconvolve-blur include/cudaconvolve/enums.h share/man/man1/cudaconvolve-blur.1 \
  share/gstreamer-1.0/presets/GstCudaConvolve.prs; do
  [[ -e $folder/root/usr/$file ]] || fail "not installed: $file"
done
quietly meson configure "$folder/own" -Dtests=true
quietly ninja -C "$folder/own" tests/plan gst/libgstcudaconvolve.so
quietly meson test -C "$folder/own" --no-rebuild --timeout-multiplier 5 plan layers
BACKEND=cpu GST_PLUGIN_PATH=$folder/own/gst FRAMES=2 OUTPUT=$folder/out.png quietly "$folder/root/usr/bin/cudaconvolve-blur"
[[ -s $folder/out.png ]] || fail "the installed command writes nothing: $(cat "$folder/log")"
