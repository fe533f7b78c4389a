# SPDX-License-Identifier: Apache-2.0
"""A series over commits: matplotlib draws the frame, which many series share, and the marks go into
it as a handful of paths, however many commits there are. What the page's script draws for another
range (templates/site/case.js) has the same shape."""

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from html import escape
from pathlib import Path

from markupsafe import Markup
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

from holdfast_report import drawing, slimming, units
from holdfast_report.drawing import Drawing, Pen, body_of, fitting
from holdfast_report.site.archive import Archive, Column, Commit
from holdfast_report.site.levels import Change, Levels
from holdfast_report.site.views import tone_of
from holdfast_report.trends import Band, reach_of
from holdfast_report.units import (
    change_of,
    drawable,
    labels_of,
    readable,
    scale_of,
)

WIDTH, HEIGHT = 350.0, 156.0  # points
LEFT, RIGHT, TOP, BOTTOM = 58.0, 344.0, 20.0, 130.0
LABEL = 58.0  # what the label of a change needs, in points
CONTENT = 1.6  # times as much, where it names a content
LETTERS = 10.0
MOST_MOVES = 60  # that are drawn: more hide the points, and a narrower view has fewer


@dataclass(frozen=True)
class Limits:
    low: float
    high: float


def whole(column: Column) -> bool:
    return column.unit != "s" and all(float(value).is_integer() for value in column.values)


def limits_of(column: Column, band: Band | None, levels: Levels) -> Limits:
    """A varying series gets room for a change of a tenth, so that noise does not look like news;
    a count that changed by one is news. Rounded, so that frames are shared."""
    alarms = [column.values[index] for index in column.alarms]
    medians = [level for _, _, level in levels.segments.get(column.key, [])]
    reach = reach_of(column.values, [column.last, *alarms, *medians])
    shown = [*reach, *(band.ends if band else ())]
    low, high = drawable(min(shown)), drawable(max(shown))
    if low == high == 0:
        return Limits(0.0, 1.0)
    least = 0.0 if whole(column) and high > low else 0.1 * abs(high)
    slack = 0.18 * max(high - low, least, 1e-12)
    step = 10 ** math.floor(math.log10(high - low + 2 * slack)) / 20
    floor = math.floor((low - slack) / step) * step
    if low >= 0 > floor:
        floor = 0.0 if low > 0 else -0.05 * (high or 1.0)
    return Limits(floor, math.ceil((high + slack) / step) * step)


@cache
def version() -> str:
    """A hash of the code that draws frames: frames of another version are drawn again."""
    sources = [__file__, drawing.__file__, slimming.__file__, units.__file__]
    return hashlib.sha256(b"".join(Path(one).read_bytes() for one in sources)).hexdigest()


def name_of(limits: Limits, unit: str, whole_ticks: bool) -> str:
    said = f"{limits.low:.15g} {limits.high:.15g} {unit} {whole_ticks} {version()}"
    return hashlib.sha256(said.encode()).hexdigest()[:12]


FRAME = re.compile(r'<g class="frame" data-frame="(\w+)">(.*?)</g><g class="marks">', re.DOTALL)


