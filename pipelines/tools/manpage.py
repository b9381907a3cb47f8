#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the manual page of an installed command. Makes it from the paragraphs of --help: what you should see, the
usage with a description, and the settings.

Usage: manpage.py NAME DESCRIPTION VERSION
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PIPELINES = Path(__file__).resolve().parent.parent
SETTING = re.compile(r'((?:--)?[A-Za-z_-]+(?:=[^:]*)?): (.*)')


def help_of(name):
    """Returns the help of the installed script: a script is installed if the program `run` is in its folder."""
    with tempfile.TemporaryDirectory() as folder:
        for script in PIPELINES.glob('*.sh'):
            shutil.copy(script, folder)
        Path(folder, 'run').touch(mode=0o755)
        return subprocess.run(['bash', os.path.join(folder, name + '.sh'), '--help'], check=True, capture_output=True,
                              text=True).stdout


def escaped(line):
    line = line.replace('\\', '\\e').replace('-', '\\-')
    return '\\&' + line if line[:1] in ("'", '.') else line


def body(lines):
    """Yields lines of the page. Indented lines are not filled, and settings become a list."""
    kept = False
    for line in lines:
        if line.startswith(' ') != kept:
            kept = not kept
            yield '.nf' if kept else '.fi'
        setting = SETTING.match(line)
        if setting:
            yield f'.TP\n.B {escaped(setting[1])}\n{escaped(setting[2])}'
        else:
            yield escaped(line)
    if kept:
        yield '.fi'


def page(name, description, version):
    seen, usage, *rest = [part.splitlines() for part in help_of(name).strip().split('\n\n')]
    forms = [line.removeprefix('Usage:').strip() for line in usage if line.startswith(('Usage:', '  '))
             and 'cudaconvolve-' in line.split()[0 if line.startswith('  ') else 1]]
    yield f'.TH CUDACONVOLVE-{name.upper()} 1 "" "cudaconvolve {version}" "User Commands"'
    yield f'.SH NAME\ncudaconvolve\\-{escaped(name)} \\- {escaped(description)}'
    yield '.SH SYNOPSIS\n' + '\n.br\n'.join('.B ' + escaped(form) for form in forms)
    yield '.SH DESCRIPTION'
    yield from body(seen)
    yield '.PP'
    yield from body(usage[len(forms):])
    for part in rest:
        yield '.SH SETTINGS'
        yield from body(part)
    yield '.SH SEE ALSO\n.BR gst\\-inspect\\-1.0 (1)\nlists the properties: gst\\-inspect\\-1.0 cudaconvolve'


print('\n'.join(page(*sys.argv[1:])))
