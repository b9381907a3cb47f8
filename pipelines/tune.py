#!/usr/bin/env python3
# You should see a window: the video, a wipe between before and after, and a control for each property of cudaconvolve.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: tune.py ELEMENT ! ELEMENT...   the source, as for gst-launch-1.0; tune.sh chooses one, and builds the plugin
# TUNE_PLAYER and TUNE_INPUT: the program that can write the filtered video, and its input file.
# Controls are made from the element's GParamSpecs. Set GST_PLUGIN_PATH if the plugin is not installed.
# Exit status: 77 if GTK 3 or GStreamer for Python is missing.
import time
START = time.monotonic()
import os
import signal
import sys

try:
    import gi
    for library, version in [('Gst', '1.0'), ('GstTag', '1.0'), ('GstVideo', '1.0'), ('Gdk', '3.0'), ('Gtk', '3.0')]:
        gi.require_version(library, version)
    gi.require_foreign('cairo')
    import cairo
    from gi.repository import Gdk, GLib, GObject, Gst, Gtk, Pango
    import gi.overrides._gi_gst  # noqa: F401 (properties that are lists need it)
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} has no GTK 3 or no GStreamer ({error}). Install them (Debian and Ubuntu: apt '
          'install gir1.2-gtk-3.0 python3-gi-cairo python3-gst-1.0) and run this with the Python of the system, '
          '/usr/bin/python3.')
    sys.exit(77)

from tune_controls import (  # noqa: F401 (some for the test)
    ORDER, SLIDER_REACH, Check, Checks, Choice, Color, Number, Row, Text, button, groups_of)
from tune_panel import ZonePanel
from tune_player import Player, Settings, Writer
from tune_zones import Zone


