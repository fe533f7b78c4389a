# SPDX-License-Identifier: Apache-2.0
"""`cmake --build build/release --target slowdowns`, or `python3 cmake/slowdowns.py BUILD [options]`: which slowdowns a comparison
with a base finds on a machine without accepted times.

In a copy of the tree at BUILD/slowdowns, configured as BUILD is, two suites are built: the base. Each plant below edits one
place, is built, and goes through what `cmake --workflow --preset compare` does of four cases: `holdfast run --beside=BASE`, then
`holdfast check --confirm=BASE`. So does the base beside itself, while other processes compute. What came of it stands in a table
of baselines/measured.md, each slowdown with the interval of the lock-step comparison. What was measured of this content is kept in
BUILD/slowdowns.jsonl, so that a run that was stopped goes on; --again forgets it. Ends in 1 where a slowdown of 5 % or more, or of
unknown size, was not found, where more than one of twenty unchanged builds ended in 1, or where more than five in 4.

  python3 cmake/slowdowns.py build/release                                   an hour on two cores
  python3 cmake/slowdowns.py build/release --only='lock|tile' --unchanged=0  some plants, nothing unchanged
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from measured_tables import (
    Journal,
    Load,
    beside_earlier,
    content_of,
    gate_of,
    place_of_table,
    provenance,
    write_table,
)
from scratch_tree import House, Plant, copy_tree

ROOT = Path(__file__).resolve().parents[1]
NAME = "slowdowns"  # of the tables in the page
SWE, KDE = "cubed_sphere_swe", "clusterless_kde"
# The first is the one whose time is reported.
CASES = {
    SWE: ("rk4_step/n:48/f64", "rhs/n:24/f64", "rhs/n:48/f64", "divergence/n:48/f64"),
    KDE: ("decode/size:medium/data:profile/f32", "decode/size:small/data:profile/f32", "encode/size:small/data:profile/f32",
          "local/size:medium/data:profile/f32"),
}
GOES_TO_FIND = 5  # percent: what is as slow or slower must be found
LOADS = (1, 4)  # processes beside an unchanged build, in turn
BUSY = 4  # processes beside a lock, which costs little if the threads that want it take turns on one CPU


def some_rows_twice(step: int) -> tuple[str, str, str]:
    return "host/host_sweep.hpp", "      flux2(i);\n", f"      flux2(i);\n      if (i % {step} == 0) flux2(i);\n"


def some_marks_twice(step: int) -> tuple[str, str, str]:
    columns = "      for (int k = 0; k < depth; k += panel_columns)\n"
    return "host/hop.hpp", columns, f"      for (int again = r % {step} == 0 ? 2 : 1; again > 0; --again)\n{columns}"


PLANTS = (
    Plant("every fortieth row of a flux twice", SWE, *some_rows_twice(40)),
    Plant("every fourth row of a flux twice", SWE, *some_rows_twice(4)),
    Plant("every second row of a flux twice", SWE, *some_rows_twice(2)),
    Plant("every row of a flux twice", SWE, *some_rows_twice(1)),
    Plant("a lock around each row", SWE, "host/host_sweep.hpp",
          "      divergence(i);\n", "#pragma omp critical\n      divergence(i);\n"),
    Plant("half of a block of rows", SWE, "host/host_optimized.cpp",
          "blocks_(host_blocks_per_panel(n_, threads_))", "blocks_(2 * host_blocks_per_panel(n_, threads_))"),
    Plant("a product of vectors, one number at a time", SWE, "host/host_sweep.hpp",
          "      store(w2 + j, load(jq12 + j) * apply<part.value>(tables_.pcv, v2 + j));\n",
          "      const Lanes sum = apply<part.value>(tables_.pcv, v2 + j);\n"
          "      const volatile T* one = jq12 + j;\n"
          "      T* to = w2 + j;\n"
          "      store(to, sum);\n"
          "      for (std::size_t k = 0; k < sizeof(Lanes) / sizeof(T); ++k) to[k] *= one[k];\n"),
    Plant("marks of every fourth spike twice", KDE, *some_marks_twice(4)),
    Plant("marks of every second spike twice", KDE, *some_marks_twice(2)),
    Plant("marks of every spike twice", KDE, *some_marks_twice(1)),
    Plant("functions of whole vectors, one number at a time", KDE, "host/hop.hpp",
          "store(to + k + v * lanes, exp2<T>(sum[v]));",
          "for (int l = 0; l < lanes; ++l) to[k + v * lanes + l] = std::exp2(sum[v][l]);"),
    Plant("half of the rows of a tile in registers", KDE, "host/product.hpp", "product_rows = 6", "product_rows = 3"),
    Plant("half of a tile of spikes", KDE, "host/sizes.cpp", "chosen(plan.options.encoding_tile, 128)",
          "chosen(plan.options.encoding_tile, 64)"),
    Plant("a lock around each block of spikes", KDE, "host/decode.hpp",
          "          hop(item.electrode, item.first", "#pragma omp critical\n          hop(item.electrode, item.first"),
)


@dataclass
class Comparison:
    what: str  # was planted; empty for an unchanged build
    number: int
    suite: str
    load: int
    exit: int
    named: bool  # whether a time or a ratio of one of CASES blocks
    change: str  # of the first case, by the comparison in lock step: "+5.1 % (+4.8 .. +5.3)"
    estimate: float | None  # of that comparison, in percent; None where it gave none
    seconds: float


def interval(text: str) -> tuple[str, float | None]:
    """`+5.1 % (+4.8 % .. +5.3 %), 14 units ...`, as the gate prints it."""
    found = re.search(r"([+-][\d.e-]+) % \(([+-][\d.e-]+) % \.\. ([+-][\d.e-]+) %\)", text)
    return (f"{found[1]} % ({found[2]} .. {found[3]})", float(found[1])) if found else ("", None)


def missed(found: list[Comparison]) -> list[str]:
    """What was to be found and was not. A slowdown of unknown size counts: nothing says that it is small."""
    return [one.what for one in found if (one.estimate is None or one.estimate >= GOES_TO_FIND) and not (one.exit == 1 and one.named)]


def base_of(house: House) -> Path:
    return house.scratch / "base"


def compare(house: House, what: str, number: int, suite: str, load: int) -> Comparison:
    """Compares the current build with the base."""
    begin = time.monotonic()
    out = house.build / "compared"
    shutil.rmtree(out, ignore_errors=True)
    cases = "|".join(f"/{one}$" for one in CASES[suite])
    with Load(load):
        house.measure(suite, device="host", out="compared", options=(f"--filter={cases}", f"--beside={base_of(house)}"))
        check = [house.build / "bin/holdfast", "check", out, f"--confirm={base_of(house)}",
                 f"--baselines={house.scratch / 'baselines'}"]
        print("$", *check, flush=True)
        done = subprocess.run(check, cwd=house.scratch, env=house.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(done.stdout, flush=True)
    rows = json.loads((out / "verdict.json").read_text("utf-8"))["rows"]
    first, *others = (f"{suite}/{one}" for one in CASES[suite])
    named = any(row["blocking"] and row["metric"] in {"time_s", "speedup"} and row["case"] in {first, *others} for row in rows)
    told = [row["evidence"]["A/B"] for row in rows if row["case"] == first and "A/B" in row["evidence"]]
    seconds = time.monotonic() - begin
    if not told and what:
        told = [house.call(house.build / "bin/holdfast", "ab", base_of(house) / "bin" / suite, house.build / "bin" / suite,
                           f"--filter=^{first}$", "--quiet", exit_code=None)]
    change, estimate = interval(told[0]) if told else ("", None)
    return Comparison(what, number, suite, load, done.returncode, named, change, estimate, seconds)


PLANTED_HEAD = ("| planted | suite | processes that compute | time of the first case, in lock step | exit | named | seconds "
                "| measured |")
UNCHANGED_HEAD = "| unchanged, beside itself | processes that compute | comparisons | exit 0 | 1 | 4 | seconds | measured |"


def planted_rows(found: list[Comparison], origin: str) -> list[str]:
    return [f"| {one.what} | {one.suite} | {one.load} | {one.change} | {one.exit} | {'yes' if one.named else 'no'} "
            f"| {one.seconds:.0f} | {origin} |" for one in found]


def unchanged_rows(unchanged: list[Comparison], origin: str) -> list[str]:
    rows = []
    for suite, load in sorted({(one.suite, one.load) for one in unchanged}):
        these = [one for one in unchanged if (one.suite, one.load) == (suite, load)]
        exits = " | ".join(str(sum(one.exit == code for one in these)) for code in (0, 1, 4))
        median = sorted(one.seconds for one in these)[len(these) // 2]
        rows.append(f"| {suite}, four cases | {load} | {len(these)} | {exits} | {median:.0f} | {origin} |")
    return rows


def write_rows(page: Path, found: list[Comparison], unchanged: list[Comparison], content: str) -> None:
    origin = provenance(content)
    lines = ["Made by `cmake --build build/release --target slowdowns`."]
    for head, rows, key in ((PLANTED_HEAD, planted_rows(found, origin), 3), (UNCHANGED_HEAD, unchanged_rows(unchanged, origin), 2)):
        if all_rows := beside_earlier(page, NAME, head, rows, key):
            lines += ["", head, "|" + "---|" * (head.count("|") - 1), *all_rows]
    write_table(page, NAME, "\n".join(lines))


def prepare(root: Path, like: Path) -> House:
    scratch = like / "slowdowns"
    shutil.rmtree(scratch, ignore_errors=True)
    copy_tree(root, scratch)
    shutil.rmtree(scratch / "baselines/devices", ignore_errors=True)
    house = House(scratch)
    house.begin(like, {SWE, KDE})
    house.build_targets("holdfast", SWE, KDE)
    shutil.copytree(house.build / "bin", base_of(house) / "bin")
    return house


def carry_out(house: House, journal: Journal[Comparison], plants: list[Plant], unchanged: int) -> None:
    tasks = [(plant, 0) for plant in plants] + [(plant, BUSY) for plant in plants if "lock" in plant.what.split()]
    for number, (plant, load) in enumerate(tasks, 1):
        if not any((one.what, one.load) == (plant.what, load) for one in journal.rows):
            with house.planted(plant):
                journal.add(compare(house, plant.what, number, plant.suite, load))
            print(f"[{number}/{len(tasks)}] {asdict(journal.rows[-1])}", flush=True)
    house.build_targets("holdfast", SWE, KDE)
    for number in range(unchanged):
        if not any((one.what, one.number) == ("", number) for one in journal.rows):
            journal.add(compare(house, "", number, (SWE, KDE)[number % 2], LOADS[number // 2 % len(LOADS)]))
            print(f"[{number + 1}/{unchanged}] unchanged {asdict(journal.rows[-1])}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--only", default="", help="plants whose description this regular expression finds; default: all")
    parser.add_argument("--unchanged", type=int, default=20, help="comparisons of the base with itself")
    parser.add_argument("--page", type=Path, default=ROOT / "baselines/measured.md")
    parser.add_argument("--again", action="store_true", help="forgets what was measured before")
    given = parser.parse_args()
    if not (given.build / "CMakeCache.txt").is_file():
        parser.error(f"{given.build} is no folder that was configured: name one, e.g. build/release")
    try:
        plants = [plant for plant in PLANTS if re.search(given.only, plant.what)]
    except re.error as error:
        parser.error(f"--only={given.only} is no regular expression: {error}")
    place_of_table(given.page, NAME)  # before an hour of measuring
    house = prepare(ROOT, given.build.resolve())
    if given.again:
        (given.build / "slowdowns.jsonl").unlink(missing_ok=True)
    journal = Journal(given.build / "slowdowns.jsonl", content_of(base_of(house)), gate_of(base_of(house)), Comparison)
    try:
        carry_out(house, journal, plants, given.unchanged)
    finally:
        found = [one for one in journal.rows if one.what]
        unchanged = [one for one in journal.rows if not one.what]
        write_rows(given.page, found, unchanged, journal.content)
    not_found = missed(found)
    alarms, open_ones = (sum(one.exit == code for one in unchanged) for code in (1, 4))
    print(f"{len(found)} slowdowns, {len(not_found)} of {GOES_TO_FIND} % or more, or of unknown size, not found: "
          f"{'; '.join(not_found) or 'none'}; of "
          f"{len(unchanged)} unchanged {alarms} ended in 1 and {open_ones} in 4")
    sys.exit(1 if not_found or alarms > len(unchanged) / 20 or open_ones > len(unchanged) / 4 else 0)


if __name__ == "__main__":
    main()
