# SPDX-License-Identifier: LGPL-2.1-or-later
"""A camera's way through the process: source and filter, a grey picture with a reason, encoder, recording.

Every picture that reaches the encoder comes from a filter with valid zones, or is grey: Camera.take_frame and
Camera.take_grey are the only two ways, and one lock decides between them.

Source, grey picture, encoder and recording are pipelines of their own, so that an error in one ends only that one. All
have the same clock and base time, so a time stamp means the same in each.
"""
import dataclasses
import datetime
import functools
import os
import re
import threading
import time

from gi.repository import GLib, Gst, GstVideo

STALL_S = 2  # without a frame, after which the stream turns grey
RESTART_S = 5  # without a frame, after which the source is restarted
CONNECT_S = 15  # until the first frame of a source
FIRST_GREY_S = 3  # a camera that connects faster begins with its own frame size
STEADY_S = 10  # of frames, after which a camera counts as well again
LONGEST_WAIT_S = 30  # between two attempts
GREY_CAPS = 'video/x-raw,format=I420,width=1280,height=720,framerate=25/1'  # until those of the camera are known
GREY_RATE = 5
COMPLETE_S = 5  # until a recording is complete
LONGEST_REASON = 160  # characters on the grey picture
CONNECTING = 'connecting to the camera'
UNREAD = 'the zones cannot be read: '
NOT_VALID = 'the file is not valid'  # until a message has the details
RECORDING = '%Y%m%d-%H%M%S'

FUTURE_S = 1  # by which a frame's time may be ahead of the clock
RETRY_OUTPUT_S = 2  # between two attempts to encode
MOST_SAID = 100  # texts that are remembered, so that they are said once

WHOLE = (Gst.BufferCopyFlags.FLAGS | Gst.BufferCopyFlags.TIMESTAMPS | Gst.BufferCopyFlags.META
         | Gst.BufferCopyFlags.MEMORY)

CLOCK = None
BASE = 0
CONTEXTS = {}  # by type: what the first pipeline opened, such as the GPU, for all others


def start_clock():
    global CLOCK, BASE
    CLOCK = Gst.SystemClock.obtain()
    BASE = CLOCK.get_time()


def running_time():
    return CLOCK.get_time() - BASE


def place_in_time(pipeline):
    """A pipeline whose running time is that of all others, whenever it starts."""
    pipeline.use_clock(CLOCK)
    pipeline.set_start_time(Gst.CLOCK_TIME_NONE)
    pipeline.set_base_time(BASE)


def info_of(caps):
    """Not by the structure of the caps, which GStreamer 1.26 for Python wraps and earlier ones do not."""
    return GstVideo.VideoInfo.new_from_caps(caps)


def in_system_memory(caps):
    """The caps of the same frames in system memory."""
    return Gst.Caps.from_string(re.sub(r'\(memory:[^)]*\)', '', caps.to_string()))


def rate_of(info):
    return info.fps_n / info.fps_d if info.fps_n > 0 else 25


def error_of(message):
    """The text of a message. GStreamer's debug text, which can have addresses, is left out."""
    parse = {Gst.MessageType.ERROR: message.parse_error, Gst.MessageType.WARNING: message.parse_warning,
             Gst.MessageType.INFO: message.parse_info}[message.type]
    return parse()[0].message


def keep_context(_, message):
    """Called in any thread, while the element that opened the GPU waits."""
    context = message.parse_have_context()
    CONTEXTS.setdefault(context.get_context_type(), context)


