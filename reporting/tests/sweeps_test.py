# SPDX-License-Identifier: Apache-2.0
import copy
from typing import Any

import builders
import pytest
from builders import Workplace
from holdfast_report.curves import panel, ticked
from holdfast_report.documents import Results
from holdfast_report.drawing import PAPER, Pen
from holdfast_report.root import Part
from holdfast_report.sweeps import choices, curves, said, taken_apart
from page_reader import drawn


def host_case(id: str, seconds: float, peak: int = 1024) -> dict[str, Any]:
    return builders.case(id, True, {"optimized": builders.host_variant([seconds], peak, 0.5)}, {})


def part_of(cases: list[dict[str, Any]]) -> Part:
    results = Results.model_validate(builders.results(builders.HOST, "host", cases))
    return Part(results, None)


def algorithms(size: str, **seconds: float) -> list[dict[str, Any]]:
    return [
        host_case(f"toy/decode/algo:{algo}/size:{size}/f32", time) for algo, time in seconds.items()
    ]


def test_a_case_id_is_taken_apart_with_its_dtype_as_an_axis() -> None:
    name = taken_apart("toy/compile/matrix/size:tiny/n:3/f32")
    assert name.family == "compile/matrix"
    assert name.axes == {"size": "tiny", "n": "3", "dtype": "f32"}
    assert name.without("n") == "compile/matrix/size:tiny/f32"


def test_three_points_along_a_number_are_a_curve_in_ascending_order() -> None:
    part = part_of([host_case(f"toy/step/n:{n}/f64", 1e-3 * n) for n in (96, 24, 48)])
    (curve,) = curves(part)
    assert (curve.axis, curve.rest, curve.metric) == ("n", "step/f64", "time_s")
    assert said(curve) == "optimized 24: 24 ms, 48: 48 ms, 96: 96 ms"


def test_two_points_or_points_of_different_families_are_no_curve() -> None:
    two = [host_case(f"toy/step/n:{n}/f64", 1e-3 * n) for n in (24, 48)]
    other = host_case("toy/other/n:96/f64", 1e-3)
    assert curves(part_of([*two, other])) == []


@pytest.mark.parametrize("word", ["inf", "nan", "infinity", "1_0", "1e999"])
def test_a_word_that_python_takes_for_a_number_names_a_way(word: str) -> None:
    part = part_of([host_case(f"toy/step/cap:{cap}/f64", 1e-3 * at) for at, cap in enumerate(("1", "2", word), start=1)])
    assert curves(part) == []
    ((axis, table),) = choices(part)
    assert axis == "cap"
    assert [row[1] for row in table.rows] == ["1", "2", word]


def test_a_value_that_never_moves_is_no_curve() -> None:
    cases = [
        builders.case(f"toy/a/n:{n}/f64", False, {"optimized": builders.dry_variant(1, 64, [])}, {})
        for n in (1, 2, 3)
    ]
    assert curves(part_of(cases)) == []


def test_the_values_below_a_curve_never_touch() -> None:
    near = [48.0, *(1000.0 + k for k in range(40))]
    assert ticked(near) == [48, 1039]
    assert ticked([24, 48, 96]) == [24, 48, 96]
    assert ticked([float(k) for k in range(1, 10)])[-1] == 9
    assert ticked([7.0]) == [7]


def test_the_ticks_of_a_curve_say_where_they_are() -> None:
    case = builders.host_results()["cases"][0]
    cases = [copy.deepcopy(case) | {"id": f"toy/step/n:{n}/f64"} for n in (24, 48, 96)]
    for at, one in enumerate(cases):
        for variant in one["variants"].values():
            variant["metrics"]["time_s"]["median"] = 5.84e-3 * 11**at
    (curve,) = curves(part_of(cases))
    (axes,) = panel("", curve, Pen(PAPER)).figure.axes
    scale = {"s": 1.0, "ms": 1e-3}
    told = [label.get_text().split(" ") for label in axes.get_yticklabels()]
    assert len(told) == 4
    assert [float(number) * scale[unit] for number, unit in told] == pytest.approx(list(axes.get_yticks()), rel=5e-3)


def test_the_reference_of_a_curve_is_hollow() -> None:
    case = builders.host_results()["cases"][0]
    ids = [f"toy/step/n:{n}/f64" for n in (24, 48, 96)]
    cases = [copy.deepcopy(case) | {"id": id} for id in ids]
    for at, one in enumerate(cases):
        for variant in one["variants"].values():
            variant["metrics"]["time_s"]["median"] *= 1 + at
    (curve,) = curves(part_of(cases))
    (axes,) = panel("", curve, Pen(PAPER)).figure.axes
    inside = [line.get_markerfacecolor() for line in axes.get_lines()]
    assert inside == [PAPER["paper"], PAPER["optimized"]], "the reference is drawn first"


