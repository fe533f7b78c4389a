# SPDX-License-Identifier: Apache-2.0
"""What workflows run, run: a suite measured and judged, recorded on a branch, published into a folder."""

import base64
import json
import os
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build" / "release"))


def run(script: str, *arguments: object, **environment: object) -> subprocess.CompletedProcess[str]:
    keep = {key: value for key, value in os.environ.items() if not key.startswith("GITHUB_")}
    return subprocess.run(
        ["bash", ROOT / "cmake" / "ci" / script, *map(str, arguments)],
        cwd=ROOT,
        env=keep | {key: str(value) for key, value in environment.items()},
        capture_output=True,
        text=True,
        check=False,
    )


HOLDFAST = """#!/usr/bin/env bash
echo "$*" >> "$(dirname "$0")/asked"
case "$*" in check\\ *) exit "${JUDGED:-0}" ;; *" broken "*) exit 3 ;; *) exit 0 ;; esac
"""


def listing(*tiers_and_devices: tuple[str, str]) -> str:
    cases = [{"tier": tier, "devices": {device: {}}} for tier, device in tiers_and_devices]
    return json.dumps({"cases": cases})


@pytest.fixture
def holdfast() -> Path:
    command = BUILD / "bin" / "holdfast"
    if not command.exists():
        pytest.skip(f"{command} is not built")
    return command


@pytest.fixture
def remote(tmp_path: Path) -> Path:
    bare = tmp_path / "remote.git"
    subprocess.run(["git", "init", "--quiet", "--bare", bare], check=True)
    return bare


def listing_of(results: Path) -> list[str]:
    return [case["id"] for case in json.loads(results.read_text("utf-8"))["cases"]]


