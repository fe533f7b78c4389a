# SPDX-License-Identifier: Apache-2.0
"""Profiles as suites write them: of a GPU that told its times, of a dry one, and of the host."""

from pathlib import Path
from typing import Any

import builders
from builders import DRY, HOST, STEP, Workplace

GPU = "cuda-sm_90"
DEVICES = {GPU: "cuda", DRY: "cuda-dry:sm_90", HOST: "host"}
PROGRAM = "cubed_sphere_swe/optimized.cu"
STEPS = 10


def op(name: str, count: int, total_s: float | None, whole_s: float, **changes: Any) -> Any:
    timed = total_s is not None
    return {
        "name": name, "kind": "fused", "count": count, "total_s": total_s,
        "mean_s": total_s / count if timed else None,
        "min_s": 0.9 * total_s / count if timed else None,
        "max_s": 1.2 * total_s / count if timed else None,
        "fraction": total_s / whole_s if timed else None, "grid": [2, 4, 6], "block": [512, 1, 1],
        "dynamic_shared_bytes": 0, "shared_bytes": 26624, "registers": 70, "spill_bytes": 0,
        "occupancy": 0.25, "waves": 0.1,
    } | changes


def loop(name: str, count: int, total_s: float, whole_s: float) -> Any:
    shapeless = ["grid", "block", "dynamic_shared_bytes", "shared_bytes", "registers", "spill_bytes"]
    nothing = dict.fromkeys([*shapeless, "occupancy", "waves"])
    return op(name, count, total_s, whole_s, kind="loop") | nothing


def scope(path: str, total_s: float, self_s: float, launches: int = 4) -> Any:
    return {
        "path": path, "depth": path.count("/"), "count": 4 * STEPS, "total_s": total_s,
        "self_s": self_s, "fraction": total_s / 0.006, "launches": launches,
    }


def timeline(changes: list[tuple[str, int]]) -> list[dict[str, Any]]:
    """One point for each allocation, or release where the bytes are negative."""
    points, live = [], 0
    for index, (site, delta) in enumerate(changes):
        live += delta
        points.append({"s": 0.01 * index, "bytes": live, "delta": delta, "site": site})
    return points


def memory() -> Any:
    changes = [("state", 340992), ("operators", 150000), ("state", 340992), ("stage work", 345872)]
    return {
        "peak_bytes": 1_177_856,
        "peak_by_site": {"state": 681_984, "stage work": 345_872, "operators": 150_000},
        "live_bytes_end": 831_984, "device_total_bytes": None,
        "timeline": timeline([*changes, ("stage work", -345872)]),
    }


def compilation(**changes: Any) -> Any:
    return {
        "program": PROGRAM, "reason": "first use", "steady": False, "from_cache": False,
        "trace_s": 0.001, "lower_s": 0.4, "compile_s": 0.3, "load_s": 0.0, "kernels": 2,
        "registers_max": 70, "spill_bytes": 0,
    } | changes


def overview(step_s: float | None, launches: int) -> Any:
    timed = step_s is not None
    counts = "library_calls graph_nodes copies syncs h2d_bytes d2h_bytes allocations programs plans"
    return {
        "step_s": [step_s * (0.98 + 0.01 * (k % 4)) for k in range(STEPS)] if timed else [],
        "mean_step_s": step_s, "busy_fraction": None, "idle_fraction": None, "max_gap_s": None,
        "max_gap_between": None, "declared_h2d_bytes": None, "top_op": "stage<double>",
        "top_op_fraction": 0.9 if timed else None, "launches": launches,
    } | dict.fromkeys(counts.split(), 0)


def nothing_moved() -> Any:
    return {"count": 0, "bytes": 0, "total_s": None, "bytes_per_s": None}


