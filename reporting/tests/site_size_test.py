# SPDX-License-Identifier: Apache-2.0
"""2,496 series over 500 commits. Time is that of the processors, so that a busy machine says the same:
60 s of two processors are 120. HOLDFAST names the command that finds the changes, whose time counts."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from planted_history import history, write
from site_place import SitePlace, trend_of

pytestmark = pytest.mark.big

COMMITS, CASES = 500, 96  # 13 series for each of 2 x 96 cases


def spent(work: Callable[[], None]) -> float:
    before = os.times()
    work()
    after = os.times()
    return sum(after[:4]) - sum(before[:4])


def test_a_large_history_is_drawn_in_time_and_a_run_more_in_less(tmp_path: Path) -> None:
    place = SitePlace(tmp_path, commits=COMMITS, cases=CASES)
    if command := os.environ.get("HOLDFAST"):
        place.holdfast = Path(command)
    assert len(trend_of(place.runs, place.planted)["series"]) == 13 * 2 * CASES
    write(place.store, [run for run in place.runs if run.number < COMMITS])
    whole = spent(place.draw)
    sizes = {name: (place.site / name).stat().st_size for name in place.pages()}
    write(place.store, list(history(COMMITS, CASES)))
    added = spent(place.draw)
    print(f"whole {whole:.1f} s, a run more {added:.1f} s of processors; "
          f"index {sizes['index.html']} B, "
          f"largest case {max(size for name, size in sizes.items() if name.startswith('case/'))} B")
    assert whole < 120
    assert added < 10
    assert sizes["index.html"] < 300_000
    assert max(size for name, size in sizes.items() if name.startswith("case/")) < 200_000
