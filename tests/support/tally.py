#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Reads Meson's testlog.json. Standard output: how many tests passed, failed and were skipped. Standard error: which
# tests were skipped and why, and which failed.
import json
import os
import sys


def output(test):
    lines = (test.get('stdout', '') + '\n' + test.get('stderr', '')).splitlines()
    return [line.strip() for line in lines if line.strip()]


def left_out(test):
    """Returns the lines with which a test says that it was skipped, completely or in part."""
    lines = output(test)
    said = [line for line in lines if line.lower().startswith('skip')]
    return said or (lines[-1:] or ['no reason given'] if test['result'] == 'SKIP' else [])


def main(path):
    counts = {'passed': 0, 'failed': 0, 'skipped': 0}
    tests = [json.loads(line) for line in open(path, encoding='utf-8')] if os.path.exists(path) else []
    for test in tests:
        kind = {'OK': 'passed', 'EXPECTEDFAIL': 'passed', 'SKIP': 'skipped'}.get(test['result'], 'failed')
        counts[kind] += 1
        for line in left_out(test):
            print(f"{test['name']}: {line}", file=sys.stderr)
        if kind == 'failed':
            print(f"FAILED: {test['name']}: {test['result']}", file=sys.stderr)
    print(*counts.values())


main(sys.argv[1])
