# SPDX-License-Identifier: Apache-2.0
"""What the page says of one part in numbers: first calls, launches, parts of a step."""

from typing import Any

import builders
import pytest
from builders import DRY, STEP, Workplace
from holdfast_report.documents import Results
from holdfast_report.root import Part
from holdfast_report.tables import (
    COMPILING,
    STAGES,
    kernels,
    listed,
    stage_table,
    stages,
)
from page_reader import drawn

LONGER = "A part is timed by itself"


def part_of(cases: list[dict[str, Any]]) -> Part:
    return Part(Results.model_validate(builders.results(DRY, "cuda-dry:sm_90", cases)), None)


def called(**seconds: float) -> Part:
    """A case whose first call took so long."""
    variant = builders.dry_variant(4, 1024, [])
    variant["metrics"] |= {
        name: {"kind": "advisory", "value": value} for name, value in seconds.items()
    }
    return part_of([builders.case(STEP, False, {"optimized": variant}, {})])


def test_a_bar_of_compile_stages_is_as_long_as_the_first_call_that_holds_them() -> None:
    times = {"trace_s": 0.001, "lower_s": 0.354, "compile_s": 0.295, "load_s": 0.0}
    (stack,) = stages(called(**times, first_call_s=0.66))
    assert stack.text == "optimized 660 ms"
    assert sum(stack.parts) == pytest.approx(0.66)
    rest = dict(zip(STAGES, stack.parts, strict=True))["the rest"]
    assert rest == pytest.approx(0.01)


@pytest.mark.parametrize("whole", [0.0, 0.3])
def test_stages_that_outlast_the_first_call_leave_no_rest(whole: float) -> None:
    times = {"trace_s": 0.0, "lower_s": 0.2, "compile_s": 0.2, "load_s": 0.0}
    (stack,) = stages(called(**times, first_call_s=whole))
    assert stack.parts == (0.0, 0.2, 0.2, 0.0, 0.0)


def test_a_first_call_of_which_no_stage_is_known_is_all_rest() -> None:
    times = dict.fromkeys(COMPILING.values(), 0.0)
    (stack,) = stages(called(**times, first_call_s=0.3))
    assert stack.parts == (0.0, 0.0, 0.0, 0.0, 0.3)


def test_the_table_has_the_first_call_whole() -> None:
    (row,) = stage_table(called(lower_s=0.2, first_call_s=0.66)).rows
    assert row[-1] == "660 ms" and row[4] == "200 ms"


def test_the_stages_of_what_the_other_rooms_write_fit_into_their_first_call() -> None:
    metrics = builders.dry_variant(1, 1, [])["metrics"]
    compiling = sum(metrics[name]["value"] for name in COMPILING.values())
    assert compiling < metrics["first_call_s"]["value"]


def test_a_few_counts_are_listed_and_of_many_the_ends() -> None:
    assert listed([16, 2, 256, 2]) == "2, 16, 256"
    assert listed(range(287)) == "0 \u2026 286"


def test_launches_of_a_kernel_in_many_cases_are_a_short_cell() -> None:
    cases = []
    for size in range(40):
        variant = builders.dry_variant(1, 1024, [builders.kernel("stage", 1000 + 37 * size)])
        case = STEP.replace("48", str(size))
        cases.append(builders.case(case, False, {"optimized": variant}, {}))
    table = kernels(part_of(cases))
    (row,) = table.rows
    assert row[table.head.index("launches per step")] == "1,000 \u2026 2,443"


@pytest.mark.parametrize("share", [0.98, 1.63])
def test_the_page_says_how_a_part_takes_longer_than_its_step_where_one_does(
    workplace: Workplace, share: float
) -> None:
    document = builders.host_results()
    document["cases"][0]["derived"]["rhs_share"]["value"] = share
    workplace.measure(builders.HOST, document)
    words = drawn(workplace).words
    assert (LONGER in words) is (share > 1)
    assert ("runs on one, while the step runs on all" in words) is (share > 1)
