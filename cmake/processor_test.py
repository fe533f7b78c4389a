# SPDX-License-Identifier: Apache-2.0
"""The build refuses a processor that its host code is not compiled for, before it compiles anything."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_another_processor_is_refused_with_its_name(tmp_path: Path) -> None:
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "-GNinja", "-DCMAKE_SYSTEM_NAME=Linux", "-DCMAKE_SYSTEM_PROCESSOR=aarch64"],
        capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "holdfast builds for x86-64 alone" in done.stderr
    assert "aarch64" in done.stderr
