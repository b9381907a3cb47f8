#!/usr/bin/env python3
# You should see one line of JSON: a step of library.py on one video is done. Each step is a command by itself, without Dask.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: library_task.py plan FOLDER | segment FOLDER NUMBER | join FOLDER
# FOLDER is the video's work folder; library.py makes it, with job.json. `plan` reads the video once, chooses the cuts, and
# copies sound and subtitles into files of packets; `segment` decodes, filters and encodes what is between two cuts; `join`
# writes the output of all that. A step that is done is checked, and not done again. A file has its name when it is
# complete. Exit status: 1 with the reason on stderr; 3 where segments are not what one run over the whole video gives.
import hashlib
import html
import json
import os
import shutil
import struct
import sys
import threading
import time
from typing import Any, BinaryIO, Callable, Iterator

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstVideo', '1.0')
from gi.repository import GLib, Gst, GstVideo

STALL = int(os.environ.get("STALL", 180))
BASE = 1000 * 3600 * Gst.SECOND  # added to times for the muxer, since the first DTS may be negative
NONE = Gst.CLOCK_TIME_NONE
HEAD = struct.Struct('<qqII')  # of a packet in a file: time, duration or -1, 1 for a key frame, bytes that follow
MUXERS = {'mp4': 'mp4mux', 'm4v': 'mp4mux', 'mov': 'qtmux', 'mkv': 'matroskamux'}
TIMESCALES = (600, 1000, 2500, 12800, 15360, 16000, 24000, 25000, 30000, 44100, 48000, 50000, 60000, 120000, 90000)
PANGO, UTF8 = 'text/x-raw, format=(string)pango-markup', 'text/x-raw, format=(string)utf8'  # as read, as written

Json = dict[str, Any]


class NotExact(Exception):
    """A segment does not continue the one before it as one run would."""


# ---- files

def read_json(path: str) -> Json | None:
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def put_in_place(part: str, path: str) -> None:
    """The file gets its name, whole and on the disk."""
    descriptor = os.open(part, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)
    os.replace(part, path)


def part_of(path: str) -> str:
    """A name of this process's own: a machine that was given up may still write to its file."""
    return f'{path}.{os.uname().nodename}.{os.getpid()}.part'


def write_json(path: str, value: Json) -> None:
    part = part_of(path)
    try:
        with open(part, 'w') as file:
            json.dump(value, file)
        put_in_place(part, path)
    except OSError:
        remove(part)
        raise


def remove(path: str) -> None:
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


def hash_file(path: str) -> str:
    digest = hashlib.sha256()
    with open(path, 'rb') as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


class PacketFile:
    """Encoded packets on their way into a file, beside which notes lie as JSON: caps, hash, and what the step adds."""

    def __init__(self, path: str):
        self.path, self.part = path, part_of(path)
        self.file = open(self.part, 'wb')
        self.digest = hashlib.sha256()
        self.caps: str | None = None
        self.packets = 0

    def add(self, sample: Gst.Sample, when: int) -> None:
        buffer = sample.get_buffer()
        if buffer.has_flags(Gst.BufferFlags.HEADER) and sample.get_caps().get_structure(0).has_field('streamheader'):
            return
        caps, data = sample.get_caps().to_string(), buffer.extract_dup(0, buffer.get_size())
        if caps == PANGO:
            caps, data = UTF8, html.unescape(data.decode()).encode()
        if self.caps not in (None, caps):
            raise ValueError(f'the stream changes from {self.caps} to {caps}')
        self.caps = caps
        head = HEAD.pack(when, -1 if buffer.duration == NONE else buffer.duration, is_key(buffer), len(data))
        for block in (head, data):
            self.file.write(block)
            self.digest.update(block)
        self.packets += 1

    def finish(self, notes: Json) -> Json:
        self.file.close()
        notes = {**notes, 'caps': self.caps, 'packets': self.packets, 'bytes': os.path.getsize(self.part),
                 'sha256': self.digest.hexdigest()}
        put_in_place(self.part, self.path)
        write_json(self.path + '.json', notes)
        return notes

    def __enter__(self) -> 'PacketFile':
        return self

    def __exit__(self, *_) -> None:
        remove(self.part)


def packet_notes(path: str, job: str, thorough: bool = True) -> Json | None:
    """The notes of a complete file, made for these settings; None where there is no such file."""
    notes = read_json(path + '.json')
    if not notes or notes['job'] != job or not os.path.exists(path) or os.path.getsize(path) != notes['bytes']:
        return None
    return notes if not thorough or hash_file(path) == notes['sha256'] else None


