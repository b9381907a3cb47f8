#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Compares the element with OpenCV and SciPy. A peer that is missing is skipped; exit status 77 if both are missing.
# Neither has border-mode=renormalize.
#
# A case is an operation of a peer, and the properties with which the element should compute the same, on one frame of
# noise with one border. The peers work in float64, plane by plane. Rounding (to nearest, ties to even) and clamping are
# done here. OpenCV's functions on 8-bit frames are no reference: GaussianBlur computes these in fixed point, which
# differs from its own result in float64 by 1 at about one sample in six, and by 2 at sigma 10.
#
# The operations, and the differences of definitions, are in peer_operations.py.
#
# Usage: peers.py, with GST_PLUGIN_PATH_1_0 set to the plugin. CNV_SEED in the environment: the seed, default 1.
import collections
import concurrent.futures
import importlib
import itertools
import os
import pathlib
import subprocess
import sys
import tempfile

SKIP = 77
EXACT_SHARE = 0.99  # of the samples of an operation and format; no sample is more than 1 off
SIZES = [(1, 1), (1, 19), (23, 1), (5, 3), (2, 2), (33, 17)]  # in turn, besides the scope's own
FORMATS_A_BORDER = 3
CHAINS = 24  # per pipeline: starting a process takes longer than filtering a frame
MAX_REPORTS = 20

# roles: of the channels, in memory order. sub: pixels of the frame per pixel of the plane, along both axes
Plane = collections.namedtuple('Plane', 'roles sub', defaults=(1,))
# means: only for operations that are weighted means, because premultiply divides by the filtered alpha
Format = collections.namedtuple('Format', 'name bytes depth shift planes properties means', defaults=((), False))
SAME, FILTER, PREMULTIPLY = ['chroma-mode=same'], ['alpha-mode=filter'], ['alpha-mode=premultiply']
FORMATS = [
    Format('GRAY8', 1, 8, 0, [Plane('Y')]),
    Format('NV12', 1, 8, 0, [Plane('Y'), Plane('UV', 2)], SAME),
    Format('RGB', 1, 8, 0, [Plane('RGB')]),
    Format('P010_10LE', 2, 10, 6, [Plane('Y'), Plane('UV', 2)], SAME),
    Format('BGRA', 1, 8, 0, [Plane('BGRA')]),
    Format('GRAY16_LE', 2, 16, 0, [Plane('Y')]),
    Format('RGBA', 1, 8, 0, [Plane('RGBA')], FILTER),
    Format('I420_10LE', 2, 10, 0, [Plane('Y'), Plane('U', 2), Plane('V', 2)], SAME),
    Format('ARGB', 1, 8, 0, [Plane('ARGB')], PREMULTIPLY, True),
    Format('BGR', 1, 8, 0, [Plane('BGR')]),
    Format('ARGB64', 2, 16, 0, [Plane('ARGB')], PREMULTIPLY, True),
]

BLACK, BLUISH = 0xff000000, 0x803060c0
Border = collections.namedtuple('Border', 'mode colour', defaults=(BLACK,))
BORDERS = [Border('constant'), Border('constant', BLUISH), Border('replicate'), Border('reflect'),
           Border('reflect-101'), Border('wrap')]

# The part of the frame that is filtered. rects: x, y, width, height, without overlap; without any, the whole frame
Scope = collections.namedtuple('Scope', 'name size rects feather invert isolated fields',
                               defaults=((), 0, False, False, False))
RECTS = [(5, 7, 20, 13), (30, 23, 40, 40), (-3, 31, 9, 6)]  # odd edges, and edges outside the frame
WHOLE = Scope('whole', (61, 47))
SCOPES = [
    Scope('regions', (61, 47), RECTS),
    Scope('inverted', (61, 47), RECTS, invert=True),
    Scope('isolated', (61, 47), RECTS, isolated=True),
    Scope('feathered', (61, 47), RECTS, feather=3),
    Scope('fields', (61, 48), fields=True),
]

Case = collections.namedtuple('Case', 'peer operation border format scope width height seed backend')


# ---- expected results ----

def full(pixel_format):
    return 2 ** pixel_format.depth - 1


