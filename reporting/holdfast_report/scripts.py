# SPDX-License-Identifier: Apache-2.0
"""The pages' own scripts, and what a page's policy says of them: nothing else may run."""

import base64
import hashlib
from pathlib import Path

from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"


def script(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text("utf-8"))


def hash_of(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
