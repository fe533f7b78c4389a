# SPDX-License-Identifier: Apache-2.0
"""The pages apart from those of cases: overview, commits, a class, a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from holdfast_report import judgement
from holdfast_report.documents import Entry
from holdfast_report.page import breakable, new_engine
from holdfast_report.scripts import hash_of, script
from holdfast_report.site import addresses
from holdfast_report.site.archive import Archive, Column, Run
from holdfast_report.site.levels import Levels
from holdfast_report.site.views import (
    differences,
    moved,
    state_of,
    summary,
    surroundings,
    tone_of,
)
from holdfast_report.units import change_of, plural, readable

TEMPLATES = Path(__file__).parents[1] / "templates"
OPEN_STEPS = 12  # commits whose changes the overview shows
OLDER_STEPS = 150
OPEN_CHANGES = 5  # of one commit
MOST_CHANGES = 150
HEADLINES = ("speedup", "time_s", "peak_bytes", "launches", "instructions", "first_call_s")


@dataclass
class Site:
    """All that pages are made of."""

    archive: Archive
    levels: Levels
    better: Mapping[str, str] = field(default_factory=dict)  # by metric
    accepted: Mapping[tuple[str, str], Entry] = field(default_factory=dict)
    link: str | None = None  # what a commit's hash is appended to
    title: str = "Trends"


class Renderer:
    """A template with what every page has; which scripts may run is said by their hashes."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.engine = new_engine()
        self.engine.filters["breakable"] = breakable
        styles = [(TEMPLATES / name).read_text("utf-8") for name in ("page.css", "site/site.css")]
        archive = site.archive
        self.common: dict[str, Any] = {
            "style": Markup("\n".join(styles)),
            "symbols": judgement.SYMBOLS,
            "tone": judgement.tone,
            "link": site.link,
            "commits": len(archive.commits),
            "newest": archive.commits[-1].date,
        }

    def page(self, template: str, address: str, scripts: tuple[str, ...] = (), **shown: Any) -> str:
        texts = [script(name) for name in scripts]
        allowed = " ".join(hash_of(text) for text in texts)
        also = " 'strict-dynamic'" if "site/compare.js" in scripts else ""
        return self.engine.get_template(f"site/{template}").render(
            **self.common,
            root=addresses.root_from(address),
            scripts=texts,
            allowed=Markup(f"; script-src {allowed}{also}" if texts else ""),
            **shown,
        )


def badge(archive: Archive) -> str:
    """The newest verdicts of each class as a picture of a few words."""
    state = state_of([archive.newest(name) for name in archive.classes])
    colour = {"good": "#007a5a", "bad": "#b83c08", "odd": "#8a6100"}[state.tone]
    width = 62 + 8 + round(6.4 * len(state.text)) + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20" '
        f'viewBox="0 0 {width} 20" role="img" '
        f'aria-label="holdfast: {escape(state.text)}">'
        f'<path fill="#3c444c" d="M4 0h58v20H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z"/>'
        f'<path fill="{colour}" d="M62 0h{width - 66}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4H62z"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">'
        f'<text x="7" y="14" textLength="48">holdfast</text>'
        f'<text x="70" y="14" textLength="{width - 78}">{escape(state.text)}</text></g></svg>\n'
    )


def elsewhere(archive: Archive, device_class: str) -> list[str]:
    """The suites whose verdict for the class is from an older commit."""
    return [
        f"{suite}, last at {commit.called}, {commit.date}"
        for suite, commit in archive.older(device_class)
    ]


def missed(archive: Archive, device_class: str) -> str:
    """How many commits are newer than the last one that the class was run at."""
    newer = len(archive.commits) - 1 - archive.runs_of(device_class)[-1].at
    return plural(newer, "newer commit") if newer else ""


def facts_of(run: Run) -> list[tuple[str, str]]:
    return [("measured", run.utc), *run.facts.items(), ("fingerprint", run.print)]


def index(site: Site, renderer: Renderer) -> str:
    archive, levels = site.archive, site.levels
    latest = []
    for name in archive.classes:
        run = archive.runs_of(name)[-1]
        commit = archive.commits[run.at]
        facts = [("branch", commit.branch), ("date", commit.date), ("device", run.facts.get("device"))]
        facts += [("not run here", said) for said in elsewhere(archive, name)]
        facts += [("not run at", missed(archive, name))]
        latest.append(
            {
                "device_class": name,
                "address": addresses.of_class(name),
                "run_address": addresses.of_run(commit),
                "state": state_of([archive.newest(name)]),
                "commit": commit,
                "facts": [(label, fact) for label, fact in facts if fact],
                "ci": run.ci,
            }
        )
    steps = []
    for at, changes in levels.steps[: OPEN_STEPS + OLDER_STEPS]:
        commit = archive.commits[at]
        worse = any(change.worse for change in changes)
        better = any(change.worse is False for change in changes)
        steps.append(
            {
                "commit": commit,
                "run_address": addresses.of_run(commit),
                "tone": "bad" if worse else "good" if better else "odd",
                "symbol": "\u2717" if worse else "\u25b2" if better else "\u2260",
                "said": summary(changes),
                "changes": [moved(change, archive) for change in changes[:OPEN_CHANGES]],
                "more": max(0, len(changes) - OPEN_CHANGES),
            }
        )
    creeps = sorted(levels.creeps.values(), key=lambda one: (not one.worse, -abs(one.change)))
    return renderer.page(
        "index.html",
        "index.html",
        ("filter.js",),
        title=site.title,
        latest=latest,
        steps=steps[:OPEN_STEPS],
        older=steps[OPEN_STEPS:],
        creeps=[moved(creep, archive) for creep in creeps[:MOST_CHANGES]],
        stepped=[
            {
                "address": f"{addresses.of_case(drift.key[1])}#{addresses.anchor(drift.key)}",
                "series": drift.key,
                "since": archive.commits[drift.since],
                "levels": [readable(level, archive.unit(drift.key)) for level in (drift.anchor, drift.median)],
                "percent": change_of(drift.anchor, drift.change),
                "tone": tone_of(drift.worse),
            }
            for drift in levels.stepped[:MOST_CHANGES]
        ],
        environments=[one for name in archive.classes for one in surroundings(archive, name)],
        cases=[case_row(site, case) for case in archive.cases],
        badge_svg=Markup(badge(archive)),
    )


