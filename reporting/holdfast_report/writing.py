# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from holdfast_report import Problem


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to; it takes that place at the end, and nothing is left of it if
    writing fails."""
    beside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        beside.replace(path)
    except OSError as error:
        with suppress(OSError):
            beside.unlink()
        raise Problem(
            f"--out: {path} cannot be written ({error.strerror}); choose another place"
        ) from error
