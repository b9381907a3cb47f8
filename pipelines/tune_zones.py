# SPDX-License-Identifier: LGPL-2.1-or-later
"""Zones drawn over the picture of tune.py: shapes in fractions of the frame, a zones file, mouse and keys."""
import math
import os
import tempfile
from dataclasses import dataclass, field

from gi.repository import Gdk, GLib

KINDS = 'rectangle', 'ellipse', 'polygon'
EXTRA = 'type', 'from', 'to'  # optional keys of a zone
REACH = 9  # largest distance in pixels at which the pointer grips a handle
STEP, FINE_STEP = 0.01, 0.001  # of the arrow keys, as fractions of the frame
LEAST = 0.005  # smallest width and height of a zone that is drawn or resized, as a fraction of the frame
DIGITS = 4
COLORS = {True: (1, 0.85, 0), False: (0.4, 0.85, 1)}  # of a zone: selected or not


def number(value):
    return f'{round(value, DIGITS):g}'


@dataclass
class Zone:
    name: str
    kind: str
    points: list  # [x, y] of each corner of a polygon; else of the upper left and lower right corner
    extra: dict = field(default_factory=dict)  # texts of EXTRA

    def bounds(self):
        xs, ys = zip(*self.points)
        return min(xs), min(ys), max(xs), max(ys)

    def value(self):
        """Returns the value of the zone's key in a zones file."""
        if self.kind == 'polygon':
            return ', '.join(f'{number(x)},{number(y)}' for x, y in self.points)
        left, top, right, bottom = self.bounds()
        return ','.join(map(number, (left, top, right - left, bottom - top)))

    def outline(self):
        left, top, right, bottom = self.bounds()
        if self.kind == 'rectangle':
            return [(left, top), (right, top), (right, bottom), (left, bottom)]
        if self.kind == 'ellipse':
            angles = [2 * math.pi * i / 64 for i in range(64)]
            return [((left + right) / 2 + (right - left) / 2 * math.cos(angle),
                     (top + bottom) / 2 + (bottom - top) / 2 * math.sin(angle)) for angle in angles]
        return [tuple(point) for point in self.points]

    def handles(self):
        """Returns the points that can be dragged."""
        left, top, right, bottom = self.bounds()
        if self.kind == 'polygon':
            return [tuple(point) for point in self.points]
        return [(left, top), (right, top), (right, bottom), (left, bottom)]

    def contains(self, x, y):
        """Returns True if the point is inside, by the even-odd rule."""
        inside = False
        points = self.outline()
        for (x0, y0), (x1, y1) in zip(points, points[1:] + points[:1]):
            if (y0 > y) != (y1 > y) and x < (x1 - x0) * (y - y0) / (y1 - y0) + x0:
                inside = not inside
        return inside

    def move(self, dx, dy):
        """Moves the zone, but not out of the frame, unless it is larger than the frame."""
        left, top, right, bottom = self.bounds()
        dx = max(-left, min(dx, 1 - right)) if right - left <= 1 else dx
        dy = max(-top, min(dy, 1 - bottom)) if bottom - top <= 1 else dy
        self.points = [[x + dx, y + dy] for x, y in self.points]

    def drag(self, handle, x, y):
        x, y = max(0, min(x, 1)), max(0, min(y, 1))
        if self.kind == 'polygon':
            self.points[handle] = [x, y]
            return
        opposite = self.handles()[(handle + 2) % 4]
        self.points = [[min(x, opposite[0] - LEAST) if handle in (0, 3) else max(x, opposite[0] + LEAST),
                        min(y, opposite[1] - LEAST) if handle in (0, 1) else max(y, opposite[1] + LEAST)],
                       list(opposite)]

    def resize(self, dx, dy):
        """Scales the zone, so that its lower right corner moves by (dx, dy) and the upper left corner stays."""
        left, top, right, bottom = self.bounds()
        width, height = max(right - left, LEAST), max(bottom - top, LEAST)
        x, y = max(width + dx, LEAST) / width, max(height + dy, LEAST) / height
        self.points = [[left + (px - left) * x, top + (py - top) * y] for px, py in self.points]


