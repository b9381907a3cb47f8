#!/bin/sh
# You should see how far the videos are, and at the end a line for each that failed; the outputs and report.html are in DIR.
# SPDX-License-Identifier: LGPL-2.1-or-later
''''exec "$(dirname "$0")/library.sh" "$@" # a command for sh, and a text for Python: library.sh sets up first
'''
import argparse
import contextlib
import glob
import hashlib
import importlib.util
import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

import library_task as task
from library_report import Progress, write_report

HELP = '''Filters all videos of a library by the element cudaconvolve. Each is cut at key frames into segments, which workers
filter; what they make is joined without encoding it again, with sound and subtitles as they are. A call goes on where
the last one stopped. Exit status: 1 where a video failed.'''
SUFFIXES = '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mts .mpg .mpeg .ogv .flv .wmv .3gp'.split()
H264 = 'x264enc speed-preset=veryfast pass=qual quantizer=20'
H264_ON_GPU = 'nvh264enc ! h264parse'
TRIES = 3
HERE = os.path.dirname(os.path.abspath(__file__))

Submit = Callable[[list[str], int, bool], Any]  # command, priority, needs a GPU; returns a future


def die(text: str) -> None:
    sys.exit(f'library.py: {text}')


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='library.py', description=HELP, fromfile_prefix_chars='@')
    parser.add_argument('inputs', nargs='+', metavar='INPUT', help='file, folder or glob; @FILE: a file with one on each line')
    parser.add_argument('settings', nargs='*', metavar='PROPERTY=VALUE', help='of cudaconvolve, as for gst-launch-1.0')
    parser.add_argument('--output', required=True, metavar='DIR')
    parser.add_argument('--scheduler', metavar='ADDRESS', help="Dask's, else workers on this machine; none: without Dask")
    parser.add_argument('--segment', type=float, default=60, metavar='SECONDS', help='of a segment, at least; 60')
    parser.add_argument('--type', choices=sorted(task.MUXERS), help='of the outputs: that of the input, or mkv')
    parser.add_argument('--encoder', metavar='ELEMENTS', help=f'{H264_ON_GPU}, or without a GPU {H264}')
    parser.add_argument('--workers', type=int, metavar='N', help='on this machine: one for each GPU, or for four cores')
    arguments = parser.parse_intermixed_args()
    words = arguments.inputs + arguments.settings
    arguments.settings = [word for word in words if is_setting(word)]
    arguments.inputs = [word for word in words if not is_setting(word)]
    return arguments


def is_setting(word: str) -> bool:
    return word.partition('=')[0].lstrip('@').replace('-', '').isalnum() and '=' in word and not os.path.exists(word)


def check_settings(settings: list[str]) -> None:
    """What gst-launch-1.0 would leave at its default is refused."""
    element = task.Gst.ElementFactory.make('cudaconvolve')
    if not element:
        die('there is no element cudaconvolve: start pipelines/library.py, which builds it, or set GST_PLUGIN_PATH')
    for name, value in (word.split('=', 1) for word in settings if not word.startswith('@')):
        told = []
        if not element.find_property(name):
            die(f'cudaconvolve has no property {name}: gst-inspect-1.0 cudaconvolve lists them')
        element.connect(f'notify::{name}', lambda *_: told.append(True))
        task.Gst.util_set_object_arg(element, name, value)
        if not told:
            die(f'{name}={value} cannot be: gst-inspect-1.0 cudaconvolve says which values it takes')


def find_videos(inputs: list[str], output: str) -> list[tuple[str, str]]:
    """Path and name below the output folder of each."""
    videos = []
    for word in inputs:
        if os.path.isdir(word):
            paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(word) for name in names
                           if os.path.splitext(name)[1].lower() in SUFFIXES)
            videos += [(path, os.path.relpath(path, word)) for path in paths
                       if not os.path.abspath(path).startswith(os.path.abspath(output) + os.sep)]
            continue
        paths = [word] if os.path.exists(word) else sorted(glob.glob(word, recursive=True))
        if not paths:
            die(f"there is no file '{word}'")
        videos += [(path, os.path.basename(path)) for path in paths]
    return [(os.path.abspath(path), name) for path, name in videos]


def output_name(name: str, kind: str | None) -> str:
    suffix = os.path.splitext(name)[1].lower()[1:]
    kind = kind or (suffix if suffix in task.MUXERS else 'mkv')
    return name if suffix == kind else f'{name}.{kind}'


