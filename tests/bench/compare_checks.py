#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks what compare-cpu.py reports: no verdict on a goal if ratios differ much, and whether the machine was steady.

Usage: compare_checks.py COMPARE_CPU
"""
import importlib.util
import sys


def load(path):
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location('compare_cpu', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(ratio, least, most, goal=4, rounds=5):
    return {'rounds': rounds, 'ratio': ratio, 'ratio_least': least, 'ratio_most': most, 'goal': goal}


def check_verdicts(compare):
    for figures, want in (row(5, 4.5, 6), 'met'), (row(3, 2.5, 3.5), 'MISSED'), (row(9, 7, 12), 'unclear'), \
            (row(3, 1, 3.5), 'unclear'), (row(5, -1, 6), 'unclear'), (row(5, 4.5, 6, ''), ''), \
            (row(5, 5, 5, rounds=1), 'unclear'):
        word = compare.verdict_of(figures)
        assert word == want, f'{figures}: {word!r}, not {want!r}'


def check_state(compare):
    first = {'peer': 'cvsmooth', 'format': 'GRAY8', 'ours_ms': 1.0, 'theirs_ms': 3.0}
    for ours, theirs, steady in (1.1, 2.8, True), (1.6, 3, False), (1, 1.5, False), (0.5, 3, False), (-0.1, 3, False):
        line = compare.state(0.25, 1.5, first, dict(first, ours_ms=ours, theirs_ms=theirs))
        assert '0.25' in line and '1.50' in line, line
        assert line.endswith('steady') == steady and ('NOT STEADY' in line) != steady, (ours, theirs, line)


module = load(sys.argv[1])
check_verdicts(module)
check_state(module)
