#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares the time of the CPU engine with its alternatives: OpenCV's and GStreamer's own blurs, FFmpeg's filters, and
# OpenCV itself. All run on 1080p frames, on the same processors and with as many threads. What is missing is skipped and
# named.
#
# The time of a filter is the time per frame of a pipeline with it, minus the time of the same pipeline without it. Both
# sides of a row, with and without the filter, run in turn, several times. The figures are medians, and the ratio is the
# median of the rounds' ratios. Each frame is made anew, so that a filter that works in place need not copy it. Beside
# the time on the clock is the processor time: it shows if only one thread is used, and suffers less from other
# programs.
#
# At the end the load is reported and the first row measured again. A goal counts as met or missed only if there are
# several rounds whose largest ratio is at most SPREAD_MOST times the smallest.
#
# usage: compare-cpu.py [--quick] [--threads N] [--rounds N] [--output FILE.csv]
# BUILD_DIR in the environment: a build folder to use instead of build-tests. It should be one with --buildtype=release.
import argparse
import collections
import csv
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get('BUILD_DIR', ROOT / 'build-tests')).resolve()
WIDTH, HEIGHT = 1920, 1080
SMALL_WIDTH, SMALL_HEIGHT, SMALL_GOAL = 320, 240, 0.020  # ms per frame, besides its filter
SMALL_FRAMES = 6000
BYTES = {'GRAY8': 1, 'I420': 1.5, 'GRAY16_LE': 2, 'RGB': 3, 'AYUV': 4}
FFMPEG_FORMAT = {'GRAY8': 'gray', 'I420': 'yuv420p', 'GRAY16_LE': 'gray16le', 'RGB': 'rgb24'}
NOISE_BYTES = 12  # of FFmpeg's input per pixel: whole frames of each format
NOISE_LEVELS = bytes(100 + i % 16 for i in range(256))  # of its bytes
SPREAD_MOST = 1.5  # largest ratio of a row, or time, divided by the smallest
PROBE_FRAMES = 5
MOST_FRAMES = 600

# tool: which of the functions below runs the peer. goal: the desired ratio, or None.
Case = collections.namedtuple('Case', 'peer tool format theirs ours package goal')


def gblur(pixel_format, sigma):
    """Returns the case of FFmpeg's gblur. It is recursive, so its time does not depend on sigma."""
    return Case('FFmpeg gblur', 'ffmpeg', pixel_format, f'gblur=sigma={sigma}', f'sigma={sigma}', 'ffmpeg', 2)


def dense(size):
    """Returns integers that are not a row times a column, and the setting with them."""
    rows = [[(7 * x * x + 5 * y * x + 3 * y) % 9 + 1 for x in range(size)] for y in range(size)]
    ours = ','.join(f'<{",".join(map(str, row))}>' for row in rows)
    return rows, f'filter=custom kernel=<{ours}> border-mode=reflect-101'


def convolution(size):
    rows, ours = dense(size)
    theirs = ' '.join(str(tap) for row in rows for tap in row)
    return Case('FFmpeg convolution', 'ffmpeg', 'GRAY8', f"convolution=0m='{theirs}'", ours, 'ffmpeg', 2.5)


def denoiser(graph):
    """Returns the case of a filter over time. It gets little noise, because atadenoise stops at large differences."""
    return Case(f"FFmpeg {graph.split('=')[0]}", 'ffmpeg', 'I420', graph,
                'filter=identity temporal-radius=3 temporal-threshold=-1', 'ffmpeg', 2)


def filter2d(pixel_format, size):
    """Both sides use Fourier transforms."""
    return Case('cv2.filter2D', 'filter2d', pixel_format, str(size), dense(size)[1], 'python3-opencv', 4)


# The settings with the best PSNR for noise of sigma 5 to 10: tests/element/noise.py.
ATADENOISE_BEST = 'atadenoise=s=7:' + ':'.join(f'{plane}a=0.1:{plane}b=0.2' for plane in range(3))

CASES = [
    *(Case('cvsmooth', 'gst', pixel_format, 'cvsmooth kernel-width=17 kernel-height=17',
           'radius=8 border-mode=reflect-101', 'gstreamer1.0-opencv', 3) for pixel_format in ('GRAY8', 'RGB')),
    # Its taps reach ceil(2.5 * sigma) on each side. It supports no other format.
    Case('gaussianblur', 'gst', 'AYUV', 'gaussianblur sigma=5', 'radius=13 sigma=5', 'gstreamer1.0-plugins-bad', 20),
    *(gblur('GRAY8', sigma) for sigma in (2.9, 5, 20, 80)), gblur('I420', 20), gblur('GRAY16_LE', 20),
    *(Case('cv2.GaussianBlur', 'opencv', pixel_format, '17', 'radius=8 border-mode=reflect-101', 'python3-opencv', 2)
      for pixel_format in ('GRAY8', 'RGB')),
    *map(convolution, (3, 5, 7)),
    *(filter2d(pixel_format, size) for pixel_format in ('GRAY8', 'RGB') for size in (31, 127)),
    Case('FFmpeg tmix', 'ffmpeg', 'GRAY8', "tmix=frames=5:weights='1 2 3 2 1'",
         'filter=identity kernel-t=<1,2,3,2,1>', 'ffmpeg', 1.5),
    *map(denoiser, ('atadenoise=s=7', ATADENOISE_BEST, 'hqdn3d')),
]

