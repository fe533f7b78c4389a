# SPDX-License-Identifier: Apache-2.0
"""Tests unchanged_runs.py with a stand-in for `holdfast`: files set its exit status, and it records its arguments."""

import io
import json
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest
import unchanged_runs

SCRIPT = Path(__file__).with_name("unchanged_runs.py")
HOLDFAST = """#!/bin/sh
echo "$*" >> "{place}/asked"
case $1 in
  run) [ ! -e "{place}/absent" ] || exit 77
       sleep 0.{pause}; case "$*" in *toy*) for a; do case $a in --out=*) mkdir -p "${{a#--out=}}";; esac; done ;; esac ;;
  baseline) [ -e "{place}/refuses" ] && rm "{place}/refuses" && exit 2 ;;
  check) cp "{place}/verdict.json" "$2/verdict.json"; exit $(cat "{place}/check_exit") ;;
esac
exit 0
"""
# An undecided ratio that blocks, an undecided time that only warns, two that were decided, and what was held against nothing.
VERDICT = {
    "counts": {"PASS": 4, "NOISY": 3},
    "rows": [
        {"verdict": "NOISY", "case": "toy/a", "metric": "speedup", "kind": "ratio", "blocking": True, "standard": "accepted"},
        {"verdict": "PASS", "case": "toy/b", "metric": "speedup", "kind": "ratio", "blocking": False, "standard": "accepted"},
        {"verdict": "NOISY", "case": "toy/a", "metric": "time_s", "kind": "time", "blocking": False},
        {"verdict": "PASS", "case": "toy/b", "metric": "time_s", "kind": "time", "blocking": False, "standard": "bound"},
        {"verdict": "PASS", "case": "toy/b", "metric": "setup_s", "kind": "time", "blocking": False},
        {"verdict": "PASS", "case": "toy/b", "metric": "launches", "kind": "exact", "blocking": False, "standard": "accepted"},
    ],
}
CASES = [("toy/smoke/n:8/f64", "smoke")] + [(f"toy/case.{i}/n:8/f64", "gate") for i in range(9)] + [("toy/big", "full")]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    binaries = tmp_path / "build/bin"
    binaries.mkdir(parents=True)
    (binaries / "holdfast").write_text(HOLDFAST.format(place=tmp_path, pause=0), "utf-8")
    (binaries / "holdfast").chmod(0o755)
    (binaries / "content.json").write_text('{"content": "sha256:0123456789abcdef"}', "utf-8")
    listed = [{"id": name, "tier": tier, "devices": {"host": {}}} for name, tier in CASES]
    (binaries / "toy.list.json").write_text(json.dumps({"cases": listed}), "utf-8")
    (tmp_path / "check_exit").write_text("0", "utf-8")
    (tmp_path / "verdict.json").write_text(json.dumps(VERDICT), "utf-8")
    (tmp_path / "README.md").write_text(
        "before\n<!-- unchanged-runs: begin -->\nold\n<!-- unchanged-runs: end -->\nafter\n", "utf-8")
    return tmp_path


def make(place: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(SCRIPT), str(place / "build"), f"--page={place / 'README.md'}", *options]
    said, told, code = io.StringIO(), io.StringIO(), 0
    with mock.patch.object(sys, "argv", command), redirect_stdout(said), redirect_stderr(told):
        try:
            unchanged_runs.main()
        except SystemExit as ended:
            assert isinstance(ended.code, int)
            code = ended.code
    return subprocess.CompletedProcess(command, code, said.getvalue(), told.getvalue())


def asked(place: Path, verb: str) -> list[str]:
    return [line for line in (place / "asked").read_text("utf-8").splitlines() if line.startswith(verb)]


def test_the_table_counts_exits_and_undecided_values_and_the_rest_of_the_page_stays(place: Path) -> None:
    done = make(place, "--device=host", "--loads=0", "--runs=2")
    assert done.returncode == 0, done.stderr
    text = (place / "README.md").read_text("utf-8")
    assert text.startswith("before\n<!-- unchanged-runs: begin -->\n") and text.endswith("<!-- unchanged-runs: end -->\nafter\n")
    assert "| host | 0 | gate | toy | 2 | 2 | 0 | 0 | 0 | 0 | 4 of 8 | 2 of 4 | 0 | 20" in text
    assert text.count(", 0123456789ab |") == 1
    assert "old" not in text
    assert "[2/2] host load 0 toy 2: exit 0, 2 of 4 undecided" in done.stdout


