# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Files of library.py and library_task.py: JSON, and files that get their name when they are complete.
import contextlib
import json
import os
from typing import Any, IO, Iterator

Json = dict[str, Any]


def read_json(path: str) -> Json | None:
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def whole_file(path: str, mode: str = 'wb') -> Iterator[IO]:
    """A file that gets its name when it is complete and on the disk. Until then the name is this process's own, as a
    machine that was given up may still write to its file."""
    part = f'{path}.{os.uname().nodename}.{os.getpid()}.part'
    try:
        with open(part, mode) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def write_json(path: str, value: Json) -> Json:
    with whole_file(path, 'w') as file:
        json.dump(value, file)
    return value
