# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The operations that peers.py compares: of OpenCV and SciPy, in float64, each with the properties that make the element
# compute the same.
#
# If definitions differ, the cases are restricted to what both have:
#   - OpenCV has tables instead of its rule for sigma up to 7 or 9 taps (by release), so sigma is set there.
#   - SciPy's radius is truncate * sigma rounded to the nearest, ours is rounded up.
#   - The middle of an even number of taps is n/2 in OpenCV and SciPy, and (n-1)/2 here, so the anchor is set.
#   - OpenCV's filters know black as the only constant border, and no wrap, so it pads the frame first. The second
#     of two passes of SciPy meets the constant itself, and not the result of the first pass, so NumPy pads.
#   - SciPy's correlate with reflect reads a wrong sample 4n before the first of n (1.10), so no kernel reaches 8
#     back.
#   - OpenCV's Laplacian of ksize 3 differs from ours of radius 1, which is its ksize 1.
#   - SciPy's taps of gaussian_laplace do not add up to 0, but ours do: its result on ones is subtracted.
#   - Disk and motion are no operations of the peers: filter2D gets taps that are computed here, and not as ours
#     are.
#   - Subsampled chroma gets the same taps as luma, unless the operation has its own for chroma.
import collections
import itertools
import math
import os

import numpy

SEED = int(os.environ.get('CNV_SEED', '1'))

# properties: of the element. compute: a function of the peer with the parameters frame and border. reach: at least the
# number of samples on each side that have an effect, for padding. norm: factor of its result, on every channel; after
# it come scale and bias, which the element gets, too. mean: the taps are the weights of a mean. roles: channels that
# are filtered besides alpha. chroma: the function for subsampled planes, if it differs.
Operation = collections.namedtuple('Operation', 'name properties compute reach norm scale bias absolute mean gradient '
                                   'roles chroma', defaults=(0, 1, 1, 0, False, False, False, 'YUVRGB', None))


# ---- taps ----

def random_taps(height, width, least=0):
    generator = numpy.random.default_rng([SEED, height, width])
    return generator.uniform(least, 1, (height, width)).round(4)


def numbers(row):
    return '<' + ','.join(f'{tap:.4f}' for tap in row) + '>'


def direction(angle):
    return math.cos(math.radians(angle)), math.sin(math.radians(angle))


def disk_taps(rx, ry):
    """Returns for each sample the share of its 8 x 8 points that are inside an ellipse."""
    x, y = ((numpy.arange(8 * (2 * r + 1)) + 0.5) / (8 * r + 4) - 1 for r in (rx, ry))
    return (x ** 2 + y[:, None] ** 2 < 1).reshape(2 * ry + 1, 8, 2 * rx + 1, 8).mean((1, 3))


def motion_taps(radius, angle):
    """Returns the sum of points one sample apart on a line. Each is a tent, two samples wide along both axes."""
    def tents(part):
        reach = math.ceil(radius * abs(part) - 1e-9)
        return numpy.maximum(1 - abs(numpy.arange(-reach, reach + 1) - steps * part), 0)
    steps = numpy.arange(-radius, radius + 1)[:, None]
    x, y = direction(angle)
    return tents(y).T @ tents(x)


def anchor_properties(anchor):
    return [f'anchor-{axis}={tap}' for axis, tap in zip('xy', anchor or ())]


def mean_of(taps):
    return {'norm': 1 / taps.sum(), 'mean': True}


RAW = ['normalize=false']
SIGNED = {'scale': 0.25, 'bias': 0.5}


