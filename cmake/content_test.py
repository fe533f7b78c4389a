# SPDX-License-Identifier: Apache-2.0
"""Which changes make what was measured stale, in a small tree, with git and without."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("content.cmake")
TREE = ["kernels/heat/optimized.cu", "kernels/heat/README.md", "suites/heat/cases.cpp", "suites/heat/cases_test.cpp",
        "suites/side_by_side/heat.py", "cmake/Holdfast.cmake", "cmake/table.py", "CMakeLists.txt", "CMakePresets.json", "README.md"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in TREE:
        file = tmp_path / "tree" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(name, "utf-8")
    subprocess.run(["git", "init", "--quiet", tmp_path / "tree"], check=True)
    return tmp_path / "tree"


def hashed(tree: Path) -> subprocess.CompletedProcess[str]:
    command = ["cmake", f"-DSOURCE={tree}", f"-DOUTPUT={tree.parent / 'content.json'}", "-P", SCRIPT]
    return subprocess.run(command, check=False, capture_output=True, text=True)


def test_code_says_the_hash_to_the_linker_and_is_written_when_it_changes_alone(tree: Path) -> None:
    code = tree.parent / "linked_content.cpp"

    def write() -> str:
        command = ["cmake", f"-DSOURCE={tree}", f"-DOUTPUT={tree.parent / 'content.json'}", f"-DCODE={code}", "-P", SCRIPT]
        subprocess.run(command, check=True, capture_output=True)
        return code.read_text("utf-8")

    assert write() == f'extern const char holdfast_linked_content[] = "{content(tree)}";\n'
    written = code.stat().st_mtime_ns
    (tree / "README.md").write_text("no part of it", "utf-8")
    write()
    assert code.stat().st_mtime_ns == written
    (tree / "kernels/heat/optimized.cu").write_text("other", "utf-8")
    assert content(tree) in write()


def content(tree: Path) -> str:
    done = hashed(tree)
    assert done.returncode == 0, done.stderr
    return json.loads((tree.parent / "content.json").read_text("utf-8"))["content"]


@pytest.mark.parametrize("name", ["kernels/heat/optimized.cu", "suites/heat/cases.cpp", "suites/side_by_side/heat.py",
                                  "cmake/Holdfast.cmake", "CMakeLists.txt", "CMakePresets.json"])
def test_what_is_measured_is_content(tree: Path, name: str) -> None:
    before = content(tree)
    (tree / name).write_text("other", "utf-8")
    assert content(tree) != before


@pytest.mark.parametrize("name", ["README.md", "kernels/heat/README.md", "suites/heat/cases_test.cpp", "cmake/table.py"])
def test_pages_tests_and_tools_are_none(tree: Path, name: str) -> None:
    before = content(tree)
    (tree / name).write_text("other", "utf-8")
    assert content(tree) == before


def test_a_file_that_was_renamed_is_other_content(tree: Path) -> None:
    before = content(tree)
    (tree / "suites/heat/cases.cpp").rename(tree / "suites/heat/case_list.cpp")
    assert content(tree) != before


@pytest.mark.parametrize("git", [True, False], ids=["git", "archive"])
@pytest.mark.parametrize("name", ["kernels/[notes.md", "kernels/]b.cpp", "kernels/größe.hpp", "suites/a;b.cpp", 'suites/a"b.cpp',
                                  "suites/a\tb.cpp", "kernels/heat/cases copy.cpp"])
def test_a_name_that_would_hide_files_is_refused(tree: Path, name: str, git: bool) -> None:
    before = content(tree)
    (tree / name).write_text("other", "utf-8")
    if not git:
        shutil.rmtree(tree / ".git")
    done = hashed(tree)
    assert done.returncode != 0 or content(tree) != before
    assert done.returncode == 0 or "rename or remove" in done.stderr


def git(tree: Path, *words: str) -> str:
    command = ["git", "-C", tree, "-c", "user.name=t", "-c", "user.email=t@t", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(tree: Path) -> None:
    git(tree, "add", "--all")
    git(tree, "commit", "--quiet", "--message=change")


def test_the_content_is_the_same_before_and_after_its_commit_and_says_which_it_is_of(tree: Path) -> None:
    def told() -> dict[str, object]:
        return json.loads((tree.parent / "content.json").read_text("utf-8"))["git"]

    commit(tree)
    first = content(tree)
    assert told() == {"dirty": False, "sha": git(tree, "rev-parse", "HEAD")}
    (tree / "kernels/heat/new.cuh").write_text("new", "utf-8")  # which git does not know yet
    (tree / "suites/heat/cases.cpp").write_text("other", "utf-8")
    before = content(tree)
    assert before != first and told()["dirty"] is True
    commit(tree)
    assert content(tree) == before
    assert told() == {"dirty": False, "sha": git(tree, "rev-parse", "HEAD")}
    (tree / "README.md").write_text("no part of it", "utf-8")
    assert content(tree) == before and told()["dirty"] is False


@pytest.mark.parametrize("name", ["kernels/heat/by_test.hpp", "kernels/heat/by_test.cu", "kernels/heat/by_test.cuh"])
def test_what_code_may_include_is_content_whatever_its_name(tree: Path, name: str) -> None:
    before = content(tree)
    (tree / name).write_text("other", "utf-8")
    assert content(tree) != before


def test_files_that_git_does_not_list_are_refused_by_the_name_of_their_folder(tree: Path) -> None:
    commit(tree)
    library = tree.parent / "library"
    library.mkdir()
    (library / "fast.hpp").write_text("fast", "utf-8")
    (tree / "kernels/linked").symlink_to(library)
    assert "kernels/linked is a repository of its own or a link" in " ".join(hashed(tree).stderr.split())
    (tree / "kernels/linked").unlink()
    subprocess.run(["git", "init", "--quiet", library], check=True)
    commit(library)
    git(tree, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "kernels/nested")
    assert "kernels/nested is a repository of its own or a link" in " ".join(hashed(tree).stderr.split())


def test_nothing_is_no_content(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert "has none of" in hashed(tmp_path / "tree").stderr


def test_an_unpacked_archive_has_the_content_of_its_commit(tree: Path) -> None:
    before = content(tree)
    shutil.rmtree(tree / ".git")
    assert content(tree) == before
    (tree / "cmake/__pycache__").mkdir()
    (tree / "cmake/__pycache__/table.cpython-311.pyc").write_text("made by Python when it ran a test", "utf-8")
    assert content(tree) == before
