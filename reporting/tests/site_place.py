# SPDX-License-Identifier: Apache-2.0
"""A planted history as a site: its store, a command that answers what was planted, its pages."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from builders import Workplace
from holdfast_report.command import main
from planted_history import (
    DRIFT_CASE,
    DRY,
    HOST,
    STEP_CASE,
    Measured,
    Planted,
    history,
    sha,
    write,
)

REPOSITORY = "https://git.example/owner/name"


def change(number: int, before: float, after: float) -> dict[str, Any]:
    return {
        "order": number, "commit": sha(number), "last_before": sha(number - 1), "before": before, "after": after,
        "change": after / before - 1,
    }


def trend_of(runs: list[Measured], planted: Planted) -> dict[str, Any]:
    """What `holdfast trend --json --no-points` says of it."""
    stepped = {
        (DRY, STEP_CASE, "optimized", "launches"): [change(planted.step, 4, 5)],
        (HOST, STEP_CASE, "optimized", "time_s"): [change(planted.step, 4.2e-3, 4.8e-3)],
        (HOST, STEP_CASE, "case", "speedup"): [change(planted.step, 11, 9.65)],
        (HOST, DRIFT_CASE, "optimized", "time_s"): [
            change(planted.drift + 4 * k, 2.4e-3 * 1.02**k, 2.4e-3 * 1.02 ** (k + 1))
            for k in range(4)
        ],
    }
    keys = {(run.device_class, *key) for run in runs for key in run.values}
    series = []
    for key in sorted(keys):
        changes = stepped.get(key, [])
        ends = [*(one["order"] - 1 for one in changes), planted.commits]
        starts = [1, *(one["order"] for one in changes)]
        levels = [changes[0]["before"], *(one["after"] for one in changes)] if changes else [1.0]
        segments = [
            {"from": first, "to": last, "median": level}
            for first, last, level in zip(starts, ends, levels, strict=True)
        ]
        series.append(
            {
                "class": key[0], "case": key[1], "variant": key[2], "metric": key[3],
                "segments": segments, "change_points": changes, "drift": None,
            }
        )
    commits = [sha(number) for number in sorted({run.number for run in runs})]
    return {"schema": "holdfast-trend/1", "commits": commits, "series": series}


class SitePlace(Workplace):
    """A place for a site of `commits` commits with `cases` cases in each suite."""

    def __init__(self, folder: Path, commits: int = 40, cases: int = 2) -> None:
        super().__init__(folder)
        for path in self.store.rglob("*.ndjson"):
            path.unlink()
        self.site = folder / "site"
        self.planted = Planted(commits)
        self.runs = list(history(commits, cases))
        write(self.store, self.runs)
        self.answer(trend_of(self.runs, self.planted))

    def site_options(self) -> list[str]:
        return [
            "site", f"--store={self.store}", f"--out={self.site}", f"--holdfast={self.holdfast}",
            f"--baselines={self.baselines}", f"--repository={REPOSITORY}",
        ]

    def draw(self) -> None:
        assert main(self.site_options()) == 0

    def text(self, address: str) -> str:
        return (self.site / address).read_text("utf-8")

    def pages(self) -> list[str]:
        return sorted(path.relative_to(self.site).as_posix() for path in self.site.rglob("*.html"))


def fleet_of_two(folder: Path) -> SitePlace:
    """Drawn: each third commit was measured on another processor."""
    place = SitePlace(folder, commits=12, cases=1)
    for run in place.runs:
        if run.device_class == HOST and run.number % 3 == 0:
            run.processor = "GenuineIntel-6-167"
    write(place.store, place.runs)
    place.draw()
    return place


class Links(HTMLParser):
    """What a page links to and loads, its ids, and its data."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: list[str] = []
        self.figures = 0
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        known = dict(attributes)
        if tag == "a":
            self.links.append(known.get("href") or "")
        for name in ("src", "srcset", "data", "poster", "action"):
            if known.get(name):
                self.loaded.append(known[name] or "")
        if tag == "link":
            self.loaded.append(known.get("href") or "")
        if known.get("id"):
            self.ids.append(known["id"] or "")
        self.figures += (known.get("class") or "") == "figure trend"


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found.group(1))
