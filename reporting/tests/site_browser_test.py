# SPDX-License-Identifier: Apache-2.0
"""The site in a real browser, from the disk, as its pages are: no policy is taken away."""

import json
from functools import cache
from math import log
from pathlib import Path
from typing import Any

import pytest
from browser import luminance
from browser import run as browse
from holdfast_report.site import addresses, figures
from planted_history import DRIFT_CASE, DRY, HOST, STEP_CASE, sha, write
from site_browser import Browser
from site_place import REPOSITORY, SitePlace, data_of, fleet_of_two, trend_of

pytestmark = pytest.mark.slow

PHONE, DESKTOP = 390, 1440
STEP_PAGE = "case/cubed_sphere_swe/rk4_step/n=48/f64.html"
LAUNCHES = "cuda-dry-sm_90.optimized.launches"


@pytest.fixture(scope="module")
def browser(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    place = SitePlace(tmp_path_factory.mktemp("site"), commits=60)
    for run in place.runs[-4:]:  # of the newest commit
        run.caveats = ["140 of 160 times and ratios not gated here"]
    write(place.store, place.runs)
    place.draw()
    return Browser(chromium, place.site, tmp_path_factory.mktemp("browser"), place.planted)


@pytest.fixture(scope="module")
def shapes(browser: Browser) -> Any:
    """Every kind of page at every width, light and dark."""
    step = sha(browser.planted.step)
    pages = ["index.html", STEP_PAGE, f"run/{step}.html", "class/cuda-dry-sm_90.html", "runs.html",
             "compare.html"]

    @cache
    def measured(dark: bool) -> dict[str, Any]:
        script = f"""const found = {{}};
        for (const width of {[PHONE, DESKTOP]}) for (const address of {json.dumps(pages)}) {{
          const frame = await open(`${{site}}/${{address}}`, width);
          found[`${{width}} ${{address}}`] = shape(frame.contentDocument, width);
          frame.remove();
        }}
        return found;"""
        return dict(browser.does(script, dark))

    return measured


@pytest.mark.parametrize("dark", [False, True])
def test_no_page_scrolls_sideways_and_each_is_readable(shapes: Any, dark: bool) -> None:
    for name, found in shapes(dark).items():
        width = int(name.split()[0])
        assert found["scroll"] <= width, name
        assert found["wide"] == [], name
        ground, ink = luminance(found["ground"]), luminance(found["ink"])
        assert (ground < ink) is dark, name
        assert (max(ground, ink) + 0.05) / (min(ground, ink) + 0.05) >= 7, name


def test_what_can_be_used_has_a_name_for_a_screen_reader(shapes: Any) -> None:
    assert {name: found["unnamed"] for name, found in shapes(False).items() if found["unnamed"]} == {}


def overlap(a: list[float], b: list[float]) -> bool:
    return min(a[2], b[2]) - max(a[0], b[0]) > 1 and min(a[3], b[3]) - max(a[1], b[1]) > 1


@pytest.mark.parametrize("width", [PHONE, DESKTOP])
def test_the_labels_of_a_figure_are_whole_and_apart(shapes: Any, width: int) -> None:
    texts = shapes(False)[f"{width} {STEP_PAGE}"]["texts"]
    assert len(texts) > 15
    assert [text for text in texts if text["out"] > 1 or text["height"] < 9] == []
    touching = [
        (a["text"], b["text"])
        for at, a in enumerate(texts)
        for b in texts[at + 1 :]
        if a["figure"] == b["figure"] and overlap(a["box"], b["box"])
    ]
    assert touching == []


def test_pointer_and_keys_say_commit_and_value_and_a_click_leads_to_the_commit(
    browser: Browser,
) -> None:
    found = browser.does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const figure = page.getElementById("{LAUNCHES}"), svg = figure.querySelector("svg"), said = figure.querySelector(".readout");
    const before = said.textContent, box = svg.getBoundingClientRect();
    svg.dispatchEvent(new own.PointerEvent("pointermove", {{clientX: box.left + 60 / 350 * box.width, clientY: box.top + 50, bubbles: true}}));
    const pointed = said.textContent, link = said.querySelector("a").href;
    svg.dispatchEvent(new own.PointerEvent("pointermove", {{clientX: box.left + 203 / 350 * box.width, clientY: box.top + 50, bubbles: true}}));
    const middle = said.textContent;
    svg.focus();
    svg.dispatchEvent(new own.KeyboardEvent("keydown", {{key: "End", bubbles: true, cancelable: true}}));
    const end = said.textContent;
    svg.dispatchEvent(new own.KeyboardEvent("keydown", {{key: "ArrowLeft", bubbles: true, cancelable: true}}));
    const circle = figure.querySelector(".pointed"), ends = figure.querySelector(".dots").getAttribute("d").split("h0").slice(-3, -1);
    const beside = [`M${{circle.getAttribute("cx")}} ${{circle.getAttribute("cy")}}`, ends[0]];
    const left = said.textContent, step = figure.querySelector(".labels a").getAttribute("href");
    return {{beside, before, pointed, middle, link, end, left, step, focused: page.activeElement === svg, marked: figure.querySelectorAll(".pointed").length}};
    """)
    planted = browser.planted
    assert found["before"].startswith("5")
    assert found["pointed"].startswith(f"4 {sha(1)[:10]}")
    assert found["middle"].startswith(f"4 {sha(31)[:10]}"), "of sixty"
    assert found["link"].startswith(f"{REPOSITORY}/commit/{sha(1)[:12]}")
    assert sha(planted.commits)[:10] in found["end"] and sha(planted.commits - 1)[:10] in found["left"]
    assert found["step"] == f"{REPOSITORY}/commit/{sha(planted.step)}"
    assert found["focused"] and found["marked"] == 1
    assert found["beside"][0] == found["beside"][1], "around the dot before the last"


def test_of_a_fleet_a_point_says_its_processor(chromium: str, tmp_path: Path) -> None:
    place = fleet_of_two(tmp_path)
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/{addresses.of_case(DRIFT_CASE)}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const figure = page.querySelector("[id^='{HOST}']"), svg = figure.querySelector("svg"), said = [];
    svg.focus();
    for (const key of ["End", "ArrowLeft"]) {{
      svg.dispatchEvent(new own.KeyboardEvent("keydown", {{key, bubbles: true, cancelable: true}}));
      said.push(figure.querySelector(".readout").textContent);
    }}
    return said;
    """)
    assert found[0].endswith("on GenuineIntel-6-167") and found[1].endswith("on AuthenticAMD-26-2")


