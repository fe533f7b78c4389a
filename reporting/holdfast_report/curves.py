# SPDX-License-Identifier: Apache-2.0
"""A metric along an axis of case ids, both variants in one panel, on logarithmic scales where the
values span more than an order of magnitude."""

from math import log

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from holdfast_report.drawing import FONT, Drawing, Pen, width_of
from holdfast_report.sweeps import Curve, said
from holdfast_report.units import digits, readable

WIDTH, HEIGHT = 3.5, 1.75  # inches
AXIS = 0.7 * 72 * WIDTH  # points between its first value and its last, about
APART = 5.0  # points between two labels
SPAN = 8.0  # from here on a scale is logarithmic
TICKS = 4


def spans(values: list[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) >= SPAN


def ticked(values: list[float]) -> list[float]:
    """Values as ticks, as long as their labels do not touch; always the ends."""
    known = sorted(set(values))
    places = [log(value) for value in known] if spans(known) else known
    reach = (places[-1] - places[0]) or 1.0
    across = [AXIS * (place - places[0]) / reach for place in places]
    wide = [width_of(digits(value), FONT - 1) + APART for value in known]
    kept = [0]
    for index in range(1, len(known) - 1):
        free = across[index] - across[kept[-1]] >= (wide[index] + wide[kept[-1]]) / 2
        if free and across[-1] - across[index] >= (wide[index] + wide[-1]) / 2:
            kept.append(index)
    return [known[index] for index in dict.fromkeys([*kept, len(known) - 1])]


def scale(axes: Axes, curve: Curve) -> None:
    xs = [x for points in curve.points.values() for x, _ in points]
    ys = [y for points in curve.points.values() for _, y in points]
    if spans(xs):
        axes.set_xscale("log")
    if spans(ys):
        axes.set_yscale("log")
        axes.set_ylim(min(ys) / 1.6, max(ys) * 1.6)
        low, high = min(ys), max(ys)
        marks = [low * (high / low) ** (index / (TICKS - 1)) for index in range(TICKS)]
        axes.yaxis.set_major_locator(FixedLocator(marks))
    else:
        axes.set_ylim(0, max(ys) * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(TICKS))
    axes.xaxis.set_major_locator(FixedLocator(ticked(xs)))
    for one in (axes.xaxis, axes.yaxis):
        one.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: digits(x)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: readable(y, curve.unit)))


def panel(title: str, curve: Curve, pen: Pen = Pen()) -> Drawing:
    figure, axes = pen.figure(WIDTH, HEIGHT)
    axes.set_position((0.2, 0.2, 0.77, 0.74))
    for variant in ("reference", "optimized"):
        points = curve.points.get(variant)
        if points:
            xs, ys = zip(*points, strict=True)
            inside = pen["paper" if variant == "reference" else variant]
            axes.plot(xs, ys, "o-", color=pen[variant], mfc=inside, ms=3.6, lw=1.3)
    scale(axes, curve)
    axes.grid(axis="y", color=pen["rule"], lw=0.6)
    axes.set_axisbelow(True)
    axes.set_xlabel(curve.axis, color=pen["muted"], fontsize=FONT - 1, parse_math=False)
    return Drawing(figure, f"{title}: {curve.metric} along {curve.axis}: {said(curve)}")
