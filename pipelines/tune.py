#!/usr/bin/env python3
# You should see a window: the video, a wipe between before and after, and a control for each property of cudaconvolve.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: tune.py ELEMENT ! ELEMENT...   the source, as for gst-launch-1.0; tune.sh chooses one, and builds the plugin
# Controls are made from the element's GParamSpecs. The plugin is found by GST_PLUGIN_PATH, or where it is installed.
# Exit status: 77 without GTK 3 and GStreamer for Python.
import time
START = time.monotonic()
import math
import os
import re
import shlex
import sys
import threading

try:
    import gi
    for library, version in [('Gst', '1.0'), ('GstTag', '1.0'), ('GstVideo', '1.0'), ('Gdk', '3.0'), ('Gtk', '3.0')]:
        gi.require_version(library, version)
    gi.require_foreign('cairo')
    import cairo
    from gi.repository import Gdk, GLib, GObject, Gst, GstTag, GstVideo, Gtk, Pango
    import gi.overrides._gi_gst  # noqa: F401 (properties that are lists need it)
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} has no GTK 3 or no GStreamer ({error}). Install them (Debian and Ubuntu: apt '
          'install gir1.2-gtk-3.0 python3-gi-cairo python3-gst-1.0) and run this with the Python of the system, '
          '/usr/bin/python3.')
    sys.exit(77)

SLIDER_REACH = 360  # of a slider, at most, to each side of the default; a property's range may be millions wide
LARGEST = 'width=[1,1920],height=[1,1080]'  # picture that is painted; the filter sees the video's own size


def text_of(value):
    """A property's value as gst-launch-1.0 reads it."""
    if value is None:
        return ''
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, GObject.GFlags):
        return '+'.join(nick for bit, nick in flag_nicks(value) if value & bit)
    if isinstance(value, GObject.GEnum):
        return value.value_nick
    if isinstance(value, float):
        return repr(value).removesuffix('.0')
    if isinstance(value, Gst.ValueArray):
        return '<' + ','.join(map(text_of, value)) + '>'
    return str(value)


def flag_nicks(flags):
    """Single flags of a flags class: value and nick. Sums of them, which have names too, are left out."""
    return [(bit, flag.first_value_nick) for bit, flag in flags.__flags_values__.items() if bit & (bit - 1) == 0]


def quoted(text):
    """A value as gst-launch-1.0's own syntax needs it, before the shell's quotes."""
    if re.fullmatch(r'[\w.,:/<>+-]+', text):
        return text
    return '"' + re.sub(r'(["\\])', r'\\\1', text) + '"'


class Settings:
    """The element's properties as texts, in the order of its class."""

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
        """False where GStreamer cannot read the text as such a value: then no property is set, and none notified."""
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
    """What a camera noted in the photo that a filesrc reads, or None; jpegdec does not read it."""
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
    """A picture to paint. Its sample is not kept: a flushed appsink of GStreamer 1.22 writes into the last one."""

    def __init__(self, sample):
        info = GstVideo.VideoInfo.new_from_caps(sample.get_caps())
        self.buffer = sample.get_buffer()
        self.time = self.buffer.pts
        self.width, self.height = info.width, info.height
        self.surface = None

    def to_paint(self):
        """A cairo surface with a copy of the picture."""
        if not self.surface:
            pixels = bytearray(self.buffer.extract_dup(0, 4 * self.width * self.height))
            self.surface = cairo.ImageSurface.create_for_data(pixels, cairo.FORMAT_RGB24, self.width, self.height)
        return self.surface


