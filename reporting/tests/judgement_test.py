# SPDX-License-Identifier: Apache-2.0
"""Rows of a verdict as findings: their tone, their order, what is told once and what nowhere else."""

import re
from pathlib import Path

import builders
import pytest
from builders import DRY, HOST, STEP, Workplace
from holdfast_report import judgement
from holdfast_report.case_rows import case_rows
from holdfast_report.causes import by_metric, cause_of, first_change, told
from holdfast_report.documents import CaseList, Results, Row, Verdict
from holdfast_report.judgement import findings, headline_tone, outcome, remarks, tone
from holdfast_report.root import Part, Root
from page_reader import drawn

TONES = {
    "bad": ["WRONG", "SUSPECT-FAST", "REGRESSION", "CHANGED", "MISSING"],
    "odd": ["NOISY", "WARN", "DRIFT", "ENV", "WAIVED"],
    "good": ["IMPROVED", "ACCEPTED", "PASS"],
    "plain": ["NEW", "SKIPPED", "what nobody knows"],
}


def row(verdict: str, **changes: object) -> Row:
    return Row.model_validate(builders.row(verdict, **changes))


def verdict(exit: int, *rows: dict[str, object], **changes: object) -> Verdict:
    return Verdict.model_validate(builders.verdict(exit, list(rows)) | changes)


@pytest.mark.parametrize("colour", TONES)
def test_each_verdict_has_the_colour_of_what_it_means(colour: str) -> None:
    assert {tone(name) for name in TONES[colour]} == {colour}


@pytest.mark.parametrize(("exit", "said", "colour"), [
    (0, "well", "good"), (1, "a blocking regression", "bad"), (2, "usage or a bad file", "bad"),
    (3, "incomplete", "bad"), (4, "undecided", "odd"), (77, "no such device", "odd"), (9, "unknown", "bad"),
])
def test_a_headline_has_the_words_and_the_colour_of_its_exit_code(exit: int, said: str, colour: str) -> None:
    judged = verdict(exit)
    assert (outcome(judged), headline_tone(judged)) == (said, colour)


@pytest.mark.parametrize(("names", "said"), [
    (["REGRESSION", "WRONG"], "a wrong result"), (["SUSPECT-FAST"], "an impossible speed"),
    (["CHANGED"], "a blocking change"), (["DRIFT"], "blocking drift"),
])
def test_exit_1_is_told_by_the_worst_that_blocks(names: list[str], said: str) -> None:
    passes = builders.row("WRONG", blocking=False, evidence={})
    blocking = [builders.row(name, blocking=True, evidence={}) for name in names]
    assert outcome(verdict(1, *blocking)) == said
    assert outcome(verdict(1, *blocking, passes)) == said


def test_a_loosening_that_blocks_is_told_as_such() -> None:
    change = {"rule": "r", "before": "b", "after": "a", "why": "", "loosens": True, "blocking": True}
    assert outcome(verdict(1, changes=[change])) == "a loosening without a reason"


@pytest.mark.parametrize(("exit", "answer"), [(3, "\u2717 Failed: incomplete"), (4, "\u2248 Undecided: undecided"),
                                              (77, "\u2013 No such device: no such device")])
def test_what_is_not_well_is_not_told_as_passed(workplace: Workplace, exit: int, answer: str) -> None:
    workplace.judge(builders.verdict(exit, []))
    assert f"{answer} (exit {exit})" in drawn(workplace).words


def test_what_blocks_comes_before_what_does_not_and_the_worst_first() -> None:
    rows = [
        row("DRIFT", metric="a"), row("MISSING", metric="b", blocking=True, evidence={}), row("WARN", metric="c", evidence={}),
        row("WRONG", metric="d", evidence={}), row("NOISY", metric="e", blocking=True, evidence={}),
    ]
    assert [one.verdict for one in findings(rows)] == ["WRONG", "MISSING", "NOISY", "WARN", "DRIFT"]


