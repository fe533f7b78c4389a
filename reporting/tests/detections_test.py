# SPDX-License-Identifier: Apache-2.0
"""Symptoms, how they are told, and what is said where there are none."""

import builders
from holdfast_report.detections import expected, meant, silence, symptoms
from holdfast_report.documents import Detected, Verdict
from holdfast_report.profile_views import suspects
from profile_builders import GPU, finding


def detected(*found: dict[str, object]) -> list[Detected]:
    return [Detected.model_validate(one) for one in found]


def verdict(**changes: object) -> Verdict:
    return Verdict.model_validate(builders.verdict(0, []) | changes)


def test_one_symptom_in_many_cases_is_told_once_with_one_fix() -> None:
    (symptom,) = symptoms(detected(finding(case="a"), finding(case="b", sentence="it idles 40 %")))
    assert symptom.detector == "idle gaps"
    assert symptom.cases == 2
    assert [place.sentence for place in symptom.places] == [finding()["sentence"], "it idles 40 %"]


def test_cases_of_which_the_same_sentence_holds_share_it() -> None:
    (symptom,) = symptoms(detected(finding(case="a"), finding(case="b")))
    (place,) = symptom.places
    assert place.cases == ["a", "b"]
    assert place.where == f"optimized, {GPU}, seen in the profile"
    assert place.numbers == "0.31, threshold 0.2"


def test_a_case_that_has_a_symptom_twice_is_one_case_and_named_once() -> None:
    (symptom,) = symptoms(detected(finding(case="a"), finding(case="a"), finding(case="a", sentence="again")))
    assert symptom.cases == 1
    assert [place.cases for place in symptom.places] == [["a"], ["a"]]


def test_another_fix_is_another_symptom_and_the_gate_s_order_stays() -> None:
    found = symptoms(detected(finding(fix="second"), finding(fix="first"), finding(fix="second")))
    assert [symptom.fix for symptom in found] == ["second", "first"]


def test_silence_counts_the_profiles_that_were_looked_at() -> None:
    assert silence(verdict(), 12) == "No detector fired on 12 profiles of optimized variants."


def test_silence_without_profiles_says_what_was_not_looked_at() -> None:
    assert "there were no profiles" in str(silence(verdict(), 0)).lower()


def test_a_verdict_from_before_the_detectors_says_so() -> None:
    document = builders.verdict(0, [])
    del document["findings"]
    assert "without detectors" in str(silence(Verdict.model_validate(document), 3))


def test_findings_end_the_silence() -> None:
    assert silence(verdict(findings=[finding()]), 1) is None


def test_a_reference_is_slow_on_purpose_and_ends_no_silence() -> None:
    slow = verdict(findings=[finding(variant="reference")])
    assert silence(slow, 1) is not None
    assert meant(slow) == []
    assert len(meant(slow, slow=True)) == 1
    assert suspects(slow) == {}


def test_what_a_case_shows_on_purpose_is_nothing_to_act_on() -> None:
    quiet = verdict(findings=[finding(expected="it waits on purpose")])
    assert meant(quiet) == []
    assert suspects(quiet) == {}
    assert len(expected(quiet)) == 1
    said = "No detector fired on 1 profile of optimized variants, but for what is expected."
    assert silence(quiet, 1) == said


def test_an_expected_finding_shares_no_symptom_with_one_that_is_not() -> None:
    found = symptoms(detected(finding(case="a"), finding(case="b", expected="on purpose")))
    assert [symptom.expected for symptom in found] == [None, "on purpose"]


def test_a_metric_of_the_case_as_a_whole_points_at_both_variants() -> None:
    rows = [builders.row("REGRESSION", variant="case"), builders.row("PASS", case="b")]
    found = suspects(Verdict.model_validate(builders.verdict(1, rows)))
    assert {variant for _, _, variant in found} == {"optimized", "reference"}
    assert {case for _, case, _ in found} == {builders.STEP}


def test_reasons_of_one_case_are_the_verdict_s_before_the_detectors() -> None:
    document = builders.verdict(1, [builders.row("REGRESSION"), builders.row("REGRESSION")])
    document["findings"] = [finding(device_class=builders.DRY)]
    (reasons,) = suspects(Verdict.model_validate(document)).values()
    assert [reason.text for reason in reasons] == ["REGRESSION", "idle gaps"]
