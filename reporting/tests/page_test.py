# SPDX-License-Identifier: Apache-2.0
import re

import builders
import pytest
from builders import DRY, HOST, Workplace
from holdfast_report.command import main
from holdfast_report.scripts import hash_of
from page_reader import Reader, drawn


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """A whole run with a regression and an improvement, drawn once."""
    workplace = Workplace(tmp_path_factory.mktemp("failing"))
    workplace.judge(builders.verdict(1, [builders.row("REGRESSION"), builders.improved()]))
    assert main(workplace.options()) == 0
    return workplace


@pytest.fixture(scope="module")
def reader(failing: Workplace) -> Reader:
    return Reader(failing.page())


def test_the_verdict_comes_first_with_counts_and_exit_code(reader: Reader) -> None:
    words = reader.words
    answer = words.index("Failed: a blocking regression (exit 1)")
    assert answer < words.index("What failed, and why") < words.index("Speedup")
    assert re.search(r"1 \S+ REGRESSION", words) and re.search(r"40 \S+ PASS", words)


def test_a_passing_verdict_says_so(workplace: Workplace) -> None:
    workplace.judge(builders.verdict(0, []))
    words = drawn(workplace).words
    assert "Passed: well (exit 0)" in words
    assert "What failed" not in words


def test_a_verdict_that_held_values_against_nothing_is_not_well(workplace: Workplace) -> None:
    judged = builders.verdict(0, [])
    judged["caveats"] = ["140 of 160 times and ratios not gated here"]
    workplace.judge(judged)
    page = drawn(workplace)
    assert "Passed: 140 of 160 times and ratios not gated here (exit 0)" in page.words
    assert "well (exit 0)" not in page.words
    assert 'class="headline odd"' in workplace.page()


def test_what_a_change_does_to_what_judges_it_is_a_table(workplace: Workplace) -> None:
    judged = builders.verdict(1, [])
    judged["changes"] = [
        {
            "rule": "gate of launches",
            "before": "block",
            "after": "off",
            "why": "",
            "loosens": True,
            "blocking": True,
        }
    ]
    workplace.judge(judged)
    words = drawn(workplace).words
    assert "What this change does to what judges it" in words
    assert "LOOSENED gate of launches block off" in words
    assert re.search(r'data-head="before">block</td>.*data-head="after">off</td>', workplace.page())


def test_a_failing_row_shows_sentence_both_numbers_evidence_and_next_command(
    reader: Reader,
) -> None:
    row = builders.row("REGRESSION")
    words = reader.words
    assert "launches rose from 4 to 5" in words
    assert row["sentence"] not in words, "the heading has named case and device"
    assert re.search(r"4 \u2192 5 \+25 %, limit \+0 %", words)
    assert row["evidence"]["code"] in words
    assert row["next"] in words
    assert f"{DRY}, optimized, blocking" in words and f"{HOST}, blocking" not in words
    cases = words[words.index("worst verdict") :]
    assert re.search(rf"f64 {DRY} \S+ REGRESSION", cases) and re.search(rf"f64 {HOST} \S+ IMPROVED", cases)


def test_numbers_that_round_to_the_same_text_are_shown_in_full(workplace: Workplace) -> None:
    row = builders.row(
        "REGRESSION", metric="peak_bytes", unit="B", baseline=1_177_856, value=1_177_864
    )
    workplace.judge(builders.verdict(1, [row]))
    assert "1177856 B \u2192 1177864 B" in drawn(workplace).words
    row |= {"metric": "speedup", "unit": "1", "baseline": 12.004, "value": 12.001}
    workplace.judge(builders.verdict(1, [row]))
    assert "speedup 12.004 \u2192 12.001 +25 %" in drawn(workplace).words


def test_a_wrong_result_shows_its_error_and_the_limit(workplace: Workplace) -> None:
    row = builders.row(
        "WRONG", metric="check_error", baseline=None, value=3e-3, limit=1e-13, change=None
    )
    workplace.judge(builders.verdict(1, [row]))
    assert re.search(r"0\.00300 limit 1\.00e\u221213", drawn(workplace).words)


