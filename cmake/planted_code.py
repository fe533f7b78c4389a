# SPDX-License-Identifier: Apache-2.0
"""`python3 cmake/planted_code.py ROOT BUILD`: slowdowns in real C++, which the gate must find without any time.

In a copy of the tree at BUILD/planted_code, configured as BUILD is, two suites are built, run and accepted without their times,
as on a processor for which no time is accepted. Each plant below edits one line, is built and run, and must fail.
"""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from scratch_tree import House, Plant, copy_tree

SWE, KDE = "cubed_sphere_swe", "clusterless_kde"
HOST, DRY = "host", "cuda-dry:sm_90"
COUNTING = ("--processes=1", "--count-instructions")


@dataclass(frozen=True)
class Told(Plant):
    device: str
    cases: str
    words: tuple[str, ...]  # the gate's own: the metric and its direction, and the kernel if named


PLANTS = (
    Told("functions of whole vectors, one number at a time", KDE, "host/hop.hpp",
         "store(to + k + v * lanes, exp2<T>(sum[v]));",
         "for (int l = 0; l < lanes; ++l) to[k + v * lanes + l] = std::exp2(sum[v][l]);",
         HOST, "decode/size:small", ("instructions rose",)),
    Told("half of a block of rows", SWE, "host/host_optimized.cpp",
         "blocks_(host_blocks_per_panel(n_, threads_))", "blocks_(2 * host_blocks_per_panel(n_, threads_))",
         HOST, "rk4_step/n:24", ("instructions rose",)),
    Told("one more pass over two arrays", SWE, "host/host_sweep.hpp",
         "      flux2(i);\n", "      flux2(i);\n      flux2(i);\n",
         HOST, "rk4_step/n:24", ("instructions rose",)),
    Told("half of the columns of a block", KDE, "device/decode_tiling.cpp",
         "most_columns = 128", "most_columns = 64",
         DRY, "decode/size:small", ("tensor_instructions fell", "kernel hop_a<")),
    Told("one stage of shared memory for two", KDE, "device/decode_tiling.cpp",
         "? 2 * std::max(1, tiling.parts / 2)", "? std::max(1, tiling.parts / 2)",
         DRY, "decode/size:small", ("block_shared_bytes fell",)),
    Told("the graph of a loop", SWE, "device/cuda_optimized.cpp",
         "      replay(steps_);\n", "      enqueue_steps(steps_);\n",
         DRY, "loop/n:48/steps:100/launch:graph/diag:none", ("graph_nodes fell from 400 to 0",)),
)


def accept_as_built(house: House, devices: list[str]) -> None:
    shutil.rmtree(house.scratch / "baselines/devices", ignore_errors=True)
    for device in devices:
        house.measure(SWE, KDE, device=device, out="as_built", options=COUNTING if device == HOST else ())
    house.gate("baseline", "accept", "--counts-only", "--why=as built", out="as_built")
    house.gate("check", "--undecided=warn", out="as_built")


def is_told(said: str, words: tuple[str, ...]) -> bool:
    """Whether one blocking row contains all of these words."""
    blocking = [" ".join(row.split("\n  next ")[0].split()) for row in said.split("(blocking")[1:]]
    return any(all(one in row for one in words) for row in blocking)


def find(house: House, plant: Told) -> bool:
    """Whether the gate blocks the plant and names it."""
    print(f"--- {plant.what}, in {plant.suite} on {plant.device}", flush=True)
    out = "planted-" + str(PLANTS.index(plant))
    with house.planted(plant):
        house.measure(plant.suite, device=plant.device, out=out,
                      options=(f"--filter={plant.cases}", *(COUNTING if plant.device == HOST else ())))
        said = house.gate("check", f"--only={plant.suite}", out=out, exit_code=1)
    return is_told(said, plant.words)


def main(root: Path, like: Path) -> None:
    scratch = like / "planted_code"
    shutil.rmtree(scratch, ignore_errors=True)
    copy_tree(root, scratch)
    house = House(scratch)
    house.begin(like, {SWE, KDE})
    house.build_targets("holdfast", SWE, KDE)
    devices = [HOST, DRY] if DRY.split(":")[0] in house.call(house.build / "bin" / KDE, "--list") else [HOST]
    accept_as_built(house, devices)
    missed = [plant.what for plant in PLANTS if plant.device in devices and not find(house, plant)]
    if missed:
        sys.exit("planted_code: the gate does not tell of " + "; ".join(missed))


if __name__ == "__main__":
    if len(sys.argv) != 3 or not Path(sys.argv[2], "CMakeCache.txt").is_file():
        sys.exit("usage: planted_code.py ROOT BUILD, the source tree and a folder that it was configured in")
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve())
