# SPDX-License-Identifier: Apache-2.0
"""Profiles as the page shows them: one folded section each, with those of suspects in front."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from holdfast_report import profile_tables
from holdfast_report.cells import Table
from holdfast_report.detections import meant
from holdfast_report.documents import Verdict
from holdfast_report.judgement import tone
from holdfast_report.profiles import Profile, Stored
from holdfast_report.tables import VARIANTS
from holdfast_report.units import plural, readable, share

MOST_STEPS = 60  # drawn as single bars


@dataclass(frozen=True)
class Reason:
    text: str
    tone: str


@dataclass(frozen=True)
class View:
    case: str
    variant: str
    device_class: str
    reasons: list[Reason]  # why it stands in front; none for the others
    gist: str
    notes: list[str]
    facts: list[tuple[str, str]]
    steps: list[float]  # of the slowest, one per step; empty where they are not known
    tables: list[tuple[str, Table]]
    counters: list[tuple[str, str]]
    links: list[tuple[str, str]]  # text and relative address
    traced: bool


Suspects = dict[tuple[str, str, str], list[Reason]]  # by device class, case and variant


def suspects(verdict: Verdict | None) -> Suspects:
    """The profiles to look at first. A row on the case as a whole, such as a speedup, points at
    both variants."""
    found: Suspects = {}
    if verdict is None:
        return found

    def point(device_class: str, case: str, variant: str, reason: Reason) -> None:
        for one in VARIANTS if variant in ("case", "") else (variant,):
            reasons = found.setdefault((device_class, case, one), [])
            if reason not in reasons:
                reasons.append(reason)

    for row in verdict.rows:
        if tone(row.verdict) in ("bad", "odd"):
            reason = Reason(row.verdict, tone(row.verdict))
            point(row.device_class, row.case, row.variant, reason)
    for one in meant(verdict):
        reason = Reason(one.detector.replace("_", " "), "odd")
        point(one.device_class, one.case, one.variant, reason)
    return found


def gist(profile: Profile) -> str:
    """The overview in a line."""
    seen = profile.overview
    said = [
        f"{readable(seen.mean_step_s, 's')} per step" if seen.mean_step_s is not None else "",
        f"{share(seen.busy_fraction)} busy" if seen.busy_fraction is not None else "",
        f"{readable(seen.launches, '1')} launch{'es' if seen.launches != 1 else ''}"
        if seen.launches
        else "",
        profile_tables.top_operation(profile) or "",
        "" if profile.executed else "not executed",
    ]
    return ", ".join(filter(None, said))


def notes(profile: Profile) -> list[str]:
    """What must be known to read the numbers."""
    said = [f"{plural(profile.steps, 'step')} profiled."]
    if not profile.executed:
        said.append("Counts are exact, nothing was executed: there are no device times.")
    elif profile.clock == "none":
        said.append(f"The device told no times: {profile.silence or 'no reason given'}.")
    elif profile.silence:
        said.append(f"Times are the host's: {profile.silence}.")
    if profile.scopes and profile.clock != "host":
        said.append("Scopes are on the host's clock: how long it took to enqueue their work.")
    if profile.dropped:
        said.append(
            f"{profile.dropped:,} activities beyond the limit were not kept: profile fewer steps."
        )
    return said


def shown_steps(profile: Profile) -> list[float]:
    steps = profile.overview.step_s[:MOST_STEPS]
    slowest = max(steps, default=0.0)
    return [seconds / slowest for seconds in steps] if len(steps) > 1 and slowest else []


def address(path: Path, page: Path) -> str:
    """Relative to the page's folder, so that both can be moved together."""
    return quote(Path(os.path.relpath(path.resolve(), page.resolve())).as_posix())


def links(stored: Stored, page: Path) -> list[tuple[str, str]]:
    named = [("trace", stored.trace), ("memory by call site (pprof)", stored.memory_profile)]
    return [(text, address(path, page)) for text, path in named if path]


def view(stored: Stored, reasons: list[Reason], page: Path) -> View:
    profile = stored.profile
    tables = [
        ("Operations", profile_tables.ops(profile)),
        ("Scopes", profile_tables.scope_table(profile)),
        ("Transfers", profile_tables.transfers(profile)),
        ("Longest gaps on the device", profile_tables.gaps(profile)),
        ("Windows of periodic profiling", profile_tables.windows(profile)),
    ]
    return View(
        case=profile.case,
        variant=profile.variant,
        device_class=profile.device_class,
        reasons=reasons,
        gist=gist(profile),
        notes=notes(profile),
        facts=profile_tables.overview(profile),
        steps=shown_steps(profile),
        tables=[(title, table) for title, table in tables if table.rows],
        counters=profile_tables.device_counts(profile),
        links=links(stored, page),
        traced=stored.trace is not None,
    )


def views(
    profiles: Sequence[Stored], verdict: Verdict | None, page: Path
) -> tuple[list[View], list[tuple[str, list[View]]]]:
    """Those of suspects, in the verdict's order; and the others by suite and device class."""
    pointed_at = suspects(verdict)
    order = list(pointed_at)
    front: list[tuple[int, View]] = []
    others: dict[str, list[View]] = {}
    for stored in profiles:
        profile = stored.profile
        shown = view(stored, pointed_at.get(profile.key, []), page)
        if profile.key in pointed_at:
            front.append((order.index(profile.key), shown))
        else:
            title = f"{profile.suite} on {profile.device_class}"
            others.setdefault(title, []).append(shown)
    front.sort(key=lambda item: item[0])
    return [shown for _, shown in front], list(others.items())
