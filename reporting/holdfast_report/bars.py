# SPDX-License-Identifier: Apache-2.0
"""Bars with their names above them: they stay readable on a phone, where a column of long case ids
would not fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from holdfast_report.drawing import FONT, Drawing, Pen

WIDTH = 4.6  # inches
ROW = 0.42  # a name and its bar
NOTED = 0.58  # a name, a note and its bar
LEGEND = 0.3
CHARACTERS = 60  # that fit on a row, name and value together
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


def shortened(name: str, room: int) -> str:
    if len(name) <= room:
        return name
    half = (room - 1) // 2
    return f"{name[:half]}\u2026{name[-half:]}"


def rows(
    pen: Pen, count: int, widest: float, above: float = 0.0, row: float = ROW
) -> tuple[Figure, Axes, float]:
    """Axes whose row k has its text at y = k and its bar below; `above` inches stay free for a
    legend."""
    height = count * row + 0.08 + above
    figure, axes = pen.figure(WIDTH, height)
    axes.set_position((0, 0, 1, (height - above) / height))
    axes.set_ylim(count - 0.05, -0.1)
    axes.set_xlim(0, widest or 1.0)
    axes.set_axis_off()
    return figure, axes, widest or 1.0


def heading(
    axes: Axes, pen: Pen, at: float, name: str, text: str, right: float, role: str = "ink"
) -> None:
    # A name may hold a dollar, which is no formula.
    style: dict[str, Any] = {
        "color": pen[role],
        "fontsize": TEXT,
        "va": "center",
        "parse_math": False,
    }
    axes.text(0, at, shortened(name, CHARACTERS - len(text)), **style)
    if text:
        axes.text(right, at, text, ha="right", **style)


def bar_chart(
    bars: Sequence[Bar], alt: str, unit_line: float | None = None, pen: Pen = Pen()
) -> Drawing:
    """`unit_line` marks a value that means something on its own: as fast as the reference, the
    roofline, the whole."""
    reach = [max(bar.value, bar.bound or 0.0, *bar.dots) for bar in bars]
    figure, axes, right = rows(pen, len(bars), max([*reach, unit_line or 0.0]) * 1.01)
    for row, bar in enumerate(bars):
        heading(axes, pen, row + 0.22, bar.name, bar.text, right)
        middle = row + 0.62
        axes.barh(middle, right, height=0.26, color=pen["rule"], alpha=0.45)
        axes.barh(middle, bar.value, height=0.26, color=pen[bar.role])
        if len(bar.dots) > 1:
            axes.plot([min(bar.dots), max(bar.dots)], [middle, middle], color=pen["ink"], lw=0.8)
            axes.plot(
                bar.dots,
                [middle] * len(bar.dots),
                "o",
                ms=3.2,
                mfc=pen["paper"],
                mec=pen["ink"],
                mew=0.7,
            )
        if bar.bound is not None:
            axes.plot([bar.bound, bar.bound], [middle - 0.2, middle + 0.2], color=pen["bad"], lw=2)
        if unit_line is not None:
            axes.plot([unit_line] * 2, [middle - 0.2, middle + 0.2], color=pen["ink"], lw=0.7)
    return Drawing(figure, alt)


def stack_chart(
    stacks: Sequence[Stack], stages: Sequence[str], alt: str, pen: Pen = Pen()
) -> Drawing:
    widest = max((sum(stack.parts) for stack in stacks), default=1.0)
    row = NOTED if any(stack.note for stack in stacks) else ROW
    figure, axes, right = rows(pen, len(stacks), widest, LEGEND, row)
    for index, stack in enumerate(stacks):
        role = "bad" if stack.alarm else "ink"
        heading(axes, pen, index + 0.092 / row, stack.name, stack.text, right, role)
        if stack.note:
            heading(axes, pen, index + 0.25 / row, stack.note, "", right, "muted")
        draw_stack(axes, pen, stack, index + 1 - 0.16 / row, 0.117 / row)
    if stacks:
        legend(figure, pen, stages)
    return Drawing(figure, alt)


def draw_stack(axes: Axes, pen: Pen, stack: Stack, middle: float, height: float) -> None:
    left = 0.0
    for index, part in enumerate(stack.parts):
        axes.barh(
            middle,
            part,
            left=left,
            height=height,
            color=pen["bad" if stack.alarm else f"stage-{index % 5 + 1}"],
            alpha=0.4 if stack.faint else None,
            edgecolor=pen["paper"],
            linewidth=0.6,
        )
        left += part


def legend(figure: Figure, pen: Pen, stages: Sequence[str]) -> None:
    figure.legend(
        handles=[
            Patch(color=pen[f"stage-{index % 5 + 1}"], label=stage)
            for index, stage in enumerate(stages)
        ],
        loc="upper left",
        bbox_to_anchor=(0, 1),
        ncols=len(stages),
        frameon=False,
        labelcolor=pen["ink"],
        fontsize=FONT,
        handlelength=0.8,
        handleheight=0.8,
        handletextpad=0.4,
        columnspacing=1.1,
        borderaxespad=0,
        borderpad=0.1,
    )
