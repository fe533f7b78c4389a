# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole: whoever writes them, however it ends."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from holdfast_report import Problem
from holdfast_report.writing import replacing


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_two_writers_of_one_page_each_publish_what_they_wrote(tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    with replacing(page) as slow:
        slow.write_text("the slow one's")
        with replacing(page) as fast:
            fast.write_text("the other's")
        assert page.read_text() == "the other's"
    assert page.read_text() == "the slow one's"
    assert names(tmp_path) == ["index.html"]


@pytest.mark.parametrize("broken", [RuntimeError, KeyboardInterrupt])
def test_whatever_ends_the_writing_leaves_nothing_beside_and_the_old_page(tmp_path: Path, broken: type[BaseException]) -> None:
    page = tmp_path / "index.html"
    page.write_text("old")
    with pytest.raises(broken), replacing(page) as beside:
        beside.write_text("half of ")
        raise broken
    assert names(tmp_path) == ["index.html"] and page.read_text() == "old"


def test_what_the_system_refuses_is_a_sentence_and_leaves_nothing_beside(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="cannot be written"), replacing(tmp_path / "index.html") as beside:
        beside.write_text("half of ")
        raise OSError(28, "No space left on device")
    assert names(tmp_path) == []


def test_a_page_is_as_readable_as_any_other_file(tmp_path: Path, umask: None) -> None:
    with replacing(tmp_path / "index.html") as beside:
        beside.write_text("read by all of a group")
    assert (tmp_path / "index.html").stat().st_mode & 0o777 == 0o640
