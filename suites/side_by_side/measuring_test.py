# SPDX-License-Identifier: Apache-2.0
import argparse
import sys
import time
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


# The line of a suite's sample: seconds of a step, CPU seconds, seconds waited, whether disturbed.
SUITE = """
print("ready 1", flush=True)
for sample, _ in enumerate(open(0)):
    print([1e-3, 3e-3, 2e-3][sample // 2], 7e-3, 0, 0, flush=True)
"""


def test_a_comparison_tells_seconds_of_a_step_and_how_many_times_as_fast_the_suite_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "suite"
    suite.write_text(f"#!{sys.executable}\n{SUITE}")
    suite.chmod(0o755)
    clock = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock[0])

    def step() -> None:
        clock[0] += 2e-3

    of_suite = argparse.Namespace(device="host", suite=suite, budget=0)
    measuring.compare(of_suite, libraries.NumPy(), "suite/case/f64", step)
    assert capsys.readouterr().out.splitlines()[-3:] == [
        f"{libraries.NumPy().name}: 2.000e-03 s per step, first call 0.002 s",
        "suite/case/f64, optimized: 2.000e-03 s per step",
        "1 times as fast (0.667 to 2 over 3 rounds)",
    ]


def test_a_large_ratio_is_told_without_an_exponent() -> None:
    assert [measuring.three_digits(one) for one in (0.66667, 27.68, 1236.4)] == ["0.667", "27.7", "1240"]


@pytest.mark.parametrize(("error", "code"), [(1e-12, 0), (2e-12, 1), (float("nan"), 1)])
def test_a_formulation_that_is_off_fails(error: float, code: int) -> None:
    assert measuring.judged("norm", error, 1e-12) == code


def test_an_interrupted_comparison_says_so_without_a_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def main() -> int:
        raise KeyboardInterrupt

    assert measuring.unless_interrupted(main) == 130
    assert capsys.readouterr().err == "interrupted; nothing was compared\n"
