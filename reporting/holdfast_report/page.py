# SPDX-License-Identifier: Apache-2.0
"""The page: everything above put into one HTML file that needs nothing else."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from holdfast_report import (
    detections,
    environment,
    exhibits,
    judgement,
    profile_views,
    tables,
    trends,
)
from holdfast_report.cells import Table
from holdfast_report.coverage import not_checked
from holdfast_report.documents import Row
from holdfast_report.folding import Folded
from holdfast_report.history import Series
from holdfast_report.root import Root
from holdfast_report.run_line import Past, run_line, tally
from holdfast_report.scripts import hash_of, script
from holdfast_report.sketch import svg
from holdfast_report.units import percent, readable, times

OPEN_PANELS = 12  # the rest is folded away
OPEN_FAILURES = 20
OPEN_RANKINGS = 6
OPEN_TIMELINES = 6
OPEN_SWEEPS = 6
OPEN_PLACES = 3  # of one symptom
OPEN_NOTES = 3


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


def now_of(root: Root, series: Series, row: Row | None) -> float | None:
    """The value that was judged, unless the history's last point already is that run."""
    if row is None or not isinstance(row.value, float | int):
        return None
    runs = [part.results.run for part in root.parts if part.device_class == series.device_class]
    known = {name for run in runs for name in (run.git.sha, run.content)}
    last = series.points[-1]
    return None if last.commit in known and last.value == row.value else row.value


def panels(root: Root, series: list[Series], link: str | None) -> tuple[list[Panel], Table]:
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
                figure=svg(trends.panel(one, band, verdict, newest, link=link)),
            )
        )
    head = ("device class", "case", "variant", "metric", "value", "commits")
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
    """Which commit a finding's value is there since: the last change of its series, where the value
    is nearer to the level after it than to the one before."""
    known = {one.key: one for one in series}
    rows = root.verdict.rows if root.verdict else []
    values = {(row.device_class, row.case, row.variant, row.metric): row.value for row in rows}

    def since(finding: judgement.Finding, line: judgement.Line) -> Since | None:
        key = finding.device_class, finding.cases[0], finding.variant, line.metric
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


@dataclass(frozen=True)
class CaseRow:
    anchor: str
    id: str
    device_class: str
    verdict: str | None
    speedup: str


def case_rows(root: Root) -> list[CaseRow]:
    """Every case of the run; on a second class its anchor has the class."""
    worst: dict[tuple[str, str], str] = {}
    order = list(judgement.SYMBOLS)
    for row in root.verdict.rows if root.verdict else []:
        held = worst.setdefault((row.device_class, row.case), row.verdict)
        if row.verdict in order and order.index(row.verdict) < order.index(held):
            worst[row.device_class, row.case] = row.verdict
    rows: list[CaseRow] = []
    seen: set[str] = set()
    for part in root.parts:
        for case in part.results.cases:
            anchor = "case-" + re.sub(r"[^A-Za-z0-9_.-]", "_", case.id)
            if anchor in seen:
                anchor += "-on-" + re.sub(r"[^A-Za-z0-9_.-]", "_", part.device_class)
            while anchor in seen:
                anchor += "-"
            seen.add(anchor)
            speedup = case.number("case", "speedup")
            rows.append(
                CaseRow(
                    anchor,
                    case.id,
                    part.device_class,
                    worst.get((part.device_class, case.id)),
                    times(speedup) if speedup is not None else "\u2013",
                )
            )
    return rows


