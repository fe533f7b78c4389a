# SPDX-License-Identifier: Apache-2.0
"""cmake/ci/compare.sh in a repository whose builds are the fake suite, at the step time that the tree says."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HOLDFAST = os.environ["HOLDFAST_BINARY"]
FAKE_SUITE = os.environ["FAKE_SUITE_BINARY"]
# What the real tree's build makes, of one suite: the binary, its list, and what content it is of.
CMAKE = """
cmake_minimum_required(VERSION 3.25)
project(toy LANGUAGES NONE)
find_path(HOLDFAST_WHEELS wheels HINTS ${PROJECT_SOURCE_DIR}/.venv NO_DEFAULT_PATH)
set(SEEN "$ENV{CXX}|$ENV{CXXFLAGS}" CACHE STRING "what a compiler would be and get")
# As a language does it, which would take a second.
if(NOT "$ENV{CXX}" STREQUAL "")
  set(CMAKE_CXX_COMPILER $ENV{CXX} CACHE STRING "")
endif()
set(CMAKE_CXX_COMPILER /usr/bin/c++ CACHE STRING "")
set(CMAKE_CXX_FLAGS "$ENV{CXXFLAGS}" CACHE STRING "")
option(HOLDFAST_UNITY "" ON)
file(READ step_seconds seconds)
add_custom_target(perf COMMAND sh -c "mkdir -p bin && cp $ENV{FAKE_SUITE_BINARY} bin/fake_suite \\
  && printf '\\\\nstep_seconds=%s' ${seconds} >> bin/fake_suite && bin/fake_suite --list=json > bin/fake_suite.list.json \\
  && printf '{\\"content\\": \\"sha256:%s\\", \\"git\\": {\\"dirty\\": false, \\"sha\\": null}}' \\
     $(cat ${CMAKE_SOURCE_DIR}/step_seconds | sha256sum | cut -c 1-64) > bin/content.json" VERBATIM)
"""
NO_REPORT = "compare: no report was drawn; the verdict stands above"
POLICY = """{"schema": "holdfast-policy/1",
 "kinds": {"exact": {"gate": "block", "tolerance": 0}, "time": {"gate": "warn", "tolerance": 0.05},
           "advisory": {"gate": "off"}}, "metrics": {}, "rules": [], "waivers": []}"""


PRESETS = """{{"version": 6, "include": [{included}], "configurePresets": [{{
  "name": "release", "binaryDir": "${{sourceDir}}/build/release",
  "cacheVariables": {{{variables}}}, "environment": {{{environment}}}}}]}}"""


# The fake suite answers at once, whatever a comparison gives it; and a run of some milliseconds is invalid where a
# hypervisor kept a CPU for a few of them.
COMMAND = f"""#!/bin/sh
case $1 in check)
  find "$2" -name fake_suite.json -exec sed -i 's/"valid": false/"valid": true/' {{}} +
  set -- "$@" --unit=0.03 ;;
