# SPDX-License-Identifier: Apache-2.0
"""What the page says of one part in numbers: first calls, launches, parts of a step."""

from pathlib import Path
from typing import Any

import builders
import pytest
from builders import DRY, STEP, Workplace
from holdfast_report import tables
from holdfast_report.documents import Results
from holdfast_report.policy import Bound
from holdfast_report.root import Part, Root
from holdfast_report.tables import (
    COMPILING,
    STAGES,
    kernels,
    listed,
    stage_table,
    stages,
)
from holdfast_report.units import share
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


def host_part() -> Part:
    return Part(Results.model_validate(builders.host_results()), None)


def test_a_speedup_is_red_below_its_bound_and_blue_at_it() -> None:
    part = host_part()
    for least, role in ((11.9, "optimized"), (12.0, "optimized"), (12.1, "bad")):
        bounds = [Bound("**/n:48/*", "", "", "speedup", least, None, "here")]
        first, second = tables.speedups(Root(Path(), [part], bounds=bounds), part)
        assert (first.role, first.bound, second.role, second.bound) == (role, least, "optimized", None)
        assert first.value == 12.0 and len(first.dots) == 5


def test_the_numbers_of_a_speedup_stand_under_their_names() -> None:
    part = host_part()
    table = tables.speedup_table(part)
    first = dict(zip(table.head, table.rows[0], strict=True))
    spread = part.measured[0].metrics["speedup"].mad_between
    assert spread is not None
    assert first == {
        "case": "rk4_step/n:48/f64", "speedup": "12\u00d7", "spread between processes": f"\u00b1{share(spread / 12)}",
        "processes": "5", "optimized": "600 \u00b5s", "reference": "7.20 ms",
    }
    assert len(table.rows) == 2


def test_parts_of_a_step_are_ranked_and_all_other_readings_are_rows() -> None:
    document = builders.host_results()
    readings = {"rhs_share": 0.2, "halo_share": 0.7, "none_share": None, "loop_speedup": 1.04, "idle": 0.0}
    document["cases"][0]["derived"] = {name: {"kind": "advisory", "value": value} for name, value in readings.items()}
    part = Part(Results.model_validate(document), None)
    assert [(bar.name.split("  ")[1], bar.text) for bar in tables.component_shares(part)] == [("halo", "70 %"), ("rhs", "20 %")]
    assert [row[1:] for row in tables.other_ratios(part).rows] == [("loop_speedup", "1.04"), ("idle", "0")]


def test_launches_of_a_step_are_shared_by_all_of_its_kernels() -> None:
    variant = builders.dry_variant(10, 1024, [builders.kernel(f"kernel_{at}", 2 ** at) for at in range(7)])
    part = part_of([
        builders.case(STEP, False, {"optimized": variant}, {}),
        builders.case(STEP.replace("48", "96"), False, {"optimized": variant}, {}),  # which launches the same
    ])
    bars = tables.launch_shares(part)
    assert [(bar.name.split("  ")[1], bar.text) for bar in bars] == [  # the most frequent six
        (f"kernel_{at}", f"{share(2 ** at / 127)} of 127") for at in (6, 5, 4, 3, 2, 1)
    ]


def test_each_stage_of_a_compilation_stands_under_its_name_and_what_is_far_shorter_has_no_bar() -> None:
    times = {"trace_s": 0.001, "lower_s": 0.2, "compile_s": 0.3, "load_s": 0.004}
    part = called(**times, first_call_s=0.66)
    table = stage_table(part)
    cells = dict(zip(table.head, table.rows[0], strict=True))
    assert [cells[name] for name in COMPILING] == ["1 ms", "200 ms", "300 ms", "4 ms"]
    (stack,) = stages(part)
    assert stack.parts[:4] == (0.001, 0.2, 0.3, 0.004)
    short, long, tiny = (builders.dry_variant(4, 1024, []) for _ in range(3))
    for variant, seconds in ((short, 0.02), (long, 1.0), (tiny, 0.009)):
        variant["metrics"] |= {name: {"kind": "advisory", "value": 0.0} for name in COMPILING.values()}
        variant["metrics"]["first_call_s"] = {"kind": "advisory", "value": seconds}
    cases = [builders.case(f"cubed_sphere_swe/{name}/f64", False, {"optimized": one}, {})
             for name, one in (("short", short), ("long", long), ("tiny", tiny))]
    assert [stack.name for stack in stages(part_of(cases))] == ["short/f64", "long/f64"]
    assert len(stage_table(part_of(cases)).rows) == 3


def test_peaks_of_memory_stand_under_their_names() -> None:
    document = builders.host_results()
    metrics = document["cases"][0]["variants"]["optimized"]["metrics"]
    metrics["formula_peak_bytes"] = {"kind": "exact", "value": 1_000_000}
    part = Part(Results.model_validate(document), None)
    table = tables.memory_table(part)
    assert dict(zip(table.head, table.rows[0], strict=True)) == {
        "case": "rk4_step/n:48/f64", "optimized": "1.18 MB", "reference": "2.90 MB", "formula": "1 MB",
        "reference / optimized": "2.46\u00d7",
    }
    assert [bar.text for bar in tables.memory(part)][:3] == ["optimized 1.18 MB", "reference 2.90 MB", "formula 1 MB"]


@pytest.mark.parametrize("longer", [0.98, 1.63])
def test_the_page_says_how_a_part_takes_longer_than_its_step_where_one_does(
    workplace: Workplace, longer: float
) -> None:
    document = builders.host_results()
    document["cases"][0]["derived"]["rhs_share"]["value"] = longer
    workplace.measure(builders.HOST, document)
    words = drawn(workplace).words
    assert (LONGER in words) is (longer > 1)
    assert ("runs on one, while the step runs on all" in words) is (longer > 1)
