#!/usr/bin/env python3
# You should see small pictures appear in pipelines/gallery/: filters, blurred faces, alpha modes, filters over time.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: gallery.py [--folder DIR] [--backend NAME] [PICTURE [X,Y,W,H[,TYPE]]...]
# Filters a scene that is drawn here, or the first frame of PICTURE, scaled to the width of the gallery. The rectangles,
# in pixels after scaling, are hidden in privacy-after.png. With a PICTURE and no rectangles, that file is not written.
# Shows every filter of the element, with the properties in SHOWN or else the defaults. Exit status: 1 on an error, 77
# if GStreamer for Python is missing. Set GST_PLUGIN_PATH if the plugin is not installed.
import argparse
import math
import os
import random
import sys

try:
    import gi
    gi.require_version('Gst', '1.0')
    gi.require_version('GstApp', '1.0')
    gi.require_version('GstVideo', '1.0')
    from gi.repository import Gst, GstApp, GstVideo  # noqa: F401 (GstApp gives appsrc and appsink their methods)
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} has no GStreamer ({error}). Install it (Debian and Ubuntu: apt install '
          'python3-gst-1.0) and run this with the Python of the system, /usr/bin/python3.')
    sys.exit(77)

WIDTH, HEIGHT = 200, 150  # a multiple of 4 pixels, so that rows of RGB have no padding

# The properties of each picture. The name begins with the filter; a suffix after a hyphen makes another picture of it.
STAR = ','.join('<' + ','.join('1' if x in (y, 12 - y) else '0' for x in range(13)) + '>' for y in range(13))
SHOWN = {
    'box': 'radius=5',
    'gaussian': 'radius=5',
    'disk': 'radius=5',
    'motion': 'radius=10 angle=30',
    'sharpen': 'amount=1',
    'unsharp': 'radius=4 amount=2',
    'sobel': 'scale=0.5',
    'sobel-x': 'gradient=x scale=0.5 bias=0.5',
    'sobel-y': 'gradient=y scale=0.5 bias=0.5',
    'sobel-directional': 'gradient=directional angle=45 scale=0.5 bias=0.5',
    'scharr': 'scale=0.25',
    'prewitt': 'scale=0.7',
    'laplacian': 'bias=0.5',
    'log': 'sigma=1.5 scale=5 bias=0.5',
    'emboss': 'amount=2 angle=45',
    'mosaic': 'radius=5',
    'fill': 'fill-color=0xff2050a0 roi-source=property roi="<<112,28,62,80>>" roi-feather=6',
    'custom': f'kernel="<{STAR}>"',
}
PRIVACY = 'roi-source=meta roi-types=face,plate roi-strength=relative roi-expand=0.1 roi-feather=6'
MEAN = 'filter=identity temporal-radius=7'
DENOISE = f'{MEAN} temporal-threshold=-1'
TRAIL = f'filter=identity temporal-mode=causal kernel-t="<{",".join("1" * 12)}>"'
DELTA = 'filter=identity kernel-t="<-1,0,1>" bias=0.5 normalize=false'

# Letters of 5 x 7 dots, in hexadecimal: one byte per row.
LETTERS = {
    'C': '0e11101010110e', 'E': '1f10101e10101f', 'L': '1010101010101f', 'N': '11111915131111', 'O': '0e11111111110e',
    'V': '11111111110a04', '1': '040c040404040e', '2': '0e11010204081f', '5': '1f101e0101110e', ' ': '00000000000000',
}


