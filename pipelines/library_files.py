# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Files of library.py and library_task.py: JSON, files that get their name when they are complete, what files contain, and
# the lock of a folder.
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import stat
import urllib.parse
from typing import Any, IO, Iterator

Json = dict[str, Any]
PART = '.part'  # ends the name of a file that is not complete
BLOCK, BLOCKS = 1 << 16, 5  # of a source, of which there is a hash


def read_json(path: str) -> Json | None:
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def open_new(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o666)


@contextlib.contextmanager
def whole_file(path: str, mode: str = 'xb', **options: Any) -> Iterator[IO]:
    """A file that gets its name when it is complete and on the disk. Until then it has a name that nobody can foresee and
    that never is a link, since mode x creates it. The next call removes what a killed process leaves."""
    part = f'{path}.{secrets.token_hex(8)}{PART}'
    try:
        with open(part, mode, opener=open_new, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def write_json(path: str, value: Json) -> Json:
    with whole_file(path, 'x') as file:
        json.dump(value, file)
    return value


def remove_parts(output: str) -> None:
    """Removes what killed processes of earlier calls have left. Only the call that holds the lock does so, before it starts
    a step. If a machine of a cluster still works for an earlier call, that step then fails and changes nothing."""
    for path, folders, names in os.walk(output):
        if path == output:
            folders[:] = [name for name in folders if name == '.segments']
        for name in names:
            if name.endswith(PART) and (path != output or name.startswith(('report.csv.', 'report.html.'))):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(path, name))


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Holds the folder for this process. Raises BlockingIOError, with who holds it, if another process does."""
    path = os.path.join(folder, 'lock')
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(os.read(descriptor, 200).decode(errors='replace').strip() or 'another process')
        except OSError as failure:
            raise OSError(failure.errno, f'its file system has no locks ({failure.strerror})', path)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f'process {os.getpid()} on {os.uname().nodename}'.encode())
        yield
    finally:
        os.close(descriptor)


# ---- what a file is, and what is in it

def hash_of_text(text: str) -> str:
    return hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()


def hash_of_file(path: str) -> str:
    """Raises OSError if it cannot be read."""
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def hash_of_source(path: str) -> str:
    """Returns a hash of the size and of blocks from the first to the last: a whole archive takes too long to read."""
    status = os.stat(path)
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EACCES, 'The folder cannot be read', path)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait
        raise OSError(errno.EINVAL, 'Not a regular file', path)
    digest = hashlib.sha256(str(status.st_size).encode())
    with open(path, 'rb') as file:
        for number in range(BLOCKS):
            file.seek(max(status.st_size - BLOCK, 0) * number // (BLOCKS - 1))
            digest.update(file.read(BLOCK))
    return digest.hexdigest()


def identity(path: str) -> tuple[int, int] | None:
    """Returns what is equal for all names of a file or folder, also through links and mounts; None if there is none."""
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None


def entry(path: str) -> tuple:
    """Returns what is equal for all names of a place where a file is, or is to be written."""
    folder, name = os.path.split(path)
    found = identity(folder)
    return (found, name) if found or folder == path else (*entry(folder), name)


def uri_of(path: str) -> str:
    """For elements of GStreamer, whose location must be UTF-8."""
    return 'file://' + urllib.parse.quote(os.fsencode(os.path.abspath(path)))


def shown(path: str) -> str:
    """The path as text that can be printed: bytes that are not UTF-8 become \\xNN."""
    return os.fsencode(path).decode(errors='backslashreplace')
