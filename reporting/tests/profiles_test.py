# SPDX-License-Identifier: Apache-2.0
"""Reading profiles, and one profile as facts and rows."""

import re
from pathlib import Path
from typing import Any

import builders
import profile_builders
import pytest
from builders import STEP, Workplace
from holdfast_report import Problem, profile_tables
from holdfast_report.cells import DASH, Branch, Cell, Share, Table
from holdfast_report.profiles import ENDING, Profile, read_profiles
from holdfast_report.root import read_root
from profile_builders import loop, op, scope


def parsed(document: dict[str, Any]) -> Profile:
    return Profile.model_validate(document)


def column(table: Table, name: str) -> list[Cell]:
    return [row[table.head.index(name)] for row in table.rows]


def refusal(workplace: Workplace, document: dict[str, Any]) -> str:
    path = profile_builders.put(workplace, document)
    with pytest.raises(Problem) as refused:
        read_root(workplace.results, None)
    said = str(refused.value)
    assert path.name in said
    assert "\n" not in said
    return said


def test_profiles_of_all_suites_and_devices_are_found_beside_the_results(
    workplace: Workplace,
) -> None:
    for document in (profile_builders.host(), profile_builders.dry(), profile_builders.gpu()):
        profile_builders.put(workplace, document)
    root = read_root(workplace.results, None)
    assert len(root.parts) == 2
    assert {stored.profile.device_class for stored in root.profiles} == {
        builders.HOST, builders.DRY, profile_builders.GPU,
    }


def test_a_root_without_profiles_is_read_as_before(workplace: Workplace) -> None:
    assert read_root(workplace.results, None).profiles == []


def test_the_folder_of_one_profiled_case_is_a_root_too(tmp_path: Path) -> None:
    document = profile_builders.dry()
    name = profile_builders.name_of(document)
    builders.put(tmp_path / name, document)
    builders.put(tmp_path / name.removesuffix(ENDING) / "resources.json", {"kernels": []})
    root = read_root(tmp_path, None)
    assert [stored.profile.case for stored in root.profiles] == [STEP]
    assert root.parts == []


@pytest.mark.parametrize(("place", "sentence"), [
    ("old/profiles/cubed_sphere_swe", f"of the device class '{builders.DRY}', and its folder says 'old'"),
    (f"{builders.DRY}/profiles/older", "of the suite 'cubed_sphere_swe', and its folder says 'older'"),
])  # fmt: skip
def test_a_copy_of_a_profile_in_another_folder_is_refused(workplace: Workplace, place: str, sentence: str) -> None:
    document = profile_builders.dry()
    builders.put(workplace.results / place / profile_builders.name_of(document), document)
    with pytest.raises(Problem, match=re.escape(sentence)):
        read_root(workplace.results, None)


@pytest.mark.parametrize("folder", ["", f"{builders.DRY}/profiles/cubed_sphere_swe"])
def test_a_copy_of_a_profile_of_another_name_is_refused(tmp_path: Path, folder: str) -> None:
    document = profile_builders.dry()
    name = profile_builders.name_of(document)
    builders.put(tmp_path / folder / name, document)
    assert len(read_root(tmp_path, None).profiles) == 1
    builders.put(tmp_path / folder / name.replace(ENDING, f" (copy){ENDING}"), document)
    with pytest.raises(Problem, match=re.escape(f"holds the profile {name}; give it this name, or remove it")):
        read_root(tmp_path, None)


def test_an_unknown_key_of_a_profile_is_refused_by_name(workplace: Workplace) -> None:
    document = profile_builders.dry()
    document["overview"]["surprise"] = 1
    assert "overview.surprise" in refusal(workplace, document)


def test_a_missing_key_of_a_profile_is_refused_by_name(workplace: Workplace) -> None:
    document = profile_builders.dry()
    del document["memory"]["timeline"]
    assert "memory.timeline" in refusal(workplace, document)


def test_a_newer_profile_is_refused(workplace: Workplace) -> None:
    document = profile_builders.dry() | {"schema": "holdfast-profile/2"}
    assert "holdfast-profile/2" in refusal(workplace, document)


