#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sets a machine up: installs what is missing, configures and builds. Sourced by common.sh beside it and by tests/run.sh.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build-tests} # `build` is README's, for an installation

# What is needed, a line each: the kind of thing, its name, the Debian or Ubuntu package that has it. A build needs more.
build_needs="\
command cc gcc
header stdlib.h libc6-dev
command meson meson
command ninja ninja-build
command pkg-config pkg-config
module gmodule-2.0 libglib2.0-dev
module gstreamer-check-1.0 libgstreamer1.0-dev
module gstreamer-video-1.0 libgstreamer-plugins-base1.0-dev
"
needs="\
${build_needs}command gst-inspect-1.0 gstreamer1.0-tools
element videotestsrc gstreamer1.0-plugins-base
"

needs_cuda=false
cascade=/usr/share/opencv4/haarcascades/haarcascade_frontalface_default.xml # by which facedetect knows faces

say()
{
  echo "== $*"
}

die()
{
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# Makes sure that the build can be written. In a folder that all may write to, such as /tmp, what another user has made
# there is not touched.
check_place()
{
  local folder place remedy="set BUILD_DIR to a folder of your own: BUILD_DIR=\$HOME/cudaconvolve $0"
  folder=$(dirname "$build")
  mkdir -p "$folder" 2>/dev/null && [[ -w $folder ]] || die "'$folder' cannot be written to, so nothing can be built; $remedy"
  [[ ! -e $build || -w $build ]] || die "'$build' cannot be written to, so nothing can be built; $remedy"
  [[ -k $folder ]] || return 0
  for place in "$build" "$build.log" "$build-gst-bad"; do
    [[ ! -L $place ]] && [[ ! -e $place || -O $place ]] || die "'$place' is a link or belongs to another user; $remedy"
  done
}

# new_file FILE: empty, and of this user. A link that lies there is replaced, not followed.
new_file()
{
  local fresh
  fresh=$(mktemp "$1.XXXXXX")
  mv -fT "$fresh" "$1"
}

# step TEXT COMMAND...: what the command says goes to $log, and how far it is every few seconds to the terminal.
step()
{
  local text=$1 pid start=$SECONDS shown=$SECONDS
  shift
  say "$text"
  log=$build.log # Meson may empty the folder
  new_file "$log"
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  trap 'kill $pid 2>/dev/null; exit 130' INT TERM # apt-get itself goes on, lest it leaves half a package
  while kill -0 $pid 2>/dev/null; do
    sleep 0.1
    if ((SECONDS - shown >= 5)); then
      shown=$SECONDS
      printf '%6d s: %.90s\n' $((SECONDS - start)) "$(tail -n 1 "$log")"
    fi
  done
  trap - INT TERM
  wait $pid || {
    tail -n 40 "$log" >&2
    die "failed: $text; all that was said is in $log"
  }
}

# need KIND NAME PACKAGE
need()
{
  needs+="$*"$'\n'
}

# What library.py and its tests need.
need_library()
{
  need element matroskamux gstreamer1.0-plugins-good
  need element x264enc gstreamer1.0-plugins-ugly
  need element h264parse gstreamer1.0-plugins-bad
  need element avdec_h264 gstreamer1.0-libav
  need python gi.repository.Gst,gi.overrides._gi_gst python3-gst-1.0
  need typelib GstVideo-1.0 gir1.2-gst-plugins-base-1.0
  need python distributed python3-distributed
}

# nvcc often lies beside PATH; these are the places that meson.build looks at.
find_nvcc()
{
  PATH=$PATH:/usr/local/cuda/bin:/opt/cuda/bin command -v nvcc
}

have_gpu()
{
  [[ -e /dev/nvidiactl || -e /dev/dxg ]]
}

find_library()
{
  find /usr/lib* /usr/local/lib* -name "$1" 2>/dev/null | head -n 1
}

found()
{
  case $1 in
  command) command -v "$2" ;;
  header) echo "#include <$2>" | cc -E - ;;
  library) [[ -n $(find_library "$2") ]] ;;
  module) pkg-config --exists "$2" ;;
  element) gst-inspect-1.0 --exists --atleast-version=0.0.0 "$2" ;; # of the plugin; without it at least 1.0
  file) [[ -e $2 ]] ;;
  python) /usr/bin/python3 -c "import $2" ;; # the one that packages are for; PATH may lead to another
  typelib) /usr/bin/python3 -c "import gi; gi.require_version('${2%-*}', '${2#*-}')" ;;
  esac >/dev/null 2>&1 </dev/null
}

missing_packages()
{
  local kind name package
  while read -r kind name package; do
    [[ -z $kind ]] || found "$kind" "$name" || echo "$package"
  done <<<"$needs" | sort -u
}

