#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the programs of gst/program.md, in C and in Python, as they are written there, and the lines for gst-launch-1.0 of
README.md and of all pages in gst/ that need no file of the reader's.

Usage: programs.py PROGRAM_PAGE ENUMS_HEADER C_COMPILER...   with GST_PLUGIN_PATH_1_0 and GST_PRESET_PATH for the plugin
"""
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path


def program(text, first):
    """Returns the indented block that begins with the line `first`."""
    lines = re.search(rf'^    {re.escape(first)}\n(?:(?:    .*)?\n)*', text, re.M)[0]
    return textwrap.dedent(lines)


def run(*command):
    """Runs a program. Returns its output, and the filters of its plans in the order in which they were made."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60,
                          env=os.environ | {'GST_DEBUG': 'cudaconvolve:5', 'GST_DEBUG_NO_COLOR': '1'})
    print(command[0], 'gave', done.returncode, done.stdout)
    assert done.returncode == 0 and 'no presets' not in done.stdout + done.stderr, done.stderr[-4000:]
    assert 'WARNING' not in done.stderr, done.stderr[-4000:]
    return done.stdout, re.findall(r'new plan: (\w+)', done.stderr)


def check(output, plans):
    """Expects one plan for the kernel, and plans for the preset and for radii 0 to 20, some of which no frame may use."""
    print(plans)
    assert plans.count('custom') == 1 and plans.count('gaussian') >= 15, plans


def check_frames(output, plans):
    """The program compares its frames by itself."""
    assert output.splitlines() == [f'frame {i}: the face is hidden' for i in range(10)] and plans == ['mosaic'], plans


def check_regions(output, plans):
    """The program reads the number of regions from the statistics."""
    assert output.splitlines() == ['regions of the last frame: 1'] and plans == ['gaussian'], (output, plans)


def compile_c(source, header, compiler, folder):
    """Returns the compiled program. The first line of its source names the modules that it needs."""
    (folder / 'cudaconvolve').mkdir(exist_ok=True)
    if not (folder / 'cudaconvolve' / 'enums.h').exists():
        (folder / 'cudaconvolve' / 'enums.h').symlink_to(header.resolve())
    (folder / 'program.c').write_text(source)
    modules = re.search(r'--libs ([^)]*)\)', source)[1].replace('cudaconvolve ', '').split()
    flags = subprocess.run(['pkg-config', '--cflags', '--libs', *modules], check=True, capture_output=True,
                           text=True).stdout.split()
    subprocess.run([*compiler, '-Wall', '-Werror', folder / 'program.c', '-o', folder / 'program', f'-I{folder}', *flags],
                   check=True)
    return folder / 'program'


def launch_lines(text):
    """Yields the lines for gst-launch-1.0 with videotestsrc, changed to send a few frames to fakesink."""
    for line in re.findall(r'^    gst-launch-1\.0 (videotestsrc .*)$', text, re.M):
        line = line.replace('videotestsrc', 'videotestsrc num-buffers=4').replace('autovideosink', 'fakesink')
        yield 'gst-launch-1.0 ' + line


def write_files(text, folder):
    """Writes the files that the lines use: the kernel and the zones of the pages, and a mask if there is pngenc."""
    (folder / 'kernel.txt').write_text(program(text, '# kernel.txt: softens along the diagonal').split('gst-launch')[0])
    (folder / 'yard.zones').write_text(program(text, "# The neighbour's window, always."))
    subprocess.run('gst-launch-1.0 -q videotestsrc num-buffers=1 ! pngenc ! filesink location=mask.png', shell=True,
                   cwd=folder, timeout=60)


def run_lines(pages, folder):
    """Runs the lines. Fails if a line fails, or if the element warns about its settings."""
    text = '\n'.join(path.read_text() for path in pages)
    write_files(text, folder)
    lines = set(launch_lines(text))
    assert len(lines) >= 16, lines
    for line in sorted(lines):
        if 'mask.png' in line and not (folder / 'mask.png').exists():
            print('SKIPPED, there is no pngenc:', line)
            continue
        done = subprocess.run(line, shell=True, cwd=folder, capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        assert done.returncode == 0 and 'WARN' not in said and 'could not set' not in said, f'{line}\n{said}'
        print('ran', line)


def main():
    page, header, compiler = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    text = page.read_text()
    with tempfile.TemporaryDirectory() as folder:
        for modules, passes in (('cudaconvolve gstreamer-controller-1.0', check),
                                ('gstreamer-app-1.0 gstreamer-video-1.0', check_frames),
                                ('gstreamer-video-1.0', check_regions)):
            name = re.search(rf'^    /\* cc (\w+)\.c -o \w+ \$\(pkg-config --cflags --libs {modules}\) \*/$', text, re.M)
            if compiler:
                passes(*run(compile_c(program(text, name[0].strip()), header, compiler, Path(folder))))
        run_lines([page.parent.parent / 'README.md', *sorted(page.parent.glob('*.md'))], Path(folder))
    try:
        import gi
        gi.require_version('Gst', '1.0')
        gi.require_version('GstController', '1.0')
        gi.require_version('GstVideo', '1.0')
        from gi.repository import Gst  # noqa: F401 (the next import is a part of it)
        import gi.overrides._gi_gst  # noqa: F401 (which python3-gst-1.0 has, for lists)
    except (ImportError, ValueError) as reason:
        print('SKIPPED in Python:', reason)
    else:
        check(*run(sys.executable, '-c', program(text, 'import gi')))
        check_frames(*run(sys.executable, '-c', program(text, 'import os')))


main()
