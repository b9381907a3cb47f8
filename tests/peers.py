#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Holds the element against OpenCV and SciPy, each of which is skipped where it is missing; exit status 77 where both
# are. Neither has border-mode=renormalize.
#
# A case is an operation of a peer and the properties that should make the element compute the same, on one frame of
# noise with one border. The peers work in float64, and rounding (to nearest, ties to even) and clamping are done here.
# OpenCV's functions on 8-bit frames are no reference: GaussianBlur computes those in fixed point, which is 1 off its
# own result in float64 at one sample in six or so, and 2 where sigma is 10.
#
# Where the definitions differ, the cases keep to what both have:
#   - OpenCV has tables in the place of its rule for sigma up to 7 or 9 taps (by release), so sigma is given there.
#   - SciPy's radius is truncate * sigma rounded to the nearest, ours rounded up.
#   - OpenCV's middle tap of an even number is n/2, SciPy's too, ours (n-1)/2: they are told.
#   - OpenCV's filters know black as the only constant border and no wrap: there it pads the frame first.
#
# Usage: peers.py, with GST_PLUGIN_PATH_1_0 leading to the plugin. CNV_SEED in the environment: the seed, 1 without it.
import collections
import concurrent.futures
import importlib
import os
import subprocess
import sys

SKIP = 77
EXACT_SHARE = 0.99  # of the samples of an operation and format; no sample is more than 1 off
SIZES = [(61, 47), (1, 1), (1, 19), (23, 1), (5, 3), (2, 2), (33, 17)]  # the first in all cases, the others in turn
SMALL_A_CASE = 2
MAX_REPORTS = 20
SEED = int(os.environ.get('CNV_SEED', '1'))

# channels: where each stands in a colour 0xAARRGGBB, as a shift. colour: of the constant border
Format = collections.namedtuple('Format', 'name sample_bytes channels colour')
FORMATS = [
    Format('GRAY8', 1, (0,), 0xff606060),
    Format('RGB', 1, (16, 8, 0), 0xff3060c0),
    Format('BGR', 1, (0, 8, 16), 0xff3060c0),
    Format('GRAY16_LE', 2, (0,), 0xff606060),
]
BLACK = 0xff000000

# colour: of constant, None for the format's own
Border = collections.namedtuple('Border', 'mode colour')
BORDERS = [Border('constant', BLACK), Border('constant', None), Border('replicate', BLACK), Border('reflect', BLACK),
           Border('reflect-101', BLACK), Border('wrap', BLACK)]

# properties: of the element. reach: at least the samples to each side that count, for padding. compute: a function of
# the peer. gain, bias: what is still to be done to its result; bias as a part of full scale.
Operation = collections.namedtuple('Operation', 'name properties reach compute gain bias', defaults=(1, 0))
Case = collections.namedtuple('Case', 'peer operation border format width height seed backend')


def full(pixel_format):
    return 256 ** pixel_format.sample_bytes - 1


def colour(case):
    return case.format.colour if case.border.colour is None else case.border.colour


def border_values(case):
    """The colour's value in each channel of the frame: grey is full range, 8 bits are widened by repeating them."""
    return [(colour(case) >> shift & 255) * full(case.format) / 255 for shift in case.format.channels]


def numbers(row):
    return '<' + ','.join(f'{tap:.4f}' for tap in row) + '>'


def rows(taps):
    return '<' + ','.join(numbers(row) for row in taps) + '>'


def random_taps(height, width, least):
    generator = numpy.random.default_rng([SEED, height, width])
    return generator.uniform(least, 1, (height, width)).round(4)


