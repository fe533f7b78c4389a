# SPDX-License-Identifier: Apache-2.0
"""Since when: a panel for each series that says something, and the commit that brought a
failure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import isclose
from operator import itemgetter
from typing import TypeVar

from markupsafe import Markup

from holdfast_report import judgement, trends
from holdfast_report.cells import Table
from holdfast_report.documents import Row
from holdfast_report.history import ChangePoint, Series
from holdfast_report.panel import panel
from holdfast_report.root import Root
from holdfast_report.run_line import Past
from holdfast_report.sketch import svg
from holdfast_report.units import change_of, readable

KEPT = 1e-5  # relative: a history keeps six digits


@dataclass(frozen=True)
class Panel:
    case: str
    about: str
    now: str
    verdict: str | None
    figure: Markup


def judged_of(row: Row | None) -> float | None:
    return row.value if row and isinstance(row.value, float | int) else None


def now_of(root: Root, series: Series, row: Row | None) -> float | None:
    """The judged value, unless a point of the history is already of that run, by its time or by
    its value as the history keeps it."""
    value = judged_of(row)
    if value is None:
        return None
    suite = series.case.partition("/")[0]
    runs = [
        part.results.run
        for part in root.parts
        if (part.device_class, part.suite) == (series.device_class, suite)
    ]
    for point in series.points:
        same = [run for run in runs if point.commit in (run.git.sha, run.content)]
        kept = isclose(point.value, value, rel_tol=KEPT)
        if same and (kept or point.utc in {run.utc for run in same}):
            return None
    return value


Key = tuple[str, str, str, str]  # device class, case, variant, metric
Rank = tuple[object, ...]
Shown = TypeVar("Shown")
HEAD = ("device class", "case", "variant", "metric", "value", "first measured")


@dataclass(frozen=True)
class Trends:
    """What the page shows of a history, whose series are read one at a time."""

    panels: list[Panel]  # of series that say something
    flat: Table  # the others
    changes: dict[Key, tuple[ChangePoint, str]]  # the last of each series, and its time


def trends_of(root: Root, series: Iterable[Series], link: str | None) -> Trends:
    rows = {
        (row.device_class, row.case, row.variant, row.metric): row
        for row in (root.verdict.rows if root.verdict else [])
    }
    cases = {
        (part.device_class, part.suite): {case.id for case in part.results.cases}
        for part in root.parts
    }
    drawn, flat, changes = [], [], {}
    for one in series:
        row, suite = rows.get(one.key), one.case.partition("/")[0]
        verdict, kind = (row.verdict, row.kind) if row else (None, None)
        absent = one.case not in cases.get((one.device_class, suite), (one.case,))
        rank = absent and verdict in trends.QUIET, trends.rank(one, verdict, kind)
        newest = now_of(root, one, row)
        judged = judged_of(row)
        now = readable(one.points[-1].value if judged is None else judged, trends.unit(one))
        if one.change_points:
            change = one.change_points[-1]
            utc = next((point.utc for point in one.points if point.order == change.order), "")
            changes[one.key] = change, utc
        if not trends.worth_a_panel(one, verdict, kind):
            flat.append((rank, (*one.key, now, one.points[0].utc[:10])))
            continue
        entry = root.baselines.get((one.device_class, f"{one.case}|{one.variant}|{one.metric}"))
        figure = svg(panel(one, trends.band_of(row, entry), verdict, newest, link=link))
        loud = None if verdict in trends.QUIET else verdict
        drawn.append((rank, Panel(one.case, about(one, absent), now, loud, figure)))
    return Trends(in_order(drawn), Table(HEAD, in_order(flat), text_columns=4), changes)


def in_order(found: Iterable[tuple[Rank, Shown]]) -> list[Shown]:
    return [shown for _, shown in sorted(found, key=itemgetter(0))]


def about(one: Series, absent: bool) -> str:
    """The series besides its case; `absent` is one whose suite is in this run, but not its case."""
    variant = "" if one.variant == "case" else f" {one.variant}"
    drift = f", drifted {change_of(one.drift.anchor, one.drift.change)}" if one.drift else ""
    left = ", not in this run" if absent else ""
    first = one.points[0]  # of an unchanged series the history gives only the ends
    still = f", {readable(first.value, trends.unit(one))} since {first.utc[:10]}" if one.constant else ""
    return f"{one.metric}{variant}, {one.device_class}{still}{drift}{left}"


@dataclass(frozen=True)
class Since:
    """The commit that brought a level."""

    short: str
    address: str | None
    about: str  # and, where its parent was not measured, the commit that was measured before it


def direction_of(row: Row, value: float) -> float:
    """Above 0 where a rise made the row what it is, below where a fall did, 0 where it does not say."""
    if not isinstance(row.baseline, float | int):  # the limit is the bound itself
        return 0.0 if row.limit is None else value - row.limit
    limit = row.limit or 0.0
    if row.standard == "bound":
        return value - row.baseline * (1 + limit)
    return limit if row.verdict == "DRIFT" else value - row.baseline


def since_in(
    root: Root, changes: Mapping[Key, tuple[ChangePoint, str]], past: Past
) -> Callable[[judgement.Finding, judgement.Line], Since | None]:
    """The commit that brought a finding's value: the last change of its series, if the value is
    nearer to the level after it than to the one before, and the change is of the finding's
    direction."""
    rows = {
        (row.device_class, row.case, row.variant, row.metric): row
        for row in (root.verdict.rows if root.verdict else [])
    }

    def since(finding: judgement.Finding, line: judgement.Line) -> Since | None:
        key = finding.device_class, line.case, line.variant, line.metric
        if key not in changes or key not in rows:
            return None
        row, (change, utc) = rows[key], changes[key]
        if not isinstance(row.value, float | int):
            return None
        if abs(row.value - change.after) > abs(row.value - change.before):
            return None
        if direction_of(row, row.value) * (change.after - change.before) < 0:
            return None
        about = f"{past.subjects.get(change.commit, '')} ({utc[:10]})".strip()
        if past.parents.get(change.commit, change.last_before) != change.last_before:
            about += f", measured before it: {trends.short_commit(change.last_before)}"
        return Since(trends.short_commit(change.commit), past.address(change.commit), about)

    return since
