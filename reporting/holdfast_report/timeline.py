# SPDX-License-Identifier: Apache-2.0
"""Memory over time: the live bytes of one variant's whole life as steps, stacked by the site that
allocated them, with the peak marked. Allocations come in bursts, so they are drawn one after the
other at even distances, and the axis says when each was."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.ticker import FuncFormatter, MaxNLocator

from holdfast_report.drawing import FONT, Drawing, Pen
from holdfast_report.profiles import Memory, MemoryPoint
from holdfast_report.units import BYTES, readable

WIDTH, HEIGHT = 3.5, 1.75  # inches
COLUMNS = 48  # each drawn with its highest and its last value
TICKS = 4
SITES = 4  # with a colour of their own
OTHERS = "others"


@dataclass(frozen=True)
class Course:
    events: list[int]  # the numbers of the allocations and releases that are drawn
    seconds: list[float]
    total: list[float]  # live bytes
    layers: dict[str, list[float]]  # by site, largest first; empty where the sites do not add up
    peak: tuple[int, float, float]  # event, seconds, bytes


def named(memory: Memory) -> list[str]:
    """The sites with a colour of their own, by what they hold at the peak."""
    ranked = sorted(memory.peak_by_site.items(), key=lambda item: (-item[1], item[0]))
    return [site for site, _ in ranked[:SITES]]


def layers_of(points: Sequence[MemoryPoint], sites: Sequence[str]) -> dict[str, list[float]]:
    """Live bytes by site after each point. A timeline with points left out does not add up: then
    there are no layers, for a wrong one would be believed."""
    live = dict.fromkeys([*sites, OTHERS], 0)
    layers: dict[str, list[float]] = {site: [] for site in live}
    for point in points:
        live[point.site if point.site in sites else OTHERS] += point.delta
        if sum(live.values()) != point.bytes or min(live.values()) < 0:
            return {}
        for site, held in live.items():
            layers[site].append(held)
    return {site: held for site, held in layers.items() if any(held)}


def kept(points: Sequence[MemoryPoint]) -> list[int]:
    """Indices worth drawing: the ends, and of each column its highest and its last point."""
    highest: dict[int, int] = {}
    latest: dict[int, int] = {}
    for index, point in enumerate(points):
        column = index * COLUMNS // len(points)
        latest[column] = index
        if column not in highest or point.bytes > points[highest[column]].bytes:
            highest[column] = index
    return sorted({0, len(points) - 1, *highest.values(), *latest.values()})


def course(memory: Memory) -> Course | None:
    points = memory.timeline
    if not points:
        return None
    indices = kept(points)
    top = max(range(len(points)), key=lambda index: points[index].bytes)
    layers = layers_of(points, named(memory))
    return Course(
        events=indices,
        seconds=[points[index].s for index in indices],
        total=[float(points[index].bytes) for index in indices],
        layers={site: [held[index] for index in indices] for site, held in layers.items()},
        peak=(top, points[top].s, float(points[top].bytes)),
    )


def colour_of(site: str, layers: Sequence[str]) -> str:
    """The role of a site's layer, empty where the figure has none."""
    if site in layers and site != OTHERS:
        return f"stage-{list(layers).index(site) + 1}"
    return "reference" if OTHERS in layers else ""


def describe(title: str, found: Course, estimate: float | None) -> str:
    said = f"Live memory of {title}: peak {readable(found.peak[2], 'B')}"
    said += f" at {readable(found.peak[1], 's')}"
    if estimate is not None:
        said += f", estimated {readable(estimate, 'B')}"
    return f"{said}, at the end {readable(found.total[-1], 'B')}"


def tick_labels(found: Course) -> dict[int, str]:
    """Times at their events, at most TICKS and never so near that they touch."""
    apart = (found.events[-1] + 1) / TICKS
    labels: dict[int, str] = {}
    for event, seconds in zip(found.events, found.seconds, strict=True):
        if not labels or event >= max(labels) + apart:
            labels[event] = readable(seconds, "s")
    return labels


def panel(title: str, found: Course, estimate: float | None = None, pen: Pen = Pen()) -> Drawing:
    figure, axes = pen.figure(WIDTH, HEIGHT)
    axes.set_position((0.19, 0.15, 0.78, 0.72))
    highest = max(found.peak[2], estimate or 0.0)
    scale, byte_unit = next((step for step in BYTES if highest >= step[0]), BYTES[-1])
    # The last level is held to the end of the record, which is drawn as one event more.
    times = [float(event) for event in [*found.events, found.events[-1] + 1]]
    total = [held / scale for held in [*found.total, found.total[-1]]]

    below = [0.0] * len(times)
    for site, held in found.layers.items():
        role = colour_of(site, list(found.layers))
        above = [low + one / scale for low, one in zip(below, [*held, held[-1]], strict=True)]
        axes.fill_between(times, below, above, step="post", color=pen[role], alpha=0.75, lw=0)
        below = above
    axes.plot(times, total, drawstyle="steps-post", color=pen["ink"], lw=1.0)
    at, top = found.peak[0] + 0.5, found.peak[2] / scale
    axes.plot(at, top, marker="v", ms=5.5, color=pen["bad"], mec=pen["paper"], mew=0.6, zorder=4)
    right = at > 0.6 * times[-1]
    axes.annotate(
        f"peak {readable(found.peak[2], 'B')}",
        (at, top),
        xytext=(-6 if right else 6, 5),
        textcoords="offset points",
        ha="right" if right else "left",
        color=pen["ink"],
        fontsize=FONT - 1,
    )
    if estimate is not None:
        axes.axhline(estimate / scale, color=pen["good"], lw=1.0, ls=(0, (4, 2)))
    axes.set_xlim(0, times[-1])
    axes.set_ylim(0, max(highest / scale, 1e-9) * 1.12)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, min_n_ticks=2, prune="lower"))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} {byte_unit}"))
    labels = tick_labels(found)
    axes.set_xticks(list(labels), list(labels.values()))
    axes.grid(axis="y", color=pen["rule"], lw=0.6)
    axes.set_axisbelow(True)
    return Drawing(figure, describe(title, found, estimate))


def bytes_at_peak(memory: Memory) -> list[tuple[str, float]]:
    """Sites at the peak, largest first; what no site claims comes last."""
    ranked = sorted(memory.peak_by_site.items(), key=lambda item: (-item[1], item[0]))
    rest = memory.peak_bytes - sum(memory.peak_by_site.values())
    return [*ranked, ("no site", rest)] if rest > 0 else list(ranked)