class Player:
    """The pipeline: the source, once as it is and once filtered, both as pictures to paint."""

    def __init__(self, source, on_picture, on_message):
        # Telephones leave it to the player to turn their videos.
        turn = 'videoflip video-direction=auto ! ' if Gst.ElementFactory.find('videoflip') else ''
        tail = (f'videoscale ! videoconvert ! video/x-raw,format=BGRx,pixel-aspect-ratio=1/1,{LARGEST} '
                f'! {turn}appsink emit-signals=true')
        # The first branch is as long as the other one is late: by as many frames as a filter over time looks ahead.
        self.pipeline = Gst.parse_launchv([*source, *(
            f'! videoconvert name=video ! tee name=split '
            f'split. ! queue max-size-buffers=0 max-size-bytes=0 max-size-time=0 ! {tail} name=before sync=false '
            f'split. ! queue max-size-buffers=3 ! cudaconvolve name=filter ! {tail} name=after max-buffers=1').split()])
        self.filter = self.pipeline.get_by_name('filter')
        self.turn()
        self.lock = threading.Lock()
        self.befores = {}  # frames by their times, whose filtered ones are still to come
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
        GLib.idle_add(self.on_picture)  # the filtered one may have been faster
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
        """A frame as it is and filtered; None for what has not come yet."""
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

    def play(self, playing):
        self.playing = playing
        self.pipeline.set_state(Gst.State.PLAYING if playing else Gst.State.PAUSED)

    def restart_with(self, change):
        """Calls `change` while the element is stopped, and goes on at the same place."""
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
        """Filters the frame again that is shown in a pause."""
        if not self.playing and not self.failed:
            self.seek(self.position())

    def stats(self):
        return self.filter.get_property('stats')


# Controls: show_value() shows a value, and `change` takes the text that somebody chose.


class Check(Gtk.CheckButton):
    def __init__(self, pspec, change):
        super().__init__()
        self.connect('toggled', lambda _: change(text_of(self.get_active())))

    def show_value(self, value):
        self.set_active(value)


class Choice(Gtk.ComboBoxText):
    def __init__(self, pspec, change):
        super().__init__()
        for value in pspec.value_type.pytype.__enum_values__.values():
            self.append(value.value_nick, value.value_nick)
        self.connect('changed', lambda _: change(self.get_active_id()))

    def show_value(self, value):
        self.set_active_id(value.value_nick)
        self.set_tooltip_text(value.value_name)


class Checks(Gtk.FlowBox):
    def __init__(self, pspec, change):
        super().__init__(selection_mode=Gtk.SelectionMode.NONE, min_children_per_line=3)
        self.checks = {}
        for bit, nick in flag_nicks(pspec.value_type.pytype):
            self.checks[bit] = Gtk.CheckButton(label=nick)
            self.checks[bit].connect('toggled', lambda _: change(self.text()))
            self.add(self.checks[bit])

    def text(self):
        return '+'.join(check.get_label() for check in self.checks.values() if check.get_active())

    def show_value(self, value):
        for bit, check in self.checks.items():
            check.set_active(bool(value & bit))


class Number(Gtk.Box):
    """A field with the whole range, and a slider about the default whose steps grow with the distance from it."""

    def __init__(self, pspec, change):
        super().__init__(spacing=6)
        self.is_float = isinstance(pspec.default_value, float)
        self.default = pspec.default_value
        self.below = min(self.default - pspec.minimum, SLIDER_REACH)
        self.above = min(pspec.maximum - self.default, SLIDER_REACH)
        self.field = Gtk.SpinButton.new_with_range(pspec.minimum, pspec.maximum, 0.1 if self.is_float else 1)
        self.field.set_digits(3 if self.is_float else 0)
        self.field.set_width_chars(7)
        self.field.connect('value-changed', lambda _: change(self.text(self.field.get_value())))
        self.pack_end(self.field, False, False, 0)
        range = Gtk.Adjustment(lower=-1 if self.below else 0, upper=1, step_increment=0.01)
        self.slider = Gtk.Scale(adjustment=range, draw_value=False, digits=4)
        self.slider.connect('change-value', lambda slider, scroll, place: change(self.text(self.value_at(place))))
        if not int(pspec.flags) & Gst.PARAM_MUTABLE_READY:  # or each step of the slider would restart the stream
            self.pack_start(self.slider, True, True, 0)

    def text(self, value):
        return text_of(round(value, 3) if self.is_float else round(value))

    @staticmethod
    def exponent(reach):
        return 3 if reach > 10 else 1

    def value_at(self, place):
        place = max(-1 if self.below else 0, min(place, 1))
        reach = self.above if place > 0 else self.below
        return self.default + math.copysign(reach * abs(place) ** self.exponent(reach), place)

    def show_value(self, value):
        self.field.set_value(value)
        reach = self.above if value > self.default else self.below
        place = min(abs(value - self.default) / reach, 1) ** (1 / self.exponent(reach)) if reach else 0
        self.slider.set_value(math.copysign(place, value - self.default))


