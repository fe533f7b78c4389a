# SPDX-License-Identifier: Apache-2.0
"""How much a workload takes that is written from nothing, by that of cmake/example/; example.py builds and runs it."""

import subprocess
import sys
from pathlib import Path

import example
import pytest
import scratch_tree

ROOT = Path(__file__).resolve().parents[1]
TOY = sorted(file for file in (ROOT / "cmake/example").rglob("*") if file.is_file())
NAMES = {str(file.relative_to(ROOT / "cmake/example")) for file in TOY}


def lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def test_a_workload_takes_at_most_twelve_files_and_350_lines() -> None:
    assert len(TOY) <= 12
    assert sum(len(lines(file)) for file in TOY) <= 350


def test_it_lies_in_two_folders_and_one_policy() -> None:
    elsewhere = {name for name in NAMES if not name.startswith(("kernels/heat/", "suites/heat/"))}
    assert elsewhere == {"baselines/policy/heat.json"}


def test_of_the_tree_it_edits_two_lines_and_its_includes_run_downwards(tmp_path: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("the tree's files are those that git lists, and this is no checkout")
    example.lay_out(ROOT, tmp_path)
    laid = {str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*") if file.is_file() and ".venv" not in file.parts}
    assert NAMES <= laid
    for name in laid - NAMES:
        if name in example.EDITED:
            assert lines(tmp_path / name) == [*lines(ROOT / name), example.LINE.strip()]
        else:
            assert (tmp_path / name).read_bytes() == (ROOT / name).read_bytes()
    done = subprocess.run([sys.executable, "cmake/layers.py", "."], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "every include runs downwards\n"


def test_the_launch_that_is_planted_is_there_to_be_doubled() -> None:
    assert (ROOT / "cmake/example" / example.LAUNCHER).read_text("utf-8").count(example.LAUNCH) == 1


def test_the_scratch_build_is_configured_as_the_build_is() -> None:
    cache = ("// The build\nCMAKE_BUILD_TYPE:STRING=Release\nCMAKE_LINKER:FILEPATH=/usr/bin/ld\n"
             "HOLDFAST_REQUIRE:STRING=host;cuda-dry:sm_90\nHOLDFAST_STORE:PATH=/build/history\nHOLDFAST_CCACHE-ADVANCED:INTERNAL=1\n"
             "CMAKE_GENERATOR:INTERNAL=Ninja\n")
    assert scratch_tree.settings(cache) == ["-DCMAKE_BUILD_TYPE=Release", "-DHOLDFAST_REQUIRE=host;cuda-dry:sm_90", "-GNinja"]


def test_calm_results_show_nothing_of_the_machine() -> None:
    def metrics() -> dict:
        return {
            "speedup": {"median": 3.0, "processes": [2.0, 3.0, 4.0], "mad_between": 1.0},
            "time_s": {"median": 1e-3, "processes": [], "mad_between": None},
            "handover_s": {"median": 4e-7, "processes": [4e-7], "mad_between": 0.0},
            "waited_fraction": {"value": 0.4},
            "shared_fraction": {"value": None},
        }

    document = {
        "run": {"processes": 2},
        "quality": {"valid": False},
        "cases": [{"metrics": metrics(), "variants": {"optimized": {"metrics": metrics()}}}],
    }
    example.calm(document)
    assert document["quality"]["valid"]
    case = document["cases"][0]
    for calmed in (case["metrics"], case["variants"]["optimized"]["metrics"]):
        assert calmed["speedup"] == {"median": 3.0, "processes": [3.0, 3.0], "mad_between": 0}
        assert calmed["time_s"]["processes"] == [1e-3, 1e-3]
        assert calmed["handover_s"]["processes"] == [60e-9, 60e-9]
        assert [calmed[name]["value"] for name in ("waited_fraction", "shared_fraction")] == [0, None]