def test_what_a_busy_machine_may_have_caused_comes_last_of_what_blocks(
    workplace: Workplace,
) -> None:
    busy = {"load": "27 on 2 CPUs when it was measured"}
    rows = []
    for case, verdict, evidence in (
        ("toy/busy/f64", "REGRESSION", busy), ("toy/lost/f64", "MISSING", {}),
        ("toy/slow/f64", "REGRESSION", {}),
    ):
        said = f"{case} optimized on {DRY}: it is {case.split('/')[1]}"
        rows.append(builders.row(verdict, case=case, blocking=True, evidence=evidence, sentence=said))
    workplace.judge(builders.verdict(1, rows))
    words = drawn(workplace).words
    places = [words.index(said) for said in ("it is slow", "it is lost", "it is busy")]
    assert places == sorted(places)


def test_improvements_are_proposed_apart_from_failures(reader: Reader) -> None:
    words = reader.words
    assert "Improvements, proposed for acceptance" in words
    assert "10 \u2192 12 +20 %" in words
    assert "holdfast baseline accept" in words


def test_without_a_verdict_the_page_says_not_judged_and_still_shows_results(
    workplace: Workplace,
) -> None:
    words = drawn(workplace).words
    assert "Not judged" in words and "holdfast check" in words
    assert "nothing was judged" in words
    assert "rk4_step/n:48/f64" in words


def test_an_absent_store_gives_a_page_without_trends_that_says_so(workplace: Workplace) -> None:
    options = [option for option in workplace.options() if not option.startswith("--store")]
    assert main([*options, f"--store={workplace.folder / 'absent'}"]) == 0
    assert "No trends: the store" in Reader(workplace.page()).words


def test_no_store_named_gives_a_page_without_trends(workplace: Workplace) -> None:
    options = [option for option in workplace.options() if not option.startswith("--store")]
    assert main(options) == 0
    assert "No trends: no store was named" in Reader(workplace.page()).words


def test_changed_series_get_a_panel_and_constant_ones_a_row(workplace: Workplace) -> None:
    reader = drawn(workplace)  # no verdict, so that nothing but its course recommends a series
    said = [figure for figure in reader.figures if figure and "commits" in figure]
    assert any("changed +20 %" in figure for figure in said)
    assert not any(figure.startswith("launches of") for figure in said)
    assert "1 series stood still" in reader.words


def test_a_judged_value_that_history_lacks_is_drawn_as_this_run(reader: Reader) -> None:
    words = reader.words
    assert re.search(r"launches optimized, cuda-dry-sm_90, 4 since 2026-11-01 .{0,4}REGRESSION", words)
    assert " now " in words


def trends_of(workplace: Workplace) -> str:
    drawn(workplace)
    page = workplace.page()
    return page[page.index('id="trends"') : page.index('id="speedup"')]


def test_a_series_whose_case_is_not_in_this_run_says_so_and_comes_last(workplace: Workplace) -> None:
    trend = builders.trend()
    left = builders.series("speedup", [9.0, 1.0], variant="case", case="cubed_sphere_swe/gone/f64")
    left["change_points"] = trend["series"][0]["change_points"]
    other = builders.series("speedup", [9.0, 1.0], variant="case", case="toy/unmeasured/f64")
    workplace.answer(trend | {"series": [left, other, *trend["series"]]})
    captions = re.findall(r"<figcaption>.*?</figcaption>", trends_of(workplace), re.DOTALL)
    told = ["not in this run" in caption for caption in captions]
    assert told == [False] * (len(told) - 1) + [True]
    assert "gone" in captions[-1]


def test_the_key_of_the_trends_names_the_accepted_value_and_a_page_without_scripts_what_it_lacks(
    reader: Reader,
) -> None:
    assert "accepted value and its limits" in reader.words
    assert "Scripts do not run here" in reader.words[: reader.words.index("What failed, and why")]


def test_dry_cases_are_listed_as_not_executed(reader: Reader) -> None:
    words = reader.words
    assert f"cubed_sphere_swe on {DRY}: 2 cases compiled and counted, not executed" in words
    assert "no part was run on a GPU" in words
    assert "1 case of the tier full not run (the run's tier is gate)" in words


