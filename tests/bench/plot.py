#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Draws a table of convolve-bench: microseconds per frame against radius, both in logarithms, one panel for each filter,
format and size that has three radii or more. A copy of the frame, grey and dashed, is the floor. NPP, dotted, is the fastest
of its functions at each radius.

Usage: plot.py TABLE.csv FIGURE.svg
"""
import csv
import math
import statistics
import sys
from collections import defaultdict
from xml.sax.saxutils import escape

# The first colours can be distinguished with colour blindness.
COLORS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8c564b', '#7b3fe4', '#808000', '#d4002a',
          '#005f5f', '#66c200']
COLUMNS, WIDTH, HEIGHT = 2, 480, 340  # of a panel, with the labels around its axes
LEFT, RIGHT, TOP, BOTTOM = 60, 460, 60, 330
LEAST_RADII = 3
NPP = 'best of NPP'


def scale(values, first, last):
    """Returns a function that maps a value to a position between two positions."""
    low, high = math.log(min(values) / 1.15), math.log(max(values) * 1.15)
    return lambda value: round(first + (last - first) * (math.log(value) - low) / (high - low), 1)


def text(x, y, what, style=''):
    return f'<text x="{x}" y="{y}" {style}>{escape(str(what))}</text>'


def line(points, style):
    return f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none" {style}/>'


def read_ways(rows):
    """Returns microseconds by radius, by panel title, backend and algorithm."""
    panels = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        if int(row['radius']) > 0 and row['region'] == '0' and row['frames'] == '1':
            title = f'{row["filter"]}, {row["format"]} {row["width"]}x{row["height"]}'
            name = NPP if row['algorithm'].startswith('npp') else row['algorithm']
            times, radius, us = panels[title][row['backend'], name], int(row['radius']), float(row['us_median'])
            times[radius] = min(us, times.get(radius, us))
    return {title: ways for title, ways in panels.items() if len(set().union(*ways.values())) >= LEAST_RADII}


class Figure:
    def __init__(self, rows):
        self.panels = {title: {way: sorted(times.items()) for way, times in ways.items()}
                       for title, ways in read_ways(rows).items()}
        if not self.panels:
            sys.exit(f'plot.py: a figure needs a format and filter of {LEAST_RADII} radii or more, and the table has none')
        self.ways = list(dict.fromkeys(way for ways in self.panels.values() for way in ways))
        self.colored = [way for way in self.ways if way[1] != 'copy']
        points = [point for ways in self.panels.values() for curve in ways.values() for point in curve]
        self.x = scale([radius for radius, _ in points], LEFT, RIGHT)
        self.y = scale([us for _, us in points], BOTTOM, TOP)
        self.radii = [2 ** k for k in range(16) if min(points)[0] <= 2 ** k <= max(points)[0]]
        times = [us for _, us in points]
        self.times = [10 ** k for k in range(-3, 9) if min(times) / 1.15 <= 10 ** k <= max(times) * 1.15]
        self.devices = dict.fromkeys(row['device'] for row in rows)

    def curve(self, way, points):
        if way[1] == 'copy':
            return [line(points, 'stroke="#777777" stroke-width="2" stroke-dasharray="7 4"')]
        color = COLORS[self.colored.index(way) % len(COLORS)]
        dots = ' stroke-dasharray="2 3"' if way[1] == NPP else ''
        return [line(points, f'stroke="{color}" stroke-width="2"{dots}'),
                *(f'<circle cx="{x}" cy="{y}" r="3.5" fill="{color}"/>' for x, y in points)]

    def panel(self, title, ways):
        yield text((LEFT + RIGHT) / 2, TOP - 14, title, 'text-anchor="middle" font-size="15"')
        for us in self.times:
            yield line([(LEFT, self.y(us)), (RIGHT, self.y(us))], 'stroke="#dddddd"')
            yield text(LEFT - 8, self.y(us) + 4, f'{us:.10g}', 'text-anchor="end"')
        for radius in self.radii:
            yield line([(self.x(radius), TOP), (self.x(radius), BOTTOM)], 'stroke="#eeeeee"')
            yield text(self.x(radius), BOTTOM + 18, radius, 'text-anchor="middle"')
        yield line([(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], 'stroke="#333333"')
        for way, points in ways.items():
            if way[1] == 'copy':  # whose time does not depend on the radius
                y = self.y(statistics.median(us for _, us in points))
                yield from self.curve(way, [(LEFT, y), (RIGHT, y)])
            else:
                yield from self.curve(way, [(self.x(radius), self.y(us)) for radius, us in points])

    def legend(self):
        one = len({backend for backend, _ in self.ways}) == 1
        for i, (backend, name) in enumerate(self.ways):
            y = TOP + 4 + 22 * i
            yield from self.curve((backend, name), [(LEFT + 10, y), (LEFT + 44, y)])
            yield text(LEFT + 56, y + 4, name if one else f'{backend} {name}')

    def svg(self):
        cells = [list(self.panel(*panel)) for panel in self.panels.items()] + [list(self.legend())]
        width, height = COLUMNS * WIDTH, 30 + -(-len(cells) // COLUMNS) * HEIGHT + 20
        yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        yield 'font-family="sans-serif" font-size="13" fill="#222222"><rect width="100%" height="100%" fill="#ffffff"/>'
        yield text(LEFT, 28, f'{"; ".join(self.devices)}: microseconds per frame, by radius in samples of luma',
                   'font-size="17" font-weight="bold"')
        for i, cell in enumerate(cells):
            yield f'<g transform="translate({i % COLUMNS * WIDTH} {30 + i // COLUMNS * HEIGHT})">'
            yield from cell
            yield '</g>'
        yield '</svg>'


def main():
    table, figure = sys.argv[1:]
    with open(table, newline='') as stream:
        lines = '\n'.join(Figure(list(csv.DictReader(stream))).svg())
    with open(figure, 'w') as stream:
        stream.write(lines + '\n')


main()
