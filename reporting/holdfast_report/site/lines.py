# SPDX-License-Identifier: Apache-2.0
"""A file of holdfast-history/1, which older builds wrote: each line is one value, with its commit and
run."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast_report import Problem
from holdfast_report.reading import parse
from holdfast_report.site.gathering import Gathering

KEYS = frozenset(
    ("utc", "commit", "order", "class", "fp", "case", "variant", "metric", "value", "mad", "verdict")
)


def numbered(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8-sig") as file:
            yield from enumerate(file, start=1)
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
        ) from error


def parsed(line: str, where: str) -> dict[str, Any]:
    said = parse(line, where)
    if not isinstance(said, dict):
        raise Problem(f"{where}: is no line of a history; restore the store, or remove this line")
    return said


def take(line: str, where: str, gathering: Gathering) -> None:
    said = parsed(line, where)
    if said.keys() != KEYS:
        odd = sorted(said.keys() ^ KEYS)
        raise Problem(f"{where}: {odd[0]!r} is missing or unknown; use the report of its build")
    key = said["class"], said["case"], said["variant"], said["metric"]
    order, commit, utc, fingerprint = said["order"], said["commit"], said["utc"], said["fp"]
    value = said["value"]
    if not all(isinstance(text, str) for text in (*key, commit, utc, fingerprint)):
        raise Problem(f"{where}: a name is no text; restore the store, or remove this line")
    if not isinstance(order, int) or not isinstance(value, int | float) or math.isnan(value):
        raise Problem(f"{where}: order or value is no number; restore the store")
    number = gathering.commit(commit, utc, {})
    part = gathering.run(key[0], number).part(key[1].partition("/")[0], utc)
    part.fingerprint = part.fingerprint or fingerprint
    if said["verdict"] is not None:
        part.counts[said["verdict"]] = part.counts.get(said["verdict"], 0) + 1
    gathering.value(key, number, value, said["verdict"], utc)
