# SPDX-License-Identifier: LGPL-2.1-or-later
#
# What library.py reports: errors, the progress, and the result of each video in a CSV and an HTML file.
import csv
import html
import os
import sys
import time
from typing import NoReturn

from library_files import whole_file

REPORTS = 'report.csv', 'report.html'
COLUMNS = ('file', 'state', 'frames', 'segments', 'seconds', 'frames/s', 'device', 'message')
PAGE = '''<!doctype html><meta charset="utf-8"><title>library</title>
<style>body {{ font: 15px sans-serif; margin: 2em }} td, th {{ padding: .2em .8em; text-align: left }}
.failed {{ background: #fdd }}</style>
<h1>{summary}</h1>
<table><tr>{head}</tr>
{rows}
</table>
'''


def die(text: str) -> NoReturn:
    sys.exit(f'library.py: {text}')


class Progress:
    """Prints the progress: on a terminal in one line that it overwrites, else in a new line every ten seconds."""

    def __init__(self) -> None:
        self.begin = self.shown = time.monotonic()
        self.on_terminal = sys.stderr.isatty()

    def seconds(self) -> float:
        return time.monotonic() - self.begin

    def is_due(self) -> bool:
        return time.monotonic() - self.shown > (0.5 if self.on_terminal else 10)

    def show(self, counts: str, frames: int, done: float, is_last: bool) -> None:
        """`done`: fraction of the work that is done, 0 to 1."""
        self.shown = time.monotonic()
        left = int(self.seconds() * (1 - done) / done) if done else 0
        text = (f'{counts}, {frames / self.seconds():.1f} frames/s'
                + (f', {left // 3600}:{left // 60 % 60:02}:{left % 60:02} left' if left else ''))
        print(f'\r{text:<90}' if self.on_terminal else text, end='' if self.on_terminal and not is_last else '\n',
              file=sys.stderr, flush=True)


def write_report(folder: str, rows: list[dict], summary: str) -> None:
    """Writes report.csv and report.html. Videos that failed come first."""
    def cells(tag: str, values: list) -> str:
        return ''.join(f'<{tag}>{html.escape(str(value))}</{tag}>' for value in values)
    with whole_file(os.path.join(folder, 'report.csv'), 'x', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    lines = [f'<tr class="{row["state"]}">{cells("td", [row[name] for name in COLUMNS])}</tr>'
             for row in sorted(rows, key=lambda row: (row['state'] != 'failed', row['file']))]
    with whole_file(os.path.join(folder, 'report.html'), 'x', encoding='utf-8') as file:
        file.write(PAGE.format(summary=html.escape(summary), head=cells('th', list(COLUMNS)), rows='\n'.join(lines)))
