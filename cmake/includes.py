# SPDX-License-Identifier: Apache-2.0
"""Each file includes what it calls: `python3 cmake/includes.py ROOT` names each function that a file calls and that none of
the files that it includes declares, and exits 1.

Several sources are compiled as one, where an include of one serves the others; alone, as for the fuzzers, they would not compile.
Checked are our own functions with names of two or more words, outside of classes, in headers that the file may include: a name of
one word too often means something else.
"""

import re
import sys
from pathlib import Path

from layers import CODE, ROOMS, find, floors, includes, judge

UNREAD = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
DECLARED = re.compile(r"^[A-Za-z_\[][^;{}()=\n]*\b(\w+)\(", re.MULTILINE)
MENTIONED = re.compile(r"\b(\w+)\(")
CALLED = re.compile(r"(?<![\w.:>~])(\w+)\(")
NO_TYPES = {"return", "throw", "else", "case", "co_return", "co_yield", "new", "delete", "not", "and", "or"}


def names(pattern: re.Pattern[str], text: str) -> set[str]:
    """The names of functions with two or more words."""
    return {name for name in set(pattern.findall(text)) if "_" in name[1:] and name[0].islower()}


def own(name: str, text: str) -> bool:
    """Whether the file declares the name itself: after a type, or as something other than a function."""
    before = re.findall(rf"(\w+|>)[&*]*\s+{name}\(", text)
    return not set(before) <= NO_TYPES or bool(re.search(rf"(?<![.:>&]){name}\b(?!\()", text))


def main(root: Path) -> int:
    houses = {table.parent.relative_to(root): floors(table.parent)
              for room in ROOMS for table in sorted((root / room).rglob("layers.txt"))}
    texts = {file.relative_to(root): file.read_text("utf-8")
             for room in ROOMS for file in sorted((root / room).rglob("*")) if file.suffix in CODE}
    code = {place: UNREAD.sub('""', text) for place, text in texts.items()}
    mentioned = {place: names(MENTIONED, text) for place, text in code.items()}
    included = {place: {find(root, place, name) for name in includes(root, text)} & texts.keys() for place, text in texts.items()}
    declaring: dict[str, list[Path]] = {}
    for place, text in code.items():
        if place.suffix == ".hpp":
            for name in names(DECLARED, text):
                declaring.setdefault(name, []).append(place)

    def may_include(place: Path, header: Path) -> bool:
        return find(root, place, str(Path(*header.parts[1:]))) == header and not judge(place, header, houses)

    wrong: list[str] = []
    for place, text in code.items():
        if place.suffix not in {".hpp", ".cpp"}:
            continue
        seen: set[Path] = set()
        todo = list(included[place])
        while todo:
            header = todo.pop()
            if header not in seen:
                seen.add(header)
                todo += included[header]
        told = set().union(*(mentioned[header] for header in seen))
        for name in sorted(names(CALLED, text) & declaring.keys() - told):
            headers = [header for header in declaring[name] if header != place and may_include(place, header)]
            if headers and not own(name, text):
                wrong.append(f"{place} calls {name}(), and does not include {headers[0]}")
    print("\n".join(wrong) or "every file includes what it calls")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1], "kernels").is_dir():
        sys.exit("usage: includes.py ROOT, the folder that holds kernels, suites and baselines")
    sys.exit(main(Path(sys.argv[1])))
