# SPDX-License-Identifier: Apache-2.0
"""What `holdfast trend` finds in a store, combined with its commits: levels, the commits that
changed them, drifts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from holdfast_report.history import Trend
from holdfast_report.site.archive import Archive, Key

HIGHER = ("speedup", "peak_ratio", "floor_fraction")


@dataclass(frozen=True)
class Change:
    key: Key
    at: int  # position of the first commit at the new level
    behind: int  # position of the one before it: the level changed behind this one
    before: float
    after: float
    change: float
    worse: bool | None  # None where neither direction is


@dataclass(frozen=True)
class Drift:
    key: Key
    since: int  # position of the commit that it counts from
    anchor: float
    median: float
    change: float
    worse: bool | None


@dataclass(frozen=True)
class Creep:
    """Several small changes in one direction, none of which is most of their sum."""

    key: Key
    steps: list[Change]

    @property
    def change(self) -> float:
        return prod(1 + step.change for step in self.steps) - 1

    @property
    def worse(self) -> bool | None:
        return self.steps[0].worse

    @property
    def stretches(self) -> list[tuple[float, float]]:
        """Pairs of start and end level: one while each step begins where the one before ended,
        and another after a gap, such as a new environment."""
        found: list[tuple[float, float]] = []
        for step in self.steps:
            if found and found[-1][1] == step.before:
                found[-1] = found[-1][0], step.after
            else:
                found.append((step.before, step.after))
        return found


LEAST_STEPS = 3  # of what creeps; small ones that the command calls a drift may be two
SMALL = 0.05
MOST_OF_ALL = 0.6  # a change that is more than this of the whole is a step


def creep_of(key: Key, changes: list[Change], drift: Drift | None = None) -> Creep | None:
    for up in (True, False):
        steps = [change for change in changes if (change.change > 0) is up]
        whole = sum(abs(step.change) for step in steps)
        largest = max((abs(step.change) for step in steps), default=0.0)
        drifted = drift is not None and (drift.change > 0) is up and largest < SMALL
        if len(steps) >= (LEAST_STEPS - 1 if drifted else LEAST_STEPS) and largest <= MOST_OF_ALL * whole:
            return Creep(key, steps)
    return None


@dataclass
class Levels:
    segments: dict[Key, list[tuple[int, int, float]]] = field(default_factory=dict)
    changes: dict[Key, list[Change]] = field(default_factory=dict)
    drifts: dict[Key, Drift] = field(default_factory=dict)

    @cached_property
    def creeps(self) -> dict[Key, Creep]:
        found = {
            key: creep_of(key, changes, self.drifts.get(key)) for key, changes in self.changes.items()
        }
        return {key: creep for key, creep in found.items() if creep}

    @property
    def stepped(self) -> list[Drift]:
        """Drifts that came in larger steps instead of creeping, the farthest first."""
        found = [drift for key, drift in self.drifts.items() if key not in self.creeps]
        return sorted(found, key=lambda one: (not one.worse, -abs(one.change), one.key))

    @cached_property
    def steps(self) -> list[tuple[int, list[Change]]]:
        """by_commit without changes that are part of a creep."""
        found = []
        for at, changes in self.by_commit:
            kept = [
                one
                for one in changes
                if one.key not in self.creeps or one not in self.creeps[one.key].steps
            ]
            if kept:
                found.append((at, kept))
        return found

    @cached_property
    def by_commit(self) -> list[tuple[int, list[Change]]]:
        """Changes by commit, the newest commit first, and its largest change first."""
        found: dict[int, list[Change]] = {}
        for changes in self.changes.values():
            for change in changes:
                found.setdefault(change.at, []).append(change)
        for changes in found.values():
            changes.sort(key=lambda one: (not one.worse, -abs(one.change), one.key))
        return sorted(found.items(), reverse=True)


def better_of(metric: str, known: Mapping[str, str]) -> str:
    """lower, higher or same; as the store or the baselines say, else by its name."""
    if metric in known:
        return known[metric]
    rates = metric in HIGHER or metric.endswith("_per_s")
    return "higher" if rates else "lower"


def is_worse(metric: str, change: float, better: Mapping[str, str]) -> bool | None:
    said = better_of(metric, better)
    if said == "same":
        return None
    return (change > 0) == (said == "lower")


def levels_of(trend: Trend, archive: Archive, better: Mapping[str, str]) -> Levels:
    """Leaves out what refers to a commit that was added after the archive was read."""
    found = Levels()
    place = archive.position
    at = {
        order: place[name] for order, name in enumerate(trend.commits, start=1) if name in place
    }
    for one in trend.series:
        key = one.key
        found.segments[key] = [
            (at[part.first], at[part.last], part.median)
            for part in one.segments
            if part.first in at and part.last in at
        ]
        changes = [
            Change(
                key,
                place[point.commit],
                place[point.last_before],
                point.before,
                point.after,
                point.change,
                is_worse(one.metric, point.change, better),
            )
            for point in one.change_points
            if point.commit in place and point.last_before in place
        ]
        if changes:
            found.changes[key] = changes
        if one.drift and one.drift.since in place:
            worse = is_worse(one.metric, one.drift.change, better)
            found.drifts[key] = Drift(
                key, place[one.drift.since], one.drift.anchor, one.drift.median, one.drift.change, worse
            )
    return found
