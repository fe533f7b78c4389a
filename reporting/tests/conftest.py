# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest
from browser import found_chromium
from builders import Workplace


@pytest.fixture
def workplace(tmp_path: Path) -> Workplace:
    return Workplace(tmp_path)


@pytest.fixture(scope="session")
def chromium() -> str:
    return found_chromium()