class Picture(Gtk.DrawingArea):
    """Shows the original left of the wipe, the filtered frame right of it, and zones over both. While the button is
    held, the pointer moves the zone or corner that was pressed, or else the wipe."""

    def __init__(self, player, zones, on_select):
        super().__init__()
        self.player, self.zones, self.on_select = player, zones, on_select
        self.holds_wipe = False
        self.others = []  # outlines of regions that are not zones
        self.wipe = 0.5  # place, as a fraction of the picture's width
        self.place = (0, 0, 1, 1)  # of the picture in the widget: x, y, width, height in pixels
        self.set_size_request(320, 180)
        self.set_can_focus(True)
        self.add_events(Gdk.EventMask.BUTTON_PRESS_MASK | Gdk.EventMask.BUTTON_RELEASE_MASK |
                        Gdk.EventMask.POINTER_MOTION_MASK | Gdk.EventMask.KEY_PRESS_MASK)
        self.connect('button-press-event', self.press)
        self.connect('button-release-event', self.release)
        self.connect('motion-notify-event', self.drag)
        self.connect('key-press-event', self.press_key)
        self.connect('draw', self.draw)

    def in_frame(self, event):
        x, y, width, height = self.place
        return (event.x - x) / width, (event.y - y) / height

    def press(self, area, event):
        self.grab_focus()
        if event.type not in (Gdk.EventType.BUTTON_PRESS, Gdk.EventType.DOUBLE_BUTTON_PRESS) or event.button != 1:
            return False
        x, y = self.in_frame(event)
        is_double = event.type == Gdk.EventType.DOUBLE_BUTTON_PRESS
        if not self.zones.press(x, y, self.place[2:], is_double):
            self.holds_wipe = True
            self.move_wipe(x)
        self.on_select()
        return True

    def drag(self, area, event):
        x, y = self.in_frame(event)
        if self.holds_wipe:
            self.move_wipe(x)
        else:
            self.zones.drag(x, y)
            self.queue_draw()

    def release(self, area, event):
        self.holds_wipe = False
        self.zones.release()
        self.on_select()

    def press_key(self, area, event):
        shift, control = (bool(event.state & mask) for mask in (Gdk.ModifierType.SHIFT_MASK,
                                                                Gdk.ModifierType.CONTROL_MASK))
        steps = {Gdk.KEY_comma: -0.02, Gdk.KEY_period: 0.02}
        if event.keyval in steps:
            self.move_wipe(self.wipe + steps[event.keyval])
            return True
        taken = self.zones.press_key(event.keyval, shift, control)
        if taken:
            self.on_select()
        return taken

    def move_wipe(self, part):
        self.wipe = max(0, min(part, 1))
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
        self.zones.draw(context, self.place, self.others)

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
        self.times = {}  # seconds from the start until the window and the first picture were visible
        self.player = Player(source, self.show_picture, self.say)
        self.settings = Settings(self.player.filter)
        self.counted = (time.monotonic(), 0)
        self.panel = ZonePanel(self)
        self.picture = Picture(self.player, self.panel.zones, self.panel.show_zones)
        self.writer = None
        self.rows = {name: Row(self.settings, name, self.apply) for name in self.settings.pspecs}
        self.message = Gtk.Label(xalign=0, wrap=True, selectable=True)
        self.status = Gtk.Label(xalign=0, wrap=True)
        self.line = Gtk.Label(xalign=0, wrap=True, wrap_mode=Pango.WrapMode.WORD_CHAR, selectable=True)
        self.lay_out()
        self.player.filter.connect('notify', self.show_property)
        self.show_line()
        self.connect('map-event', lambda *_: self.mark('window'))
        self.picture.connect_after('draw', lambda *_: self.player.after and self.mark('picture'))
        self.connect('delete-event', lambda *_: not self.panel.may_close())
        self.connect('destroy', self.leave)
        GLib.timeout_add(500, self.show_status)

    def lay_out(self):
        self.set_default_size(1440, 760)
        left = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, border_width=6)
        left.pack_start(self.picture, True, True, 0)
        left.pack_start(self.seek_bar(), False, False, 0)
        left.pack_start(self.panel, False, False, 0)
        for label in self.status, self.message:
            left.pack_start(label, False, False, 0)
        line = Gtk.Box(spacing=6)
        line.pack_start(self.line, True, True, 0)
        line.pack_start(button('Copy', self.copy_line), False, False, 0)
        left.pack_start(line, False, False, 0)
        self.progress = Gtk.ProgressBar(show_text=True, no_show_all=True)
        left.pack_start(self.progress, False, False, 0)
        right = Gtk.Box(orientation=Gtk.Orientation.VERTICAL, spacing=6, border_width=6)
        right.pack_start(self.tools(), False, False, 0)
        right.pack_start(self.property_list(), True, True, 0)
        panes = Gtk.Paned()
        panes.pack1(left, True, False)
        panes.pack2(right, False, False)
        self.add(panes)
        self.picture.grab_focus()  # otherwise the search field has the focus, which hides its placeholder

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
        tools.add(button('Save preset\N{HORIZONTAL ELLIPSIS}', self.ask_preset, 'Keep these settings under a name'))
        self.write = button('Write file\N{HORIZONTAL ELLIPSIS}', self.ask_file, 'Filter the whole video into a file')
        can_write = bool(os.environ.get('TUNE_PLAYER') and os.environ.get('TUNE_INPUT'))
        self.write.set_sensitive(can_write)
        if not can_write:
            self.write.set_tooltip_text('Only a file can be written')
        tools.add(self.write)
        return tools

    # -- seeking

    def seek_bar(self):
        self.place = Gtk.Scale(adjustment=Gtk.Adjustment(upper=1, step_increment=1, page_increment=10), hexpand=True,
                               draw_value=False, tooltip_text='Position in the video')
        self.place.connect('change-value', self.seek_to)
        self.clock = Gtk.Label(width_chars=13)
        self.seeker = Gtk.Box(spacing=6, no_show_all=True)
        for widget in self.place, self.clock:
            widget.show()
            self.seeker.pack_start(widget, widget is self.place, widget is self.place, 0)
        return self.seeker

    def seek_to(self, scale, scroll, seconds):
        upper = scale.get_adjustment().get_upper()
        self.player.seek(round(max(0, min(seconds, upper)) * Gst.SECOND))

    def show_position(self):
        duration, position = self.player.duration(), self.player.position()
        self.seeker.set_visible(duration > 0)
        if duration > 0:
            self.place.get_adjustment().set_upper(duration / Gst.SECOND)
            self.place.set_value(position / Gst.SECOND)
            self.clock.set_text(f'{minutes(position)} / {minutes(duration)}')

    # -- presets and files

    def choose_path(self, title, action, name=None):
        dialog = Gtk.FileChooserDialog(title=title, transient_for=self, action=action, do_overwrite_confirmation=True)
        dialog.add_buttons('_Cancel', Gtk.ResponseType.CANCEL, '_OK', Gtk.ResponseType.OK)
        dialog.set_default_response(Gtk.ResponseType.OK)
        if name:
            dialog.set_current_name(name)
        path = dialog.get_filename() if dialog.run() == Gtk.ResponseType.OK else None
        dialog.destroy()
        return path

    def ask_preset(self, *_):
        dialog = Gtk.Dialog(title='Save preset', transient_for=self)
        dialog.add_buttons('_Cancel', Gtk.ResponseType.CANCEL, '_Save', Gtk.ResponseType.OK)
        dialog.set_default_response(Gtk.ResponseType.OK)
        name = Gtk.Entry(activates_default=True, placeholder_text='name', margin=12)
        dialog.get_content_area().add(name)
        dialog.show_all()
        if dialog.run() == Gtk.ResponseType.OK:
            self.save_preset(name.get_text().strip())
        dialog.destroy()

    def save_preset(self, name):
        if not name or not self.player.filter.save_preset(name):
            self.say('error', f'the preset "{name}" cannot be saved: give it a name, and check the folder '
                     f'{GLib.get_user_data_dir()}/gstreamer-1.0/presets')
            return
        if name not in [row[0] for row in self.presets.get_model()]:
            self.presets.append_text(name)
        self.presets.show()
        self.say('info', f'saved: gst-launch-1.0 ... cudaconvolve @preset={name}')

    def ask_file(self, *_):
        if self.writer:
            self.writer.stop()
            return
        path = self.choose_path('Write the filtered video', Gtk.FileChooserAction.SAVE, 'filtered.mp4')
        if path:
            self.write_file(path)

    def write_file(self, path):
        self.writer = Writer(path, self.settings.changed(), self.show_progress, self.show_written)
        self.write.set_label('Stop writing')

    def show_progress(self, part, text):
        self.progress.set_visible(True)
        self.progress.set_fraction(part)
        self.progress.set_text(text)

    def show_written(self, error):
        path, self.writer = self.writer.path, None
        self.write.set_label('Write file\N{HORIZONTAL ELLIPSIS}')
        self.progress.set_visible(False)
        self.say('error' if error else 'info', error or f'written: {path}')

    def property_list(self):
        rows = Gtk.ListBox(selection_mode=Gtk.SelectionMode.NONE)
        groups = groups_of(self.settings.pspecs)
        for row in sorted(self.rows.values(), key=lambda row: ORDER.index(groups[row.name])):
            rows.add(row)
        rows.set_header_func(lambda row, before: row.set_header(
            heading(groups[row.name]) if not before or groups[before.name] != groups[row.name] else None))
        rows.set_filter_func(lambda row: self.search.get_text() in row.name)
        self.search.connect('search-changed', lambda _: rows.invalidate_filter())
        scrolled = Gtk.ScrolledWindow(hscrollbar_policy=Gtk.PolicyType.NEVER, min_content_width=540)
        scrolled.add(rows)
        leave_wheel_to_list(rows)
        return scrolled

    def apply(self, name, text):
        """Sets a property. Returns False if GStreamer cannot read the text."""
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
        if pspec.name not in self.rows:
            return
        self.rows[pspec.name].show_value()
        self.show_line()
        if pspec.name == 'roi-location':
            self.panel.follow(self.settings.text('roi-location'))
        elif pspec.name.startswith('roi'):
            self.picture.others = list(outlines_of(self.settings, self.player.size()))

    def show_line(self):
        self.line.set_text(self.settings.launch_line(self.source))

    def copy_line(self, *_):
        if self.panel.zones.draft in self.line.get_text():
            self.say('warning', 'the zones in this line are gone when the window closes: save them first')
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
        self.show_position()
        self.show_states()
        stats = self.player.stats()
        spent = stats.get_value('compute-time-us')
        algorithms = ', '.join(dict.fromkeys(f'{algorithm} {taps}' for algorithm, taps in zip(
            stats.get_value('algorithm').split(','), stats.get_value('taps').split(','))))
        self.status.set_text(
            f'{(frames - counted) / (now - then):.1f} frames/s shown.' +
            (f'  {stats.get_value("backend")} ({stats.get_value("device")}): {algorithms}' if frames else '') +
            (f'; {spent / 1000:.2f} ms per frame, {1e6 / spent:.0f} frames/s possible' if spent else ''))
        return GLib.SOURCE_CONTINUE

    def show_states(self):
        """Greys controls without effect, and shows values that are automatic."""
        unused, values = self.player.filter.get_property('unused'), self.player.effective()
        for name, row in self.rows.items():
            reason = unused.get_value(name) if unused and unused.has_field(name) else None
            row.show_state(None if reason else values.get(name), reason)

    def mark(self, seen):
        """Prints once how long it took until the window, or the first picture, was visible."""
        if seen not in self.times:
            self.times[seen] = time.monotonic() - START
            print(f'{seen} after {self.times[seen]:.2f} s', flush=True)

    def leave(self, *_):
        if self.writer:
            self.writer.stop()
        self.player.pipeline.set_state(Gst.State.NULL)
        Gtk.main_quit()


