# SPDX-License-Identifier: Apache-2.0
"""Each wheel is pinned by version and hash, no other list of wheels exists, pip refuses another hash, and what lacks its wheels fails."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LISTS = ["cmake/ci/readers-requirements.txt", "cmake/ci/requirements.txt", "cmake/cuda-requirements.txt",
         "cmake/disassembler-requirements.txt", "reporting/requirements.txt"]
ROW = re.compile(r"[A-Za-z0-9._-]+==\S+( --hash=sha256:[0-9a-f]{64})+")


@pytest.mark.parametrize("name", LISTS)
def test_each_wheel_is_pinned_by_version_and_hash(name: str) -> None:
    rows = [line for line in (ROOT / name).read_text("utf-8").splitlines() if line and not line.startswith("#")]
    assert rows
    assert [row for row in rows if not ROW.fullmatch(row)] == []


def test_there_is_no_list_but_these() -> None:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "*requirements*.txt"], capture_output=True, text=True, check=True)
    assert listed.stdout.split() == sorted(LISTS)


def test_a_wheel_of_another_hash_is_refused(tmp_path: Path) -> None:
    """With the options that bootstrap.sh gives pip; nothing is downloaded."""
    words = (ROOT / "cmake/bootstrap.sh").read_text("utf-8")
    install = re.search(r"-I -m (pip install [^\n]*) \\\n", words)
    assert install, "bootstrap.sh no longer installs wheels as this test reads it"
    wheel = tmp_path / "toy-1.0-py3-none-any.whl"
    wheel.write_bytes(b"another wheel")
    (tmp_path / "list.txt").write_text(f"toy==1.0 --hash=sha256:{'0' * 64}\n", "utf-8")
    python = ROOT / ".venv/bin/python3"
    done = subprocess.run(
        [python, "-I", "-m", *install[1].split(), "--no-index", f"--find-links={tmp_path}", "--target", tmp_path / "site",
         "--requirement", tmp_path / "list.txt"],
        capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_without_its_wheels_a_test_fails_and_says_why(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\nexit 1\n", "utf-8")
    python.chmod(0o755)
    script = tmp_path / "test.cmake"
    script.write_text(f"""include("{ROOT}/cmake/Python.cmake")
        execute_process(COMMAND ${{HOLDFAST_PYTEST}} -q COMMAND_ERROR_IS_FATAL ANY)""", "utf-8")
    done = subprocess.run(["cmake", f"-DPROJECT_SOURCE_DIR={tmp_path}", "-P", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "wheels are absent: run ./cmake/bootstrap.sh" in done.stderr


def test_no_module_of_the_current_folder_is_taken(tmp_path: Path) -> None:
    """A `pip` and a `venv` lie where bootstrap.sh is called from."""
    for name in ("pip", "venv"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n", "utf-8")
    done = subprocess.run(["bash", ROOT / "cmake/bootstrap.sh", "--check"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "planted" not in done.stdout + done.stderr
    calls = re.findall(r"python3\S* (-\S+)", (ROOT / "cmake/bootstrap.sh").read_text("utf-8"))
    assert calls and set(calls) == {"-I"}
