#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""temporal-threshold removes noise without trails.

Where the ball of videotestsrc was before, only background remains, also in noise. On clips that pan, zoom, stay still,
show a ball, and show the scene of tests/engine/film.py, PSNR and SSIM at three strengths of noise are as in the tables
of gst/time.md, and above those of FFmpeg's atadenoise and hqdn3d: the preset against their default settings, and the
best settings of each. ffmpeg is optional: without it, the figures of atadenoise and hqdn3d are those of the tables.

Usage: noise.py TIME.MD [--print]   --print: prints the tables instead of comparing with them
"""
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print('skipped: numpy is missing')
    sys.exit(77)

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'engine'))
import film  # noqa: E402

WIDTH, HEIGHT, FRAMES = 120, 88, 17
RADIUS = 3  # frames on each side
INNER = slice(RADIUS, FRAMES - RADIUS)  # the frames that are compared: filters differ at the ends
SUBSAMPLES = 3  # along each axis of a pixel, because a camera's pixels have an area
WINDOW = 8  # samples along each axis of a window of SSIM
SIGMAS = (5, 10, 20)
BALL = 12  # pixels: the radius of our ball
RIVALS = 'atadenoise', 'hqdn3d'

# For each measure: by how much a result may be below the table, and must be above other filters.
Limits = collections.namedtuple('Limits', 'below above decimals')
LIMITS = {'PSNR': Limits(0.15, 0.3, 1), 'SSIM': Limits(0.002, 0.005, 3)}

# Of each filter: its default, then others. The first one of the element is the preset, without its cut detection.


def element_settings(sigma):
    yield '@preset=denoise'
    for blur in ('identity', *(f'gaussian radius=1 sigma={sigma_xy}' for sigma_xy in (0.4, 0.5, 0.6, 0.8))):
        for weights, threshold in ((0, -1), (0, 0.5), (3, -1), (3, 1), (256, -1)):
            fraction = threshold if threshold < 0 else threshold * sigma / 255
            yield f'filter={blur} temporal-radius={RADIUS} temporal-sigma={weights} temporal-threshold={fraction}'


def atadenoise_settings():
    yield f'atadenoise=s={2 * RADIUS + 1}'
    for a, b in ((0.03, 0.06), (0.05, 0.1), (0.07, 0.14), (0.1, 0.1), (0.1, 0.15), (0.1, 0.2), (0.15, 0.3), (0.2, 0.2),
                 (0.2, 0.4), (0.3, 0.3), (0.3, 0.6), (0.3, 1)):
        yield f'atadenoise=s={2 * RADIUS + 1}:0a={a}:0b={b}'


def hqdn3d_settings():
    yield 'hqdn3d'
    for space in (0, 2, 4, 8, 12, 16):
        for time in (0.1, 3, 6, 12, 20, 30):
            yield f'hqdn3d={space}:{space}:{time}:{time}'


# ---- clips ----


def picture(x, y):
    """A still picture at any place: slopes, waves and tiles with edges."""
    tile = (numpy.floor(x / 23) * 7919 + numpy.floor(y / 17) * 104729) % 97
    return 70 + tile + 20 * numpy.sin(x / 9) * numpy.cos(y / 13) + 6 * numpy.sin(x / 1.9 + y / 3.1)


def light(kind, frame, x, y):
    """Returns the brightness at points of a frame."""
    if kind == 'pan':
        return picture(x + 2 * frame, y)
    if kind == 'fast pan':
        return picture(x + 3 * frame, y + frame)
    if kind == 'zoom':
        factor = 1.01 ** -frame
        return picture((x - WIDTH / 2) * factor + 500, (y - HEIGHT / 2) * factor + 500)
    if kind == 'ball':
        return numpy.where(in_ball(frame, x, y), 225, picture(x, y))
    return picture(x, y)


def in_ball(frame, x, y, margin=0):
    return numpy.hypot(x - 10 - 6 * frame, y - 44) < BALL + margin


def film_frame(frame):
    steps = [frame + step / film.STEPS / 2 for step in range(film.STEPS)]
    return [[sum(film.scene(x, y, t)[0] for t in steps) / len(steps) for x in range(film.CROP_X, film.CROP_X + WIDTH)]
            for y in range(film.CROP_Y, film.CROP_Y + HEIGHT)]


def make_frame(kind, frame):
    if kind == 'film':
        return numpy.array(film_frame(frame))
    y, x = numpy.mgrid[:HEIGHT, :WIDTH].astype(float)
    parts = [(i - (SUBSAMPLES - 1) / 2) / SUBSAMPLES for i in range(SUBSAMPLES)]
    return sum(light(kind, frame, x + dx, y + dy) for dx in parts for dy in parts) / SUBSAMPLES ** 2


def make_clip(kind):
    return numpy.rint([make_frame(kind, frame) for frame in range(FRAMES)])


KINDS = 'pan', 'fast pan', 'zoom', 'still', 'ball', 'film'


def add_noise(clip, sigma):
    noise = numpy.random.RandomState(sigma).normal(0, sigma, clip.shape)
    return numpy.clip(numpy.rint(clip + noise), 0, 255).astype(numpy.uint8)


# ---- measures ----


def psnr(clip, result):
    return 10 * numpy.log10(255 ** 2 / numpy.square(clip[INNER] - result[INNER]).mean())


def window_means(frames):
    """Returns the means of all windows."""
    sums = numpy.pad(frames, ((0, 0), (1, 0), (1, 0))).cumsum(1).cumsum(2)
    n = WINDOW
    return (sums[:, n:, n:] - sums[:, n:, :-n] - sums[:, :-n, n:] + sums[:, :-n, :-n]) / n ** 2


def ssim(clip, result):
    """The mean over all windows (Wang and others, 2004)."""
    a, b = clip[INNER], result[INNER]
    mean_a, mean_b = window_means(a), window_means(b)
    spread = window_means(a * a) - mean_a ** 2 + window_means(b * b) - mean_b ** 2
    covariance = window_means(a * b) - mean_a * mean_b
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    return numpy.mean((2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
                      ((mean_a ** 2 + mean_b ** 2 + c1) * (spread + c2)))


MEASURES = {'PSNR': psnr, 'SSIM': ssim}


# ---- filters ----


def read_frames(path, width=WIDTH, height=HEIGHT):
    return numpy.fromfile(path, numpy.uint8).reshape(-1, height, width).astype(float)


def launch(folder, source, settings, width=WIDTH, height=HEIGHT):
    """Filters the frames of a source in all ways at once. Returns the frames of each."""
    paths = [folder / f'out{i}' for i in range(len(settings))]
    words = f'gst-launch-1.0 -q {source} ! tee name=split'.split()
    for path, text in zip(paths, settings):
        words += f'split. ! queue ! cudaconvolve backend=cpu n-threads=1 {text} ! filesink location={path}'.split()
    subprocess.run(words, check=True)
    return [read_frames(path, width, height) for path in paths]


def run_element(folder, raw, sigma):
    raw.tofile(folder / 'in')
    source = f'filesrc location={folder}/in ! rawvideoparse format=gray8 width={WIDTH} height={HEIGHT}'
    return launch(folder, source, list(element_settings(sigma)))


def run_ffmpeg(folder, raw, filters):
    raw.tofile(folder / 'in')
    graph = f'split={len(filters)}' + ''.join(f'[a{i}]' for i in range(len(filters)))
    graph += ''.join(f';[a{i}]{text}[b{i}]' for i, text in enumerate(filters))
    layout = ['-f', 'rawvideo', '-pix_fmt', 'gray']
    paths = [folder / f'out{i}' for i in range(len(filters))]
    outputs = [word for i, path in enumerate(paths) for word in ('-map', f'[b{i}]', *layout, str(path))]
    subprocess.run(['ffmpeg', '-hide_banner', '-loglevel', 'error', '-y', *layout, '-s', f'{WIDTH}x{HEIGHT}', '-i',
                    str(folder / 'in'), '-filter_complex', graph, *outputs], check=True)
    return [read_frames(path) for path in paths]


def run_filters(folder, raw, sigma):
    """Returns the results of each filter, the default's first."""
    results = {'noisy': [raw.astype(float)]}
    if shutil.which('ffmpeg'):
        results |= {'atadenoise': run_ffmpeg(folder, raw, list(atadenoise_settings())),
                    'hqdn3d': run_ffmpeg(folder, raw, list(hqdn3d_settings()))}
    return results | {'cudaconvolve': run_element(folder, raw, sigma)}