def outlines_of(settings, size):
    """Yields the outlines of roi and roi-polygons, in fractions of the frame. size: of the frame in pixels, or None."""
    if settings.text('roi-source') != 'property' or not size:
        return
    scale = (1, 1) if settings.text('roi-units') == 'fraction' else size
    kind = settings.text('roi-shape')
    for x, y, width, height in settings.element.get_property('roi'):
        corners = [[x / scale[0], y / scale[1]], [(x + width) / scale[0], (y + height) / scale[1]]]
        yield Zone('', kind, corners).outline()
    for row in settings.element.get_property('roi-polygons'):
        yield [(x / scale[0], y / scale[1]) for x, y in zip(row[::2], row[1::2])]


def minutes(time_of):
    seconds = time_of // Gst.SECOND
    return f'{seconds // 60}:{seconds % 60:02}'


def heading(text):
    label = Gtk.Label(xalign=0, margin_top=8, margin_start=4)
    label.set_markup(f'<b><big>{text}</big></b>')
    label.show()
    return label


def leave_wheel_to_list(widget):
    """Makes the wheel scroll the list, instead of changing the value under the pointer."""
    if isinstance(widget, (Gtk.SpinButton, Gtk.Scale, Gtk.ComboBox)):
        widget.connect('scroll-event', lambda *_: GObject.signal_stop_emission_by_name(widget, 'scroll-event'))
    if isinstance(widget, Gtk.Container):
        widget.forall(leave_wheel_to_list)


def main():
    Gst.init(None)
    window = Window(sys.argv[1:])
    window.show_all()
    window.player.play(True)
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, number, window.leave)
    Gtk.main()


if __name__ == '__main__':
    main()
