# SPDX-License-Identifier: Apache-2.0
"""What the steps of a suite are made of, ranked over the cases of each family: on a host by scopes,
on a device by operations, and by launches where nothing was timed."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from holdfast_report.bars import Bar
from holdfast_report.profile_tables import timed
from holdfast_report.profiles import Profile
from holdfast_report.units import share

MOST = 10
LEAST = 0.001  # a bar that nobody could see
UNTIMED = "launches and calls, untimed"

Shares = dict[str, float]  # of one case, by the name of the part


@dataclass(frozen=True)
class Ranking:
    family: str
    variant: str
    basis: str  # what the shares are shares of
    cases: int
    bars: list[Bar]


def family_of(profile: Profile) -> str:
    """suite/family[/stage]/key:value/dtype -> family[/stage]"""
    names = profile.case.split("/")[1:-1]
    return "/".join(name for name in names if ":" not in name) or profile.case


def added(parts: Iterable[tuple[str, float]]) -> Shares:
    """Each name's share of the sum; a name may come more than once."""
    totals: Shares = {}
    for name, value in parts:
        totals[name] = totals.get(name, 0.0) + value
    everything = sum(totals.values())
    return {name: value / everything for name, value in totals.items()} if everything else {}


def by_scopes(profile: Profile) -> bool:
    """Only on a host are a scope's seconds those of its work; on a device it merely enqueues."""
    return profile.clock == "host" and any(scope.self_s for scope in profile.scopes)


def shares_of(profile: Profile) -> Shares:
    if by_scopes(profile):
        return added(
            (scope.path.rpartition("/")[2], scope.self_s or 0.0) for scope in profile.scopes
        )
    if timed(profile.ops):
        return added((op.name, op.fraction or 0.0) for op in profile.ops)
    return added((op.name, float(op.count)) for op in profile.ops)


def basis_of(profile: Profile) -> str:
    if by_scopes(profile):
        return "own time"
    if timed(profile.ops):
        return "device time" if profile.clock == "cupti" else "time"
    return UNTIMED


def bars_of(cases: Sequence[Shares], variant: str) -> list[Bar]:
    """The mean over all cases, so that the bars add up; dots are the cases that have the part."""
    known: dict[str, list[float]] = {}
    for shares in cases:
        for name, value in shares.items():
            known.setdefault(name, []).append(value)
    bars = [
        Bar(
            name=name,
            value=sum(values) / len(cases),
            text=share(sum(values) / len(cases)),
            role=variant if variant == "reference" else "optimized",
            dots=tuple(values),
        )
        for name, values in known.items()
    ]
    ranked = sorted(bars, key=lambda bar: (-bar.value, bar.name))
    return [bar for bar in ranked if bar.value >= LEAST][:MOST]


def rankings(profiles: Sequence[Profile]) -> list[Ranking]:
    """The families with most parts first; those with a single part have nothing to rank."""
    groups: dict[tuple[str, str, str], list[Profile]] = {}
    for profile in profiles:
        key = (family_of(profile), profile.variant, basis_of(profile))
        groups.setdefault(key, []).append(profile)
    found = [
        Ranking(*key, len(group), bars_of([shares_of(one) for one in group], key[1]))
        for key, group in groups.items()
    ]
    several = [ranking for ranking in found if len(ranking.bars) > 1]
    return sorted(several, key=lambda one: (-len(one.bars), one.family, one.variant))
