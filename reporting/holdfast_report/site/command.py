# SPDX-License-Identifier: Apache-2.0
"""`site`: its options, and what the pages are made from."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from holdfast_report.documents import Baseline
from holdfast_report.history import ask_levels
from holdfast_report.reading import read
from holdfast_report.root import read_baselines
from holdfast_report.site.build import build
from holdfast_report.site.levels import levels_of
from holdfast_report.site.pages import Site
from holdfast_report.site.reading import gather
from holdfast_report.store import stored


def accepted_directions(baselines: Path) -> dict[str, str]:
    """Which way each metric is better, as it was accepted."""
    found: dict[str, str] = {}
    with stored(baselines, "devices/*/*.json") as paths:
        for path in paths:
            meanings = read(Baseline, "holdfast-baseline/2", path).metrics
            found |= {name: meaning.better for name, meaning in meanings.items()}
    return found


def publish(
    holdfast: str, store: Path, baselines: Path | None, link: str | None, out: Path
) -> str:
    """What was done, in a sentence; `link` is what a commit's hash is appended to."""
    with ThreadPoolExecutor(1) as beside:  # the command finds order and levels while this reads
        levels = beside.submit(ask_levels, holdfast, store, baselines)
        gathering = gather(store, baselines)
        trend = levels.result()
    archive = gathering.archive(trend.commits)
    better = (accepted_directions(baselines) if baselines else {}) | archive.better
    site = Site(
        archive=archive,
        levels=levels_of(trend, archive, better),
        better=better,
        accepted=read_baselines(baselines, archive.processors) if baselines else {},
        link=link,
    )
    written, total = build(site, out)
    return f"{out / 'index.html'}: {written} of {total} files written"