def test_as_a_command_it_ends_with_its_exit_status(place: Path) -> None:
    command = [sys.executable, SCRIPT, place / "build", f"--page={place / 'README.md'}", "--device=host", "--loads=0"]
    for options, code in ((["--runs=1"], 0), (["--runs=0"], 2)):
        assert subprocess.run([*command, *options], capture_output=True, check=False).returncode == code


@pytest.mark.parametrize("code", range(5))
def test_each_exit_is_counted_under_its_own_head(place: Path, code: int) -> None:
    (place / "check_exit").write_text(str(code), "utf-8")
    make(place, "--device=host", "--loads=0", "--runs=1")
    head, _, row = [line for line in (place / "README.md").read_text("utf-8").splitlines() if line.startswith("|")]
    cells = dict(zip(*([cell.strip() for cell in line.strip("|").split("|")] for line in (head, row)), strict=True))
    assert [cells[name] for name in ("exit 0", "1", "2", "3", "4")] == [str(int(code == other)) for other in range(5)]
    assert cells["runs"] == "1"


def test_a_device_that_is_not_there_has_no_rows(place: Path) -> None:
    (place / "absent").touch()
    done = make(place, "--device=host", "--loads=0", "--runs=1")
    assert (done.returncode, asked(place, "check")) == (0, []), done.stderr
    assert "this machine has no host: it has no rows" in done.stdout
    assert "| host |" not in (place / "README.md").read_text("utf-8")


def test_rows_of_what_is_not_measured_now_stay(place: Path) -> None:
    make(place, "--device=host", "--loads=16,0", "--runs=1")
    (place / "build/bin/content.json").write_text('{"content": "sha256:fedcba"}', "utf-8")
    make(place, "--device=host", "--loads=1,0", "--runs=2")
    rows = [row for row in (place / "README.md").read_text("utf-8").splitlines() if "| toy |" in row]
    assert [row.split(" | ")[1] for row in rows] == ["0", "1", "16"]
    assert [row.rsplit(", ", 1)[1] for row in rows] == ["fedcba |", "fedcba |", "0123456789ab |"]
    assert [row.split("| toy | ")[1][0] for row in rows] == ["2", "2", "1"]


def test_what_was_too_noisy_to_accept_is_measured_again_and_accepted_with_the_run_before(place: Path) -> None:
    (place / "refuses").touch()
    done = make(place, "--device=host", "--loads=0", "--runs=1")
    assert done.returncode == 0, done.stderr
    first, second = asked(place, "baseline accept")
    assert "--again" not in first and "accepted/toy-1 " in first
    assert "accepted/toy-2 " in second and "accepted/toy-1 " in second.split("--again=")[1]


def test_what_was_measured_is_not_measured_again_until_the_build_is_another(place: Path) -> None:
    make(place, "--device=host", "--loads=0", "--runs=2")
    make(place, "--device=host", "--loads=0", "--runs=3")
    assert len(asked(place, "check")) == 3
    assert len(asked(place, "baseline accept")) == 1
    (place / "build/bin/content.json").write_text('{"content": "sha256:fedcba"}', "utf-8")
    make(place, "--device=host", "--loads=0", "--runs=1")
    assert len(asked(place, "check")) == 4
    assert len(asked(place, "baseline accept")) == 2
    (place / "build/bin/holdfast").write_text(HOLDFAST.format(place=place, pause=0) + "# another gate\n", "utf-8")
    make(place, "--device=host", "--loads=0", "--runs=1")
    assert len(asked(place, "check")) == 5
    assert len(asked(place, "baseline accept")) == 3
    assert "| toy | 1 | 1 |" in (place / "README.md").read_text("utf-8")


@pytest.mark.parametrize(("code", "ends"), [(1, 1), (3, 1), (4, 1)])
def test_an_unchanged_suite_that_does_not_pass_is_told_and_kept(place: Path, code: int, ends: int) -> None:
    (place / "check_exit").write_text(str(code), "utf-8")
    done = make(place, "--device=host", "--loads=0", "--runs=1")
    assert done.returncode == ends
    assert (place / "build/unchanged/results/host-0-toy-1/verdict.json").is_file()


