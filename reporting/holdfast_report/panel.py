# SPDX-License-Identifier: Apache-2.0
"""A series over commits as a small panel: points, the accepted band, the level of each segment and
where it changes."""

from collections.abc import Sequence

from holdfast_report.drawing import FONT, fitting
from holdfast_report.history import ChangePoint, Series
from holdfast_report.sketch import (
    Area,
    Dots,
    Line,
    Plane,
    Point,
    Sketch,
    Words,
    box,
)
from holdfast_report.trends import (
    ALARMS,
    Band,
    describe,
    reach_of,
    short_commit,
    unit,
)
from holdfast_report.units import change_of, drawable, labels_of

WIDTH, HEIGHT = 252.0, 112.0  # points
LEFT, RIGHT, TOP, BOTTOM = 50.0, 244.0, 12.0, 97.0
LINE = 14.0  # of the heading of a panel that stands alone
ROOM = WIDTH - 16  # for such a line; the letters of a PNG may be wider by a fortieth
HEADING = FONT - 1.5  # their size
MANY = 100  # points, from which on each is drawn smaller, and without its spread
LETTER = 0.0275  # of a panel's width, for each of the name of a commit


def cross(x: float, y: float) -> list[list[Point]]:
    return [[(x - 2.5, y - 2.5), (x + 2.5, y + 2.5)], [(x - 2.5, y + 2.5), (x + 2.5, y - 2.5)]]


def arrow(x: float, y: float, above: bool) -> list[Point]:
    """Its tip lies on the edge that a value is beyond."""
    tail = y + 5 if above else y - 5
    return [(x, y), (x - 3, tail), (x + 3, tail)]


def scatter(sketch: Sketch, plane: Plane, series: Series) -> None:
    """All plain points are one path, however many there are."""
    points = [(index, point, plane.at(index, point.value)) for index, point in enumerate(series.points)]
    low, high = plane.y_limits
    many = len(points) > MANY  # whose spreads would touch
    spread = [
        [
            plane.at(index, max(low, point.value - point.mad)),
            plane.at(index, min(high, point.value + point.mad)),
        ]
        for index, point, _ in points
        if point.mad and not many
    ]
    if spread:
        sketch.add(Line(spread, "rule", 1.2))
    beyond = [one for one in points if not low <= drawable(one[1].value) <= high]
    if beyond:
        arrows = [arrow(*at, point.value > high) for _, point, at in beyond]
        sketch.add(Area(arrows, "optimized"))
        points = [one for one in points if one not in beyond]
    alarms = [at for _, point, at in points if point.verdict in ALARMS]
    outliers = [at for _, point, at in points if point.outlier and point.verdict not in ALARMS]
    plain = [at for _, point, at in points if not point.outlier and point.verdict not in ALARMS]
    if plain:
        sketch.add(Dots(plain, "optimized", 2.2 if many else 3.4))
    if outliers:
        sketch.add(Dots(outliers, "optimized", 4.0), Dots(outliers, "paper", 2.4))
    for at in alarms:
        sketch.add(Line(cross(*at), "bad", 1.8))


def name_changes(
    sketch: Sketch,
    plane: Plane,
    ends: tuple[str, str],
    marked: Sequence[tuple[int, ChangePoint]],
    count: int,
    link: str | None,
) -> None:
    """Writes above each change its size, and below the axis its commit; if names would touch,
    the larger change keeps them. The first and last commit also stand below."""
    taken: list[tuple[float, float]] = []  # middle and reach of each name, of the panel's width
    below = plane.bottom + 9.5
    for at, change in sorted(marked, key=lambda one: -abs(one[1].change)):
        name = short_commit(change.commit)
        reach = len(name) * LETTER
        edge = reach / 2 - 0.03
        place = min(max((at + 0.1) / (count + 0.2), edge), 1 - edge)
        if any(abs(place - other) < (reach + wide) / 2 for other, wide in taken):
            continue
        taken.append((place, reach))
        x = LEFT + place * (RIGHT - LEFT)
        above = x, plane.top - 2.5
        sketch.add(Words(above, change_of(change.before, change.change), "ink", FONT - 1, "middle"))
        address = link + change.commit if link and not change.commit.startswith("sha256:") else None
        role = "optimized" if address else "ink"
        sketch.add(Words((x, below), name, role, FONT - 1.5, "middle", address))
    for place, text, side in ((0.0, ends[0], "start"), (1.0, ends[1], "end")):
        reach = len(text) * LETTER
        crowded = any(abs(place - other) < reach + 0.45 * wide for other, wide in taken)
        if not crowded and (side == "start" or count > 1):
            x = LEFT + place * (RIGHT - LEFT)
            sketch.add(Words((x, below), text, "muted", FONT - 1.5, side))


