# SPDX-License-Identifier: Apache-2.0
"""The page in a real browser. A machine without chromium skips these, unless HOLDFAST_REQUIRE says
that nothing may be missing."""

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import builders
import pytest
from builders import HOST, Workplace

from holdfast_report.command import main

pytestmark = pytest.mark.slow

PHONE, DESKTOP = 390, 1280

# Headless windows are never narrower than about 500 pixels; a frame of the wanted width is as
# narrow as asked.
WRAPPER = """<!doctype html><meta charset="utf-8"><body style="margin:0">
<iframe id="page" style="border:0;width:{width}px;height:2000px"></iframe><pre id="measured"></pre>
<script>
const frame = document.getElementById("page");
frame.onload = () => {{
  const page = frame.contentDocument, root = page.documentElement;
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
  document.getElementById("measured").textContent = JSON.stringify({{
    scroll: root.scrollWidth, width: root.clientWidth, wide, texts,
    heading: page.querySelector(".answer").textContent,
    figures: page.querySelectorAll("svg.figure").length,
    ground: getComputedStyle(page.body).backgroundColor, ink: getComputedStyle(page.body).color}});
}};
frame.srcdoc = {page};
</script></body>"""


@pytest.fixture(scope="module")
def chromium() -> str:
    found = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
    )
    if found is None:
        missing = "no chromium on the PATH; install it: ./cmake/bootstrap.sh"
        if os.environ.get("HOLDFAST_REQUIRE"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A failing run with long names, as a browser sees it."""
    workplace = Workplace(tmp_path_factory.mktemp("browser"))
    document = builders.host_results()
    document["cases"][1]["id"] = "cubed_sphere_swe/" + "a_family_with_a_long_name/" * 4 + "n:96/f64"
    workplace.measure(HOST, document)
    long = builders.row(
        "REGRESSION", case=document["cases"][1]["id"], evidence={"code": "x" * 300}, next="y" * 200
    )
    workplace.judge(builders.verdict(1, [long, builders.row("REGRESSION"), builders.improved()]))
    assert main(workplace.options()) == 0
    # The page forbids scripts; the wrapper's own, which measures it, has to be let in.
    return re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", workplace.page())


def run(chromium: str, folder: Path, *options: str) -> str:
    command = [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    profile = f"--user-data-dir={folder / 'profile'}"
    done = subprocess.run(
        [*command, profile, *options], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def measured(
    chromium: str, folder: Path, page: str, width: int, dark: bool = False
) -> dict[str, Any]:
    quoted = json.dumps(page).replace("</", "<\\/")
    wrapper = folder / "wrapper.html"
    wrapper.write_text(WRAPPER.format(width=width, page=quoted), "utf-8")
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    dom = run(
        chromium, folder, scheme, "--virtual-time-budget=5000", "--dump-dom", wrapper.as_uri()
    )
    found = re.search(r'<pre id="measured">(.+?)</pre>', dom, flags=re.S)
    assert found, "the page did not load in the browser"
    return json.loads(unescape(found.group(1)))


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_body_never_scrolls_sideways(
    chromium: str, page: str, tmp_path: Path, width: int
) -> None:
    found = measured(chromium, tmp_path, page, width)
    assert found["width"] == width
    assert found["scroll"] <= width
    assert found["wide"] == []


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_no_text_of_a_figure_is_cut_off_or_tiny(
    chromium: str, page: str, tmp_path: Path, width: int
) -> None:
    texts = measured(chromium, tmp_path, page, width)["texts"]
    shown = [text for text in texts if text["height"] > 0]
    assert len(shown) > 20
    assert [text for text in shown if text["out"] > 2] == []
    assert [text for text in shown if text["height"] < 9] == []


def test_the_browser_shows_verdict_and_figures(chromium: str, page: str, tmp_path: Path) -> None:
    found = measured(chromium, tmp_path, page, DESKTOP)
    assert "Failed: a blocking regression (exit 1)" in found["heading"]
    assert found["figures"] >= 7


def luminance(colour: str) -> float:
    """Relative luminance of rgb(...), by the accessibility guidelines' definition."""
    channels = [int(value) / 255 for value in re.findall(r"\d+", colour)[:3]]
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_are_both_readable(
    chromium: str, page: str, tmp_path: Path, dark: bool
) -> None:
    found = measured(chromium, tmp_path, page, DESKTOP, dark)
    ground, ink = luminance(found["ground"]), luminance(found["ink"])
    assert (ground < ink) is dark
    assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 7


def test_a_picture_of_the_page_can_be_taken(chromium: str, page: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(page, "utf-8")
    picture = tmp_path / "page.png"
    run(
        chromium,
        tmp_path,
        f"--screenshot={picture}",
        "--window-size=1280,2000",
        (tmp_path / "page.html").as_uri(),
    )
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert picture.stat().st_size > 50_000
