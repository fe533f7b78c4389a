# SPDX-License-Identifier: Apache-2.0
"""`python3 cmake/example.py ROOT BUILD`: the toy workload of cmake/example/ goes through the whole house.

It is laid into a scratch copy of the tree at BUILD/example, configured as BUILD is. Its suite, its tests and the gate are
built; the suite is run, accepted and checked, which passes; one more launch is planted, run and checked, which fails.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

LINE = "add_subdirectory(heat)\n"
EDITED = ("kernels/CMakeLists.txt", "suites/CMakeLists.txt")
SETTINGS = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CXX_FLAGS",
            "CMAKE_COMPILE_WARNING_AS_ERROR", "CMAKE_MAKE_PROGRAM")
OWN = ("HOLDFAST_FUZZ_SECONDS", "HOLDFAST_STORE")  # of each build
LAUNCHER = Path("kernels/heat/device/cuda.cpp")
LAUNCH = "      kernels_.step(points, u_.data(), other_.data(), n_);\n"


def lay_out(root: Path, scratch: Path) -> None:
    """A copy of the working tree with the toy in it: its files and two lines."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, scratch / name)
    shutil.copytree(root / "cmake/example", scratch, dirs_exist_ok=True)
    for name in EDITED:
        with (scratch / name).open("a", encoding="utf-8") as lists:
            lists.write(LINE)


def settings(cache: str) -> list[str]:
    """What a second build must be told to be configured as the one whose CMakeCache.txt this is."""
    found = []
    for line in cache.splitlines():
        name, _, value = line.partition("=")
        name, _, kind = name.partition(":")
        if name == "CMAKE_GENERATOR":
            found.append(f"-G{value}")
        elif name in SETTINGS or (name.startswith("HOLDFAST_") and name not in OWN and kind != "INTERNAL"):
            found.append(f"-D{name}={value}")
    return found


def calm(document: dict) -> None:
    """Takes out of results what the machine did to them, so that they can be accepted on the noisiest one."""
    for one in document["cases"]:
        for metrics in (one["metrics"], *(variant["metrics"] for variant in one["variants"].values())):
            for metric in metrics.values():
                if "processes" in metric:
                    metric["processes"] = [metric["median"]] * len(metric["processes"])
                    metric["mad_between"] = 0


class House:
    def __init__(self, scratch: Path) -> None:
        self.scratch, self.build = scratch, scratch / "build"
        self.environment = os.environ | {"HOLDFAST_CACHE_DIR": str(self.build / "cache")}

    def call(self, *command: str | Path, exit_code: int = 0) -> str:
        """What a command said; ends the program where it ended otherwise."""
        print("$", *command, flush=True)
        done = subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout, flush=True)
        if done.returncode != exit_code:
            sys.exit(f"example: this ended with {done.returncode} instead of {exit_code}")
        return done.stdout

    def build_targets(self, *targets: str) -> None:
        self.call("cmake", "--build", self.build, "--target", *targets)

    def measure(self, device: str, out: str) -> None:
        self.call(self.build / "bin/holdfast", "run", "heat", f"--device={device}", f"--out={self.build / out}")

    def gate(self, *verb: str, out: str, exit_code: int = 0) -> str:
        return self.call(self.build / "bin/holdfast", *verb, self.build / out,
                         f"--baselines={self.scratch / 'baselines'}", exit_code=exit_code)


def go_through(house: House) -> None:
    tests = house.build / "kernels/heat"
    on_device = "heat.unit_test" in (tests / "CTestTestfile.cmake").read_text("utf-8")
    house.build_targets("holdfast", "heat", *(["heat.unit_test"] if on_device else []))
    devices = ["host", "cuda-dry:sm_90"] if on_device else ["host"]
    for device in devices:
        house.measure(device, "results")
    for file in (house.build / "results").glob("*/heat.json"):
        document = json.loads(file.read_text("utf-8"))
        calm(document)
        file.write_text(json.dumps(document), "utf-8")
    house.gate("baseline", "accept", "--why=as built", out="results")
    house.gate("check", *(f"--expect=heat:{device}" for device in devices), "--undecided=warn", out="results")
    if not on_device:
        return
    house.call("ctest", "--test-dir", tests, "--output-on-failure")
    launcher = house.scratch / LAUNCHER
    launcher.write_text(launcher.read_text("utf-8").replace(LAUNCH, LAUNCH + LAUNCH), "utf-8")
    house.build_targets("heat")
    house.measure("cuda-dry:sm_90", "planted")
    if "is 2, above the bound of 1 (one kernel per step); the accepted value is 1" not in house.gate(
            "check", out="planted", exit_code=1):
        sys.exit("example: the gate does not tell of the launch that was planted")


def main(root: Path, build: Path) -> None:
    scratch = build / "example"
    shutil.rmtree(scratch, ignore_errors=True)
    lay_out(root, scratch)
    # Heat is all that is built here, and the gate refuses rules of suites that a build does not have.
    for policy in (scratch / "baselines/policy").glob("*.json"):
        if policy.stem not in {"common", "heat"}:
            policy.unlink()
    house = House(scratch)
    house.call("git", "init", "--quiet")  # of its own, so that what is built knows its content
    house.call(sys.executable, "cmake/layers.py", ".")
    house.call("cmake", "-S", ".", "-B", house.build, *settings((build / "CMakeCache.txt").read_text("utf-8")))
    go_through(house)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not Path(sys.argv[2], "CMakeCache.txt").is_file():
        sys.exit("usage: example.py ROOT BUILD, the source tree and a folder that it was configured in")
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
