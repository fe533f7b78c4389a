# SPDX-License-Identifier: Apache-2.0
"""Bars with their names above them: they stay readable on a phone, where a column of long case ids
would not fit."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from holdfast_report.drawing import FONT, width_of
from holdfast_report.sketch import Area, Dots, Line, Mark, Point, Sketch, Words, box

# In points.
WIDTH = 331.0
ROW = 30.2  # a name and its bar
NOTED = 41.8  # a name, a note and its bar
MARGIN = 5.8
LEGEND = 21.6
HAIR = 0.6
BASELINE = 3.5  # below the middle of a text
APART = 8.0  # a name and its value, at least
TEXT = FONT + 1


@dataclass(frozen=True)
class Bar:
    name: str  # empty where the row above names the case already
    value: float
    text: str  # the value with its unit
    role: str = "optimized"  # its colour
    dots: tuple[float, ...] = ()  # one per process
    bound: float | None = None


@dataclass(frozen=True)
class Stack:
    name: str
    parts: tuple[float, ...]  # one per stage
    text: str
    note: str = ""  # a second line
    alarm: bool = False
    faint: bool = False


def shortened(name: str, room: float) -> str:
    """A name without its middle, where it is wider than the room."""
    if len(name) < 4 or width_of(name, TEXT) <= room:
        return name

    def kept(half: int) -> str:
        return f"{name[:half]}\u2026{name[-half:]}"

    # Measuring takes time in proportion to the text, so the length is found by bisection.
    halves = range(1, len(name) // 2)
    fit = bisect_right(halves, room, key=lambda half: width_of(kept(half), TEXT))
    return kept(max(fit, 1))


def place(at: float, count: int, height: float, above: float) -> float:
    """Row k has its text at k and its bar below; `above` points stay free for a legend."""
    return above + (at + 0.1) / (count + 0.05) * (height - above)


def heading(y: float, name: str, text: str, role: str = "ink") -> list[Words]:
    room = WIDTH - APART - width_of(text, TEXT)
    words = [Words((0, y), shortened(name, room), role, TEXT)] if name else []
    return [*words, Words((WIDTH, y), text, role, TEXT, "end")] if text else words


def bar_chart(bars: Sequence[Bar], alt: str, unit_line: float | None = None) -> Sketch:
    """`unit_line` marks a value that means something on its own: as fast as the reference, the
    roofline, the whole."""
    reach = [max(bar.value, bar.bound or 0.0, *bar.dots) for bar in bars]
    widest = max([*reach, unit_line or 0.0]) * 1.01 or 1.0
    height = len(bars) * ROW + MARGIN
    sketch = Sketch(WIDTH, height, alt)
    down = partial(place, count=len(bars), height=height, above=0.0)
    boxes: dict[str, list[list[Point]]] = {}
    upright: list[list[Point]] = []
    for row, bar in enumerate(bars):
        sketch.add(*heading(down(row + 0.22) + BASELINE, bar.name, bar.text))
        top, bottom = down(row + 0.49), down(row + 0.75)
        boxes.setdefault("", []).append(box(0, top, WIDTH, bottom))
        boxes.setdefault(bar.role, []).append(box(0, top, bar.value / widest * WIDTH, bottom))
        if unit_line is not None:
            x = unit_line / widest * WIDTH
            upright.append([(x, down(row + 0.42)), (x, down(row + 0.82))])
    whole = boxes.pop("", [])
    sketch.marks[:0] = [Area(whole, "rule", 0.45), *(Area(some, role) for role, some in boxes.items())]
    for row, bar in enumerate(bars):
        middle = down(row + 0.62)
        if len(bar.dots) > 1:
            dots = [(one / widest * WIDTH, middle) for one in bar.dots]
            sketch.add(Line([[min(dots), max(dots)]], "ink", 0.8))
            sketch.add(Dots(dots, "ink", 3.9), Dots(dots, "paper", 2.5))
        if bar.bound is not None:
            x = bar.bound / widest * WIDTH
            sketch.add(Line([[(x, down(row + 0.42)), (x, down(row + 0.82))]], "bad", 2.0))
    if upright:
        sketch.add(Line(upright, "ink", 0.7))
    return sketch


def stack_chart(stacks: Sequence[Stack], stages: Sequence[str], alt: str) -> Sketch:
    widest = max((sum(stack.parts) for stack in stacks), default=1.0) or 1.0
    row = NOTED if any(stack.note for stack in stacks) else ROW
    height = len(stacks) * row + MARGIN + LEGEND
    sketch = Sketch(WIDTH, height, alt)
    down = partial(place, count=len(stacks), height=height, above=LEGEND)
    for index, stack in enumerate(stacks):
        role = "bad" if stack.alarm else "ink"
        sketch.add(*heading(down(index + 6.6 / row) + BASELINE, stack.name, stack.text, role))
        if stack.note:
            sketch.add(*heading(down(index + 18 / row) + BASELINE, stack.note, "", "muted"))
        middle = down(index + 1 - 11.5 / row)
        sketch.add(*boxes_of(stack, widest, middle - 4.2, middle + 4.2))
    if stacks:
        sketch.add(*legend(stages))
    return sketch


def boxes_of(stack: Stack, widest: float, top: float, bottom: float) -> list[Area]:
    """One after the other, with a gap as fine as a hair."""
    areas = []
    left = 0.0
    for index, part in enumerate(stack.parts):
        right = left + part / widest * WIDTH
        role = "bad" if stack.alarm else f"stage-{index % 5 + 1}"
        outline = box(left, top, max(left, right - HAIR), bottom)
        areas.append(Area([outline], role, 0.4 if stack.faint else 1.0))
        left = right
    return areas


def legend(stages: Sequence[str]) -> list[Mark]:
    marks: list[Mark] = []
    each = WIDTH / len(stages)
    for index, stage in enumerate(stages):
        left = index * each
        marks.append(Area([box(left, 2, left + 7, 9)], f"stage-{index % 5 + 1}"))
        marks.append(Words((left + 11, 9), stage, "ink", FONT))
    return marks
