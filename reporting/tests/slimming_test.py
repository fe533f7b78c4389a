# SPDX-License-Identifier: Apache-2.0
import re

import pytest
from holdfast_report.drawing import MARKS, PAPER, Drawing, Pen, inline
from holdfast_report.slimming import slim, slim_path
from matplotlib.colors import to_rgb


@pytest.mark.parametrize(
    ("path", "slimmer"),
    [
        ("M 1.23456 2.0 \nL 3.3 4.4 \nz\n", "M1.2 2L3.3 4.4z"),
        ("M 1 2 L 5 2 L 5 9", "M1 2H5V9"),
        ("M 1 2 L 1.01 2.01 L 3 4", "M1 2L3 4"),
        ("M 0 0 C 1 1 2 2 3 3 L 3 5", "M0 0C1 1 2 2 3 3V5"),
        ("M -0.01 0", "M0 0"),
        ("M 1 2 L 1 2 M 3 4 L 3 4", "M1 2h0M3 4h0"),
    ],
)
def test_a_path_keeps_its_shape_in_fewer_letters(path: str, slimmer: str) -> None:
    assert slim_path(path) == slimmer


def test_names_that_nothing_refers_to_and_empty_groups_go() -> None:
    svg = '<g id="a"><g id="b"/></g><clipPath id="c"/><path clip-path="url(#c)" d="M 1 2 L 3 4"/>'
    assert slim(svg) == '<clipPath id="c"/><path clip-path="url(#c)" d="M1 2L3 4"/>'


def test_texts_stay_as_they_are() -> None:
    said = ' d="1.23456 x" id="k" font-family: serif; x="1.23456" '
    assert slim(f"<text>{said}</text>") == f"<text>{said}</text>"


def test_what_is_turned_stays_turned() -> None:
    svg = '<text transform="rotate(-45 1 2)">a</text><text transform="rotate(-0 1 2)">b</text>'
    assert slim(svg) == '<text transform="rotate(-45 1 2)">a</text><text>b</text>'


def test_what_is_drawn_inline_has_ids_of_its_own_that_its_own_parts_name() -> None:
    def clipped() -> str:
        figure, axes = Pen().figure(2, 1)
        axes.plot([0, 1], [0, 2], "o")
        axes.set_ylim(0, 1)
        return str(inline(Drawing(figure, 'of <a> & "b"')))

    one, other = clipped(), clipped()
    for svg in (one, other):
        ids = set(re.findall(r'\bid="([^"]+)"', svg))
        used = set(re.findall(r'(?:url\(|href=")#([^)"]+)', svg))
        assert used and used <= ids
        assert 'aria-label="of &lt;a&gt; &amp; &quot;b&quot;"' in svg
    assert not set(re.findall(r'\bid="([^"]+)"', one)) & set(re.findall(r'\bid="([^"]+)"', other))


def test_in_a_file_good_is_green_and_bad_is_red() -> None:
    good, bad = (to_rgb(PAPER[role]) for role in ("good", "bad"))
    assert good[1] == max(good) and bad[0] == max(bad)
    assert MARKS.keys() == PAPER.keys() and len(set(MARKS.values())) == len(MARKS)
