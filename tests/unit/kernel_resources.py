#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the resources that the CUDA kernels use, from the reports of ptxas in the build, and checks their limits.

Usage: kernel_resources.py list REPORT...                a line for each kernel and architecture
       kernel_resources.py check [REPORT... PTX PLUGIN]  skipped without files, in a build without nvcc

Shared memory that a launch requests is not included. For older architectures ptxas also reports constant memory.
"""
import re
import struct
import sys
from pathlib import Path

COPY_ENGINE_STACK = 8  # bytes of stack that ptxas uses for bulk tensor copies on sm_120
MAY_USE_LOCAL_MEMORY = re.compile(r'cnv_(naive|mosaic|stage|cover|one_tap)$|^(?!cnv_)')
# Kernels with block jobs, and copies. For all others the launch requests shared memory, up to CNV_SHARED_MAX
# (cuda/gpu/kinds.h) or the limit of fused. The limits below are the rest, which such a kernel may declare itself.
BLOCKS = re.compile(r'cnv_(naive|mosaic|cells|tiled|separable|texture|stage|cover|copy|copy_jobs|noise)$')
# The rows of interpolate's tiles depend on that rest (cuda/gpu/decimated.c).
LIMITS = ((re.compile('fused'), 22528), (re.compile('interpolate'), 1024), (re.compile(''), 4096))
KERNELS_MAX = 64  # per architecture, without the functions that they call
PLUGIN_MAX = 9_000_000  # loaded bytes of a plugin with all architectures
DOUBLE = re.compile(r'\.f64\b')
SKIP = 77

ENTRY = re.compile(r"Compiling entry function '(\S+)' for '(\S+)'")
PROPERTIES = re.compile(r'Function properties for (\S+)')
STACK = re.compile(r'(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads')
USED = re.compile(r'Used (\d+) registers')


class Kernel:
    """A kernel on one architecture. Called functions that are not inlined count as kernels without registers."""

    def __init__(self, name, arch):
        self.name, self.arch = name, arch
        self.stack = self.spills = self.registers = self.shared = self.constant = 0

    def __str__(self):
        return f'{self.name} for {self.arch}'


def read_reports(paths):
    kernels = [kernel for path in paths for kernel in read_report(path)]
    return sorted(kernels, key=lambda kernel: (int(re.sub(r'\D', '', kernel.arch) or 0), kernel.name))


def read_report(path):
    kernels, entry, current = [], None, None
    for line in Path(path).read_text().splitlines():
        if found := ENTRY.search(line):
            entry = Kernel(*found.groups())
            kernels.append(entry)
        elif found := PROPERTIES.search(line):
            current = entry
            if entry is None or found[1] != entry.name:
                current = Kernel(found[1], entry.arch if entry else '?')
                kernels.append(current)
        elif found := STACK.search(line):
            current.stack, current.spills = int(found[1]), int(found[2]) + int(found[3])
        elif found := USED.search(line):
            entry.registers = int(found[1])
            entry.shared = sum(int(n) for n in re.findall(r'(\d+) bytes smem', line))
            entry.constant = sum(int(n) for n in re.findall(r'(\d+) bytes cmem', line))
    if not kernels:
        sys.exit(f'{path} names no kernel')
    return kernels


def print_list(kernels):
    print(f'{"kernel":<36} {"for":<8} registers  shared  local  spills  constant')
    for k in kernels:
        print(f'{k.name:<36} {k.arch:<8} {k.registers:9} {k.shared:7} {k.stack:6} {k.spills:7} {k.constant:9}')


def faults_of_kernels(kernels):
    names = {kernel.name for kernel in kernels if kernel.registers}
    if len(names) > KERNELS_MAX:
        yield f'{len(names)} kernels: at most {KERNELS_MAX} may be'
    for kernel in kernels:
        if kernel.spills:
            yield f'{kernel}: {kernel.spills} bytes of spills'
        if kernel.stack > COPY_ENGINE_STACK and not MAY_USE_LOCAL_MEMORY.search(kernel.name):
            yield f'{kernel}: {kernel.stack} bytes of local memory'
        most = next(limit for name, limit in LIMITS if name.search(kernel.name))
        if kernel.shared > most and not BLOCKS.search(kernel.name):
            yield f'{kernel}: {kernel.shared} bytes of shared memory, at most {most} may be'


def faults_of_ptx(path):
    text = Path(path).read_text()
    entry = '?'
    if '.entry' not in text:
        yield f'{path} has no kernel'
    for number, line in enumerate(text.splitlines(), 1):
        if found := re.search(r'\.entry\s+(\w+)', line):
            entry = found[1]
        if DOUBLE.search(line.split('//')[0]):
            yield f'{path}:{number}: double precision in {entry}: {line.strip()}'


def loaded_bytes(path):
    """Returns the bytes of a library for 64 bits that are loaded. Debug information, which packages do not have, depends
    on the compiler and its options: 2.8 MB by gcc 12."""
    data = Path(path).read_bytes()
    if data[:6] != b'\x7fELF\x02\x01':
        sys.exit(f'{path} is not an ELF file for 64 bits, little-endian')
    (table,) = struct.unpack_from('<Q', data, 0x20)
    size, count = struct.unpack_from('<HH', data, 0x36)
    headers = [struct.unpack_from('<IIQQQQ', data, table + size * n) for n in range(count)]
    return sum(in_file for kind, _, _, _, _, in_file in headers if kind == 1)  # PT_LOAD


def faults_of_plugin(path):
    size = loaded_bytes(path)
    if size > PLUGIN_MAX:
        yield f'{path}: {size} bytes are loaded, at most {PLUGIN_MAX} may be'


def check(reports, ptx, plugin):
    kernels = read_reports(reports)
    faults = [*faults_of_kernels(kernels), *faults_of_ptx(ptx), *faults_of_plugin(plugin)]
    print(f'{len({k.name for k in kernels if k.registers})} kernels for {len({k.arch for k in kernels})} architectures, '
          f'{loaded_bytes(plugin)} bytes of the plugin are loaded')
    for fault in faults[:50]:
        print(fault)
    return 1 if faults else 0


def main():
    match sys.argv[1:]:
        case ['list', *reports] if reports:
            print_list(read_reports(reports))
        case ['check']:
            print('SKIPPED: this build has no CUDA kernels, nvcc was not found or CUDA is disabled')
            sys.exit(SKIP)
        case ['check', *reports, ptx, plugin] if reports:
            sys.exit(check(reports, ptx, plugin))
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main()