def render(
    root: Root,
    series: list[Series],
    trends_absent: str | None,
    out: Path,
    past: Past = Past(),
) -> str:
    """`trends_absent` says why there are no trends, where there are none; `out` is the folder in
    which the page will lie; `past` what is known of commits."""
    engine = Environment(
        loader=PackageLoader("holdfast_report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    verdict = root.verdict
    failures = judgement.failures(verdict) if verdict else []
    drawn, flat = panels(root, series, past.link)
    rankings = exhibits.rankings(root)
    rooflines = exhibits.rooflines(root)
    drawn_roofs = {exhibit.title for exhibit in rooflines}
    ranked = {stored.profile.device_class for stored in root.profiles} if rankings else set()
    timelines = exhibits.timelines(root)
    sweeps = exhibits.sweeps_of(root)
    optimized = [stored for stored in root.profiles if stored.profile.variant != "reference"]
    suspects, profiles = profile_views.views(root.profiles, verdict, out)
    style = (Path(__file__).parent / "templates" / "page.css").read_text("utf-8")
    engine.filters["breakable"] = breakable
    folded = Folded()
    engine.globals |= {
        "fold": folded.add,
        "fold_piece": folded.piece,
        "block": folded.block,
        "since": since_in(root, series, past),
    }
    scripts = [script(name) for name in ("filter.js", "folded.js")]
    return engine.get_template("page.html").render(
        style=Markup(style),
        scripts=scripts,
        allowed=Markup(" ".join(hash_of(text) for text in scripts)),
        line=run_line(root, past.subjects),
        link=past.link,
        tally=tally(verdict) if verdict else "",
        cases=case_rows(root),
        symbols=judgement.SYMBOLS,
        tone=judgement.tone,
        root=root,
        verdict=verdict,
        meaning=judgement.outcome(verdict) if verdict else None,
        headline=judgement.headline_tone(verdict) if verdict else None,
        counts=judgement.counts(verdict) if verdict else [],
        failures=failures[:OPEN_FAILURES],
        more_failures=failures[OPEN_FAILURES:],
        improvements=judgement.improvements(verdict) if verdict else [],
        remarks=judgement.remarks(verdict) if verdict else [],
        symptoms=detections.symptoms(detections.meant(verdict)) if verdict else [],
        slow_symptoms=detections.symptoms(detections.meant(verdict, slow=True)) if verdict else [],
        open_places=OPEN_PLACES,
        open_notes=OPEN_NOTES,
        silence=detections.silence(verdict, len(optimized)) if verdict else None,
        trends_absent=trends_absent,
        panels=drawn[:OPEN_PANELS],
        more_panels=drawn[OPEN_PANELS:],
        flat=flat,
        speedups=exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(
                tables.speedups(root, part),
                f"Speedup of each case on {part.device_class}",
                unit_line=1.0,
            ),
            lambda part: tables.speedup_table(root, part),
        ),
        sweeps=sweeps[:OPEN_SWEEPS],
        more_sweeps=sweeps[OPEN_SWEEPS:],
        choices=exhibits.choices(root),
        components=exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(
                tables.component_shares(part),
                f"Shares of a step's time, {part.title}",
                unit_line=1.0,
            ),
            tables.other_ratios,
        ),
        rankings=rankings[:OPEN_RANKINGS],
        more_rankings=rankings[OPEN_RANKINGS:],
        launches=exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(
                [] if part.device_class in ranked else tables.launch_shares(part),
                f"Shares of launches per step, {part.title}",
                unit_line=1.0,
            ),
        ),
        rooflines=rooflines,
        floors=exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(
                [] if part.title in drawn_roofs else tables.floors(part),
                f"Fraction of the roofline reached, {part.title}",
                unit_line=1.0,
            ),
            lambda part: None if part.title in drawn_roofs else tables.ceilings(part),
        ),
        stages=exhibits.of_parts(root, exhibits.stages_or_none, tables.stage_table),
        programs=exhibits.programs(root),
        kernels=[
            (part.title, tables.kernels(part), tables.kernels_by_case(part))
            for part in root.parts
            if tables.kernels(part).rows
        ],
        memory=exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(tables.memory(part), f"Peak memory, {part.title}"),
            tables.memory_table,
        ),
        timelines=timelines[:OPEN_TIMELINES],
        more_timelines=timelines[OPEN_TIMELINES:],
        suspects=suspects,
        profiles=profiles,
        environments=[(part.title, environment.facts_of(part)) for part in root.parts],
        gaps=not_checked(root, trends_absent),
    )
