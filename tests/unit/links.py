#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks the links of all Markdown files: each names a file of the project, and a heading of it if it has an anchor.

Usage: links.py SOURCE_ROOT

Links to other sites are not followed.
"""
import re
import sys
from pathlib import Path

LINK = re.compile(r'\[[^][]*(?:!\[[^][]*\]\([^)]*\)[^][]*)?\]\(([^)\s]+)\)')


def documents(root):
    """All Markdown files except those in build folders and hidden folders."""
    for path in sorted(root.rglob('*.md')):
        parts = path.relative_to(root).parts
        if not any(part.startswith(('.', 'build', 'obj-')) for part in parts[:-1]):
            yield path


def prose(text):
    """The text without indented and fenced code."""
    text = re.sub(r'^```.*?^```', '', text, flags=re.M | re.S)
    return re.sub(r'^    .*$', '', text, flags=re.M)


def anchors(text):
    """The anchors of a document's headings, as forges make them; a repeated heading gets a number."""
    slugs = [re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
             for heading in re.findall(r'^#+ +(.*?) *$', prose(text), re.M)]
    return {slug if slugs.index(slug) == i else f'{slug}-{slugs[:i].count(slug)}' for i, slug in enumerate(slugs)}


def faults(root, path):
    text = path.read_text()
    for link in LINK.findall(prose(text)):
        if re.match(r'[a-z]+:', link):
            continue
        name, _, anchor = link.partition('#')
        target = (path.parent / name).resolve() if name else path
        if not target.exists() or root not in [target, *target.parents]:
            yield f'{path.relative_to(root)}: no file {link}'
        elif anchor and (target.suffix != '.md' or anchor not in anchors(target.read_text())):
            yield f'{path.relative_to(root)}: no heading for {link}'


def main():
    root = Path(sys.argv[1]).resolve()
    paths = list(documents(root))
    found = [fault for path in paths for fault in faults(root, path)]
    print(*found, sep='\n')
    links = sum(len(LINK.findall(prose(path.read_text()))) for path in paths)
    print(f'{len(paths)} documents, {links} links, {len(found)} faults')
    sys.exit(1 if found or links < 50 else 0)


main()
