# SPDX-License-Identifier: Apache-2.0
"""A store as an archive, whichever of its formats its files have."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path

from holdfast_report import Problem
from holdfast_report.reading import load
from holdfast_report.site.gathering import Gathering
from holdfast_report.site.lines import numbered, parsed, take
from holdfast_report.site.segments import Segment
from holdfast_report.store import stored


def read_aliases(baselines: Path | None) -> dict[str, str]:
    """Cases that were renamed, by their old id; names of names are followed."""
    path = baselines / "aliases.json" if baselines else None
    if path is None or not path.exists():
        return {}
    said = load(path, comments=True)
    aliases = said.get("aliases") if isinstance(said, dict) else None
    if not isinstance(aliases, dict) or said.get("schema") != "holdfast-aliases/1":
        raise Problem(f"{path}: is no holdfast-aliases/1")
    followed = {}
    for old in aliases:
        new, seen = old, {old}
        while new in aliases and aliases[new] not in seen:
            new = aliases[new]
            seen.add(new)
        followed[old] = new
    return followed


def read_file(path: Path, gathering: Gathering) -> None:
    lines: Iterable[tuple[int, str]] = numbered(path)
    first = next(iter(lines), None)
    if first is None:
        return
    lines = chain([first], lines)
    if first[1].startswith('{"schema":'):
        segment = Segment(gathering)
        for number, line in lines:
            segment.take(line, f"{path}:{number}")
    else:
        for number, line in lines:
            take(line, f"{path}:{number}", gathering)


def gather(store: Path, baselines: Path | None) -> Gathering:
    gathering = Gathering(read_aliases(baselines))
    with stored(store, "*/*.ndjson") as paths:
        for path in paths:
            if not path.parent.name.startswith("."):  # a store in git has a folder .git
                read_file(path, gathering)
    if not gathering.columns:
        raise Problem(
            f"the store {store} holds no history yet; "
            f"holdfast history append RESULTS --store={store} begins it"
        )
    return gathering


def subjects_and_parents(store: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Those of a store's commits, where they are known; none in an older store."""
    subjects, parents = {}, {}
    with stored(store, "*/*.ndjson") as paths:
        for path in paths:
            if path.parent.name.startswith("."):
                continue
            for number, line in numbered(path):
                if line.startswith('{"run":') and '"subject":' in line:
                    commit = parsed(line, f"{path}:{number}").get("commit") or {}
                    if commit.get("subject"):
                        subjects[commit["name"]] = commit["subject"]
                    if commit.get("parent"):
                        parents[commit["name"]] = commit["parent"]
    return subjects, parents
