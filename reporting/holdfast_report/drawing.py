# SPDX-License-Identifier: Apache-2.0
"""Matplotlib figures as inline SVG that follows the page's colours, light or dark, and as files of
their own."""

import io
import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import text_to_path

from holdfast_report.slimming import slim
from holdfast_report.writing import replacing

ROLES = ["ink", "muted", "rule", "paper", "optimized", "reference", "good", "bad", "stage-1", "stage-2", "stage-3", "stage-4", "stage-5"]

# On the page each role is drawn in a colour that nothing else has, and which becomes a CSS
# variable.
MARKS = {role: f"#0102{16 + index:02x}" for index, role in enumerate(ROLES)}

# In a file of its own a plot stands on white. Blue against grey, and blue against vermilion, stay
# apart for every kind of colour vision; the stages also differ in lightness.
PAPER = {
    "ink": "#1c2024",
    "muted": "#5c6670",
    "rule": "#d8dde2",
    "paper": "#ffffff",
    "optimized": "#0b66a3",
    "reference": "#8a929a",
    "good": "#007a5a",
    "bad": "#c0420a",
    "stage-1": "#0b3c5d",
    "stage-2": "#0b66a3",
    "stage-3": "#56a7d8",
    "stage-4": "#e0a030",
    "stage-5": "#c0420a",
}

FONT = 9.0
SETTINGS: Any = {
    "svg.fonttype": "none",  # text stays text: selectable, and in the page's font
    "svg.hashsalt": "holdfast",
    "font.size": FONT,
    "path.simplify": False,
}


@cache
def width_of(text: str, size: float) -> float:
    """The width in points, in a font as wide as any that a reader's machine may choose; a letter
    that the font may lack counts as wide."""
    letters = FontProperties(family="DejaVu Sans", size=size)
    known = re.sub(r"[^ -~]", "W", text)
    return text_to_path.get_text_width_height_descent(known, letters, False)[0]


def fitting(texts: Sequence[str], room: float, size: float) -> float:
    """The size at which all have room, and no more than `size`."""
    return size * min(1.0, room / max((width_of(text, size) for text in texts), default=room))


@dataclass(frozen=True)
class Drawing:
    figure: Figure
    alt: str  # what a reader who does not see it should know


class Pen:
    """A figure's colours."""

    def __init__(self, colours: dict[str, str] = MARKS) -> None:
        self.colours = colours

    def __getitem__(self, role: str) -> str:
        return self.colours[role]

    def figure(self, width: float, height: float) -> tuple[Figure, Axes]:
        """A figure of this size in inches, without frame, with unobtrusive ticks."""
        with rc_context(SETTINGS):
            figure = Figure(figsize=(width, height), facecolor="none")
            axes = figure.add_axes((0, 0, 1, 1), facecolor="none")
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, colors=self["muted"], labelsize=FONT - 1)
        return figure, axes


numbers = itertools.count(1)


def inline(drawing: Drawing) -> Markup:
    """The figure as an <svg> element."""
    width, height = 72 * drawing.figure.get_size_inches()
    return Markup(
        f'<svg class="figure" role="img" aria-label="{escape(drawing.alt)}" '
        f'viewBox="0 0 {width:g} {height:g}">{body_of(drawing)}</svg>'
    )


def body_of(drawing: Drawing) -> Markup:
    """What is in the <svg>. Its ids get a prefix, because a page holds many figures."""
    buffer = io.StringIO()
    with rc_context(SETTINGS):
        metadata = dict.fromkeys(["Date", "Creator", "Format", "Type"])
        drawing.figure.savefig(buffer, format="svg", metadata=metadata)
    svg = buffer.getvalue()
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", body, flags=re.DOTALL)
    body = body[body.index(">") + 1 : body.rindex("</svg>")].replace("xlink:href", "href")
    prefix = f"f{next(numbers)}-"
    body = re.sub(r'\bid="', f'id="{prefix}', body)
    body = re.sub(r"url\(#", f"url(#{prefix}", body)
    body = re.sub(r'href="#', f'href="#{prefix}', body)
    body = slim(body)
    for role, mark in MARKS.items():
        body = body.replace(mark, f"var(--{role})")
    return Markup(body)


def save(drawing: Drawing, stem: Path) -> list[Path]:
    """stem.svg and stem.png, each written beside and renamed."""
    paths = []
    for format in ("svg", "png"):
        path = stem.with_name(f"{stem.name}.{format}")
        metadata = {"Date": None} if format == "svg" else None
        with replacing(path) as beside, rc_context(SETTINGS):
            drawing.figure.savefig(
                beside, format=format, dpi=200, facecolor="white", metadata=metadata
            )
        paths.append(path)
    return paths
