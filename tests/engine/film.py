#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes film.nv12, the decoded film of tests/engine/exactness.c: 128x96 pixels of NV12.

A scene as cameras see it (textures in layers that move apart, gradients, motion blur, grain) is encoded at a low
bitrate and decoded, so that the samples are what comes out of decoders: blocks, ringing and flat chroma.
tests/element/noise.py measures filters over time on the same scene.

    python3 tests/engine/film.py tests/engine/film.nv12
"""
import math
import random
import subprocess
import sys
import tempfile

WIDTH, HEIGHT, FRAMES, STEPS = 256, 144, 8, 3
CROP_X, CROP_Y, CROP_WIDTH, CROP_HEIGHT = 64, 24, 128, 96
PIPELINE = ("filesrc location={0}/scene blocksize=%d ! rawvideoparse format=i420 width=%d height=%d framerate=25/1 ! "
            "x264enc bitrate=120 speed-preset=slow tune=0 ! h264parse ! avdec_h264 ! videoconvert ! "
            "video/x-raw,format=NV12 ! filesink location={0}/decoded") % (WIDTH * HEIGHT * 3 // 2, WIDTH, HEIGHT)


def lattice(seed, size=64):
    numbers = random.Random(seed)
    return [[numbers.random() for _ in range(size)] for _ in range(size)]


def texture(grid, x, y):
    """Returns smooth noise, 0..1, with period 64."""
    i, j = math.floor(x), math.floor(y)
    u, v = x - i, y - j
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    top, bottom = grid[j % 64], grid[(j + 1) % 64]
    a, b, i, k = top, bottom, i % 64, (i + 1) % 64
    return (a[i] * (1 - u) + a[k] * u) * (1 - v) + (b[i] * (1 - u) + b[k] * u) * v


GRIDS = [lattice(seed) for seed in range(4)]


def scene(x, y, t):
    """Returns luma, U and V, 0..255: a sky, hills, and a bright disk that crosses them."""
    u, v = 128.0, 128.0
    luma = 150 + 60 * (1 - y / HEIGHT) + 20 * texture(GRIDS[0], x / 40 + t / 20, y / 25)
    u += 18 * (1 - y / HEIGHT)
    if y > 70 + 25 * texture(GRIDS[1], x / 50 + t / 6, 0):
        luma = 25 + 70 * texture(GRIDS[2], x / 9 + t / 1.1, y / 7) + 40 * texture(GRIDS[3], x / 3 + t / 0.37, y / 3)
        u, v = 112, 120 + 10 * texture(GRIDS[1], x / 30, y / 30)
    distance = math.hypot(x - 100 - 9 * t, y - 60 - 3 * t)
    if distance < 24:
        luma, u, v = 235 - 3 * distance, 100, 170
    return luma, u, v


def frames():
    grain = random.Random(9)
    for f in range(FRAMES):
        mean = [[[sum(scene(x, y, f + s / STEPS / 2)[c] for s in range(STEPS)) / STEPS for c in range(3)]
                 for x in range(WIDTH)] for y in range(HEIGHT)]
        yield bytes(min(255, max(0, round(p[0] + grain.gauss(0, 4)))) for row in mean for p in row)
        for c in (1, 2):
            yield bytes(round(mean[y][x][c]) for y in range(0, HEIGHT, 2) for x in range(0, WIDTH, 2))


def crop(frame):
    luma = [frame[y * WIDTH + CROP_X:][:CROP_WIDTH] for y in range(CROP_Y, CROP_Y + CROP_HEIGHT)]
    chroma = [frame[(HEIGHT + y) * WIDTH + CROP_X:][:CROP_WIDTH]
              for y in range(CROP_Y // 2, (CROP_Y + CROP_HEIGHT) // 2)]
    return b"".join(luma + chroma)


def main():
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/scene", "wb") as to:
            to.writelines(frames())
        subprocess.run("gst-launch-1.0 -q " + PIPELINE.format(folder), shell=True, check=True)
        with open(folder + "/decoded", "rb") as decoded:
            film = decoded.read()
    with open(sys.argv[1], "wb") as to:
        to.write(crop(film[-WIDTH * HEIGHT * 3 // 2:]))


if __name__ == '__main__':
    main()
