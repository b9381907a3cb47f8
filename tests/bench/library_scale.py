#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Measures the time of pipelines/library.py and Dask's scheduler per segment, with segments that do no work. The
# scheduler has a process of its own, all workers together have another, and library.py's order of steps runs in this
# one.
#
# Usage: library_scale.py [WORKERS [VIDEOS [SEGMENTS_OF_EACH]]]    default 1000 1000 100, a quarter of an hour
import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

os.environ['DASK_LOGGING__DISTRIBUTED'] = 'error'
for name in ('ADMIN__TICK__INTERVAL', 'ADMIN__SYSTEM_MONITOR__INTERVAL', 'WORKER__PROFILE__INTERVAL'):
    os.environ['DASK_DISTRIBUTED__' + name] = '1h'  # each worker would check itself many times per second
os.environ['DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT'] = '300s'
sys.path.insert(0, str(Path(__file__).parent.parent.parent / 'pipelines'))


async def scheduler() -> None:
    from distributed import Scheduler
    async with Scheduler(host='127.0.0.1', dashboard=False) as server:
        print(server.address, flush=True)
        await server.finished()


async def workers(address: str, count: int, folder: str) -> None:
    from distributed import Worker
    threads = ThreadPoolExecutor(4)  # for all workers, because Dask's own threads look for work every second
    servers = [Worker(address, nthreads=1, executor=threads, local_directory=folder, memory_limit=0, dashboard=False)
               for _ in range(count)]
    for server in servers:
        await server
    print('ready', flush=True)
    await servers[0].finished()


def no_work(command: list[str], segments: int) -> subprocess.CompletedProcess:
    result = {'plan': {'segments': [{}] * segments}, 'segment': {'packets': 1}, 'join': {}}
    return subprocess.CompletedProcess(command, 0, json.dumps(next(result[word] for word in command if word in result)), '')


def start(*words) -> tuple[subprocess.Popen, str]:
    process = subprocess.Popen([sys.executable, __file__, *map(str, words)], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def cpu_seconds(pid: int | str = 'self') -> float:
    fields = Path(f'/proc/{pid}/stat').read_text().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def main(n_workers: int = 1000, n_videos: int = 1000, n_segments: int = 100) -> None:
    import library
    from distributed import Client
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, 'video.mkv')
        Path(source).touch()
        options = argparse.Namespace(output=folder, type=None, settings=[], encoder='', segment=60, filter={})
        videos = [library.Video(i, source, f'{i}.mkv', options) for i in range(n_videos)]
        dask, address = start('scheduler')
        host, _ = start('workers', address, n_workers, folder)
        with Client(address) as client:
            before, own, begin = cpu_seconds(dask.pid), cpu_seconds(), time.monotonic()
            work = library.Work(videos, lambda command, priority, needs_gpu: client.submit(
                no_work, command, n_segments, pure=False, priority=priority))
            work.run()
            wall, count = time.monotonic() - begin, n_videos * n_segments
            print(f'{n_workers} workers, {n_videos} videos, {count} segments of no work: {wall:.0f} s; a segment: '
                  f'{1000 * (cpu_seconds(dask.pid) - before) / count:.2f} ms of the scheduler, '
                  f'{1000 * (cpu_seconds() - own) / count:.2f} ms of library.py, {1000 * wall / count:.2f} ms on the clock')
        for process in (host, dask):
            process.kill()
            process.wait()


if __name__ == '__main__':
    if sys.argv[1:2] == ['scheduler']:
        asyncio.run(scheduler())
    elif sys.argv[1:2] == ['workers']:
        asyncio.run(workers(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
    else:
        main(*map(int, sys.argv[1:]))