@pytest.mark.parametrize(("sizes", "seconds", "scales"), [
    ((24, 48, 96), (1.0, 1.1, 1.2), ("linear", "linear")),
    ((24, 48, 192), (1.0, 1.1, 1.2), ("log", "linear")),
    ((24, 48, 96), (1.0, 2.0, 9.0), ("linear", "log")),
    ((1, 100, 10_000), (1e-6, 1e-3, 1.0), ("log", "log")),
])
def test_an_axis_is_logarithmic_where_its_own_values_span_much(
    sizes: tuple[int, ...], seconds: tuple[float, ...], scales: tuple[str, str]
) -> None:
    cases = [host_case(f"toy/step/n:{n}/f64", time) for n, time in zip(sizes, seconds, strict=True)]
    (curve,) = curves(part_of(cases))
    (axes,) = panel("", curve, Pen(PAPER)).figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == scales
    assert axes.get_xlabel() == "n"
    (drawn_line,) = axes.get_lines()
    assert [tuple(one) for one in drawn_line.get_xydata()] == list(zip(sizes, seconds, strict=True))
    low, high = axes.get_ylim()
    assert low == 0 or scales[1] == "log", "so that a length is a time"
    assert low < min(seconds) and max(seconds) < high


def test_a_curve_is_of_seconds_and_of_bytes_where_nothing_was_timed() -> None:
    sizes = (24, 48, 96)
    timed = [host_case(f"toy/step/n:{n}/f64", 1e-3 * n, 100 * n) for n in sizes]
    counted = [
        builders.case(f"toy/a/n:{n}/f64", False, {"optimized": builders.dry_variant(1, 64 * n, [])}, {}) for n in sizes
    ]
    assert [(one.metric, one.unit) for one in curves(part_of(timed))] == [("time_s", "s")]
    assert [(one.metric, one.unit) for one in curves(part_of(counted))] == [("peak_bytes", "B")]


def test_who_chooses_is_told_the_times_of_the_optimized_variant() -> None:
    cases = algorithms("tiny", linear=1e-3, fused=2e-3)
    for case, seconds in zip(cases, (5e-3, 1e-3), strict=True):
        case["variants"]["reference"] = builders.host_variant([seconds], 1024, 0.5)
    assert [row[1:3] for row in dict(choices(part_of(cases)))["algo"].rows] == [("linear", "1 ms"), ("fused", "2 ms")]


def test_a_choice_begins_with_the_fastest_way_for_each_size() -> None:
    part = part_of(
        algorithms("tiny", linear=1e-3, fused=2e-3) + algorithms("large", linear=8e-3, fused=2e-3)
    )
    table = dict(choices(part))["algo"]
    assert table.head == ("cases", "algo", "step", "compared")
    assert table.rows == [
        ("decode/size:tiny/f32", "linear", "1 ms", "fastest"),
        ("", "fused", "2 ms", "2\u00d7"),
        ("decode/size:large/f32", "fused", "2 ms", "fastest"),
        ("", "linear", "8 ms", "4\u00d7"),
    ]


def test_nobody_chooses_among_inputs() -> None:
    part = part_of(algorithms("tiny", fused=1e-3) + algorithms("large", fused=2e-3))
    assert choices(part) == []


DIFFERENT_WORK = {
    "pass": ("fwd", "bwd"), "psf": ("gaussian", "moffat"), "mode": ("static", "laminar"),
    "opt": ("adamw", "muon"), "op": ("dcv", "pvc"), "loss": ("linear", "soft_l1"),
    "diag": ("none", "device"), "model": ("tiny", "small"), "source": ("gen", "host"),
}


@pytest.mark.parametrize("axis", DIFFERENT_WORK)
def test_different_work_is_not_ranked(axis: str) -> None:
    cases = [
        host_case(f"toy/step/{axis}:{value}/f32", 1e-3 * (1 + at))
        for at, value in enumerate(DIFFERENT_WORK[axis])
    ]
    assert choices(part_of(cases)) == []


def test_ways_within_five_percent_are_as_fast() -> None:
    part = part_of(algorithms("tiny", linear=1e-3, fused=1.04e-3, lse=1.06e-3))
    rows = dict(choices(part))["algo"].rows
    assert [row[3] for row in rows] == ["fastest", "as fast", "1.06\u00d7"]


def test_curves_over_many_points_come_first(workplace: Workplace) -> None:
    sizes = {"few": (24, 48, 96), "many": (24, 48, 96, 192, 384), "some": (24, 48, 96, 192)}
    cases = [host_case(f"toy/{name}/n:{n}/f64", 1e-3 * n) for name, known in sizes.items() for n in known]
    workplace.measure(builders.HOST, builders.results(builders.HOST, "host", cases))
    alts = [alt or "" for alt in drawn(workplace).figures]
    assert [alt.split(", ")[1].split(":")[0] for alt in alts if "time_s along n" in alt] == ["many/f64", "some/f64", "few/f64"]


def test_the_page_shows_sweeps_and_choices(workplace: Workplace) -> None:
    cases = algorithms("tiny", linear=1e-3, fused=2e-3)
    cases += [host_case(f"toy/step/n:{n}/f64", 1e-3 * n) for n in (96, 24, 48)]
    workplace.measure(builders.HOST, builders.results(builders.HOST, "host", cases))
    reader = drawn(workplace)
    assert "which one to use when" in reader.words
    assert any("time_s along n: optimized 24: 24 ms" in (said or "") for said in reader.figures)
