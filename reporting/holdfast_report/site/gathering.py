# SPDX-License-Identifier: Apache-2.0
"""An archive while runs come in, in any order."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from holdfast_report.site.archive import ALARMS, Archive, Column, Commit, Key, Run
from holdfast_report.units import unit_of


class Gathering:
    """Until archive() has the positions, commits are told apart by their numbers here."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self.numbers: dict[str, int] = {}  # by a commit's name
        self.commits: list[Commit] = []
        self.begun: list[str] = []  # when each was first measured
        self.runs: dict[tuple[str, int], Run] = {}
        self.columns: dict[Key, Column] = {}
        self.times: dict[Key, list[str]] = {}  # of the values of each column
        self.better: dict[str, str] = {}  # of metrics, where the store says it
        self.units: dict[str, str] = {}

    def commit(self, name: str, order: int, utc: str, known: Mapping[str, Any]) -> int:
        """Its order is the least that any of its runs has, its place that of the earliest run."""
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.commits)
            self.commits.append(Commit(order, name, known.get("author_time") or utc))
            self.begun.append(utc)
        commit = self.commits[number]
        commit.order = min(commit.order, order)
        self.begun[number] = min(self.begun[number], utc)
        commit.subject = commit.subject or known.get("subject")
        commit.branch = commit.branch or known.get("branch")
        return number

    def run(self, device_class: str, number: int, utc: str) -> Run:
        key = device_class, number
        found = self.runs.get(key)
        if found is None:
            found = self.runs[key] = Run(device_class, number, utc)
        return found

    def column(self, key: Key) -> Column:
        device_class, case, variant, metric = key
        key = device_class, self.aliases.get(case, case), variant, metric
        found = self.columns.get(key)
        if found is None:
            found = self.columns[key] = Column(key)
        return found

    def measured(self, column: Column, number: int, value: float, utc: str) -> None:
        column.at.append(number)
        column.values.append(value)
        self.times.setdefault(column.key, []).append(utc)

    def value(self, key: Key, number: int, value: float, verdict: str | None, utc: str) -> None:
        column = self.column(key)
        self.measured(column, number, value, utc)
        if verdict in ALARMS:
            column.alarms.add(number)

    def archive(self) -> Archive:
        ordered = sorted(
            range(len(self.commits)),
            key=lambda number: (self.begun[number], self.commits[number].order),
        )
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
            column.alarms = {position[number] for number in column.alarms}
        for run in self.runs.values():
            run.at = position[run.at]
        runs = {(run.device_class, run.at): run for run in self.runs.values()}
        columns = {key: column for key, column in self.columns.items() if column.at}
        for column in columns.values():
            column.unit = self.units.get(column.metric) or unit_of(column.metric)
        commits = [self.commits[number] for number in ordered]
        return Archive(commits, runs, columns, self.better)
