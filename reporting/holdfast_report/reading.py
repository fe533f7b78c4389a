# SPDX-License-Identifier: Apache-2.0
"""Reading is strict: an unknown key, a missing one, a number that is not finite or another schema
version is a Problem that names file and key."""

import json
import os
import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from holdfast_report import Problem

HALF_A_LETTER = re.compile(r"\\u[dD][89a-fA-F]")  # as an escape; a file in UTF-8 has none otherwise

# Invisible characters, and those that change the direction of reading (except joiners, which words
# need).
UNSEEN = (
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069"
    "\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"
)
UNSEEN_LETTER = re.compile(f"[{UNSEEN}]")
ESCAPED = r"\\(?:[bf]|u(?:00[0189]|007[fF]|061[cC]|20[026]|[fF][eE]|[fF]{3}|[dD][bB]40))"
SOME_UNSEEN = re.compile(f"[{UNSEEN}]|{ESCAPED}")  # in a file

Number = Annotated[float, Field(allow_inf_nan=False)]
Value = Number | str  # a string where the value is a hash


def files_below(folder: Path, pattern: str) -> list[Path]:
    """What a pattern such as */*.json finds, sorted. Path.glob takes a folder that may not be read
    for an empty one; here it is a Problem, for what is in it would be missing from the page."""
    part, _, rest = pattern.partition("/")
    try:
        names = sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Problem(
            f"{folder}: cannot be read ({error.strerror}); name a folder that you may read"
        ) from error
    found = [folder / name for name in names if fnmatchcase(name, part)]
    return [path for one in found for path in files_below(one, rest)] if rest else found


class Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


Model = TypeVar("Model", bound=Record)


def without_comments(text: str) -> str:
    """Blanks out // comments, which the policy may hold; strings may hold slashes of their own."""
    kept = []
    in_string = False
    at = 0
    while at < len(text):
        if in_string and text[at] == "\\":
            kept.append(text[at : at + 2])
            at += 2
            continue
        if text[at] == '"':
            in_string = not in_string
        if not in_string and text.startswith("//", at):
            while at < len(text) and text[at] != "\n":
                at += 1
            continue
        kept.append(text[at])
        at += 1
    return "".join(kept)


def named(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"


def seen(data: Any) -> Any:
    """The data with each invisible character escaped, such as \\x1b or \\u202e, as `holdfast` does."""
    if isinstance(data, str):
        return UNSEEN_LETTER.sub(lambda found: named(ord(found.group())), data)
    if isinstance(data, list):
        return [seen(item) for item in data]
    if isinstance(data, dict):
        return {seen(key): seen(item) for key, item in data.items()}
    return data


def load(path: Path, comments: bool = False) -> Any:
    try:
        text = path.read_text("utf-8-sig")  # whose byte order mark is none of the text
    except (OSError, UnicodeDecodeError) as error:
        raise Problem(
            f"{path}: cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8'})"
        ) from error
    return parse(without_comments(text) if comments else text, str(path))


def parse(text: str, where: str) -> Any:
    def refuse(constant: str) -> NoReturn:
        raise Problem(
            f"{where}: holds {constant}, and a document holds finite numbers only; write it again"
        )

    try:
        data = json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        line = f":{error.lineno}" if "\n" in text.rstrip() else ""
        raise Problem(f"{where}{line}: is not JSON ({error.msg}); was it cut short?") from error
    except RecursionError as error:
        raise Problem(
            f"{where}: is nested deeper than any document that holdfast writes"
        ) from error
    except ValueError as error:  # Python refuses whole numbers of more than 4300 digits
        raise Problem(
            f"{where}: holds a whole number longer than any that is measured"
        ) from error
    if text.isascii() and "\\" not in text and "\x7f" not in text:
        return data  # as in a long history, where looking for letters takes as long as reading
    if SOME_UNSEEN.search(text):
        data = seen(data)
    if HALF_A_LETTER.search(text):
        try:
            json.dumps(data, ensure_ascii=False).encode("utf-8")
        except UnicodeEncodeError as error:
            raise Problem(
                f"{where}: holds half a letter ({error.object[error.start]!r}), which no page can"
            ) from error
    return data


def validate(model: type[Model], schema: str, data: Any, where: str) -> Model:
    found = data.get("schema") if isinstance(data, dict) else None
    if found != schema:
        raise Problem(
            f"{where}: the schema is {found!r}, and this page reads {schema!r}; "
            "use the report of the build that wrote it"
        )
    return checked(model, data, where)


def checked(model: type[Model], data: Any, where: str) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise Problem(f"{where}: {key}: {first['msg']}") from error


def read(model: type[Model], schema: str, path: Path) -> Model:
    return validate(model, schema, load(path), str(path))
