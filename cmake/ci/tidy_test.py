# SPDX-License-Identifier: Apache-2.0
"""clang-tidy by a stand-in that finds each `bad` word in a source: what is read, what is not read again, what fails."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TIDY = Path(__file__).with_name("tidy.py")
STAND_IN = """#!/bin/bash
[ "$1" = --version ] && echo "stand-in ${VERSION:-1}" && exit
source=${*: -1}
echo "$source" >> "$ASKED"
! grep -n bad "$source"
"""


class House:
    """A build folder with sources beside it, and how often each was read."""

    def __init__(self, place: Path) -> None:
        self.place, self.asked, self.build = place, place / "asked", place / "build"
        self.build.mkdir()
        (place / "bin").mkdir()
        (place / "bin" / "clang-tidy").write_text(STAND_IN, "utf-8")
        (place / "bin" / "clang-tidy").chmod(0o755)
        self.script = place / "cmake" / "ci" / "tidy.py"  # of a tree of its own, whose checks it takes
        self.script.parent.mkdir(parents=True)
        shutil.copy(TIDY, self.script)
        self.write(".clang-tidy", "Checks: all\n")
        self.write("a.hpp", "int a();\n")
        self.write("a.cpp", '#include "a.hpp"\n')
        self.write("b.cpp", "int b();\n")
        self.commands("a.cpp", "b.cpp")

    def write(self, name: str, text: str) -> None:
        (self.place / name).parent.mkdir(exist_ok=True)
        (self.place / name).write_text(text, "utf-8")

    def commands(self, *names: str, flag: str = "") -> None:
        every = [
            {
                "directory": str(self.build),
                "file": str(self.place / name),
                "command": f"c++ -I{self.place} {flag} {number}",
            }
            for number, name in enumerate(names)
        ]
        (self.build / "compile_commands.json").write_text(json.dumps(every), "utf-8")

    def tidy(self, version: str = "1") -> tuple[int, list[str], str]:
        self.asked.write_text("", "utf-8")
        environment = os.environ | {
            "PATH": f"{self.place / 'bin'}:{os.environ['PATH']}",
            "ASKED": str(self.asked),
            "VERSION": version,
        }
        done = subprocess.run(
            [sys.executable, self.script, self.build, "--jobs=1"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        asked = [Path(line).name for line in self.asked.read_text("utf-8").splitlines()]
        return done.returncode, sorted(asked), done.stdout + done.stderr


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def test_what_was_clean_is_not_read_again(house: House) -> None:
    assert house.tidy()[:2] == (0, ["a.cpp", "b.cpp"])
    assert house.tidy()[:2] == (0, [])


def test_a_change_of_a_header_is_read_where_it_is_included(house: House) -> None:
    house.tidy()
    house.write("a.hpp", "int a(int);\n")
    assert house.tidy()[:2] == (0, ["a.cpp"])


def test_a_header_of_a_folder_that_the_compiler_is_given_is_one(house: House) -> None:
    house.write("lib/of_lib.hpp", "int c();\n")
    house.write("src/c.cpp", '  # include "lib/of_lib.hpp"\n')
    house.commands("src/c.cpp")
    assert house.tidy()[:2] == (0, ["c.cpp"])
    assert house.tidy()[:2] == (0, [])
    house.write("lib/of_lib.hpp", "int bad();\n")
    assert house.tidy()[1] == ["c.cpp"]


def test_other_checks_another_tool_and_another_command_read_all_again(house: House) -> None:
    every = (0, ["a.cpp", "b.cpp"])
    assert house.tidy()[:2] == every
    house.write(".clang-tidy", "Checks: some\n")
    assert house.tidy()[:2] == every
    assert house.tidy(version="2")[:2] == every
    house.commands("a.cpp", "b.cpp", flag="-DMORE")
    assert house.tidy(version="2")[:2] == every
    assert house.tidy(version="2")[:2] == (0, [])


def test_an_option_that_only_gcc_knows_is_not_passed_on(house: House) -> None:
    house.commands("a.cpp", flag="-O1 -fno-tree-sra -DMORE")
    house.tidy()
    (read,) = json.loads((house.build / "tidy" / "compile_commands.json").read_text("utf-8"))
    assert "-O1 -DMORE" in read["command"]


def test_a_finding_fails_and_is_read_again(house: House) -> None:
    house.write("b.cpp", "int bad();\n")
    for asked in (["a.cpp", "b.cpp"], ["b.cpp"]):
        code, read, said = house.tidy()
        assert (code, read) == (1, asked)
        assert "int bad();" in said


def test_a_source_with_two_commands_is_read_once_and_a_copy_in_the_build_never(
    house: House,
) -> None:
    house.write("build/copy.cpp", "int bad();\n")
    house.write("build/unity_0_cxx.cxx", "int batch();\n")
    house.commands("a.cpp", "a.cpp", "build/copy.cpp", "build/unity_0_cxx.cxx")
    assert house.tidy()[:2] == (0, ["a.cpp", "unity_0_cxx.cxx"])
    kept = json.loads(
        (house.build / "tidy" / "compile_commands.json").read_text("utf-8")
    )
    assert [entry["command"][-1] for entry in kept] == ["0", "3"]


def test_a_build_that_compiles_nothing_is_not_clean(house: House) -> None:
    house.commands("build/copy.cpp")
    code, read, said = house.tidy()
    assert (code, read) == (2, [])
    assert "compiles no source" in said


def test_a_build_that_is_not_configured_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, TIDY, tmp_path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "cmake --preset lint" in done.stderr
