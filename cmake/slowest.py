# SPDX-License-Identifier: Apache-2.0
"""`python3 cmake/slowest.py BUILD`: the ten slowest compilations and the ten slowest tests of a build folder.

Seconds are wall time, including whatever else the machine did: from Ninja's log, those of the last time that a file was
made; from CTest, the mean that it keeps.
"""

import os
import sys
from pathlib import Path


def compilations(build: Path) -> dict[str, float]:
    """Seconds by object file."""
    seconds: dict[str, float] = {}
    for line in (build / ".ninja_log").read_text("utf-8").splitlines()[1:]:
        start, end, _, output, _ = line.split("\t")
        if output.endswith((".o", ".gch")):
            seconds[output] = (int(end) - int(start)) / 1000
    return seconds


def tests(build: Path) -> dict[str, float]:
    """Seconds by name."""
    costs = build / "Testing/Temporary/CTestCostData.txt"
    if not costs.is_file():
        return {}
    rows = costs.read_text("utf-8").partition("---")[0].splitlines()
    return {name: float(cost) for name, _, cost in (row.rsplit(" ", 2) for row in rows)}


def show(what: str, seconds: dict[str, float]) -> None:
    print(f"{what}: {len(seconds)}, {sum(seconds.values()):.0f} s in all")
    for name, cost in sorted(seconds.items(), key=lambda row: -row[1])[:10]:
        print(f"  {cost:7.1f} s  {name}")


def main(build: Path) -> None:
    if not (build / ".ninja_log").is_file():
        sys.exit(f"slowest: {build} holds no .ninja_log: name a build folder of Ninja that was built")
    show("compilations", compilations(build))
    show("tests", tests(build))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1] if len(sys.argv) > 1 else "build/release"))
        sys.stdout.flush()
    except BrokenPipeError:  # its reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
