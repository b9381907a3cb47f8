# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Finds the videos that library.py filters, and makes sure that no video is overwritten.
import glob
import os
from typing import Any, Iterator

from library_files import entry, identity, shown
from library_report import REPORTS, die

SUFFIXES = '.mp4 .m4v .mov .mkv .webm .avi .ts .m2ts .mts .mpg .mpeg .ogv .flv .wmv .3gp'.split()


def read_list(path: str, lists: tuple) -> list[str]:
    """Returns the lines of a list, which may name further lists. lists: identities of the lists that led to this
    one."""
    if identity(path) in lists:
        die(f"the list '{shown(path)}' names itself")
    try:
        with open(path, 'rb') as file:
            return [os.fsdecode(line.rstrip(b'\r')) for line in file.read().split(b'\n') if line.strip()]
    except OSError as failure:
        die(f"the list '{shown(path)}' cannot be read: {failure.strerror}")


def videos_below(top: str, output: str) -> Iterator[str]:
    """Yields the videos in a folder and below it. Visits each folder once, even if links form a loop. Skips the output
    folder and hidden names. Yields a folder that cannot be read as if it were a video, which then fails."""
    seen, folders, unreadable = {identity(output)} - {None}, [top], []
    for start in folders:  # grows: linked folders come last, so that a folder is found under its own name first
        for folder, names, files in os.walk(start, onerror=unreadable.append):
            names[:] = sorted(name for name in names if not name.startswith('.'))
            if identity(folder) in seen:
                names.clear()
                continue
            seen.add(identity(folder))
            folders += [path for path in (os.path.join(folder, name) for name in names) if os.path.islink(path)]
            for name in sorted(files):
                if os.path.splitext(name)[1].lower() in SUFFIXES and not name.startswith('.'):
                    yield os.path.join(folder, name)
    yield from (failure.filename for failure in unreadable)


def refuse_report(path: str, output: str) -> None:
    """Ends the program if the report would replace the file."""
    for report in (os.path.join(output, name) for name in REPORTS):
        if identity(path) and identity(path) == identity(report):
            die(f"'{shown(report)}' would replace '{shown(path)}', an INPUT: give another folder to --output")


def find_videos(inputs: list[str], output: str, lists: tuple = ()) -> Iterator[tuple[str, str]]:
    """Yields the path of each video, and the relative path of its output in the output folder."""
    for word in inputs:
        if word.startswith('@') and os.path.isfile(word[1:]):
            refuse_report(word[1:], output)
            yield from find_videos(read_list(word[1:], lists), output, (*lists, identity(word[1:])))
        elif os.path.isdir(word):
            if identity(word) == identity(output):
                die(f"'{shown(word)}' is both INPUT and --output: give another folder to --output")
            for path in videos_below(word, output):
                yield os.path.abspath(path), os.path.relpath(path, word)
        elif os.path.lexists(word):
            yield os.path.abspath(word), os.path.basename(word)
        else:
            paths = sorted(glob.glob(word, recursive=True))
            if not paths:
                die(f"there is no file '{shown(word)}'")
            yield from find_videos(paths, output, lists)


def without_overwrites(videos: list[Any]) -> list[Any]:
    """Returns the videos without duplicates. Ends the program if an output would replace an input, the output of
    another video, or a file that no earlier call has written."""
    sources = {identity(video.job['source']): video.job['source'] for video in videos}
    places: dict[tuple, Any] = {}
    for video in videos:
        name, source = shown(video.output), video.job['source']
        if replaced := sources.get(identity(video.output)) if identity(video.output) else None:
            die(f"'{name}' would replace '{shown(replaced)}', an INPUT: give another folder to --output")
        other = places.setdefault(entry(video.output), video).job['source']
        if other != source and identity(other) != identity(source):
            die(f"'{shown(other)}' and '{shown(source)}' would both be written to '{name}': filter them in two calls, with "
                'a folder for each')
        if os.path.lexists(video.output) and not any(map(os.path.lexists, (video.work, video.work + '.json'))):
            die(f"'{name}' exists, and no earlier call has written it: move it, or give another folder to --output")
    return list(places.values())
