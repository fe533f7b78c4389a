# SPDX-License-Identifier: Apache-2.0
"""The values of all series at all commits, in files of some commits each, for the page that compares
two of them. A commit that is added changes the last file alone. A file names the series and commits
whose values it holds, because a page may be older than the file that it loads."""

import hashlib
import json
from typing import Any

from holdfast_report.site import addresses
from holdfast_report.site.archive import Archive, Column, Commit
from holdfast_report.site.cases import embedded, value_of
from holdfast_report.site.levels import better_of
from holdfast_report.site.pages import Renderer, Site
from holdfast_report.units import STEPS, short_hash

CHUNK = 50  # commits


def dense(data: Any) -> str:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True, sort_keys=True)


def steps(column: Column, commits: int) -> list[list[float | int | None]]:
    """For each chunk of CHUNK commits: [place in the chunk, value, ...] at each change of the value;
    null from where there is no value."""
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


def hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def names(site: Site) -> dict[str, Any]:
    """What the columns are, each name once: rows of a case, a class, a variant, a metric and its
    noise."""
    columns = ordered(site.archive)
    cases = {case: at for at, case in enumerate(site.archive.cases)}
    metrics = {metric: at for at, metric in enumerate(sorted({column.metric for column in columns}))}
    variants = {name: at for at, name in enumerate(sorted({column.variant for column in columns}))}
    classes = {name: at for at, name in enumerate(site.archive.classes)}
    units = {column.metric: column.unit for column in columns}
    return {
        "cases": [[case, addresses.of_case(case)] for case in cases],
        "classes": list(classes),
        "metrics": [[name, units[name], better_of(name, site.better)] for name in metrics],
        "rows": [
            [
                cases[column.case],
                classes[column.device_class],
                variants[column.variant],
                metrics[column.metric],
                value_of(float(f"{column.noise:.3g}")),
            ]
            for column in columns
        ],
        "variants": list(variants),
    }


def told(commit: Commit) -> str:
    return commit.headline if commit.committed else "content, which no commit has"


def environments(archive: Archive) -> dict[str, dict[str, list[tuple[int, str]]]]:
    """For each class and suite, the places where an environment begins, with its fingerprint."""
    found: dict[str, dict[str, list[tuple[int, str]]]] = {}
    for name in archive.classes:
        suites = found.setdefault(name, {})
        for run in archive.runs_of(name):
            for suite, fingerprint in run.fingerprints.items():
                held = suites.setdefault(suite, [])
                told = short_hash(fingerprint)
                if not held or held[-1][1] != told:
                    held.append((run.at, told))
    return found


def ordered(archive: Archive) -> list[Column]:
    return [column for columns in archive.cases.values() for column in columns]


def comparison(site: Site, renderer: Renderer) -> dict[str, str]:
    """compare.html and its files."""
    archive = site.archive
    commits = len(archive.commits)
    by_series = [steps(column, commits) for column in ordered(archive)]
    keys = dense([column.key for column in ordered(archive)])
    holds = {"series": hashed(keys)}
    files = {"series": f'holdfast.series("{holds["series"]}",{dense(names(site))});\n'}
    for number in range(-(-commits // CHUNK)):
        name, some = f"values-{number}", archive.commits[number * CHUNK : (number + 1) * CHUNK]
        holds[name] = hashed(keys + dense([commit.name for commit in some]))
        columns = dense([chunks[number] for chunks in by_series])
        files[name] = f'holdfast.values({number},"{holds[name]}",{columns});\n'
    data = {
        "commits": [[commit.short, commit.date, told(commit)] for commit in archive.commits],
        "chunk": CHUNK,
        "environments": environments(archive),
        "holds": holds,
        "steps": STEPS,
        "versions": {name: hashed(text) for name, text in files.items()},
    }
    page = renderer.page("compare.html", "compare.html", ("site/compare.js",), data=embedded(data))
    return {f"data/{name}.js": text for name, text in files.items()} | {"compare.html": page}
