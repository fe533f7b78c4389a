# SPDX-License-Identifier: Apache-2.0
"""The page: all sections in one HTML file that needs nothing else."""

import re
from pathlib import Path

from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup

from holdfast_report import sections
from holdfast_report.folding import Folded
from holdfast_report.root import Root
from holdfast_report.run_line import Past
from holdfast_report.scripts import hash_of, script
from holdfast_report.since_when import Trends, since_in


def breakable(case: str) -> Markup:
    """A case id that may break after its slashes."""
    return Markup("/<wbr>").join(case.split("/"))


def parted(text: str) -> Markup:
    """A text that may break after the parts of its names."""
    return Markup("<wbr>").join(re.split(r"(?<=[/_])", text))


class Compiled(BytecodeCache):
    """The compiled templates, for all engines of this process: each share of a site has its own."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], bytes] = {}  # by template and source

    def load_bytecode(self, bucket: Bucket) -> None:
        if code := self.held.get((bucket.key, bucket.checksum)):
            bucket.bytecode_from_string(code)

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.held[bucket.key, bucket.checksum] = bucket.bytecode_to_string()


compiled = Compiled()


def new_engine() -> Environment:
    return Environment(
        loader=PackageLoader("holdfast_report", "templates"),
        bytecode_cache=compiled,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def engine_of(root: Root, trends: Trends, past: Past) -> Environment:
    """The templates, and what they call: what they fold goes into one block of the page."""
    engine = new_engine()
    folded = Folded()
    engine.filters |= {"breakable": breakable, "parted": parted}
    engine.globals |= {
        "fold": folded.add,
        "fold_piece": folded.piece,
        "block": folded.block,
        "since": since_in(root, trends.changes, past),
    }
    return engine


def render(
    root: Root,
    trends: Trends,
    trends_absent: str | None,
    out: Path,
    past: Past = Past(),
) -> str:
    """`trends_absent` says why there are no trends, where there are none; `out` is the folder in
    which the page will lie; `past` what is known of commits."""
    style = (Path(__file__).parent / "templates" / "page.css").read_text("utf-8")
    scripts = [script(name) for name in ("filter.js", "folded.js")]
    page = engine_of(root, trends, past).get_template("page.html")
    return page.render(
        style=Markup(style),
        scripts=scripts,
        allowed=Markup(" ".join(hash_of(text) for text in scripts)),
        **sections.judged(root, past),
        **sections.found(root),
        **sections.trends(trends, trends_absent),
        **sections.ratios(root),
        **sections.code(root),
        **sections.memory(root),
        **sections.profiles(root, out),
        **sections.covered(root, trends_absent),
    )