def test_of_two_values_of_a_commit_the_pointer_finds_the_nearer(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "twice", commits=10, cases=1)
    (path,) = (place.store / HOST).glob("*.ndjson")
    lines = path.read_text("utf-8").splitlines()
    last = json.loads(next(line for line in reversed(lines) if '"suite":"cubed_sphere_swe"' in line))
    number = next(
        str(json.loads(line)["series"] + json.loads(line)["names"].index("optimized|time_s"))
        for line in lines if f'"case":"{STEP_CASE}"' in line
    )
    again = {key: last[key] for key in ("suite", "verdict")} | {
        "run": sum(line.startswith('{"run"') for line in lines) + 1, "utc": "2027-01-01T00:00:00Z", "id": None,
        "values": {number: 0.5 * last["values"][number][0]},
    }
    path.write_text("\n".join([*lines, json.dumps(again)]) + "\n", "utf-8")
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const figure = page.getElementById("{HOST}.optimized.time_s"), svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
    return [40, 120].map((y) => {{
      svg.dispatchEvent(new own.PointerEvent("pointermove", {{clientX: box.left + 335 / 350 * box.width, clientY: box.top + y / 156 * box.height, bubbles: true}}));
      return figure.querySelector(".readout strong").textContent;
    }});
    """)
    upper, lower = (float(said.split()[0]) for said in found)
    assert lower == pytest.approx(0.5 * upper, rel=1e-3)


def test_range_and_axis_are_in_the_address_and_come_back_from_it(browser: Browser) -> None:
    first, last = sha(20)[:12], sha(50)[:12]
    found = browser.does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}#from={first}&to={last}&axis=log&show={LAUNCHES}`, 900), page = frame.contentDocument;
    const dots = () => page.getElementById("{LAUNCHES}").querySelector(".dots").getAttribute("d").split("h0").length - 1;
    const recalled = dots(), pressed = page.querySelector("[aria-pressed=true]").textContent;
    page.querySelector("[data-last='30']").click();
    const thirty = dots(), address = frame.contentWindow.location.hash;
    page.querySelector("[data-last='all']").click();
    page.querySelector("[data-axis=linear]").click();
    return {{recalled, pressed, thirty, address, all: dots(), after: frame.contentWindow.location.hash, ticks: page.querySelectorAll(".frame text").length}};
    """)
    assert found["recalled"] == 31 and found["pressed"] == "logarithmic"
    assert found["thirty"] == 30
    assert f"from={sha(31)[:12]}" in found["address"] and "axis=log" in found["address"]
    assert found["all"] == 60 and found["after"] == f"#{LAUNCHES}"
    assert found["ticks"] > 6