class Color(Gtk.ColorButton):
    """0xAARRGGBB."""

    def __init__(self, pspec, change):
        super().__init__(use_alpha=True, halign=Gtk.Align.START)
        self.connect('color-set', lambda _: change(self.text()))

    def text(self):
        color = self.get_rgba()
        return str(sum(round(255 * part) << shift for part, shift in
                       [(color.alpha, 24), (color.red, 16), (color.green, 8), (color.blue, 0)]))

    def show_value(self, value):
        self.set_rgba(Gdk.RGBA(*((value >> shift & 255) / 255 for shift in (16, 8, 0, 24))))


class Text(Gtk.Entry):
    """Handed on by Enter, or when somebody goes elsewhere. What was refused stays, to be corrected."""

    def __init__(self, pspec, change):
        super().__init__()
        self.change = change
        self.shown = ''
        self.is_submitting = False
        self.connect('activate', lambda _: self.submit())
        self.connect('focus-out-event', lambda *_: self.submit())

    def submit(self):
        if self.get_text() == self.shown:
            return
        self.shown = self.get_text()
        self.is_submitting = True
        understood = self.change(self.shown)
        self.is_submitting = False
        self.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, None if understood else 'dialog-error')

    def show_value(self, value):
        if not self.is_submitting:
            self.shown = text_of(value)
            self.set_text(self.shown)
            self.set_icon_from_icon_name(Gtk.EntryIconPosition.SECONDARY, None)


def control_for(pspec):
    """The class of control for a GParamSpec."""
    if isinstance(getattr(pspec, 'default_value', None), (int, float)) and hasattr(pspec, 'minimum'):
        return Color if pspec.name.endswith('-color') else Number
    return {'GParamBoolean': Check, 'GParamEnum': Choice, 'GParamFlags': Checks}.get(pspec.__gtype__.name, Text)


class Row(Gtk.ListBoxRow):
    """A property: name, default and range, control, and a button to reset it."""

    def __init__(self, settings, name, apply):
        super().__init__(activatable=False)
        self.settings, self.name, self.apply = settings, name, apply
        self.is_showing = False
        pspec = settings.pspecs[name]
        self.set_tooltip_text(pspec.blurb)
        self.label = Gtk.Label(xalign=0, width_chars=22)
        self.note = f'default {settings.defaults[name] or "none"}'
        if hasattr(pspec, 'minimum'):
            self.note += f', {text_of(pspec.minimum)} to {text_of(pspec.maximum)}'
        self.control = control_for(pspec)(pspec, self.change)
        self.control.set_valign(Gtk.Align.CENTER)
        self.reset = Gtk.Button(label='\N{MULTIPLICATION SIGN}', relief=Gtk.ReliefStyle.NONE, valign=Gtk.Align.CENTER,
                                tooltip_text='Reset to the default')
        self.reset.connect('clicked', lambda _: apply(name, settings.defaults[name]))
        box = Gtk.Box(spacing=6)
        box.pack_start(self.label, False, False, 0)
        box.pack_start(self.control, True, True, 0)
        box.pack_start(self.reset, False, False, 0)
        self.add(box)
        self.show_value()

    def change(self, text):
        return None if self.is_showing else self.apply(self.name, text)

    def show_value(self):
        value = self.settings.element.get_property(self.name)
        is_default = text_of(value) == self.settings.defaults[self.name]
        self.is_showing = True
        self.control.show_value(value)
        self.is_showing = False
        self.reset.set_sensitive(not is_default)
        name = self.name if is_default else f'<b>{self.name}</b>'
        self.label.set_markup(f'{name}\n<small>{GLib.markup_escape_text(self.note)}</small>')


