# SPDX-License-Identifier: Apache-2.0
"""Since when: a panel for each series that says something, and the commit that brought a
failure."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isclose

from markupsafe import Markup

from holdfast_report import judgement, trends
from holdfast_report.cells import Table
from holdfast_report.documents import Row
from holdfast_report.history import Series
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


def now_of(root: Root, series: Series, row: Row | None) -> float | None:
    """The judged value, unless the history's last point is already of that run, by its time or
    by its value as the history keeps it."""
    if row is None or not isinstance(row.value, float | int):
        return None
    suite = series.case.partition("/")[0]
    runs = [
        part.results.run
        for part in root.parts
        if (part.device_class, part.suite) == (series.device_class, suite)
    ]
    last = series.points[-1]
    same = [run for run in runs if last.commit in (run.git.sha, run.content)]
    kept = isclose(last.value, row.value, rel_tol=KEPT)
    return None if same and (kept or last.utc in {run.utc for run in same}) else row.value


def absent_from(root: Root, series: list[Series]) -> set[tuple[str, str, str, str]]:
    """The series whose suite is in this run, but not their case."""
    cases = {
        (part.device_class, part.suite): {case.id for case in part.results.cases}
        for part in root.parts
    }
    return {
        one.key
        for one in series
        if one.case not in cases.get((one.device_class, one.case.partition("/")[0]), (one.case,))
    }


def panels(root: Root, series: list[Series], link: str | None) -> tuple[list[Panel], Table]:
    """The panels that say something, and the others as a table."""
    rows = {
        (row.device_class, row.case, row.variant, row.metric): row
        for row in (root.verdict.rows if root.verdict else [])
    }
    judged = {key: (row.verdict, row.kind) for key, row in rows.items()}
    absent = absent_from(root, series)

    def rank(one: Series) -> tuple[object, ...]:
        verdict, kind = judged.get(one.key, (None, None))
        return one.key in absent and verdict in trends.QUIET, trends.rank(one, verdict, kind)

    ranked = sorted(series, key=rank)
    drawn, flat = [], []
    for one in ranked:
        verdict, kind = judged.get(one.key, (None, None))
        newest = now_of(root, one, rows.get(one.key))
        shown = one.points[-1].value if newest is None else newest
        now = readable(shown, trends.unit(one))
        if not trends.worth_a_panel(one, verdict, kind):
            flat.append(
                (one.device_class, one.case, one.variant, one.metric, now, one.points[0].utc[:10])
            )
            continue
        entry = root.baselines.get((one.device_class, f"{one.case}|{one.variant}|{one.metric}"))
        band = trends.band_of(rows.get(one.key), entry)
        variant = "" if one.variant == "case" else f" {one.variant}"
        drift = f", drifted {change_of(one.drift.anchor, one.drift.change)}" if one.drift else ""
        left = ", not in this run" if one.key in absent else ""
        first = one.points[0]  # of an unchanged series the history gives only the ends
        still = f", {readable(first.value, trends.unit(one))} since {first.utc[:10]}" if one.constant else ""
        drawn.append(
            Panel(
                case=one.case,
                about=f"{one.metric}{variant}, {one.device_class}{still}{drift}{left}",
                now=now,
                verdict=None if verdict in trends.QUIET else verdict,
                figure=svg(panel(one, band, verdict, newest, link=link)),
            )
        )
    head = ("device class", "case", "variant", "metric", "value", "first measured")
    return drawn, Table(head, flat, text_columns=4)


@dataclass(frozen=True)
class Since:
    """The commit that brought a level."""

    short: str
    address: str | None
    about: str


def since_in(
    root: Root, series: list[Series], past: Past
) -> Callable[[judgement.Finding, judgement.Line], Since | None]:
    """The commit that brought a finding's value: the last change of its series, if the value is
    nearer to the level after it than to the one before."""
    known = {one.key: one for one in series}
    rows = root.verdict.rows if root.verdict else []
    values = {(row.device_class, row.case, row.variant, row.metric): row.value for row in rows}

    def since(finding: judgement.Finding, line: judgement.Line) -> Since | None:
        key = finding.device_class, line.case, line.variant, line.metric
        value, one = values.get(key), known.get(key)
        if one is None or not one.change_points or not isinstance(value, float | int):
            return None
        change = one.change_points[-1]
        if abs(value - change.after) > abs(value - change.before):
            return None
        utc = next((point.utc for point in one.points if point.order == change.order), "")
        return Since(
            trends.short_commit(change.commit),
            past.address(change.commit),
            f"{past.subjects.get(change.commit, '')} ({utc[:10]})".strip(),
        )

    return since
