# SPDX-License-Identifier: Apache-2.0
"""What the site reads of a store, in both of its formats."""

import json
from pathlib import Path

import builders
import pytest
from holdfast_report import Problem
from holdfast_report.site.archive import Archive
from holdfast_report.site.cases import processors_of
from holdfast_report.site.reading import gather
from planted_history import DRY, HOST, STEP_CASE, history, sha, write, write_old

TOY = "toy/step/n:64/f64"
CLASS = "host-x86_64-v4-2t"
SEGMENT = f"""{{"schema":"holdfast-history/2","class":"{CLASS}"}}
{{"metric":"launches","kind":"exact","unit":"1","better":"lower"}}
{{"metric":"speedup","kind":"ratio","unit":"1","better":"higher"}}
{{"metric":"time_s","kind":"time","unit":"s","better":"lower"}}
{{"series":0,"case":"{TOY}","names":["case|speedup","optimized|launches","optimized|time_s"]}}
{{"run":1,"suite":"toy","utc":"2026-11-21T12:00:00Z","id":"2026-11-21T12:00:00Z-7f3a","commit":{{"name":"1111111111111111111111111111111111111111","order":1,"branch":"main","subject":"Measure the toy","author_time":"2026-11-21T11:58:00Z","parent":null,"ci":"https://ci.example/1"}},"env":{{"device_class":"{CLASS}","fingerprint":"sha256:f0"}},"not_checked":["no GPU"],"verdict":{{"exit":0,"counts":{{"PASS":3}},"blocking":0,"most":"PASS","others":{{}}}},"values":{{"0":[10,-100,-50,50,100],"1":4,"2":[6e-4,-100,-50,50,100]}}}}
{{"run":2,"suite":"toy","utc":"2026-11-22T12:00:00Z","id":"2026-11-22T12:00:00Z-0001","commit":{{"name":"2222222222222222222222222222222222222222","order":2,"branch":"main","subject":"Launch once more","author_time":"2026-11-22T11:00:00Z","parent":"1111111111111111111111111111111111111111","ci":null}},"verdict":{{"exit":1,"counts":{{"PASS":2,"REGRESSION":1}},"blocking":1,"most":"PASS","others":{{"REGRESSION":[[1,1]]}}}},"blocks":[[1,1]],"values":{{"0":[9.9,-90,-40,60,110],"1":5}}}}
{{"run":3,"suite":"toy","utc":"2026-11-23T12:00:00Z","id":"2026-11-23T12:00:00Z-0002","commit":{{"name":"3333333333333333333333333333333333333333","order":3,"branch":"main","subject":"Fail the time","author_time":"2026-11-23T11:00:00Z","parent":"2222222222222222222222222222222222222222","ci":null}},"verdict":null,"absent":[[2,2]],"values":{{}}}}
"""


def read_store(store: Path, baselines: Path | None, commits: list[str] | None = None) -> Archive:
    """Reads a store with its commits in the order of `commits`: by default, as they were appended."""
    gathering = gather(store, baselines)
    return gathering.archive(commits or list(gathering.numbers))


def placed(folder: Path, text: str, name: str = "2026-11-21T12-00-00Z.ndjson") -> Path:
    builders.put(folder / CLASS / name, text)
    return folder


def refusal(store: Path) -> str:
    with pytest.raises(Problem) as refused:
        gather(store, None)
    return str(refused.value)


def values(archive: Archive, variant: str, metric: str) -> list[tuple[int, float]]:
    column = archive.columns[CLASS, TOY, variant, metric]
    return list(zip(column.at, column.values, strict=True))


def test_a_value_holds_until_another_is_written_and_an_absent_one_is_none(tmp_path: Path) -> None:
    archive = read_store(placed(tmp_path, SEGMENT), None)
    assert values(archive, "case", "speedup") == [(0, 10), (1, 9.9), (2, 9.9)]
    assert values(archive, "optimized", "launches") == [(0, 4), (1, 5), (2, 5)]
    assert values(archive, "optimized", "time_s") == [(0, 6e-4), (1, 6e-4)]


def test_a_commit_has_its_subject_branch_and_the_time_of_its_author(tmp_path: Path) -> None:
    archive = read_store(placed(tmp_path, SEGMENT), None)
    commit = archive.commits[1]
    assert (commit.subject, commit.branch) == ("Launch once more", "main")
    assert commit.date == "2026-11-22" and commit.utc.endswith("11:00:00Z")


def test_a_run_knows_what_blocked_and_what_was_not_checked(tmp_path: Path) -> None:
    archive = read_store(placed(tmp_path, SEGMENT), None)
    first, second, third = (archive.runs[CLASS, at] for at in range(3))
    assert first.ci == "https://ci.example/1"
    assert (second.judged, second.counts) == ((1, 0), {"PASS": 2, "REGRESSION": 1})
    assert third.counts == {}
    assert third.not_checked == ["toy: no GPU"], "it holds until another suite's line says else"
    assert archive.columns[CLASS, TOY, "optimized", "launches"].alarms == {1}