def test_in_another_range_a_wild_value_is_an_arrow_and_on_a_logarithmic_axis_a_dot(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "wild", commits=40, cases=1)
    for run in place.runs:
        if run.number == 25 and run.device_class == HOST:
            run.values = {key: 40 * value if key[2] == "time_s" else value for key, value in run.values.items()}
    write(place.store, place.runs)
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const figure = page.getElementById("{HOST}.optimized.time_s"), count = (name) => figure.querySelector(name)?.getAttribute("d").match(/M/g).length || 0;
    const seen = () => {{
      const heights = figure.querySelector(".dots").getAttribute("d").match(/ [0-9.]+h/g).map((one) => parseFloat(one));
      return [count(".beyond"), count(".dots"), Math.max(...heights) - Math.min(...heights)];
    }};
    const whole = seen();
    page.querySelector("[data-last='30']").click();
    const thirty = seen(), svg = figure.querySelector("svg"), box = svg.getBoundingClientRect();
    svg.dispatchEvent(new own.PointerEvent("pointermove", {{clientX: box.left + (58 + 14.5 / 30 * 286) / 350 * box.width, clientY: box.top + 50, bubbles: true}}));
    const pointed = [figure.querySelector(".readout").textContent, figure.querySelector(".pointed").getAttribute("cy")];
    page.querySelector("[data-axis=log]").click();
    return {{whole, thirty, pointed, log: seen()}};
    """)
    assert found["whole"][:2] == [1, 39] and found["thirty"][:2] == [1, 29] and found["log"][:2] == [0, 30]
    assert found["whole"][2] > 30 and found["thirty"][2] > 30, "the step fills the figure"
    assert sha(25)[:10] in found["pointed"][0] and found["pointed"][1] == "20", "at the edge"


def test_a_figure_of_values_without_a_logarithm_says_that_its_axis_is_linear(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "zero", commits=10, cases=1)
    for run in place.runs[:4]:  # of the first commit
        run.values = {key: 0 if key[2] == "launches" else value for key, value in run.values.items()}
    write(place.store, place.runs)
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const said = () => ["{LAUNCHES}", "{HOST}.optimized.time_s"].map((id) => own.getComputedStyle(page.getElementById(id).querySelector("figcaption .about"), "::after").content);
    const press = (axis) => {{ page.querySelector(`[data-axis=${{axis}}]`).click(); return said(); }};
    return {{first: said(), log: press("log"), linear: press("linear")}};
    """)
    assert found["first"] == found["linear"] == ["none", "none"]
    assert "linear" in found["log"][0] and found["log"][1] == "none"


