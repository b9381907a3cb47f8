#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the layers of the source, and that no files depend on each other in a circle.

Usage: layers.py SOURCE_ROOT ENGINE_ARCHIVE PLUGIN

Each folder may include its own headers and those of the folders in its row; public headers as <convolve/...>. Circles
are searched twice: among the includes, where a header and the source with its name count as one, and among the symbols
that the objects of the build use from each other.
"""
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

GST_FOLDERS = ['gst/element', 'gst/memory', 'gst/properties', 'gst/regions', 'gst/time']

# folder: the folders and headers of the project that it may include, and the libraries.
LAYERS = {
    'include/convolve': ([], 'glib'),
    'cuda/plan': (['include/convolve'], 'glib'),
    'cuda/plan/regions': (['include/convolve', 'cuda/plan'], 'glib'),
    'cuda/cpu': (['include/convolve', 'cuda/plan', 'cuda/plan/regions/jobs.h', 'cuda'], 'glib vectors'),
    'cuda/cpu/methods': (['include/convolve', 'cuda/plan', 'cuda/cpu'], 'glib'),
    'cuda/gpu': (
        ['include/convolve', 'cuda/plan', 'cuda/plan/regions/jobs.h', 'cuda', 'cuda/gpu/kernels/arguments.h'],
        'glib gmodule cuda nvtx',
    ),
    'cuda/gpu/kernels': (['include/convolve', 'cuda/plan', 'cuda/plan/regions/shape.h'], 'cuda'),
    'cuda': (['include/convolve', 'cuda/plan'], 'glib'),
    'gst': (['include/convolve', *GST_FOLDERS], 'glib gstreamer'),
    'gst/element': (['include/convolve', 'gst', *GST_FOLDERS], 'glib gstreamer'),
    'gst/memory': (['include/convolve', 'gst', 'gst/element/caps.h', 'gst/element/engine.h'], 'glib gstreamer'),
    'gst/properties': (['include/convolve', 'gst/files.h', 'gst/regions'], 'glib gstreamer'),
    'gst/regions': (['include/convolve', 'gst/files.h', 'gst/messages.h'], 'glib gmodule gstreamer'),
    'gst/time': (['include/convolve', 'gst', 'gst/element', 'gst/memory'], 'glib gstreamer'),
    'pipelines': (['include/convolve', 'pipelines/support'], 'glib gstreamer'),
    'pipelines/support': (['include/convolve'], 'glib gmodule cuda gstreamer'),
}
LIBRARIES = {
    'glib': r'glib(-object)?\.h|glib/.*|gio/gio\.h',
    'gmodule': r'gmodule\.h',
    'gstreamer': r'gst/.*|glib-unix\.h',
    'cuda': r'cuda\.h|cuda_.*\.h',
    'nvtx': r'nvtx3/.*',
    'vectors': r'immintrin\.h|arm_neon\.h|sched\.h|sys/.*',
}
ANYWHERE = r'(std[a-z]+|string|math|errno|fcntl|limits|unistd|float|ctype|locale|signal|time|sys/stat)\.h|config\.h'
SOURCES = {'.c', '.h', '.cu', '.cuh'}


def folder_of(path):
    return path.parent.as_posix()


def find(root, path, name):
    """Returns the file of the project that an include names, or None."""
    roots = [path.parent, root / 'include', root / 'cuda', root / 'gst', root / 'pipelines', root]
    return next((base / name for base in roots if (base / name).is_file()), None)


def includes(root):
    """Yields each include of each source of a layer: (path, line, name, file of the project or None)."""
    for folder in LAYERS:
        for path in sorted((root / folder).iterdir()):
            if path.suffix not in SOURCES:
                continue
            for number, line in enumerate(path.read_text().splitlines(), 1):
                match = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
                if match:
                    yield path, number, match[1], find(root, path, match[1])


def breaks_layer(root, path, name, target):
    folder = folder_of(path.relative_to(root))
    allowed, libraries = LAYERS[folder]
    if target is None:
        pattern = '|'.join([ANYWHERE] + [LIBRARIES[library] for library in libraries.split()])
        return not re.fullmatch(pattern, name)
    target = target.resolve().relative_to(root)
    return folder_of(target) not in [folder] + allowed and target.as_posix() not in allowed


def circles(needs):
    """Returns lists of two or more names that depend on each other in a circle (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(name):
        index[name] = low[name] = len(index)
        stack.append(name)
        for other in sorted(needs.get(name, ())):
            if other not in index:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], index[other])
        if low[name] == index[name]:
            circle = stack[stack.index(name):]
            del stack[stack.index(name):]
            if len(circle) > 1:
                found.append(sorted(circle))

    for name in sorted(needs):
        if name not in index:
            visit(name)
    return found


def included(root):
    """Returns what each file includes. A header and the source with its name count as one."""
    needs = defaultdict(set)
    for path, _, _, target in includes(root):
        if target:
            one, other = (p.resolve().relative_to(root).with_suffix('').as_posix() for p in (path, target))
            if one != other:
                needs[one].add(other)
    return needs


def objects_of(root, archive, plugin):
    """Returns the build's objects, without objects left over from sources that no longer exist."""
    members = subprocess.run(['ar', 't', archive], check=True, capture_output=True, text=True).stdout.split()
    engine = [path if os.path.exists(path) else os.path.join(os.path.dirname(archive), path) for path in members]
    # Meson names the object of FOLDER/SOURCE FOLDER_SOURCE.
    element = {path.relative_to(root / 'gst').as_posix().replace('/', '_') for path in (root / 'gst').rglob('*.c')}
    return engine + [str(path) for path in Path(plugin + '.p').glob('*.c.o') if path.stem in element]


def linked(objects):
    """Returns for each object the objects whose functions or data it uses."""
    home, wants = {}, defaultdict(set)
    for path in objects:
        lines = subprocess.run(['nm', '-P', path], check=True, capture_output=True, text=True).stdout.splitlines()
        for symbol, kind in (line.split()[:2] for line in lines):
            if kind == 'U':
                wants[Path(path).name].add(symbol)
            elif kind.isupper() and kind not in 'VW':
                home[symbol] = Path(path).name
    return {name: {home[s] for s in symbols if s in home and home[s] != name} for name, symbols in wants.items()}


def main():
    root = Path(sys.argv[1]).resolve()
    objects = objects_of(root, *sys.argv[2:])
    faults = [f'{path.relative_to(root)}:{number}: {folder_of(path.relative_to(root))} may not include {name}'
              for path, number, name, target in includes(root) if breaks_layer(root, path, name, target)]
    for what, needs in ('include', included(root)), ('call', linked(objects)):
        faults += [f'files that {what} each other: {", ".join(circle)}' for circle in circles(needs)]
    print(*faults, sep='\n')
    print(f'{len(LAYERS)} layers, {len(objects)} objects, {len(faults)} faults')
    sys.exit(1 if faults or not objects else 0)


main()
