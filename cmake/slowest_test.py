# SPDX-License-Identifier: Apache-2.0
"""Tests slowest.py on the log files of a build, which the tests write."""

import subprocess
import sys
from pathlib import Path

SLOWEST = Path(__file__).with_name("slowest.py")


def run(build: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, SLOWEST, build], capture_output=True, text=True, check=False)


def test_the_slowest_come_first_and_the_last_build_of_an_object_counts(tmp_path: Path) -> None:
    (tmp_path / ".ninja_log").write_text(
        "# ninja log v5\n0\t9000\t1\ta.cpp.o\t1\n0\t2000\t1\ta.cpp.o\t1\n0\t3000\t1\tb.cpp.o\t1\n0\t5000\t1\tbin/a\t1\n", "utf-8")
    costs = tmp_path / "Testing/Temporary/CTestCostData.txt"
    costs.parent.mkdir(parents=True)
    costs.write_text("gate.judge_test 3 1.5\nlayers 1 2.5\n---\ngate.old_test\n", "utf-8")
    assert run(tmp_path).stdout == (
        "compilations: 2, 5 s in all\n      3.0 s  b.cpp.o\n      2.0 s  a.cpp.o\n"
        "tests: 2, 4 s in all\n      2.5 s  layers\n      1.5 s  gate.judge_test\n")


def test_a_folder_that_was_not_built_is_refused_in_one_sentence(tmp_path: Path) -> None:
    done = run(tmp_path)
    assert done.returncode == 1
    assert "holds no .ninja_log" in done.stderr
