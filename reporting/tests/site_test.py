# SPDX-License-Identifier: Apache-2.0
"""The pages of a history with a step, a slow drift and another environment."""

import hashlib
import json
import re
from collections.abc import Collection
from html import unescape
from pathlib import Path

import builders
import planted_history
import pytest
import site_place
from holdfast_report import Problem
from holdfast_report.command import main
from holdfast_report.documents import Entry
from holdfast_report.drawing import width_of
from holdfast_report.site import addresses, comparison, figures, pages
from holdfast_report.site.archive import Archive, Column, Commit, Part, Run
from holdfast_report.site.build import put, shares
from holdfast_report.site.cases import band, embedded, rank
from holdfast_report.site.figures import Limits, limits_of
from holdfast_report.site.levels import Change, Drift, Levels, creep_of
from holdfast_report.site.pages import Site
from holdfast_report.trends import Band
from holdfast_report.units import labels_of
from planted_history import DRIFT_CASE, HOST, STEP_CASE, history, sha, write
from site_place import REPOSITORY, Links, SitePlace, data_of, fleet_of_two, trend_of

STEP_PAGE = "case/cubed_sphere_swe/rk4_step/n=48/f64.html"
UNGATED = "140 of 160 times and ratios not gated here"
GREEN, AMBER = '<path fill="#007a5a"', '<path fill="#8a6100"'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> SitePlace:
    made = SitePlace(tmp_path_factory.mktemp("site"))
    made.draw()
    return made