def git(folder: Path, *words: object) -> str:
    who = ["-c", "user.name=a", "-c", "user.email=a@example"]
    command = ["git", "-C", folder, *who, *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def changed_branch(remote: Path, folder: Path, changed: Callable[[str], str], force: bool) -> None:
    """Its one file of history becomes another; with `force`, in place of all that was there before."""
    git(folder, "clone", "--quiet", "--branch=holdfast-data", remote, "changed")
    (file,) = (folder / "changed").rglob("*.ndjson")
    file.write_text(changed(file.read_text("utf-8")), "utf-8")
    git(folder / "changed", "commit", "--quiet", "--all", "--message=change", *["--amend"] * force)
    git(folder / "changed", "push", "--quiet", *["--force"] * force)


def test_a_night_is_measured_recorded_and_published(
    holdfast: Path, remote: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    bin = tmp_path / "night" / "bin"  # a build of two suites, one of which has no dry case
    bin.mkdir(parents=True)
    for name in ("holdfast", "content.json", "cubed_sphere_swe", "cubed_sphere_swe.list.json"):
        (bin / name).symlink_to(holdfast.parent / name)
    (bin / "of_the_host.list.json").write_text(listing(("smoke", "host")))
    measured = run("measure.sh", "smoke", results, BUILD=bin.parent, DEVICES="cuda-dry:sm_90")
    assert (results / "verdict.md").exists(), measured.stderr
    names = {path.name for path in (results / "cuda-dry-sm_90").iterdir()}
    assert names == {"cubed_sphere_swe.json", "cubed_sphere_swe.list.json"}

    facts = {"HOLDFAST": holdfast, "HISTORY_REMOTE": remote, "HISTORY_BRANCH": "main"}
    recorded = run("append.sh", results, tmp_path / "store", **facts)
    assert recorded.returncode == 0, recorded.stderr
    assert "1 run appended" in recorded.stdout
    again = run("append.sh", results, tmp_path / "another", **facts)
    assert again.returncode == 0, again.stderr
    assert "1 run was there already" in again.stdout

    site, store = tmp_path / "site", tmp_path / "third"
    published = run("publish.sh", site, store, **facts)
    assert published.returncode == 0, published.stderr
    assert "cuda-dry-sm_90" in (site / "index.html").read_text("utf-8")
    of_cases = listing_of(results / "cuda-dry-sm_90" / "cubed_sphere_swe.json")
    assert len(list((site / "case").rglob("*.html"))) == len(of_cases)
    assert len(list((site / "run").glob("*.html"))) == 1
    assert [path.stem for path in (site / "class").iterdir()] == ["cuda-dry-sm_90"]

    # A branch that was damaged, or rewritten, is told, and the site stays as it is.
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*")}
    changed_branch(remote, tmp_path, lambda lines: lines + '{"run": tw\n', force=False)
    damaged = run("publish.sh", site, store, **facts)
    assert damaged.returncode == 2 and ".ndjson" in damaged.stderr, damaged.stderr
    git(remote, "update-ref", "refs/heads/holdfast-data", "refs/heads/holdfast-data~")
    shutil.rmtree(tmp_path / "changed")
    changed_branch(remote, tmp_path, lambda lines: lines.replace("12.2", "12.9"), force=True)
    forced = run("publish.sh", site, store, **facts)
    assert forced.returncode == 2 and "was rewritten" in forced.stderr, forced.stderr
    assert {path: path.stat().st_mtime_ns for path in site.rglob("*")} == before


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A build of three suites, whose command writes down what it is asked."""
    files = {
        "holdfast": HOLDFAST,
        "broken.list.json": listing(("smoke", "host"), ("smoke", "cuda-dry")),
        "of_the_host.list.json": listing(("smoke", "host"), ("full", "cuda")),
        "slow.list.json": listing(("full", "host"), ("gate", "cuda-dry")),
    }
    for name, content in files.items():
        path = tmp_path / "build" / "bin" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
        path.chmod(0o755)
    return tmp_path / "build"


def asked(build: Path) -> list[tuple[str, str]]:
    said = [line.split() for line in (build / "bin" / "asked").read_text().splitlines()]
    return [(words[1], words[2]) for words in said if words[0] == "run"]


@pytest.mark.parametrize(
    ("tier", "expected"),
    [
        ("smoke", [("broken", "host"), ("of_the_host", "host"), ("broken", "cuda-dry:sm_90")]),
        ("gate", [("broken", "host"), ("of_the_host", "host"), ("broken", "cuda-dry:sm_90"),
                  ("slow", "cuda-dry:sm_90")]),
    ],
)
def test_each_suite_is_measured_where_it_has_cases_and_all_are_judged(
    build: Path, tmp_path: Path, tier: str, expected: list[tuple[str, str]]
) -> None:
    done = run("measure.sh", tier, tmp_path / "results", BUILD=build)
    assert asked(build) == [(suite, f"--device={device}") for suite, device in expected]
    assert (build / "bin" / "asked").read_text().splitlines()[-1].startswith("check ")
    assert done.returncode == 3, "what could not be measured fails, after the others"


@pytest.mark.parametrize(("suite", "code"), [("slow", 4), ("broken", 4)])
def test_what_the_gate_says_is_the_code_of_a_night(build: Path, tmp_path: Path, suite: str, code: int) -> None:
    done = run("measure.sh", "smoke", tmp_path / "results", suite, BUILD=build, DEVICES="host", JUDGED=code)
    assert done.returncode == code


def test_a_suite_that_is_named_is_measured_wherever_it_is_wanted(
    build: Path, tmp_path: Path
) -> None:
    done = run("measure.sh", "smoke", tmp_path / "results", "slow", BUILD=build, DEVICES="cuda")
    assert asked(build) == [("slow", "--device=cuda")]
    assert done.returncode == 0


@pytest.mark.parametrize("devices", ["host cudadry:sm_90", " "])
def test_a_device_that_no_suite_has_cases_for_is_incomplete(
    build: Path, tmp_path: Path, devices: str
) -> None:
    (build / "bin" / "broken.list.json").unlink()
    done = run("measure.sh", "smoke", tmp_path / "results", BUILD=build, DEVICES=devices)
    assert done.returncode == 3, "what was to be measured and is not is no pass"
    assert "measure: " in done.stderr


SELF_TESTED = """#!/usr/bin/env bash
echo "$*" >> "$(dirname "$0")/asked"
for argument in "$@"; do case "$argument" in --out=*) out=${argument#--out=} ;; esac; done
suite=$(basename "$2")
[ "$suite" = silent ] && exit 3
echo "A against A: of $suite"
echo "{}" > "$out"
case "$suite" in alarming) exit 1 ;; busy) exit 4 ;; endless) sleep 60 ;; esac
"""


def measured(folder: Path, *suites: str) -> tuple[Path, Path]:
    """A night's results of a host, and a build whose command says of each suite what its name tells."""
    results, command = folder / "results", folder / "build" / "bin" / "holdfast"
    command.parent.mkdir(parents=True)
    command.write_text(SELF_TESTED)
    command.chmod(0o755)
    for place in ("host-x86_64-v4-2t", "cuda-dry-sm_90"):
        (results / place).mkdir(parents=True)
        for suite in suites:
            for ending in (".json", ".list.json", ".selftest.json"):
                (results / place / (suite + ending)).write_text("{}")
    return results, command.parent.parent


