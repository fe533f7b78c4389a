# SPDX-License-Identifier: Apache-2.0
import sys
from pathlib import Path

import builders
import numpy as np
import pytest
from builders import HOST, Workplace
from holdfast_report.command import main
from holdfast_report.documents import Entry, Results, Row
from holdfast_report.drawing import PAPER, Pen, width_of
from holdfast_report.history import Series
from holdfast_report.panel import BOTTOM, MANY, TOP, panel
from holdfast_report.plots import Progress, stem_of
from holdfast_report.root import Part, Root
from holdfast_report.since_when import now_of
from holdfast_report.sketch import Words, figure_of, path_data
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


def test_each_series_that_says_something_gets_an_svg_and_a_png(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    drawn = ["case.speedup.png", "case.speedup.svg", "optimized.time_s.png", "optimized.time_s.svg"]
    assert plots(workplace) == drawn
    assert "4 plots of 2 series" in (said := capsys.readouterr().out)
    assert "1 more say nothing new, --all draws them too" in said


def test_all_draws_what_stood_still_as_well(workplace: Workplace) -> None:
    assert [name for name in plots(workplace, "--all") if "launches" in name] == [
        "optimized.launches.png", "optimized.launches.svg"
    ]


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


def test_another_run_of_the_last_commit_is_shown_beside_it() -> None:
    part = Part(Results.model_validate(builders.host_results()), None)
    one = series("speedup", [10.0], variant="case")
    same = one.points[0].model_copy(update={"commit": part.results.run.git.sha})
    one = one.model_copy(update={"points": [same]})
    judged = Row.model_validate(builders.improved())
    assert now_of(Root(Path(), [part]), one, judged) == 12.0
    assert now_of(Root(Path(), [part]), one, judged.model_copy(update={"value": 10.0})) is None


def test_this_run_is_drawn_once_though_the_history_keeps_six_digits() -> None:
    part = Part(Results.model_validate(builders.host_results()), None)
    one = series("speedup", [29.0087], variant="case")
    same = one.points[0].model_copy(update={"commit": part.results.run.content})
    one = one.model_copy(update={"points": [same]})
    judged = Row.model_validate(builders.improved() | {"value": 29.008701234})
    assert now_of(Root(Path(), [part]), one, judged) is None
    other = judged.model_copy(update={"value": 29.01})
    assert now_of(Root(Path(), [part]), one, other) == 29.01


def test_a_point_of_the_time_of_this_run_is_this_run() -> None:
    run = (part := Part(Results.model_validate(builders.host_results()), None)).results.run
    one = series("speedup", [10.0], variant="case")
    same = one.points[0].model_copy(update={"commit": run.content, "utc": run.utc})
    judged = Row.model_validate(builders.improved())
    assert now_of(Root(Path(), [part]), one.model_copy(update={"points": [same]}), judged) is None


CONTENT = "sha256:d63837d87b36e9e24b099c66f3e8ae4a"


def test_a_content_is_named_as_one_and_a_commit_by_its_hash() -> None:
    assert short_commit(CONTENT) == "content d63837d8"
    assert short_commit("d63837d87b36e9e2") == "d63837d8"


@pytest.mark.parametrize("at", [2, 5, 9])
def test_the_names_below_a_panel_never_touch(at: int) -> None:
    change = {"order": at, "commit": CONTENT, "last_before": CONTENT, "before": 1.0, "after": 2.0, "change": 1.0}
    one = series("speedup", [1.0] * (at - 1) + [2.0] * (10 - at), change_points=[change])
    last = one.points[-1].model_copy(update={"commit": CONTENT})
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


def test_one_commit_is_no_course_until_something_is_not_well() -> None:
    one = series("speedup", [10.0])
    assert not worth_a_panel(one, "PASS")
    assert worth_a_panel(one, "REGRESSION")


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


def test_a_spread_beyond_the_panel_is_cut_at_its_edge() -> None:
    wide = series("speedup", [10.0, 10.1])
    wide = wide.model_copy(
        update={"points": [point.model_copy(update={"mad": 9.0}) for point in wide.points]}
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
        spread = [point.model_copy(update={"mad": 1e-5}) for point in points]
        sketch = panel(series("time_s", [4e-3]).model_copy(update={"points": spread}))
        return len(lines(sketch, "rule")) - 1  # besides the grid

    assert spreads(MANY) == 1
    assert spreads(MANY + 2) == 0


def test_a_single_point_can_be_drawn_as_a_file(tmp_path: Path) -> None:
    sketch = panel(series("time_s", [0.0006], **{"class": HOST}), heading=["a $case", "time_s"])
    figure = figure_of(sketch, Pen(PAPER)).figure
    figure.savefig(tmp_path / "one.svg")
    assert "a $case" in (tmp_path / "one.svg").read_text("utf-8")
    figure.savefig(tmp_path / "one.png", dpi=200)
    blue = to_rgba(PAPER["optimized"])
    assert np.isclose(imread(tmp_path / "one.png"), blue, atol=0.01).all(axis=2).any()


def test_counts_have_whole_ticks() -> None:
    said = texts(panel(series("launches", [2.0, 2.0])))
    assert "2" in said
    assert not any("." in text for text in said)
