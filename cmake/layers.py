# SPDX-License-Identifier: Apache-2.0
"""Includes run downwards: `python3 cmake/layers.py ROOT` names each one that does not and exits 1.

A folder with a `layers.txt` is a house: each line is a floor, the ground floor first, and holds one or more folders. A file
may include its own folder and every lower floor; folders of one line do not know each other. A folder of kernels
or suites that is not listed is a workload and stands on the last line, so that a new one edits no list. Between rooms: kernels includes
kernels; suites includes suites and kernels; baselines includes itself and, of kernels, `base/` alone. Tests may look
everywhere within that, and only tests and `testing/` may include `testing/` or `formats/`. The libraries that compute and
allocate are the run time's, whose verbs count: what goes past them is in no ledger.
"""

import re
import sys
from pathlib import Path

ROOMS = {"kernels": ["kernels"], "suites": ["suites", "kernels"], "baselines": ["baselines", "kernels/base"]}
CODE = {".cpp", ".hpp", ".cu", ".cuh"}
LIBRARY = re.compile(r"(?:cu(?:da|blas|fft|pti|rand|solver|sparse)|nvrtc|nvJitLink|fftw|cblas|openblas|lapack)", re.IGNORECASE)
MAY_KNOW_LIBRARIES = ["kernels/runtime", "suites/harness/profile"]
INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def floors(house: Path) -> dict[str, int]:
    """The folders of a house and the floor of each; `testing` stands outside."""
    lines = (house / "layers.txt").read_text("utf-8").splitlines()
    listed = {name: floor for floor, line in enumerate(lines) for name in line.split()}
    found = {folder.name for folder in house.iterdir() if folder.is_dir() and any(folder.rglob("*.[ch]pp"))}
    unlisted = found - set(listed) - {"testing"}
    if house.name in {"kernels", "suites"}:
        listed |= dict.fromkeys(unlisted, len(lines) - 1)
    for name in sorted(unlisted - set(listed)):
        raise SystemExit(f"{house}/layers.txt does not list {name}/: add it to the floor where it stands")
    for name in sorted(set(listed) - found):
        raise SystemExit(f"{house}/layers.txt lists {name}/, which is no folder with code: take the line out")
    return listed


def includes(root: Path, text: str) -> list[str]:
    """Names in quotes, and names in angle brackets that belong neither to the system nor to a library."""
    return [quoted or angled for quoted, angled in INCLUDE.findall(text)
            if quoted or any((root / room / angled).is_file() for room in ROOMS)]


def is_test(place: Path) -> bool:
    return place.stem.endswith("_test") or "testing" in place.parts or "planted" in place.parts


def main(root: Path) -> int:
    houses = {table.parent.relative_to(root): floors(table.parent)
              for room in ROOMS for table in sorted((root / room).rglob("layers.txt"))}
    wrong: list[str] = []
    for file in sorted(file for room in ROOMS for file in (root / room).rglob("*") if file.suffix in CODE):
        place = file.relative_to(root)
        wrong += past_the_run_time(place, file.read_text("utf-8"))
        for name in includes(root, file.read_text("utf-8")):
            target = find(root, place, name)
            if target is None:
                if Path(name).name != "sources.hpp":  # made of device code by the build
                    wrong.append(f"{place} includes {name}, which no room that it may know holds")
            else:
                complaint = judge(place, target, houses)
                if complaint:
                    wrong.append(f"{place} includes {target}, {complaint}")
    print("\n".join(wrong) or "every include runs downwards")
    return 1 if wrong else 0


def past_the_run_time(place: Path, text: str) -> list[str]:
    """Complaints about a file of the host that includes a library of the run time's."""
    if place.suffix not in {".cpp", ".hpp"} or any(place.is_relative_to(folder) for folder in MAY_KNOW_LIBRARIES):
        return []
    return [f"{place} includes {name}, whose memory and launches no ledger counts: use the verbs of kernels/runtime"
            for _, name in INCLUDE.findall(text) if LIBRARY.match(name)]  # in quotes stands what a room holds


def find(root: Path, place: Path, name: str) -> Path | None:
    """The file that an include means, among the rooms that its room may know."""
    for allowed in ROOMS[place.parts[0]] + (["baselines/formats"] if is_test(place) else []):
        target = Path(Path(allowed).parts[0]) / name
        if (root / target).is_file() and target.is_relative_to(allowed):
            return target
    return None


def judge(place: Path, target: Path, houses: dict[Path, dict[str, int]]) -> str:
    """Why a file may not include another; empty if it may."""
    if is_test(place):
        return ""
    if is_test(target) or target.is_relative_to("baselines/formats"):
        return "which is test support"
    for house, listed in houses.items():
        if not (place.is_relative_to(house) and target.is_relative_to(house)):
            continue
        own, other = place.relative_to(house).parts, target.relative_to(house).parts
        if len(own) == 1 or len(other) == 1 or own[0] == other[0]:  # what stands at the top is the house's own face
            continue
        if listed[other[0]] > listed[own[0]]:
            return f"which stands above {own[0]}/ in {house}/layers.txt"
        if listed[other[0]] == listed[own[0]]:
            return f"which stands beside {own[0]}/ in {house}/layers.txt"
    return ""


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], "kernels").is_dir():
        sys.exit("usage: layers.py ROOT, the folder that holds kernels, suites and baselines")
    sys.exit(main(Path(sys.argv[1])))