def self_tested(build: Path) -> list[str]:
    said = (build / "bin" / "asked").read_text().splitlines()
    return [Path(line.split()[1]).name for line in said]


def test_each_suite_of_the_host_is_held_against_itself_and_a_failure_comes_last(tmp_path: Path) -> None:
    results, build = measured(tmp_path, "alarming", "busy", "good", "silent")
    summary = tmp_path / "summary.md"
    done = run("selftest.sh", results, BUILD=build, GITHUB_STEP_SUMMARY=summary, TRIALS=3, BUDGET=2)
    assert self_tested(build) == ["alarming", "busy", "good", "silent"]
    assert "--trials=3 --budget=2" in (build / "bin" / "asked").read_text()
    assert done.returncode == 3
    assert "selftest: alarming: A against A: of alarming" in done.stderr
    assert "selftest: silent: could not be tested (exit 3)" in done.stderr
    assert "good" not in done.stderr and "busy" not in done.stderr
    assert summary.read_text().splitlines() == [
        "- alarming: A against A: of alarming",
        "- busy: A against A: of busy (nothing was decided: the machine is too busy)",
        "- good: A against A: of good",
        "- silent: could not be tested (exit 3)",
    ]
    good = results / "host-x86_64-v4-2t" / "good.selftest.txt"
    assert good.read_text() == "A against A: of good\n"


@pytest.mark.parametrize(("suite", "code"), [("alarming", 1), ("busy", 0), ("good", 0)])
def test_a_named_suite_alone_is_held_against_itself(tmp_path: Path, suite: str, code: int) -> None:
    results, build = measured(tmp_path, "alarming", "busy", "good", "silent")
    done = run("selftest.sh", results, suite, BUILD=build)
    assert self_tested(build) == [suite]
    assert done.returncode == code, done.stderr


def test_a_self_test_that_does_not_end_is_ended_and_fails(tmp_path: Path) -> None:
    results, build = measured(tmp_path, "endless")
    ending = tmp_path / "tools" / "timeout"
    ending.parent.mkdir()
    ending.write_text('#!/bin/sh\necho "$*" > "$ENDED"\nexit 124\n')
    ending.chmod(0o755)
    path = f"{ending.parent}:{os.environ['PATH']}"
    done = run("selftest.sh", results, BUILD=build, TRIALS=3, BUDGET=2, TIER="gate", PATH=path, ENDED=tmp_path / "ended")
    assert done.returncode == 124
    assert "selftest: endless: no end within 312 s" in done.stderr
    ended = (tmp_path / "ended").read_text()
    assert ended.startswith(f"--kill-after=60 312 {build}/bin/holdfast ab ") and " --tier=gate " in ended