def words(page: str) -> str:
    body = re.sub(r"<script.*?</script>", "", page[page.find("<body>") :], flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", " ", body))).replace(" ,", ",")


def test_the_overview_names_the_three_changes_and_since_when(place: SitePlace) -> None:
    said = words(place.text("index.html"))
    planted = place.planted
    assert f"{sha(planted.step)[:10]} {planted_history.subject(planted.step)}" in said
    assert "launches optimized, cuda-dry-sm_90 \u2717 +25 % 4 \u2192 5" in said
    drifted = said[said.index("What drifted") :]
    assert "\u2717 +8.24 % 2.40 ms \u2192 2.60 ms in 4 steps since" in drifted and sha(planted.drift)[:10] in drifted
    assert f"since {sha(planted.environment)[:10]}" in said
    assert "compiler g++ 12.2.0 \u2192 g++ 12.3.0" in said


def test_each_change_is_linked_to_its_figure_and_its_commit(place: SitePlace) -> None:
    links = Links(place.text("index.html")).links
    assert f"{STEP_PAGE}#cuda-dry-sm_90.optimized.launches" in links
    assert f"{REPOSITORY}/commit/{sha(place.planted.step)}" in links
    assert "cuda-dry-sm_90.optimized.launches" in Links(place.text(STEP_PAGE)).ids


def test_the_overview_tells_each_class_with_commit_branch_date_device_and_job(
    place: SitePlace,
) -> None:
    page = place.text("index.html")
    said = words(page)
    for part in ("cuda-dry-sm_90", HOST, "branch main", "device dry sm_90", "\u2713 passed"):
        assert part in said
    assert f"https://ci.example/{place.planted.commits}" in Links(page).links


def test_every_link_within_the_site_finds_its_page_and_place(place: SitePlace) -> None:
    ids = {name: set(Links(place.text(name)).ids) for name in place.pages()}
    for name in place.pages():
        page = Links(place.text(name))
        assert len(page.ids) == len(set(page.ids)), name
        for link in page.links:
            if link.startswith("https://"):
                continue
            path, _, anchor = link.partition("#")
            target = Path(name).parent / path if path else Path(name)
            found = (place.site / target).resolve().relative_to(place.site.resolve()).as_posix()
            assert (place.site / found).is_file(), (name, link)
            if anchor and "=" not in anchor:
                assert anchor in ids[found], (name, link)


def test_no_page_asks_anything_of_another_host(place: SitePlace) -> None:
    for name in place.pages():
        page = place.text(name)
        assert Links(page).loaded == [], name
        assert "@import" not in page
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
        assert policy and policy.group(1).startswith("default-src 'none'; style-src 'unsafe-inline'")
        assert "http" not in policy.group(1)
        scripts = re.findall(r"<script>", page)
        assert len(scripts) == policy.group(1).count("'sha256-")


def test_a_page_of_a_case_draws_at_most_six_series_and_tells_the_others(place: SitePlace) -> None:
    page = place.text(STEP_PAGE)
    drawn = Links(page).figures
    assert 3 <= drawn <= 6
    rows = re.findall(r"<tr id=", page)
    measured = {
        (run.device_class, *key) for run in place.runs for key in run.values if key[0] == STEP_CASE
    }
    assert drawn + len(rows) == len(measured)


def test_a_figure_has_a_dot_for_each_commit_and_the_commit_below_its_step(place: SitePlace) -> None:
    page = place.text(STEP_PAGE)
    figure = page[page.index('id="cuda-dry-sm_90.optimized.launches"') :]
    figure = figure[: figure.index("</svg>")]
    (dots,) = re.findall(r'class="dots few" d="([^"]*)"', figure)
    assert dots.count("h0") == place.planted.commits
    step = sha(place.planted.step)
    assert re.search(rf'<a href="{REPOSITORY}/commit/{step}"><text[^>]*>{step[:7]}', figure)
    assert re.search(r'class="worse"[^>]*>\u2717 \+25 %', figure)


def test_marks_lie_where_the_values_are(place: SitePlace) -> None:
    """The step from 4 to 5 launches goes up on the page by what the ticks 4 and 5 are apart."""
    page = place.text(STEP_PAGE)
    figure = page[page.index('id="cuda-dry-sm_90.optimized.launches"') :]
    figure = figure[: figure.index("</svg>")]
    (dots,) = re.findall(r'class="dots few" d="([^"]*)"', figure)
    heights = [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)h0", dots)]
    grid = sorted({float(y) for y in re.findall(r"M58 ([\d.]+)H344", figure.split('class="marks"')[0])})
    assert heights[0] == pytest.approx(grid[-1], abs=0.15)
    assert heights[-1] == pytest.approx(grid[0], abs=0.15)


def test_the_data_of_a_page_are_the_values_of_its_figures(place: SitePlace) -> None:
    data = data_of(place.text(STEP_PAGE))
    (launches,) = (one for one in data["figures"] if set(one["values"]) == {4, 5})
    step = place.planted.step - 1
    assert launches["values"] == [4] * step + [5] * (place.planted.commits - step)
    assert launches["alarms"] == [step]
    assert launches["changes"] == [[step, "\u2717 +25 %", True]]
    assert launches["levels"] == [[0, step - 1, 4], [step, place.planted.commits - 1, 5]]
    assert all(one["on"] == [] for one in data["figures"]), "one processor goes without saying"
    assert data["commits"][step][0] == sha(place.planted.step)[:12]


def test_a_page_of_a_run_tells_environment_changes_and_what_was_not_checked(
    place: SitePlace,
) -> None:
    planted = place.planted
    said = words(place.text(f"run/{sha(planted.step)}.html"))
    assert "\u2717 1 block" in said and "processor AuthenticAMD-26-2" in said
    assert "launches optimized, cuda-dry-sm_90 \u2717 +25 %" in said
    assert "1 case of the tier full not run" in said
    assert "nothing was run on a GPU" in said
    assert "compiler g++ 12.2.0" in words(place.text(f"run/{sha(planted.environment)}.html"))


def test_the_badge_says_the_newest_verdict(place: SitePlace) -> None:
    badge = place.text("badge.svg")
    assert 'aria-label="holdfast: passed"' in badge
    assert GREEN in badge and AMBER not in badge


@pytest.mark.parametrize(
    ("caveats", "said"),
    [
        ([UNGATED], f"passed; {UNGATED}"),
        (None, "passed; 6 values held against nothing"),
    ],
    ids=["that the gate told", "of an older history"],
)
def test_what_was_held_against_nothing_makes_the_badge_amber(
    tmp_path: Path, caveats: list[str] | None, said: str
) -> None:
    place = SitePlace(tmp_path, commits=4, cases=1)
    for run in place.runs:
        if run.number == 4:
            run.caveats = caveats
            run.new = 3 if run.device_class == HOST else 0
    write(place.store, place.runs)
    place.draw()
    badge = place.text("badge.svg")
    assert f'aria-label="holdfast: {said}"' in badge
    assert AMBER in badge and GREEN not in badge
    assert f"\u2248 {said}" in words(place.text("index.html"))
    assert f"\u2248 {said}" in words(place.text(addresses.of_class(HOST)))


def test_a_blocking_run_is_told_first_and_in_the_badge(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=10, cases=1)
    for run in place.runs:
        if run.number == 10 and run.device_class == HOST:
            run.blocking = {min(run.values)}
    write(place.store, place.runs)
    place.draw()
    assert "2 block" in place.text("badge.svg")
    assert "\u2717 2 block" in words(place.text("index.html"))


def test_a_suite_that_was_not_run_at_the_newest_commit_keeps_its_verdict(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=6, cases=1)
    left = [run for run in place.runs if run.suite == "clusterless_kde" and run.device_class == HOST]
    left[-2].blocking = {min(left[-2].values)}
    runs = [run for run in place.runs if run is not left[-1]]
    write(place.store, runs)
    place.draw()
    for address in ("index.html", addresses.of_class(HOST)):
        said = words(place.text(address))
        assert "\u2717 1 block" in said
        assert f"clusterless_kde, last at {sha(5)[:10]}, {planted_history.time_of(5)[:10]}" in said
        assert "cubed_sphere_swe, last at" not in said
    assert ", last at" not in words(place.text(addresses.of_class(builders.DRY)))
    assert "1 block" in place.text("badge.svg")


def test_a_class_that_is_run_no_more_says_how_many_commits_it_missed(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=12, cases=1)
    write(place.store, [run for run in place.runs if run.device_class == HOST or run.number <= 9])
    place.draw()
    assert words(place.text("index.html")).count("not run at 3 newer commits") == 1
    assert "not run at 3 newer commits" in words(place.text("class/cuda-dry-sm_90.html"))
    assert "not run at" not in words(place.text(f"class/{HOST}.html"))


def test_of_many_changes_of_a_series_the_newest_lie_open(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=12, cases=1)
    trend = trend_of(place.runs, place.planted)
    stepped = next(one for one in trend["series"] if one["change_points"])
    stepped["change_points"] = [site_place.change(number, number, number + 1.0) for number in range(2, 12)]
    place.answer(trend)
    place.draw()
    shown = addresses.anchor((stepped["class"], stepped["case"], stepped["variant"], stepped["metric"]))
    figure = place.text(addresses.of_case(stepped["case"])).partition(f'id="{shown}"')[2]
    listed, folded = figure[: figure.index("</figure>")].split("<details><summary>6 older</summary>")
    assert [part.count("<li>") for part in (listed, folded)] == [4, 6]
    assert sha(11)[:10] in listed and sha(2)[:10] in folded


def test_the_only_commit_is_named_once_below_a_figure(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=1, cases=1)
    place.draw()
    labels = re.findall(r'<g class="labels">(<text.*?)</g>', place.text(STEP_PAGE))
    assert labels and all(label.count("<text") == 1 for label in labels)


def test_a_suite_that_nobody_judged_is_no_pass_beside_one_that_was(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=3, cases=1)
    for path in place.store.glob(f"{HOST}/*.ndjson"):
        lines = path.read_text("utf-8").splitlines()
        last = max(number for number, line in enumerate(lines) if '"suite":"clusterless_kde"' in line)
        lines[last] = json.dumps(json.loads(lines[last]) | {"verdict": None})
        path.write_text("\n".join([*lines, ""]), "utf-8")
    place.draw()
    assert "\u2248 passed; clusterless_kde not judged" in words(place.text("index.html"))
    assert AMBER in place.text("badge.svg")


def test_what_blocks_and_what_is_no_plain_pass_are_counted_apart() -> None:
    def judged(blocking: int | None, **counts: int) -> tuple[int, int]:
        return Run(HOST, 0, {"toy": Part("2026-11-21", counts=counts, blocking=blocking)}).judged

    assert judged(1, PASS=9, REGRESSION=1, NOISY=2, DRIFT=1, ENV=1, WARN=1) == (1, 5)
    assert judged(0, PASS=9, WAIVED=2, NEW=1, ACCEPTED=1, SKIPPED=1, IMPROVED=1) == (0, 0)
    assert judged(None, PASS=9, MISSING=2, NOISY=1) == (2, 1), "an older history says the verdicts alone"


def test_a_case_that_is_measured_no_more_says_where_it_was_last(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=6, cases=2)
    for run in place.runs:
        if run.number > 4:
            run.values = {key: value for key, value in run.values.items() if key[0] != STEP_CASE}
            run.blocking = set()
    write(place.store, place.runs)
    place.draw()
    said = f"last measured at {sha(4)[:10]}, {planted_history.time_of(4)[:10]}"
    for address in ("index.html", addresses.of_class(HOST)):
        assert words(place.text(address)).count(said) == 1, address
    assert words(place.text(STEP_PAGE)).count(said) == Links(place.text(STEP_PAGE)).figures
    assert "last measured" not in words(place.text(addresses.of_case(DRIFT_CASE)))


def fleet(folder: Path, commits: int, suite: str) -> SitePlace:
    """Drawn: two compilers take turns at measuring a suite on the host."""
    place = SitePlace(folder, commits=commits, cases=1)
    for run in place.runs:
        if run.device_class == HOST:
            run.compiler = f"g++ {run.number % 2}" if run.suite == suite else "g++ 12.2.0"
    write(place.store, place.runs)
    place.draw()
    return place


def test_machines_of_a_fleet_that_take_turns_are_told_once_each_way_and_each_turn_has_its_line(
    tmp_path: Path,
) -> None:
    place = fleet(tmp_path, 12, DRIFT_CASE.split("/")[0])
    page = place.text(addresses.of_class(HOST))
    assert "compiler g++ 1 \u2192 g++ 0" in words(page) and "compiler g++ 0 \u2192 g++ 1" in words(page)
    assert words(page).count("compiler g++") == 1 + 2, "the newest and each way"
    page = place.text(addresses.of_case(DRIFT_CASE))
    for figure in data_of(page)["figures"]:
        assert figure["environment"] in ([], list(range(1, 12)))
    each = (figures.RIGHT - figures.LEFT) / 12
    lines = "".join(f"M{figures.short(figures.LEFT + at * each)} 20.0V130.0" for at in range(1, 12))
    assert page.count(f'class="environment" d="{lines}"') == sum(
        bool(figure["environment"]) for figure in data_of(page)["figures"]
    ) > 0
    others = data_of(place.text(STEP_PAGE))["figures"]
    assert all(figure["environment"] == [] for figure in others), "another suite's machines took the turns"


def test_so_many_turns_that_they_would_hide_the_points_are_not_drawn(tmp_path: Path) -> None:
    place = fleet(tmp_path, figures.MOST_MOVES + 2, DRIFT_CASE.split("/")[0])
    assert 'class="environment" d="M' not in place.text(addresses.of_case(DRIFT_CASE))


def test_a_value_says_its_processor_where_others_are_of_another(tmp_path: Path) -> None:
    place = fleet_of_two(tmp_path)
    data = data_of(place.text(addresses.of_case(DRIFT_CASE)))
    assert data["processors"] == ["AuthenticAMD-26-2", "GenuineIntel-6-167"]
    for figure in data["figures"]:
        assert figure["on"] in ([], [0, 0, 1] * 4)
    assert any(figure["on"] for figure in data["figures"])


def test_of_many_environments_the_newest_lie_open(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=12, cases=1)
    for run in place.runs:
        if run.device_class == HOST:
            run.compiler = f"g++ {run.number}"
    write(place.store, place.runs)
    place.draw()
    for address in ("index.html", addresses.of_class(HOST), STEP_PAGE):
        page = place.text(address)
        open_part, _, folded = page.partition("<summary>3 more</summary>")
        assert "g++ 11 \u2192 g++ 12" in open_part and "g++ 1 \u2192 g++ 2" in folded, address


def test_what_rises_from_nothing_does_so_by_no_percentage(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, cases=1)
    answer = trend_of(place.runs, place.planted)
    for one in answer["series"]:
        for change in one["change_points"]:
            change["before"] = 0.0
    place.answer(answer)
    place.draw()
    assert "launches optimized, cuda-dry-sm_90 \u2717 from 0 0 \u2192 5" in words(place.text("index.html"))
    assert '"\u2717 from 0"' in place.text(STEP_PAGE), "for the script as well"


@pytest.mark.parametrize("values", [[1.7e308, 1e308], [1e308, -1e308], [1.0, 1e308]], ids=str)
def test_the_largest_numbers_that_there_are_are_drawn_within_the_figure(values: list[float]) -> None:
    column = Column((HOST, STEP_CASE, "optimized", "launches"), [0, 1], values)
    plane = figures.Plane(limits_of(column, None, Levels()), 2)
    assert all(figures.TOP <= plane.y(value) <= figures.BOTTOM for value in values)
    assert figures.frame(plane.limits, "1", False)


def test_noise_is_what_neighbours_differ_by_and_steps_do_not_count() -> None:
    wave = Column((HOST, STEP_CASE, "optimized", "time_s"), list(range(20)), [100.0, 101.0] * 5 + [200.0, 202.0] * 5)
    assert wave.noise == pytest.approx(1.4826 / 101 / 2**0.5)


def test_a_page_that_cannot_be_written_leaves_nothing_beside(tmp_path: Path) -> None:
    (tmp_path / "page.html").mkdir()
    with pytest.raises(Problem, match="page.html cannot be written"):
        put(tmp_path / "page.html", "one")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_a_file_of_the_same_length_is_written_and_appears_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "a" / "page.html"
    assert put(page, "one") and not put(page, "one") and put(page, "two")
    assert page.read_text("utf-8") == "two"

    def full(path: Path, target: Path) -> Path:
        assert path.read_text("utf-8") == "three" and target.read_text("utf-8") == "two"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(Problem, match="No space left"):
        put(page, "three")
    assert page.read_text("utf-8") == "two"


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17, 18, 19, 34, 35, 100])
def test_each_page_is_of_one_share(count: int) -> None:
    assert [number for some in shares(count) for number in some] == list(range(count))


