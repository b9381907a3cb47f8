# SPDX-License-Identifier: LGPL-2.1-or-later
"""What to serve and to whom: from sources, environment and a file of cameras. Passwords are never in a message."""
import ipaddress
import os
import re
import stat
import urllib.parse
from dataclasses import dataclass, field
from pathlib import Path

from gi.repository import GLib

SERVER = 'server'  # name of the group that has the clients' user and password
HIDING = 'fill', 'mosaic', 'gaussian', 'box', 'disk'  # filters that hide
KEYS = {'source', 'user', 'password', 'zones', 'detector'}
NAME = re.compile(r'[A-Za-z0-9_-]{1,40}')


class ConfigError(Exception):
    pass


@dataclass
class Camera:
    name: str
    source: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    zones: str | None = None
    detector: str | None = None

    @property
    def kind(self):
        if self.source.startswith(('rtsp://', 'rtsps://', 'rtspt://', 'rtspu://')):
            return 'rtsp'
        return 'device' if self.source.startswith('/dev/') else 'file'


@dataclass
class Config:
    cameras: list
    settings: dict  # properties of cudaconvolve as texts
    listen: str = '127.0.0.1'
    port: int = 8554
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    record: str | None = None
    minutes: int = 10
    bitrate: int = 0  # kbit/s; 0: from the frame size
    status: int = 10  # seconds between lines; 0: none
    missing: str = 'copy'


def split_credentials(uri):
    """The URI without user and password, and both of them or None."""
    try:
        parts = urllib.parse.urlsplit(uri)
    except ValueError:
        raise ConfigError('a source is no valid URI: it must be rtsp://HOST/PATH') from None  # Python's message has it
    if '@' not in parts.netloc:
        return uri, None, None
    credentials, host = parts.netloc.rsplit('@', 1)
    user, _, password = credentials.partition(':')
    return parts._replace(netloc=host).geturl(), urllib.parse.unquote(user), urllib.parse.unquote(password)


def has_credentials(uri):
    """Whether there may be a user or a password in it, even one that does not end where URIs say: in rtsp://u:a/b@HOST
    the password would be taken for a part of the path."""
    return '@' in uri


def check_camera(camera):
    if not NAME.fullmatch(camera.name) or camera.name == SERVER:
        raise ConfigError(f'camera [{camera.name}]: a name has 1 to 40 letters, digits, - and _, and is not {SERVER}')
    if camera.kind != 'rtsp' and '://' in camera.source:
        raise ConfigError(f'camera [{camera.name}]: the source must be rtsp://HOST/PATH, /dev/videoN or a file')
    if camera.kind == 'rtsp' and has_credentials(camera.source):
        raise ConfigError(f'camera [{camera.name}]: the source has an @ after the host. In a password write / ? # as %2F '
                          '%3F %23, or use the keys user and password; in a path write @ as %40')
    if camera.kind == 'file' and not Path(camera.source).is_file():
        name = '' if has_credentials(camera.source) else f' {camera.source!r}'
        raise ConfigError(f'camera [{camera.name}]: there is no file{name}: the source must be rtsp://HOST/PATH, '
                          '/dev/videoN or a file')
    if not camera.zones and not camera.detector:
        raise ConfigError(f'camera [{camera.name}]: nothing would be hidden: name a zones file with ZONES, or a '
                          'detector with DETECTOR')
    return camera


def cameras_of_sources(sources, environment):
    """A camera for each source on the command line. ZONES has a zones file for all of them, or one for each."""
    zones = [name for name in environment.get('ZONES', '').split(':') if name]
    if len(zones) > 1 and len(zones) != len(sources):
        raise ConfigError(f'ZONES has {len(zones)} files for {len(sources)} sources: name one for all, or one for each')
    for number, source in enumerate(sources):
        if has_credentials(source) and not Path(source).is_file():
            raise ConfigError('every user of this machine can read a password in an argument: remove it there, change '
                              'it, and write it into a file that only you can read; see CAMERAS')
        yield Camera(f'camera{number + 1}', source, environment.get('CAMERA_USER') or None,
                     environment.get('CAMERA_PASSWORD') or None,
                     zones[number % len(zones)] if zones else None, environment.get('DETECTOR') or None)