apt_get()
{
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null || die "installing packages needs root, and there is no sudo"
    sudo=(sudo)
    [[ -t 0 ]] || sudo=(sudo -n)
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" \
    </dev/null
}

# Asks for the password where a terminal can give it.
may_install()
{
  ((EUID == 0)) || { command -v sudo >/dev/null && if [[ -t 0 ]]; then sudo -v; else sudo -n true 2>/dev/null; fi; }
}

# Installs packages, and prints what they fetch.
install_packages()
{
  local size
  size=$(apt-get install -qq --print-uris -o Debug::NoLocking=true --no-install-recommends "$@" 2>/dev/null |
    awk '{ bytes += $3 } END { printf "%.1f MB", bytes / 1e6 }' || true)
  step "installing, $size to fetch: $*" apt_get install -y --no-install-recommends "$@"
}

# Installs what is missing of the needs; does nothing, and needs no network, where nothing is. The names of packages
# have no spaces, and no process substitution: a bare root may be without /dev/fd.
install_needs()
{
  local packages
  check_place
  packages=$(missing_packages)
  if [[ -n $packages ]]; then
    command -v apt-get >/dev/null ||
      die "not found on this system (Debian's names of the packages), install and run again:" $packages
    may_install ||
      die "missing packages, and no root or sudo to install them; as root: apt-get install --no-install-recommends" $packages
    step "reading the lists of packages" apt_get update
    install_packages $packages
    packages=$(missing_packages)
    [[ -z $packages ]] || die "installed, yet what they should bring is still not found:" $packages
  fi
  take_headers
}

# Installs optional packages if the system has them.
try_install()
{
  ! apt-cache show "$@" >/dev/null 2>&1 || (install_packages "$@") || true
}

# With nvcc the GPU engine is built too.
need_cuda()
{
  if find_nvcc >/dev/null; then
    needs_cuda=true
    need command g++ g++
    found module gstreamer-cuda-1.0 || need library libgstcuda-1.0.so.0 libgstreamer-plugins-bad1.0-0
  else
    say "nvcc not found: the plugin is built for the CPU alone"
  fi
}

# The package with GStreamer's headers for CUDA and, from 1.24 on, for what detectors attach to frames needs 180 MB of
# others, of which these headers need none. Without those for detectors the element reads GstVideoRegionOfInterestMeta
# alone. Meson keeps the path that it finds at first.
take_headers()
{
  headers=$(realpath -m "$build-gst-bad")
  [[ :${PKG_CONFIG_PATH:-}: == *:"$headers":* ]] ||
    export PKG_CONFIG_PATH=$headers${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  ! $needs_cuda || found module gstreamer-cuda-1.0 || step "fetching GStreamer's headers for CUDA" fetch_headers cuda
  [[ -e $headers/tried || -z $(find_library libgstanalytics-1.0.so.0) ]] || found module gstreamer-analytics-1.0 ||
    (step "fetching GStreamer's headers for detectors" fetch_headers analytics) || true
}

# fetch_headers cuda|analytics
fetch_headers()
{
  local package=libgstreamer-plugins-bad1.0-dev
  mkdir -p "$headers"
  cd "$headers"
  [[ $1 != analytics ]] || touch tried # once: it can be done without
  if [[ ! -d include ]]; then
    apt-get download $package || { apt_get update && apt-get download $package; }
    dpkg -x $package*.deb all
    mv all/usr/lib/*/pkgconfig pkgconfig
    mv all/usr/include/gstreamer-1.0 include
    rm -r all $package*.deb
  fi
  ln -sf "$(find_library "libgst$1-1.0.so.0")" "libgst$1-1.0.so"
  sed "s|^includedir=.*|includedir=$PWD|; s|^libdir=.*|libdir=$PWD|; s|/gstreamer-1.0\$|/include|" \
    "pkgconfig/gstreamer-$1-1.0.pc" >"gstreamer-$1-1.0.pc"
}

# fetch_portrait FILE: NASA's of Eileen Collins, in the public domain, out of a package that is not installed.
fetch_portrait()
{
  local package=python3-skimage folder portrait
  portrait=$(realpath -m "$1")
  folder=$(mktemp -d)
  cd "$folder"
  apt-get download $package || { apt_get update && apt-get download $package; }
  dpkg --fsys-tarfile $package*.deb | tar -xO ./usr/lib/python3/dist-packages/skimage/data/astronaut.png >portrait.png
  mv portrait.png "$portrait"
  rm -r "$folder"
}

# configure DIR [MESON OPTION...]; a build directory that an older Meson or another system left is made anew.
configure()
{
  local dir=$1
  shift
  if [[ -f $dir/build.ninja ]]; then
    meson setup --reconfigure "$@" "$dir" "$root" || meson setup --wipe "$@" "$dir" "$root"
  else
    meson setup "$@" "$dir" "$root"
  fi
}
