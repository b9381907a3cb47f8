# SPDX-License-Identifier: LGPL-2.1-or-later
#
# File functions of library.py and library_task.py: JSON, files that get their names when they are complete, hashes and
# identities of files, and the lock of a folder.
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
PART = '.part'  # suffix of incomplete files
BLOCK, BLOCKS = 1 << 16, 5  # bytes per block, and number of blocks, that hash_of_source() reads


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
    """Opens a new file that gets its name when it is complete and on the disk. Until then its name is unpredictable,
    and it is never a link, because mode x creates it. The next call of library.py removes what a killed process
    left."""
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
    """Removes the incomplete files that killed processes left. Call it with the lock held, before the first step. If a
    machine of a cluster still runs a step of an earlier call, that step fails and changes nothing."""
    for path, folders, names in os.walk(output):
        if path == output:
            folders[:] = [name for name in folders if name == '.segments']
        for name in names:
            if name.endswith(PART) and (path != output or name.startswith(('report.csv.', 'report.html.'))):
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(os.path.join(path, name))


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Locks the folder for this process. If another process holds the lock, raises BlockingIOError, whose text names
    that process and its machine."""
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


# ---- hashes, identities and names

def hash_of_text(text: str) -> str:
    return hashlib.sha256(text.encode(errors='surrogateescape')).hexdigest()


def hash_of_file(path: str) -> str:
    """Raises OSError if it cannot be read."""
    with open(path, 'rb') as file:
        return hashlib.file_digest(file, 'sha256').hexdigest()


def hash_of_source(path: str) -> str:
    """Returns a hash of the size and of BLOCKS blocks spread over the file: reading whole archives would take too long.
    Raises OSError if it cannot be read."""
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
    """Returns a value that is equal for all names of a file or folder, also through links and mounts. Returns None if
    it does not exist."""
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return status.st_dev, status.st_ino
    return None


def entry(path: str) -> tuple:
    """Returns a value that is equal for all paths to the same place, even if there is no file yet."""
    folder, name = os.path.split(path)
    found = identity(folder)
    return (found, name) if found or folder == path else (*entry(folder), name)


def uri_of(path: str) -> str:
    """Returns the URI of a path. GStreamer's `location` must be UTF-8, which a path need not be."""
    return 'file://' + urllib.parse.quote(os.fsencode(os.path.abspath(path)))


def shown(path: str) -> str:
    """Returns the path as printable text: bytes that are not UTF-8 become \\xNN."""
    return os.fsencode(path).decode(errors='backslashreplace')
