#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the Debian packages in a bare root, installs them in another one without a compiler, and tests there what
# README.md promises: the two commands, gst-inspect-1.0, a pipeline, each command on a file, the steps of Containerfile.
# Then removes the packages and checks that nothing is left. Needs root rights, debootstrap and a mirror.
#
# Usage: tests/package.sh [bookworm|trixie]...      default: both
# ROOTS=DIR: keep the roots in this folder, to make the next call faster; by default they are removed at the end.
set -euo pipefail
shopt -s inherit_errexit

source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
most_cpu_s=15    # limit of the CPU time of an installation
most_own_cpu_s=2 # limit of what our packages add to their dependencies; measurements differ by 1
roots=${ROOTS:-$(mktemp -d /var/tmp/cudaconvolve-package-XXXXXX)}
passed=0 skipped=0
build= user= # the two roots of a suite

fail()
{
  echo "FAILED: $*"
  exit 1
}

skip()
{
  echo "SKIPPED: $*"
  exit 77
}

ok()
{
  passed=$((passed + 1))
  echo "ok: $suite: $*"
}

finish()
{
  [[ -n ${ROOTS:-} ]] || rm -rf --one-file-system "$roots"
}

# in_root ROOT COMMAND...: runs it in a root with /proc, in a mount namespace of its own, so that nothing stays mounted.
in_root()
{
  # shellcheck disable=SC2016 # of that shell
  unshare --mount --propagation private sh -c 'mount -t proc proc "$1/proc" && exec chroot "$@"' sh "$1" \
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    BACKEND=cpu "${settings[@]}" sh -c 'cd "$0" && exec "$@"' "$work" "${@:2}" </dev/null
}
settings=() # NAME=VALUE for in_root()
work=/      # working folder of in_root()

# quietly COMMAND...: shows the output only if the command fails.
quietly()
{
  "$@" >"$roots/log" 2>&1 || {
    tail -n 60 "$roots/log"
    fail "$*"
  }
}

# new_root FOLDER: copies a bare root of the suite to it.
new_root()
{
  local bare=$roots/bare-$suite
  if [[ ! -e $bare/etc/debian_version ]]; then
    echo "making a bare root of $suite"
    rm -rf --one-file-system "$bare.new"
    quietly debootstrap --variant=minbase "$suite" "$bare.new"
    mv "$bare.new" "$bare"
    echo force-unsafe-io >"$bare/etc/dpkg/dpkg.cfg.d/unsafe-io" # as in container images: does not wait for disks
    quietly in_root "$bare" apt-get update
  fi
  rm -rf --one-file-system "$1"
  cp -a --reflink=auto "$bare" "$1"
}

# Builds as README.md says, from the source tree with its uncommitted changes, but without build folders.
build_packages()
{
  local command
  [[ -e $build/src ]] || {
    new_root "$build"
    quietly in_root "$build" apt-get install -y --no-install-recommends build-essential lintian autopkgtest
  }
  rm -rf "$build/src"
  mkdir -p "$build/src/cudaconvolve"
  tar -C "$source_root" --exclude=./.git --exclude='./build*' --exclude='./obj-*' -cf - . | tar -xf - -C "$build/src/cudaconvolve"
  work=/src/cudaconvolve
  command=$(sed -n 's/^    \(apt-get build-dep .*dpkg-buildpackage.*\)$/\1/p' "$source_root/README.md")
  [[ -n $command ]] || fail "README.md has no line with dpkg-buildpackage"
  quietly in_root "$build" sh -c "${command//apt-get /apt-get -y --no-install-recommends }"
  work=/
  packages=("$build"/src/*.deb)
  ok "built: $(du -ch --apparent-size "${packages[@]}" | tail -n 1 | cut -f 1) in ${packages[*]##*/}"
}

