# SPDX-License-Identifier: Apache-2.0
"""What workflows may do and must do. Whoever widens a permission, starts something by another event or takes a step's
condition away, says so here as well."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github" / "workflows"
NAMES = sorted(path.stem for path in FOLDER.glob("*.yml"))
READ = {"contents": "read"}
WRITE = {"contents": "write"}
PERMISSIONS = {
    "check": {"compare": READ, "check": READ},
    "comment": {"comment": {"contents": "read", "actions": "read", "pull-requests": "write"}},
    "gpu": {"bundle": READ, "tour": {}, "record": WRITE},
    "lint": {"lint": READ},
    "nightly": {"measure": WRITE, "tests": READ},
    "publish": {"build": READ, "deploy": {"pages": "write", "id-token": "write"}},
    "release": {"bundle": READ, "publish": WRITE},
}
EVENTS = {
    "check": {"pull_request", "push"}, "comment": {"workflow_run"}, "gpu": {"schedule", "workflow_dispatch"},
    "lint": {"pull_request", "push"}, "nightly": {"schedule", "workflow_dispatch"},
    "publish": {"workflow_run", "workflow_dispatch"}, "release": {"push"},
}
PULL = "if: github.event_name == 'pull_request'"
MAIN = "github.ref == 'refs/heads/main'"


def text_of(name: str) -> str:
    """Without comments."""
    return re.sub(r"(^|\s)#.*", "", (FOLDER / f"{name}.yml").read_text("utf-8"))


def block(text: str, key: str, depth: int) -> str:
    """What stands below a key, or beside it."""
    found = re.search(rf"^{' ' * depth}{key}:(.*\n(?: {{{depth + 1},}}.*\n|\n)*)", text, re.MULTILINE)
    return found[1] if found else ""


def jobs_of(name: str) -> dict[str, str]:
    jobs = block(text_of(name), "jobs", 0)
    return {job: block(jobs, job, 2) for job in re.findall(r"^  (\w+):", jobs, re.MULTILINE)}


def steps_of(name: str, job: str) -> list[str]:
    return re.split(r"^      - ", block(jobs_of(name)[job], "steps", 4), flags=re.MULTILINE)[1:]


def step(name: str, job: str, said: str) -> str:
    """The one whose name, or else whose text, begins so; its lines joined."""
    steps = steps_of(name, job)
    (found,) = [one for one in steps if f"name: {said}\n" in one] or [one for one in steps if said in one]
    return re.sub(r"\s+", " ", found)


def test_each_workflow_is_known_here() -> None:
    assert NAMES == sorted(PERMISSIONS) == sorted(EVENTS)


@pytest.mark.parametrize("name", NAMES)
def test_a_job_has_the_permissions_that_are_listed_and_a_workflow_none(name: str) -> None:
    assert block(text_of(name), "permissions", 0) == " {}\n"
    for job, body in jobs_of(name).items():
        said = block(body, "permissions", 4)
        assert said.strip() in ("", "{}") or said.startswith("\n"), "each by its name"
        assert dict(re.findall(r"^      ([a-z-]+): (\w+)", said, re.MULTILINE)) == PERMISSIONS[name][job], job
    assert list(jobs_of(name)) == list(PERMISSIONS[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_workflow_is_started_by_the_events_that_are_listed(name: str) -> None:
    assert set(re.findall(r"^  (\w+):", block(text_of(name), "on", 0), re.MULTILINE)) == EVENTS[name]


@pytest.mark.parametrize("name", [name for name in NAMES if "pull_request" in EVENTS[name]])
def test_what_a_strangers_change_starts_has_no_token_and_no_machine_of_ours(name: str) -> None:
    text = text_of(name)
    assert not re.search(r"secrets\b|github\.token|GITHUB_TOKEN|GH_TOKEN|self-hosted", text)
    assert set(re.findall(r"runs-on: (.*)", text)) == {"ubuntu-24.04"}


@pytest.mark.parametrize("name", NAMES)
def test_no_checkout_keeps_its_token_and_each_job_ends(name: str) -> None:
    for job, body in jobs_of(name).items():
        checkouts = [one for one in steps_of(name, job) if "actions/checkout@" in one]
        assert all("persist-credentials: false\n" in one for one in checkouts), job
        assert re.search(r"^    timeout-minutes: \d+$", body, re.MULTILINE), job
    assert re.findall(r"uses: (?!\S+@[0-9a-f]{40}\s)\S+", text_of(name)) == [], "an action is what was looked at"


@pytest.mark.parametrize("path", [*sorted(FOLDER.glob("*.yml")), ROOT / ".ci" / "run"], ids=lambda path: path.name)
def test_no_failure_is_passed_over_and_what_is_run_is_there(path: Path) -> None:
    text = path.read_text("utf-8")
    assert not re.search(r"\|\|\s*(true|:)|continue-on-error|set \+e", text)
    for script in re.findall(r"(?<![\w/.])(?:\./)?((?:cmake|\.ci)/[\w/]*[\w.]+)", text):
        assert (ROOT / script).exists() or "*" in script or script.endswith("/"), script


def test_the_door_stops_at_what_fails_and_lets_nothing_be_absent() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert lines[3] == "set -euo pipefail"
    commands = [line.partition(" #")[0] for line in lines[4:] if line]
    assert commands == [
        'cd "$(dirname "${BASH_SOURCE[0]}")/.."', 'export HOLDFAST_REQUIRE="host;cuda-dry:sm_90"', "./cmake/bootstrap.sh --cuda",
        "cmake --preset ci", "cmake --workflow --preset test", "cmake --workflow --preset perf",
    ]


def test_each_preset_is_run_by_a_workflow() -> None:
    presets = {one["name"] for one in json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))["workflowPresets"]}
    texts = [text_of(name) for name in NAMES] + [(ROOT / ".ci" / "run").read_text("utf-8")]
    run = {preset for text in texts for preset in re.findall(r"cmake --workflow --preset (\w+)", text)}
    (matrix,) = re.findall(r"preset: \[(.*)\]", text_of("nightly"))
    assert run | set(matrix.split(", ")) == presets
    assert 'cmake --workflow --preset "$PRESET"' in text_of("nightly")


def test_a_pull_request_is_held_against_what_it_is_merged_into() -> None:
    compare = step("check", "compare", "Build, run in turn, confirm")
    assert "BASE: ${{ github.base_ref }}" in compare
    assert 'HOLDFAST_BASE=$(git merge-base HEAD "origin/$BASE") export HOLDFAST_BASE' in compare
    assert PULL in jobs_of("check")["compare"]
    judged = step("check", "check", "Judge against the merge base")
    assert PULL in judged and "BASE: ${{ github.base_ref }}" in judged
    assert judged.rstrip().endswith('holdfast check build/release/results --baseline-ref="origin/$BASE" --undecided=warn')
    by_base = step("check", "check", "Judge with the merge base's own holdfast")
    assert PULL in by_base and "BASE: ${{ github.base_ref }}" in by_base
    assert by_base.rstrip().endswith('run: bash cmake/ci/judge_by_base.sh "origin/$BASE"')
    for job in ("compare", "check"):
        assert "fetch-depth: 0 " in step("check", job, "actions/checkout@")


def test_what_main_alone_may_do_is_done_of_main_alone() -> None:
    assert "if: github.event_name == 'push'" in step("check", "check", "actions/cache/save@")
    assert not [one for one in steps_of("check", "compare") if "cache/save@" in one or "actions/cache@" in one]
    assert re.search(rf"^    if: {re.escape(MAIN)}$", jobs_of("gpu")["bundle"], re.MULTILINE)
    assert "    needs: bundle\n" in jobs_of("gpu")["tour"] and "    needs: tour\n" in jobs_of("gpu")["record"]
    assert MAIN in step("nightly", "measure", "Add the night to the history")
    for name, job in (("gpu", "record"), ("nightly", "measure")):
        assert "HISTORY_BRANCH: main " in step(name, job, "cmake/ci/append.sh")
    started = block(text_of("publish"), "on", 0)
    assert "workflows: [nightly, gpu]\n" in started and "branches: [main]\n" in started
    assert " ref: main " in step("publish", "build", "actions/checkout@")
    assert 'tags: ["v*"]' in block(text_of("release"), "on", 0)


def test_no_workflow_keeps_compiled_programs_which_another_run_refuses() -> None:
    for name in NAMES:
        kept = [one for job in jobs_of(name) for one in steps_of(name, job) if "actions/cache" in one]
        assert not [one for one in kept if re.search(r"^ +build/release(/cache)?$", one, re.MULTILINE)], name


def test_a_night_measures_all_and_holds_it_against_itself() -> None:
    assert "run: bash cmake/ci/measure.sh full build/release/nightly" in step("nightly", "measure", "Measure and judge the full tier")
    assert "run: bash cmake/ci/selftest.sh build/release/nightly" in step("nightly", "measure", "Hold the build against itself")


def test_a_release_is_what_was_packed_of_a_tag_that_is_there() -> None:
    published = step("release", "publish", "Publish")
    assert published.index("(cd dist && sha256sum --check SHA256SUMS)") < published.index("gh release create")
    assert "--verify-tag" in published
    assert 'bash cmake/ci/release.sh "$GITHUB_REF_NAME" build/bundle/' in step("release", "bundle", "Pack")


def test_a_release_is_of_a_commit_that_main_has() -> None:
    steps = steps_of("release", "bundle")
    (held,) = [at for at, one in enumerate(steps) if "git merge-base --is-ancestor HEAD origin/main ||" in one]
    (packed,) = [at for at, one in enumerate(steps) if "cmake/ci/release.sh" in one]
    assert held < packed and "exit 1" in steps[held]
    assert "fetch-depth: 0 " in step("release", "bundle", "actions/checkout@")


def test_who_may_comment_runs_nothing_that_a_change_brings() -> None:
    text = text_of("comment")
    assert "checkout" not in text and "download-artifact" not in text
    assert 'contents/cmake/ci/comment.py?ref=$GITHUB_SHA"' in text
    assert "if: github.event.workflow_run.event == 'pull_request' &&" in text
