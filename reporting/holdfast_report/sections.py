# SPDX-License-Identifier: Apache-2.0
"""What each section of the page shows, by the names that its template knows; the first of a kind
lie open, the rest is folded away."""

from pathlib import Path
from typing import Any

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
from holdfast_report.root import Root
from holdfast_report.run_line import Past, run_line, tally
from holdfast_report.since_when import Trends

OPEN_PANELS = 12
OPEN_FAILURES = 20
OPEN_RANKINGS = 6
OPEN_TIMELINES = 6
OPEN_SWEEPS = 6
OPEN_PLACES = 3  # of one symptom
OPEN_NOTES = 3
OPEN_CASES = 3  # of one finding
OPEN_KERNELS = 4

Section = dict[str, Any]


def judged(root: Root, past: Past) -> Section:
    """Did it pass: the run's line, the outcome, how much blocks."""
    verdict = root.verdict
    return {
        "line": run_line(root, past.subjects),
        "link": past.link,
        "tally": tally(verdict) if verdict else "",
        "symbols": judgement.SYMBOLS,
        "tone": judgement.tone,
        "root": root,
        "verdict": verdict,
        "meaning": judgement.outcome(verdict) if verdict else None,
        "headline": judgement.headline_tone(verdict) if verdict else None,
        "counts": judgement.counts(verdict) if verdict else [],
        "open_notes": OPEN_NOTES,
    }


def found(root: Root) -> Section:
    """What failed and why, what the detectors found, what got better."""
    verdict = root.verdict
    failures = judgement.failures(verdict) if verdict else []
    optimized = [stored for stored in root.profiles if stored.profile.variant != "reference"]
    return {
        "failures": failures[:OPEN_FAILURES],
        "more_failures": failures[OPEN_FAILURES:],
        "improvements": judgement.improvements(verdict) if verdict else [],
        "remarks": judgement.remarks(verdict) if verdict else [],
        "symptoms": detections.symptoms(detections.meant(verdict)) if verdict else [],
        "slow_symptoms": detections.symptoms(detections.meant(verdict, slow=True))
        if verdict
        else [],
        "expected_symptoms": detections.symptoms(detections.expected(verdict)) if verdict else [],
        "silence": detections.silence(verdict, len(optimized)) if verdict else None,
        "open_places": OPEN_PLACES,
        "open_cases": OPEN_CASES,
        "open_kernels": OPEN_KERNELS,
    }


def trends(found: Trends, absent: str | None) -> Section:
    """Since when; `absent` says why there are no trends, where there are none."""
    return {
        "trends_absent": absent,
        "panels": found.panels[:OPEN_PANELS],
        "more_panels": found.panels[OPEN_PANELS:],
        "flat": found.flat,
    }


def ratios(root: Root) -> Section:
    """Where the time goes: speedups, ways of doing the same, components, rooflines."""
    rankings = exhibits.rankings(root)
    ranked = {stored.profile.device_class for stored in root.profiles} if rankings else set()
    sweeps = exhibits.sweeps_of(root)
    rooflines = exhibits.rooflines(root)
    drawn_roofs = {exhibit.title for exhibit in rooflines}
    return {
        "speedups": exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(
                tables.speedups(root, part),
                f"Speedup of each case on {part.device_class}",
                unit_line=1.0,
            ),
            tables.speedup_table,
        ),
        "sweeps": sweeps[:OPEN_SWEEPS],
        "more_sweeps": sweeps[OPEN_SWEEPS:],
        "choices": exhibits.choices(root),
        "components": exhibits.shares_of_parts(
            root, "Shares of a step's time", tables.component_shares, tables.other_ratios
        ),
        "beyond_whole": tables.beyond_whole(root.parts),
        "rankings": rankings[:OPEN_RANKINGS],
        "more_rankings": rankings[OPEN_RANKINGS:],
        "launches": exhibits.shares_of_parts(
            root,
            "Shares of launches per step",
            lambda part: [] if part.device_class in ranked else tables.launch_shares(part),
        ),
        "rooflines": rooflines,
        "floors": exhibits.shares_of_parts(
            root,
            "Fraction of the roofline reached",
            lambda part: [] if part.title in drawn_roofs else tables.floors(part),
            lambda part: None if part.title in drawn_roofs else tables.ceilings(part),
        ),
    }


def code(root: Root) -> Section:
    """Compile stages by case and by program, kernels."""
    return {
        "stages": exhibits.of_parts(root, exhibits.stages_or_none, tables.stage_table),
        "programs": exhibits.programs(root),
        "kernels": [
            (part.title, distinct, tables.kernels_by_case(part))
            for part in root.parts
            if (distinct := tables.kernels(part)).rows
        ],
    }


def memory(root: Root) -> Section:
    """Peaks by case, and what was held when."""
    timelines = exhibits.timelines(root)
    return {
        "memory": exhibits.of_parts(
            root,
            lambda part: exhibits.bars_or_none(tables.memory(part), f"Peak memory, {part.title}"),
            tables.memory_table,
        ),
        "timelines": timelines[:OPEN_TIMELINES],
        "more_timelines": timelines[OPEN_TIMELINES:],
    }


def profiles(root: Root, out: Path) -> Section:
    """What a step does; `out` is the folder in which the page will lie."""
    suspects, others = profile_views.views(root.profiles, root.verdict, out)
    return {"suspects": suspects, "profiles": others}


def covered(root: Root, trends_absent: str | None) -> Section:
    """The environment, what was not measured, and what would have passed unseen."""
    return {
        "environments": [(part.title, environment.facts_of(part)) for part in root.parts],
        "cases": case_rows(root),
        "losses": smallest_losses(root.verdict) if root.verdict else None,
        "gaps": not_checked(root, trends_absent),
    }
