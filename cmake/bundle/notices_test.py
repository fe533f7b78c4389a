# SPDX-License-Identifier: Apache-2.0
"""Tests notices.cmake, which pack.cmake includes, on Debian packages that are installed here."""

import re
import subprocess
from pathlib import Path

NOTICES = Path(__file__).with_name("notices.cmake")


def run(place: Path, *calls: str) -> subprocess.CompletedProcess[str]:
    script = place / "script.cmake"
    script.write_text("\n".join([f"include({NOTICES})", *calls]), "utf-8")
    return subprocess.run(["cmake", "-P", script], capture_output=True, text=True, check=False)


def test_what_is_built_in_comes_with_its_terms_and_its_source(tmp_path: Path) -> None:
    done = run(tmp_path, f"install_built_in_notices({tmp_path})")
    assert done.returncode == 0, done.stderr
    sources = (tmp_path / "licences/SOURCES").read_text("utf-8")
    for package in ("nlohmann-json3-dev", "libprotozero-dev", "googletest"):
        assert (tmp_path / "licences" / package).read_text("utf-8")
        assert re.search(rf"^{package}: \S+=\S+$", sources, re.MULTILINE)


def test_a_library_is_named_once_with_where_its_source_is(tmp_path: Path) -> None:
    library = next(Path("/usr/lib").glob("*/libfftw3.so.3")).resolve()
    call = f'package_of(package {library})\ninstall_notice({tmp_path} "${{package}}")'
    assert run(tmp_path, call, call).returncode == 0
    assert re.findall(r"^libfftw3-double3: fftw3=\S+$", (tmp_path / "licences/SOURCES").read_text("utf-8"), re.MULTILINE)
    assert (tmp_path / "licences/SOURCES").read_text("utf-8").count("libfftw3-double3") == 1


def test_code_of_unknown_terms_is_not_packed(tmp_path: Path) -> None:
    done = run(tmp_path, f'package_of(package /nowhere/lib.so)\ninstall_notice({tmp_path} "${{package}}")')
    assert done.returncode != 0
    assert "no package of this system says under which terms" in " ".join(done.stderr.split())