def read_packets(file: BinaryIO) -> Iterator[tuple[int, int, int, bytes]]:
    while head := file.read(HEAD.size):
        when, duration, key, size = HEAD.unpack(head)
        yield when, duration, key, file.read(size)


def packet_times(path: str) -> Iterator[int]:
    with open(path, 'rb') as file:
        while head := file.read(HEAD.size):
            when, _, _, size = HEAD.unpack(head)
            yield when
            file.seek(size, os.SEEK_CUR)


# ---- pipelines

def is_key(buffer: Gst.Buffer) -> bool:
    return not buffer.has_flags(Gst.BufferFlags.DELTA_UNIT)


def running_time(segment: Gst.Segment, when: int) -> int:
    sign, result = segment.to_running_time_full(Gst.Format.TIME, when)
    return sign * result


def stream_time(segment: Gst.Segment, when: int) -> int:
    sign, result = segment.to_stream_time_full(Gst.Format.TIME, when)
    return sign * result


class Run:
    """A pipeline that plays to its end; what goes wrong in Python's callbacks ends it too."""

    def __init__(self, description: str):
        self.pipeline = Gst.parse_launch(description)
        self.bus = self.pipeline.get_bus()
        self.failure: Exception | None = None
        self.moved = 0  # frames or packets so far
        self.warnings: list[str] = []

    def __getitem__(self, name: str) -> Gst.Element:
        return self.pipeline.get_by_name(name)

    def guard(self, function: Callable, on_failure: Any) -> Callable:
        """The function as a callback, which counts and keeps an exception."""
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

    def on_probe(self, pad: Gst.Pad, function: Callable[[Gst.Pad, Gst.Buffer], Gst.PadProbeReturn]) -> None:
        pad.add_probe(Gst.PadProbeType.BUFFER,
                      self.guard(lambda pad, info: function(pad, info.get_buffer()), Gst.PadProbeReturn.DROP))

    def wait(self, ended: Callable[[], bool]) -> None:
        """Returns at the end of the stream or when `ended` says so; raises what went wrong."""
        moved, since = self.moved, time.monotonic()
        types = Gst.MessageType.ERROR | Gst.MessageType.EOS | Gst.MessageType.WARNING
        while not ended():
            message = self.bus.timed_pop_filtered(Gst.SECOND // 50, types)
            if self.failure:
                raise self.failure
            if moved != self.moved:
                moved, since = self.moved, time.monotonic()
            if time.monotonic() - since > STALL:
                raise TimeoutError(f'nothing came for {STALL} s')
            if message and message.type == Gst.MessageType.ERROR:
                raise RuntimeError(error_text(message))
            if message and message.type == Gst.MessageType.WARNING and is_filter(message.src):
                self.warnings.append(message.parse_warning()[0].message)
            if message and message.type == Gst.MessageType.EOS:
                return

    def play(self) -> None:
        self.pipeline.set_state(Gst.State.PLAYING)
        self.wait(lambda: False)

    def stop(self) -> None:
        self.pipeline.set_state(Gst.State.NULL)


def is_filter(element: Gst.Element) -> bool:
    return isinstance(element, Gst.Element) and element.get_factory().get_name() == 'cudaconvolve'


def error_text(message: Gst.Message) -> str:
    error, debug = message.parse_error()
    more = (debug or '').strip().splitlines()[-1:]
    return f'{message.src.get_name()}: {error.message}' + ''.join(f' ({line})' for line in more)


def make_filter(settings: list[str]) -> Gst.Element:
    """The element with these settings, written as for gst-launch-1.0; raises GLib.Error."""
    return Gst.parse_launchv(['cudaconvolve', *settings])


def quoted(words: list[str]) -> str:
    """Settings inside of a description."""
    return ' '.join('{}="{}"'.format(name, value.replace('\\', '\\\\').replace('"', '\\"'))
                    for name, value in (word.split('=', 1) for word in words))


def context_frames(settings: list[str]) -> int:
    """The frames on either side that the filter reads beside its own, at most."""
    element = make_filter(settings)
    kernel = element.get_property('kernel')
    is_volume = kernel and len(kernel) and isinstance(kernel[0], Gst.ValueArray) and len(kernel[0]) and \
        isinstance(kernel[0][0], Gst.ValueArray)
    return max(element.get_property('temporal-radius'), len(element.get_property('kernel-t') or []),
               len(kernel) if is_volume else 0, 31 if element.get_property('kernel-location') else 0)


# ---- plan

def template_for(mux: Gst.Element, caps: Gst.Caps) -> Gst.PadTemplate | None:
    return next((template for template in mux.get_pad_template_list()
                 if template.direction == Gst.PadDirection.SINK and template.caps.can_intersect(caps)), None)


def tags_of(pad: Gst.Pad) -> list[str]:
    tags, event = [], True
    while event := pad.get_sticky_event(Gst.EventType.TAG, len(tags)):
        tags.append(event.parse_tag().to_string())
    return tags


class Index:
    """Times of the frames in a file, and where a decoder may start."""

    def __init__(self) -> None:
        self.times: set[int] = set()
        self.keys: list[int] = []
        self.offsets: set[int] = set()  # from running time to stream time

    def add(self, sample: Gst.Sample) -> None:
        buffer, segment = sample.get_buffer(), sample.get_segment()
        if buffer.pts == NONE:
            return
        when = stream_time(segment, buffer.pts)
        self.offsets.add(when - running_time(segment, buffer.pts))
        self.times.add(when)
        if is_key(buffer):
            self.keys.append(when)

    def segments(self, seconds: float, context: int) -> list[Json]:
        """Times `start` <= t < `end` of each; `first` and `last` are of the frames that are read for it. Twice the context
        is read, since some packets have no frame of their own: hidden ones, and fields."""
        times, margin = sorted(self.times), 2 * context + 2
        cuts = times[:1]
        for key in sorted(self.keys):
            if seconds and cuts and key - cuts[-1] >= seconds * Gst.SECOND:
                cuts.append(key)
        if len(self.offsets) != 1 or len(cuts) < 2:
            return [{}]
        place = {when: i for i, when in enumerate(times)}
        joints = [{'first': times[max(place[cut] - margin, 0)], 'cut': cut,
                   'last': times[min(place[cut] + margin, len(times)) - 1]} for cut in cuts[1:]]
        return [{'head': head, 'tail': tail} for head, tail in zip([None] + joints, joints + [None])]


def plan(folder: str, job: Json) -> Json:
    path = os.path.join(folder, 'plan.json')
    old = read_json(path)
    if old and old['job'] == job['id'] and all(
            packet_notes(os.path.join(folder, name), job['id']) for name in old['streams']):
        return {**old, 'kept': True}
    run = Run('filesrc name=source ! parsebin name=parser')
    mux = Gst.ElementFactory.make(job['mux'])
    index, files, pads, left_out, videos = Index(), {}, {}, [], []

    def add_pad(parser: Gst.Element, pad: Gst.Pad) -> None:
        caps = pad.get_current_caps() or pad.query_caps()
        kind = caps.get_structure(0).get_name()
        is_video = kind.startswith(('video/', 'image/'))
        sink = Gst.ElementFactory.make('appsink')
        template = None if is_video else template_for(mux, Gst.Caps(UTF8) if caps.to_string() == PANGO else caps)
        if is_video and not videos:
            videos.append(kind)
            run.on_samples(sink, index.add)
        elif template:
            name = f'stream-{len(files)}'
            file = files[name] = PacketFile(os.path.join(folder, name))
            pads[name] = pad
            if kind.startswith('audio/'):  # in the form in which the muxer takes it
                sink.set_property('caps', template.caps)
            run.on_samples(sink, lambda sample: file.add(sample, running_time(sample.get_segment(), pts_of(sample))))
        elif kind.startswith('audio/'):
            raise ValueError(f'{kind} does not go into a file of this type: say --type mkv')
        else:
            left_out.append(kind)
            sink = Gst.ElementFactory.make('fakesink')
        for name in ('sync', 'async'):  # without queues a stream that waits for its first packet would hold up the others
            sink.set_property(name, False)
        run.pipeline.add(sink)
        sink.sync_state_with_parent()
        pad.link(sink.get_static_pad('sink'))

    run['source'].set_property('location', job['source'])
    run['parser'].connect('pad-added', run.guard(add_pad, None))
    try:
        run.play()
        if not index.times and not videos:
            raise ValueError('there is no video in it')
        notes = {'job': job['id'], 'frames': len(index.times), 'left_out': left_out,
                 'streams': [name for name, file in files.items() if file.packets],
                 'segments': index.segments(job['seconds'], context_frames(job['settings'])),
                 'offset': min(index.offsets, default=0)}
        for name in notes['streams']:
            files[name].finish({'job': job['id'], 'tags': tags_of(pads[name])})
    finally:
        for file in files.values():
            file.__exit__()
    run.stop()
    write_json(path, notes)
    return notes


def pts_of(sample: Gst.Sample) -> int:
    buffer = sample.get_buffer()
    return buffer.dts if buffer.pts == NONE else buffer.pts


# ---- segment

def rows_of(info: GstVideo.VideoInfo, plane: int) -> tuple[int, int]:
    """Bytes of a row that are pixels, and rows."""
    parts = [c for c in range(info.finfo.n_components) if info.finfo.plane[c] == plane]
    return (min(-(-info.width >> info.finfo.w_sub[c]) * info.finfo.pixel_stride[c] for c in parts),
            max(-(-info.height >> info.finfo.h_sub[c]) for c in parts))


def hash_frame(digest: Any, caps: Gst.Caps, buffer: Gst.Buffer) -> None:
    """Adds the pixels, without what lies between rows."""
    info, meta = GstVideo.VideoInfo.new_from_caps(caps), GstVideo.buffer_get_video_meta(buffer)
    offsets, strides = (meta.offset, meta.stride) if meta else (info.offset, info.stride)
    with buffer.map(Gst.MapFlags.READ) as data:
        for plane in range(info.finfo.n_planes):
            (width, rows), stride = rows_of(info, plane), strides[plane]
            for row in range(rows):
                begin = offsets[plane] + row * stride
                digest.update(data.data[begin:begin + width])


class Segment:
    """Frames between two joints, on their way through the filter. A joint's frames are read on both sides of it, and must
    be the same ones."""

    def __init__(self, run: Run, joints: Json, offset: int):
        self.run, self.head, self.tail, self.offset = run, joints.get('head'), joints.get('tail'), offset
        self.hashes = {name: hashlib.blake2b(digest_size=16) for name in ('head', 'tail') if joints.get(name)}
        self.frames = 0
        self.ended = False
        self.filter = run['filter']
        sink = self.filter.get_static_pad('sink')
        probes = self.block(sink) if self.head else []
        run.on_probe(sink, self.take)
        run.on_probe(self.filter.get_static_pad('src'), self.keep)
        if self.head:
            self.seek(sink)
        for probe in probes:
            sink.remove_probe(probe)

    def block(self, pad: Gst.Pad) -> list[int]:
        """Returns, with the probes, when the first frame waits at the pad. Flushes end there: nothing is behind it."""
        blocked = threading.Event()

        def block(pad: Gst.Pad, info: Gst.PadProbeInfo) -> Gst.PadProbeReturn:
            blocked.set()
            return Gst.PadProbeReturn.OK
        probes = [pad.add_probe(Gst.PadProbeType.BLOCK | Gst.PadProbeType.BUFFER, block),
                  pad.add_probe(Gst.PadProbeType.EVENT_FLUSH, lambda pad, info: Gst.PadProbeReturn.DROP)]
        self.run.pipeline.set_state(Gst.State.PAUSED)
        self.run.wait(blocked.is_set)
        return probes

    def seek(self, pad: Gst.Pad) -> None:
        """The decoder starts at a key frame, at or before the first frame that is read."""
        flags = Gst.SeekFlags.FLUSH | Gst.SeekFlags.KEY_UNIT | Gst.SeekFlags.SNAP_BEFORE
        if not pad.get_peer().send_event(Gst.Event.new_seek(1, Gst.Format.TIME, flags, Gst.SeekType.SET,
                                                            self.head['first'], Gst.SeekType.NONE, 0)):
            raise NotExact('the file cannot be entered at a time')

    def time_of(self, pad: Gst.Pad, buffer: Gst.Buffer) -> int:
        segment = pad.get_sticky_event(Gst.EventType.SEGMENT, 0).parse_segment()
        return stream_time(segment, buffer.pts)

    def take(self, pad: Gst.Pad, buffer: Gst.Buffer) -> Gst.PadProbeReturn:
        """Decoded frames: those of the segment, and what a filter over time reads beside them."""
        if not self.hashes:
            return Gst.PadProbeReturn.OK
        when = self.time_of(pad, buffer)
        if self.ended or (self.head and when < self.head['first']):
            return Gst.PadProbeReturn.DROP
        if self.tail and when > self.tail['last']:
            self.ended = True
            pad.send_event(Gst.Event.new_eos())
            return Gst.PadProbeReturn.DROP
        for name, digest in self.hashes.items():
            joint = getattr(self, name)
            if joint['first'] <= when <= joint['last']:
                digest.update(when.to_bytes(8, 'little', signed=True))
                hash_frame(digest, pad.get_current_caps(), buffer)
        return Gst.PadProbeReturn.OK

    def keep(self, pad: Gst.Pad, buffer: Gst.Buffer) -> Gst.PadProbeReturn:
        """Filtered frames: those of the segment alone."""
        when = self.time_of(pad, buffer)
        if (self.head and when < self.head['cut']) or (self.tail and when >= self.tail['cut']):
            return Gst.PadProbeReturn.DROP
        self.frames += 1
        return Gst.PadProbeReturn.OK

    def time_in_file(self, sample: Gst.Sample) -> int:
        """A seek starts running time anew, and files that are not cut may have several segments."""
        segment, when = sample.get_segment(), pts_of(sample)
        return stream_time(segment, when) - self.offset if self.hashes else running_time(segment, when)


def segment(folder: str, job: Json, number: int) -> Json:
    path = os.path.join(folder, f'segment-{number:05}')
    if notes := packet_notes(path, job['id']):
        return {**notes, 'kept': True}
    begin = time.monotonic()
    run = Run('filesrc name=source ! decodebin name=decoder caps=video/x-raw(ANY) expose-all-streams=false ! videoconvert '
              f'! cudaconvolve name=filter {quoted(job["settings"])} ! videoconvert ! {job["encoder"]} '
              '! appsink name=sink sync=false')
    run['source'].set_property('location', job['source'])
    mux = Gst.ElementFactory.make(job['mux'])
    run['sink'].set_property('caps', next(template.caps for template in mux.get_pad_template_list()
                                          if template.name_template.startswith('video')))
    with PacketFile(path) as file:
        cuts = read_json(os.path.join(folder, 'plan.json'))
        part = Segment(run, cuts['segments'][number], cuts['offset'])
        run.on_samples(run['sink'], lambda sample: file.add(sample, part.time_in_file(sample)))
        run.play()
        if not part.frames or part.frames != file.packets:
            raise NotExact(f'{part.frames} frames were filtered, and {file.packets} encoded')
        stats = part.filter.get_property('stats')
        run.stop()
        return file.finish({'job': job['id'], 'seconds': time.monotonic() - begin, 'warnings': sorted(set(run.warnings)),
                            'backend': stats.get_string('device-name') or stats.get_string('backend'),
                            **{name: digest.hexdigest() for name, digest in part.hashes.items()}})


# ---- join

def decode_times(times: list[int]) -> list[int]:
    """DTS for frames in the order of decoding: all times in order, as much earlier as B frames need."""
    ordered = sorted(times)
    rank = {when: i for i, when in enumerate(ordered)}
    delay = max(k - rank[when] for k, when in enumerate(times))
    step = max(ordered[1] - ordered[0], 1) if len(ordered) > 1 else 1
    return [ordered[0] - (delay - k) * step for k in range(delay)] + ordered[:len(ordered) - delay]


def timescale(times: list[int]) -> int:
    """The ticks a second that hold all of these times, within a nanosecond."""
    def holds(scale: int) -> bool:
        return all(abs(round(when * scale / 1e9) * 1_000_000_000 // scale - when) <= 1 for when in times)
    return next((scale for scale in TIMESCALES if holds(scale)), TIMESCALES[-1])


class Source:
    """A stream of packets, one file after the other, on its way into the muxer."""

    def __init__(self, run: Run, mux: Gst.Element, paths: list[str], notes: Json, decode: list[int] | None = None):
        self.paths, self.decode = paths, decode
        self.tags = notes.get('tags', [])
        self.source = Gst.ElementFactory.make('appsrc')
        caps = Gst.Caps.from_string(notes['caps'])
        for name, value in (('caps', caps), ('format', Gst.Format.TIME), ('block', True), ('max-bytes', 1 << 22),
                            ('handle-segment-change', True)):
            self.source.set_property(name, value)
        run.pipeline.add(self.source)
        self.pad = mux.request_pad(template_for(mux, caps), None, None)
        self.source.get_static_pad('src').link(self.pad)
        self.run, self.caps = run, caps
        self.push = run.guard(self.push_packet, Gst.FlowReturn.ERROR)

    def push_packet(self, number: int, packet: tuple[int, int, int, bytes], segment: Gst.Segment) -> Gst.FlowReturn:
        when, duration, key, data = packet
        buffer = Gst.Buffer.new_wrapped(data)
        buffer.pts = BASE + when
        buffer.dts = BASE + self.decode[number] if self.decode else NONE
        buffer.duration = NONE if duration < 0 else duration
        if not key:
            buffer.set_flags(Gst.BufferFlags.DELTA_UNIT)
        return self.source.emit('push-sample', Gst.Sample.new(buffer, self.caps, segment, None))

    def feed(self) -> None:
        segment = Gst.Segment()
        segment.init(Gst.Format.TIME)
        segment.start = segment.position = BASE
        number = 0
        for tags in self.tags:
            self.source.send_event(Gst.Event.new_tag(Gst.TagList.new_from_string(tags)))
        for path in self.paths:
            with open(path, 'rb') as file:
                for packet in read_packets(file):
                    if self.push(number, packet, segment) != Gst.FlowReturn.OK:
                        return
                    number += 1
        self.source.emit('end-of-stream')


def check_joints(notes: list[Json]) -> None:
    for number, (one, next_one) in enumerate(zip(notes, notes[1:])):
        if one['tail'] != next_one['head']:
            raise NotExact(f'the frames about the cut behind segment {number} are not the same on both sides')
        if one['caps'] != next_one['caps']:
            raise NotExact(f'segments {number} and {number + 1} are encoded differently')


def join(folder: str, job: Json) -> Json:
    begin = time.monotonic()
    plan_notes = read_json(os.path.join(folder, 'plan.json'))
    paths = [os.path.join(folder, f'segment-{number:05}') for number in range(len(plan_notes['segments']))]
    notes = [packet_notes(path, job['id'], thorough=False) for path in paths]
    if None in notes:
        raise ValueError(f'segment {notes.index(None)} is not there or is damaged: call library.py again')
    check_joints(notes)
    times = [when for path in paths for when in packet_times(path)]
    run = Run(f'{job["mux"]} name=mux ! filesink name=file')
    mux, part = run['mux'], part_of(os.path.join(folder, 'output'))
    scale = timescale(times)
    sources = [Source(run, mux, paths, notes[0], decode_times(times))]
    for name in plan_notes['streams']:
        path = os.path.join(folder, name)
        sources.append(Source(run, mux, [path], packet_notes(path, job['id'], thorough=False)))
    if job['mux'] == 'matroskamux':
        mux.set_property('timecodescale', 1_000_000 if scale == 1000 else 10_000)
    else:
        sources[0].pad.set_property('trak-timescale', scale)
        mux.set_property('movie-timescale', scale)
    run['file'].set_property('location', part)
    try:
        for source in sources:
            threading.Thread(target=source.feed, daemon=True).start()
        run.play()
        run.stop()
        os.makedirs(os.path.dirname(job['output']), exist_ok=True)
        put_in_place(part, job['output'])
    finally:
        remove(part)
    stat = os.stat(job['output'])
    result = {'job': job['id'], 'frames': len(times), 'segments': len(paths), 'bytes': stat.st_size, 'time': stat.st_mtime_ns,
              'seconds': sum(note['seconds'] for note in notes) + time.monotonic() - begin,
              'backend': ', '.join(sorted({note['backend'] for note in notes})), 'left_out': plan_notes['left_out'],
              'warnings': sorted({text for note in notes for text in note['warnings']})}
    write_json(job['work'] + '.json', result)
    shutil.rmtree(job['work'])
    return result


def main(arguments: list[str]) -> int:
    step, folder = arguments[:2]
    job = read_json(os.path.join(folder, 'job.json'))
    try:
        result = {'plan': plan, 'segment': segment, 'join': join}[step](folder, job, *map(int, arguments[2:]))
        print(json.dumps(result))
        return 0
    except NotExact as failure:
        print(failure, file=sys.stderr)
        return 3
    except (OSError, RuntimeError, ValueError, TypeError, GLib.Error) as failure:
        print(failure, file=sys.stderr)
        return 1


if __name__ == '__main__':
    Gst.init(None)
    status = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # a pipeline that has failed may not stop
