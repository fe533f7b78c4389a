# SPDX-License-Identifier: Apache-2.0
"""A figure of one suite on one device class with its numbers beside it, for each section of the
page."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from holdfast_report import (
    compiles,
    components,
    curves,
    roofline,
    sweeps,
    tables,
    timeline,
)
from holdfast_report.bars import Bar, bar_chart, stack_chart
from holdfast_report.cells import Table
from holdfast_report.documents import Case
from holdfast_report.drawing import inline
from holdfast_report.profiles import Profile
from holdfast_report.root import Part, Root
from holdfast_report.sketch import svg
from holdfast_report.units import plural, readable, share


@dataclass(frozen=True)
class Exhibit:
    title: str
    figure: Markup | None
    table: Table | None = None
    ceilings: Table | None = None
    note: str = ""


@dataclass(frozen=True)
class Timeline:
    """The memory of one case and variant over time, with its sites as a key to the colours."""

    case: str
    about: str
    peak: str
    figure: Markup
    sites: list[tuple[str, str, str]]  # colour, site, bytes at the peak


def of_parts(
    root: Root,
    draw: Callable[[Part], Markup | None],
    table: Callable[[Part], Table | None] = lambda part: None,
) -> list[Exhibit]:
    found = []
    for part in root.parts:
        figure, numbers = draw(part), table(part)
        if figure is not None or (numbers is not None and numbers.rows):
            found.append(Exhibit(part.title, figure, numbers if numbers and numbers.rows else None))
    return found


def bars_or_none(bars: Sequence[Bar], alt: str, unit_line: float | None = None) -> Markup | None:
    if not bars:
        return None
    said = "; ".join(f"{bar.name}: {bar.text}" for bar in bars)
    return svg(bar_chart(bars, f"{alt}: {said}", unit_line))


def shares_of_parts(
    root: Root,
    said: str,
    shares: Callable[[Part], Sequence[Bar]],
    table: Callable[[Part], Table | None] = lambda part: None,
) -> list[Exhibit]:
    """Bars beside the line of the whole."""
    return of_parts(
        root, lambda part: bars_or_none(shares(part), f"{said}, {part.title}", unit_line=1.0), table
    )


def stages_or_none(part: Part) -> Markup | None:
    stacks = tables.stages(part)
    if not stacks:
        return None
    said = "; ".join(f"{stack.name}: {stack.text}" for stack in stacks)
    return svg(
        stack_chart(stacks, list(tables.STAGES), f"Compile stages on {part.device_class}: {said}")
    )


def by_title(root: Root) -> dict[str, list[Profile]]:
    """Profiles by suite and device class, with or without results beside them."""
    groups: dict[str, list[Profile]] = {}
    for stored in root.profiles:
        profile = stored.profile
        groups.setdefault(f"{profile.suite} on {profile.device_class}", []).append(profile)
    return groups


def programs(root: Root) -> list[Exhibit]:
    found = []
    for title, profiles in by_title(root).items():
        compilations = compiles.compilations(profiles)
        stacks = compiles.stacks(compilations)
        if stacks:
            said = "; ".join(f"{stack.name}, {stack.note}: {stack.text}" for stack in stacks)
            alt = f"Compilations by program, {title}: {said}"
            figure = svg(stack_chart(stacks, compiles.STAGES, alt))
            found.append(Exhibit(title, figure, compiles.table(compilations)))
    return found


def rankings(root: Root) -> list[Exhibit]:
    """Timed rankings before counted ones, and optimized before reference."""
    found = [
        (title, ranking)
        for title, profiles in by_title(root).items()
        for ranking in components.rankings(profiles)
    ]
    found.sort(key=lambda item: (item[1].basis == components.UNTIMED, item[1].variant))
    return [
        Exhibit(
            title=f"{ranking.family}, {ranking.variant}",
            figure=bars_or_none(
                ranking.bars,
                f"Shares of {ranking.basis}, {ranking.family}, {ranking.variant}, {title}",
                unit_line=1.0,
            ),
            note=f"{title}: shares of {ranking.basis}, {plural(ranking.cases, 'case')}",
        )
        for title, ranking in found
    ]


def rooflines(root: Root) -> list[Exhibit]:
    profiles = {stored.profile.key: stored.profile for stored in root.profiles}
    found = []
    for part in root.parts:
        spots = roofline.spots(part, profiles)
        drawn = [spot for spot in spots if spot.number]
        if drawn and (roofline.bandwidths(part) or roofline.peaks(part)):
            figure = inline(roofline.chart(part, drawn))
            numbers = roofline.table(spots)
            found.append(Exhibit(part.title, figure, numbers, tables.ceilings(part)))
    return found


@dataclass(frozen=True)
class Sweep:
    """A metric of the cases that differ in one axis alone."""

    rest: str
    about: str
    figure: Markup


def sweeps_of(root: Root) -> list[Sweep]:
    """Curves over many points first."""
    found = [(part, curve) for part in root.parts for curve in sweeps.curves(part)]
    found.sort(key=lambda item: -max(len(points) for points in item[1].points.values()))
    return [
        Sweep(
            rest=curve.rest,
            about=f"{curve.metric} along {curve.axis}, {part.title}",
            figure=inline(curves.panel(f"{part.title}, {curve.rest}", curve)),
        )
        for part, curve in found
    ]


def choices(root: Root) -> list[Exhibit]:
    return [
        Exhibit(f"{axis}", None, table, note=part.title)
        for part in root.parts
        for axis, table in sweeps.choices(part)
    ]


def estimate_of(case: Case | None, variant: str) -> float | None:
    """The peak that the case itself predicted, under either name."""
    if case is None:
        return None
    for name in ("estimate_bytes", tables.FORMULA):
        said = case.number(variant, name)
        if said is not None:
            return said
    ratio, peak = case.number(variant, "estimate_ratio"), case.number(variant, "peak_bytes")
    return peak / ratio if ratio and peak is not None else None


def timelines(root: Root) -> list[Timeline]:
    """Optimized variants before reference ones."""
    cases = {
        (part.device_class, case.id): case for part in root.parts for case in part.results.cases
    }
    profiles = [stored.profile for stored in root.profiles]
    drawn = [
        timeline_of(profile, cases.get((profile.device_class, profile.case)))
        for profile in sorted(profiles, key=lambda profile: profile.variant)
    ]
    return [found for found in drawn if found]


def timeline_of(profile: Profile, case: Case | None) -> Timeline | None:
    course = timeline.course(profile.memory)
    if course is None:
        return None
    estimate = estimate_of(case, profile.variant)
    about = f"{profile.variant}, {profile.device_class}"
    if estimate is not None:
        about += f", estimate {readable(estimate, 'B')}"
    whole = profile.memory.device_total_bytes
    if whole:
        about += f", {share(profile.memory.peak_bytes / whole)} of {readable(whole, 'B')}"
    title = f"{profile.case}, {profile.variant}, on {profile.device_class}"
    return Timeline(
        case=profile.case,
        about=about,
        peak=readable(profile.memory.peak_bytes, "B"),
        figure=svg(timeline.panel(title, course, estimate)),
        sites=sites_of(profile, list(course.layers)),
    )


def sites_of(profile: Profile, layers: list[str]) -> list[tuple[str, str, str]]:
    """Sites with a layer of the figure have its colour, the others none."""
    return [
        (timeline.colour_of(site, layers), site, readable(held, "B"))
        for site, held in timeline.bytes_at_peak(profile.memory)
    ]