# One process per measurement, as for the others. OpenCV's default border is reflect-101.
OPENCV = '''
import sys, time
import cv2, numpy
size, channels, frames, threads, height, width = map(int, sys.argv[1:])
cv2.setNumThreads(threads)
frame = numpy.random.randint(0, 256, (height, width, channels), numpy.uint8)
out = cv2.GaussianBlur(frame, (size, size), 0)
start, cpu = time.perf_counter(), time.process_time()
for _ in range(frames):
    cv2.GaussianBlur(frame, (size, size), 0, dst=out)
print(time.perf_counter() - start, time.process_time() - cpu)
'''
FILTER2D = OPENCV.replace('GaussianBlur(frame, (size, size), 0', 'filter2D(frame, -1, taps').replace(
    'out =', 'taps = numpy.random.rand(size, size).astype(numpy.float32)\nout =')


Time = collections.namedtuple('Time', 'clock cpu')  # seconds, or milliseconds per frame


def cpu_of_children():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Machine:
    """Runs the tools on the same processors, and reads the seconds that they report. The processor time includes the
    start, so the filter is loaded in both runs, even if one does not use it."""

    def __init__(self, threads, folder):
        self.threads = threads
        self.python = None
        self.noise = folder / 'noise.raw'
        self.noise.write_bytes(os.urandom(WIDTH * HEIGHT * NOISE_BYTES).translate(NOISE_LEVELS))
        self.environment = dict(os.environ, GST_PLUGIN_PATH_1_0=str(BUILD / 'gst'),
                                GST_REGISTRY_1_0=str(BUILD / 'tests' / 'compare-registry.bin'))

    def run(self, *command):
        """Returns the output of the tool, and the processor time."""
        before = cpu_of_children()
        done = subprocess.run([str(word) for word in command], env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode:
            sys.exit(f'compare-cpu.py: this failed: {" ".join(map(str, command))}\n{done.stdout}')
        return done.stdout, cpu_of_children() - before

    def succeeds(self, *command):
        return subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0

    def has(self, case):
        if case.tool == 'gst':
            return self.succeeds('gst-inspect-1.0', '--exists', case.peer)
        if case.tool == 'ffmpeg':
            return shutil.which('ffmpeg') is not None
        # A Python other than the system's seldom has the system's modules.
        pythons = [p for p in (sys.executable, '/usr/bin/python3') if self.succeeds(p, '-c', 'import cv2')]
        self.python = pythons[0] if pythons else None
        return self.python is not None

    def gst(self, elements, pixel_format, frames, width=WIDTH, height=HEIGHT):
        """Filters one more frame before the clock starts."""
        text, cpu = self.run('gst-launch-1.0', *f'videotestsrc pattern=gradient num-buffers={frames + 1} ! video/x-raw,'
                        f'format={pixel_format},width={width},height={height} ! {elements}'.split())
        hours, minutes, seconds = re.search(r'Execution ended after (\d+):(\d+):([\d.]+)', text).groups()
        return Time(int(hours) * 3600 + int(minutes) * 60 + float(seconds), cpu)

    def ffmpeg(self, graph, pixel_format, frames):
        text, cpu = self.run('ffmpeg', '-hide_banner', '-nostdin', '-benchmark', '-filter_threads', self.threads,
                        '-stream_loop', -1, '-f', 'rawvideo', '-pix_fmt', FFMPEG_FORMAT[pixel_format],
                        '-s', f'{WIDTH}x{HEIGHT}', '-i', self.noise, '-frames:v', frames, '-vf', graph,
                        '-f', 'null', '-')
        return Time(float(re.search(r'rtime=([\d.]+)s', text).group(1)), cpu)

    def opencv(self, size, pixel_format, frames, program=OPENCV):
        text, _ = self.run(self.python, '-c', program, size, BYTES[pixel_format], frames, self.threads, HEIGHT, WIDTH)
        return Time(*map(float, text.split()))

    def filter2d(self, size, pixel_format, frames):
        return self.opencv(size, pixel_format, frames, FILTER2D)

    def ms(self, tool, what, pixel_format, frames):
        """Returns milliseconds per frame, including decoding and output."""
        return Time(*(seconds / frames * 1e3 for seconds in getattr(self, tool)(what, pixel_format, frames)))


# The commands of a tool with and without a filter; only OpenCV's function itself is timed.
WITH = {'gst': '{} ! fakesink', 'ffmpeg': '{}', 'opencv': '{}', 'filter2d': '{}'}
WITHOUT = {'gst': 'identity ! fakesink {}', 'ffmpeg': 'null'}


class Side:
    """One side of a case, ours or theirs: the times with and without the filter, one per round."""

    def __init__(self, machine, tool, what, pixel_format, seconds):
        self.machine, self.tool, self.format = machine, tool, pixel_format
        self.what, self.nothing = WITH[tool].format(what), WITHOUT.get(tool, '').format(what)
        guess = machine.ms(tool, self.what, pixel_format, PROBE_FRAMES).clock / 1e3
        self.frames = max(PROBE_FRAMES, min(MOST_FRAMES, round(seconds / guess)))
        self.with_filter, self.without = [], []

    def time(self, what):
        return self.machine.ms(self.tool, what, self.format, self.frames)

    def measure(self):
        self.with_filter.append(self.time(self.what))
        self.without.append(self.time(self.nothing) if self.nothing else Time(0, 0))

    def costs(self):
        return [Time(a.clock - b.clock, a.cpu - b.cpu) for a, b in zip(self.with_filter, self.without)]

    def row(self, name):
        return {f'{name}_ms': statistics.median(t.clock for t in self.costs()),
                f'{name}_cpu_ms': statistics.median(t.cpu for t in self.costs()),
                f'{name}_ms_with_filter': statistics.median(t.clock for t in self.with_filter),
                f'{name}_ms_without': statistics.median(t.clock for t in self.without),
                f'{name}_frames': self.frames}


def verdict(reached, rounds, least, most, goal):
    """Returns a word that says whether a goal is met; empty without a goal. reached: True if the median meets it."""
    if not goal:
        return ''
    if rounds < 2 or least <= 0 or most / least > SPREAD_MOST:
        return 'unclear'
    return 'met' if reached else 'MISSED'


def verdict_of(row):
    reached = row['goal'] and row['ratio'] >= row['goal']
    return verdict(reached, row['rounds'], row['ratio_least'], row['ratio_most'], row['goal'])


def our_element(case, threads):
    return f'cudaconvolve backend=cpu n-threads={threads} {case.ours}'


def compare(machine, case, rounds, seconds):
    """Returns the row of a case."""
    ours = Side(machine, 'gst', our_element(case, machine.threads), case.format, seconds)
    theirs = Side(machine, case.tool, case.theirs, case.format, seconds)
    for i in range(rounds):
        print(f'\r{case.peer} {case.format} {case.theirs}: round {i + 1} of {rounds} ', end='', file=sys.stderr,
              flush=True)
        for side in (ours, theirs) if i % 2 else (theirs, ours):
            side.measure()
    print('\r\033[K', end='', file=sys.stderr)
    ratios = [b.clock / a.clock for a, b in zip(ours.costs(), theirs.costs())]
    return {'peer': case.peer, 'format': case.format, 'their_setting': case.theirs, 'our_setting': case.ours,
            'threads': machine.threads, 'rounds': rounds, **ours.row('ours'), **theirs.row('theirs'),
            'ratio': statistics.median(ratios), 'ratio_least': min(ratios), 'ratio_most': max(ratios),
            'goal': case.goal or ''}


def show_small(machine, rounds):
    """Prints the time of an element that only copies, minus that of identity."""
    sides = [f'cudaconvolve backend=cpu n-threads={machine.threads} filter=identity disable-passthrough=true ! fakesink',
             'identity ! fakesink']
    costs = []
    for _ in range(rounds):
        ours, theirs = (machine.gst(side, 'I420', SMALL_FRAMES, SMALL_WIDTH, SMALL_HEIGHT).clock for side in sides)
        costs.append((ours - theirs) / SMALL_FRAMES * 1e3)
    cost = statistics.median(costs)
    word = verdict(cost <= SMALL_GOAL, rounds, min(costs), max(costs), SMALL_GOAL)
    print(f'\n{SMALL_WIDTH}x{SMALL_HEIGHT} I420, a copy, ms a frame beyond identity: {cost:.4f} '
          f'({min(costs):.4f}..{max(costs):.4f}), goal {SMALL_GOAL}: {word}')


LINE = '{:18} {:9} {:33} {:>7} {:>7} {:>6} {:>13}  {:>6} {:>7}  {:>13} {:>13}  {}'


def show_head():
    print(LINE.format('1080p, ms a frame', '', '', '', '', 'theirs', '', 'cpu', 'cpu', 'ours: with', 'theirs: with',
                      ''))
    print(LINE.format('peer', 'format', 'setting', 'ours', 'theirs', '/ ours', 'least..most', 'ours', 'theirs',
                      '- without', '- without', 'goal'))


def show(row):
    plain = [f"{row[name + '_ms_with_filter']:.2f} - {row[name + '_ms_without']:.2f}" for name in ('ours', 'theirs')]
    goal = f"{row['goal']}: {verdict_of(row)}" if row['goal'] else ''
    numbers = (f"{row[name]:.2f}" for name in ('ours_ms', 'theirs_ms', 'ratio'))
    cpu = (f"{row[name]:.2f}" for name in ('ours_cpu_ms', 'theirs_cpu_ms'))
    spread = f"{row['ratio_least']:.2f}..{row['ratio_most']:.2f}"
    setting = row['their_setting'].replace('cvsmooth ', '').replace('gaussianblur ', '')[:33]
    print(LINE.format(row['peer'], row['format'], setting, *numbers, spread, *cpu, *plain, goal), flush=True)


def show_table(rows):
    """Prints the figures as a table for a README."""
    print('\n| beside | format | setting | ours, ms | theirs, ms | theirs / ours | least to most | goal |')
    print('|---|---|---|---|---|---|---|---|')
    for row in rows:
        goal = f"{row['goal']}, {verdict_of(row).lower()}" if row['goal'] else ''
        setting = row['their_setting'] if len(row['their_setting']) < 40 else row['their_setting'].split('=')[0]
        print(f"| {row['peer']} | {row['format']} | `{setting}` | {row['ours_ms']:.2f} | {row['theirs_ms']:.2f} | "
              f"{row['ratio']:.2f} | {row['ratio_least']:.2f} to {row['ratio_most']:.2f} | {goal} |")


def parse_arguments():
    parser = argparse.ArgumentParser(description='Times the CPU engine beside other blurs.')
    available = len(os.sched_getaffinity(0))
    parser.add_argument('--quick', action='store_true', help='seconds instead of minutes, and rough figures')
    parser.add_argument('--threads', type=int, default=available, help='and as many processors (all)')
    parser.add_argument('--rounds', type=int, help='of each row (15; 1 with --quick)')
    parser.add_argument('--output', help='the figures as CSV')
    arguments = parser.parse_args()
    if not 1 <= arguments.threads <= available:
        parser.error(f'--threads: from 1 to {available}, the processors that there are')
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 15)
    return arguments