def test_all_but_a_plain_pass_is_told_somewhere(workplace: Workplace) -> None:
    names = [name for name in judgement.SYMBOLS if name not in ("PASS", "NEW", "SKIPPED")]
    rows = [builders.row(name, metric=f"of_{name.lower()}", evidence={}, sentence=f"told of {name}") for name in names]
    workplace.judge(builders.verdict(1, rows) | {"counts": dict.fromkeys([*names, "LATER"], 3)})
    words = drawn(workplace).words
    page = words[words.index("What failed") :]
    for name in names:
        assert f"told of {name}" in page, name
        assert re.search(rf"3 \S+ {name} ", words), name
    assert "3 \u00b7 LATER" in words, "a verdict that this page does not know is counted as well"


def test_what_is_waived_is_worth_knowing() -> None:
    assert [one.verdict for one in remarks(verdict(0, builders.row("WAIVED"), builders.row("SKIPPED", metric="b")))] == ["WAIVED"]


@pytest.mark.parametrize("variant", ["case", "optimized"])
def test_an_improvement_of_any_variant_is_proposed(variant: str) -> None:
    judged = verdict(0, builders.improved() | {"variant": variant})
    assert [one.variant for one in judgement.improvements(judged)] == [variant]


def test_a_limit_is_a_change_beside_a_baseline_and_a_value_without_one() -> None:
    (beside,) = findings([row("REGRESSION", limit=0.05)])
    (alone,) = findings([row("REGRESSION", limit=3.0, baseline=None, metric="peak_bytes", unit="B")])
    assert (beside.lines[0].before, beside.lines[0].now, beside.lines[0].limit) == ("4", "5", "+5 %")
    assert (alone.lines[0].before, alone.lines[0].limit) == ("\u2013", "3 B")


def test_a_sentence_that_names_something_else_first_is_told_whole() -> None:
    (found,) = findings([row("REGRESSION", sentence="toy: all is lost: twice")])
    assert found.lines[0].said == "toy: all is lost: twice"


def test_variants_and_device_classes_are_told_apart() -> None:
    whose = [(device_class, variant) for device_class in (DRY, HOST) for variant in ("optimized", "reference")]
    rows = [row("MISSING", device_class=where, variant=variant, evidence={}) for where, variant in whose]
    assert [(one.device_class, one.variant) for one in findings(rows)] == whose


def test_evidence_and_commands_are_those_of_the_first_case_alone() -> None:
    code = {"code": "stage: registers 40 -> 56"}
    rows = [
        row("REGRESSION", evidence=code | {"first": "x"}, next="look at the first"),
        row("REGRESSION", case="toy/b/f64", evidence=code | {"second": "y"}, next="look at the second"),
    ]
    (found,) = findings(rows)
    assert found.evidence == [("code", code["code"]), ("first", "x")]
    assert found.commands == ["look at the first"]
    assert found.rows is not None and [line[0] for line in found.rows.rows] == [STEP, "toy/b/f64"]


# ---- causes ----


@pytest.mark.parametrize(("code", "kernel"), [
    ("stage<double>: registers 64 -> 96; 4 other kernels identical", "stage<double>"),
    ("stage: cubin changed, resources did not", ""), ("all 4 kernels identical", ""),
])
def test_a_kernel_is_a_cause_where_its_evidence_says_from_what_to_what(code: str, kernel: str) -> None:
    assert first_change(row("REGRESSION", evidence={"code": code}))[0] == kernel


def test_variants_have_causes_of_their_own_and_what_was_accepted_has_none() -> None:
    code = {"code": "stage<double>: registers 64 -> 96"}
    assert cause_of(row("REGRESSION", evidence=code, variant="case")) == (DRY, "optimized", "stage")
    assert cause_of(row("REGRESSION", evidence=code, variant="reference")) == (DRY, "reference", "stage")
    assert cause_of(row("ACCEPTED", evidence=code)) is None


def test_of_a_metric_the_row_that_blocks_is_told_and_registers_before_spills() -> None:
    names = ("launches", "local_bytes", "spill_bytes", "registers_max")
    rows = [row("WARN", case="toy/b/f64", metric=name) for name in names]
    rows += [row("REGRESSION", metric=name) for name in names]
    found = by_metric(rows)
    assert [one.metric for one in found] == ["registers_max", "spill_bytes", "local_bytes", "launches"]
    assert {one.verdict for one in found} == {"REGRESSION"}


