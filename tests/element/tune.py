#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pipelines/tune.py on a display of its own: each property has a control that sets and shows it; the wipe divides
before and after; invalid texts, rejected values, presets, restart and pause; gst-launch-1.0 accepts the line to copy.
Noise is removed live. Zones are drawn, changed, saved and opened, by mouse and by keys. The video is sought and
written.

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
    """Starts a server that ends with this process, and sets DISPLAY."""
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


def detail_of(picture):
    """Returns the mean difference of neighbours in a row of the window, left of the wipe and right of it."""
    wait_for(lambda: False, 0.2)
    pixbuf = tune.Gdk.pixbuf_get_from_window(picture.get_window(), *map(round, picture.place))
    row = pixbuf.get_pixels()[pixbuf.get_height() // 2 * pixbuf.get_rowstride():][:3 * pixbuf.get_width():3]
    split = round(picture.wipe * len(row))
    return [sum(abs(a - b) for a, b in zip(part, part[1:])) / len(part)
            for part in (row[10:split - 10], row[split + 10:-10])]


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
        return detail_of(self.window.picture)

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

    def test_groups_are_those_of_the_reference(self):
        groups = tune.groups_of(self.settings.pspecs)
        self.assertEqual(set(groups.values()), set(tune.ORDER))
        for name, group in {'filter': 'Filter', 'fill-color': 'Filter', 'absolute': 'Filter', 'border-color': 'Border',
                            'planes': 'Planes', 'alpha-mode': 'Planes', 'temporal-radius': 'Time',
                            'temporal-threshold': 'Time', 'drain-on-changes': 'Time',
                            'roi-source': 'Regions', 'roi-location': 'Regions', 'backend': 'Engine', 'qos': 'Engine'}.items():
            self.assertEqual(groups[name], group, name)

    def test_controls_without_effect_are_grey(self):
        def grey(*names):
            self.window.show_states()
            return [name for name in names if not self.rows[name].control.get_sensitive()]

        self.wait_for_pictures()
        self.assertEqual(grey('filter', 'radius', 'amount', 'kernel', 'roi-feather', 'roi'),
                         ['amount', 'kernel', 'roi-feather', 'roi'])
        self.assertIn('filter=gaussian: choose sharpen, unsharp or emboss', self.rows['amount'].get_tooltip_text())
        self.window.apply('filter', 'unsharp')
        self.window.apply('roi-source', 'property')
        self.assertEqual(grey('amount', 'kernel', 'roi-feather', 'roi'), ['kernel'])
        self.assertNotIn('no effect', self.rows['amount'].get_tooltip_text())
        self.window.apply('filter', 'box')  # sigma would set its radius
        self.assertEqual(grey('sigma', 'amount'), ['amount'])
        self.window.apply('radius', '4')
        self.wait_for_pictures()
        self.assertEqual(grey('sigma', 'amount'), ['sigma', 'amount'])

    def test_automatic_values_are_shown(self):
        def shown(name):
            self.window.show_states()
            return self.rows[name].label.get_text().splitlines()[0]

        self.assertEqual(shown('radius'), 'radius = 8')
        self.assertEqual(shown('sigma'), 'sigma = 2.9')
        self.assertEqual(shown('n-threads'), f'n-threads = {os.cpu_count()}')
        self.window.apply('sigma', '4')
        self.assertEqual(shown('radius'), 'radius = 12')
        self.assertEqual(shown('sigma'), 'sigma')
        self.assertEqual(shown('sigma-y'), 'sigma-y = 4')
        self.window.apply('radius', '3')
        self.assertEqual(shown('radius'), 'radius')
        self.assertEqual(shown('radius-x'), 'radius-x = 3')

    def test_preset_is_saved(self):
        self.window.apply('filter', 'disk')
        self.window.apply('radius', '7')
        self.window.save_preset('of the test')
        self.addCleanup(self.element.delete_preset, 'of the test')
        self.window.reset()
        self.window.presets.set_active([row[0] for row in self.window.presets.get_model()].index('of the test'))
        self.assertEqual((self.settings.text('filter'), self.settings.text('radius')), ('disk', '7'))
        self.window.save_preset('')
        self.assertIn('cannot be saved', self.window.message.get_text())

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


class Denoising(unittest.TestCase):
    """Noise is removed live, and the threshold that the element chooses is shown beside -1."""

    def setUp(self):
        if not tune.Gst.ElementFactory.find('compositor'):
            self.skipTest('needs compositor')
        caps = 'video/x-raw,format=I420,width=640,height=360,framerate=30/1'
        grey = 'videotestsrc pattern=solid-color foreground-color=0xff808080'
        self.window = tune.Window(f'videotestsrc pattern=snow ! {caps} ! mix.sink_0 {grey} ! {caps} ! mix.sink_1 '
                                  f'compositor name=mix sink_1::alpha=0.8 ! {caps}'.split())
        self.addCleanup(self.window.player.pipeline.set_state, tune.Gst.State.NULL)
        self.window.show_all()
        self.window.player.play(True)
        self.assertTrue(wait_for(lambda: 'picture' in self.window.times), 'no picture is seen')
        self.row = self.window.rows['temporal-threshold']
        self.window.apply('filter', 'identity')
        self.window.apply('temporal-radius', '3')

    def shown(self):
        self.window.show_states()
        return self.row.label.get_text().splitlines()[0]

    def pass_frames(self, n=8):
        frames = self.window.player.frames
        self.assertTrue(wait_for(lambda: self.window.player.frames >= frames + n), 'no more pictures come')

    def test_threshold_is_live_and_shown(self):
        self.assertEqual(self.shown(), 'temporal-threshold')
        self.row.control.field.set_value(0.0001)
        self.pass_frames()
        before, after = detail_of(self.window.picture)
        self.assertGreater(after, before * 0.8, 'a threshold far below the noise leaves it')
        self.assertEqual(self.shown(), 'temporal-threshold')
        self.row.control.field.set_value(-1)
        self.pass_frames()
        before, after = detail_of(self.window.picture)
        self.assertLess(after, before * 0.6)
        name, threshold = self.shown().split(' = ')
        luma, *chroma = map(float, threshold.split(', '))
        self.assertEqual(name, 'temporal-threshold')
        self.assertTrue(0.05 < luma < 0.15, luma)  # snow has a sigma of 63 levels; a fifth of it, 1.5 times, is 0.07
        self.assertEqual(chroma, [0, 0])
        self.window.apply('temporal-radius', '0')
        self.assertTrue(wait_for(lambda: self.shown() == 'temporal-threshold'), 'a threshold without effect is shown')
        self.assertFalse(self.row.control.get_sensitive())

    def test_slider_is_fine_near_0(self):
        slider = self.row.control.slider
        slider.emit('change-value', tune.Gtk.ScrollType.JUMP, 0.3)
        self.assertEqual(self.window.settings.text('temporal-threshold'), '0.027')
        slider.emit('change-value', tune.Gtk.ScrollType.JUMP, 0.1)
        self.assertEqual(self.row.control.field.get_text(), '0.0010')


class Drawing(unittest.TestCase):
    """Zones, with events as GTK delivers them to the picture."""

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
        self.picture, self.panel, self.zones = self.window.picture, self.window.panel, self.window.panel.zones
        self.zones.clear()
        self.settings = self.window.settings
        self.window.apply('filter', 'fill')
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def pointer(self, kind, x, y):
        left, top, width, height = self.picture.place
        event = tune.Gdk.Event.new(kind)
        event.x, event.y = left + x * width, top + y * height
        event.window = self.picture.get_window()
        if kind != tune.Gdk.EventType.MOTION_NOTIFY:
            event.button.button = 1
        self.picture.event(event)

    def press(self, x, y):
        self.pointer(tune.Gdk.EventType.BUTTON_PRESS, x, y)

    def drag(self, *points):
        self.press(*points[0])
        for point in points[1:]:
            self.pointer(tune.Gdk.EventType.MOTION_NOTIFY, *point)
        self.pointer(tune.Gdk.EventType.BUTTON_RELEASE, *points[-1])

    def click(self, x, y):
        self.drag((x, y))

    def key(self, value, state=0):
        event = tune.Gdk.Event.new(tune.Gdk.EventType.KEY_PRESS)
        event.keyval, event.state = value, tune.Gdk.ModifierType(state)
        event.window = self.picture.get_window()
        self.picture.event(event)

    def choose(self, kind):
        self.panel.kinds[kind].set_active(True)

    def bounds(self, *expected):
        for number, other in zip(self.zones.selected.bounds(), expected):
            self.assertAlmostEqual(number, other, delta=0.006)

    def hidden(self, x, y):
        """Returns whether the picture is black there, the filter's colour. The wipe is at the left."""
        wait_for(lambda: False, 0.3)
        left, top, width, height = self.picture.place
        pixbuf = tune.Gdk.pixbuf_get_from_window(self.picture.get_window(), round(left + x * width) - 20,
                                                 round(top + y * height) - 20, 40, 40)
        return max(pixbuf.get_pixels()) < 40

    def test_rectangle_by_mouse(self):
        self.picture.wipe = 0
        self.choose('rectangle')
        self.drag((0.2, 0.3), (0.3, 0.4), (0.5, 0.8))
        self.bounds(0.2, 0.3, 0.5, 0.8)
        self.assertTrue(wait_for(lambda: self.hidden(0.4, 0.6)), 'the zone is not hidden')
        self.assertFalse(self.hidden(0.7, 0.5))
        self.assertEqual(self.settings.text('roi-source'), 'property')
        self.assertFalse(self.panel.kinds['rectangle'].get_active(), 'the next press selects')
        self.drag((0.3, 0.5), (0.45, 0.55))  # moves it
        self.bounds(0.35, 0.35, 0.65, 0.85)
        self.drag((0.65, 0.85), (0.9, 0.95))  # a corner
        self.bounds(0.35, 0.35, 0.9, 0.95)
        self.drag((0.5, 0.5), (0.9, 0.9))  # not out of the frame
        self.bounds(0.45, 0.4, 1, 1)
        self.assertTrue(wait_for(lambda: self.hidden(0.7, 0.7)), 'the moved zone is not hidden')
        self.assertFalse(self.hidden(0.3, 0.5))
        self.panel.delete.clicked()
        self.assertEqual(self.zones.zones, [])
        self.assertEqual(self.settings.text('roi-location'), '')

    def test_ellipse_and_polygon_by_mouse(self):
        self.picture.wipe = 0
        self.choose('ellipse')
        self.drag((0.1, 0.1), (0.4, 0.5))
        self.choose('polygon')
        for point in (0.5, 0.5), (0.9, 0.5), (0.9, 0.9):
            self.click(*point)
        self.assertEqual(len(self.zones.zones), 1)
        self.pointer(tune.Gdk.EventType.DOUBLE_BUTTON_PRESS, 0.9, 0.9)
        self.assertEqual([zone.kind for zone in self.zones.zones], ['ellipse', 'polygon'])
        self.assertTrue(wait_for(lambda: self.hidden(0.25, 0.3) and self.hidden(0.8, 0.6)))
        self.assertFalse(self.hidden(0.55, 0.8))
        self.drag((0.5, 0.5), (0.5, 0.9))  # a point of the polygon
        self.assertTrue(wait_for(lambda: self.hidden(0.75, 0.82)))
        self.click(0.25, 0.3)
        self.assertEqual(self.zones.selected.kind, 'ellipse')
        self.click(0.05, 0.95)
        self.assertIsNone(self.zones.selected)
        self.assertAlmostEqual(self.picture.wipe, 0.05, delta=0.01)

    def test_all_by_keys(self):
        key, Gdk = self.key, tune.Gdk
        self.picture.grab_focus()
        key(Gdk.KEY_r)
        self.bounds(0.4, 0.4, 0.6, 0.6)
        for _ in range(5):
            key(Gdk.KEY_Left)
            key(Gdk.KEY_Down, int(Gdk.ModifierType.SHIFT_MASK))
        self.bounds(0.35, 0.4, 0.55, 0.65)
        key(Gdk.KEY_Up, int(Gdk.ModifierType.CONTROL_MASK))
        self.assertAlmostEqual(self.zones.selected.bounds()[1], 0.399)
        key(Gdk.KEY_p)
        key(Gdk.KEY_v)
        key(Gdk.KEY_Up)
        self.assertAlmostEqual(self.zones.selected.points[0][1], 0.34)
        key(Gdk.KEY_i)
        self.assertEqual(len(self.zones.selected.points), 4)
        key(Gdk.KEY_x)
        self.assertEqual(len(self.zones.selected.points), 3)
        key(Gdk.KEY_n)
        self.assertEqual(self.zones.selected.kind, 'rectangle')
        key(Gdk.KEY_Delete)
        self.assertEqual([zone.kind for zone in self.zones.zones], ['polygon'])
        wipe = self.picture.wipe
        key(Gdk.KEY_period)
        self.assertAlmostEqual(self.picture.wipe, wipe + 0.02)

    def test_zones_file(self):
        path = os.path.join(self.folder.name, 'a.zones')
        Path(path).write_text('# of the yard\n[door]\npolygon=0.1,0.1, 0.4,0.1, 0.2,0.6\nfrom=08:00\nto=18:00\n')
        self.panel.open_zones(path)
        self.assertEqual(self.settings.text('roi-location'), path)
        self.zones.select(self.zones.zones[0])
        self.panel.show_zones()
        self.assertEqual(self.panel.fields['from'].get_text(), '08:00')
        for name, text in {'name': 'gate', 'type': 'way', 'to': '19:30', 'from': '07:15:30'}.items():
            self.panel.fields[name].set_text(text)
            self.panel.fields[name].emit('activate')
        self.assertNotEqual(self.settings.text('roi-location'), path, 'a draft is in force before it is saved')
        self.choose('ellipse')
        self.drag((0.5, 0.5), (0.7, 0.9))
        self.panel.save_zones(path)
        self.assertEqual(self.settings.text('roi-location'), path)
        self.assertEqual(Path(path).read_text().splitlines()[0], '# of the yard')
        self.zones.clear()
        self.panel.open_zones(path)
        gate, ellipse = self.zones.zones
        self.assertEqual((gate.name, gate.kind, gate.extra), ('gate', 'polygon', {
            'type': 'way', 'from': '07:15:30', 'to': '19:30'}))
        self.zones.select(ellipse)
        self.bounds(0.5, 0.5, 0.7, 0.9)
        self.assertEqual(self.window.message.get_text(), '')

    def test_wrong_files_and_names_are_said(self):
        path = os.path.join(self.folder.name, 'bad.zones')
        Path(path).write_text('[door]\nrectangle=1,2,3\n')
        self.panel.open_zones(path)
        self.assertTrue(wait_for(lambda: 'rectangle=1,2,3: 3 is outside -1 to 2' in self.window.message.get_text()),
                        self.window.message.get_text())
        self.assertEqual(self.zones.zones, [])
        Path(path).write_text('[door]\ntype=way\n')
        self.panel.open_zones(path)
        self.assertTrue(wait_for(lambda: 'zone [door]' in self.window.message.get_text() and
                                 '1,2,3' not in self.window.message.get_text()), self.window.message.get_text())
        self.assertEqual(self.zones.zones, [])
        self.key(tune.Gdk.KEY_r)
        self.key(tune.Gdk.KEY_e)
        self.panel.fields['name'].set_text('zone 1')
        self.panel.fields['name'].emit('activate')
        self.assertIn('cannot be the name of a zone', self.window.message.get_text())
        self.panel.fields['from'].set_text('25:00')
        self.panel.fields['from'].emit('activate')
        self.assertTrue(wait_for(lambda: 'not a time of day' in self.window.message.get_text()))

    def test_zones_as_properties(self):
        self.choose('rectangle')
        self.drag((0.25, 0.25), (0.5, 0.75))
        self.panel.use_as_roi()
        self.assertRegex(self.settings.text('roi'), r'^<<0\.25\d*,0\.25\d*,0\.2[45]\d*,0\.[45]\d*>>$')
        self.assertEqual(self.settings.text('roi-units'), 'fraction')
        self.assertEqual(self.zones.zones, [])
        self.assertEqual(len(self.picture.others), 1)
        self.assertTrue(wait_for(lambda: self.hidden(0.4, 0.5)))
        self.choose('ellipse')
        self.drag((0.5, 0.5), (0.9, 0.9))
        self.window.apply('roi', '<>')
        self.panel.use_as_polygons()
        self.assertEqual(self.settings.text('roi-polygons').count(','), 127)
        self.panel.use_as_polygons()
        self.assertIn('there is no zone', self.window.message.get_text())

    def test_other_paths_are_followed(self):
        path = os.path.join(self.folder.name, 'b.zones')
        Path(path).write_text('[door]\nellipse=0.1,0.1,0.3,0.3\n')
        self.window.apply('roi-location', path)
        self.assertEqual([zone.name for zone in self.zones.zones], ['door'])
        self.window.reset()
        self.assertEqual(self.zones.zones, [])


class Files(unittest.TestCase):
    """Seeks and writes a video file."""

    def setUp(self):
        if not PLAYER or not all(map(tune.Gst.ElementFactory.find, ('theoraenc', 'oggmux'))):
            self.skipTest('needs the program run, theoraenc and oggmux')
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.clip = self.folder / 'clip.ogv'
        subprocess.run([*'gst-launch-1.0 -q videotestsrc num-buffers=100 ! video/x-raw,width=320,height=240,framerate=20/1 '
                        '! theoraenc ! oggmux ! filesink'.split(), f'location={self.clip}'], check=True)
        os.environ.update(TUNE_PLAYER=PLAYER, TUNE_INPUT=str(self.clip))
        self.addCleanup(lambda: [os.environ.pop(name) for name in ('TUNE_PLAYER', 'TUNE_INPUT')])
        self.window = tune.Window(['filesrc', f'location={self.clip}', '!', 'decodebin'])
        self.addCleanup(self.window.player.pipeline.set_state, tune.Gst.State.NULL)
        self.window.show_all()
        self.window.player.play(True)
        self.assertTrue(wait_for(lambda: 'picture' in self.window.times))

    def test_seek_bar(self):
        self.assertTrue(wait_for(lambda: self.window.seeker.get_visible()), 'no seek bar')
        self.assertAlmostEqual(self.window.place.get_adjustment().get_upper(), 5, delta=0.2)
        self.window.pause.set_active(True)
        self.window.place.emit('change-value', tune.Gtk.ScrollType.JUMP, 3.0)
        self.assertTrue(wait_for(lambda: abs(self.window.player.position() / tune.Gst.SECOND - 3) < 0.2))
        self.assertTrue(wait_for(lambda: self.window.clock.get_text() == '0:03 / 0:05'), self.window.clock.get_text())

    def test_file_is_written(self):
        written = self.folder / 'out.ogv'
        self.window.apply('filter', 'box')
        self.window.write_file(str(written))
        self.assertEqual(self.window.write.get_label(), 'Stop writing')
        self.assertTrue(wait_for(lambda: self.window.writer is None, 60), 'it does not end')
        self.assertIn(f'written: {written}', self.window.message.get_text())
        self.assertGreater(written.stat().st_size, 1000)
        self.window.write_file(str(self.folder / 'out.txt'))
        self.assertTrue(wait_for(lambda: self.window.writer is None, 60))
        self.assertIn('error', self.window.message.get_text())


class Turning(unittest.TestCase):
    """A video of 320x240, or a photo, that players should rotate, as telephones make them."""

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


class Ending(unittest.TestCase):
    def test_sigterm_leaves_no_files(self):
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen([sys.executable, tune.__file__, *SOURCE], stdout=subprocess.PIPE, text=True,
                                       env={**os.environ, 'TMPDIR': folder})
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.kill)
            self.assertTrue(any(line.startswith('picture after') for line in process.stdout), 'no picture is seen')
            self.assertEqual(len(os.listdir(folder)), 1)
            process.terminate()
            self.assertEqual(process.wait(REQUIRED_S), 0)
            self.assertEqual(os.listdir(folder), [])


PLAYER = os.environ.get('CUDACONVOLVE_BUILD') and os.environ['CUDACONVOLVE_BUILD'] + '/pipelines/run'
SCREENSHOT = sys.argv.pop(2) if len(sys.argv) > 2 else None
start_display()
sys.path.insert(0, sys.argv.pop(1))
sys.dont_write_bytecode = True
import tune  # exits with 77 if there is no GTK; GTK opens the display when it is imported

# GStreamer prefers a saved file of presets to older ones, so this test saves to a folder of its own.
HOME = tempfile.TemporaryDirectory()
os.environ['XDG_DATA_HOME'] = HOME.name
tune.Gst.init(None)
unittest.main(verbosity=2)
