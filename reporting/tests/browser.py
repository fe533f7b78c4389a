# SPDX-License-Identifier: Apache-2.0
"""A headless browser for tests."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest


def found_chromium() -> str:
    """A machine without it skips, unless HOLDFAST_REQUIRE says that nothing may be missing."""
    names = ("chromium", "chromium-browser", "google-chrome")
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        missing = "no chromium on the PATH; install it: ./cmake/bootstrap.sh"
        if os.environ.get("HOLDFAST_REQUIRE"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def run(chromium: str, folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [*command, profile, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def luminance(colour: str) -> float:
    """Relative luminance of rgb(...), by the accessibility guidelines' definition."""
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
