# SPDX-License-Identifier: Apache-2.0
"""Compilations by program, with the reason of each: what was compiled in steady steps comes first,
what came from the cache is marked."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast_report.bars import Stack
from holdfast_report.cells import Table
from holdfast_report.profiles import Compile, Profile
from holdfast_report.units import plural, readable

STAGES = ("trace", "lower", "compile", "load")
MOST = 12  # bars; the table has all


@dataclass(frozen=True)
class Compilation:
    """One program and reason, however many cases asked for it; the longest stands for all."""

    longest: Compile
    times: int
    cases: int

    @property
    def seconds(self) -> float:
        return sum(self.longest.stages)


def compilations(profiles: Sequence[Profile]) -> list[Compilation]:
    groups: dict[tuple[object, ...], list[tuple[str, Compile]]] = {}
    for profile in profiles:
        for one in profile.compiles:
            key = (one.program, one.reason, one.steady, one.from_cache)
            groups.setdefault(key, []).append((profile.case, one))
    found = [
        Compilation(
            longest=max((one for _, one in group), key=lambda one: sum(one.stages)),
            times=len(group),
            cases=len({case for case, _ in group}),
        )
        for group in groups.values()
    ]
    return sorted(found, key=lambda one: (not one.longest.steady, -one.seconds))


def marks(one: Compile) -> str:
    """The marks of a compilation in words, because a colour alone tells nothing."""
    said = [word for word, on in (("STEADY", one.steady), ("cached", one.from_cache)) if on]
    return ", ".join(said)


def stacks(found: Sequence[Compilation]) -> list[Stack]:
    return [
        Stack(
            name=one.longest.program,
            parts=one.longest.stages,
            text=" ".join(filter(None, (marks(one.longest), readable(one.seconds, "s")))),
            alarm=one.longest.steady,
            faint=one.longest.from_cache,
            note=f"{one.longest.reason} ({plural(one.cases, 'case')})",
        )
        for one in found[:MOST]
    ]


def table(found: Sequence[Compilation]) -> Table:
    rows = [
        (
            one.longest.program,
            one.longest.reason,
            marks(one.longest) or "warm-up",
            *(readable(seconds, "s") for seconds in one.longest.stages),
            readable(one.longest.kernels, "1"),
            readable(one.longest.registers_max, "1"),
            readable(one.longest.spill_bytes, "B"),
            readable(one.times, "1"),
            readable(one.cases, "1"),
        )
        for one in found
    ]
    head = ("program", "reason", "when", *STAGES, "kernels", "registers", "spill", "times", "cases")
    return Table(head, rows, text_columns=3)