# ---- the ball ----


def check_ball(folder):
    """Where the ball of videotestsrc was two frames ago, only background remains, and the ball itself stays."""
    settings = [f'filter=identity {text}' for text in (
        'radius=0', 'temporal-radius=3', 'temporal-radius=3 temporal-threshold=0.02',
        'temporal-radius=3 temporal-threshold=-1')] + ['@preset=denoise']
    plain, mean, *results = launch(folder, 'videotestsrc pattern=ball num-buffers=12 ! '
                                   'video/x-raw,format=GRAY8,width=320,height=240', settings, 320, 240)
    background = plain.min()
    left = numpy.zeros(plain.shape, bool)
    left[2:] = (plain[:-2] > background) & (plain[2:] == background)
    if left.sum() < 1000 or abs(mean - plain)[left].max() < 50:
        yield 'the plain mean has no trail, so this test sees none'
    for text, result, limit in zip(settings[2:], results, (3, 1, 1)):  # half the threshold; automatic: there is no noise
        if abs(result - background)[left].max() > 1:
            yield f'{text}: the ball leaves a trail of {abs(result - background)[left].max():g} levels'
        if abs(result - plain).max() > limit:
            yield f'{text}: the ball changes by {abs(result - plain).max():g} levels'


def check_noisy_ball(clip, result, sigma):
    """In noise too, the mean over what the ball left two frames ago is that of the background."""
    y, x = numpy.mgrid[:HEIGHT, :WIDTH]
    error = [(result - clip)[frame][in_ball(frame - 2, x, y, -2) & ~in_ball(frame, x, y, 2)].mean()
             for frame in range(FRAMES)[INNER]]
    if numpy.abs(error).max() > sigma / 5:
        yield f'ball, sigma {sigma}: where the ball was, the mean is {numpy.abs(error).max():.1f} levels off'


