# SPDX-License-Identifier: Apache-2.0
"""Content that a reader opens: tables, with each text stored once, and pieces of the page. They
are one deflated block of JSON, from which the page's script (templates/folded.js) builds what is
opened."""

import base64
import json
import zlib

from markupsafe import Markup

from holdfast_report.cells import Branch, Cell, Share, Table


class Folded:
    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.tables: list[list[object]] = []
        self.pieces: list[str] = []

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

    def piece(self, markup: Markup) -> int:
        """The number of a piece of the page, which may hold places of tables and of other pieces."""
        self.pieces.append(str(markup))
        return len(self.pieces) - 1

    def block(self) -> Markup:
        data = {"tables": self.tables, "texts": list(self.texts), "pieces": self.pieces}
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return Markup(base64.b64encode(zlib.compress(text.encode(), 9)).decode())