@pytest.mark.parametrize("axis", ["linear", "log"])
def test_in_another_range_marks_stand_where_their_commits_and_values_are(browser: Browser, axis: str) -> None:
    """The step from 4 to 5 launches, among the last thirty commits."""
    found = browser.does(f"""
    const frame = await open(`${{site}}/{STEP_PAGE}`, 900), page = frame.contentDocument, figure = page.getElementById("{LAUNCHES}");
    const whole = figure.querySelector("svg").innerHTML;
    page.querySelector("[data-last='30']").click();
    page.querySelector("[data-axis={axis}]").click();
    const path = (name) => figure.querySelector(`.${{name}}`).getAttribute("d"), own = frame.contentWindow;
    const ticks = [...figure.querySelectorAll(".ticks text")].map((one) => [one.textContent, Number(one.getAttribute("y")) - 3]);
    const label = figure.querySelector(".labels text"), name = figure.querySelector(".labels a");
    figure.querySelector("svg").dispatchEvent(new own.KeyboardEvent("keydown", {{key: "End", bubbles: true, cancelable: true}}));
    const circle = figure.querySelector(".pointed"), at = [circle.getAttribute("cx"), circle.getAttribute("cy")];
    const seen = {{dots: path("dots"), level: path("level"), change: path("change"), alarm: path("alarm"), ticks, circle: at,
      label: [label.getAttribute("class"), label.textContent], name: [name.getAttribute("href"), name.textContent]}};
    page.querySelector("[data-last=all]").click();
    page.querySelector("[data-axis=linear]").click();
    figure.querySelector(".pointed").remove();
    return {{...seen, again: figure.querySelector("svg").innerHTML === whole}};
    """)
    assert found["again"], "the first range is as it was drawn"
    count, step = 30, browser.planted.step - 31  # the place of the step among the thirty
    each = (figures.RIGHT - figures.LEFT) / count
    dots = [[float(one) for one in pair.split()] for pair in found["dots"].removesuffix("h0").lstrip("M").split("h0M")]
    assert [x for x, _ in dots] == pytest.approx([figures.LEFT + (at + 0.5) * each for at in range(count)], abs=0.06)
    four, five = dots[0][1], dots[-1][1]
    assert four > five and [y for _, y in dots] == [four] * step + [five] * (count - step)
    assert found["change"] == f"M{figures.short(figures.LEFT + step * each)} 20V130"
    right = dots[step - 1][0]
    assert found["level"] == f"M{dots[0][0]:g} {four:g}H{right:g}M{dots[step][0]:g} {five:g}H{dots[-1][0]:g}"
    crossed = [float(one) + 3 for one in found["alarm"].removeprefix("M").removesuffix("l6 6m0 -6l-6 6").split()]
    assert crossed == pytest.approx(dots[step], abs=0.11), "the value that blocked"
    assert found["label"] == ["worse", "\u2717 +25 %"]
    assert found["name"] == [f"{REPOSITORY}/commit/{sha(browser.planted.step)[:12]}", sha(browser.planted.step)[:7]]
    assert [float(one) for one in found["circle"]] == pytest.approx(dots[-1], abs=0.11)
    ticks = {float(text): y for text, y in found["ticks"]}
    scale = log if axis == "log" else float
    low, high = min(ticks), max(ticks)
    per = (ticks[low] - ticks[high]) / (scale(high) - scale(low))
    assert four - five == pytest.approx((scale(5) - scale(4)) * per, abs=0.3), "as far apart as the axis says"
    assert len(ticks) > 2
    for value, y in ticks.items():
        assert ticks[low] - y == pytest.approx((scale(value) - scale(low)) * per, abs=0.3), "and the axis as it is named"


