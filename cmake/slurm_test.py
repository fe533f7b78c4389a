# SPDX-License-Identifier: Apache-2.0
"""The job script of a cluster, run as Slurm runs it: with its variables, and a command that tells what it was asked."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "cmake" / "slurm" / "suites.sbatch"
GIB = 2**30


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    """A folder to submit from, with a command that tells what it was asked, and three suites beside it."""
    command = tmp_path / "bin" / "holdfast"
    command.parent.mkdir()
    command.write_text('#!/bin/sh\necho "$@"\necho "${HOLDFAST_MEMORY_LIMIT_GB:-none}"\n', "utf-8")
    command.chmod(0o755)
    for suite in ("waves", "heat", "stars"):
        (command.parent / f"{suite}.list.json").write_text("{}", "utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOLDFAST": "bin/holdfast", **variables}
    return subprocess.run([SCRIPT, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False)


def asked(folder: Path, *arguments: str, **variables: str) -> str:
    return run(folder, *arguments, **variables).stdout.splitlines()[0]


def test_asks_slurm_for_what_it_needs_and_for_no_number_of_tasks() -> None:
    lines = SCRIPT.read_text("utf-8").splitlines()
    said = {line.removeprefix("#SBATCH ") for line in lines if line.startswith("#SBATCH")}
    assert said == {"--job-name=holdfast", "--cpus-per-task=16", "--mem=32G", "--time=04:00:00"}


def test_each_task_measures_one_suite_into_the_root_of_all(cluster: Path) -> None:
    tasks = [asked(cluster, "cuda", "--tier=full", SLURM_ARRAY_JOB_ID="7", SLURM_JOB_ID=str(8 + task),
                   SLURM_ARRAY_TASK_ID=str(task)) for task in range(3)]
    assert tasks == [f"run {suite} --device=cuda --out=results-7 --tier=full" for suite in ("heat", "stars", "waves")]


def test_a_task_without_a_suite_is_refused(cluster: Path) -> None:
    ran = run(cluster, SLURM_ARRAY_TASK_ID="3")
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert "--array=0-2 takes heat stars waves" in ran.stderr


def test_without_an_array_all_suites_are_measured_on_the_host(cluster: Path) -> None:
    assert asked(cluster) == "run heat stars waves --device=host --out=results-local"


def test_what_was_gathered_is_judged_and_each_suite_is_expected(cluster: Path) -> None:
    (cluster / "results-7").mkdir()
    expected = "--expect=heat:cuda --expect=stars:cuda --expect=waves:cuda"
    assert asked(cluster, "judge", "results-7", "cuda", "--undecided=warn",
                 SLURM_ARRAY_TASK_ID="0") == f"check results-7 {expected} --undecided=warn"
    assert asked(cluster, "judge", "results-7").endswith("--expect=waves:host")
    assert run(cluster, "judge", "results-8").returncode == run(cluster, "judge").returncode == 2


def test_plans_with_four_fifths_of_the_memory(cluster: Path) -> None:
    ran = run(cluster, SLURM_MEM_PER_NODE="32768", SLURM_CPUS_PER_TASK="16")
    assert abs(float(ran.stdout.splitlines()[1]) * 1e9 / GIB - 25.6) < 1e-3
    assert ran.returncode == 0


def test_keeps_a_limit_that_was_given_and_sets_none_without_slurm(cluster: Path) -> None:
    given = run(cluster, HOLDFAST_MEMORY_LIMIT_GB="3", SLURM_MEM_PER_NODE="32768")
    assert given.stdout.splitlines()[1] == "3"
    assert run(cluster).stdout.splitlines()[1] == "none"


def test_how_a_run_or_its_verdict_ends_is_how_the_task_ends(cluster: Path) -> None:
    (cluster / "bin" / "holdfast").write_text('#!/bin/sh\ncase "$1" in run) exit 3 ;; *) exit 4 ;; esac\n', "utf-8")
    (cluster / "results-7").mkdir()
    assert run(cluster, SLURM_ARRAY_TASK_ID="0").returncode == 3
    assert run(cluster, "judge", "results-7").returncode == 4


def test_names_what_is_missing(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert (ran.returncode, ran.stderr.count("\n")) == (2, 1)
    assert "there is no bin/holdfast" in ran.stderr
