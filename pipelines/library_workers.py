# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The workers of library.py: threads on this machine, or Dask's on this machine or on a cluster.
import contextlib
import glob
import importlib.util
import os
import queue
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

from library_report import die

TASK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'library_task.py')
SEGMENTS_A_GPU = 2  # at a time: one starts, for 2.4 s, while the other has the GPU

Submit = Callable[[list[str], int, bool], Any]  # command, priority, needs a GPU; returns a future


def gpus() -> list[str]:
    if 'CUDA_VISIBLE_DEVICES' in os.environ:
        return [name for name in os.environ['CUDA_VISIBLE_DEVICES'].split(',') if name]
    return [str(number) for number in range(len(glob.glob('/dev/nvidia[0-9]*')))]


def environments(count: int | None) -> list[dict[str, str]]:
    """Of each worker on this machine: one for each GPU, else for four cores."""
    devices = gpus()
    count = count or len(devices) or max((os.cpu_count() or 1) // 4, 1)
    return [{'CUDA_VISIBLE_DEVICES': devices[i % len(devices)]} if devices else {} for i in range(count)]


def command_of(step: str, folder: str, number: int | None) -> list[str]:
    """It ends with the worker that starts it."""
    paths = [f'{name}={os.environ[name]}' for name in ('GST_PLUGIN_PATH', 'GST_PRESET_PATH') if name in os.environ]
    return ['setpriv', '--pdeathsig', 'KILL', 'env', *paths, '/usr/bin/python3', TASK, step, folder,
            *([] if number is None else [str(number)])]


RUN = {'capture_output': True, 'text': True, 'stdin': subprocess.DEVNULL}


@contextlib.contextmanager
def threads(count: int | None) -> Iterator[Submit]:
    """Workers on this machine without Dask."""
    free: queue.SimpleQueue = queue.SimpleQueue()
    for environment in environments(count):
        for _ in range(SEGMENTS_A_GPU if environment else 1):
            free.put(environment)

    def run(command: list[str]) -> subprocess.CompletedProcess:
        environment = free.get()
        try:
            return subprocess.run(command, env={**os.environ, **environment}, **RUN)
        finally:
            free.put(environment)
    with ThreadPoolExecutor(free.qsize()) as pool:
        yield lambda command, priority, needs_gpu: pool.submit(run, command)


@contextlib.contextmanager
def dask_workers(address: str | None, count: int | None) -> Iterator[Submit]:
    """Workers of the Dask cluster at the address, else of one on this machine."""
    os.environ.setdefault('DASK_LOGGING__DISTRIBUTED', 'error')
    from distributed import Client, Nanny, Scheduler, SpecCluster
    has_bokeh = bool(importlib.util.find_spec('bokeh'))
    with contextlib.ExitStack() as stack:
        if not address:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            workers = {i: {'cls': Nanny, 'options': {
                'nthreads': SEGMENTS_A_GPU + 1 if environment else 1, 'resources': {'GPU': 1} if environment else {}, 'env': environment,
                'memory_limit': 0, 'local_directory': folder}} for i, environment in enumerate(environments(count))}
            scheduler = {'cls': Scheduler, 'options': {'host': '127.0.0.1', 'dashboard_address': ':8787' if has_bokeh else ':0'}}
            address = stack.enter_context(SpecCluster(workers=workers, scheduler=scheduler))
        try:
            client = stack.enter_context(Client(address))
        except OSError as failure:
            die(f'there is no Dask scheduler at {address}: {failure}')
        client.wait_for_workers(1)
        dashboard = client.dashboard_link if has_bokeh else 'none, as Bokeh is not installed'
        print(f"Dask's scheduler: {client.scheduler.address}; dashboard: {dashboard}", file=sys.stderr)
        has_gpus = any(worker['resources'].get('GPU') for worker in client.scheduler_info()['workers'].values())
        yield lambda command, priority, needs_gpu: client.submit(
            subprocess.run, command, **RUN, pure=False, priority=priority,
            resources={'GPU': 1 / SEGMENTS_A_GPU} if needs_gpu and has_gpus else None)


def outcome(future: Any) -> tuple[int, str]:
    """Exit status of a command, and its result or the reason."""
    try:
        process = future.result()
    except Exception as failure:  # of Dask's: a worker that was lost again and again, a task that was cancelled
        return 1, f'{type(failure).__name__}: {failure}'
    lines = process.stderr.strip().splitlines() or [f'it ended with exit status {process.returncode}']
    return process.returncode, process.stdout.strip() or lines[-1]
