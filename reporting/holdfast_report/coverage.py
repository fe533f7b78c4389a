# SPDX-License-Identifier: Apache-2.0
"""What this page says nothing about, and why. A reader must be able to tell silence from a pass."""

from collections import Counter
from dataclasses import dataclass

from holdfast_report.cells import Table
from holdfast_report.documents import Case, Row, Verdict
from holdfast_report.judgement import said_of
from holdfast_report.root import Part, Root
from holdfast_report.units import plural, share

# The gate's standards by which a loss would have failed.
HELD = {
    "accepted": "what was accepted",
    "beside": "the base beside it",
    "bound": "its bound",
}


def device_kind(device_name: str) -> str:
    return device_name.partition(":")[0]


def absent_readings(cases: list[Case]) -> Counter[tuple[str, str]]:
    """How many cases lack a metric, by its name and the reason given."""
    lacking: Counter[tuple[str, str]] = Counter()
    for case in cases:
        tables = [
            case.metrics,
            case.derived,
            *(variant.metrics for variant in case.variants.values()),
        ]
        missing = {
            (name, metric.reason or "no reason given")
            for table in tables
            for name, metric in table.items()
            if metric.number is None
        }
        lacking.update(missing)
    return lacking


def uncounted(part: Part) -> list[str]:
    """Which cases of a host have no count of instructions, by the reason in the suite's list."""
    if part.listed is None or device_kind(part.results.env.device_name) != "host":
        return []
    measured = {case.id for case in part.measured}
    by_reason: dict[str, list[str]] = {}
    for case in part.listed.cases:
        if case.uncounted and case.id in measured:
            name = case.id.removeprefix(part.suite + "/")
            by_reason.setdefault(case.uncounted, []).append(name)
    return [
        f"{part.title}: instructions not counted in {plural(len(names), 'case')}, "
        f"because {reason}: {', '.join(names)}"
        for reason, names in by_reason.items()
    ]


def gaps_of(part: Part) -> list[str]:
    results = part.results
    if results.status == "no_device":
        return [
            (
                f"{part.suite} on {results.env.device_name}: no such device "
                f"({results.reason or 'no reason given'})"
            )
        ]
    gaps = []
    dry = [case for case in part.measured if case.check.status == "not_executed"]
    if dry:
        gaps.append(
            f"{part.title}: {plural(len(dry), 'case')} compiled and counted, not executed: "
            "no times, no speedups, and no result was checked"
        )
    unwell: dict[tuple[str, str], list[str]] = {}
    for case in results.cases:
        if case.status != "ok":
            unwell.setdefault((case.status, case.reason or "no reason given"), []).append(case.id)
    for (status, reason), ids in unwell.items():
        gaps.append(f"{', '.join(ids)} on {part.device_class}: {status} ({reason})")
    for (metric, reason), count in sorted(absent_readings(part.measured).items()):
        gaps.append(f"{part.title}: {metric} in {plural(count, 'case')}: {reason}")
    gaps.extend(uncounted(part))
    if part.listed:
        kind = device_kind(results.env.device_name)
        have = {case.id for case in results.cases}
        absent = [
            case for case in part.listed.cases if case.id not in have and kind in case.devices
        ]
        by_tier = Counter(case.tier for case in absent)
        why = "a filtered run" if results.partial else f"the run's tier is {results.tier}"
        for tier, count in sorted(by_tier.items()):
            gaps.append(f"{part.title}: {plural(count, 'case')} of the tier {tier} not run ({why})")
    return gaps


def unprofiled(root: Root) -> list[str]:
    """Where there are no profiles, or fewer times in them than a reader would expect."""
    if root.parts and not root.profiles:
        return [
            (
                "no step was profiled: no operations, scopes or memory over time; "
                f"holdfast run SUITE --profile --out={root.place} adds them"
            )
        ]
    silent: Counter[tuple[str, str]] = Counter()
    for stored in root.profiles:
        profile = stored.profile
        if profile.silence:
            silent[f"{profile.suite} on {profile.device_class}", profile.silence] += 1
    return [
        f"{title}: {plural(count, 'profile')} without the device's times: {reason}"
        for (title, reason), count in sorted(silent.items())
    ]


