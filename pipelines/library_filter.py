# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The filter of library.py: its settings from the command line, and everything that its output depends on.
import os

import gi
gi.require_version('Gst', '1.0')
from gi.repository import GObject, Gst

from library_files import Json, hash_of_file, hash_of_text

FILE = '-location'  # suffix of properties that name a file
PRESET = '@preset'


def make_filter() -> Gst.Element:
    element = Gst.ElementFactory.make('cudaconvolve')
    if not element:
        raise ValueError('there is no element cudaconvolve: set GST_PLUGIN_PATH to the folder of the plugin')
    return element


def is_setting(word: str, element: Gst.Element) -> bool:
    """Returns True if the word is PROPERTY=VALUE. If there is no such property, a file of that name takes precedence. A
    file whose name is a valid setting must be given as ./radius=8."""
    name = word.partition('=')[0]
    return '=' in word and (name == PRESET or element.find_property(name) is not None or not os.path.lexists(word))


def with_absolute_path(word: str) -> str:
    """Returns the setting with an absolute path if it names a file, so that it is valid in any folder."""
    name, _, value = word.partition('=')
    return f'{name}={os.path.abspath(value)}' if name.endswith(FILE) and value else word


def is_enum(spec: GObject.ParamSpec) -> bool:
    return spec.value_type.is_a(GObject.TYPE_ENUM) or spec.value_type.is_a(GObject.TYPE_FLAGS)


def allowed(element: Gst.Element, spec: GObject.ParamSpec) -> str:
    """Returns the values that the property allows, for an error message."""
    value = element.get_property(spec.name)
    if spec.value_type.is_a(GObject.TYPE_ENUM):
        return 'one of ' + ' '.join(other.value_nick for other in type(value).__enum_values__.values())
    if spec.value_type == GObject.TYPE_BOOLEAN:
        return 'true or false'
    if hasattr(spec, 'minimum'):
        return f'a number from {spec.minimum:g} to {spec.maximum:g}'
    return f'as in gst-inspect-1.0 cudaconvolve: {spec.blurb}'


def is_allowed(spec: GObject.ParamSpec, value: str) -> bool:
    """Returns False if the property needs a number and the value is not one or is out of range: GStreamer would ignore
    it."""
    if not hasattr(spec, 'minimum'):
        return True
    try:
        number = float(value) if spec.value_type == GObject.TYPE_DOUBLE else int(value, 0)
    except ValueError:
        return False
    return spec.minimum <= number <= spec.maximum


def reason_of(element: Gst.Element) -> str | None:
    """Returns the error message with which the element fails to start, or None. It names the property and its value."""
    pipeline = Gst.Pipeline()
    pipeline.add(element)
    element.set_state(Gst.State.PAUSED)
    message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
    element.set_state(Gst.State.NULL)
    return message.parse_error()[0].message if message else None


def apply_setting(element: Gst.Element, word: str) -> None:
    """Sets a property, or loads a preset. Raises ValueError if that fails, also for values that GStreamer would
    silently ignore. Strings are used verbatim, without quotes or escapes."""
    name, _, value = word.partition('=')
    if name == PRESET:
        if not element.load_preset(value):
            raise ValueError(f"there is no preset '{value}': choose one of {', '.join(element.get_preset_names())}")
        return
    spec = element.find_property(name)
    if not spec:
        raise ValueError(f"cudaconvolve has no property '{name}', and there is no file '{word}'")
    if spec.owner_type == Gst.Object.__gtype__:
        raise ValueError(f'{word}: {name} is not a setting of the filter')
    if not spec.flags & GObject.ParamFlags.WRITABLE:
        raise ValueError(f'{word}: {name} is read-only')
    if spec.value_type == GObject.TYPE_STRING:
        element.set_property(name, value)
        if element.get_property(name) != value:
            raise ValueError(reason_of(element) or f'{word} cannot be used')
        return
    if not is_allowed(spec, value):
        raise ValueError(f'{word}: {name} must be {allowed(element, spec)}')
    notified: list = []
    handler = element.connect(f'notify::{name}', lambda *_: notified.append(True))
    Gst.util_set_object_arg(element, name, value)
    element.disconnect(handler)
    if not notified:
        raise ValueError(f'{word}: {name} must be {allowed(element, spec)}')


def apply_settings(element: Gst.Element, settings: list[str]) -> None:
    for word in settings:
        apply_setting(element, word)


def plugin_of(element: Gst.Element) -> Json:
    plugin = element.get_factory().get_plugin()
    return {'version': plugin.get_version(), 'sha256': hash_of_file(plugin.get_filename())}


def state_of(element: Gst.Element) -> Json:
    """Returns hashes of everything besides the plugin that the output depends on: the values of all properties,
    including those that a preset set, and the contents of the files that they name."""
    values, files = {}, {}
    for spec in element.list_properties():
        if spec.owner_type == element.__gtype__ and spec.flags & GObject.ParamFlags.WRITABLE:
            value = element.get_property(spec.name)
            values[spec.name] = int(value) if is_enum(spec) else str(value)
            if spec.name.endswith(FILE) and value:
                files[value] = hash_of_file(value)
    return {'values': hash_of_text(str(sorted(values.items()))), 'files': files}


def check_state(element: Gst.Element, state: Json) -> None:
    """Raises ValueError if the element differs from that of library.py: a file or a preset has changed, or is different
    on this machine."""
    found = state_of(element)
    for path in found['files']:
        if found['files'][path] != state['files'].get(path):
            raise ValueError(f"'{path}' has changed since library.py was called, or is another file on {os.uname().nodename}")
    if found != state:
        raise ValueError(f'a preset has changed since library.py was called, or is different on {os.uname().nodename}')


def context_frames(element: Gst.Element) -> int:
    """Returns an upper bound of the frames that the filter reads before a frame, and of those after it."""
    kernel = element.get_property('kernel') or []
    is_volume = bool(len(kernel)) and str(kernel).replace(' ', '').startswith('<<<')
    return max(element.get_property('temporal-radius'), len(element.get_property('kernel-t') or []),
               len(kernel) if is_volume else 0, 31 if element.get_property('kernel-location') else 0)
