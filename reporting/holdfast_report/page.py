# SPDX-License-Identifier: Apache-2.0
"""The page: everything above put into one HTML file that needs nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from holdfast_report import judgement, tables, trends
from holdfast_report.bars import Bar, bar_chart, stack_chart
from holdfast_report.coverage import not_checked
from holdfast_report.documents import Row
from holdfast_report.drawing import inline
from holdfast_report.history import Series
from holdfast_report.root import Part, Root
from holdfast_report.tables import Table
from holdfast_report.units import percent, readable

OPEN_PANELS = 12  # the rest is folded away
OPEN_FAILURES = 20


def breakable(case: str) -> Markup:
    """A case id that may break after its slashes."""
    return Markup("/<wbr>").join(case.split("/"))


@dataclass(frozen=True)
class Panel:
    case: str
    about: str
    now: str
    verdict: str | None
    figure: Markup


@dataclass(frozen=True)
class Exhibit:
    """A figure of one part, and its numbers as a table."""

    title: str
    figure: Markup | None
    table: Table | None


def exhibits(
    root: Root,
    draw: Callable[[Part], Markup | None],
    table: Callable[[Part], Table | None] = lambda part: None,
) -> list[Exhibit]:
    found = []
    for part in root.parts:
        figure, numbers = draw(part), table(part)
        if figure is not None or (numbers is not None and numbers.rows):
            found.append(Exhibit(part.title, figure, numbers if numbers and numbers.rows else None))
    return found


def bars_or_none(bars: Sequence[Bar], alt: str, unit_line: float | None = None) -> Markup | None:
    if not bars:
        return None
    said = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return inline(bar_chart(bars, f"{alt}: {said}", unit_line))


def stages_or_none(part: Part) -> Markup | None:
    stacks = tables.stages(part)
    if not stacks:
        return None
    said = "; ".join(f"{stack.name}: {stack.text}" for stack in stacks)
    return inline(
        stack_chart(stacks, list(tables.STAGES), f"Compile stages on {part.device_class}: {said}")
    )


def now_of(root: Root, series: Series, row: Row | None) -> float | None:
    """The value that was judged, unless the history's last point already is that run."""
    if row is None or not isinstance(row.value, float | int):
        return None
    runs = [part.results.run for part in root.parts if part.device_class == series.device_class]
    known = {name for run in runs for name in (run.git.sha, run.content)}
    last = series.points[-1]
    return None if last.commit in known and last.value == row.value else row.value


def panels(root: Root, series: list[Series]) -> tuple[list[Panel], Table]:
    """The panels that say something, and the others as a table."""
    rows = {
        (row.device_class, row.case, row.variant, row.metric): row
        for row in (root.verdict.rows if root.verdict else [])
    }
    judged = {key: (row.verdict, row.kind) for key, row in rows.items()}
    ranked = sorted(series, key=lambda one: trends.rank(one, *judged.get(one.key, (None, None))))
    drawn, flat = [], []
    for one in ranked:
        verdict, kind = judged.get(one.key, (None, None))
        newest = now_of(root, one, rows.get(one.key))
        shown = one.points[-1].value if newest is None else newest
        now = readable(shown, trends.unit(one))
        if not trends.worth_a_panel(one, verdict, kind):
            flat.append(
                (one.device_class, one.case, one.variant, one.metric, now, str(len(one.points)))
            )
            continue
        entry = root.baselines.get((one.device_class, f"{one.case}|{one.variant}|{one.metric}"))
        band = trends.band_of(rows.get(one.key), entry)
        variant = "" if one.variant == "case" else f" {one.variant}"
        drift = f", drifted {percent(one.drift.change)}" if one.drift else ""
        drawn.append(
            Panel(
                case=one.case,
                about=f"{one.metric}{variant}, {one.device_class}{drift}",
                now=now,
                verdict=None if verdict in trends.QUIET else verdict,
                figure=inline(trends.panel(one, band, verdict, newest)),
            )
        )
    head = ("device class", "case", "variant", "metric", "value", "commits")
    return drawn, Table(head, flat, text_columns=4)


def render(root: Root, series: list[Series], trends_absent: str | None = None) -> str:
    """`trends_absent` says why there are no trends, where there are none."""
    environment = Environment(
        loader=PackageLoader("holdfast_report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    verdict = root.verdict
    failures = judgement.failures(verdict) if verdict else []
    drawn, flat = panels(root, series)
    style = (Path(__file__).parent / "templates" / "page.css").read_text("utf-8")
    environment.filters["breakable"] = breakable
    return environment.get_template("page.html").render(
        style=Markup(style),
        symbols=judgement.SYMBOLS,
        tone=judgement.tone,
        root=root,
        verdict=verdict,
        meaning=judgement.MEANINGS.get(verdict.exit, "unknown") if verdict else None,
        counts=judgement.counts(verdict) if verdict else [],
        failures=failures[:OPEN_FAILURES],
        more_failures=failures[OPEN_FAILURES:],
        improvements=judgement.improvements(verdict) if verdict else [],
        remarks=judgement.remarks(verdict) if verdict else [],
        trends_absent=trends_absent,
        panels=drawn[:OPEN_PANELS],
        more_panels=drawn[OPEN_PANELS:],
        flat=flat,
        speedups=exhibits(
            root,
            lambda part: bars_or_none(
                tables.speedups(root, part),
                f"Speedup of each case on {part.device_class}",
                unit_line=1.0,
            ),
            lambda part: tables.speedup_table(root, part),
        ),
        components=exhibits(
            root,
            lambda part: bars_or_none(
                tables.component_shares(part),
                f"Shares of a step's time, {part.title}",
                unit_line=1.0,
            ),
            tables.other_ratios,
        ),
        launches=exhibits(
            root,
            lambda part: bars_or_none(
                tables.launch_shares(part),
                f"Shares of launches per step, {part.title}",
                unit_line=1.0,
            ),
        ),
        floors=exhibits(
            root,
            lambda part: bars_or_none(
                tables.floors(part),
                f"Fraction of the roofline reached, {part.title}",
                unit_line=1.0,
            ),
            tables.ceilings,
        ),
        stages=exhibits(root, stages_or_none, tables.stage_table),
        kernels=[
            (part.title, tables.kernels(part), tables.kernels_by_case(part))
            for part in root.parts
            if tables.kernels(part).rows
        ],
        memory=exhibits(
            root,
            lambda part: bars_or_none(tables.memory(part), f"Peak memory, {part.title}"),
            tables.memory_table,
        ),
        environments=[(part.title, tables.environment(part)) for part in root.parts],
        gaps=not_checked(root, trends_absent),
    )
