#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs camera-bench on small frames: each way and size has its rows, whose figures agree, and errors are reported.

Usage: camera_bench.py CAMERA_BENCH
"""
import subprocess
import sys

from bench_checks import run_checks

COLUMNS = ['size', 'way', 'streams', 'per_s', 'slowest', 'cameras', 'filter_us', 'cores', 'decoder', 'gpu', 'delay_ms']


def bench(program, *options):
    return subprocess.run([program, '--quick', *options], capture_output=True, text=True)


def read_rows(text):
    lines = [line.split() for line in text.splitlines()]
    return [dict(zip(COLUMNS, words)) for words in lines if len(words) == len(COLUMNS) and words[2].isdigit()]


def check_all(program, _):
    done = bench(program, '--streams=1,3')
    if done.returncode == 77:
        print(done.stdout)
        sys.exit(77)
    assert done.returncode == 0, f'status {done.returncode}\n{done.stdout}{done.stderr}'
    rows = read_rows(done.stdout)
    for size in '1920x1080', '3840x2160':
        ways = [(row['way'], row['streams']) for row in rows if row['size'] == size]
        assert ways[:-1] == [(way, n) for way in ('decode', 'zones', 'encode') for n in '13'], done.stdout
        assert ways[-1][0] == 'live', done.stdout
    for row in rows:
        n, per_s, slowest = int(row['streams']), float(row['per_s']), float(row['slowest'])
        assert 0 < slowest <= per_s / n + 0.1, row
        assert float(row['cores']) > 0, row
        assert (row['filter_us'] == '-') == (row['way'] == 'decode'), row
        if row['way'] == 'live':
            assert int(row['cameras']) == n and int(row['delay_ms']) >= 0, row
        else:
            # per_s is rounded to a tenth
            assert int((per_s - 0.05) / 30) <= int(row['cameras']) <= int((per_s + 0.05) / 30), row
            assert row['delay_ms'] == '-', row
    print(done.stdout)


def check_choice(program, _):
    rows = read_rows(bench(program, '--streams=2', '--only=1080 zones', '--settings=filter=mosaic radius=4').stdout)
    assert [(row['size'], row['way'], row['streams']) for row in rows] == [('1920x1080', 'zones', '2')], rows
    # Without rows of zones, the number of live streams is the given one. Two streams keep about 30 frames/s each.
    row, = read_rows(bench(program, '--streams=2', '--only=1080 live', '--seconds=1').stdout)
    assert row['streams'] == '2' and 15 < float(row['slowest']) and float(row['per_s']) < 90, row


def check_errors(program, _):
    for options, reason in {
            ('--streams=0',): '--streams 0: must be numbers from 1 to 512',
            ('--streams=1,x',): '--streams 1,x: must be',
            ('--only=1080 zones', '--streams=1', '--settings=no-such-setting=1'): 'no-such-setting',
            ('--only=1080 zones', '--streams=1', '--settings=filter=custom'): 'no taps',
            ('--only=1080 zones', '--streams=1', '--settings=! identity error-after=3'): 'Failed after iterations'}.items():
        done = bench(program, *options)
        assert done.returncode == 1 and reason in done.stderr, (options, done)
    done = bench(program, '--decoder=nonsense')
    assert done.returncode == 77 and 'no element nonsense' in done.stdout, done


if __name__ == '__main__':
    run_checks(check_all, check_choice, check_errors)
