# SPDX-License-Identifier: Apache-2.0
"""A history with planted changes, as a store: a step, a slow drift, another environment. Deterministic,
of any size; run as a script it writes a store for a look at the site:

  python3 planted_history.py STORE [--commits=200 --cases=4]
"""

import hashlib
import json
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

HOST, DRY = "host-x86_64-v4-2t", "cuda-dry-sm_90"
STEP_CASE = "cubed_sphere_swe/rk4_step/n:48/f64"
DRIFT_CASE = "clusterless_kde/decode/spikes:4096/f64"
SUITES = {
    "cubed_sphere_swe": ["rk4_step/n:{}/f64", "loop/n:{}/steps:100/launch:graph/f64"],
    "clusterless_kde": ["decode/spikes:{}/f64", "density/spikes:{}/bf16"],
}
SUBJECTS = (
    "Keep the halo in shared memory", "Name the axes of a sweep", "Test the mass of a long run",
    "Explain why a block has 256 threads", "Read the grid once", "Say what a filter selects",
    "Refuse a negative spike count", "Split the launcher by stage", "Fuse the two flux kernels",
)
EXACT = {"launches": 4, "peak_bytes": 1_177_856, "registers_max": 40, "compile_warm": 3}
MEANT = {
    "speedup": ("ratio", "1", "higher"), "time_s": ("time", "s", "lower"),
    "instructions": ("exact", "1", "lower"), "peak_bytes": ("exact", "B", "lower"),
    "launches": ("exact", "1", "lower"), "registers_max": ("codegen", "1", "lower"),
    "compile_warm": ("exact", "1", "lower"),
}


@dataclass
class Planted:
    """Where what is planted begins, as the number of a commit."""

    commits: int
    step: int = field(init=False)
    drift: int = field(init=False)
    environment: int = field(init=False)

    def __post_init__(self) -> None:
        self.step = self.commits * 6 // 10
        self.drift = self.commits * 3 // 10
        self.environment = self.commits * 8 // 10


Values = dict[tuple[str, str, str], float]  # case, variant, metric


@dataclass
class Measured:
    """One suite on one class at one commit."""

    number: int  # of the commit, from 1
    device_class: str
    suite: str
    values: Values
    compiler: str
    blocking: set[tuple[str, str, str]]
    new: int = 0  # values that nothing is accepted for
    caveats: list[str] | None = field(default_factory=list)  # None: written by an older build
    processor: str = "AuthenticAMD-26-2"

    @property
    def sha(self) -> str:
        return sha(self.number)

    @property
    def utc(self) -> str:
        return time_of(self.number)


def sha(number: int) -> str:
    return hashlib.sha1(f"commit {number}".encode()).hexdigest()


def time_of(number: int) -> str:
    when = datetime(2026, 1, 2, 12) + timedelta(hours=16 * number)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def subject(number: int) -> str:
    return SUBJECTS[number % len(SUBJECTS)]


def cases_of(suite: str, cases: int) -> list[str]:
    """The names of `cases` cases: the two families of the suite at multiples of 48 or 4096."""
    first = 48 if suite == "cubed_sphere_swe" else 4096
    names = SUITES[suite]
    return [f"{suite}/{names[at % len(names)].format(first * (1 + at // 2))}" for at in range(cases)]


def hosted(case: str, number: int, planted: Planted, random: Random) -> Values:
    seconds = 6e-4 * (1 + len(case) % 7)
    if case == DRIFT_CASE and number >= planted.drift:
        seconds *= 1 + 0.12 * (number - planted.drift) / (planted.commits - planted.drift)
    if case == STEP_CASE and number >= planted.step:
        seconds *= 1.14
    if number >= planted.environment:
        seconds *= 0.9
    seconds *= math.exp(random.gauss(0, 0.006))
    reference = 6e-4 * (1 + len(case) % 7) * 11 * math.exp(random.gauss(0, 0.006))
    if number >= planted.environment:
        reference *= 0.9
    return {
        (case, "optimized", "time_s"): seconds, (case, "reference", "time_s"): reference,
        (case, "case", "speedup"): reference / seconds,
        (case, "optimized", "instructions"): 1_204_332 + 1000 * len(case),
        (case, "optimized", "peak_bytes"): 4096 * len(case),
    }


def dry(case: str, number: int, planted: Planted) -> Values:
    stepped = case == STEP_CASE and number >= planted.step
    return {
        (case, variant, metric): value * (1 if variant == "optimized" else 9)
        + (1 if stepped and metric == "launches" and variant == "optimized" else 0)
        for variant in ("optimized", "reference")
        for metric, value in EXACT.items()
    }


def history(commits: int, cases: int) -> Iterator[Measured]:
    planted, random = Planted(commits), Random(20260102)
    for number in range(1, commits + 1):
        for device_class in (HOST, DRY):
            compiler = "g++ 12.3.0" if number >= planted.environment else "g++ 12.2.0"
            for suite in SUITES:
                values: Values = {}
                for case in cases_of(suite, cases):
                    values |= (
                        hosted(case, number, planted, random)
                        if device_class == HOST
                        else dry(case, number, planted)
                    )
                blocking = {
                    key for key in values
                    if number == planted.step and key[0] == STEP_CASE and key[2] == "launches"
                    and key[1] == "optimized"
                }
                shown = compiler if device_class == HOST else "g++ 12.2.0"
                yield Measured(number, device_class, suite, values, shown, blocking)


def fingerprint(run: Measured) -> str:
    return "sha256:" + hashlib.sha256((run.device_class + run.compiler + run.processor).encode()).hexdigest()


