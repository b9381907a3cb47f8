#!/bin/sh
# You should see how far the videos are, and at the end a line for each that failed; outputs and report.html are in DIR.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/library.py INPUT... --output DIR [OPTION]... [PROPERTY=VALUE]...; library.sh says more.
# A video's steps are commands of library_task.py, each of which any worker may run; here they are put in order.
''''exec "$(dirname "$0")/library.sh" "$@" # sh takes this line as a command, and Python as a text: library.sh sets up first
'''
import argparse
import contextlib
import glob
import hashlib
import json
import os
import queue
import shutil
import signal
import sys
from typing import Any, Iterator

import library_task as task
from library_files import read_json, write_json
from library_report import Progress, die, write_report
from library_workers import Lost, Submit, command_of, dask_workers, gpus, outcome, threads

SUFFIXES = '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mts .mpg .mpeg .ogv .flv .wmv .3gp'.split()
H264 = 'x264enc speed-preset=veryfast pass=qual quantizer=20'
H264_ON_GPU = 'nvh264enc ! h264parse'
TRIES = 3
TLS = {'--tls-ca-file': 'tls_ca_file', '--tls-cert': 'tls_client_cert', '--tls-key': 'tls_client_key'}  # option, Dask's name


# ---- what is asked for

def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='library.py', add_help=False)
    parser.add_argument('words', nargs='+', metavar='INPUT|PROPERTY=VALUE')
    parser.add_argument('--output', required=True)
    parser.add_argument('--scheduler')
    for option, name in TLS.items():
        parser.add_argument(option, dest=name)
    parser.add_argument('--segment', type=float, default=60)
    parser.add_argument('--type', choices=task.MUXERS)
    parser.add_argument('--encoder', default=H264_ON_GPU if gpus() and task.Gst.ElementFactory.find('nvh264enc') else H264)
    parser.add_argument('--workers', type=int)
    arguments = parser.parse_intermixed_args()
    arguments.settings = [word for word in arguments.words if '=' in word and not os.path.exists(word)]
    arguments.output = os.path.abspath(arguments.output)
    arguments.tls = tls_files(arguments)
    return arguments


def tls_files(arguments: argparse.Namespace) -> dict[str, str]:
    """The files for Dask's Security, by its names; none without TLS."""
    files = {name: getattr(arguments, name) for name in TLS.values()}
    if not any(files.values()):
        if arguments.scheduler and arguments.scheduler.startswith('tls:'):
            die(f'{arguments.scheduler} needs {", ".join(TLS)}')
        return {}
    if not all(files.values()):
        die(f'{", ".join(TLS)} must be given together')
    if arguments.scheduler in (None, 'none'):
        die(f'{", ".join(TLS)} are for a cluster: give its address by --scheduler')
    for path in files.values():
        try:
            open(path, 'rb').close()
        except OSError as failure:
            die(f"'{path}' cannot be read: {failure.strerror}")
    return files


def check_settings(settings: list[str]) -> None:
    """What gst-launch-1.0 would leave at its default is refused."""
    try:
        element = task.Gst.parse_launchv(['cudaconvolve', *settings])
    except task.GLib.Error as error:
        die(f'{error.message}: gst-inspect-1.0 cudaconvolve lists its properties, and the values that they take')
    for name, value in (word.split('=', 1) for word in settings if not word.startswith('@')):
        told: list = []
        element.connect(f'notify::{name}', lambda *_: told.append(True))
        task.Gst.util_set_object_arg(element, name, value)
        is_other = False
        with contextlib.suppress(ValueError):
            is_other = type(element.get_property(name)) in (int, float) and float(value) != element.get_property(name)
        if not told or is_other:
            die(f'{name}={value} cannot be: gst-inspect-1.0 cudaconvolve says which values it takes')


