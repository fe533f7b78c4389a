# SPDX-License-Identifier: Apache-2.0
"""What a table of the page is made of."""

from collections.abc import Sequence
from dataclasses import dataclass

DASH = "\u2013"  # what is not known


@dataclass(frozen=True)
class Share:
    """A cell with a bar behind its text, as long as the fraction."""

    fraction: float
    text: str


@dataclass(frozen=True)
class Branch:
    """A cell of a tree, indented by its depth."""

    depth: int
    text: str


Cell = str | Share | Branch


@dataclass(frozen=True)
class Table:
    head: tuple[str, ...]
    rows: Sequence[tuple[Cell, ...]]
    text_columns: int = 1  # the first ones, aligned to the left


def compact(table: Table) -> Table:
    """The table without columns that hold only dashes."""
    kept = [
        column
        for column in range(len(table.head))
        if any(row[column] != DASH for row in table.rows)
    ]
    texts = sum(column < table.text_columns for column in kept)
    head = tuple(table.head[column] for column in kept)
    return Table(head, [tuple(row[column] for column in kept) for row in table.rows], texts)
