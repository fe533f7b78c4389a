# SPDX-License-Identifier: Apache-2.0
"""What an optimized kernel accesses is accepted in its workload's traffic test: no count of a dry run shows neighbouring threads far
apart. One instance of a template at least; how others access memory may differ, and is not asked for."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BASELINES = sorted((ROOT / "baselines/devices/cuda-dry-sm_90").glob("*.json"))
WITHOUT = {
    "cubed_sphere_swe": {"loop": "how often it reads the barrier that it spins at is chance"},
    "gpt_train": {"draw": "draws the start, in no step", "draw_stream": "draws the start, in no step"},
}


def accepted_kernels(baseline: Path) -> set[str]:
    """The names of optimized kernels, without their template arguments."""
    entries = json.loads(baseline.read_text("utf-8"))["entries"]
    lists = [entry["value"] for name, entry in entries.items() if name.endswith("|optimized|kernels")]
    return {re.split(r"[< ]", kernel)[0] for listed in lists for kernel in listed.split("; ")}


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda path: path.stem)
def test_of_every_optimized_kernel_of_the_gate_an_instance_has_its_traffic_accepted(baseline: Path) -> None:
    words = (ROOT / "kernels" / baseline.stem / "testing/traffic_test.cpp").read_text("utf-8")
    kernels, without = accepted_kernels(baseline), WITHOUT.get(baseline.stem, {}).keys()
    assert kernels
    assert {kernel for kernel in kernels if not re.search(rf'"{kernel}[<"]', words)} == without
