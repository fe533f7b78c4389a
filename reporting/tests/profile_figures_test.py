# SPDX-License-Identifier: Apache-2.0
"""What is drawn of profiles, by the marks of the figures: rankings, compilations, memory over time."""

from itertools import pairwise
from typing import Any

import profile_builders
import pytest
from builders import STEP
from holdfast_report import bars, compiles, components
from holdfast_report.bars import APART, HAIR, WIDTH, Bar, Stack, bar_chart, stack_chart
from holdfast_report.drawing import width_of
from holdfast_report.profiles import Memory, Profile
from holdfast_report.sketch import Words, svg
from holdfast_report.timeline import (
    BOTTOM,
    COLUMNS,
    OTHERS,
    TOP,
    bytes_at_peak,
    colour_of,
    course,
    panel,
    plane_of,
    tick_labels,
)
from profile_builders import compilation, memory, op, scope, timeline
from sketch_reader import areas, dots, lines, texts, width


def parsed(document: dict[str, Any]) -> Profile:
    return Profile.model_validate(document)


def remembered(changes: list[tuple[str, int]], **more: Any) -> Memory:
    return Memory.model_validate(memory() | {"timeline": timeline(changes)} | more)


# ---- component ranking ----


def test_operations_are_ranked_by_their_mean_share_over_the_cases_of_a_family() -> None:
    def case(size: int, first: float) -> Profile:
        ops = [op("project", 1, 1 - first, 1.0), op("stage", 1, first, 1.0)]
        return parsed(profile_builders.gpu(STEP.replace("48", str(size)), ops=ops))

    (ranking,) = components.rankings([case(48, 0.9), case(96, 0.7)])
    assert (ranking.family, ranking.cases, ranking.basis) == ("rk4_step", 2, "device time")
    assert [bar.name for bar in ranking.bars] == ["stage", "project"]
    assert ranking.bars[0].value == pytest.approx(0.8)
    assert ranking.bars[0].dots == pytest.approx((0.9, 0.7))


def test_the_chart_of_a_ranking_has_a_bar_as_long_as_each_share() -> None:
    (ranking,) = components.rankings([parsed(profile_builders.gpu())])
    sketch = bar_chart(ranking.bars, "shares", unit_line=1.0)
    (bars,) = areas(sketch, "optimized")
    ((whole, _), *_) = lines(sketch, "ink")[-1].strokes
    assert [width(one) / whole[0] for one in bars.outlines] == pytest.approx([0.9, 0.1])


def test_a_part_that_a_case_lacks_counts_as_nothing_there() -> None:
    alone = profile_builders.gpu(ops=[op("stage", 4, 1.0, 1.0)])
    (ranking,) = components.rankings([parsed(alone), parsed(profile_builders.gpu())])
    assert sum(bar.value for bar in ranking.bars) == pytest.approx(1.0)
    assert {bar.name: bar.dots for bar in ranking.bars}["project<double>"] == pytest.approx((0.1,))


def test_a_host_is_ranked_by_the_own_time_of_its_scopes() -> None:
    (ranking,) = components.rankings([parsed(profile_builders.host())])
    assert ranking.basis == "own time"
    assert {bar.name: bar.value for bar in ranking.bars} == pytest.approx(
        {"rhs": 3.5 / 6, "rk4_step": 1 / 6, "project": 1 / 6, "sat": 0.5 / 6}
    )


def test_what_was_not_timed_is_ranked_by_its_calls_and_says_so() -> None:
    (ranking,) = components.rankings([parsed(profile_builders.dry())])
    assert ranking.basis == components.UNTIMED
    assert [bar.value for bar in ranking.bars] == pytest.approx([0.8, 0.2])


def test_a_family_of_a_single_part_has_no_ranking() -> None:
    alone = profile_builders.gpu(ops=[op("stage", 4, 1.0, 1.0)])
    assert components.rankings([parsed(alone)]) == []


def test_families_and_variants_are_ranked_apart() -> None:
    cases = [
        (STEP, "optimized"), (STEP, "reference"), (STEP.replace("rk4_step", "rhs"), "optimized"),
    ]
    found = components.rankings([parsed(profile_builders.gpu(*case)) for case in cases])
    assert {(one.family, one.variant) for one in found} == {
        ("rk4_step", "optimized"), ("rk4_step", "reference"), ("rhs", "optimized"),
    }


