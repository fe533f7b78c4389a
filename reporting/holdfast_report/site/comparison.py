# SPDX-License-Identifier: Apache-2.0
"""The values of all series at all commits, in files of some commits each, for the page that compares
two of them. A commit that is added changes the last file alone."""

import hashlib
import json
from typing import Any

from holdfast_report.site import addresses
from holdfast_report.site.archive import Archive, Column
from holdfast_report.site.cases import embedded, value_of
from holdfast_report.site.levels import better_of
from holdfast_report.site.pages import Renderer, Site

CHUNK = 50  # commits


def dense(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True, sort_keys=True)


def steps(column: Column, commits: int) -> list[list[float | int | None]]:
    """For each file [place, value, ...]: where the value becomes another; null where none is."""
    known = dict(zip(column.at, column.values, strict=True))  # the last run of a commit counts
    chunks = []
    for start in range(0, commits, CHUNK):
        found: list[float | int | None] = []
        held: float | None = None
        for place in range(min(CHUNK, commits - start)):
            value = known.get(start + place)
            if value != held:
                found += [place, None if value is None else value_of(value)]
                held = value
        chunks.append(found)
    return chunks


def names(site: Site) -> str:
    rows = [
        {
            "case": column.case,
            "metric": column.metric,
            "variant": column.variant,
            "class": column.device_class,
            "name": " ".join(column.key[1:] + column.key[:1]).lower(),
            "unit": column.unit,
            "better": better_of(column.metric, site.better),
            "noise": float(f"{column.noise:.3g}"),
            "address": f"{addresses.of_case(column.case)}#{addresses.anchor(column.key)}",
        }
        for column in ordered(site.archive)
    ]
    return f"holdfast.series({dense(rows)});\n"


def ordered(archive: Archive) -> list[Column]:
    return [column for columns in archive.cases.values() for column in columns]


def comparison(site: Site, renderer: Renderer) -> dict[str, str]:
    """compare.html and its files."""
    archive = site.archive
    commits = len(archive.commits)
    by_series = [steps(column, commits) for column in ordered(archive)]
    files = {"series": names(site)}
    for number in range(-(-commits // CHUNK)):
        columns = dense([chunks[number] for chunks in by_series])
        files[f"values-{number}"] = f"holdfast.values({number},{columns});\n"
    versions = {name: hashlib.sha256(text.encode()).hexdigest()[:8] for name, text in files.items()}
    data = {
        "commits": [
            [commit.short, commit.date, (commit.subject or "")[:72]] for commit in archive.commits
        ],
        "chunk": CHUNK,
        "versions": versions,
    }
    page = renderer.page("compare.html", "compare.html", ("site/compare.js",), data=embedded(data))
    return {f"data/{name}.js": text for name, text in files.items()} | {"compare.html": page}
