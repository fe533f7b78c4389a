# SPDX-License-Identifier: Apache-2.0
"""What the site says of a verdict, a change and a commit: which is worse, which comes first, what is told of how many."""

import re
from pathlib import Path

import builders
import planted_history
import pytest
from holdfast_report.site.archive import Archive, Column, Commit, Part, Run
from holdfast_report.site.figures import describe
from holdfast_report.site.gathering import Gathering
from holdfast_report.site.levels import (
    Change,
    Creep,
    Drift,
    Levels,
    better_of,
    is_worse,
)
from holdfast_report.site.pages import (
    Renderer,
    Site,
    badge,
    class_page,
    gaps_at,
    index,
    left,
    run_page,
    runs,
)
from holdfast_report.site.reading import read_aliases
from holdfast_report.site.views import (
    State,
    differences,
    moved,
    state_of,
    summary,
    surroundings,
)
from holdfast_report.units import readable
from planted_history import HOST, STEP_CASE, sha
from site_place import REPOSITORY, Links

Key = tuple[str, str, str, str]
RED, GREEN, AMBER = "#b83c08", "#007a5a", "#8a6100"


def key(metric: str = "time_s", variant: str = "optimized", case: str = STEP_CASE, name: str = HOST) -> Key:
    return name, case, variant, metric


def run(at: int = 0, name: str = HOST, fingerprint: str = "sha256:" + "1" * 64, **counts: int) -> Run:
    return Run(name, at, {"cubed_sphere_swe": Part("2026-11-21", fingerprint, {"compiler": fingerprint[7:9]}, counts=counts, caveats=[])})


def archive_of(count: int, *measured: Run, columns: tuple[Column, ...] = ()) -> Archive:
    commits = [
        Commit(sha(at), planted_history.time_of(at), f"subject {at}", "main", sha(at - 1) if at else None) for at in range(count)
    ]
    known = columns or (Column(key(), list(range(count)), [1.0 + at for at in range(count)], "s"),)
    every = measured or tuple(run(at, PASS=3) for at in range(count))
    return Archive(commits, {(one.device_class, one.at): one for one in every}, {one.key: one for one in known})


def change(at: int, by: float, worse: bool | None = True, of: Key | None = None) -> Change:
    return Change(of or key(), at, at - 1, 1.0, 1.0 + by, by, worse)


def levels_with(*changes: Change) -> Levels:
    found = Levels()
    for one in changes:
        found.changes.setdefault(one.key, []).append(one)
    return found