class Part:
    """A pipeline, whose messages arrive in the main loop."""

    def __init__(self, pipeline, on_message):
        self.pipeline = pipeline
        self.on_message = on_message
        self.handlers = []
        place_in_time(pipeline)
        self.bus = pipeline.get_bus()
        self.bus.add_signal_watch()
        self.bus.enable_sync_message_emission()
        self.listen(self.bus, 'sync-message::have-context', keep_context)
        for context in CONTEXTS.values():
            pipeline.set_context(context)
        self.listen(self.bus, 'message', lambda _, message: self.on_message(self, message))

    def listen(self, emitter, signal, call, *arguments):
        self.handlers.append((emitter, emitter.connect(signal, call, *arguments)))

    def play(self):
        if self.pipeline.set_state(Gst.State.PLAYING) == Gst.StateChangeReturn.FAILURE:
            # Some elements fail without a message. If there is one, it comes first, and this one is not read.
            self.bus.post(Gst.Message.new_error(self.pipeline, GLib.Error.new_literal(
                Gst.core_error_quark(), 'an element does not start', Gst.CoreError.STATE_CHANGE), ''))

    def stop(self):
        """Stops in a thread of its own, because a network source can take seconds. Returns the thread."""
        self.bus.remove_signal_watch()
        self.bus.disable_sync_message_emission()
        thread = threading.Thread(target=self.finish, daemon=True)
        thread.start()
        return thread

    def finish(self):
        """Python cannot free a part that its own elements' handlers refer to."""
        self.pipeline.set_state(Gst.State.NULL)
        for emitter, handler in self.handlers:
            emitter.disconnect(handler)
        self.__dict__.clear()


# ---- source and filter


def missing_elements(config):
    """Names of elements that are needed and not there."""
    needed = {'cudaconvolve', 'decodebin', 'h264parse', 'rtph264pay', 'textoverlay'}
    needed |= {'splitmuxsink', 'mp4mux'} if config.record else set()
    needed |= {'rtspsrc'} if any(camera.kind == 'rtsp' for camera in config.cameras) else set()
    return sorted(name for name in needed if not Gst.ElementFactory.find(name))


def prefer_decoders_of_gpu():
    """GStreamer chooses among decoders of the same rank by name, and that on the CPU comes first. Rank 0 is the user's wish."""
    for name in 'nvh264dec', 'nvh265dec', 'nvav1dec', 'nvvp8dec', 'nvvp9dec', 'nvmpeg4videodec', 'nvjpegdec':
        decoder = Gst.ElementFactory.find(name)
        if decoder and decoder.get_rank() > Gst.Rank.NONE:
            decoder.set_rank(Gst.Rank.PRIMARY + 1)


def detector_error(description):
    """Why the description of a detector's elements cannot be used, or None."""
    try:
        Gst.parse_bin_from_description(description, True)
    except GLib.Error as error:
        return error.message
    return None


def set_properties(element, properties):
    for name, text in properties.items():
        Gst.util_set_object_arg(element, name, text)


