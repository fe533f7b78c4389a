# SPDX-License-Identifier: Apache-2.0
import re
import sys
import tracemalloc
from math import inf
from pathlib import Path

import builders
import numpy as np
import pytest
from builders import HOST, Workplace
from holdfast_report.command import main
from holdfast_report.documents import Entry, Results, Row, Verdict
from holdfast_report.drawing import FONT, PAPER, Pen, width_of
from holdfast_report.history import Series, ask
from holdfast_report.judgement import findings
from holdfast_report.panel import BOTTOM, LEFT, MANY, RIGHT, TOP, panel
from holdfast_report.plots import Progress, lines_of, stem_of
from holdfast_report.root import Part, Root
from holdfast_report.run_line import Past
from holdfast_report.since_when import now_of, since_in, trends_of
from holdfast_report.sketch import Plane, Words, figure_of, path_data, svg
from holdfast_report.trends import Band, band_of, rank, short_commit, worth_a_panel
from matplotlib.colors import to_rgba
from matplotlib.image import imread
from sketch_reader import areas, dots, lines, texts


def series(metric: str, values: list[float], **changes: object) -> Series:
    return Series.model_validate(builders.series(metric, values, **changes))


def plots(workplace: Workplace, *more: str) -> list[str]:
    options = [option for option in workplace.options() if not option.startswith("--results")]
    assert main(["trends", *options, *more]) == 0
    files = sorted(path for path in workplace.out.rglob("*") if path.is_file())
    assert all(path.stat().st_size > 2000 for path in files)
    return [path.name for path in files]


def test_a_history_of_any_length_is_read_one_series_at_a_time(workplace: Workplace) -> None:
    points = builders.series("speedup", [float(k) for k in range(1, 29)])["points"] * 5
    many = [builders.series(f"metric_{number}", [], points=points) for number in range(200)]
    workplace.answer(builders.trend() | {"series": many})
    tracemalloc.start()
    assert sum(len(one.points) for one in ask(str(workplace.holdfast), workplace.store, None)) == 28_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_an_answer_in_one_line_is_read_too(workplace: Workplace) -> None:
    workplace.answer(builders.trend())
    told = builders.trend() | {"series": [builders.series("syncs", []), builders.series("launches", [4.0])]}
    builders.put(workplace.folder / "trend.json", told)
    assert [one.metric for one in ask(str(workplace.holdfast), workplace.store, None)] == ["launches"]


def test_a_killed_command_is_told_rather_than_the_line_that_it_left(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    trend = workplace.folder / "trend.json"
    workplace.holdfast.write_text(f"#!/bin/sh\nhead -c -9 {trend}\nkill -9 $$\n")
    assert main(["trends", *workplace.options()[1:]]) == 2
    assert "ended with signal 9: it said nothing" in capsys.readouterr().err


@pytest.mark.parametrize("lines", [1, 2])
def test_an_answer_without_its_end_is_no_shorter_history(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], lines: int
) -> None:
    trend = workplace.folder / "trend.json"
    workplace.holdfast.write_text(f"#!/bin/sh\nhead -n {lines} {trend}\n")
    assert main(["trends", *workplace.options()[1:]]) == 2
    assert "lacks its end" in capsys.readouterr().err