def test_a_kernel_whose_resources_stayed_is_told_by_what_its_evidence_says_first() -> None:
    code = {"code": "stage: integer 742 -> 773, waves 0.04 -> 0.05, cubin changed"}
    assert told([row("REGRESSION", evidence=code)]) == ["stage: integer 742 \u2192 773, waves 0.04 \u2192 0.05"]


# ---- cases ----


def rows_of(*judged: dict[str, object], ids: tuple[str, ...] = (STEP,)) -> list[tuple[str, str, str | None]]:
    host, dry = builders.host_results(), builders.dry_results()
    for document in (host, dry):
        document["cases"] = [document["cases"][0] | {"id": one} for one in ids]
    parts = [Part(Results.model_validate(document), None) for document in (host, dry)]
    place = Root(Path(), parts, verdict(1, *judged))
    return [(one.anchor, one.device_class, one.verdict) for one in case_rows(place)]


def test_a_case_has_the_worst_verdict_of_its_class() -> None:
    of = [builders.row(name, device_class=HOST, metric=name) for name in ("PASS", "WARN", "REGRESSION", "IMPROVED")]
    of += [builders.row(name, metric=name) for name in ("IMPROVED", "PASS")]
    assert [(where, worst) for _, where, worst in rows_of(*of)] == [(HOST, "REGRESSION"), (DRY, "IMPROVED")]


def test_each_case_has_an_address_of_its_own_however_alike_their_names() -> None:
    anchors = [anchor for anchor, _, _ in rows_of(ids=("toy/a:b/f64", "toy/a/b/f64", "toy/a_b/f64"))]
    assert len(set(anchors)) == 6


# ---- what was not checked, and on what it was measured ----


def test_what_did_not_end_well_is_told_by_its_status_and_reason(workplace: Workplace) -> None:
    document = builders.host_results()
    for case, status in zip(document["cases"], ("crashed", "timeout"), strict=True):
        case |= {"status": status, "reason": f"it {status} there"}
    workplace.measure(HOST, document)
    words = drawn(workplace).words
    for status in ("crashed", "timeout"):
        assert f"{HOST}: {status} (it {status} there)" in words


def test_what_the_gate_says_of_what_was_not_checked_is_told(workplace: Workplace) -> None:
    workplace.judge(builders.verdict(0, []) | {"not_checked": ["the moon: it was cloudy"]})
    words = drawn(workplace).words
    assert "the moon: it was cloudy" in words[words.index("What was not checked") :]


def test_why_there_are_no_trends_is_told_among_what_was_not_checked(workplace: Workplace) -> None:
    (workplace.store / HOST / "2026.ndjson").unlink()
    words = drawn(workplace).words
    assert "trends: the store" in words[words.index("What was not checked") :]


def test_a_case_of_another_device_is_not_missed_here(workplace: Workplace) -> None:
    listed = builders.case_list()
    listed["cases"].append(listed["cases"][1] | {"id": "cubed_sphere_swe/on_gpu/f64", "devices": {"cuda": {"metrics": []}}})
    CaseList.model_validate(listed)
    for device_class in (HOST, DRY):
        builders.put(workplace.results / device_class / "cubed_sphere_swe.list.json", listed)
    assert drawn(workplace).words.count("1 case of the tier full not run") == 2


def test_the_environment_says_what_was_dirty_invalid_throttled_or_not_from_here(workplace: Workplace) -> None:
    document = builders.dry_results()
    document["run"] |= {"git": {"sha": "f" * 40, "dirty": True}, "sources": "/somewhere/else"}
    document["quality"] |= {"valid": False, "reasons": ["it was hot", "it was late"], "throttled": True, "temperature_c": 88.0}
    document["env"] |= {"nvrtc": "13.0.88", "nvjitlink": "13.1.2", "cuda": "13.0", "driver": "580.1"}
    workplace.measure(DRY, document)
    words = drawn(workplace).words
    for fact in (
        "commit ffffffffffff with changes", "quality INVALID: it was hot; it was late", "throttled yes", "temperature 88 \u00b0C",
        "NVRTC 13.0.88 nvJitLink 13.1.2", "CUDA 13.0", "driver 580.1", "device code from /somewhere/else",
        "commit 0123456789ab content", "quality valid",
    ):
        assert fact in words, fact
    document["quality"]["throttled"] = False
    workplace.measure(DRY, document)
    assert "throttled no" in drawn(workplace).words
