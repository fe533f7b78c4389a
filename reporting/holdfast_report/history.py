# SPDX-License-Identifier: Apache-2.0
"""The series of `holdfast trend --json`: the command owns the history and finds the changes, the
page draws them."""

import subprocess
from pathlib import Path

from pydantic import Field

from holdfast_report import Problem
from holdfast_report.reading import Number, Record, parse, validate


class Point(Record):
    order: int
    commit: str
    utc: str
    value: Number
    mad: Number | None = None
    verdict: str | None = None
    outlier: bool = False


class Segment(Record):
    first: int = Field(alias="from")  # order of its first and last point
    last: int = Field(alias="to")
    median: Number


class ChangePoint(Record):
    order: int
    commit: str
    last_before: str  # the commit of the point before it
    before: Number
    after: Number
    change: Number


class Drift(Record):
    since: str  # the commit that it counts from
    anchor: Number
    median: Number
    change: Number


class Series(Record):
    device_class: str = Field(alias="class")
    case: str
    variant: str
    metric: str
    points: list[Point] = []  # left out where they were not asked for
    segments: list[Segment] = []
    change_points: list[ChangePoint] = []
    drift: Drift | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        return self.device_class, self.case, self.variant, self.metric

    @property
    def constant(self) -> bool:
        return len({point.value for point in self.points}) <= 1


class Trend(Record):
    schema_name: str = Field(alias="schema")
    commits: list[str]  # of the whole store in their order, which counts from 1 on
    series: list[Series]


def ask(holdfast: str, store: Path, baselines: Path | None, *options: str) -> list[Series]:
    """The series of `holdfast trend` with these options that have points."""
    found = trend(holdfast, store, baselines, *options).series
    return [series for series in found if series.points]


def ask_levels(holdfast: str, store: Path, baselines: Path | None) -> Trend:
    """The order of the commits, and the levels of all series without their points."""
    return trend(holdfast, store, baselines, "--no-points")


def trend(holdfast: str, store: Path, baselines: Path | None, *options: str) -> Trend:
    """`baselines` list the cases that were renamed. The sentence of a failure becomes a Problem."""
    renamed = [f"--baselines={baselines}"] if baselines else []
    command = [holdfast, "trend", f"--store={store}", "--json", *renamed, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    except FileNotFoundError as error:
        raise Problem(
            f"the command '{holdfast}' was not found; build it, or name it with --holdfast=PATH"
        ) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Problem(f"'{' '.join(command)}' could not be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or ["it said nothing"]
        how = f"exit {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise Problem(f"'{' '.join(command)}' ended with {how}: {said[0]}")
    where = f"the output of '{' '.join(command)}'"
    return validate(Trend, "holdfast-trend/1", parse(done.stdout, where), where)
