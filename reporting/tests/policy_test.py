# SPDX-License-Identifier: Apache-2.0
"""Which bound of the policy the page draws beside a value: the last that covers it, as the gate has it."""

from pathlib import Path
from typing import Any

import builders
import pytest
from holdfast_report import Problem
from holdfast_report.policy import Bound, bound_for, read_bounds

CASE = "toy/step/n:48/f64"


def rule(least: float, match: str = "**", **more: Any) -> dict[str, Any]:
    return {"match": match, "metric": "speedup", "bound": {"min": least, "source": "here"}} | more


def bounds(folder: Path, *rules: dict[str, Any], name: str = "toy.json") -> list[Bound]:
    builders.put(folder / name, {"schema": "holdfast-policy/1", "rules": list(rules)})
    return read_bounds(folder)


def least(found: list[Bound], variant: str = "case", device_class: str = builders.HOST, metric: str = "speedup") -> float | None:
    bound = bound_for(found, CASE, device_class, variant, metric)
    return bound.least if bound else None


def test_the_last_bound_that_covers_a_value_is_its_own(tmp_path: Path) -> None:
    assert least(bounds(tmp_path, rule(1), rule(2))) == 2
    assert least(bounds(tmp_path, rule(2), rule(1))) == 1


def test_bounds_of_a_suite_follow_those_of_all(tmp_path: Path) -> None:
    bounds(tmp_path, rule(1), name="common.json")
    assert least(bounds(tmp_path, rule(2), name="a.json")) == 2


def test_a_bound_is_of_its_device_variant_and_metric_alone(tmp_path: Path) -> None:
    found = bounds(tmp_path, rule(1, device="host-*"), rule(2, device="cuda-*"))
    assert (least(found), least(found, device_class=builders.DRY)) == (1, 2)
    found = bounds(tmp_path, rule(1), rule(2, variant="reference"))
    assert (least(found), least(found, "reference")) == (1, 2)
    assert least(found, metric="time_s") is None


@pytest.mark.parametrize("policy", ['{"schema": "holdfast-policy/2", "rules": []}', "[]", '{"schema": "holdfast-policy/1", "rules": [{"bound": {}}]}'])
def test_what_is_no_policy_is_refused_by_its_file(tmp_path: Path, policy: str) -> None:
    builders.put(tmp_path / "toy.json", policy)
    with pytest.raises(Problem, match=r"toy\.json: "):
        read_bounds(tmp_path)