def border_value(case, role):
    """Returns the border colour in a channel. Grey is full range; YUV is limited range, by BT.601 at these sizes."""
    alpha, r, g, b = ((case.border.colour >> shift & 255) / 255 for shift in (24, 16, 8, 0))
    y, limit, unit = 0.299 * r + 0.587 * g + 0.114 * b, full(case.format), 2 ** (case.format.depth - 8)
    luma = y * limit if case.format.name.startswith('GRAY') else (16 + 219 * y) * unit
    return round({'A': alpha * limit, 'R': r * limit, 'G': g * limit, 'B': b * limit, 'Y': luma,
                  'U': (128 + 224 * (b - y) / 1.772) * unit, 'V': (128 + 224 * (r - y) / 1.402) * unit}[role])


def is_filtered(case, role):
    return role in case.operation.roles or role == 'A' and case.format.properties != ()


def weighted(compute, alpha, samples, values):
    """Returns means of colours weighted by alpha, and the mean of alpha. A colour does not change if all samples under
    the taps are transparent. alpha: number of the channel."""
    weight = samples[:, :, alpha:alpha + 1].copy()
    products, border = samples * weight, values * values[alpha]
    products[:, :, alpha:alpha + 1], border[alpha] = weight, values[alpha]
    sums = compute(products, border)
    below = sums[:, :, alpha:alpha + 1]
    means = numpy.where(below > 1e-9, sums / numpy.maximum(below, 1e-9), samples)
    means[:, :, alpha] = sums[:, :, alpha]
    return means


def filtered(case, plane, samples):
    """Returns an array of a plane's samples, all filtered, clamped but not rounded."""
    operation, limit = case.operation, full(case.format)
    chroma = plane.roles[0] in 'UV'
    neutral = 2 ** (case.format.depth - 1) if chroma else 0
    values = numpy.array([border_value(case, role) - neutral for role in plane.roles], float)
    function = operation.chroma if chroma and operation.chroma else operation.compute

    def compute(frame, border):
        return operation.norm * case.peer.compute(function, operation.reach, frame, case.border.mode, border)
    if chroma and operation.gradient:
        return numpy.full(samples.shape, float(neutral))
    if case.format.properties == PREMULTIPLY:
        return weighted(compute, plane.roles.index('A'), samples, values).clip(0, limit)
    sums = compute(samples - neutral, values)
    if operation.absolute:
        sums = abs(sums)
    for channel, role in enumerate(plane.roles):
        if role != 'A':
            sums[:, :, channel] *= operation.scale
            sums[:, :, channel] += neutral if chroma else operation.bias * limit
    return sums.clip(0, limit)


