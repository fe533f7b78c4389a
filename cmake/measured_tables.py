# SPDX-License-Identifier: Apache-2.0
"""Shared by `unchanged_runs.py` and `slowdowns.py`: processes that load the machine, results kept from an interrupted run,
and the table in a page between two comments, `<!-- NAME: begin -->` and `<!-- NAME: end -->`: each row says when, on which
processor and for which content it was measured, and stays until it is measured anew."""

import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Generic, Self, TypeVar

# Computes until its parent ends: a load that outlives a killed program would disturb what comes next.
COMPUTING = "import os, sys\nwhile os.getppid() == int(sys.argv[1]):\n for _ in range(1000000): pass"


class Load:
    """Processes that compute while the block runs."""

    def __init__(self, processes: int) -> None:
        self.busy: list[subprocess.Popen] = []
        self.more(processes)

    def more(self, processes: int) -> None:
        self.busy += [subprocess.Popen([sys.executable, "-c", COMPUTING, str(os.getpid())]) for _ in range(processes)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.busy:
            one.kill()
        for one in self.busy:
            one.wait()


def content_of(build: Path) -> str:
    """The hash of what was built, as `sha256:...`."""
    return json.loads((build / "bin/content.json").read_text("utf-8"))["content"]


def gate_of(build: Path) -> str:
    """The hash of the program that measures and judges, which is not part of the content."""
    return "sha256:" + hashlib.sha256((build / "bin/holdfast").read_bytes()).hexdigest()


def processor() -> str:
    """This machine's processor, as baselines name it: `AuthenticAMD-26-2`."""
    told = Path("/proc/cpuinfo").read_text("utf-8").split("\n\n")[0]
    first = dict(re.split(r"\s*: ?", line, maxsplit=1) for line in told.splitlines())
    return "-".join(first.get(name, "unknown") for name in ("vendor_id", "cpu family", "model"))


def provenance(content: str) -> str:
    """The origin of a row: date, processor, content."""
    return f"{time.strftime('%Y-%m-%d')}, {processor()}, {content.removeprefix('sha256:')[:12]}"


Row = TypeVar("Row")  # a dataclass


class Journal(Generic[Row]):
    """Results of one gate for one content on this processor, a line of JSON each."""

    def __init__(self, path: Path, content: str, gate: str, kind: type[Row]) -> None:
        self.path, self.content, self.one_at_a_time = path, content, threading.Lock()
        lines = path.read_text("utf-8").splitlines() if path.is_file() else []
        kept = [json.loads(line) for line in lines if line]
        self.origin = {"content": content, "gate": gate, "processor": processor()}
        self.name = "-".join(one.removeprefix("sha256:")[:12] for one in (content, gate)) + f"-{processor()}"
        self.rows = [kind(**one["row"]) for one in kept if {**one, "row": None} == {**self.origin, "row": None}]

    def add(self, row: Row) -> None:
        with self.one_at_a_time, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**self.origin, "row": asdict(row)}) + "\n")
            self.rows.append(row)


def place_of_table(page: Path, name: str) -> tuple[str, str]:
    """The text before and after the table; exits if the page has no place for it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = page.read_text("utf-8")
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        print(f"{name}: {page} needs one line {begin} and after it one line {end}", file=sys.stderr)
        sys.exit(2)
    return text[: text.index(begin) + len(begin)], text[text.index(end):]


def cells_of(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def processor_of(row: str) -> str:
    """The processor in the row's last cell, as provenance() writes it."""
    return cells_of(row)[-1].split(", ")[1]


def beside_earlier(page: Path, name: str, head: str, rows: list[str], key: int) -> list[str]:
    """The rows of the table with this head, including those that the page had: a row replaces one of the same processor with
    the same first `key` cells."""
    before, after = place_of_table(page, name)
    block = page.read_text("utf-8")[len(before): -len(after)]
    begin = block.find(head + "\n")
    earlier = block[begin:].split("\n\n")[0].strip().splitlines()[2:] if begin >= 0 else []
    return list({(processor_of(row), *cells_of(row)[:key]): row for row in earlier + rows}.values())


def write_table(page: Path, name: str, table: str) -> None:
    before, after = place_of_table(page, name)
    beside = page.with_name(f".{page.name}.part")
    beside.write_text(f"{before}\n{table}\n{after}", "utf-8")
    beside.replace(page)
