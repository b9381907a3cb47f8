#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/camera.py with real RTSP servers and clients: no frame that a client gets shows a zone, whatever happens to
cameras, packets and zones files.

Usage: camera.py PIPELINES_FOLDER [long|config]    skipped without GStreamer's RTSP server for Python
       camera.py --serve PORT [corrupt]            a camera, which the test starts
       camera.py --run PIPELINES_FOLDER ARGUMENT...    pipelines/camera.py with a detector and an encoder of the test

The cameras send a colourful picture everywhere, and a zone or a grey picture has no colour. So a frame is checked by the
colour in the zone, and whether it is of a camera by the colour elsewhere. Bars at the top have the number of the frame.
The detector finds a box whose place depends on that number.
"""
import os
import random
import re
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import types
import unittest
from pathlib import Path

try:
    import gi
    for library in 'Gst', 'GstVideo', 'GstRtsp', 'GstRtspServer':
        gi.require_version(library, '1.0')
    from gi.repository import GLib, GObject, Gst, GstRtsp, GstRtspServer, GstVideo
    import gi.overrides._gi_gst  # noqa: F401
except (ImportError, ValueError) as error:
    print(f'SKIPPED: no RTSP server of GStreamer for this Python ({error})')
    sys.exit(77)

Gst.init(None)
WIDTH, HEIGHT, RATE = 320, 240, 30
N_BITS = 10
BAR = WIDTH // N_BITS
USER, PASSWORD = 'someone', 'camera-secret'
VIEWER, WORD = 'viewer', 'viewer-secret'
ZONE = '[a]\nrectangle=0,0.5,0.5,0.5\n'  # lower left
LARGER = '[a]\nrectangle=0,0.5,1,0.5\n'
COLOR = 40  # difference to grey of a sample that counts as colour; the cameras send 110
INSET = 12  # samples at the edge of a zone, which coders blur
STRICT_S = 40  # for what takes a few seconds on a machine that is not busy
LATENCY_S = 2 / RATE
DECODER = next(filter(Gst.ElementFactory.find, ('avdec_h264', 'nvh264dec')), None)  # of viewers


# ---- a camera


def picture(number):
    row = b''.join(bytes([220 if number >> bit & 1 else 30]) * BAR for bit in range(N_BITS))
    luma = row * (HEIGHT // 4) + bytes([120]) * (WIDTH * (HEIGHT - HEIGHT // 4))
    return luma + bytes([238]) * (WIDTH * HEIGHT // 4) + bytes([18]) * (WIDTH * HEIGHT // 4)


def damaged(data):
    """An access unit with a few wrong bytes after its headers, now and then."""
    data = bytearray(data)
    for _ in range(random.choice([0, 0, 0, 0, 0, 0, 1, 20])):
        if len(data) > 120:
            data[random.randrange(100, len(data))] = random.randrange(256)
    return bytes(data)


def serve(port, corrupt):
    """Serves one stream at /camera, to those who know the password."""
    takers = []
    clock = Gst.SystemClock.obtain()
    start = clock.get_time()
    encoder = Gst.parse_launch(
        f'appsrc name=source is-live=true do-timestamp=true format=time caps=video/x-raw,format=I420,width={WIDTH},'
        f'height={HEIGHT},framerate={RATE}/1 ! x264enc tune=zerolatency speed-preset=ultrafast bitrate=1500 key-int-max=30 '
        f'! video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=sink emit-signals=true sync=false')

    def take(sink):
        sample = sink.emit('pull-sample')
        buffer = sample.get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        for taker in list(takers):
            taker.set_property('caps', sample.get_caps())
            copy = Gst.Buffer.new_wrapped(damaged(data) if corrupt else data)
            copy.pts = clock.get_time() - start
            taker.emit('push-buffer', copy)
        return Gst.FlowReturn.OK

    def add(_, media):
        pipeline, taker = media.get_element().get_parent(), media.get_element().get_by_name('taker')
        pipeline.use_clock(clock)
        pipeline.set_start_time(Gst.CLOCK_TIME_NONE)
        pipeline.set_base_time(start)
        takers.append(taker)
        media.connect('unprepared', lambda _: takers.remove(taker))

    def feed():
        source, number, began = encoder.get_by_name('source'), 0, time.monotonic()
        while True:
            source.emit('push-buffer', Gst.Buffer.new_wrapped(picture(number % (1 << N_BITS))))
            number += 1
            time.sleep(max(0, began + number / RATE - time.monotonic()))

    encoder.get_by_name('sink').connect('new-sample', take)
    encoder.set_state(Gst.State.PLAYING)
    server, factory, auth = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory(), GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken.new()
    role = Gst.Structure.new_from_string(
        'viewer, media.factory.access=(boolean)true, media.factory.construct=(boolean)true')
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    token.set_string('media.factory.role', 'viewer')
    auth.add_digest(USER, PASSWORD, token)
    server.set_auth(auth)
    server.set_address('127.0.0.1')
    server.set_service(port)
    factory.set_launch('( appsrc name=taker is-live=true format=time ! rtph264pay name=pay0 pt=96 )')
    factory.set_shared(True)
    factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
    factory.add_role_from_structure(role)
    factory.connect('media-configure', add)
    server.get_mount_points().add_factory('/camera', factory)
    assert server.attach(None)
    threading.Thread(target=feed, daemon=True).start()
    GLib.MainLoop().run()


# ---- a detector

FINDER = 'testdetector'
WHOLE = (Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.TIMESTAMPS | Gst.BufferCopyFlags.META
         | Gst.BufferCopyFlags.MEMORY)

def number_of(luma, width, height, stride):
    """The number in the bars at the top of a picture."""
    row = luma[stride * (height // 8):]
    return sum(1 << bit for bit in range(N_BITS) if row[(2 * bit + 1) * width // (2 * N_BITS)] > 125)


def box_of(number):
    """The place of the box in a frame, in fractions: it moves from side to side in the upper left quarter."""
    left = 0.02 + 0.3 * abs(number % 128 - 64) / 64
    return left, 0.25, left + 0.15, 0.45


def find_box(pad, probe):
    """Attaches the box of a frame to it, as detectors do. Others have the buffer, so a copy goes on instead."""
    buffer, info = probe.get_buffer(), GstVideo.VideoInfo.new_from_caps(pad.get_current_caps())
    meta = GstVideo.buffer_get_video_meta(buffer)
    stride = meta.stride[0] if meta else info.stride[0]
    number = number_of(buffer.extract_dup(0, stride * info.height), info.width, info.height, stride)
    left, top, right, bottom = box_of(number)
    found = buffer.copy_region(WHOLE, 0, buffer.get_size())
    GstVideo.buffer_add_video_region_of_interest_meta(
        found, 'box', *(round(fraction * size) for fraction, size in [
            (left, info.width), (top, info.height), (right - left, info.width), (bottom - top, info.height)]))
    pad.get_peer().chain(found)
    return Gst.PadProbeReturn.DROP


# ---- an encoder that encodes one stream at a time, as some GPUs encode only a few


class LimitedEncoder(Gst.Bin):
    """Refuses a second stream when it opens, without a message, or at its first frame, with one."""
    __gstmetadata__ = 'Encoder with a limit', 'Codec/Encoder/Video', 'Encodes one stream at a time', 'tests'
    at_first_frame = False
    owner = None  # the element that encodes
    lock = threading.Lock()
    bitrate = GObject.Property(type=int, default=2000)

    def __init__(self):
        super().__init__()
        encoder = Gst.ElementFactory.make('x264enc')
        for name, value in ('tune', 'zerolatency'), ('speed-preset', 'ultrafast'), ('key-int-max', '60'):
            Gst.util_set_object_arg(encoder, name, value)
        self.add(encoder)
        # As an encoder on a GPU, it takes frames in GPU memory, if there is any.
        first = Gst.ElementFactory.make('cudadownload') or encoder
        if first is not encoder:
            self.add(first)
            first.link(encoder)
        for pad in first.get_static_pad('sink'), encoder.get_static_pad('src'):
            self.add_pad(Gst.GhostPad.new(pad.get_name(), pad))
        self.get_static_pad('sink').add_probe(Gst.PadProbeType.BUFFER, self.check_frame)

    def gets_session(self):
        with self.lock:
            LimitedEncoder.owner = self.owner or self
            return self.owner is self

    def check_frame(self, *_):
        if not self.at_first_frame or self.gets_session():
            return Gst.PadProbeReturn.OK
        self.post_message(Gst.Message.new_error(self, GLib.Error.new_literal(
            Gst.resource_error_quark(), 'no more sessions', Gst.ResourceError.BUSY), ''))
        return Gst.PadProbeReturn.DROP

    def do_change_state(self, transition):
        if transition == Gst.StateChange.NULL_TO_READY and not self.at_first_frame and not self.gets_session():
            return Gst.StateChangeReturn.FAILURE
        result = Gst.Bin.do_change_state(self, transition)
        if transition == Gst.StateChange.READY_TO_NULL and self.owner is self:
            LimitedEncoder.owner = None
        return result


def prefer_limited_encoder(when):
    import camera_stream
    LimitedEncoder.at_first_frame = when == 'frame'

    class Encoder(camera_stream.Encoder):
        def make(self):
            return LimitedEncoder()

    camera_stream.ENCODERS.insert(0, Encoder('limitedenc', {}, 'video/x-raw(memory:CUDAMemory); video/x-raw',
                                             'videoconvert'))


def run_with_substitutes(folder, arguments):
    """Runs camera.py with find_box in the place of each element of the name that DETECTOR has, and with a limited encoder
    if LIMITED says when it refuses a stream: open or frame."""
    sys.dont_write_bytecode = True
    sys.argv[1:] = arguments
    sys.path.insert(0, folder)
    from camera_stream import Source
    make_filters = Source.make_filters
    if os.environ.get('LIMITED'):
        prefer_limited_encoder(os.environ['LIMITED'])

    def make_filters_with_detector(source):
        sink = make_filters(source)
        detector = source.bin.get_by_name(FINDER)
        if detector:
            detector.get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, find_box)
        return sink

    Source.make_filters = make_filters_with_detector
    runpy.run_path(os.path.join(folder, 'camera.py'), run_name='__main__')


# ---- a viewer


class Frame:
    """What the test wants to know of a frame: colour in places, bright samples, the number in the bars."""

    def __init__(self, sample):
        buffer, info = sample.get_buffer(), GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        self.time = time.monotonic()
        self.width, self.height = info.width, info.height
        self.stride = (self.width + 3) // 4 * 4
        self.half = (self.width // 2 + 3) // 4 * 4
        self.data = buffer.extract_dup(0, buffer.get_size())

    def color(self, left, top, right, bottom):
        """Most and least difference to grey in a rectangle in fractions of the frame, without its edges."""
        edge = INSET // 2
        start = self.stride * self.height
        size = self.half * (self.height // 2)
        columns = slice(round(left * self.width / 2) + edge, round(right * self.width / 2) - edge)
        most, least = 0, 255
        for y in range(round(top * self.height / 2) + edge, round(bottom * self.height / 2) - edge, 3):
            blue = self.data[start + y * self.half:][columns]
            red = self.data[start + size + y * self.half:][columns]
            off = [max(abs(b - 128), abs(r - 128)) for b, r in zip(blue, red)]
            most, least = max(most, *off), min(least, *off)
        return most, least

    def hides(self, *place):
        return self.color(*place)[0] < COLOR

    def shows(self, *place):
        return self.color(*place)[1] > COLOR

    def number(self):
        return number_of(self.data, self.width, self.height, self.stride)


def start_codes(data):
    """Yields the places of the NAL units' headers."""
    at = data.find(b'\0\0\1')
    while at >= 0 and at + 4 < len(data):
        yield at + 3
        at = data.find(b'\0\0\1', at + 3)