class Video:
    """A video, and how far it is."""

    def __init__(self, place: int, path: str, name: str, arguments: argparse.Namespace):
        self.place, self.name = place, output_name(name, arguments.type)
        self.output = os.path.join(os.path.abspath(arguments.output), self.name)
        self.work = os.path.join(os.path.abspath(arguments.output), '.library', self.name)
        self.folder = self.work
        stat = os.stat(path)
        self.size = stat.st_size
        self.job = {'source': path, 'output': self.output, 'work': self.work, 'settings': arguments.settings,
                    'encoder': arguments.encoder, 'seconds': arguments.segment, 'source_is': [self.size, stat.st_mtime_ns],
                    'mux': task.MUXERS[os.path.splitext(self.name)[1].lower()[1:]]}
        self.state, self.message, self.result = 'waiting', '', {}
        self.segments = self.done = 0
        self.failures: dict = {}
        self.errors: list[str] = []
        self.prepare()

    def prepare(self) -> None:
        self.job['id'] = hashlib.sha256(json.dumps(self.job, sort_keys=True).encode()).hexdigest()[:16]

    def is_written(self) -> bool:
        """By an earlier call with these settings, and as it was left."""
        notes = task.read_json(self.work + '.json')
        if not notes or notes['job'] not in (self.job['id'], self.whole()['id']) or not os.path.exists(self.output):
            return False
        stat = os.stat(self.output)
        if [stat.st_size, stat.st_mtime_ns] != [notes['bytes'], notes['time']]:
            return False
        self.state, self.result = 'kept', notes
        return True

    def whole(self) -> dict:
        """The job as one segment."""
        job = {**self.job, 'seconds': 0}
        del job['id']
        return {**job, 'id': hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]}

    def write_job(self) -> None:
        """What other settings have left goes."""
        old = task.read_json(os.path.join(self.folder, 'job.json'))
        if not old or old['id'] != self.job['id']:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.makedirs(self.folder)
            task.write_json(os.path.join(self.folder, 'job.json'), self.job)

    def row(self) -> dict:
        seconds = self.result.get('seconds', 0)
        frames = self.result.get('frames', 0)
        left_out = [f'left out: {kind}' for kind in self.result.get('left_out', [])]
        return {'file': self.job['source'], 'state': self.state, 'frames': frames, 'segments': self.segments,
                'seconds': f'{seconds:.1f}', 'frames/s': f'{frames / seconds:.1f}' if seconds else '',
                'device': self.result.get('backend', ''),
                'message': '; '.join(self.errors + left_out + self.result.get('warnings', []))}


# ---- workers

def gpus() -> list[str]:
    if 'CUDA_VISIBLE_DEVICES' in os.environ:
        return [name for name in os.environ['CUDA_VISIBLE_DEVICES'].split(',') if name]
    return [str(number) for number in range(len(glob.glob('/dev/nvidia[0-9]*')))]


