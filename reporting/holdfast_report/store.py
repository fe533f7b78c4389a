# SPDX-License-Identifier: Apache-2.0
"""The accepted baselines while `holdfast` may be changing them: all of a change or nothing of it.

A change is written beside the files' places, then recorded in a journal, and then moved into place,
under a lock on the store's folder (baselines/gate/base/store.hpp). Readers share that lock, and
read the files of a killed command's journal from beside their places. Waiting is reported."""

import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated

from pydantic import Field

from holdfast_report import Problem
from holdfast_report.reading import Record, files_below, read

Hash = Annotated[str, Field(pattern="^sha256:[0-9a-f]{64}$")]


class Journal(Record):
    schema_name: str = Field(alias="schema")
    files: dict[str, Hash | None]  # by place: what lies beside it; None where the file goes


def journal_of(folder: Path) -> Path:
    return folder / ".holdfast-journal.json"


@contextmanager
def stored(folder: Path, pattern: str) -> Iterator[list[Path]]:
    """Paths from which the files can be read, as long as the context lasts."""
    opened = opened_folder(folder)
    if opened is None:
        yield []
        return
    try:
        share(opened, folder)
        yield contents(folder, pattern)
    finally:
        os.close(opened)


def opened_folder(folder: Path) -> int | None:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise Problem(
            f"{folder}: cannot be read ({error.strerror}); name a folder that you may read"
        ) from error


def share(opened: int, folder: Path) -> None:
    with suppress(OSError):  # some file systems lock no folders
        try:
            fcntl.flock(opened, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            print(
                f"holdfast_report: waiting until another command is done with {folder}",
                file=sys.stderr,
                flush=True,
            )
            fcntl.flock(opened, fcntl.LOCK_SH)


def contents(folder: Path, pattern: str) -> list[Path]:
    files = {path.relative_to(folder).as_posix(): path for path in files_below(folder, pattern)}
    if journal_of(folder).exists():
        journal = read(Journal, "holdfast-journal/1", journal_of(folder))
        for place, promised in journal.files.items():
            found = published(folder, place, promised)
            if found is None:
                files.pop(place, None)
            elif Path(place).match(pattern):
                files[place] = found
    return [files[place] for place in sorted(files)]


def published(folder: Path, place: str, promised: str | None) -> Path | None:
    """The path of the content that a journal promises; None if the file is removed."""
    if any(not part or part.startswith(".") for part in place.split("/")):
        raise Problem(
            f"{journal_of(folder)}: {place!r} is no place in a store; "
            "restore the files of this folder (git checkout) and remove the journal"
        )
    if promised is None:
        return None
    path = folder / place
    beside = path.with_name(f".{path.name}.part")
    found = beside if beside.exists() else path
    if not found.exists() or hash_of(found) != promised:
        raise Problem(
            f"{journal_of(folder)}: a killed command left {path} with the content {promised} to be "
            "published, and it is gone; restore the files of this folder (git checkout) and remove "
            "the journal"
        )
    return found


def hash_of(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
    except OSError as error:
        raise Problem(
            f"{path}: cannot be read ({error.strerror}); name a folder that you may read"
        ) from error
