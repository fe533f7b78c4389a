# SPDX-License-Identifier: Apache-2.0
"""A series over commits as a small panel: points, the accepted band, the level of each segment and
where it changes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Path2D
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator

from holdfast_report.documents import Entry, Row
from holdfast_report.drawing import FONT, PAPER, Drawing, Pen, save
from holdfast_report.history import ChangePoint, Series
from holdfast_report.units import percent, readable, short_hash, unit_of

WIDTH, HEIGHT = 3.5, 1.55  # inches
TITLE = 0.5  # inches above a panel that stands alone
MANY = 100  # points, from which on each is drawn smaller
NAME = 0.22  # of a panel's width, for the name of a commit

ALARMS = ("REGRESSION", "WRONG", "SUSPECT-FAST", "CHANGED", "MISSING")
QUIET = ("PASS", "NEW", "ACCEPTED", "SKIPPED", None)
# Metrics that gate and vary from run to run: their course is of interest even when it is flat.
SAMPLED = ("speedup", "time_s")


@dataclass(frozen=True)
class Band:
    """What the gate accepts now: the baseline, and how far a value may lie from it (a ratio, 0 for
    exact ones)."""

    baseline: float
    tolerance: float

    @property
    def low(self) -> float:
        return self.baseline / (1 + self.tolerance)

    @property
    def high(self) -> float:
        return self.baseline * (1 + self.tolerance)


def band_of(row: Row | None, entry: Entry | None) -> Band | None:
    if row and isinstance(row.baseline, float | int):
        # A higher-is-better limit is negative: -5 % is a factor of 1.05 below.
        limit = row.limit or 0.0
        return Band(row.baseline, 1 / (1 + limit) - 1 if -1 < limit < 0 else limit)
    if entry and isinstance(entry.value, float | int):
        return Band(entry.value, 0.0)
    return None


def advisory(series: Series, kind: str | None) -> bool:
    """Metrics that never gate; where no verdict tells the kind, durations and rates other than
    time_s."""
    if kind is not None:
        return kind == "advisory"
    return series.metric not in SAMPLED and (unit(series) == "s" or unit(series).endswith("/s"))


def worth_a_panel(series: Series, verdict: str | None, kind: str | None = None) -> bool:
    """What changed its level, what gates by its level, and what is not well. An advisory metric
    that only varies is noise; an exact one that varies is news."""
    moved = bool(series.change_points) or series.drift is not None
    if moved or series.metric in SAMPLED or verdict not in QUIET:
        return True
    return not series.constant and not advisory(series, kind)


def rank(series: Series, verdict: str | None, kind: str | None = None) -> tuple[object, ...]:
    """Alarms first, then what gates, the speedups before counts before times."""
    return (
        verdict not in ALARMS,
        verdict in QUIET,
        advisory(series, kind),
        series.metric != "speedup",
        series.metric == "time_s",
        not series.change_points,
        series.variant == "reference",
        series.key,
    )


def short_commit(commit: str) -> str:
    return short_hash(commit)[:8]


def unit(series: Series) -> str:
    return unit_of(series.metric)


def describe(series: Series, verdict: str | None) -> str:
    """The panel in words."""
    last = series.points[-1]
    words = [
        f"{series.metric} of {series.case}, {series.variant}, on {series.device_class}:",
        (
            f"{len(series.points)} commits, now {readable(last.value, unit(series))}"
            f" at {short_commit(last.commit)}"
        ),
    ]
    for change in series.change_points:
        words.append(f"; changed by {percent(change.change)} at {short_commit(change.commit)}")
    if series.drift:
        words.append(f"; drifted by {percent(series.drift.change)} from its anchor")
    if verdict:
        words.append(f"; verdict {verdict}")
    return " ".join(words).replace(" ;", ";")


def strokes(axes: Axes, lines: Sequence[tuple[float, float, float]], **style: Any) -> None:
    """Upright lines of (x, from, to) as one path; of no length and with round caps they are dots."""
    if lines:
        ends = [end for x, low, high in lines for end in ((x, low), (x, high))]
        codes = [Path2D.MOVETO, Path2D.LINETO] * len(lines)
        path = Path2D(ends, codes)
        path.should_simplify = False  # which would take the dots of a long series away
        axes.add_patch(PathPatch(path, facecolor="none", **style))


def scatter(axes: Axes, series: Series, pen: Pen) -> None:
    """All plain points are one path, however many there are."""
    points = list(enumerate(series.points))
    spread = [(i, one.value - one.mad, one.value + one.mad) for i, one in points if one.mad]
    strokes(axes, spread, edgecolor=pen["muted"], lw=0.7)
    odd = [(i, one) for i, one in points if one.verdict in ALARMS or one.outlier]
    plain = [(i, one.value, one.value) for i, one in points if (i, one) not in odd]
    thick = 3.4 if len(points) <= MANY else 2.2
    strokes(axes, plain, edgecolor=pen["optimized"], lw=thick, capstyle="round", zorder=3)
    for index, point in odd:
        alarm = point.verdict in ALARMS
        axes.plot(
            index,
            point.value,
            marker="X" if alarm else "o",
            ms=5.5 if alarm else 3.2,
            color=pen["bad"] if alarm else pen["optimized"],
            mfc=pen["paper"] if point.outlier else None,
            mew=0.8,
            zorder=3,
        )


def name_changes(
    axes: Axes,
    pen: Pen,
    ends: tuple[str, str],
    marked: Sequence[tuple[int, ChangePoint]],
    count: int,
    link: str | None,
) -> None:
    """Above a change by how much, below the axis its commit; where names would touch, the larger
    change has them. Below also the first commit and the last."""
    taken: list[float] = []
    for at, change in sorted(marked, key=lambda one: -abs(one[1].change)):
        place = min(max((at + 0.1) / (count + 0.2), 0.08), 0.92)
        if any(abs(place - other) < NAME for other in taken):
            continue
        taken.append(place)
        said = f" {percent(change.change)} "
        above = commit_text(axes, place, said, pen["ink"], "center")
        above.set(y=1.0, va="bottom", fontsize=FONT - 1)
        name = commit_text(axes, place, short_commit(change.commit), pen["ink"], "center")
        if link and not change.commit.startswith("sha256:"):
            name.set_url(link + change.commit)
            name.set_color(pen["optimized"])
    for place, text, side in ((0.0, ends[0], "left"), (1.0, ends[1], "right")):
        crowded = any(abs(place - other) < 1.45 * NAME for other in taken)
        if not crowded and (side == "left" or count > 1):
            commit_text(axes, place, text, pen["muted"], side)


def commit_text(axes: Axes, place: float, said: str, colour: str, side: str) -> Text:
    return axes.text(
        place,
        -0.04,
        said,
        transform=axes.transAxes,
        color=colour,
        fontsize=FONT - 1.5,
        ha=side,
        va="top",
        parse_math=False,
    )


def panel(
    series: Series,
    band: Band | None = None,
    verdict: str | None = None,
    now: float | None = None,
    pen: Pen = Pen(),
    title: bool = False,
    link: str | None = None,
) -> Drawing:
    """`now` is the value that the verdict is about, where the history does not hold it yet; a
    commit's name behind `link` is its page."""
    height = HEIGHT + (TITLE if title else 0.0)
    figure, axes = pen.figure(WIDTH, height)
    axes.set_position((0.2, 0.2 / height, 0.77, (HEIGHT - 0.36) / height))
    places = {point.order: index for index, point in enumerate(series.points)}
    values = [point.value for point in series.points]
    last = len(values) - 1

    if band:
        if band.tolerance > 0:
            axes.axhspan(band.low, band.high, color=pen["good"], alpha=0.14, lw=0)
        axes.axhline(band.baseline, color=pen["good"], lw=0.9, ls=(0, (4, 2)))
    marked: list[tuple[int, ChangePoint]] = []
    for segment in series.segments:
        ends = [places.get(segment.first, 0), places.get(segment.last, last)]
        axes.plot(ends, [segment.median] * 2, color=pen["ink"], lw=1.1, zorder=4)
    for change in series.change_points:
        at = places.get(change.order)
        if at is not None:
            axes.axvline(at - 0.5, color=pen["ink"], lw=0.9, ls=(0, (1, 1.5)))
            marked.append((at, change))
    scatter(axes, series, pen)

    if now is not None:
        role = "bad" if verdict in ALARMS else "ink"
        axes.plot(
            last + 1,
            now,
            marker="X" if verdict in ALARMS else "D",
            ms=5.5,
            color=pen[role],
            mew=0.8,
            zorder=3,
        )
        values.append(now)

    shown = [*values, *((band.low, band.high) if band else ())]
    low, high = min(shown), max(shown)
    counts = unit(series) != "s" and all(value == int(value) for value in values)
    # What varies gets the room that a change of a tenth would need, so that noise does not look
    # like news; a count that changed by one is news.
    slack = 0.18 * max(high - low, 0.0 if counts and high > low else 0.1 * abs(high), 1e-12)
    axes.set_ylim(low - slack, high + slack)
    axes.set_xlim(-0.6, max(len(values) - 1, 1) + 0.6)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, min_n_ticks=2, integer=counts))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: readable(value, unit(series))))
    axes.grid(axis="y", color=pen["rule"], lw=0.6)
    axes.set_axisbelow(True)
    axes.set_xticks([])
    newest = "now" if now is not None else short_commit(series.points[-1].commit)
    name_changes(axes, pen, (short_commit(series.points[0].commit), newest), marked, len(values), link)
    if title:
        heading = f"{series.case}\n{series.metric}, {series.variant}, {series.device_class}"
        figure.text(
            0.02, 0.98, heading, color=pen["ink"], fontsize=FONT - 1.5, va="top", parse_math=False
        )
    return Drawing(figure, describe(series, verdict))


def stem_of(series: Series) -> Path:
    """<class>/<case>/<variant>.<metric>, with nothing in it that a file system or a shell would
    mind."""
    parts = [series.device_class, *series.case.split("/"), f"{series.variant}.{series.metric}"]
    safe = [
        re.sub(r"[^A-Za-z0-9_.=-]", "_", part.replace(":", "=")).lstrip(".") or "_"
        for part in parts
    ]
    return Path(*safe)


def draw_all(
    series: list[Series], entries: Mapping[tuple[str, str], Entry], out: Path
) -> list[Path]:
    """One SVG and one PNG for each series, on white."""
    paths = []
    for one in series:
        entry = entries.get((one.device_class, f"{one.case}|{one.variant}|{one.metric}"))
        verdict = one.points[-1].verdict
        stem = out / stem_of(one)
        stem.parent.mkdir(parents=True, exist_ok=True)
        paths += save(panel(one, band_of(None, entry), verdict, pen=Pen(PAPER), title=True), stem)
    return paths
