# SPDX-License-Identifier: Apache-2.0
"""The accepted baselines while `holdfast` may be changing them: all of a change or nothing of it.

A change is written beside the files' places, then into a journal, and then takes its places, under a
lock on the store's folder (baselines/gate/store.hpp). Whoever only reads shares that lock, and reads
what a killed command's journal speaks of from beside its place."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pydantic import Field

from holdfast_report.reading import Record, read


class Journal(Record):
    schema_name: str = Field(alias="schema")
    files: dict[str, int | None]  # by place: the bytes beside it; None where the file goes


def journal_of(folder: Path) -> Path:
    return folder / ".holdfast-journal.json"


@contextmanager
def stored(folder: Path, pattern: str) -> Iterator[list[Path]]:
    """Where the content of the files is to be read, as long as this lasts."""
    if not folder.is_dir():
        yield []
        return
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with suppress(OSError):  # some file systems lock no folders
            fcntl.flock(opened, fcntl.LOCK_SH)
        yield contents(folder, pattern)
    finally:
        os.close(opened)


def contents(folder: Path, pattern: str) -> list[Path]:
    files = {path.relative_to(folder).as_posix(): path for path in folder.glob(pattern)}
    if journal_of(folder).exists():
        for place, size in read(Journal, "holdfast-journal/1", journal_of(folder)).files.items():
            path = folder / place
            beside = path.with_name(f".{path.name}.part")
            if size is None:
                files.pop(place, None)
            elif path.match(pattern) and beside.exists():
                files[place] = beside
    return [files[place] for place in sorted(files)]
