# SPDX-License-Identifier: Apache-2.0
"""Documents as the other rooms write them, small and valid, for tests to vary."""

import copy
import json
import stat
import sys
from pathlib import Path
from typing import Any

HOST = "host-x86_64-v4-2t"
DRY = "cuda-dry-sm_90"
PROCESSOR = "GenuineIntel-6-207"
STEP = "cubed_sphere_swe/rk4_step/n:48/f64"
LOOP = "cubed_sphere_swe/loop/n:96/steps:100/launch:graph/diag:none/f64"


def hashed(digit: str) -> str:
    return "sha256:" + digit * 64


def exact(value: float) -> dict[str, Any]:
    return {"kind": "exact", "value": value}


def sampled(kind: str, processes: list[float]) -> dict[str, Any]:
    ordered = sorted(processes)
    middle = ordered[len(ordered) // 2]
    spread = sorted(abs(value - middle) for value in ordered)[len(ordered) // 2]
    return {
        "kind": kind, "processes": processes, "median": middle, "mad_between": spread,
        "samples": 400,
    }


def kernel(name: str, launches: int, registers: int = 40) -> dict[str, Any]:
    return {
        "name": name, "registers": registers, "spill_bytes": 0, "shared_bytes": 26624,
        "launches": launches, "cubin": hashed("c"), "kind": "fused",
    }


def dry_variant(launches: int, peak: int, kernels: list[dict[str, Any]]) -> dict[str, Any]:
    metrics = {
        name: exact(value) for name, value in {"launches": launches, "peak_bytes": peak}.items()
    }
    metrics |= {"compile_warm": exact(1), "compile_steady": exact(0)}
    stages = {
        "trace_s": 0.0004, "lower_s": 0.11, "compile_s": 0.38, "load_s": 0.0, "first_call_s": 0.5,
    }
    metrics |= {name: {"kind": "advisory", "value": value} for name, value in stages.items()}
    return {"identity": hashed("1"), "kernels": kernels, "metrics": metrics}


def host_variant(seconds: list[float], peak: int, fraction: float) -> dict[str, Any]:
    metrics = {"time_s": sampled("time", seconds), "peak_bytes": exact(peak)}
    metrics["floor_fraction"] = {"kind": "advisory", "value": fraction}
    return {"identity": None, "kernels": [], "metrics": metrics}


def case(
    id: str, executed: bool, variants: dict[str, Any], metrics: dict[str, Any]
) -> dict[str, Any]:
    check = {"status": "not_executed", "error": None, "limit": 1e-13, "oracle": "dense reference"}
    if executed:
        check |= {"status": "passed", "error": 3.6e-15}
    return {
        "id": id, "tier": "gate", "status": "ok", "reason": None, "executed": executed,
        "check": check, "variants": variants, "metrics": metrics,
    }


def results(device_class: str, device_name: str, cases: list[dict[str, Any]]) -> dict[str, Any]:
    on_host = device_name == "host"
    ceilings = {"memory_bytes_per_s": 1.9e10, "l1_bytes_per_s": 2.1e11, "f64_flop_per_s": 9.6e10}
    return {
        "schema": "holdfast-results/1", "suite": "cubed_sphere_swe", "tier": "gate",
        "partial": False, "list_hash": hashed("7"),
        "run": {
            "id": "2026-11-21T12:00:00Z-7f3a", "utc": "2026-11-21T12:00:00Z",
            "content": hashed("a"),
            "git": {"sha": "0123456789abcdef0123456789abcdef01234567", "dirty": False},
            "processes": 5 if on_host else 1,
        },
        "env": {
            "device_class": device_class, "device_name": device_name,
            "device": {"name": None, "sm": None, "sms": None, "memory_bytes": None}
            if on_host
            else {"name": "dry sm_90", "sm": "sm_90", "sms": 132, "memory_bytes": None},
            "driver": None, "cuda": None if on_host else "13.0",
            "nvrtc": None if on_host else "13.0.88", "nvjitlink": None if on_host else "13.0.88",
            "compiler": "g++ 12.2.0", "flags": hashed("f"),
            "host": {
                "cpu": "some x86-64 processor", "processor": PROCESSOR, "threads": 2, "cpus": 2,
                "isa": "x86-64-v4",
            },
            "fingerprint": hashed("e"),
        },
        "quality": {
            "valid": True, "reasons": [], "load": 0.2, "sm_clock_hz": None, "throttled": None,
            "temperature_c": None, "other_processes": None,
        },
        "ceilings": ceilings if on_host else {}, "cases": cases,
    }


def add_rates(results: dict[str, Any]) -> None:
    """What a variant did in a second, so that its cells are as wide as they become."""
    for case in results["cases"]:
        for variant in case["variants"].values():
            variant["metrics"] |= {
                name: {"kind": "advisory", "value": value}
                for name, value in (("flop_per_s", 5e9), ("bytes_per_s", 2e9))
            }


def host_results() -> dict[str, Any]:
    cases = []
    for id, ratio, fraction in ((STEP, 12.0, 0.31), (STEP.replace("48", "96"), 24.0, 0.44)):
        spread = [0.99, 1.0, 1.01, 1.02, 0.97]
        variants = {
            "optimized": host_variant([0.0006 * s for s in spread], 1_177_856, fraction),
            "reference": host_variant(
                [0.0006 * ratio for s in spread], 2_900_000, fraction / ratio
            ),
        }
        metrics = {
            "speedup": sampled("ratio", [ratio / s for s in spread]), "peak_ratio": exact(2.46),
        }
        cases.append(case(id, True, variants, metrics))
    cases[0]["derived"] = {
        "rhs_share": {"kind": "advisory", "value": 0.82},
        "loop_speedup": {"kind": "advisory", "value": 1.04},
    }
    return results(HOST, "host", cases)


def dry_results() -> dict[str, Any]:
    optimized = dry_variant(4, 1_177_856, [kernel("stage", 4)])
    reference = dry_variant(888, 2_900_000, [kernel("scatter", 384, 12), kernel("axpy", 504, 18)])
    loop = dry_variant(400, 4_600_000, [kernel("stage", 400)])
    return results(
        DRY,
        "cuda-dry:sm_90",
        [
            case(
                STEP,
                False,
                {"optimized": optimized, "reference": reference},
                {"peak_ratio": exact(2.46)},
            ),
            case(LOOP, False, {"optimized": loop}, {}),
        ],
    )


def case_list() -> dict[str, Any]:
    devices = {"cuda-dry": {"metrics": ["launches"]}, "host": {"metrics": ["time_s"]}}
    cases = [
        {"id": id, "tier": tier, "reference": True, "devices": devices}
        for id, tier in ((STEP, "gate"), ("cubed_sphere_swe/rk4_step/n:192/f64", "full"))
    ]
    return {
        "schema": "holdfast-list/2", "suite": "cubed_sphere_swe", "cases": cases,
        "metrics": {"launches": meaning("exact", "1"), "time_s": meaning("time", "s")},
    }


def meaning(kind: str, unit: str) -> dict[str, str]:
    return {"kind": kind, "better": "lower", "unit": unit}


def row(verdict: str, **changes: Any) -> dict[str, Any]:
    """A verdict on launches, one more than accepted."""
    base = {
        "case": STEP, "device_class": DRY, "variant": "optimized", "metric": "launches",
        "kind": "exact", "unit": "1", "verdict": verdict,
        "blocking": verdict in ("REGRESSION", "WRONG"), "value": 5, "baseline": 4, "change": 0.25,
        "limit": 0.0, "sentence": f"{STEP} optimized on {DRY}: launches rose from 4 to 5",
        "evidence": {"code": "stage: cubin changed, registers 40 -> 56"},
        "next": f"holdfast explain {STEP} build/release/results",
    }
    return base | changes


def improved() -> dict[str, Any]:
    return row(
        "IMPROVED",
        device_class=HOST,
        variant="case",
        metric="speedup",
        kind="ratio",
        value=12.0,
        baseline=10.0,
        change=0.2,
        limit=-0.05,
        sentence=f"{STEP} on {HOST}: speedup rose from 10.0 to 12.0",
        evidence={},
        next='holdfast baseline accept build/release/results --why="..."',
    )


def verdict(exit: int, rows: list[dict[str, Any]], passed: int = 40) -> dict[str, Any]:
    counts = {"PASS": passed}
    for one in rows:
        counts[one["verdict"]] = counts.get(one["verdict"], 0) + 1
    return {
        "schema": "holdfast-verdict/1", "exit": exit, "counts": counts, "rows": rows, "notes": [],
        "findings": [],
        "not_checked": ["cubed_sphere_swe on cuda: no such device (no driver)"],
    }


def series(
    metric: str, values: list[float], variant: str = "optimized", **changes: Any
) -> dict[str, Any]:
    points = [
        {
            "order": order, "commit": f"{order:040x}", "utc": f"2026-11-{order:02d}T12:00:00Z",
            "value": value, "mad": None, "verdict": "PASS", "outlier": False,
        }
        for order, value in enumerate(values, start=1)
    ]
    return {
        "class": HOST, "case": STEP, "variant": variant, "metric": metric, "points": points,
        "segments": [], "change_points": [], "drift": None,
    } | changes


def trend() -> dict[str, Any]:
    values = [10.0, 10.1, 9.9, 10.05, 14.0, 10.0, 12.0, 12.1, 11.9, 12.0]
    stepped = series("speedup", values, variant="case")
    stepped["points"][4]["outlier"] = True
    stepped["segments"] = [
        {"from": 1, "to": 6, "median": 10.0}, {"from": 7, "to": 10, "median": 12.0},
    ]
    stepped["change_points"] = [
        {"order": 7, "commit": f"{7:040x}", "last_before": f"{6:040x}", "before": 10.0, "after": 12.0, "change": 0.2},
    ]
    return {
        "schema": "holdfast-trend/1", "commits": [f"{order:040x}" for order in range(1, 11)],
        "series": [
            stepped, series("time_s", [0.0006 + 1e-6 * (k % 3) for k in range(10)]),
            series("launches", [4.0] * 10, **{"class": DRY}),
        ],
    }


def a_series_to_a_line(trend: dict[str, Any]) -> str:
    """The text of `holdfast trend --json`."""
    first = {name: said for name, said in trend.items() if name != "series"}
    head = json.dumps(first | {"series": []}).removesuffix("]}")
    return f"{head}\n" + ",\n".join(json.dumps(one) for one in trend["series"]) + "]}\n"


POLICY = """// What gates.
{"schema": "holdfast-policy/1",
 "rules": [  // a bound with its source
  {"match": "cubed_sphere_swe/rk4_step/n:48/f64", "device": "host-*", "metric": "speedup",
   "bound": {"min": 3.0, "source": "see https://example.org/bounds"}}],
 "waivers": []}
"""


ACCEPTANCE = "9f3a1c2e"


def baseline() -> dict[str, Any]:
    return {
        "schema": "holdfast-baseline/2",
        "acceptances": {
            ACCEPTANCE: {
                "utc": "2026-11-01T00:00:00Z", "content": hashed("b"), "runs": ["r"],
                "why": "first",
            },
        },
        "metrics": {"peak_bytes": meaning("exact", "B"), "time_s": meaning("time", "s")},
        "device_class": HOST,
        "fingerprint": {"nvrtc": None, "nvjitlink": None, "driver": None, "compiler": "g++ 12.2.0"},
        "entries": {f"{STEP}|optimized|peak_bytes": {"value": 4096, "by": ACCEPTANCE}},
        "processors": {PROCESSOR: {f"{STEP}|optimized|time_s": time_entry(0.0006)}},
    }


def time_entry(value: float) -> dict[str, Any]:
    return {
        "value": value, "medians": [value], "mad_between": 0, "runs": 1, "days": 1, "anchor": value,
        "bootstrap": True, "by": ACCEPTANCE,
    }


def journal(files: dict[str, str | None]) -> dict[str, Any]:
    return {"schema": "holdfast-journal/1", "files": files}


def put(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


class Workplace:
    """A results root, a store, baselines and a command that answers `trend` with a given
    document."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results = folder / "results"
        self.store = folder / "store"
        self.baselines = folder / "baselines"
        self.out = folder / "report"
        for device_class, document in ((HOST, host_results()), (DRY, dry_results())):
            self.measure(device_class, document)
        put(self.baselines / "policy" / "common.json", '{"schema": "holdfast-policy/1", "rules": []}')
        put(self.baselines / "policy" / "cubed_sphere_swe.json", POLICY)
        put(self.baselines / "devices" / HOST / "cubed_sphere_swe.json", baseline())
        put(self.store / HOST / "2026.ndjson", "{}\n")
        self.answer(trend())

    def measure(self, device_class: str, document: dict[str, Any]) -> None:
        put(self.results / device_class / "cubed_sphere_swe.json", copy.deepcopy(document))
        put(self.results / device_class / "cubed_sphere_swe.list.json", case_list())

    def judge(self, document: dict[str, Any]) -> None:
        put(self.results / "verdict.json", document)

    def answer(self, document: Any, code: int = 0) -> None:
        if isinstance(document, dict) and "series" in document:
            document = a_series_to_a_line(document)
        put(self.folder / "trend.json", document)
        self.holdfast = put(
            self.folder / "holdfast",
            f"#!{sys.executable}\nimport sys\n"
            f"print(open({str(self.folder / 'trend.json')!r}).read(), end='')\n"
            f"print('the store is broken', file=sys.stderr)\nsys.exit({code})\n",
        )
        self.holdfast.chmod(self.holdfast.stat().st_mode | stat.S_IXUSR)

    def options(self) -> list[str]:
        return [
            f"--results={self.results}", f"--store={self.store}", f"--out={self.out}",
            f"--baselines={self.baselines}", f"--holdfast={self.holdfast}",
        ]

    def page(self) -> str:
        return (self.out / "index.html").read_text("utf-8")
