#!/usr/bin/env python3
# You should see a blurred rectangle, after one second the whole picture blurred more and more, and then the statistics.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# cudaconvolve in your own program:  embed.py [FILE|URI]  plays the file, or a moving test picture of 3 seconds.
# Without a display it does the same and shows nothing. Exit status: 0 at the end of the stream, 1 on an error, 77 if
# GStreamer for Python is missing. Set GST_PLUGIN_PATH if the plugin is not installed. embed.c does the same.
import os
import sys

try:
    import gi
    gi.require_version('Gst', '1.0')
    gi.require_version('GstController', '1.0')
    from gi.repository import GLib, Gst, GstController
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} has no GStreamer ({error}). Install it (Debian and Ubuntu: apt install '
          'python3-gst-1.0) and run this with the Python of the system, /usr/bin/python3.')
    sys.exit(77)


class App:
    def __init__(self, source):
        self.failed = False
        self.loop = GLib.MainLoop()
        self.pipeline = Gst.Pipeline()
        self.filter = self.make('cudaconvolve')
        self.filter.set_property('filter', 'box')  # its radius follows sigma, as for a gaussian
        self.filter.set_property('roi-source', 'property')
        self.filter.set_property('roi-feather', 8)
        Gst.util_set_object_arg(self.filter, 'roi', '<<80,60,160,120>>')  # x, y, width and height of each rectangle
        convert = self.make('videoconvert')
        sink = self.make('autovideosink' if {'DISPLAY', 'WAYLAND_DISPLAY'} & set(os.environ) else 'fakesink')
        sink.set_property('sync', True)  # play at the speed of the video, because fakesink does not by itself
        self.filter.link(convert)
        convert.link(sink)
        self.add_source(source)
        self.animate_sigma()

    def make(self, factory):
        element = Gst.ElementFactory.make(factory)
        if not element:
            sys.exit(f'there is no element {factory}: install its plugin, or set GST_PLUGIN_PATH')
        self.pipeline.add(element)
        return element

    def add_source(self, source):
        if source is None:
            test = self.make('videotestsrc')
            test.set_property('num-buffers', 90)  # 30 frames/s, unless caps say otherwise
            test.set_property('horizontal-speed', 2)
            test.link(self.filter)
            return
        decoder = self.make('uridecodebin')
        decoder.set_property('uri', source if Gst.uri_is_valid(source) else Gst.filename_to_uri(source))
        decoder.connect('pad-added', self.on_pad_added)

    def on_pad_added(self, decoder, pad):
        """Links a stream of the file. The link fails for sound, which is not played."""
        sink = self.filter.get_static_pad('sink')
        if not sink.is_linked():
            pad.link(sink)

    def animate_sigma(self):
        """Lets sigma grow from 1 to 8 in the first 3 seconds. The element reads the value at the time of each frame."""
        curve = GstController.InterpolationControlSource()
        curve.set_property('mode', GstController.InterpolationMode.LINEAR)
        curve.set(0, 1.0)
        curve.set(3 * Gst.SECOND, 8.0)
        # "absolute": the points are values of sigma, not fractions of its range.
        self.filter.add_control_binding(GstController.DirectControlBinding.new_absolute(self.filter, 'sigma', curve))

    def change_filter(self):
        """Properties may be set while frames flow. An INFO message names each that has no effect then, like roi
        here."""
        self.filter.set_property('filter', 'gaussian')
        self.filter.set_property('roi-source', 'none')
        print('after one second: gaussian with a growing sigma')
        return GLib.SOURCE_REMOVE

    def on_message(self, bus, message):
        name = message.src.get_name() if message.src else '?'
        if message.type == Gst.MessageType.ERROR:
            print(f'error from {name}: {message.parse_error().gerror.message}', file=sys.stderr)
            self.failed = True
            self.loop.quit()
        elif message.type == Gst.MessageType.WARNING:  # such as an invalid value; the previous filter stays
            print(f'warning from {name}: {message.parse_warning()[0].message}', file=sys.stderr)
        elif message.type == Gst.MessageType.INFO:  # such as why it runs on the CPU, or settings without effect
            print(f'info from {name}: {message.parse_info()[0].message}')
        elif message.type == Gst.MessageType.EOS:
            self.loop.quit()

    def play(self):
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect('message', self.on_message)
        GLib.timeout_add_seconds(1, self.change_filter)
        self.pipeline.set_state(Gst.State.PLAYING)  # if that fails, there is an error on the bus
        self.loop.run()
        self.pipeline.set_state(Gst.State.NULL)

    def print_stats(self):
        """Prints the statistics, which can be read until the next start."""
        stats = self.filter.get_property('stats')
        for i in range(stats.n_fields()):
            field = stats.nth_field_name(i)
            print(f'  {field}: {stats.get_value(field)}')


Gst.init(None)
app = App(sys.argv[1] if len(sys.argv) > 1 else None)
app.play()
app.print_stats()
sys.exit(app.failed)
