# SPDX-License-Identifier: Apache-2.0
"""A small figure as a handful of marks, in points from its top left: a few letters of SVG on a page
that has hundreds of them, or matplotlib's where a file of its own is wanted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from matplotlib.ticker import MaxNLocator

from holdfast_report.drawing import Drawing, Pen
from holdfast_report.slimming import rounded

Point = tuple[float, float]
Strokes = Sequence[Sequence[Point]]

ANCHORS = {"start": "left", "middle": "center", "end": "right"}  # in matplotlib's words


@dataclass(frozen=True)
class Line:
    strokes: Strokes
    role: str  # its colour
    width: float
    dash: tuple[float, ...] = ()


@dataclass(frozen=True)
class Area:
    outlines: Strokes
    role: str
    alpha: float = 1.0


@dataclass(frozen=True)
class Dots:
    at: Sequence[Point]
    role: str
    size: float


@dataclass(frozen=True)
class Words:
    at: Point  # of the baseline
    said: str
    role: str
    size: float
    anchor: str = "start"
    address: str | None = None


Mark = Line | Area | Dots | Words


@dataclass
class Sketch:
    width: float
    height: float
    alt: str  # what a reader who does not see it should know
    marks: list[Mark] = field(default_factory=list)

    def add(self, *marks: Mark) -> None:
        self.marks += marks


@dataclass(frozen=True)
class Plane:
    """From values to points: where a figure's axes stand, and what they reach."""

    left: float
    right: float
    top: float
    bottom: float
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]

    def x(self, value: float) -> float:
        low, high = self.x_limits
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        low, high = self.y_limits
        value = min(max(value, low), high)
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def at(self, x: float, y: float) -> Point:
        return self.x(x), self.y(y)

    def level(self, value: float) -> list[Point]:
        """Across the whole plane."""
        return [(self.left, self.y(value)), (self.right, self.y(value))]

    def ticks(self, count: int, whole: bool = False) -> list[float]:
        """Round values along the y axis; of what is counted only whole ones."""
        low, high = self.y_limits
        found = MaxNLocator(nbins=count, min_n_ticks=2, integer=whole).tick_values(low, high)
        ticks = [float(tick) for tick in found if low <= tick <= high]
        counted = [tick for tick in ticks if tick.is_integer()]
        return counted if whole and counted else ticks


def box(left: float, top: float, right: float, bottom: float) -> list[Point]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def tenths(place: Point) -> tuple[int, int]:
    """A tenth of a point is less than a pixel of a phone."""
    return round(10 * place[0]), round(10 * place[1])


def commands(strokes: Strokes, ending: str = "") -> Iterator[str]:
    """The commands of an SVG path, each place relative to the one before, so that rows of
    similar steps deflate well; `ending` follows each stroke."""
    pen = 0, 0
    for stroke in filter(None, strokes):
        start = tenths(stroke[0])
        for index, place in enumerate(map(tenths, stroke)):
            across, down = (place[0] - pen[0]) / 10, (place[1] - pen[1]) / 10
            if index == 0:
                yield f"m{across:g} {down:g}"
            elif across and down:
                yield f"l{across:g} {down:g}"
            elif across:
                yield f"h{across:g}"
            elif down:
                yield f"v{down:g}"
            pen = place
        yield ending
        if ending == "z":
            pen = start


def path_data(strokes: Strokes, ending: str = "") -> str:
    return "".join(commands(strokes, ending))


def svg_of(mark: Mark) -> str:
    colour = f"var(--{mark.role})"
    if isinstance(mark, Area):
        alpha = f";opacity:{mark.alpha:g}" if mark.alpha < 1 else ""
        outlines = path_data(mark.outlines, "z")
        return f'<path d="{outlines}" style="fill:{colour}{alpha}"/>'
    if isinstance(mark, Line):
        dash = f";stroke-dasharray:{' '.join(f'{one:g}' for one in mark.dash)}" if mark.dash else ""
        style = f"fill:none;stroke:{colour};stroke-width:{mark.width:g}{dash}"
        return f'<path d="{path_data(mark.strokes)}" style="{style}"/>'
    if isinstance(mark, Dots):  # lines of no length, whose round caps are dots
        style = f"stroke:{colour};stroke-width:{mark.size:g};stroke-linecap:round"
        dots = path_data([[place] for place in mark.at], "h0")
        return f'<path d="{dots}" style="{style}"/>'
    x, y = (rounded(str(one)) for one in mark.at)
    anchor = f";text-anchor:{mark.anchor}" if mark.anchor != "start" else ""
    style = f"fill:{colour};font-size:{mark.size:g}px{anchor}"
    text = f'<text x="{x}" y="{y}" style="{style}">{escape(mark.said)}</text>'
    return f'<a href="{escape(mark.address)}">{text}</a>' if mark.address else text


def svg(sketch: Sketch) -> Markup:
    """The sketch as SVG in the page's colours."""
    marks = "".join(svg_of(mark) for mark in sketch.marks)
    return Markup(
        f'<svg class="figure" role="img" aria-label="{escape(sketch.alt)}" '
        f'viewBox="0 0 {sketch.width:g} {sketch.height:g}">{marks}</svg>'
    )


def path_of(strokes: Strokes, closed: bool) -> Path:
    points: list[Point] = []
    codes: list[Any] = []  # numbers of a type of numpy's
    for stroke in filter(None, strokes):
        points += [*stroke, stroke[0]] if closed else stroke
        codes += [Path.MOVETO, *[Path.LINETO] * (len(stroke) - 1)]
        codes += [Path.CLOSEPOLY] if closed else []
    return Path(points, codes)


def draw(axes: Axes, mark: Mark, pen: Pen) -> None:
    colour = pen[mark.role]
    if isinstance(mark, Words):
        style: dict[str, Any] = {"color": colour, "size": mark.size, "ha": ANCHORS[mark.anchor]}
        # A name may hold a dollar, which is no formula.
        axes.text(*mark.at, mark.said, va="baseline", parse_math=False, url=mark.address, **style)
    elif isinstance(mark, Area):
        path = path_of(mark.outlines, True)
        axes.add_patch(PathPatch(path, facecolor=colour, alpha=mark.alpha, lw=0, clip_on=False))
    elif isinstance(mark, Line):
        dash = (0.0, tuple(one / mark.width for one in mark.dash)) if mark.dash else "solid"
        path = path_of(mark.strokes, False)
        line = PathPatch(path, facecolor="none", edgecolor=colour, lw=mark.width, ls=dash)
        axes.add_patch(line).set_clip_on(False)
    else:
        xs, ys = zip(*mark.at, strict=True)
        axes.plot(xs, ys, "o", color=colour, ms=mark.size, mew=0, clip_on=False, zorder=1)


def figure_of(sketch: Sketch, pen: Pen) -> Drawing:
    """The sketch as a figure for a file of its own."""
    figure, axes = pen.figure(sketch.width / 72, sketch.height / 72)
    axes.set_xlim(0, sketch.width)
    axes.set_ylim(sketch.height, 0)
    axes.set_axis_off()
    for mark in sketch.marks:
        draw(axes, mark, pen)
    return Drawing(figure, sketch.alt)