def test_no_text_in_the_data_of_a_page_ends_their_element() -> None:
    assert "<" not in embedded({"a": ["</script>", "<!--"]})
    assert json.loads(embedded({"a": ["</script>"]})) == {"a": ["</script>"]}


@pytest.mark.parametrize(("accepted", "is_drawn"), [(4.9, False), (5.1, True), (29.9, True), (30.1, False)])
def test_what_is_accepted_far_from_what_was_measured_is_not_drawn(accepted: float, is_drawn: bool) -> None:
    key = HOST, STEP_CASE, "optimized", "time_s"
    entry = Entry.model_validate(builders.time_entry(accepted))
    site = Site(Archive([], {}, {}), Levels(), accepted={(HOST, f"{STEP_CASE}|optimized|time_s"): entry})
    assert (band(site, Column(key, [0, 1], [10.0, 20.0])) is not None) is is_drawn


def test_the_times_accepted_for_the_processor_that_measured_last_are_drawn(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=4, cases=1)
    key = f"{STEP_CASE}|optimized|time_s"
    times = {
        "AuthenticAMD-26-2": {key: builders.time_entry(4.2e-3)},
        "GenuineIntel-6-167": {key: builders.time_entry(4.3e-3)},
    }
    held = builders.baseline() | {"device_class": HOST, "processors": times}
    builders.put(place.baselines / "devices" / HOST / "cubed_sphere_swe.json", held)
    place.draw()
    drawn = data_of(place.text(addresses.of_case(STEP_CASE)))["figures"]
    assert [one["band"][1] for one in drawn if one["band"]] == [4.2e-3]