def read_group(file, group, allowed, where):
    """The keys and values of a group. GLib's own messages have the value, which may be a password."""
    unknown = set(file.get_keys(group)[0]) - allowed
    if unknown:
        raise ConfigError(f'{where}: [{group}] has no key "{min(unknown)}": the keys are {", ".join(sorted(allowed))}')
    values = {}
    for key in file.get_keys(group)[0]:
        try:
            values[key] = file.get_string(group, key)
        except (GLib.Error, UnicodeDecodeError):
            raise ConfigError(f'{where}: [{group}]: the value of {key} cannot be read: it must be UTF-8, with a backslash '
                              'written twice') from None
    return values


def explain(name, error):
    """Why a key file cannot be read. GLib's own message has the line, which may have a password."""
    if not isinstance(error, GLib.Error):
        return error.strerror
    if error.domain != 'g-key-file-error-quark':
        return error.message
    wrong = [number for number, line in enumerate(Path(name).read_bytes().splitlines(), 1)
             if line.strip() and not re.fullmatch(rb'#.*|\[[^\[\]]+\]\s*|[^=\[\]]+(\[.*\])?=.*', line)]
    return f'line {wrong[0]} is neither [NAME] nor KEY=VALUE nor a # comment' if wrong else 'it must begin with [NAME]'


def cameras_of_file(name, config):
    """The cameras of a key file, a group per camera. A file with a password must be readable by its owner only."""
    file = GLib.KeyFile()
    try:
        file.load_from_file(name, GLib.KeyFileFlags.NONE)
        mode = os.stat(name).st_mode
    except (GLib.Error, OSError) as error:
        raise ConfigError(f'CAMERAS={name}: {explain(name, error)}') from None
    folder = Path(name).parent
    for group in file.get_groups()[0]:
        values = read_group(file, group, {'user', 'password'} if group == SERVER else KEYS, f'CAMERAS={name}')
        source, user, password = split_credentials(values.get('source', ''))
        values |= {key: value for key, value in [('user', user), ('password', password)] if value is not None}
        if 'password' in values and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(f'CAMERAS={name}: others can read its passwords: chmod 600 {name}')
        if group == SERVER:
            config.user, config.password = values.get('user'), values.get('password')
            continue
        if not source:
            raise ConfigError(f'CAMERAS={name}: [{group}] has no source')
        values['source'] = source if '://' in source else str(folder / source)
        if values.get('zones'):
            values['zones'] = str(folder / values['zones'])
        yield Camera(group, **values)


def number(environment, name, default, least, most):
    text = environment.get(name) or str(default)
    if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
        raise ConfigError(f'{name} must be a number from {least} to {most}, not {text!r}')
    return int(text)


def is_loopback(address):
    try:
        return address == 'localhost' or ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def read(sources, settings, environment):
    config = Config([], settings, listen=environment.get('LISTEN') or '127.0.0.1',
                    port=number(environment, 'PORT', 8554, 1, 65535),
                    minutes=number(environment, 'MINUTES', 10, 1, 1440),
                    bitrate=number(environment, 'BITRATE', 0, 0, 1000000),
                    status=number(environment, 'STATUS', 10, 0, 86400),
                    user=environment.get('SERVE_USER') or None, password=environment.get('SERVE_PASSWORD') or None,
                    record=environment.get('RECORD') or None, missing=environment.get('MISSING') or 'copy')
    config.cameras = list(cameras_of_sources(sources, environment))
    if environment.get('CAMERAS'):
        config.cameras += cameras_of_file(environment['CAMERAS'], config)
    if not config.cameras:
        raise ConfigError('no camera: name a SOURCE, or a file with CAMERAS')
    for camera in config.cameras:
        check_camera(camera)
    if settings.get('filter', 'gaussian') not in HIDING:
        raise ConfigError(f'FILTER={settings["filter"]} hides nothing: choose {", ".join(HIDING)}')
    if settings.get('radius') == '0':
        raise ConfigError('RADIUS=0 hides nothing: choose 1 or more')
    if bool(config.user) != bool(config.password):
        raise ConfigError('SERVE_USER and SERVE_PASSWORD: set both or none')
    if not is_loopback(config.listen) and not config.password:
        raise ConfigError(f'LISTEN={config.listen}: everyone who reaches this address could watch: set SERVE_USER and '
                          'SERVE_PASSWORD, or leave LISTEN out to serve this machine only')
    if config.record and not (Path(config.record).is_dir() and os.access(config.record, os.W_OK)):
        raise ConfigError(f'RECORD={config.record}: this is no folder that can be written to')
    return config
