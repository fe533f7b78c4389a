# SPDX-License-Identifier: Apache-2.0
"""What is folded, opened on a phone: a card's numbers are read downwards, and nobody moves them along."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any

import builders
import profile_builders
import pytest
from browser import run
from builders import HOST, Workplace
from holdfast_report.command import main

pytestmark = pytest.mark.slow

WIDTH = 390
WRAPPER = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:2000px"></iframe><pre id="measured"></pre>
<script>
const frame = document.getElementById("page");
frame.onload = async () => {{
  const page = frame.contentDocument;
  for (let depth = 0; depth < 3; depth += 1) {{
    page.querySelectorAll("details").forEach((section) => {{ section.open = true; }});
    await new Promise((done) => setTimeout(done, 300));
  }}
  const folded = [...page.querySelectorAll("details .scroll")].filter((place) => place.checkVisibility());
  const stacked = [...page.querySelectorAll("table.stacked")];
  document.getElementById("measured").textContent = JSON.stringify({{
    folded: folded.length, stacked: stacked.length,
    moved: folded.filter((place) => place.scrollWidth > place.clientWidth + 1)
      .map((place) => [place.closest("details").querySelector("summary").textContent, place.scrollWidth, place.clientWidth]),
    nameless: stacked.flatMap((table) => [...table.querySelectorAll("td")]).filter((cell) => !cell.dataset.head).length,
    roles: [...new Set(stacked.flatMap((table) => [table, ...table.querySelectorAll("*")].map((one) => one.getAttribute("role"))))]}});
}};
frame.srcdoc = {page};
</script></body>"""


@pytest.fixture(scope="module")
def opened(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The page with all of its sections open, as the browser measures it."""
    workplace = Workplace(tmp_path_factory.mktemp("narrow"))
    document = builders.host_results()
    builders.add_rates(document)
    workplace.measure(HOST, document)
    program = profile_builders.compilation(program="a_program/" * 6, reason="a reason " * 12)
    for profile in (
        profile_builders.host(builders.STEP),
        profile_builders.dry(builders.STEP, "reference"),
        profile_builders.gpu(builders.STEP, compiles=[program]),
    ):
        profile_builders.put(workplace, profile)
    assert main(workplace.options()) == 0
    page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", workplace.page())
    wrapper = Path(workplace.folder) / "wrapper.html"
    quoted = json.dumps(page).replace("</", "<\\/")
    wrapper.write_text(WRAPPER.format(width=WIDTH, page=quoted), "utf-8")
    budget = "--virtual-time-budget=5000"
    dom = run(chromium, workplace.folder, budget, "--dump-dom", wrapper.as_uri()).stdout
    found = re.search(r'<pre id="measured">(.+?)</pre>', dom, flags=re.DOTALL)
    assert found, "the page did not load in the browser"
    return json.loads(unescape(found.group(1)))


def test_no_folded_table_is_moved_along_inside_its_card(opened: dict[str, Any]) -> None:
    assert opened["folded"] >= 10
    assert opened["moved"] == []


def test_a_row_that_stands_as_lines_names_each_of_them_and_stays_a_row(opened: dict[str, Any]) -> None:
    assert opened["stacked"] >= 5
    assert opened["nameless"] == 0
    assert {"table", "row", "cell", "columnheader"} <= set(opened["roles"])
