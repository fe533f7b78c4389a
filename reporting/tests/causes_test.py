# SPDX-License-Identifier: Apache-2.0
"""What is told once: one crash, one changed kernel, however many cases it takes along."""

import re

import builders
from builders import DRY, HOST, Workplace
from page_reader import drawn


def test_what_is_the_same_for_many_cases_is_told_once(workplace: Workplace) -> None:
    crashed = [
        builders.row(
            "MISSING",
            case=case,
            metric="",
            blocking=True,
            value=None,
            baseline=None,
            sentence=f"{case} on {builders.DRY}: the case crashed: it fell",
            evidence={},
            next="run it again",
        )
        for case in ("toy/a/f64", "toy/b/f64")
    ]
    workplace.judge(builders.verdict(3, crashed))
    words = drawn(workplace).words
    assert words.count("it fell") == 1
    assert re.search(r"toy/ ?a/ ?f64 ?, ?toy/ ?b/ ?f64", words)


def test_the_commands_of_a_finding_stand_as_in_the_terminal(workplace: Workplace) -> None:
    asked = ("holdfast policy toy", "holdfast explain toy", "holdfast policy toy")
    metrics = ("launches", "copies", "peak_bytes")
    rows = [
        builders.row("REGRESSION", metric=metric, next=command)
        for metric, command in zip(metrics, asked, strict=True)
    ]
    workplace.judge(builders.verdict(1, rows))
    words = drawn(workplace).words
    assert "next holdfast explain toy next holdfast policy toy" in words
    assert words.count("next holdfast") == 2


def test_what_is_the_same_is_told_once_also_where_something_else_lies_between(
    workplace: Workplace,
) -> None:
    cases = [f"toy/n:{size}/f64" for size in range(8)]
    rows = []
    for case in cases:
        told = {"sentence": f"{case} optimized on {DRY}: it fell", "next": f"explain {case}"}
        rows.append(builders.row("REGRESSION", case=case, evidence={}, **told))
        other = {"sentence": f"{case} on {HOST}: {case} is apart", "device_class": HOST}
        rows.append(builders.row("REGRESSION", case=case, evidence={}, **other))
    workplace.judge(builders.verdict(1, rows))
    words = drawn(workplace).words
    assert words.count(": it fell") == 0 and words.count("it fell") == 1
    assert "and 5 more cases, cuda-dry-sm_90" in words
    assert "8 cases" in words and "explain toy/n:0/f64" in words
    assert "explain toy/n:1/f64" not in words


def changed(case: str, kernel: str, verdict: str = "REGRESSION", **changes: object) -> dict[str, object]:
    code = (
        f"{kernel}: registers 64 -> 40, spill bytes 0 -> 136, integer 742 -> 773, "
        f"waves 0.04 -> {len(case)}, cubin changed; 8 others: cubin changed, resources did not"
    )
    said = {"sentence": f"{case} optimized on {DRY}: launches moved"}
    return builders.row(verdict, case=case, evidence={"code": code}, next=f"explain {case}", **(said | changes))


def test_what_one_kernel_did_is_one_group_with_its_cause_first_and_its_cases_folded(
    workplace: Workplace,
) -> None:
    rows = []
    for size, kernel in ((24, "stage<double>"), (48, "stage<double>"), (96, "stage<float>")):
        case = f"toy/step/n:{size}/f64"
        rows += [
            changed(case, kernel, value=5 + size),
            changed(case, kernel, "CHANGED", metric="registers_max", blocking=True, value=40, baseline=64),
            changed(case, kernel, "IMPROVED", metric="occupancy", kind="codegen"),
        ]
        rows.insert(0, builders.row("REGRESSION", case=case, metric="peak_bytes", value=size, evidence={}))
    rows.append(changed("toy/other/f64", "halo<double>"))
    workplace.judge(builders.verdict(1, rows))
    reader = drawn(workplace)
    failed = reader.words[: reader.words.index("Trends")]
    assert failed.count("stage<double>: registers 64 \u2192 40, spill bytes 0 \u2192 136") == 1
    cause = failed.index("stage<double>: registers 64 \u2192")
    assert failed.index("REGRESSION toy") < cause < failed.index("registers_max 64 \u2192 40")
    assert "stage<float>: registers" in failed and "halo<double>: registers" in failed
    assert "explain toy/step/n:24/f64" in failed and "explain toy/step/n:48/f64" not in failed
    assert "toy/step/n:96/f64 launches REGRESSION 4 101 +25 %" in failed
    assert "3 cases" in failed and "\u25b2 IMPROVED launches moved" in failed
    assert "proposed for acceptance" not in reader.words, "the same kernel made the case fail"


def test_what_a_kernel_made_better_alone_stays_an_improvement(workplace: Workplace) -> None:
    cases = [f"toy/step/n:{size}/f64" for size in (24, 48)]
    rows = [changed(case, "stage", "IMPROVED") for case in cases]
    workplace.judge(builders.verdict(0, rows))
    words = drawn(workplace).words
    better = words[words.index("proposed for acceptance") : words.index("Trends")]
    assert better.count("stage: registers 64 \u2192 40") == 1
