# SPDX-License-Identifier: LGPL-2.1-or-later
"""The part of the window of tune.py in which zones are drawn, named, opened and saved."""
from pathlib import Path

from gi.repository import GLib, Gtk

from tune_controls import button
from tune_zones import Zones


class ZonePanel(Gtk.Box):
    """Buttons and fields for the zones. window: has apply(), say(), choose_path(), settings, picture and message."""

    def __init__(self, window):
        super().__init__(orientation=Gtk.Orientation.VERTICAL, spacing=6)
        self.window = window
        self.zones = Zones(self.apply_zones)
        self.is_applying = self.is_showing_zones = False
        self.add(self.zone_bar())
        self.add(self.zone_fields())

    def zone_bar(self):
        bar = Gtk.Box(spacing=6)
        self.kinds = {}
        for kind, hint in [('rectangle', 'drag in the picture; R inserts one'), ('ellipse', 'drag in the picture; E inserts one'),
                           ('polygon', 'click each point, and double-click the last; P inserts one')]:
            self.kinds[kind] = Gtk.ToggleButton(label=kind.capitalize(), tooltip_text=f'Draw a zone: {hint}')
            self.kinds[kind].connect('toggled', self.choose_kind, kind)
            bar.add(self.kinds[kind])
        for label, action, hint in [
                ('Open zones\N{HORIZONTAL ELLIPSIS}', self.ask_open, 'Load a zones file'),
                ('Save zones\N{HORIZONTAL ELLIPSIS}', self.ask_save, 'Save a zones file for roi-location and camera.sh'),
                ('As roi', self.use_as_roi, 'Set roi to these rectangles, or ellipses'),
                ('As roi-polygons', self.use_as_polygons, 'Set roi-polygons to the outlines')]:
            bar.add(button(label, action, hint))
        return bar

    def zone_fields(self):
        """Returns the box that selects a zone and edits its name, type and times."""
        bar = Gtk.Box(spacing=6)
        self.chosen = Gtk.ComboBoxText(tooltip_text='The selected zone; N selects the next one')
        self.chosen.connect('changed', self.choose_zone)
        bar.add(self.chosen)
        self.fields = {}
        for key, width, hint in [('name', 12, 'Name of the zone'), ('type', 8, 'A word that roi-types can choose'),
                                 ('from', 8, 'Hides from this time on: seconds, or HH:MM'),
                                 ('to', 8, 'Hides until before this time: seconds, or HH:MM')]:
            field = Gtk.Entry(width_chars=width, placeholder_text=key, tooltip_text=hint)
            field.connect('activate', self.change_field, key)
            field.connect('focus-out-event', lambda field, _, key=key: self.change_field(field, key))
            self.fields[key] = field
            bar.add(field)
        self.delete = button('Delete', self.delete_zone, 'Delete the zone; key Delete')
        bar.add(self.delete)
        return bar

    def choose_kind(self, toggle, kind):
        if self.is_showing_zones:
            return
        self.zones.begin(kind if toggle.get_active() else None)
        self.show_zones()
        self.window.picture.grab_focus()

    def choose_zone(self, combo):
        if not self.is_showing_zones and combo.get_active() >= 0:
            self.zones.select(self.zones.zones[combo.get_active()])
            self.show_zones()

    def change_field(self, field, key):
        if self.is_showing_zones or not self.zones.selected:
            return False
        if key != 'name':
            self.zones.set_extra(key, field.get_text())
        elif not self.zones.rename(field.get_text()):
            self.window.say('error', f'"{field.get_text()}" cannot be the name of a zone: give each zone a name of its own, '
                     'without brackets')
        self.show_zones()
        return False

    def delete_zone(self, *_):
        self.zones.remove()
        self.show_zones()

    def show_zones(self):
        """Shows the state of the zones in buttons and fields."""
        self.is_showing_zones = True
        selected = self.zones.selected
        for kind, toggle in self.kinds.items():
            toggle.set_active(self.zones.kind == kind)
        self.chosen.remove_all()
        for zone in self.zones.zones:
            self.chosen.append_text(zone.name)
        self.chosen.set_active(self.zones.zones.index(selected) if selected else -1)
        for key, field in self.fields.items():
            field.set_text('' if not selected else selected.name if key == 'name' else selected.extra.get(key, ''))
            field.set_sensitive(selected is not None)
        self.delete.set_sensitive(selected is not None)
        self.chosen.set_sensitive(bool(self.zones.zones))
        self.is_showing_zones = False
        self.window.picture.queue_draw()

    def apply_zones(self):
        """Puts the zones in force as they are drawn."""
        self.is_applying = True
        if self.zones.zones and self.window.settings.text('roi-source') != 'property':
            self.window.apply('roi-source', 'property')
        self.window.apply('roi-location', self.zones.write_draft() if self.zones.zones else '')
        self.is_applying = False

    def follow(self, path):
        """Shows the zones of a file that was set outside the panel: as text, by a reset or by a preset."""
        if self.is_applying or path in (self.zones.path, self.zones.draft):
            return
        self.zones.clear()
        try:
            if path:
                self.zones.open(path)
        except (GLib.Error, ValueError, KeyError):
            pass  # the element says what is wrong with the file
        self.show_zones()

    def may_close(self):
        """Asks if the zones are not saved. Returns False if the user wants to continue drawing."""
        if self.zones.is_saved or not self.zones.zones:
            return True
        dialog = Gtk.MessageDialog(transient_for=self.window, message_type=Gtk.MessageType.QUESTION,
                                   text='The zones are not saved. Leave without them?')
        dialog.add_buttons('_Go on drawing', Gtk.ResponseType.CANCEL, '_Leave', Gtk.ResponseType.OK)
        answer = dialog.run()
        dialog.destroy()
        return answer == Gtk.ResponseType.OK

    def open_zones(self, path):
        try:
            self.zones.open(path)
        except (GLib.Error, ValueError, KeyError) as error:
            self.window.apply('roi-location', path)  # the element's error message says what is wrong with the file
            if self.window.message.get_text() == '':
                self.window.say('error', f'{path}: {error}')
            return
        self.apply_zones()
        self.show_zones()

    def save_zones(self, path):
        if not self.zones.zones:
            self.window.say('error', 'there is no zone to save: draw one')
            return
        try:
            self.zones.save(path)
        except GLib.Error as error:
            self.window.say('error', error.message)
            return
        self.apply_zones()
        self.window.say('info', f'saved {path}')

    def use_as_roi(self, *_):
        rois = self.zones.as_rois()
        if not rois:
            self.window.say('error', 'roi has rectangles, or with roi-shape=ellipse ellipses: draw zones of one of these kinds, or '
                     'choose roi-polygons or a zones file')
            return
        self.use({'roi-units': 'fraction', 'roi-shape': rois[1], 'roi': rois[0]})

    def use_as_polygons(self, *_):
        if not self.zones.zones:
            self.window.say('error', 'there is no zone: draw one')
            return
        self.use({'roi-units': 'fraction', 'roi-polygons': self.zones.as_polygons()})

    def use(self, properties):
        """Sets properties to the zones, and stops using the zones file."""
        for name, text in {'roi-source': 'property', 'roi-location': '', **properties}.items():
            self.window.apply(name, text)

    def ask_open(self, *_):
        path = self.window.choose_path('Open zones', Gtk.FileChooserAction.OPEN)
        if path:
            self.open_zones(path)

    def ask_save(self, *_):
        known = Path(self.zones.path).name if self.zones.path else 'camera.zones'
        path = self.window.choose_path('Save zones', Gtk.FileChooserAction.SAVE, known)
        if path:
            self.save_zones(path)
