# SPDX-License-Identifier: Apache-2.0
"""The series of `holdfast trend --json`: the command owns the history and finds the changes, the
page draws them."""

import subprocess
import sys
from collections.abc import Iterator
from io import BufferedReader, FileIO, TextIOWrapper
from itertools import chain
from pathlib import Path
from select import select
from tempfile import TemporaryFile
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

from holdfast_report import Problem
from holdfast_report.reading import Number, Record, checked, parse, validate

SCHEMA = "holdfast-trend/1"
PATIENCE = 240.0  # seconds; less than perf.report has (CMakeLists.txt), so that its page is written
Name = Annotated[str, AfterValidator(sys.intern)]  # kept once, however many points have it


class Point(NamedTuple):  # smaller than a Record, because a history has millions
    order: int
    commit: Name
    utc: Name
    value: Number
    mad: Number | None = None
    verdict: Name | None = None
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


def ask(holdfast: str, store: Path, baselines: Path | None, *options: str) -> Iterator[Series]:
    """The series of `holdfast trend` with these options that have points. The command writes one to
    a line, and each is read when it is asked for: a long history is far larger than one series."""
    command = trend_command(holdfast, store, baselines, *options)
    where = f"the output of '{' '.join(command)}'"
    lines = answer_of(command)
    head = next(lines)
    if not head.endswith("[\n"):
        whole = parse("".join(chain([head], lines)), where)
        yield from (one for one in validate(Trend, SCHEMA, whole, where).series if one.points)
        return
    validate(Trend, SCHEMA, parse(head + "]}", where), where)
    line = head
    for number, line in enumerate(lines, start=2):
        place, text = f"{where}:{number}", line.rstrip("\n").removesuffix("]}").removesuffix(",")
        series = checked(Series, parse(text, place), place)
        if series.points:
            yield series
    if not line.endswith("]}\n"):
        raise Problem(f"{where}: lacks its end")


def ask_levels(holdfast: str, store: Path, baselines: Path | None) -> Trend:
    """The order of the commits, and the levels of all series without their points."""
    command = trend_command(holdfast, store, baselines, "--no-points")
    where = f"the output of '{' '.join(command)}'"
    return validate(Trend, SCHEMA, parse("".join(answer_of(command)), where), where)


def trend_command(holdfast: str, store: Path, baselines: Path | None, *options: str) -> list[str]:
    """`baselines` list the cases that were renamed, and what was accepted since is no drift."""
    accepted = [f"--baselines={baselines}"] if baselines else []
    return [holdfast, "trend", f"--store={store}", "--json", *accepted, *options]


class Awaited(FileIO):
    """A pipe whose reader gives up when nothing comes for PATIENCE seconds."""

    def readinto(self, into: Any) -> int:
        if not select([self], [], [], PATIENCE)[0]:
            raise TimeoutError(f"wrote nothing for {PATIENCE:g} s")
        return super().readinto(into)


def wait_for(process: subprocess.Popen[bytes]) -> None:
    """For the end of a process that has closed its output, PATIENCE seconds at most."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"did not end for {PATIENCE:g} s") from error


def answer_of(command: list[str]) -> Iterator[str]:
    """What a command writes, line by line while it works, but the last line when it ended well:
    that of a killed command may be cut. The sentence of a failure becomes a Problem."""
    with TemporaryFile("w+", encoding="utf-8", errors="backslashreplace") as told:
        try:
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=told)
        except FileNotFoundError as error:
            raise Problem(
                f"the command '{command[0]}' was not found; build it, or name it with --holdfast=PATH"
            ) from error
        except OSError as error:
            raise Problem(f"'{' '.join(command)}' could not be run: {error}") from error
        with process:
            assert process.stdout is not None
            output = Awaited(process.stdout.fileno(), closefd=False)
            lines = TextIOWrapper(BufferedReader(output), "utf-8", "backslashreplace")
            try:
                last = next(lines, "")
                for line in lines:
                    yield last
                    last = line
                wait_for(process)
            except TimeoutError as error:
                raise Problem(f"'{' '.join(command)}' {error}, and was stopped") from error
            finally:
                process.kill()  # if it has not ended: nobody reads on
        if process.returncode != 0:
            told.seek(0)
            said = told.read().strip().splitlines() or ["it said nothing"]
            code = process.returncode
            how = f"exit {code}" if code > 0 else f"signal {-code}"
            raise Problem(f"'{' '.join(command)}' ended with {how}: {said[0]}")
        yield last