def limits_of(
    values: Sequence[float], band: Band | None, counts: bool, kept: Sequence[float]
) -> tuple[float, float]:
    """A varying series gets room for a change of a tenth, so that noise does not look like news;
    a count that changed by one is news. No value of `kept` is left out."""
    shown = [*reach_of(values, kept), *(band.ends if band else ())]
    low, high = drawable(min(shown)), drawable(max(shown))
    slack = 0.18 * max(high - low, 0.0 if counts and high > low else 0.1 * abs(high), 1e-12)
    return low - slack, high + slack


def panel(
    series: Series,
    band: Band | None = None,
    verdict: str | None = None,
    now: float | None = None,
    heading: Sequence[str] = (),
    link: str | None = None,
) -> Sketch:
    """`now` is the judged value, if the history does not have it yet; `link` and a commit's name
    make the address of its page; `heading` are lines above a panel that stands alone."""
    above = LINE * len(heading)
    values = [point.value for point in series.points] + ([] if now is None else [now])
    counts = unit(series) != "s" and all(value == int(value) for value in values)
    alarms = [point.value for point in series.points if point.verdict in ALARMS]
    kept = [values[-1], *alarms, *(segment.median for segment in series.segments)]
    limits = limits_of(values, band, counts, kept)
    reach = -0.6, max(len(values) - 1, 1) + 0.6
    plane = Plane(LEFT, RIGHT, above + TOP, above + BOTTOM, reach, limits)
    sketch = Sketch(WIDTH, above + HEIGHT, describe(series, verdict))
    for number, line in enumerate(heading):
        size = fitting([line], ROOM, HEADING)
        sketch.add(Words((5, (number + 1) * LINE), line, "ink", size))

    ticks = plane.ticks(3, counts)
    sketch.add(Line([plane.level(tick) for tick in ticks], "rule", 0.6))
    labels = labels_of(ticks, unit(series))
    size = fitting(labels, LEFT - 6, FONT - 1)
    for tick, said in zip(ticks, labels, strict=True):
        sketch.add(Words((LEFT - 3.5, plane.y(tick) + 3), said, "muted", size, "end"))
    if band:
        if band.tolerance > 0:
            corners = box(LEFT, plane.y(band.high), RIGHT, plane.y(band.low))
            sketch.add(Area([corners], "good", 0.14))
        sketch.add(Line([plane.level(band.baseline)], "good", 0.9, (4.0, 2.0)))
    marked = changes_and_levels(sketch, plane, series)
    if now is not None:
        x, y = plane.at(len(series.points), now)
        diamond = [(x - 3.5, y), (x, y - 3.5), (x + 3.5, y), (x, y + 3.5)]
        alarm = verdict in ALARMS
        sketch.add(Line(cross(x, y), "bad", 1.8) if alarm else Area([diamond], "ink"))
    newest = "now" if now is not None else short_commit(series.points[-1].commit)
    ends = short_commit(series.points[0].commit), newest
    name_changes(sketch, plane, ends, marked, len(values), link)
    return sketch


def changes_and_levels(
    sketch: Sketch, plane: Plane, series: Series
) -> list[tuple[int, ChangePoint]]:
    """Draws changes, points and levels; returns where each change stands."""
    places = {point.order: index for index, point in enumerate(series.points)}
    marked = [(places[one.order], one) for one in series.change_points if one.order in places]
    upright = [[(plane.x(at - 0.5), plane.top), (plane.x(at - 0.5), plane.bottom)] for at, _ in marked]
    if upright:
        sketch.add(Line(upright, "ink", 0.9, (1.0, 1.5)))
    scatter(sketch, plane, series)
    last = len(series.points) - 1
    levels = [
        [
            plane.at(places.get(segment.first, 0), segment.median),
            plane.at(places.get(segment.last, last), segment.median),
        ]
        for segment in series.segments
    ]
    if levels:
        sketch.add(Line(levels, "ink", 1.1))
    return marked