def test_each_series_that_says_something_gets_an_svg_and_a_png(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = ["case.speedup.png", "case.speedup.svg", "optimized.time_s.png", "optimized.time_s.svg"]
    assert plots(workplace) == drawn
    assert "4 plots of 2 series" in (said := capsys.readouterr().out)
    assert "1 more say nothing new, --all draws them too" in said


def test_a_long_case_stands_above_its_plot_in_letters_that_can_be_read(workplace: Workplace) -> None:
    case = "galaxy_shear/map/fft:128/image:48/batch:1024/psf:gaussian/latents:4/steps:200/launch:persistent/f64"
    workplace.answer(builders.trend() | {"series": [builders.series("speedup", [1.0, 2.0], case=case)]})
    plots(workplace)
    (drawn,) = workplace.out.rglob("*.svg")
    picture = drawn.read_text("utf-8")
    assert min(float(size) for size in re.findall(r"font-size: ([\d.]+)px", picture)) > 7
    assert case in "".join(re.findall(r">([^<\n]+)</text>", picture))


def test_the_lines_above_a_plot_begin_with_the_case_however_long_its_parts_are() -> None:
    assert lines_of("suite" * 20 + "/step") == ["suite" * 20 + "/", "step"]


def test_all_draws_what_stood_still_as_well(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert [name for name in plots(workplace, "--all") if "launches" in name] == [
        "optimized.launches.png", "optimized.launches.svg"
    ]
    assert "more say nothing new" not in capsys.readouterr().out


def test_a_plot_that_cannot_be_written_is_a_sentence_and_leaves_nothing_beside(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    plots(workplace)
    (svg,) = workplace.out.rglob("optimized.time_s.svg")
    svg.unlink()
    svg.mkdir()
    capsys.readouterr()
    assert main(["trends", *workplace.options()[1:]]) == 2
    assert f"{svg} cannot be written (Is a directory); choose another place" in capsys.readouterr().err
    assert not list(workplace.out.rglob("*.new"))


def test_cases_and_metrics_are_chosen_by_the_command_that_knows_their_patterns(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what matches nothing is refused with the command's sentence, before anything is made."""
    workplace.holdfast.write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('nothing matches ' + ' '.join(sys.argv[-2:]))\n"
    )
    arguments = ["trends", f"--store={workplace.store}", f"--holdfast={workplace.holdfast}"]
    arguments += [f"--out={workplace.out}", "--case=toy/**", "--metric=time*"]
    assert main(arguments) == 2
    assert "exit 1: nothing matches --case=toy/** --metric=time*" in capsys.readouterr().err
    assert not workplace.out.exists()


def test_the_command_is_told_where_renamed_cases_are_listed(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.holdfast.write_text(
        f"#!{sys.executable}\nimport sys\nsys.exit('told ' + ' '.join(sys.argv[2:]))\n"
    )
    assert main(workplace.options()) == 2
    told = f"--baselines={workplace.baselines}"
    assert told in capsys.readouterr().err.partition("told ")[2]
    options = [option for option in workplace.options() if not option.startswith("--results")]
    assert main(["trends", *options]) == 2
    assert told in capsys.readouterr().err.partition("told ")[2]


def test_help_of_trends_names_what_it_draws_and_how_to_choose(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["trends", "--help"])
    said = capsys.readouterr().out
    assert all(option in said for option in ("--case GLOB", "--metric GLOB", "--all"))
    assert "that says something" in said


def told(count: int, seconds: float) -> list[str]:
    """What is said of so many plots, each of which takes so long."""
    said: list[str] = []
    now = iter(seconds * step for step in range(count + 2))
    progress = Progress(count, said.append, lambda: next(now))
    for number in range(1, count + 1):
        progress.done(number)
    return said


def test_how_far_it_is_is_told_each_hundred_plots_and_each_few_seconds() -> None:
    assert told(250, 0.001) == ["100 of 250 series drawn", "200 of 250 series drawn"]
    assert told(7, 1.1) == ["3 of 7 series drawn", "6 of 7 series drawn"]
    assert told(3, 0.2) == []


def test_how_far_it_is_goes_to_stderr_in_counts_alone(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast_report.plots.SECONDS", 0.0)
    plots(workplace)
    assert capsys.readouterr().err == "holdfast_report: 1 of 2 series drawn\n"


def test_trends_of_an_empty_store_are_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trends", f"--store={workplace.folder / 'none'}", f"--out={workplace.out}"]) == 2
    assert "holds no history" in capsys.readouterr().err


EDGES = [[1e300, 2e300, -1e300], [1.7e308, 1e308], [1e308, -1e308], [1.0, 1e308], [5e-324, 1e-323]]


@pytest.mark.parametrize("values", EDGES, ids=str)
@pytest.mark.filterwarnings("error")
def test_the_largest_numbers_that_there_are_are_drawn_within_the_panel(values: list[float]) -> None:
    drawn = panel(series("launches", values))
    heights = [y for mark in dots(drawn, "optimized") for _, y in mark.at]
    assert len(heights) == len(values)
    assert all(TOP <= y <= BOTTOM for y in heights)
    assert svg(drawn) and figure_of(drawn, Pen(PAPER))


def test_a_file_name_never_leaves_the_output_folder() -> None:
    stem = stem_of(series("launches", [1.0], case="../../etc/passwd", **{"class": "/root"}))
    assert not stem.is_absolute()
    assert ".." not in stem.parts


def test_a_limit_below_the_baseline_becomes_a_band_on_both_sides() -> None:
    row = Row.model_validate(builders.improved())
    band = band_of(row, None)
    assert band is not None
    assert band.low == pytest.approx(10.0 * 0.95)
    assert band.high == pytest.approx(10.0 / 0.95)


@pytest.mark.parametrize("baseline", [10.0, 0.0])
def test_a_limit_that_allows_any_loss_becomes_a_band_from_zero_without_an_upper_end(baseline: float) -> None:
    """A tolerance of 1 for what is better when higher."""
    band = band_of(Row.model_validate(builders.improved() | {"baseline": baseline, "limit": -1.0}), None)
    assert band is not None
    assert (band.low, band.high) == (0.0, inf)
    (green,) = areas(panel(series("speedup", [9.0, 11.0]), band), "good")
    heights = [y for _, y in green.outlines[0]]
    assert min(heights) == TOP and TOP < max(heights) < BOTTOM


def test_a_value_beyond_its_bound_lies_in_no_green_band() -> None:
    """74 ms where 60 ms are asked for; the limit tells how far the accepted value is from these."""
    beyond = builders.row("WARN", metric="time_s", kind="time", value=0.074, baseline=0.075, limit=-0.2, standard="bound")
    assert band_of(Row.model_validate(beyond), None) == Band(0.075, 0.0)


def test_another_run_of_the_last_commit_is_shown_beside_it() -> None:
    part = Part(Results.model_validate(builders.host_results()), None)
    one = series("speedup", [10.0], variant="case")
    same = one.points[0]._replace(commit=part.results.run.git.sha)
    one = one.model_copy(update={"points": [same]})
    judged = Row.model_validate(builders.improved())
    assert now_of(Root(Path(), [part]), one, judged) == 12.0
    assert now_of(Root(Path(), [part]), one, judged.model_copy(update={"value": 10.0})) is None


def test_the_value_of_another_commit_is_drawn_though_it_is_the_same() -> None:
    part = Part(Results.model_validate(builders.host_results()), None)
    assert now_of(Root(Path(), [part]), series("speedup", [12.0], variant="case"), Row.model_validate(builders.improved())) == 12.0


@pytest.mark.parametrize(
    ("verdict", "value", "baseline", "since"),
    [
        ("REGRESSION", 8.1, 12.0, "bbbbbbbb"), ("REGRESSION", 10.2, 12.0, "bbbbbbbb"), ("REGRESSION", 11.1, 12.0, None),
        ("IMPROVED", 10.2, 8.0, None), ("DRIFT", 10.2, 10.0, "bbbbbbbb"),
    ],
)
def test_a_finding_is_there_since_the_last_change_that_led_to_its_level(
    verdict: str, value: float, baseline: float, since: str | None
) -> None:
    changes = [
        {"order": 3, "commit": "a" * 40, "last_before": "x", "before": 8.0, "after": 12.0, "change": 0.5},
        {"order": 6, "commit": "b" * 40, "last_before": "y", "before": 12.0, "after": 10.0, "change": -0.2},
    ]
    one = series("speedup", [8.0, 8.0, 12.0, 12.0, 12.0, 10.0, 10.0], variant="case", change_points=changes)
    found = builders.row(
        verdict, device_class=HOST, variant="case", metric="speedup", value=value, baseline=baseline, limit=-0.05
    )
    judged = Verdict.model_validate(builders.verdict(1, [found]))
    (finding,) = findings(judged.rows)
    root = Root(Path(), verdict=judged)
    for parent, beside in (("y", ""), ("z", ", measured before it: y")):
        past = Past("https://x/", {"b" * 40: "Fuse"}, {"b" * 40: parent})
        told = since_in(root, trends_of(root, [one], None).changes, past)(finding, finding.lines[0])
        assert (told.short if told else None) == since
        if told:
            assert (told.address, told.about) == ("https://x/" + "b" * 40, "Fuse (2026-11-06)" + beside)


@pytest.mark.parametrize(
    ("baseline", "limit", "since"), [(5.0, 0.6, None), (None, 8.0, None), (None, None, "aaaaaaaa")]
)
def test_what_brought_a_value_nearer_to_its_bound_did_not_break_it(
    baseline: float | None, limit: float | None, since: str | None
) -> None:
    """Where nothing is accepted the limit is the bound; without either no direction is wrong."""
    change = {"order": 3, "commit": "a" * 40, "last_before": "x", "before": 5.0, "after": 6.0, "change": 0.2}
    one = series("speedup", [5.0, 5.0, 6.0, 6.0, 6.0], variant="case", change_points=[change])
    below = builders.row(
        "WARN", device_class=HOST, variant="case", metric="speedup", value=6.0, baseline=baseline, limit=limit, standard="bound"
    )
    judged = Verdict.model_validate(builders.verdict(0, [below]))
    (finding,) = findings(judged.rows)
    root = Root(Path(), verdict=judged)
    told = since_in(root, trends_of(root, [one], None).changes, Past())(finding, finding.lines[0])
    assert (told.short if told else None) == since
    assert told is None or told.about == "(2026-11-03)", "of a commit whose parent nobody knows"


def test_a_case_that_is_missed_comes_before_what_is_well() -> None:
    """Though it is not in this run, as are cases that were renamed or taken out."""
    part = Part(Results.model_validate(builders.host_results()), None)
    gone = series("speedup", [9.0, 8.0], variant="case", case="cubed_sphere_swe/gone/f64")
    rows = [
        builders.row(verdict, device_class=HOST, variant="case", metric="speedup", case=case, value=value)
        for verdict, case, value in (("MISSING", gone.case, None), ("PASS", builders.STEP, 10.0))
    ]
    root = Root(Path(), [part], verdict=Verdict.model_validate(builders.verdict(3, rows)))
    found = trends_of(root, [series("speedup", [9.0, 8.0], variant="case"), gone], None).panels
    assert [(one.case, one.verdict) for one in found] == [(gone.case, "MISSING"), (builders.STEP, None)]


def test_what_stood_still_is_told_with_its_first_day() -> None:
    still = trends_of(Root(Path()), [series("launches", [4.0, 4.0, 4.0])], None).flat
    assert [row[-2:] for row in still.rows] == [("4", "2026-11-01")]


def test_this_run_is_drawn_once_though_the_history_keeps_six_digits() -> None:
    part = Part(Results.model_validate(builders.host_results()), None)
    one = series("speedup", [29.0087], variant="case")
    same = one.points[0]._replace(commit=part.results.run.content)
    one = one.model_copy(update={"points": [same]})
    judged = Row.model_validate(builders.improved() | {"value": 29.008701234})
    assert now_of(Root(Path(), [part]), one, judged) is None
    other = judged.model_copy(update={"value": 29.01})
    assert now_of(Root(Path(), [part]), one, other) == 29.01


def test_a_point_of_the_time_of_this_run_is_this_run() -> None:
    run = (part := Part(Results.model_validate(builders.host_results()), None)).results.run
    one = series("speedup", [10.0], variant="case")
    same = one.points[0]._replace(commit=run.content, utc=run.utc)
    judged = Row.model_validate(builders.improved())
    assert now_of(Root(Path(), [part]), one.model_copy(update={"points": [same]}), judged) is None


def test_this_run_is_drawn_once_where_later_runs_are_in_the_history_too() -> None:
    run = (part := Part(Results.model_validate(builders.host_results()), None)).results.run
    one = series("speedup", [12.0, 10.0], variant="case")
    mine = one.points[0]._replace(commit=run.git.sha, utc=run.utc)
    one = one.model_copy(update={"points": [mine, one.points[1]]})
    judged = Row.model_validate(builders.improved())
    assert now_of(Root(Path(), [part]), one, judged) is None
    rows = [builders.improved() | {"case": one.case, "device_class": one.device_class}]
    root = Root(Path(), [part], verdict=Verdict.model_validate(builders.verdict(0, rows)))
    assert [panel.now for panel in trends_of(root, [one], None).panels] == ["12"], "what was judged"


CONTENT = "sha256:d63837d87b36e9e24b099c66f3e8ae4a"


def test_a_content_is_named_as_one_and_a_commit_by_its_hash() -> None:
    assert short_commit(CONTENT) == "content d63837d8"
    assert short_commit("d63837d87b36e9e2") == "d63837d8"


@pytest.mark.parametrize("at", [2, 5, 9])
def test_the_names_below_a_panel_never_touch(at: int) -> None:
    change = {"order": at, "commit": CONTENT, "last_before": CONTENT, "before": 1.0, "after": 2.0, "change": 1.0}
    one = series("speedup", [1.0] * (at - 1) + [2.0] * (10 - at), change_points=[change])
    last = one.points[-1]._replace(commit=CONTENT)
    sketch = panel(one.model_copy(update={"points": [*one.points[:-1], last]}))
    below = [mark for mark in sketch.marks if isinstance(mark, Words) and mark.at[1] > BOTTOM]
    assert "content d63837d8" in [mark.said for mark in below]
    shift = {"start": 0.0, "middle": 0.5, "end": 1.0}
    spans = sorted(
        (mark.at[0] - shift[mark.anchor] * (wide := width_of(mark.said, mark.size)), wide)
        for mark in below
    )
    ends = [start + wide for start, wide in spans]
    assert all(end < start for end, (start, _) in zip(ends, spans[1:], strict=False))
    assert spans[0][0] > 0 and ends[-1] < sketch.width


def test_without_a_verdict_the_accepted_value_is_a_line() -> None:
    entry = Entry.model_validate(builders.time_entry(0.0006))
    assert band_of(None, entry) == Band(0.0006, 0.0)


def test_a_hash_has_no_band() -> None:
    assert (
        band_of(
            Row.model_validate(builders.row("DRIFT", baseline="sha256:ab", value="sha256:cd")), None
        )
        is None
    )


def test_a_constant_count_earns_no_panel_until_its_verdict_is_bad() -> None:
    launches = series("launches", [4.0, 4.0])
    assert not worth_a_panel(launches, "PASS")
    assert worth_a_panel(launches, "REGRESSION")


def test_an_advisory_duration_earns_no_panel_until_its_level_changes() -> None:
    noisy = series("load_s", [0.1, 0.2, 0.1])
    change = {"order": 1, "commit": "c", "last_before": "b", "before": 0.1, "after": 0.2, "change": 1.0}
    assert not worth_a_panel(noisy, "PASS", "advisory")
    assert not worth_a_panel(noisy, None)
    assert not worth_a_panel(series("points_per_s", [1.0, 2.0, 1.0]), None)
    assert worth_a_panel(
        series("load_s", [0.1, 0.2, 0.1], change_points=[change]), "PASS", "advisory"
    )


def test_an_exact_count_that_ever_moved_earns_a_panel() -> None:
    assert worth_a_panel(series("launches", [4.0, 5.0, 4.0]), "PASS", "exact")


def test_regressions_rank_before_speedups_before_the_rest() -> None:
    launches, speedup, peak = (
        series(name, [4.0, 5.0]) for name in ("launches", "speedup", "peak_bytes")
    )
    verdicts = {"launches": "REGRESSION", "speedup": "PASS", "peak_bytes": "PASS"}
    ranked = sorted([peak, speedup, launches], key=lambda one: rank(one, verdicts[one.metric]))
    assert [one.metric for one in ranked] == ["launches", "speedup", "peak_bytes"]


def test_times_rank_behind_counts_of_any_case() -> None:
    time, count = series("time_s", [4.0, 5.0], case="toy/a"), series("launches", [4.0, 5.0], case="toy/b")
    assert sorted([time, count], key=lambda one: rank(one, "PASS")) == [count, time]


def test_one_commit_is_no_course_until_something_is_not_well() -> None:
    one = series("speedup", [10.0])
    assert not worth_a_panel(one, "PASS")
    assert worth_a_panel(one, "REGRESSION")
    assert worth_a_panel(series("speedup", [10.0, 10.0]), "PASS")


def test_a_panel_shows_band_baseline_levels_and_changes() -> None:
    stepped = Series.model_validate(builders.trend()["series"][0])
    sketch = panel(stepped, Band(10.0, 0.05))
    assert [area.alpha for area in areas(sketch, "good")] == [0.14]
    upright, levels = lines(sketch, "ink")
    assert len(upright.strokes) == len(stepped.change_points) == 1
    (before, _), (after, _) = levels.strokes
    assert before[1] > after[1], "from 10 up to 12"
    assert before[1] == lines(sketch, "good")[0].strokes[0][0][1], "the baseline, 10"
    assert "+20 %" in texts(sketch)


def test_outliers_are_hollow() -> None:
    stepped = Series.model_validate(builders.trend()["series"][0])
    assert [point.value for point in stepped.points if point.outlier] == [14.0]
    sketch = panel(stepped)
    (hole,) = dots(sketch, "paper")
    plain, rim = dots(sketch, "optimized")
    assert rim.at == hole.at and rim.size > hole.size
    assert len(rim.at) == 1 and len(plain.at) == len(stepped.points) - 1
    assert rim.at[0][1] < min(y for _, y in plain.at), "the highest"


def test_one_wild_value_leaves_the_panel_to_the_rest_and_is_an_arrow_at_its_edge() -> None:
    values = [1.0, 1.01] * 10 + [40.0] + [1.14, 1.15] * 10
    sketch = panel(series("time_s", values))
    (plain,) = dots(sketch, "optimized")
    heights = [y for _, y in plain.at]
    assert len(heights) == 40 and max(heights) - min(heights) > (BOTTOM - TOP) / 3
    (arrows,) = areas(sketch, "optimized")
    ((tip, *_),) = arrows.outlines
    assert tip == pytest.approx((places(41).x(20), TOP))


def test_a_spread_beyond_the_panel_is_cut_at_its_edge() -> None:
    wide = series("speedup", [10.0, 10.1])
    wide = wide.model_copy(
        update={"points": [point._replace(mad=9.0) for point in wide.points]}
    )
    _, spread = lines(panel(wide), "rule")  # after the grid
    assert {y for stroke in spread.strokes for _, y in stroke} == {TOP, BOTTOM}


def test_dots_that_follow_each_other_stay_where_they_are() -> None:
    places = [(50 + 0.97 * at, 60 + 7.77 * (at % 5)) for at in range(200)]
    x = y = 0.0
    found = []
    for step in path_data([[place] for place in places], "h0").removesuffix("h0").split("h0"):
        across, down = map(float, step.removeprefix("m").split())
        x, y = x + across, y + down
        found.append((x, y))
    assert np.allclose(found, places, rtol=0, atol=0.0501)


def test_a_path_goes_from_place_to_place() -> None:
    assert path_data([[(1, 2), (5, 2), (5, 9), (6, 8)]]) == "m1 2h4v7l1 -1"
    assert path_data([[(1, 2), (3, 4)], [(1.04, 2)]]) == "m1 2l2 2m-2 -2", "rounded to tenths"
    assert path_data([[(1, 2), (3, 2), (3, 4)], [(2, 2), (2, 3)]], "z") == "m1 2h2v2zm1 0v1z"


def test_many_points_are_drawn_without_their_spreads() -> None:
    def spreads(count: int) -> int:
        points = series("time_s", [4e-3, 4.1e-3] * (count // 2)).points
        spread = [point._replace(mad=1e-5) for point in points]
        sketch = panel(series("time_s", [4e-3]).model_copy(update={"points": spread}))
        return len(lines(sketch, "rule")) - 1  # besides the grid

    assert spreads(MANY) == 1
    assert spreads(MANY + 2) == 0


def test_a_single_point_can_be_drawn_as_a_file(tmp_path: Path) -> None:
    sketch = panel(series("time_s", [0.0006], **{"class": HOST}), heading=["a $case_1$", "time_s"])
    figure = figure_of(sketch, Pen(PAPER)).figure
    figure.savefig(tmp_path / "one.svg")
    assert "a $case_1$" in (tmp_path / "one.svg").read_text("utf-8"), "which is no formula"
    figure.savefig(tmp_path / "one.png", dpi=200)
    blue = to_rgba(PAPER["optimized"])
    assert np.isclose(imread(tmp_path / "one.png"), blue, atol=0.01).all(axis=2).any()


def test_a_long_name_above_a_panel_is_whole() -> None:
    name = "xpcs_fit/normal_eq/mode:laminar/scaling:per_angle/loss:soft_l1/weights:array/size:s0/f64"
    sketch = panel(series("speedup", [50.4]), heading=[name, "speedup"])
    heading, metric = [one for one in sketch.marks if isinstance(one, Words)][:2]
    assert heading.said == name and heading.at[0] + width_of(name, heading.size) <= sketch.width
    assert heading.size < metric.size == FONT - 1.5


def test_counts_have_whole_ticks() -> None:
    said = texts(panel(series("launches", [2.0, 2.0])))
    assert "2" in said
    assert not any("." in text for text in said)


def stepped() -> Series:
    return Series.model_validate(builders.trend()["series"][0])


def places(count: int) -> Plane:
    """Where the points of a panel of so many lie: half a step of room and a tenth at both ends."""
    return Plane(LEFT, RIGHT, TOP, BOTTOM, (-0.6, count - 0.4), (0, 1))


def test_marks_of_a_panel_stand_where_their_commits_are() -> None:
    sketch = panel(stepped(), Band(10.0, 0.05))
    plane = places(10)
    upright, levels = lines(sketch, "ink")
    assert [x for x, _ in upright.strokes[0]] == pytest.approx([plane.x(5.5)] * 2), "before the seventh"
    assert [x for stroke in levels.strokes for x, _ in stroke] == pytest.approx([plane.x(at) for at in (0, 5, 6, 9)])
    plain, _ = dots(sketch, "optimized")
    assert [x for x, _ in plain.at] == pytest.approx([plane.x(at) for at in (0, 1, 2, 3, 5, 6, 7, 8, 9)])
    (band,) = areas(sketch, "good")
    heights = sorted({y for _, y in band.outlines[0]})
    ten = lines(sketch, "good")[0].strokes[0][0][1]
    assert heights[0] < ten < heights[1], "around the accepted value"
    assert (ten - heights[0]) / (heights[1] - ten) == pytest.approx(1.05, rel=1e-3)


def test_a_value_that_failed_is_a_cross_in_the_colour_of_an_alarm() -> None:
    one = stepped()
    failed = one.points[2]._replace(verdict="REGRESSION")
    one = one.model_copy(update={"points": [*one.points[:2], failed, *one.points[3:]]})
    sketch = panel(one)
    (cross,) = lines(sketch, "bad")
    x, y = np.mean([place for stroke in cross.strokes for place in stroke], axis=0)
    assert x == pytest.approx(places(10).x(2))
    assert sorted({round(at - x, 6) for stroke in cross.strokes for at, _ in stroke}) == [-2.5, 2.5]
    assert all(abs(a[1] - b[1]) == pytest.approx(5) for a, b in cross.strokes), "both of its lines fall or rise"
    assert (x, y) not in [at for mark in dots(sketch, "optimized") for at in mark.at]
    (hole,) = dots(sketch, "paper")
    assert len(hole.at) == 1, "an outlier stays hollow"


@pytest.mark.parametrize(("verdict", "role"), [("REGRESSION", "bad"), ("MISSING", "bad"), ("PASS", "ink")])
def test_what_history_lacks_stands_behind_its_last_point_and_says_so(verdict: str, role: str) -> None:
    sketch = panel(stepped(), None, verdict, 20.0)
    marked = lines(sketch, "bad")[0].strokes if role == "bad" else areas(sketch, "ink")[0].outlines
    x, y = np.mean([place for stroke in marked for place in stroke], axis=0)
    plane = places(11)
    assert x == pytest.approx(plane.x(10)) and TOP < y < BOTTOM
    assert y < min(height for mark in dots(sketch, "optimized") for _, height in mark.at), "the highest"
    assert "now" in texts(sketch) and "now" not in texts(panel(stepped()))


def test_where_names_touch_the_larger_change_has_them_and_a_content_has_no_page() -> None:
    def change(at: int, by: float, commit: str) -> dict[str, object]:
        return {"order": at, "commit": commit, "last_before": "x", "before": 1.0, "after": 1.0 + by, "change": by}

    one = series("speedup", [10.0] * 40, change_points=[change(10, 0.1, "a" * 40), change(11, -0.4, "b" * 40), change(36, 0.2, CONTENT)])
    named = {mark.said: mark.address for mark in panel(one, link="https://x/").marks if isinstance(mark, Words)}
    assert named["bbbbbbbb"] == "https://x/" + "b" * 40
    assert named["content d63837d8"] is None
    assert "aaaaaaaa" not in named and "+10 %" not in named and "\u221240 %" in named


def test_a_series_that_drifts_earns_a_panel() -> None:
    drift = {"since": "a" * 40, "anchor": 4.0, "median": 5.0, "change": 0.25}
    assert worth_a_panel(series("launches", [4.0, 4.0], drift=drift), "PASS")


@pytest.mark.parametrize("verdict", ["REGRESSION", "WRONG", "SUSPECT-FAST", "CHANGED", "MISSING"])
def test_alarms_rank_before_all_else(verdict: str) -> None:
    ranked = sorted(["PASS", "WARN", verdict], key=lambda one: rank(series("launches", [4.0, 5.0]), one))
    assert ranked[0] == verdict and ranked[-1] == "PASS"


def test_a_panel_says_in_words_what_drifted_and_what_was_judged() -> None:
    drift = {"since": "c" * 40, "anchor": 4.0, "median": 5.0, "change": 0.25}
    said = panel(series("launches", [4.0, 5.0], drift=drift), None, "DRIFT").alt
    assert said.endswith("2 commits, now 5 at 00000000; drifted +25 % since cccccccc; verdict DRIFT")


def test_a_drift_from_zero_is_no_percentage() -> None:
    drift = {"since": "c" * 40, "anchor": 0.0, "median": 3.0, "change": 1.0}
    said = panel(series("launches", [0.0, 3.0], drift=drift), None, "DRIFT").alt
    assert "; drifted from 0 since cccccccc" in said


@pytest.mark.parametrize(
    ("metric", "values"),
    [
        ("peak_bytes", [1177856.0, 1178368.0]),
        ("peak_bytes", [3221225472.0, 3221225984.0]),
        ("speedup", [1.2, 1.25]),
        ("instructions", [1500000003.0, 1500000004.0]),
    ],
)
def test_the_ticks_of_a_panel_say_where_they_are_and_have_room(metric: str, values: list[float]) -> None:
    sketch = panel(series(metric, values))
    ticks = [one for one in sketch.marks if isinstance(one, Words) and one.anchor == "end" and one.at[0] < LEFT]
    told = [float(one.said.split(" ")[0].replace(",", "")) for one in ticks]
    places = [one.at[1] for one in ticks]
    assert len(told) > 1 and len(set(told)) == len(told)
    each = (told[-1] - told[0]) / (places[-1] - places[0])
    assert told == pytest.approx([told[0] + (y - places[0]) * each for y in places], rel=1e-12)
    assert all(width_of(one.said, one.size) <= LEFT - 3.5 + 0.01 for one in ticks)
