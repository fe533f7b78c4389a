# SPDX-License-Identifier: Apache-2.0
"""A series over commits as a small panel: points, the accepted band, the level of each segment and
where it changes."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.ticker import FuncFormatter, MaxNLocator

from holdfast_report.documents import Entry, Row
from holdfast_report.drawing import FONT, PAPER, Drawing, Pen, save
from holdfast_report.history import Series
from holdfast_report.units import percent, readable, short_hash, unit_of

WIDTH, HEIGHT = 3.5, 1.55  # inches
TITLE = 0.5  # inches above a panel that stands alone

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
        f"{len(series.points)} commits, now {readable(last.value, unit(series))}"
        f" at {short_commit(last.commit)}",
    ]
    for change in series.change_points:
        words.append(f"; changed by {percent(change.change)} at {short_commit(change.commit)}")
    if series.drift:
        words.append(f"; drifted by {percent(series.drift.change)} from its anchor")
    if verdict:
        words.append(f"; verdict {verdict}")
    return " ".join(words).replace(" ;", ";")


def panel(
    series: Series,
    band: Band | None = None,
    verdict: str | None = None,
    now: float | None = None,
    pen: Pen = Pen(),
    title: bool = False,
) -> Drawing:
    """`now` is the value that the verdict is about, where the history does not hold it yet."""
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
    for segment in series.segments:
        ends = [places.get(segment.first, 0), places.get(segment.last, last)]
        axes.plot(ends, [segment.median] * 2, color=pen["optimized"], lw=1.1, alpha=0.75)
    for change in series.change_points:
        at = places.get(change.order)
        if at is not None:
            axes.axvline(at - 0.5, color=pen["ink"], lw=0.9, ls=(0, (1, 1.5)))
            axes.text(
                at - 0.5,
                1.0,
                f" {percent(change.change)} ",
                transform=axes.get_xaxis_transform(),
                color=pen["ink"],
                fontsize=FONT - 1,
                va="bottom",
                ha="right" if at > last * 0.6 else "left",
            )
    spreads = [point.mad or 0.0 for point in series.points]
    if any(spreads):
        axes.errorbar(
            range(last + 1), values, spreads, fmt="none", ecolor=pen["muted"], elinewidth=0.7
        )
    for index, point in enumerate(series.points):
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
    for text, side in ((short_commit(series.points[0].commit), "left"), (newest, "right")):
        if side == "left" or len(values) > 1:
            axes.text(
                0 if side == "left" else 1,
                -0.04,
                text,
                transform=axes.transAxes,
                color=pen["muted"],
                fontsize=FONT - 1.5,
                ha=side,
                va="top",
                parse_math=False,
            )
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