def commits(count: int) -> list[Commit]:
    return [Commit(sha(number), planted_history.time_of(number)) for number in range(count)]


def test_marks_of_a_figure_stand_where_their_commits_are() -> None:
    column = Column((HOST, STEP_CASE, "optimized", "launches"), [0, 1, 3], [4.0, 4.0, 5.0], alarms={2})
    change = Change(column.key, 3, 1, 4.0, 5.0, 0.25, True)
    levels = Levels({column.key: [(0, 1, 4.0), (3, 3, 5.0)]}, {column.key: [change]})
    limits = Limits(3.0, 6.0)
    archive = Archive(commits(4), {}, {column.key: column})
    drawn = figures.marks(column, archive, levels, Band(4.5, 0.1), limits, REPOSITORY + "/commit/")
    plane = figures.Plane(limits, 4)
    each = (figures.RIGHT - figures.LEFT) / 4
    xs = [figures.short(figures.LEFT + (at + 0.5) * each) for at in range(4)]
    four, five = (figures.short(plane.y(value)) for value in (4.0, 5.0))
    marks = dict(re.findall(r'<path class="([a-z ]+)" d="([^"]*)"/>', drawn))
    assert marks["dots few"] == f"M{xs[0]} {four}h0M{xs[1]} {four}h0M{xs[3]} {five}h0"
    assert marks["level"] == f"M{xs[0]} {four}H{xs[1]}M{xs[3]} {five}H{xs[3]}"
    assert marks["change"] == f"M{figures.short(figures.LEFT + 3 * each)} 20.0V130.0"
    left, top = figures.short(plane.x(3) - 3), figures.short(plane.y(5.0) - 3)
    assert marks["alarm"] == f"M{left} {top}l6 6m0 -6l-6 6"
    band = [figures.short(plane.y(value)) for value in (4.5 * 1.1, 4.5 / 1.1, 4.5)]
    assert marks["band"] == f"M58.0 {band[0]}H344.0V{band[1]}H58.0z" and marks["accepted"] == f"M58.0 {band[2]}H344.0"
    assert re.search(rf'<text class="worse" [^>]*>\u2717 \+25 %</text><a href="{REPOSITORY}/commit/{sha(3)}">', drawn)


