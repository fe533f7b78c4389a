# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser. A machine without chromium skips these, unless HOLDFAST_REQUIRE says
that nothing may be missing."""

import copy
import json
import re
from collections.abc import Callable
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import builders
import profile_builders
import pytest
from browser import luminance, run
from builders import HOST, Workplace
from holdfast_report.command import main

pytestmark = pytest.mark.slow

PHONE, DESKTOP = 390, 1280
WAYS = [(PHONE, False), (PHONE, True), (DESKTOP, True)]  # width, with all sections open

# Headless windows are never narrower than about 500 pixels; a frame of the wanted width is as
# narrow as asked.
WRAPPER = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:2000px"></iframe><pre id="measured"></pre>
<script>
const frame = document.getElementById("page");
frame.onload = async () => {{
  const page = frame.contentDocument, root = page.documentElement;
  for (let depth = 0; depth < 3; depth += 1) {{  // what is opened is then filled, also with sections
    if ({opened}) page.querySelectorAll("details").forEach((section) => {{ section.open = true; }});
    await new Promise((done) => setTimeout(done, 300));
  }}
  const own = (element) => !element.closest(".scroll") && !element.closest("svg");
  const wide = [...page.querySelectorAll("body *")]
    .filter((element) => own(element) && element.getBoundingClientRect().right > {width} + 0.5)
    .map((element) => element.tagName + "." + element.className);
  const texts = [...page.querySelectorAll("svg text")].map((element) => {{
    const box = element.getBoundingClientRect();
    const svg = element.closest("svg").getBoundingClientRect();
    const out = Math.max(svg.left - box.left, box.right - svg.right);
    return {{text: element.textContent, out, height: box.height}};
  }});
  const cut = [...page.querySelectorAll("#sweeps .scroll, #kernels .scroll")]
    .filter((element) => element.checkVisibility() && !element.closest("details") && element.scrollWidth > element.clientWidth)
    .map((element) => [element.closest("section[id]").id, element.scrollWidth, element.clientWidth]);
  // Two texts of a figure that lie on each other; what is turned has no box of its own.
  const crowded = [...page.querySelectorAll("svg.figure")].flatMap((svg) => {{
    const upright = [...svg.querySelectorAll("text")].filter((text) => !text.outerHTML.includes("rotate"));
    const boxes = upright.map((text) => [text.textContent, text.getBoundingClientRect()]).filter(([, box]) => box.width > 0);
    return boxes.flatMap(([said, a], at) => boxes.slice(0, at)
      .filter(([, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4)
      .map(([other]) => [other, said]));
  }});
  document.getElementById("measured").textContent = JSON.stringify({{
    cut, crowded, choices: page.querySelectorAll("#sweeps .scroll").length,
    scroll: root.scrollWidth, width: root.clientWidth, wide, texts,
    heading: page.querySelector(".answer").textContent,
    figures: page.querySelectorAll("svg.figure").length,
    hidden: [...page.querySelectorAll("[data-table], [data-piece]")].filter((place) => !place.checkVisibility()).length,
    tables: page.querySelectorAll("table").length,
    ground: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.body).color}});
}};
frame.srcdoc = {page};
</script></body>"""