def worker_environments(count: int | None) -> list[dict[str, str]]:
    """A worker for each GPU, else for four cores."""
    devices = gpus()
    count = count or len(devices) or max((os.cpu_count() or 1) // 4, 1)
    return [{'CUDA_VISIBLE_DEVICES': devices[i % len(devices)]} if devices else {} for i in range(count)]


def command_of(step: str, folder: str, number: int | None) -> list[str]:
    """It ends with the process that starts it."""
    path = [f'{name}={os.environ[name]}' for name in ('GST_PLUGIN_PATH', 'GST_PRESET_PATH') if name in os.environ]
    return ['setpriv', '--pdeathsig', 'KILL', 'env', *path, '/usr/bin/python3', os.path.join(HERE, 'library_task.py'), step,
            folder, *([] if number is None else [str(number)])]


RUN = {'capture_output': True, 'text': True, 'stdin': subprocess.DEVNULL}


@contextlib.contextmanager
def threads(count: int | None) -> Iterator[Submit]:
    """Workers on this machine without Dask."""
    free: queue.SimpleQueue = queue.SimpleQueue()
    environments = worker_environments(count)
    for environment in environments:
        free.put(environment)

    def run(command: list[str]) -> subprocess.CompletedProcess:
        environment = free.get()
        try:
            return subprocess.run(command, env={**os.environ, **environment}, **RUN)
        finally:
            free.put(environment)
    with ThreadPoolExecutor(len(environments)) as pool:
        yield lambda command, priority, needs_gpu: pool.submit(run, command)


@contextlib.contextmanager
def dask_workers(address: str | None, count: int | None) -> Iterator[Submit]:
    """Workers of the Dask cluster at the address, else of one on this machine."""
    os.environ.setdefault('DASK_LOGGING__DISTRIBUTED', 'error')
    from distributed import Client, Nanny, Scheduler, SpecCluster
    with contextlib.ExitStack() as stack:
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            workers = {i: {'cls': Nanny, 'options': {
                'nthreads': 2 if env else 1, 'resources': {'GPU': 1} if env else {}, 'env': env, 'memory_limit': 0,
                'local_directory': folder}} for i, env in enumerate(worker_environments(count))}
            dashboard = bool(importlib.util.find_spec('bokeh'))
            scheduler = {'cls': Scheduler, 'options': {'dashboard': dashboard, 'host': '127.0.0.1'}}
            address = stack.enter_context(SpecCluster(workers=workers, scheduler=scheduler))
        client = stack.enter_context(Client(address))
        client.wait_for_workers(1)
        print('Dask: scheduler', client.scheduler.address, '' if not client.dashboard_link else
              f'dashboard {client.dashboard_link}' if importlib.util.find_spec('bokeh') else
              'no dashboard: Bokeh is not installed', file=sys.stderr)
        has_gpus = any(worker.get('resources', {}).get('GPU') for worker in client.scheduler_info()['workers'].values())
        yield lambda command, priority, needs_gpu: client.submit(
            subprocess.run, command, **RUN, pure=False, priority=priority,
            resources={'GPU': 1} if needs_gpu and has_gpus else None)


# ---- work

class Work:
    """All videos through the workers. A step that fails is tried again; each video's others go on."""

    def __init__(self, videos: list[Video], submit: Submit):
        self.videos, self.submit = videos, submit
        self.finished: queue.SimpleQueue = queue.SimpleQueue()
        self.frames = 0
        self.running = 0
        self.progress = Progress()

    def start(self, video: Video, step: str, number: int | None = None) -> None:
        self.running += 1
        future = self.submit(command_of(step, video.folder, number), -video.place, step == 'segment')
        folder = video.folder
        future.add_done_callback(lambda future: self.finished.put((video, folder, step, number, future)))

    def plan(self, video: Video) -> None:
        try:
            video.write_job()
        except OSError as failure:
            video.state = 'failed'
            video.errors.append(str(failure))
        else:
            self.start(video, 'plan')

    def run(self) -> None:
        for video in self.videos:
            if video.is_written():
                continue
            self.plan(video)
        while self.running:
            with contextlib.suppress(queue.Empty):
                self.take(*self.finished.get(timeout=0.5))
            self.show()
        self.show(at_once=True)
        self.progress.end()

    def take(self, video: Video, folder: str, step: str, number: int | None, future: Any) -> None:
        self.running -= 1
        if folder != video.folder:  # cut, before it was found that it cannot be
            return
        status, text = outcome(future)
        if status == 0:
            self.follow(video, step, json.loads(text))
        elif status == 3 and video.job['seconds']:
            video.state = 'waiting'
            video.errors.clear()
            video.folder, video.job = os.path.join(video.work, 'whole'), video.whole()
            video.segments = video.done = 0
            self.plan(video)
        else:
            tries = video.failures[step, number] = video.failures.get((step, number), 0) + 1
            if tries < TRIES:
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

    def show(self, at_once: bool = False) -> None:
        mine = [video for video in self.videos if video.state != 'kept']
        ended = sum(video.state in ('written', 'failed') for video in mine)
        size = sum(video.size for video in mine)
        done = sum(video.size * (1 if video.state != 'waiting' else video.done / (video.segments + 1)) for video in mine)
        self.progress.show(f'{ended}/{len(mine)}',
                           f'{sum(video.done for video in mine)}/{sum(video.segments for video in mine)}',
                           self.frames, done / size if size else 1, at_once)


def outcome(future: Any) -> tuple[int, str]:
    """Exit status of a step, and its result or the reason."""
    failure = future.exception()
    if failure:
        return 1, f'{type(failure).__name__}: {failure}'
    process = future.result()
    if process.returncode == 0:
        return 0, process.stdout
    lines = process.stderr.strip().splitlines() or [f'it ended with exit status {process.returncode}']
    return process.returncode, lines[-1]


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    arguments = parse_arguments()
    check_settings(arguments.settings)
    arguments.encoder = arguments.encoder or (
        H264_ON_GPU if gpus() and task.Gst.ElementFactory.find('nvh264enc') else H264)
    videos = [Video(place, path, name, arguments)
              for place, (path, name) in enumerate(find_videos(arguments.inputs, arguments.output))]
    outputs: dict[str, str] = {}
    for video in videos:
        source = video.job['source']
        if video.output in (source, outputs.get(video.output)) or outputs.setdefault(video.output, source) != source:
            die(f"'{outputs.get(video.output, source)}' and '{source}' would both be {video.output}")
    os.makedirs(arguments.output, exist_ok=True)
    workers = threads(arguments.workers) if arguments.scheduler == 'none' else \
        dask_workers(arguments.scheduler, arguments.workers)
    with workers as submit:
        work = Work(videos, submit)
        work.run()
    failed = [video for video in videos if video.state == 'failed']
    kept = sum(video.state == 'kept' for video in videos)
    seconds = work.progress.seconds()
    summary = (f'{len(videos) - len(failed) - kept} written, {kept} kept, {len(failed)} failed: {work.frames} frames in '
               f'{seconds:.1f} s, {work.frames / seconds:.1f} frames/s')
    try:
        write_report(arguments.output, [video.row() for video in videos], summary)
    except OSError as failure:
        print(f'there is no report: {failure}', file=sys.stderr)
    for video in failed:
        print(f"failed: {video.job['source']}: {'; '.join(video.errors)}", file=sys.stderr)
    print(summary + f'; {os.path.join(arguments.output, "report.html")}')
    return 1 if failed else 0


if __name__ == '__main__':
    task.Gst.init(None)
    sys.exit(main())