def test_what_only_warns_is_counted_and_what_blocks_decides(place: Path) -> None:
    done = make(place, "--device=host", "--loads=0", "--runs=2")
    assert done.returncode == 0
    assert "0 of 2 that ended in 4, 0 of them on cores of their own, and 4 of 8 times and ratios undecided" in done.stdout
    (place / "check_exit").write_text("4", "utf-8")
    done = make(place, "--device=host", "--loads=0", "--runs=3")
    assert done.returncode == 1
    assert "1 of 3 that ended in 4, 1 of them on cores of their own, and 6 of 12 times and ratios undecided" in done.stdout


def test_what_others_on_the_same_cores_left_undecided_is_told_and_is_no_load_0(place: Path) -> None:
    shared = json.loads(json.dumps(VERDICT))
    for row in shared["rows"]:
        row["evidence"] = {"cores": "others computed"} if row["verdict"] == "NOISY" else {}
    (place / "verdict.json").write_text(json.dumps(shared), "utf-8")
    (place / "check_exit").write_text("4", "utf-8")
    done = make(place, "--device=host", "--loads=0", "--runs=1")
    assert done.returncode == 0, done.stderr
    assert "1 of 1 that ended in 4, 0 of them on cores of their own" in done.stdout
    assert "| 2 of 4, 2 of them on shared cores | 1 of 2 |" in (place / "README.md").read_text("utf-8")


def test_the_whole_table_has_the_loads_that_are_promised(place: Path) -> None:
    done = make(place, "--device=host", "--runs=1")
    assert done.returncode == 0, done.stderr
    assert all(f"host load {load} toy 1" in done.stdout for load in (0, 1, 4, 16))


def test_undecided_on_a_busy_machine_is_no_failure(place: Path) -> None:
    (place / "check_exit").write_text("4", "utf-8")
    assert make(place, "--device=host", "--loads=1", "--runs=1").returncode == 0
    assert "| host | 1 | smoke, four of gate | toy | 1 | 0 | 0 | 0 | 0 | 1 |" in (place / "README.md").read_text("utf-8")


def test_beside_others_the_smoke_tier_and_four_cases_are_asked_for(place: Path) -> None:
    make(place, "--device=host", "--loads=1", "--runs=1")
    asked_for = asked(place, "run")[-1]
    assert r"--filter=^(toy/smoke/n:8/f64|toy/case\.0/n:8/f64|toy/case\.2" in asked_for
    assert asked_for.count("|") == 4


# Runs of a host take turns to measure, so that they would be no load to each other.
@pytest.mark.parametrize(("device", "cases", "verbs"), [("cuda-dry:sm_90", "gate", ["run", "run", "check"]),
                                                        ("host", "smoke, four of gate", ["run", "check", "run"])])
def test_where_nothing_is_executed_suites_are_part_of_the_load(place: Path, device: str, cases: str, verbs: list[str]) -> None:
    (place / "build/bin/holdfast").write_text(HOLDFAST.format(place=place, pause=3), "utf-8")
    shutil.copy(place / "build/bin/toy.list.json", place / "build/bin/toy.too.list.json")
    done = make(place, f"--device={device}", "--loads=1", "--runs=2")
    assert done.returncode == 0, done.stderr
    done_in_turn = [line.split()[0] for line in (place / "asked").read_text("utf-8").splitlines()]
    assert done_in_turn[4:7] == verbs  # after two runs that were accepted
    assert f"[4/4] {device} load 1 " in done.stdout
    text = (place / "README.md").read_text("utf-8")
    assert f"| {device} | 1 | {cases} | toy | 2 | 2 |" in text
    assert f"| {device} | 1 | {cases} | toy.too | 2 | 2 |" in text


@pytest.mark.parametrize("options", [["--runs=0"], ["--loads=x"], ["--suites=heat"]])
def test_an_option_that_makes_no_sense_is_refused(place: Path, options: list[str]) -> None:
    done = make(place, *options)
    assert done.returncode == 2 and done.stderr.startswith("unchanged-runs: ")


def test_a_page_without_the_markers_is_left_alone(place: Path) -> None:
    (place / "README.md").write_text("nothing\n", "utf-8")
    done = make(place, "--device=host", "--loads=0", "--runs=1")
    assert done.returncode == 2 and "needs one line" in done.stderr
    assert (place / "README.md").read_text("utf-8") == "nothing\n"
