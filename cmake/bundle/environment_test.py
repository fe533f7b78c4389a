# SPDX-License-Identifier: Apache-2.0
"""Which cache environment.sh gives to single commands: one that programs use."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """One with a cache of one program, and programs that need nothing of CUDA."""
    for name in ("lib/cuda-libraries", "cache/program"):
        (tmp_path / "bundle" / name).parent.mkdir(parents=True)
        (tmp_path / "bundle" / name).write_text("")
    (tmp_path / "bundle/cache").chmod(0o755)
    shutil.copy(Path(__file__).with_name("environment.sh"), tmp_path / "bundle")
    return tmp_path / "bundle"


def cache_of(bundle: Path, **environment: str) -> Path:
    settings = {"PATH": os.environ["PATH"], "HOME": str(bundle.parent)} | environment
    command = ["bash", "-c", 'umask 0002; . "$0/environment.sh" && bash -c "echo \\$HOLDFAST_CACHE_DIR"', bundle]
    return Path(subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stdout.strip())


def test_a_cache_of_ours_is_used_where_it_is(bundle: Path) -> None:
    assert cache_of(bundle) == bundle / "cache"


def test_of_a_cache_that_programs_do_not_use_they_use_a_copy(bundle: Path) -> None:
    if os.geteuid() == 0:
        os.chown(bundle / "cache", 12345, 12345)
    else:
        (bundle / "cache").chmod(0o775)
    copy = cache_of(bundle)
    assert copy == bundle.parent / ".cache/holdfast.bundle"
    assert (copy / "program").is_file()
    assert copy.stat().st_uid == os.geteuid() and copy.stat().st_mode & 0o022 == 0
    assert cache_of(bundle, XDG_CACHE_HOME=f"{bundle.parent}/own") == bundle.parent / "own/holdfast.bundle"


def test_a_cache_that_is_named_is_kept(bundle: Path) -> None:
    assert cache_of(bundle, HOLDFAST_CACHE_DIR="/named") == Path("/named")
