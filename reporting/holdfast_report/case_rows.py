# SPDX-License-Identifier: Apache-2.0
"""Every case of a run as a row with an address of its own."""

import re
from dataclasses import dataclass

from holdfast_report import judgement
from holdfast_report.root import Root
from holdfast_report.units import times


@dataclass(frozen=True)
class CaseRow:
    anchor: str
    id: str
    device_class: str
    verdict: str | None
    speedup: str


def case_rows(root: Root) -> list[CaseRow]:
    """Every case of the run; on a second device class its anchor includes the class."""
    worst: dict[tuple[str, str], str] = {}
    order = list(judgement.SYMBOLS)
    for row in root.verdict.rows if root.verdict else []:
        held = worst.setdefault((row.device_class, row.case), row.verdict)
        if row.verdict in order and order.index(row.verdict) < order.index(held):
            worst[row.device_class, row.case] = row.verdict
    rows: list[CaseRow] = []
    seen: set[str] = set()
    for part in root.parts:
        for case in part.results.cases:
            anchor = "case-" + re.sub(r"[^A-Za-z0-9_.-]", "_", case.id)
            if anchor in seen:
                anchor += "-on-" + re.sub(r"[^A-Za-z0-9_.-]", "_", part.device_class)
            while anchor in seen:
                anchor += "-"
            seen.add(anchor)
            speedup = case.number("case", "speedup")
            rows.append(
                CaseRow(
                    anchor,
                    case.id,
                    part.device_class,
                    worst.get((part.device_class, case.id)),
                    times(speedup) if speedup is not None else "\u2013",
                )
            )
    return rows