esac
exec {HOLDFAST} "$@"
"""


def run(place: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    # The compared clock is the one that a step takes in both.
    settings = os.environ | {"FAKE_SUITE": "one_clock", "HOLDFAST_BASE": ""} | environment
    return subprocess.run(
        command, cwd=place, env=settings, text=True, capture_output=True, check=False
    )


def git(place: Path, *arguments: str) -> None:
    told = run(place, "git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments)
    assert told.returncode == 0, told.stderr


def commit(place: Path, seconds: str) -> None:
    (place / "step_seconds").write_text(seconds)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", f"A step of {seconds} s")


def build(place: Path, *options: str, **environment: str) -> None:
    configure = ["--preset", "release"] if (place / "CMakePresets.json").exists() else ["-S", ".", "-B", "build/release"]
    for command in (["cmake", *configure, *options], ["cmake", "--build", "build/release", "--target", "perf"]):
        built = run(place, *command, **environment)
        assert built.returncode == 0, built.stdout + built.stderr
    command = place / "build/release/bin/holdfast"
    command.write_text(COMMAND)
    command.chmod(0o755)


def compare(place: Path, *options: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """This tree's own build, and then the script."""
    build(place, *options, **environment)
    return run(place, "cmake/ci/compare.sh", "build/release", **environment)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Main, whose step takes a millisecond in its last two commits."""
    (tmp_path / "cmake/ci").mkdir(parents=True)
    shutil.copy(ROOT / "cmake/ci/compare.sh", tmp_path / "cmake/ci")
    (tmp_path / "baselines/policy").mkdir(parents=True)
    (tmp_path / "baselines/policy/common.json").write_text(POLICY)
    (tmp_path / "CMakeLists.txt").write_text(CMAKE)
    (tmp_path / ".gitignore").write_text("/build/\n/.venv\n/reporting\n")
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    commit(tmp_path, "0.00100")
    commit(tmp_path, "0.001")
    return tmp_path


def test_a_slower_branch_fails_against_the_merge_base_and_its_report_is_drawn(tree: Path) -> None:
    (tree / "reporting").symlink_to(ROOT / "reporting")
    (tree / ".venv").symlink_to(sys.prefix)
    git(tree, "checkout", "--quiet", "-b", "topic")
    commit(tree, "0.00104")
    commit(tree, "0.0011")
    git(tree, "checkout", "--quiet", "main")
    commit(tree, "0.0012")  # which is no part of the branch
    git(tree, "checkout", "--quiet", "topic")
    found = compare(tree)
    assert found.returncode == 1, found.stdout + found.stderr
    assert "A step of 0.001 s, the merge base with main" in found.stdout
    assert "REGRESSION  fake_suite/add/n:8/f64" in found.stdout
    assert "confirmed" in found.stdout
    report = tree / "build/release/compare/report/index.html"
    if all(importlib.util.find_spec(name) for name in ("jinja2", "matplotlib", "pydantic")):
        assert NO_REPORT not in found.stderr, found.stderr
        assert "Failed: a blocking regression (exit 1)" in report.read_text("utf-8")
    else:
        assert NO_REPORT in found.stderr and not report.exists()


def test_a_changed_tree_on_main_is_held_against_head_and_passes_where_nothing_got_slower(tree: Path) -> None:
    (tree / "note").write_text("changed")
    found = compare(tree)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "A step of 0.001 s, HEAD, which this tree changes" in found.stdout
    assert NO_REPORT in found.stderr, "there is nothing that could draw it"


@pytest.mark.parametrize(("given", "told"), [({"HOLDFAST_UNDECIDED": ""}, "fail"), ({"HOLDFAST_UNDECIDED": "warn"}, "warn")])
def test_what_the_machine_leaves_undecided_fails_unless_somebody_says_otherwise(
    tree: Path, given: dict[str, str], told: str
) -> None:
    (tree / "note").write_text("changed")
    build(tree)
    command = tree / "build/release/bin/holdfast"
    command.write_text('#!/bin/sh\necho "$@" >> build/asked\ncase $1 in check) exit 4 ;; esac\n')
    found = run(tree, "cmake/ci/compare.sh", "build/release", "--tier=smoke", **given)
    assert found.returncode == 4, found.stdout + found.stderr
    measured, judged = (tree / "build/asked").read_text().splitlines()
    assert judged.endswith(f" --baselines=baselines --undecided={told}")
    assert measured.startswith("run fake_suite --device=host ") and measured.endswith(" --tier=smoke")
    assert "--count-instructions-if-possible" in measured


@pytest.mark.parametrize(("device", "ends", "code"), [("cuda", 77, 4), ("cuda", 3, 3), ("host", 77, 77)])
def test_a_gpu_that_cannot_be_used_costs_the_host_no_verdict(
    tree: Path, tmp_path_factory: pytest.TempPathFactory, device: str, ends: int, code: int
) -> None:
    lister = tmp_path_factory.mktemp("bin") / "nvidia-smi"
    lister.write_text("#!/bin/sh\n")
    lister.chmod(0o755)
    (tree / "note").write_text("changed")
    build(tree)
    command = tree / "build/release/bin/holdfast"
    command.write_text(f'#!/bin/sh\necho "$@" >> build/asked\ncase "$*" in *--device={device}\\ *) exit {ends} ;; check*) exit 4 ;; esac\n')
    found = run(tree, "cmake/ci/compare.sh", "build/release", PATH=f"{lister.parent}:{os.environ['PATH']}")
    assert found.returncode == code, found.stdout + found.stderr
    judged = [line for line in (tree / "build/asked").read_text().splitlines() if line.startswith("check ")]
    assert len(judged) == (code == 4)
    assert ("compare: the GPU cannot be used (see above), so the host alone is judged\n" in found.stderr) is (code == 4)


def test_what_somebody_edits_in_the_base_is_no_part_of_it(tree: Path) -> None:
    (tree / "note").write_text("changed")
    assert compare(tree).returncode == 0
    (tree / "build/release/base/step_seconds").write_text("0.0001")
    found = compare(tree)
    assert found.returncode == 0, found.stdout + found.stderr
    assert (tree / "build/release/base/step_seconds").read_text() == "0.001"


def test_the_base_is_built_with_the_libraries_that_this_tree_found(tree: Path) -> None:
    (tree / ".venv/wheels").mkdir(parents=True)
    assert compare(tree).returncode == 0
    assert f"HOLDFAST_WHEELS:PATH={tree}/.venv" in (tree / "build/release/base/build/release/CMakeCache.txt").read_text()


def test_a_library_that_a_list_of_cmake_finds_elsewhere_is_the_changes_and_one_set_by_hand_is_both_builds(
    tree: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = tmp_path_factory.mktemp("libraries")
    for which in ("fast", "slow", "mine"):
        (place / which).mkdir()
        (place / which / "library").touch()
    found = "find_path(HOLDFAST_LIBRARY library HINTS {} NO_DEFAULT_PATH)\n"
    (tree / "CMakeLists.txt").write_text(CMAKE + found.format(place / "fast"))
    commit(tree, "0.001")
    (tree / "CMakeLists.txt").write_text(CMAKE + found.format(place / "slow"))
    assert compare(tree).returncode == 0
    assert f"HOLDFAST_LIBRARY:PATH={place}/fast\n" in cache_of_base(tree)
    assert compare(tree, f"-DHOLDFAST_LIBRARY={place}/mine").returncode == 0
    assert f"HOLDFAST_LIBRARY:PATH={place}/mine\n" in cache_of_base(tree)


def presets(place: Path, variables: str = "", environment: str = "", included: str = "") -> None:
    text = PRESETS.format(variables=variables, environment=environment, included=included)
    (place / "CMakePresets.json").write_text(text)


def commit_presets(place: Path, variables: str = "", environment: str = "") -> None:
    presets(place, variables, environment)
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "--message", "Presets")


def cache_of_base(place: Path) -> str:
    return (place / "build/release/base/build/release/CMakeCache.txt").read_text("utf-8")


def test_the_base_is_configured_by_its_own_presets(tree: Path) -> None:
    commit_presets(tree, '"CMAKE_CXX_FLAGS": "-fwrapv"')
    presets(tree, '"CMAKE_CXX_FLAGS": "-fno-inline", "CMAKE_CXX_COMPILER": "slow++"', '"CXXFLAGS": "-fno-tree-vectorize"')
    # Targets of a build preset have the environment of its configure preset.
    found = compare(tree, CXX="by_hand++", CXXFLAGS="-fno-tree-vectorize")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "CMAKE_CXX_FLAGS:STRING=-fno-inline" in (tree / "build/release/CMakeCache.txt").read_text("utf-8")
    assert "CMAKE_CXX_FLAGS:STRING=-fwrapv" in cache_of_base(tree)
    for other in ("-fno-inline", "slow++", "-fno-tree-vectorize"):
        assert other not in cache_of_base(tree)
    assert "SEEN:STRING=by_hand++|\n" in cache_of_base(tree), "what somebody set by hand is both builds'"


def test_a_base_keeps_nothing_of_the_presets_of_another(tree: Path) -> None:
    commit_presets(tree)
    commit_presets(tree, '"CMAKE_CXX_FLAGS": "-fwrapv"')
    assert compare(tree, HOLDFAST_BASE="HEAD").returncode == 0
    assert "-fwrapv" in cache_of_base(tree)
    assert compare(tree, HOLDFAST_BASE="HEAD~1").returncode == 0
    assert "-fwrapv" not in cache_of_base(tree)


# Of another build: it does not tell who set what in this one.
OTHERS = """{"version": 6, "configurePresets": [{"name": "fuzz", "binaryDir": "${sourceDir}/build/fuzz",
  "cacheVariables": {"HOLDFAST_UNITY": "OFF", "CMAKE_CXX_COMPILER": "clang++", "CMAKE_CXX_FLAGS": "-fuzz"}}]}"""


def test_what_was_set_by_hand_is_both_builds_whatever_the_shell_has_now(tree: Path) -> None:
    (tree / "others.json").write_text(OTHERS)
    presets(tree, included='"others.json"')
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message", "Presets")
    (tree / "note").write_text("changed")
    build(tree, "-DHOLDFAST_UNITY=OFF", "-DCMAKE_CXX_FLAGS=-march=native", CXX="clang++")
    assert run(tree, "cmake/ci/compare.sh", CXX="of_another_day++").returncode == 0
    for value in ("HOLDFAST_UNITY:BOOL=OFF", "CMAKE_CXX_FLAGS:STRING=-march=native", "CMAKE_CXX_COMPILER:STRING=clang++"):
        assert f"{value}\n" in cache_of_base(tree)


def test_what_the_users_own_presets_set_is_set_by_hand(tree: Path) -> None:
    commit_presets(tree)
    (tree / ".git/info/exclude").write_text("CMakeUserPresets.json")
    (tree / "note").write_text("changed")
    (tree / "CMakeUserPresets.json").write_text("""{"version": 6, "configurePresets": [{"name": "mine", "inherits": "release",
      "cacheVariables": {"CMAKE_CXX_FLAGS": "-march=native"}, "environment": {"CXX": "mine++"}}]}""")
    build(tree, "--preset", "mine")
    assert run(tree, "cmake/ci/compare.sh").returncode == 0
    assert "CMAKE_CXX_FLAGS:STRING=-march=native\n" in cache_of_base(tree)
    assert "CMAKE_CXX_COMPILER:STRING=mine++\n" in cache_of_base(tree)


def assert_flags_stay(tree: Path, *options: str, **environment: str) -> None:
    found = compare(tree, *options, **environment)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "-fno-inline" in (tree / "build/release/CMakeCache.txt").read_text("utf-8")
    assert "-fno-inline" not in cache_of_base(tree)
    assert "CMAKE_CXX_COMPILER:STRING=/usr/bin/c++\n" in cache_of_base(tree)


@pytest.mark.parametrize("variables, environment", [
    ('"CMAKE_CXX_FLAGS": "-fno-inline", "CMAKE_CXX_COMPILER": "slow++"', ""),
    ("", '"CXXFLAGS": "-fno-inline", "CXX": "slow++"'),
])
def test_what_an_included_preset_sets_is_the_changes(tree: Path, variables: str, environment: str) -> None:
    commit_presets(tree)
    (tree / "cmake/more.json").write_text(PRESETS.format(variables=variables, environment=environment, included=""))
    (tree / "CMakePresets.json").write_text('{"version": 6, "include": ["cmake/more.json"]}')
    # As a target of a build preset sees it.
    assert_flags_stay(tree, **({"CXXFLAGS": "-fno-inline", "CXX": "slow++"} if environment else {}))


def test_what_a_hand_adds_to_a_preset_is_not_told_from_it(tree: Path) -> None:
    commit_presets(tree)
    presets(tree, '"CMAKE_CXX_FLAGS": "-fno-inline"')
    assert_flags_stay(tree, "-DCMAKE_CXX_FLAGS=-fno-inline -march=native")


def test_what_preset_ci_sets_in_the_same_folder_is_the_changes(tree: Path) -> None:
    commit_presets(tree)
    presets(tree)
    text = (tree / "CMakePresets.json").read_text("utf-8").removesuffix("]}")
    (tree / "CMakePresets.json").write_text(text + """, {"name": "ci", "inherits": "release",
      "cacheVariables": {"CMAKE_CXX_FLAGS": "-fno-inline"}, "environment": {"CXX": "slow++"}}]}""")
    assert_flags_stay(tree, "--preset", "ci")


def test_what_the_base_has_by_its_preset_stays_whatever_a_hand_set(tree: Path) -> None:
    commit_presets(tree, '"CMAKE_CXX_FLAGS": "-fwrapv"')
    presets(tree)
    assert compare(tree, "-DCMAKE_CXX_FLAGS=-march=native").returncode == 0
    assert "-fwrapv" in cache_of_base(tree)


def test_what_a_list_of_cmake_sets_is_the_changes(tree: Path) -> None:
    commit_presets(tree)
    (tree / "CMakeLists.txt").write_text(
        CMAKE.replace('set(CMAKE_CXX_FLAGS "$ENV{CXXFLAGS}"', 'set(CMAKE_CXX_FLAGS -fno-inline')
        .replace('option(HOLDFAST_UNITY "" ON)', 'option(HOLDFAST_UNITY "" OFF)'))
    assert_flags_stay(tree)
    assert "HOLDFAST_UNITY:BOOL=ON\n" in cache_of_base(tree)


def test_what_a_toolchain_file_sets_is_the_changes(tree: Path) -> None:
    commit_presets(tree)
    values = {"CMAKE_CXX_COMPILER": "slow++", "CMAKE_CXX_FLAGS": "-fno-inline"}
    (tree / "slow.cmake").write_text("".join(f'set({name} {value} CACHE STRING "")\n' for name, value in values.items()))
    assert_flags_stay(tree, f"-DCMAKE_TOOLCHAIN_FILE={tree}/slow.cmake")


def test_the_limits_of_cases_follow_from_the_comparison_before(tree: Path) -> None:
    results = tree / "build/release/compare/results"
    (results / "host-older-1t").mkdir(parents=True)
    (results / ".history").mkdir()
    (results / ".history/fake_suite.host").write_text("7 fake_suite/of_before/n:8/f64\n")
    assert compare(tree).returncode == 0
    assert not (results / "host-older-1t").exists()
    assert "7 fake_suite/of_before/n:8/f64" in (results / ".history/fake_suite.host").read_text()
    assert "fake_suite/add/n:8/f64" in (results / ".history/fake_suite.host.base").read_text()


def test_instructions_are_counted_where_that_is_possible(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    valgrind = tmp_path_factory.mktemp("bin") / "valgrind"
    valgrind.write_text("#!/bin/sh\n")
    valgrind.chmod(0o755)
    found = compare(tree, PATH=f"{valgrind.parent}:{os.environ['PATH']}")
    assert found.returncode == 0, found.stdout + found.stderr
    assert "counted instructions in" in found.stderr


def test_main_as_it_is_is_held_against_its_parent(tree: Path) -> None:
    found = compare(tree)
    assert found.returncode == 0, found.stdout + found.stderr
    assert "A step of 0.00100 s, the parent of HEAD" in found.stdout


def test_a_base_can_be_named_and_one_that_is_none_is_bad_input(tree: Path) -> None:
    commit(tree, "0.0011")
    named = compare(tree, HOLDFAST_BASE="HEAD~2")
    assert named.returncode == 1, named.stdout + named.stderr
    assert "HOLDFAST_BASE=HEAD~2" in named.stdout
    missing = compare(tree, HOLDFAST_BASE="nowhere")
    assert missing.returncode == 2
    assert "HOLDFAST_BASE=nowhere is no commit" in missing.stderr


# As git sets them for a hook in a worktree, or for what `git rebase --exec` runs.
@pytest.mark.parametrize("variables", [{"GIT_DIR": ".git"}, {"GIT_INDEX_FILE": ".git/index"}])
def test_in_a_hook_the_callers_branch_and_index_stay_as_they_are(tree: Path, variables: dict[str, str]) -> None:
    git(tree, "checkout", "--quiet", "-b", "topic")
    commit(tree, "0.0011")
    (tree / "step_seconds").write_text("0.00105")
    git(tree, "add", "step_seconds")
    asked = [["symbolic-ref", "HEAD"], ["status", "--short"], ["ls-files", "--stage"]]
    before = [run(tree, "git", *words).stdout for words in asked]
    build(tree)
    for base in ("main", "main~1"):  # the second one moves the base's tree
        named = {name: str(tree / value) for name, value in variables.items()}
        found = run(tree, "cmake/ci/compare.sh", "build/release", HOLDFAST_BASE=base, **named)
        assert found.returncode == 1, found.stdout + found.stderr
        assert [run(tree, "git", *words).stdout for words in asked] == before


def test_what_an_undecided_comparison_is_can_be_said(tree: Path) -> None:
    assert compare(tree, HOLDFAST_UNDECIDED="warn").returncode == 0
    nonsense = compare(tree, HOLDFAST_UNDECIDED="perhaps")
    assert nonsense.returncode == 2
    assert "--undecided=perhaps" in nonsense.stderr


def test_a_base_that_does_not_build_is_told_with_its_last_words(tree: Path) -> None:
    (tree / "CMakeLists.txt").write_text("project(broken LANGUAGES NONE)\nmessage(FATAL_ERROR \"no such thing\")\n")
    git(tree, "commit", "--quiet", "--all", "--message", "Broken")
    (tree / "CMakeLists.txt").write_text(CMAKE)
    found = compare(tree)
    assert found.returncode == 3
    assert "no such thing" in found.stderr
    assert "the base does not build" in found.stderr