def wild(values: list[float], alarms: Collection[int] = ()) -> tuple[Column, Archive]:
    column = Column((HOST, STEP_CASE, "optimized", "time_s"), list(range(len(values))), values, "s", set(alarms))
    return column, Archive(commits(len(values)), {}, {column.key: column})


@pytest.mark.parametrize(("value", "edge", "up"), [(40.0, figures.TOP, 5), (0.01, figures.BOTTOM, -5)])
def test_one_wild_value_leaves_the_figure_to_a_step_and_is_an_arrow_at_its_edge(value: float, edge: float, up: int) -> None:
    column, archive = wild([1.0, 1.01] * 10 + [value] + [1.14, 1.15] * 10)
    limits = limits_of(column, None, Levels())
    assert limits.low < 1.0 and 1.15 < limits.high < 1.3
    marks = figures.marks(column, archive, Levels(), None, limits, None)
    (dots,) = re.findall(r'class="dots few" d="([^"]*)"', marks)
    x = figures.short(figures.Plane(limits, 41).x(20))
    assert dots.count("h0") == 40 and f"M{x} " not in dots
    assert f'<path class="beyond" d="M{x} {figures.short(edge)}l-3 {up}h6z"/>' in marks


@pytest.mark.parametrize(
    ("values", "alarms"),
    [
        ([1.0, 1.01] * 10 + [40.0], set()),
        ([1.0, 1.01] * 5 + [40.0] + [1.0, 1.01] * 5, {10}),
        ([4.0] * 10 + [9.0] + [4.0] * 9, set()),
        ([1.0, 1.01, 40.0, 1.0, 1.01, 1.0, 1.01], set()),
        ([1.0, 1.01] * 10 + [1.2] + [1.0, 1.01] * 10, set()),
    ],
    ids=["the newest", "what blocked", "where the rest stands still", "one of few", "a little off"],
)
def test_a_wild_value_stays_in_the_figure_where_it_is(values: list[float], alarms: set[int]) -> None:
    column, _ = wild(values, alarms)
    assert limits_of(column, None, Levels()).high > max(values)


def test_a_level_of_few_values_stays_in_the_figure() -> None:
    column, _ = wild([1.0, 1.01] * 30 + [40.0, 40.1, 40.2] + [1.0, 1.01] * 30)
    assert limits_of(column, None, Levels()).high < 2
    assert limits_of(column, None, Levels({column.key: [(60, 62, 40.1)]})).high > 40.2