class Kernels:
    """Custom kernels that both peers get. Those without properties are normalised, by the gain on the peer's side."""

    def __init__(self):
        self.dense = [self.positive(f'{h}x{w}', random_taps(h, w, 0)) for h, w in [(1, 7), (3, 3), (5, 4), (15, 15)]]
        self.dense += [
            ('sharpen', numpy.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]), [], 1, 0),
            ('laplacian', numpy.array([[1, 1, 1], [1, -8, 1], [1, 1, 1]]), ['scale=0.25', 'bias=0.5'], 0.25, 0.5),
            ('signed 5x5', random_taps(5, 5, -1), ['normalize=false', 'scale=0.3', 'bias=0.25'], 0.3, 0.25),
        ]
        x5, y3, x4, y6 = (random_taps(1, n, 0)[0] for n in (5, 3, 4, 6))
        self.axes = [
            self.positive_axes('5x3', x5, y3),
            self.positive_axes('4x6', x4, y6),
            self.positive_axes('column', numpy.ones(1), y6),
            ('sobel', numpy.array([-1., 0, 1]), numpy.array([1., 2, 1]), ['normalize=false', 'scale=0.25', 'bias=0.5'],
             0.25, 0.5),
        ]

    @staticmethod
    def positive(name, taps):
        return name, taps, [], 1 / taps.sum(), 0

    @staticmethod
    def positive_axes(name, x, y):
        return name, x, y, [], 1 / (x.sum() * y.sum()), 0

    def dense_operations(self, prefix, compute):
        for name, taps, properties, gain, bias in self.dense:
            yield Operation(f'{prefix} {name}', ['filter=custom', 'kernel=' + rows(taps)] + properties, max(taps.shape),
                            compute(taps.astype(float)), gain, bias)

    def axes_operations(self, prefix, compute):
        for name, x, y, properties, gain, bias in self.axes:
            yield Operation(f'{prefix} {name}',
                            ['filter=custom', 'kernel-x=' + numbers(x), 'kernel-y=' + numbers(y)] + properties,
                            max(len(x), len(y)), compute(x, y), gain, bias)


def middle(n):
    return (n - 1) // 2


class OpenCV:
    name, module, package = 'OpenCV', 'cv2', 'python3-opencv'

    def __init__(self, cv2, kernels):
        self.cv2 = cv2
        self.modes = {'constant': cv2.BORDER_CONSTANT, 'replicate': cv2.BORDER_REPLICATE, 'reflect': cv2.BORDER_REFLECT,
                      'reflect-101': cv2.BORDER_REFLECT_101, 'wrap': cv2.BORDER_WRAP}
        self.operations = [
            *kernels.dense_operations('filter2D', self.filter2d),
            *kernels.axes_operations('sepFilter2D', self.sep_filter2d),
            self.gaussian(1, 1, 0.7, 0.7),
            self.gaussian(3, 2, 2.5, 1.2),
            self.gaussian(8, 8, 0, 0),
            self.gaussian(30, 30, 10, 10),
            self.blur(1, 1),
            self.blur(4, 0),
            self.blur(12, 12),
            self.box_sums(1, 2, 0.0625),
        ]

    def filter2d(self, taps):
        anchor = middle(taps.shape[1]), middle(taps.shape[0])
        return lambda frame, mode: self.cv2.filter2D(frame, self.cv2.CV_64F, taps, anchor=anchor, borderType=mode)

    def sep_filter2d(self, x, y):
        anchor = middle(len(x)), middle(len(y))
        return lambda frame, mode: self.cv2.sepFilter2D(frame, self.cv2.CV_64F, x, y, anchor=anchor, borderType=mode)

    def gaussian(self, rx, ry, sx, sy):
        return Operation(f'GaussianBlur {rx},{ry} sigma {sx},{sy}',
                         [f'radius-x={rx}', f'radius-y={ry}', f'sigma-x={sx}', f'sigma-y={sy}'], max(rx, ry),
                         lambda frame, mode: self.cv2.GaussianBlur(frame, (2 * rx + 1, 2 * ry + 1), sx, sigmaY=sy,
                                                                   borderType=mode))

    def blur(self, rx, ry):
        return Operation(f'blur {rx},{ry}', ['filter=box', f'radius-x={rx}', f'radius-y={ry}'], max(rx, ry),
                         lambda frame, mode: self.cv2.blur(frame, (2 * rx + 1, 2 * ry + 1), borderType=mode))

    def box_sums(self, rx, ry, scale):
        return Operation(f'boxFilter {rx},{ry} sums',
                         ['filter=box', f'radius-x={rx}', f'radius-y={ry}', 'normalize=false', f'scale={scale}'],
                         max(rx, ry),
                         lambda frame, mode: self.cv2.boxFilter(frame, self.cv2.CV_64F, (2 * rx + 1, 2 * ry + 1),
                                                                normalize=False, borderType=mode), scale)

    def compute(self, operation, frame, mode, values):
        height, width, channels = frame.shape
        pad = operation.reach if mode == 'wrap' or any(values) else 0
        if pad:
            frame = self.cv2.copyMakeBorder(frame, pad, pad, pad, pad, self.modes[mode], value=values)
            mode = 'replicate'  # what lies outside the padding counts in the padding alone
        result = operation.compute(frame, self.modes[mode])
        return result.reshape(height + 2 * pad, width + 2 * pad, channels)[pad:pad + height, pad:pad + width]


