# SPDX-License-Identifier: Apache-2.0
"""In each test that this build registers for a suite, the `--timeout` of a case is less than the TIMEOUT of the test; and each suite limits its compilations."""

import json
import os
import re
from pathlib import Path

import pytest

POLICY = Path(__file__).resolve().parents[1] / "baselines" / "policy"
BUILD = Path(os.environ.get("HOLDFAST_BUILD", Path(__file__).resolve().parents[1] / "build" / "release"))
CASE = re.compile(r'^add_test\(\[=\[(.+?)\]=\].* "--timeout=(\d+)"', re.MULTILINE)
TEST = re.compile(r'^set_tests_properties\(\[=\[(.+?)\]=\] .* TIMEOUT "(\d+)"', re.MULTILINE)


def limits(pattern: re.Pattern[str]) -> dict[str, int]:
    files = BUILD.glob("suites/*/CTestTestfile.cmake")
    return {name: int(seconds) for file in files for name, seconds in pattern.findall(file.read_text("utf-8"))}


def test_a_case_is_ended_before_the_test_that_measures_it() -> None:
    if not (BUILD / "CTestTestfile.cmake").exists():
        pytest.skip("nothing is configured")
    cases, tests = limits(CASE), limits(TEST)
    assert cases
    assert {name: (limit, tests[name]) for name, limit in cases.items() if limit >= tests[name]} == {}


def without_comments(policy: Path) -> str:
    return re.sub(r"^\s*//.*$", "", policy.read_text("utf-8"), flags=re.MULTILINE)


@pytest.mark.parametrize("policy", sorted(p for p in POLICY.glob("*.json") if p.stem != "common"), ids=lambda path: path.stem)
def test_seconds_of_compilation_that_no_busy_machine_explains_block(policy: Path) -> None:
    """A warning alone would let a program of twenty seconds pass."""
    bounds = [rule for rule in json.loads(without_comments(policy))["rules"]
              if rule.get("metric") in ("lower_s+compile_s", "slowest_program_s")
              and "max" in rule.get("bound", {}) and rule.get("device", "cuda-dry-*").startswith("cuda-dry")]
    assert [rule for rule in bounds if rule.get("gate", "block") == "block"]
