# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What the programs of pipelines/ do to the files that they read and write, beside the pixels.
#
# Usage: media.py PIPELINES part|found      in the folder of a build that CUDACONVOLVE_BUILD names
# Exit status: 77 where something is missing, with the reason.
import os
import re
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


def skip(text):
    print(f'SKIPPED: {text}')
    sys.exit(77)


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


# ---- what the detectors found

PROFILE = '/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml'
DETECT = f'facedetect display=false profile={PROFILE} min-size-width=30 min-size-height=30'
FACES = f'videoconvert ! {DETECT} ! cudaconvolve backend=cpu roi-source=meta roi-shape=ellipse'
BACKGROUND = 'videoconvert ! cudaconvolve backend=cpu radius=48 roi-source=meta roi-invert=true'
SIZE = 'video/x-raw,format=RGB,width=512,height=512,framerate=25/1'


def watch(name, elements, *shots):
    """What the program says of shots: numbers of frames of a portrait, below 0 of black frames; 'two' are two portraits."""
    portrait = PROGRAMS.parent / 'portrait.png'
    exists = [subprocess.run(['gst-inspect-1.0', '--exists', element]).returncode == 0 for element in ('facedetect', 'pngdec')]
    if not all(exists) or not portrait.exists():
        skip('needs facedetect, PNG and a portrait, which tests/run.sh fetches')
    text = f'concat name=all ! {elements} ! fakesink'
    for shot in shots:
        still = f'filesrc location={portrait} ! pngdec ! imagefreeze num-buffers='
        if shot == 'two':
            source = 'compositor name=pair sink_1::xpos=256'
            text += f' {still}2 ! videoscale ! video/x-raw,width=256,height=256 ! tee name=one ! queue ! pair. one. ! queue ! pair.'
        else:
            source = f'{still}{shot}' if shot > 0 else f'videotestsrc pattern=black num-buffers={-shot}'
        text += f' {source} ! videoconvert ! {SIZE} ! all.'
    status, text = program(name, '--', *text.split())
    expect('exit status 0', status == 0)
    return text


def test_found():
    """One sentence at the end, and doubt where a face comes or goes."""
    hidden = FACES + ' filter=mosaic roi-strength=relative roi-relative-size=0.2'
    found = 'faces were found in {} of {} frames; {} frames had none, {} had fewer than the frame before; '
    doubt = 'look at the video before you publish it'
    text = watch('faces', FACES + ' filter=identity', 4)
    expect('the end', text.endswith(found.format(4, 4, 0, 0) + '100.0 % of the detail in the faces is left\n'))
    text = watch('faces', hidden, 4, -2, 3, -2, 2)
    left = re.search(re.escape(found.format(9, 13, 4, 0)) + r'(\S+) % of the detail in the faces is left\n', text)
    expect('little is left', left and float(left[1]) < 10)
    expect('doubt', text.endswith(f'a face came and went 2 times: {doubt}\n'))
    text = watch('faces', hidden, 'two', 2)
    expect('fewer than before', found.format(4, 4, 0, 1) in text and doubt in text)
    text = watch('faces', hidden, -2, 3)
    expect('doubt about the beginning', text.endswith(f'a face came after the first frame, and may have been missed before: {doubt}\n'))
    text = watch('faces', hidden, -3)
    expect('no faces', text.endswith(found.format(0, 3, 3, 0) + 'the detail in the faces was not measured\n'
                                     f'nothing was hidden: {doubt}\n'))
    text = watch('background', BACKGROUND, 4, -2, 3)
    left = re.search('\npeople' + re.escape(found.format(7, 9, 2, 0)[5:]) + r'(\S+) % of the detail in the background is left\n', text)
    expect('little is left of the background', left and float(left[1]) < 10)
    expect('doubt about people', text.endswith(f'a person came and went 1 time: {doubt}\n'))


def main():
    tests = {name[5:]: test for name, test in globals().items() if name.startswith('test_')}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tests[sys.argv[2]]()


main()
