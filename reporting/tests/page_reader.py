# SPDX-License-Identifier: Apache-2.0
"""A page as a reader without a browser meets it."""

import base64
import json
import re
import zlib
from html import escape
from html.parser import HTMLParser
from typing import Any

from builders import Workplace
from holdfast_report.command import main


def cell_text(cell: Any, texts: list[str]) -> str:
    return texts[cell[2] if isinstance(cell, list) else cell]


def unfolded(page: str) -> str:
    """The page with each folded piece and table in its place."""
    block = re.search(r'<script type="application/json.deflate" id="folded">(.*?)</script>', page)
    if block is None:
        return page
    said = json.loads(zlib.decompress(base64.b64decode(block.group(1))))

    def table(place: re.Match[str]) -> str:
        _, head, rows = said["tables"][int(place.group(1))]
        cells = [[said["texts"][name] for name in head]]
        cells += [[cell_text(cell, said["texts"]) for cell in row] for row in rows]
        return ">" + "".join(f"<td>{escape(text)}</td>" for row in cells for text in row)

    place = re.compile(r'<div data-piece="(\d+)"></div>')
    while place.search(page):
        page = place.sub(lambda found: said["pieces"][int(found.group(1))], page)
    return re.sub(r' data-table="(\d+)">', table, page)


class Reader(HTMLParser):
    """The page's text, headings, and all that an element would load."""

    LOADING = ("src", "srcset", "href", "xlink:href", "data", "action", "poster")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.figures: list[str | None] = []
        self.policy = ""
        self.scripts: list[str] = []
        self.kind = ""  # of the script whose text comes
        self.feed(unfolded(page))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attributes if name in self.LOADING]
        if tag == "svg":
            self.figures.append(dict(attributes).get("aria-label"))

        if tag == "meta" and "Content-Security-Policy" in dict(attributes).values():
            self.policy = dict(attributes).get("content") or ""
        self.kind = (dict(attributes).get("type") or "own") if tag == "script" else ""

    def handle_data(self, data: str) -> None:
        if self.kind == "own":
            self.scripts.append(data)
        elif not self.kind:
            self.text.append(data)

    def handle_endtag(self, tag: str) -> None:
        self.kind = ""

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))


def drawn(workplace: Workplace) -> Reader:
    assert main(workplace.options()) == 0
    return Reader(workplace.page())