def resultless(root: Root) -> list[str]:
    """Parts with values in the verdict but without results in the root."""
    here = {(part.suite, part.device_class) for part in root.parts}
    rows = root.verdict.rows if root.verdict and root.parts else []
    judged = dict.fromkeys(
        (row.case.partition("/")[0], row.device_class) for row in rows if row.value is not None
    )
    return [
        f"{suite} on {device_class}: judged, and {root.place} has no results of it: "
        "this page shows its verdicts and nothing else"
        for suite, device_class in judged
        if (suite, device_class) not in here
    ]


def not_checked(root: Root, trends_absent: str | None) -> list[str]:
    gaps = [] if root.verdict is None else list(root.verdict.not_checked)
    if root.verdict is None and (root.parts or not root.profiles):
        gaps.append(
            f"nothing was judged: {root.place} holds no verdict.json; "
            f"judge with: holdfast check {root.place}"
        )
    if not root.parts:
        gaps.append(f"nothing was measured: {root.place} holds no results")
    gaps += resultless(root)
    for part in root.parts:
        gaps.extend(gaps_of(part))
    gaps.extend(unprofiled(root))
    kinds = {device_kind(part.results.env.device_name) for part in root.parts}
    if root.parts and "cuda" not in kinds:
        gaps.append(
            "no part was run on a GPU: GPU times, GPU speedups and results on a GPU are not known"
        )
    if root.verdict:
        fresh = Counter(row.device_class for row in root.verdict.rows if row.verdict == "NEW")
        for device_class, count in sorted(fresh.items()):
            gaps.append(
                f"{device_class}: {plural(count, 'metric')} without a baseline, "
                "held against bounds only"
            )
    if trends_absent:
        gaps.append(f"trends: {trends_absent}")
    return list(dict.fromkeys(gaps))


@dataclass(frozen=True)
class Losses:
    """How large a loss of speed had to be to fail: in one sentence, and case by case."""

    said: str
    table: Table


def smallest_losses(verdict: Verdict) -> Losses | None:
    """The largest first, with the cases that lack their times; None where nothing was to be timed."""
    best: dict[tuple[str, str], Row] = {}
    for row in verdict.rows:
        if row.kind in ("time", "ratio") and row.metric != "handover_s":
            key = row.case, row.device_class
            best[key] = min(best.get(key, row), row, key=loss_of)
    for row in filter(is_unmeasured, verdict.rows):
        best.setdefault((row.case, row.device_class), row)
    if not best:
        return None
    rows = sorted(best.values(), key=loss_of, reverse=True)
    told = [row.resolution.loss for row in rows if row.resolution]
    silent = len(rows) - len(told)
    span = " to ".join(dict.fromkeys(share(loss) for loss in (*told[-1:], *told[:1])))
    said = [f"{span} in {plural(len(told), 'case')}"] if told else []
    said += [f"no loss of speed would have failed in {plural(silent, 'case')}"] if silent else []
    head = ("loss", "case", "held against")
    several = len({row.device_class for row in rows}) > 1
    table = Table(head, [loss_cells(row, several) for row in rows], len(head))
    return Losses("; ".join(said), table)


def is_unmeasured(row: Row) -> bool:
    """Whether a row, which then has no kind, is of a case that failed as a whole or lacks its
    time. Rows of a suite are not, and a dry device has no times."""
    if row.kind or row.verdict not in ("MISSING", "WRONG", "SKIPPED"):
        return False
    whole = row.variant == "case" and (not row.metric or row.verdict == "WRONG")
    is_time = row.metric in ("time_s", "speedup")
    return (whole or is_time) and "/" in row.case and not row.device_class.startswith("cuda-dry")


def why_unmeasured(row: Row) -> str:
    if row.verdict == "WRONG":
        return "wrong"
    said = said_of(row).partition(":")[0]  # "the case crashed", without its reason
    return next((word for word in ("crashed", "timed out", "skipped") if word in said), "missing")


def loss_of(row: Row) -> float:
    return row.resolution.loss if row.resolution else float("inf")


def loss_cells(row: Row, with_class: bool) -> tuple[str, ...]:
    case = f"{row.case} on {row.device_class}" if with_class else row.case
    if is_unmeasured(row):
        return "none", case, f"nothing, not measured: {why_unmeasured(row)}"
    if row.resolution is None:
        return "none", case, "nothing that gates"
    by = row.resolution.by
    return share(row.resolution.loss), case, f"{HELD.get(by, by)}, {row.metric}"
