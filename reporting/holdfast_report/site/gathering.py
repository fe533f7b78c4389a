# SPDX-License-Identifier: Apache-2.0
"""An archive while runs come in, in any order."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from holdfast_report import Problem
from holdfast_report.site.archive import ALARMS, Archive, Column, Commit, Key, Run
from holdfast_report.units import unit_of


class Gathering:
    """Until archive() gets their order, commits are identified by their numbers here."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self.numbers: dict[str, int] = {}  # by a commit's name
        self.commits: list[Commit] = []
        self.runs: dict[tuple[str, int], Run] = {}
        self.columns: dict[Key, Column] = {}
        self.times: dict[Key, list[str]] = {}  # of the values of each column
        self.better: dict[str, str] = {}  # of metrics, where the store says it
        self.units: dict[str, str] = {}

    def commit(self, name: str, utc: str, known: Mapping[str, Any]) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.commits)
            self.commits.append(Commit(name, known.get("author_time") or utc))
        commit = self.commits[number]
        commit.subject = commit.subject or known.get("subject")
        commit.branch = commit.branch or known.get("branch")
        commit.parent = commit.parent or known.get("parent")
        return number

    def run(self, device_class: str, number: int) -> Run:
        key = device_class, number
        found = self.runs.get(key)
        if found is None:
            found = self.runs[key] = Run(device_class, number)
        return found

    def column(self, key: Key) -> Column:
        device_class, case, variant, metric = key
        key = device_class, self.aliases.get(case, case), variant, metric
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = Column(key)
        return found

    def measured(
        self, column: Column, number: int, value: float, utc: str, blocks: bool, processor: str = ""
    ) -> None:
        if blocks:
            column.alarms.add(len(column.at))
        column.at.append(number)
        column.values.append(value)
        column.processors.append(processor)
        self.times.setdefault(column.key, []).append(utc)

    def value(self, key: Key, number: int, value: float, verdict: str | None, utc: str) -> None:
        self.measured(self.column(key), number, value, utc, verdict in ALARMS)

    def unit(self, metric: str) -> str:
        """As the store says it; of a rate without a unit the name may say what is counted."""
        said, named = self.units.get(metric), unit_of(metric)
        return named if not said or (said == "1/s" and named.endswith("/s")) else said

    def archive(self, commits: Sequence[str]) -> Archive:
        """`commits` are those of the store in their order, as `holdfast trend` tells it."""
        ordered = [self.numbers[name] for name in commits if name in self.numbers]
        if len(ordered) < len(self.commits):
            raise Problem("the store grew while it was read; draw the site again")
        position = [0] * len(ordered)
        for at, number in enumerate(ordered):
            position[number] = at
        for column in self.columns.values():
            column.at = [position[number] for number in column.at]
            whens = list(zip(column.at, self.times.get(column.key, []), strict=True))
            if any(a > b for a, b in pairwise(whens)):
                by_time = sorted(range(len(whens)), key=whens.__getitem__)
                column.at = [column.at[index] for index in by_time]
                column.values = [column.values[index] for index in by_time]
                column.processors = [column.processors[index] for index in by_time]
                column.alarms = {new for new, old in enumerate(by_time) if old in column.alarms}
        for run in self.runs.values():
            run.at = position[run.at]
        runs = {(run.device_class, run.at): run for run in self.runs.values()}
        columns = {key: column for key, column in self.columns.items() if column.at}
        for column in columns.values():
            column.unit = self.unit(column.metric)
        archived = [self.commits[number] for number in ordered]
        return Archive(archived, runs, columns, self.better)