def profile(device_class: str, case: str, variant: str, **changes: Any) -> dict[str, Any]:
    """A profile of a dry device, except where `changes` differ."""
    ops = [op("stage<double>", 40, None, 1.0), op("project<double>", 10, None, 1.0, registers=26)]
    return {
        "schema": "holdfast-profile/1", "suite": "cubed_sphere_swe", "case": case,
        "variant": variant, "device": DEVICES[device_class], "device_class": device_class,
        "device_name": "dry sm_90", "executed": False, "clock": "none", "silence": None,
        "steps": STEPS, "dropped": 0, "overview": overview(None, 4), "ops": ops,
        "scopes": [
            scope("rk4_step/rhs/project", 0.001, 0.001), scope("rk4_step", 0.006, 0.001),
            scope("rk4_step/rhs/sat", 0.0005, 0.0005), scope("rk4_step/rhs", 0.005, 0.0035),
        ],
        "transfers": {way: nothing_moved() for way in ("h2d", "d2h", "d2d")},
        "gaps": [], "memory": memory(), "compiles": [compilation()], "first_call_s": 0.9,
        "windows": [], "work": {"flops": 2.0e6, "bytes": 4.0e6}, "floor_s": None,
        "device_counts": None, "trace": None,
    } | changes


def dry(case: str = STEP, variant: str = "optimized", **changes: Any) -> dict[str, Any]:
    return profile(DRY, case, variant, **changes)


def host(case: str = STEP, variant: str = "optimized", **changes: Any) -> dict[str, Any]:
    base = {
        "device_name": "some x86-64 processor", "executed": True, "clock": "host",
        "overview": overview(0.0006, 0) | {"top_op": "rhs", "busy_fraction": 1.0},
        "ops": [loop("rhs", 40, 0.005, 0.006), loop("combine", 40, 0.001, 0.006)],
        "compiles": [], "floor_s": 0.0002,
    }
    return profile(HOST, case, variant, **(base | changes))


def gpu(case: str = STEP, variant: str = "optimized", **changes: Any) -> dict[str, Any]:
    """A profile with all that one can hold: gaps, copies, windows, counters, a late compilation."""
    idle = {"busy_fraction": 0.69, "idle_fraction": 0.31, "max_gap_s": 2.0e-5}
    between = {"max_gap_between": ["stage<double>", "project<double>"]}
    base = {
        "device_name": "a GPU with 132 multiprocessors", "executed": True, "clock": "cupti",
        "overview": overview(0.0006, 4) | idle | between,
        "ops": [
            op("stage<double>", 40, 0.0036, 0.004),
            op("project<double>", 10, 0.0004, 0.004, registers=26, spill_bytes=48),
        ],
        "transfers": {
            "h2d": {"count": 10, "bytes": 4_000_000, "total_s": 0.0004, "bytes_per_s": 1.0e10},
            "d2h": nothing_moved(), "d2d": nothing_moved(),
        },
        "gaps": [{"after": "stage<double>", "before": "stage<double>", "seconds": 2e-5, "at_s": 1}],
        "memory": memory() | {"device_total_bytes": 150_000_000_000},
        "compiles": [
            compilation(from_cache=True, lower_s=0.0, compile_s=0.0),
            compilation(reason="constant n: 48 -> 49", steady=True, load_s=0.001),
        ],
        "windows": [
            {
                "first_step": 100 * k, "steps": 5, "mean_step_s": 6e-4 + 1e-4 * k,
                "busy_fraction": 0.7,
            }
            for k in range(4)
        ],
        "device_counts": {
            "kernels": 50, "copied_bytes_h2d": 4_000_000, "copied_bytes_d2h": 0,
            "copied_bytes_d2d": 0, "modules_loaded": 1, "jit_runs": 0,
            "memory_peak_bytes": 2_097_152,
        },
    }
    return profile(GPU, case, variant, **(base | changes))


def finding(**changes: Any) -> dict[str, Any]:
    return {
        "case": STEP, "device_class": GPU, "variant": "optimized", "detector": "idle_gaps",
        "sentence": "the device idles 31 % of a step; the longest gap is 20 us", "value": 0.31,
        "threshold": 0.2, "fix": "record the steps as one graph, or keep the loop on the device",
        "source": "profile",
    } | changes


def name_of(document: dict[str, Any]) -> str:
    slug = document["case"].replace("/", ".").replace(":", "_")
    return f"{slug}.{document['variant']}.profile.json"


def put(workplace: Workplace, document: dict[str, Any]) -> Path:
    """Where a suite puts it in a results root."""
    folder = workplace.results / document["device_class"] / "profiles" / document["suite"]
    return builders.put(folder / name_of(document), document)
