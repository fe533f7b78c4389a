# SPDX-License-Identifier: Apache-2.0
import argparse
from pathlib import Path

import libraries
import measuring
import pytest


def given(suite: Path) -> argparse.Namespace:
    return argparse.Namespace(library="jax", device="cuda", suite=suite)


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (ImportError("no jax"), "jax is not installed; pip install it first"),
        (RuntimeError("Unknown backend: 'gpu'"), "jax has no cuda device: Unknown backend: 'gpu'"),
    ],
)
def test_where_there_is_nothing_to_compare_it_says_so_and_is_skipped(
    problem: Exception,
    sentence: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(device: str, dtype: str, products: str) -> libraries.Library:
        raise problem

    monkeypatch.setitem(libraries.LIBRARIES, "jax", refuse)
    with pytest.raises(SystemExit) as ended:
        measuring.library(given(Path(__file__)), "float32")
    assert ended.value.code == measuring.NOT_INSTALLED
    assert capsys.readouterr().err == sentence + "\n"


def test_products_of_another_arithmetic_are_not_compared_with_what_cannot_make_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    of_torch = argparse.Namespace(library="torch", device="cuda", suite=Path(__file__))
    with pytest.raises(SystemExit) as ended:
        measuring.library(of_torch, "float32", "BF16_BF16_F32")
    assert ended.value.code == measuring.BAD_INPUT
    assert capsys.readouterr().err == "products in BF16_BF16_F32 need --library=jax\n"
