# SPDX-License-Identifier: Apache-2.0
"""What needs a GPU holds one, and runs on the one that CTest gives it of those that `holdfast doctor` wrote."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build" / "release"))
ON_GPU = ROOT / "cmake" / "on_gpu.sh"
SHOW = ["sh", "-c", "echo on ${CUDA_VISIBLE_DEVICES-whatever is there}"]

DRIVER = """
extern "C" {
int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) { return *version = CUDA, 0; }
int cuDeviceGetCount(int* count) { return *count = 2, 0; }
int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char* name, int, int) { return name[0] = 'G', name[1] = 0; }
int cuDeviceGetPCIBusId(char*, int, int) { return 500; }
}
"""


def registered() -> list[dict[str, Any]]:
    if not (BUILD / "CTestTestfile.cmake").exists():
        pytest.skip("nothing is configured")
    shown = subprocess.run(["ctest", "--test-dir", BUILD, "--show-only=json-v1"], capture_output=True, check=True)
    return [{"name": test["name"], "command": test.get("command", []),
             **{one["name"]: one["value"] for one in test["properties"]}} for test in json.loads(shown.stdout)["tests"]]


def test_what_needs_a_gpu_holds_one_and_nothing_else_does() -> None:
    # A check reads files, also where the GPU that they speak of is not.
    on_gpu = [test for test in registered() if "gpu" in test.get("LABELS", []) and not test["name"].endswith(".check")]
    held = [test for test in registered() if "RESOURCE_GROUPS" in test or "gpu" in test.get("RESOURCE_LOCK", [])]
    assert [test["name"] for test in held] == [test["name"] for test in on_gpu]
    if not on_gpu:
        pytest.skip("this build has no CUDA")
    assert {test["name"].partition(".")[0] for test in on_gpu} > {"perf", "runtime", "harness", "gpt_train"}
    for test in on_gpu:
        (group,) = test["RESOURCE_GROUPS"]
        (need,) = group["requirements"]
        assert (need[".type"], need["slots"]) == ("gpus", 1), test["name"]
        assert test["RESOURCE_LOCK"] == ["gpu"], test["name"]
        assert not test["command"] or test["command"][0] == str(ON_GPU), test["name"]


@pytest.mark.parametrize(("given", "visible", "seen"), [
    ({}, None, "whatever is there"),
    ({}, "3", "3"),
    ({"CTEST_RESOURCE_GROUP_0_GPUS": "id:1,slots:1"}, None, "1"),
    ({"CTEST_RESOURCE_GROUP_0_GPUS": "id:1,slots:1"}, "2,5,7", "5"),
])
def test_the_gpu_that_ctest_gives_is_the_only_one_that_is_seen(given: dict[str, str], visible: str | None, seen: str) -> None:
    assert on_gpu(given, visible).stdout == f"on {seen}\n"


def test_how_the_command_ends_is_how_the_script_ends() -> None:
    assert subprocess.run([ON_GPU, "sh", "-c", "exit 77"], check=False).returncode == 77


@pytest.mark.parametrize(("gpu", "visible", "why"), [("2", "4,5", "shows 2"), ("first", None, "is no number")])
def test_a_gpu_that_cannot_be_meant_is_refused(gpu: str, visible: str | None, why: str) -> None:
    ran = on_gpu({"CTEST_RESOURCE_GROUP_0_GPUS": f"id:{gpu},slots:1"}, visible)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert why in ran.stderr


def on_gpu(given: dict[str, str], visible: str | None) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], **given, **({} if visible is None else {"CUDA_VISIBLE_DEVICES": visible})}
    return subprocess.run([ON_GPU, *SHOW], env=environment, capture_output=True, text=True, check=False)


def driver_of_two_gpus(folder: Path, cuda: int = 13000) -> Path:
    """A folder with a libcuda.so.1 that answers what `holdfast doctor` asks the NVIDIA driver."""
    cache = (BUILD / "CMakeCache.txt").read_text("utf-8")
    compiler = next(line.partition("=")[2] for line in cache.splitlines() if line.startswith("CMAKE_CXX_COMPILER:"))
    (folder / "driver.cpp").write_text(DRIVER, "utf-8")
    subprocess.run([compiler, "-shared", "-fPIC", f"-DCUDA={cuda}", "-o", folder / "libcuda.so.1", folder / "driver.cpp"],
                   check=True)
    return folder


def test_ctest_gives_the_gpus_that_doctor_wrote(tmp_path: Path) -> None:
    holdfast = BUILD / "bin" / "holdfast"
    if not holdfast.exists():
        pytest.skip(f"{holdfast} is not built")
    gpus = tmp_path / "gpus.json"
    subprocess.run([holdfast, "doctor", f"--ctest-resources={gpus}"], cwd=ROOT, check=True, capture_output=True, env={
        **os.environ, "LD_LIBRARY_PATH": str(driver_of_two_gpus(tmp_path)), "HOLDFAST_REQUIRE": ""})
    (tmp_path / "CTestTestfile.cmake").write_text(
        f'add_test(one "{ON_GPU}" "{SHOW[0]}" "{SHOW[1]}" [=[{SHOW[2]}]=])\n'
        f'add_test(both "{ON_GPU}" true)\nadd_test(more "{ON_GPU}" true)\n'
        'set_tests_properties(one PROPERTIES RESOURCE_GROUPS gpus:1 PASS_REGULAR_EXPRESSION "on [01]")\n'
        'set_tests_properties(both PROPERTIES RESOURCE_GROUPS 2,gpus:1)\n'
        'set_tests_properties(more PROPERTIES RESOURCE_GROUPS 3,gpus:1)\n', "utf-8")

    def passes(name: str) -> bool:
        ran = subprocess.run(["ctest", "--test-dir", tmp_path, "--resource-spec-file", gpus, "--tests-regex", f"^{name}$",
                              "--no-tests=error"], capture_output=True, check=False)
        return ran.returncode == 0

    assert [passes(name) for name in ("one", "both", "more")] == [True, True, False]


@pytest.mark.parametrize(("cuda", "serves", "codes"), [(12090, False, [3, 77]), (13000, True, [0, 3])])
def test_gpus_of_a_driver_that_is_too_old_are_none_to_use(tmp_path: Path, cuda: int, serves: bool, codes: list[int]) -> None:
    holdfast = BUILD / "bin" / "holdfast"
    if not holdfast.exists():
        pytest.skip(f"{holdfast} is not built")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(driver_of_two_gpus(tmp_path, cuda)), "HOLDFAST_REQUIRE": "cuda"}
    (tmp_path / "results").mkdir()
    unmeasured = ["check", tmp_path / "results", "--only=cubed_sphere_swe", "--device=cuda", "--baselines=baselines"]
    doctor, check = (subprocess.run([holdfast, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
                     for words in (["doctor"], unmeasured))
    if "cuda-dry" not in doctor.stdout.partition("\ndevices:")[2]:
        pytest.skip("this machine has no CUDA toolkit")
    assert [doctor.returncode, check.returncode] == codes, doctor.stdout + check.stderr
    told = f"the driver serves CUDA {cuda // 1000}.{cuda % 1000 // 10}, and this build needs 13: install NVIDIA's driver 580 or newer"
    assert (told in doctor.stdout, told in check.stderr) == (not serves, not serves)
