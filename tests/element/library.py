# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs pipelines/library.py on short videos, and compares the frames that it writes with the frames of one run over each
# whole video, bit for bit: the encoder used here is lossless.
#
# Usage: library.py PIPELINES TEST      in the folder of a build that CUDACONVOLVE_BUILD names; `again` runs test_again
# Exit status: 77 if something is missing, with the reason.
import contextlib
import csv
import glob
import hashlib
import html
import importlib.util
import io
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PIPELINES = sys.argv[1]
sys.path.insert(0, PIPELINES)
try:
    import library
    import library_files
    import library_task as task
    from library_task import Gst
    import gi.overrides._gi_gst  # noqa: F401 (properties that are lists need it)
except (ImportError, ValueError) as error:
    print(f'skipped: {sys.executable} lacks GStreamer for Python ({error}): apt install python3-gst-1.0')
    sys.exit(77)

FRAMES, RATE = 75, 25
PICTURE = f'videotestsrc num-buffers={FRAMES} pattern=ball ! video/x-raw,format=I420,width=96,height=64,framerate={RATE}/1'
SOUND = 'audiotestsrc num-buffers=180 ! audio/x-raw,rate=44100,channels=1'  # longer than the video
H264 = 'x264enc speed-preset=veryfast key-int-max=25 bframes=3 b-pyramid=true option-string=open-gop=1'
SETTINGS = ['filter=box', 'radius=2', 'temporal-radius=2', 'scene-change-threshold=0.2', 'backend=cpu']
LOSSLESS = 'x264enc pass=quant quantizer=0 speed-preset=ultrafast threads=1'


def fail(text):
    sys.exit(f'FAILED: {text}')


def skip(text):
    print(f'SKIPPED: {text}')
    sys.exit(77)


def expect(text, is_so):
    if not is_so:
        fail(text)


# ---- videos

def write_text(path, text):
    with open(path, 'w') as file:
        file.write(text)


def launch(description):
    run = task.Run(description)
    run.play()
    run.stop()


def make_h264(path):
    """Makes a video with B frames that refer to each other, open groups of pictures, and sound."""
    launch(f'{PICTURE} ! {H264} ! h264parse ! mp4mux name=mux ! filesink location={path} '
           f'{SOUND} ! avenc_aac ! aacparse ! queue ! mux.')


def make_vp9(path):
    launch(f'{PICTURE} ! vp9enc deadline=1 cpu-used=8 keyframe-max-dist=25 ! webmmux ! filesink location={path}')


