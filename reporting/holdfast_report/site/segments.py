# SPDX-License-Identifier: Apache-2.0
"""A segment of holdfast-history/2: what metrics mean, the numbers of the series, and runs, each of
which says what differs from the one before."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holdfast_report import Problem
from holdfast_report.reading import Number, Record
from holdfast_report.site.archive import ALARMS, Column
from holdfast_report.site.gathering import Gathering
from holdfast_report.site.lines import parsed

Ranges = list[tuple[int, int]]  # numbers of series, both ends included


class Loose(BaseModel):
    """Strict but for lists that stand for tuples."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Opening(Record):
    schema_name: str = Field(alias="schema")
    device_class: str = Field(alias="class")


class Metric(Record):
    metric: str
    kind: str | None
    unit: str
    better: str | None


class Names(Record):
    series: int
    case: str
    names: list[str]


class Commit(Record):
    name: str
    order: int
    branch: str | None
    subject: str | None
    author_time: str | None
    parent: str | None
    ci: str | None


class Verdict(Loose):
    exit: int
    counts: dict[str, int]
    blocking: int
    most: str
    others: dict[str, Ranges]
    caveats: list[str] | None = None


class Run(Loose):
    run: int
    suite: str
    utc: str
    id: str | None
    commit: Commit | None = None
    env: dict[str, Any] | None = None
    not_checked: list[str] | None = None
    partial: bool = False
    invalid: list[str] = []
    verdict: Verdict | None
    blocks: Ranges = []
    absent: Ranges = []
    values: dict[str, Number | list[Number]]


def inside(ranges: Ranges) -> set[int]:
    return {number for first, last in ranges for number in range(first, last + 1)}


def facts_of(env: dict[str, Any]) -> dict[str, str]:
    """What a reader asks of an environment, where it is known."""
    device, host = env.get("device") or {}, env.get("host") or {}
    known = {
        "device": device.get("name") or env.get("device_name"),
        "driver": env.get("driver"),
        "CUDA": env.get("cuda"),
        "NVRTC": env.get("nvrtc"),
        "nvJitLink": env.get("nvjitlink"),
        "compiler": env.get("compiler"),
        "CPU": host.get("cpu"),
        "processor": host.get("processor"),
        "CPUs": "kept awake" if host.get("awake") else None,
        "threads": host.get("threads"),
        "instruction set": host.get("isa"),
    }
    return {name: str(fact) for name, fact in known.items() if fact is not None}


class Segment:
    """A segment that is read line by line: what a line means depends on those before it."""

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.device_class: str | None = None
        self.columns: list[Column] = []
        self.suites: dict[str, list[int]] = {}  # the numbers of a suite's series
        self.held: list[float | None] = []  # the last value of each series
        self.commit: Commit | None = None
        self.env: dict[str, dict[str, Any]] = {}  # by suite
        self.not_checked: dict[str, list[str]] = {}
        self.runs = 0

    def take(self, line: str, where: str) -> None:
        said = parsed(line, where)
        try:
            if self.device_class is None:
                self.open(Opening.model_validate(said), where)
            elif "run" in said:
                self.run(Run.model_validate(said), where)
            elif "series" in said:
                self.name(Names.model_validate(said), where)
            else:
                metric = Metric.model_validate(said)
                if metric.better is not None:
                    self.gathering.better[metric.metric] = metric.better
                self.gathering.units[metric.metric] = metric.unit
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise Problem(f"{where}: {key}: {first['msg']}; restore the store") from error

    def open(self, opening: Opening, where: str) -> None:
        if opening.schema_name != "holdfast-history/2":
            raise Problem(
                f"{where}: the schema is {opening.schema_name!r}, and this page reads "
                "'holdfast-history/2'; use the report of the build that wrote it"
            )
        self.device_class = opening.device_class

    def name(self, names: Names, where: str) -> None:
        if names.series != len(self.columns):
            raise Problem(f"{where}: series {len(self.columns)} is missing; restore the store")
        suite = names.case.partition("/")[0]
        for name in names.names:
            variant, _, metric = name.partition("|")
            key = str(self.device_class), names.case, variant, metric
            self.suites.setdefault(suite, []).append(len(self.columns))
            self.columns.append(self.gathering.column(key))
            self.held.append(None)

    def run(self, run: Run, where: str) -> None:
        self.runs += 1
        if run.run != self.runs:
            raise Problem(f"{where}: run {self.runs} of this file is missing; restore the store")
        self.commit = run.commit or self.commit
        if self.commit is None:
            raise Problem(f"{where}: no line says of which commit this run is; restore the store")
        if run.env is not None:
            self.env[run.suite] = run.env
        if run.not_checked is not None:
            self.not_checked[run.suite] = run.not_checked
        commit = self.commit
        number = self.gathering.commit(commit.name, run.utc, commit.model_dump())
        self.remember(run, number)
        self.values(run, number, where)

    def remember(self, run: Run, number: int) -> None:
        """What the run says besides its values."""
        assert self.device_class is not None and self.commit is not None
        kept = self.gathering.run(self.device_class, number).part(run.suite, run.utc)
        env = self.env.get(run.suite, {})
        kept.fingerprint = str(env.get("fingerprint", ""))
        kept.facts = facts_of(env)
        kept.ci = self.commit.ci
        gaps = list(self.not_checked.get(run.suite, []))
        gaps += ["only some cases were run"] if run.partial else []
        gaps += [f"the measurement is not valid: {reason}" for reason in run.invalid]
        kept.not_checked = [gap if run.suite in gap else f"{run.suite}: {gap}" for gap in gaps]
        if run.verdict is not None:
            kept.counts = dict(run.verdict.counts)
            kept.blocking = run.verdict.blocking
            kept.caveats = run.verdict.caveats

    def values(self, run: Run, number: int, where: str) -> None:
        held = self.held
        for text, value in run.values.items():
            if not text.isdecimal() or int(text) >= len(held):
                raise Problem(f"{where}: values.{text}: no line names this series; restore the store")
            held[int(text)] = float(value[0] if isinstance(value, list) else value)
        absent, blocking = inside(run.absent), blocking_in(run)
        processor = facts_of(self.env.get(run.suite, {})).get("processor", "")
        for series in self.suites.get(run.suite, []):
            value_now = held[series]
            if series in absent:
                continue
            if value_now is None:
                raise Problem(f"{where}: series {series} has no value; restore the store")
            column = self.columns[series]
            self.gathering.measured(
                column, number, value_now, run.utc, series in blocking, processor
            )


def blocking_in(run: Run) -> set[int]:
    """The numbers of the series that block."""
    if run.verdict is None or run.blocks:
        return inside(run.blocks) if run.verdict else set()
    # A store that was rewritten says the verdicts only.
    return {one for name in ALARMS for one in inside(run.verdict.others.get(name, []))}
