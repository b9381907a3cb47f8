#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds tests of the CPU engine for 64-bit ARM and runs them with QEMU, to test NEON code on other machines. Takes some
# ten minutes, so run.sh does not run it. On Debian it needs gcc-aarch64-linux-gnu, qemu-user, meson and pkg-config.
# Downloads libraries for ARM from Debian's archive (86 MB) into DIR/root, and installs nothing.
#
# Usage: tests/arm64.sh [TEST]...        the default: transform kernels laws exactness
# BUILD_DIR=DIR: build in DIR-arm64 instead of build-tests-arm64.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../pipelines/setup.sh"

tests=("$@")
((${#tests[@]})) || tests=(transform kernels laws exactness)
dir=$(realpath -m "$build-arm64")
sysroot=$dir/root
lib=$sysroot/usr/lib/aarch64-linux-gnu
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")

# Downloads packages and their dependencies into a folder, so that the system need not support another architecture.
fetch_libraries()
{
  local apt=$dir/apt

  mkdir -p "$apt"/{lists,archives}/partial "$sysroot"
  : >"$apt/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $suite main" >"$apt/sources"
  cat >"$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache::archives "$apt/archives";
Dir::Etc::sourcelist "$apt/sources";
Dir::Etc::sourceparts "-";
Debug::NoLocking "true";
END
  APT_CONFIG=$apt/conf apt-get -q update
  APT_CONFIG=$apt/conf apt-get -qy --download-only install libgstreamer-plugins-base1.0-dev
  for package in "$apt"/archives/*.deb; do
    dpkg -x "$package" "$sysroot"
  done
  touch "$sysroot/complete"
}

if [[ ! -e $sysroot/complete ]]; then
  say "fetching libraries for ARM into $sysroot"
  fetch_libraries
fi
cat >"$dir/cross.ini" <<END
[binaries]
c = ['aarch64-linux-gnu-gcc', '--sysroot=$sysroot']
ar = 'aarch64-linux-gnu-gcc-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '$sysroot']

[properties]
sys_root = '$sysroot'
pkg_config_libdir = '$lib/pkgconfig:$sysroot/usr/share/pkgconfig'

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
END
say "building in $dir/build"
configure "$dir/build" --cross-file "$dir/cross.ini" -Dtests=true -Dcuda=disabled
ninja -C "$dir/build" "${tests[@]/#/tests/}"

export CK_FORK=no CK_DEFAULT_TIMEOUT=3000 CNV_QUICK_STEP=${CNV_QUICK_STEP:-31}
for test in "${tests[@]}"; do
  options=()
  [[ $test != kernels ]] || options=(--quick --backend=cpu --simd=neon)
  say "$test"
  qemu-aarch64 -L "$sysroot" "$dir/build/tests/$test" "${options[@]}"
done
