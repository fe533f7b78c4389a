# SPDX-License-Identifier: Apache-2.0
"""A store that a killed `holdfast baseline accept` has left is read as the new one."""

import builders
import pytest
from builders import DRY, HOST, Workplace

from holdfast_report import Problem
from holdfast_report.root import read_baselines
from holdfast_report.store import journal_of


def leave(workplace: Workplace, **files: int | None) -> None:
    """As after a kill: the journal is written, and no file has taken its place."""
    journal = {f"devices/{place}.json": size for place, size in files.items()}
    builders.put(journal_of(workplace.baselines), builders.journal(journal))


def test_what_lies_beside_its_place_is_read_where_the_journal_speaks_of_it(
    workplace: Workplace,
) -> None:
    new = builders.baseline() | {"device_class": DRY}
    part = workplace.baselines / "devices" / DRY / ".cubed_sphere_swe.json.part"
    builders.put(part, new)
    assert {device_class for device_class, _ in read_baselines(workplace.baselines)} == {HOST}
    leave(workplace, **{f"{DRY}/cubed_sphere_swe": part.stat().st_size})
    assert {device_class for device_class, _ in read_baselines(workplace.baselines)} == {HOST, DRY}


def test_a_file_that_goes_is_not_read(workplace: Workplace) -> None:
    leave(workplace, **{f"{HOST}/cubed_sphere_swe": None})
    assert read_baselines(workplace.baselines) == {}


def test_a_file_that_has_taken_its_place_is_read_there(workplace: Workplace) -> None:
    leave(workplace, **{f"{HOST}/cubed_sphere_swe": 7})
    assert len(read_baselines(workplace.baselines)) == 1


def test_a_spoilt_journal_is_refused(workplace: Workplace) -> None:
    builders.put(journal_of(workplace.baselines), "{}")
    with pytest.raises(Problem, match="holdfast-journal/1"):
        read_baselines(workplace.baselines)
