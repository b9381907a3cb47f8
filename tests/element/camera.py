#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/camera.py with real RTSP servers and clients: no frame that a client gets shows a zone, whatever happens to
cameras, packets and zones files.

Usage: camera.py PIPELINES_FOLDER [long|config]    skipped without GStreamer's RTSP server for Python
       camera.py --serve PORT [corrupt]            a camera, which the test starts

The cameras send a colourful picture everywhere, and a zone or a grey picture has no colour. So a frame is checked by the
colour in the zone, and whether it is of a camera by the colour elsewhere. Bars at the top have the number of the frame.
"""
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import gi
    for library in 'Gst', 'GstRtsp', 'GstRtspServer':
        gi.require_version(library, '1.0')
    from gi.repository import GLib, Gst, GstRtsp, GstRtspServer
    import gi.overrides._gi_gst  # noqa: F401
except (ImportError, ValueError) as error:
    print(f'SKIPPED: no RTSP server of GStreamer for this Python ({error})')
    sys.exit(77)

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
    Gst.init(None)
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
    token, role = GstRtspServer.RTSPToken.new(), Gst.Structure.new_empty('viewer')
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    token.set_string('media.factory.role', 'viewer')
    auth.add_digest(USER, PASSWORD, token)
    role.set_value('media.factory.access', True)
    role.set_value('media.factory.construct', True)
    server.set_auth(auth)
    server.set_address('127.0.0.1')
    server.set_service(port)
    factory.set_launch('( appsrc name=taker is-live=true format=time ! rtph264pay name=pay0 pt=96 '
                       'config-interval=-1 )')
    factory.set_shared(True)
    factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
    factory.add_role_from_structure(role)
    factory.connect('media-configure', add)
    server.get_mount_points().add_factory('/camera', factory)
    assert server.attach(None)
    threading.Thread(target=feed, daemon=True).start()
    GLib.MainLoop().run()


# ---- a viewer


class Frame:
    """What the test wants to know of a frame: colour in places, bright samples, the number in the bars."""

    def __init__(self, sample):
        buffer, caps = sample.get_buffer(), sample.get_caps().get_structure(0)
        self.time = time.monotonic()
        self.width, self.height = caps.get_value('width'), caps.get_value('height')
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
        row = self.data[self.stride * (self.height // 8):]
        return sum(1 << bit for bit in range(N_BITS) if row[(2 * bit + 1) * self.width // (2 * N_BITS)] > 125)


class Viewer:
    """Decodes a stream, and checks each frame."""

    def __init__(self, port, path, user, password, hidden=None):
        self.hidden = hidden
        self.faults, self.frames, self.times = [], 0, {}
        self.last = self.error = None
        self.pipeline = Gst.parse_launch(
            'rtspsrc name=source protocols=tcp latency=0 ! rtph264depay wait-for-keyframe=true ! avdec_h264 ! videoconvert '
            '! video/x-raw,format=I420 ! appsink name=sink emit-signals=true sync=false max-buffers=60')
        source = self.pipeline.get_by_name('source')
        for name, value in {'location': f'rtsp://127.0.0.1:{port}/{path}', 'user-id': user, 'user-pw': password}.items():
            source.set_property(name, value)
        self.pipeline.get_by_name('sink').connect('new-sample', self.take)
        self.pipeline.set_state(Gst.State.PLAYING)

    def take(self, sink):
        frame = Frame(sink.emit('pull-sample'))
        self.last = frame
        self.frames += 1
        self.times[frame.number()] = frame.time
        if self.hidden and not frame.hides(*self.hidden):
            self.faults.append((self.frames, frame.color(*self.hidden)))
        return Gst.FlowReturn.OK

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


class Serving(unittest.TestCase):
    """Two cameras, one of them with damaged packets, and a third one whose zones file is not there."""

    def setUp(self):
        needed = ('x264enc', 'h264parse', 'avdec_h264', 'rtspsrc', 'textoverlay', 'splitmuxsink')
        missing = [name for name in needed if not Gst.ElementFactory.find(name)]
        if missing:
            self.skipTest(f'needs {", ".join(missing)}')
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()) if hasattr(self, 'enterContext')
                           else self.temporary_folder())
        self.ports = [free_port(), free_port()]
        self.port = free_port()
        self.sources = [self.start_source(0), self.start_source(1)]
        self.zones = self.folder / 'front.zones'
        self.write_zones(ZONE)
        (self.folder / 'back.zones').write_text(ZONE)
        (self.folder / 'files').mkdir()
        cameras = self.folder / 'all.cameras'
        cameras.write_text('\n'.join(
            [f'[server]\nuser={VIEWER}\npassword={WORD}'] +
            [f'[{name}]\nsource=rtsp://{login}127.0.0.1:{port}/camera\n{rest}\nzones={name}.zones' for name, login, port, rest in [
                ('front', '', self.ports[0], f'user={USER}\npassword={PASSWORD}'),
                ('back', f'{USER}:{PASSWORD}@', self.ports[1], ''),
                ('gate', f'{USER}:{PASSWORD}@', self.ports[0], '')]]))
        cameras.chmod(0o600)
        self.log = self.folder / 'log'
        with self.log.open('w') as log:
            self.process = subprocess.Popen(
                ['/usr/bin/python3', PIPELINES / 'camera.py', '--set=filter=fill', '--set=fill-color=0xff404040'],
                stdout=log, stderr=subprocess.STDOUT,
                env=os.environ | {'CAMERAS': str(cameras), 'PORT': str(self.port), 'STATUS': '5', 'MINUTES': '1',
                                  'RECORD': str(self.folder / 'files'), 'PYTHONDONTWRITEBYTECODE': '1'})
        self.addCleanup(self.end, self.process)
        self.viewers = []
        self.addCleanup(lambda: [viewer.stop() for viewer in self.viewers])

    def temporary_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return folder.name

    def start_source(self, number):
        process = subprocess.Popen([sys.executable, __file__, '--serve', str(self.ports[number]),
                                    *(['corrupt'] if number else [])])
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        process.kill()
        process.wait()

    def write_zones(self, text):
        (self.folder / 'new').write_text(text)
        (self.folder / 'new').rename(self.zones)

    def view(self, *arguments, **options):
        self.viewers.append(Viewer(*arguments, **options))
        return self.viewers[-1]

    def said(self):
        return self.log.read_text()

    def expect(self, condition, what):
        seen = '' if wait_for(condition) else '; '.join(map(str, self.viewers))
        self.assertTrue(condition(), f'{what}; viewers: {seen}; it said:\n{self.said()}')

    def start_viewers(self):
        self.expect(lambda: self.said().count(': live') >= 2, 'the cameras are not live')
        self.front = self.view(self.port, 'front', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1))
        self.back = self.view(self.port, 'back', VIEWER, WORD, hidden=(0, 0.5, 0.5, 1))
        self.gate = self.view(self.port, 'gate', VIEWER, WORD, hidden=(0, 0, 1, 1))
        self.expect(lambda: is_live(self.front) and is_live(self.back), 'the viewers see no live picture')
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
        self.expect(lambda: is_live(self.front), 'the camera does not come back')

    def check_secrets(self):
        command = Path(f'/proc/{self.process.pid}/cmdline').read_text() + self.said()
        for secret in PASSWORD, WORD:
            self.assertNotIn(secret, command)

    def check_frames(self):
        for viewer, least in (self.front, 100), (self.back, 100), (self.gate, 20):
            self.assertGreater(viewer.frames, least)
            self.assertEqual(viewer.faults, [], 'a frame shows a zone')

    def check_end(self):
        self.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.process.wait(30), 0, self.said())
        self.assertTrue(self.said().endswith('ended\n'), self.said())
        files = sorted((self.folder / 'files').iterdir())
        frames = dict.fromkeys(('front', 'back', 'gate'), 0)
        for file in files:
            self.assertEqual(file.stat().st_mode & 0o077, 0, 'others can read a recording')
            recorded = self.count_frames(file)
            self.assertGreater(recorded, 0, file)
            frames[file.name.split('-')[0]] += recorded
        for name, count in frames.items():  # a grey picture before the first frame has a file of its own
            self.assertGreater(count, 20, f'{name}: {frames}')

    def count_frames(self, file):
        """Frames of a recording, none of which shows the zone."""
        pipeline = Gst.parse_launch(f'filesrc location={file} ! qtdemux ! h264parse ! avdec_h264 ! videoconvert '
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
        self.check_end()
        print(f'{self.front.frames} + {self.back.frames} + {self.gate.frames} frames without a zone\n{self.said()}')

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
        self.assertLess(late, 1.1 * early + 4000, 'memory grows')


class Configuration(unittest.TestCase):
    """What is rejected before anything is served."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / 'a.zones').write_text(ZONE)
        (self.folder / 'clip.mp4').touch()

    def refuses(self, words, *sources, **settings):
        done = subprocess.run(['/usr/bin/python3', PIPELINES / 'camera.py', *sources], capture_output=True, text=True,
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


if sys.argv[1] == '--serve':
    serve(sys.argv[2], 'corrupt' in sys.argv)
    sys.exit()
PIPELINES = Path(sys.argv.pop(1))
LONG = sys.argv[1:] == ['long']
case = 'Configuration' if sys.argv[1:] == ['config'] else 'Serving'
Gst.init(None)
unittest.main(argv=[sys.argv[0], case], verbosity=2)