def test_scopes_of_one_name_are_one_component() -> None:
    scopes = [scope("step", 0.004, 0.0), scope("step/a/sat", 0.001, 0.001)]
    scopes += [scope("step/a", 0.002, 0.001), scope("step/sat", 0.002, 0.002)]
    (ranking,) = components.rankings([parsed(profile_builders.host(scopes=scopes))])
    assert {bar.name: bar.value for bar in ranking.bars} == pytest.approx({"sat": 0.75, "a": 0.25})


# ---- compilations ----


def compiled(*ones: dict[str, Any]) -> list[compiles.Compilation]:
    return compiles.compilations([parsed(profile_builders.dry(compiles=list(ones)))])


def test_one_program_and_reason_is_one_row_however_many_cases_ask() -> None:
    profiles = [
        parsed(profile_builders.dry(STEP.replace("48", str(size)), compiles=[compilation(**more)]))
        for size, more in ((48, {}), (96, {"compile_s": 0.5}))
    ]
    (found,) = compiles.compilations(profiles)
    assert (found.times, found.cases) == (2, 2)
    assert found.seconds == pytest.approx(0.901)


def test_a_steady_compilation_comes_first_in_the_colour_of_an_alarm_and_says_so() -> None:
    late = compilation(reason="constant n: 48 -> 49", steady=True, lower_s=0.01, compile_s=0.01)
    stacks = compiles.stacks(compiled(compilation(), late))
    assert stacks[0].alarm
    assert "STEADY" in stacks[0].text
    assert "constant n: 48 -> 49" in stacks[0].note
    drawn = areas(stack_chart(stacks, compiles.STAGES, "stages"))
    assert [area.role for area in drawn[:4]] == ["bad"] * 4
    assert "bad" not in [area.role for area in drawn[4:]]


def test_what_differs_in_when_or_whence_is_another_compilation_and_times_are_not_cases() -> None:
    found = compiled(
        compilation(), compilation(), compilation(steady=True), compilation(from_cache=True), compilation(reason="n: 1 -> 2"),
    )
    assert sorted((one.times, one.cases) for one in found) == [(1, 1), (1, 1), (1, 1), (2, 1)]
    table = compiles.table(found)
    assert table.rows[0][2] == "STEADY", "what steady steps compiled comes first"
    assert {row[2] for row in table.rows} == {"STEADY", "cached", "warm-up"}
    assert {row[-2:] for row in table.rows} == {("2", "1"), ("1", "1")}


def test_a_program_from_the_cache_is_marked_and_pale() -> None:
    (stack,) = compiles.stacks(compiled(compilation(from_cache=True)))
    assert stack.text.startswith("cached")
    drawn = areas(stack_chart([stack], compiles.STAGES, "stages"))[: len(stack.parts)]
    assert all(area.alpha < 0.5 for area in drawn)


def test_the_parts_of_a_stack_are_the_stages_one_after_the_other() -> None:
    stacks = compiles.stacks(compiled(compilation()))
    drawn = areas(stack_chart(stacks, compiles.STAGES, "stages"))[:4]
    starts = [area.outlines[0][0][0] * 0.701 / WIDTH for area in drawn]
    assert starts == pytest.approx([0, 0.001, 0.401, 0.701])
    lengths = [(width(area.outlines[0]) + HAIR) * 0.701 / WIDTH for area in drawn]
    assert lengths[1:3] == pytest.approx([0.4, 0.3])


# ---- memory over time ----


def test_memory_is_drawn_as_steps_with_the_peak_marked() -> None:
    found = course(Memory.model_validate(memory()))
    assert found is not None
    assert found.peak == (3, pytest.approx(0.03), 1_177_856.0)
    sketch = panel("a case", found)
    ((total,),) = [line.strokes for line in lines(sketch, "ink")]
    plane = plane_of(found.events[-1] + 1, found.peak[2])
    levels = [340992, 490992, 831984, 1177856]
    assert [y for _, y in total][0:8:2] == pytest.approx([plane.y(held) for held in levels])
    assert all(a[0] == b[0] or a[1] == b[1] for a, b in pairwise(total)), "level or upright"
    (peak,) = areas(sketch, "bad")
    assert plane.y(1177856) == pytest.approx(peak.outlines[0][2][1], abs=3)
    assert plane.x(3.5) == pytest.approx(peak.outlines[0][2][0]), "in the middle of the event that brought it"
    assert {"0.5 MB", "1 MB"} <= set(texts(sketch))
    assert "peak 1.18 MB" in texts(sketch)


