# SPDX-License-Identifier: Apache-2.0
"""A page as a reader without a browser meets it."""

import re
from html.parser import HTMLParser

from builders import Workplace

from holdfast_report.command import main


class Reader(HTMLParser):
    """The page's text, headings, and all that an element would load."""

    LOADING = ("src", "srcset", "href", "xlink:href", "data", "action", "poster")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.tags: list[str] = []
        self.loaded: list[str] = []
        self.figures: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attributes if name in self.LOADING]
        if tag == "svg":
            self.figures.append(dict(attributes).get("aria-label"))

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self.text))


def drawn(workplace: Workplace) -> Reader:
    assert main(workplace.options()) == 0
    return Reader(workplace.page())
