# SPDX-License-Identifier: Apache-2.0
"""Each metric that a suite promises stands in a table that says what it is: its own, or one of what suites share."""

import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("HOLDFAST_BUILD", ROOT / "build" / "release"))
SHARED = ["baselines/formats/README.md", "suites/families/README.md"]
ROWS = re.compile(r"^\| \*?`.*?(?= \| )", re.MULTILINE)  # the first cell of rows that begin with a name


def explained(page: Path) -> set[str]:
    text = page.read_text("utf-8") if page.exists() else ""  # a suite without metrics of its own may have no page
    return {name for row in ROWS.findall(text) for name in re.findall(r"`([a-z0-9_]+)`", row)}


def test_each_metric_of_a_suite_is_explained() -> None:
    lists = [json.loads(path.read_text("utf-8")) for path in sorted((BUILD / "bin").glob("*.list.json"))]
    if not lists:
        pytest.skip("no suite is built")
    shared = set().union(*(explained(ROOT / page) for page in SHARED))
    unknown = {one["suite"]: sorted(set(one["metrics"]) - shared - explained(ROOT / "suites" / one["suite"] / "README.md"))
               for one in lists}
    assert not {suite: names for suite, names in unknown.items() if names}