def words(page: str) -> str:
    body = re.sub(r"<script.*?</script>", "", page[page.find("<body>") :], flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def test_a_long_subject_is_cut_with_an_ellipsis() -> None:
    assert Commit("a", "2026-11-21", "x" * 72).headline == "x" * 72
    assert Commit("a", "2026-11-21", "x" * 70 + " yz").headline == "x" * 70 + "\u2026"
    assert Commit("a", "2026-11-21").headline == ""


def test_which_way_is_better_is_what_was_accepted_and_else_what_a_name_says() -> None:
    assert {name: better_of(name, {}) for name in ("speedup", "peak_ratio", "floor_fraction", "flop_per_s", "time_s", "launches")} == {
        "speedup": "higher", "peak_ratio": "higher", "floor_fraction": "higher", "flop_per_s": "higher", "time_s": "lower",
        "launches": "lower",
    }
    assert better_of("speedup", {"speedup": "same"}) == "same"


@pytest.mark.parametrize(("better", "rise", "fall"), [("lower", True, False), ("higher", False, True), ("same", None, None)])
def test_a_change_is_worse_against_the_way_that_is_better(better: str, rise: bool | None, fall: bool | None) -> None:
    assert (is_worse("m", 0.1, {"m": better}), is_worse("m", -0.1, {"m": better})) == (rise, fall)


@pytest.mark.parametrize(("counts", "state"), [
    ({"PASS": 3}, State("passed", "\u2713", "good")), ({"PASS": 3, "WARN": 2}, State("passed, 2 warn", "\u2248", "odd")),
    ({"REGRESSION": 1, "NOISY": 1}, State("1 block, 1 warn", "\u2717", "bad")), ({}, State("not judged", "?", "odd")),
])
def test_the_state_of_a_run_is_its_worst(counts: dict[str, int], state: State) -> None:
    assert state_of([run(**counts)]) == state
    if counts:
        beside = state_of([run(**counts), run(name="other")])
        assert (beside.tone, "not judged" in beside.text) == (state.tone if state.tone == "bad" else "odd", state.tone != "bad")


@pytest.mark.parametrize(("counts", "colour"), [({"PASS": 3}, GREEN), ({"REGRESSION": 1}, RED), ({"WARN": 1}, AMBER)])
def test_the_badge_has_the_colour_of_the_worst_class(counts: dict[str, int], colour: str) -> None:
    other = Column(key(name="other"), [0], [1.0], "s")
    mine = Column(key(), [0], [1.0], "s")
    for names in ((HOST, "other"), ("other", HOST)):
        shown = badge(archive_of(1, run(name=names[0], **counts), run(name=names[1], PASS=3), columns=(mine, other)))
        assert [one for one in (RED, GREEN, AMBER) if f'<path fill="{one}"' in shown] == [colour]


def test_a_change_is_told_from_its_level_before_to_the_one_after() -> None:
    archive = archive_of(4)
    told = moved(change(3, 0.5), archive)
    assert (told.levels, told.percent, told.tone, told.symbol) == ("1 s \u2192 1.50 s", "+50 %", "bad", "\u2717")
    assert told.after is None and told.commit.name == sha(3)
    assert moved(change(3, -0.5, False), archive).tone == "good" and moved(change(3, 0.5, None), archive).tone == "odd"
    skipped = Change(key(), 3, 1, 1.0, 2.0, 1.0, True)
    assert moved(skipped, archive).after == archive.commits[1], "a commit between them was not measured"


def test_a_creep_is_told_from_its_first_step_to_its_last() -> None:
    steps = [Change(key(), at, at - 1, 1.0 + 0.1 * at, 1.1 + 0.1 * at, 0.1, True) for at in (1, 2, 3)]
    told = moved(Creep(key(), steps), archive_of(4))
    assert told.until is not None and (told.commit.name, told.until.name, told.steps) == (sha(1), sha(3), 3)
    assert told.percent == "+33.1 %", "one after the other"


def test_what_a_commit_changed_is_counted_by_its_direction() -> None:
    changes = [change(1, 0.1), change(1, 0.2), change(1, -0.1, False), change(1, 0.1, None)]
    assert summary(changes) == "2 levels worse, 1 level better, 1 level changed"


def test_the_newest_commit_comes_first_and_what_it_made_worst() -> None:
    names = ("launches", "time_s", "peak_bytes", "copies")
    of = [change(2, by, worse, key(metric)) for metric, by, worse in zip(names, (-0.9, 0.1, 0.3, 0.2), (False, True, True, None), strict=True)]
    (first, changes), (second, _) = levels_with(change(1, 0.1, True, key("speedup")), *of).by_commit
    assert (first, second) == (2, 1)
    assert [one.key[3] for one in changes] == ["peak_bytes", "time_s", "launches", "copies"]


def site_of(archive: Archive, *changes: Change, link: str | None = REPOSITORY + "/commit/") -> Site:
    return Site(archive, levels_with(*changes), link=link)


def test_a_commit_that_made_something_worse_is_red_whatever_else_it_did_and_all_it_did_is_counted() -> None:
    of = [change(2, 0.1 * at, at % 2 == 0, key(f"metric_{at}")) for at in range(1, 9)]
    site = site_of(archive_of(4), *of, change(3, -0.1, False, key("better")), change(1, 0.1, None, key("other")))
    page = index(site, Renderer(site))
    articles = re.findall(r'<article class="finding (\w+)">\s*<h3><span[^>]*>(.)</span>', page[page.index('id="changes"') :])
    assert articles == [("good", "\u25b2"), ("bad", "\u2717"), ("odd", "\u2260")]
    assert f'<a href="run/{sha(2)}.html#changes">3 more</a>' in page
    assert "4 levels worse, 4 levels better" in words(page)


def test_of_many_commits_each_is_named_on_the_overview() -> None:
    count = 20
    site = site_of(archive_of(count), *[change(at, 0.1, True, key(f"metric_{at}")) for at in range(1, count)])
    said = words(index(site, Renderer(site)))
    changed = said[said.index("What changed its level") : said.index("What drifted")]
    assert "7 older commits" in changed
    assert [at for at in range(1, count) if sha(at)[:10] not in changed] == []


def test_a_page_of_a_commit_leads_to_the_one_before_and_the_one_after_and_compares_with_the_one_before() -> None:
    site = site_of(archive_of(4), change(2, 0.1))
    links = Links(run_page(site, Renderer(site), 2)[1]).links
    assert f"../run/{sha(1)}.html" in links and f"../run/{sha(3)}.html" in links and f"../run/{sha(0)}.html" not in links
    assert f"../compare.html#from={sha(1)[:10]}&to={sha(2)[:10]}" in links
    assert f"{REPOSITORY}/commit/{sha(2)}" in links
    first, last = (words(run_page(site, Renderer(site), at)[1]) for at in (0, 3))
    assert "before it" not in first and "after it" in first and "after it" not in last


def test_beside_a_commit_of_another_branch_a_commit_is_compared_with_its_parent() -> None:
    site = site_of(archive_of(4))
    site.archive.commits[3].parent = sha(1)
    page = run_page(site, Renderer(site), 3)[1]
    assert f"../compare.html#from={sha(1)[:10]}&to={sha(3)[:10]}" in Links(page).links
    assert "before it" in words(page) and "compare with its parent" in words(page)
    site.archive.commits[3].parent = "f" * 40
    page = run_page(site, Renderer(site), 3)[1]
    assert f"../compare.html#from={sha(2)[:10]}&to={sha(3)[:10]}" in Links(page).links, "which was not measured"


def test_a_page_of_a_commit_counts_its_verdicts_and_says_what_nobody_judged() -> None:
    site = site_of(archive_of(2, run(0, PASS=30, REGRESSION=1), run(1)))
    said = words(run_page(site, Renderer(site), 0)[1])
    assert "30" in said and "REGRESSION" in said and "1 block" in said
    assert f"{HOST}: nothing was judged" in gaps_at(site, site.archive.runs_at(1))
    assert f"{HOST}: nothing was judged" not in gaps_at(site, site.archive.runs_at(0))


def test_all_commits_are_listed_with_how_many_levels_each_changed() -> None:
    site = site_of(archive_of(4), change(2, 0.1), change(2, 0.2, True, key("launches")))
    rows = re.findall(r"<tr><td.*?</tr>", runs(site, Renderer(site)), re.DOTALL)
    assert [f"run/{sha(at)}.html" in row for at, row in zip((3, 2, 1, 0), rows, strict=True)] == [True] * 4
    assert ["<td>2</td>" in row for row in rows] == [False, True, False, False]


def test_a_class_shows_what_its_optimized_variants_and_cases_have() -> None:
    columns = [Column(key("time_s", variant), [0], [value], "s") for variant, value in (("optimized", 1e-3), ("reference", 7e-3))]
    columns.append(Column(key("speedup", "case"), [0], [7.0]))
    site = site_of(archive_of(1, columns=tuple(columns)))
    said = words(class_page(site, Renderer(site), HOST)[1])
    assert "1 ms" in said and "7 ms" not in said and "case speedup time_s" in said


def test_a_case_is_left_where_none_of_its_series_is_measured_any_more() -> None:
    still, gone, older = Column(key(), [0, 3], [1.0, 1.0]), Column(key("launches"), [0, 2], [1.0, 1.0]), Column(key("copies"), [1], [1.0])
    archive = archive_of(4, columns=(still, gone, older))
    assert left(archive, [still, gone]) == ""
    assert left(archive, [gone, older]).startswith(f"last measured at {sha(2)[:10]}, ")


def test_environments_are_told_from_the_older_to_the_newer_and_the_newest_first() -> None:
    prints = ["sha256:" + digit * 64 for digit in "112234"]
    archive = archive_of(6, *[run(at, fingerprint=one, PASS=1) for at, one in enumerate(prints)])
    assert [one.commit.name for one in surroundings(archive, HOST)] == [sha(5), sha(4), sha(2)]
    (before, after) = archive.environment_changes(HOST)[0]
    assert (before.at, after.at) == (1, 2)
    told = "compiler 11 \u2192 22; fingerprint 11111111 \u2192 22222222"
    assert differences(before, after) == told
    site = site_of(archive)
    assert [told in words(run_page(site, Renderer(site), at)[1]) for at in range(4)] == [False, False, True, False]


def test_a_figure_tells_the_environments_of_its_own_suite() -> None:
    of_another = {"gpt_train": Part("2026-11-21", "sha256:" + "9" * 64, {}, counts={"PASS": 1}, caveats=[])}
    every = [run(at, fingerprint="sha256:" + digit * 64, PASS=1) for at, digit in enumerate("1122")]
    every[3].parts.update(of_another)
    every[0].parts["gpt_train"] = Part("2026-11-20", "sha256:" + "8" * 64, {}, counts={"PASS": 1}, caveats=[])
    archive = archive_of(4, *every)
    assert len(archive.environment_changes(HOST)) == 2
    (column,) = archive.columns.values()
    assert describe(column, archive, Levels()).endswith(f"; another environment since {sha(2)[:10]}")
    again = archive_of(3, *[run(at, fingerprint="sha256:" + digit * 64, PASS=1) for at, digit in enumerate("121")])
    (column,) = again.columns.values()
    assert describe(column, again, Levels()).endswith(f"; another environment since {sha(2)[:10]}, the last of 2")


def test_a_drift_names_where_it_began_and_both_levels() -> None:
    site = site_of(archive_of(4))
    site.levels.drifts[key()] = Drift(key(), 1, 2.0, 3.0, 0.5, True)
    said = words(index(site, Renderer(site)))
    assert "+50 % 2 s \u2192 3 s since" in said and sha(1)[:10] in said[said.index("What drifted") :]


@pytest.mark.parametrize(("metric", "declared", "from_to"), [
    ("compile_warm", "programs", "1 program \u2192 2 programs"), ("flop_per_s", "1/s", "1 flop/s \u2192 2 flop/s"),
])
def test_a_list_of_changes_has_the_unit_of_the_figures(metric: str, declared: str, from_to: str) -> None:
    gathering = Gathering({})
    gathering.units[metric] = declared
    for at in range(4):
        number = gathering.commit(sha(at), planted_history.time_of(at), {})
        gathering.run(HOST, number).part("cubed_sphere_swe", planted_history.time_of(at))
        gathering.value(key(metric), number, 1.0 + at // 3, None, planted_history.time_of(at))
    archive = gathering.archive([sha(at) for at in range(4)])
    column = archive.columns[key(metric)]
    assert f"{readable(1, column.unit)} \u2192 {readable(2, column.unit)}" == from_to
    assert moved(change(3, 1.0, of=key(metric)), archive).levels == from_to
    site = site_of(archive)
    site.levels.drifts[key(metric)] = Drift(key(metric), 1, 1.0, 2.0, 1.0, True)
    assert f"{from_to} since" in words(index(site, Renderer(site)))


def test_names_of_names_are_followed_and_a_circle_ends(tmp_path: Path) -> None:
    aliases = {"a/1": "a/2", "a/2": "a/3", "b/1": "b/2", "b/2": "b/1"}
    builders.put(tmp_path / "aliases.json", {"schema": "holdfast-aliases/1", "aliases": aliases})
    assert read_aliases(tmp_path) == {"a/1": "a/3", "a/2": "a/3", "b/1": "b/2", "b/2": "b/1"}
