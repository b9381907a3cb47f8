#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes or checks the list of tests for tests/gpu.sh, which runs them without Meson, in a copy of the build folder.

Usage: test_list.py write BUILD SOURCE LIST DEPFILE   writes it from what Meson knows
       test_list.py check BUILD GPU_SH                 fails if gpu.sh leaves out a test or program without a reason

One line per test, with tabs between words: suite, name, seconds, variables, --, command. Folders: @BUILD@, @SOURCE@.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

SKIP = 77


def read(build, what):
    return json.loads((Path(build) / 'meson-info' / f'intro-{what}.json').read_text())


def suite_of(test):
    return test['suite'][0].split(':')[-1]


def movable(word, folders):
    """Replaces the folders in a word by their names. One folder may be inside the other."""
    for name, folder in folders:
        word = re.sub(re.escape(folder) + '(?=[/:]|$)', name, word)
    if not word or '\t' in word or '\n' in word:
        sys.exit(f'a word that the list cannot hold: {word!r}')
    return word


def write(build, source, path, depfile):
    folders = sorted([('@BUILD@', build), ('@SOURCE@', source)], key=lambda folder: -len(folder[1]))
    products = {name for target in read(build, 'targets') for name in target['filename']}
    with open(path, 'w', encoding='utf-8') as out:
        for test in read(build, 'tests'):
            # Tests run in the build folder, and some words are paths relative to it.
            paths = [os.path.normpath(os.path.join(build, word)) for word in test['cmd']]
            command = [p if p in products or os.path.isabs(word) else word for p, word in zip(paths, test['cmd'])]
            words = [suite_of(test), test['name'], str(test['timeout'])]
            words += [f'{name}={value}' for name, value in test['env'].items()] + ['--'] + command
            print(*[movable(word, folders) for word in words], sep='\t', file=out)
    Path(depfile).write_text(f'{path}: {build}/meson-info/intro-tests.json\n')


def faults(build, gpu_sh):
    lines = subprocess.run([gpu_sh, '--list', build], check=True, capture_output=True, text=True).stdout.splitlines()
    steps = {line.split('\t')[1]: line.split('\t')[2:] for line in lines if line.startswith('step\t')}
    reasons = {line.split('\t')[1] for line in lines if line.startswith('left out\t') and line.split('\t')[2]}
    run = {word for command in steps.values() for word in command}
    for test in read(build, 'tests'):
        if suite_of(test) in reasons:
            run |= {os.path.normpath(os.path.join(build, word)) for word in test['cmd']}
        if test['name'] not in steps and suite_of(test) not in reasons:
            yield f'the test {test["name"]} of the suite {suite_of(test)} is neither run nor left out for a reason'
    for target in read(build, 'targets'):
        if target['type'] == 'executable' and Path(target['defined_in']).parent.name == 'tests':
            if not run & set(target['filename']):
                yield f'the program {target["name"]} is in no step'


def main():
    match sys.argv[1:]:
        case ['write', build, source, path, depfile]:
            write(build, source, path, depfile)
        case ['check', build, _] if not (Path(build) / 'meson-info').exists():
            print('SKIPPED: this copy of the build folder is without what Meson knows')
            sys.exit(SKIP)
        case ['check', build, gpu_sh]:
            found = list(faults(build, gpu_sh))
            print(*found, sep='\n')
            sys.exit(1 if found else 0)
        case _:
            sys.exit(__doc__)


if __name__ == '__main__':
    main()
