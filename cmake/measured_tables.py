# SPDX-License-Identifier: Apache-2.0
"""What `unchanged_runs.py` and `slowdowns.py` share: processes that compute beside what is measured, and the table that a page
holds of it between two comments, `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""

import subprocess
import sys
from pathlib import Path
from typing import Self


class Load:
    """Processes that compute while the block runs."""

    def __init__(self, processes: int) -> None:
        self.busy: list[subprocess.Popen] = []
        self.more(processes)

    def more(self, processes: int) -> None:
        self.busy += [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.busy:
            one.kill()
        for one in self.busy:
            one.wait()


def place_of_table(page: Path, name: str) -> tuple[str, str]:
    """What stands before and after it; ends the program where the page has no place for it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text("utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        print(f"{name}: {page} needs one line {begin} and after it one line {end}", file=sys.stderr)
        sys.exit(2)
    return text[: text.index(begin) + len(begin)], text[text.index(end):]


def write_table(page: Path, name: str, table: str) -> None:
    before, after = place_of_table(page, name)
    beside = page.with_name(f".{page.name}.part")
    beside.write_text(f"{before}\n{table}\n{after}", "utf-8")
    beside.replace(page)
