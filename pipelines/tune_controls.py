# SPDX-License-Identifier: LGPL-2.1-or-later
"""The controls of tune.py: one for each property, made from its GParamSpec."""
import math

from gi.repository import Gdk, GLib, GObject, Gst, Gtk

SLIDER_REACH = 360  # largest range of a slider on each side of the default, because a property's range may be millions

# The group of this property and of those after it in the order of the class, up to the next one here.
GROUPS = {'qos': 'Engine', 'filter': 'Filter', 'border-mode': 'Border', 'fill-color': 'Filter', 'planes': 'Planes',
          'temporal-radius': 'Time', 'roi-source': 'Regions', 'backend': 'Engine'}
ORDER = 'Filter', 'Border', 'Planes', 'Time', 'Regions', 'Engine'


def text_of(value):
    """Returns the value of a property as gst-launch-1.0 reads it."""
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
    """Returns the value and nick of each single flag of a class. Leaves out combinations, which also have names."""
    return [(bit, flag.first_value_nick) for bit, flag in flags.__flags_values__.items() if bit & (bit - 1) == 0]


def digits_of(pspec):
    """Returns the number of decimals of a property's values."""
    return 0 if not isinstance(pspec.default_value, float) else 4 if pspec.name.endswith('-threshold') else 3


# Controls: show_value() shows a value. A control calls change(text) when the user chooses a value.


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
    """A field for the whole range, and a slider around the default. Far from the default, the slider has larger
    steps."""

    def __init__(self, pspec, change):
        super().__init__(spacing=6)
        self.is_float = isinstance(pspec.default_value, float)
        self.default = pspec.default_value
        self.below = min(self.default - pspec.minimum, SLIDER_REACH)
        self.above = min(pspec.maximum - self.default, SLIDER_REACH)
        self.is_small = pspec.name.endswith('-threshold')  # useful values are near 0
        self.digits = digits_of(pspec)
        self.field = Gtk.SpinButton.new_with_range(pspec.minimum, pspec.maximum,
                                                   0.001 if self.is_small else 0.1 if self.is_float else 1)
        self.field.set_digits(self.digits)
        self.field.set_width_chars(7)
        self.field.connect('value-changed', lambda _: change(self.text(self.field.get_value())))
        self.pack_end(self.field, False, False, 0)
        range = Gtk.Adjustment(lower=-1 if self.below else 0, upper=1, step_increment=0.01)
        self.slider = Gtk.Scale(adjustment=range, draw_value=False, digits=4)
        self.slider.connect('change-value', lambda slider, scroll, place: change(self.text(self.value_at(place))))
        if not int(pspec.flags) & Gst.PARAM_MUTABLE_READY:  # otherwise each step of the slider would restart the stream
            self.pack_start(self.slider, True, True, 0)

    def text(self, value):
        return text_of(round(value, self.digits) if self.is_float else round(value))

    def exponent(self, reach):
        return 3 if reach > 10 or self.is_small else 1

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
    """A colour. The value of the property is 0xAARRGGBB."""

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
    """A text, applied by Enter or when it loses the focus. Rejected text stays, so that the user can correct it."""

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
    """Returns the class of the control for a GParamSpec."""
    if isinstance(getattr(pspec, 'default_value', None), (int, float)) and hasattr(pspec, 'minimum'):
        return Color if pspec.name.endswith('-color') else Number
    return {'GParamBoolean': Check, 'GParamEnum': Choice, 'GParamFlags': Checks}.get(pspec.__gtype__.name, Text)


def groups_of(names):
    """Returns the group of each name. names: in the order of the class."""
    groups, group = {}, 'Filter'
    for name in names:
        group = GROUPS.get(name, group)
        groups[name] = group
    return groups


class Row(Gtk.ListBoxRow):
    """A property: name, default and range, control, and a button to reset it."""

    def __init__(self, settings, name, apply):
        super().__init__(activatable=False)
        self.settings, self.name, self.apply = settings, name, apply
        self.is_showing = False
        pspec = settings.pspecs[name]
        self.blurb = pspec.blurb
        self.set_tooltip_text(self.blurb)
        self.effective = None  # the value in force, if it is automatic
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
        self.show_label(is_default)

    def show_label(self, is_default):
        name = self.name if is_default else f'<b>{self.name}</b>'
        if self.effective is not None:
            name += f' <small>= {GLib.markup_escape_text(self.effective)}</small>'
        self.label.set_markup(f'{name}\n<small>{GLib.markup_escape_text(self.note)}</small>')

    def show_state(self, effective, reason):
        """effective: the values in force, or None. reason: why the property has no effect, or None."""
        if effective is not None:
            digits = digits_of(self.settings.pspecs[self.name])
            effective = ', '.join(text_of(round(value, digits) if isinstance(value, float) else value)
                                  for value in effective)
        if effective != self.effective:
            self.effective = effective
            self.show_label(self.settings.text(self.name) == self.settings.defaults[self.name])
        self.control.set_sensitive(reason is None)
        self.set_tooltip_text(f'Has no effect with {reason}\n\n{self.blurb}' if reason else self.blurb)


def button(label, action, hint=None):
    made = Gtk.Button(label=label, tooltip_text=hint)
    made.connect('clicked', action)
    return made