def test_what_was_judged_and_has_no_results_here_is_told(workplace: Workplace) -> None:
    rows = [builders.row("PASS"), builders.row("PASS", case="toy/step/f64"), builders.row("PASS", case="toy/other/f64")]
    workplace.judge(builders.verdict(0, rows))
    words = drawn(workplace).words
    assert words.count("judged, and") == 1
    assert f"toy on {DRY}: judged, and {workplace.results} has no results of it" in words


def test_a_part_without_its_device_is_listed_as_not_checked(workplace: Workplace) -> None:
    absent = builders.results("cuda-none", "cuda", []) | {
        "status": "no_device", "reason": "no driver",
    }
    workplace.measure("cuda-none", absent)
    assert "cubed_sphere_swe on cuda: no such device (no driver)" in drawn(workplace).words


def test_metrics_without_a_value_are_listed_with_their_reason(workplace: Workplace) -> None:
    document = builders.host_results()
    document["cases"][0]["metrics"]["idle_fraction"] = {
        "kind": "advisory", "value": None, "reason": "no CUPTI",
    }
    document["cases"][0]["metrics"]["max_gap_s"] = {"kind": "advisory", "value": None}
    workplace.measure(HOST, document)
    words = drawn(workplace).words
    assert "idle_fraction in 1 case: no CUPTI" in words
    assert "max_gap_s in 1 case: no reason given" in words


def timed(case: str, loss: float | None, by: str = "beside", **changes: object) -> dict[str, object]:
    held = {} if loss is None else {"resolution": {"loss": loss, "by": by}}
    return builders.improved() | {"verdict": "PASS", "case": case} | held | changes


def test_the_smallest_loss_that_would_have_failed_is_told_case_by_case(
    workplace: Workplace,
) -> None:
    rows = [
        timed("toy/sharp/f64", 0.24),
        timed("toy/sharp/f64", 0.031, "accepted", metric="time_s", kind="time"),
        timed("toy/blind/f64", 0.4, "bound"),
        timed("toy/silent/f64", None),
        timed("toy/silent/f64", None, metric="handover_s", kind="time"),
        timed("toy/blind/f64", 0.001, metric="handover_s", kind="time"),
    ]
    workplace.judge(builders.verdict(0, rows))
    words = drawn(workplace).words
    assert "failed this run: 3.1 % to 40 % in 2 cases; no loss of speed would have failed in 1 case." in words
    told = [
        "none toy/silent/f64 nothing that gates",
        "40 % toy/blind/f64 its bound, speedup",
        "3.1 % toy/sharp/f64 what was accepted, time_s",
    ]
    assert " ".join(["loss case held against", *told]) in words
    other = timed("toy/silent/f64", 0.5, device_class="host-x86_64-v3-2t")
    workplace.judge(builders.verdict(0, [*rows, other]))
    assert "50 % toy/silent/f64 on host-x86_64-v3-2t the base beside it" in drawn(workplace).words


def unmeasured(case: str, verdict: str, said: str, **changes: object) -> dict[str, object]:
    """What the gate says of a case as a whole."""
    return builders.row(
        verdict, case=case, device_class=HOST, variant="case", metric="", kind="", unit="",
        blocking=True, value=None, baseline=None, change=None, limit=None, evidence={},
        sentence=f"{case} on {HOST}: {said}",
    ) | changes


