# SPDX-License-Identifier: Apache-2.0
"""Cases against the ceilings that their run calibrated: work per byte to the right, work per second
upwards, both logarithmic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import atan2, cos, degrees, log10, radians, sin
from typing import Any

from matplotlib.axes import Axes
from matplotlib.transforms import Bbox

from holdfast_report.cells import DASH, Share, Table
from holdfast_report.documents import Case
from holdfast_report.drawing import FONT, Drawing, Pen
from holdfast_report.profiles import Profile
from holdfast_report.root import Part
from holdfast_report.tables import VARIANTS, name_in
from holdfast_report.units import digits, readable, share

WIDTH, HEIGHT = 4.6, 3.8  # inches
MOST_LABELS = 16  # with those of the reference among them
LETTER = 4.4  # points that a letter is wide, about
Offsets = Sequence[tuple[float, float]]  # in points
BESIDE: Offsets = ((5, -4), (-5, -4), (4, 3), (4, -11), (-4, 3), (-4, -11))
MARKERS = {"f64": "o", "f32": "s", "bf16": "^", "mixed": "D"}
# What crosses the bus is no roof of the device's own memory, and its copy verb is no roof of its kernels.
NO_ROOF = ("h2d", "d2h", "pinned", "pcie", "memory_copy")


@dataclass(frozen=True)
class Spot:
    """One case and variant: flop and bytes are those that the work needs at least."""

    number: int  # that labels it; 0 for a mere copy, which has no place on logarithmic axes
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
            drawn = flops > 0 and moved > 0
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
        if name.endswith(ending) and value and not name.startswith(NO_ROOF)
    }
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def bandwidths(part: Part) -> dict[str, float]:
    return roofs(part, "_bytes_per_s")


def peaks(part: Part) -> dict[str, float]:
    return roofs(part, "_flop_per_s")


Places = list[Bbox]  # on the figure, in its dots, that hold a text already


def put_text(
    axes: Axes, taken: Places, at: tuple[float, float], text: str, offsets: Offsets, **style: Any
) -> None:
    """Beside a point, at the first of the offsets (in points) where it hides no other text. Where
    there is no room it is left out: the table has all of them."""
    scale = axes.figure.dpi / 72
    x, y = axes.transData.transform(at)
    wide, high = len(text) * LETTER * scale, 8.5 * scale
    for dx, dy in offsets:
        left = x + dx * scale - (wide if dx < 0 else 0)
        box = Bbox.from_bounds(left, y + dy * scale, wide, high)
        inside = axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 and axes.bbox.y0 <= box.y0
        if inside and not any(box.overlaps(other) for other in taken):
            taken.append(box)
            side = "right" if dx < 0 else "left"
            axes.annotate(
                text, at, (dx, dy), textcoords="offset points", ha=side, va="bottom", **style
            )
            return


def label_spots(axes: Axes, pen: Pen, found: Sequence[Spot], taken: Places) -> None:
    """Its number and the fraction of the floor; of many, those of the optimized variants."""
    scale = axes.figure.dpi / 72
    for spot in found:
        x, y = axes.transData.transform((spot.intensity, spot.flops))
        taken.append(Bbox.from_extents(x - 3 * scale, y - 3 * scale, x + 3 * scale, y + 3 * scale))
    style = {"color": pen["ink"], "fontsize": FONT - 1.5}
    for spot in found:
        if len(found) > MOST_LABELS and spot.variant != "optimized":
            continue
        text = str(spot.number)
        if spot.fraction is not None:
            text += f": {100 * spot.fraction:.2g} %"
        put_text(axes, taken, (spot.intensity, spot.flops), text, BESIDE, **style)


def draw_roofs(
    axes: Axes, pen: Pen, slopes: Mapping[str, float], flats: Mapping[str, float]
) -> Places:
    """Their labels' places are what it gives back."""
    taken: Places = []
    left, right = axes.get_xlim()
    low, high = axes.get_ylim()
    style = {"color": pen["muted"], "fontsize": FONT - 1.5}
    top = max(flats.values(), default=high)
    steepest = max(slopes.values(), default=0.0)
    for name, flop in flats.items():
        begin = flop / steepest if steepest else left
        axes.plot([max(begin, left), right], [flop, flop], color=pen["ink"], lw=1.0)
        text = f"{name} {readable(flop, 'flop/s')}"
        put_text(axes, taken, (right, flop), text, ((-1, 1), (-1, -9), (-110, 1)), **style)
    for name, moved in slopes.items():
        begin, end = max(left, low / moved), top / moved
        axes.plot([begin, end], [begin * moved, end * moved], color=pen["ink"], lw=1.0)
        taken += label_slope(axes, begin, moved, f"{name} {readable(moved, 'B/s')}", style)
    return taken


def label_slope(axes: Axes, begin: float, moved: float, text: str, style: dict[str, Any]) -> Places:
    """Along a bandwidth's line, above its lower end; a box for each of its letters."""
    here, there = axes.transData.transform([(begin, begin * moved), (2 * begin, 2 * begin * moved)])
    angle = atan2(there[1] - here[1], there[0] - here[0])
    side = angle + radians(20)
    axes.annotate(
        text,
        (begin, begin * moved),
        (7 * cos(side), 7 * sin(side)),
        textcoords="offset points",
        rotation=degrees(angle),
        rotation_mode="anchor",
        ha="left",
        va="bottom",
        **style,
    )
    scale = axes.figure.dpi / 72
    along = [(8 + LETTER * letter) * scale for letter in range(len(text))]
    return [
        Bbox.from_bounds(
            here[0] + far * cos(angle) - 2 * scale, here[1] + far * sin(angle), 4 * scale, 9 * scale
        )
        for far in along
    ]


def decades(low: float, high: float) -> tuple[float, float]:
    """At least one and a half decades, so that near values do not look far apart."""
    missing = max(0.0, 1.5 - log10(high / low)) / 2
    return low / 10**missing, high * 10**missing


def chart(part: Part, found: Sequence[Spot], pen: Pen = Pen()) -> Drawing:
    """Of spots with a number."""
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
    axes.yaxis.set_major_formatter(lambda value, _: readable(value, "1/s").removesuffix("/s"))
    axes.set_xlabel("flop per byte of the work", color=pen["muted"], fontsize=FONT - 1)
    axes.set_ylabel("flop/s", color=pen["muted"], fontsize=FONT - 1, labelpad=1)
    taken = draw_roofs(axes, pen, slopes, flats)
    for spot in found:
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
    label_spots(axes, pen, found, taken)
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
