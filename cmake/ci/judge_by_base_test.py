# SPDX-License-Identifier: Apache-2.0
"""The script as check.yml runs it, to its end: in a small repository of two commits whose builds make a `holdfast` that says
what it was asked and ends as its commit says."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("judge_by_base.sh")
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(small NONE)
add_custom_target(holdfast COMMAND ${CMAKE_COMMAND} -E copy ${PROJECT_SOURCE_DIR}/holdfast.sh ${PROJECT_BINARY_DIR}/bin/holdfast)
"""
# Its code, and where it judges by this tree's files another.
HOLDFAST = """#!/bin/sh
echo "holdfast of {name}: $*"
if [ "$1" = diff ]; then exit {read}; fi
echo "verdict of {name}" > "$2/verdict.txt"
case " $* " in *" --baselines=baselines "*) exit {code} ;; esac
exit {own}
"""


def git(place: Path, *arguments: str) -> str:
    command = ["git", "-C", place, "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def write(place: Path, name: str, text: str) -> None:
    (place / name).parent.mkdir(parents=True, exist_ok=True)
    (place / name).write_text(text, "utf-8")


def commit(place: Path, name: str, code: int, own: int = 0, read: int = 0) -> None:
    """`code` by this tree's policy, `own` by the base's, `read` where results are only looked at."""
    write(place, "holdfast.sh", HOLDFAST.format(name=name, code=code, own=own, read=read))
    (place / "holdfast.sh").chmod(0o755)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", name)


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A change, measured, whose own `holdfast` would call anything well."""
    place = tmp_path / "house"
    write(place, "CMakeLists.txt", CMAKE)
    write(place, ".gitignore", "build/\n")
    (place / "cmake/ci").mkdir(parents=True)
    shutil.copy(SCRIPT, place / "cmake/ci")
    git(tmp_path, "init", "--quiet", "--initial-branch=main", str(place))
    return place


def change(place: Path, base_code: int, own: int = 0, read: int = 0, formats: bool = False) -> None:
    write(place, "baselines/formats/results.schema.json", "{}")
    write(place, "baselines/policy/common.json", "{}")
    commit(place, "the base", base_code, own, read)
    git(place, "checkout", "--quiet", "-b", "change")
    write(place, "baselines/policy/common.json", '{"more": 1}')  # which is no format of results
    if formats:
        write(place, "baselines/formats/results.schema.json", '{"more": 1}')
    commit(place, "the change", 0)
    write(place, "build/release/results/host/toy.json", "{}")
    write(place, "build/release/results/verdict.txt", "verdict of this tree")


def judge(place: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["bash", place / "cmake/ci/judge_by_base.sh", *arguments]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", [0, 1])
def test_the_base_judges_and_its_code_is_the_scripts(house: Path, code: int) -> None:
    change(house, code)
    done = judge(house, "main")
    assert done.returncode == code, done.stderr
    assert "holdfast of the base: check " in done.stdout
    assert "the change" not in done.stdout
    assert " --lists=build/release/bin --baselines=baselines --baseline-ref=main --undecided=warn --quiet" in done.stdout


def test_an_option_of_gits_is_no_reference(house: Path) -> None:
    change(house, 0)
    done = judge(house, "--octopus")
    assert done.returncode == 128
    assert "Not a valid object name --octopus" in done.stderr
    assert "holdfast of " not in done.stdout


def test_this_trees_verdict_stays_and_nothing_is_left_behind(house: Path) -> None:
    change(house, 1)
    before = git(house, "status", "--porcelain")
    judge(house, "main")
    assert (house / "build/release/results/verdict.txt").read_text("utf-8") == "verdict of this tree"
    assert git(house, "worktree", "list").count("\n") == 1
    assert git(house, "status", "--porcelain") == before


def test_in_a_hook_the_base_of_this_tree_judges_and_the_callers_index_stays(house: Path, tmp_path: Path) -> None:
    change(house, 1)
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "other")
    before = git(house, "ls-files", "--stage")
    for variables in ({"GIT_DIR": str(tmp_path / "other/.git")}, {"GIT_INDEX_FILE": str(house / ".git/index")}):
        done = judge(house, "main", **variables)
        assert done.returncode == 1, done.stderr
        assert "holdfast of the base: check " in done.stdout
        assert git(house, "ls-files", "--stage") == before


@pytest.mark.parametrize("code", [0, 1, 3, 4])
@pytest.mark.parametrize("formats", [False, True])
def test_where_the_base_does_not_read_this_trees_policy_its_own_judges(house: Path, code: int, formats: bool) -> None:
    change(house, 2, own=code, formats=formats)
    done = judge(house, "main")
    assert done.returncode == code, done.stdout
    assert "/tree/baselines --baseline-ref=main --undecided=warn --quiet" in done.stdout  # misses suites that were dropped
    assert "does not read this change's policy or baselines: its own judge" in done.stdout


def test_results_in_a_new_format_are_said_and_leave_the_verdict_to_this_tree(house: Path) -> None:
    change(house, 2, own=2, read=2, formats=True)
    done = judge(house, "main")
    assert done.returncode == 0
    assert "::warning title=holdfast::the merge base's holdfast does not read results in this change's format" in done.stdout


@pytest.mark.parametrize(("read", "formats"), [(0, False), (0, True), (2, False)])
def test_what_the_base_does_not_judge_fails_where_no_format_is_why(house: Path, read: int, formats: bool) -> None:
    change(house, 2, own=2, read=read, formats=formats)
    done = judge(house, "main")
    assert done.returncode == 2
    assert "::warning" not in done.stdout
    assert "::error title=holdfast::" in done.stdout


@pytest.mark.parametrize("fails", ['message(FATAL_ERROR "no way")', "add_custom_target(holdfast COMMAND echo no way COMMAND false)"])
def test_a_base_that_does_not_build_is_a_failure_with_the_builds_words(house: Path, fails: str) -> None:
    write(house, "CMakeLists.txt", f"cmake_minimum_required(VERSION 3.25)\nproject(small NONE)\n{fails}\n")
    change(house, 0)
    done = judge(house, "main")
    assert done.returncode == 2
    assert "no way" in done.stdout + done.stderr
    assert git(house, "worktree", "list").count("\n") == 1


def test_a_reference_that_is_no_commit_fails(house: Path) -> None:
    change(house, 0)
    assert judge(house, "nowhere").returncode != 0
    assert "name what the change is to be merged into" in judge(house).stderr