def test_a_content_has_no_page_in_a_figure_and_what_is_no_worse_is_no_alarm() -> None:
    content = Commit("sha256:" + "c" * 64, "2026-11-21T12:00:00Z")
    key = HOST, STEP_CASE, "optimized", "launches"
    archive = Archive([*commits(20), content], {}, {})
    said = figures.labelled(figures.Plane(Limits(0, 9), 21), [Change(key, 20, 19, 4.0, 3.0, -0.25, False)], archive, "https://x/")
    assert "<a " not in said and ">content ccccccc</text>" in said
    assert re.search(r'<text class="moved" [^>]*>\u25b2 \u221225 %</text>', said)


def test_frames_of_other_limits_units_or_ways_to_draw_have_other_names(monkeypatch: pytest.MonkeyPatch) -> None:
    one = figures.name_of(Limits(1.0, 2.0), "s", False)
    others = [(Limits(1.001, 2.0), "s", False), (Limits(1.0, 2.001), "s", False), (Limits(1.0, 2.0), "B", False), (Limits(1.0, 2.0), "s", True)]
    names = {figures.name_of(*other) for other in others}
    monkeypatch.setattr(figures, "version", lambda: "of another build")
    names.add(figures.name_of(Limits(1.0, 2.0), "s", False))
    assert len(names) == 5 and one not in names


def test_a_figure_in_words_is_escaped() -> None:
    column = Column((HOST, STEP_CASE, 'opt"<b>', "launches"), [0, 1], [4.0, 5.0])
    drawn = figures.figure(column, Archive(commits(2), {}, {}), Levels(), None, None)
    assert "launches, opt&quot;&lt;b&gt;, on" in drawn and "<b>" not in drawn


def test_a_series_of_zeros_stands_on_the_axis() -> None:
    zeros = Column((HOST, STEP_CASE, "optimized", "spill_bytes"), [0, 1], [0.0, 0.0], "B")
    assert limits_of(zeros, None, Levels()) == Limits(0.0, 1.0)


def test_drawing_again_writes_nothing_and_a_run_more_writes_only_what_it_touches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = SitePlace(tmp_path, commits=9, cases=1)
    place.draw()
    before = {name: place.text(name) for name in place.pages()}
    capsys.readouterr()
    place.draw()
    assert ": 0 of " in capsys.readouterr().out
    runs = list(history(9, 1)) + [run for run in history(10, 1) if run.number == 10]
    write(place.store, runs)
    place.answer(trend_of(runs, place.planted))
    place.draw()
    after = {name: place.text(name) for name in place.pages()}
    assert before.keys() <= after.keys(), "addresses stay"
    untouched = [name for name in before if before[name] == after[name]]
    assert f"run/{sha(3)}.html" in untouched


def test_the_page_of_a_case_that_was_renamed_since_goes_and_nothing_else(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=2, cases=1)
    place.draw()
    before = place.pages()
    old = place.site / "case/cubed_sphere_swe/old_name/f64.html"
    old.parent.mkdir()
    old.write_text(place.text(STEP_PAGE), "utf-8")
    others = [place.site / "case/notes.txt", place.site / "about.html"]
    for other in others:
        other.write_text("of somebody else", "utf-8")
    place.draw()
    assert place.pages() == sorted([*before, "about.html"])
    assert all(other.exists() for other in others)


def test_a_frame_that_was_drawn_is_taken_from_the_page_and_a_broken_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SitePlace(tmp_path, commits=6, cases=1)
    place.draw()
    before = place.text(STEP_PAGE)
    figures.frame.cache_clear()
    monkeypatch.setattr(figures, "frame", None)  # whoever draws one now fails
    place.draw()
    assert place.text(STEP_PAGE) == before
    monkeypatch.undo()
    (place.site / STEP_PAGE).write_text("nonsense", "utf-8")
    place.draw()
    assert Links(place.text(STEP_PAGE)).figures == Links(before).figures


def test_an_address_of_a_strange_name_stays_in_the_site_and_is_its_own() -> None:
    strange = [addresses.of_case(name) for name in ("../../etc/passwd", "a/../b", "x/<y>", "x/_y_")]
    assert len(set(strange)) == 4
    assert all(".." not in Path(address).parts for address in strange)


def test_hostile_names_are_escaped(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=4)
    hostile = "cubed_sphere_swe/</script><script>alert(1)</script>"
    for run in place.runs:
        run.values = {
            (hostile if case == STEP_CASE else case, variant, metric): value
            for (case, variant, metric), value in run.values.items()
        }
        run.blocking = set()
    write(place.store, place.runs)
    place.answer(trend_of(place.runs, place.planted) | {"series": []})
    place.draw()
    for name in place.pages():
        assert "<script>alert" not in place.text(name), name
    assert "alert(1)" in words(place.text("index.html"))


