# SPDX-License-Identifier: Apache-2.0
"""What bootstrap.sh says is missing and does about it, in a small tree, with a package manager and a pip that are told what to
say: nothing is installed."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("bootstrap.sh")
LISTS = ["reporting/requirements.txt", "cmake/cuda-requirements.txt", "cmake/disassembler-requirements.txt", "cmake/ci/requirements.txt"]
TOOLS = {
    "dpkg-query": 'for name; do :; done\n[ "$name" = "${LACKS:-}" ] && echo "${STATUS:-}" && exit "${CODE:-0}"\necho -n installed',
    "apt-get": 'echo "apt-get $*" >> "$ASKED"\nexit "${APT:-0}"',
    "sudo": 'exec "$@"',
}
PIP = 'echo "pip $*" >> "$ASKED"\nexit "${PIP:-0}"'


def program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{text}\n", "utf-8")
    path.chmod(0o755)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in LISTS:
        (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / name).write_text(f"of {name}\n", "utf-8")
    script = SCRIPT.read_text("utf-8")  # for which this machine's own toolkit is not there
    (tmp_path / "tree/cmake/bootstrap.sh").write_text(script.replace("/usr/local/cuda", f"{tmp_path}/usr/local/cuda"), "utf-8")
    for name, text in TOOLS.items():
        program(tmp_path / "tools" / name, text)
    program(tmp_path / "tree/.venv/bin/python3", PIP)
    return tmp_path / "tree"


def stamp(tree: Path, name: str = "reporting.stamp", of: str = "reporting/requirements.txt") -> None:
    words = hashlib.sha256((tree / of).read_bytes()).hexdigest()
    (tree / ".venv" / name).write_text(f"{words}  -\n", "utf-8")


def run(tree: Path, *options: str, **environment: str) -> tuple[int, str, list[str]]:
    """Its code, what it says, and what was asked of apt-get and pip."""
    asked = tree.parent / "asked"
    asked.write_text("", "utf-8")
    # No toolkit but one that is named, and no package manager but ours.
    settings = {"PATH": f"{tree.parent / 'tools'}:{os.environ['PATH']}", "ASKED": str(asked), "CUDA_HOME": "/nowhere"} | environment
    done = subprocess.run(["bash", tree / "cmake/bootstrap.sh", *options], env=settings, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, asked.read_text("utf-8").splitlines()


def test_where_nothing_is_missing_it_says_so_and_installs_nothing(tree: Path) -> None:
    stamp(tree)
    stamp(tree, "disassembler.stamp", "cmake/disassembler-requirements.txt")
    assert run(tree, "--check") == (0, "bootstrap: nothing is missing\n", [])
    code, said, asked = run(tree)
    assert (code, asked) == (0, []) and "bootstrap: ready" in said


@pytest.mark.parametrize(("status", "code"), [("not-installed", "0"), ("half-configured", "0"), ("", "1")])
def test_a_package_that_is_not_wholly_there_is_missing(tree: Path, status: str, code: str) -> None:
    stamp(tree)
    stamp(tree, "disassembler.stamp", "cmake/disassembler-requirements.txt")
    lacking = {"LACKS": "valgrind", "STATUS": status, "CODE": code}
    assert run(tree, "--check", **lacking) == (1, "bootstrap: missing: valgrind\n", [])
    done, said, asked = run(tree, **lacking)
    assert done == 0, said
    assert [line.split()[:2] for line in asked] == [["apt-get", "update"], ["apt-get", "install"]]
    assert asked[1].endswith(" --no-install-recommends valgrind")
    for failing in ("100", "1"):
        done, said, _ = run(tree, **lacking, APT=failing)
        assert done == 1 and "apt-get update failed" in said


def test_wheels_are_installed_when_their_list_has_changed_and_noted_when_they_are(tree: Path) -> None:
    stamp(tree, "disassembler.stamp", "cmake/disassembler-requirements.txt")
    assert run(tree, "--check")[:2] == (1, "bootstrap: missing: the wheels of reporting/requirements.txt\n")
    code, said, asked = run(tree, PIP="1")
    assert code == 1 and "pip could not install the wheels of reporting/requirements.txt" in said
    assert run(tree, "--check")[0] == 1, "what failed is still missing"
    code, said, asked = run(tree)
    assert code == 0, said
    assert len(asked) == 1 and asked[0].endswith(f"--requirement {tree}/reporting/requirements.txt")
    assert run(tree, "--check")[0] == 0
    (tree / "reporting/requirements.txt").write_text("of another\n", "utf-8")
    assert run(tree, "--check")[0] == 1


def test_lint_asks_for_what_lint_needs(tree: Path) -> None:
    stamp(tree)
    stamp(tree, "disassembler.stamp", "cmake/disassembler-requirements.txt")
    assert run(tree, "--lint", "--check", LACKS="shellcheck")[:2] == (
        1, "bootstrap: missing: shellcheck, the wheels of cmake/ci/requirements.txt\n")
    assert run(tree, "--check", LACKS="shellcheck")[0] == 0


def test_an_option_that_is_none_is_refused(tree: Path) -> None:
    code, said, asked = run(tree, "--cude")
    assert (code, asked) == (2, []) and "unknown option '--cude'" in said


def plant_toolkit(place: Path, version: int) -> None:
    (place / "include").mkdir(parents=True)
    for header in ("nvrtc.h", "nvJitLink.h", "cublas_v2.h", "cufft.h"):
        (place / "include" / header).write_text("", "utf-8")
    (place / "include/cuda_runtime_api.h").write_text(f"#ifdef A\n#define CUDART_VERSION  {version}\n# define B CUDART_VERSION\n", "utf-8")


@pytest.mark.parametrize(("version", "is_one"), [(12090, False), (13000, True), (13010, True)])
def test_a_toolkit_older_than_cuda_13_is_none(tree: Path, version: int, is_one: bool) -> None:
    stamp(tree)
    stamp(tree, "disassembler.stamp", "cmake/disassembler-requirements.txt")
    plant_toolkit(tree.parent / "toolkit", version)
    code, said, _ = run(tree, "--cuda", "--check", CUDA_HOME=f"{tree.parent}/toolkit")
    assert (code == 0, "the wheels of cmake/cuda-requirements.txt" in said) == (is_one, not is_one)
    assert ("host only" not in run(tree, CUDA_HOME=f"{tree.parent}/toolkit")[1]) is is_one
    # A newer one in its place serves as well.
    plant_toolkit(tree.parent / "usr/local/cuda", 13000)
    assert run(tree, "--cuda", "--check", CUDA_HOME=f"{tree.parent}/toolkit")[0] == 0
