# SPDX-License-Identifier: Apache-2.0
"""The history in columns: commits in their order, and one column of values per series."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, pairwise
from statistics import median

from holdfast_report.units import plural, unit_of

Key = tuple[str, str, str, str]  # device class, case, variant, metric

QUIET = ("PASS", "NEW", "ACCEPTED", "SKIPPED", "IMPROVED")
ALARMS = ("WRONG", "SUSPECT-FAST", "REGRESSION", "CHANGED", "MISSING")
LINE = 72  # letters of a subject beside its commit


@dataclass
class Commit:
    name: str  # git's hash, or sha256:.. of a content
    utc: str  # of the commit or, if unknown, of its first measurement
    subject: str | None = None
    branch: str | None = None
    parent: str | None = None

    @property
    def short(self) -> str:
        return self.name.removeprefix("sha256:")[:10]

    @property
    def called(self) -> str:
        """The name that a reader sees: a content is not a commit."""
        return self.short if self.committed else f"content {self.short}"

    @property
    def date(self) -> str:
        return self.utc[:10]

    @property
    def committed(self) -> bool:
        return not self.name.startswith("sha256:")

    @property
    def headline(self) -> str:
        """The subject, cut with an ellipsis where it is longer than a line."""
        subject = self.subject or ""
        return subject if len(subject) <= LINE else subject[: LINE - 1].rstrip() + "\u2026"


@dataclass
class Part:
    """What a run of one suite says besides its values."""

    utc: str
    fingerprint: str = ""
    facts: dict[str, str] = field(default_factory=dict)
    ci: str | None = None
    counts: dict[str, int] = field(default_factory=dict)  # verdicts
    blocking: int | None = None  # None where the history does not say
    not_checked: list[str] = field(default_factory=list)
    caveats: list[str] | None = None  # why what passed is not well, where the history says it


@dataclass
class Run:
    """One device class at one commit, however many suites."""

    device_class: str
    at: int  # the commit's position in the archive
    parts: dict[str, Part] = field(default_factory=dict)  # by suite

    def part(self, suite: str, utc: str) -> Part:
        """The part to fill: of several runs of a suite at a commit the newest counts, and an
        older one gets a part that is dropped."""
        known = self.parts.get(suite)
        if known is None or known.utc < utc:
            known = self.parts[suite] = Part(utc)
        return known if known.utc == utc else Part(utc)

    def alone(self, suite: str) -> "Run":
        """The run with this suite only."""
        return Run(self.device_class, self.at, {suite: self.parts[suite]})

    @property
    def utc(self) -> str:
        return max(part.utc for part in self.parts.values())

    @property
    def fingerprints(self) -> dict[str, str]:
        return {suite: part.fingerprint for suite, part in self.parts.items()}

    @property
    def facts(self) -> dict[str, str]:
        """The environment's facts; where suites differ, the first one's."""
        found: dict[str, str] = {}
        for part in self.parts.values():
            found = part.facts | found
        return found

    @property
    def ci(self) -> str | None:
        return next((part.ci for part in reversed(self.parts.values()) if part.ci), None)

    @property
    def counts(self) -> dict[str, int]:
        total: Counter[str] = Counter()
        for part in self.parts.values():
            total.update(part.counts)
        return dict(total)

    @property
    def blocking(self) -> int | None:
        known = [part.blocking for part in self.parts.values() if part.blocking is not None]
        return sum(known) if known else None

    @property
    def not_checked(self) -> list[str]:
        return list(dict.fromkeys(gap for part in self.parts.values() for gap in part.not_checked))

    @property
    def caveats(self) -> list[str] | None:
        known = [part.caveats for part in self.parts.values() if part.caveats is not None]
        return list(dict.fromkeys(chain.from_iterable(known))) if known else None

    @property
    def print(self) -> str:
        """A short fingerprint of the environment: the first suite's."""
        return next(iter(self.fingerprints.values()), "").removeprefix("sha256:")[:8]

    @property
    def judged(self) -> tuple[int, int]:
        """How many verdicts block, and how many others are no plain pass."""
        block = self.blocking
        if block is None:
            block = sum(count for name, count in self.counts.items() if name in ALARMS)
        loud = sum(count for name, count in self.counts.items() if name not in (*QUIET, "WAIVED"))
        return block, max(0, loud - block)

    @property
    def doubts(self) -> list[str]:
        """The caveats or, in an older history without them, the number of new values; and the
        suites that were not judged."""
        found = self.caveats
        if found is None:
            fresh = self.counts.get("NEW", 0)
            found = [f"{plural(fresh, 'value')} held against nothing"] if fresh else []
        silent = [suite for suite, part in self.parts.items() if not part.counts]
        return [*found, *(f"{suite} not judged" for suite in silent)]


@dataclass
class Column:
    """A series: at[i] is the position of a commit, values[i] what was measured there."""

    key: Key
    at: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    unit: str = "1"
    alarms: set[int] = field(default_factory=set)  # indices of what blocked
    processors: list[str] = field(default_factory=list)  # of each value, where the store says it

    @property
    def device_class(self) -> str:
        return self.key[0]

    @property
    def case(self) -> str:
        return self.key[1]

    @property
    def variant(self) -> str:
        return self.key[2]

    @property
    def metric(self) -> str:
        return self.key[3]

    @property
    def last(self) -> float:
        return self.values[-1]

    @cached_property
    def constant(self) -> bool:
        return min(self.values) == max(self.values)

    @cached_property
    def noise(self) -> float:
        """Relative noise: from the median difference between neighbours, so that steps do not
        count."""
        recent = self.values[-60:]
        steps = [abs(b - a) / max(abs(a), abs(b)) for a, b in pairwise(recent) if a or b]
        return 1.4826 * median(steps) / 2**0.5 if steps else 0.0


