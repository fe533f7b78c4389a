# SPDX-License-Identifier: Apache-2.0
"""What a build registers with CTest: each test is run by a preset and ends, each file of tests is part of one, and a verdict
depends on what it judges. A label that nobody asks for is a test that nobody runs."""

import json
import os
import re
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build" / "release"))
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text("utf-8"))
WHEN = {"unit", "slow", "perf", "nightly", "fuzz", "gpu"}  # what a preset, or whoever has a GPU, asks for
KINDS = {"host", "dry", "gpu", "threads"}
DEVICES = {"host": "host", "cuda-dry:sm_90": "dry", "cuda": "gpu"}

Test = dict[str, Any]


@cache
def cached(name: str) -> str:
    found = re.search(rf"^{name}:\w+=(.*)$", (BUILD / "CMakeCache.txt").read_text("utf-8"), re.MULTILINE)
    return found[1] if found else ""


@cache
def shown() -> dict[str, Test]:
    told = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, check=True)
    return {one["name"]: {"command": one.get("command", [])} | {said["name"]: said["value"] for said in one["properties"]}
            for one in json.loads(told.stdout)["tests"]}


@pytest.fixture
def tests() -> dict[str, Test]:
    if not (BUILD / "CTestTestfile.cmake").exists():
        pytest.skip("nothing is configured")
    return shown()


def suites(tests: dict[str, Test]) -> set[str]:
    return {name.split(".")[1] for name in tests if re.fullmatch(r"perf\.\w+\.host\.run", name)}


def filters(name: str) -> tuple[str, str]:
    """What a test preset includes and excludes."""
    (preset,) = [one for one in PRESETS["testPresets"] if one["name"] == name]
    told = preset["filter"]
    return told.get("include", {}).get("label", ""), told.get("exclude", {}).get("label", "^$")


def run_by(preset: str, test: Test) -> bool:
    include, exclude = filters(preset)
    labels = test.get("LABELS", [])
    return any(re.search(include, label) for label in labels) and not any(re.search(exclude, label) for label in labels)


def test_each_test_has_a_label_that_a_preset_asks_for_and_none_that_nobody_knows(tests: dict[str, Test]) -> None:
    known = WHEN | KINDS | suites(tests)
    for name, test in tests.items():
        labels = set(test.get("LABELS", []))
        assert labels <= known, name
        assert len(labels & WHEN - {"gpu"}) == 1 or labels == {"gpu"}, name
        at_night = name.endswith("nightly") or ".full." in name
        assert "nightly" in labels or not at_night, name
        assert "perf" not in labels or name.startswith("perf."), name
        assert not name.startswith("perf.") or labels & {"perf", "nightly"}, name


def test_each_test_is_run_by_one_of_three_presets(tests: dict[str, Test]) -> None:
    for name, test in tests.items():
        if "fuzz" not in test.get("LABELS", []):
            assert sum(run_by(preset, test) for preset in ("test", "perf", "nightly")) == 1, name
    for preset, label in (("dev", "unit"), ("tsan", "threads"), ("fuzz", "fuzz"), ("nightly", "nightly"), ("perf", "perf")):
        assert filters(preset) == (f"^{label}$", "^$")


def test_a_preset_without_a_test_fails_and_a_sanitizer_ends_what_it_finds() -> None:
    for preset in PRESETS["testPresets"]:
        assert preset["name"] == "base" or preset["inherits"] == "base"
        assert preset.get("execution", {}).get("noTestsAction", "error") == "error", preset["name"]
    (base,) = [one for one in PRESETS["testPresets"] if one["name"] == "base"]
    assert base["execution"]["noTestsAction"] == "error"
    configured = {one["name"]: one["cacheVariables"] for one in PRESETS["configurePresets"] if "cacheVariables" in one}
    for name in ("dev", "fuzz"):
        assert "-fno-sanitize-recover=all" in configured[name]["CMAKE_CXX_FLAGS"]
    assert configured["ci"]["CMAKE_COMPILE_WARNING_AS_ERROR"] == "ON"
    assert configured["ci"]["HOLDFAST_REQUIRE"] == "host;cuda-dry:sm_90"


def test_each_test_ends(tests: dict[str, Test]) -> None:
    assert [name for name, test in tests.items() if not test.get("TIMEOUT", 0) > 0] == []


def test_what_is_absent_is_skipped_by_its_code_alone_and_never_where_it_is_required(tests: dict[str, Test]) -> None:
    assert {test.get("SKIP_RETURN_CODE", 77) for test in tests.values()} == {77}
    required = f"HOLDFAST_REQUIRE={cached('HOLDFAST_REQUIRE').replace(';', ',')}"
    binaries = [name for name, test in tests.items() if "SKIP_RETURN_CODE" in test and not name.startswith("perf.")]
    assert binaries
    browsers = ["reporting_browser_test", "reporting_site_nightly_test"] if cached("HOLDFAST_REQUIRE") else []
    for name in binaries + browsers:
        assert required in tests[name]["ENVIRONMENT"], name


