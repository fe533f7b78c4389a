# SPDX-License-Identifier: Apache-2.0
"""Which series over commits earn a panel, in which order, what of them fits into it, and what they
are in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from holdfast_report.documents import Entry, Row
from holdfast_report.history import Series
from holdfast_report.units import (
    change_of,
    plural,
    readable,
    short_hash,
    unit_of,
)

FEWEST = 2  # commits that make a course
ENOUGH = 8  # points, of which one may lie beyond the figure
SHARE = 20  # one of so many points may

ALARMS = ("REGRESSION", "WRONG", "SUSPECT-FAST", "CHANGED", "MISSING")
QUIET = ("PASS", "NEW", "ACCEPTED", "SKIPPED", None)
# Metrics that gate and vary from run to run: their course is of interest even when it is flat.
SAMPLED = ("speedup", "time_s")


@dataclass(frozen=True)
class Band:
    """What the gate accepts now: the baseline, and how far a value may lie from it (a ratio, 0 for
    exact ones, infinite where any loss is allowed)."""

    baseline: float
    tolerance: float

    @property
    def low(self) -> float:
        return self.baseline / (1 + self.tolerance)

    @property
    def high(self) -> float:
        return inf if self.tolerance == inf else self.baseline * (1 + self.tolerance)

    @property
    def ends(self) -> list[float]:
        """Those that a figure has to reach."""
        return [end for end in (self.low, self.high) if end != inf]


def band_of(row: Row | None, entry: Entry | None) -> Band | None:
    if row and isinstance(row.baseline, float | int):
        if row.standard == "bound":  # the limit says where the bound lies, and is none of both sides
            return Band(row.baseline, 0.0)
        # A higher-is-better limit is negative: -5 % is a factor of 1.05 below, -100 % is any factor.
        limit = row.limit or 0.0
        if limit <= -1:
            return Band(row.baseline, inf)
        return Band(row.baseline, 1 / (1 + limit) - 1 if limit < 0 else limit)
    if entry and isinstance(entry.value, float | int):
        return Band(entry.value, 0.0)
    return None


def reach_of(values: Sequence[float], kept: Sequence[float]) -> tuple[float, float]:
    """The lowest and the highest value that a figure shows. A few values so far off that the rest
    would be less than a third of it are left out, but none of `kept`, and none where the rest stands
    still."""
    ordered = sorted(values)
    few = max(1, len(ordered) // SHARE) if len(ordered) >= ENOUGH else 0
    rest = [*kept, *ordered[few : len(ordered) - few]]
    low, high = min(rest), max(rest)
    far = inf if low == high else 2 * max(high - low, 0.1 * max(abs(low), abs(high)))
    near = [low, high, *(value for value in ordered if low - far <= value <= high + far)]
    return min(near), max(near)


def advisory(series: Series, kind: str | None) -> bool:
    """Metrics that never gate; where no verdict tells the kind, durations and rates other than
    time_s."""
    if kind is not None:
        return kind == "advisory"
    return series.metric not in SAMPLED and (unit(series) == "s" or unit(series).endswith("/s"))


def worth_a_panel(series: Series, verdict: str | None, kind: str | None = None) -> bool:
    """Series that changed their level, gate by their level, or are not well. An advisory metric
    that only varies is noise; an exact one that varies is news; one commit is no course."""
    moved = bool(series.change_points) or series.drift is not None
    if moved or verdict not in QUIET:
        return True
    if len(series.points) < FEWEST:
        return False
    if series.metric in SAMPLED:
        return True
    return not series.constant and not advisory(series, kind)


def rank(series: Series, verdict: str | None, kind: str | None = None) -> tuple[object, ...]:
    """Alarms first, then what gates, the speedups before counts before times."""
    return (
        verdict not in ALARMS,
        verdict in QUIET,
        advisory(series, kind),
        series.metric != "speedup",
        series.metric == "time_s",
        not series.change_points,
        series.variant == "reference",
        series.key,
    )


def short_commit(commit: str) -> str:
    """A short name: a tree with changes is named by its content, not by a commit."""
    short = short_hash(commit)[:8]
    return f"content {short}" if commit.startswith("sha256:") else short


def unit(series: Series) -> str:
    return unit_of(series.metric)


def commits_of(series: Series) -> str:
    """How many commits; of an unchanged series the page may know only the ends."""
    first, last = series.points[0], series.points[-1]
    if series.constant and len(series.points) > 1:
        return f"the same from {first.utc[:10]} to {last.utc[:10]}"
    return plural(len(series.points), "commit")


def describe(series: Series, verdict: str | None) -> str:
    """The panel in words."""
    last = series.points[-1]
    words = [
        f"{series.metric} of {series.case}, {series.variant}, on {series.device_class}:",
        (
            f"{commits_of(series)}, now {readable(last.value, unit(series))}"
            f" at {short_commit(last.commit)}"
        ),
    ]
    for change in series.change_points:
        words.append(f"; changed {change_of(change.before, change.change)} at {short_commit(change.commit)}")
    if series.drift:
        words.append(
            f"; drifted {change_of(series.drift.anchor, series.drift.change)} since {short_commit(series.drift.since)}"
        )
    if verdict:
        words.append(f"; verdict {verdict}")
    return " ".join(words).replace(" ;", ";")