def old_lines(run: Measured) -> Iterator[dict[str, Any]]:
    """The lines of a run in the old schema, holdfast-history/1."""
    for key, value in sorted(run.values.items()):
        case, variant, metric = key
        yield {
            "utc": run.utc, "commit": run.sha, "order": run.number, "class": run.device_class,
            "fp": fingerprint(run), "case": case, "variant": variant, "metric": metric,
            "value": value, "mad": None, "verdict": "REGRESSION" if key in run.blocking else "PASS",
        }


def write_old(store: Path, runs: list[Measured]) -> None:
    by_class: dict[str, list[str]] = {}
    for run in runs:
        by_class.setdefault(run.device_class, []).extend(
            json.dumps(line, sort_keys=True) + "\n" for line in old_lines(run)
        )
    for name, lines in by_class.items():
        (store / name).mkdir(parents=True, exist_ok=True)
        (store / name / "2026.ndjson").write_text("".join(lines), "utf-8")


def env_of(run: Measured) -> dict[str, Any]:
    on_host = run.device_class == HOST
    return {
        "device_class": run.device_class, "device_name": "host" if on_host else "cuda-dry:sm_90",
        "device": {
            "name": None if on_host else "dry sm_90", "sm": None, "sms": None, "memory_bytes": None,
        },
        "driver": None, "cuda": None if on_host else "13.0", "nvrtc": None, "nvjitlink": None,
        "compiler": run.compiler, "flags": None,
        "host": {"cpu": "a CPU", "processor": run.processor, "threads": 2, "isa": "x86-64-v4"},
        "fingerprint": fingerprint(run),
    }


class Writer:
    """A segment of holdfast-history/2 for one class."""

    def __init__(self, device_class: str) -> None:
        self.lines = [dumped({"schema": "holdfast-history/2", "class": device_class})]
        self.numbers: dict[tuple[str, str, str], int] = {}
        self.last: dict[int, float] = {}
        self.env: dict[str, Any] = {}
        self.commit: Any = None
        self.runs = 0
        self.metrics: set[str] = set()

    def name(self, run: Measured) -> None:
        by_case: dict[str, list[tuple[str, str, str]]] = {}
        for key in sorted(run.values):
            if key not in self.numbers:
                by_case.setdefault(key[0], []).append(key)
        for metric in sorted({key[2] for key in run.values} - self.metrics):
            kind, unit, better = MEANT[metric]
            self.metrics.add(metric)
            self.lines.append(dumped({"metric": metric, "kind": kind, "unit": unit, "better": better}))
        for case, keys in by_case.items():
            names = [f"{variant}|{metric}" for _, variant, metric in keys]
            self.lines.append(dumped({"series": len(self.numbers), "case": case, "names": names}))
            for key in keys:
                self.numbers[key] = len(self.numbers)

    def add(self, run: Measured) -> None:
        self.name(run)
        self.runs += 1
        line: dict[str, Any] = {
            "run": self.runs, "suite": run.suite, "utc": run.utc, "id": f"{run.utc}-0001",
        }
        commit = {
            "name": run.sha, "order": run.number, "branch": "main", "subject": subject(run.number),
            "author_time": run.utc, "parent": sha(run.number - 1) if run.number > 1 else None,
            "ci": f"https://ci.example/{run.number}",
        }
        if commit != self.commit:
            line["commit"] = self.commit = commit
        env = env_of(run)
        if self.env.get(run.suite) != env:
            line["env"] = env
        if run.suite not in self.env:
            line["not_checked"] = ["1 case of the tier full not run (the run's tier is gate)"]
        self.env[run.suite] = env
        blocks = [[self.numbers[key]] * 2 for key in sorted(run.blocking)]
        counts = {
            "PASS": len(run.values) - len(blocks) - run.new,
            **({"REGRESSION": len(blocks)} if blocks else {}), **({"NEW": run.new} if run.new else {}),
        }
        line["verdict"] = {
            "exit": 1 if blocks else 0, "counts": counts, "blocking": len(blocks), "most": "PASS",
            "others": {"REGRESSION": blocks} if blocks else {},
        }
        if run.caveats is not None:
            line["verdict"]["caveats"] = run.caveats
        line |= {"blocks": blocks} if blocks else {}
        gone = [
            number for key, number in self.numbers.items()
            if key[0].startswith(f"{run.suite}/") and key not in run.values
        ]
        line |= {"absent": [[number, number] for number in gone]} if gone else {}
        line["values"] = self.changed(run)
        self.lines.append(dumped(line))

    def changed(self, run: Measured) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in sorted(run.values.items()):
            number = self.numbers[key]
            if self.last.get(number) != value:
                self.last[number] = value
                sampled = MEANT[key[2]][0] in ("time", "ratio")
                rounded = float(f"{value:.6g}")
                found[str(number)] = [rounded, -60, -30, 30, 60] if sampled else value
        return found


def dumped(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":")) + "\n"


def write(store: Path, runs: list[Measured]) -> None:
    writers: dict[str, Writer] = {}
    for run in runs:
        writers.setdefault(run.device_class, Writer(run.device_class)).add(run)
    for name, writer in writers.items():
        (store / name).mkdir(parents=True, exist_ok=True)
        first = time_of(1).replace(":", "-")
        (store / name / f"{first}.ndjson").write_text("".join(writer.lines), "utf-8")


if __name__ == "__main__":
    given = dict(option.removeprefix("--").split("=") for option in sys.argv[2:])
    made = list(history(int(given.get("commits", 200)), int(given.get("cases", 4))))
    (write_old if given.get("format") == "1" else write)(Path(sys.argv[1]), made)