def test_a_case_that_was_not_measured_is_one_of_which_no_loss_would_have_failed(
    workplace: Workplace,
) -> None:
    wrong = "check_error is 0.5 and may be at most 1e-12: the result is wrong"
    rows = [
        timed("toy/sharp/f64", 0.031),
        timed("toy/silent/f64", None),
        unmeasured("toy/fell/f64", "MISSING", "the case crashed: it timed out: twice"),
        unmeasured("toy/slow/f64", "MISSING", "the case timed out: after 5 s"),
        unmeasured("toy/gone/f64", "MISSING", "the case is listed and not in the results"),
        unmeasured("toy/tired/f64", "SKIPPED", "skipped: no memory", blocking=False),
        unmeasured("toy/untrue/f64", "WRONG", wrong, metric="check_error", value=0.5, limit=1e-12),
        unmeasured("toy/untimed/f64", "MISSING", "time_s is listed", variant="optimized", metric="time_s"),
        unmeasured("toy/untimed/f64", "MISSING", "speedup is listed", metric="speedup"),
        unmeasured("toy/sharp/f64", "MISSING", "speedup is listed", metric="speedup"),
    ]
    workplace.judge(builders.verdict(1, rows))
    words = drawn(workplace).words
    assert "failed this run: 3.1 % in 1 case; no loss of speed would have failed in 7 cases." in words
    told = [
        "none toy/silent/f64 nothing that gates",
        "none toy/fell/f64 nothing, not measured: crashed",
        "none toy/slow/f64 nothing, not measured: timed out",
        "none toy/gone/f64 nothing, not measured: missing",
        "none toy/tired/f64 nothing, not measured: skipped",
        "none toy/untrue/f64 nothing, not measured: wrong",
        "none toy/untimed/f64 nothing, not measured: missing",
        "3.1 % toy/sharp/f64 the base beside it, speedup",
    ]
    assert " ".join(["loss case held against", *told]) in words


def test_what_has_no_times_to_lack_is_no_case_without_its_loss(workplace: Workplace) -> None:
    rows = [
        unmeasured("toy", "MISSING", "expected, and there are no results of it"),
        unmeasured("toy/dry/f64", "MISSING", "the case crashed: it fell", device_class=DRY),
        unmeasured("toy/counted/f64", "MISSING", "launches is listed", metric="launches"),
    ]
    workplace.judge(builders.verdict(3, rows))
    assert "smallest loss" not in drawn(workplace).words


def test_a_run_that_timed_nothing_tells_no_smallest_loss(workplace: Workplace) -> None:
    workplace.judge(builders.verdict(0, [builders.row("PASS")]))
    assert "smallest loss" not in drawn(workplace).words


def test_cases_without_a_count_of_instructions_are_told_by_reason(workplace: Workplace) -> None:
    listed = builders.case_list()
    listed["cases"][0]["uncounted"] = "its step takes too long"
    listed["cases"][1]["uncounted"] = "nobody ran it"
    for device_class in (HOST, DRY):
        builders.put(workplace.results / device_class / "cubed_sphere_swe.list.json", listed)
    words = drawn(workplace).words
    told = "instructions not counted in 1 case, because its step takes too long: rk4_step/n:48/f64"
    assert f"cubed_sphere_swe on {HOST}: {told}" in words
    assert words.count("instructions not counted") == 1, "of what was run, and on the host"


def test_the_environment_tells_what_the_machine_did_meanwhile(workplace: Workplace) -> None:
    document = builders.host_results()
    document["quality"] |= {
        "others_fraction": 0.12, "steal_fraction": 0.0, "memory_stall_fraction": 0.004,
        "cpu_clock_hz": 2.6e9, "sm_clock_hz": 1.98e9, "mem_clock_hz": 2.619e9, "ecc_errors": 0,
        "other_processes": 3,
    }
    workplace.measure(HOST, document)
    words = drawn(workplace).words
    for fact in (
        "others' share 12 % of the CPUs", "steal 0 % of the CPUs", "memory stall 0.4 % of the time",
        "CPU clock 2.60 GHz", "SM clock 1.98 GHz", "memory clock 2.62 GHz",
        "ECC errors 0 uncorrected", "other processes 3",
    ):
        assert fact in words
    for name in ("others' share", "memory stall", "memory clock", "ECC errors"):
        assert words.count(name) == 1, "and of dry, where it is not known, nothing"


def test_a_speedup_below_its_bound_is_drawn_with_the_bound(workplace: Workplace) -> None:
    document = builders.host_results()
    document["cases"][0]["metrics"]["speedup"] = builders.sampled(
        "ratio", [2.0, 2.1, 1.9, 2.0, 2.0]
    )
    workplace.measure(HOST, document)
    figure = next(alt for alt in drawn(workplace).figures if alt and alt.startswith("Speedup"))
    assert "rk4_step/n:48/f64: 2\u00d7  (\u2265 3\u00d7)" in figure