def test_a_run_of_some_cases_or_on_a_machine_that_was_not_well_says_so(tmp_path: Path) -> None:
    said = SEGMENT.replace('"run":2,"suite":"toy"', '"run":2,"suite":"toy","partial":true,"invalid":["it was hot"]')
    archive = read_store(placed(tmp_path, said), None)
    more = ["toy: only some cases were run", "toy: the measurement is not valid: it was hot"]
    assert [archive.runs[CLASS, at].not_checked for at in range(3)] == [["toy: no GPU"], ["toy: no GPU", *more], ["toy: no GPU"]]


@pytest.mark.parametrize("verdict", ["WRONG", "SUSPECT-FAST", "REGRESSION", "CHANGED", "MISSING", "NOISY"])
def test_a_store_that_was_rewritten_says_by_its_verdicts_what_blocked(tmp_path: Path, verdict: str) -> None:
    said = SEGMENT.replace(',"blocks":[[1,1]]', "").replace('"others":{"REGRESSION":[[1,1]]}', f'"others":{{"{verdict}":[[0,1]]}}')
    columns = read_store(placed(tmp_path, said), None).columns
    alarms = [columns[CLASS, TOY, *of].alarms for of in (("case", "speedup"), ("optimized", "launches"), ("optimized", "time_s"))]
    assert alarms == ([set()] * 3 if verdict == "NOISY" else [{1}, {1}, set()])


def test_a_lost_line_is_noticed(tmp_path: Path) -> None:
    lines = SEGMENT.splitlines(keepends=True)
    store = placed(tmp_path, "".join([*lines[:6], *lines[7:]]))
    assert "run 2 of this file is missing; restore the store" in refusal(store)
    numbered = SEGMENT.replace('"series":0', '"series":2')
    assert "series 0 is missing; restore the store" in refusal(placed(tmp_path / "series", numbered))


def test_a_cut_line_an_unknown_key_and_another_version_are_refused(tmp_path: Path) -> None:
    assert ":8: is not JSON" in refusal(placed(tmp_path / "cut", SEGMENT[:-20]))
    odd = SEGMENT.replace('"absent":[[2,2]]', '"surprise":1')
    assert ":8: surprise" in refusal(placed(tmp_path / "odd", odd))
    other = SEGMENT.replace("holdfast-history/2", "holdfast-history/3")
    assert "'holdfast-history/3'" in refusal(placed(tmp_path / "other", other))


def test_a_folder_of_git_in_the_store_is_none_of_it(tmp_path: Path) -> None:
    builders.put(tmp_path / ".git" / "a.ndjson", "nonsense")
    assert len(read_store(placed(tmp_path, SEGMENT), None).commits) == 3


def test_an_empty_store_is_refused_with_the_command_that_begins_one(tmp_path: Path) -> None:
    assert "holdfast history append" in refusal(tmp_path)


def test_both_formats_are_read_as_the_same_history(tmp_path: Path) -> None:
    runs = list(history(12, 2))
    write(tmp_path / "new", runs)
    write_old(tmp_path / "old", runs)
    new, old = read_store(tmp_path / "new", None), read_store(tmp_path / "old", None)
    assert [commit.name for commit in new.commits] == [commit.name for commit in old.commits]
    assert new.columns.keys() == old.columns.keys()
    for key, column in new.columns.items():
        assert column.at == old.columns[key].at
        assert column.values == pytest.approx(old.columns[key].values, rel=1e-5)
        assert column.alarms == old.columns[key].alarms
    for name in (HOST, DRY):
        assert len(new.environment_changes(name)) == len(old.environment_changes(name))


def test_another_fingerprint_is_a_change_of_the_environment_of_its_class_alone(
    tmp_path: Path,
) -> None:
    write(tmp_path, list(history(20, 2)))
    archive = read_store(tmp_path, None)
    ((before, after),) = archive.environment_changes(HOST)
    assert (before.at, after.at) == (14, 15)
    assert before.facts["compiler"] != after.facts["compiler"]
    assert archive.environment_changes(DRY) == []


def test_a_renamed_case_keeps_its_past(tmp_path: Path) -> None:
    aliases = {"schema": "holdfast-aliases/1", "aliases": {TOY: "toy/step/n:64/f32"}}
    builders.put(tmp_path / "baselines" / "aliases.json", json.dumps(aliases))
    archive = read_store(placed(tmp_path / "store", SEGMENT), tmp_path / "baselines")
    assert list(archive.cases) == ["toy/step/n:64/f32"]


def test_the_noise_of_a_series_is_that_between_neighbours_and_no_step(tmp_path: Path) -> None:
    write(tmp_path, list(history(60, 2)))
    archive = read_store(tmp_path, None)
    assert archive.columns[DRY, STEP_CASE, "optimized", "launches"].noise == 0
    assert 0.003 < archive.columns[HOST, STEP_CASE, "optimized", "time_s"].noise < 0.012
    assert archive.commits[0].name == sha(1)