def test_in_another_range_the_labels_of_ticks_say_where_they_are_and_have_room(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "ticks", commits=10, cases=1)
    for run in place.runs:
        run.values = {
            key: 3_221_225_472 + 512 * (run.number > 5) if key[2] == "peak_bytes" else value
            for key, value in run.values.items()
        }
    write(place.store, place.runs)
    place.answer(trend_of(place.runs, place.planted) | {"series": []})
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/{addresses.of_case(STEP_CASE)}#from={sha(2)[:10]}&to={sha(10)[:10]}&axis=linear`, 900);
    const figures = [...frame.contentDocument.querySelectorAll("figure svg.trend")];
    return figures.map((svg) => [...svg.querySelectorAll(".ticks text")].map((one) => [one.textContent, Number(one.getAttribute("y")),
      one.getBoundingClientRect().left - svg.getBoundingClientRect().left]));
    """)
    assert any("GB" in text for ticks in found for text, _, _ in ticks)
    for ticks in found:
        told = [float(text.split(" ")[0]) for text, _, _ in ticks]
        (low, bottom, _), (high, top, _) = (told[0], *ticks[0][1:]), (told[-1], *ticks[-1][1:])
        for value, (_, y, left) in zip(told, ticks, strict=True):
            assert y == pytest.approx(bottom + (value - low) / (high - low) * (top - bottom), abs=0.15)
            assert left >= -0.5


def test_two_commits_are_compared_the_most_significant_first(browser: Browser) -> None:
    before, after = sha(browser.planted.step - 1)[:10], sha(browser.planted.step)[:10]
    found = browser.does(f"""
    const frame = await open(`${{site}}/compare.html#from={before}&to={after}`, 900), page = frame.contentDocument;
    await wait(1);
    const rows = () => [...page.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((one) => one.textContent));
    const changed = rows(), links = [...page.querySelectorAll("#table a")].map((one) => one.getAttribute("href"));
    page.getElementById("named").value = "launches REFERENCE";
    page.getElementById("changed").click();
    const named = rows();
    return {{changed, links, named, address: frame.contentWindow.location.hash, said: page.getElementById("said").textContent}};
    """)
    first = found["changed"][0]
    assert first[1:] == ["launches", "✗ +25 %", "4", "5", "exact", "optimized", "cuda-dry-sm_90"]
    assert found["links"][0] == f"{STEP_PAGE}#{LAUNCHES}"
    assert 3 <= len(found["changed"]) <= 6, "time and speedup too, and little else"
    assert {row[1] for row in found["changed"]} <= {"launches", "time_s", "speedup"}
    assert len(found["named"]) == 4 and {row[6] for row in found["named"]} == {"reference"}
    assert found["address"].startswith(f"#from={before}&to={after}")


def test_what_came_what_went_what_differs_in_its_last_digits_and_the_environment_are_told(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "compared", commits=10, cases=1)
    for run in place.runs:
        if run.device_class == DRY and run.suite == "cubed_sphere_swe":
            run.values.pop((STEP_CASE, "optimized", "compile_warm" if run.number < 10 else "registers_max"))
            run.values[STEP_CASE, "optimized", "peak_bytes"] += 8 * (run.number == 10)
    write(place.store, place.runs)
    place.answer(trend_of(place.runs, place.planted) | {"series": []})
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/compare.html#from={sha(1)[:10]}&to={sha(10)[:10]}`, 900), page = frame.contentDocument;
    await wait(1);
    const rows = () => Object.fromEntries([...page.querySelectorAll("#table tbody tr")].map((row) => [...row.cells].map((one) => one.textContent))
      .filter((row) => row[7] === "{DRY}" && row[6] === "optimized").map((row) => [row[1], row.slice(2, 5)]));
    const there = rows(), said = page.getElementById("said").textContent, asked = [...page.querySelectorAll("script[src]")].map((one) => one.getAttribute("src"));
    page.getElementById("swap").click();
    await wait(1);
    return {{there, back: rows(), said, asked, address: frame.contentWindow.location.hash}};
    """)
    assert found["there"] == {
        "launches": ["\u2717 +25 %", "4", "5"], "compile_warm": ["new", "\u2013", "3"], "registers_max": ["gone", "40", "\u2013"],
        "peak_bytes": ["\u2717 +0.000679 %", "1.177856 MB", "1.177864 MB"],
    }
    assert found["back"]["launches"] == ["\u25b2 \u221220 %", "5", "4"] and found["back"]["compile_warm"][0] == "gone"
    assert found["address"] == f"#from={sha(10)[:10]}&to={sha(1)[:10]}"
    assert f"Not the code alone: {HOST} has another environment" in found["said"] and DRY not in found["said"]
    versions = data_of(place.text("compare.html"))["versions"]
    assert sorted(found["asked"]) == sorted(f"data/{name}.js?{version}" for name, version in versions.items())


