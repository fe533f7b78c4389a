# SPDX-License-Identifier: Apache-2.0
"""The verdict as the page tells it: a headline, and rows of one case and verdict together."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from holdfast_report.documents import Row, Verdict
from holdfast_report.units import percent, readable

# Worst first. Each has its own symbol, so that no colour has to be told from another.
SYMBOLS = {
    "WRONG": "\u203c",
    "SUSPECT-FAST": "\u26a0",
    "REGRESSION": "\u2717",
    "CHANGED": "\u2260",
    "MISSING": "?",
    "NOISY": "\u2248",
    "WARN": "!",
    "DRIFT": "\u2198",
    "ENV": "\u25cb",
    "WAIVED": "\u2016",
    "IMPROVED": "\u25b2",
    "ACCEPTED": "\u25c6",
    "NEW": "+",
    "SKIPPED": "\u2013",
    "PASS": "\u2713",
}
TONES = {
    **dict.fromkeys(["WRONG", "SUSPECT-FAST", "REGRESSION", "CHANGED", "MISSING"], "bad"),
    **dict.fromkeys(["NOISY", "WARN", "DRIFT", "ENV", "WAIVED"], "odd"),
    **dict.fromkeys(["IMPROVED", "ACCEPTED", "PASS"], "good"),
    **dict.fromkeys(["NEW", "SKIPPED"], "plain"),
}
MEANINGS = {
    0: "well",
    1: "a blocking regression",
    2: "usage or a bad file",
    3: "incomplete",
    4: "undecided",
    77: "no such device",
}


def outcome(verdict: Verdict) -> str:
    """What the exit code means; where something was held against nothing, how much."""
    if verdict.exit == 0 and verdict.caveats:
        return "; ".join(verdict.caveats)
    return MEANINGS.get(verdict.exit, "unknown")


def headline_tone(verdict: Verdict) -> str:
    if verdict.exit == 0:
        return "odd" if verdict.caveats else "good"
    return "odd" if verdict.exit in (4, 77) else "bad"


def tone(verdict: str) -> str:
    return TONES.get(verdict, "plain")


@dataclass(frozen=True)
class Line:
    """One metric of a finding: what the gate says, and both numbers."""

    metric: str
    said: str
    before: str
    now: str
    change: str
    limit: str


@dataclass(frozen=True)
class Finding:
    verdict: str
    blocking: bool
    cases: list[str]  # of all of which the same is to be said
    device_class: str
    variant: str
    lines: list[Line]
    evidence: list[tuple[str, str]]
    commands: list[str]


def both(before: Row, unit: str) -> tuple[str, str]:
    """Baseline and value, with as many digits as it takes to tell them apart."""
    texts = readable(before.baseline, unit), readable(before.value, unit)
    if texts[0] != texts[1] or before.baseline == before.value:
        return texts
    plain = [
        str(value) if isinstance(value, str) else f"{value:.15g} {unit}"
        for value in (before.baseline, before.value)
    ]
    return plain[0], plain[1]


def said_of(row: Row) -> str:
    """The sentence without the case and device that the finding's heading has already named."""
    named, colon, rest = row.sentence.partition(": ")
    return rest if colon and named.startswith(row.case) else row.sentence


def line_of(row: Row) -> Line:
    before, now = both(row, row.unit)
    # Beside a baseline the limit is a change; without one it is the value that must not be passed.
    limit = "\u2013"
    if row.limit is not None:
        limit = percent(row.limit) if row.baseline is not None else readable(row.limit, row.unit)
    return Line(
        metric=row.metric,
        said=said_of(row),
        before=before,
        now=now,
        change=percent(row.change) if row.change is not None else "\u2013",
        limit=limit,
    )


def findings(rows: list[Row]) -> list[Finding]:
    """Rows of one case, device class, variant and verdict belong together; the worst come first."""
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(
            (row.verdict, row.case, row.device_class, row.variant, str(row.blocking)), []
        ).append(row)
    order = list(SYMBOLS)
    ranked = sorted(
        groups.values(),
        key=lambda group: (
            not group[0].blocking,
            order.index(group[0].verdict) if group[0].verdict in order else len(order),
        ),
    )
    return told_once(
        Finding(
            verdict=group[0].verdict,
            blocking=group[0].blocking,
            cases=[group[0].case],
            device_class=group[0].device_class,
            variant=group[0].variant,
            lines=[line_of(row) for row in group],
            evidence=list(dict.fromkeys(item for row in group for item in row.evidence.items())),
            commands=list(dict.fromkeys(row.next for row in group if row.next)),
        )
        for group in ranked
    )


def told_once(found: Iterable[Finding]) -> list[Finding]:
    """One crash takes all cases along: what is the same but for the case becomes one finding."""
    merged: list[Finding] = []
    for finding in found:
        if merged and replace(finding, cases=merged[-1].cases) == merged[-1]:
            merged[-1].cases.extend(finding.cases)
        else:
            merged.append(finding)
    return merged


def failures(verdict: Verdict) -> list[Finding]:
    return findings([row for row in verdict.rows if row.blocking])


def improvements(verdict: Verdict) -> list[Finding]:
    return findings([row for row in verdict.rows if row.verdict == "IMPROVED" and not row.blocking])


def remarks(verdict: Verdict) -> list[Finding]:
    """What does not fail the build and is no plain pass either."""
    told = ("PASS", "NEW", "IMPROVED", "SKIPPED")
    return findings([row for row in verdict.rows if not row.blocking and row.verdict not in told])


def counts(verdict: Verdict) -> list[tuple[str, int]]:
    known = [(name, verdict.counts[name]) for name in SYMBOLS if verdict.counts.get(name)]
    return known + [(name, count) for name, count in verdict.counts.items() if name not in SYMBOLS]