def test_a_subject_that_turns_the_direction_of_reading_is_shown_and_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planted_history, "subject", lambda number: "Tile \u202e61\u2028 \x1b[1m caf\u00e9")
    place = SitePlace(tmp_path, commits=4, cases=1)
    place.draw()
    for name in place.pages():
        assert not re.search("[\x1b\u2028\u202e]", place.text(name)), name
    assert "Tile \\u202e61\\u2028 \\x1b[1m caf\u00e9" in words(place.text("runs.html"))


def test_without_a_repository_commits_are_named_and_not_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    place = SitePlace(tmp_path, commits=6)
    assert main(place.site_options()[:-1]) == 0
    links = Links(place.text(STEP_PAGE)).links
    assert not [link for link in links if "/commit/" in link]


def test_a_repository_that_is_no_address_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = SitePlace(tmp_path, commits=2)
    assert main([*place.site_options()[:-1], "--repository=javascript:alert(1)"]) == 2
    assert "--repository=javascript:alert(1)" in capsys.readouterr().err


def test_an_empty_store_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["site", f"--store={tmp_path / 'none'}", f"--out={tmp_path / 'out'}"]) == 2
    assert "holds no history" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("ticks", "unit", "texts"),
    [
        ([0.004, 0.0045], "s", ["4 ms", "4.5 ms"]),
        ([1177856.0, 1177864.0], "B", ["1.177856 MB", "1.177864 MB"]),
        ([4.0, 5.0], "1", ["4", "5"]),
        ([1.185, 1.2, 1.215], "1", ["1.185", "1.2", "1.215"]),
        ([1225000.0, 1250000.0], "1", ["1,225,000", "1,250,000"]),
    ],
)
def test_ticks_share_a_unit_and_say_where_they_are(
    ticks: list[float], unit: str, texts: list[str]
) -> None:
    assert labels_of(ticks, unit) == texts


@pytest.mark.parametrize(("low", "high", "unit"), [(3221225375, 3221226080, "B"), (3e11, 4e11, "flop/s")])
def test_the_labels_of_ticks_have_room(low: float, high: float, unit: str) -> None:
    framed = figures.frame(Limits(low, high), unit, True)
    found = re.findall(r"font-size: ([.0-9]+)px[^>]*>([^<]+)</text>", framed)
    assert len(found) > 1
    assert all(width_of(text, float(size)) <= figures.LEFT - 4 + 0.01 for size, text in found)


def test_frames_of_counts_that_are_one_apart_have_different_names() -> None:
    first, then = (Limits(1500000000.8 + by, 1500000002.2 + by) for by in (0, 1))
    assert figures.name_of(first, "1", True) != figures.name_of(then, "1", True)


def test_what_a_creep_adds_up_to_is_told_for_each_environment() -> None:
    key = HOST, DRIFT_CASE, "optimized", "time_s"
    pairs = [(100.0, 102.0), (102.0, 104.0), (90.0, 92.0)]  # another environment before the last
    steps = [Change(key, at, at - 1, a, b, b / a - 1, True) for at, (a, b) in enumerate(pairs)]
    creep = creep_of(key, steps)
    assert creep and creep.stretches == [(100.0, 104.0), (90.0, 92.0)]
    assert creep.change == pytest.approx(104 / 100 * 92 / 90 - 1)


def test_a_large_change_among_small_ones_is_a_step_and_no_creep() -> None:
    key = HOST, DRIFT_CASE, "optimized", "time_s"
    changes = [Change(key, at, at - 1, 1, 1, change, True) for at, change in enumerate((0.01, 0.3, 0.02))]
    assert creep_of(key, changes) is None
    assert creep_of(key, changes[::2]) is None


def test_what_creeps_is_told_once_and_not_as_steps(place: SitePlace) -> None:
    page = place.text("index.html")
    changed = page[page.index('id="changes"') : page.index('id="drifts"')]
    assert DRIFT_CASE.split("/")[1] not in words(changed)


def test_two_small_steps_that_the_command_calls_a_drift_are_one() -> None:
    key = HOST, DRIFT_CASE, "optimized", "time_s"
    changes = [Change(key, at, at - 1, 1, 1 + by, by, True) for at, by in ((3, 0.03), (9, 0.035))]
    assert creep_of(key, changes) is None, "two steps may be two commits"
    creep = creep_of(key, changes, Drift(key, 0, 1, 1.066, 0.066, True))
    assert creep and creep.change == pytest.approx(1.03 * 1.035 - 1)
    assert creep_of(key, changes, Drift(key, 0, 1, 0.9, -0.1, False)) is None, "another direction"
    large = [Change(key, at, at - 1, 1, 1.1, 0.1, True) for at in (3, 9)]
    assert creep_of(key, large, Drift(key, 0, 1, 1.21, 0.21, True)) is None, "steps that anyone sees"