# lintian reports no errors. No package depends on FFTW, because they are LGPL, or on libcuda, which is opened at run
# time.
check_packages()
{
  quietly in_root "$build" sh -c 'lintian --allow-root --fail-on error /src/*.deb'
  grep -v '^running' "$roots/log" || true
  ok "lintian reports no errors"
  quietly in_root "$build" sh -c 'for p in /src/gstreamer1.0-cudaconvolve_*.deb /src/cudaconvolve-tools_*.deb; do dpkg -f $p Depends; done'
  ! grep -E 'fftw|libcuda|nvidia' "$roots/log" || fail "a package depends on FFTW or a driver"
  quietly in_root "$build" sh -c 'autopkgtest -B /src/*.deb /src/cudaconvolve -- null'
  ok "autopkgtest: $(sed '1,/ summary$/d' "$roots/log" | grep -E ' PASS$' | tr -s ' \n' ' ')"
}

# readme_line START: prints the only line of README.md that begins with START.
readme_line()
{
  local line
  line=$(grep "^    $1" "$source_root/README.md") || fail "README.md has no line '$1'"
  [[ $line != *$'\n'* ]] || fail "README.md has several lines '$1'"
  echo "${line#    }"
}

# cpu_time_of ROOT COMMAND: runs it in a root. Sets cpu_s to its CPU time.
cpu_time_of()
{
  local times TIMEFORMAT='%U %S'
  exec 3>&1
  times=$({ time quietly in_root "$1" sh -c "$2" >&3 2>&3; } 2>&1)
  cpu_s=$(awk '{ print $1 + $2 }' <<<"$times")
}

# install_as_readme COMMAND: runs it in a fresh root with the packages. Sets cpu_s.
install_as_readme()
{
  new_root "$user"
  mkdir "$user/videos"
  cp "${packages[@]}" "$user/videos"
  rm -f "$user"/videos/*-dbgsym_*
  work=/videos
  cpu_time_of "$user" "${1/apt install/apt-get install -y}"
}

# Installs only Debian's packages that ours depend on, in a root of their own. Sets cpu_s.
install_needs_only()
{
  local needs work=/
  needs=$(in_root "$user" sh -c 'dpkg-query -W -f "\${Depends}" cudaconvolve-tools' | tr ',' '\n' | sed 's/(.*//' |
    grep -v cudaconvolve)
  new_root "$user-needs"
  cpu_time_of "$user-needs" "apt-get install -y --no-install-recommends $(tr '\n' ' ' <<<"$needs")"
  rm -rf --one-file-system "$user-needs"
}

is_quick()
{
  awk -v cpu="$cpu_s" -v most=$most_cpu_s 'BEGIN { exit !(cpu < most) }'
}

# Returns 0 if the machine also runs other programs, which make CPU times longer.
is_busy()
{
  awk '{ exit !($1 > 1.5) }' /proc/loadavg
}

# Runs the two commands of README.md, in a root without a compiler.
run_readme()
{
  local command cpu_s total_s try
  command=$(readme_line 'apt install ./gstreamer1.0-cudaconvolve_')
  for try in 1 2 3; do
    install_as_readme "$command"
    ! is_quick && is_busy || break
    echo "try $try: $cpu_s s of CPU time, on a busy machine"
  done
  if is_quick; then
    ok "installed in $cpu_s s of CPU time, $(du -sh --apparent-size "$user" | cut -f 1) in all"
  elif is_busy; then
    skipped=$((skipped + 1))
    echo "skipped: $suite: $cpu_s s of CPU time for the installation say nothing, as the machine is busy"
  else
    total_s=$cpu_s
    install_needs_only
    awk -v all="$total_s" -v needs="$cpu_s" -v most=$most_own_cpu_s 'BEGIN { exit !(all - needs < most) }' ||
      fail "the installation takes $total_s s of CPU time, more than $most_cpu_s s, and only $cpu_s s without our packages"
    skipped=$((skipped + 1))
    echo "skipped: $suite: the installation takes $total_s s of CPU time, more than $most_cpu_s s, as this machine needs" \
      "$cpu_s s for Debian's packages alone"
  fi
  ! in_root "$user" sh -c 'command -v cc gcc clang' || fail "there is a compiler"
  make_clip
  quietly in_root "$user" $(readme_line 'cudaconvolve-blur clip.mp4')
  grep -q '^30 frames in ' "$roots/log" && [[ -s $user/videos/blurred.mp4 ]] || fail "not blurred: $(cat "$roots/log")"
  ok "the next command blurs a video"
}

