# SPDX-License-Identifier: Apache-2.0
"""200 commits of a git repository, put into a store by `holdfast history append`, pushed in two parts and
published from the branch, as a workflow does: nothing that was planted is told to the site. HOLDFAST names the command."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import builders
import pytest
from browser import luminance
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
from site_browser import Browser

pytestmark = pytest.mark.big

COMMITS = 200
ROOT = Path(__file__).parents[2]


def git(folder: Path, *words: str, when: str = "") -> str:
    names = ["-c", "user.name=a", "-c", "user.email=a@example"]
    env = os.environ | {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when} if when else None
    done = subprocess.run(
        ["git", "-C", str(folder), *names, *words], check=True, capture_output=True, text=True, env=env
    )
    return done.stdout


def said(*command: str, **environment: str) -> str:
    keep = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env=keep | environment
    )
    assert done.returncode == 0, done.stderr
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


@dataclass(frozen=True)
class Published:
    site: Path
    shas: list[str]
    planted: Planted

    def sha(self, number: int) -> str:
        return self.shas[number - 1]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Published:
    holdfast = os.environ.get("HOLDFAST")
    if not holdfast:
        pytest.skip("HOLDFAST names no command")
    folder = tmp_path_factory.mktemp("real")
    repository, store, site = folder / "repository", folder / "store", folder / "site"
    repository.mkdir()
    git(repository, "init", "-q", "-b", "main")
    for number in range(1, COMMITS + 1):
        made = ["commit", "-q", "--allow-empty", "-m", subject(number)]
        git(repository, *made, when=time_of(number))
    shas = git(repository, "log", "--reverse", "--format=%H").split()
    for run in history(COMMITS, 2):
        place = folder / "runs" / str(run.number) / run.device_class
        builders.put(place / f"{run.suite}.json", document(run, shas[run.number - 1]))
    remote = folder / "remote.git"
    remote.mkdir()
    git(remote, "init", "-q", "--bare")
    for number in range(1, COMMITS + 1):
        runs = str(folder / "runs" / str(number))
        said(holdfast, "history", "append", runs, f"--store={store}", f"--repository={repository}")
        if number in (COMMITS // 2, COMMITS):
            said(holdfast, "history", "push", f"--store={store}", f"--remote={remote}")
    said(
        "bash", str(ROOT / "cmake" / "ci" / "publish.sh"), str(site), str(folder / "fetched"),
        HOLDFAST=holdfast, HISTORY_REMOTE=str(remote), GITHUB_SERVER_URL="https://git.example", GITHUB_REPOSITORY="a/b",
    )
    return Published(site, shas, Planted(COMMITS))


def test_the_three_planted_changes_are_on_the_overview(published: Published) -> None:
    page = (published.site / "index.html").read_text("utf-8")
    planted = published.planted
    parts = page.split('<section id="')
    changes, drifts, environments = (
        next(part for part in parts if part.startswith(name))
        for name in ("changes", "drifts", "environments")
    )
    assert published.sha(planted.step) in changes and STEP_CASE.split("/")[1] in changes
    assert DRIFT_CASE.split("/")[1] in drifts
    assert published.sha(planted.environment) in environments
    assert subject(planted.step) in changes
    assert f"https://git.example/a/b/commit/{published.sha(planted.step)}" in changes


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1440])
def test_each_planted_change_is_one_click_away(
    published: Published, chromium: str, tmp_path: Path, width: int, dark: bool
) -> None:
    """Links are clicked, as a reader does, at each width, light and dark."""
    planted = published.planted
    browser = Browser(chromium, published.site, tmp_path, planted)
    script = f"""
    const shown = [], found = {{shown}};
    for (const first of ["#changes .moves a", "#drifts .moves a", "#environments a"]) {{
      const frame = await open(`${{site}}/index.html`, {width});
      found.index = shape(frame.contentDocument, {width});
      frame.contentDocument.querySelector(first).click();
      await wait(1);
      const page = frame.contentDocument, hash = decodeURIComponent(frame.contentWindow.location.hash.slice(1));
      const place = hash ? page.getElementById(hash) : page.body;
      shown.push({{text: place.innerText, shape: shape(page, {width}), top: place.getBoundingClientRect().top}});
      frame.remove();
    }}
    return found;
    """
    found = browser.does(script, dark)
    step, drift, environment = found["shown"]
    assert "+25 %" in step["text"] and published.sha(planted.step)[:10] in step["text"]
    assert drift["text"].count("since") >= 3, "each of its steps with its commit"
    assert "g++ 12.2.0 \u2192 g++ 12.3.0" in environment["text"]
    for one in found["index"], *(shown["shape"] for shown in found["shown"]):
        assert one["scroll"] <= width and one["wide"] == []
        assert (luminance(one["ground"]) < luminance(one["ink"])) is dark
    assert all(shown["top"] < 1500 for shown in found["shown"]), "on the screen"
