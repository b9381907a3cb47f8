# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of the two benchmarks: reads their files and runs the checks."""
import csv
import json
import sys
import tempfile
from pathlib import Path


def read_rows(path):
    with open(path, newline='') as stream:
        return list(csv.DictReader(stream))


def check_json(rows, path):
    objects = json.loads(path.read_text())
    assert len(rows) == len(objects)
    for row, thing in zip(rows, objects):
        assert list(row) == list(thing), f'{list(row)} in CSV, {list(thing)} in JSON'
        for name, text in row.items():
            value = thing[name]
            assert value is None and text == '' or value == text or float(value) == float(text), (name, text, value)


def run_checks(*checks):
    """Runs each check with the program of the command line and one folder for files."""
    with tempfile.TemporaryDirectory() as name:
        for check in checks:
            check(sys.argv[1], Path(name))