def test_what_only_one_of_two_commits_was_measured_on_is_told_and_is_neither_new_nor_gone(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "compared", commits=10, cases=1)
    place.runs = [
        run for run in place.runs
        if run.number < 10 or (run.device_class == DRY and run.suite == "cubed_sphere_swe")
    ]
    write(place.store, place.runs)
    place.answer(trend_of(place.runs, place.planted) | {"series": []})
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/compare.html#from={sha(9)[:10]}&to={sha(10)[:10]}`, 900), page = frame.contentDocument, told = [];
    await wait(1);
    for (const id of ["swap", "changed"]) {{
      told.push([page.getElementById("said").textContent, [...page.querySelectorAll("#table tbody tr")].map((row) => row.cells[7].textContent)]);
      page.getElementById(id).click();
      await wait(1);
    }}
    return told.concat([[page.getElementById("said").textContent, [...page.querySelectorAll("#table tbody tr")].map((row) => row.cells[7].textContent)]]);
    """)
    first, swapped, every = found
    assert first[1] == swapped[1] == [] and set(every[1]) == {DRY}
    for said, _ in found:
        assert f"only one of the two has them: clusterless_kde on {DRY}, clusterless_kde on {HOST}, cubed_sphere_swe on {HOST}." in said


def test_a_suite_alone_that_moved_to_another_machine_is_told(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "moved", commits=10, cases=1)
    place.runs = [run for run in place.runs if run.number < 7]
    for run in place.runs:
        if run.number == 6 and run.device_class == HOST and run.suite == "clusterless_kde":
            run.compiler = "g++ 14.1.0"
    write(place.store, place.runs)
    place.answer(trend_of(place.runs, place.planted) | {"series": []})
    place.draw()
    said = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const frame = await open(`${{site}}/compare.html#from={sha(5)[:10]}&to={sha(6)[:10]}`, 900);
    await wait(1);
    return frame.contentDocument.getElementById("said").textContent;
    """)
    assert f"Not the code alone: clusterless_kde on {HOST} has another environment" in said


@pytest.mark.parametrize("file", ["series", "values-0"])
def test_a_page_that_was_loaded_before_the_site_was_drawn_again_shows_no_values_of_others(chromium: str, tmp_path: Path, file: str) -> None:
    old, new = (SitePlace(tmp_path / f"{cases}", commits=10, cases=cases) for cases in (1, 2))
    for place in (old, new):
        place.draw()
    again = new.site / "data" / f"{file}.js"
    again.replace(old.site / "data" / f"{file}.js")
    found = Browser(chromium, old.site, tmp_path, old.planted).does("""
    const page = (await open(`${site}/compare.html`, 900)).contentDocument;
    await wait(1);
    return [page.getElementById("said").textContent, page.getElementById("table").hidden];
    """)
    assert found == ["the site was drawn again since this page was loaded; load it anew", True]


