# SPDX-License-Identifier: Apache-2.0
"""What this page says nothing about, and why. A reader must be able to tell silence from a pass."""

from collections import Counter

from holdfast_report.documents import Case
from holdfast_report.root import Part, Root
from holdfast_report.units import plural


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


def not_checked(root: Root, trends_absent: str | None) -> list[str]:
    gaps = [] if root.verdict is None else list(root.verdict.not_checked)
    if root.verdict is None and (root.parts or not root.profiles):
        gaps.append(
            f"nothing was judged: {root.place} holds no verdict.json; "
            f"judge with: holdfast check {root.place}"
        )
    if not root.parts:
        gaps.append(f"nothing was measured: {root.place} holds no results")
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