def test_a_drift_by_one_step_is_told_as_well(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, cases=1)
    answer = trend_of(place.runs, place.planted)
    (stepped,) = (
        one for one in answer["series"] if one["case"] == STEP_CASE and one["metric"] == "speedup"
    )
    stepped["drift"] = {"since": sha(3), "anchor": 11.0, "median": 9.65, "change": -0.123}
    place.answer(answer)
    place.draw()
    said = words(place.text("index.html"))
    drifted = said[said.index("What drifted") : said.index("Where the environment changed")]
    assert "1 other series moved more than 5 %" in drifted
    assert "speedup, host-x86_64-v4-2t \u2717 \u221212.3 % 11 \u2192 9.65 since" in drifted
    assert sha(3)[:10] in drifted


def test_a_change_whose_parent_was_not_measured_names_the_commit_measured_before(
    tmp_path: Path,
) -> None:
    place = SitePlace(tmp_path, cases=1)
    step = place.planted.step
    runs = [run for run in place.runs if run.number not in (step - 1, step - 2)]
    write(place.store, runs)
    answer = trend_of(runs, place.planted)
    for one in answer["series"]:
        for change in one["change_points"]:
            if change["commit"] == sha(step):
                change["last_before"] = sha(step - 3)
        one["segments"] = []
    place.answer(answer)
    place.draw()
    said = f"4 \u2192 5; measured before it: {sha(step - 3)[:10]}"
    assert said in words(place.text("index.html"))
    assert said in words(place.text(STEP_PAGE))
    whole = SitePlace(tmp_path / "whole", cases=1)
    whole.draw()
    assert "measured before it" not in words(whole.text("index.html"))


def test_a_comparison_has_each_value_from_the_commit_on_at_which_it_was_measured() -> None:
    column = Column((HOST, STEP_CASE, "optimized", "launches"), [1, 2, 3, 51, 53], [4.0, 4.0, 5.0, 5.0, 6.0])
    assert comparison.steps(column, 54) == [[1, 4, 3, 5, 4, None], [1, 5, 2, None, 3, 6]]


def test_the_files_of_a_comparison_are_asked_for_by_what_is_in_them(place: SitePlace) -> None:
    versions = data_of(place.text("compare.html"))["versions"]
    assert sorted(versions) == ["series", "values-0"]
    for name, version in versions.items():
        assert version == hashlib.sha256((place.site / "data" / f"{name}.js").read_bytes()).hexdigest()[:8]


def test_what_blocked_last_is_the_first_figure_of_its_case() -> None:
    def column(metric: str, alarms: set[int]) -> Column:
        return Column((HOST, STEP_CASE, "optimized", metric), [0, 1], [1.0, 2.0], alarms=alarms)

    site = Site(Archive([], {}, {}), Levels())
    ranked = sorted([column("speedup", {0}), column("launches", set()), column("odd", {1})], key=lambda one: rank(site, one))
    assert [one.metric for one in ranked] == ["odd", "speedup", "launches"]


def test_a_class_whose_every_case_failed_has_its_verdict_on_the_badge() -> None:
    failed = Run(HOST, 0, {"toy": Part("2026-01-01T12:00:00Z", counts={"MISSING": 2}, blocking=2)})
    archive = Archive([Commit(sha(1), "2026-01-01T12:00:00Z")], {(HOST, 0): failed}, {})
    assert 'aria-label="holdfast: 2 block"' in pages.badge(archive)


def test_a_comparison_knows_where_the_environment_became_another(place: SitePlace) -> None:
    told = data_of(place.text("compare.html"))["environments"]
    for suite in planted_history.SUITES:
        assert [at for at, _ in told[HOST][suite]] == [0, place.planted.environment - 1]
        assert len({print for _, print in told[HOST][suite]}) == 2
        assert [at for at, _ in told[builders.DRY][suite]] == [0]


def test_changes_of_level_and_of_environment_are_told_apart_without_colour(place: SitePlace) -> None:
    style = place.text(STEP_PAGE)
    assert ".key .upright { border-left-style: solid; }" in style
    assert ".key .upright.dashed { border-left-style: dotted; }" in style


def test_what_is_said_of_a_point_names_the_branch_that_was_measured(place: SitePlace) -> None:
    page = place.text(STEP_PAGE)
    newest = place.planted.commits
    assert data_of(page)["commits"][newest - 1][2] == f"{planted_history.subject(newest)}, branch main"
    assert f"{planted_history.subject(newest)}, branch main</p>" in page


def test_a_figure_says_its_changes_and_environments_in_words(place: SitePlace) -> None:
    page = place.text(STEP_PAGE)
    (said,) = re.findall(r'aria-label="(launches, optimized, on cuda[^"]*)"', page)
    assert f"changed +25 % at {sha(place.planted.step)[:10]}" in said
    timed = re.findall(r'aria-label="(time_s, optimized, on host[^"]*)"', page)[0]
    assert f"another environment since {sha(place.planted.environment)[:10]}" in timed


def test_a_store_of_the_older_format_is_drawn_as_well(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=6)
    for path in place.store.rglob("*.ndjson"):
        path.unlink()
    planted_history.write_old(place.store, place.runs)
    place.draw()
    assert "\u2713 passed" in words(place.text("index.html"))
    assert builders.DRY in words(place.text("index.html"))
