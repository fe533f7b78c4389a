# SPDX-License-Identifier: Apache-2.0
"""200 commits of a git repository, put into a store by `holdfast history append` and published:
nothing that was planted is told to the site. HOLDFAST names the command."""

import os
import subprocess
from pathlib import Path

import builders
import pytest
from holdfast_report.command import main
from planted_history import (
    DRIFT_CASE,
    HOST,
    MEANT,
    STEP_CASE,
    Measured,
    Planted,
    env_of,
    history,
    subject,
    time_of,
)

pytestmark = pytest.mark.big

COMMITS = 200


@pytest.fixture
def holdfast() -> str:
    found = os.environ.get("HOLDFAST")
    if not found:
        pytest.skip("HOLDFAST names no command")
    return found


def git(folder: Path, *words: str, when: str = "") -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example"]
    env = os.environ | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else None
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *words], check=True, capture_output=True, text=True, env=env
    )
    return done.stdout


def metrics_of(run: Measured, case: str, variant: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for (name, of, metric), value in run.values.items():
        if (name, of) == (case, variant):
            kind = MEANT[metric][0]
            spread = [value * factor for factor in (0.997, 0.999, 1.0, 1.001, 1.003)]
            sampled = kind in ("time", "ratio")
            found[metric] = (
                builders.sampled(kind, spread) if sampled else {"kind": kind, "value": value}
            )
    return found


def document(run: Measured, sha: str) -> dict[str, object]:
    on_host = run.device_class == HOST
    cases = [
        builders.case(
            case,
            on_host,
            {
                variant: {"identity": None, "kernels": [], "metrics": metrics_of(run, case, variant)}
                for variant in ("optimized", "reference")
            },
            metrics_of(run, case, "case"),
        )
        for case in sorted({key[0] for key in run.values})
    ]
    made = builders.results(run.device_class, "host" if on_host else "cuda-dry:sm_90", cases)
    made["suite"] = run.suite
    made["run"] |= {"utc": run.utc, "id": f"{run.utc}-0001", "git": {"sha": sha, "dirty": False}}
    env = env_of(run)
    made["env"] |= {name: env[name] for name in ("compiler", "fingerprint")}
    return made


def test_the_three_planted_changes_are_on_the_overview(holdfast: str, tmp_path: Path) -> None:
    repository, store, site = tmp_path / "repository", tmp_path / "store", tmp_path / "site"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    for number in range(1, COMMITS + 1):
        said = ["commit", "-q", "--allow-empty", "-m", subject(number)]
        git(repository, *said, when=time_of(number))
    shas = git(repository, "log", "--reverse", "--format=%H").split()
    for run in history(COMMITS, 2):
        place = tmp_path / "runs" / str(run.number) / run.device_class
        builders.put(place / f"{run.suite}.json", document(run, shas[run.number - 1]))
    for number in range(1, COMMITS + 1):
        append = [holdfast, "history", "append", str(tmp_path / "runs" / str(number))]
        options = [f"--store={store}", f"--repository={repository}"]
        done = subprocess.run([*append, *options], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    drawn = ["site", f"--store={store}", f"--out={site}", f"--holdfast={holdfast}"]
    assert main([*drawn, "--baselines", str(tmp_path), "--repository=https://git.example/a/b"]) == 0
    page = (site / "index.html").read_text("utf-8")
    planted = Planted(COMMITS)
    parts = page.split('<section id="')
    changes, drifts, environments = (
        next(part for part in parts if part.startswith(name))
        for name in ("changes", "drifts", "environments")
    )
    assert shas[planted.step - 1] in changes and STEP_CASE.split("/")[1] in changes
    assert DRIFT_CASE.split("/")[1] in drifts
    assert shas[planted.environment - 1] in environments
    assert subject(planted.step) in changes
