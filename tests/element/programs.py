#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the two programs of gst/README.md, in C and in Python, as they are written there.

Usage: programs.py README ENUMS_HEADER C_COMPILER...   with GST_PLUGIN_PATH_1_0 and GST_PRESET_PATH for the plugin
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path


def program(text, first):
    """The indented block whose first line that is."""
    lines = re.search(rf'^    {re.escape(first)}\n(?:(?:    .*)?\n)*', text, re.M)[0]
    return textwrap.dedent(lines)


def run(*command):
    """Its plans, in the order in which they were made."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=os.environ | {'GST_DEBUG': 'cudaconvolve:5', 'GST_DEBUG_NO_COLOR': '1'})
    print(command[0], 'gave', done.returncode, done.stdout)
    assert done.returncode == 0 and 'no presets' not in done.stdout + done.stderr, done.stderr[-4000:]
    assert 'WARNING' not in done.stderr, done.stderr[-4000:]
    return re.findall(r'new plan: (\w+)', done.stderr)


def check(plans):
    """One plan for the kernel, one for the preset, and one for each radius from 0 to 20 but those between two frames."""
    print(plans)
    assert plans.count('custom') == 1 and plans.count('gaussian') >= 15, plans


def compile_c(source, header, compiler, folder):
    (folder / 'cudaconvolve').mkdir()
    (folder / 'cudaconvolve' / 'enums.h').symlink_to(header.resolve())
    (folder / 'program.c').write_text(source)
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'gstreamer-controller-1.0'], check=True,
                           capture_output=True, text=True).stdout.split()
    subprocess.run([*compiler, '-Wall', '-Werror', folder / 'program.c', '-o', folder / 'program', f'-I{folder}', *flags],
                   check=True)
    return folder / 'program'


def main():
    text, header, compiler = Path(sys.argv[1]).read_text(), Path(sys.argv[2]), sys.argv[3:]
    in_c = program(text, '/* cc blur.c -o blur $(pkg-config --cflags --libs cudaconvolve gstreamer-controller-1.0) */')
    in_python = program(text, 'import gi')
    with tempfile.TemporaryDirectory() as folder:
        if compiler:
            check(run(compile_c(in_c, header, compiler, Path(folder))))
    try:
        import gi
        gi.require_version('Gst', '1.0')
        gi.require_version('GstController', '1.0')
        from gi.repository import Gst  # noqa: F401 (the next is a part of it)
        import gi.overrides._gi_gst  # noqa: F401 (which python3-gst-1.0 has, for lists)
    except (ImportError, ValueError) as reason:
        print('SKIPPED in Python:', reason)
    else:
        check(run(sys.executable, '-c', in_python))


main()
