# SPDX-License-Identifier: Apache-2.0
"""A header that is not included is planted in a small house and named; what is no function of ours is not."""

import subprocess
import sys
from pathlib import Path

import pytest

INCLUDES = Path(__file__).with_name("includes.py")
HOUSE = {
    "kernels/layers.txt": "base\nheat waves\n",
    "kernels/base/text.hpp": "namespace holdfast {\nstd::string joined_words(const Words& words);\n}\n",
    "kernels/base/more.hpp": '#include "base/text.hpp"\ntemplate <class T>\ninline T twice_as_much(T value) {\n  return 2 * value;\n}\n',
    "kernels/heat/heat.hpp": "int next_row(int row);\n",
    "kernels/waves/waves.hpp": "int shared_name(int row);\n",
    "baselines/gate/gate.hpp": "int exit_code_of(int fault);\n",
}


def check(place: Path, text: str, file: str = "kernels/heat/heat.cpp") -> tuple[int, str]:
    for name, content in (HOUSE | {file: text}).items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(content, "utf-8")
    (place / "suites").mkdir(exist_ok=True)
    done = subprocess.run([sys.executable, INCLUDES, place], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("void f() { joined_words({}); }\n", "calls joined_words(), and does not include kernels/base/text.hpp"),
        ("bool f() {\n  return twice_as_much(1) > 1;\n}\n", "include kernels/base/more.hpp"),
        ("bool f() {\n  return a && next_row(1) || b * next_row(2);\n}\n", "include kernels/heat/heat.hpp"),
        ('#include "base/text.hpp"\nint a = twice_as_much(1);\n', "include kernels/base/more.hpp"),
    ],
)
def test_a_header_that_is_missing_is_named(tmp_path: Path, text: str, said: str) -> None:
    code, words = check(tmp_path, text)
    assert code == 1
    assert words.startswith("kernels/heat/heat.cpp calls ")
    assert said in words


def test_a_header_that_lacks_another_is_named_too(tmp_path: Path) -> None:
    code, words = check(tmp_path, "inline int f() { return next_row(1); }\n", "kernels/heat/more.hpp")
    assert (code, words) == (1, "kernels/heat/more.hpp calls next_row(), and does not include kernels/heat/heat.hpp\n")


@pytest.mark.parametrize(
    "text",
    [
        '#include "base/more.hpp"\nint a = twice_as_much(joined_words({}));\n',
        "static std::string joined_words(int);\nvoid f() { joined_words(1); }\n",
        "void f() {\n  const auto joined_words = [](int a) { return a; };\n  joined_words(1);\n}\n",
        "void f(const std::function<void()>& next_row) {\n  next_row();\n}\n",
        "void f() { list.next_row(); list->next_row(); other::next_row(); }\n",
        '// next_row(1)\nconst char* a = "next_row(1)"; const char* b = R"(next_row(1))";\n',
        "void f() { shared_name(1); exit_code_of(2); }\n",  # of a house beside, and of a room that it may not know
        "void f() { elsewhere_declared(1); }\n",
    ],
    ids=["included", "declared", "a lambda", "a parameter", "of another scope", "no code", "not for this file", "not ours"],
)
def test_what_is_included_or_is_no_function_of_ours_passes(tmp_path: Path, text: str) -> None:
    assert check(tmp_path, text) == (0, "every file includes what it calls\n")


def test_a_folder_that_is_no_house_is_refused(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, INCLUDES, tmp_path], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "usage" in done.stderr
