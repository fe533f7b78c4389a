# SPDX-License-Identifier: Apache-2.0
"""Bars with their names above them: they stay readable on a phone, where a column of long case ids
would not fit."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from holdfast_report.drawing import FONT, Drawing, Pen

WIDTH = 4.6  # inches
ROW = 0.42
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


def shortened(name: str, room: int) -> str:
    if len(name) <= room:
        return name
    half = (room - 1) // 2
    return f"{name[:half]}\u2026{name[-half:]}"


def rows(pen: Pen, count: int, widest: float, above: float = 0.0) -> tuple[Figure, Axes, float]:
    """Axes whose row k has its text at y = k and its bar below; `above` inches stay free for a
    legend."""
    height = count * ROW + 0.08 + above
    figure, axes = pen.figure(WIDTH, height)
    axes.set_position((0, 0, 1, (height - above) / height))
    axes.set_ylim(count - 0.05, -0.1)
    axes.set_xlim(0, widest or 1.0)
    axes.set_axis_off()
    return figure, axes, widest or 1.0


def heading(axes: Axes, pen: Pen, row: int, name: str, text: str, right: float) -> None:
    room = CHARACTERS - len(text)
    # A name may hold a dollar, which is no formula.
    style: dict[str, Any] = {
        "color": pen["ink"],
        "fontsize": TEXT,
        "va": "center",
        "parse_math": False,
    }
    axes.text(0, row + 0.22, shortened(name, room), **style)
    axes.text(right, row + 0.22, text, ha="right", **style)


def bar_chart(
    bars: Sequence[Bar], alt: str, unit_line: float | None = None, pen: Pen = Pen()
) -> Drawing:
    """`unit_line` marks a value that means something on its own: as fast as the reference, the
    roofline, the whole."""
    reach = [max(bar.value, bar.bound or 0.0, *bar.dots) for bar in bars]
    figure, axes, right = rows(pen, len(bars), max([*reach, unit_line or 0.0]) * 1.01)
    for row, bar in enumerate(bars):
        heading(axes, pen, row, bar.name, bar.text, right)
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
    figure, axes, right = rows(pen, len(stacks), widest, LEGEND)
    for row, stack in enumerate(stacks):
        heading(axes, pen, row, stack.name, stack.text, right)
        left = 0.0
        for index, part in enumerate(stack.parts):
            axes.barh(
                row + 0.62,
                part,
                left=left,
                height=0.28,
                color=pen[f"stage-{index % 5 + 1}"],
                label=stages[index] if row == 0 else None,
                edgecolor=pen["paper"],
                linewidth=0.6,
            )
            left += part
    if stacks:
        figure.legend(
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
    return Drawing(figure, alt)