def test_a_burst_of_allocations_is_drawn_apart_above_its_times() -> None:
    points = timeline([("a", 100), ("b", 50), ("a", 100)])
    for point, seconds in zip(points, (0.5, 0.500001, 0.500002), strict=True):
        point["s"] = seconds
    found = course(Memory.model_validate(memory() | {"timeline": points}))
    assert found is not None
    sketch = panel("a case", found)
    ((total,),) = [line.strokes for line in lines(sketch, "ink")]
    xs = sorted({x for x, _ in total})
    assert [after - before for before, after in pairwise(xs)] == pytest.approx([196 / 3] * 3)
    assert "500 ms" in texts(sketch)


def test_times_below_a_timeline_never_touch() -> None:
    found = course(remembered([("a", 10)] * 41))
    assert found is not None
    words = [mark for mark in panel("a case", found).marks if isinstance(mark, Words)]
    places = [mark.at[0] for mark in words if mark.at[1] > BOTTOM]
    assert 2 <= len(places) <= 4
    assert min(after - before for before, after in pairwise(places)) >= 45


def test_layers_by_site_add_up_to_the_live_bytes() -> None:
    found = course(Memory.model_validate(memory()))
    assert found is not None
    assert list(found.layers) == ["state", "stage work", "operators"]
    summed = [sum(column) for column in zip(*found.layers.values(), strict=True)]
    assert summed == found.total


def test_a_timeline_with_points_left_out_has_no_layers_that_could_lie() -> None:
    points = timeline([("a", 100), ("b", 50), ("a", 100), ("b", -50)])
    thinned = Memory.model_validate(memory() | {"timeline": [points[0], points[2], points[3]]})
    found = course(thinned)
    assert found is not None
    assert found.layers == {}
    assert found.total == [100, 250, 200]


def test_a_long_timeline_is_drawn_with_few_points_and_keeps_its_peak() -> None:
    changes = [("a", 10), ("a", -10)] * 900
    changes[700:700] = [("a", 5000), ("a", -5000)]
    found = course(remembered(changes, peak_by_site={"a": 5000}))
    assert found is not None
    assert len(found.total) <= 2 * (COLUMNS + 1) + 1
    assert max(found.total) == found.peak[2] == 5000


def test_the_longest_timeline_weighs_little_on_the_page() -> None:
    sites = "abcdefgh"
    changes = [(sites[k % 8], 1000 + 37 * (k % 11)) for k in range(1000)]
    changes += [(site, -held) for site, held in reversed(changes)]
    found = course(remembered(changes, peak_by_site=dict.fromkeys(sites, 150_000)))
    assert found is not None
    assert len(found.layers) == 5
    assert len(svg(panel("a case", found))) < 9_000


def test_sites_without_a_colour_of_their_own_share_one() -> None:
    sites = {name: 100 - index for index, name in enumerate("abcdef")}
    found = course(remembered(list(sites.items()), peak_by_site=sites))
    assert found is not None
    assert list(found.layers) == ["a", "b", "c", "d", OTHERS]
    colours = [colour_of(site, list(found.layers)) for site in sites]
    assert colours == ["stage-1", "stage-2", "stage-3", "stage-4", "reference", "reference"]


def test_an_estimate_is_a_line_within_the_axes() -> None:
    found = course(Memory.model_validate(memory()))
    assert found is not None
    sketch = panel("a case", found, estimate=3 * 2.0**20)
    ((stroke,),) = [line.strokes for line in lines(sketch, "good")]
    assert stroke == plane_of(found.events[-1] + 1, 3 * 2.0**20).level(3 * 2.0**20)
    assert TOP < stroke[0][1] < BOTTOM


def test_a_variant_that_holds_no_memory_has_no_timeline() -> None:
    assert course(remembered([])) is None


