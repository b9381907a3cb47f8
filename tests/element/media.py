# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How the programs of pipelines/ handle their input and output files: everything but the pixels.
#
# Usage: media.py PIPELINES part|found|sound|subtitles|tags|photo|depth|cut      in the folder of a build that CUDACONVOLVE_BUILD names
# Exit status: 77 if something is missing, with the reason.
import datetime
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib
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


def program(name, *arguments, stdin=None):
    """Runs a program of pipelines/. Returns its exit status and what it prints."""
    done = subprocess.run([PROGRAMS / name, *arguments], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=60)
    print(*arguments, '\n', done.stdout)
    return done.returncode, done.stdout


def need(*elements):
    for element in elements:
        if subprocess.run(['gst-inspect-1.0', '--exists', element]).returncode:
            skip(f'needs {element}')


def launch(text):
    return subprocess.run(['gst-launch-1.0', '-v', *text.split()], check=True, capture_output=True, text=True, timeout=60).stdout


def blur(source, output, *options):
    status, text = program('run', f'--input={source}', f'--output={output}', *options, *BLUR)
    expect(f'{source} becomes {output}', status == 0)
    return text


def packets(path, *kinds):
    """Returns for each kind of stream its packets that have a time, as (content, ms, duration in ms or None)."""
    try:
        import gi
        gi.require_version('Gst', '1.0')
        from gi.repository import Gst
    except (ImportError, ValueError) as error:
        skip(f'needs GStreamer for Python ({error}): python3-gst-1.0')
    Gst.init(None)
    streams = {kind: [] for kind in kinds}

    def note(pad, info, stream):
        buffer = info.get_buffer()
        if buffer.pts != Gst.CLOCK_TIME_NONE:
            duration = None if buffer.duration == Gst.CLOCK_TIME_NONE else round(buffer.duration / 1e6)
            stream.append((buffer.extract_dup(0, buffer.get_size()), round(buffer.pts / 1e6), duration))
        return Gst.PadProbeReturn.OK

    def link(parser, pad):
        kind = pad.query_caps(None).to_string().split(',')[0]
        end = Gst.parse_bin_from_description('queue ! fakesink sync=false async=false', True)
        pipeline.add(end)
        end.sync_state_with_parent()
        pad.add_probe(Gst.PadProbeType.BUFFER, note, streams.setdefault(kind, []))
        pad.link(end.get_static_pad('sink'))
    pipeline = Gst.parse_launch(f'filesrc location={path} ! parsebin name=all')
    pipeline.get_by_name('all').connect('pad-added', link)
    pipeline.set_state(Gst.State.PLAYING)
    end = pipeline.get_bus().timed_pop_filtered(20 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    expect(f'{path} can be read', end and end.type == Gst.MessageType.EOS)
    print(path, {kind: (len(stream), stream[-1][1:] if stream else None) for kind, stream in streams.items()})
    return [streams[kind] for kind in kinds]


# ---- incomplete files

SLOW = [*BLUR, '!', 'identity', 'sleep-time=300000']


def start(output, elements=BLUR):
    """Starts a program that writes for minutes, and waits until the incomplete file has some data."""
    run = subprocess.Popen([PROGRAMS / 'run', '--frames=100000', f'--output={output}', *elements], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT)
    end = time.monotonic() + 20
    while not any(path.stat().st_size for path in Path().glob(f'*.part/{output}')):
        if run.poll() is not None or time.monotonic() > end:
            run.kill()
            expect(f'{output} is being written', False)
        time.sleep(0.05)
    return run


def interrupt_twice(run):
    """Sends SIGINT until the program has ended: a busy one gets two quick ones as one."""
    end = time.monotonic() + 20
    while run.poll() is None:
        if time.monotonic() > end:
            run.kill()
            expect('SIGINT ends the program in 20 s', False)
        run.send_signal(signal.SIGINT)
        time.sleep(0.3)


def test_part():
    """The incomplete file does not follow links, is in a folder that only its user can enter, and is removed."""
    Path('victim').write_bytes(b'mine')
    os.symlink('victim', 'out.ogv.part')
    status, _ = program('run', '--frames=3', '--output=out.ogv', *BLUR)
    expect('out.ogv is written', status == 0 and Path('out.ogv').stat().st_size > 1000)
    expect('a file that a link out.ogv.part names is not touched', Path('victim').read_bytes() == b'mine')
    Path('out.ogv').unlink()
    Path('out.ogv.part').unlink()
    for ends in [signal.SIGTERM], [signal.SIGHUP], [signal.SIGPIPE, signal.SIGTERM]:
        run = start('out.ogv')
        folders = list(Path().glob('*.part'))
        expect('only its user may enter the folder', [folder.stat().st_mode & 0o777 for folder in folders] == [0o700])
        for end in ends:
            run.send_signal(end)
            time.sleep(0.1)
        run.stdout.close()
        expect(f'{ends}: ends as failed', run.wait(20) == 1)
        expect(f'{ends}: nothing is left', sorted(os.listdir()) == ['victim'])
    run = start('out.ogv', SLOW)  # which needs seconds to end the stream
    interrupt_twice(run)
    run.stdout.close()
    expect('a second SIGINT ends as failed', run.returncode == 1)
    expect('a second SIGINT leaves nothing', sorted(os.listdir()) == ['victim'])
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    run = start('out.ogv')
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for end in signal.SIGHUP, signal.SIGINT:
        run.send_signal(end)
        time.sleep(0.1)
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


# ---- reports of the detectors

PROFILE = '/usr/share/opencv4/haarcascades/haarcascade_frontalface_alt2.xml'
DETECT = f'facedetect display=false profile={PROFILE} min-size-width=30 min-size-height=30'
FACES = f'videoconvert ! {DETECT} ! cudaconvolve backend=cpu roi-source=meta roi-shape=ellipse'
BACKGROUND = 'videoconvert ! cudaconvolve backend=cpu radius=48 roi-source=meta roi-invert=true'
SIZE = 'video/x-raw,format=RGB,width=512,height=512,framerate=25/1'


def watch(name, elements, *shots):
    """Returns a program's output for shots. n: n frames of a portrait; -n: n black ones; 'two': 2 of two portraits."""
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
    """One sentence at the end, with a warning if faces came or went."""
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
    text = watch('faces', hidden + ' roi-missing=filter', -3)
    expect('no faces, and all is hidden', text.endswith(f'every frame was filtered completely: {doubt}\n')
           and 'samples changed' not in text)
    text = watch('background', BACKGROUND, 4, -2, 3)
    left = re.search('\npeople' + re.escape(found.format(7, 9, 2, 0)[5:]) + r'(\S+) % of the detail in the background is left\n', text)
    expect('little is left of the background', left and float(left[1]) < 10)
    expect('doubt about people', text.endswith(f'a person came and went 1 time: {doubt}\n'))


# ---- streams

PICTURE = f'videotestsrc num-buffers={FRAMES} horizontal-speed=2 ! video/x-raw,format=I420,width=320,height=240,framerate=25/1'
TONE = 'audiotestsrc num-buffers=53 samplesperbuffer=1000 ! audio/x-raw,rate=48000,channels=2 ! audioconvert'
H264 = 'x264enc speed-preset=ultrafast'


def make(path, mux, video, *others):
    streams = ' '.join(f'{stream} ! queue ! mux.' for stream in (f'{PICTURE} ! {video}', *others))
    launch(f'{mux} name=mux ! filesink location={path} {streams}')
    return path


def without_durations(path):
    """Removes the durations of packets from a .mkv, because other programs do not write them."""
    data = Path(path).read_bytes()
    expect('there are durations to remove', b'\x23\xe3\x83\x84' in data)
    Path(path).write_bytes(re.sub(rb'\x23\xe3\x83\x84(....)', b'\xec\x86\\1\0\0', data, flags=re.S))


def test_sound():
    """Sound is copied completely if the file can hold it. Otherwise it is encoded again, and no packet is lost."""
    need('x264enc', 'mp4mux', 'matroskamux', 'avenc_aac', 'avdec_aac', 'mpegtsmux', 'flacenc', 'opusenc', 'qtmux', 'jpegenc')
    aac = f'{TONE} ! avenc_aac ! aacparse'
    make('aac.ts', 'mpegtsmux', H264, aac)
    make('aac.mkv', 'matroskamux', H264, aac)
    make('long.mkv', 'matroskamux', H264, aac)
    without_durations('long.mkv')
    make('flac.mkv', 'matroskamux', H264, f'{TONE} ! flacenc')
    make('opus.ogv', 'oggmux', 'theoraenc', f'{TONE} ! opusenc')
    for source, output, kind in [('aac.ts', 'out.mp4', 'audio/mpeg'), ('aac.ts', 'out.mkv', 'audio/mpeg'),
                                 ('aac.mkv', 'out.mp4', 'audio/mpeg'), ('long.mkv', 'out.mp4', 'audio/mpeg'),
                                 ('flac.mkv', 'out.mkv', 'audio/x-flac'), ('opus.ogv', 'out.mp4', 'audio/x-opus'),
                                 ('opus.ogv', 'out.ogv', 'audio/x-opus')]:
        expect(f'{source}: sound is copied to {output}', 'sound: copied\n' in blur(source, output))
        video, sound = packets(output, 'video/x-theora' if output == 'out.ogv' else 'video/x-h264', kind)
        wanted, = packets(source, kind)
        expect('no frame is lost', len(video) == FRAMES)
        expect('no packet of sound is lost', len(sound) == len(wanted))
        header = 7 if source == 'aac.ts' else 0  # the header of ADTS
        expect('its packets are the same', all(a[0] == b[0][header:] for a, b in zip(sound, wanted)))
    make('pcm.mov', 'qtmux', 'jpegenc', TONE)
    expect('sound is encoded', 'sound: encoded again\n' in blur('pcm.mov', 'out.mp4'))
    sound, = packets('out.mp4', 'audio/mpeg')
    expect('all 52993 samples, and 1024 before them, are encoded', len(sound) * 1024 >= 52993 + 1024)


SUBTITLES = """1
00:00:00,200 --> 00:00:00,600
One <i>of</i> two &

2
00:00:00,800 --> 00:00:01,100
5 < 6
"""


def subtitles_of(path):
    return packets(path, 'text/x-raw')[0]


def test_subtitles():
    """Subtitles are kept with their times; or one sentence says that they are not kept."""
    need('x264enc', 'mp4mux', 'matroskamux', 'avdec_h264', 'vp8enc', 'theoraenc')
    Path('two.srt').write_text(SUBTITLES)
    make('text.mkv', 'matroskamux', H264, 'filesrc location=two.srt ! subparse ! text/x-raw,format=utf8')
    wanted = subtitles_of('text.mkv')
    plain = [(text, *times) for text, (_, *times) in zip((b'One of two &', b'5 < 6'), wanted)]
    expect('there is something to keep', [times for _, *times in wanted] == [[200, 400], [800, 300]])
    for source, output, text in [('text.mkv', 'out.mkv', wanted), ('text.mkv', 'out.mp4', plain),
                                 ('out.mp4', 'again.mp4', plain), ('out.mp4', 'again.mkv', None)]:
        expect(f'subtitles of {source} are kept', 'subtitles: copied\n' in blur(source, output))
        expect('they are the same', text is None or subtitles_of(output) == text)
    expect('two are left at last', len(subtitles_of('again.mkv')) == 2)
    for output in 'out.webm', 'out.ogv':
        said = [line for line in blur('text.mkv', output).splitlines() if 'subtitle' in line]
        expect(f'{output}: one sentence', said == [f'subtitles left out: a {output[3:]} file cannot hold them, use .mkv'])


# ---- time and place

CREATED = datetime.datetime(2001, 2, 3, 4, 5, 6, tzinfo=datetime.timezone.utc)
IN_MP4 = int((CREATED - datetime.datetime(1904, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds())
IN_MKV = int((CREATED - datetime.datetime(2001, 1, 1, tzinfo=datetime.timezone.utc)).total_seconds()) * 10 ** 9
PLACE = b'+48.1373+011.5755/'


def boxes(data, start=0, end=None):
    """Yields type, start and end of each box of an .mp4, and of the boxes inside those that hold tracks."""
    end = len(data) if end is None else end
    while start + 8 <= end:
        size, kind = struct.unpack('>I4s', data[start:start + 8])
        size = struct.unpack('>Q', data[start + 8:start + 16])[0] if size == 1 else size
        yield kind, start, start + size
        if kind in (b'moov', b'trak', b'mdia', b'udta'):
            yield from boxes(data, start + 8, start + size)
        start += size


def creation_times(path):
    data = Path(path).read_bytes()
    return [struct.unpack('>I', data[start + 12:start + 16])[0] for kind, start, _ in boxes(data)
            if kind in (b'mvhd', b'tkhd', b'mdhd')]


def mark(path):
    """Stores in an .mp4 when and where it was recorded, and that players should rotate it, as telephones do."""
    data = bytearray(Path(path).read_bytes())
    for kind, start, end in list(boxes(data)):
        if kind in (b'mvhd', b'tkhd', b'mdhd'):
            struct.pack_into('>I', data, start + 12, IN_MP4)
        if kind == b'tkhd' and data[start + 84:start + 92] != bytes(8):
            struct.pack_into('>9i', data, start + 48, 0, 65536, 0, -65536, 0, 0, 240 << 16, 0, 1 << 30)
    moov, = [start for kind, start, end in boxes(data) if kind == b'moov']
    user, end = [(start, end) for kind, start, end in boxes(data) if kind == b'udta'][-1]
    expect('the headers come last, and the user\'s data last of these', end == len(data) and moov > data.find(b'mdat'))
    place = struct.pack('>I4sHH', 12 + len(PLACE), b'\xa9xyz', len(PLACE), 0x15c7) + PLACE
    data[user:] = struct.pack('>I4s', 8 + len(place), b'udta') + place
    struct.pack_into('>I', data, moov, len(data) - moov)
    Path(path).write_bytes(data)


def size_of(path):
    """Returns the width and height of the decoded video, and whether the file asks players to rotate it."""
    caps = launch(f'filesrc location={path} ! decodebin ! video/x-raw ! fakesink name=end')
    width, height = re.search(r'end.GstPad:sink: caps = .*width=\(int\)(\d+), height=\(int\)(\d+)', caps).groups()
    data = Path(path).read_bytes()
    turned = any(struct.unpack_from('>i', data, start + 48)[0] == 0 for kind, start, _ in boxes(data) if kind == b'tkhd')
    return int(width), int(height), turned


def test_tags():
    """The time of recording is kept; so is the place, unless the program hides something; the video is rotated once."""
    need('x264enc', 'mp4mux', 'matroskamux', 'avdec_h264', 'videoflip')
    mark(make('marked.mp4', 'mp4mux', H264))
    expect('the mark is there', set(creation_times('marked.mp4')) == {IN_MP4} and size_of('marked.mp4') == (320, 240, True))
    text = blur('marked.mp4', 'out.mp4')
    expect('the place is kept, and one sentence says so', text.count('location') == 1 and 'location: kept' in text)
    expect('it is there', b'<exif:GPSLatitude>48,8.23' in Path('out.mp4').read_bytes())
    expect('the times of the file and its tracks stay', set(creation_times('out.mp4')) == {IN_MP4})
    expect('it is turned once', size_of('out.mp4') == (240, 320, False))
    blur('marked.mp4', 'deep.mp4', '--format=I420_10LE')
    expect('with FORMAT too', size_of('deep.mp4') == (240, 320, False))
    text = blur('marked.mp4', 'out.mkv')
    expect('.mkv has no place, and one sentence says so', 'location: left out, because .mkv cannot hold it\n' in text)
    expect('.mkv has the time', b'\x44\x61\x87' + struct.pack('>q', IN_MKV)[1:] in Path('out.mkv').read_bytes())
    for name, elements in ('privacy', 'cudaconvolve roi-source=meta'), ('faces', 'cudaconvolve roi-source=meta'):
        region = ['--region=10,10,50,50'] if name == 'privacy' else []
        status, text = program(name, '--input=marked.mp4', '--output=hidden.mp4', *region, '--', *elements.split(),
                               'backend=cpu')
        data = Path('hidden.mp4').read_bytes()
        expect(f'{name} leaves the place out', status == 0 and not re.search(rb'loci|xyz|48\.13|GPS|geo', data))
        expect(f'{name} says so once', text.count('location') == 1 and 'location: left out' in text)
        expect(f'{name} keeps the time', set(creation_times('hidden.mp4')) == {IN_MP4})
    make('plain.mp4', 'mp4mux', H264)
    expect('without a place nothing is said', 'location' not in blur('plain.mp4', 'out.mp4'))


# ---- photos

def exif_block():
    """Returns an EXIF block with a rotation by 90 degrees, a time, a place and a thumbnail of the original."""
    def entry(tag, kind, count, value):
        return struct.pack('>HHI', tag, kind, count) + (value if len(value) == 4 else value.ljust(4, b'\0'))

    def directory(entries, following=0):
        return struct.pack('>H', len(entries)) + b''.join(entries) + struct.pack('>I', following)
    time, degrees = b'2001:02:03 04:05:06\0', struct.pack('>6I', 48, 1, 8, 1, 14, 1)
    main, camera, gps, small, values = 8, 50, 68, 122, 164
    block = b'MM\0*' + struct.pack('>I', main)
    block += directory([entry(0x112, 3, 1, b'\0\6'), entry(0x8769, 4, 1, struct.pack('>I', camera)),
                        entry(0x8825, 4, 1, struct.pack('>I', gps))], small)
    block += directory([entry(0x9003, 2, 20, struct.pack('>I', values))])
    block += directory([entry(1, 2, 2, b'N\0'), entry(2, 5, 3, struct.pack('>I', values + 20)), entry(3, 2, 2, b'E\0'),
                        entry(4, 5, 3, struct.pack('>I', values + 20))])
    block += directory([entry(0x103, 3, 1, b'\0\6'), entry(0x201, 4, 1, struct.pack('>I', values + 44)),
                        entry(0x202, 4, 1, struct.pack('>I', 8))])
    expect('the block is laid out as meant', len(block) == values)
    return block + time + degrees + b'UNHIDDEN'


def profile_block(space=b'RGB '):
    data = bytes(i * i % 251 for i in range(150000))
    return struct.pack('>I', len(data) + 128) + bytes(12) + space + bytes(16) + b'acsp' + bytes(88) + data


def chunk(kind, data):
    return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))


def add_notes(path, space=b'RGB '):
    data, exif, profile = Path(path).read_bytes(), exif_block(), profile_block(space)
    if path.endswith('.png'):
        notes, at = chunk(b'iCCP', b'mine\0\0' + zlib.compress(profile)) + chunk(b'eXIf', exif), 33
    else:
        parts = [profile[i:i + 65000] for i in range(0, len(profile), 65000)]
        segments = [(b'\xe1', b'Exif\0\0' + exif)] + [(b'\xe2', b'ICC_PROFILE\0' + bytes([i + 1, len(parts)]) + part)
                                                     for i, part in enumerate(parts)]
        notes, at = b''.join(b'\xff' + kind + struct.pack('>H', len(part) + 2) + part for kind, part in segments), 2
    Path(path).write_bytes(data[:at] + notes + data[at:])


def notes_of(path):
    """Returns the EXIF block and the colour profile, each b'' if it is missing."""
    data, exif, profile, at = Path(path).read_bytes(), b'', b'', 2
    if path.endswith('.png'):
        at = 8
        while at < len(data):
            size, kind = struct.unpack_from('>I4s', data, at)
            content = data[at + 8:at + 8 + size]
            expect('the check sum is right', chunk(kind, content) == data[at:at + size + 12])
            exif = content if kind == b'eXIf' else exif
            profile = zlib.decompress(content[content.index(b'\0') + 2:]) if kind == b'iCCP' else profile
            at += size + 12
        return exif, profile
    while data[at + 1] != 0xda:
        size, = struct.unpack_from('>H', data, at + 2)
        content = data[at + 4:at + 2 + size]
        exif = content[6:] if content.startswith(b'Exif\0\0') else exif
        profile += content[14:] if content.startswith(b'ICC_PROFILE\0') else b''
        at += size + 2
    return exif, profile


def has_orientation(exif):
    order = '<' if exif.startswith(b'II') else '>'
    at, = struct.unpack_from(order + 'I', exif, 4)
    count, = struct.unpack_from(order + 'H', exif, at)
    return any(struct.unpack_from(order + 'H', exif, at + 2 + 12 * i)[0] == 0x112 for i in range(count))


def has_place(exif):
    return b'\x88\x25' in exif or b'\x25\x88' in exif


def test_photo():
    """EXIF and colour profile of a photo are kept; it is rotated once; no thumbnail shows the original."""
    need('jpegenc', 'pngenc', 'videoflip')
    for kind, encoder in ('jpg', 'jpegenc'), ('png', 'pngenc'):
        launch(f'videotestsrc num-buffers=1 ! video/x-raw,width=320,height=200 ! {encoder} ! filesink location=photo.{kind}')
        add_notes(f'photo.{kind}')
        for output in 'out.jpg', 'out.png':
            text = blur(f'photo.{kind}', output)
            exif, profile = notes_of(output)
            expect('the profile is the same', profile == profile_block())
            expect('the time is kept', b'2001:02:03 04:05:06' in exif)
            expect('the place is kept, and one sentence says so', has_place(exif) and text.count('location: kept') == 1)
            expect('no small picture is kept', b'UNHIDDEN' not in Path(output).read_bytes())
            expect('it is turned once', size_of(output)[:2] == (200, 320) and not has_orientation(exif))
        status, text = program('privacy', f'--input=photo.{kind}', f'--output=hidden.{kind}', '--region=10,10,50,50', '--',
                               'cudaconvolve', 'roi-source=meta', 'backend=cpu')
        exif, _ = notes_of(f'hidden.{kind}')
        expect('privacy leaves out the place', status == 0 and b'2001:02:03' in exif and not has_place(exif))
        expect('and says so', text.count('location: left out') == 1)
    launch('videotestsrc num-buffers=1 ! video/x-raw,width=320,height=200 ! jpegenc ! filesink location=other.jpg')
    add_notes('other.jpg', b'CMYK')
    text = blur('other.jpg', 'out.jpg')
    expect('a profile for other colours is left out', not notes_of('out.jpg')[1] and 'colours CMYK' in text)
    whole = Path('photo.jpg').read_bytes()
    for end in [*range(2, 60), *range(60, len(whole), 20011)]:  # truncated or wrong notes do not crash the program
        Path('cut.jpg').write_bytes(whole[:end] + bytes(50))
        expect('no crash', program('run', '--input=cut.jpg', '--output=cut.png', *BLUR)[0] in (0, 1)) if end % 7 == 0 else None


def test_depth():
    """One sentence says that the output has 8 bits, and the setting that it names keeps 10."""
    need('x264enc', 'mp4mux', 'avdec_h264', 'vp8enc', 'pngenc')
    deep = 'videoconvert ! video/x-raw,format=I420_10LE,colorimetry=bt2100-pq ! ' + H264
    make('hdr.mp4', 'mp4mux', deep)
    text = blur('hdr.mp4', 'out.mp4')
    said = 'I420_10LE of 10 bit, which is HDR, is written as 8 bit 4:2:0, which plays everywhere; '
    expect('one sentence', text.count('8 bit') == 1 and said + 'FORMAT=I420_10LE keeps 10 bit\n' in text)
    text = blur('hdr.mp4', 'out.mp4', '--format=I420_10LE')
    caps = launch('filesrc location=out.mp4 ! decodebin ! video/x-raw ! fakesink name=end')
    expect('FORMAT keeps 10 bit', '8 bit' not in text and re.search('sink: caps = .*I420_10LE.*(bt2100-pq|14)', caps))
    make('odd.mkv', 'matroskamux', 'videoscale ! video/x-raw,width=33,height=35 ! avenc_ffv1')
    for format, size in (('I420_10LE', (32, 34)), ('Y444_10LE', (33, 35))):
        text = blur('odd.mkv', 'out.mkv', f'--format={format}')
        expect(f'{format} of odd size', size_of('out.mkv')[:2] == size and ('made even, because I420_10LE' in text) == (size == (32, 34)))
    make('small.mkv', 'matroskamux', 'videoscale ! video/x-raw,width=15,height=33 ! avenc_ffv1')
    status, text = program('run', '--input=small.mkv', '--output=small.webm', *BLUR)
    expect('a video that is too small', status == 1 and 'a video of 15x33 is too small: .webm needs at least 16x16' in text)
    text = blur('hdr.mp4', 'out.webm')
    rows = b''.join(b'\0' + bytes(range(192)) for _ in range(32))
    Path('deep.png').write_bytes(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', 32, 32, 16, 2, 0, 0, 0))
                                 + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))
    empty = Path('deep.png').read_bytes()
    Path('empty.png').write_bytes(empty[:33] + chunk(b'eXIf', b'') + empty[33:])
    expect('EXIF without a byte', 'CRITICAL' not in blur('empty.png', 'out.png'))
    expect('a picture of 16 bit', ' of 16 bit is written as 8 bit, the most that .png can hold' in blur('deep.png', 'out.png'))
    expect('.webm has no such setting', said + 'FORMAT=I420_10LE with an OUTPUT in .mkv keeps 10 bit\n' in text)


