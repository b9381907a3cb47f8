#!/usr/bin/env python3
# You should see one line of JSON when a step of library.py on one video is complete. A step needs no Dask.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: library_task.py plan FOLDER | segment FOLDER NUMBER | join FOLDER
# FOLDER is a work folder of the video, which library.py creates with job.json. `plan` reads the video once, chooses the
# cuts, and copies sound and subtitles into packet files. `segment` decodes, filters and encodes the frames between two
# cuts. `join` writes the output. A complete plan or segment is checked and not made again. A step that fails prints the
# reason instead of the JSON. Exit status: 2 if the file is not a video, so that a retry is useless; 3 if the segments
# would not have the same frames as an uncut run; 1 for other errors.
import bisect
import contextlib
import hashlib
import html
import json
import os
import shutil
import struct
import sys
import threading
import time
from typing import Any, Callable, IO, Iterator, NoReturn

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import GLib, Gst, GstVideo

from library_files import Json, hash_of_source, read_json, uri_of, whole_file, write_json
from library_filter import apply_settings, check_state

STALL = 180  # seconds without a frame or a packet, after which a step gives up
ENDED = 5  # seconds without one, if no thread of the pipeline runs either
BASE = 1000 * 3600 * Gst.SECOND  # added to all times for the muxer, because the first DTS may be negative
NONE = Gst.CLOCK_TIME_NONE
HEAD = struct.Struct('<qqII')  # before each packet in a file: time, duration or -1, 1 for a key frame, size
MUXERS = {'mp4': 'mp4mux', 'm4v': 'mp4mux', 'mov': 'qtmux', 'mkv': 'matroskamux'}
TIMESCALES = (600, 1000, 2500, 12800, 15360, 16000, 24000, 25000, 30000, 48000, 50000, 60000, 120000, 90000)
# Caps of subtitles, as read and as written.
PANGO, UTF8 = 'text/x-raw, format=(string)pango-markup', 'text/x-raw, format=(string)utf8'
NO_VIDEO = Gst.StreamError.TYPE_NOT_FOUND, Gst.StreamError.WRONG_TYPE
DECODER = 'filesrc name=file ! decodebin caps=video/x-raw(ANY) expose-all-streams=false ! videoconvert'


class NotVideo(Exception):
    """The file has no video that GStreamer can read."""


class NotExact(Exception):
    """The video cannot be cut without changing frames: library.py then filters it uncut."""


# ---- files of packets

class PacketFile:
    """Writes encoded packets into a file, each after a HEAD. Hashes and counts them."""

    def __init__(self, file: IO):
        self.file, self.digest = file, hashlib.sha256()
        self.caps: str | None = None
        self.packets = self.bytes = 0

    def add(self, sample: Gst.Sample, when: int) -> None:
        buffer, caps = sample.get_buffer(), sample.get_caps().to_string()
        if buffer.has_flags(Gst.BufferFlags.HEADER) and 'streamheader=' in caps:
            return  # the caps contain this header
        data = buffer.extract_dup(0, buffer.get_size())
        if caps == PANGO:
            caps, data = UTF8, html.unescape(data.decode()).encode()
        if self.caps not in (None, caps):
            raise ValueError(f'the stream changes from {self.caps} to {caps}')
        self.caps = caps
        data = HEAD.pack(when, -1 if buffer.duration == NONE else buffer.duration, is_key(buffer), len(data)) + data
        self.file.write(data)
        self.digest.update(data)
        self.packets += 1
        self.bytes += len(data)

    def notes(self) -> Json:
        return {'caps': self.caps, 'packets': self.packets, 'bytes': self.bytes, 'sha256': self.digest.hexdigest()}


def packet_notes(path: str, job: Json, thorough: bool = True) -> Json | None:
    """Returns the notes about a packet file, which are next to it in .json. Returns None if the file is incomplete or
    belongs to another job. thorough: also checks the hash."""
    notes = read_json(path + '.json')
    if not notes or notes['job'] != job['id'] or not os.path.exists(path) or os.path.getsize(path) != notes['bytes']:
        return None
    with open(path, 'rb') as file:
        return notes if not thorough or hashlib.file_digest(file, 'sha256').hexdigest() == notes['sha256'] else None


