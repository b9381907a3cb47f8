#!/bin/sh
# You should see the progress, and at the end a line for each video that failed. The outputs and report.html are in DIR.
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Usage: pipelines/library.py INPUT... --output DIR [OPTION]... [PROPERTY=VALUE]...; library.sh says more.
# Each video is filtered in steps, which are commands of library_task.py. Any worker can run any step. This file decides
# which steps run, and in which order.
''''exec "$(dirname "$0")/library.sh" "$@" # sh runs this line: library.sh sets up first. Python reads it as a string
'''
import argparse
import contextlib
import hashlib
import json
import math
import os
import queue
import shutil
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import library_task as task
from library_files import hash_of_source, locked, read_json, remove_parts, shown, write_json
from library_filter import apply_settings, context_frames, is_setting, make_filter, plugin_of, state_of, with_absolute_path
from library_inputs import SUFFIXES, find_videos, refuse_report, without_overwrites
from library_report import Progress, die, write_report
from library_workers import Lost, Submit, command_of, dask_workers, gpus, outcome, threads

H264 = 'x264enc speed-preset=veryfast pass=qual quantizer=20'
H264_ON_GPU = 'nvh264enc ! h264parse'
TRIES = 3
READERS = 16  # threads that hash the sources; they mostly wait for disks
# Option: name in Dask's Security.
TLS = {'--tls-ca-file': 'tls_ca_file', '--tls-cert': 'tls_client_cert', '--tls-key': 'tls_client_key'}


# ---- arguments

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
    if arguments.workers is not None and arguments.workers < 1:
        die(f'--workers {arguments.workers}: must be 1 or more')
    if not 0 <= arguments.segment < math.inf:
        die(f'--segment {arguments.segment}: must be 0 or more seconds; 0 makes no cuts')
    if not arguments.output:
        die('--output is empty: name a folder')
    arguments.output = os.path.abspath(arguments.output)
    arguments.tls = tls_files(arguments)
    return arguments


def tls_files(arguments: argparse.Namespace) -> dict[str, str]:
    """Returns the files for Dask's Security, by Dask's names. Returns none without TLS."""
    files = {name: getattr(arguments, name) for name in TLS.values()}
    if not any(files.values()):
        if arguments.scheduler and arguments.scheduler.startswith('tls:'):
            die(f'--scheduler {arguments.scheduler} needs {", ".join(TLS)}')
        return {}
    if not all(files.values()):
        die(f'{", ".join(TLS)} must be given together')
    if arguments.scheduler in (None, 'none'):
        die(f'{", ".join(TLS)} are for a cluster: give its address with --scheduler')
    for path in files.values():
        try:
            open(path, 'rb').close()
        except OSError as failure:
            die(f"'{path}' cannot be read: {failure.strerror}")
    return files


def take_words(arguments: argparse.Namespace) -> None:
    """Splits the words into inputs and settings. Sets arguments.filter to everything that an output depends on besides
    its job: the plugin, the values of its properties, and how many frames it reads around each frame."""
    element = make_filter()
    settings = [word for word in arguments.words if is_setting(word, element)]
    arguments.inputs = [word for word in arguments.words if word not in settings]
    for word in filter(os.path.lexists, settings):
        print(f"'{shown(word)}' is taken as a setting; for the file of that name write ./{shown(word)}", file=sys.stderr)
    arguments.settings = list(map(with_absolute_path, settings))
    apply_settings(element, arguments.settings)
    arguments.filter = {'plugin': plugin_of(element), 'filter': state_of(element), 'context': context_frames(element)}


def make_videos(arguments: argparse.Namespace) -> list['Video']:
    found = list(find_videos(arguments.inputs, arguments.output))
    for path, _ in found:
        refuse_report(path, arguments.output)
    with ThreadPoolExecutor(READERS) as pool:
        videos = list(pool.map(lambda place, names: Video(place, *names, arguments), range(len(found)), found))
    if not videos:
        die(f"no video in {' '.join(map(shown, arguments.inputs)) or 'INPUT, which is missing'}: in folders, names must end in "
            + ' '.join(SUFFIXES))
    return without_overwrites(videos)


