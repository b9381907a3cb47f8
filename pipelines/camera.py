#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Serves cameras by RTSP, with their zones hidden. camera.sh sets up and calls this.

Usage: camera.py [--set=PROPERTY=VALUE]... [SOURCE]...    settings are in the environment; see camera.sh --help
Exit status: 77 without GStreamer's RTSP server for Python.
"""
import os
import signal
import sys
import threading
import time

try:
    import gi
    for library in 'Gst', 'GstVideo', 'GstRtsp', 'GstRtspServer':
        gi.require_version(library, '1.0')
    from gi.repository import GLib, Gst, GstRtsp, GstRtspServer
    import gi.overrides._gi_gst  # noqa: F401
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} has no RTSP server of GStreamer ({error}). Install it (Debian and Ubuntu: apt '
          'install gir1.2-gst-rtsp-server-1.0 python3-gst-1.0) and run this with the Python of the system, '
          '/usr/bin/python3.')
    sys.exit(77)

import camera_config
import camera_stream
import library_filter

TICK_MS = 250
ROLE = 'viewer'


def say(text):
    print(text, flush=True)


class Server:
    """The RTSP server, in a thread of its own, so that a camera that stops slowly delays no client."""

    def __init__(self, config, cameras):
        self.config = config
        self.context = GLib.MainContext()
        self.loop = GLib.MainLoop.new(self.context, False)
        self.server = GstRtspServer.RTSPServer()
        self.server.set_address(config.listen)
        self.server.set_service(str(config.port))
        self.cameras = {camera.config.name: camera for camera in cameras}
        self.server.connect('client-connected', lambda _, client: client.connect('play-request', self.play))
        if config.password:
            self.server.set_auth(self.make_auth())
        for camera in cameras:
            self.server.get_mount_points().add_factory('/' + camera.config.name, self.make_factory(camera))

    def make_auth(self):
        auth, token = GstRtspServer.RTSPAuth(), GstRtspServer.RTSPToken.new()
        auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
        token.set_string('media.factory.role', ROLE)
        auth.add_digest(self.config.user, self.config.password, token)
        return auth

    def make_factory(self, camera):
        """All clients of a camera share one stream. RTP goes through the RTSP connection, so no other port is open."""
        factory = GstRtspServer.RTSPMediaFactory()
        # The parser repeats the headers. The payloader would repeat them before each slice, and split a picture in two.
        factory.set_launch(f'( {camera_stream.TAKER} ! h264parse config-interval=-1 ! rtph264pay name=pay0 pt=96 )')
        factory.set_shared(True)
        factory.set_protocols(GstRtsp.RTSPLowerTrans.TCP)
        factory.set_suspend_mode(GstRtspServer.RTSPSuspendMode.NONE)
        factory.set_latency(0)
        if self.config.password:
            factory.add_role_from_structure(Gst.Structure.new_from_string(
                f'{ROLE}, media.factory.access=(boolean)true, media.factory.construct=(boolean)true'))
        factory.connect('media-configure', self.add_client, camera)
        return factory

    @staticmethod
    def add_client(_, media, camera):
        element = media.get_element()
        camera_stream.place_in_time(element.get_parent())
        taker = camera.add_taker(element.get_by_name('taker'))
        media.connect('unprepared', lambda _: camera.remove_taker(taker))

    def play(self, _, context):
        """A viewer can decode only from a key frame on."""
        camera = self.cameras.get(context.uri.abspath.strip('/').split('/')[0])
        if camera:
            camera.ask_for_key_frame()

    def start(self):
        """False if the port cannot be used."""
        if self.server.attach(self.context) == 0:
            return False
        sessions = GLib.timeout_source_new_seconds(10)
        sessions.set_callback(self.clean)
        sessions.attach(self.context)
        threading.Thread(target=self.loop.run, daemon=True).start()
        return True

    def clean(self, *_):
        self.server.get_session_pool().cleanup()
        return GLib.SOURCE_CONTINUE


class Process:
    def __init__(self, config):
        self.cameras = [camera_stream.Camera(camera, config, say) for camera in config.cameras]
        self.server = Server(config, self.cameras)
        self.config = config
        self.loop = GLib.MainLoop()
        self.told = time.monotonic()

    def run(self):
        if not self.server.start():
            sys.exit(f'camera: port {self.config.port} of {self.config.listen} cannot be used: is another server there? '
                     'Set PORT, or LISTEN to an address of this machine')
        host = self.config.listen if ':' not in self.config.listen else f'[{self.config.listen}]'
        for camera in self.cameras:
            say(f'{camera.config.name}: rtsp://{host}:{self.config.port}/{camera.config.name}')
        for number in signal.SIGTERM, signal.SIGINT:
            GLib.unix_signal_add(GLib.PRIORITY_HIGH, number, self.loop.quit)
        GLib.timeout_add(TICK_MS, self.tick)
        if self.config.status:
            GLib.timeout_add_seconds(self.config.status, self.show_lines)
        self.tick()
        self.loop.run()
        for camera in self.cameras:
            camera.end()
        for camera in self.cameras:
            camera.join()
        say('ended')

    def tick(self):
        for camera in self.cameras:
            camera.tick()
        return GLib.SOURCE_CONTINUE

    def show_lines(self):
        now = time.monotonic()
        for camera in self.cameras:
            say(camera.line(now - self.told))
        self.told = now
        return GLib.SOURCE_CONTINUE


def check_elements(config):
    missing = camera_stream.missing_elements(config)
    if missing:
        sys.exit(f'camera: GStreamer has no {", ".join(missing)}: camera.sh installs what is needed')
    for camera in config.cameras:
        error = camera.detector and camera_stream.detector_error(camera.detector)
        if error:
            sys.exit(f'camera: [{camera.name}]: the detector {camera.detector!r} cannot be used: {error}')
    try:
        camera_stream.encoders()
        library_filter.apply_settings(library_filter.make_filter(), [
            f'{name}={value}' for name, value in (config.settings | {'roi-missing': config.missing}).items()])
    except (RuntimeError, ValueError) as error:
        sys.exit(f'camera: {error}')


def main():
    os.umask(0o077)
    settings = dict(argument.removeprefix('--set=').split('=', 1)
                    for argument in sys.argv[1:] if argument.startswith('--set='))
    sources = [argument for argument in sys.argv[1:] if not argument.startswith('--set=')]
    try:
        config = camera_config.read(sources, settings, os.environ)
    except camera_config.ConfigError as error:
        sys.exit(f'camera: {error}')
    Gst.init(None)
    camera_stream.prefer_decoders_of_gpu()
    check_elements(config)
    camera_stream.start_clock()
    Process(config).run()


if __name__ == '__main__':
    main()
