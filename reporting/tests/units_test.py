# SPDX-License-Identifier: Apache-2.0
import pytest
from holdfast_report.policy import Bound, bound_for, pattern
from holdfast_report.reading import parse, without_comments
from holdfast_report.units import (
    change_of,
    digits,
    percent,
    plural,
    readable,
    short_hash,
    unit_of,
)


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.000412, "s", "412 \u00b5s"),
        (0.9999, "s", "1.00 s"),
        (1.5e-9, "s", "1.50 ns"),
        (0.0, "s", "0 s"),
        (1_177_856.0, "B", "1.18 MB"),
        (26_624.0, "B", "26.6 kB"),
        (0.0, "B", "0 B"),
        (1.9e10, "B/s", "19 GB/s"),
        (9.6e10, "1/s", "96 G/s"),
        (2.4e11, "flop/s", "240 Gflop/s"),
        (0.445, "%", "44.5 %"),
        (4.0, "1", "4"),
        (12_345_678.0, "1", "12,345,678"),
        (1e-13, "1", "1.00e\u221213"),
        (2.0, "programs", "2 programs"),
        (1.0, "programs", "1 program"),
        (99.97e-6, "s", "100 \u00b5s"),
        (99.94e-6, "s", "99.9 \u00b5s"),
        (1.23456e300, "s", "1.23e+300 s"),
        (1e300, "1", "1.00e+300"),
        (12.5, "%", "1,250 %"),
        (0.9994, "%", "99.9 %"),
        ("sha256:1a2b3c4d5e6f", "1", "1a2b3c4d"),
        (None, "s", "\u2013"),
    ],
)
def test_values_are_read_with_their_unit(value: float | str | None, unit: str, text: str) -> None:
    assert readable(value, unit) == text


@pytest.mark.parametrize(
    ("metric", "unit"),
    [
        ("time_s", "s"),
        ("peak_bytes", "B"),
        ("peak_bytes_warm", "B"),
        ("bytes_per_s", "B/s"),
        ("memory_bytes_per_s", "B/s"),
        ("h2d_bytes_per_s", "B/s"),
        ("flop_per_s", "flop/s"),
        ("gemm_flop_per_s", "flop/s"),
        ("specials_per_s", "1/s"),
        ("barrier_s", "s"),
        ("launches", "1"),
        ("floor_fraction", "1"),
        ("f64_over_f32_bytes", "1"),
        ("bytes_over_fft_128", "1"),
    ],
)
def test_a_metric_s_name_carries_its_unit(metric: str, unit: str) -> None:
    assert unit_of(metric) == unit


def test_a_negative_change_has_a_minus_sign() -> None:
    assert percent(-0.085) == "\u22128.5 %"
    assert digits(-4.0) == "\u22124"


def test_a_change_of_thousands_of_percent_is_told_in_full_and_one_from_nothing_by_none() -> None:
    assert percent(123.456) == "+12,346 %"
    assert percent(9.994) == "+999 %"
    assert percent(1e300) == "+1.00e+302 %"
    assert change_of(4.0, 0.25) == "+25 %"
    assert change_of(0.0, 1.0) == "from 0"


def test_a_commit_is_no_hash_to_shorten() -> None:
    assert short_hash("0123456789abcdef") == "0123456789abcdef"


def test_comments_are_taken_out_and_slashes_in_strings_stay() -> None:
    assert (
        without_comments('{"a": "x // y", // z\n"b": "\\"//"}') == '{"a": "x // y", \n"b": "\\"//"}'
    )


@pytest.mark.parametrize(
    ("glob", "text", "matches"),
    [
        ("a/*/c", "a/b/c", True),
        ("a/*/c", "a/b/b/c", False),
        ("a/**", "a/b/b/c", True),
        ("host-*", "host-x86_64-v4-2t", True),
        ("n:4.", "n:48", False),
    ],
)
def test_one_star_stays_within_a_segment_and_two_cross(glob: str, text: str, matches: bool) -> None:
    assert bool(pattern(glob).fullmatch(text)) is matches


def test_the_last_covering_bound_counts() -> None:
    wide = Bound("a/**", "", "", "speedup", 2.0, None, "")
    narrow = Bound("a/b", "host-*", "", "speedup", 3.0, None, "")
    assert bound_for([wide, narrow], "a/b", "host-x", "case", "speedup") == narrow
    assert bound_for([wide, narrow], "a/b", "cuda-x", "case", "speedup") == wide
    assert bound_for([wide, narrow], "c/b", "host-x", "case", "speedup") is None


def test_numbers_keep_their_digits_where_a_form_ends() -> None:
    assert [digits(number) for number in (0.0001, 0.00012, 0.000999, 0.00009)] == ["0.000100", "0.000120", "0.000999", "9.00e\u221205"]
    assert [plural(count, "case") for count in (0, 1, 2)] == ["0 cases", "1 case", "2 cases"]
    assert change_of(-2.0, 0.5) == "+50 %"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\b", r"\x08"), (r"\f", r"\x0c"), (r"\u001b", r"\x1b"), ("\x7f", r"\x7f"), (r"\u007F", r"\x7f"),
        ("\u202e", r"\u202e"), (r"\u202E", r"\u202e"), (r"\\b", r"\b"), ("\u00e9", "\u00e9"),
    ],
)
def test_an_unseen_letter_is_escaped_however_the_file_writes_it(written: str, read: str) -> None:
    assert parse(f'["{written}"]', "a file") == [read]