class Picture:
    """A picture of 3 or 4 bytes per pixel. Computes shapes from the signed distance to their edges, so edges are
    smooth."""

    def __init__(self, width, height, channels=3):
        self.width, self.height, self.channels = width, height, channels
        self.data = bytearray(width * height * channels)

    def paint(self, box, distance, colour):
        left, top, right, bottom = (int(edge) for edge in box)
        for y in range(max(top, 0), min(bottom + 1, self.height)):
            for x in range(max(left, 0), min(right + 1, self.width)):
                cover = min(max(0.5 - distance(x + 0.5, y + 0.5), 0), 1)
                at = (y * self.width + x) * self.channels
                for c, value in enumerate(colour(x, y) if callable(colour) else colour):
                    self.data[at + c] = round(self.data[at + c] * (1 - cover) + value * cover)

    def rectangle(self, x, y, width, height, colour):
        self.paint((x, y, x + width, y + height),
                   lambda px, py: max(x - px, px - x - width, y - py, py - y - height), colour)

    def ellipse(self, x, y, a, b, colour):
        self.paint((x - a - 1, y - b - 1, x + a + 1, y + b + 1),
                   lambda px, py: (math.hypot((px - x) / a, (py - y) / b) - 1) * min(a, b), colour)

    def text(self, x, y, size, text, colour):
        for i, letter in enumerate(text):
            for row, bits in enumerate(bytes.fromhex(LETTERS[letter])):
                for column in range(5):
                    if bits >> (4 - column) & 1:
                        self.rectangle(x + (6 * i + column) * size, y + row * size, size, size, colour)


def draw_face(picture, x, y, size, skin=(226, 172, 134), hair=(64, 40, 28)):
    """Draws a face around (x, y), about 2 * size high. Returns its region."""
    def shaded(px, py):
        light = 1.08 - 0.3 * (px - x + size) / (2 * size)
        return [min(value * light, 255) for value in skin]
    picture.ellipse(x, y - 0.18 * size, 0.82 * size, 0.92 * size, hair)
    picture.ellipse(x, y + 0.08 * size, 0.7 * size, 0.88 * size, shaded)
    for side in (-1, 1):
        eye = x + 0.28 * side * size
        picture.ellipse(eye, y - 0.08 * size, 0.16 * size, 0.09 * size, (250, 250, 250))
        picture.ellipse(eye, y - 0.08 * size, 0.075 * size, 0.085 * size, (30, 50, 90))
        picture.rectangle(eye - 0.18 * size, y - 0.28 * size, 0.36 * size, 0.06 * size, hair)
    picture.ellipse(x, y + 0.24 * size, 0.09 * size, 0.13 * size, [value * 0.75 for value in skin])
    picture.ellipse(x, y + 0.56 * size, 0.3 * size, 0.1 * size, (176, 48, 56))
    picture.rectangle(x - 0.24 * size, y + 0.545 * size, 0.48 * size, 0.03 * size, (90, 20, 30))
    return int(x - 0.85 * size), int(y - 1.1 * size), int(1.7 * size), int(2.1 * size), 'face'


def draw_plate(picture, x, y, size, text):
    """Draws a number plate with its upper left corner at (x, y). Returns its region."""
    width, height = (6 * len(text) + 3) * size, 11 * size
    picture.rectangle(x, y, width, height, (20, 20, 30))
    picture.rectangle(x + size / 2, y + size / 2, width - size, height - size, (244, 244, 236))
    picture.text(x + 2 * size, y + 2 * size, size, text, (16, 16, 40))
    return x, y, width, height, 'plate'


def draw_sky(picture):
    def colour(x, y):
        t = y / picture.height
        return 24 + 200 * t, 34 + 100 * t, 84 + 20 * t
    picture.rectangle(0, 0, picture.width, picture.height, colour)