def test_what_a_binary_keeps_for_the_night_is_run_at_night_and_all_else_by_day(tests: dict[str, Test]) -> None:
    kept = [name for name in tests if name.endswith(".nightly") and not name.startswith("perf.")]
    assert kept
    for name in kept:
        by_day = tests[name.removesuffix(".nightly")]["command"]
        if by_day:  # where it is built
            assert tests[name]["command"] == [*by_day[:-1], "--gtest_filter=Nightly*"]
            assert by_day[-1] == "--gtest_filter=-Nightly*"


def test_each_suite_is_measured_and_judged_on_each_device_of_this_build(tests: dict[str, Test]) -> None:
    devices = {name.split(".")[2] for name in tests if name.startswith("perf.cubed_sphere_swe.") and name.count(".") == 3}
    expected = set(DEVICES) if "cuda" in devices else {"host"}
    parts = {(suite, device) for suite in suites(tests) for device in expected}
    checks = {f"perf.{suite}.{device}.check" for suite, device in parts}
    lists = [path.read_text("utf-8") for path in (ROOT / "suites").glob("*/CMakeLists.txt")]
    assert len(suites(tests)) == sum(bool(re.search(r"holdfast_add_suite\([^)]*\bDEVICES\b", text)) for text in lists)
    for suite, device in parts:
        part = f"perf.{suite}.{device}"
        measured, judged = tests[f"{part}.run"], tests[f"{part}.check"]
        assert {"--tier=gate", "--profile"} <= set(measured["command"] or ["--tier=gate", "--profile"])
        assert set(measured["LABELS"]) == set(judged["LABELS"]) == {"perf", DEVICES[device], suite}
        assert measured["FIXTURES_SETUP"] == [part] and part in judged["FIXTURES_REQUIRED"]
        assert "perf" in measured["FIXTURES_REQUIRED"] and "perf" in judged["FIXTURES_REQUIRED"]
        assert measured.get("RUN_SERIAL", False) is (not device.startswith("cuda-dry")), "what is timed is alone"
        assert "HOLDFAST_CACHE_DIR" not in str(measured.get("ENVIRONMENT")), "what a cache holds takes no time to compile"
        assert "--ctest" in judged["command"] or not judged["command"]
        if device != "cuda":  # of which the bundle's tour takes it
            whole = tests[f"{part}.full.run"]
            assert "--tier=full" in whole["command"] or not whole["command"]
            assert tests[f"{part}.full.check"]["FIXTURES_REQUIRED"] == whole["FIXTURES_SETUP"]
        if device == "cuda-dry:sm_90":
            assert {f"perf.{suite}.cuda-dry:{other}.check" for other in ("sm_80", "sm_100")} <= tests.keys()
    complete = tests["perf.complete"]
    assert checks <= set(complete["DEPENDS"])
    gpu = "cuda" in cached("HOLDFAST_REQUIRE").split(";")
    told = {f"--expect={suite}:{device}" for suite, device in parts if device != "cuda" or gpu}
    assert {word for word in complete["command"] if word.startswith("--expect=")} == (told if complete["command"] else set())
    assert tests["perf.clean"]["FIXTURES_SETUP"] == tests["perf.report"]["FIXTURES_CLEANUP"] == ["perf"]
    assert "perf.complete" in tests["perf.history"]["DEPENDS"]


def test_what_unpacks_the_bundle_waits_for_it_to_be_packed(tests: dict[str, Test]) -> None:
    unpacking = [name for name in tests if name.startswith("bundle.") and name != "bundle.pack"]
    if not unpacking:
        pytest.skip("this build has no CUDA")
    assert {"bundle.bare", "bundle.tour", "bundle.complete"} == set(unpacking)
    assert {tuple(tests[name]["FIXTURES_REQUIRED"]) for name in unpacking} == {("bundle",)}
    assert tests["bundle.pack"]["FIXTURES_SETUP"] == ["bundle"]


def targets() -> dict[str, set[str]]:
    """What each target that one types needs, in Ninja's words."""
    told = (BUILD / "build.ninja").read_text("utf-8").replace("$\n", "").replace("$:", ":")
    return {name: set(needs.split()) for name, needs in re.findall(r"^build CMakeFiles/([\w-]+)(?: \|.*?)?: \S+(.*)$", told, re.MULTILINE)}


