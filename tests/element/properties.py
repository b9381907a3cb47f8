#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the tables of gst/properties.md with gst-inspect-1.0: the names, defaults and ranges of properties; the formats,
in system memory or also in CUDA memory; and their number, which README.md has in tens. Each property's own line must name
its default. Also checks the versions since which properties exist.

Usage: properties.py PAGE   with GST_PLUGIN_PATH_1_0 for the plugin

A row: | `name` | default | range or choices | what it does |
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

BASE = {'name', 'parent', 'qos'}  # properties of GstElement and GstBaseTransform
READ_ONLY = {'stats', 'unused', 'effective'}


def inspect(program):
    return subprocess.run([program, 'cudaconvolve'], check=True, capture_output=True, text=True,
                          env=os.environ | {'GST_INSPECT_NO_COLORS': '1'}).stdout


def properties_of(text):
    """Returns a dictionary from name to (blurb, default, range or choices), as gst-inspect-1.0 shows them."""
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
    return {name: rest for name, *rest in pattern.findall(section(path.read_text(), 'All properties'))}


def section(text, title):
    return re.search(rf'^## {title}\n(.*?)^## ', text, re.M | re.S)[1]


def formats_of(text):
    """Returns the set of formats of each caps; the one of system memory has all formats."""
    lists = re.findall(r'^ +format: \{?(.*?)\}?$', text.split('Pad Templates:')[1], re.M)
    return [set(re.findall(r'\(string\)(\w+)', found) or found.replace(',', ' ').split()) for found in lists]


def format_faults(inside, page, front):
    """A build without CUDA has no caps with CUDA memory."""
    cells = [line.split('|') for line in section(page, 'Formats').splitlines() if line.startswith('| ')][1:]
    here, both = ({word for cell in cells for word in cell[column].split()} for column in (3, 2))
    count = len(max(inside, key=len))
    if max(inside, key=len) != here | both:
        yield f'formats: not in both the page and the caps: {sorted(max(inside, key=len) ^ (here | both))}'
    for found in inside:
        if found != here | both and found != both:
            yield f'formats in CUDA memory: not in both the page and the caps: {sorted(found ^ both)}'
    for name, text, words in (('gst/properties.md', page, f'{count} formats'),
                              ('README.md', front, f'more than {(count - 1) // 10 * 10} formats')):
        if words not in text:
            yield f'{name} does not say that there are {words}'


def number(text):
    try:
        return float(int(text, 0))
    except ValueError:
        return float(text)


def same(one, other):
    """Compares numbers and ranges by value, other texts literally."""
    try:
        return [number(n) for n in one.split('..')] == [number(n) for n in other.split('..')]
    except ValueError:
        return one == other


def faults(properties, documented):
    for name in properties.keys() ^ documented.keys():
        if name not in BASE:
            yield f'{name}: ' + ('no row in the page' if name in properties else 'a row in the page, and no property')
    for name in properties.keys() & documented.keys() - READ_ONLY - BASE:
        (blurb, default, limits), (said_default, said_limits, text) = properties[name], documented[name]
        told = re.search(r'\(default ([^()]+)\)$', blurb)
        if not told or not same(told[1], default):
            yield f'{name}: the default is {default}, and its line says {told[1] if told else "none"}'
        if not same(said_default, default):
            yield f'{name}: the default is {default}, and the page says {said_default}'
        if limits and not same(said_limits, limits):
            yield f'{name}: the range is {limits}, and the page says {said_limits}'
        if not text:
            yield f'{name}: the page does not say what it does'


def parts(version):
    return [int(part) for part in version.split('.')]


def since_faults(page, documented, version):
    """Checks the versions since which properties exist. The page's version for all properties must be the one in the
    element's documentation, and no row may name a version that does not exist yet."""
    first = re.search(r'^Since: ([0-9.]+) for every property', page.read_text(), re.M)
    source = page.with_name('gstcudaconvolve.c').read_text()
    if not first or f'\n * Since: {first[1]}\n */' not in source:
        yield 'the page and the documentation of the element do not name the same first version, "Since: ..."'
        return
    for name, (_, _, text) in documented.items():
        for since in re.findall(r'Since:? *(\S*?)\)?$', text):
            if not re.fullmatch(r'[0-9]+\.[0-9]+', since) or not parts(first[1]) < parts(since) <= parts(version):
                yield f'{name}: (Since: {since}) must be later than {first[1]}, and at most {version}'


def main():
    program = shutil.which('gst-inspect-1.0')
    if not program:
        print('SKIPPED: there is no gst-inspect-1.0')
        sys.exit(77)
    page, inside = Path(sys.argv[1]), inspect(program)
    properties, documented = properties_of(inside), rows(page)
    found = sorted(faults(properties, documented))
    found += format_faults(formats_of(inside), page.read_text(), (page.parent.parent / 'README.md').read_text())
    found += since_faults(page, documented, re.search(r'^ +Version +(\S+)$', inside, re.M)[1])
    print(*found, sep='\n')
    print(f'{len(properties)} properties, {len(documented)} rows, {len(found)} faults')
    sys.exit(1 if found or len(documented) < 50 else 0)


main()