def run_line(number: int, commit: str, order: int, utc: str, launches: int) -> str:
    said = {
        "run": number, "suite": "toy", "utc": utc, "id": None,
        "commit": {
            "name": commit, "order": order, "branch": None, "subject": None, "author_time": None,
            "parent": None, "ci": None,
        },
        "verdict": None, "values": {"0": 10, "1": launches, "2": 6e-4},
    }
    return json.dumps(said, separators=(",", ":")) + "\n"


def out_of_order(folder: Path, *runs: tuple[str, int, str, int], commits: str = "") -> Archive:
    """Runs of a commit, an order, a time and launches, as they were appended; `commits` in their
    order, by the letter that each consists of."""
    head = "".join(SEGMENT.splitlines(keepends=True)[:5])
    lines = [run_line(number, *run) for number, run in enumerate(runs, start=1)]
    return read_store(placed(folder, head + "".join(lines)), None, [40 * name for name in commits])


def test_commits_stand_in_the_order_that_the_command_tells(tmp_path: Path) -> None:
    archive = out_of_order(
        tmp_path,
        ("b" * 40, 1, "2026-11-22T12:00:00Z", 5),
        ("a" * 40, 2, "2026-11-21T12:00:00Z", 4),
        commits="ab",
    )
    assert [commit.name[0] for commit in archive.commits] == ["a", "b"]
    assert archive.commits[archive.runs_of(CLASS)[-1].at].name == "b" * 40
    assert values(archive, "optimized", "launches") == [(0, 4), (1, 5)]
    assert archive.columns[CLASS, TOY, "optimized", "launches"].last == 5


def test_a_store_that_grew_while_it_was_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="draw the site again"):
        read_store(placed(tmp_path, SEGMENT), None, ["1" * 40, "2" * 40])


def test_of_two_runs_of_a_commit_the_later_is_judged(tmp_path: Path) -> None:
    """The first one blocked; the second, appended before or after it, passed."""
    lines = SEGMENT.splitlines(keepends=True)
    first, again = lines[6], lines[6].replace('"run":2', '"run":3')
    again = again.replace("22T12:00:00Z", "22T18:00:00Z").replace('"1":5', '"1":4')
    again = again.replace('"PASS":2,"REGRESSION":1', '"PASS":3').replace('"blocking":1', '"blocking":0')
    again = again.replace('"REGRESSION":[[1,1]]', "").replace('"blocks":[[1,1]],', "")
    swapped = [
        again.replace('"run":3', '"run":2').replace("0001", "0009"),
        first.replace('"run":2', '"run":3'),
    ]
    for name, both in (("as measured", [first, again]), ("swapped", swapped)):
        archive = read_store(placed(tmp_path / name, "".join([*lines[:6], *both])), None)
        run = archive.runs[CLASS, 1]
        assert (run.judged, run.counts) == ((0, 0), {"PASS": 3}), name
        assert run.utc == "2026-11-22T18:00:00Z"
        assert values(archive, "optimized", "launches") == [(0, 4), (1, 5), (1, 4)]
        assert archive.columns[CLASS, TOY, "optimized", "launches"].alarms == {1}, "the first of them"


def test_of_two_runs_of_a_commit_on_two_processors_each_value_has_its_own(tmp_path: Path) -> None:
    lines = SEGMENT.splitlines(keepends=True)

    def on(processor: str, line: str) -> str:
        env = {"fingerprint": f"sha256:{processor}", "host": {"processor": processor}}
        return line.replace('"verdict":', f'"env":{json.dumps(env)},"verdict":', 1)

    first = on("Intel", lines[6])
    again = on("AMD", lines[6].replace('"run":2', '"run":3').replace("22T12:00:00Z", "22T18:00:00Z"))
    swapped = [again.replace('"run":3', '"run":2'), first.replace('"run":2', '"run":3')]
    for name, both in (("as measured", [first, again]), ("swapped", swapped)):
        archive = read_store(placed(tmp_path / name, "".join([*lines[:6], *both])), None)
        column = archive.columns[CLASS, TOY, "optimized", "launches"]
        assert (column.at, processors_of(column)) == ([0, 1, 1], ["", "Intel", "AMD"]), name


def test_of_two_runs_of_a_commit_the_later_counts_whichever_was_appended_first(
    tmp_path: Path,
) -> None:
    archive = out_of_order(
        tmp_path,
        ("a" * 40, 1, "2026-11-22T12:00:00Z", 5),
        ("a" * 40, 1, "2026-11-21T12:00:00Z", 4),
    )
    assert values(archive, "optimized", "launches") == [(0, 4), (0, 5)]


def test_a_content_is_called_so_and_a_commit_by_its_hash(tmp_path: Path) -> None:
    archive = out_of_order(
        tmp_path,
        ("a" * 40, 1, "2026-11-21T12:00:00Z", 4),
        ("sha256:" + "d" * 64, 2, "2026-11-22T12:00:00Z", 5),
    )
    assert [commit.called for commit in archive.commits] == ["a" * 10, "content " + "d" * 10]