def test_a_named_suite_without_results_is_not_taken_for_tested(tmp_path: Path) -> None:
    results, build = measured(tmp_path, "good")
    done = run("selftest.sh", results, "good", "gone", BUILD=build)
    assert self_tested(build) == ["good"]
    assert done.returncode == 3
    assert f"{results} has no results of the host for gone" in done.stderr


def test_a_night_without_results_of_the_host_is_not_held_against_itself(tmp_path: Path) -> None:
    results, build = measured(tmp_path)
    done = run("selftest.sh", results, BUILD=build)
    assert done.returncode == 3
    assert f"{results} has no results of the host; measure first" in done.stderr


def test_a_self_test_is_recorded_with_the_run_that_it_stands_beside(
    holdfast: Path, remote: Path, tmp_path: Path
) -> None:
    suite, results = "fake_suite", tmp_path / "results"
    fake = BUILD / "baselines" / "gate" / "fake" / suite
    if not fake.exists():
        pytest.skip(f"{fake} is not built")
    bin = tmp_path / "night" / "bin"
    bin.mkdir(parents=True)
    for program in (holdfast, holdfast.parent / "content.json", fake):
        (bin / program.name).symlink_to(program)
    listed = subprocess.run([fake, "--list=json"], check=True, capture_output=True)
    (bin / f"{suite}.list.json").write_bytes(listed.stdout)
    measuring = [bin / "holdfast", "run", bin / suite, "--device=host", "--processes=1"]
    subprocess.run([*measuring, f"--out={results}"], check=True, capture_output=True)
    tested = run("selftest.sh", results, BUILD=bin.parent, TIER="gate", TRIALS=1)
    assert tested.returncode == 0, tested.stderr
    assert "A against A: " in tested.stdout, tested.stderr
    (found,) = results.glob(f"host-*/{suite}.selftest.json")
    rate = json.loads(found.read_text("utf-8"))["alarm_rate"]
    facts = {"HOLDFAST": holdfast, "HISTORY_REMOTE": remote, "HISTORY_BRANCH": "main"}
    recorded = run("append.sh", results, tmp_path / "store", **facts)
    assert recorded.returncode == 0, recorded.stderr
    told = subprocess.run(
        [holdfast, "trend", f"--store={tmp_path / 'store'}", f"--case={suite}/selftest", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    levels = {
        one["metric"]: one["points"][0]["value"] for one in json.loads(told.stdout)["series"]
    }
    assert levels["alarm_rate"] == rate["value"]
    assert levels["alarm_rate_lower"] == pytest.approx(rate["lower"], rel=1e-5)
    assert levels["alarm_rate_upper"] == pytest.approx(rate["upper"], rel=1e-5)
    site = tmp_path / "site"
    published = run("publish.sh", site, tmp_path / "store", **facts)
    assert published.returncode == 0, published.stderr
    (page,) = (site / "case" / suite).rglob("selftest*.html")
    assert "alarm_rate_upper" in page.read_text("utf-8")


def test_without_a_history_nothing_is_published(
    holdfast: Path, remote: Path, tmp_path: Path
) -> None:
    published = run("publish.sh", tmp_path / "site", tmp_path / "store", HOLDFAST=holdfast,
                    HISTORY_REMOTE=remote)
    assert published.returncode == 3
    assert "there is no history yet" in published.stdout
    assert not (tmp_path / "site").exists()


ASKED = """#!/usr/bin/env bash
echo "$*" >> "$(dirname "$0")/asked"
git config --get-all http.https://git.example/.extraheader >> "$(dirname "$0")/headers"
[ "$2" != "${FAILS:-}" ] || exit 5
"""


@pytest.fixture
def store_command(tmp_path: Path) -> Path:
    """A `holdfast` that writes down what it is asked and the header that git would send, and fails where it is told to."""
    command = tmp_path / "bin" / "holdfast"
    command.parent.mkdir()
    command.write_text(ASKED)
    command.chmod(0o755)
    return command


ACTIONS = {"GITHUB_TOKEN": "secret", "GITHUB_SERVER_URL": "https://git.example", "GITHUB_REPOSITORY": "lab/holdfast",
           "GITHUB_RUN_ID": "77", "HISTORY_BRANCH": "main"}


def test_what_is_recorded_says_its_branch_and_job_and_git_sends_the_token(store_command: Path, tmp_path: Path) -> None:
    done = run("append.sh", "results", tmp_path / "store", HOLDFAST=store_command, **ACTIONS)
    assert done.returncode == 0, done.stderr
    where = f"--store={tmp_path / 'store'}"
    facts = "--branch=main --ci=https://git.example/lab/holdfast/actions/runs/77"
    assert (store_command.parent / "asked").read_text().splitlines() == [
        f"history fetch {where} --remote=origin", f"history append results {where} {facts}",
        f"history push {where} --remote=origin",
    ]
    token = base64.b64encode(b"x-access-token:secret").decode()
    assert set((store_command.parent / "headers").read_text().splitlines()) == {f"AUTHORIZATION: basic {token}"}


@pytest.mark.parametrize(("fails", "reached"), [("fetch", 1), ("append", 2), ("push", 3)])
def test_what_could_not_be_recorded_fails_and_nothing_follows(
    store_command: Path, tmp_path: Path, fails: str, reached: int
) -> None:
    done = run("append.sh", "results", tmp_path / "store", HOLDFAST=store_command, FAILS=fails)
    assert done.returncode == 5
    assert len((store_command.parent / "asked").read_text().splitlines()) == reached


@pytest.mark.parametrize("script", ["append.sh", "publish.sh"])
def test_who_asks_for_help_gets_its_use_and_nothing_is_asked_of_the_remote(store_command: Path, script: str) -> None:
    done = run(script, "--help", HOLDFAST=store_command)
    assert done.returncode == 0 and f"\n  cmake/ci/{script} " in done.stdout
    assert "HOLDFAST is the command" in done.stdout and "set -" not in done.stdout
    assert not (store_command.parent / "asked").exists()


def test_a_history_that_cannot_be_fetched_is_not_published(store_command: Path, tmp_path: Path) -> None:
    (tmp_path / "store" / "host").mkdir(parents=True)
    (tmp_path / "store" / "host" / "old.ndjson").write_text("{}\n")
    done = run("publish.sh", tmp_path / "site", tmp_path / "store", HOLDFAST=store_command, FAILS="fetch", **ACTIONS)
    assert done.returncode == 5
    assert not (tmp_path / "site").exists()
    assert "AUTHORIZATION: basic " in (store_command.parent / "headers").read_text()


def test_what_git_keeps_in_a_store_is_no_history(store_command: Path, tmp_path: Path) -> None:
    (tmp_path / "store" / ".git").mkdir(parents=True)
    (tmp_path / "store" / ".git" / "old.ndjson").write_text("{}\n")
    done = run("publish.sh", tmp_path / "site", tmp_path / "store", HOLDFAST=store_command)
    assert done.returncode == 3
    assert "there is no history yet" in done.stdout


def test_a_history_in_a_store_below_a_hidden_folder_is_one(store_command: Path, tmp_path: Path) -> None:
    store = tmp_path / ".cache" / "store"
    (store / "host").mkdir(parents=True)
    (store / "host" / "2026.ndjson").write_text("{}\n")
    done = run("publish.sh", tmp_path / "site", store, HOLDFAST=store_command)
    assert "there is no history yet" not in done.stdout
    assert done.returncode != 3


def packed(folder: Path, files: dict[str, str]) -> Path:
    bundle = folder / "holdfast-0.1.0-linux-x86_64.tar.gz"
    with tarfile.open(bundle, "w:gz") as archive:
        for name, content in files.items():
            path = folder / "made" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            path.chmod(0o755)
            archive.add(path, f"holdfast-0.1.0-linux-x86_64/{name}")
    return bundle


def test_a_release_has_checksums_and_the_terms_of_what_is_in_it(tmp_path: Path) -> None:
    files = {"run.sh": "#!/bin/sh\n", "LICENSE": "ours", "licences/fftw/COPYING": "the GPL"}
    bundle = packed(tmp_path, files)
    out = tmp_path / "out"
    done = run("release.sh", "v0.1.0", bundle, out)
    assert done.returncode == 0, done.stderr
    assert (out / "NOTICES.txt").read_text() == "==== LICENSE\n\nours\n==== licences/fftw/COPYING\n\nthe GPL\n"
    summed = [line.split()[1] for line in (out / "SHA256SUMS").read_text().splitlines()]
    assert summed == [bundle.name, "NOTICES.txt"]
    subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=out, check=True)


def test_a_bundle_without_terms_is_no_release(tmp_path: Path) -> None:
    done = run("release.sh", "v0.1.0", packed(tmp_path, {"run.sh": "#!/bin/sh\n"}), tmp_path / "out")
    assert done.returncode == 3
    assert "has no licences/" in done.stderr


@pytest.mark.parametrize("tag", ["v0.2.0", "v0.1", "v0.1.0-linux", "v*", "v", "0.1.0", "main"])
def test_a_bundle_of_another_version_than_its_tag_is_no_release(tmp_path: Path, tag: str) -> None:
    out = tmp_path / "out"
    done = run("release.sh", tag, packed(tmp_path, {"LICENSE": "ours", "licences/fftw/COPYING": "the GPL"}), out)
    assert done.returncode == 3
    assert f"release: the tag {tag} " in done.stderr
    assert not out.exists()


TOUR = """#!/usr/bin/env bash
for argument in "$@"; do case "$argument" in --out=*) out=${argument#--out=} ;; esac; done
mkdir -p "$out"
"""


def test_a_tour_is_gathered_and_its_exit_code_kept(tmp_path: Path) -> None:
    measures = TOUR + 'mkdir -p "$out/gate_1/cuda" && echo "$*" > "$out/gate_1/cuda/toy.json"\nexit 4\n'
    done = run("gpu.sh", packed(tmp_path, {"run.sh": measures}), tmp_path / "out", "--quick")
    assert done.returncode == 4
    said = (tmp_path / "out" / "results" / "cuda" / "toy.json").read_text()
    assert said == f"--out={tmp_path / 'out' / 'tour'} --quick\n"


def test_a_tour_takes_the_programs_of_its_bundle_though_it_runs_in_ci(tmp_path: Path) -> None:
    says = TOUR + 'mkdir -p "$out/gate_1" && echo "${CI-unset} ${HOLDFAST_CACHE_SECRET-unset} $GPU" > "$out/gate_1/said"\n'
    bound = {"CI": "true", "HOLDFAST_CACHE_SECRET": "of the runner"}
    assert run("gpu.sh", packed(tmp_path, {"run.sh": says}), tmp_path / "out", GPU="ours", **bound).returncode == 0
    assert (tmp_path / "out" / "results" / "said").read_text() == "unset unset ours\n"


def test_of_two_tours_into_one_folder_the_second_is_gathered(tmp_path: Path) -> None:
    measures = TOUR + """[ ! -e "$out/cache" ] || exit 5  # of another bundle
mkdir -p "$out/cache" "$out/gate_1/cuda" && echo "$tour" > "$out/gate_1/cuda/toy.json"
"""
    bundle = packed(tmp_path, {"run.sh": measures})
    for tour in ("1", "2"):
        assert run("gpu.sh", bundle, tmp_path / "out", tour=tour).returncode == 0
    assert (tmp_path / "out" / "results" / "cuda" / "toy.json").read_text() == "2\n"
    (tmp_path / "none").mkdir()
    assert run("gpu.sh", packed(tmp_path / "none", {"run.sh": "exit 0"}), tmp_path / "out").returncode == 0
    assert not (tmp_path / "out" / "results" / "gate_1").exists()


def test_a_tour_that_measured_nothing_is_incomplete(tmp_path: Path) -> None:
    done = run("gpu.sh", packed(tmp_path, {"run.sh": TOUR}), tmp_path / "out")
    assert done.returncode == 3
    assert "the tour left no gate_1" in done.stderr


TOOLS = ("clang-format", "shellcheck", "zizmor", "check-jsonschema", "ruff", "mypy", "python3")
TOOL = """#!/bin/sh
echo "$(basename "$0") $*" >> "$ASKED"
[ "$(basename "$0") $1" != "$FINDS" ] && [ "$(basename "$0")" != "$FINDS" ]
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A file of each kind, and tools that say what they were given."""
    names = ("a/a.cpp", "b.hpp", "c.cu", "d.cuh", "e.sh", "e.sbatch", "f/f.py", ".ci/run", ".github/workflows/w.yml", "README.md")
    for name in names:
        path = tmp_path / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "tree/cmake/ci").mkdir(parents=True)
    shutil.copy(ROOT / "cmake/ci/lint.sh", tmp_path / "tree/cmake/ci")
    git(tmp_path, "init", "--quiet", "tree")
    git(tmp_path / "tree", "add", "--all")
    (tmp_path / "tree/new.sh").write_text("")  # which git has not
    (tmp_path / "tools").mkdir()
    for tool in TOOLS:
        (tmp_path / "tools" / tool).write_text(TOOL)
        (tmp_path / "tools" / tool).chmod(0o755)
    return tmp_path / "tree"