class SciPy:
    name, module, package = 'SciPy', 'scipy.ndimage', 'python3-scipy'
    modes = {'constant': 'constant', 'replicate': 'nearest', 'reflect': 'reflect', 'reflect-101': 'mirror',
             'wrap': 'wrap'}

    def __init__(self, ndimage, kernels):
        self.ndimage = ndimage
        self.operations = [
            *kernels.dense_operations('correlate', self.correlate),
            *kernels.axes_operations('correlate1d', self.correlate_axes),
            self.gaussian(1.5, 1.5, 3),
            self.gaussian(0.9, 3.5, 3),
            self.gaussian(2, 2, 4),
            self.gaussian(3.3, 3.3, 2.5, 'radius=8'),
            self.gaussian(10, 10, 3),
            self.uniform(1, 1),
            self.uniform(0, 4),
            self.uniform(12, 12),
        ]

    @staticmethod
    def origin(n):
        return middle(n) - n // 2

    def correlate(self, taps):
        origin = [self.origin(n) for n in taps.shape]
        return lambda plane, **border: self.ndimage.correlate(plane, taps, origin=origin, **border)

    def correlate_axes(self, x, y):
        def compute(plane, mode, cval):
            along_x = self.ndimage.correlate1d(plane, x, 1, mode=mode, cval=cval, origin=self.origin(len(x)))
            # Above and below the frame the row sums are those of rows of the border's value.
            return self.ndimage.correlate1d(along_x, y, 0, mode=mode, cval=cval * x.sum(), origin=self.origin(len(y)))
        return compute

    def gaussian(self, sx, sy, truncate, *properties):
        return Operation(f'gaussian_filter {sx},{sy} truncate {truncate}',
                         [f'sigma-x={sx}', f'sigma-y={sy}', f'truncate={truncate}', *properties], 0,
                         lambda plane, **border: self.ndimage.gaussian_filter(plane, (sy, sx), truncate=truncate,
                                                                              **border))

    def uniform(self, rx, ry):
        return Operation(f'uniform_filter {rx},{ry}', ['filter=box', f'radius-x={rx}', f'radius-y={ry}'], 0,
                         lambda plane, **border: self.ndimage.uniform_filter(plane, (2 * ry + 1, 2 * rx + 1), **border))

    def compute(self, operation, frame, mode, values):
        return numpy.dstack([operation.compute(frame[:, :, c], mode=self.modes[mode], cval=values[c])
                             for c in range(frame.shape[2])])


def load(module, package, what):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f'SKIPPED: {what}: {error}; it is in the package {package}', flush=True)
        return None


def gst_launch(*pipeline, **options):
    return subprocess.run(['gst-launch-1.0', '-q', *pipeline], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, **options)


def backends():
    """The CPU always; cuda where it can run a frame."""
    probe = gst_launch(*'videotestsrc num-buffers=1 ! cudaconvolve backend=cuda ! fakesink'.split())
    if probe.returncode == 0:
        return ['cpu', 'cuda']
    print('SKIPPED:', probe.stderr.decode(errors='replace').split('\n')[0].rpartition('cudaconvolve0: ')[2])
    return ['cpu']


