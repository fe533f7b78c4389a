# SPDX-License-Identifier: Apache-2.0
"""The panels of a history as files of their own: which series, where they go, how far it is."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from holdfast_report.documents import Entry
from holdfast_report.drawing import PAPER, Pen, save, width_of
from holdfast_report.history import Series
from holdfast_report.panel import HEADING, ROOM, panel
from holdfast_report.sketch import figure_of
from holdfast_report.trends import band_of, worth_a_panel

EACH = 100  # plots, or
SECONDS = 3.0  # after which progress is reported


def worth_a_plot(series: Series) -> bool:
    """Whether it would have a panel on a page of the newest run."""
    return worth_a_panel(series, series.points[-1].verdict)


def stem_of(series: Series) -> Path:
    """<class>/<case>/<variant>.<metric>, in characters that are safe in file systems and shells."""
    parts = [series.device_class, *series.case.split("/"), f"{series.variant}.{series.metric}"]
    safe = [
        re.sub(r"[^A-Za-z0-9_.=-]", "_", part.replace(":", "=")).lstrip(".") or "_"
        for part in parts
    ]
    return Path(*safe)


def lines_of(case: str) -> list[str]:
    """The case in lines that have room above a plot, broken after its slashes."""
    lines = [""]
    for part in re.split("(?<=/)", case):
        if lines[-1] and width_of(lines[-1] + part, HEADING) > ROOM:
            lines.append("")
        lines[-1] += part
    return lines


class Progress:
    """Reports how many of all are done, at intervals and not at the end."""

    def __init__(
        self,
        count: int,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.count, self.say, self.clock = count, say, clock
        self.told = clock()

    def done(self, number: int) -> None:
        now = self.clock()
        if number < self.count and (number % EACH == 0 or now - self.told >= SECONDS):
            self.told = now
            self.say(f"{number:,} of {self.count:,} series drawn")


def draw_all(
    series: Sequence[Series],
    entries: Mapping[tuple[str, str], Entry],
    out: Path,
    say: Callable[[str], None],
) -> list[Path]:
    """One SVG and one PNG for each series, on white."""
    paths = []
    progress = Progress(len(series), say)
    for number, one in enumerate(series, start=1):
        entry = entries.get((one.device_class, f"{one.case}|{one.variant}|{one.metric}"))
        verdict = one.points[-1].verdict
        heading = *lines_of(one.case), f"{one.metric}, {one.variant}, {one.device_class}"
        drawn = panel(one, band_of(None, entry), verdict, heading=heading)
        paths += save(figure_of(drawn, Pen(PAPER)), out / stem_of(one))
        progress.done(number)
    return paths
