# SPDX-License-Identifier: Apache-2.0
"""The JSON documents of the other rooms, as data."""

from pydantic import Field

from holdfast_report.reading import Number, Record, Value

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
    kind: str | None = None  # scatter, gemm, reduce, ...; absent in older results
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    launches: int | None = None  # per step
    cubin: str | None = None
    evidence: dict[str, Number] = {}  # how it is launched, and its instructions by class


class Variant(Record):
    identity: str | None
    kernels: list[Kernel]
    metrics: dict[str, Metric]


class Again(Record):
    seed: int
    steps: int


class Check(Record):
    status: str
    error: Number | None
    limit: Number | None
    oracle: str | None
    again: Again | None = None  # after the timed section; absent where nothing was timed


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
    of_other_rounds: bool = False  # than those of the build that took turns with it

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
    binary: str | None = None  # hash of the suite's bytes
    sources: str | None = None
    custom: list[str] = []
    beside: str | None = None  # content of the build it was measured in turn with
    base: str | None = None  # the folder of that build
    filter: str | None = None  # that left cases out


class Device(Record):
    name: str | None
    sm: str | None
    sms: int | None
    memory_bytes: int | None


class Host(Record):
    cpu: str | None
    processor: str = "unknown"  # vendor, family, model
    awake: bool | None = None  # whether its CPUs were kept awake; a host's, absent in older results
    threads: int | None
    cpus: int | None = None  # of the machine; absent in older results
    isa: str | None

    @property
    def timed_on(self) -> str:
        """The processor and its state, within which a host's times and ratios compare."""
        return self.processor + (" kept awake" if self.awake else "")


class Environment(Record):
    device_class: str
    device_name: str
    device: Device
    driver: str | None
    cuda: str | None
    nvrtc: str | None
    nvjitlink: str | None
    nvdisasm: str | None = None  # absent in older results
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
    others_fraction: Number | None = None  # share of the CPUs that other work had over the run
    steal_fraction: Number | None = None  # share that the hypervisor kept
    memory_stall_fraction: Number | None = None
    cpu_clock_hz: Number | None = None
    mem_clock_hz: Number | None = None
    ecc_errors: int | None = None


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


# ---- holdfast-list/2: what a suite promises to measure ----


class Meaning(Record):
    """What a metric is."""

    kind: str
    better: str  # lower, higher, same
    unit: str


class ListedDevice(Record):
    metrics: list[str]


class ExpectedFinding(Record):
    """A finding that a case shows on purpose."""

    finding: str
    why: str
    devices: list[str]  # kinds


class ListedCase(Record):
    id: str
    tier: str
    reference: bool
    devices: dict[str, ListedDevice]
    limit: Number | None = None  # of the error of its result
    uncounted: str | None = None  # why its instructions are not counted on a host
    expected: list[ExpectedFinding] = []


class CaseList(Record):
    schema_name: str = Field(alias="schema")
    suite: str
    cases: list[ListedCase]
    metrics: dict[str, Meaning]


# ---- holdfast-verdict/1: what the gate decided ----


class Resolution(Record):
    """The smallest loss, as a share of the time, that would have failed, and by which standard."""

    loss: Number
    by: str


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
    standard: str | None = None  # accepted, beside or bound
    resolution: Resolution | None = None


class Detected(Record):
    """One symptom in one case, and what cures it."""

    case: str
    device_class: str
    variant: str
    detector: str
    sentence: str
    value: Number
    threshold: Number
    fix: str
    source: str  # profile or result
    expected: str | None = None  # why its case shows it on purpose


class RuleChange(Record):
    """What the judged change does to a rule, an alias or a case."""

    rule: str
    before: str
    after: str
    why: str
    loosens: bool
    blocking: bool


class Verdict(Record):
    schema_name: str = Field(alias="schema")
    exit: int
    counts: dict[str, int]
    rows: list[Row]
    notes: list[str]
    not_checked: list[str]
    findings: list[Detected] | None = None  # the worst first; absent where no detector ran
    caveats: list[str] = []  # why exit 0 is less than well
    changes: list[RuleChange] = []  # since the merge base; blocking ones first


# ---- holdfast-baseline/2: what was accepted ----


class Acceptance(Record):
    utc: str
    content: str
    runs: list[str]
    why: str


class Entry(Record):
    value: Value
    by: str  # an acceptance
    previous: Value | None = None
    mad_between: Number | None = None
    medians: list[Number] = []
    runs: int = 1
    days: int = 1
    anchor: Number | None = None
    bootstrap: bool = False


class Fingerprint(Record):
    nvrtc: str | None
    nvjitlink: str | None
    driver: str | None
    compiler: str | None
    nvdisasm: str | None = None  # absent in older baselines


class Limit(Record):
    """How far a result may be from its oracle, as accepted."""

    value: Number
    by: str  # an acceptance
    previous: Value | None = None


class Baseline(Record):
    schema_name: str = Field(alias="schema")
    device_class: str
    fingerprint: Fingerprint
    entries: dict[str, Entry]  # "case id|variant|metric"
    processors: dict[str, dict[str, Entry]] = {}  # a host's times and ratios, by its processor
    acceptances: dict[str, Acceptance]
    metrics: dict[str, Meaning]  # as accepted
    limits: dict[str, Limit] = {}  # of the error, by case; absent in older baselines
    bounded: dict[str, list[str]] = {}  # metrics with bounds alone, by case; as above