def case_row(site: Site, case: str) -> dict[str, Any]:
    columns = site.archive.cases[case]
    last = max(
        (change.at for one in columns for change in site.levels.changes.get(one.key, [])),
        default=None,
    )
    commit = site.archive.commits[last] if last is not None else None
    return {
        "case": case,
        "address": addresses.of_case(case),
        "classes": len({one.device_class for one in columns}),
        "series": len(columns),
        "changed": f"{commit.date} {commit.called}" if commit else "",
        "left": left(site.archive, columns),
    }


def left(archive: Archive, columns: Sequence[Column]) -> str:
    """Where a case that the newest runs lack was last measured."""
    places = [archive.left_at(column) for column in columns]
    known = [place for place in places if place is not None]
    if len(known) < len(places):
        return ""
    last = max(known, key=lambda commit: archive.position[commit.name])
    return f"last measured at {last.called}, {last.date}"


def runs(site: Site, renderer: Renderer) -> str:
    archive = site.archive
    counted = {at: len(changes) for at, changes in site.levels.by_commit}
    rows = []
    for at in range(len(archive.commits) - 1, -1, -1):
        commit = archive.commits[at]
        rows.append(
            {
                "commit": commit,
                "address": addresses.of_run(commit),
                "state": state_of(archive.runs_at(at)),
                "changes": counted.get(at, 0),
            }
        )
    return renderer.page("runs.html", "runs.html", ("filter.js",), rows=rows)


def run_page(site: Site, renderer: Renderer, at: int) -> tuple[str, str]:
    archive = site.archive
    commit = archive.commits[at]
    address = addresses.of_run(commit)
    here = archive.runs_at(at)
    beside = [
        {"commit": archive.commits[other], "address": addresses.of_run(archive.commits[other])}
        if 0 <= other < len(archive.commits)
        else None
        for other in (at - 1, at + 1)
    ]
    changed = dict(site.levels.by_commit).get(at, [])
    environments = [
        {"device_class": name, "address": addresses.of_class(name), "said": differences(old, new)}
        for name in archive.classes
        for old, new in archive.environment_changes(name)
        if new.at == at
    ]
    return address, renderer.page(
        "run.html",
        address,
        one=commit,
        before=beside[0],
        after=beside[1],
        parent=archive.commits[archive.position[commit.parent]] if commit.parent in archive.position else None,
        runs=[
            {
                "device_class": run.device_class,
                "address": addresses.of_class(run.device_class),
                "state": state_of([run]),
                "counts": sorted(run.counts.items()),
                "facts": facts_of(run),
                "ci": run.ci,
            }
            for run in here
        ],
        changes=[moved(change, archive) for change in changed[:MOST_CHANGES]],
        environments=environments,
        gaps=gaps_at(site, here),
    )


def gaps_at(site: Site, here: list[Run]) -> list[str]:
    """What the history cannot say of this commit."""
    archive = site.archive
    measured = {run.device_class for run in here}
    gaps = [f"{run.device_class}: {gap}" for run in here for gap in run.not_checked]
    gaps += [f"{name}: nothing was measured at this commit" for name in archive.classes if name not in measured]
    gaps += [f"{run.device_class}: nothing was judged" for run in here if not run.counts]
    gaps += [
        f"{run.device_class}: the history says nothing of what was left out"
        for run in here
        if run.counts and not run.not_checked
    ]
    if not any(name.startswith(("cuda-", "nvidia-")) and "dry" not in name for name in measured):
        gaps.append("nothing was run on a GPU: GPU times and results on a GPU are not known")
    return gaps


def class_page(site: Site, renderer: Renderer, name: str) -> tuple[str, str]:
    archive, address = site.archive, addresses.of_class(name)
    run = archive.runs_of(name)[-1]
    changes = sorted(
        (one for key, found in site.levels.changes.items() if key[0] == name for one in found),
        key=lambda one: (-one.at, not one.worse, -abs(one.change)),
    )
    by_case: dict[str, dict[str, str]] = {}
    columns: dict[str, list[Column]] = {}
    for column in archive.columns.values():
        if column.device_class == name and column.variant in ("optimized", "case"):
            cells = by_case.setdefault(column.case, {})
            cells[column.metric] = readable(column.last, column.unit)
            columns.setdefault(column.case, []).append(column)
    head = [metric for metric in HEADLINES if any(metric in cells for cells in by_case.values())]
    return address, renderer.page(
        "class.html",
        address,
        ("filter.js",),
        device_class=name,
        state=state_of([archive.newest(name)]),
        elsewhere=elsewhere(archive, name),
        missed=missed(archive, name),
        newest_commit=archive.commits[run.at],
        facts=facts_of(run),
        environments=surroundings(archive, name),
        changes=[moved(change, archive) for change in changes[:MOST_CHANGES]],
        more=max(0, len(changes) - MOST_CHANGES),
        head=head,
        cases=[
            {
                "case": case,
                "address": addresses.of_case(case),
                "left": left(archive, columns[case]),
                "cells": [cells.get(metric, "\u2013") for metric in head],
            }
            for case, cells in sorted(by_case.items())
        ],
    )
