# SPDX-License-Identifier: Apache-2.0
"""The page of documents in which every text is a planted one (baselines/formats/hostile_text.json), in a real browser, with
its own policy and with all sections open: text is what it stays."""

import itertools
import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import builders
import profile_builders
import pytest
from browser import run
from builders import DRY, HOST, Workplace
from holdfast_report.command import main

pytestmark = pytest.mark.slow

CORPUS = Path(__file__).parents[2] / "baselines" / "formats" / "hostile_text.json"
TEXTS: dict[str, str] = json.loads(CORPUS.read_text("utf-8"))["kinds"]
TEXTS["length"] *= 1000
# What a document says in words of its own; the other strings are names, hashes and times.
FREE = {
    "reason", "oracle", "driver", "cuda", "compiler", "cpu", "sentence", "code", "next", "program", "path", "site", "fix",
    "top_op", "after", "before", "silence", "why", "subject", "branch", "device_name", "kernel",
}  # fmt: skip

WRAPPER = """<!doctype html><meta charset="utf-8"><body style="margin:0"><pre id="measured"></pre>
<iframe id="page" style="border:0;width:{width}px;height:2000px"></iframe>
<script>
const frame = document.getElementById("page");
frame.onload = async () => {{
  const page = frame.contentDocument;
  for (let depth = 0; depth < 4; depth += 1) {{  // what is opened is then filled, also with sections
    page.querySelectorAll("details").forEach((section) => {{ section.open = true; }});
    await new Promise((done) => setTimeout(done, 400));
  }}
  const handles = (one) => [...one.attributes].some((attribute) => attribute.name.startsWith("on"));
  document.getElementById("measured").textContent = JSON.stringify({{
    scroll: page.documentElement.scrollWidth, width: page.documentElement.clientWidth,
    planted: [...page.querySelectorAll("*")].filter((one) => handles(one) || ["IMG", "IFRAME", "OBJECT", "EMBED", "LINK"].includes(one.tagName)).map((one) => one.outerHTML.slice(0, 200)),
    links: [...page.querySelectorAll("a")].map((one) => one.getAttribute("href")).filter((href) => href && !href.startsWith("#")),
    scripts: page.querySelectorAll("script").length,
    folded: [...page.querySelectorAll("[data-table], [data-piece]")].length,
    text: page.body.textContent}});
}};
frame.src = {page};
</script></body>"""


def planted(value: Any, texts: Iterator[str], free: bool = False) -> Any:
    """The same document with every free text planted, one kind after the other."""
    if isinstance(value, dict):
        return {
            key: planted(held, texts, key in FREE or key == "evidence")
            for key, held in value.items()
        }
    if isinstance(value, list):
        return [planted(held, texts, free) for held in value]
    return next(texts) if free and isinstance(value, str) else value


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    workplace = Workplace(tmp_path_factory.mktemp("hostile"))
    texts = itertools.cycle(TEXTS.values())
    for device_class, document in (
        (HOST, builders.host_results()),
        (DRY, builders.dry_results()),
    ):
        for case in document["cases"]:
            for variant in case["variants"].values():
                for kernel in variant["kernels"]:
                    kernel["name"] = next(texts)
            case |= (
                {"status": "failed", "reason": next(texts)}
                if device_class == DRY
                else {}
            )
        document["quality"]["reasons"] = list(TEXTS.values())
        document["env"]["device"]["name"] = next(texts)
        workplace.measure(device_class, planted(document, texts))
    for profile in (
        profile_builders.host(),
        profile_builders.dry(),
        profile_builders.gpu(),
    ):
        for op in profile["ops"]:
            op["name"] = next(texts)
        profile["memory"]["peak_by_site"] = {
            text: 1000 + at for at, text in enumerate(TEXTS.values())
        }
        profile_builders.put(workplace, planted(profile, texts))
    rows = [
        builders.row("REGRESSION", sentence=text, evidence={"code": text}, next=text)
        for text in TEXTS.values()
    ]
    judged = planted(builders.verdict(1, rows), texts)
    judged["notes"] = judged["not_checked"] = list(TEXTS.values())
    judged["findings"] = [
        profile_builders.finding(sentence=text, fix=text) for text in TEXTS.values()
    ]
    workplace.judge(judged)
    assert main(workplace.options()) == 0
    return workplace.out / "index.html"


@pytest.fixture(scope="module")
def seen(
    chromium: str, page: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("look")
    wrapper = folder / "wrapper.html"
    wrapper.write_text(
        WRAPPER.format(width=1280, page=json.dumps(page.as_uri())), "utf-8"
    )
    done = run(
        chromium, folder, "--allow-file-access-from-files", "--virtual-time-budget=20000", "--enable-logging=stderr",
        "--dump-dom", wrapper.as_uri(),
    )  # fmt: skip
    found = re.search(r'<pre id="measured">(.+?)</pre>', done.stdout, flags=re.DOTALL)
    assert found, "the page did not load in the browser"
    measured: dict[str, Any] = json.loads(unescape(found.group(1)))
    return measured | {
        "console": [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    }


def test_nothing_that_was_planted_is_run_loaded_or_linked(seen: dict[str, Any]) -> None:
    assert seen["planted"] == []
    assert seen["console"] == [], (
        "a script that the page's policy refused is told there"
    )
    assert [href for href in seen["links"] if "planted" in href] == []
    assert seen["scripts"] == 3, "the page's data and its own two"


@pytest.mark.parametrize("kind", ["html", "attributes", "markdown", "shell", "fences"])
def test_what_was_planted_is_read_as_it_was_written(
    seen: dict[str, Any], kind: str
) -> None:
    assert seen["folded"] == 0, "all sections are open"
    read = "".join(seen["text"].split())
    assert "".join(TEXTS[kind].split()) in read


def test_a_word_without_an_end_does_not_widen_the_page(seen: dict[str, Any]) -> None:
    assert seen["scroll"] <= seen["width"]