class Source(Part):
    """Decodes, filters, and hands each frame to the camera."""

    def __init__(self, camera, config, on_message):
        self.camera, self.config = camera, config
        self.started = time.monotonic()
        super().__init__(Gst.Pipeline(), on_message)
        self.sink = self.make_filters()
        self.decoder = Gst.ElementFactory.make('decodebin')
        self.pipeline.add(self.decoder)
        self.listen(self.decoder, 'pad-added', self.link_decoded)
        self.listen(self.decoder, 'no-more-pads', self.check_video)
        self.make_head()

    def make_filters(self):
        """detector and filter, then zones; each frame gets its running time as time stamp."""
        camera = self.camera.config
        found = (f'videoconvert ! {camera.detector} ! cudaconvolve name=found ! videoconvert ! '
                 if camera.detector else '')
        zones = 'cudaconvolve name=zones ! ' if camera.zones else ''
        # If the filter is too slow, a camera loses frames instead of falling behind. A file waits.
        drops = 'no' if camera.kind == 'file' else 'downstream'
        filters = Gst.parse_bin_from_description(
            f'queue leaky={drops} max-size-buffers=2 max-size-bytes=0 max-size-time=0 ! {found}{zones}identity single-segment=true '
            f'! appsink name=sink emit-signals=true max-buffers=2 enable-last-sample=false '
            f'sync={str(camera.kind == "file").lower()}', True)
        filters.get_by_name('sink').set_property('caps', Gst.Caps.from_string(self.camera.encoders[0].frames))
        self.pipeline.add(filters)
        self.bin = filters
        self.filters = [element for name in ('found', 'zones') if (element := filters.get_by_name(name))]
        self.zones = filters.get_by_name('zones')
        for element in self.filters:
            set_properties(element, self.config.settings)
        if camera.detector:
            set_properties(self.filters[0], {'roi-source': 'meta', 'roi-smooth': '10', 'roi-expand': '0.25',
                                             'roi-missing': self.config.missing})
        if self.zones:
            set_properties(self.zones, {'roi-source': 'property'})
            self.zones.set_property('roi-location', camera.zones)
        self.listen(filters.get_by_name('sink'), 'new-sample', self.take)
        return filters.get_static_pad('sink')

    def make_head(self):
        camera = self.camera.config
        if camera.kind == 'rtsp':
            head = Gst.ElementFactory.make('rtspsrc')
            set_properties(head, {'protocols': 'tcp', 'latency': '200', 'tcp-timeout': '5000000', 'timeout': '5000000'})
            head.set_property('location', camera.source)
            for name, value in [('user-id', camera.user), ('user-pw', camera.password)]:
                if value is not None:
                    head.set_property(name, value)
            self.listen(head, 'select-stream',
                        lambda _, number, caps: 'media=(string)video' in caps.to_string())
            self.listen(head, 'pad-added', self.link_stream)
            self.pipeline.add(head)
            return
        if camera.kind == 'device' and os.environ.get('CAMERA'):
            head = Gst.parse_bin_from_description(os.environ['CAMERA'], True)
            head.set_property('async-handling', True)  # see play_parse_source() of play.c
        else:
            head = Gst.ElementFactory.make('v4l2src' if camera.kind == 'device' else 'filesrc')
            head.set_property('device' if camera.kind == 'device' else 'location', camera.source)
        self.pipeline.add(head)
        head.link(self.decoder)

    def link_stream(self, _, pad):
        pad.link(self.decoder.get_static_pad('sink'))

    def link_decoded(self, _, pad):
        caps = pad.get_current_caps() or pad.query_caps()
        if not caps.to_string().startswith('video/x-raw') or self.sink.is_linked():
            return
        if self.camera.config.kind == 'file':
            pad.set_offset(running_time())  # a file begins now, not when the process did
        pad.link(self.sink)

    def check_video(self, _):
        if not self.sink.is_linked():
            GLib.idle_add(self.camera.fail, self, 'the source has no video')

    def take(self, sink):
        sample = sink.emit('pull-sample')
        if sample:  # none while it stops
            self.camera.take_frame(self, sample)
        return Gst.FlowReturn.OK

    def hides_with(self, element):
        """Whether it is a filter or of the detector."""
        return element.has_as_ancestor(self.bin)

    def zones_error(self):
        """Why the zones file's last version is not in force, or an empty text."""
        if self.zones and not self.zones.get_property('roi-location'):
            return NOT_VALID
        return self.zones.get_property('stats').get_value('zones-error') if self.zones else ''


class Grey(Part):
    """A grey picture with a text, with caps of the camera's frames, so that the encoder goes on."""

    def __init__(self, caps, text, take, on_message):
        self.caps = caps
        info = info_of(caps)
        super().__init__(Gst.parse_launch(
            f'videotestsrc is-live=true pattern=solid-color foreground-color=0xff606060 name=source '
            f'! video/x-raw,format=I420,width={info.width},height={info.height},framerate={GREY_RATE}/1 '
            f'! textoverlay name=text valignment=center halignment=center font-desc="Sans 18" '
            f'! videoconvert ! video/x-raw,format={info.finfo.name} '
            f'! appsink name=sink emit-signals=true max-buffers=2 enable-last-sample=false'), on_message)
        self.set_text(text)
        self.pipeline.get_by_name('source').set_property('timestamp-offset', running_time())
        self.listen(self.pipeline.get_by_name('sink'), 'new-sample', lambda sink: take(caps, sink.emit('pull-sample')))

    def set_text(self, text):
        self.pipeline.get_by_name('text').set_property('text', GLib.markup_escape_text(text[:LONGEST_REASON]))


# ---- encoder and recording


