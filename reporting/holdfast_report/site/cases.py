# SPDX-License-Identifier: Apache-2.0
"""The page of a case: the headline metrics as figures, every other series as a row, and the figures'
values for the page's script."""

import json
from pathlib import Path
from typing import Any

from markupsafe import Markup

from holdfast_report.site import addresses
from holdfast_report.site.archive import Column, Commit
from holdfast_report.site.figures import figure, frames_of, how_much, limits_of, whole
from holdfast_report.site.levels import better_of
from holdfast_report.site.pages import HEADLINES, Renderer, Site
from holdfast_report.site.views import moved, surroundings
from holdfast_report.trends import Band, band_of
from holdfast_report.units import STEPS, change_of, readable

FIGURES = 6
FEWEST = 2  # unchanged series are rows, but a page needs some figures


def rank(site: Site, column: Column) -> tuple[object, ...]:
    """A sort key: series that are not well or changed their level lately, then the usual order
    of metrics."""
    changes = site.levels.changes.get(column.key, [])
    blocking = len(column.at) - 1 in column.alarms
    drift = site.levels.drifts.get(column.key)
    known = column.metric in HEADLINES
    return (
        not blocking,
        not any(change.worse for change in changes) and not (drift and drift.worse),
        not changes and drift is None,
        not known,
        column.constant,
        column.variant == "reference",
        HEADLINES.index(column.metric) if known else 0,
        column.key,
    )


def band(site: Site, column: Column) -> Band | None:
    """The accepted band, if it is near enough to be drawn: within half of what was measured."""
    device_class, case, variant, metric = column.key
    found = band_of(None, site.accepted.get((device_class, f"{case}|{variant}|{metric}")))
    low, high = min(column.values), max(column.values)
    return found if found and 0.5 * low <= found.baseline <= 1.5 * high else None


def embedded(data: Any) -> Markup:
    """JSON in a page: no text in it ends the element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=False, sort_keys=True)
    return Markup(text.replace("<", "\\u003c"))


def value_of(number: float) -> float | int:
    return int(number) if float(number).is_integer() and abs(number) < 1e15 else float(f"{number:.6g}")


def processors_of(column: Column) -> list[str]:
    """The processor of each value, because values of different ones compare badly; empty if all
    are of one."""
    return column.processors if len(set(column.processors)) > 1 else []


def data_of(site: Site, drawn: list[Column]) -> Any:
    archive = site.archive
    figures = []
    processors: dict[str, int] = {}
    for column in drawn:
        accepted = band(site, column)
        limits = limits_of(column, accepted, site.levels)
        every = column.at == list(range(len(archive.commits)))
        changes = site.levels.changes.get(column.key, [])
        figures.append(
            {
                "unit": column.unit,
                "whole": whole(column),
                "limits": [limits.low, limits.high],
                "at": None if every else column.at,
                "values": [value_of(value) for value in column.values],
                "levels": [
                    [first, last, value_of(level)]
                    for first, last, level in site.levels.segments.get(column.key, [])
                ],
                "changes": [  # the largest first
                    [one.at, how_much(one), bool(one.worse)]
                    for one in sorted(changes, key=lambda one: -abs(one.change))
                ],
                "environment": archive.moves(column),
                "band": [accepted.low, accepted.baseline, accepted.high] if accepted else None,
                "alarms": sorted(column.alarms),
                "on": [
                    processors.setdefault(name, len(processors))
                    for name in processors_of(column)
                ],
            }
        )
    commits = [
        [
            commit.name[:12] if commit.committed else commit.short,
            commit.date,
            told(commit),
            *([] if commit.committed else ["content"]),
        ]
        for commit in archive.commits
    ]
    return {
        "commits": commits, "figures": figures, "link": site.link, "processors": list(processors),
        "steps": STEPS,
    }


def told(commit: Commit) -> str:
    """The text beside a commit's hash and date."""
    subject = commit.headline if commit.committed else ""
    branch = f"branch {commit.branch}" if commit.branch else ""
    return ", ".join(filter(None, (subject, branch)))


def case_page(site: Site, renderer: Renderer, case: str, out: Path) -> tuple[str, str]:
    """`out` is the folder of the site, which may hold this page as it was."""
    archive, levels, address = site.archive, site.levels, addresses.of_case(case)
    framed = frames_of(out / address)
    ranked = sorted(archive.cases[case], key=lambda column: rank(site, column))
    drawn = [column for column in ranked if len(column.at) > 1 and not column.constant][:FIGURES]
    drawn += [column for column in ranked if column not in drawn][: max(0, FEWEST - len(drawn))]
    shown = {column.key for column in drawn}
    figures = []
    for column in drawn:
        drift, left = levels.drifts.get(column.key), archive.left_at(column)
        changes = [moved(change, archive) for change in reversed(levels.changes.get(column.key, []))]
        figures.append(
            {
                "anchor": addresses.anchor(column.key),
                "metric": column.metric,
                "variant": column.variant,
                "device_class": column.device_class,
                "now": readable(column.last, column.unit),
                "better": better_of(column.metric, site.better),
                "drift": f"drifted {change_of(drift.anchor, drift.change)} since {archive.commits[drift.since].called}" if drift else "",
                "left": f"last measured at {left.called}, {left.date}" if left else "",
                "at": archive.commits[column.at[-1]],
                "told": told(archive.commits[column.at[-1]]),
                "svg": figure(column, archive, levels, band(site, column), site.link, framed),
                "changes": changes,
            }
        )
    rows = [row_of(site, column) for column in archive.cases[case] if column.key not in shown]
    classes = sorted({column.device_class for column in archive.cases[case]})
    return address, renderer.page(
        "case.html",
        address,
        ("filter.js", "site/case.js"),
        case=case,
        figures=figures,
        rows=rows,
        environments=[one for name in classes for one in surroundings(archive, name)],
        data=embedded(data_of(site, drawn)),
    )


def row_of(site: Site, column: Column) -> dict[str, Any]:
    changes = site.levels.changes.get(column.key, [])
    return {
        "anchor": addresses.anchor(column.key),
        "metric": column.metric,
        "variant": column.variant,
        "device_class": column.device_class,
        "now": readable(column.last, column.unit),
        "points": len(column.at),
        "first": readable(column.values[0], column.unit),
        "change": moved(changes[-1], site.archive) if changes else None,
    }
