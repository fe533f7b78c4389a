# SPDX-License-Identifier: Apache-2.0
"""The schemas of baselines/formats, the files that were written, and what this page reads
are one language. HOLDFAST_RESULTS names a results root to hold against them."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import builders
import profile_builders
import pytest
from holdfast_report import documents, history, profiles, store
from holdfast_report.reading import load
from jsonschema import Draft202012Validator
from pydantic import BaseModel

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted(ROOT.glob("baselines/formats/*.schema.json"))
BASELINES = sorted(ROOT.glob("baselines/devices/*/*.json"))
POLICIES = sorted(ROOT.glob("baselines/policy/*.json"))

# What the page declares of each document; the policy it reads only for its bounds.
MODELS: dict[str, type[BaseModel]] = {
    "results": documents.Results,
    "list": documents.CaseList,
    "verdict": documents.Verdict,
    "baseline": documents.Baseline,
    "trend": history.Trend,
    "profile": profiles.Profile,
    "journal": store.Journal,
}
SAMPLES: dict[str, dict[str, Any]] = {
    "results": builders.host_results(),
    "list": builders.case_list(),
    "verdict": builders.verdict(1, [builders.row("REGRESSION"), builders.improved()]),
    "baseline": builders.baseline(),
    "trend": builders.trend(),
    "profile": profile_builders.gpu(),
    "journal": builders.journal(
        {"devices/host/toy.json": builders.hashed("b"), "devices/host/gone.json": None}
    ),
}


@cache
def schema(name: str) -> dict[str, Any]:
    found = [path for path in SCHEMAS if path.name == f"{name}.schema.json"]
    if not found:
        pytest.skip(f"no {name}.schema.json in baselines/formats")
    return load(found[0])


def key_sets(document: Any) -> set[frozenset[str]]:
    """The keys of every object that a schema describes, wherever in it."""
    found: set[frozenset[str]] = set()
    if isinstance(document, dict):
        properties = document.get("properties")
        if isinstance(properties, dict) and properties:
            found.add(frozenset(properties))
        # Conditions speak of keys that have been told.
        document = [said for word, said in document.items() if word not in ("if", "then", "else")]
    if isinstance(document, list):
        for part in document:
            found |= key_sets(part)
    return found


def complaints(name: str, document: Any) -> list[str]:
    found = Draft202012Validator(schema(name)).iter_errors(document)
    return [f"{'/'.join(map(str, error.path))}: {error.message}" for error in found]


def name_of(document: Any) -> str:
    """holdfast-results/1 -> results"""
    return str(document["schema"]).removeprefix("holdfast-").partition("/")[0]


def written() -> Iterator[Path]:
    place = os.environ.get("HOLDFAST_RESULTS")
    if place:
        yield from sorted(Path(place).glob("*/*.json"))
        yield from sorted(Path(place).glob("*/profiles/*/*.profile.json"))
        yield from sorted(Path(place).glob("verdict.json"))


def test_there_are_schemas() -> None:
    assert SCHEMAS


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)
def test_a_schema_is_a_valid_one_of_draft_2020_12(path: Path) -> None:
    document = load(path)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(document)


@pytest.mark.parametrize("name", SAMPLES)
def test_what_the_other_tests_build_is_what_the_schema_allows(name: str) -> None:
    assert complaints(name, SAMPLES[name]) == []


@pytest.mark.parametrize("name", SAMPLES)
def test_the_schema_refuses_an_unknown_key(name: str) -> None:
    assert complaints(name, SAMPLES[name] | {"surprise": 1}) != []


@pytest.mark.parametrize("name", MODELS)
def test_the_page_knows_the_keys_of_the_schema_and_no_others(name: str) -> None:
    keys = {field.alias or known for known, field in MODELS[name].model_fields.items()}
    assert keys == set(schema(name)["properties"])


@pytest.mark.parametrize("name", MODELS)
def test_the_page_knows_the_keys_of_each_part_of_a_document(name: str) -> None:
    written, read = key_sets(schema(name)), key_sets(MODELS[name].model_json_schema())
    if name == "trend":
        read.add(frozenset(history.Point._fields))  # a tuple, whose schema names no keys
    assert written == read


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: "/".join(path.parts[-2:]))
def test_an_accepted_baseline_is_what_the_schema_allows(path: Path) -> None:
    assert complaints("baseline", load(path)) == []


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.name)
def test_the_policy_is_what_the_schema_allows(path: Path) -> None:
    assert complaints("policy", load(path, comments=True)) == []


def test_what_was_written_is_what_the_schemas_allow() -> None:
    paths = list(written())
    if not os.environ.get("HOLDFAST_RESULTS"):
        pytest.skip("HOLDFAST_RESULTS names no results root")
    assert paths, "HOLDFAST_RESULTS names a folder without results"
    found = {str(path): complaints(name_of(load(path)), load(path)) for path in paths}
    assert {path: said for path, said in found.items() if said} == {}
