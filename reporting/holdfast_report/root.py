# SPDX-License-Identifier: Apache-2.0
"""The contents of a results root and of the baselines' folder, read once and combined."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast_report import Problem
from holdfast_report.documents import Baseline, Case, CaseList, Entry, Results, Verdict
from holdfast_report.policy import Bound, read_bounds
from holdfast_report.profiles import ENDING, Stored, read_profiles
from holdfast_report.reading import files_below, read
from holdfast_report.store import stored


@dataclass(frozen=True)
class Part:
    """One suite on one device class."""

    results: Results
    listed: CaseList | None

    @property
    def suite(self) -> str:
        return self.results.suite

    @property
    def device_class(self) -> str:
        return self.results.env.device_class

    @property
    def title(self) -> str:
        return f"{self.suite} on {self.device_class}"

    @property
    def measured(self) -> list[Case]:
        return [case for case in self.results.cases if case.status == "ok"]


@dataclass(frozen=True)
class Root:
    place: Path
    parts: list[Part] = field(default_factory=list)
    verdict: Verdict | None = None
    baselines: dict[tuple[str, str], Entry] = field(default_factory=dict)  # (class, key)
    bounds: list[Bound] = field(default_factory=list)
    profiles: list[Stored] = field(default_factory=list)

    def verdicts(self) -> dict[tuple[str, str, str, str], str]:
        """The verdict on each metric, by class, case, variant and metric."""
        rows = self.verdict.rows if self.verdict else []
        return {(row.device_class, row.case, row.variant, row.metric): row.verdict for row in rows}


def check_place(path: Path, results: Results) -> None:
    """A copy in another place would be drawn as the class or the suite that it is a copy of."""
    if results.suite != path.stem:
        raise Problem(
            f"{path}: holds results of the suite '{results.suite}', and its name says '{path.stem}'"
        )
    held, folder = results.env.device_class, path.parent.name
    if held != folder:
        raise Problem(
            f"{path}: holds results of the device class '{held}', and its folder says '{folder}'"
        )


def read_part(path: Path) -> Part:
    results = read(Results, "holdfast-results/1", path)
    check_place(path, results)
    listed = path.with_suffix(".list.json")
    return Part(
        results=results,
        listed=read(CaseList, "holdfast-list/2", listed) if listed.exists() else None,
    )


def times_of(baseline: Baseline, processor: str | None) -> dict[str, Entry]:
    """A host's accepted times and ratios: those of the measured processor, or of the only one if
    it is unknown, as to `trends`."""
    if processor is not None:
        return baseline.processors.get(processor, {})
    return next(iter(baseline.processors.values())) if len(baseline.processors) == 1 else {}


def read_baselines(
    folder: Path, processors: Mapping[tuple[str, str], str]
) -> dict[tuple[str, str], Entry]:
    """Accepted entries by class and key; `processors` are those that each class and suite were
    measured on."""
    entries: dict[tuple[str, str], Entry] = {}
    with stored(folder, "devices/*/*.json") as paths:
        for path in paths:
            baseline = read(Baseline, "holdfast-baseline/2", path)
            suite = path.name.lstrip(".").partition(".")[0]  # of suite.json or .suite.json.part
            here = processors.get((baseline.device_class, suite))
            for key, entry in (baseline.entries | times_of(baseline, here)).items():
                entries[baseline.device_class, key] = entry
    return entries


def folder_of(place: Path, otherwise: str) -> Path:
    """The named folder; else a Problem that ends with `otherwise`."""
    if place.is_dir():
        return place
    what = f"{place} is no folder" if place.exists() else f"there is no folder {place}"
    raise Problem(f"{what}{otherwise}")


def read_root(place: Path, baselines: Path | None) -> Root:
    measure = f"; measure first: holdfast run SUITE --device=host --out={place}"
    advice = "; give the results root, which holds <device class>/<suite>.json"
    folder_of(place, advice if place.exists() else measure)
    # A second dot marks what is not a result: lists, traces, files being written. A folder named as
    # a profile beside it holds the kernels of that case.
    files = [
        path
        for path in files_below(place, "*/*.json")
        if path.name.count(".") == 1 and not (place / f"{path.parent.name}{ENDING}").exists()
    ]
    judged = place / "verdict.json"
    parts = [read_part(path) for path in files]
    processors = {
        (part.device_class, part.suite): part.results.env.host.timed_on for part in parts
    }
    root = Root(
        place=place,
        parts=parts,
        verdict=read(Verdict, "holdfast-verdict/1", judged) if judged.exists() else None,
        baselines=read_baselines(baselines, processors) if baselines else {},
        bounds=read_bounds(baselines / "policy") if baselines else [],
        profiles=read_profiles(place),
    )
    if not (root.parts or root.verdict or root.profiles):
        lists = files_below(place, "*.list.json")
        if any(path.with_name(path.name.replace(".list", "")).exists() for path in lists):
            above = os.path.normpath(place / "..")
            raise Problem(
                f"{place} is the folder of a device class; give the one above it: --results {above}"
            )
        raise Problem(f"{place} holds no results, no verdict and no profiles{measure}")
    return root