class Picture(Gtk.DrawingArea):
    """Before on the left of the wipe, after on its right. The wipe follows the pointer while a button is held."""

    def __init__(self, player):
        super().__init__()
        self.player = player
        self.wipe = 0.5  # as a part of the picture's width
        self.place = (0, 0, 1, 1)  # of the picture: x, y, width, height
        self.set_size_request(320, 180)
        self.set_can_focus(True)
        self.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON1_MOTION_MASK)
        self.connect('button-press-event', self.move_wipe)
        self.connect('motion-notify-event', self.move_wipe)
        self.connect('draw', self.draw)

    def move_wipe(self, area, event):
        x, _, width, _ = self.place
        self.wipe = max(0, min((event.x - x) / width, 1))
        self.queue_draw()

    def draw(self, area, context):
        context.set_source_rgb(0.1, 0.1, 0.1)
        context.paint()
        before, after = self.player.pair()
        if not after:
            return
        width, height = after.width, after.height
        zoom = min(self.get_allocated_width() / width, self.get_allocated_height() / height)
        x = (self.get_allocated_width() - zoom * width) / 2
        y = (self.get_allocated_height() - zoom * height) / 2
        self.place = (x, y, zoom * width, zoom * height)
        split = round(x + self.wipe * zoom * width)
        if before:
            self.paint(context, before, zoom, x, split - x)
        self.paint(context, after, zoom, split, x + zoom * width - split)
        context.set_source_rgb(1, 1, 1)
        context.rectangle(split - 1, y, 2, zoom * height)
        context.fill()
        context.set_font_size(15)
        for text, place in [('before', split - 12 - context.text_extents('before').x_advance), ('after', split + 12)]:
            context.move_to(place, y + 24)
            context.text_path(text)
        context.set_source_rgb(0, 0, 0)
        context.set_line_width(3)
        context.stroke_preserve()
        context.set_source_rgb(1, 1, 1)
        context.fill()

    def paint(self, context, frame, zoom, left, width):
        x, y, _, height = self.place
        context.save()
        context.rectangle(left, y, width, height)
        context.clip()
        context.translate(x, y)
        context.scale(zoom, zoom)
        context.set_source_surface(frame.to_paint())
        context.get_source().set_filter(cairo.FILTER_BILINEAR)
        context.paint()
        context.restore()