class Kernels:
    """Custom kernels for both peers, as rows: name, taps, anchor, properties, other members of the operation."""

    def __init__(self):
        self.dense = [self.positive(h, w) for h, w in [(1, 7), (3, 3), (5, 4), (15, 15)]]
        self.dense += [self.positive(4, 5, (0, 3)), self.positive(6, 2, (1, 0)), self.positive(3, 7, (6, 2))]
        cross = numpy.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])
        self.dense += [
            ('sharpen', numpy.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]), None, [], {}),
            ('laplacian', cross, None, [], SIGNED),
            ('laplacian absolute', cross, None, [], {'scale': 0.5, 'absolute': True}),
            ('signed 5x5', random_taps(5, 5, -1), None, RAW, {'scale': 0.3, 'bias': 0.25}),
            ('signed 5x5 absolute', random_taps(5, 5, -1), None, RAW,
             {'scale': -0.3, 'bias': 0.75, 'absolute': True}),
        ]
        self.axes = [self.positive_axes(5, 3), self.positive_axes(4, 6), self.positive_axes(1, 6),
                     self.positive_axes(6, 4, (5, 1))]
        self.axes += [('sobel', (numpy.array([-1., 0, 1]), numpy.array([1., 2, 1])), None, RAW, SIGNED)]

    @staticmethod
    def positive(height, width, anchor=None):
        taps = random_taps(height, width)
        return f'{width}x{height}', taps, anchor, [], mean_of(taps)

    @staticmethod
    def positive_axes(width, height, anchor=None):
        taps = random_taps(1, width)[0], random_taps(1, height)[0]
        return f'{width}x{height}', taps, anchor, [], mean_of(numpy.outer(*taps))

    @staticmethod
    def operation(prefix, row, properties, compute, size):
        """Returns the operation of a row. compute: makes its function from taps and anchor."""
        name, taps, anchor, more, rest = row
        at = anchor or [(n - 1) // 2 for n in size]
        return Operation(f'{prefix} {name}{f" anchor {anchor[0]},{anchor[1]}" if anchor else ""}',
                         ['filter=custom', *properties, *more, *anchor_properties(anchor)], compute(taps, at),
                         max(size), **rest)

    def dense_operations(self, prefix, compute, *properties):
        for row in self.dense:
            kernel = 'kernel=<' + ','.join(numbers(line) for line in row[1]) + '>'
            yield self.operation(prefix, row, [kernel, *properties], compute, row[1].shape[::-1])

    def axes_operations(self, prefix, compute, *properties):
        for row in self.axes:
            kernels = [f'kernel-{axis}={numbers(taps)}' for axis, taps in zip('xy', row[1])]
            yield self.operation(prefix, row, [*kernels, *properties], compute, [len(taps) for taps in row[1]])


# ---- operations of both peers, by their derivatives and blurs ----

def gradients(kind, radius, derivatives, scale):
    """Yields the operations x, y, magnitude and directional. derivatives: functions for x and y."""
    angle = 30
    cos, sin = direction(angle)
    ways = {'x': lambda x, y: x, 'y': lambda x, y: y, 'magnitude': numpy.hypot,
            'directional': lambda x, y: cos * x + sin * y}

    def make(way):
        def compute(frame, **border):
            return ways[way](*(derivative(frame, **border) for derivative in derivatives))
        return compute
    for way in ways:
        yield Operation(f'{kind} {radius} {way}', [f'filter={kind}', f'radius={radius}', f'gradient={way}',
                                                   f'angle={angle}'], make(way), 2 * radius, scale=scale,
                        bias=0 if way == 'magnitude' else 0.5, gradient=True)


def sharpen(amount, laplacian):
    return Operation(f'sharpen {amount}', ['filter=sharpen', f'amount={amount}'],
                     lambda frame, **border: frame - amount * laplacian(frame, **border), 1)


def unsharp(amount, blur):
    return blur._replace(name=f'unsharp {amount}, {blur.name}', mean=False, chroma=None,
                         properties=['filter=unsharp', f'amount={amount}', *blur.properties],
                         compute=lambda frame, **border: frame + amount * (frame - blur.compute(frame, **border)))


class OpenCV:
    name, module, package = 'OpenCV', 'cv2', 'python3-opencv'

    def __init__(self, cv2, kernels):
        self.cv2 = cv2
        self.modes = {'constant': cv2.BORDER_CONSTANT, 'replicate': cv2.BORDER_REPLICATE, 'reflect': cv2.BORDER_REFLECT,
                      'reflect-101': cv2.BORDER_REFLECT_101, 'wrap': cv2.BORDER_WRAP}
        self.operations = [
            *kernels.dense_operations('filter2D', self.filter2d),
            *kernels.axes_operations('sepFilter2D', self.sep_filter2d),
            *self.blurs(),
            *itertools.chain(*(gradients('sobel', r, self.sobel(r), 4.0 ** (1 - 2 * r)) for r in (1, 2, 3))),
            *gradients('scharr', 1, [self.scharr(1, 0), self.scharr(0, 1)], 1 / 16),
            *(Operation(f'Laplacian {r}', ['filter=laplacian', f'radius={r}'], self.laplacian(r), 2 * r,
                        scale=4.0 ** (1 - 2 * r), bias=0.5) for r in (1, 2, 3)),
            sharpen(1, self.laplacian(1)),
            sharpen(0.6875, self.laplacian(1)),
            unsharp(1, self.gaussian(3, 2, 2.5, 1.2)),
            unsharp(2.5, self.gaussian(8, 8, 0, 0)),
            *(self.taps_of(f'disk {rx},{ry}', disk_taps(rx, ry), 'filter=disk', f'radius-x={rx}', f'radius-y={ry}')
              for rx, ry in ((1, 1), (4, 4), (6, 3))),
            *(self.taps_of(f'motion {r} at {angle}', motion_taps(r, angle), 'filter=motion', f'radius={r}',
                           f'angle={angle}') for r, angle in ((5, 0), (4, 90), (6, 45), (9, -160), (3, 380.5))),
        ]

    def blurs(self):
        gaussian, blur = self.gaussian, self.blur
        yield from (gaussian(1, 1, 0.7, 0.7), gaussian(3, 2, 2.5, 1.2), gaussian(8, 8, 0, 0), gaussian(30, 30, 10, 10))
        yield from (blur(1, 1), blur(4, 0), blur(12, 12))
        yield self.box_sums(1, 2, 0.0625)
        yield self.with_chroma(gaussian(5, 5, 2, 2), gaussian(3, 3, 1, 1), 'chroma-mode=scaled')
        yield self.with_chroma(blur(3, 3), blur(1, 1), 'chroma-radius=1')
        yield self.with_chroma(gaussian(4, 4, 1.5, 1.5), gaussian(5, 5, 1.6, 1.6), 'chroma-sigma=1.6')
        yield self.with_chroma(gaussian(4, 4, 1.5, 1.5), gaussian(2, 2, 0.9, 0.9), 'chroma-sigma=0.9',
                               'chroma-radius=2')
        for planes, roles in (('luma+red', 'YR'), ('chroma+green+blue', 'UVGB'), ('blue', 'B')):
            yield blur(2, 2)._replace(name=f'blur 2,2 of {planes}', roles=roles,
                                      properties=[*blur(2, 2).properties, f'planes={planes}'])

    def filter2d(self, taps, anchor):
        return lambda frame, **border: self.cv2.filter2D(frame, self.cv2.CV_64F, taps.astype(float), anchor=anchor,
                                                         **border)

    def sep_filter2d(self, taps, anchor):
        return lambda frame, **border: self.cv2.sepFilter2D(frame, self.cv2.CV_64F, *taps, anchor=anchor, **border)

    def taps_of(self, name, taps, *properties):
        height, width = taps.shape
        return Operation(name, properties, self.filter2d(taps, (width // 2, height // 2)), max(taps.shape),
                         **mean_of(taps))

    def gaussian(self, rx, ry, sx, sy):
        return Operation(f'GaussianBlur {rx},{ry} sigma {sx},{sy}',
                         [f'radius-x={rx}', f'radius-y={ry}', f'sigma-x={sx}', f'sigma-y={sy}'],
                         lambda frame, **border: self.cv2.GaussianBlur(frame, (2 * rx + 1, 2 * ry + 1), sx, sigmaY=sy,
                                                                       **border), max(rx, ry), mean=True)

    def blur(self, rx, ry):
        return Operation(f'blur {rx},{ry}', ['filter=box', f'radius-x={rx}', f'radius-y={ry}'],
                         lambda frame, **border: self.cv2.blur(frame, (2 * rx + 1, 2 * ry + 1), **border), max(rx, ry),
                         mean=True)

    def box_sums(self, rx, ry, scale):
        return Operation(f'boxFilter {rx},{ry} sums',
                         ['filter=box', f'radius-x={rx}', f'radius-y={ry}', 'normalize=false'],
                         lambda frame, **border: self.cv2.boxFilter(frame, self.cv2.CV_64F, (2 * rx + 1, 2 * ry + 1),
                                                                    normalize=False, **border), max(rx, ry),
                         scale=scale)

    @staticmethod
    def with_chroma(luma, chroma, *properties):
        return luma._replace(name=f'{luma.name}, of chroma {chroma.name}', chroma=chroma.compute,
                             properties=[*luma.properties, *properties], reach=max(luma.reach, chroma.reach))

    def sobel(self, radius):
        return [lambda frame, dx=dx, **border: self.cv2.Sobel(frame, self.cv2.CV_64F, dx, 1 - dx,
                                                              ksize=2 * radius + 1, **border) for dx in (1, 0)]

    def scharr(self, dx, dy):
        return lambda frame, **border: self.cv2.Scharr(frame, self.cv2.CV_64F, dx, dy, **border)

    def laplacian(self, radius):
        ksize = 1 if radius == 1 else 2 * radius + 1
        return lambda frame, **border: self.cv2.Laplacian(frame, self.cv2.CV_64F, ksize=ksize, **border)

    def compute(self, function, reach, frame, mode, values):
        height, width, channels = frame.shape
        pad = reach if mode == 'wrap' or any(values) else 0
        if channels == 1:
            frame = frame[:, :, 0]  # as OpenCV returns it
        if pad:
            frame = self.cv2.copyMakeBorder(frame, pad, pad, pad, pad, self.modes[mode], value=values)
            mode = 'replicate'  # samples outside the padding only affect the padding
        result = function(frame, borderType=self.modes[mode])
        return result.reshape(height + 2 * pad, width + 2 * pad, channels)[pad:pad + height, pad:pad + width]


class SciPy:
    name, module, package = 'SciPy', 'scipy.ndimage', 'python3-scipy'
    modes = {'constant': 'constant', 'replicate': 'nearest', 'reflect': 'reflect', 'reflect-101': 'mirror',
             'wrap': 'wrap'}

    def __init__(self, ndimage, kernels):
        self.ndimage = ndimage
        laplace = Operation('laplace', ['filter=laplacian'], ndimage.laplace, 1, **SIGNED)
        self.operations = [
            *kernels.dense_operations('correlate', self.dense(ndimage.correlate)),
            *kernels.dense_operations('convolve', self.dense(ndimage.convolve), 'flip-kernel=true'),
            *kernels.axes_operations('correlate1d', self.axes(ndimage.correlate1d)),
            *kernels.axes_operations('convolve1d', self.axes(ndimage.convolve1d), 'flip-kernel=true'),
            self.gaussian(1.5, 1.5, 3),
            self.gaussian(0.9, 3.5, 3),
            self.gaussian(2, 2, 4),
            self.gaussian(3.3, 3.3, 2.5, 'radius=8'),
            self.gaussian(10, 10, 3),
            self.uniform(1, 1),
            self.uniform(0, 4),
            self.uniform(12, 12),
            *gradients('sobel', 1, self.along(ndimage.sobel), 0.25),
            *gradients('prewitt', 1, self.along(ndimage.prewitt), 1 / 3),
            laplace,
            laplace._replace(name='laplace absolute', absolute=True, bias=0),
            sharpen(3, ndimage.laplace),
            unsharp(1.5, self.gaussian(2, 2, 3)),
            self.log(1, 1, 4),
            self.log(1.5, 1.5, 8),
            self.log(2, 3.5, 16),
            self.emboss(1, 0),
            self.emboss(2.5, 120),
        ]

    @staticmethod
    def origin(n, anchor):
        return anchor - n // 2

    def dense(self, function):
        def make(taps, anchor):
            origin = [self.origin(n, at) for n, at in zip(taps.shape, anchor[::-1])]
            return lambda plane, **border: function(plane, taps.astype(float), origin=origin, **border)
        return make

    def axes(self, function):
        def make(taps, anchor):
            origin = [self.origin(len(row), at) for row, at in zip(taps, anchor)]

            def compute(plane, **border):
                along_x = function(plane, taps[0], 1, origin=origin[0], **border)
                return function(along_x, taps[1], 0, origin=origin[1], **border)
            return compute
        return make

    @staticmethod
    def along(function):
        return [lambda plane, axis=axis, **border: function(plane, axis, **border) for axis in (1, 0)]

    def gaussian(self, sx, sy, truncate, *properties):
        return Operation(f'gaussian_filter {sx},{sy} truncate {truncate}',
                         [f'sigma-x={sx}', f'sigma-y={sy}', f'truncate={truncate}', *properties],
                         lambda plane, **border: self.ndimage.gaussian_filter(plane, (sy, sx), truncate=truncate,
                                                                              **border), mean=True)

    def uniform(self, rx, ry):
        return Operation(f'uniform_filter {rx},{ry}', ['filter=box', f'radius-x={rx}', f'radius-y={ry}'],
                         lambda plane, **border: self.ndimage.uniform_filter(plane, (2 * ry + 1, 2 * rx + 1), **border),
                         mean=True)

    def log(self, sx, sy, scale):
        sigma, radius = (sy, sx), math.ceil(3 * max(sx, sy))

        def compute(plane, **border):
            laplace, blur = self.ndimage.gaussian_laplace, self.ndimage.gaussian_filter
            left = laplace(numpy.ones((1, 1)), sigma, mode='nearest', truncate=3)[0, 0]
            return laplace(plane, sigma, truncate=3, **border) - left * blur(plane, sigma, truncate=3, **border)
        return Operation(f'gaussian_laplace {sx},{sy}', ['filter=log', f'sigma-x={sx}', f'sigma-y={sy}'], compute,
                         radius, scale=scale, bias=0.5)

    def emboss(self, amount, angle):
        """The mean slope is a third of Prewitt's, which adds up three rows."""
        cos, sin = direction(angle)

        def compute(plane, **border):
            x, y = (slope(plane, **border) / 3 for slope in self.along(self.ndimage.prewitt))
            return plane + amount * (cos * x + sin * y)
        return Operation(f'emboss {amount} at {angle}', ['filter=emboss', f'amount={amount}', f'angle={angle}'],
                         compute, 1)

    def compute(self, function, reach, frame, mode, values):
        planes = []
        for channel, value in enumerate(values):
            plane, inside, border = frame[:, :, channel], ..., {'mode': self.modes[mode], 'cval': value}
            if mode == 'constant' and reach:
                plane, inside = numpy.pad(plane, reach, constant_values=value), (slice(reach, -reach),) * 2
            planes.append(function(plane, **border)[inside])
        return numpy.dstack(planes)