def make_uneven(path):
    """Makes a video with a variable frame rate, as telephones write it, and two scenes."""
    run = task.Run('appsrc name=source format=time caps=video/x-raw,format=I420,width=96,height=64,framerate=0/1 '
                   f'! {H264} ! h264parse ! mp4mux ! filesink location={path}')
    for i in range(FRAMES):
        ramp = bytes((x * (3 if i < FRAMES * 5 // 8 else 7) + 5 * i) % 256 for x in range(96 * 64 * 3 // 2))
        buffer = Gst.Buffer.new_wrapped(ramp)
        buffer.pts, following = ((n * 1000 // RATE + n * 7919 % 23) * Gst.MSECOND for n in (i, i + 1))
        buffer.duration = following - buffer.pts
        run['source'].emit('push-buffer', buffer)
    run['source'].emit('end-of-stream')
    run.play()
    run.stop()


def make_with(encoder, path):
    launch(f'{PICTURE} ! {encoder} ! filesink location={path}')


def frames_of(path, *elements):
    """Returns the time and the hash of each frame."""
    run, frames = task.Run(f'filesrc location={path} ! decodebin caps=video/x-raw(ANY) expose-all-streams=false '
                           f'! videoconvert {" ".join(elements)} ! appsink name=sink sync=false'), []

    def take(sample):
        digest = hashlib.blake2b(digest_size=8)
        task.hash_frame(digest, sample.get_caps(), sample.get_buffer())
        frames.append((task.running_time(sample.get_segment(), sample.get_buffer().pts), digest.hexdigest()))
    run.on_samples(run['sink'], take)
    run.play()
    run.stop()
    return frames


def sound_of(path):
    run, digest = task.Run(f'filesrc location={path} ! decodebin caps=audio/mpeg ! appsink name=sink sync=false'), []
    run.on_samples(run['sink'], lambda sample: digest.append(task.is_key(sample.get_buffer()) and hashlib.sha1(
        sample.get_buffer().extract_dup(0, sample.get_buffer().get_size())).hexdigest()))
    run.play()
    run.stop()
    return digest


def compare(source, output):
    one_run, result = frames_of(source, '! cudaconvolve', *SETTINGS), frames_of(output)
    expect(f'{output} has {len(result)} frames, not {len(one_run)}', len(one_run) == len(result) > 0)
    expect(f'frames of {output} differ from one run', [frame[1] for frame in one_run] == [frame[1] for frame in result])
    off = max(abs(a[0] - b[0]) for a, b in zip(one_run, result))
    expect(f'times in {output} are off by {off} ns', off <= 1)
    print(f'{output}: {len(result)} frames as in one run')


# ---- runs

def command(*words, output='out'):
    return [sys.executable, os.path.join(PIPELINES, 'library.py'), '--output', output, '--segment', '0.9',
            '--workers', '2', '--encoder', LOSSLESS, *SETTINGS, *words]


def run_library(*words, status=0, output='out'):
    result = subprocess.run(command(*words, output=output), stdout=subprocess.PIPE, text=True)
    print(result.stdout)
    expect(f'exit status {result.returncode}, not {status}', result.returncode == status)
    return report(output)


def files_below(folder):
    return [(path, names) for path, _, names in os.walk(folder)]


def refused(*words, says, output='refused'):
    """Checks that a call, in this process, ends with one line that gives the reason, and writes nothing."""
    sys.argv, before = command(*words, output=output)[1:], files_below(output)
    begin, text, said = time.monotonic(), '', io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            library.main()
    except SystemExit as end:
        text = str(end.code)
    print(text)
    expect(f'{words}: more is said: {said.getvalue()}', not said.getvalue())
    expect(f'{words} gives {text!r}, not {says!r}', says in text and text.startswith('library.py: ') and '\n' not in text)
    expect(f'{words} writes into {output}', files_below(output) == before and not os.path.exists('refused'))
    expect('it takes long', time.monotonic() - begin < 10)


def wait_for(is_so, seconds):
    end = time.monotonic() + seconds
    while not is_so():
        expect(f'not within {seconds} s', time.monotonic() < end)
        time.sleep(0.02)


def segment_file(number, suffix='', output='out'):
    """Returns the path of a completed segment of a.mp4, or None."""
    return next(glob.iglob(f'{output}/.segments/a.mp4/*/segment-{number:05}{suffix}'), None)


def report(output='out'):
    """Returns the report's rows by video name."""
    with open(os.path.join(output, 'report.csv'), newline='') as file:
        rows = {os.path.basename(row['file']): row for row in csv.DictReader(file)}
    for row in rows.values():
        print(row)
    return rows


def parent_of_segment():
    """Returns the process id of a worker that is running a segment, or None."""
    for name in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{name}/cmdline') as file:
                words = file.read().split('\0')
            with open(f'/proc/{name}/status') as file:
                parent = next(int(line.split()[1]) for line in file if line.startswith('PPid:'))
        except (OSError, StopIteration):
            continue
        if 'segment' in words and any(word.startswith(os.getcwd()) for word in words):
            return parent
    return None


def inodes_of_sockets(root):
    """Returns the inodes of the sockets of a process and of all its descendants."""
    parents, inodes = {}, set()
    for name in filter(str.isdigit, os.listdir('/proc')):
        with contextlib.suppress(OSError), open(f'/proc/{name}/stat') as file:
            parents[int(name)] = int(file.read().rsplit(')', 1)[1].split()[1])
    for process in parents:
        above = process
        while above and above != root:
            above = parents.get(above)
        if above:
            with contextlib.suppress(OSError):
                for name in os.listdir(f'/proc/{process}/fd'):
                    with contextlib.suppress(OSError):
                        inodes.add(os.readlink(f'/proc/{process}/fd/{name}'))
    return {inode[8:-1] for inode in inodes if inode.startswith('socket:[')}


def check_loopback(library):
    """Checks that all open TCP sockets of a run are on 127.0.0.1 or ::1."""
    inodes, rows = inodes_of_sockets(library.pid), []
    for family in ('tcp', 'tcp6'):
        with open(f'/proc/net/{family}') as file:
            rows += [row for row in map(str.split, list(file)[1:]) if row[9] in inodes]
    listening = [row[1] for row in rows if row[3] == '0A']
    expect(f'fewer sockets than a scheduler and two workers have: {listening}', len(listening) >= 5)
    others = [row[1] for row in rows if not row[1].startswith(('0100007F:', '00000000000000000000000001000000:',
                                                               '0000000000000000FFFF00000100007F:'))]
    expect(f'sockets that are not on loopback: {others}', not others)
    print(f'{len(rows)} sockets, all on loopback')


def kill_a_worker(library):
    while library.poll() is None:
        worker = parent_of_segment()
        if worker and worker != library.pid:
            check_loopback(library)
            os.kill(worker, signal.SIGKILL)
            print(f'killed worker {worker}')
            return
        time.sleep(0.01)
    fail('no segment was seen under way')


# ---- tests

def test_cluster():
    """Two workers of Dask, one of which is killed, and a truncated file."""
    if not importlib.util.find_spec('distributed'):
        skip('needs Dask: apt install python3-distributed')
    os.mkdir('in')
    make_h264('in/h264.mp4')
    make_vp9('in/vp9.webm')
    make_uneven('in/uneven.mp4')
    with open('in/h264.mp4', 'rb') as whole, open('in/corrupt.mp4', 'wb') as part:
        part.write(whole.read(20000))
    library = subprocess.Popen(command('in'), stdout=subprocess.PIPE, text=True)
    kill_a_worker(library)
    print(library.communicate()[0])
    expect(f'exit status {library.returncode}, with a corrupt file', library.returncode == 1)
    rows = report()
    expect('states', {name: row['state'] for name, row in rows.items()} == {
        'h264.mp4': 'written', 'vp9.webm': 'written', 'uneven.mp4': 'written', 'corrupt.mp4': 'failed'})
    message = rows['corrupt.mp4']['message']  # from qtdemux; or, if parsebin dropped that message, that no data came
    with open('out/report.html') as page:
        expect('the page does not have the message', message and html.escape(message) in page.read())
    for source, output in (('h264.mp4', 'h264.mp4'), ('vp9.webm', 'vp9.webm.mkv'), ('uneven.mp4', 'uneven.mp4')):
        expect(f'{source} is not cut', int(rows[source]['segments']) >= 3)
        compare(f'in/{source}', f'out/{output}')
    expect('the sound is not the same', sound_of('in/h264.mp4') == sound_of('out/h264.mp4') != [])
    expect('more files', sorted(os.listdir('out')) == ['.segments', 'h264.mp4', 'report.csv', 'report.html', 'uneven.mp4',
                                                       'vp9.webm.mkv'])


def start_dask(kind, *words):
    return subprocess.Popen([sys.executable, '-c', f'from distributed.cli.dask_{kind} import main; main()', *words],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def test_scheduler():
    """A cluster with TLS; wrong addresses and files; and a scheduler that ends during a call."""
    if not importlib.util.find_spec('distributed') or not shutil.which('openssl'):
        skip('needs Dask and OpenSSL: apt install python3-distributed openssl')
    subprocess.run('openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=library -keyout key.pem -out cert.pem'.split(),
                   check=True, stderr=subprocess.DEVNULL)
    tls = '--tls-ca-file cert.pem --tls-cert cert.pem --tls-key key.pem'.split()
    os.mkdir('in')
    make_h264('in/a.mp4')
    scheduler = start_dask('scheduler', '--protocol', 'tls', '--host', '127.0.0.1', '--port', '0', '--scheduler-file', 'dask',
                           '--dashboard-address', '127.0.0.1:0', *tls)
    worker = start_dask('worker', '--scheduler-file', 'dask', '--host', '127.0.0.1', '--nthreads', '1', '--no-nanny',
                        '--dashboard-address', '127.0.0.1:0', *tls)
    try:
        wait_for(lambda: task.read_json('dask'), 30)
        address = task.read_json('dask')['address']
        expect('the address', address.startswith('tls://'))
        refused('in', '--scheduler', address, *tls[:4], says='--tls-ca-file, --tls-cert, --tls-key must be given together')
        refused('in', '--scheduler', address, *tls[:5], 'none.pem', says="'none.pem' cannot be read")
        refused('in', *tls, says='are for a cluster')
        refused('in', '--scheduler', address, says='needs --tls-ca-file')
        expect('not written', run_library('in', '--scheduler', address, *tls)['a.mp4']['state'] == 'written')
        library = subprocess.Popen(command('in', '--scheduler', address, *tls, output='ended'), stderr=subprocess.PIPE, text=True)
        wait_for(lambda: segment_file(0, '.json', 'ended'), 30)
        scheduler.kill()
        says = library.communicate(timeout=20)[1]
        expect(f'what is said of a scheduler that ended: {says}', library.returncode == 1 and 'has ended' in says and
               'Traceback' not in says and 'has ended' in report('ended')['a.mp4']['message'])
    finally:
        scheduler.kill()
        worker.kill()


def test_start():
    """Workers that die at their start. Dask would wait for them forever; library.py gives up."""
    if not importlib.util.find_spec('distributed'):
        skip('needs Dask: apt install python3-distributed')
    write_text('dies.py', 'import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n')
    program = f'import sys; sys.path.insert(0, {PIPELINES!r}); import library_workers; library_workers.START = 1\n' \
        'with library_workers.dask_workers(None, 1, {}): pass'
    result = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=30,
                            env={**os.environ, 'DASK_DISTRIBUTED__WORKER__PRELOAD': f'["{os.getcwd()}/dies.py"]'})
    expect(f'what is said: {result}', result.returncode == 1 and 'has not started its workers within 1 s' in result.stderr and
           len(result.stderr.splitlines()) == 1)


def test_ended():
    """A signal ends a call at once: it neither waits for running steps nor starts further ones."""
    os.mkdir('in')
    for number in range(8):
        make_with(f'{H264} ! h264parse ! mp4mux', f'in/{number}.mp4')
    for end in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        call = subprocess.Popen(command('in', '--scheduler', 'none', output=end.name))
        wait_for(lambda: glob.glob(f'{end.name}/.segments/*/*/plan.json'), 30)
        call.send_signal(end)
        begin = time.monotonic()
        expect(f'{end.name}: exit status {call.wait(30)}', call.returncode == 128 + end)
        expect(f'{end.name}: {time.monotonic() - begin:.1f} s until it ends', time.monotonic() - begin < 2)
        expect(f'{end.name}: a step goes on', not parent_of_segment())


def test_again():
    """After a call was killed, the next one goes on, and removes what the killed one left. Then a call that finds
    everything done, and one with other settings."""
    os.mkdir('in')
    make_h264('in/a.mp4')
    none = ('in', '--scheduler', 'none')
    library = subprocess.Popen(command(*none))
    wait_for(lambda: library.poll() is not None or segment_file(1, '.json'), 30)
    library.kill()
    expect('the first call came to an end', library.wait() == -signal.SIGKILL)
    expect('an output that is not whole', not os.path.exists('out/a.mp4'))
    with open(segment_file(1), 'r+b') as file:
        file.seek(100)
        file.write(b'damage')
    parts = [segment_file(1) + '.1.part', 'out/.segments/a.mp4.json.1.part', 'out/report.csv.1.part']
    for part in parts:
        open(part, 'w').close()
    rows = run_library(*none)
    expect('parts of files are left', not any(map(os.path.exists, parts)))
    compare('in/a.mp4', 'out/a.mp4')
    written = os.stat('out/a.mp4').st_mtime_ns
    expect('not written', rows['a.mp4']['state'] == 'written')
    os.environ['CUDA_VISIBLE_DEVICES'] = ''
    failed = run_library(*none, '--segment', '2', 'backend=cuda', output='failed', status=1)['a.mp4']
    del os.environ['CUDA_VISIBLE_DEVICES']
    expect('the reason of each segment', failed['state'] == 'failed' and failed['message'].count('backend=cuda cannot run') ==
           int(failed['segments']))
    expect('not kept', run_library(*none)['a.mp4']['state'] == 'kept')
    expect('written again', os.stat('out/a.mp4').st_mtime_ns == written)
    expect('other settings change nothing', run_library(*none, 'bias=0.1')['a.mp4']['state'] == 'written')


def test_refused():
    """Settings, folders and files with which a call does not begin."""
    for folder in ('in', 'empty', 'other'):
        os.mkdir(folder)
    sources = 'in/a.mp4', 'other/a.mp4', 'in/b.ts', 'in/b.ts.mkv'
    for path in sources:
        write_text(path, path)
    for word, says in (('radius=900', 'radius=900: radius must be a number from -1 to 512'),
                       ('filter=blur', 'filter=blur: filter must be one of identity box gaussian'), ('stats=1', 'is read-only'), ('name=x', 'name is not a setting'),
                       ('normalize=maybe', 'true or false'), ('size=1', "no property 'size'"),
                       ('@preset=none', 'choose one of denoise'), ('kernel-location=none.txt', 'No such file'), ('--workers=0', 'must be 1 or more'),
                       ('--segment=-1', 'must be 0 or more'), ('--encoder=none', "--encoder 'none' cannot be used")):
        refused('in', word, says=says)
    refused('empty', says="no video in empty: in folders, names must end in .mp4")
    refused('radius=1', says='INPUT, which is missing')
    refused('in', says="'in' is both INPUT and --output", output='in')
    write_text('list', 'in\n@list\n')
    refused('@list', says="the list 'list' names itself")
    os.makedirs('held/.segments')
    with library_files.locked('held/.segments'):
        refused('in/a.mp4', says=f"'{os.getcwd()}/held' is in use by another library.py, process {os.getpid()} on", output='held')
    # Files that would be overwritten: through a link, under their own name, through another mount, by a second video.
    os.symlink('in', 'link')
    refused('in', says="'in' is both INPUT and --output", output='link')
    refused('in/a.mp4', says='in/a.mp4\' would replace', output='in')
    refused('in/a.mp4', says='in/a.mp4\', an INPUT', output='link')
    refused('in/b.ts', 'in/b.ts.mkv', says='b.ts.mkv\' would replace', output='link')
    refused('in/a.mp4', 'other/a.mp4', says='would both be written to')
    os.makedirs('out/real')
    os.symlink('real', 'out/same')
    os.makedirs('deep/real')
    os.makedirs('deep/same')
    shutil.copy('in/a.mp4', 'deep/real')
    shutil.copy('in/a.mp4', 'deep/same')
    refused('deep', says='would both be written to', output='out')
    refused('in/a.mp4', says="other/a.mp4' exists, and no earlier call has written it", output='other')
    write_text('other/report.csv', 'in/a.mp4')
    for word in ('other/report.csv', '@other/report.csv'):
        refused(word, says="other/report.csv' would replace", output='other')
    refused('in/a.mp4', says='--output is empty', output='')
    os.mkdir('mounted')
    if os.geteuid() or subprocess.run(['mount', '--bind', 'in', 'mounted']).returncode:
        print('not tried, as it needs root: another mount')
    else:
        try:
            refused('in', says="'in' is both INPUT and --output", output='mounted')
            refused('in/a.mp4', says='in/a.mp4\', an INPUT', output='mounted')
        finally:
            subprocess.run(['umount', '-l', 'mounted'], check=True)
    # A link that has the name of a new temporary file.
    library_files.secrets.token_hex = lambda count: 'known'
    os.symlink('in/a.mp4', f'new.known{library_files.PART}')
    try:
        task.write_json('new', {})
        fail('a file was written through a link')
    except FileExistsError as failure:
        print(failure)
    for path in sources:
        with open(path) as file:
            expect(f'{path} is not what it was', file.read() == path)


def test_script():
    """--help names only settings that library.py has. One line gives the reason if the programs cannot be built."""
    script = os.path.join(PIPELINES, 'library.py')
    text = subprocess.run([script, '--help'], capture_output=True, text=True, check=True).stdout
    expect(f'--help: {text}', all(word in text for word in ('--scheduler', '--tls-cert', 'no authentication', 'BUILD_DIR')) and
           not any(word in text for word in ('OUTPUT=', 'FORMAT=', 'FRAMES=')))
    os.makedirs('tree/pipelines')
    for name in ('library.py', 'library.sh', 'common.sh', 'setup.sh', 'several.sh'):
        shutil.copy(os.path.join(PIPELINES, name), 'tree/pipelines')
    os.chmod('tree', 0o555)
    os.chmod('.', 0o755)
    user = ['setpriv', '--reuid', '65534', '--clear-groups'] if not os.geteuid() else []
    environment = {name: value for name, value in os.environ.items() if name not in ('CUDACONVOLVE_BUILD', 'BUILD_DIR')}
    result = subprocess.run([*user, 'tree/pipelines/library.py', 'in', '--output', 'out'], capture_output=True, text=True,
                            env=environment)
    os.chmod('tree', 0o755)
    expect(f'a source tree that is not to be written: {result}', result.returncode == 1 and
           f"'{os.getcwd()}/tree' cannot be written to" in result.stderr and len(result.stderr.splitlines()) == 1)
    print(result.stderr)


def make_short(path):
    launch(f'videotestsrc num-buffers=25 ! video/x-raw,width=96,height=64 ! {H264} ! h264parse ! mp4mux name=mux '
           f'! filesink location={path} audiotestsrc num-buffers=40 ! avenc_aac ! aacparse ! queue ! mux.')


def plan(*words):
    """Returns the only video of a call, without running it."""
    sys.argv = command(*words)[1:]
    arguments = library.parse_arguments()
    library.take_words(arguments)
    video, = library.make_videos(arguments)
    return video


def flip_last_byte(path):
    """Changes a file but neither its size nor its time."""
    status = os.stat(path)
    with open(path, 'r+b') as file:
        last = file.seek(-1, os.SEEK_END)
        byte = file.read(1)[0] ^ 1
        file.seek(last)
        file.write(bytes([byte]))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_changes():
    """If a kernel, preset, source or plugin changes under the same name, the next call does its work again."""
    os.mkdir('in')
    make_short('in/a.mp4')
    write_text('kernel.txt', '1 2 1')
    os.environ['GST_PRESET_PATH'] = os.getcwd()
    preset = '[_presets_]\nelement-name=GstCudaConvolve\nversion=0.1.0\n\n[mine]\nsigma=%d\n'
    write_text('GstCudaConvolve.prs', preset % 1)

    words = ('in', '--scheduler', 'none', '@preset=mine', 'filter=custom', 'kernel-location=kernel.txt')
    is_kept = (lambda: plan(*words).is_written())
    expect('not written', run_library(*words)['a.mp4']['state'] == 'written' and is_kept())
    write_text('kernel.txt', '1 4 1')
    expect('a result of another kernel is kept', not is_kept())
    write_text('kernel.txt', '1 2 1')
    flip_last_byte('in/a.mp4')
    expect('a result of another source is kept', not is_kept())
    flip_last_byte('in/a.mp4')
    expect('the result is not kept', run_library(*words)['a.mp4']['state'] == 'kept')
    write_text('GstCudaConvolve.prs', preset % 2)
    expect('a result of another preset is kept', run_library(*words)['a.mp4']['state'] == 'written')
    os.mkdir('plugin')
    shutil.copy(glob.glob(os.environ['GST_PLUGIN_PATH'] + '/libgstcudaconvolve.so')[0], 'plugin')
    with open('plugin/libgstcudaconvolve.so', 'ab') as file:
        file.write(b'new')
    os.environ['GST_PLUGIN_PATH'] = os.environ['GST_PLUGIN_PATH_1_0'] = os.path.abspath('plugin')
    expect('a result of another plugin is kept', run_library(*words)['a.mp4']['state'] == 'written')


def step(folder, *words, says=''):
    """Runs a single step. With `says`, it must fail within 10 s for that reason."""
    result = subprocess.run([sys.executable, task.__file__, words[0], folder, *words[1:]], capture_output=True, text=True,
                            timeout=10)
    print(words, result.stdout.strip() or result.stderr)
    expect(f'{words}: {result}', result.returncode == (1 if says else 0) and says in result.stdout)


def test_steps():
    """Single steps: a kernel or a source changes after the call has begun, or a file of packets is damaged."""
    os.mkdir('in')
    make_short('in/a.mp4')
    write_text('kernel.txt', '1 2 1')
    video = plan('in', 'filter=custom', 'kernel-location=kernel.txt')
    video.write_job()
    step(video.folder, 'plan')
    write_text('kernel.txt', '1 4 1')
    step(video.folder, 'segment', '0', says='has changed since library.py was called')
    write_text('kernel.txt', '1 2 1')
    flip_last_byte('in/a.mp4')
    step(video.folder, 'segment', '0', says='the file has changed since library.py was called')
    flip_last_byte('in/a.mp4')
    step(video.folder, 'segment', '0')
    sound = os.path.join(video.folder, 'stream-0')
    with open(sound, 'r+b') as file:
        file.seek(task.HEAD.size - 4)
        file.write(b'\xff\xff\xff\x7f')
    step(video.folder, 'join', says="stream-0' is damaged")


def test_names():
    """Unusual names and files. Each of the other videos is written once."""
    os.makedirs('in/sub')
    make_short('in/sub/a.mp4')
    shutil.copy('in/sub/a.mp4', b'in/radius=8\t\\caf\xe9.mp4')
    os.symlink('..', 'in/sub/loop')
    os.symlink('none', 'in/dangling.mp4')
    os.mkfifo('in/pipe.mp4')
    write_text('in/text.mp4', 'this is no video ' * 1000)
    open('in/empty.mp4', 'w').close()
    launch('audiotestsrc num-buffers=9 ! avenc_aac ! aacparse ! mp4mux ! filesink location=in/sound.mp4')
    kernel = 'a\t\\b "c".txt'
    write_text(kernel, '1 2 1')
    write_text('radius=8', 'not a video, and not an input')
    write_text('precious', 'precious')
    os.makedirs('out/.segments')
    os.symlink('../precious', 'out/report.csv')
    os.makedirs('mine/folder')
    os.symlink('../../mine', 'out/.segments/linked.mp4')
    shutil.copy('in/sub/a.mp4', 'in/linked.mp4')
    rows = run_library('in', '--scheduler', 'none', 'radius=8', 'filter=custom', f'kernel-location={kernel}', status=1)
    states = {name: row['state'] for name, row in rows.items()}
    expect(f'states: {states}', states == {
        'a.mp4': 'written', 'radius=8\t\\caf\\xe9.mp4': 'written', 'dangling.mp4': 'failed', 'pipe.mp4': 'failed',
        'text.mp4': 'failed', 'empty.mp4': 'failed', 'sound.mp4': 'failed', 'linked.mp4': 'failed'})
    expect('files are deleted through a link', os.listdir('mine') == ['folder'] and 'remove the link' in rows['linked.mp4']['message'])
    for name in ('text', 'empty', 'sound'):
        message = rows[name + '.mp4']['message']
        expect(f'{name}: {message}', message.startswith('plan: not a video') and '.c' not in message)
    expect('messages', rows['dangling.mp4']['message'] == 'No such file or directory' and
           rows['pipe.mp4']['message'] == 'Not a regular file')
    with open('out/report.html', encoding='utf-8') as page:
        expect('the page does not have the name', 'caf\\xe9.mp4' in page.read())
    with open('precious') as file:
        expect('a report was written through a link', file.read() == 'precious')
    expect('outputs', len(frames_of('out/sub/a.mp4')) == 25 and
           os.path.getsize(b'out/radius=8\t\\caf\xe9.mp4') == os.path.getsize('out/sub/a.mp4'))


def test_full():
    """A full disk: no incomplete output is left, and the next call goes on when there is room."""
    os.mkdir('in')
    os.mkdir('out')
    make_with(f'{H264} ! h264parse ! mp4mux', 'in/a.mp4')
    mount = ['mount', '-t', 'tmpfs', '-o', 'size=68k', 'tmpfs', 'out']
    if os.geteuid() or subprocess.run(mount).returncode:
        skip('needs root, to mount a small file system')
    try:
        rows = run_library('in', '--scheduler', 'none', status=1)
        expect('the reason', 'No space left' in rows['a.mp4']['message'] or 'space' in rows['a.mp4']['message'])
        expect('an output by half', not os.path.exists('out/a.mp4'))
        subprocess.run(['mount', '-o', 'remount,size=8m', 'out'], check=True)
        run_library('in', '--scheduler', 'none')
        compare('in/a.mp4', 'out/a.mp4')
    finally:
        subprocess.run(['umount', '-l', 'out'], check=True)


def test_cuts():
    """Other containers and codecs. A video that cannot be cut is one segment."""
    os.mkdir('in')
    for name, encoder in (('refresh.mkv', f'{H264} intra-refresh=true ! matroskamux'), ('h264.ts', f'{H264} ! mpegtsmux'),
                          ('theora.ogv', 'theoraenc keyframe-force=25 ! oggmux'),
                          ('jpeg.avi', 'jpegenc ! avimux'), ('one.mkv', 'x264enc key-int-max=1000 ! matroskamux')):
        make_with(encoder, f'in/{name}')
    rows = run_library('in', '--scheduler', 'none')
    for name in sorted(os.listdir('in')):
        compare(f'in/{name}', f'out/{name}' if name.endswith('.mkv') else f'out/{name}.mkv')
    expect('what has one key frame is cut', rows['one.mkv']['segments'] == '1')
    expect('JPEG is not cut', int(rows['jpeg.avi']['segments']) >= 3)


Gst.init(None)
missing = [name for name in ('x264enc', 'avdec_h264', 'h264parse', 'avenc_aac', 'vp9enc', 'mp4mux', 'matroskamux', 'mpegtsmux')
           if not Gst.ElementFactory.find(name)]
if missing:
    skip(f'needs {" ".join(missing)}: gstreamer1.0-plugins-good, -bad, -ugly and -libav')
os.environ['GST_PLUGIN_PATH'] = os.path.join(os.environ['CUDACONVOLVE_BUILD'], 'gst')
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # nohup ignores SIGHUP, and programs would inherit that
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    begin = time.monotonic()
    globals()['test_' + sys.argv[2]]()
    print(f'{time.monotonic() - begin:.1f} s')
    os.chdir('/')