def make_frame(case):
    """Noise in the rows' padding too, as nothing of that may come through: the frame's bytes, and its values."""
    row = case.width * len(case.format.channels) * case.format.sample_bytes
    generator = numpy.random.default_rng(case.seed)
    data = generator.integers(0, 256, (case.height, (row + 3) // 4 * 4), numpy.uint8)
    return data.tobytes(), values_of(case, data)


def values_of(case, data):
    row = case.width * len(case.format.channels) * case.format.sample_bytes
    kind = {1: 'u1', 2: '<u2'}[case.format.sample_bytes]
    return numpy.ascontiguousarray(data[:, :row]).view(kind).reshape(case.height, case.width, -1).astype(float)


def element_of(case):
    return ['cudaconvolve', f'backend={case.backend}', f'border-mode={case.border.mode}',
            f'border-color={colour(case)}', *case.operation.properties]


def got(case, data):
    """What the element makes of the frame, or its words where it makes nothing."""
    pixel_format = case.format.name.lower().replace('_', '-')
    done = gst_launch('fdsrc', '!', 'rawvideoparse', f'format={pixel_format}', f'width={case.width}',
                      f'height={case.height}', '!', *element_of(case), '!', 'fdsink', input=data)
    if done.returncode != 0 or len(done.stdout) != len(data):
        raise RuntimeError(f'{len(done.stdout)} bytes of {len(data)}: {done.stderr.decode(errors="replace").strip()}')
    return values_of(case, numpy.frombuffer(done.stdout, numpy.uint8).reshape(case.height, -1))


def expected(case, frame):
    operation, values = case.operation, border_values(case)
    sums = case.peer.compute(operation, frame, case.border.mode, values)
    limit = full(case.format)
    return numpy.clip(numpy.rint(sums * operation.gain + operation.bias * limit), 0, limit)


def describe(case):
    return (f'{case.peer.name} {case.operation.name}, border {case.border.mode} 0x{colour(case):08x}, '
            f'{case.width}x{case.height} {case.format.name}, seed {case.seed}, backend {case.backend}')


def run(case):
    """Samples, how many are not exact, and the report of a failure or None."""
    data, frame = make_frame(case)
    want = expected(case, frame)
    try:
        have = got(case, data)
    except RuntimeError as error:
        return case, want.size, 0, f'{describe(case)}: {error}'
    off = abs(have - want)
    worst = numpy.unravel_index(off.argmax(), off.shape)
    report = None
    if off[worst] > 1:
        y, x, channel = worst
        report = (f'{describe(case)}: sample {x},{y} channel {channel}: expected {want[worst]:.0f}, '
                  f'got {have[worst]:.0f}; {numpy.count_nonzero(off > 1)} of {off.size} samples are more than 1 off\n'
                  f'    {" ".join(element_of(case))}')
    return case, off.size, numpy.count_nonzero(off), report


def cases_of(peer, backend):
    turn = 0
    for operation in peer.operations:
        for border in BORDERS:
            for pixel_format in FORMATS:
                sizes = SIZES[:1]
                for _ in range(SMALL_A_CASE):
                    sizes.append(SIZES[1 + turn % (len(SIZES) - 1)])
                    turn += 1
                for width, height in sizes:
                    yield Case(peer, operation, border, pixel_format, width, height, SEED + turn, backend)


def exactness(results):
    """Prints the share of exact samples of each operation and format, and returns what is below EXACT_SHARE."""
    counts = collections.defaultdict(lambda: [0, 0])
    for case, samples, inexact, _ in results:
        count = counts[f'{case.backend}: {case.peer.name} {case.operation.name}, {case.format.name}']
        count[0] += samples
        count[1] += inexact
    reports = []
    for name, (samples, inexact) in counts.items():
        line = f'{name}: {inexact} of {samples} samples are 1 off, {100 - 100 * inexact / samples:.3f} % exact'
        print(line)
        if inexact > samples * (1 - EXACT_SHARE):
            reports.append(line)
    return reports


def load_peers():
    kernels = Kernels()
    for peer in OpenCV, SciPy:
        module = load(peer.module, peer.package, peer.name)
        if module:
            yield peer(module, kernels)


def main():
    peers = list(load_peers()) if numpy else []
    if not peers:
        return SKIP
    cases = [case for backend in backends() for peer in peers for case in cases_of(peer, backend)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(run, cases))
    reports = [report for *_, report in results if report]
    print('\n'.join(reports[:MAX_REPORTS]))
    reports += exactness(results)
    print(f'{len(cases)} cases, {len(reports)} failures')
    return 1 if reports else 0


numpy = load('numpy', 'python3-numpy', 'OpenCV and SciPy')
sys.exit(main())