def span(start, length, sub, n):
    """Returns the slice of the samples along an axis that a rectangle touches."""
    return slice(max(start // sub, 0), min(-(-(start + length) // sub), n))


def fade(start, length, sub, n, feather):
    """Returns the weights of samples along an axis for a rectangle: 1 inside it."""
    place, first, end = numpy.arange(n), start // sub, -(-(start + length) // sub)
    away = numpy.maximum(numpy.maximum(first - place, place - end + 1), 0)
    return numpy.maximum(1 - away / (feather / sub + 1), 0)


def weights_of(scope, plane, shape):
    if not scope.rects:
        return numpy.ones(shape[:2] + (1,))
    largest = numpy.max([numpy.outer(fade(y, h, plane.sub, shape[0], scope.feather),
                                     fade(x, w, plane.sub, shape[1], scope.feather)) for x, y, w, h in scope.rects], 0)
    largest = numpy.floor(255 * largest + 0.5 + 8 / 65536) / 255  # a multiple of 1/255 (convolve/work.h)
    return (1 - largest if scope.invert else largest)[:, :, None]


def expected(case, plane, before):
    """Returns the plane's expected values, and by how much each of the element's may differ. Samples that are not
    filtered keep the bits that carry no value; in filtered samples these are 0."""
    scope, samples = case.scope, values_of(case, before)
    weights = weights_of(scope, plane, samples.shape)
    weights = weights * [float(is_filtered(case, role)) for role in plane.roles]
    result = samples.copy()
    if scope.fields:
        parts = [numpy.s_[field::2] for field in (0, 1)]
    elif scope.isolated:
        parts = [(span(y, h, plane.sub, samples.shape[0]), span(x, w, plane.sub, samples.shape[1]))
                 for x, y, w, h in scope.rects]
    else:
        parts = [numpy.s_[:]]
    for part in parts:
        result[part] = filtered(case, plane, samples[part])
    mixed = numpy.rint(weights * result + (1 - weights) * samples)
    return numpy.where(weights > 0, mixed, before / 2 ** case.format.shift), weights > 0


# ---- results of the element ----

def gst_launch(*pipeline):
    return subprocess.run(['gst-launch-1.0', '-q', *map(str, pipeline)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def backends():
    """Returns cpu, and cuda if it can filter a frame."""
    probe = gst_launch(*'videotestsrc num-buffers=1 ! cudaconvolve backend=cuda ! fakesink'.split())
    if probe.returncode == 0:
        return ['cpu', 'cuda']
    print('SKIPPED:', probe.stderr.decode(errors='replace').split('\n')[0].rpartition('cudaconvolve0: ')[2])
    return ['cpu']


def plane_places(case):
    """Yields each plane with its offset, stride and rows in memory, and its width and height in pixels."""
    offset, even = 0, max(plane.sub for plane in case.format.planes)
    for plane in case.format.planes:
        width, height = (-(-n // plane.sub) for n in (case.width, case.height))
        stride = (width * len(plane.roles) * case.format.bytes + 3) // 4 * 4
        rows = -(-case.height // even) * even // plane.sub
        yield plane, offset, stride, rows, width, height
        offset += stride * rows


def frame_size(case):
    return sum(stride * rows for _, _, stride, rows, _, _ in plane_places(case))


def planes_of(case, data):
    """Yields the samples of each plane as they are in memory."""
    kind = {1: 'u1', 2: '<u2'}[case.format.bytes]
    for plane, offset, stride, rows, width, height in plane_places(case):
        lines = numpy.frombuffer(data, numpy.uint8, stride * rows, offset).reshape(rows, stride)
        row = numpy.ascontiguousarray(lines[:height, :width * len(plane.roles) * case.format.bytes])
        yield row.view(kind).reshape(height, width, -1)


def make_frame(case):
    """Returns noise, also in the padding of rows and in bits that carry no value: neither may affect the result."""
    return numpy.random.default_rng(case.seed).integers(0, 256, frame_size(case), numpy.uint8).tobytes()


def values_of(case, samples):
    return (samples >> case.format.shift & full(case.format)).astype(float)


def scope_properties(scope):
    if not scope.rects:
        return []
    rects = ','.join(f'<{x},{y},{w},{h}>' for x, y, w, h in scope.rects)
    return ['roi-source=property', f'roi=<{rects}>', f'roi-feather={scope.feather}', f'roi-invert={scope.invert}',
            f'roi-isolated={scope.isolated}']


def element_of(case):
    operation = case.operation
    return ['cudaconvolve', f'backend={case.backend}', f'border-mode={case.border.mode}',
            f'border-color={case.border.colour}', *case.format.properties, *operation.properties,
            f'scale={operation.scale}', f'bias={operation.bias}', f'absolute={operation.absolute}',
            *scope_properties(case.scope)]


def chain(case, source, sink):
    pixel_format = case.format.name.lower().replace('_', '-')
    return ['filesrc', f'location={source}', '!', 'rawvideoparse', f'format={pixel_format}', f'width={case.width}',
            f'height={case.height}', f'interlaced={case.scope.fields}', '!', *element_of(case), '!', 'filesink',
            f'location={sink}']


def run(cases):
    """Runs cases side by side in one pipeline. If that fails, runs each by itself to find the failing ones. Returns for
    each the case, its number of samples, the number of inexact ones, and the report of a failure or None."""
    with tempfile.TemporaryDirectory() as folder:
        sources = [pathlib.Path(folder, f'{i}.in') for i in range(len(cases))]
        for case, source in zip(cases, sources):
            source.write_bytes(make_frame(case))
        sinks = [source.with_suffix('.out') for source in sources]
        done = gst_launch(*itertools.chain(*map(chain, cases, sources, sinks)))
        outputs = [sink.read_bytes() if sink.exists() else b'' for sink in sinks]
    if done.returncode == 0 and all(len(out) == frame_size(case) for case, out in zip(cases, outputs)):
        return [compare(case, out) for case, out in zip(cases, outputs)]
    if len(cases) > 1:
        return [run([case])[0] for case in cases]
    words = done.stderr.decode(errors='replace').strip()
    return [(cases[0], 0, 0, f'{describe(cases[0])}: {len(outputs[0])} bytes of '
             f'{frame_size(cases[0])}: {words}\n    {" ".join(element_of(cases[0]))}')]


# ---- comparison ----

def format_name(case):
    return ' '.join([case.format.name, *case.format.properties])


def describe(case):
    return (f'{case.peer.name} {case.operation.name}, border {case.border.mode} 0x{case.border.colour:08x}, '
            f'{case.scope.name} of {case.width}x{case.height} {format_name(case)}, seed {case.seed}, '
            f'backend {case.backend}')


def compare(case, out):
    samples = inexact = 0
    report = None
    frame = planes_of(case, make_frame(case))
    for number, (plane, before, after) in enumerate(zip(case.format.planes, frame, planes_of(case, out))):
        want, tolerance = expected(case, plane, before)
        have = after / 2 ** case.format.shift
        off = abs(have - want)
        samples += off.size
        inexact += numpy.count_nonzero(off)
        if report is None and (off > tolerance).any():
            y, x, channel = worst = numpy.unravel_index((off - tolerance).argmax(), off.shape)
            report = (f'{describe(case)}: plane {number} sample {x},{y} channel {channel}: expected {want[worst]:.0f}, '
                      f'got {have[worst]:g}; {numpy.count_nonzero(off > tolerance)} of {off.size} samples are off\n'
                      f'    {" ".join(element_of(case))}')
    return case, samples, inexact, report


def cases_of(peer, backend):
    """Yields whole frames with every border, each in some formats; then parts, with borders and formats in turn."""
    turn = itertools.count(operations.SEED)
    for number, operation in enumerate(peer.operations):
        kinds = [kind for kind in FORMATS if operation.mean or not kind.means]
        formats = itertools.islice(itertools.cycle(kinds), number % len(kinds), None)
        for border, _ in itertools.product(BORDERS, range(FORMATS_A_BORDER)):
            pixel_format, seed = next(formats), next(turn)
            for width, height in (WHOLE.size, SIZES[seed % len(SIZES)]):
                yield Case(peer, operation, border, pixel_format, WHOLE, width, height, seed, backend)
        for scope in SCOPES:
            seed = next(turn)
            yield Case(peer, operation, BORDERS[seed % len(BORDERS)], next(formats), scope, *scope.size, seed, backend)


def exactness(results):
    """Prints the share of exact samples of each operation and format, and returns what is below EXACT_SHARE."""
    counts = collections.defaultdict(lambda: [0, 0])
    for case, samples, inexact, _ in results:
        if samples == 0:
            continue
        count = counts[f'{case.backend}: {case.peer.name} {case.operation.name}, {format_name(case)}']
        count[0] += samples
        count[1] += inexact
    reports = []
    for name, (samples, inexact) in counts.items():
        line = f'{name}: {inexact} of {samples} samples are 1 off, {100 - 100 * inexact / samples:.3f} % exact'
        print(line)
        if inexact > samples * (1 - EXACT_SHARE):
            reports.append(line)
    return reports


def load(module, package, what):
    try:
        return importlib.import_module(module)
    except ImportError as error:
        print(f'SKIPPED: {what}: {error}; it is in the package {package}', flush=True)
        return None


def load_peers():
    kernels = operations.Kernels()
    for peer in operations.OpenCV, operations.SciPy:
        module = load(peer.module, peer.package, peer.name)
        if module:
            yield peer(module, kernels)


def main():
    peers = list(load_peers()) if numpy else []
    if not peers:
        return SKIP
    cases = [case for backend in backends() for peer in peers for case in cases_of(peer, backend)]
    batches = [cases[i:i + CHAINS] for i in range(0, len(cases), CHAINS)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(itertools.chain(*pool.map(run, batches)))
    reports = [report for *_, report in results if report]
    print('\n'.join(reports[:MAX_REPORTS]))
    reports += exactness(results)
    print(f'{len(cases)} cases, {len(reports)} failures')
    return 1 if reports else 0


sys.dont_write_bytecode = True  # it would be beside the sources
numpy = load('numpy', 'python3-numpy', 'OpenCV and SciPy')
operations = numpy and importlib.import_module('peer_operations')
sys.exit(main())
