# SPDX-License-Identifier: Apache-2.0
"""Tables that a reader opens: they lie in one block of JSON, in which each text stands once, and the
page's script (templates/tables.js) builds one when its section is opened."""

import json

from markupsafe import Markup

from holdfast_report.cells import Branch, Cell, Share, Table


class Folded:
    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.tables: list[list[object]] = []

    def text(self, said: str) -> int:
        return self.texts.setdefault(said, len(self.texts))

    def cell(self, cell: Cell) -> int | list[object]:
        if isinstance(cell, Share):
            return ["share", round(100 * cell.fraction, 1), self.text(cell.text)]
        if isinstance(cell, Branch):
            return ["branch", cell.depth, self.text(cell.text)]
        return self.text(cell)

    def add(self, table: Table) -> int:
        """The number of the table in the block."""
        head = [self.text(name) for name in table.head]
        rows = [[self.cell(cell) for cell in row] for row in table.rows]
        self.tables.append([table.text_columns, head, rows])
        return len(self.tables) - 1

    def block(self) -> Markup:
        """No text in it ends the element it stands in."""
        data = {"tables": self.tables, "texts": list(self.texts)}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return Markup(text.replace("<", "\\u003c"))