def many_kernels() -> dict[str, Any]:
    """Cases that launch a kernel with a long name in many different numbers."""
    document = builders.dry_results()
    name = "column_sums<float, kde::SplitBf16, 1, kde::at_stored_nodes, false, false>"
    for size in range(40):
        variant = builders.dry_variant(1, 64, [builders.kernel(name, 1000 + 37 * size, 168)])
        case = builders.STEP.replace("48", str(1000 + size))
        document["cases"].append(builders.case(case, False, {"optimized": variant}, {}))
    return document


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A failing run with long names and profiles, as it is written."""
    workplace = Workplace(tmp_path_factory.mktemp("browser"))
    document = builders.host_results()
    named = "cubed_sphere_swe/" + "a_family_with_a_long_name/" * 4 + "n:96/f64"
    document["cases"][1]["id"] = named
    ways = ("difference_by_parts", "expanded_in_blocks", "fused", "by_hand")
    document["cases"] += [
        document["cases"][0] | {"id": f"cubed_sphere_swe/spread/strategy:per_angle/algo:{way}/f64"}
        for way in ways
    ]
    document["cases"] = copy.deepcopy(document["cases"])
    builders.add_rates(document)
    workplace.measure(HOST, document)
    workplace.measure(builders.DRY, many_kernels())
    program = profile_builders.compilation(program="a_program/" * 12, reason="a reason " * 12)
    long = {"compiles": [program], "trace": "a.trace.json"}
    for profile in (
        profile_builders.host(named),
        profile_builders.dry(named, "reference"),
        profile_builders.gpu(),
        profile_builders.gpu(named, **long),
    ):
        path = profile_builders.put(workplace, profile)
    builders.put(path.with_name("a.trace.json"), "[]")
    failed = builders.row("REGRESSION", case=named, evidence={"code": "x" * 300}, next="y" * 200)
    verdict = builders.verdict(1, [failed, builders.row("REGRESSION"), builders.improved()])
    found = profile_builders.finding(case=named, sentence="z" * 200)
    loosened = {
        "rule": "gate of " + "a_metric_" * 6, "before": "block", "after": "off", "why": "w" * 90, "loosens": True,
        "blocking": True,
    }
    findings = [found, profile_builders.finding()]
    workplace.judge(verdict | {"findings": findings, "changes": [loosened]})
    assert main(workplace.options()) == 0
    return workplace.page()


Look = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def look(chromium: str, page: str, tmp_path_factory: pytest.TempPathFactory) -> Look:
    """The page as the browser measures it; each way of looking starts one browser."""
    # The page forbids scripts; the wrapper's own, which measures it, has to be let in.
    open_page = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
    quoted = json.dumps(open_page).replace("</", "<\\/")

    @cache
    def measured(width: int, opened: bool, dark: bool = False) -> dict[str, Any]:
        folder = tmp_path_factory.mktemp("look")
        wrapper = folder / "wrapper.html"
        shown = WRAPPER.format(width=width, page=quoted, opened=str(opened).lower())
        wrapper.write_text(shown, "utf-8")
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        budget = "--virtual-time-budget=5000"
        dom = run(chromium, folder, scheme, budget, "--dump-dom", wrapper.as_uri()).stdout
        found = re.search(r'<pre id="measured">(.+?)</pre>', dom, flags=re.DOTALL)
        assert found, "the page did not load in the browser"
        return json.loads(unescape(found.group(1)))

    return measured


@pytest.mark.parametrize(("width", "opened"), WAYS)
def test_the_body_never_scrolls_sideways(look: Look, width: int, opened: bool) -> None:
    found = look(width, opened)
    assert found["width"] == width
    assert found["scroll"] <= width
    assert found["wide"] == []


@pytest.mark.parametrize(("width", "opened"), WAYS)
def test_no_text_of_a_figure_is_cut_off_or_tiny(look: Look, width: int, opened: bool) -> None:
    shown = [text for text in look(width, opened)["texts"] if text["height"] > 0]
    assert len(shown) > 20
    assert [text for text in shown if text["out"] > 2] == []
    assert [text for text in shown if text["height"] < 9] == []


@pytest.mark.parametrize(("width", "sections"), [(PHONE, {"kernels"}), (DESKTOP, set())])
def test_no_column_lies_outside_a_card(look: Look, width: int, sections: set[str]) -> None:
    """On a phone the nine columns of the kernels are moved along."""
    found = look(width, False)
    assert found["choices"] >= 1
    assert {section for section, _, _ in found["cut"]} <= sections, found["cut"]


@pytest.mark.parametrize(("width", "opened"), WAYS)
def test_no_text_of_a_figure_lies_on_another(look: Look, width: int, opened: bool) -> None:
    assert look(width, opened)["crowded"] == []


def test_the_browser_shows_verdict_and_figures(look: Look) -> None:
    found = look(DESKTOP, True)
    assert "Failed: a blocking regression (exit 1)" in found["heading"]
    assert found["figures"] >= 12


def test_what_is_folded_is_built_when_it_is_opened(look: Look) -> None:
    assert look(PHONE, False)["hidden"] > 15
    assert look(PHONE, True)["hidden"] == 0
    assert look(PHONE, True)["tables"] >= look(PHONE, False)["tables"] + 15


def test_the_address_of_a_case_shows_what_is_folded_of_it(
    chromium: str, page: str, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(page, "utf-8")
    name = "case-" + re.sub("[/:]", "_", builders.STEP)
    address = f"{(tmp_path / 'page.html').as_uri()}#{name}"
    dom = run(chromium, tmp_path, "--virtual-time-budget=5000", "--dump-dom", address).stdout
    assert 'data-piece="' not in dom[: dom.index("<footer")], "all pieces are laid"
    shown = re.findall(r'<details class="profile" data-name="(\S+)[^"]*"( hidden="")?', dom)
    assert len(shown) == 4
    assert {name for name, hidden in shown if not hidden} == {builders.STEP}
    sections = dict(re.findall(r'<section id="(\w+)"( hidden="")?', dom))
    assert not sections["profiles"] and not sections["cases"]
    assert sections["environment"] and sections["gaps"], "which say nothing of it"
    places = re.findall(r'<div class="place" data-name=""( hidden="")?>(.*?)</div>', dom, re.DOTALL)
    shown = [said.replace("<wbr>", "") for hidden, said in places if not hidden]
    assert not sections["findings"] and len(places) == 2
    assert [builders.STEP in said for said in shown] == [True]


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_are_both_readable(look: Look, dark: bool) -> None:
    found = look(DESKTOP, True, dark)
    ground, ink = luminance(found["ground"]), luminance(found["ink"])
    assert (ground < ink) is dark
    assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 7


def test_a_picture_can_be_taken_and_the_browser_complains_of_nothing(
    chromium: str, page: str, tmp_path: Path
) -> None:
    (tmp_path / "page.html").write_text(page, "utf-8")
    picture = tmp_path / "page.png"
    options = [f"--screenshot={picture}", "--window-size=1280,2000", "--enable-logging=stderr"]
    said = run(chromium, tmp_path, *options, (tmp_path / "page.html").as_uri()).stderr
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 50_000
    assert [line for line in said.splitlines() if "CONSOLE" in line] == []
