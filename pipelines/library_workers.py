# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The workers of library.py: threads on this machine, or Dask's on this machine or on a cluster.
import contextlib
import glob
import importlib.util
import logging
import os
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Iterator

from library_report import die

TASK = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'library_task.py')
LOOPBACK = '127.0.0.1'
START = 60  # seconds that Dask may take to start its workers on this machine
SEGMENTS_A_GPU = 2  # at a time: one starts, which takes 2.4 s, while the other uses the GPU

Submit = Callable[[list[str], int, bool], Any]  # command, priority, needs a GPU; returns a future
Lost = Callable[[], str]  # returns why no worker can be reached any more, or ''


def gpus() -> list[str]:
    if 'CUDA_VISIBLE_DEVICES' in os.environ:
        return [name for name in os.environ['CUDA_VISIBLE_DEVICES'].split(',') if name]
    return [str(number) for number in range(len(glob.glob('/dev/nvidia[0-9]*')))]


def environments(count: int | None) -> list[dict[str, str]]:
    """Returns the environment variables of each worker on this machine. Without a count, there is one worker per GPU
    or, without a GPU, one per four cores."""
    devices = gpus()
    count = count or len(devices) or max((os.cpu_count() or 1) // 4, 1)
    return [{'CUDA_VISIBLE_DEVICES': devices[i % len(devices)]} if devices else {} for i in range(count)]


def command_of(step: str, folder: str, number: int | None) -> list[str]:
    """Returns the command that runs a step. It is killed when the worker that started it ends."""
    paths = [f'{name}={os.environ[name]}' for name in ('GST_PLUGIN_PATH', 'GST_PRESET_PATH') if name in os.environ]
    return ['setpriv', '--pdeathsig', 'KILL', 'env', *paths, '/usr/bin/python3', TASK, step, folder,
            *([] if number is None else [str(number)])]


RUN = {'stdout': subprocess.PIPE, 'stderr': subprocess.PIPE, 'text': True, 'errors': 'replace', 'stdin': subprocess.DEVNULL}


@contextlib.contextmanager
def threads(count: int | None) -> Iterator[tuple[Submit, Lost]]:
    """Runs steps on this machine without Dask. At the end, kills the running steps and cancels the others."""
    ended, running = threading.Event(), set()
    free: queue.SimpleQueue = queue.SimpleQueue()
    for environment in environments(count):
        for _ in range(SEGMENTS_A_GPU if environment else 1):
            free.put(environment)

    def run(command: list[str]) -> subprocess.CompletedProcess:
        environment = free.get()
        try:
            with subprocess.Popen(command, env={**os.environ, **environment}, **RUN) as process:
                running.add(process)
                if ended.is_set():  # the process started while the block ended
                    process.kill()
                text = process.communicate()
            running.discard(process)
            return subprocess.CompletedProcess(command, process.returncode, *text)
        finally:
            free.put(environment)
    with ThreadPoolExecutor(free.qsize()) as pool:
        try:
            yield lambda command, priority, needs_gpu: pool.submit(run, command), lambda: ''
        finally:
            ended.set()
            pool.shutdown(wait=False, cancel_futures=True)
            for process in list(running):
                process.kill()


@contextlib.contextmanager
def limited(seconds: float, folder: str) -> Iterator[None]:
    """Ends this process if the block takes longer: Dask waits forever for a worker that dies when it starts, and then
    for its own clean-up. The workers end with this process. folder: removed in that case."""
    def expire(*_: Any) -> None:
        print(f'library.py: Dask has not started its workers within {seconds} s: call again, or use --scheduler none',
              file=sys.stderr, flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)
    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def local_cluster(count: int | None, folder: str, dashboard: str) -> Any:
    """Returns a Dask cluster on this machine. All its sockets are on loopback, because Dask runs whatever anyone sends
    it."""
    from distributed import Nanny, Scheduler, SpecCluster
    here = {'host': LOOPBACK, 'dashboard_address': f'{LOOPBACK}:0'}
    workers = {i: {'cls': Nanny, 'options': {
        **here, 'nthreads': SEGMENTS_A_GPU + 1 if environment else 1, 'resources': {'GPU': 1} if environment else {},
        'env': environment, 'memory_limit': 0, 'local_directory': folder}} for i, environment in enumerate(environments(count))}
    return SpecCluster(workers=workers, scheduler={'cls': Scheduler, 'options': {**here, 'dashboard_address': dashboard}})


def connect(stack: contextlib.ExitStack, address: str, tls: dict[str, str]) -> Any:
    from distributed import Client
    from distributed.security import Security
    security = Security(require_encryption=True, **tls) if tls else None
    address = f'tls://{address}' if tls and '://' not in address else address
    try:
        client = Client(address, security=security)
        # If it is not running, close() would try to connect for 30 s.
        stack.callback(lambda: client.status == 'running' and client.close())
        return client
    except (OSError, ValueError, TypeError) as failure:  # also from ssl, about the TLS files
        die(f'the Dask scheduler at {address} cannot be reached: {failure}')


def wait_for_workers(client: Any) -> dict:
    """Waits for the first workers. Returns what the scheduler knows of each connected worker."""
    said = time.monotonic()
    while not (workers := client.scheduler_info().get('workers')):
        if client.status != 'running':
            die(f"Dask's scheduler at {client.scheduler.address} has ended or cannot be reached")
        if time.monotonic() - said > 10:
            print(f'no worker has connected to {client.scheduler.address} yet; waiting', file=sys.stderr, flush=True)
            said = time.monotonic()
        time.sleep(0.1)
    return workers


@contextlib.contextmanager
def dask_workers(address: str | None, count: int | None, tls: dict[str, str]) -> Iterator[tuple[Submit, Lost]]:
    """Runs steps on the Dask cluster at the address or, without an address, on one that it starts on this machine."""
    if 'DASK_LOGGING__DISTRIBUTED' not in os.environ:  # library.py reports the errors that matter
        os.environ['DASK_LOGGING__DISTRIBUTED'] = 'critical'
        logging.disable(logging.ERROR)
    os.environ.setdefault('PYTHONWARNINGS', 'ignore:resource_tracker')  # printed when a call is killed
    has_bokeh = bool(importlib.util.find_spec('bokeh'))
    with contextlib.ExitStack() as stack:
        if address:
            client = connect(stack, address, tls)
            workers = wait_for_workers(client)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            with limited(START, folder):
                cluster = stack.enter_context(local_cluster(count, folder, f'{LOOPBACK}:{8787 if has_bokeh else 0}'))
                address = cluster.scheduler_address
                client = connect(stack, address, {})
                workers = wait_for_workers(client)
        dashboard = client.dashboard_link if has_bokeh else 'none, as Bokeh is not installed'
        print(f"Dask's scheduler: {client.scheduler.address}; dashboard: {dashboard}", file=sys.stderr)
        has_gpus = any(worker['resources'].get('GPU') for worker in workers.values())
        yield (lambda command, priority, needs_gpu: client.submit(
            subprocess.run, command, **RUN, pure=False, priority=priority,
            resources={'GPU': 1 / SEGMENTS_A_GPU} if needs_gpu and has_gpus else None),
            lambda: '' if client.status == 'running' else f"Dask's scheduler at {address} has ended or cannot be reached")


def outcome(future: Any) -> tuple[int, str]:
    """Returns the exit status of a command, and its result or the reason of its failure."""
    try:
        process = future.result()
    except Exception as failure:  # such as Dask's: a worker was lost repeatedly, or the task was cancelled
        return 1, f'{type(failure).__name__}: {failure}'
    lines = process.stderr.strip().splitlines() or [f'it ended with exit status {process.returncode}']
    return process.returncode, (process.stdout.strip().splitlines() or lines)[-1]
