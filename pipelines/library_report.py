# SPDX-License-Identifier: LGPL-2.1-or-later
#
# How far library.py is, on one line, and what came of each video: a table in CSV and a page in HTML.
import csv
import html
import os
import sys
import time
from typing import Iterable

COLUMNS = ('file', 'state', 'frames', 'segments', 'seconds', 'frames/s', 'device', 'message')
PAGE = '''<!doctype html><meta charset="utf-8"><title>library</title>
<style>body {{ font: 15px sans-serif; margin: 2em }} td, th {{ padding: .2em .8em; text-align: left }}
.failed {{ background: #fdd }} caption {{ text-align: left; padding: .5em 0; font-weight: bold }}</style>
<h1>{title}</h1>
{tables}
'''


class Progress:
    """One line, written over where there is a terminal, else now and then."""

    def __init__(self) -> None:
        self.begin = time.monotonic()
        self.shown = self.begin
        self.on_terminal = sys.stderr.isatty()

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def show(self, files: str, segments: str, frames: int, done: float, at_once: bool = False) -> None:
        """`done` is the part of this call's work that is done, 0 to 1."""
        if not at_once and time.monotonic() - self.shown < (0.5 if self.on_terminal else 10):
            return
        self.shown = time.monotonic()
        left = self.seconds() * (1 - done) / done if done > 0 else None
        text = (f'files {files}, segments {segments}, {frames / self.seconds():.1f} frames/s, '
                + ('' if left is None else f'{int(left) // 3600}:{int(left) // 60 % 60:02}:{int(left) % 60:02} left'))
        print(f'\r{text:<90}' if self.on_terminal else text, end='' if self.on_terminal else '\n', file=sys.stderr, flush=True)

    def end(self) -> None:
        if self.on_terminal:
            print(file=sys.stderr)


def table(caption: str, rows: list[dict]) -> str:
    def cells(tag: str, values: Iterable) -> str:
        return ''.join(f'<{tag}>{html.escape(str(value))}</{tag}>' for value in values)
    lines = [f'<tr class="{row["state"]}">{cells("td", (row[name] for name in COLUMNS))}</tr>' for row in rows]
    return f'<table><caption>{caption}</caption><tr>{cells("th", COLUMNS)}</tr>\n' + '\n'.join(lines) + '</table>'


def write_report(folder: str, rows: list[dict], summary: str) -> None:
    """The files report.csv and report.html, failed videos first."""
    rows = sorted(rows, key=lambda row: (row['state'] != 'failed', row['file']))
    failed = [row for row in rows if row['state'] == 'failed']
    tables = [table(f'Failed: {len(failed)}', failed)] if failed else []
    tables.append(table(f'Written: {len(rows) - len(failed)}', rows[len(failed):]))
    with open(os.path.join(folder, 'report.csv'), 'w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    with open(os.path.join(folder, 'report.html'), 'w') as file:
        file.write(PAGE.format(title=html.escape(summary), tables='\n'.join(tables)))
