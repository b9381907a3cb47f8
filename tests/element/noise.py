#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""temporal-threshold removes noise without trails.

The ball of videotestsrc leaves nothing where it was. On clips that pan, zoom, stay still, and show a ball, the PSNR at
three strengths of noise is as in the table below. It is above that of FFmpeg's atadenoise and hqdn3d, with the best
settings of each, but for one case; with default settings it is at most 0.1 dB below. ffmpeg is optional.

Usage: noise.py [--print]   --print: prints the table of gst/time.md instead of comparing with it
"""
import math
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

WIDTH, HEIGHT, FRAMES, EDGE = 120, 88, 17, 3  # EDGE: frames at each end that are not compared
SIGMAS = (5, 10, 20)
MARGIN = 0.4  # dB by which a result may be below the table

AUTO = 'temporal-radius=3 temporal-threshold=-1'
MEAN = 'filter=identity temporal-radius=3'
SOFT = 'filter=gaussian radius=1 sigma=0.4 temporal-radius=3'
SETTINGS = {
    'default': f'filter=identity {AUTO}',
    'mean': f'{MEAN} temporal-sigma=256 temporal-threshold=-1',
    'soft': f'{SOFT} temporal-sigma=256 temporal-threshold=-1',
    'softer': f'filter=gaussian radius=2 sigma=0.6 temporal-sigma=256 {AUTO}',
    **{f'{name} {threshold}': f'{base} temporal-sigma=3 temporal-threshold={threshold}' for name, base in (('mean', MEAN), ('soft', SOFT))
       for threshold in (0.014, 0.021, 0.06)},
}
RIVALS = {
    'atadenoise': ['atadenoise=s=7', *(f'atadenoise=s=7:0a={a}:0b={b}' for a, b in
                                       ((0.05, 0.1), (0.1, 0.2), (0.2, 0.4), (0.3, 1)))],
    'hqdn3d': ['hqdn3d', *(f'hqdn3d={space}:{space}:{time}:{time}' for space in (0, 2, 4) for time in (3, 6, 12, 20))],
}
# PSNR in dB with the default settings of the element's row above, and the best of all of them.
EXPECTED = {
    ('pan', 5): (35.0, 35.5),
    ('pan', 10): (30.6, 31.1),
    ('pan', 20): (26.3, 28.3),
    ('zoom', 5): (39.6, 40.6),
    ('zoom', 10): (33.8, 34.8),
    ('zoom', 20): (28.4, 31.6),
    ('still', 5): (40.9, 42.8),
    ('still', 10): (35.0, 37.6),
    ('still', 20): (29.0, 33.8),
    ('ball', 5): (40.5, 41.8),
    ('ball', 10): (34.5, 36.8),
    ('ball', 20): (28.6, 32.5),
}
# A slow zoom with little noise: the best settings of atadenoise win by 0.1 dB.
LOST = ('zoom', 5)


def picture(x, y):
    """A still picture at any place: slopes, waves and tiles with edges."""
    tile = (math.floor(x / 23) * 7919 + math.floor(y / 17) * 104729) % 97
    return 70 + tile + 20 * math.sin(x / 9) * math.cos(y / 13) + 6 * math.sin(x / 1.9 + y / 3.1)


def sample(kind, frame, x, y):
    if kind == 'pan':
        return picture(x + 3 * frame, y + frame)
    if kind == 'zoom':
        factor = 1.01 ** -frame
        return picture((x - WIDTH / 2) * factor + 500, (y - HEIGHT / 2) * factor + 500)
    if kind == 'ball' and math.hypot(x - 10 - 6 * frame, y - 44) < 12:
        return 225
    return picture(x, y)


def make_clip(kind):
    return [round(sample(kind, frame, x, y)) for frame in range(FRAMES) for y in range(HEIGHT) for x in range(WIDTH)]


def add_noise(clip, sigma):
    noise = random.Random(sigma)
    return bytes(min(max(round(value + noise.gauss(0, sigma)), 0), 255) for value in clip)


def psnr(clip, raw):
    frame = WIDTH * HEIGHT
    part = slice(EDGE * frame, (FRAMES - EDGE) * frame)
    squares = sum((a - b) ** 2 for a, b in zip(clip[part], raw[part]))
    return 10 * math.log10(255 ** 2 * len(clip[part]) / squares)


def launch(folder, raw, settings):
    source, result = Path(folder) / 'in', Path(folder) / 'out'
    source.write_bytes(raw)
    subprocess.run(['gst-launch-1.0', '-q', 'filesrc', f'location={source}', '!', 'rawvideoparse', 'format=gray8',
                    f'width={WIDTH}', f'height={HEIGHT}', '!', 'cudaconvolve', 'backend=cpu', *settings.split(), '!',
                    'filesink', f'location={result}'], check=True)
    return result.read_bytes()


def ffmpeg(raw, filters):
    return subprocess.run(['ffmpeg', '-hide_banner', '-loglevel', 'error', '-f', 'rawvideo', '-pix_fmt', 'gray', '-s',
                           f'{WIDTH}x{HEIGHT}', '-i', '-', '-vf', filters, '-f', 'rawvideo', '-pix_fmt', 'gray', '-'],
                          input=raw, stdout=subprocess.PIPE, check=True).stdout


def check_ball(folder):
    """Where the ball of videotestsrc was before, only background remains, and the ball itself stays."""
    frames = []
    for name, settings in (('plain', 'radius=0 filter=identity'), ('mean', 'filter=identity temporal-radius=3'),
                           ('result', 'filter=identity temporal-radius=3 temporal-threshold=0.02'),
                           ('automatic', 'filter=identity temporal-radius=3 temporal-threshold=-1')):
        path = Path(folder) / name
        subprocess.run(['gst-launch-1.0', '-q', 'videotestsrc', 'pattern=ball', 'num-buffers=12', '!',
                        'video/x-raw,format=GRAY8,width=320,height=240', '!', 'cudaconvolve', 'backend=cpu',
                        *settings.split(), '!', 'filesink', f'location={path}'], check=True)
        frames.append(path.read_bytes())
    plain, mean, *results = frames
    if max(abs(a - b) for a, b in zip(plain, mean)) < 50:
        yield 'the plain mean has no trail, so this test sees none'
    for result, limit in zip(results, (3, 1)):  # half the threshold; the automatic one is 0 without noise
        most = max(abs(a - b) for a, b in zip(plain, result))
        if most > limit:
            yield f'the ball leaves a trail of {most} levels, above {limit}'


def measure(folder):
    for kind in ('pan', 'zoom', 'still', 'ball'):
        clip = make_clip(kind)
        for sigma in SIGMAS:
            raw = add_noise(clip, sigma)
            ours = {name: psnr(clip, launch(folder, raw, settings)) for name, settings in SETTINGS.items()}
            rivals = {name: [psnr(clip, ffmpeg(raw, filters)) for filters in rows] for name, rows in RIVALS.items()
                      } if shutil.which('ffmpeg') else {}
            yield kind, sigma, psnr(clip, raw), ours, rivals


def table_row(kind, sigma, noisy, ours, rivals):
    cells = [f'{noisy:.1f}', *(f'{rows[0]:.1f}, {max(rows):.1f}' for rows in rivals.values()),
             f'{ours["default"]:.1f}, {max(ours.values()):.1f}']
    return f'| {kind} | {sigma} | ' + ' | '.join(cells) + ' |'


def check_case(kind, sigma, noisy, ours, rivals):
    found = ours['default'], max(ours.values())
    for what, value, least in zip(('default', 'best'), found, EXPECTED[kind, sigma]):
        if value < least - MARGIN:
            yield f'{kind}, sigma {sigma}: {what} settings reach {value:.1f} dB, not {least:.1f}'
    for name, rows in rivals.items():
        if found[1] <= max(rows) - (0.5 if (kind, sigma) == LOST else 0) or found[0] <= rows[0] - 0.1:
            yield f'{kind}, sigma {sigma}: {found} dB are not above {name}, {rows[0]:.1f} and {max(rows):.1f}'


def main():
    with tempfile.TemporaryDirectory() as folder:
        if '--print' in sys.argv:
            for case in measure(folder):
                print(table_row(*case), flush=True)
            return 0
        faults = list(check_ball(folder))
        for case in measure(folder):
            faults += check_case(*case)
    print('\n'.join(faults) or 'no trail, and less noise than others')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
