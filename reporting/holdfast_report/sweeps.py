# SPDX-License-Identifier: Apache-2.0
"""Cases that differ in one axis of their ids alone: a curve where the axis counts something, and
where it names ways of doing the same, a table that says which one to use when."""

import re
from dataclasses import dataclass, field
from math import isfinite

from holdfast_report.cells import Table
from holdfast_report.documents import Case
from holdfast_report.root import Part
from holdfast_report.units import digits, readable, times

LEAST_POINTS = 3  # of a curve
METRICS = {"time_s": "s", "peak_bytes": "B"}  # what is drawn: the first that the cases have
TIED = 1.05  # as fast, for somebody who chooses
# Axes that say what is computed, from what or within which limits: nobody chooses among them.
GIVEN = (
    "comp", "data", "diag", "limit", "loss", "mode", "model", "op", "opt", "over", "pass", "psf",
    "scaling", "size", "source", "unit", "weights",
)


@dataclass(frozen=True)
class Name:
    """A case id taken apart; the dtype is an axis like the others."""

    family: str
    axes: dict[str, str]

    def without(self, axis: str) -> str:
        rest = [f"{key}:{value}" for key, value in self.axes.items() if key not in (axis, "dtype")]
        dtype = [] if axis == "dtype" else [self.axes["dtype"]]
        return "/".join([self.family, *rest, *dtype])


@dataclass
class Curve:
    """One metric along an axis, by variant; points ascend."""

    axis: str
    rest: str  # what the cases have in common
    metric: str
    unit: str
    points: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


def taken_apart(case: str) -> Name:
    """suite/family[/stage]/key:value.../dtype"""
    words = case.split("/")[1:]
    axes = dict(word.split(":", 1) for word in words if ":" in word)
    family = "/".join(word for word in words[:-1] if ":" not in word)
    return Name(family, axes | {"dtype": words[-1]})


# Plain ones: float() also takes inf, nan and 1_0, which name something in an id.
NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]+)?")


def number(text: str) -> float | None:
    if not NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if isfinite(value) else None


Group = dict[str, Case]  # by the value of the axis in which they differ


def groups(part: Part, counted: bool) -> list[tuple[str, str, Group]]:
    """(axis, what is common, cases by value) of axes that count, or of those that name."""
    found: dict[tuple[str, str], Group] = {}
    for case in part.measured:
        name = taken_apart(case.id)
        for axis, value in name.axes.items():
            found.setdefault((axis, name.without(axis)), {})[value] = case
    return [
        (axis, rest, cases)
        for (axis, rest), cases in found.items()
        if len(cases) > 1 and all(number(value) is not None for value in cases) is counted
    ]


def curve_of(axis: str, rest: str, cases: Group) -> Curve | None:
    for metric, unit in METRICS.items():
        curve = Curve(axis, rest, metric, unit)
        for variant in ("optimized", "reference"):
            points = [
                (float(value), measured)
                for value, case in cases.items()
                if (measured := case.number(variant, metric)) is not None and measured > 0
            ]
            if len(points) >= LEAST_POINTS and len({y for _, y in points}) > 1:
                curve.points[variant] = sorted(points)
        if curve.points:
            return curve
    return None


def curves(part: Part) -> list[Curve]:
    drawn = [curve_of(*group) for group in groups(part, counted=True)]
    return [curve for curve in drawn if curve]


def said(curve: Curve) -> str:
    return "; ".join(
        f"{variant} "
        + ", ".join(f"{digits(x)}: {readable(y, curve.unit)}" for x, y in points)
        for variant, points in curve.points.items()
    )


def ranked(rest: str, seconds: dict[str, float]) -> list[tuple[str, ...]]:
    """The ways of one set of cases, the fastest first; the set is named once."""
    best = min(seconds.values())
    rows: list[tuple[str, ...]] = []
    for way, time in sorted(seconds.items(), key=lambda item: item[1]):
        beside = "as fast" if rows and time <= best * TIED else times(time / best)
        compared = beside if rows else "fastest"
        rows.append(("" if rows else rest, way, readable(time, "s"), compared))
    return rows


def choices(part: Part) -> list[tuple[str, Table]]:
    """(axis, table): a row for each way of each set of cases that differ in it alone."""
    rows: dict[str, list[tuple[str, ...]]] = {}
    for axis, rest, cases in groups(part, counted=False):
        if axis in GIVEN:
            continue
        seconds = {value: case.number("optimized", "time_s") for value, case in cases.items()}
        known = {value: time for value, time in seconds.items() if time}
        if len(known) > 1:
            rows.setdefault(axis, []).extend(ranked(rest, known))
    return [
        (axis, Table(("cases", axis, "step", "compared"), body, text_columns=2))
        for axis, body in rows.items()
    ]