def test_sizes_are_ordered_as_numbers_and_optimized_comes_first(workplace: Workplace) -> None:
    for size, variant in ((192, "optimized"), (24, "reference"), (24, "optimized")):
        case = STEP.replace("48", str(size))
        profile_builders.put(workplace, profile_builders.dry(case, variant))
    found = [stored.profile for stored in read_profiles(workplace.results)]
    assert [(one.case.split("/")[2], one.variant) for one in found] == [
        ("n:24", "optimized"), ("n:24", "reference"), ("n:192", "optimized"),
    ]


def test_a_trace_that_is_not_beside_its_profile_is_none(workplace: Workplace) -> None:
    path = profile_builders.put(workplace, profile_builders.dry(trace="x.trace.json"))
    (stored,) = read_profiles(workplace.results)
    assert stored.trace is None
    builders.put(path.with_name("x.trace.json"), "[]")
    assert stored.trace == path.with_name("x.trace.json")


def test_timed_operations_show_their_share_of_the_time() -> None:
    table = profile_tables.ops(parsed(profile_builders.gpu()))
    shares = [cell for cell in column(table, "share of time") if isinstance(cell, Share)]
    assert [cell.fraction for cell in shares] == pytest.approx([0.9, 0.1])
    assert [cell.text for cell in shares] == ["90 %", "10 %"]
    assert column(table, "time")[0] == "3.60 ms"
    assert column(table, "grid")[0] == "2\u00d74\u00d76"
    assert column(table, "block")[0] == "512"
    assert column(table, "spill") == ["0 B", "48 B"]


def test_an_operation_without_a_time_beside_timed_ones_has_no_share() -> None:
    """A share of the calls in a column that says share of time is another number."""
    table = profile_tables.ops(parsed(profile_builders.gpu(ops=[op("timed", 10, 0.004, 0.004), op("untimed", 30, None, 0.004)])))
    assert column(table, "share of time") == [Share(1.0, "100 %"), DASH]


def test_operations_that_did_not_run_show_their_share_of_the_calls_and_no_times() -> None:
    table = profile_tables.ops(parsed(profile_builders.dry()))
    assert column(table, "share of calls") == [Share(0.8, "80 %"), Share(0.2, "20 %")]
    assert not {"time", "mean", "shortest", "longest"} & set(table.head)
    assert column(table, "registers") == ["70", "26"]


def test_static_and_dynamic_shared_memory_are_added() -> None:
    document = profile_builders.dry(ops=[op("stage", 1, None, 1.0, dynamic_shared_bytes=1024)])
    assert column(profile_tables.ops(parsed(document)), "shared") == ["27.6 kB"]


def test_a_loop_of_the_host_has_no_columns_of_kernels() -> None:
    table = profile_tables.ops(parsed(profile_builders.host(ops=[loop("rhs", 4, 0.1, 0.1)])))
    assert not {"grid", "block", "registers", "occupancy"} & set(table.head)


def test_scopes_stand_below_their_parents_the_longest_first() -> None:
    table = profile_tables.scope_table(parsed(profile_builders.host()))
    assert column(table, "scope") == [
        Branch(0, "rk4_step"), Branch(1, "rhs"), Branch(2, "project"), Branch(2, "sat"),
    ]


def test_own_shares_of_all_scopes_add_up_to_the_outermost_one() -> None:
    table = profile_tables.scope_table(parsed(profile_builders.host()))
    own = [cell.fraction for cell in column(table, "itself") if isinstance(cell, Share)]
    assert len(own) == 4
    assert sum(own) == pytest.approx(1.0)


def test_time_outside_of_all_scopes_is_nobody_s() -> None:
    scopes = [scope("forward", 0.003, 0.003), scope("backward", 0.0012, 0.0012)]
    table = profile_tables.scope_table(parsed(profile_builders.host(scopes=scopes)))
    assert column(table, "itself") == [Share(0.5, "50 %"), Share(pytest.approx(0.2), "20 %")]


def test_only_what_moved_is_listed_among_the_transfers() -> None:
    table = profile_tables.transfers(parsed(profile_builders.gpu()))
    assert table.rows == [("host to device", "10", "4 MB", "400 \u00b5s", "10 GB/s")]