class Viewer:
    """Decodes a stream, and checks each frame: that a place in it is hidden, and with has_box also the detector's box."""

    def __init__(self, port, path, user, password, hidden=None, has_box=False, look=None):
        self.hidden, self.has_box = hidden, has_box
        self.look, self.seen = look, []  # what a function says of each frame
        self.faults, self.frames, self.times = [], 0, {}
        self.beside = 0  # frames that show what is left of the box
        self.last = self.error = None
        self.pipeline = Gst.parse_launch(
            'rtspsrc name=source protocols=tcp latency=0 ! rtph264depay wait-for-keyframe=true ! h264parse name=parse '
            f'! video/x-h264,stream-format=byte-stream,alignment=au ! {DECODER} ! videoconvert ! video/x-raw,format=I420 ! appsink name=sink emit-signals=true sync=false '
            'max-buffers=60')
        source = self.pipeline.get_by_name('source')
        for name, value in {'location': f'rtsp://127.0.0.1:{port}/{path}', 'user-id': user, 'user-pw': password}.items():
            source.set_property(name, value)
        self.pipeline.get_by_name('sink').connect('new-sample', self.take)
        self.pipeline.get_by_name('parse').get_static_pad('src').add_probe(Gst.PadProbeType.BUFFER, self.check_unit)
        self.pipeline.set_state(Gst.State.PLAYING)

    def check_unit(self, _, info):
        """An access unit is a whole picture: its first slice is that of the first macroblock. Decoders on a GPU insist."""
        buffer = info.get_buffer()
        data = buffer.extract_dup(0, buffer.get_size())
        slices = [at for at in start_codes(data) if data[at] & 31 in (1, 5)]
        if slices and not data[slices[0] + 1] & 0x80:
            self.faults.append((self.frames, 'a picture in two access units'))
        return Gst.PadProbeReturn.OK

    def take(self, sink):
        frame = Frame(sink.emit('pull-sample'))
        self.last = frame
        self.frames += 1
        self.times[frame.number()] = frame.time
        if self.hidden and not frame.hides(*self.hidden):
            self.faults.append((self.frames, frame.color(*self.hidden)))
        if self.has_box:
            self.check_box(frame)
        if self.look:
            self.seen.append(self.look(frame))
        return Gst.FlowReturn.OK

    def check_box(self, frame):
        left, *rest = box_of(frame.number())
        if not frame.hides(left, *rest):
            self.faults.append((self.frames, frame.number(), frame.color(left, *rest)))
        self.beside += left > 0.28 and frame.shows(0, 0.25, 0.2, 0.45)

    def __str__(self):
        return f'{self.frames} frames, error {self.failed()}, colour {self.last and self.last.color(0, 0, 1, 1)}'

    def failed(self):
        message = self.pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        self.error = self.error or (message and message.parse_error()[0].message)
        return self.error

    def stop(self):
        self.pipeline.set_state(Gst.State.NULL)


