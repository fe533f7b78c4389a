# SPDX-License-Identifier: Apache-2.0
"""Where the pages lie. An address consists only of names, so that it stays the same when runs
are added."""

import hashlib
import re

from holdfast_report.site.archive import Commit, Key


def safe(name: str) -> str:
    """A part of a path; what is no legal name gets a hash, so that no two share a page."""
    text = re.sub(r"[^A-Za-z0-9_.=-]", "_", name.replace(":", "=")).lstrip(".")
    if re.fullmatch(r"[a-z0-9_.:-]+", name) and not name.startswith("."):
        return text
    return f"{text[:40]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def of_case(case: str) -> str:
    return "case/" + "/".join(safe(part) for part in case.split("/")) + ".html"


def of_class(device_class: str) -> str:
    return f"class/{safe(device_class)}.html"


def of_run(commit: Commit) -> str:
    return f"run/{safe(commit.name.removeprefix('sha256:'))[:40]}.html"


def anchor(key: Key) -> str:
    """The anchor of a series on the page of its case."""
    device_class, _, variant, metric = key
    return re.sub(r"[^A-Za-z0-9_.-]", "_", f"{device_class}.{variant}.{metric}")


def root_from(page: str) -> str:
    """The relative path from a page to the folder of the site."""
    return "../" * page.count("/")