def test_windows_are_told_by_their_steps_and_compared_with_the_slowest() -> None:
    table = profile_tables.windows(parsed(profile_builders.gpu()))
    assert column(table, "steps")[:2] == ["0 to 4", "100 to 104"]
    assert column(table, "mean step")[-1] == Share(1.0, "900 \u00b5s")


def test_a_gap_lies_between_what_ended_and_what_began() -> None:
    gap = {"after": "stage<double>", "before": "project<double>", "seconds": 2e-5, "at_s": 0.5}
    table = profile_tables.gaps(parsed(profile_builders.gpu(gaps=[gap])))
    assert dict(zip(table.head, table.rows[0], strict=True)) == {
        "idle after": "stage<double>", "before": "project<double>", "for": "20.0 \u00b5s", "at": "500 ms",
    }


def test_what_moved_is_told_by_its_way_however_little() -> None:
    moved = {
        way: {"count": count, "bytes": size, "total_s": None, "bytes_per_s": None}
        for way, count, size in (("h2d", 1, 8), ("d2h", 2, 16), ("d2d", 3, 24))
    }
    told = profile_tables.transfers(parsed(profile_builders.gpu(transfers=moved)))
    assert told.rows == [("host to device", "1", "8 B"), ("device to host", "2", "16 B"), ("within the device", "3", "24 B")]
    seen = profile_builders.overview(None, 4) | {"h2d_bytes": 8, "d2h_bytes": 16, "copies": 3, "programs": 1}
    facts = dict(profile_tables.overview(parsed(profile_builders.dry(overview=seen))))
    assert facts["bytes to the device per step"] == "8 B" and facts["bytes to the host per step"] == "16 B"
    assert facts["copies per step"] == "3" and facts["compiled programs per step"] == "1"
    counts = profile_builders.gpu()["device_counts"] | {"copied_bytes_h2d": 8, "copied_bytes_d2h": 16, "copied_bytes_d2d": 24}
    said = dict(profile_tables.device_counts(parsed(profile_builders.gpu(device_counts=counts))))
    assert [said[f"copied {way}"] for way in ("to the device", "to the host", "within the device")] == ["8 B", "16 B", "24 B"]


def test_the_times_of_an_operation_stand_under_their_names_and_only_trailing_ones_of_a_shape_go() -> None:
    one = op("stage", 4, 0.004, 0.004, min_s=0.0001, max_s=0.003, grid=[4, 1, 1], block=[1, 4, 1])
    table = profile_tables.ops(parsed(profile_builders.gpu(ops=[one])))
    cells = dict(zip(table.head, table.rows[0], strict=True))
    times = {name: cells[name] for name in ("time", "mean", "shortest", "longest")}
    assert times == {"time": "4 ms", "mean": "1 ms", "shortest": "100 \u00b5s", "longest": "3 ms"}
    assert (cells["grid"], cells["block"]) == ("4", "1\u00d74")


def test_a_single_window_is_no_periodic_profiling() -> None:
    one = {"first_step": 0, "steps": 10, "mean_step_s": 0.1, "busy_fraction": None}
    assert profile_tables.windows(parsed(profile_builders.host(windows=[one]))).rows == []


def test_the_overview_leaves_out_what_is_zero_or_unknown() -> None:
    facts = dict(profile_tables.overview(parsed(profile_builders.gpu())))
    assert facts["device idle"] == "31 %"
    assert facts["longest gap"] == "20.0 \u00b5s, between stage<double> and project<double>"
    assert facts["mean step"] == "600 \u00b5s (588 \u00b5s to 606 \u00b5s in 10 steps)"
    assert "bytes to the device per step" not in facts
    dry = dict(profile_tables.overview(parsed(profile_builders.dry())))
    assert "mean step" not in dry
    assert dry["launches per step"] == "4"


def test_the_device_s_own_counters_are_shown_where_it_has_some() -> None:
    assert ("kernels", "50") in profile_tables.device_counts(parsed(profile_builders.gpu()))
    assert profile_tables.device_counts(parsed(profile_builders.dry())) == []
