# SPDX-License-Identifier: Apache-2.0
"""The page: everything above put into one HTML file that needs nothing else."""

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
)
from holdfast_report.case_rows import case_rows
from holdfast_report.coverage import not_checked, smallest_losses
from holdfast_report.folding import Folded
from holdfast_report.history import Series
from holdfast_report.root import Root
from holdfast_report.run_line import Past, run_line, tally
from holdfast_report.scripts import hash_of, script
from holdfast_report.since_when import panels, since_in

OPEN_PANELS = 12  # the rest is folded away
OPEN_FAILURES = 20
OPEN_RANKINGS = 6
OPEN_TIMELINES = 6
OPEN_SWEEPS = 6
OPEN_PLACES = 3  # of one symptom
OPEN_NOTES = 3
OPEN_CASES = 3  # of one finding
OPEN_KERNELS = 4


def breakable(case: str) -> Markup:
    """A case id that may break after its slashes."""
    return Markup("/<wbr>").join(case.split("/"))


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
        expected_symptoms=detections.symptoms(detections.expected(verdict)) if verdict else [],
        open_places=OPEN_PLACES,
        open_cases=OPEN_CASES,
        open_kernels=OPEN_KERNELS,
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
            (part.title, distinct, tables.kernels_by_case(part))
            for part in root.parts
            if (distinct := tables.kernels(part)).rows
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
        losses=smallest_losses(verdict) if verdict else None,
        gaps=not_checked(root, trends_absent),
    )