def test_what_no_site_claims_at_the_peak_is_shown() -> None:
    claimed = Memory.model_validate(memory() | {"peak_by_site": {"state": 1_177_000}})
    assert bytes_at_peak(claimed) == [("state", 1_177_000), ("no site", 856)]


def times_of(seconds: list[float]) -> list[str]:
    points = timeline([("a", 10)] * len(seconds))
    points = [point | {"s": at} for point, at in zip(points, seconds, strict=True)]
    found = course(Memory.model_validate(memory() | {"timeline": points}))
    assert found is not None
    return list(tick_labels(found).values())


def test_times_that_would_read_the_same_count_from_the_first() -> None:
    near = [0.0485 + 1e-5 * k for k in range(12)]
    assert times_of(near) == ["48.5 ms", "+30.0 \u00b5s", "+60.0 \u00b5s", "+90.0 \u00b5s"]
    assert times_of([0.01 * (k + 1) for k in range(12)]) == ["10 ms", "40 ms", "70 ms", "100 ms"]


@pytest.mark.parametrize("letter", ["m", "w", "i", "_"])
def test_a_name_never_runs_into_its_value(letter: str) -> None:
    name = f"forward_{letter * 80}/docs:0/bf16"
    bars = bar_chart([Bar(name, 1.0, "optimized 1.46 s")], "bars")
    stacks = stack_chart([Stack(name, (1.0,), "optimized 1.46 s")], ["only"], "stacks")
    for sketch in (bars, stacks):
        shown, value = [mark for mark in sketch.marks if isinstance(mark, Words)][:2]
        assert shown.said.startswith("forward_") and shown.said.endswith("16")
        ends = width_of(shown.said, shown.size)
        assert ends + APART <= WIDTH - width_of(value.said, value.size)
        assert ends > 0.6 * WIDTH, "it fills the row"


def test_bars_begin_at_the_left_and_their_dots_and_bounds_lie_where_their_values_are() -> None:
    rows = [Bar("a", 2.0, "2", "bad", (1.0, 3.0), bound=8.0), Bar("b", 4.0, "4", "reference", (4.0,))]
    sketch = bar_chart(rows, "bars", unit_line=1.0)
    reach = 8.0 * 1.01

    def at(x: float) -> float:
        return x / WIDTH * reach

    for bar in rows:
        (area,) = areas(sketch, bar.role)
        assert at(area.outlines[0][0][0]) == 0
        assert at(width(area.outlines[0])) == pytest.approx(bar.value)
    (whole,) = areas(sketch, "rule")
    assert [width(one) for one in whole.outlines] == pytest.approx([WIDTH] * 2)
    (bound,) = lines(sketch, "bad")
    assert [at(x) for x, _ in bound.strokes[0]] == pytest.approx([8.0, 8.0])
    spread, ones = lines(sketch, "ink")
    assert [at(x) for x, _ in spread.strokes[0]] == pytest.approx([1.0, 3.0]), "of one process there is none"
    assert [at(x) for stroke in ones.strokes for x, _ in stroke] == pytest.approx([1.0] * 4)
    hollow = dots(sketch, "paper")
    assert [at(x) for mark in hollow for x, _ in mark.at] == pytest.approx([1.0, 3.0])


def test_what_alarms_is_named_in_the_colour_of_an_alarm() -> None:
    stacks = [Stack("late", (1.0,), "STEADY", alarm=True), Stack("soon", (1.0,), "warm-up")]
    names = {mark.said: mark.role for mark in stack_chart(stacks, ["only"], "stacks").marks if isinstance(mark, Words)}
    assert (names["late"], names["soon"]) == ("bad", "ink")


def test_a_name_of_any_length_is_shortened_in_a_few_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[str] = []

    def counted(text: str, size: float) -> float:
        looks.append(text)
        return width_of(text, size)

    monkeypatch.setattr(bars, "width_of", counted)
    name, room = "planted" * 1000, 300.0
    shown = bars.shortened(name, room)
    half = (len(shown) - 1) // 2
    assert shown == f"{name[:half]}…{name[-half:]}"
    assert width_of(shown, bars.TEXT) <= room
    assert width_of(f"{name[: half + 1]}…{name[-half - 1 :]}", bars.TEXT) > room
    assert len(looks) < 20