def zones_of(file):
    """Yields the zones of a key file. Checks only that each has a shape: the element checks the rest."""
    for name in file.get_groups()[0]:
        values = {key: file.get_value(name, key) for key in file.get_keys(name)[0]}
        kind = next((kind for kind in KINDS if kind in values), None)
        if not kind:
            raise ValueError(f'zone [{name}] has no shape: add one of {", ".join(KINDS)}')
        numbers = [float(part) for part in values[kind].replace(',', ' ').replace(';', ' ').split()]
        if kind == 'polygon':
            points = [list(pair) for pair in zip(numbers[::2], numbers[1::2])]
        else:
            x, y, width, height = numbers
            points = [[x, y], [x + width, y + height]]
        yield Zone(name, kind, points, {key: values[key] for key in EXTRA if key in values})


class Zones:
    """The zones, the one that is selected, and the drawing in progress. on_change is called after each change."""

    def __init__(self, on_change):
        self.on_change = on_change
        self.zones = []
        self.selected = None
        self.vertex = None  # number of the corner of the selected polygon that keys move; None: keys move the zone
        self.kind = None  # of the next zone to draw; None: the pointer selects zones
        self.pending = []  # points of that zone
        self.grip = None  # what the held button does: ('move', x, y), ('handle', number) or ('draw',)
        self.pointer = None
        self.path = None  # of the file that was opened or saved
        self.is_saved = True
        self.file = GLib.KeyFile()
        self.folder = tempfile.TemporaryDirectory(prefix='cudaconvolve-')
        self.draft = os.path.join(self.folder.name, 'draft.zones')

    # -- files

    def text(self):
        """Returns the text of a file with these zones. Keeps the comments of the file that was opened."""
        for name in set(self.file.get_groups()[0]) - {zone.name for zone in self.zones}:
            self.file.remove_group(name)
        for zone in self.zones:
            known = self.file.get_keys(zone.name)[0] if self.file.has_group(zone.name) else []
            for key in {*known} & {*KINDS, *EXTRA} - {zone.kind, *zone.extra}:
                self.file.remove_key(zone.name, key)
            for key, value in {zone.kind: zone.value(), **zone.extra}.items():
                self.file.set_value(zone.name, key, value)
        return self.file.to_data()[0]

    def open(self, path):
        """Raises GLib.Error or ValueError if it is not a zones file. The element gives a better reason."""
        file = GLib.KeyFile()
        file.load_from_file(path, GLib.KeyFileFlags.KEEP_COMMENTS)
        self.file, self.zones = file, list(zones_of(file))
        self.path, self.is_saved = path, True
        self.select(None)

    def clear(self):
        self.file, self.zones, self.path, self.is_saved = GLib.KeyFile(), [], None, True
        self.begin(None)
        self.select(None)

    def save(self, path):
        """Replaces the file atomically."""
        GLib.file_set_contents(path, self.text().encode())
        self.path, self.is_saved = path, True

    def write_draft(self):
        """Returns the path of a file with the current zones: the saved file, or else a draft that it writes."""
        if self.is_saved and self.path:
            return self.path
        GLib.file_set_contents(self.draft, self.text().encode())
        return self.draft

    def changed(self):
        self.is_saved = False
        self.on_change()

    # -- changes

    def new_name(self):
        names = {zone.name for zone in self.zones}
        return next(name for i in range(1, len(names) + 2) if (name := f'zone {i}') not in names)

    def add(self, kind, points):
        self.zones.append(Zone(self.new_name(), kind, [list(point) for point in points]))
        self.kind, self.pending = None, []
        self.select(self.zones[-1])
        self.changed()

    def add_in_middle(self, kind):
        """Adds a zone in the middle of the frame, for users without a mouse."""
        self.add(kind, [(0.5, 0.35), (0.65, 0.65), (0.35, 0.65)] if kind == 'polygon' else [(0.4, 0.4), (0.6, 0.6)])

    def remove(self):
        if self.selected:
            self.zones.remove(self.selected)
            self.select(None)
            self.changed()

    def rename(self, name):
        """Renames the selected zone. Returns False if the name is taken, or cannot be the name of a group."""
        name = name.strip()
        if not name or any(c in '[]' or ord(c) < 32 for c in name) or any(
                zone.name == name for zone in self.zones if zone is not self.selected):
            return False
        if name != self.selected.name:
            self.selected.name = name
            self.changed()
        return True

    def set_extra(self, key, text):
        extra = {**self.selected.extra, key: text.strip()}
        extra = {name: value for name, value in extra.items() if value}
        if extra != self.selected.extra:
            self.selected.extra = extra
            self.changed()

    def select(self, zone):
        self.selected, self.vertex, self.grip = zone, None, None

    def select_next(self, step):
        if self.zones:
            at = self.zones.index(self.selected) if self.selected else (-1 if step > 0 else 0)
            self.select(self.zones[(at + step) % len(self.zones)])

    def begin(self, kind):
        self.kind, self.pending = kind, []

    # -- pointer; x, y: fractions of the frame. size: of the picture in pixels

    def press(self, x, y, size, is_double):
        """Returns True if the press grips or draws a zone, False if it is free for the wipe."""
        if self.kind == 'polygon':
            if is_double and len(self.pending) >= 3:
                self.add('polygon', self.pending)
            elif not is_double:
                self.pending.append((x, y))
            return True
        if self.kind:
            self.pending, self.grip = [(x, y), (x, y)], ('draw',)
            return True
        handle = self.handle_at(x, y, size)
        if handle is not None:
            self.grip = ('handle', handle)
            return True
        zone = next((zone for zone in reversed(self.zones) if zone.contains(x, y)), None)
        self.select(zone)
        self.grip = ('move', x, y) if zone else None
        return zone is not None

    def handle_at(self, x, y, size):
        if not self.selected:
            return None
        away = [math.hypot((hx - x) * size[0], (hy - y) * size[1]) for hx, hy in self.selected.handles()]
        nearest = min(range(len(away)), key=away.__getitem__)
        return nearest if away[nearest] <= REACH else None

    def drag(self, x, y):
        self.pointer = (x, y)
        if self.grip is None:
            return
        if self.grip[0] == 'draw':
            self.pending[1] = (max(0, min(x, 1)), max(0, min(y, 1)))
            return
        if self.grip[0] == 'handle':
            self.selected.drag(self.grip[1], x, y)
        else:
            self.selected.move(x - self.grip[1], y - self.grip[2])
            self.grip = ('move', x, y)
        self.changed()

    def release(self):
        grip, self.grip = self.grip, None
        if grip and grip[0] == 'draw':
            (x0, y0), (x1, y1) = self.pending
            self.pending = []
            if abs(x1 - x0) >= LEAST and abs(y1 - y0) >= LEAST:
                self.add(self.kind, [(min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))])

    # -- keys

    def press_key(self, key, shift, control):
        """Returns True if the key did something to the zones."""
        arrows = {Gdk.KEY_Left: (-1, 0), Gdk.KEY_Right: (1, 0), Gdk.KEY_Up: (0, -1), Gdk.KEY_Down: (0, 1)}
        inserts = {Gdk.KEY_r: 'rectangle', Gdk.KEY_e: 'ellipse', Gdk.KEY_p: 'polygon'}
        if key in inserts and not control:
            self.add_in_middle(inserts[key])
        elif key == Gdk.KEY_n:
            self.select_next(1)
        elif key == Gdk.KEY_N:
            self.select_next(-1)
        elif key in (Gdk.KEY_Return, Gdk.KEY_KP_Enter) and self.kind == 'polygon' and len(self.pending) >= 3:
            self.add('polygon', self.pending)
        elif key == Gdk.KEY_Escape and (self.kind or self.selected):
            self.kind, self.pending = None, []
            self.select(None)
        elif not self.selected:
            return False
        elif key in arrows:
            self.move_by_key(*arrows[key], shift, control)
        elif key in (Gdk.KEY_Delete, Gdk.KEY_BackSpace):
            self.remove()
        elif self.selected.kind == 'polygon' and key in (Gdk.KEY_v, Gdk.KEY_i, Gdk.KEY_x):
            self.change_vertex(key)
        else:
            return False
        return True

    def move_by_key(self, x, y, shift, control):
        step = FINE_STEP if control else STEP
        if self.vertex is not None:
            at = self.selected.points[self.vertex]
            self.selected.drag(self.vertex, at[0] + x * step, at[1] + y * step)
        elif shift:
            self.selected.resize(x * step, y * step)
        else:
            self.selected.move(x * step, y * step)
        self.changed()

    def change_vertex(self, key):
        points = self.selected.points
        if key == Gdk.KEY_v or self.vertex is None:
            self.vertex = 0 if self.vertex is None else self.vertex + 1 if self.vertex + 1 < len(points) else None
            return
        if key == Gdk.KEY_i:
            (x0, y0), (x1, y1) = points[self.vertex], points[(self.vertex + 1) % len(points)]
            self.vertex += 1
            points.insert(self.vertex, [(x0 + x1) / 2, (y0 + y1) / 2])
        elif len(points) > 3:
            points.pop(self.vertex)
            self.vertex %= len(points)
        self.changed()

    # -- properties

    def as_rois(self):
        """Returns the values of roi and roi-shape, or None if the zones are not all rectangles or all ellipses."""
        kinds = {zone.kind for zone in self.zones}
        if len(kinds) != 1 or 'polygon' in kinds:
            return None
        return '<' + ','.join(f'<{zone.value()}>' for zone in self.zones) + '>', kinds.pop()

    def as_polygons(self):
        """Returns the value of roi-polygons. Ellipses become polygons of 64 points."""
        return '<' + ','.join('<' + ','.join(f'{number(x)},{number(y)}' for x, y in zone.outline()) + '>'
                              for zone in self.zones) + '>'

    # -- drawing

    def draw(self, context, place, others):
        """others: outlines of regions that are not zones, so that they cannot be edited."""
        x, y, width, height = place

        def path(points, close=True):
            for i, (px, py) in enumerate(points):
                (context.line_to if i else context.move_to)(x + px * width, y + py * height)
            if close:
                context.close_path()

        for points in others:
            path(points)
            context.set_dash([8, 6])
            self.stroke(context, (1, 1, 1))
            context.set_dash([])
        for zone in self.zones:
            path(zone.outline())
            self.stroke(context, COLORS[zone is self.selected])
            left, top, *_ = zone.bounds()
            self.label(context, zone.name, x + max(left, 0) * width + 6, y + max(top, 0) * height + 18)
        if self.selected:
            for i, (px, py) in enumerate(self.selected.handles()):
                context.rectangle(x + px * width - 4, y + py * height - 4, 8, 8)
                context.set_source_rgb(*((1, 0, 0) if i == self.vertex else (1, 1, 1)))
                context.fill_preserve()
                self.stroke(context, (0, 0, 0), 1)
        if self.pending:
            points = list(self.pending)
            if self.kind == 'polygon':
                path([*points, self.pointer] if self.pointer else points, False)
            else:
                path(Zone('', self.kind, points).outline())
            self.stroke(context, COLORS[True])

    @staticmethod
    def stroke(context, color, width=2):
        if width > 1:
            context.set_source_rgb(0, 0, 0)
            context.set_line_width(width + 2)
            context.stroke_preserve()
        context.set_source_rgb(*color)
        context.set_line_width(width)
        context.stroke()

    @staticmethod
    def label(context, text, x, y):
        context.set_font_size(14)
        context.move_to(x, y)
        context.text_path(text)
        context.set_source_rgb(0, 0, 0)
        context.set_line_width(3)
        context.stroke_preserve()
        context.set_source_rgb(1, 1, 1)
        context.fill()
