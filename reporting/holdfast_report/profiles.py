# SPDX-License-Identifier: Apache-2.0
"""holdfast-profile/1 as data: what a few steps of one case and variant did. Null is what the device
cannot know; a dry one knows every count and no time."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from holdfast_report import Problem
from holdfast_report.reading import Number, Record, files_below, read

SCHEMA = "holdfast-profile/1"
ENDING = ".profile.json"


class Overview(Record):
    """Counts and bytes are per step; fractions are of the device's time, on host of the step's."""

    step_s: list[Number]
    mean_step_s: Number | None
    busy_fraction: Number | None
    idle_fraction: Number | None
    max_gap_s: Number | None
    max_gap_between: list[str] | None
    top_op: str | None
    top_op_fraction: Number | None
    launches: Number
    library_calls: Number
    graph_nodes: Number
    copies: Number
    syncs: Number
    h2d_bytes: Number
    declared_h2d_bytes: Number | None  # what a step must bring, where its case says so
    d2h_bytes: Number
    allocations: Number
    programs: Number
    plans: Number


class Op(Record):
    name: str
    kind: str
    count: int  # over all profiled steps
    total_s: Number | None
    mean_s: Number | None
    min_s: Number | None
    max_s: Number | None
    fraction: Number | None
    grid: list[int] | None  # null, like all below, for what is no kernel of ours
    block: list[int] | None
    dynamic_shared_bytes: int | None
    shared_bytes: int | None
    registers: int | None
    spill_bytes: int | None
    occupancy: Number | None
    waves: Number | None


class Scope(Record):
    path: str
    depth: int
    count: int
    total_s: Number | None  # on the host's clock, whatever the device
    self_s: Number | None
    fraction: Number | None
    launches: Number


class Transfer(Record):
    count: int
    bytes: int
    total_s: Number | None
    bytes_per_s: Number | None


class Transfers(Record):
    h2d: Transfer
    d2h: Transfer
    d2d: Transfer


class Gap(Record):
    after: str
    before: str
    seconds: Number
    at_s: Number


class MemoryPoint(Record):
    s: Number
    bytes: int
    delta: int
    site: str


class Memory(Record):
    peak_bytes: int
    peak_by_site: dict[str, int]
    live_bytes_end: int
    device_total_bytes: int | None
    timeline: list[MemoryPoint]


class Compile(Record):
    program: str
    reason: str
    steady: bool
    from_cache: bool
    trace_s: Number
    lower_s: Number
    compile_s: Number
    load_s: Number
    kernels: int
    registers_max: int | None
    spill_bytes: int | None

    @property
    def stages(self) -> tuple[float, ...]:
        return self.trace_s, self.lower_s, self.compile_s, self.load_s


class Window(Record):
    first_step: int
    steps: int
    mean_step_s: Number | None
    busy_fraction: Number | None


class Work(Record):
    flops: Number
    bytes: Number


class DeviceCounts(Record):
    kernels: int
    copied_bytes_h2d: int
    copied_bytes_d2h: int
    copied_bytes_d2d: int
    modules_loaded: int
    jit_runs: int
    memory_peak_bytes: int


class Profile(Record):
    schema_name: str = Field(alias="schema")
    suite: str
    case: str
    variant: str
    device: str
    device_class: str
    device_name: str
    executed: bool
    clock: Literal["cupti", "host", "none"]
    silence: str | None
    steps: int
    dropped: int
    overview: Overview
    ops: list[Op]
    scopes: list[Scope]
    transfers: Transfers
    gaps: list[Gap]
    memory: Memory
    compiles: list[Compile]
    first_call_s: Number | None
    windows: list[Window]
    work: Work | None
    floor_s: Number | None
    kernels_floor_s: Number | None = None
    device_counts: DeviceCounts | None
    trace: str | None

    @property
    def key(self) -> tuple[str, str, str]:
        return self.device_class, self.case, self.variant


@dataclass(frozen=True)
class Stored:
    """A profile and the files that lie beside it."""

    profile: Profile
    path: Path

    @property
    def trace(self) -> Path | None:
        return self.beside(self.profile.trace)

    @property
    def memory_profile(self) -> Path | None:
        return self.beside(self.path.name.removesuffix(ENDING) + ".pb.gz")

    def beside(self, name: str | None) -> Path | None:
        found = self.path.parent / Path(name).name if name else None
        return found if found and found.is_file() else None


def read_profiles(place: Path) -> list[Stored]:
    """All of a results root, or of the folder that `holdfast profile` filled; by suite, device
    class and case, and optimized first."""
    found = []
    for pattern in (f"*/profiles/*/*{ENDING}", f"*{ENDING}"):
        for path in files_below(place, pattern):
            found.append(Stored(read(Profile, SCHEMA, path), path))
            check_place(found[-1], in_root="/" in pattern)
    return sorted(found, key=place_of)


def check_place(stored: Stored, in_root: bool) -> None:
    """A copy in another place would be drawn as the class or the suite that it is a copy of."""
    profile, path = stored.profile, stored.path
    name = f"{profile.case.replace('/', '.').replace(':', '_')}.{profile.variant}{ENDING}"
    if path.name != name:
        raise Problem(f"{path}: holds the profile {name}; give it this name, or remove it")
    if not in_root:  # but of one case, whose folder has any name
        return
    folders = (
        ("suite", profile.suite, path.parent.name),
        ("device class", profile.device_class, path.parents[2].name),
    )
    for what, held, folder in folders:
        if held != folder:
            raise Problem(
                f"{path}: holds a profile of the {what} '{held}', and its folder says '{folder}'"
            )


def place_of(stored: Stored) -> tuple[object, ...]:
    """A sort key in which sizes of a case's id count as numbers: n:96 before n:192."""
    device_class, case, variant = stored.profile.key
    words = re.split(r"(\d+)", case)
    return stored.profile.suite, device_class, tuple(map(number_or_text, words)), variant


def number_or_text(word: str) -> tuple[bool, int, str]:
    return (True, int(word), "") if word.isdecimal() else (False, 0, word)
