# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the programs of pipelines/ do to the files that they read and write, beside the pixels.
#
# Usage: media.py PIPELINES part      in the folder of a build that CUDACONVOLVE_BUILD names
# Exit status: 77 where something is missing, with the reason.
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAMS = Path(os.environ['CUDACONVOLVE_BUILD']) / 'pipelines'
BLUR = ['--', 'cudaconvolve', 'radius=2', 'backend=cpu']
FRAMES = 30


def expect(text, is_so):
    if not is_so:
        sys.exit(f'FAILED: {text}')


def program(name, *arguments):
    """Runs a program of pipelines/. Returns its exit status and what it prints."""
    done = subprocess.run([PROGRAMS / name, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60)
    print(*arguments, '\n', done.stdout)
    return done.returncode, done.stdout


# ---- the file until it is complete

def start(output):
    """Starts a program that writes for minutes, and waits until there is something of the file."""
    run = subprocess.Popen([PROGRAMS / 'run', '--frames=100000', f'--output={output}', *BLUR], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    end = time.monotonic() + 20
    while not any(path.stat().st_size for path in Path().glob(f'*.part/{output}')):
        expect(f'{output} is being written', run.poll() is None and time.monotonic() < end)
        time.sleep(0.05)
    return run


def test_part():
    """No link in place of the part is followed, others cannot look into its folder, and nothing is left of it."""
    Path('victim').write_bytes(b'mine')
    os.symlink('victim', 'out.ogv.part')
    status, _ = program('run', '--frames=3', '--output=out.ogv', *BLUR)
    expect('out.ogv is written', status == 0 and Path('out.ogv').stat().st_size > 1000)
    expect('a file that a link out.ogv.part names is not touched', Path('victim').read_bytes() == b'mine')
    Path('out.ogv').unlink()
    Path('out.ogv.part').unlink()
    for ends in [signal.SIGTERM], [signal.SIGHUP], [signal.SIGINT, signal.SIGINT], [signal.SIGPIPE, signal.SIGTERM]:
        run = start('out.ogv')
        folders = list(Path().glob('*.part'))
        expect('only its user may enter the folder', [folder.stat().st_mode & 0o777 for folder in folders] == [0o700])
        for end in ends:
            run.send_signal(end)
            time.sleep(0.1)
        run.stdout.close()
        expect(f'{ends}: ends as failed', run.wait(20) == 1)
        expect(f'{ends}: nothing is left', sorted(os.listdir()) == ['victim'])
    run = start('out.ogv')
    run.send_signal(signal.SIGINT)
    run.stdout.close()
    expect('SIGINT completes the file', run.wait(20) == 0 and sorted(os.listdir()) == ['out.ogv', 'victim'])
    Path('out.ogv').unlink()
    status, text = program('run', '--output=out.ogv', '--picture=filesrc location=victim ! decodebin', *BLUR)
    expect('an error leaves nothing', status == 1 and sorted(os.listdir()) == ['victim'])
    os.mkdir('out.ogv')
    status, text = program('run', '--frames=3', '--output=out.ogv', *BLUR)
    expect('a folder in place of the output is an error that names it',
           status == 1 and "'out.ogv' cannot be written" in text and not list(Path().glob('*.part')))
    status, text = program('run', '--frames=3', '--output=none/out.ogv', *BLUR)
    expect('so is a folder that is not there', status == 1 and "in 'none'" in text and 'set OUTPUT' in text)


def main():
    tests = {name[5:]: test for name, test in globals().items() if name.startswith('test_')}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tests[sys.argv[2]]()


main()