def with_id(job: dict) -> dict:
    """Adds an id, a hash of the job. Results of an earlier call can be used again if they have the same id."""
    return {**job, 'id': hashlib.sha256(json.dumps({**job, 'id': ''}, sort_keys=True).encode()).hexdigest()[:16]}


class Video:
    """A video and its progress. The folder named after the id of the job contains the completed steps. Folders of other
    jobs are deleted."""

    def __init__(self, place: int, path: str, name: str, arguments: argparse.Namespace):
        suffix = os.path.splitext(name)[1].lower()[1:]
        kind = arguments.type or (suffix if suffix in task.MUXERS else 'mkv')
        name = name if suffix == kind else f'{name}.{kind}'
        self.place, self.output = place, os.path.join(arguments.output, name)
        self.work = os.path.join(arguments.output, '.segments', name)
        self.real_work = os.path.join(os.path.realpath(arguments.output), '.segments', name)  # without links
        self.state, self.errors, self.notes, self.result = 'waiting', [], [], {}
        self.segments = self.done = self.size = 0
        self.failures: dict = {}
        source = {'content': None, 'changed': None}
        try:
            self.size, source = os.stat(path).st_size, {'content': hash_of_source(path), 'changed': os.stat(path).st_mtime_ns}
        except OSError as failure:
            self.state, self.errors = 'failed', [failure.strerror or str(failure)]
        self.job = with_id({
            'source': path, 'output': self.output, 'work': self.work, 'settings': arguments.settings, 'mux': task.MUXERS[kind],
            'encoder': arguments.encoder, 'seconds': arguments.segment, **source, **arguments.filter})
        self.folder = self.folder_of(self.job)

    def folder_of(self, job: dict) -> str:
        return os.path.join(self.work, job['id'])

    def is_cut(self) -> bool:
        return self.job['seconds'] != 0

    def uncut(self) -> dict:
        return with_id({**self.job, 'seconds': 0})

    def is_written(self) -> bool:
        """Returns True, and sets the state to 'kept', if an earlier call with these settings has written the output and
        if it has not changed since."""
        notes = read_json(self.work + '.json')
        with contextlib.suppress(OSError):
            stat = os.stat(self.output)
            if notes and notes['job'] in (self.job['id'], self.uncut()['id']) and \
                    (stat.st_size, stat.st_mtime_ns) == (notes['bytes'], notes['time']):
                self.state, self.result = 'kept', notes
        return self.state == 'kept'

    def write_job(self) -> None:
        """Writes job.json. Keeps the steps that an earlier call completed for this job, cut or uncut, and deletes
        everything else in the work folder."""
        if os.path.realpath(self.work) != self.real_work:
            raise OSError(f"a link leads out of --output at '{shown(self.work)}', where files would be deleted: remove the link")
        os.makedirs(self.folder, exist_ok=True)
        for other in os.scandir(self.work):
            if other.name not in (self.job['id'], self.uncut()['id']):
                shutil.rmtree(other.path, ignore_errors=True) if other.is_dir(follow_symlinks=False) else os.unlink(other.path)
        write_json(os.path.join(self.folder, 'job.json'), self.job)

    def row(self) -> dict:
        seconds, frames = self.result.get('seconds', 0), self.result.get('frames', 0)
        notes = self.notes + [f'left out: {kind}' for kind in self.result.get('left_out', [])] + self.result.get('warnings', [])
        return {'file': shown(self.job['source']), 'state': self.state, 'frames': frames,
                'segments': self.result.get('segments', self.segments), 'seconds': f'{seconds:.1f}',
                'frames/s': f'{frames / seconds:.1f}' if seconds else '', 'device': self.result.get('device', ''),
                'message': '; '.join(self.errors + notes)}


# ---- work

