# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole: whoever writes them, however it ends."""

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from holdfast_report import Problem
from holdfast_report.site import build
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


def test_ctrl_c_of_a_site_of_several_processes_leaves_nothing_beside_its_pages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_half(path: Path, content: bytes) -> None:
        path.write_text(content.decode()[:1])
        time.sleep(60)

    def build_it() -> None:
        os.setsid()  # as a terminal does, which sends the signal to all processes of the command
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            build.build(site, tmp_path)
        except KeyboardInterrupt:
            os._exit(7)

    site: Any = None
    page = {"index.html": "page"}
    monkeypatch.setattr(Path, "write_bytes", write_half)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(build, "pages_of", lambda *_: [lambda *_: page] * (build.ALONE + 1))
    monkeypatch.setattr(build, "Renderer", lambda _: None)
    command = multiprocessing.get_context("fork").Process(target=build_it)
    command.start()
    end = time.monotonic() + 60
    while len(names(tmp_path)) < 2 and time.monotonic() < end:
        time.sleep(0.005)
    assert command.pid is not None and len(names(tmp_path)) == 2
    os.killpg(command.pid, signal.SIGINT)
    command.join(60)
    assert command.exitcode == 7 and names(tmp_path) == []