# ---- a part of the input

def grey_frames(path):
    """Returns a few samples of each frame. Links sound, too, as decodebin may wait for streams without a link."""
    launch(f'filesrc location={path} ! decodebin name=all all. ! queue ! audio/x-raw ! fakesink all. ! queue ! videoconvert '
           '! video/x-raw,format=GRAY8,width=320,height=240 ! filesink location=grey.raw')
    data = Path('grey.raw').read_bytes()
    return [data[at:at + 320 * 240:97] for at in range(0, len(data), 320 * 240)]


def places(path, source):
    """Returns for each frame the number of the most similar frame of the source."""
    return [min(range(len(source)), key=lambda i: sum(abs(a - b) for a, b in zip(frame, source[i]))) for frame in grey_frames(path)]


def is_part(name, found, wanted):
    """In .ts the first frame is later than time 0, by what the encoder holds back."""
    if name.endswith('.ts'):
        return found == list(range(found[0], found[-1] + 1)) and found[0] <= wanted[0] <= found[0] + 5 and len(found) <= len(wanted) + 4
    return found == list(wanted)


def test_cut():
    """The output has the frames from --start on, for --duration, and their sound. Its times begin at 0."""
    need('x264enc', 'mp4mux', 'matroskamux', 'avdec_h264', 'theoraenc', 'vp8enc', 'mpegtsmux', 'avenc_aac')
    short, aac = 'x264enc speed-preset=ultrafast key-int-max=7', f'{TONE} ! avenc_aac ! aacparse'
    identity = ['--', 'cudaconvolve', 'filter=identity', 'backend=cpu']
    for name, mux, video, sound in [('a.mp4', 'mp4mux', short, aac), ('b.mkv', 'matroskamux', H264, aac),
                                    ('c.ogv', 'oggmux', 'theoraenc quality=60', f'{TONE} ! vorbisenc'),
                                    ('d.webm', 'webmmux', 'vp8enc deadline=1 target-bitrate=3000000', f'{TONE} ! vorbisenc'),
                                    ('e.ts', 'mpegtsmux', short, aac)]:
        make(name, mux, video, sound)
        source = grey_frames(name)
        for options, wanted in [(['--start=0.52', '--duration=0.4'], range(13, 23)), (['--start=0.8'], range(20, FRAMES)),
                                (['--duration=0.2'], range(5))]:
            status, text = program('run', f'--input={name}', '--output=out.mp4', *options, *identity)
            found = places('out.mp4', source)
            expect(f'{name} {options}: {found} are {wanted}', status == 0 and is_part(name, found, wanted))
        _, text = program('run', f'--input={name}', '--output=out.mkv', '--start=0.52', '--duration=0.4', *identity)
        video, sound = packets('out.mkv', 'video/x-h264', 'audio/mpeg' if sound == aac else 'audio/x-vorbis')
        expect(f'{name}: the part begins at 0', video[0][1] == 0 and 0 <= sound[0][1] <= 60)
        expect(f'{name}: the sound ends with it', 300 <= sound[-1][1] <= 450)
    status, text = program('run', '--input=a.mp4', '--output=none.mp4', '--start=5', *identity)
    expect('a start beyond the end', status == 1 and 'START=5 is beyond the end of the file, which has 1.2 s' in text)
    with subprocess.Popen(['cat', 'c.ogv'], stdout=subprocess.PIPE) as writer:
        status, text = program('run', '--input=fd://0', '--output=none.mp4', '--start=0.5', *identity, stdin=writer.stdout)
    expect('a pipe', status == 1 and 'START and DURATION need a file in which GStreamer can seek' in text)
    for option in '--start=-1', '--start=nan', '--duration=1e300', '--quality=101', '--start=1':
        status, text = program('run', *([] if option == '--start=1' else ['--input=a.mp4']), '--output=none.mp4', option, *identity)
        expect(f'{option} is refused', status == 2 and ' is not valid: ' in text)
    status, text = program('run', '--frames=100000', '--output=out.mp4', '--duration=0.5', *identity)
    expect('the test picture has a duration too', status == 0 and '15 frames in ' in text and not Path('none.mp4').exists())


def main():
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores SIGHUP, and programs would inherit that
    tests = {name[5:]: test for name, test in globals().items() if name.startswith('test_')}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        tests[sys.argv[2]]()


main()
