# SPDX-License-Identifier: Apache-2.0
"""Each line that slowdowns.py replaces is in its file exactly once, and its tables show what it measured."""

import subprocess
import sys
import time
from pathlib import Path

import measured_tables
import pytest
import slowdowns
from measured_tables import Journal, provenance
from slowdowns import Comparison

KERNELS = Path(__file__).resolve().parents[1] / "kernels"


@pytest.mark.parametrize("plant", slowdowns.PLANTS, ids=lambda plant: plant.what.replace(" ", "_"))
def test_the_line_of_a_plant_stands_once(plant: slowdowns.Plant) -> None:
    assert (KERNELS / plant.suite / plant.file).read_text("utf-8").count(plant.line) == 1
    assert plant.line != plant.worse


def test_at_least_twelve_are_planted_and_no_two_of_one_name() -> None:
    names = [plant.what for plant in slowdowns.PLANTS]
    assert len(set(names)) == len(names) >= 12


def test_an_interval_is_read_as_the_gate_prints_it() -> None:
    said = "+24.6 % (+20.2 % .. +28.7 %), 14 units in 13.3 s by CPU time"
    assert slowdowns.interval(said) == ("+24.6 % (+20.2 .. +28.7)", 24.6)
    assert slowdowns.interval("-0.4 % (-1e-05 % .. +1 %), 4 units") == ("-0.4 % (-1e-05 .. +1)", -0.4)
    assert slowdowns.interval("+10 % (unbounded .. unbounded), 1 unit") == ("", None)


@pytest.mark.parametrize(("estimate", "exit", "named", "is_missed"), [
    (5.0, 0, False, True), (5.0, 4, True, True), (5.0, 1, False, True), (5.0, 1, True, False), (4.9, 0, False, False),
    (None, 0, False, True), (None, 1, True, False),
])
def test_a_slowdown_is_missed_unless_it_is_named_or_known_to_be_small(
    estimate: float | None, exit: int, named: bool, is_missed: bool
) -> None:
    assert slowdowns.missed([Comparison("a lock", 1, "toy", 0, exit, named, "", estimate, 61.2)]) == ["a lock"] * is_missed


@pytest.fixture
def page(tmp_path: Path) -> Path:
    (tmp_path / "page.md").write_text("<!-- slowdowns: begin -->\n<!-- slowdowns: end -->\n", "utf-8")
    return tmp_path / "page.md"


def test_the_table_tells_each_plant_and_counts_unchanged_builds_by_their_load(page: Path) -> None:
    found = [Comparison("a lock", 1, "toy", 0, 1, True, "+7 % (+6 .. +8)", 6.0, 61.2)]
    unchanged = [Comparison("", 0, "toy", load, code, False, "", None, 30.0) for load, code in ((1, 0), (1, 4), (4, 1))]
    slowdowns.write_rows(page, found, unchanged, "sha256:0123456789abcdef")
    text = page.read_text("utf-8")
    origin = provenance("sha256:0123456789abcdef")
    assert f"| a lock | toy | 0 | +7 % (+6 .. +8) | 1 | yes | 61 | {origin} |" in text
    assert f"| toy, four cases | 1 | 2 | 1 | 0 | 1 | 30 | {origin} |" in text
    assert f"| toy, four cases | 4 | 1 | 0 | 1 | 0 | 30 | {origin} |" in text


def test_rows_stay_until_they_are_measured_anew_and_say_of_which_content_they_are(page: Path) -> None:
    lock, tile = (Comparison(what, 1, "toy", 0, 1, True, "+7 % (+6 .. +8)", 6.0, 61.2) for what in ("a lock", "a tile"))
    unchanged = [Comparison("", 0, "toy", 1, 0, False, "", None, 30.0)]
    slowdowns.write_rows(page, [lock, tile], unchanged, "sha256:0123")
    slowdowns.write_rows(page, [tile], [], "sha256:4567")
    rows = [row for row in page.read_text("utf-8").splitlines() if "| toy" in row]
    assert [row.rsplit(", ", 1)[1] for row in rows] == ["0123 |", "4567 |", "0123 |"]
    assert [row.split(" |")[0] for row in rows] == ["| a lock", "| a tile", "| toy, four cases"]


def test_rows_of_another_processor_stay(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = Comparison("a lock", 1, "toy", 0, 1, True, "+7 % (+6 .. +8)", 6.0, 61.2)
    for processor in ("OneVendor-1-1", "OtherVendor-1-1", "OtherVendor-1-1"):
        monkeypatch.setattr(measured_tables, "processor", lambda named=processor: named)
        slowdowns.write_rows(page, [lock], [], "sha256:0123")
    rows = [row for row in page.read_text("utf-8").splitlines() if "| toy" in row]
    assert [row.split(", ")[-2] for row in rows] == ["OneVendor-1-1", "OtherVendor-1-1"]


def test_what_was_measured_on_another_processor_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = Comparison("a lock", 1, "toy", 0, 1, True, "+7 % (+6 .. +8)", 6.0, 61.2)
    Journal(tmp_path / "rows.jsonl", "sha256:a", "sha256:g", Comparison).add(row)
    monkeypatch.setattr(measured_tables, "processor", lambda: "OtherVendor-1-1")
    assert Journal(tmp_path / "rows.jsonl", "sha256:a", "sha256:g", Comparison).rows == []


def test_a_load_ends_with_the_program_that_asked_for_it() -> None:
    program = "import os, measured_tables; print(measured_tables.Load(1).busy[0].pid, flush=True); os._exit(0)"
    done = subprocess.run([sys.executable, "-c", program], cwd=Path(slowdowns.__file__).parent, text=True, check=True,
                          stdout=subprocess.PIPE)
    load, begin = Path("/proc") / done.stdout.strip(), time.monotonic()
    while load.exists() and time.monotonic() - begin < 60:
        time.sleep(0.05)
    assert not load.exists()


def test_what_one_gate_measured_of_this_content_is_not_measured_again(tmp_path: Path) -> None:
    row = Comparison("a lock", 1, "toy", 0, 1, True, "+7 % (+6 .. +8)", 6.0, 61.2)
    Journal(tmp_path / "rows.jsonl", "sha256:a", "sha256:g", Comparison).add(row)
    assert Journal(tmp_path / "rows.jsonl", "sha256:a", "sha256:g", Comparison).rows == [row]
    assert Journal(tmp_path / "rows.jsonl", "sha256:b", "sha256:g", Comparison).rows == []
    assert Journal(tmp_path / "rows.jsonl", "sha256:a", "sha256:h", Comparison).rows == []
