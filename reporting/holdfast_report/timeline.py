# SPDX-License-Identifier: Apache-2.0
"""Memory over time: the live bytes of one variant's whole life as steps, stacked by the site that
allocated them, with the peak marked. Allocations come in bursts, so they are drawn one after the
other at even distances, and the axis says when each was."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from holdfast_report.drawing import FONT
from holdfast_report.profiles import Memory, MemoryPoint
from holdfast_report.sketch import Area, Line, Plane, Sketch, Words
from holdfast_report.units import BYTES, readable

WIDTH, HEIGHT = 252.0, 126.0  # points
LEFT, RIGHT, TOP, BOTTOM = 48.0, 244.0, 16.0, 107.0
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
    """Times at their events, at most TICKS and never so near that they touch; where two would read
    the same, those after the first say how much later they were."""
    apart = (found.events[-1] + 1) / TICKS
    ticks: dict[int, float] = {}
    for event, seconds in zip(found.events, found.seconds, strict=True):
        if not ticks or event >= max(ticks) + apart:
            ticks[event] = seconds
    labels = {event: readable(seconds, "s") for event, seconds in ticks.items()}
    if len(set(labels.values())) == len(labels):
        return labels
    first, *later = ticks
    since = {event: f"+{readable(ticks[event] - ticks[first], 's')}" for event in later}
    return {first: labels[first]} | since


def stairs(events: Sequence[float], held: Sequence[float]) -> list[tuple[float, float]]:
    """Each level is held until the next event."""
    ends = zip(held, pairwise(events), strict=True)
    return [(event, level) for level, pair in ends for event in pair]


def panel(title: str, found: Course, estimate: float | None = None) -> Sketch:
    highest = max(found.peak[2], estimate or 0.0)
    # The last level is held to the end of the record, which is drawn as one event more.
    events = [float(event) for event in [*found.events, found.events[-1] + 1]]
    plane = plane_of(events[-1], highest)
    sketch = Sketch(WIDTH, HEIGHT, describe(title, found, estimate))
    axis(sketch, plane, highest, tick_labels(found))

    below = [plane.at(events[0], 0.0), plane.at(events[-1], 0.0)]
    held = [0.0] * len(found.total)
    for site, layer in found.layers.items():
        held = [low + one for low, one in zip(held, layer, strict=True)]
        above = [plane.at(*one) for one in stairs(events, held)]
        sketch.add(Area([[*above, *reversed(below)]], colour_of(site, list(found.layers)), 0.75))
        below = above
    total = [plane.at(*one) for one in stairs(events, found.total)]
    sketch.add(Line([total], "ink", 1.0))
    if estimate is not None:
        sketch.add(Line([plane.level(estimate)], "good", 1.0, (4.0, 2.0)))
    mark_peak(sketch, plane, found)
    return sketch


def plane_of(last: float, highest: float) -> Plane:
    reach = max(highest, 1e-9) * 1.12
    return Plane(LEFT, RIGHT, TOP, BOTTOM, (0.0, last), (0.0, reach))


def axis(sketch: Sketch, plane: Plane, highest: float, times: dict[int, str]) -> None:
    """Round numbers of one unit of bytes upwards, the times of events along."""
    scale, unit = next((step for step in BYTES if highest >= step[0]), BYTES[-1])
    scaled = replace(plane, y_limits=(0.0, plane.y_limits[1] / scale))
    ticks = [tick for tick in scaled.ticks(3) if tick > 0]
    sketch.add(Line([scaled.level(tick) for tick in ticks], "rule", 0.6))
    for tick in ticks:
        at = LEFT - 3.5, scaled.y(tick) + 3
        sketch.add(Words(at, f"{tick:g} {unit}", "muted", FONT - 1, "end"))
    for event, said in times.items():
        sketch.add(Words((plane.x(event), BOTTOM + 10.5), said, "muted", FONT - 1, "middle"))


def mark_peak(sketch: Sketch, plane: Plane, found: Course) -> None:
    x, y = plane.at(found.peak[0] + 0.5, found.peak[2])
    sketch.add(Area([[(x - 3, y - 3), (x + 3, y - 3), (x, y + 2.5)]], "bad"))
    right = x > LEFT + 0.6 * (RIGHT - LEFT)
    said = f"peak {readable(found.peak[2], 'B')}"
    at = x - 6 if right else x + 6, y - 5
    sketch.add(Words(at, said, "ink", FONT - 1, "end" if right else "start"))


def bytes_at_peak(memory: Memory) -> list[tuple[str, float]]:
    """Sites at the peak, largest first; what no site claims comes last."""
    ranked = sorted(memory.peak_by_site.items(), key=lambda item: (-item[1], item[0]))
    rest = memory.peak_bytes - sum(memory.peak_by_site.values())
    return [*ranked, ("no site", rest)] if rest > 0 else list(ranked)
