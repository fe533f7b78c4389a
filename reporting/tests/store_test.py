# SPDX-License-Identifier: Apache-2.0
"""A store that a killed `holdfast baseline accept` has left is read as the new one."""

import copy
import fcntl
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import builders
import pytest
from builders import DRY, HOST, PROCESSOR, STEP, Workplace
from holdfast_report import Problem
from holdfast_report.documents import Host
from holdfast_report.root import read_baselines
from holdfast_report.store import hash_of, journal_of, stored


def file_of(workplace: Workplace, device_class: str) -> Path:
    return workplace.baselines / "devices" / device_class / "cubed_sphere_swe.json"


def classes(workplace: Workplace) -> set[str]:
    return {device_class for device_class, _ in read_baselines(workplace.baselines, {})}


def part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.part")


def leave(workplace: Workplace, **files: str | None) -> None:
    """Leaves what a kill leaves: the journal is written, and no file is yet in its place."""
    journal = {f"devices/{place}.json": content for place, content in files.items()}
    builders.put(journal_of(workplace.baselines), builders.journal(journal))


def test_what_lies_beside_its_place_is_read_where_the_journal_speaks_of_it(
    workplace: Workplace,
) -> None:
    new = builders.baseline() | {"device_class": DRY}
    part = builders.put(part_of(file_of(workplace, DRY)), new)
    assert classes(workplace) == {HOST}
    leave(workplace, **{f"{DRY}/cubed_sphere_swe": hash_of(part)})
    assert classes(workplace) == {HOST, DRY}


def test_a_file_that_goes_is_not_read(workplace: Workplace) -> None:
    leave(workplace, **{f"{HOST}/cubed_sphere_swe": None})
    assert classes(workplace) == set()


def test_a_file_that_has_taken_its_place_is_read_there(workplace: Workplace) -> None:
    leave(workplace, **{f"{HOST}/cubed_sphere_swe": hash_of(file_of(workplace, HOST))})
    assert classes(workplace) == {HOST}


def test_a_file_that_is_not_what_the_journal_promised_is_refused(workplace: Workplace) -> None:
    leave(workplace, **{f"{HOST}/cubed_sphere_swe": builders.hashed("0")})
    with pytest.raises(Problem, match="it is gone; restore the files"):
        read_baselines(workplace.baselines, {})


def test_what_was_to_be_published_and_is_gone_is_refused(workplace: Workplace) -> None:
    leave(workplace, **{f"{DRY}/cubed_sphere_swe": builders.hashed("0")})
    with pytest.raises(Problem, match="it is gone; restore the files"):
        read_baselines(workplace.baselines, {})


@pytest.mark.parametrize(
    "place",
    ["../devices/h/x.json", "/devices/h/x.json", "devices//x.json", "devices/h/.x.json", ""],
)
def test_a_journal_that_leads_out_of_the_store_is_refused(workplace: Workplace, place: str) -> None:
    builders.put(journal_of(workplace.baselines), builders.journal({place: None}))
    with pytest.raises(Problem, match="is no place in a store"):
        read_baselines(workplace.baselines, {})


@pytest.mark.parametrize(
    "journal", ["{}", builders.journal({"devices/h/x.json": "7"})], ids=["empty", "no hash"]
)
def test_a_spoilt_journal_is_refused(workplace: Workplace, journal: object) -> None:
    builders.put(journal_of(workplace.baselines), journal)
    with pytest.raises(Problem, match=r"holdfast-journal"):
        read_baselines(workplace.baselines, {})


def test_who_must_wait_says_so(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = os.open(workplace.baselines, os.O_RDONLY)
    fcntl.flock(writer, fcntl.LOCK_EX)

    class Heard(io.StringIO):
        def write(self, words: str) -> int:
            fcntl.flock(writer, fcntl.LOCK_UN)
            return super().write(words)

    heard = Heard()
    monkeypatch.setattr(sys, "stderr", heard)
    silence = Timer(10, fcntl.flock, (writer, fcntl.LOCK_UN))  # so that it ends without a word too
    silence.start()
    assert classes(workplace) == {HOST}
    silence.cancel()
    os.close(writer)
    assert f"waiting until another command is done with {workplace.baselines}" in heard.getvalue()


def is_held(folder: Path) -> bool:
    """Whether somebody shares the lock that a writer needs alone."""
    writer = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(writer, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(writer)
    return False


def test_readers_share_the_lock_and_a_writer_has_to_wait_for_them(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    with stored(workplace.baselines, "*"), stored(workplace.baselines, "*"):
        assert is_held(workplace.baselines)
    assert capsys.readouterr().err == ""
    assert not is_held(workplace.baselines)


def test_who_had_to_wait_has_the_lock_as_well(workplace: Workplace) -> None:
    writer = os.open(workplace.baselines, os.O_RDONLY)
    fcntl.flock(writer, fcntl.LOCK_EX)
    done = Timer(0.2, fcntl.flock, (writer, fcntl.LOCK_UN))
    done.start()
    with stored(workplace.baselines, "*"):
        assert is_held(workplace.baselines)
    done.join()
    os.close(writer)


def test_of_a_journal_what_is_asked_for_is_read(workplace: Workplace) -> None:
    part = builders.put(workplace.baselines / "policy" / ".new.json.part", "{}")
    builders.put(journal_of(workplace.baselines), builders.journal({"policy/new.json": hash_of(part)}))
    assert classes(workplace) == {HOST}


@pytest.fixture
def unreadable(workplace: Workplace) -> Iterator[Path]:
    workplace.baselines.chmod(0o311)
    root = os.geteuid() == 0  # whom no mode of a file binds
    if root:
        workplace.folder.chmod(0o755)
        os.seteuid(65534)
    yield workplace.baselines
    if root:
        os.seteuid(0)
    workplace.baselines.chmod(0o755)


def test_a_folder_that_cannot_be_read_is_a_problem(unreadable: Path) -> None:
    with pytest.raises(Problem, match="cannot be read"):
        read_baselines(unreadable, {})


def test_a_hosts_times_are_those_of_the_processor_that_was_measured(workplace: Workplace) -> None:
    other = "GenuineIntel-6-143"
    key = f"{STEP}|optimized|time_s"
    baseline = builders.baseline()
    slower = copy.deepcopy(baseline["processors"][PROCESSOR])
    slower[key] |= {"value": 0.0009, "medians": [0.0009]}
    baseline["processors"][other] = slower
    builders.put(file_of(workplace, HOST), baseline)

    def accepted(processor: str | None, suite: str = "cubed_sphere_swe") -> object:
        measured = {(HOST, suite): processor} if processor else {}
        entry = read_baselines(workplace.baselines, measured).get((HOST, key))
        return entry and entry.value

    assert accepted(PROCESSOR) == 0.0006
    assert accepted(other) == 0.0009
    assert accepted("unknown") is None
    assert accepted(None) is None
    assert accepted(other, suite="clusterless_kde") is None


def test_what_was_timed_with_cpus_kept_awake_compares_with_its_like() -> None:
    host = builders.host_results()["env"]["host"]
    assert Host.model_validate(host).timed_on == PROCESSOR
    assert Host.model_validate(host | {"awake": False}).timed_on == PROCESSOR
    assert Host.model_validate(host | {"awake": True}).timed_on == PROCESSOR + " kept awake"