def test_the_kind_of_a_kernel_is_shown_where_the_results_have_it(workplace: Workplace) -> None:
    assert "kernel variant kind registers" in drawn(workplace).words
    older = builders.dry_results()
    for case in older["cases"]:
        for variant in case["variants"].values():
            for kernel in variant["kernels"]:
                del kernel["kind"]
    workplace.measure(DRY, older)
    assert "kernel variant registers" in drawn(workplace).words


def test_of_countless_kernels_as_many_are_shown_as_anybody_reads(workplace: Workplace) -> None:
    document = builders.dry_results()
    kernels = document["cases"][0]["variants"]["optimized"]["kernels"]
    kernels[:] = [kernels[0] | {"name": f"kernel_{number}"} for number in range(20_000)]
    workplace.measure(DRY, document)
    words = drawn(workplace).words
    assert len(workplace.page()) < 2_000_000
    assert re.findall(r"and (\d+,\d+) more, in the results", words) == ["18,003", "18,003"]


def test_bad_is_red_and_good_is_green_by_day_and_by_night(failing: Workplace) -> None:
    for role, brightest in (("bad", 0), ("good", 1)):
        colours = re.findall(rf"--{role}: #(\w\w)(\w\w)(\w\w);", failing.page())
        assert len(colours) == 2
        for colour in colours:
            parts = [int(part, 16) for part in colour]
            assert parts.index(max(parts)) == brightest, role
    for role in ("good", "bad", "odd"):
        assert f".{role} {{ --tone: var(--{role}); }}" in failing.page()


def test_every_section_of_a_full_run_is_there_in_order(failing: Workplace) -> None:
    assert re.findall(r"<h2>(.*?)</h2>", failing.page()) == [
        "What failed, and why", "What the detectors found", "Improvements, proposed for acceptance",
        "Trends", "Speedup", "Component ranking", "Roofline", "Compile stages", "Kernels", "Memory",
        "Environment", "Cases", "What was not checked",
    ]


def test_hostile_case_names_are_escaped(workplace: Workplace) -> None:
    hostile = "x/<script>alert(1)</script>/\"'&</svg>/$x_{$"
    document = builders.host_results()
    document["cases"][0]["id"] = hostile
    workplace.measure(HOST, document)
    workplace.judge(
        builders.verdict(1, [builders.row("REGRESSION", case=hostile, sentence=hostile)])
    )
    trend = builders.trend()
    trend["series"][0]["case"] = hostile
    workplace.answer(trend)
    reader = drawn(workplace)
    assert len(reader.scripts) == 2, "the page's own"
    assert not any("alert(1)" in script for script in reader.scripts)
    assert hostile in reader.words


def test_nothing_is_loaded_from_outside_the_page(failing: Workplace, reader: Reader) -> None:
    assert reader.loaded and all(link.startswith("#") for link in reader.loaded)
    assert not {"link", "iframe", "img", "object", "embed"} & set(reader.tags)
    hashes = " ".join(hash_of(script) for script in reader.scripts)
    assert reader.policy == (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}"
    )
    page = failing.page()
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", page))
    assert "@import" not in page


def test_ids_on_the_page_are_unique_and_links_find_them(failing: Workplace) -> None:
    page = failing.page()
    ids = re.findall(r'\bid="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)


def test_every_figure_has_a_text_that_replaces_it(reader: Reader) -> None:
    figures = reader.figures
    assert len(figures) >= 7
    assert all(figure and len(figure) > 30 for figure in figures)


def test_no_half_written_file_stays(failing: Workplace) -> None:
    assert [path.name for path in failing.out.iterdir()] == ["index.html"]


def test_figures_take_their_colours_from_the_page(failing: Workplace) -> None:
    figures = re.findall(r"<svg.*?</svg>", failing.page(), flags=re.DOTALL)
    assert figures
    assert all(
        "var(--" in figure and not re.search(r"#[0-9a-f]{6}\b", figure) for figure in figures
    )