def test_counts_are_told_in_full(chromium: str, tmp_path: Path) -> None:
    place = SitePlace(tmp_path / "counts", commits=10, cases=1)
    for run in place.runs:
        if run.number == 10:
            run.values = {key: value + 7000 * (key[2] == "instructions") for key, value in run.values.items()}
    write(place.store, place.runs)
    place.draw()
    found = Browser(chromium, place.site, tmp_path, place.planted).does(f"""
    const compared = (await open(`${{site}}/compare.html#from={sha(9)[:10]}&to={sha(10)[:10]}&name=instructions%20rk4_step`, 900)).contentDocument;
    await wait(1);
    const cells = [...compared.querySelector("#table tbody tr").cells].map((one) => one.textContent);
    const frame = await open(`${{site}}/{addresses.of_case(STEP_CASE)}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    const figure = page.getElementById("{HOST}.optimized.instructions"), svg = figure.querySelector("svg");
    svg.focus();
    svg.dispatchEvent(new own.KeyboardEvent("keydown", {{key: "End", bubbles: true, cancelable: true}}));
    return {{compared: cells.slice(3, 5), pointed: figure.querySelector(".readout strong").textContent, shown: figure.querySelector(".now").textContent}};
    """)
    before = 1_204_332 + 1000 * len(STEP_CASE)
    assert found["compared"] == [f"{before:,}", f"{before + 7000:,}"]
    assert found["pointed"].strip() == found["shown"] == f"{before + 7000:,}"


def test_what_is_filtered_is_in_the_address_and_an_unknown_commit_shows_nothing(browser: Browser) -> None:
    before, after = sha(browser.planted.step - 5)[:10], sha(browser.planted.step + 5)[:10]
    found = browser.does(f"""
    const frame = await open(`${{site}}/compare.html#from={before}&to={after}`, 900), page = frame.contentDocument, own = frame.contentWindow;
    await wait(1);
    const named = page.getElementById("named"), first = page.getElementById("a"), rows = () => page.querySelector("#table").checkVisibility();
    named.value = "launches";
    named.dispatchEvent(new own.Event("input"));
    const address = own.location.hash, shown = rows();
    first.value = "nonsense";
    first.dispatchEvent(new own.Event("change"));
    return {{address, shown, stale: rows(), said: page.getElementById("said").textContent, told: page.getElementById("a-said").textContent}};
    """)
    assert found["address"] == f"#from={before}&to={after}&name=launches" and found["shown"]
    assert found["told"] == "no such commit"
    assert not found["stale"] and found["said"] == ""


@pytest.mark.parametrize(("address", "head"), [("runs.html", "worst verdict"), (STEP_PAGE, "now")])
def test_a_phone_shows_the_verdicts_and_the_values_without_scrolling_sideways(
    browser: Browser, address: str, head: str
) -> None:
    found = browser.does(f"""
    const frame = await open(`${{site}}/{address}`, {PHONE}), page = frame.contentDocument;
    const cell = [...page.querySelectorAll("main table th")].find((one) => one.textContent === "{head}");
    return cell.getBoundingClientRect().right;
    """)
    assert found <= PHONE


def test_a_phone_shows_how_much_changed_without_scrolling_sideways(browser: Browser) -> None:
    before, after = sha(browser.planted.step - 5)[:10], sha(browser.planted.step + 5)[:10]
    found = browser.does(f"""
    const frame = await open(`${{site}}/compare.html#from={before}&to={after}`, 390), page = frame.contentDocument;
    await wait(1);
    const cells = [...page.querySelectorAll("#table .verdict")];
    return cells.map((cell) => [cell.textContent, cell.getBoundingClientRect().right]);
    """)
    assert found[0][0] == "✗ +25 %"
    assert all(right <= 390 for _, right in found)


def test_a_phone_shows_of_every_case_when_it_changed_last(browser: Browser) -> None:
    found = browser.does("""
    const frame = await open(`${site}/index.html`, 390), page = frame.contentDocument;
    const rows = [...page.querySelectorAll("#case-table tbody tr")].map((row) => [...row.cells]);
    return rows.map((cells) => [cells[0].textContent, cells[3].getBoundingClientRect().right, cells[0].scrollWidth - cells[0].clientWidth]);
    """)
    assert len(found) == 4
    assert all(right <= 390 and hidden <= 0 for _, right, hidden in found), found