def read_packets(paths: list[str], with_data: bool = True) -> Iterator[tuple[int, int, int, bytes]]:
    for path in paths:
        with open(path, 'rb') as file:
            left = os.fstat(file.fileno()).st_size
            while head := file.read(HEAD.size):
                when, duration, key, size = HEAD.unpack(head.ljust(HEAD.size, b'\0'))
                left -= HEAD.size + size
                if left < 0:  # checked before the read, which would allocate memory for a damaged size
                    raise ValueError(f"'{path}' is damaged: its last packet is not complete")
                data = file.read(size) if with_data else file.seek(size, os.SEEK_CUR) and b''
                yield when, duration, key, data


# ---- pipelines

def is_key(buffer: Gst.Buffer) -> bool:
    return not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)


def time_of(buffer: Gst.Buffer) -> int:
    return buffer.dts if buffer.pts == NONE else buffer.pts


def running_time(segment: Gst.Segment, when: int) -> int:
    sign, result = segment.to_running_time_full(Gst.Format.TIME, when)
    return sign * result


def stream_time(segment: Gst.Segment, when: int) -> int:
    sign, result = segment.to_stream_time_full(Gst.Format.TIME, when)
    return sign * result


class Run:
    """A pipeline that plays to its end. Exceptions in Python callbacks end it too."""

    def __init__(self, description: str, location: str | None = None):
        self.pipeline = Gst.parse_launch(description)
        self.failure: Exception | None = None
        self.moved = 0  # frames or packets so far
        self.warnings: set[str] = set()
        if location:
            self['file'].set_uri(uri_of(location))

    def __getitem__(self, name: str) -> Gst.Element:
        return self.pipeline.get_by_name(name)

    def guard(self, function: Callable, on_failure: Any = None) -> Callable:
        """Returns the function as a callback whose exception ends the run."""
        def call(*arguments):
            self.moved += 1
            try:
                return function(*arguments)
            except Exception as failure:
                self.failure = self.failure or failure
                return on_failure
        return call

    def on_samples(self, sink: Gst.Element, function: Callable[[Gst.Sample], None]) -> None:
        def pull(sink: Gst.Element) -> Gst.FlowReturn:
            function(sink.emit('pull-sample'))
            return Gst.FlowReturn.OK
        sink.set_property('emit-signals', True)
        sink.connect('new-sample', self.guard(pull, Gst.FlowReturn.ERROR))

    def on_frames(self, pad: Gst.Pad, function: Callable[[Gst.Pad, Gst.Buffer, int], bool]) -> None:
        """Calls the function with the pad, each frame and its stream time. Drops the frame if it returns False."""
        def probe(pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
            segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
            goes_on = function(pad, info.get_buffer(), stream_time(segment, info.get_buffer().pts))
            return Gst.PadProbeReturn.OK if goes_on else Gst.PadProbeReturn.DROP
        pad.add_probe(Gst.PadProbeType.BUFFER, self.guard(probe, Gst.PadProbeReturn.DROP))

    def play(self, state: Gst.State = Gst.State.PLAYING, ended: Callable[[], bool] = lambda: False) -> None:
        """Returns at the end of the stream, or when ended() returns True. Raises the error of the pipeline or of a
        callback, or TimeoutError."""
        types = Gst.MessageType.ERROR | Gst.MessageType.EOS | Gst.MessageType.WARNING
        moved, since = self.moved, time.monotonic()
        self.pipeline.set_state(state)
        while not ended():
            message = self.pipeline.get_bus().timed_pop_filtered(Gst.SECOND // 50, types)
            kind = message.type if message else None
            if moved != self.moved:
                moved, since = self.moved, time.monotonic()
            if self.failure:
                raise self.failure
            if kind == Gst.MessageType.ERROR:
                error, debug = message.parse_error()
                if any(error.matches(Gst.StreamError.quark(), code) for code in NO_VIDEO):
                    raise NotVideo('not a video')
                raise RuntimeError(': '.join([message.src.get_name(), error.message, *(debug or '').splitlines()[1:][-1:]]))
            if kind == Gst.MessageType.WARNING and message.src == self['filter']:
                self.warnings.add(message.parse_warning()[0].message)
            if kind == Gst.MessageType.EOS:
                return
            silent = time.monotonic() - since
            if silent > STALL or silent > ENDED and not self.is_running():
                raise TimeoutError(f'no frame came for {silent:.0f} s')

    def is_running(self) -> bool:
        """Returns True if a thread of the pipeline runs. A demuxer that fails at once may end without an error message,
        because parsebin drops messages while it adds an element."""
        try:
            return any(pad.get_task_state() == Gst.TaskState.STARTED
                       for element in self.pipeline.iterate_recurse() for pad in element.pads)
        except Gst.IteratorError:  # elements come and go
            return True

    def stop(self) -> None:
        self.pipeline.set_state(Gst.State.NULL)


def template_for(mux: str, caps: Gst.Caps) -> Gst.PadTemplate | None:
    return next((template for template in Gst.ElementFactory.make(mux).get_pad_template_list()
                 if template.direction == Gst.PadDirection.SINK and template.caps.can_intersect(caps)), None)


# ---- plan

def check_source(job: Json) -> None:
    if hash_of_source(job['source']) != job['content']:
        raise ValueError('the file has changed since library.py was called: call it again')


class Index:
    """The times of the frames in a file, and of its key frames, in stream time."""

    def __init__(self) -> None:
        self.times: set[int] = set()
        self.keys: set[int] = set()
        self.offsets: set[int] = set()  # stream time minus running time; seeks use stream time
        self.is_clear = True  # all packets except headers have times, and all times differ

    def add(self, sample: Gst.Sample) -> None:
        buffer, segment = sample.get_buffer(), sample.get_segment()
        if buffer.pts == NONE:
            self.is_clear &= buffer.has_flags(Gst.BufferFlags.HEADER)
            return
        when = stream_time(segment, buffer.pts)
        self.is_clear &= when not in self.times
        self.offsets.add(when - running_time(segment, buffer.pts))
        self.times.add(when)
        if is_key(buffer):
            self.keys.add(when)

    def segments(self, seconds: float, context: int) -> list[Json]:
        """Returns the joints of each segment with the previous and the next one: the time of the cut, of the first and
        the last frame that are read around it, and of the key frame at which the decoder starts. None: no such segment.
        The decoder starts one key frame earlier than necessary, because after the key frame of an open group some
        decoders produce wrong frames up to the next key frame. Twice the context is read, because some packets have no
        frame of their own: hidden frames, and fields. seconds: least time between cuts; 0: no cuts. context: frames
        that the filter reads before or after a frame."""
        times, keys, margin, joints = sorted(self.times), sorted(self.keys), 2 * context + 2, []
        for key in keys if seconds and self.is_clear and len(self.offsets) == 1 else []:
            if key - (joints[-1]['cut'] if joints else times[0]) >= seconds * Gst.SECOND:
                place = bisect.bisect_left(times, key)
                first = times[max(place - margin, 0)]
                joints.append({'start': keys[max(bisect.bisect(keys, first) - 2, 0)], 'first': first, 'cut': key,
                               'last': times[min(place + margin, len(times)) - 1]})
        return [{'head': head, 'tail': tail} for head, tail in zip([None] + joints, joints + [None])]


def tags_of(pad: Gst.Pad) -> list[str]:
    tags: list[str] = []
    while event := pad.get_sticky_event(Gst.EventType.TAG, len(tags)):
        tags.append(event.parse_tag().to_string())
    return tags


def plan(folder: str, job: Json) -> Json:
    path = os.path.join(folder, 'plan.json')
    old = read_json(path)
    if old and old['job'] == job['id'] and all(packet_notes(os.path.join(folder, name), job) for name in old['streams']):
        return old
    run = Run('filesrc name=file ! parsebin name=parser', job['source'])
    index, streams, left_out, videos = Index(), {}, [], []

    def add_pad(parser: Gst.Element, pad: Gst.Pad) -> None:
        caps = pad.get_current_caps() or pad.query_caps()
        kind = caps.to_string().replace('(', ',').split(',')[0]
        sink = Gst.ElementFactory.make('appsink')
        template = template_for(job['mux'], Gst.Caps(UTF8) if caps.to_string() == PANGO else caps)
        if kind.startswith(('video/', 'image/')) and not videos:
            videos.append(pad)
            run.on_samples(sink, index.add)
        elif kind.startswith(('video/', 'image/')) or not template and not kind.startswith('audio/'):
            left_out.append(kind)
            run.on_samples(sink, lambda sample: None)
        elif not template:
            raise ValueError(f'{kind} cannot be in an output of this type: use --type mkv')
        else:
            name = f'stream-{len(streams)}'
            file = PacketFile(stack.enter_context(whole_file(os.path.join(folder, name))))
            streams[name] = pad, file
            run.on_samples(sink, lambda sample: file.add(sample, running_time(sample.get_segment(),
                                                                              time_of(sample.get_buffer()))))
            if kind.startswith('audio/'):  # in a form that the muxer accepts
                sink.set_property('caps', template.caps)
        # There are no queues: a stream that waits for its first packet would block the others.
        for name in ('sync', 'async'):
            sink.set_property(name, False)
        run.pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad('sink'))

    run['parser'].connect('pad-added', run.guard(add_pad))
    with contextlib.ExitStack() as stack:
        run.play()
    if not videos:
        raise NotVideo('not a video: it has no video stream')
    check_source(job)
    for name, (pad, file) in streams.items():
        write_json(os.path.join(folder, name + '.json'), {'job': job['id'], 'tags': tags_of(pad), **file.notes()})
    return write_json(path, {
        'job': job['id'], 'frames': len(index.times), 'left_out': left_out, 'offset': min(index.offsets, default=0),
        'tags': [tags for tags in tags_of(videos[0]) if 'image-orientation' in tags],
        'streams': [name for name, (_, file) in streams.items() if file.packets],
        'segments': index.segments(job['seconds'], job['context'])})


# ---- segment

def hash_frame(digest: Any, caps: Gst.Caps, buffer: Gst.Buffer) -> None:
    """Adds the pixels of a frame to a hash, without the padding of its rows."""
    info, meta = GstVideo.VideoInfo.new_from_caps(caps), GstVideo.buffer_get_video_meta(buffer)
    layout, format = meta or info, info.finfo
    with buffer.map(Gst.MapFlags.READ) as mapped:
        pixels = mapped.data
        for plane in range(format.n_planes):
            parts = [c for c in range(format.n_components) if format.plane[c] == plane]
            width = min(-(-info.width >> format.w_sub[c]) * format.pixel_stride[c] for c in parts)
            for row in range(-(-info.height >> format.h_sub[parts[0]])):
                begin = layout.offset[plane] + row * layout.stride[plane]
                digest.update(pixels[begin:begin + width])


class Part:
    """Passes the frames of a segment through the filter, with the frames around it that a filter over time reads.
    Hashes the decoded frames around each cut: the segments before and after the cut must decode the same frames."""

    def __init__(self, run: Run, joints: Json):
        self.run, self.head, self.tail = run, joints['head'], joints['tail']
        self.hashes = {name: hashlib.blake2b(digest_size=16) for name in ('head', 'tail') if joints[name]}
        self.frames = 0
        self.ended = False
        pad = run['filter'].get_static_pad('sink')
        probes = self.block(pad) if self.head else []
        run.on_frames(pad, self.take)
        run.on_frames(run['filter'].get_static_pad('src'), self.keep)
        if self.head:
            self.seek(pad)
        for probe in probes:
            pad.remove_probe(probe)

    def block(self, pad: Gst.Pad) -> list[int]:
        """Blocks the pad, and returns the probes when the first frame waits there. Drops flushes at the pad, because
        the elements after it have no data yet."""
        blocked = threading.Event()

        def block(pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
            blocked.set()
            return Gst.PadProbeReturn.OK
        probes = [pad.add_probe(Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, block),
                  pad.add_probe(Gst.PadProbeType.EVENT_FLUSH, lambda pad, info: Gst.PadProbeReturn.DROP)]
        self.run.play(Gst.State.PAUSED, blocked.is_set)
        return probes

    def seek(self, pad: Gst.Pad) -> None:
        """Makes the decoder start at the key frame of the head. Seeks to the exact time of that key frame, because
        qtdemux compares the time with DTS."""
        flags = Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT | Gst.SeekFlags.SNAP_BEFORE
        if not pad.get_peer().send_event(Gst.Event.new_seek(1, Gst.Format.TIME, flags, Gst.SeekType.SET,
                                                            self.head['start'], Gst.SeekType.SET, -1)):
            raise NotExact('a seek in the file is not exact')

    def take(self, pad: Gst.Pad, buffer: Gst.Buffer, when: int) -> bool:
        """Returns True if the filter reads the decoded frame. Hashes it if it is near a cut. Ends the stream after the
        last frame."""
        if self.ended or self.head and when < self.head['first']:
            return False
        if self.tail and when > self.tail['last']:
            self.ended = True
            pad.send_event(Gst.Event.new_eos())
            return False
        for name, digest in self.hashes.items():
            joint = getattr(self, name)
            if joint['first'] <= when <= joint['last']:
                digest.update(HEAD.pack(when, 0, 0, 0))
                hash_frame(digest, pad.get_current_caps(), buffer)
        return True

    def keep(self, pad: Gst.Pad, buffer: Gst.Buffer, when: int) -> bool:
        """Returns True if the filtered frame belongs to the segment, and counts it."""
        if self.head and when < self.head['cut'] or self.tail and when >= self.tail['cut']:
            return False
        self.frames += 1
        return True


def segment(folder: str, job: Json, number: int) -> Json:
    begin, path = time.monotonic(), os.path.join(folder, f'segment-{number:05}')
    if notes := packet_notes(path, job):
        return {**notes, 'kept': True}
    cuts = read_json(os.path.join(folder, 'plan.json'))
    run = Run(f'{DECODER} ! cudaconvolve name=filter ! videoconvert ! {job["encoder"]} '
              '! appsink name=sink sync=false', job['source'])
    apply_settings(run['filter'], job['settings'])
    check_state(run['filter'], job['filter'])
    run['sink'].set_property('caps', next(template.caps for template in Gst.ElementFactory.make(
        job['mux']).get_pad_template_list() if template.name_template.startswith('video')))
    with whole_file(path) as file:
        packets, part = PacketFile(file), Part(run, cuts['segments'][number])

        def time_in_file(sample: Gst.Sample) -> int:
            """Returns the stream time in a cut file, because a seek restarts running time. Returns the running time in
            an uncut file, because that may have several GstSegments."""
            when = time_of(sample.get_buffer())
            return (stream_time(sample.get_segment(), when) - cuts['offset'] if part.hashes else
                    running_time(sample.get_segment(), when))
        run.on_samples(run['sink'], lambda sample: packets.add(sample, time_in_file(sample)))
        run.play()
        if not part.frames or part.frames != packets.packets:
            raise NotExact(f'{part.frames} frames were filtered, but {packets.packets} were encoded')
    check_source(job)
    stats = run['filter'].get_property('stats')
    return write_json(path + '.json', {
        'job': job['id'], 'seconds': time.monotonic() - begin, 'warnings': sorted(run.warnings), **packets.notes(),
        'device': stats.get_string('device-name') or stats.get_string('backend'),
        **{name: digest.hexdigest() for name, digest in part.hashes.items()}})


# ---- join

def decode_times(times: list[int]) -> list[int]:
    """Returns the DTS of frames. times: their PTS, in decoding order. The DTS are the sorted PTS, delayed by as many
    frames as B-frames need, so that no DTS is after its PTS."""
    if not times:
        return []
    ordered = sorted(times)
    rank = {when: i for i, when in enumerate(ordered)}
    delay = max(k - rank[when] for k, when in enumerate(times))
    step = max(ordered[1] - ordered[0], 1) if delay else 0
    return [ordered[0] - (delay - k) * step for k in range(delay)] + ordered[:len(ordered) - delay]


def timescale(times: list[int]) -> int:
    """Returns the first timescale, in ticks per second, that represents all times to a nanosecond; if none does, the
    last."""
    return next((scale for scale in TIMESCALES if all(
        abs(round(when * scale / 1e9) * Gst.SECOND // scale - when) <= 1 for when in times)), TIMESCALES[-1])


def add_source(run: Run, paths: list[str], notes: Json, times: list[int] = []) -> tuple[Gst.Pad, Callable]:
    """Adds a source of packets to the run. Returns its pad at the muxer, and a function that pushes the packets of the
    files. times: of all frames, for video only."""
    decode = decode_times(times)
    # Without a duration of the last frame, qtmux puts that frame beyond the end. If the file states no durations,
    # decoders may set 1 ns.
    least = max(max(times) - max(set(times) - {max(times)}, default=0), 1) if times else NONE
    caps, source, segment = Gst.Caps.from_string(notes['caps']), Gst.ElementFactory.make('appsrc'), Gst.Segment()
    segment.init(Gst.Format.TIME)
    segment.start = segment.position = BASE
    for name, value in (('caps', caps), ('format', Gst.Format.TIME), ('block', True), ('max-bytes', 1 << 22),
                        ('handle-segment-change', True)):
        source.set_property(name, value)
    run.pipeline.add(source)
    pad = run['mux'].request_pad(template_for(run['mux'].get_factory().get_name(), caps), None, None)
    source.get_static_pad('src').link(pad)

    def push(number: int, when: int, duration: int, key: int, data: bytes) -> Gst.FlowReturn:
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts, buffer.dts = BASE + when, BASE + decode[number] if decode else NONE
        buffer.duration = duration if duration >= Gst.MSECOND else least
        if not key:
            buffer.set_flags(Gst.BufferFlags.DELTA_UNIT)
        return source.emit('push-sample', Gst.Sample.new(buffer, caps, segment, None))

    def feed() -> None:
        for tags in notes.get('tags', []):
            source.send_event(Gst.Event.new_tag(Gst.TagList.new_from_string(tags)))
        guarded = run.guard(push, Gst.FlowReturn.ERROR)
        if all(guarded(number, *packet) == Gst.FlowReturn.OK for number, packet in enumerate(read_packets(paths))):
            source.emit('end-of-stream')
    return pad, run.guard(feed)


def check_parts(notes: list[Json], frames: int) -> None:
    found = sum(note['packets'] for note in notes)
    if len(notes) > 1 and found != frames:
        raise NotExact(f'the segments have {found} frames, but the file has {frames}')
    for number, (one, other) in enumerate(zip(notes, notes[1:])):
        if one['tail'] != other['head']:
            raise NotExact(f'at the cut after segment {number} the decoder produces different frames on both sides')
        if one['caps'] != other['caps']:
            raise NotExact(f'segments {number} and {number + 1} are encoded differently')


def join(folder: str, job: Json) -> Json:
    begin, cuts = time.monotonic(), read_json(os.path.join(folder, 'plan.json'))
    paths = [os.path.join(folder, f'segment-{number:05}') for number in range(len(cuts['segments']))]
    notes = [packet_notes(path, job, thorough=False) for path in paths]
    if None in notes:
        raise ValueError(f'segment {notes.index(None)} is missing or damaged: call library.py again')
    check_parts(notes, cuts['frames'])
    times = [packet[0] for packet in read_packets(paths, with_data=False)]
    run, scale = Run(f'{job["mux"]} name=mux ! filesink name=file'), timescale(times)
    video, feed = add_source(run, paths, {**notes[0], 'tags': cuts['tags']}, times)
    feeds = [feed]
    for path in (os.path.join(folder, name) for name in cuts['streams']):
        feeds.append(add_source(run, [path], packet_notes(path, job, thorough=False))[1])
    if job['mux'] == 'matroskamux':
        run['mux'].set_property('timecodescale', 1_000_000 if scale == 1000 else 10_000)
    else:
        video.set_property('trak-timescale', scale)
        run['mux'].set_property('movie-timescale', scale)
    with whole_file(os.path.join(folder, 'output')) as file:
        run['file'].set_uri(uri_of(file.name))
        for feed in feeds:
            threading.Thread(target=feed, daemon=True).start()
        run.play()
        run.stop()
    os.makedirs(os.path.dirname(job['output']), exist_ok=True)
    os.replace(os.path.join(folder, 'output'), job['output'])
    stat = os.stat(job['output'])
    result = write_json(job['work'] + '.json', {
        'job': job['id'], 'frames': len(times), 'segments': len(paths), 'bytes': stat.st_size, 'time': stat.st_mtime_ns,
        'seconds': sum(note['seconds'] for note in notes) + time.monotonic() - begin,
        'device': ', '.join(sorted({note['device'] for note in notes})), 'left_out': cuts['left_out'],
        'warnings': sorted({text for note in notes for text in note['warnings']})})
    shutil.rmtree(job['work'])
    return result


def end(status: int, text: str) -> NoReturn:
    """Exits at once: a pipeline that has failed may never stop, and must not be freed while it runs."""
    print(text, flush=True)
    os._exit(status)


def main(step: str, folder: str, *numbers: str) -> NoReturn:
    try:
        job = read_json(os.path.join(folder, 'job.json'))
        end(0, json.dumps({'plan': plan, 'segment': segment, 'join': join}[step](folder, job, *map(int, numbers))))
    except (NotVideo, NotExact, OSError, RuntimeError, ValueError, TypeError, GLib.Error) as failure:
        end({NotVideo: 2, NotExact: 3}.get(type(failure), 1), ' '.join(str(failure).split()))


if __name__ == '__main__':
    Gst.init(None)
    GstVideo.VideoMultiviewFlagsSet.__gtype__  # registers a type: caps from decoders contain it, and join parses these
    main(*sys.argv[1:])