def build():
    if not (BUILD / 'build.ninja').exists():
        subprocess.run(['meson', 'setup', '--buildtype=release', BUILD, ROOT], check=True)
    subprocess.run(['ninja', '--quiet', '-C', BUILD, 'gst/libgstcudaconvolve.so'], check=True)


def measure(machine, case, arguments):
    return compare(machine, case, arguments.rounds, 0.1 if arguments.quick else 0.5)


def measure_all(machine, cases, arguments):
    """Returns the rows, and at the end the first one again."""
    rows = []
    show_head()
    for case in cases:
        rows.append(measure(machine, case, arguments))
        show(rows[-1])
    if rows:
        rows.append(measure(machine, cases[0], arguments))
        show(rows[-1])
    return rows


def state(load_before, load_after, row, again):
    """Returns a line that says whether the machine was steady."""
    sides = (again[name] / row[name] if row[name] > 0 else 0 for name in ('ours_ms', 'theirs_ms'))
    ours, theirs = (max(change, 1 / change) if change > 0 else float('inf') for change in sides)
    steady = max(ours, theirs) <= SPREAD_MOST
    return (f"state of the machine: load {load_before:.2f} before, {load_after:.2f} after; {row['peer']} "
            f"{row['format']} a second time at the end: ours {ours:.2f} times apart, theirs {theirs:.2f}: "
            f"{'steady' if steady else 'NOT STEADY, measure again'}")


def choose_cases(machine):
    present = []
    for case in CASES:
        if machine.has(case):
            present.append(case)
        else:
            print(f'SKIPPED {case.peer} {case.format}: not found here, it is in the package {case.package}')
    return present


def main():
    arguments = parse_arguments()
    build()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:arguments.threads])
    load = os.getloadavg()[0]
    print(f'{arguments.threads} threads; load {load:.2f} before: figures are reliable only if it is near 0')
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(arguments.threads, pathlib.Path(folder))
        rows = measure_all(machine, choose_cases(machine), arguments)
        show_small(machine, arguments.rounds)
    if rows:
        print(state(load, os.getloadavg()[0], rows[0], rows.pop()))
    show_table(rows)
    if arguments.output and rows:
        with open(arguments.output, 'w', newline='', encoding='utf-8') as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


if __name__ == '__main__':
    main()
