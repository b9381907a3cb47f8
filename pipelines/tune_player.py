# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pipeline of tune.py, the settings of its filter, and the filtered video as a file."""
import os
import re
import shlex
import threading

import cairo
from gi.repository import Gio, GLib, GObject, Gst, GstTag, GstVideo

from tune_controls import text_of

LARGEST = 'width=[1,1920],height=[1,1080]'  # of the picture that is painted; the filter runs at the size of the video


def quoted(text):
    """Returns a value quoted for the syntax of gst-launch-1.0, before it is quoted for the shell."""
    if re.fullmatch(r'[\w.,:/<>+-]+', text):
        return text
    return '"' + re.sub(r'(["\\])', r'\\\1', text) + '"'


class Settings:
    """The element's writable properties as texts, in the order of its class."""

    def __init__(self, element):
        self.element = element
        fresh = element.get_factory().create(None)
        self.pspecs = {pspec.name: pspec for pspec in element.list_properties()
                       if pspec.flags & GObject.ParamFlags.WRITABLE and pspec.owner_type != Gst.Object.__gtype__}
        self.defaults = {name: text_of(fresh.get_property(name)) for name in self.pspecs}

    def text(self, name):
        return text_of(self.element.get_property(name))

    def changed(self):
        return {name: text for name in self.pspecs if (text := self.text(name)) != self.defaults[name]}

    def needs_restart(self, name):
        return bool(int(self.pspecs[name].flags) & Gst.PARAM_MUTABLE_READY)

    def set(self, name, text):
        """Sets a property. Returns False if GStreamer cannot read the text: it then neither sets nor notifies the
        property."""
        if self.pspecs[name].value_type == GObject.TYPE_STRING:
            self.element.set_property(name, text or None)
            return True
        told = []
        handler = self.element.connect('notify::' + name, lambda *_: told.append(True))
        Gst.util_set_object_arg(self.element, name, text)
        self.element.disconnect(handler)
        return bool(told)

    def launch_line(self, source):
        words = ['gst-launch-1.0', *source, '!', 'cudaconvolve',
                 *(f'{name}={quoted(text)}' for name, text in self.changed().items()),
                 '!', 'videoconvert', '!', 'autovideosink']
        path = os.environ.get('GST_PLUGIN_PATH')
        return (f'GST_PLUGIN_PATH={shlex.quote(path)} ' if path else '') + ' '.join(
            word if word == '!' else shlex.quote(word) for word in words)


def photo_tags(element):
    """Returns the EXIF tags of the photo that the element reads, if it is a filesrc, else None. jpegdec ignores
    EXIF."""
    if element.get_factory().get_name() != 'filesrc':
        return None
    try:
        with open(element.get_property('location'), 'rb') as file:
            start = file.read(0xffff)
    except OSError:
        return None
    before, exif, after = start.partition(b'Exif\0\0')
    if not exif or not before.startswith(b'\xff\xd8'):
        return None
    return GstTag.tag_list_from_exif_buffer_with_tiff_header(Gst.Buffer.new_wrapped(after))


class Frame:
    """A picture to paint. Does not keep the sample: a flushed appsink of GStreamer 1.22 writes into the last sample."""

    def __init__(self, sample):
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        self.buffer = sample.get_buffer()
        self.time = self.buffer.pts
        self.width, self.height = info.width, info.height
        self.surface = None

    def to_paint(self):
        """Returns a cairo surface with a copy of the picture."""
        if not self.surface:
            pixels = bytearray(self.buffer.extract_dup(0, 4 * self.width * self.height))
            self.surface = cairo.ImageSurface.create_for_data(pixels, cairo.FORMAT_RGB24, self.width, self.height)
        return self.surface


