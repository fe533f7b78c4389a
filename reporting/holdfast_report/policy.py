# SPDX-License-Identifier: Apache-2.0
"""The absolute bounds of the policy. What they mean is the gate's business; the page draws where
they lie."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from holdfast_report import Problem
from holdfast_report.reading import files_below, load


@dataclass(frozen=True)
class Bound:
    match: str  # glob on the case id
    device: str  # glob on the device class; empty matches all
    variant: str  # empty matches all
    metric: str
    least: float | None
    most: float | None
    source: str


@cache
def pattern(glob: str) -> re.Pattern[str]:
    """* stands for anything but '/', ** for anything."""
    parts = re.split(r"(\*\*|\*)", glob)
    return re.compile(
        "".join({"**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
    )


def bound_of(rule: dict[str, Any]) -> Bound:
    bound = rule["bound"]
    return Bound(
        match=rule["match"],
        device=rule.get("device", ""),
        variant=rule.get("variant", ""),
        metric=rule["metric"],
        least=bound.get("min"),
        most=bound.get("max"),
        source=bound["source"],
    )


def read_bounds(folder: Path) -> list[Bound]:
    """The bounds of common.json, then those of each suite's file; none without a folder."""
    files = sorted(
        files_below(folder, "*.json"), key=lambda path: (path.name != "common.json", path.name)
    )
    return [bound for path in files for bound in read_file(path)]


def read_file(path: Path) -> list[Bound]:
    data = load(path, comments=True)
    if not isinstance(data, dict) or data.get("schema") != "holdfast-policy/1":
        raise Problem(
            f"{path}: is not a holdfast-policy/1; name the folder of the baselines with --baselines"
        )
    try:
        return [bound_of(rule) for rule in data["rules"] if "bound" in rule]
    except (KeyError, TypeError, AttributeError) as error:
        raise Problem(f"{path}: a rule has no {error}; `holdfast policy CASE` says more") from error


def bound_for(
    bounds: list[Bound], case: str, device_class: str, variant: str, metric: str
) -> Bound | None:
    """The last bound that covers a metric, or none."""
    covering = [
        bound
        for bound in bounds
        if bound.metric == metric
        and bound.variant in ("", variant)
        and pattern(bound.match).fullmatch(case)
        and (not bound.device or pattern(bound.device).fullmatch(device_class))
    ]
    return covering[-1] if covering else None