def frames_of(page: Path) -> dict[str, str]:
    """The frames of a page that was drawn before, by their names."""
    try:
        return dict(FRAME.findall(page.read_text("utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}


@lru_cache(maxsize=4096)
def frame(limits: Limits, unit: str, whole_ticks: bool) -> Markup:
    """Ticks, their labels and the grid."""
    pen = Pen()
    figure, axes = pen.figure(WIDTH / 72, HEIGHT / 72)
    axes.set_position(
        (LEFT / WIDTH, 1 - BOTTOM / HEIGHT, (RIGHT - LEFT) / WIDTH, (BOTTOM - TOP) / HEIGHT)
    )
    axes.set_ylim(limits.low, limits.high)
    axes.set_xlim(0, 1)
    scale, _ = scale_of((limits.high, limits.low), unit)
    locator = MaxNLocator(nbins=4, min_n_ticks=2, integer=whole_ticks and scale == 1.0)
    ticks = [
        float(tick) * scale
        for tick in locator.tick_values(limits.low / scale, limits.high / scale)
        if limits.low <= tick * scale <= limits.high
    ]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    labels = labels_of(ticks, unit)
    axes.yaxis.set_major_formatter(FixedFormatter(labels))
    axes.tick_params(axis="y", labelsize=fitting(labels, LEFT - 6, LETTERS))
    axes.grid(axis="y", color=pen["rule"], lw=0.6)
    axes.tick_params(left=False)
    for line in axes.get_ygridlines():
        line.set_clip_on(False)  # so that two figures with this frame share no id
    axes.set_xticks([])
    return body_of(Drawing(figure, ""))


@dataclass(frozen=True)
class Plane:
    """Maps positions and values to points of the page."""

    limits: Limits
    commits: int

    def x(self, at: float) -> float:
        return LEFT + (at + 0.5) / self.commits * (RIGHT - LEFT)

    def y(self, value: float) -> float:
        value = min(max(value, self.limits.low), self.limits.high)
        share = (value - self.limits.low) / (self.limits.high - self.limits.low)
        return BOTTOM - share * (BOTTOM - TOP)


def short(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def dots(plane: Plane, points: Sequence[tuple[int, float]]) -> str:
    """Lines of no length: with round caps each is a dot."""
    return "".join(f"M{short(plane.x(at))} {short(plane.y(value))}h0" for at, value in points)


def arrows(plane: Plane, points: Sequence[tuple[int, float]]) -> str:
    """For values that the figure leaves out, each with its tip on the edge."""
    return "".join(
        f"M{short(plane.x(at))} {short(plane.y(value))}l-3 {5 if value > plane.limits.high else -5}h6z"
        for at, value in points
    )


def name_of_commit(commit: Commit) -> tuple[str, float]:
    """A commit's name below the axis, and its width in points."""
    if commit.committed:
        return commit.short[:7], LABEL
    return f"content {commit.short[:7]}", CONTENT * LABEL


def how_much(change: Change) -> str:
    """The size of a change, with a sign for better or worse besides the colour."""
    return f"{tone_of(change.worse)[1]} {change_of(change.before, change.change)}"


def labelled(plane: Plane, changes: Sequence[Change], archive: Archive, link: str | None) -> str:
    """Writes the size above each change, and its commit below; if labels would touch, the larger
    change keeps its label."""
    taken: list[tuple[float, float]] = []  # middle and width
    texts = []
    for change in sorted(changes, key=lambda one: -abs(one.change)):
        commit = archive.commits[change.at]
        called, needs = name_of_commit(commit)
        x = min(max(plane.x(change.at - 0.5), LEFT + needs / 2), RIGHT - needs / 2)
        if any(abs(x - other) < (needs + wide) / 2 for other, wide in taken):
            continue
        taken.append((x, needs))
        tone = "worse" if change.worse else "moved"
        texts.append(
            f'<text class="{tone}" x="{short(x)}" y="{short(TOP - 6)}">{how_much(change)}</text>'
        )
        name = f'<text x="{short(x)}" y="{short(BOTTOM + 14)}">{escape(called)}</text>'
        if link and commit.committed:
            name = f'<a href="{escape(link + commit.name)}">{name}</a>'
        texts.append(name)
    return "".join(texts)


def marks(
    column: Column,
    archive: Archive,
    levels: Levels,
    band: Band | None,
    limits: Limits,
    link: str | None,
) -> Markup:
    plane = Plane(limits, len(archive.commits))
    parts = []
    if band:
        top, bottom = plane.y(band.high), plane.y(band.low)
        if band.tolerance > 0:
            parts.append(f'<path class="band" d="M{LEFT} {short(top)}H{RIGHT}V{short(bottom)}H{LEFT}z"/>')
        parts.append(f'<path class="accepted" d="M{LEFT} {short(plane.y(band.baseline))}H{RIGHT}"/>')
    environment = archive.moves(column)
    if 0 < len(environment) <= MOST_MOVES:
        lines = "".join(f"M{short(plane.x(at - 0.5))} {TOP}V{BOTTOM}" for at in environment)
        parts.append(f'<path class="environment" d="{lines}"/>')
    changes = levels.changes.get(column.key, [])
    if changes:
        lines = "".join(f"M{short(plane.x(one.at - 0.5))} {TOP}V{BOTTOM}" for one in changes)
        parts.append(f'<path class="change" d="{lines}"/>')
    size = "few" if len(column.at) <= 120 else "many"
    inside: list[tuple[int, float]] = []
    beyond: list[tuple[int, float]] = []
    for at, value in zip(column.at, column.values, strict=True):
        (inside if limits.low <= drawable(value) <= limits.high else beyond).append((at, value))
    parts.append(f'<path class="dots {size}" d="{dots(plane, inside)}"/>')
    if beyond:
        parts.append(f'<path class="beyond" d="{arrows(plane, beyond)}"/>')
    flat = "".join(
        f"M{short(plane.x(first))} {short(plane.y(value))}H{short(plane.x(last))}"
        for first, last, value in levels.segments.get(column.key, [])
    )
    parts.append(f'<path class="level" d="{flat}"/>')
    alarms = [
        (column.at[index], column.values[index]) for index in sorted(column.alarms)
    ]
    crosses = "".join(
        f"M{short(plane.x(at) - 3)} {short(plane.y(value) - 3)}l6 6m0 -6l-6 6" for at, value in alarms
    )
    if crosses:
        parts.append(f'<path class="alarm" d="{crosses}"/>')
    parts.append(f'<g class="labels">{labelled(plane, changes, archive, link)}{ends(archive, changes, plane)}</g>')
    return Markup("".join(parts))


def ends(archive: Archive, changes: Sequence[Change], plane: Plane) -> str:
    """The first and the last commit, once if they are one, where no change's label stands there."""
    near = [
        (plane.x(change.at), name_of_commit(archive.commits[change.at])[1]) for change in changes
    ]
    texts = []
    last = len(archive.commits) - 1
    for at, anchor, x in ((0, "start", LEFT), (last, "end", RIGHT))[: last + 1]:
        called, needs = name_of_commit(archive.commits[at])
        if all(abs(x - other) > needs + 0.6 * wide for other, wide in near):
            texts.append(
                f'<text class="end {anchor}" x="{short(x)}" y="{short(BOTTOM + 14)}">'
                f"{escape(called)}</text>"
            )
    return "".join(texts)


def describe(column: Column, archive: Archive, levels: Levels) -> str:
    """The figure in words."""
    words = [
        (
            f"{column.metric}, {column.variant}, on {column.device_class}: "
            f"{len(column.at)} points, now {readable(column.last, column.unit)} at "
            f"{archive.commits[column.at[-1]].called}"
        )
    ]
    for change in levels.changes.get(column.key, []):
        words.append(f"changed {change_of(change.before, change.change)} at {archive.commits[change.at].called}")
    moves = archive.moves(column)
    if moves:
        since = f"another environment since {archive.commits[moves[-1]].called}"
        words.append(since + (f", the last of {len(moves)}" if len(moves) > 1 else ""))
    drift = levels.drifts.get(column.key)
    if drift:
        words.append(f"drifted {change_of(drift.anchor, drift.change)} since {archive.commits[drift.since].called}")
    return "; ".join(words)


def figure(
    column: Column,
    archive: Archive,
    levels: Levels,
    band: Band | None,
    link: str | None,
    drawn: Mapping[str, str] | None = None,
) -> Markup:
    """`drawn` are frames that need not be drawn again, by their names."""
    limits = limits_of(column, band, levels)
    name = name_of(limits, column.unit, whole(column))
    known = (drawn or {}).get(name)
    framed = Markup(known) if known is not None else frame(limits, column.unit, whole(column))
    said = escape(describe(column, archive, levels))
    return Markup(
        f'<svg class="figure trend" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" tabindex="0" '
        f'aria-label="{said}"><g class="frame" data-frame="{name}">{framed}</g>'
        f'<g class="marks">{marks(column, archive, levels, band, limits, link)}</g></svg>'
    )
