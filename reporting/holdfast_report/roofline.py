# SPDX-License-Identifier: Apache-2.0
"""Cases against the ceilings that their run calibrated: work per byte to the right, work per second
upwards, both logarithmic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import atan2, cos, degrees, hypot, log10, sin
from typing import Any

from matplotlib.axes import Axes
from matplotlib.path import Path

from holdfast_report.cells import DASH, Share, Table
from holdfast_report.documents import Case
from holdfast_report.drawing import FONT, Drawing, Pen, width_of
from holdfast_report.profiles import Profile
from holdfast_report.root import Part
from holdfast_report.tables import VARIANTS, name_in
from holdfast_report.units import digits, readable, share

WIDTH, HEIGHT = 4.6, 3.8  # inches
MOST_LABELS = 16  # with those of the reference among them
SMALL = FONT - 1.5  # of a label's letters
HIGH = 8.0  # points that a label needs upwards
CLEAR = 1.0  # points between a line and its label
STRIDE = 6.0  # points from one place of a label along its line to the next
MUCH = 30.0  # points by which a label rather moves along its line than below it
LEAST, MOST = 1e-100, 1e100  # that the axes span: theirs are powers of ten, which are numbers as well
Offsets = Sequence[tuple[float, float]]  # in points
BESIDE: Offsets = (
    (5, -4), (-5, -4), (4, 3), (4, -11), (-4, 3), (-4, -11), (4, 6), (-4, 6), (4, -14), (-4, -14)
)
MARKERS = {"f64": "o", "f32": "s", "bf16": "^", "mixed": "D"}
# Transfers over the bus are no roof for the device's own memory, and the copy verb is none for its
# kernels.
NO_ROOF = ("h2d", "d2h", "pinned", "pcie", "memory_copy")


@dataclass(frozen=True)
class Spot:
    """One case and variant: flop and bytes are those that the work needs at least."""

    number: int  # that labels it; 0 for what has no place on logarithmic axes, as a mere copy
    name: str
    variant: str
    precision: str
    flops: float  # per second
    bytes: float  # per second
    fraction: float | None  # of the least time that the work can take

    @property
    def intensity(self) -> float:
        return self.flops / self.bytes


def rates(case: Case, variant: str, profile: Profile | None) -> tuple[float, float]:
    """flop/s and B/s as measured, else from the profiled steps; zero where unknown."""
    flops, moved = (case.number(variant, name) for name in ("flop_per_s", "bytes_per_s"))
    if flops is not None or moved is not None:
        return flops or 0.0, moved or 0.0
    if profile is None or profile.work is None or not profile.overview.mean_step_s:
        return 0.0, 0.0
    seconds = profile.overview.mean_step_s
    return profile.work.flops / seconds, profile.work.bytes / seconds


def spots(part: Part, profiles: Mapping[tuple[str, str, str], Profile]) -> list[Spot]:
    found: list[Spot] = []
    number = 0
    for case in part.measured:
        for variant in VARIANTS:
            profile = profiles.get((part.device_class, case.id, variant))
            flops, moved = rates(case, variant, profile)
            fraction = case.number(variant, "floor_fraction")
            if fraction is None and not moved:
                continue
            drawn = LEAST < flops < MOST and LEAST < moved < MOST
            number += drawn
            found.append(
                Spot(
                    number=number if drawn else 0,
                    name=name_in(part, case.id),
                    variant=variant,
                    precision=case.id.rpartition("/")[2],
                    flops=flops,
                    bytes=moved,
                    fraction=fraction,
                )
            )
    return found


def roofs(part: Part, ending: str) -> dict[str, float]:
    """Ceilings by their short name, highest first."""
    found = {
        name.removesuffix(ending).replace("_", " "): value
        for name, value in part.results.ceilings.items()
        if name.endswith(ending) and value and LEAST < value < MOST and not name.startswith(NO_ROOF)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def bandwidths(part: Part) -> dict[str, float]:
    return roofs(part, "_bytes_per_s")


def peaks(part: Part) -> dict[str, float]:
    return roofs(part, "_flop_per_s")


@dataclass
class Taken:
    """What a label must not touch, as outlines on the figure, in its dots."""

    axes: Axes
    texts: list[Path] = field(default_factory=list)  # and marks
    lines: list[Path] = field(default_factory=list)

    @property
    def scale(self) -> float:
        """Dots in a point."""
        return self.axes.figure.dpi / 72

    def line(self, points: Sequence[tuple[float, float]]) -> None:
        self.lines.append(Path(self.axes.transData.transform(points)))

    def mark(self, at: tuple[float, float]) -> None:
        (x, y), half = self.axes.transData.transform(at), 3 * self.scale
        self.texts.append(outline((x - half, y - half), 2 * half, 2 * half))

    def free(self, place: Path) -> bool:
        reach, frame = place.get_extents(), self.axes.bbox
        inside = frame.x0 <= reach.x0 and reach.x1 <= frame.x1 and frame.y0 <= reach.y0
        known = [*self.texts, *self.lines]
        return inside and not any(place.intersects_path(other) for other in known)


def outline(corner: tuple[float, float], wide: float, high: float, angle: float = 0.0) -> Path:
    """A rectangle from its lower left corner, turned about it."""
    (x, y), along, up = corner, (cos(angle), sin(angle)), (-sin(angle), cos(angle))
    corners = [
        (x + far * along[0] + above * up[0], y + far * along[1] + above * up[1])
        for far, above in ((0.0, 0.0), (wide, 0.0), (wide, high), (0.0, high))
    ]
    return Path([*corners, corners[0]])


def put_text(
    taken: Taken, at: tuple[float, float], text: str, offsets: Offsets, **style: Any
) -> None:
    """Beside a point, at the first of the offsets (in points) where it touches no other text, mark
    or line. Where there is no room it is left out: the table has all of them."""
    scale = taken.scale
    x, y = taken.axes.transData.transform(at)
    wide, high = width_of(text, SMALL) * scale, HIGH * scale
    for dx, dy in offsets:
        left = x + dx * scale - (wide if dx < 0 else 0)
        place = outline((left, y + dy * scale), wide, high)
        if taken.free(place):
            taken.texts.append(place)
            side = "right" if dx < 0 else "left"
            taken.axes.annotate(
                text, at, (dx, dy), textcoords="offset points", ha=side, va="bottom", **style
            )
            return


def label_spots(pen: Pen, found: Sequence[Spot], taken: Taken) -> None:
    """Labels spots with their number and fraction of the floor; if there are many, only
    optimized variants."""
    style = {"color": pen["ink"], "fontsize": SMALL}
    for spot in found:
        if len(found) > MOST_LABELS and spot.variant != "optimized":
            continue
        text = str(spot.number)
        if spot.fraction is not None:
            text += f": {100 * spot.fraction:.2g} %"
        put_text(taken, (spot.intensity, spot.flops), text, BESIDE, **style)


def height(flops: float) -> str:
    """A label for an axis that states the unit."""
    return readable(flops, "1/s").removesuffix("/s")


@dataclass(frozen=True)
class Roof:
    """A line under which the work lies; its label begins at the first of its ends."""

    said: str
    ends: list[tuple[float, float]]


def roofs_of(axes: Axes, slopes: Mapping[str, float], flats: Mapping[str, float]) -> list[Roof]:
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    top = max(flats.values(), default=high)
    steepest = max(slopes.values(), default=0.0)
    found = []
    for name, flop in flats.items():
        begin = max(flop / steepest if steepest else left, left)
        found.append(Roof(f"{name} {height(flop)}", [(right, flop), (begin, flop)]))
    for name, moved in slopes.items():
        begin = max(left, low / moved)
        ends = [(begin, begin * moved), (top / moved, top)]
        found.append(Roof(f"{name} {readable(moved, 'B/s')}", ends))
    return found


def places_along(length: float, wide: float) -> list[tuple[float, float]]:
    """Where a label may lie along a line, in points: how far from its first end and how far above
    it. Near comes before far, and above before below as long as it is not much farther."""
    steps = int((length - wide - CLEAR) // STRIDE) + 1
    found = [
        (far + below * MUCH, far, -CLEAR - HIGH if below else CLEAR)
        for far in (CLEAR + STRIDE * step for step in range(steps))
        for below in (False, True)
    ]
    return [(far, above) for _, far, above in sorted(found)]


def label_roof(taken: Taken, roof: Roof, **style: Any) -> None:
    """As near to the line's first end as there is room between the other lines, marks and labels;
    where there is none it is left out: the table has all of them."""
    scale, wide = taken.scale, width_of(roof.said, SMALL)
    here, there = taken.axes.transData.transform(roof.ends)
    left, right = sorted((here, there), key=lambda place: place[0])  # a text reads from the left
    angle = atan2(right[1] - left[1], right[0] - left[0])
    length = hypot(*(there - here)) / scale
    for far, above in places_along(length, wide):
        along = far if here[0] <= there[0] else length - far - wide
        corner = (
            left[0] + scale * (along * cos(angle) - above * sin(angle)),
            left[1] + scale * (along * sin(angle) + above * cos(angle)),
        )
        place = outline(corner, wide * scale, HIGH * scale, angle)
        if taken.free(place):
            taken.texts.append(place)
            x, y = taken.axes.figure.transFigure.inverted().transform(corner)
            taken.axes.annotate(
                roof.said,
                (x, y),
                xycoords="figure fraction",
                rotation=degrees(angle),
                rotation_mode="anchor",
                ha="left",
                va="bottom",
                **style,
            )
            return


def decades(low: float, high: float) -> tuple[float, float]:
    """At least one and a half decades, so that near values do not look far apart."""
    missing = max(0.0, 1.5 - log10(high / low)) / 2
    return low / 10**missing, high * 10**missing


def chart(part: Part, found: Sequence[Spot], pen: Pen = Pen()) -> Drawing:
    """A roofline with the spots that have a number."""
    slopes, flats = bandwidths(part), peaks(part)
    figure, axes = pen.figure(WIDTH, HEIGHT)
    axes.set_position((0.15, 0.125, 0.82, 0.845))
    axes.set_xscale("log")
    axes.set_yscale("log")
    ridges = [flop / moved for flop in flats.values() for moved in slopes.values()]
    intensities = [spot.intensity for spot in found]
    axes.set_xlim(*decades(min([*intensities, *ridges]) / 6, max([*intensities, *ridges]) * 4))
    axes.set_ylim(
        *decades(
            min(spot.flops for spot in found) / 3,
            max([*flats.values(), *(spot.flops for spot in found)]) * 2,
        )
    )
    axes.minorticks_off()
    axes.grid(color=pen["rule"], lw=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.yaxis.set_major_formatter(lambda value, _: height(value))
    axes.set_xlabel("flop per byte of the work", color=pen["muted"], fontsize=FONT - 1)
    axes.set_ylabel("flop/s", color=pen["muted"], fontsize=FONT - 1, labelpad=1)
    taken = Taken(axes)
    roofs_here = roofs_of(axes, slopes, flats)
    for roof in roofs_here:
        axes.plot(*zip(*roof.ends, strict=True), color=pen["ink"], lw=1.0)
        taken.line(roof.ends)
    for spot in found:
        taken.mark((spot.intensity, spot.flops))
        filled = spot.variant == "optimized"
        axes.plot(
            spot.intensity,
            spot.flops,
            marker=MARKERS.get(spot.precision, "o"),
            ls="",
            ms=6,
            mfc=pen["optimized"] if filled else pen["paper"],
            mec=pen["paper"] if filled else pen["ink"],
            mew=0.7 if filled else 1.0,
            zorder=3,
        )
    for roof in roofs_here:
        label_roof(taken, roof, color=pen["muted"], fontsize=SMALL)
    label_spots(pen, found, taken)
    said = "; ".join(
        f"{spot.name} {spot.variant} {readable(spot.flops, 'flop/s')}"
        + (f", {share(spot.fraction)} of the floor" if spot.fraction is not None else "")
        for spot in found
    )
    return Drawing(figure, f"Roofline of {part.title}: {said}")


def table(found: Sequence[Spot]) -> Table:
    rows = [
        (
            str(spot.number or DASH),
            spot.name,
            spot.variant,
            Share(spot.fraction, share(spot.fraction)) if spot.fraction is not None else DASH,
            readable(spot.flops, "flop/s"),
            readable(spot.bytes, "B/s"),
            digits(spot.intensity) if spot.number else DASH,
        )
        for spot in found
    ]
    head = ("no.", "case", "variant", "floor over time", "flop/s", "B/s", "flop per byte")
    return Table(head, rows, text_columns=3)
