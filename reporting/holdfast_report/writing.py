# SPDX-License-Identifier: Apache-2.0
"""Files that appear whole, and those that must not stay."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from holdfast_report import Problem


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A name beside `path` to write to, of this writer alone; it takes that place at the end, and nothing
    is left of it if writing fails."""
    beside = path.with_name(f".{token_hex(8)}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield beside
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        if not isinstance(error, OSError):
            raise
        raise Problem(
            f"--out: {path} cannot be written ({error.strerror}); choose another place"
        ) from error


def withdraw(page: Path) -> None:
    """Removes an older page, which would be taken for a new one."""
    try:
        page.unlink(missing_ok=True)
    except NotADirectoryError:
        pass  # which whoever writes there reports
    except OSError as error:
        raise Problem(f"{page}: an older page cannot be removed ({error.strerror})") from error
