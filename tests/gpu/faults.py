#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the jobs of the program `faults`, as many at a time as there are processors. Each has a process of its own: a
crash or a hang counts as one failure, and the job goes on after it.

usage: faults.py PROGRAM DRIVER [--all] [--job PART]
  --all       all runs of every job. By default jobs in which all later calls fail, too, skip runs, and jobs with
              backend=auto only do the runs that fail up to the first frame: afterwards the element stays on the GPU
  --job PART  only jobs whose names contain PART
"""

import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import threading

SILENCE = 30  # seconds after which a run counts as hanging
SHOWN = 40  # most failures to print
GO_ON = 3  # exit status of a program that leaves the job's other runs to another process


class Job:
    def __init__(self, program, driver, name, step, extent):
        self.program, self.driver, self.name, self.step, self.extent = program, driver, name, step, extent
        self.runs, self.failures = 0, []

    def run(self):
        following = 1
        while following:
            following = self.run_from(following)
        return self

    def run_from(self, first):
        """Does the runs from `first` on. Returns the run to go on with in another process; 0: there is none."""
        command = [self.program, self.driver, self.name, str(first), str(self.step), self.extent]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                   errors="replace")
        last, other = 0, collections.deque(maxlen=3)
        hung = threading.Event()

        def kill():
            hung.set()
            process.kill()

        timer = threading.Timer(SILENCE, kill)
        timer.start()
        for line in process.stdout:
            if line.startswith("run "):
                last = int(line.split()[1])
                self.runs += 1
                timer.cancel()
                timer = threading.Timer(SILENCE, kill)
                timer.start()
            elif line.startswith("FAILED "):
                self.failures.append(line.strip())
            elif line.strip():
                other.append(line.strip())
        timer.cancel()
        status = process.wait()
        if status == GO_ON and not hung.is_set():
            return last + self.step
        if status in (0, 1):
            if status and not self.failures:
                self.failures.append(f"FAILED {self.name}: {' '.join(other)}")
            return 0
        what = "hangs" if hung.is_set() else f"ends with {status}"
        self.failures.append(f"FAILED {self.name} run {last} {what}: {' '.join(other)}")
        return last + self.step if last else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("driver")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--job", default="")
    options = parser.parse_args()
    listed = subprocess.run([options.program, options.driver, "list"], check=True, stdout=subprocess.PIPE, text=True)
    jobs = []
    for line in listed.stdout.splitlines():
        name, step, extent = line.split()
        if options.job in name:
            if options.all:
                step, extent = 1, "all"
            jobs.append(Job(options.program, options.driver, name, int(step), extent))
    failures, calls, runs = [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for job in pool.map(Job.run, jobs):
            failures += job.failures
            runs += job.runs
            if sys.stdout.isatty() or job.failures:
                print(f"{job.name}: {job.runs} runs, {len(job.failures)} failures", flush=True)
    for line in failures[:SHOWN]:
        print(line[:400])
    if len(failures) > SHOWN:
        print(f"and {len(failures) - SHOWN} more")
    print(f"{len(jobs)} jobs, {runs} runs, in each of which one call fails, or none was left, {len(failures)} failures")
    return 1 if failures or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
