# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over what a build folder compiles: `tidy.py BUILD [--jobs=N]`, by the checks of .clang-tidy.

A batch of sources that are compiled as one is checked as one, which takes a third of the time; findings name the real
file. A clean result is noted in BUILD/tidy, by a hash of the command, the checks, the tool and all of our files that it
includes, and is not checked again until one of them changes.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


ONLY_GCC = " -fno-tree-sra"  # clang refuses it


def entries(build: Path) -> list[dict[str, str]]:
    """One command per source: the first of two instruction sets, no precompiled header, no planted copy of a source."""
    chosen: dict[str, dict[str, str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text("utf-8")):
        source = Path(entry["file"])
        if build in source.parents and not source.name.startswith("unity_"):
            continue
        command = entry["command"].replace(ONLY_GCC, "")
        chosen.setdefault(entry["file"], entry | {"command": command})
    return list(chosen.values())


@cache
def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def included(source: Path, folders: list[Path]) -> dict[Path, bytes]:
    """Our own files that a source reads, itself among them."""
    read: dict[Path, bytes] = {}
    todo = [source]
    while todo:
        path = todo.pop()
        text = content(path)
        if path in read or text is None:
            continue
        read[path] = text
        for name in INCLUDE.findall(text):
            for folder in [path.parent, *folders]:
                found = Path(os.path.normpath(folder / os.fsdecode(name)))
                if content(found) is not None:
                    todo.append(found)
                    break
    return read


def key(entry: dict[str, str], tool: str) -> str:
    folders = [
        Path(word[2:])
        for word in shlex.split(entry["command"])
        if word.startswith("-I/")
    ]
    parts = [
        tool.encode(),
        entry["command"].encode(),
        (ROOT / ".clang-tidy").read_bytes(),
    ]
    for path, text in sorted(included(Path(entry["file"]), folders).items()):
        parts += [os.fsencode(path), text]
    return hashlib.sha256(
        b"".join(hashlib.sha256(part).digest() for part in parts)
    ).hexdigest()


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        description="clang-tidy over what a build folder compiles"
    )
    parser.add_argument("build", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    if not (build / "compile_commands.json").is_file():
        print(
            f"tidy: {build} has no compile_commands.json: cmake --preset lint",
            file=sys.stderr,
        )
        return 2

    if not shutil.which("clang-tidy"):
        print(
            "tidy: clang-tidy is not installed: ./cmake/bootstrap.sh --lint",
            file=sys.stderr,
        )
        return 2

    version = subprocess.run(
        ["clang-tidy", "--version"], check=True, capture_output=True, text=True
    )
    # The wheel has clang's own headers except omp.h, which comes from GCC; last, so that it adds only that one.
    gcc = subprocess.run(
        ["g++", "-print-file-name=include"], check=True, capture_output=True, text=True
    )
    notes = build / "tidy"
    notes.mkdir(exist_ok=True)
    command = [
        "clang-tidy",
        "--quiet",
        "-p",
        str(notes),
        f"--extra-arg=-idirafter{gcc.stdout.strip()}",
    ]

    every = entries(build)
    if not every:
        print(f"tidy: {build} compiles no source: cmake --preset lint", file=sys.stderr)
        return 2
    # Given two commands for a source, clang-tidy would run both.
    (notes / "compile_commands.json").write_text(json.dumps(every), "utf-8")
    todo = [
        (entry["file"], notes / key(entry, version.stdout + command[-1]))
        for entry in every
    ]
    todo = [(source, note) for source, note in todo if not note.exists()]
    print(
        f"tidy: {len(every)} sources and batches, {len(every) - len(todo)} of them clean before"
    )

    def held(source: str, note: Path) -> tuple[float, str, bool]:
        begin = time.monotonic()
        done = subprocess.run(
            [*command, source], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            note.touch()
            return time.monotonic() - begin, "", True
        # What it prints besides findings, about suppressed warnings, matters only if it could not read the
        # source.
        return time.monotonic() - begin, done.stdout or done.stderr, False

    dirty = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, options.jobs)) as pool:
        running = {pool.submit(held, source, note): source for source, note in todo}
        for number, future in enumerate(concurrent.futures.as_completed(running), 1):
            seconds, found, clean = future.result()
            name = os.path.relpath(running[future], ROOT)
            print(f"[{number}/{len(todo)}] {seconds:5.1f} s  {name}", flush=True)
            if not clean:
                dirty += 1
                print(found, flush=True)
    if dirty:
        print(f"tidy: findings in {dirty} of {len(todo)}", file=sys.stderr)
    return 1 if dirty else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
