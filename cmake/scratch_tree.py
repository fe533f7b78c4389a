# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree with its own build, for tools that edit sources: `example.py`, `planted_code.py` and `slowdowns.py`."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SETTINGS = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_CXX_FLAGS",
            "CMAKE_COMPILE_WARNING_AS_ERROR", "CMAKE_MAKE_PROGRAM")
OWN = ("HOLDFAST_FUZZ_SECONDS", "HOLDFAST_STORE")  # of each build


def copy_tree(root: Path, scratch: Path) -> None:
    """Copies the files that git lists or does not ignore, and the tools that bootstrap.sh installed."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).is_file():
            (scratch / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, scratch / name)
    if (root / ".venv").is_dir():
        (scratch / ".venv").symlink_to(root / ".venv")


def settings(cache: str) -> list[str]:
    """Options that configure a second build like the one with this CMakeCache.txt."""
    found = []
    for line in cache.splitlines():
        name, _, value = line.partition("=")
        name, _, kind = name.partition(":")
        if name == "CMAKE_GENERATOR":
            found.append(f"-G{value}")
        elif name in SETTINGS or (name.startswith("HOLDFAST_") and name not in OWN and kind != "INTERNAL"):
            found.append(f"-D{name}={value}")
    return found


@dataclass(frozen=True)
class Plant:
    """One place in a suite's kernels that is made worse."""

    what: str
    suite: str
    file: str
    line: str
    worse: str


class House:
    def __init__(self, scratch: Path) -> None:
        self.scratch, self.build = scratch, scratch / "build"
        self.environment = os.environ | {"HOLDFAST_CACHE_DIR": str(self.build / "cache")}

    def call(self, *command: str | Path, exit_code: int | None = 0) -> str:
        """Runs a command and returns its output; exits if its code differs. None: any code."""
        print("$", *command, flush=True)
        done = subprocess.run(command, cwd=self.scratch, env=self.environment, text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        print(done.stdout, flush=True)
        if exit_code not in (None, done.returncode):
            sys.exit(f"this ended with {done.returncode} instead of {exit_code}")
        return done.stdout

    def build_targets(self, *targets: str) -> None:
        self.call("cmake", "--build", self.build, "--target", *targets)

    @contextlib.contextmanager
    def planted(self, plant: Plant) -> Iterator[None]:
        """Builds with the plant; afterwards the source is restored, but not rebuilt."""
        source = self.scratch / "kernels" / plant.suite / plant.file
        as_built = source.read_text("utf-8")
        source.write_text(as_built.replace(plant.line, plant.worse), "utf-8")
        try:
            self.build_targets("holdfast", plant.suite)
            yield
        finally:
            source.write_text(as_built, "utf-8")

    def measure(self, *suites: str, device: str, out: str, options: tuple[str, ...] = ()) -> None:
        self.call(self.build / "bin/holdfast", "run", *suites, f"--device={device}", f"--out={self.build / out}", *options)

    def gate(self, *verb: str, out: str, exit_code: int = 0) -> str:
        return self.call(self.build / "bin/holdfast", *verb, self.build / out,
                         f"--baselines={self.scratch / 'baselines'}", exit_code=exit_code)

    def begin(self, like: Path, suites: set[str]) -> None:
        """Configures it like the build `like`. The gate refuses rules of suites that a build does not have."""
        for policy in (self.scratch / "baselines/policy").glob("*.json"):
            if policy.stem not in {"common", *suites}:
                policy.unlink()
        self.call("git", "init", "--quiet")  # of its own, so that what is built knows its content
        self.call("cmake", "-S", ".", "-B", self.build, *settings((like / "CMakeCache.txt").read_text("utf-8")))
