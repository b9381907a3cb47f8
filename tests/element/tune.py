#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/tune.py in a display of its own: each property has a control that sets it and shows it; the wipe parts
before from after; texts that are no values, refusals, presets, a restart, a pause; and gst-launch-1.0 takes the line to
copy.

Usage: tune.py PIPELINES_FOLDER [SCREENSHOT.png]    skipped without GTK 3, or without Xvfb
"""
import atexit
import os
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE = ['videotestsrc', 'pattern=checkers-8', '!', 'video/x-raw,format=GRAY8,width=640,height=360,framerate=30/1']
REQUIRED_S = 10  # limit until the first picture appears, usually after half a second


def start_display():
    """A server that ends with this process; DISPLAY names its display."""
    if not shutil.which('Xvfb'):
        print('SKIPPED: there is no Xvfb')
        sys.exit(77)
    reading, writing = os.pipe()
    options = ['-screen', '0', '1600x1000x24', '-nolisten', 'tcp', '-terminate']
    server = subprocess.Popen(['Xvfb', '-displayfd', str(writing), *options], pass_fds=[writing],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    atexit.register(server.terminate)
    os.close(writing)
    number = os.read(reading, 16).decode().strip()
    if not number:
        sys.exit('Xvfb does not start')
    os.environ['DISPLAY'] = ':' + number
    os.environ['GDK_BACKEND'] = 'x11'
    os.environ['NO_AT_BRIDGE'] = '1'


def wait_for(condition, seconds=REQUIRED_S):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        while tune.Gtk.events_pending():
            tune.Gtk.main_iteration()
        time.sleep(0.005)
    return condition()


class Tuning(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.window = tune.Window(SOURCE)
        cls.window.show_all()
        cls.window.player.play(True)
        assert wait_for(lambda: 'picture' in cls.window.times), 'no picture is seen'

    @classmethod
    def tearDownClass(cls):
        cls.window.player.pipeline.set_state(tune.Gst.State.NULL)

    def setUp(self):
        self.window.reset()
        self.settings, self.player, self.rows = self.window.settings, self.window.player, self.window.rows
        self.element = self.player.filter

    def wait_for_pictures(self, n=3):
        frames = self.player.frames
        self.assertTrue(wait_for(lambda: self.player.frames >= frames + n), 'no more pictures come')

    def detail(self):
        """Mean difference of neighbours in a row of what is seen, left of the wipe and right of it."""
        wait_for(lambda: False, 0.2)
        picture = self.window.picture
        pixbuf = tune.Gdk.pixbuf_get_from_window(picture.get_window(), *map(round, picture.place))
        row = pixbuf.get_pixels()[pixbuf.get_height() // 2 * pixbuf.get_rowstride():][:3 * pixbuf.get_width():3]
        split = round(picture.wipe * len(row))
        return [sum(abs(a - b) for a, b in zip(part, part[1:])) / len(part)
                for part in (row[10:split - 10], row[split + 10:-10])]

    def test_each_property_has_a_control(self):
        writable = {pspec.name for pspec in self.element.list_properties()
                    if pspec.flags & tune.GObject.ParamFlags.WRITABLE} - {'name', 'parent'}
        self.assertEqual(writable, set(self.rows))
        kinds = {'filter': tune.Choice, 'radius': tune.Number, 'n-threads': tune.Number, 'sigma': tune.Number,
                 'normalize': tune.Check, 'planes': tune.Checks, 'kernel': tune.Text, 'roi-types': tune.Text,
                 'border-color': tune.Color}
        for name, kind in kinds.items():
            self.assertIs(type(self.rows[name].control), kind, name)

    def test_controls_set_properties(self):
        control = {name: row.control for name, row in self.rows.items()}
        control['filter'].set_active_id('box')
        control['radius'].field.set_value(3)
        control['normalize'].set_active(False)
        control['planes'].checks[1].set_active(False)
        control['scale'].slider.emit('change-value', tune.Gtk.ScrollType.JUMP, 0.5)
        control['border-color'].set_rgba(tune.Gdk.RGBA(1, 0, 1, 1))
        control['border-color'].emit('color-set')
        control['kernel'].set_text('<<1, 2>, <3, 4>>')
        control['kernel'].emit('activate')
        self.assertEqual(self.settings.changed(), {
            'filter': 'box', 'radius': '3', 'normalize': 'false', 'planes': 'chroma+red+green+blue', 'scale': '46',
            'border-color': str(0xffff00ff), 'kernel': '<<1,2>,<3,4>>'})
        self.rows['radius'].reset.clicked()
        self.assertEqual(self.settings.text('radius'), '-1')
        self.assertEqual(control['radius'].field.get_value(), -1)

    def test_controls_show_properties(self):
        for name, text in {'filter': 'sobel', 'sigma': '2.5', 'planes': 'alpha', 'kernel-x': '<1,2,1>',
                           'flip-kernel': 'true', 'roi-types': 'face', 'border-color': '255'}.items():
            self.assertTrue(self.settings.set(name, text))
            self.assertEqual(self.settings.text(name), text)
        control = {name: row.control for name, row in self.rows.items()}
        self.assertEqual(control['filter'].get_active_id(), 'sobel')
        self.assertEqual(control['sigma'].field.get_value(), 2.5)
        self.assertAlmostEqual(control['sigma'].value_at(control['sigma'].slider.get_value()), 2.5, places=2)
        self.assertEqual(control['planes'].text(), 'alpha')
        self.assertEqual(control['kernel-x'].get_text(), '<1,2,1>')
        self.assertTrue(control['flip-kernel'].get_active())
        self.assertEqual(control['roi-types'].get_text(), 'face')
        self.assertEqual(control['border-color'].text(), '255')

    def test_sliders_reach_ends_and_default(self):
        for name, row in self.rows.items():
            if isinstance(row.control, tune.Number):
                pspec, value_at = self.settings.pspecs[name], row.control.value_at
                self.assertEqual(value_at(0), pspec.default_value, name)
                self.assertAlmostEqual(value_at(1), min(pspec.maximum, pspec.default_value + tune.SLIDER_REACH))
                self.assertAlmostEqual(value_at(-1), max(pspec.minimum, pspec.default_value - tune.SLIDER_REACH))

    def test_wipe_parts_before_from_after(self):
        self.window.apply('radius', '20')
        self.wait_for_pictures()
        for wipe in 0.25, 0.75:
            self.window.picture.wipe = wipe
            before, after = self.detail()
            self.assertGreater(before, 4)
            self.assertLess(after, 2)

    def test_text_that_is_no_value_is_said(self):
        control = self.rows['kernel'].control
        control.set_text('<1,2')
        control.emit('activate')
        self.assertIn('kernel: GStreamer cannot read "<1,2"', self.window.message.get_text())
        self.assertEqual(control.get_text(), '<1,2')
        self.assertEqual(self.settings.text('kernel'), '<>')
        self.assertEqual(control.get_icon_name(tune.Gtk.EntryIconPosition.SECONDARY), 'dialog-error')
        control.set_text('<1,2,1>')
        control.emit('activate')
        self.assertEqual(self.window.message.get_text(), '')
        self.assertEqual(self.settings.text('kernel'), '<1,2,1>')
        self.assertIsNone(control.get_icon_name(tune.Gtk.EntryIconPosition.SECONDARY))

    def test_what_the_element_refuses_is_said(self):
        self.window.apply('filter', 'custom')
        self.assertTrue(wait_for(lambda: 'filter=custom has no taps' in self.window.message.get_text()))
        self.wait_for_pictures()

    def test_error_is_said_and_mended(self):
        self.window.apply('backend', 'cuda')
        self.window.apply('cuda-device-id', '100000')
        self.assertTrue(wait_for(lambda: self.player.failed), 'there is no GPU of that number')
        self.assertIn('error', self.window.message.get_text())
        self.window.apply('backend', 'cpu')
        self.wait_for_pictures()

    def test_pause_shows_changes(self):
        self.window.pause.set_active(True)
        self.addCleanup(self.window.pause.set_active, False)
        self.window.picture.wipe = 0.5
        self.window.apply('filter', 'identity')
        self.assertTrue(wait_for(lambda: self.detail()[1] > 4), 'identity is not seen')
        self.window.apply('filter', 'box')
        self.assertTrue(wait_for(lambda: self.detail()[1] < 2), 'box is not seen')

    def test_frames_over_time_keep_their_before(self):
        self.window.apply('temporal-radius', '5')
        self.wait_for_pictures(10)
        self.assertIsNotNone(self.player.pair()[0])
        self.assertLess(len(self.player.befores), 30)

    def test_status_says_what_runs_where(self):
        self.wait_for_pictures(30)
        self.window.show_status()
        self.assertRegex(self.window.status.get_text(),
                         r'^\d+\.\d frames/s shown\.  (cpu|cuda) \(.+\): \w+ \d+x\d+; .* ms per frame')

    def test_line_is_taken_by_gst_launch(self):
        wanted = {'filter': 'custom', 'kernel': '<<0,-1,0>,<-1,5.25,-1>,<0,-1,0>>', 'planes': 'luma+alpha', 'bias': '0.1',
                  'roi-types': 'face, "number plate"', 'roi-source': 'property', 'roi': '<<8,8,16,16>>',
                  'flip-kernel': 'true',
                  'roi-relative-size': '0.3333333333333333', 'backend': 'cpu', 'border-color': '4294967295'}
        for name, text in wanted.items():
            self.window.apply(name, text)
        self.assertEqual(self.settings.changed(), wanted)
        text = self.window.line.get_text()
        self.assertTrue(text.endswith(' ! autovideosink'), text)
        text = text.replace('autovideosink', 'fakesink')  # gstreamer1.0-plugins-good may be missing
        words = shlex.split(text)
        pipeline = tune.Gst.parse_launchv(words[words.index('gst-launch-1.0') + 1:])
        twin = next(element for element in pipeline.children if element.get_factory() == self.element.get_factory())
        self.assertEqual(tune.Settings(twin).changed(), wanted)
        line = text.replace(' videotestsrc ', ' videotestsrc num-buffers=2 ')
        subprocess.run(['bash', '-c', line], check=True, timeout=60, stdout=subprocess.DEVNULL)

    def test_presets(self):
        seen, presets = set(), self.window.presets
        for number, name in enumerate(self.element.get_preset_names(), 1):
            presets.set_active(number)
            self.assertEqual(presets.get_active_text(), name)
            seen.add(str(self.settings.changed()))
        self.assertGreater(len(seen), 3, 'presets that differ')
        self.assertEqual(self.window.message.get_text(), '')
        self.window.apply('radius', '9')
        self.assertEqual(presets.get_active(), 0, 'it is no longer the preset')

    def test_screenshot(self):
        self.window.picture.wipe = 0.4
        for name, text in {'filter': 'unsharp', 'radius': '4', 'amount': '2'}.items():
            self.window.apply(name, text)
        self.wait_for_pictures(30)
        wait_for(lambda: False, 1)
        area = self.window.get_window()
        pixbuf = tune.Gdk.pixbuf_get_from_window(area, 0, 0, area.get_width(), area.get_height())
        self.assertGreater(pixbuf.get_width(), 1000)
        if SCREENSHOT:
            pixbuf.savev(SCREENSHOT, 'png', [], [])


class Turning(unittest.TestCase):
    """What a telephone made: a video of 320x240, or a photo, that a player is to turn."""

    def show(self, source):
        player = tune.Player(source, lambda: None, lambda *_: None)
        self.addCleanup(player.pipeline.set_state, tune.Gst.State.NULL)
        player.play(True)
        self.assertTrue(wait_for(lambda: player.pair()[1]), 'no picture comes')
        wait_for(lambda: player.pair()[0])
        self.assertEqual({(frame.width, frame.height) for frame in player.pair()}, {(240, 320)})

    def setUp(self):
        if not all(map(tune.Gst.ElementFactory.find, ('videoflip', 'taginject', 'jpegenc', 'jpegdec'))):
            self.skipTest('needs gstreamer1.0-plugins-good')

    def test_video(self):
        self.show('videotestsrc ! video/x-raw,width=320,height=240 ! taginject tags=image-orientation=rotate-90'.split())

    def test_photo(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'photo.jpg'
            subprocess.run([*'gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 '
                            '! jpegenc ! filesink'.split(), f'location={path}'], check=True)
            data = path.read_bytes()
            exif = b'Exif\0\0MM' + struct.pack('>HIHHHIHHI', 42, 8, 1, 0x112, 3, 1, 6, 0, 0)
            path.write_bytes(data[:2] + b'\xff\xe1' + struct.pack('>H', len(exif) + 2) + exif + data[2:])
            self.show(['filesrc', f'location={path}', '!', 'decodebin', '!', 'imagefreeze'])


SCREENSHOT = sys.argv.pop(2) if len(sys.argv) > 2 else None
start_display()
sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import tune  # exits with 77 if there is no GTK; GTK opens the display when it is imported

tune.Gst.init(None)
unittest.main(verbosity=2)
