# SPDX-License-Identifier: Apache-2.0
"""Profiles and findings on the page."""

import re
from urllib.parse import unquote

import builders
import profile_builders
import pytest
from builders import Workplace
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
    builders.put(alone / "rk4_step.optimized.profile.json", document)
    assert main([f"--results={alone}", f"--out={workplace.out}"]) == 0
    words = Reader(workplace.page()).words
    assert "Profiles only" in words
    assert "holdfast check" not in words
    assert "4 launches" in words


def test_a_profile_of_a_dry_device_says_that_nothing_ran(profiled: Workplace) -> None:
    assert "Counts are exact, nothing was executed" in Reader(profiled.page()).words


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
