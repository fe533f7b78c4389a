# SPDX-License-Identifier: Apache-2.0
"""Which rows of a verdict one changed kernel caused, by their evidence."""

from collections.abc import Iterable

from holdfast_report.documents import Row

Cause = tuple[str, str, str]  # device class, variant, kernel

CODE = "code"  # the evidence: "stage<double>: registers 64 -> 96, ...; 4 other kernels identical"
# What costs a kernel its speed comes first; by the names in evidence and in metrics.
RESOURCES = ("registers", "spill bytes", "shared bytes", "local_bytes")
METRICS = ("registers_max", "spill_bytes", "local_bytes")


def first_change(row: Row) -> tuple[str, str]:
    """The first kernel that the evidence names, and what changed in it."""
    clause = row.evidence.get(CODE, "").partition(";")[0]
    name, _, changes = clause.partition(": ")
    return (name, changes) if " -> " in changes else ("", "")


def cause_of(row: Row) -> Cause | None:
    """The kernel behind a row, without template arguments; rows of the whole case count as the
    optimized variant's, and rows accepted with the change have none."""
    kernel = first_change(row)[0].partition("<")[0]
    if not kernel or row.verdict == "ACCEPTED":
        return None
    return row.device_class, "optimized" if row.variant == "case" else row.variant, kernel


def failing(rows: Iterable[Row]) -> list[Row]:
    """Blocking rows, and other rows of the same case with the same cause."""
    rows = list(rows)
    causes = {(row.case, cause_of(row)) for row in rows if row.blocking and cause_of(row)}
    return [row for row in rows if row.blocking or (row.case, cause_of(row)) in causes]


def told(rows: Iterable[Row]) -> list[str]:
    """Each kernel with its changed resources, else with the first change in its evidence."""
    kernels: dict[str, str] = {}
    for row in rows:
        name, changes = first_change(row)
        if name and name not in kernels:
            pieces = changes.split(", ")
            costly = [piece for piece in pieces if piece.startswith(RESOURCES)]
            kernels[name] = ", ".join(costly or pieces[:2]).replace("->", "\u2192")
    return [f"{name}: {changes}" for name, changes in kernels.items()]


def by_metric(rows: Iterable[Row]) -> list[Row]:
    """The first row of each variant and metric: blocking rows first, resources before others."""
    first: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: not row.blocking):
        first.setdefault((row.variant, row.metric), row)

    def place(row: Row) -> tuple[bool, int]:
        known = METRICS.index(row.metric) if row.metric in METRICS else len(METRICS)
        return not row.blocking, known

    return sorted(first.values(), key=place)
