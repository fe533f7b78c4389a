# SPDX-License-Identifier: Apache-2.0
"""`python3 cmake/example.py ROOT BUILD`: builds and gates the toy workload of cmake/example/.

It is laid into a scratch copy of the tree at BUILD/example, configured as BUILD is. Its suite, its tests and the gate are
built; the suite is run, accepted and checked, which passes; one more launch is planted, run and checked, which fails.
"""

import json
import shutil
import sys
from pathlib import Path

from scratch_tree import House, copy_tree

LINE = "add_subdirectory(heat)\n"
EDITED = ("kernels/CMakeLists.txt", "suites/CMakeLists.txt")
LAUNCHER = Path("kernels/heat/device/cuda.cpp")
LAUNCH = "      kernels_.step(points, u_.data(), other_.data(), n_);\n"


def lay_out(root: Path, scratch: Path) -> None:
    """Copies the working tree and adds the toy: its files and two lines."""
    copy_tree(root, scratch)
    shutil.copytree(root / "cmake/example", scratch, dirs_exist_ok=True)
    for name in EDITED:
        with (scratch / name).open("a", encoding="utf-8") as lists:
            lists.write(LINE)


def calm(document: dict) -> None:
    """Removes the machine's influence from results, so that they can be accepted on the noisiest machine.

    Every process of a time or a ratio gets their median, no process was disturbed or shared a core, the latency between
    threads is fixed, and the measurement is valid; as the planted suites' gate.hpp does.
    """
    document["quality"]["valid"] = True
    processes = document["run"]["processes"]
    for one in document["cases"]:
        for metrics in (one["metrics"], *(variant["metrics"] for variant in one["variants"].values())):
            for name, metric in metrics.items():
                if name in ("shared_fraction", "waited_fraction") and metric["value"] is not None:
                    metric["value"] = 0
                if "processes" in metric:
                    metric["median"] = 60e-9 if name == "handover_s" else metric["median"]
                    metric["processes"] = [metric["median"]] * processes
                    metric["mad_between"] = 0


def go_through(house: House) -> None:
    tests = house.build / "kernels/heat"
    on_device = "heat.unit_test" in (tests / "CTestTestfile.cmake").read_text("utf-8")
    house.build_targets("holdfast", "heat", *(["heat.unit_test"] if on_device else []))
    devices = ["host", "cuda-dry:sm_90"] if on_device else ["host"]
    for device in devices:
        house.measure("heat", device=device, out="results")
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
    house.measure("heat", device="cuda-dry:sm_90", out="planted")
    if "is 2, above the bound of 1 (one kernel per step); the accepted value is 1" not in house.gate(
            "check", out="planted", exit_code=1):
        sys.exit("example: the gate does not tell of the launch that was planted")


def main(root: Path, build: Path) -> None:
    scratch = build / "example"
    shutil.rmtree(scratch, ignore_errors=True)
    lay_out(root, scratch)
    house = House(scratch)
    house.call(sys.executable, "cmake/layers.py", ".")
    house.begin(build, {"heat"})
    go_through(house)


if __name__ == "__main__":
    if len(sys.argv) != 3 or not Path(sys.argv[2], "CMakeCache.txt").is_file():
        sys.exit("usage: example.py ROOT BUILD, the source tree and a folder that it was configured in")
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
