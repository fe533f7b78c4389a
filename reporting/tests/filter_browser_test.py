# SPDX-License-Identifier: Apache-2.0
"""The page's filter and what is folded, in a browser, as a reader uses them."""

from typing import Any

import builders
import profile_builders
import pytest
from builders import DRY, HOST, STEP, Workplace
from holdfast_report.command import main
from planted_history import Planted
from site_browser import Browser

pytestmark = pytest.mark.slow
LONG = STEP.replace("48", "96")
ADDRESS = "case-" + STEP.replace("/", "_").replace(":", "_")

# What is seen, by whose part of the page it is.
SHOWN = """
const frame = await open(`${site}/index.html%s`, 1000), page = frame.contentDocument;
await wait(0.5);
const input = page.getElementById("page-filter");
const type = async (words) => { input.value = words; input.dispatchEvent(new Event("input")); await wait(0.3); };
const seen = (kind) => [...page.querySelectorAll(kind)].filter((one) => one.checkVisibility()).map((one) => one.dataset.name);
const all = () => ({
  cases: seen("#cases tr[data-name]"), findings: seen("article.finding[data-name]"), panels: seen("#trends figure"),
  profiles: seen("details.profile"), parts: [...page.querySelectorAll("main > section")].filter((one) => one.checkVisibility()).map((one) => one.id),
  named: seen("main [data-name]").length, said: input.parentElement.querySelector("[role=status]").textContent, value: input.value, top: frame.contentWindow.scrollY,
});
"""


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A regression of one case, an improvement of it, more trends and profiles than lie open."""
    workplace = Workplace(tmp_path_factory.mktemp("filtered"))
    workplace.judge(builders.verdict(1, [builders.row("REGRESSION"), builders.improved()]))
    for case in (STEP, LONG):
        profile_builders.put(workplace, profile_builders.host(case))
        profile_builders.put(workplace, profile_builders.dry(case))
    trend = builders.trend()
    for at in range(14):
        trend["series"].append(builders.series("speedup", [9.0, 1.0 + at], variant="case", case=f"toy/folded_{at}/f64"))
    workplace.answer(trend)
    assert main(workplace.options()) == 0
    return Browser(chromium, workplace.out, tmp_path_factory.mktemp("browser"), Planted(1))


def shown(browser: Browser, script: str, where: str = "") -> Any:
    return browser.does(SHOWN % where + script)


def test_what_has_all_words_is_shown_in_every_part_and_parts_without_it_are_not(browser: Browser) -> None:
    before, found, none, after = shown(browser, """const before = all();
    await type("N:48 HOST"); const found = all(); await type("nowhere"); const none = all(); await type(""); return [before, found, none, all()];""")
    assert before["said"] == "" and len(before["cases"]) == 4 and "speedup" in before["parts"]
    assert found["cases"] == [f"{STEP} {HOST} IMPROVED"]
    assert found["findings"] == [f"{STEP} {HOST} case"], "of the improvement, and not of what failed on another device"
    assert all("n:48" in name and HOST in name for name in found["panels"] + found["profiles"]) and found["panels"]
    assert found["profiles"] == [f"{STEP} optimized {HOST}"], "which was folded away"
    assert "failures" not in found["parts"] and "speedup" not in found["parts"] and "cases" in found["parts"]
    assert found["said"].startswith(f"{found['named']} of ") and found["named"] >= 5
    assert none["said"].startswith("0 of ") and none["named"] == 0 and none["cases"] == [] and none["parts"] == []
    assert after["said"] == "" and len(after["cases"]) == 4 and after["parts"] == before["parts"]


def test_what_is_folded_is_found_and_opened(browser: Browser) -> None:
    found = shown(browser, 'await type("folded_13"); return all();')
    assert [name.split()[0] for name in found["panels"]] == ["toy/folded_13/f64"]
    assert found["parts"] == ["trends"]


@pytest.mark.parametrize("way", ["loaded", "followed"])
def test_the_address_of_a_case_shows_what_the_page_says_of_it(browser: Browser, way: str) -> None:
    if way == "loaded":
        until = "for (let turn = 0; frame.contentWindow.scrollY > 0 && turn < 50; ++turn) await wait(0.1);"
        found = shown(browser, f"{until} return all();", f"#{ADDRESS}")
    else:
        found = shown(browser, f'frame.contentWindow.location.hash = "#{ADDRESS}"; await wait(0.5); return all();')
    assert found["value"] == STEP
    assert found["cases"] == [f"{STEP} {DRY} REGRESSION", f"{STEP} {HOST} IMPROVED"]
    # A frame that is out of sight is not drawn again after it was loaded, and goes nowhere.
    assert found["top"] == 0 or way == "followed", "from the top, and not from the row of the case"


def test_a_folded_table_is_built_of_its_texts_with_shares_as_long_as_they_are(browser: Browser) -> None:
    script = """await type("n:48 dry"); const profile = page.querySelector("details.profile"); profile.open = true; await wait(0.5);
    const table = [...profile.querySelectorAll("table")].find((one) => one.textContent.includes("share of calls"));
    return {head: [...table.tHead.rows[0].cells].map((cell) => cell.textContent), kind: table.className,
      rows: [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent)),
      shares: [...table.querySelectorAll(".share")].map((cell) => cell.style.getPropertyValue("--share")),
      heads: [...table.tBodies[0].rows[0].cells].map((cell) => cell.dataset.head), role: table.getAttribute("role"),
      tags: table.querySelectorAll("td *:not(wbr)").length, depths: [...profile.querySelectorAll(".branch")].map((cell) => cell.style.getPropertyValue("--depth"))};"""
    found = shown(browser, script)
    assert found["head"][:4] == ["operation", "kind", "share of calls", "count"] and found["heads"] == found["head"]
    assert [row[0] for row in found["rows"]] == ["stage<double>", "project<double>"], "which are no tags"
    assert found["tags"] == 0
    assert found["shares"] == ["80%", "20%"]
    assert (found["kind"], found["role"]) == ("stacked", "table")
    assert found["depths"] == ["0", "1", "2", "2"]
