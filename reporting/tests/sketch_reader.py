# SPDX-License-Identifier: Apache-2.0
"""The marks of a figure, for tests to look at."""

from holdfast_report.sketch import Area, Dots, Line, Point, Sketch, Words


def areas(sketch: Sketch, role: str | None = None) -> list[Area]:
    found = [mark for mark in sketch.marks if isinstance(mark, Area)]
    return [mark for mark in found if role in (None, mark.role)]


def lines(sketch: Sketch, role: str) -> list[Line]:
    return [mark for mark in sketch.marks if isinstance(mark, Line) and mark.role == role]


def dots(sketch: Sketch, role: str) -> list[Dots]:
    return [mark for mark in sketch.marks if isinstance(mark, Dots) and mark.role == role]


def texts(sketch: Sketch) -> list[str]:
    return [mark.said for mark in sketch.marks if isinstance(mark, Words)]


def width(outline: list[Point]) -> float:
    xs = [x for x, _ in outline]
    return max(xs) - min(xs)