@dataclasses.dataclass(frozen=True)
class Encoder:
    """An H.264 encoder that holds back no frame."""
    name: str
    settings: dict
    frames: str  # caps of frames that the filter may hand to it; a filter downloads frames from a GPU if they say so
    convert: str  # element before it

    def make(self):
        element = Gst.ElementFactory.make(self.name, 'encoder')
        if element:
            set_properties(element, {key: text for key, text in self.settings.items() if element.find_property(key)})
        return element

    def opens(self):
        element = self.make()
        if not element:
            return False
        works = element.set_state(Gst.State.READY) != Gst.StateChangeReturn.FAILURE
        element.set_state(Gst.State.NULL)
        return works


ENCODERS = [
    Encoder('nvh264enc', {'zerolatency': 'true', 'bframes': '0', 'gop-size': '60', 'rc-mode': 'cbr'},
            'video/x-raw(memory:CUDAMemory); video/x-raw', 'cudaupload'),
    Encoder('x264enc', {'tune': 'zerolatency', 'speed-preset': 'superfast', 'key-int-max': '60', 'bframes': '0'},
            'video/x-raw', 'videoconvert')]


@functools.cache
def encoders():
    """The encoders that open here, the best first. Some GPUs have a decoder and no encoder; others encode only a few
    streams at a time."""
    found = [encoder for encoder in ENCODERS if encoder.opens()]
    if not found:
        raise RuntimeError('there is no H.264 encoder: install gstreamer1.0-plugins-ugly')
    return found


class Output(Part):
    """Encodes frames, and hands the encoded ones to all that want them."""

    def __init__(self, encoder, take, on_message, bitrate):
        self.take = take
        self.has_encoded = False  # a frame
        self.encoder = encoder.make()
        self.bitrate, self.caps = bitrate, None
        pipeline = Gst.Pipeline()
        # The oldest frames are dropped if the encoder is too slow, so that the delay does not grow.
        self.source = Gst.ElementFactory.make('appsrc')
        set_properties(self.source, {'is-live': 'true', 'format': 'time', 'max-buffers': '3', 'max-bytes': '0',
                                     'max-time': '0', 'leaky-type': 'downstream'})
        convert = Gst.ElementFactory.make(encoder.convert)
        parse = Gst.ElementFactory.make('h264parse')
        parse.set_property('config-interval', -1)
        sink = Gst.ElementFactory.make('appsink')
        set_properties(sink, {'emit-signals': 'true', 'sync': 'false', 'max-buffers': '3',
                              'enable-last-sample': 'false'})
        sink.set_property('caps', Gst.Caps.from_string('video/x-h264,stream-format=byte-stream,alignment=au'))
        chain = [self.source, convert, self.encoder, parse, sink]
        for element in chain:
            pipeline.add(element)
        for first, second in zip(chain, chain[1:]):
            first.link(second)
        super().__init__(pipeline, on_message)
        self.listen(sink, 'new-sample', self.take_sample)

    def take_sample(self, sink):
        self.has_encoded = True
        return self.take(sink)

    def push(self, sample):
        caps = sample.get_caps()
        if self.caps is None or not caps.is_equal(self.caps):
            self.caps = caps
            info = info_of(caps)
            self.encoder.set_property('bitrate', self.bitrate or
                                      max(500, round(info.width * info.height * min(rate_of(info), 60) * 0.07 / 1000)))
        self.source.emit('push-sample', sample)

    def ask_for_key_frame(self):
        self.encoder.get_static_pad('src').send_event(
            GstVideo.video_event_new_upstream_force_key_unit(Gst.CLOCK_TIME_NONE, True, 0))


class Taker:
    """An appsrc that gets encoded frames from the next key frame on."""

    def __init__(self, source):
        self.source = source
        self.has_begun = False

    def push(self, sample):
        if not self.has_begun and sample.get_buffer().has_flags(Gst.BufferFlags.DELTA_UNIT):
            return
        self.has_begun = True
        self.source.emit('push-sample', sample)


TAKER = ('appsrc name=taker is-live=true format=time handle-segment-change=true max-buffers=0 max-bytes=0 '
         'max-time=5000000000 leaky-type=downstream')