def find_videos(inputs: list[str], output: str) -> Iterator[tuple[str, str]]:
    """Path of each, and its name below the output folder."""
    for word in inputs:
        if word.startswith('@') and os.path.isfile(word[1:]):
            with open(word[1:]) as file:
                yield from find_videos(file.read().splitlines(), output)
            continue
        if os.path.isdir(word):
            for path in sorted(glob.glob(os.path.join(glob.escape(word), '**'), recursive=True)):
                path = os.path.abspath(path)
                if os.path.splitext(path)[1].lower() in SUFFIXES and not path.startswith(output + os.sep):
                    yield path, os.path.relpath(path, word)
            continue
        paths = [word] if os.path.exists(word) else sorted(glob.glob(word, recursive=True))
        if not paths:
            die(f"there is no file '{word}'")
        for path in paths:
            yield os.path.abspath(path), os.path.basename(path)


def with_id(job: dict) -> dict:
    """The id says whether what an earlier call has left is of use."""
    return {**job, 'id': hashlib.sha256(json.dumps({**job, 'id': ''}, sort_keys=True).encode()).hexdigest()[:16]}


class Video:
    """A video, and how far it is. Its folder has what is done; what other settings have left goes."""

    def __init__(self, place: int, path: str, name: str, arguments: argparse.Namespace):
        suffix = os.path.splitext(name)[1].lower()[1:]
        kind = arguments.type or (suffix if suffix in task.MUXERS else 'mkv')
        name = name if suffix == kind else f'{name}.{kind}'
        self.place, self.output = place, os.path.join(arguments.output, name)
        self.folder = self.work = os.path.join(arguments.output, '.segments', name)
        stat = os.stat(path)
        self.size = stat.st_size
        self.job = with_id({
            'source': path, 'output': self.output, 'work': self.work, 'settings': arguments.settings, 'mux': task.MUXERS[kind],
            'encoder': arguments.encoder, 'seconds': arguments.segment, 'size': self.size, 'changed': stat.st_mtime_ns})
        self.state, self.errors, self.notes, self.result = 'waiting', [], [], {}
        self.segments = self.done = 0
        self.failures: dict = {}

    def uncut(self) -> dict:
        return with_id({**self.job, 'seconds': 0})

    def is_written(self) -> bool:
        """By an earlier call with these settings, and not changed since."""
        notes = read_json(self.work + '.json')
        with contextlib.suppress(OSError):
            stat = os.stat(self.output)
            if notes and notes['job'] in (self.job['id'], self.uncut()['id']) and \
                    (stat.st_size, stat.st_mtime_ns) == (notes['bytes'], notes['time']):
                self.state, self.result = 'kept', notes
        return self.state == 'kept'

    def write_job(self) -> None:
        old = read_json(os.path.join(self.folder, 'job.json'))
        if not old or old['id'] != self.job['id']:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
            write_json(os.path.join(self.folder, 'job.json'), self.job)

    def row(self) -> dict:
        seconds, frames = self.result.get('seconds', 0), self.result.get('frames', 0)
        notes = self.notes + [f'left out: {kind}' for kind in self.result.get('left_out', [])] + self.result.get('warnings', [])
        return {'file': self.job['source'], 'state': self.state, 'frames': frames,
                'segments': self.result.get('segments', self.segments), 'seconds': f'{seconds:.1f}',
                'frames/s': f'{frames / seconds:.1f}' if seconds else '', 'device': self.result.get('device', ''),
                'message': '; '.join(self.errors + notes)}


# ---- work

