# SPDX-License-Identifier: Apache-2.0
"""The detectors' findings on the page: once for each symptom and fix, however many cases have
it."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast_report.documents import Detected, Verdict
from holdfast_report.units import digits, plural


@dataclass(frozen=True)
class Place:
    """The cases in which one sentence holds."""

    cases: list[str]
    where: str
    sentence: str
    numbers: str


@dataclass(frozen=True)
class Symptom:
    detector: str
    fix: str
    expected: str | None  # why its cases show it on purpose, so that nothing is to be fixed
    cases: int
    places: list[Place]


def where_of(found: Detected) -> str:
    variant = [] if found.variant in ("", "case") else [found.variant]
    return ", ".join([*variant, found.device_class, f"seen in the {found.source}"])


def plain(number: float) -> str:
    """0.31, not 0.310: the sentence has the unit and the digits that matter."""
    return f"{number:.3g}" if 1e-3 <= abs(number) < 100 else digits(number)


def places(found: Sequence[Detected]) -> list[Place]:
    """Groups cases with the same sentence."""
    grouped: dict[tuple[str, str, str], list[str]] = {}
    for one in found:
        numbers = f"{plain(one.value)}, threshold {plain(one.threshold)}"
        grouped.setdefault((where_of(one), one.sentence, numbers), []).append(one.case)
    return [
        Place(list(dict.fromkeys(cases)), where, sentence, numbers)
        for (where, sentence, numbers), cases in grouped.items()
    ]


def symptoms(found: Sequence[Detected]) -> list[Symptom]:
    """Groups the findings, in the order of the gate: the worst first."""
    groups: dict[tuple[str, str, str | None], list[Detected]] = {}
    for one in found:
        groups.setdefault((one.detector, one.fix, one.expected), []).append(one)
    return [
        Symptom(
            detector.replace("_", " "), fix, why, len({one.case for one in group}), places(group)
        )
        for (detector, fix, why), group in groups.items()
    ]


def meant(verdict: Verdict, slow: bool = False) -> list[Detected]:
    """Findings to act on, or those of the reference variants, which are slow on purpose."""
    return [
        one
        for one in verdict.findings or []
        if (one.variant == "reference") is slow and one.expected is None
    ]


def expected(verdict: Verdict) -> list[Detected]:
    """Findings that their cases show on purpose."""
    return [one for one in verdict.findings or [] if one.expected is not None]


def silence(verdict: Verdict, profiles: int) -> str | None:
    """Why no symptom is shown, where none is; `profiles` are those of other variants than the
    reference."""
    if verdict.findings is None:
        return "This verdict was written without detectors; judge again to run them."
    if meant(verdict):
        return None
    but = ", but for what is expected" if expected(verdict) else ""
    if not profiles:
        return (
            f"No detector fired on the results{but}. There were no profiles: idle gaps, transfers "
            "and single operations were not looked at."
        )
    return f"No detector fired on {plural(profiles, 'profile')} of optimized variants{but}."