def test_what_is_typed_needs_what_it_runs(tests: dict[str, Test]) -> None:
    if not (BUILD / "build.ninja").exists():
        pytest.skip("the build is not Ninja's")
    needs = targets()
    assert {"bin/holdfast", *(f"bin/{suite}" for suite in suites(tests))} <= needs["perf"]
    assert "perf" in needs["compare"]
    assert {f"bin/{name}" for name, test in tests.items() if "threads" in test["LABELS"]} <= needs["threads"]
    assert any("generated/" in one for one in needs["lint"])
    drawn = (BUILD / "build.ninja").read_text("utf-8")
    for target in ("trend-report", "trend-site"):
        (words,) = re.findall(rf"^build reporting/CMakeFiles/{target}(?: \|.*?)?: (.*)$", drawn, re.MULTILINE)
        assert "bin/holdfast" in words
    assert {one.strip() for one in re.findall(r"cmake/ci/lint\.sh ([a-z ]+)", drawn)} == {"format shell workflows python tidy"}


def test_what_is_hot_is_compiled_for_each_instruction_set_by_its_name() -> None:
    commands = BUILD / "compile_commands.json"
    if not commands.exists():
        pytest.skip("nothing is configured")
    files: dict[str, set[str]] = {"3": set(), "4": set()}
    for entry in json.loads(commands.read_text("utf-8")):
        if level := re.search(r"-DHOLDFAST_ISA=isa_v(\d)", entry["command"]):
            assert f"-march=x86-64-v{level[1]} " in entry["command"] and "-ffp-contract=fast" in entry["command"], entry["file"]
            files[level[1]].add(entry["file"])
    assert files["3"] == files["4"] != set()


@pytest.mark.parametrize(("options", "why"), [
    (["-DHOLDFAST_REQUIRE=host;cudadry"], "HOLDFAST_REQUIRE names cudadry, which is no device of"),
    (["-DHOLDFAST_REQUIRE=cuda-dry:sm_90", "-DHOLDFAST_CUDA_INCLUDE=/nowhere"], "names cuda-dry:sm_90, but this build has no CUDA"),
])
def test_what_is_required_and_absent_is_not_configured(tmp_path: Path, options: list[str], why: str) -> None:
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert why in re.sub(r"\s+", " ", done.stderr)


def test_a_toolkit_older_than_cuda_13_is_passed_over(tmp_path: Path) -> None:
    headers = tmp_path / "cuda-12" / "include"
    headers.mkdir(parents=True)
    for header in ("nvrtc.h", "nvJitLink.h", "cublas_v2.h", "cufft.h"):
        (headers / header).touch()
    (headers / "cuda_runtime_api.h").write_text("#define CUDART_VERSION  12090\n")
    # Ends early, at a device that no suite has: by then the toolkit is chosen.
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-DHOLDFAST_REQUIRE=host;cudadry"]
    subprocess.run(command, env=os.environ | {"CUDA_HOME": str(headers.parent)}, capture_output=True, check=False)
    (chosen,) = re.findall(r"^HOLDFAST_CUDA_INCLUDE:PATH=(.*)", (tmp_path / "build/CMakeCache.txt").read_text("utf-8"), re.MULTILINE)
    assert not chosen.startswith(str(tmp_path))
    named = [*command[:-1], "-DHOLDFAST_REQUIRE=cuda-dry:sm_90", f"-DHOLDFAST_CUDA_INCLUDE={headers}"]
    done = subprocess.run(named, capture_output=True, text=True, check=False)
    assert f"(missing: CUDA 13, which {headers} is older than" in re.sub(r"\s+", " ", done.stderr)


def listed(pattern: str) -> list[Path]:
    told = subprocess.run(["git", "-C", ROOT, "ls-files", pattern], capture_output=True, text=True, check=True)
    return [Path(line) for line in told.stdout.splitlines() if not line.startswith("cmake/example/")]


def test_git_tracks_nothing_beside_the_rooms() -> None:
    """What a build makes or finds there (objects, results, wheels, settings of its tools) is no part of a change."""
    rooms = {".ci", ".github", "baselines", "cmake", "kernels", "reporting", "suites"}
    files = {".clang-format", ".clang-tidy", ".editorconfig", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "LICENSE",
             "README.md", "ruff.toml"}
    assert {place.parts[0] for place in listed("*")} <= rooms | files


def test_each_file_of_tests_is_part_of_a_binary() -> None:
    for file in listed("*_test.cpp"):
        lists = [ROOT / folder / "CMakeLists.txt" for folder in file.parents]
        texts = "".join(path.read_text("utf-8") for path in lists if path.is_file())
        assert re.search(rf"(?<![\w]){re.escape(file.name)}", texts), file


def test_each_file_of_pytests_is_run(tests: dict[str, Test]) -> None:
    commands = [test["command"] for test in tests.values() if "pytest" in test["command"]]
    if not commands:
        pytest.skip("there are no wheels")
    for file in listed("*_test.py"):
        asked = [set(command) & {str(ROOT / place) for place in (file, *file.parents)} for command in commands]
        assert any(asked), file
    marked = {command[command.index("-m", 3) + 1] for command in commands if str(ROOT / "reporting") in command}
    assert marked == {"not slow and not big", "slow", "big"}
