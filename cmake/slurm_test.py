# SPDX-License-Identifier: Apache-2.0
"""The job script of a cluster, run as Slurm runs it: with its variables, and a command that tells what it was asked."""

import os
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parent / "slurm" / "xpcs_fit.sbatch"
GIB = 2**30


def run(folder: Path, *arguments: str, present: bool = True, **variables: str) -> subprocess.CompletedProcess[str]:
    command = folder / "holdfast"
    if present:
        command.write_text('#!/bin/sh\necho "$@"\necho "${HOLDFAST_MEMORY_LIMIT_GB:-none}"\n')
        command.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], "HOLDFAST": str(command), **variables}
    return subprocess.run([SCRIPT, *arguments], env=environment, capture_output=True, text=True, check=False)


def test_asks_slurm_for_what_it_needs() -> None:
    asked = [line.removeprefix("#SBATCH ") for line in SCRIPT.read_text().splitlines() if line.startswith("#SBATCH")]
    assert {"--cpus-per-task=16", "--mem=32G", "--time=04:00:00"} <= set(asked)


def test_plans_with_four_fifths_of_the_memory(tmp_path: Path) -> None:
    ran = run(tmp_path, SLURM_MEM_PER_NODE="32768", SLURM_CPUS_PER_TASK="16", SLURM_JOB_ID="7")
    asked, limit = ran.stdout.splitlines()
    assert asked == "run xpcs_fit --device=host --tier=full --out=results-7"
    assert abs(float(limit) * 1e9 / GIB - 25.6) < 1e-3
    assert ran.returncode == 0


def test_keeps_a_limit_that_was_given_and_sets_none_without_slurm(tmp_path: Path) -> None:
    given = run(tmp_path, HOLDFAST_MEMORY_LIMIT_GB="3", SLURM_MEM_PER_NODE="32768")
    assert given.stdout.splitlines()[1] == "3"
    assert run(tmp_path).stdout.splitlines()[1] == "none"


def test_passes_on_the_device_and_the_options(tmp_path: Path) -> None:
    asked = run(tmp_path, "cuda", "--filter=fit/").stdout.splitlines()[0]
    assert asked == "run xpcs_fit --device=cuda --tier=full --out=results-local --filter=fit/"


def test_names_what_is_missing(tmp_path: Path) -> None:
    ran = run(tmp_path, present=False)
    assert ran.returncode == 2
    assert ran.stderr.count("\n") == 1
    assert str(tmp_path / "holdfast") in ran.stderr