class Work:
    """Runs the steps of all videos on the workers. A step that fails is tried up to TRIES times; the others
    continue."""

    def __init__(self, videos: list[Video], submit: Submit, lost: Lost = lambda: ''):
        self.videos, self.submit, self.lost = videos, submit, lost
        self.finished: queue.SimpleQueue = queue.SimpleQueue()
        self.frames = self.running = 0
        self.progress = Progress()

    def run(self) -> None:
        for video in self.videos:
            if video.state == 'waiting' and not video.is_written():
                self.plan(video)
        while self.running:
            try:
                step = self.finished.get(timeout=0.5)
            except queue.Empty:
                step = None
            if reason := self.lost():  # all running steps have failed for this reason
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
                video.errors.append(f'{reason}; the next call continues')

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
        if folder != video.folder:  # a step of the cut video, which is now filtered uncut
            return
        status, text = outcome(future)
        if status == 0:
            self.follow(video, step, json.loads(text))
        elif status == 3 and video.is_cut():
            video.job = video.uncut()
            video.folder = video.folder_of(video.job)
            video.state, video.errors, video.segments, video.done = 'waiting', [], 0, 0
            video.notes.append(f'not cut: {text}')
            self.plan(video)
        else:
            video.failures[step, number] = video.failures.get((step, number), 0) + 1
            if video.failures[step, number] < TRIES and status != 2:
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
        if not ours:
            return
        ended = sum(video.state != 'waiting' for video in ours)
        done = sum(video.size * (video.done / (video.segments + 1) if video.state == 'waiting' else 1) for video in ours)
        self.progress.show(f'files {ended} of {len(ours)}, segments {sum(video.done for video in ours)} of '
                           f'{sum(video.segments for video in ours)}',
                           self.frames, done / max(sum(video.size for video in ours), 1), is_last)


def run(videos: list[Video], arguments: argparse.Namespace) -> int:
    with (threads(arguments.workers) if arguments.scheduler == 'none' else
          dask_workers(arguments.scheduler, arguments.workers, arguments.tls)) as (submit, lost):
        work = Work(videos, submit, lost)
        work.run()
        seconds = work.progress.seconds()
    states = [video.state for video in videos]
    summary = ', '.join(f'{states.count(state)} {state}' for state in ('written', 'kept', 'failed'))
    if work.frames:
        summary += f'; {work.frames} frames in {seconds:.1f} s, {work.frames / seconds:.1f} frames/s'
    for video in videos:
        if video.state == 'failed':
            print(f"failed: {shown(video.job['source'])}: {'; '.join(video.errors)}", file=sys.stderr)
    try:
        write_report(arguments.output, [video.row() for video in videos], summary)
        print(f'videos: {summary}; report: {shown(os.path.join(arguments.output, "report.html"))}')
    except OSError as failure:
        print(f'videos: {summary}; the report cannot be written: {failure}')
    return int('failed' in states)


def main() -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:  # nohup
            continue
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    arguments = parse_arguments()
    try:
        take_words(arguments)
    except (OSError, ValueError) as failure:
        die(str(failure))
    try:
        task.Gst.parse_launch(arguments.encoder)
    except task.GLib.Error as error:
        die(f"--encoder '{arguments.encoder}' cannot be used: {error.message}")
    videos = make_videos(arguments)
    segments = os.path.join(arguments.output, '.segments')
    with contextlib.ExitStack() as stack:
        try:
            os.makedirs(segments, exist_ok=True)
            stack.enter_context(locked(segments))
        except BlockingIOError as holder:
            die(f"'{shown(arguments.output)}' is in use by another library.py, {holder}: wait for it, or give another folder to "
                '--output')
        except OSError as failure:
            die(f"--output '{shown(arguments.output)}' cannot be used: {failure.strerror}")
        remove_parts(arguments.output)
        return run(videos, arguments)


if __name__ == '__main__':
    task.Gst.init(None)
    sys.exit(main())
