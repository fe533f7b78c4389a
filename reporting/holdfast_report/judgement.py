# SPDX-License-Identifier: Apache-2.0
"""The verdict on the page: a headline, and rows grouped by case and verdict."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from holdfast_report.causes import by_metric, cause_of, failing
from holdfast_report.causes import told as kernels_told
from holdfast_report.cells import Table
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
    2: "usage or a bad file",
    3: "incomplete",
    4: "undecided",
    77: "no such device",
}
# What exit 1 means by the verdict of the blocking rows, the worst first.
BLOCKING = {
    "WRONG": "a wrong result",
    "SUSPECT-FAST": "an impossible speed",
    "REGRESSION": "a blocking regression",
    "CHANGED": "a blocking change",
    "DRIFT": "blocking drift",
}


def outcome(verdict: Verdict) -> str:
    """What the exit code means, or the caveats of a pass."""
    if verdict.exit == 0 and verdict.caveats:
        return "; ".join(verdict.caveats)
    if verdict.exit == 1:
        return meaning_of_failure(verdict)
    return MEANINGS.get(verdict.exit, "unknown")


def meaning_of_failure(verdict: Verdict) -> str:
    """The meaning of exit 1, by the worst verdict of the blocking rows."""
    blocking = {row.verdict for row in verdict.rows if row.blocking}
    loosens = any(change.blocking for change in verdict.changes)
    otherwise = "a loosening without a reason" if loosens else "a blocking regression"
    return next((BLOCKING[name] for name in BLOCKING if name in blocking), otherwise)


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
    verdict: str
    said: str
    before: str
    now: str
    change: str
    limit: str
    case: str = field(compare=False)
    variant: str = field(compare=False)


@dataclass(frozen=True)
class Finding:
    verdict: str
    blocking: bool
    cases: list[str]  # all cases to which it applies
    device_class: str
    variant: str
    lines: list[Line]
    evidence: list[tuple[str, str]]
    commands: list[str]  # of the first case, in the order of the terminal
    kernels: list[str] = field(default_factory=list)  # if they are the cause
    rows: Table | None = None  # of all cases, where their numbers may differ


def both(before: Row, unit: str) -> tuple[str, str]:
    """Baseline and value, with as many digits as it takes to tell them apart."""
    texts = readable(before.baseline, unit), readable(before.value, unit)
    if texts[0] != texts[1] or before.baseline == before.value:
        return texts
    called = "" if unit == "1" else unit
    plain = [
        str(value) if isinstance(value, str) else f"{value:.15g} {called}".strip()
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
        verdict=row.verdict,
        said=said_of(row),
        before=before,
        now=now,
        change=percent(row.change) if row.change is not None else "\u2013",
        limit=limit,
        case=row.case,
        variant=row.variant,
    )


def findings(rows: Iterable[Row]) -> list[Finding]:
    """Groups rows, the worst first: those that one kernel caused together, others by case,
    device class, variant and verdict."""
    groups: dict[tuple[object, ...], list[Row]] = {}
    for row in rows:
        one = (row.verdict, row.case, row.device_class, row.variant, row.blocking)
        groups.setdefault(cause_of(row) or one, []).append(row)
    ranked = sorted((sorted(group, key=rank) for group in groups.values()), key=lambda g: rank(g[0]))
    return told_once(finding_of(group) for group in ranked)


def rank(row: Row) -> tuple[bool, bool, int]:
    """The terminal's order: rows that a busy machine may have caused come last among their like."""
    order = list(SYMBOLS)
    severity = order.index(row.verdict) if row.verdict in order else len(order)
    return not row.blocking, "load" in row.evidence, severity


def finding_of(group: list[Row]) -> Finding:
    head = group[0]
    cause = cause_of(head)
    cases = list(dict.fromkeys(row.case for row in group))
    of_first = [row for row in group if (row.case, row.blocking) == (head.case, head.blocking)]
    return Finding(
        verdict=head.verdict,
        blocking=head.blocking,
        cases=cases,
        device_class=head.device_class,
        variant=cause[1] if cause else head.variant,
        lines=[line_of(row) for row in (by_metric(group) if cause else group)],
        evidence=list(dict.fromkeys(item for row in of_first for item in row.evidence.items())),
        commands=sorted({row.next for row in of_first if row.next}),
        kernels=kernels_told(group) if cause else [],
        rows=table_of(group) if len(cases) > 1 else None,
    )


def table_of(rows: list[Row]) -> Table:
    head = ("case", "metric", "verdict", "before", "now", "change")
    lines = [line_of(row) for row in rows]
    cells = [
        (line.case, line.metric, line.verdict, line.before, line.now, line.change) for line in lines
    ]
    return Table(head, cells, text_columns=3)


def told_once(found: Iterable[Finding]) -> list[Finding]:
    """One crash affects all cases: findings that differ only in the case, and in the commands
    that name it, become one."""
    merged: dict[tuple[object, ...], Finding] = {}
    for finding in found:
        same = (
            finding.verdict, finding.blocking, finding.device_class, finding.variant,
            *finding.lines, *finding.evidence, *finding.kernels,
        )
        merged.setdefault(same, finding)
        if merged[same] is not finding:
            merged[same].cases.extend(finding.cases)
    return list(merged.values())


def failures(verdict: Verdict) -> list[Finding]:
    return findings(failing(verdict.rows))


def passing(verdict: Verdict) -> list[Row]:
    """The rows that no failure includes."""
    told = {id(row) for row in failing(verdict.rows)}
    return [row for row in verdict.rows if id(row) not in told]


def improvements(verdict: Verdict) -> list[Finding]:
    return findings(row for row in passing(verdict) if row.verdict == "IMPROVED")


def remarks(verdict: Verdict) -> list[Finding]:
    """Findings that do not fail the build and are no plain pass."""
    plain = ("PASS", "NEW", "IMPROVED", "SKIPPED")
    return findings(row for row in passing(verdict) if row.verdict not in plain)


def counts(verdict: Verdict) -> list[tuple[str, int]]:
    known = [(name, verdict.counts[name]) for name in SYMBOLS if verdict.counts.get(name)]
    return known + [(name, count) for name, count in verdict.counts.items() if name not in SYMBOLS]