class Work:
    """All videos through the workers. A step that fails is tried again; the others go on."""

    def __init__(self, videos: list[Video], submit: Submit, lost: Lost = lambda: ''):
        self.videos, self.submit, self.lost = videos, submit, lost
        self.finished: queue.SimpleQueue = queue.SimpleQueue()
        self.frames = self.running = 0
        self.progress = Progress()

    def run(self) -> None:
        for video in self.videos:
            if not video.is_written():
                self.plan(video)
        while self.running:
            try:
                step = self.finished.get(timeout=0.5)
            except queue.Empty:
                step = None
            if reason := self.lost():  # all that runs has failed by that
                self.give_up(reason)
                break
            if step:
                self.take(*step)
            if self.progress.is_due():
                self.show()
        self.show(is_last=True)

    def give_up(self, reason: str) -> None:
        for video in self.videos:
            if video.state == 'waiting':
                video.state = 'failed'
                video.errors.append(f'{reason}; the next call goes on')

    def plan(self, video: Video) -> None:
        try:
            video.write_job()
        except OSError as failure:
            video.state, video.errors = 'failed', [str(failure)]
        else:
            self.start(video, 'plan')

    def start(self, video: Video, step: str, number: int | None = None) -> None:
        folder = video.folder
        future = self.submit(command_of(step, folder, number), -video.place, step == 'segment')
        future.add_done_callback(lambda future: self.finished.put((video, folder, step, number, future)))
        self.running += 1

    def take(self, video: Video, folder: str, step: str, number: int | None, future: Any) -> None:
        self.running -= 1
        if folder != video.folder:  # cut, before it was found that it cannot be
            return
        status, text = outcome(future)
        if status == 0:
            self.follow(video, step, json.loads(text))
        elif status == 3 and video.folder == video.work:
            video.folder, video.job = os.path.join(video.work, 'uncut'), video.uncut()
            video.state, video.errors, video.segments, video.done = 'waiting', [], 0, 0
            video.notes.append(f'not cut: {text}')
            self.plan(video)
        else:
            video.failures[step, number] = video.failures.get((step, number), 0) + 1
            if video.failures[step, number] < TRIES:
                self.start(video, step, number)
            else:
                video.state = 'failed'
                video.errors.append(f'{step}{"" if number is None else f" {number}"}: {text}')

    def follow(self, video: Video, step: str, result: dict) -> None:
        if step == 'plan':
            video.segments = len(result['segments'])
            for number in range(video.segments):
                self.start(video, 'segment', number)
        elif step == 'segment':
            video.done += 1
            self.frames += 0 if result.get('kept') else result['packets']
            if video.done == video.segments:
                self.start(video, 'join')
        else:
            video.state, video.result = 'written', result

    def show(self, is_last: bool = False) -> None:
        ours = [video for video in self.videos if video.state != 'kept']
        ended = sum(video.state != 'waiting' for video in ours)
        done = sum(video.size * (video.done / (video.segments + 1) if video.state == 'waiting' else 1) for video in ours)
        self.progress.show(f'files {ended} of {len(ours)}, segments {sum(video.done for video in ours)} of '
                           f'{sum(video.segments for video in ours)}',
                           self.frames, done / max(sum(video.size for video in ours), 1), is_last)


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    arguments = parse_arguments()
    check_settings(arguments.settings)
    try:
        task.Gst.parse_launch(arguments.encoder)
    except task.GLib.Error as error:
        die(f'--encoder cannot be: {error.message}')
    inputs = [word for word in arguments.words if word not in arguments.settings]
    videos = [Video(place, path, name, arguments)
              for place, (path, name) in enumerate(find_videos(inputs, arguments.output))]
    outputs: dict[str, str] = {}
    for video in videos:
        source = video.job['source']
        if source == video.output or outputs.setdefault(video.output, source) != source:
            die(f"'{video.output}' is to be the output of '{source}', and is '{outputs.get(video.output, source)}' or its output")
    os.makedirs(arguments.output, exist_ok=True)
    with (threads(arguments.workers) if arguments.scheduler == 'none' else
          dask_workers(arguments.scheduler, arguments.workers, arguments.tls)) as (submit, lost):
        work = Work(videos, submit, lost)
        work.run()
    states = [video.state for video in videos]
    seconds = work.progress.seconds()
    summary = (', '.join(f'{states.count(state)} {state}' for state in ('written', 'kept', 'failed'))
               + f': {work.frames} frames in {seconds:.1f} s, {work.frames / seconds:.1f} frames/s')
    for video in videos:
        if video.state == 'failed':
            print(f"failed: {video.job['source']}: {'; '.join(video.errors)}", file=sys.stderr)
    try:
        write_report(arguments.output, [video.row() for video in videos], summary)
    except OSError as failure:
        print(f'there is no report: {failure}', file=sys.stderr)
    print(f'{summary}; {os.path.join(arguments.output, "report.html")}')
    return int('failed' in states)


if __name__ == '__main__':
    task.Gst.init(None)
    sys.exit(main())