@dataclass
class Archive:
    commits: list[Commit]
    runs: dict[tuple[str, int], Run]  # by class and position
    columns: dict[Key, Column]
    better: dict[str, str] = field(default_factory=dict)  # lower, higher or same, by metric

    @cached_property
    def classes(self) -> list[str]:
        return sorted({key[0] for key in self.columns} | {name for name, _ in self.runs})

    @cached_property
    def cases(self) -> dict[str, list[Column]]:
        found: dict[str, list[Column]] = {}
        for key in sorted(self.columns, key=lambda key: (key[1], key)):
            found.setdefault(key[1], []).append(self.columns[key])
        return found

    @cached_property
    def position(self) -> dict[str, int]:
        """The position of a commit, by its name."""
        return {commit.name: at for at, commit in enumerate(self.commits)}

    def unit(self, key: Key) -> str:
        """The unit of a series, in figures as in lists."""
        column = self.columns.get(key)
        return column.unit if column else unit_of(key[3])

    def runs_of(self, device_class: str) -> list[Run]:
        return self._by_class.get(device_class, [])

    @cached_property
    def _by_class(self) -> dict[str, list[Run]]:
        found: dict[str, list[Run]] = {}
        for key in sorted(self.runs):
            found.setdefault(key[0], []).append(self.runs[key])
        return found

    @cached_property
    def processors(self) -> dict[tuple[str, str], str]:
        """What each suite of a class was last measured on, within which a host's times compare."""
        found: dict[tuple[str, str], str] = {}
        for (name, _), run in sorted(self.runs.items()):
            for suite, part in run.parts.items():
                if processor := part.facts.get("processor"):
                    state = part.facts.get("CPUs")
                    found[name, suite] = f"{processor} {state}" if state else processor
        return found

    def newest(self, device_class: str) -> Run:
        """The last run of each suite: a commit with runs of only some suites withdraws no
        verdict on the others."""
        runs = self.runs_of(device_class)
        parts: dict[str, Part] = {}
        for run in runs:
            parts |= run.parts
        return Run(device_class, runs[-1].at, parts)

    def older(self, device_class: str) -> list[tuple[str, Commit]]:
        """The suites that were not run at the newest commit of a class, and where they were last."""
        newest = self.runs_of(device_class)[-1].at
        return [
            (suite, self.commits[at])
            for (name, suite), at in self._last.items()
            if name == device_class and at < newest
        ]

    def left_at(self, column: Column) -> Commit | None:
        """The commit at which a series was last measured, if its suite was run since."""
        at = column.at[-1]
        last = self._last.get((column.device_class, column.case.partition("/")[0]), at)
        return self.commits[at] if at < last else None

    @cached_property
    def _last(self) -> dict[tuple[str, str], int]:
        """The position of the newest run, by class and suite."""
        return {
            (name, suite): at for name, at in sorted(self.runs) for suite in self.runs[name, at].parts
        }

    def runs_at(self, at: int) -> list[Run]:
        return [self.runs[name, at] for name in self.classes if (name, at) in self.runs]

    def environment_changes(self, device_class: str) -> list[tuple[Run, Run]]:
        """Runs of one suite with different fingerprints, which are not comparable. Changes that
        a fleet repeats, from one machine to another and back, are listed once."""
        return self._environments.get(device_class, [])

    def moves(self, column: Column) -> list[int]:
        """Every position at which the environment of a series changed, also those that
        `environment_changes` lists once."""
        return self._moves.get((column.device_class, column.case.partition("/")[0]), [])

    @cached_property
    def _moves(self) -> dict[tuple[str, str], list[int]]:
        """For each class and suite, the positions at which the fingerprint changed."""
        found: dict[tuple[str, str], list[int]] = {}
        for name, runs in self._by_class.items():
            last: dict[str, str] = {}
            for run in runs:
                for suite, fingerprint in run.fingerprints.items():
                    if last.setdefault(suite, fingerprint) != fingerprint:
                        found.setdefault((name, suite), []).append(run.at)
                    last[suite] = fingerprint
        return found

    @cached_property
    def _environments(self) -> dict[str, list[tuple[Run, Run]]]:
        found: dict[str, list[tuple[Run, Run]]] = {}
        for name, runs in self._by_class.items():
            last: dict[str, Run] = {}
            told: set[tuple[str, str, str]] = set()
            for run in runs:
                moves = [
                    (suite, last[suite].fingerprints[suite], fingerprint)
                    for suite, fingerprint in run.fingerprints.items()
                    if suite in last and last[suite].fingerprints[suite] != fingerprint
                ]
                fresh = next((suite for suite, *move in moves if (suite, *move) not in told), None)
                if fresh is not None:
                    found.setdefault(name, []).append((last[fresh].alone(fresh), run.alone(fresh)))
                told.update(moves)
                last |= dict.fromkeys(run.fingerprints, run)
        return found
