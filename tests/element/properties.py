#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds gst/README.md's tables of properties against what gst-inspect-1.0 says: the same names, defaults and ranges, and
each property's own line names its default.

Usage: properties.py README   with GST_PLUGIN_PATH_1_0 for the plugin

A row: | `name` | default | range or choices | what it does |
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BASE = {'name', 'parent', 'qos'}  # GstElement's and GstBaseTransform's
READ_ONLY = {'stats'}


def inspect(program):
    """Name to (blurb, default, range or choices), as far as they are told."""
    text = subprocess.run([program, 'cudaconvolve'], check=True, capture_output=True, text=True,
                          env=os.environ | {'GST_INSPECT_NO_COLORS': '1'}).stdout
    found = {}
    for block in re.split(r'\n  (?=[a-z])', text.split('Element Properties:', 1)[1].replace('\n\n', '\n'))[1:]:
        name, blurb = re.match(r'([a-z-]+)\s*: (.*)', block).groups()
        default = re.search(r'Default: *(?:\S+, )?(.*?)\s*$', block, re.M)
        limits = re.search(r'Range: *(\S+) - +(\S+)', block)
        choices = re.findall(r'^ +\((?:0x)?[0-9a-f]+\): (\S+)', block, re.M) or ['false', 'true'] * ('Boolean.' in block)
        told = default[1].strip('"') if default else 'null'
        found[name] = (blurb, 'none' if told in ('null', '<  >') else told, '..'.join(limits.groups()) if limits else ' '.join(choices))
    return found


def rows(path):
    pattern = re.compile(r'^\| `([a-z-]+)` \| *(.*?) *\| *(.*?) *\| *(.*?) *\|$', re.M)
    return {name: rest for name, *rest in pattern.findall(section(path.read_text()))}


def section(text):
    return re.search(r'^## Properties\n(.*?)^## ', text, re.M | re.S)[1]


def number(text):
    try:
        return float(int(text, 0))
    except ValueError:
        return float(text)


def same(one, other):
    """Numbers and ranges by value, all else as it is written."""
    try:
        return [number(n) for n in one.split('..')] == [number(n) for n in other.split('..')]
    except ValueError:
        return one == other


def faults(properties, documented):
    for name in properties.keys() ^ documented.keys():
        if name not in BASE:
            yield f'{name}: ' + ('no row in README' if name in properties else 'a row in README, and no property')
    for name in properties.keys() & documented.keys() - READ_ONLY - BASE:
        (blurb, default, limits), (said_default, said_limits, text) = properties[name], documented[name]
        told = re.search(r'\(default ([^()]+)\)$', blurb)
        if not told or not same(told[1], default):
            yield f'{name}: the default is {default}, and its line says {told[1] if told else "none"}'
        if not same(said_default, default):
            yield f'{name}: the default is {default}, and README says {said_default}'
        if limits and not same(said_limits, limits):
            yield f'{name}: the range is {limits}, and README says {said_limits}'
        if not text:
            yield f'{name}: README does not say what it does'


def main():
    program = shutil.which('gst-inspect-1.0')
    if not program:
        print('SKIPPED: there is no gst-inspect-1.0')
        sys.exit(77)
    properties, documented = inspect(program), rows(Path(sys.argv[1]))
    found = sorted(faults(properties, documented))
    print(*found, sep='\n')
    print(f'{len(properties)} properties, {len(documented)} rows, {len(found)} faults')
    sys.exit(1 if found or len(documented) < 50 else 0)


main()