class Recorder(Part):
    """Files of N minutes. Each begins with a key frame, and is complete when the next one begins. It ends when the frames
    get another size or format, which a file cannot have."""

    def __init__(self, name, folder, minutes, on_message, on_change):
        super().__init__(Gst.parse_launch(
            f'{TAKER} ! h264parse ! splitmuxsink name=files muxer-factory=mp4mux async-finalize=false '
            f'max-size-time={minutes * 60 * Gst.SECOND}'), on_message)
        self.name, self.folder, self.on_change = name, folder, on_change
        self.caps = None
        self.taker = Taker(self.pipeline.get_by_name('taker'))
        self.listen(self.pipeline.get_by_name('files'), 'format-location', self.new_file)

    def new_file(self, _, number):
        """A name that no file has: the clock can be set back, or two recordings begin in one second."""
        while os.path.lexists(path := os.path.join(
                self.folder, f'{self.name}-{datetime.datetime.now().strftime(RECORDING)}-{number:04}.mp4')):
            number += 1
        return path

    def push(self, sample):
        caps = sample.get_caps()
        self.caps = self.caps or caps
        if caps.is_equal(self.caps):
            self.taker.push(sample)
        elif self.on_change:
            GLib.idle_add(self.on_change, self)
            self.on_change = None

    def finish(self):
        """Completes the last file."""
        self.taker.source.emit('end-of-stream')
        if self.taker.has_begun:
            self.bus.timed_pop_filtered(COMPLETE_S * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
        super().finish()


# ---- all of it


def in_time(sample):
    """The sample, with the time of now if it has none or one of the future, after which all others would be dropped."""
    buffer, now = sample.get_buffer(), running_time()
    if buffer.pts != Gst.CLOCK_TIME_NONE and buffer.pts <= now + FUTURE_S * Gst.SECOND:
        return sample
    buffer = buffer.copy_region(WHOLE, 0, buffer.get_size())  # with the same memory
    buffer.pts = now
    return Gst.Sample.new(buffer, sample.get_caps(), sample.get_segment(), None)


class Camera:
    """Keeps a source running, and its pictures coming. Methods without a word on threads are for the main loop."""

    def __init__(self, config, common, say):
        self.config, self.common, self.say = config, common, say
        self.lock = threading.Lock()
        self.source = self.grey = self.output = self.recorder = None
        self.reason = CONNECTING  # shown on grey; None: pictures of the camera are shown
        self.blocked = False  # the zones are not valid: no picture of the camera is shown
        self.started = time.monotonic()
        self.retry_at, self.wait = 0, 1
        self.record_at = self.output_at = 0
        self.encoders = encoders()  # the first one is used
        self.caps = None  # of the camera's last frame
        self.first_frame = self.last_frame = 0
        self.last_pts = -1
        self.takers = []  # replaced, not changed
        self.frames = self.latency = 0  # since the last line
        self.said, self.last_said = set(), None
        self.stopping = []

    # -- pictures; any thread

    def take_frame(self, source, sample):
        with self.lock:
            if source is not self.source:
                return
            self.last_frame = time.monotonic()
            self.first_frame = self.first_frame or self.last_frame
            if self.blocked:
                return
            self.caps = sample.get_caps()
            if self.reason:
                self.reason = None
                GLib.idle_add(self.show_state)
            self.push(in_time(sample))

    def take_grey(self, caps, sample):
        with self.lock:
            if self.reason and sample:
                self.push(Gst.Sample.new(sample.get_buffer(), caps, sample.get_segment(), None))
        return Gst.FlowReturn.OK

    def push(self, sample):
        """Drops a frame that is not later than the last one, which was of the other kind."""
        pts = sample.get_buffer().pts
        if self.output and pts > self.last_pts:
            self.last_pts = pts
            self.output.push(sample)

    def take_encoded(self, sink):
        sample = sink.emit('pull-sample')
        if not sample:  # while it stops
            return Gst.FlowReturn.OK
        time_of_frame = sample.get_segment().to_running_time(Gst.Format.TIME, sample.get_buffer().pts)
        # A camera's time stamps are estimates, which are a few milliseconds in the future at times.
        self.latency += max(running_time() - time_of_frame, 0) / Gst.SECOND
        self.frames += 1
        for taker in self.takers:
            taker.push(sample)
        return Gst.FlowReturn.OK

    def add_taker(self, source):
        taker = Taker(source)
        self.register(taker)
        return taker

    def register(self, taker):
        with self.lock:
            self.takers = [*self.takers, taker]
        self.ask_for_key_frame()

    def ask_for_key_frame(self):
        with self.lock:
            output = self.output
        if output:
            output.ask_for_key_frame()

    def remove_taker(self, taker):
        with self.lock:
            self.takers = [other for other in self.takers if other is not taker]

    # -- state

    def turn_grey(self, reason):
        with self.lock:
            if self.reason == reason:
                return
            self.reason = reason
        self.show_state()

    def show_state(self):
        """Starts or stops the grey picture, and says what has changed."""
        reason = self.reason
        self.say(f'{self.config.name}: {"live" if reason is None else "grey, " + reason}')
        if self.grey and reason:
            self.grey.set_text(self.text_of(reason))
        elif self.grey:
            self.stop_part(self.grey)
            self.grey = None
        return GLib.SOURCE_REMOVE

    def text_of(self, reason):
        return f'{self.config.name}\n{reason}'

    def stop_part(self, part):
        self.stopping = [thread for thread in self.stopping if thread.is_alive()] + [part.stop()]

    def start_source(self):
        source = Source(self, self.common, self.take_message)
        with self.lock:
            self.source = source
            self.first_frame = 0
        self.block(source.zones_error())
        source.play()

    def block(self, error):
        """Shows no picture of the camera as long as its zones are not valid."""
        with self.lock:
            was_blocked, self.blocked = self.blocked, bool(error)
        if error == NOT_VALID and (self.reason or '').startswith(UNREAD):
            return
        if error:
            self.turn_grey(UNREAD + error)
        elif was_blocked:
            self.turn_grey('the zones were read again')

    def fail(self, source, reason):
        """The source gives no more pictures: another one is tried after a while."""
        if source is not self.source:
            return GLib.SOURCE_REMOVE
        steady = self.first_frame and self.last_frame - self.first_frame > STEADY_S
        with self.lock:
            self.source = None
        self.stop_part(source)
        # Zones are read before the camera is asked for anything, so they can be tried again at once.
        self.wait = 1 if steady or reason.startswith(UNREAD) else min(2 * self.wait, LONGEST_WAIT_S)
        self.retry_at = time.monotonic() + self.wait
        self.turn_grey(reason)
        return GLib.SOURCE_REMOVE

    def take_message(self, source, message):
        if source is not self.source:
            return
        if message.type == Gst.MessageType.ERROR:
            reason = self.explain(source, message)
            if source.hides_with(message.src) and not reason.startswith(UNREAD):
                CONTEXTS.clear()  # the GPU may have been lost; the next pipeline opens it again
            self.fail(source, reason)
        elif message.type == Gst.MessageType.EOS:
            if self.config.kind == 'file' and self.last_frame > self.first_frame > 0:  # a video, not one picture
                self.start_again(source)
            else:
                self.fail(source, 'the source has ended')
        elif message.type in (Gst.MessageType.WARNING, Gst.MessageType.INFO) and source.hides_with(message.src):
            self.say_once(error_of(message))
            self.block(source.zones_error())

    def say_once(self, text):
        """Says what an element says, except what it said already when the source was made before."""
        if text not in self.said or ('roi-location' in text and text != self.last_said):
            self.say(f'{self.config.name}: {text}')
        if len(self.said) >= MOST_SAID:  # texts with figures in them
            self.said.clear()
        self.said.add(text)
        self.last_said = text

    @staticmethod
    def explain(source, message):
        return (UNREAD if source.zones_error() and message.src is source.zones else '') + error_of(message)

    def start_again(self, source):
        """A file begins again, without a grey picture between."""
        with self.lock:
            self.source = None
        self.stop_part(source)
        self.start_source()

    def tick(self):
        """Looks after everything, a few times per second."""
        now = time.monotonic()
        if not self.output and now >= self.output_at and (self.caps or now - self.started > FIRST_GREY_S):
            self.start_output()
        if not self.source:
            if now >= self.retry_at:
                self.start_source()
        elif (error := self.source.zones_error()) or self.blocked:
            self.block(error)
        elif not self.first_frame:
            if now - self.source.started > CONNECT_S:
                self.fail(self.source, f'no picture in {CONNECT_S} s')
        elif now - self.last_frame > RESTART_S:
            self.fail(self.source, f'no picture for {RESTART_S} s')
        elif now - self.last_frame > STALL_S and not self.blocked:
            self.turn_grey('no picture from the camera')
        self.check_grey()
        if self.common.record and not self.recorder and self.output and now >= self.record_at:
            self.recorder = Recorder(self.config.name, self.common.record, self.common.minutes, self.take_record_message,
                                     self.end_recorder)
            self.recorder.play()
            self.register(self.recorder)

    def check_grey(self):
        reason = self.reason
        if not reason or not self.output:
            return
        caps = in_system_memory(self.caps) if self.caps else Gst.Caps.from_string(GREY_CAPS)
        if self.grey and not self.grey.caps.is_equal(caps):
            self.stop_part(self.grey)
            self.grey = None
        if not self.grey:
            self.grey = Grey(caps, self.text_of(reason), self.take_grey, self.take_output_message)
            self.grey.play()

    def start_output(self):
        output = Output(self.encoders[0], self.take_encoded, self.take_output_message, self.common.bitrate)
        output.play()
        with self.lock:
            self.output = output
        if self.takers:
            output.ask_for_key_frame()

    def take_output_message(self, part, message):
        """An error of the encoder or of the grey picture: the part is made again."""
        if message.type != Gst.MessageType.ERROR:
            return
        if part is self.output and not part.has_encoded and len(self.encoders) > 1:
            self.fall_back(error_of(message))
            return
        self.say_once(error_of(message))
        with self.lock:
            if part is self.output:
                self.output = None
                self.output_at = time.monotonic() + RETRY_OUTPUT_S
            if part is self.grey:
                self.grey = None
        self.stop_part(part)

    def fall_back(self, error):
        """Encodes with the next encoder from now on, because the first one does not start. A GPU may already encode as
        many streams as it can."""
        refused, *self.encoders = self.encoders
        self.say(f'{self.config.name}: {refused.name} does not start, so {self.encoders[0].name} encodes: {error}')
        with self.lock:
            output, self.output = self.output, None
        self.stop_part(output)
        if self.source and self.encoders[0].frames != refused.frames:  # it may hand on frames in memory of the GPU
            self.start_again(self.source)
            if not self.blocked:
                self.turn_grey(CONNECTING)
        self.start_output()

    def take_record_message(self, recorder, message):
        if message.type == Gst.MessageType.ERROR and recorder is self.recorder:
            self.say(f'{self.config.name}: the recording stops, and is tried again in a minute: {error_of(message)}')
            self.end_recorder(recorder)
            self.record_at = time.monotonic() + 60

    def end_recorder(self, recorder):
        """Ends a recording; tick begins another one."""
        if recorder is self.recorder:
            self.remove_taker(recorder)
            self.stop_part(recorder)
            self.recorder = None
        return GLib.SOURCE_REMOVE

    def line(self, seconds):
        """The state in one line, since the last one."""
        frames, latency, reason = self.frames, self.latency, self.reason
        self.frames = self.latency = 0
        clients = len(self.takers) - bool(self.recorder)
        return (f'{self.config.name}: {frames / seconds:.1f} frames/s, latency '
                f'{1000 * latency / max(frames, 1):.0f} ms, {"watched" if clients else "not watched"}, '
                f'{"grey: " + reason if reason else "live"}')

    def end(self):
        """Begins to stop everything; join() waits for it."""
        with self.lock:
            parts = self.source, self.grey, self.output
            self.source = self.grey = self.output = None
        if self.recorder:
            self.end_recorder(self.recorder)
        for part in filter(None, parts):
            self.stop_part(part)

    def join(self):
        for thread in self.stopping:
            thread.join(2 * COMPLETE_S)