make_clip()
{
  quietly in_root "$user" gst-launch-1.0 -q videotestsrc num-buffers=30 horizontal-speed=2 \
    ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! x264enc ! mp4mux name=mux ! filesink location=clip.mp4 \
    audiotestsrc num-buffers=40 ! audio/x-raw,rate=44100,channels=2 ! audioconvert ! avenc_aac ! mux.
}

# installed NAME [ARGUMENT...]: runs the command cudaconvolve-NAME on the clip, which filters 30 frames.
installed()
{
  quietly in_root "$user" "cudaconvolve-$1" clip.mp4 "${@:2}"
  grep -q '^30 frames in ' "$roots/log" || fail "cudaconvolve-$1: $(cat "$roots/log")"
  commands=${commands/ $1 / }
}

# misses PACKAGE COMMAND...: checks that the command fails, with one line that names the missing package.
misses()
{
  if in_root "$user" "${@:2}" >"$roots/log" 2>&1; then
    fail "${*:2}: no error without $1"
  fi
  grep -q "as root: apt install .*$1" "$roots/log" && (($(wc -l <"$roots/log") == 1)) ||
    fail "${*:2} does not name $1: $(cat "$roots/log")"
}

# Runs each command on a file. Commands that need further packages must first name them.
run_commands()
{
  local name
  commands=" $(cd "$user/usr/bin" && echo cudaconvolve-*) "
  commands=${commands//cudaconvolve-/}
  for name in blur edges sharpen compare tenbit denoise motionblur timedelta; do
    installed $name
  done
  installed privacy 10,10,100,80
  cp "$user/videos/clip.mp4" "$user/videos/other.mp4"
  settings=(START=0.5 DURATION=0.2)
  quietly in_root "$user" cudaconvolve-blur clip.mp4 other.mp4
  [[ $(grep -cE '^(clip|other).mp4: .*-blurred.mp4; .*[67] frames in ' "$roots/log") == 2 ]] ||
    fail "a part of two files: $(cat "$roots/log")"
  settings=(STREAMS=1 DURATION=1 WIDTH=320 HEIGHT=240)
  quietly in_root "$user" cudaconvolve-multi-gpu
  settings=(DISPLAY=:7)
  misses gir1.2-gtk-3.0 cudaconvolve-tune clip.mp4
  settings=()
  misses opencv-data cudaconvolve-faces clip.mp4
  misses gir1.2-gst-rtsp-server-1.0 cudaconvolve-camera
  misses python3-gst-1.0 cudaconvolve-library clip.mp4 --output out --scheduler none
  quietly in_root "$user" apt-get install -y --no-install-recommends gstreamer1.0-opencv \
    opencv-data gstreamer1.0-plugins-bad python3-gst-1.0 gir1.2-gst-plugins-base-1.0 gir1.2-gtk-3.0 librsvg2-common \
    python3-gi-cairo xvfb xauth gir1.2-gst-rtsp-server-1.0 gstreamer1.0-x
  installed faces
  installed background
  quietly in_root "$user" cudaconvolve-library clip.mp4 --output out --scheduler none radius=8
  [[ -s $user/videos/out/clip.mp4 ]] || fail "cudaconvolve-library writes nothing: $(cat "$roots/log")"
  in_root "$user" xvfb-run timeout 8 cudaconvolve-tune clip.mp4 >"$roots/log" 2>&1 || true # timeout ends it
  grep -q "^picture after" "$roots/log" ||
    fail "cudaconvolve-tune: $(cat "$roots/log")"
  in_root "$user" timeout 12 cudaconvolve-camera >"$roots/log" 2>&1 || true # timeout ends it
  grep -q "^camera1: live" "$roots/log" && grep -q "^ended" "$roots/log" ||
    fail "cudaconvolve-camera: $(cat "$roots/log")"
  for name in camera multi-gpu library tune; do
    commands=${commands/ $name / }
  done
  [[ $commands == ' ' ]] || fail "not tried:$commands"
  misses_nothing
  ok "each command runs on a file"
}

# Checks that running the commands wrote nothing beside them, and that completion works.
misses_nothing()
{
  [[ -z $(find "$user/usr" -name __pycache__ -path '*cudaconvolve*') ]] || fail "commands write beside themselves"
  # shellcheck disable=SC2016 # of that shell
  quietly in_root "$user" bash -c 'source /usr/share/bash-completion/completions/cudaconvolve-sharpen
    COMP_WORDS=(cudaconvolve-sharpen --verb) COMP_CWORD=1
    compopt() { :; }
    _cudaconvolve cudaconvolve-sharpen && [[ ${COMPREPLY[*]} == --verbose ]]'
}

# Purges the packages, and checks that no file with their name is left.
remove_packages()
{
  local left
  quietly in_root "$user" apt-get purge -y gstreamer1.0-cudaconvolve cudaconvolve-tools
  left=$(find "$user" -xdev -iname '*cudaconvolve*' -not -path "$user/videos/*" -not -path "$user/root/.cache/*"
    in_root "$user" dpkg -l | grep cudaconvolve || true)
  [[ -z $left ]] || fail "after a purge there is still: $left"
  in_root "$user" gst-inspect-1.0 cudaconvolve >"$roots/log" 2>&1 && fail "after a purge GStreamer still has the element"
  ok "removed without a trace"
}

# Runs the steps of Containerfile in a bare root, like the image that it starts from; then its CMD, and a blur in its
# WORKDIR.
run_container_steps()
{
  local step rest container=$roots/container-$suite names=()
  work=/ settings=()
  new_root "$container"
  while read -r step rest; do
    case $step in
    FROM) [[ $rest == debian:*-slim ]] || fail "Containerfile: FROM $rest" ;;
    COPY)
      mkdir -p "$container/${rest##* }"
      # shellcheck disable=SC2086 # the names may contain *
      (cd "$build/src" && cp ${rest% *} "$container/${rest##* }")
      ;;
    RUN) quietly in_root "$container" sh -c "$rest" ;;
    ENV) read -ra settings <<<"$rest" ;;
    WORKDIR) work=$rest && mkdir -p "$container$rest" ;;
    CMD) quietly in_root "$container" $(tr -d '[],"' <<<"$rest") ;;
    '#'* | '') continue ;;
    *) fail "Containerfile: this test does not know $step" ;;
    esac
    names+=("$step")
  done <"$source_root/Containerfile"
  grep -q '^Usage: cudaconvolve-blur' "$roots/log" || fail "the CMD of Containerfile: $(cat "$roots/log")"
  quietly in_root "$container" env FRAMES=3 cudaconvolve-blur
  [[ -s $container$work/blurred.mp4 && ! -e $container/packages ]] || fail "Containerfile: no blurred.mp4, or packages are left"
  work=/ settings=()
  rm -rf --one-file-system "$container"
  ok "steps of Containerfile: ${names[*]}"
}

suite_passes()
{
  suite=$1
  build=$roots/build-$suite user=$roots/user-$suite
  build_packages
  check_packages
  run_readme
  run_commands
  remove_packages
  run_container_steps
}

((EUID == 0)) || skip "needs root"
command -v debootstrap >/dev/null || skip "needs debootstrap"
trap finish EXIT
mkdir -p "$roots"
(($#)) || set -- bookworm trixie
for suite; do
  suite_passes "$suite"
done
echo "$passed passed, 0 failed, $skipped skipped"
