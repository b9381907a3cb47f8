#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs pipeline-bench on small frames: its table and its files have the rows of --list, and errors are reported.

Usage: pipeline_bench.py PIPELINE_BENCH
"""
import os
import subprocess

from bench_checks import check_json, read_rows, run_checks


def bench(program, *options):
    return subprocess.run([program, '--quick', *options], capture_output=True, text=True,
                          env={**os.environ, 'LC_ALL': 'C'})


def listed(program):
    lines = bench(program, '--list').stdout.splitlines()
    cases = [tuple(line.split()[:2]) for line in lines]
    assert {'system', 'offered', 'cuda', 'nvh264dec', 'nvh264dec-system'} == {path for path, _ in cases}, lines
    assert {'NV12', 'RGBA', 'P010_10LE'} == {name for _, name in cases}, lines
    return cases


def skipped(text):
    """Returns the number of cases that a run left out; each path must have a reason."""
    lines = [line for line in text.splitlines() if line.startswith('SKIPPED')]
    assert all(len(line.split(': ', 1)[1]) > 10 for line in lines), lines
    return sum(int(line.split(' of ')[1].split()[0]) for line in lines)


def check_row(row):
    for way in ('source', 'identity', 'filter'):
        least, median, most = (float(row[f'{way}_per_s{end}']) for end in ('_min', '', '_max'))
        assert 0 < least <= median <= most, row
    # The decoder alone may be the limit.
    assert row['path'].startswith('nvh264dec') or float(row['source_per_s']) > float(row['filter_per_s']), row
    added = 1e6 / float(row['filter_per_s']) - 1e6 / float(row['identity_per_s'])
    assert abs(float(row['added_us']) - added) < 0.1 + 0.01 * abs(added), (row, added)
    assert float(row['compute_us']) > 0 and int(row['frames']) > 0, row
    if row['backend'] == 'cpu':
        assert int(row['bytes_up']) == int(row['bytes_down']) == 0, row
        assert row['duplex_per_s'] == row['goal_per_s'] == '', row
    elif row['path'] in ('system', 'offered'):
        assert int(row['bytes_up']) > 0 and int(row['bytes_down']) > 0 and float(row['of_duplex']) > 0, row


def check_all(program, folder):
    files = [folder / name for name in ('table.csv', 'table.json')]
    done = bench(program, f'--output={files[0]}', f'--output={files[1]}')
    assert done.returncode == 0, f'status {done.returncode}\n{done.stdout}{done.stderr}'
    rows = read_rows(files[0])
    cases = listed(program)
    assert len(rows) + skipped(done.stdout) == len(cases), f'{len(rows)} rows of {len(cases)}\n{done.stdout}'
    assert {row['path'] for row in rows} >= {'system', 'offered'}, rows
    lines = [line.split()[:2] for line in done.stdout.splitlines() if not line.startswith(('SKIPPED', 'path'))]
    assert lines == [[row['path'], row['format']] for row in rows], done.stdout
    for row in rows:
        check_row(row)
    check_json(rows, files[1])
    assert 'case 1 of ' in done.stderr, done.stderr
    print(f'{len(rows)} rows, {skipped(done.stdout)} skipped')


def check_choice(program, folder):
    file = folder / 'one.csv'
    done = bench(program, '--only=offered RGBA', '--frames=20', '--filter=backend=cpu radius=3', f'--output={file}')
    assert done.returncode == 0, done.stderr
    rows = read_rows(file)
    assert len(rows) == 2 and all(row['path'] == 'offered' and row['format'] == 'RGBA' for row in rows), rows
    assert all(row['filter'] == 'backend=cpu radius=3' and 20 <= int(row['frames']) <= 28 for row in rows), rows
    assert all(row['backend'] == 'cpu' for row in rows), rows


def check_errors(program, folder):
    errors = {
        '--only=nowhere': 'nowhere',
        f'--output={folder}/table.xml': '.csv or .json',
        f'--output={folder}/missing/table.csv': 'missing',
        '--filter=no-such-setting=1': 'no-such-setting',  # the pipeline cannot be created
        '--filter=filter=custom': 'no taps',  # it is created, but fails when it starts
        '--filter=radius=1 ! identity error-after=3': 'Failed after iterations',  # or fails while it runs
        '--filter=radius=1 ! identity drop-probability=0.5': 'frames were sent and',
    }
    for option, reason in errors.items():
        only = [] if option.startswith('--only') else ['--only=system NV12 19']
        done = bench(program, *only, option)
        assert done.returncode == 1 and 'pipeline-bench: ' in done.stderr and reason in done.stderr, (option, done)
    done = bench(program, '--only=nvh264dec NV12')
    assert (done.returncode, skipped(done.stdout)) in ((0, 0), (77, 2)), done


if __name__ == '__main__':
    run_checks(check_all, check_choice, check_errors)