# ---- tables ----


def measure(folder):
    """Yields clip, sigma, and for each measure the values of each filter, the default's first."""
    for kind in KINDS:
        clip = make_clip(kind)
        for sigma in SIGMAS:
            results = run_filters(folder, add_noise(clip, sigma), sigma)
            faults = list(check_noisy_ball(clip, results['cudaconvolve'][0], sigma)) if kind == 'ball' else []
            yield kind, sigma, faults, {name: {who: [function(clip, frames) for frames in rows]
                                               for who, rows in results.items()} for name, function in MEASURES.items()}


def print_tables(cases):
    for name in MEASURES:
        digits = LIMITS[name].decimals
        print(f'| {name} of | sigma | noisy | atadenoise | hqdn3d | cudaconvolve |\n|---|---|---|---|---|---|')
        for kind, sigma, _, measured in cases:
            cells = [f'{rows[0]:.{digits}f}' + (f', {max(rows):.{digits}f}' if len(rows) > 1 else '')
                     for rows in measured[name].values()]
            print(f'| {kind} | {sigma} | ' + ' | '.join(cells) + ' |')
        print()


def read_tables(path):
    """Returns the numbers of each filter, default and best, by measure, clip and sigma."""
    table, name = {}, None
    for line in path.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if len(cells) != 6:
            continue
        header = re.fullmatch(r'(\w+) of', cells[0])
        name = header[1] if header else name
        if cells[1].isdigit():
            table[name, cells[0], int(cells[1])] = {who: [float(number) for number in cell.split(', ')] for who, cell in
                                                    zip(('noisy', *RIVALS, 'cudaconvolve'), cells[2:])}
    return table


def check_case(where, limits, measured, stated):
    """Compares what one measure gives with the table, and with other filters."""
    ours = measured['cudaconvolve'][0], max(measured['cudaconvolve'])
    for what, value, least in zip(('the preset', 'the best'), ours, stated['cudaconvolve']):
        if value < least - limits.below:
            yield f'{where}: {what} reaches {value:.4g}, not {least}'
    for who in RIVALS:
        rows = measured.get(who, stated[who])
        for what, value, other in zip(('default', 'best'), ours, (rows[0], max(rows))):
            if value < other + limits.above:
                yield f'{where}, {what} settings: {value:.4g} is not above {other:.4g} of {who}'


def check_tables(cases, table):
    for kind, sigma, faults, measured in cases:
        yield from faults
        for name, limits in LIMITS.items():
            where = f'{name} of {kind}, sigma {sigma}'
            if (name, kind, sigma) in table:
                yield from check_case(where, limits, measured[name], table[name, kind, sigma])
            else:
                yield f'{where} is missing in the tables'


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if '--print' in sys.argv:
            print_tables(list(measure(folder)))
            return 0
        faults = [*check_ball(folder), *check_tables(measure(folder), read_tables(pathlib.Path(sys.argv[1])))]
    print('\n'.join(faults) or 'no trail, and less noise than others')
    return bool(faults)


if __name__ == '__main__':
    sys.exit(main())