def test_on_a_phone_the_name_of_a_case_goes_on_in_another_line_after_a_slash_only(browser: Browser) -> None:
    found = browser.does("""
    const torn = [];
    for (const address of ["index.html", "compare.html#all=1"]) {
      const frame = await open(`${site}/${address}`, 390), page = frame.contentDocument;
      await wait(0.5);
      for (const link of page.querySelectorAll("td.text:first-child a")) {
        const letters = [...link.childNodes].flatMap((node) => [...node.textContent].map((letter, at) => {
          const range = page.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return [letter, range.getBoundingClientRect().top];
        }));
        torn.push(...letters.filter(([letter, top], at) => letter !== "/" && letters[at + 1]?.[1] > top).map(() => `${address}: ${link.textContent}`));
      }
      if (!page.querySelector("td.text:first-child a")) torn.push(`${address}: no case`);
    }
    return torn;""")
    assert found == []


def test_a_phone_shows_the_whole_badge_and_its_amber(browser: Browser) -> None:
    found = browser.does("""
    const frame = await open(`${site}/index.html`, 390), badge = frame.contentDocument.querySelector("#badge svg");
    const said = badge.querySelectorAll("path")[1];
    return [badge.getAttribute("aria-label"), badge.getBoundingClientRect().right, frame.contentWindow.getComputedStyle(said).fill];
    """)
    name, right, colour = found
    assert name == "holdfast: passed; 140 of 160 times and ratios not gated here"
    assert right <= 390 and colour == "rgb(138, 97, 0)"


def test_the_three_changes_are_two_clicks_from_the_overview(browser: Browser) -> None:
    """One click each: to the figure of the step, to that of the drift, to the environment."""
    found = browser.does("""
    const frame = await open(`${site}/index.html`, 1440), page = frame.contentDocument;
    const hrefs = ["#changes .moves a", "#drifts .moves a", "#environments .moves a"].map((one) => page.querySelector(one).href);
    const shown = [];
    for (const href of hrefs) {
      const target = await open(href, 1440), inside = target.contentDocument;
      const place = inside.getElementById(decodeURIComponent(new URL(href).hash.slice(1)));
      shown.push({text: place.innerText, changes: place.querySelector(".change") ? place.querySelector(".change").getAttribute("d") : ""});
      target.remove();
    }
    return shown;
    """)
    step, drift, environment = found
    assert "+25 %" in step["text"] and sha(browser.planted.step)[:10] in step["text"]
    assert step["changes"].count("M") == 1 and drift["changes"].count("M") == 4
    assert "+2 %" in drift["text"]
    assert "g++ 12.2.0 → g++ 12.3.0" in environment["text"]


def test_on_paper_a_table_is_as_long_as_it_is(chromium: str, tmp_path: Path) -> None:
    def sheets(cases: int) -> int:
        place = SitePlace(tmp_path / f"{cases}", commits=3, cases=cases)
        place.draw()
        paper = tmp_path / f"{cases}.pdf"
        browse(chromium, tmp_path, f"--print-to-pdf={paper}", (place.site / "index.html").as_uri())
        return paper.read_bytes().count(b"/Type /Page\n")

    assert sheets(80) >= sheets(4) + 3, "of more than thirty rows each"


def test_a_filter_leaves_the_rows_with_all_its_words(browser: Browser) -> None:
    found = browser.does("""
    const frame = await open(`${site}/index.html`, 900), page = frame.contentDocument, input = page.querySelector("input[data-filter]");
    input.value = "KDE decode";
    input.dispatchEvent(new frame.contentWindow.Event("input"));
    return [[...page.querySelectorAll("#case-table tbody tr")].filter((row) => row.checkVisibility()).map((row) => row.cells[0].textContent), input.parentElement.textContent];
    """)
    assert found[0] == ["clusterless_kde/decode/spikes:4096/f64"]
    assert "1 of 4" in found[1]
