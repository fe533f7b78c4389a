# SPDX-License-Identifier: Apache-2.0
"""The JSON documents of the other rooms, as data. Reading is strict: an unknown key, a missing one,
a number that is not finite or another schema version is a Problem that names file and key."""

import json
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holdfast_report import Problem

Number = Annotated[float, Field(allow_inf_nan=False)]
Value = Number | str  # a string where the value is a hash


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


# ---- holdfast-results/1: one suite on one device ----


class Metric(Record):
    kind: str
    value: Number | None = None
    reason: str | None = None
    processes: list[Number] = []
    median: Number | None = None
    mad_between: Number | None = None
    samples: int | None = None

    @property
    def number(self) -> float | None:
        return self.median if self.value is None else self.value


class Kernel(Record):
    name: str
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    launches: int | None = None  # per step
    cubin: str | None = None


class Variant(Record):
    identity: str | None
    kernels: list[Kernel]
    metrics: dict[str, Metric]


class Check(Record):
    status: str
    error: Number | None
    limit: Number | None
    oracle: str | None


class Case(Record):
    id: str
    tier: str
    status: str
    reason: str | None
    executed: bool
    check: Check
    variants: dict[str, Variant]
    metrics: dict[str, Metric]
    derived: dict[str, Metric] = {}

    def metric(self, variant: str, name: str) -> Metric | None:
        """A metric of a variant, or of the case as a whole (variant "case")."""
        if variant == "case":
            return self.metrics.get(name) or self.derived.get(name)
        return self.variants[variant].metrics.get(name) if variant in self.variants else None

    def number(self, variant: str, name: str) -> float | None:
        metric = self.metric(variant, name)
        return metric.number if metric else None


class Git(Record):
    sha: str | None
    dirty: bool


class Run(Record):
    id: str
    utc: str
    content: str
    git: Git
    processes: int
    sources: str | None = None
    custom: list[str] = []


class Device(Record):
    name: str | None
    sm: str | None
    sms: int | None
    memory_bytes: int | None


class Host(Record):
    cpu: str | None
    threads: int | None
    isa: str | None


class Environment(Record):
    device_class: str
    device_name: str
    device: Device
    driver: str | None
    cuda: str | None
    nvrtc: str | None
    nvjitlink: str | None
    compiler: str | None
    flags: str | None
    host: Host
    fingerprint: str


class Quality(Record):
    valid: bool
    reasons: list[str]
    load: Number | None
    sm_clock_hz: Number | None
    throttled: bool | None
    temperature_c: Number | None
    other_processes: int | None


class Results(Record):
    schema_name: str = Field(alias="schema")
    suite: str
    tier: str
    partial: bool
    status: str = "ok"  # or no_device
    reason: str | None = None
    list_hash: str
    run: Run
    env: Environment
    quality: Quality
    ceilings: dict[str, Number | None]
    cases: list[Case]


# ---- holdfast-list/1: what a suite promises to measure ----


class ListedDevice(Record):
    metrics: list[str]


class ListedCase(Record):
    id: str
    tier: str
    reference: bool
    devices: dict[str, ListedDevice]


class CaseList(Record):
    schema_name: str = Field(alias="schema")
    suite: str
    cases: list[ListedCase]


# ---- holdfast-verdict/1: what the gate decided ----


class Row(Record):
    case: str
    device_class: str
    variant: str
    metric: str
    kind: str
    unit: str
    verdict: str
    blocking: bool
    value: Value | None
    baseline: Value | None
    change: Number | None
    limit: Number | None
    sentence: str
    evidence: dict[str, str]
    next: str | None


class Verdict(Record):
    schema_name: str = Field(alias="schema")
    exit: int
    counts: dict[str, int]
    rows: list[Row]
    notes: list[str]
    not_checked: list[str]


# ---- holdfast-baseline/1: what was accepted ----


class Accepted(Record):
    utc: str
    content: str
    runs: list[str]
    why: str
    previous: Value | None


class Entry(Record):
    value: Value
    accepted: Accepted
    mad_between: Number | None = None
    medians: list[Number] = []
    runs: int = 1
    days: int = 1
    anchor: Number | None = None
    bootstrap: bool = False


class Baseline(Record):
    schema_name: str = Field(alias="schema")
    device_class: str
    fingerprint: dict[str, str | None]
    entries: dict[str, Entry]  # "case id|variant|metric"


# ---- reading ----

Model = TypeVar("Model", bound=Record)


def without_comments(text: str) -> str:
    """Blanks out // comments, which the policy may hold; strings may hold slashes of their own."""
    kept = []
    in_string = False
    at = 0
    while at < len(text):
        if in_string and text[at] == "\\":
            kept.append(text[at : at + 2])
            at += 2
            continue
        if text[at] == '"':
            in_string = not in_string
        if not in_string and text.startswith("//", at):
            while at < len(text) and text[at] != "\n":
                at += 1
            continue
        kept.append(text[at])
        at += 1
    return "".join(kept)


def load(path: Path, comments: bool = False) -> Any:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
        ) from error
    return parse(without_comments(text) if comments else text, str(path))


def parse(text: str, where: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise Problem(
            f"{where}: holds {constant}, and a document holds finite numbers only; write it again"
        )

    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise Problem(
            f"{where}:{error.lineno}: is not JSON ({error.msg}); was it cut short?"
        ) from error


def validate(model: type[Model], schema: str, data: Any, where: str) -> Model:
    found = data.get("schema") if isinstance(data, dict) else None
    if found != schema:
        raise Problem(
            f"{where}: the schema is {found!r}, and this page reads {schema!r}; "
            "use the report of the build that wrote it"
        )
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise Problem(f"{where}: {key}: {first['msg']}") from error


def read(model: type[Model], schema: str, path: Path) -> Model:
    return validate(model, schema, load(path), str(path))