def is_live(viewer):
    return viewer.last is not None and viewer.last.shows(0.5, 0, 1, 0.5)


def is_grey(viewer):
    return viewer.last is not None and viewer.last.hides(0, 0, 1, 1)


def has_text(viewer):
    """Whether a grey picture has a reason: bright letters on it."""
    if not is_grey(viewer):
        return False
    luma = viewer.last.data[:viewer.last.stride * viewer.last.height]
    return max(luma) > 200 and sorted(luma)[len(luma) // 2] in range(85, 110)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def wait_for(condition, seconds=STRICT_S):
    end = time.monotonic() + seconds
    while not (met := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return met


def resident(pid):
    return int(re.search(r'VmRSS:\s+(\d+)', Path(f'/proc/{pid}/status').read_text())[1])


def write_clip(elements, path):
    pipeline = Gst.parse_launch(f'{elements} ! filesink location={path}')
    pipeline.set_state(Gst.State.PLAYING)
    end = pipeline.get_bus().timed_pop_filtered(STRICT_S * Gst.SECOND, Gst.MessageType.ERROR | Gst.MessageType.EOS)
    pipeline.set_state(Gst.State.NULL)
    assert end and end.type == Gst.MessageType.EOS, f'{path} was not written'


class Served(unittest.TestCase):
    """A process that serves cameras, and viewers of it."""
    NEEDED = 'x264enc', 'h264parse', DECODER or 'avdec_h264', 'rtspsrc', 'textoverlay', 'splitmuxsink'

    def setUp(self):
        missing = [name for name in self.NEEDED if not Gst.ElementFactory.find(name)]
        if missing:
            self.skipTest(f'needs {", ".join(missing)}')
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.port = free_port()
        self.viewers = []

    def start_server(self, command, color, *sources, **environment):
        self.log = self.folder / 'log'
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                [sys.executable, *command, '--set=filter=fill', f'--set=fill-color={color}', *sources],
                stdout=log, stderr=subprocess.STDOUT,
                env=os.environ | {'PORT': str(self.port), 'PYTHONDONTWRITEBYTECODE': '1',
                                  'MALLOC_ARENA_MAX': '2'} | environment)  # as camera.sh sets it
        self.addCleanup(self.end, self.process)
        self.addCleanup(lambda: [viewer.stop() for viewer in self.viewers])

    @staticmethod
    def end(process):
        process.kill()
        process.wait()

    def view(self, *arguments, **options):
        self.viewers.append(Viewer(*arguments, **options))
        return self.viewers[-1]

    def said(self):
        return self.log.read_text()

    def expect(self, condition, what):
        seen = '' if wait_for(condition) else '; '.join(map(str, self.viewers))
        self.assertTrue(condition(), f'{what}; viewers: {seen}; it said:\n{self.said()}')


class Serving(Served):
    """Two cameras, one of them with damaged packets, and the first one twice more: without its zones file, and with a
    detector beside the zones."""

    def setUp(self):
        super().setUp()
        self.ports = [free_port(), free_port()]
        self.sources = [self.start_source(0), self.start_source(1)]
        self.zones = self.folder / 'front.zones'
        self.write_zones(ZONE)
        for name in 'back', 'yard':
            (self.folder / f'{name}.zones').write_text(ZONE)
        (self.folder / 'files').mkdir()
        cameras = self.folder / 'all.cameras'
        cameras.write_text('\n'.join(
            [f'[server]\nuser={VIEWER}\npassword={WORD}'] +
            [f'[{name}]\nsource=rtsp://{login}127.0.0.1:{port}/camera\n{rest}\nzones={name}.zones' for name, login, port, rest in [
                ('front', '', self.ports[0], f'user={USER}\npassword={PASSWORD}'),
                ('back', f'{USER}:{PASSWORD}@', self.ports[1], ''),
                ('gate', f'{USER}:{PASSWORD}@', self.ports[0], ''),
                ('yard', f'{USER}:{PASSWORD}@', self.ports[0], f'detector=identity name={FINDER}')]]))
        cameras.chmod(0o600)
        self.start_server([__file__, '--run', PIPELINES], '0xff404040', CAMERAS=str(cameras), STATUS='5', MINUTES='1',
                          RECORD=str(self.folder / 'files'))

    def start_source(self, number):
        process = subprocess.Popen([sys.executable, __file__, '--serve', str(self.ports[number]),
                                    *(['corrupt'] if number else [])])
        self.addCleanup(self.end, process)
        return process

    def write_zones(self, text):
        (self.folder / 'new').write_text(text)
        (self.folder / 'new').rename(self.zones)

    def start_viewers(self):
        self.expect(lambda: self.said().count(': live') >= 3, 'the cameras are not live')
        self.front = self.view(self.port, 'front', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1))
        self.back = self.view(self.port, 'back', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1))
        self.gate = self.view(self.port, 'gate', VIEWER, WORD, hidden=(0, 0, 1, 1))
        self.yard = self.view(self.port, 'yard', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1), has_box=True)
        self.expect(lambda: all(map(is_live, (self.front, self.back, self.yard))), 'the viewers see no live picture')
        self.expect(lambda: has_text(self.gate), 'no grey picture says that there are no zones')
        self.assertIn('gate: grey, the zones cannot be read: roi-location=', self.said())

    def check_latency(self):
        """What the process adds to a frame's way, in the median of two seconds of frames."""
        direct = self.view(self.ports[0], 'camera', USER, PASSWORD)
        self.expect(lambda: is_live(direct), 'the camera itself gives no picture')
        self.front.times.clear()
        wait_for(lambda: False, 3)
        direct.stop()
        later = sorted(seen - direct.times[number] for number, seen in dict(self.front.times).items()
                       if number in direct.times)
        self.assertGreater(len(later), RATE)
        print(f'added latency: median {1000 * later[len(later) // 2]:.0f} ms, '
              f'{1000 * later[len(later) * 95 // 100]:.0f} ms for 95 %, of {len(later)} frames')
        self.assertLess(later[len(later) // 2], LATENCY_S)

    def change_zones(self):
        self.write_zones(LARGER)
        self.expect(lambda: self.front.last.hides(0.5, 0.5, 1, 1) and is_live(self.front), 'the larger zone is not hidden')
        self.front.hidden = (0, 0.5, 1, 1)
        self.write_zones('[a]\nrectangle=0,0.5\n')
        self.expect(lambda: has_text(self.front), 'no grey picture although the zones are not valid')
        self.front.hidden = (0, 0, 1, 1)
        wait_for(lambda: False, 1.5)
        self.write_zones(ZONE)
        self.front.hidden = (0, 0.5, 0.5, 1)
        self.expect(lambda: is_live(self.front), 'no live picture after the zones are valid again')
        self.assertIn('rectangle=0,0.5: 2 numbers', self.said())

    def lose_camera(self):
        self.end(self.sources[0])
        self.expect(lambda: has_text(self.front), 'no grey picture although the camera is gone')
        self.assertTrue(is_live(self.back), 'another camera is lost too')
        self.sources[0] = self.start_source(0)
        self.expect(lambda: is_live(self.front) and is_live(self.yard), 'the camera does not come back')

    def check_secrets(self):
        command = Path(f'/proc/{self.process.pid}/cmdline').read_text() + self.said()
        for secret in PASSWORD, WORD:
            self.assertNotIn(secret, command)

    def check_frames(self):
        for viewer, least in (self.front, 100), (self.back, 100), (self.gate, 20), (self.yard, 100):
            self.assertGreater(viewer.frames, least)
            self.assertEqual(viewer.faults, [], 'a frame shows a zone or is split')
        self.assertGreater(self.yard.beside, 5, 'more than the box and the zone is hidden')

    def check_lines(self):
        for name, state in [('front', 'live'), ('back', 'live'), ('yard', 'live'), ('gate', 'grey: the zones cannot be')]:
            self.assertRegex(self.said(), rf'(?m)^{name}: \d+\.\d frames/s, latency \d+ ms, watched, {state}')

    def check_end(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.said())
        self.assertTrue(self.said().endswith('ended\n'), self.said())
        files = sorted((self.folder / 'files').iterdir())
        frames = dict.fromkeys(('front', 'back', 'gate', 'yard'), 0)
        for file in files:
            self.assertEqual(file.stat().st_mode & 0o077, 0, 'others can read a recording')
            recorded = self.count_frames(file)
            self.assertGreater(recorded, 0, file)
            frames[file.name.split('-')[0]] += recorded
        for name, count in frames.items():  # a grey picture before the first frame has a file of its own
            self.assertGreater(count, 20, f'{name}: {frames}')

    def count_frames(self, file):
        """Frames of a recording, none of which shows the zone."""
        pipeline = Gst.parse_launch(f'filesrc location={file} ! qtdemux ! h264parse ! {DECODER} ! videoconvert '
                                    '! video/x-raw,format=I420 ! appsink name=sink sync=false')
        sink = pipeline.get_by_name('sink')
        pipeline.set_state(Gst.State.PLAYING)
        frames, end = 0, None
        until = time.monotonic() + STRICT_S
        while not end and time.monotonic() < until:
            while sample := sink.emit('try-pull-sample', Gst.SECOND // 2):
                frames += 1
                self.assertTrue(Frame(sample).hides(0, 0.5, 0.5, 1), f'frame {frames} of {file} shows the zone')
            end = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR | Gst.MessageType.EOS)
        pipeline.set_state(Gst.State.NULL)
        self.assertIsNotNone(end, f'{file} of {file.stat().st_size} bytes does not end after {frames} frames')
        self.assertEqual(end.type, Gst.MessageType.EOS, f'{file}: {frames} frames')
        return frames

    def test_everything(self):
        self.start_viewers()
        self.check_latency()
        self.change_zones()
        self.lose_camera()
        for user, password in (VIEWER, 'wrong'), (None, None):
            stranger = self.view(self.port, 'front', user, password)
            self.expect(stranger.failed, 'a viewer without the password is served')
            self.assertEqual(stranger.frames, 0)
        if LONG:
            self.stay_for_minutes()
        self.check_secrets()
        self.check_frames()
        self.check_lines()
        self.check_end()
        print(f'{sum(viewer.frames for viewer in self.viewers)} frames without a zone\n{self.said()}')

    def stay_for_minutes(self):
        """Five minutes with viewers that come and go, changes of zones, and lost cameras."""
        start, sizes = time.monotonic(), []
        while time.monotonic() - start < 300:
            self.change_zones()
            self.lose_camera()
            visitor = self.view(self.port, 'back', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1))
            self.expect(lambda: is_live(visitor), 'a new viewer sees no live picture')
            visitor.stop()
            self.assertEqual(visitor.faults, [])
            sizes.append(resident(self.process.pid))
            print(f'{time.monotonic() - start:.0f} s: {sizes[-1] / 1000:.1f} MB', flush=True)
        self.check_latency()
        early, late = max(sizes[1:len(sizes) // 2]), max(sizes[len(sizes) // 2:])
        self.assertLess(late, 1.04 * early, 'memory grows')


class Faces(Served):
    """The face of a portrait, which GStreamer's facedetect finds, and a zone beside it."""
    NEEDED = *Served.NEEDED, 'facedetect', 'imagefreeze', 'pngdec', 'matroskamux'
    SIZE = 320
    FACE = 0.35, 0.12, 0.52, 0.32  # forehead to chin, in fractions of the portrait
    CORNER = 0.75, 0.75, 1, 1  # the zone
    GREEN = '0xff00ff00'
    BESIDE = 0.62, 0.05, 0.72, 0.35  # a place without much colour that nothing hides

    def setUp(self):
        super().setUp()
        portrait = Path(os.environ.get('CUDACONVOLVE_BUILD', 'none')) / 'portrait.png'
        if not portrait.exists():
            self.skipTest(f'there is no photograph {portrait}, which tests/run.sh fetches')
        self.clip = self.folder / 'clip.mkv'
        write_clip(
            f'filesrc location={portrait} ! pngdec ! imagefreeze num-buffers=50 ! videoconvert ! videoscale '
            f'! video/x-raw,format=I420,width={self.SIZE},height={self.SIZE},framerate=10/1 '
            f'! x264enc speed-preset=ultrafast quantizer=20 pass=qual ! matroskamux', self.clip)
        (self.folder / 'corner.zones').write_text('[corner]\nrectangle=0.75,0.75,0.25,0.25\n')

    def test_face_and_zone(self):
        self.start_server([PIPELINES / 'camera.py'], self.GREEN, self.clip, ZONES=str(self.folder / 'corner.zones'),
                          DETECTOR='facedetect display=false')
        self.expect(lambda: 'camera1: live' in self.said(), 'the camera is not live')
        viewer = self.view(self.port, 'camera1', None, None,
                           look=lambda frame: [frame.shows(*place) for place in (self.CORNER, self.BESIDE, self.FACE)])
        self.expect(lambda: len(viewer.seen) >= 30, 'no 30 frames')
        zones, others, faces = (sum(column) for column in zip(*viewer.seen[:30]))
        self.assertEqual((zones, others), (30, 0), 'frames with a green zone, and with green elsewhere')
        self.assertGreaterEqual(faces, 27, 'frames with a green face')
        print(f'of 30 frames the face is hidden in {faces}, the zone in all')


class Encoders(Served):
    """Two cameras, and an encoder that encodes one stream at a time: x264 encodes the other one."""
    NEEDED = *Served.NEEDED, 'mp4mux', 'qtdemux'

    def setUp(self):
        super().setUp()
        self.clip = self.folder / 'clip.mp4'
        write_clip(
            f'videotestsrc num-buffers=150 pattern=red ! video/x-raw,format=I420,width={WIDTH},height={HEIGHT},'
            f'framerate={RATE}/1 ! x264enc speed-preset=ultrafast ! mp4mux', self.clip)
        (self.folder / 'a.zones').write_text(ZONE)

    def falls_back(self, when, reason):
        self.start_server([__file__, '--run', PIPELINES], '0xff404040', self.clip, self.clip,
                          ZONES=str(self.folder / 'a.zones'), LIMITED=when)
        viewers = []
        self.expect(lambda: 'camera1: live' in self.said() and 'camera2: live' in self.said(), 'the cameras are not live')
        for number in 1, 2:
            viewers.append(self.view(self.port, f'camera{number}', None, None, hidden=(0, 0.5, 0.5, 1)))
        self.expect(lambda: all(is_live(viewer) and viewer.frames > 60 for viewer in viewers), 'no live pictures')
        self.assertEqual([viewer.faults for viewer in viewers], [[], []], 'a frame shows the zone')
        said = re.findall(r'(?m)^camera[12]: limitedenc does not start, so x264enc encodes: (.*)$', self.said())
        self.assertEqual(said, [reason], self.said())
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(STRICT_S), 0, self.said())

    def test_refused_when_it_opens(self):
        self.falls_back('open', 'an element does not start')

    def test_refused_at_the_first_frame(self):
        self.falls_back('frame', 'no more sessions')


class Configuration(unittest.TestCase):
    """What is rejected before anything is served."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / 'a.zones').write_text(ZONE)
        (self.folder / 'clip.mp4').touch()

    def refuses(self, words, *sources, **settings):
        done = subprocess.run([sys.executable, PIPELINES / 'camera.py', *sources], capture_output=True, text=True,
                              timeout=60, cwd=self.folder, env=os.environ | {'PYTHONDONTWRITEBYTECODE': '1'} | settings)
        self.assertIn(words, done.stderr)
        self.assertNotEqual(done.returncode, 0)
        self.assertNotIn('secret', done.stdout + done.stderr)
        self.assertNotIn('Traceback', done.stderr)

    def test_arguments(self):
        self.refuses('no camera: name a SOURCE')
        self.refuses('nothing would be hidden', 'clip.mp4')
        self.refuses("there is no file 'none.mp4'", 'none.mp4', ZONES='a.zones')
        self.refuses('must be rtsp://HOST/PATH', 'http://127.0.0.1/', ZONES='a.zones')
        self.refuses('every user of this machine can read a password in an argument', 'rtsp://u:secret@127.0.0.1/',
                     ZONES='a.zones')
        self.refuses('ZONES has 2 files for 1 sources', 'clip.mp4', ZONES='a.zones:b.zones')
        self.refuses('PORT must be a number from 1 to 65535', 'clip.mp4', ZONES='a.zones', PORT='x')
        self.refuses('no folder that can be written to', 'clip.mp4', ZONES='a.zones', RECORD='none')

    def test_passwords_that_are_not_where_they_should_be(self):
        for source in 'rtsp://u:se/cret@127.0.0.1/', 'rtsp://127.0.0.1/?u:secret@', 'u:secret@127.0.0.1':
            self.refuses('every user of this machine can read a password', source, ZONES='a.zones')
        cameras = self.folder / 'cameras'
        for source, words in [('rtsp://u:x/secret@127.0.0.1/', 'the source has an @ after the host'),
                              ('u:secret@127.0.0.1', 'there is no file: the source must be'),
                              ('rtsp://u:secret@[::1/', 'a source is no valid URI')]:
            cameras.write_text(f'[a]\nsource={source}\nzones=a.zones')
            cameras.chmod(0o600)
            self.refuses(words, CAMERAS='cameras')
        for line, words in [(b'password: secret', 'CAMERAS=cameras: line 2 is neither [NAME] nor KEY=VALUE'),
                            (b'password=secret\xfc', '[a]: the value of password cannot be read: it must be UTF-8'),
                            (b'password=secret\\q', '[a]: the value of password cannot be read')]:
            cameras.write_bytes(b'[a]\n' + line + b'\nsource=clip.mp4\n')
            self.refuses(words, CAMERAS='cameras')
        cameras.write_bytes(b'password=secret\n[a]\n')
        self.refuses('CAMERAS=cameras: it must begin with [NAME]', CAMERAS='cameras')

    def test_settings(self):
        self.refuses('roi-missing must be one of copy filter', 'clip.mp4', ZONES='a.zones', MISSING='filtr')
        self.refuses('radius must be a number from', '--set=radius=many', '--set=filter=mosaic', 'clip.mp4', ZONES='a.zones')
        self.refuses('RADIUS=0 hides nothing', '--set=radius=0', '--set=filter=mosaic', 'clip.mp4', ZONES='a.zones')

    def test_filters_and_detectors(self):
        self.refuses('FILTER=identity hides nothing: choose fill, mosaic', '--set=filter=identity', 'clip.mp4', ZONES='a.zones')
        self.refuses("[camera1]: the detector 'nonsense' cannot be used: no element", 'clip.mp4', DETECTOR='nonsense')

    def test_addresses(self):
        for address in '0.0.0.0', '::', '192.0.2.1', 'example.org':
            self.refuses('everyone who reaches this address could watch', 'clip.mp4', ZONES='a.zones', LISTEN=address)
        self.refuses('set both or none', 'clip.mp4', ZONES='a.zones', LISTEN='0.0.0.0', SERVE_PASSWORD='secret')
        self.refuses('set both or none', 'clip.mp4', ZONES='a.zones', SERVE_USER='u')

    def test_port_in_use(self):
        with socket.socket() as taken:
            taken.bind(('127.0.0.1', 0))
            taken.listen()
            self.refuses('cannot be used: is another server there?', 'clip.mp4', ZONES='a.zones',
                         PORT=str(taken.getsockname()[1]))

    def test_files(self):
        cameras = self.folder / 'cameras'
        self.refuses('CAMERAS=none: No such file', CAMERAS='none')
        for text, words in [
                ('[a]\nzones=a.zones', '[a] has no source'),
                ('[a]\nsource=clip.mp4\nzone=a.zones', '[a] has no key "zone": the keys are detector, password, source'),
                ('[server]\nuser=u\nport=3', '[server] has no key "port"'),
                ('[a b]\nsource=clip.mp4\nzones=a.zones', 'camera [a b]: a name has 1 to 40 letters'),
                ('[a]\nsource=clip.mp4', 'nothing would be hidden'),
                ('nonsense', 'CAMERAS=cameras: ')]:
            cameras.write_text(text)
            self.refuses(words, CAMERAS='cameras')
        for text in ('[a]\nsource=rtsp://u:secret@127.0.0.1/\nzones=a.zones',
                     '[a]\nsource=rtsp://127.0.0.1/\nuser=u\npassword=secret\nzones=a.zones',
                     '[server]\nuser=u\npassword=secret'):
            cameras.write_text(text)
            cameras.chmod(0o644)
            self.refuses('others can read its passwords: chmod 600 cameras', CAMERAS='cameras')


class Frames(unittest.TestCase):
    """Which frames a camera hands to the encoder, without a source or an encoder."""

    def setUp(self):
        sys.path.insert(0, str(PIPELINES))
        sys.dont_write_bytecode = True
        import camera_config
        import camera_stream
        self.stream = camera_stream
        camera_stream.start_clock()
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.camera = camera_stream.Camera(camera_config.Camera('a', 'rtsp://127.0.0.1/', zones='a.zones'),
                                           camera_config.Config([], {}), lambda text: None)
        self.camera.output, self.camera.source = self, object()
        self.got, self.buffers = [], []

    def push(self, sample):
        self.got.append(sample.get_buffer().pts)

    def take(self, pts, source=None):
        buffer = Gst.Buffer.new_wrapped(bytes(24))
        buffer.pts = pts
        caps = Gst.Caps.from_string('video/x-raw,format=I420,width=4,height=4,framerate=30/1')
        self.buffers.append(buffer)
        self.camera.take_frame(source or self.camera.source, Gst.Sample.new(buffer, caps, None, None))

    def test_times(self):
        """A frame of the future, or without a time, gets the time of now, so that those after it are not lost."""
        self.take(Gst.CLOCK_TIME_NONE)
        self.take(self.stream.running_time() + 3600 * Gst.SECOND)
        time.sleep(0.01)
        now = self.stream.running_time()
        self.take(now)
        self.take(now - 1)  # late
        self.assertEqual(len(self.got), 3)
        self.assertEqual(self.buffers[0].pts, Gst.CLOCK_TIME_NONE, 'a buffer that others have is changed')
        self.assertLess(self.got[0], self.got[1])
        self.assertEqual(self.got[2], now)

    def test_source_without_valid_zones(self):
        """No frame of a new source is shown before its zones were found valid."""
        test = self

        class Source:
            def __init__(self, camera, *_):
                self.camera, self.error = camera, 'the file is not valid'

            def zones_error(self):
                return self.error

            def play(self):
                test.take(test.stream.running_time(), self)

        real, self.stream.Source = self.stream.Source, Source
        self.addCleanup(setattr, self.stream, 'Source', real)
        self.camera.reason = None
        self.camera.start_source()
        self.assertEqual(self.got, [])
        self.assertEqual(self.camera.reason, 'the zones cannot be read: the file is not valid')
        self.camera.source.error = ''
        self.camera.last_frame = self.camera.first_frame = time.monotonic()
        self.camera.check_grey = lambda: None
        self.camera.tick()  # even if no message says so
        self.take(self.stream.running_time())
        self.assertEqual(len(self.got), 1)

    def test_latency_of_future(self):
        """Time stamps that are a few milliseconds ahead make no latency below 0."""
        buffer = Gst.Buffer.new_wrapped(bytes(4))
        buffer.pts = self.stream.running_time() + Gst.SECOND // 10
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        sample = Gst.Sample.new(buffer, None, segment, None)
        self.camera.take_encoded(types.SimpleNamespace(emit=lambda signal: sample))
        self.assertIn('a: 1.0 frames/s, latency 0 ms', self.camera.line(1))

    def test_recordings_keep_their_names(self):
        recorder = self.stream.Recorder.__new__(self.stream.Recorder)
        recorder.name, recorder.folder = 'a', self.folder
        for _ in range(3):
            Path(recorder.new_file(None, 0)).touch(exist_ok=False)

    def test_contexts_are_shared(self):
        """What one pipeline opened, such as a GPU, all later ones use, even its elements that come later."""
        first, second = ([Gst.Pipeline(), Gst.ElementFactory.make('identity')] for _ in range(2))
        first[0].add(first[1])
        self.stream.Part(first[0], lambda *_: None)
        first[1].post_message(Gst.Message.new_have_context(first[1], Gst.Context.new('test.gpu', True)))
        self.stream.Part(second[0], lambda *_: None)
        second[0].add(second[1])
        self.addCleanup(self.stream.CONTEXTS.clear)
        self.assertIn('test.gpu', [context.get_context_type() for context in second[1].get_contexts()])

    def test_memory(self):
        """An encoder on the CPU takes no frames in GPU memory, and is the last choice."""
        encoders = self.stream.encoders()
        self.assertIn([encoder.name for encoder in encoders], (['nvh264enc', 'x264enc'], ['x264enc']))
        for encoder in encoders:
            self.assertEqual('CUDAMemory' in encoder.frames, encoder.name == 'nvh264enc')


if sys.argv[1] == '--serve':
    serve(sys.argv[2], 'corrupt' in sys.argv)
    sys.exit()
if sys.argv[1] == '--run':
    run_with_substitutes(sys.argv[2], sys.argv[3:])
    sys.exit()
PIPELINES = Path(sys.argv.pop(1))
LONG = sys.argv[1:] == ['long']
cases = ['Configuration', 'Frames'] if sys.argv[1:] == ['config'] else ['Serving', 'Faces', 'Encoders']
result = unittest.main(argv=[sys.argv[0], *cases], verbosity=2, exit=False).result
for test, reason in result.skipped:
    print(f'SKIPPED {test.id()}: {reason}')
sys.exit(1 if not result.wasSuccessful() else 77 if len(result.skipped) == result.testsRun else 0)
