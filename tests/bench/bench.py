#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs convolve-bench on small frames on the CPU: its table has rows, its files have the same rows, and plot.py draws them.

Usage: bench.py CONVOLVE_BENCH
"""
import collections
import csv
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

from bench_checks import check_json, read_rows, run_checks

SVG = '{http://www.w3.org/2000/svg}'


def bench(program, *options):
    return subprocess.run([program, '--backend=cpu', '--quick', *options], capture_output=True, text=True)


def check_table(text, rows):
    lines = [line for line in text.splitlines() if line.startswith('cpu  ')]
    assert lines and len(lines) == len(rows), f'{len(lines)} lines on the terminal, {len(rows)} rows in the file'
    for line, row in zip(lines, rows):
        assert line.split()[:3] == [row['backend'], row['algorithm'], row['format']], f'{line!r} is not {row}'


def check_rows(rows):
    for row in rows:
        least, median, most = (float(row[name]) for name in ('us_min', 'us_median', 'us_max'))
        assert 0 < least <= median <= most and int(row['repeats']) >= 3 and float(row['times_copy']) > 0, row
    ways = {row['algorithm'] for row in rows}
    assert {'copy', 'naive', 'separable'} <= ways, ways
    frames = {int(row['frames']) for row in rows}
    assert {1, 3, 5} <= frames, frames


def plot(*files):
    return subprocess.run([sys.executable, Path(__file__).with_name('plot.py'), *files], capture_output=True, text=True)


def check_figure(path, rows):
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = [element.text for element in root.iter(SVG + 'text')]
    assert root.tag == SVG + 'svg'
    for name in {row['algorithm'] for row in rows}:
        assert name in texts, f'{name} is not in the legend: {texts}'
    assert 'gaussian, NV12 192x108' in texts, texts
    panels = collections.defaultdict(list)
    for row in rows:
        if row['radius'] != '0' and row['region'] == '0' and row['frames'] == '1' and row['algorithm'] != 'copy':
            panels[row['filter'], row['format'], row['width']].append(row)
    plotted = [row for panel in panels.values() if len({row['radius'] for row in panel}) >= 3 for row in panel]
    in_legend = 2 * (len({row['algorithm'] for row in rows}) - 1)
    dots = len(list(root.iter(SVG + 'circle')))
    assert dots == len(plotted) + in_legend > 50, f'{dots} dots, {len(plotted)} rows'


def check_all(program, folder):
    files = [folder / name for name in ('table.csv', 'table.json', 'figure.svg')]
    done = bench(program, f'--output={files[0]}', f'--output={files[1]}')
    assert done.returncode == 0, f'status {done.returncode}\n{done.stdout}{done.stderr}'
    rows = read_rows(files[0])
    check_table(done.stdout, rows)
    check_rows(rows)
    check_json(rows, files[1])
    done_plot = plot(files[0], files[2])
    assert done_plot.returncode == 0, done_plot.stderr
    check_figure(files[2], rows)
    assert 'case 1 of ' in done.stderr, done.stderr
    print(f'{len(rows)} rows')


# Made-up times, shaped like those of a GPU: copy and tensor stay level, separable rises, and two curves of NPP cross.
MADE_UP = {'copy': lambda r: 6 + r % 3 / 10, 'tensor': lambda r: 10, 'separable': lambda r: 100 + r,
           'npp-gauss': lambda r: 8 * r, 'npp-dense': lambda r: r * r}


def check_made_up(_program, folder):
    """Checks a drawing of radii up to 512: both axes are logarithmic, the copy is a horizontal line, and NPP is the best of
    its functions."""
    radii = [2 ** k for k in range(10)]
    rows = [{'backend': 'cuda', 'device': 'GPU', 'algorithm': name, 'format': 'GRAY8', 'width': 3840, 'height': 2160,
             'filter': 'gaussian', 'radius': radius, 'region': 0, 'frames': 1, 'us_median': us(radius)}
            for radius in radii for name, us in MADE_UP.items() if name != 'npp-dense' or radius <= 32]
    with open(folder / 'made-up.csv', 'w', newline='') as stream:
        table = csv.DictWriter(stream, rows[0])
        table.writeheader()
        table.writerows(rows)
    done = plot(folder / 'made-up.csv', folder / 'made-up.svg')
    assert done.returncode == 0, done.stderr
    root = xml.etree.ElementTree.parse(folder / 'made-up.svg').getroot()
    panel, legend = root.findall(SVG + 'g')
    ticks = {text.text: float(text.get('x')) for text in panel.iter(SVG + 'text') if text.get('text-anchor') == 'middle'}
    steps = [ticks[str(b)] - ticks[str(a)] for a, b in zip(radii, radii[1:])]
    assert max(steps) - min(steps) < 0.5 and steps[0] > 10, ticks
    lines = [([tuple(map(float, point.split(','))) for point in line.get('points').split()], line.get('stroke-dasharray'))
             for line in panel.iter(SVG + 'polyline')]
    (copy,) = [points for points, dashes in lines if dashes == '7 4']
    assert len(copy) == 2 and copy[0][1] == copy[1][1] and copy[0][0] < ticks['1'] and copy[1][0] > ticks['512'], copy
    (npp,) = [points for points, dashes in lines if dashes == '2 3']
    rises = [a[1] - b[1] for a, b in zip(npp, npp[1:])]
    assert len(npp) == len(radii) and rises[0] > 1.9 * rises[-1], npp  # r * r up to 8, then 8 * r
    assert [text.text for text in legend.iter(SVG + 'text')] == ['copy', 'tensor', 'separable', 'best of NPP']


def check_set(program, folder):
    done = bench(program, '--set=plot', '--radius=8', f'--output={folder}/plot.csv')
    assert done.returncode == 0, done.stderr
    rows = read_rows(folder / 'plot.csv')
    formats = {row['format'] for row in rows}
    assert formats == {'NV12', 'GRAY8', 'GRAY16_LE', 'RGBA', 'RGB', 'P010_10LE', 'P016_LE', 'ARGB64'}, formats
    assert {row['algorithm'] for row in rows} == {'copy', 'separable'}, rows
    radii = {line.split('r=')[1] for line in subprocess.run([program, '--set=plot', '--list'], capture_output=True,
             text=True).stdout.splitlines() if line.startswith('NV12')}
    assert radii == set('1 2 4 8 16 32 48 64 96 128 192 256 384 512'.split()), radii


def check_choice(program, folder):
    file = folder / 'one.csv'
    done = bench(program, '--format=GRAY8', '--filter=dense-3x3', '--algorithm=tiled', '--repeats=5', f'--output={file}')
    assert done.returncode == 0, done.stderr
    rows = read_rows(file)
    assert [row['algorithm'] for row in rows] == ['copy', 'tiled'], rows
    assert all(row['format'] == 'GRAY8' and row['filter'] == 'dense-3x3' for row in rows), rows


def check_refusals(program, folder):
    for options in (['--format=NV13'], ['--set=most'], ['--algorithm=magic'], [f'--output={folder}/table.xml'],
                    [f'--output={folder}/missing/table.csv']):
        done = bench(program, *options)
        assert done.returncode == 1 and 'convolve-bench: ' in done.stderr, (options, done)
    assert bench(program, '--filter=sobel', f'--output={folder}/sobel.csv').returncode == 0
    done = plot(folder / 'sobel.csv', folder / 'no.svg')
    assert done.returncode == 1 and 'plot.py: ' in done.stderr and not (folder / 'no.svg').exists(), done


if __name__ == '__main__':
    run_checks(check_all, check_made_up, check_set, check_choice, check_refusals)