class Player:
    """The pipeline: produces the original and the filtered frames of the source as pictures to paint."""

    def __init__(self, source, on_picture, on_message):
        # Phones leave the rotation of videos to the player.
        turn = 'videoflip video-direction=auto ! ' if Gst.ElementFactory.find('videoflip') else ''
        tail = (f'videoscale ! videoconvert ! video/x-raw,format=BGRx,pixel-aspect-ratio=1/1,{LARGEST} '
                f'! {turn}appsink emit-signals=true')
        # The first queue is not limited: a filter over time delays the other branch by the frames that it looks ahead.
        self.pipeline = Gst.parse_launchv([*source, *(
            f'! videoconvert name=video ! tee name=split '
            f'split. ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! {tail} name=before sync=false '
            f'split. ! queue max-size-buffers=3 ! cudaconvolve name=filter ! {tail} name=after max-buffers=1').split()])
        self.filter = self.pipeline.get_by_name('filter')
        self.turn()
        self.lock = threading.Lock()
        self.befores = {}  # original frames by time, from the last filtered frame on
        self.after = None
        self.frames = 0
        self.failed = False
        self.playing = True
        self.on_picture, self.on_message = on_picture, on_message
        for name, take in [('before', self.take_before), ('after', self.take_after)]:
            sink = self.pipeline.get_by_name(name)
            sink.connect('new-preroll', take, 'pull-preroll')
            sink.connect('new-sample', take, 'pull-sample')
        for element in self.pipeline.children:
            element.connect('no-more-pads', self.look_for_video)
        bus = self.pipeline.get_bus()
        bus.add_signal_watch()
        bus.connect('message', self.take_message)

    def turn(self):
        children = list(self.pipeline.children)
        for tags in filter(None, map(photo_tags, children)):
            known, direction = GstVideo.VideoOrientation.from_tag(tags)
            for element in children:
                if known and element.get_factory().get_name() == 'videoflip':
                    element.set_property('video-direction', direction)

    def take_before(self, sink, pull):
        frame = Frame(sink.emit(pull))
        with self.lock:
            self.befores[frame.time] = frame
        GLib.idle_add(self.on_picture)  # the filtered frame may have arrived first
        return Gst.FlowReturn.OK

    def take_after(self, sink, pull):
        frame = Frame(sink.emit(pull))
        with self.lock:
            self.after = frame
            self.befores = {time: before for time, before in self.befores.items() if time >= frame.time}
            self.frames += pull == 'pull-sample'
        GLib.idle_add(self.on_picture)
        return Gst.FlowReturn.OK

    def look_for_video(self, decoder):
        if not self.pipeline.get_by_name('video').get_static_pad('sink').is_linked():
            GLib.idle_add(self.on_message, 'error', 'the file contains no video')

    def pair(self):
        """Returns the original and the filtered frame, each None if it has not arrived yet."""
        with self.lock:
            return self.after and self.befores.get(self.after.time), self.after

    def take_message(self, bus, message):
        if message.type == Gst.MessageType.ERROR:
            self.failed = True
            self.pipeline.set_state(Gst.State.NULL)
            self.on_message('error', message.parse_error()[0].message)
        elif message.type == Gst.MessageType.WARNING:
            self.on_message('warning', message.parse_warning()[0].message)
        elif message.type == Gst.MessageType.INFO:
            self.on_message('info', message.parse_info()[0].message)
        elif message.type == Gst.MessageType.EOS and not self.seek(0):
            self.on_message('info', 'the stream has ended')

    def seek(self, position):
        return self.pipeline.seek_simple(Gst.Format.TIME, Gst.SeekFlags.FLUSH | Gst.SeekFlags.ACCURATE, position)

    def position(self):
        known, position = self.pipeline.query_position(Gst.Format.TIME)
        return position if known else 0

    def size(self):
        """Returns width and height of the frames that are filtered, or None before the first frame."""
        caps = self.filter.get_static_pad('sink').get_current_caps()
        info = caps and GstVideo.VideoInfo.new_from_caps(caps)
        return info and (info.width, info.height)

    def duration(self):
        """Returns the duration in ns; 0 if it is unknown, or if the source cannot seek."""
        query = Gst.Query.new_seeking(Gst.Format.TIME)
        if not self.pipeline.query(query) or not query.parse_seeking()[1]:
            return 0
        known, duration = self.pipeline.query_duration(Gst.Format.TIME)
        return duration if known else 0

    def play(self, playing):
        self.playing = playing
        self.pipeline.set_state(Gst.State.PLAYING if playing else Gst.State.PAUSED)

    def restart_with(self, change):
        """Calls `change` while the pipeline is stopped, and continues at the same position. Returns its result."""
        position = self.position()
        self.pipeline.set_state(Gst.State.READY)
        changed = change()
        self.failed = False
        self.pipeline.set_state(Gst.State.PAUSED)
        self.pipeline.get_state(5 * Gst.SECOND)
        if position:
            self.seek(position)
        self.play(self.playing)
        return changed

    def refresh(self):
        """If the pipeline is paused, filters the visible frame again."""
        if not self.playing and not self.failed:
            self.seek(self.position())

    def stats(self):
        return self.filter.get_property('stats')

    def effective(self):
        """Returns the values in force of automatic properties, by name: one, or one for each plane if these differ."""
        structure = self.filter.get_property('effective')
        names = map(structure.nth_field_name, range(structure.n_fields()))
        values = {name: [structure.get_value(name)] for name in names}
        thresholds = self.stats().get_value('temporal-threshold')  # from the noise, so only the engine knows it
        if thresholds and self.filter.get_property('temporal-threshold') < 0:
            planes = [float(threshold) for threshold in thresholds.split(',')]
            values['temporal-threshold'] = planes if len(set(planes)) > 1 else planes[:1]
        return values


class Writer:
    """Writes the filtered video to a file, with the same program as blur.sh."""

    def __init__(self, path, settings, on_progress, on_end):
        self.path, self.on_progress, self.on_end = path, on_progress, on_end
        words = [f'{name}={quoted(text)}' for name, text in settings.items()]
        self.process = Gio.Subprocess.new(
            [os.environ['TUNE_PLAYER'], f'--input={os.environ["TUNE_INPUT"]}', f'--output={path}', '--', 'cudaconvolve', *words],
            Gio.SubprocessFlags.STDOUT_PIPE | Gio.SubprocessFlags.STDERR_MERGE)
        self.output = Gio.DataInputStream.new(self.process.get_stdout_pipe())
        self.last = ''
        self.is_stopped = False
        self.read()

    def read(self):
        self.output.read_line_async(GLib.PRIORITY_DEFAULT, None, self.take_line)

    def take_line(self, stream, result):
        line = stream.read_line_finish_utf8(result)[0]
        if line is None:
            self.process.wait_async(None, self.end)
            return
        self.last = line.strip() or self.last
        place = re.search(r'at ([0-9.]+) s of ([0-9.]+) s', line)
        if place:
            self.on_progress(min(float(place[1]) / max(float(place[2]), 0.001), 1), line.strip())
        self.read()

    def end(self, process, result):
        process.wait_finish(result)
        failed = not process.get_successful()
        self.on_end('stopped: no file was written' if self.is_stopped else self.last if failed else None)

    def stop(self):
        self.is_stopped = True
        self.process.send_signal(15)
