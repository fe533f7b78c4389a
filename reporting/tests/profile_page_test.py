# SPDX-License-Identifier: Apache-2.0
"""Profiles and findings on the page."""

import re
from urllib.parse import unquote

import builders
import profile_builders
import pytest
from builders import Workplace
from holdfast_report import sections
from holdfast_report.command import main
from page_reader import Reader, drawn, unfolded


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A run that was profiled on three devices, with a regression on one and a finding on another,
    drawn once."""
    workplace = Workplace(tmp_path_factory.mktemp("profiled"))
    healthy = profile_builders.dry(builders.LOOP)
    for document in (healthy, profile_builders.host(), profile_builders.dry()):
        profile_builders.put(workplace, document)
    path = profile_builders.put(workplace, profile_builders.gpu(trace="a step.trace.json"))
    builders.put(path.with_name("a step.trace.json"), "[]")
    verdict = builders.verdict(1, [builders.row("REGRESSION")])
    workplace.judge(verdict | {"findings": [profile_builders.finding()]})
    assert main(workplace.options()) == 0
    return workplace


def test_what_the_detectors_found_stands_below_the_failures_with_its_fix(
    profiled: Workplace,
) -> None:
    words = Reader(profiled.page()).words
    failed, found = words.index("What failed"), words.index("What the detectors found")
    assert failed < found < words.index("Trends")
    assert profile_builders.finding()["sentence"] in words
    assert profile_builders.finding()["fix"] in words
    assert "No detector fired" not in words


def test_what_reference_variants_show_is_folded_away(workplace: Workplace) -> None:
    slow = profile_builders.finding(variant="reference")
    workplace.judge(builders.verdict(0, []) | {"findings": [slow]})
    words = drawn(workplace).words
    assert "1 symptom of reference variants, which are slow on purpose" in words
    assert words.index("No detector fired") < words.index(slow["sentence"])


def test_a_green_page_has_no_amber_card_for_what_its_cases_show_on_purpose(
    workplace: Workplace,
) -> None:
    shown = profile_builders.finding(expected="the host reads the mass on purpose")
    workplace.judge(builders.verdict(0, []) | {"findings": [shown]})
    page = drawn(workplace)
    assert "1 symptom that cases show on purpose" in page.words
    assert "expected the host reads the mass on purpose" in page.words
    assert shown["fix"] not in page.words
    assert "finding odd" not in unfolded(workplace.page())


def test_silence_of_the_detectors_is_stated(workplace: Workplace) -> None:
    profile_builders.put(workplace, profile_builders.dry())
    workplace.judge(builders.verdict(0, []))
    assert "No detector fired on 1 profile of optimized variants." in drawn(workplace).words


def test_a_verdict_of_before_the_detectors_is_still_drawn(workplace: Workplace) -> None:
    document = builders.verdict(0, [])
    del document["findings"]
    workplace.judge(document)
    assert "written without detectors" in drawn(workplace).words


def test_profiles_are_folded_with_those_of_suspects_in_front(profiled: Workplace) -> None:
    page = unfolded(profiled.page())
    assert page.count('<details class="profile" data-name=') == 4
    assert "<details open" not in page
    words = Reader(page).words
    suspects = words.index("What the verdict and the detectors point at")
    others = words.index("cubed_sphere_swe on cuda-dry-sm_90: 1 other profile")
    assert words.index("optimized REGRESSION 4 launches") > suspects
    assert suspects < words.index("optimized idle gaps 600") < others
    assert words.index("cubed_sphere_swe on host-x86_64-v4-2t: 1 other profile") > others


def test_a_folder_of_profiles_alone_is_a_page_of_profiles(workplace: Workplace) -> None:
    alone = workplace.folder / "alone"
    document = profile_builders.dry()
    builders.put(alone / profile_builders.name_of(document), document)
    assert main([f"--results={alone}", f"--out={workplace.out}"]) == 0
    words = Reader(workplace.page()).words
    assert "Profiles only" in words
    assert "holdfast check" not in words
    assert "4 launches" in words


def test_a_profile_of_a_dry_device_says_that_nothing_ran(profiled: Workplace) -> None:
    assert "Counts are exact, nothing was executed" in Reader(profiled.page()).words


def test_what_was_not_kept_is_told_and_steps_are_as_tall_as_they_took(workplace: Workplace) -> None:
    document = profile_builders.gpu(dropped=1200)
    document["overview"]["step_s"] = [0.5e-3, 1e-3, 0.25e-3]
    profile_builders.put(workplace, document)
    drawn(workplace)
    page = unfolded(workplace.page())
    assert "1,200 activities beyond the limit were not kept" in page
    assert re.findall(r'<i style="--tall: (\d+)%">', page) == ["50", "100", "25"]
    assert 'aria-label="50 %, 100 %, 25 % of the slowest"' in page


def test_suspects_stand_in_the_order_of_the_verdict_and_what_warns_is_one(workplace: Workplace) -> None:
    cases = [builders.STEP.replace("48", str(size)) for size in (24, 48, 96)]
    for case in cases:
        profile_builders.put(workplace, profile_builders.dry(case))
    rows = [builders.row("WARN", case=cases[2], blocking=False), builders.row("REGRESSION", case=cases[1])]
    workplace.judge(builders.verdict(1, rows))
    words = drawn(workplace).words
    front = words[words.index("What the verdict and the detectors point at") :]
    assert front.index("n:96") < front.index("optimized WARN") < front.index("n:48") < front.index("1 other profile")


def test_a_memory_profile_is_linked_and_a_trace_is_sought_beside_its_profile_alone(workplace: Workplace) -> None:
    away = builders.put(workplace.results / "elsewhere.trace.json", "[]")
    path = profile_builders.put(workplace, profile_builders.gpu(trace=f"../../../{away.name}"))
    builders.put(path.with_name(path.name.replace(".profile.json", ".pb.gz")), "pprof")
    drawn(workplace)
    page = unfolded(workplace.page())
    (address,) = re.findall(r'href="([^"#]*)" download>memory by call site \(pprof\)', page)
    assert (workplace.out / unquote(address)).read_text() == "pprof"
    assert away.name not in page


def test_a_device_that_told_no_times_is_explained_and_listed_as_a_gap(
    workplace: Workplace,
) -> None:
    why = "CUPTI: insufficient privileges"
    silent = profile_builders.gpu(clock="none", silence=why)
    profile_builders.put(workplace, silent)
    words = drawn(workplace).words
    assert f"The device told no times: {why}." in words
    assert f"on {profile_builders.GPU}: 1 profile without the device's times: {why}" in words


def test_an_unprofiled_run_says_how_to_profile_it(workplace: Workplace) -> None:
    words = drawn(workplace).words
    assert "no step was profiled" in words
    assert "Profiles A few steps" not in words


def test_a_trace_is_linked_from_where_the_page_lies(profiled: Workplace) -> None:
    (address,) = re.findall(r'href="([^"#]*\.trace\.json)"', profiled.page())
    assert (profiled.out / unquote(address)).read_text() == "[]"
    assert profiled.page().count("https://ui.perfetto.dev") == 1, "beside the one trace"


def test_figures_of_profiles_say_what_they_show(profiled: Workplace) -> None:
    said = [figure or "" for figure in Reader(profiled.page()).figures]
    for beginning in ("Live memory of", "Compilations by program", "Shares of device time"):
        assert any(figure.startswith(beginning) for figure in said), beginning


def test_bytes_at_the_peak_are_listed_by_site_below_the_timeline(profiled: Workplace) -> None:
    assert "state 682 kB stage work 346 kB operators 150 kB" in Reader(profiled.page()).words


def test_a_profiled_page_loads_nothing_either(profiled: Workplace) -> None:
    reader = Reader(profiled.page())
    followed = [link for link in reader.loaded if not link.startswith("#")]
    assert "https://ui.perfetto.dev" in followed
    assert len(followed) == 2, "the trace and where to open it"
    assert not {"link", "iframe", "img", "object", "embed"} & set(reader.tags)


def test_an_estimate_and_the_share_of_the_devices_memory_are_told_beside_a_timeline(workplace: Workplace) -> None:
    results = builders.results(profile_builders.GPU, "cuda", [builders.case(
        builders.STEP, True, {"optimized": builders.host_variant([1e-3], 1_200_000, 0.5)}, {}
    )])
    metrics = results["cases"][0]["variants"]["optimized"]["metrics"]
    metrics["estimate_ratio"] = {"kind": "advisory", "value": 1.5}
    workplace.measure(profile_builders.GPU, results)
    document = profile_builders.gpu()
    document["memory"]["device_total_bytes"] = 10 * document["memory"]["peak_bytes"]
    profile_builders.put(workplace, document)
    assert "estimate 800 kB, 10 % of 11.8 MB" in drawn(workplace).words


def test_what_was_timed_is_ranked_before_what_was_counted(workplace: Workplace) -> None:
    for document in (profile_builders.dry(), profile_builders.dry(variant="reference"), profile_builders.gpu()):
        profile_builders.put(workplace, document)
    words = drawn(workplace).words
    said = [words.index(title) for title in ("shares of device time", "shares of launches and calls, untimed")]
    assert said == sorted(said)
    assert words.index("rk4_step, optimized cubed_sphere_swe on cuda-dry") < words.index("rk4_step, reference")


def test_all_that_is_folded_away_is_there(workplace: Workplace) -> None:
    """Each kind has two more items than the page shows unfolded."""
    for number in range(sections.OPEN_TIMELINES + 2):
        family = f"cubed_sphere_swe/family_{number}/n:48/f64"
        profile_builders.put(workplace, profile_builders.gpu(family))
    trend = builders.trend()
    trend["series"] = [
        builders.series("speedup", [9.0, 1.0 + at], variant="case", case=f"toy/panel_{at}/f64")
        for at in range(sections.OPEN_PANELS + 2)
    ]
    workplace.answer(trend)
    failed = [
        builders.row("REGRESSION", case=f"toy/failed_{at}/f64", evidence={}, sentence=f"it fell to {at}")
        for at in range(sections.OPEN_FAILURES + 2)
    ]
    found = [
        profile_builders.finding(case=f"toy/{at}/f64", sentence=f"it idles {at} times") for at in range(sections.OPEN_PLACES + 2)
    ]
    notes = [f"note {at}" for at in range(sections.OPEN_NOTES + 2)]
    workplace.judge(builders.verdict(1, failed) | {"findings": found, "notes": notes})
    cases = []
    for at in range(sections.OPEN_SWEEPS + 2):
        for n in (24, 48, 96):
            variant = builders.host_variant([1e-3 * n], 1024, 0.5)
            cases.append(builders.case(f"cubed_sphere_swe/sweep_{at}/n:{n}/f64", True, {"optimized": variant}, {}))
    workplace.measure(builders.HOST, builders.results(builders.HOST, "host", cases))
    reader = drawn(workplace)
    alts = [figure or "" for figure in reader.figures]
    for number in range(sections.OPEN_TIMELINES + 2):
        assert any(alt.startswith(f"Live memory of cubed_sphere_swe/family_{number}/") for alt in alts)
        assert any(alt.startswith("Shares of device time") and f"family_{number}," in alt for alt in alts)
    for at in range(sections.OPEN_PANELS + 2):
        assert any(alt.startswith("speedup of") and f"panel_{at}/" in alt for alt in alts)
    for at in range(sections.OPEN_FAILURES + 2):
        assert re.search(rf"it fell to {at}\b", reader.words)
    for at in range(sections.OPEN_PLACES + 2):
        assert f"it idles {at} times" in reader.words
    for at in range(sections.OPEN_NOTES + 2):
        assert f"note {at}" in reader.words
    for at in range(sections.OPEN_SWEEPS + 2):
        assert any(f"sweep_{at}/f64: time_s along n" in alt for alt in alts)