def lint(tree: Path, *parts: str, finds: str = "") -> tuple[int, list[str]]:
    """Its code, and what each tool was given."""
    asked = tree.parent / "asked"
    asked.write_text("")
    done = subprocess.run(
        ["bash", tree / "cmake" / "ci" / "lint.sh", *parts],
        env=os.environ | {"PATH": f"{tree.parent / 'tools'}:{os.environ['PATH']}", "ASKED": str(asked), "FINDS": finds},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode == 0) is ("lint: clean" in done.stdout)
    return done.returncode, asked.read_text().splitlines()


def test_lint_gives_each_tool_all_that_git_has_of_its_kind(tree: Path) -> None:
    given = [
        "clang-format --dry-run --Werror a/a.cpp b.hpp c.cu d.cuh",
        "shellcheck --external-sources .ci/run cmake/ci/lint.sh e.sbatch e.sh",
        "zizmor --pedantic --offline --quiet .github/workflows/w.yml",
        "check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/w.yml",
        "ruff check --quiet f/f.py",
        "mypy --no-error-summary reporting/holdfast_report",
    ]
    assert lint(tree) == (0, given)
    assert lint(tree, "tidy") == (0, ["python3 cmake/ci/tidy.py build/lint"])


@pytest.mark.parametrize("tool", TOOLS)
def test_lint_fails_where_any_tool_finds_something_and_asks_the_others_as_well(tree: Path, tool: str) -> None:
    code, asked = lint(tree, "format", "shell", "workflows", "python", "tidy", finds=tool)
    assert code == 1
    assert [line.split()[0] for line in asked] == list(TOOLS)


def test_lint_of_a_part_that_is_none_is_refused(tree: Path) -> None:
    assert lint(tree, "workflow")[0] == 2


def test_lint_names_a_tool_that_is_missing(tmp_path: Path) -> None:
    for tool in ("bash", "git", "dirname"):
        (tmp_path / tool).symlink_to(subprocess.check_output(["which", tool], text=True).strip())
    done = subprocess.run(
        ["bash", ROOT / "cmake" / "ci" / "lint.sh", "shell"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "shellcheck is not installed" in done.stderr


def test_lint_of_a_tree_that_git_does_not_list_is_not_clean(tmp_path: Path) -> None:
    for name in ("clang-format", "cmake/ci/lint.sh"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "clang-format").write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / "clang-format").chmod(0o755)
    shutil.copy(ROOT / "cmake" / "ci" / "lint.sh", tmp_path / "cmake" / "ci")
    done = subprocess.run(
        ["bash", tmp_path / "cmake" / "ci" / "lint.sh", "format"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "git lists no file for format" in done.stderr