def draw_building(picture, x, y, width, height):
    picture.rectangle(x, y, width, height, (52, 56, 70))
    for row in range(int(height) // 14):
        for column in range(int(width) // 10):
            lit = (3 * row + 5 * column) % 7 > 2
            picture.rectangle(x + 3 + 10 * column, y + 4 + 14 * row, 6, 8, (255, 220, 120) if lit else (30, 34, 50))


def draw_scene():
    """Returns a picture with points of light, edges, letters, gradients, colours, fine lines, a face and a plate."""
    picture = Picture(WIDTH, HEIGHT)
    draw_sky(picture)
    for i in range(8):
        picture.ellipse(12 + 25 * i, 11 + 5 * math.sin(1.3 * i), 2.2, 2.2, (255, 250, 230))
    draw_building(picture, 6, 52, 74, 68)
    picture.rectangle(4, 27, 104, 20, (196, 30, 40))
    picture.text(8, 30, 2, 'CONVOLVE', (255, 255, 255))
    picture.ellipse(144, 144, 54, 44, (40, 96, 120))
    draw_face(picture, 144, 68, 36)
    draw_plate(picture, 106, 124, 2, 'CNV 512')
    for i, colour in enumerate([(230, 40, 40), (240, 200, 40), (50, 190, 70), (40, 190, 220), (60, 70, 230)]):
        picture.rectangle(6 + 12 * i, 126, 12, 18, colour)
    for i in range(11):
        picture.rectangle(69 + 3 * i, 126, 1 + i % 2, 18, (255, 255, 255) if i % 2 else (10, 10, 10))
    return picture


def draw_street():
    """Returns a picture with a large face, a small face and a plate, and their regions."""
    picture = Picture(WIDTH, HEIGHT)
    draw_sky(picture)
    draw_building(picture, 94, 26, 104, 100)
    picture.ellipse(50, 144, 52, 44, (120, 44, 60))
    picture.rectangle(0, 126, WIDTH, 24, (70, 70, 74))
    picture.ellipse(164, 126, 15, 20, (40, 110, 80))
    return picture, [draw_face(picture, 49, 68, 42), draw_face(picture, 164, 95, 13, (150, 104, 76), (20, 16, 16)),
                     draw_plate(picture, 100, 133, 1, 'CNV 512')]


def draw_cut_out():
    """Returns a picture with alpha: a face on a disk. Transparent pixels are green."""
    picture = Picture(80, 80, 4)
    picture.rectangle(0, 0, 80, 80, (0, 255, 0, 0))
    picture.ellipse(40, 40, 33, 33, (250, 214, 90, 255))
    draw_face(picture, 40, 40, 25)
    return picture


def add_snow(picture, seed):
    """Returns a copy with grey noise, which does not change the colours. The noise depends only on the seed."""
    snow = random.Random(seed)
    noisy = Picture(picture.width, picture.height)
    for i in range(0, len(picture.data), 3):
        noise = round(snow.gauss(0, 24))
        noisy.data[i:i + 3] = bytes(min(max(value + noise, 0), 255) for value in picture.data[i:i + 3])
    return noisy


def draw_ball(frame, behind):
    """Returns a frame of a ball in front of a picture. The ball moves right by 6 pixels per frame, and rises and
    falls."""
    picture = Picture(behind.width, behind.height)
    picture.data[:] = behind.data
    picture.ellipse(20 + 6 * frame, 75 - 36 * math.sin(0.25 * frame), 17, 17, (255, 250, 215))
    return picture


class Source:
    """Filters a picture, with its regions as metas, or the frames of a clip, and writes one frame as PNG."""

    def __init__(self, folder, backend, picture):
        self.folder, self.backend, self.picture = folder, backend, picture

    def run(self, name, picture, settings, regions=()):
        self.run_clip(name, [picture], 0, settings, regions)

    def run_clip(self, name, frames, shown, settings, regions=()):
        picture = frames[shown]
        target = os.path.join(self.folder, name + '.png')
        if self.picture and os.path.exists(target) and os.path.samefile(target, self.picture):
            sys.exit(f'{self.picture} would be overwritten by a picture of the gallery: set --folder to another folder')
        pipeline = Gst.parse_launch(f'appsrc name=source format=time ! cudaconvolve backend={self.backend} {settings} '
                                    '! pngenc name=png compression-level=9 snapshot=true ! filesink name=sink')
        pipeline.get_by_name('sink').set_property('location', target)
        source = pipeline.get_by_name('source')
        source.set_property('caps', Gst.Caps.from_string(
            f'video/x-raw,format={"RGBA" if picture.channels == 4 else "RGB"},width={picture.width},'
            f'height={picture.height},framerate=1/1'))
        pass_only(pipeline.get_by_name('png').get_static_pad('sink'), shown * Gst.SECOND)
        pipeline.set_state(Gst.State.PLAYING)
        for i, frame in enumerate(frames):
            buffer = Gst.Buffer.new_wrapped(bytes(frame.data))
            buffer.pts, buffer.duration = i * Gst.SECOND, Gst.SECOND
            for x, y, width, height, kind in regions:
                GstVideo.buffer_add_video_region_of_interest_meta(buffer, kind, x, y, width, height)
            source.push_buffer(buffer)
        source.end_of_stream()
        wait(pipeline, Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        print(f'{target}: {settings:.90}, {os.path.getsize(target)} bytes')


def pass_only(pad, pts):
    """Drops all frames with other times."""
    def probe(pad, info):
        return Gst.PadProbeReturn.OK if info.get_buffer().pts == pts else Gst.PadProbeReturn.DROP
    pad.add_probe(Gst.PadProbeType.BUFFER, probe)


def wait(pipeline, what):
    message = pipeline.get_bus().timed_pop_filtered(Gst.CLOCK_TIME_NONE, Gst.MessageType.ERROR | what)
    if message.type == Gst.MessageType.ERROR:
        pipeline.set_state(Gst.State.NULL)
        sys.exit(f'error from {message.src.get_name()}: {message.parse_error().gerror.message}')


def load(path):
    """Returns the first frame of a file, scaled to the width of the gallery."""
    pipeline = Gst.parse_launch('filesrc name=source ! decodebin ! videoconvert ! videoscale ! video/x-raw,format=RGB,'
                                f'width={WIDTH},pixel-aspect-ratio=1/1 ! appsink name=sink sync=false')
    pipeline.get_by_name('source').set_property('location', path)
    pipeline.set_state(Gst.State.PAUSED)
    wait(pipeline, Gst.MessageType.ASYNC_DONE)
    sample = pipeline.get_by_name('sink').pull_preroll()
    if not sample:
        sys.exit(f'there is no picture in {path}')
    picture = Picture(WIDTH, GstVideo.VideoInfo.new_from_caps(sample.get_caps()).height)
    picture.data = bytearray(sample.get_buffer().extract_dup(0, len(picture.data)))
    pipeline.set_state(Gst.State.NULL)
    return picture


def parse_region(text):
    parts = text.split(',')
    if not 4 <= len(parts) <= 5 or not all(part.isdigit() for part in parts[:4]):
        raise argparse.ArgumentTypeError(f"'{text}' is no rectangle: write X,Y,W,H or X,Y,W,H,TYPE in pixels")
    return (*map(int, parts[:4]), (parts[4:] or ['face'])[0])


def filters():
    """Returns the nicks of all filters of the element."""
    element = Gst.ElementFactory.make('cudaconvolve')
    if not element:
        sys.exit('there is no element cudaconvolve: install its plugin, or set GST_PLUGIN_PATH')
    return [value.value_nick for value in type(element.get_property('filter')).__enum_values__.values()]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--folder', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'gallery'))
    parser.add_argument('--backend', default='auto')
    parser.add_argument('picture', nargs='?')
    parser.add_argument('region', nargs='*', type=parse_region)
    options = parser.parse_args()
    Gst.init(None)
    os.makedirs(options.folder, exist_ok=True)
    source = Source(options.folder, options.backend, options.picture)
    picture = load(options.picture) if options.picture else draw_scene()
    for nick in filters():
        for name, settings in {nick: '', **SHOWN}.items():
            if name.split('-')[0] == nick:
                source.run(name, picture, f'filter={nick} {settings}'.strip())
    street, regions = (picture, options.region) if options.picture else draw_street()
    if regions:
        source.run('privacy-before', street, 'filter=identity')
        source.run('privacy-after', street, PRIVACY, regions)
    cut_out = draw_cut_out()
    for mode in ('copy', 'filter', 'premultiply'):
        source.run(f'alpha-{mode}', cut_out, f'radius=5 alpha-mode={mode}')
    show_time(source, picture)


def show_time(source, picture):
    """Writes one frame of each clip: of a ball and noise in front of the picture, and of the ball in the sky."""
    snow = [add_snow(draw_ball(frame, picture), frame) for frame in range(15)]
    source.run_clip('time-noisy', snow, 7, 'filter=identity')
    source.run_clip('time-mean', snow, 7, MEAN)
    source.run_clip('time-denoised', snow, 7, DENOISE)
    sky = Picture(WIDTH, HEIGHT)
    draw_sky(sky)
    ball = [draw_ball(frame, sky) for frame in range(24)]
    source.run_clip('time-trail', ball, 22, TRAIL)
    source.run_clip('time-delta', ball, 14, DELTA)


main()