class Window(Gtk.Window):
    def __init__(self, source):
        super().__init__(title='cudaconvolve')
        self.source = source
        self.times = {}  # of the start, in seconds: when the window and the first picture were seen
        self.player = Player(source, self.show_picture, self.say)
        self.settings = Settings(self.player.filter)
        self.counted = (time.monotonic(), 0)
        self.picture = Picture(self.player)
        self.rows = {name: Row(self.settings, name, self.apply) for name in self.settings.pspecs}
        self.message = Gtk.Label(xalign=0, wrap=True, selectable=True)
        self.status = Gtk.Label(xalign=0, wrap=True)
        self.line = Gtk.Label(xalign=0, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, selectable=True)
        self.lay_out()
        self.player.filter.connect('notify', self.show_property)
        self.show_line()
        self.connect('map-event', lambda *_: self.mark('window'))
        self.picture.connect_after('draw', lambda *_: self.player.after and self.mark('picture'))
        self.connect('destroy', self.leave)
        GLib.timeout_add(500, self.show_status)

    def lay_out(self):
        self.set_default_size(1440, 760)
        left = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, border_width=6)
        left.pack_start(self.picture, True, True, 0)
        for label in self.status, self.message:
            left.pack_start(label, False, False, 0)
        line = Gtk.Box(spacing=6)
        line.pack_start(self.line, True, True, 0)
        line.pack_start(button('Copy', self.copy_line), False, False, 0)
        left.pack_start(line, False, False, 0)
        right = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, border_width=6)
        right.pack_start(self.tools(), False, False, 0)
        right.pack_start(self.property_list(), True, True, 0)
        panes = Gtk.Paned()
        panes.pack1(left, True, False)
        panes.pack2(right, False, False)
        self.add(panes)
        self.picture.grab_focus()  # or the wish that the search field shows is hidden

    def tools(self):
        tools = Gtk.Box(spacing=6)
        self.search = Gtk.SearchEntry(placeholder_text='Find a property', hexpand=True)
        tools.add(self.search)
        names = self.player.filter.get_preset_names() if isinstance(self.player.filter, Gst.Preset) else []
        self.presets = Gtk.ComboBoxText(no_show_all=not names, visible=bool(names))
        for name in 'preset', *names:
            self.presets.append_text(name)
        self.presets.set_active(0)
        self.presets.connect('changed', self.load_preset)
        tools.add(self.presets)
        tools.add(button('Reset all', self.reset))
        self.pause = Gtk.ToggleButton(label='Pause')
        self.pause.connect('toggled', lambda _: self.player.play(not self.pause.get_active()))
        tools.add(self.pause)
        return tools

    def property_list(self):
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        for row in self.rows.values():
            rows.add(row)
        rows.set_filter_func(lambda row: self.search.get_text() in row.name)
        self.search.connect('search-changed', lambda _: rows.invalidate_filter())
        scrolled = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, min_content_width=540)
        scrolled.add(rows)
        leave_wheel_to_list(rows)
        return scrolled

    def apply(self, name, text):
        """Sets a property; False where GStreamer does not understand the text."""
        self.message.set_text('')
        self.presets.set_active(0)
        if self.player.failed or self.settings.needs_restart(name):
            understood = self.player.restart_with(lambda: self.settings.set(name, text))
        else:
            understood = self.settings.set(name, text)
            self.player.refresh()
        if not understood:
            self.say('error', f'{name}: GStreamer cannot read "{text}" as its value; write numbers as <1,2,1>, and rows of '
                     'numbers as <<1,2>,<3,4>>')
        return understood

    def reset(self, *_):
        for name in self.settings.changed():
            self.apply(name, self.settings.defaults[name])

    def load_preset(self, *_):
        if self.presets.get_active() > 0:
            self.message.set_text('')
            self.player.filter.load_preset(self.presets.get_active_text())
            self.player.refresh()

    def show_property(self, element, pspec):
        if pspec.name in self.rows:
            self.rows[pspec.name].show_value()
            self.show_line()

    def show_line(self):
        self.line.set_text(self.settings.launch_line(self.source))

    def copy_line(self, *_):
        Gtk.Clipboard.get(Gdk.SELECTION_CLIPBOARD).set_text(self.line.get_text(), -1)

    def say(self, kind, text):
        color = {'error': '#c01c28', 'warning': '#b35c00'}.get(kind)
        escaped = GLib.markup_escape_text(f'{kind}: {text}')
        self.message.set_markup(f'<span foreground="{color}">{escaped}</span>' if color else escaped)

    def show_picture(self):
        self.picture.queue_draw()

    def show_status(self):
        (then, counted), (now, frames) = self.counted, (time.monotonic(), self.player.frames)
        self.counted = (now, frames)
        stats = self.player.stats()
        spent = stats.get_value('compute-time-us')
        algorithms = ', '.join(dict.fromkeys(f'{algorithm} {taps}' for algorithm, taps in zip(
            stats.get_value('algorithm').split(','), stats.get_value('taps').split(','))))
        self.status.set_text(
            f'{(frames - counted) / (now - then):.1f} frames/s shown.' +
            (f'  {stats.get_value("backend")} ({stats.get_value("device")}): {algorithms}' if frames else '') +
            (f'; {spent / 1000:.2f} ms per frame, {1e6 / spent:.0f} frames/s possible' if spent else ''))
        return GLib.SOURCE_CONTINUE

    def mark(self, seen):
        """The time until the window and the first picture were seen, said once."""
        if seen not in self.times:
            self.times[seen] = time.monotonic() - START
            print(f'{seen} after {self.times[seen]:.2f} s', flush=True)

    def leave(self, *_):
        self.player.pipeline.set_state(Gst.State.NULL)
        Gtk.main_quit()


def button(label, action):
    made = Gtk.Button(label=label)
    made.connect('clicked', action)
    return made


def leave_wheel_to_list(widget):
    """The wheel scrolls the list: it changes no value on its way."""
    if isinstance(widget, (Gtk.SpinButton, Gtk.Scale, Gtk.ComboBox)):
        widget.connect('scroll-event', lambda *_: GObject.signal_stop_emission_by_name(widget, 'scroll-event'))
    if isinstance(widget, Gtk.Container):
        widget.forall(leave_wheel_to_list)


def main():
    Gst.init(None)
    window = Window(sys.argv[1:])
    window.show_all()
    window.player.play(True)
    Gtk.main()


if __name__ == '__main__':
    main()
