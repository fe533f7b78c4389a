# SPDX-License-Identifier: Apache-2.0
from math import radians
from typing import Any

import builders
import page_reader
import profile_builders
import pytest
from builders import HOST, STEP, Workplace
from holdfast_report import roofline, tables
from holdfast_report.cells import DASH, Share
from holdfast_report.documents import Results
from holdfast_report.drawing import Pen
from holdfast_report.profiles import Profile
from holdfast_report.root import Part
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.path import Path


def part(flops: float = 2.0e10, moved: float = 1.0e10, **ceilings: float) -> Part:
    """One case whose optimized variant was timed."""
    document = builders.host_results()
    document["ceilings"] |= ceilings
    document["cases"] = document["cases"][:1]
    del document["cases"][0]["variants"]["reference"]
    metrics = document["cases"][0]["variants"]["optimized"]["metrics"]
    metrics["flop_per_s"] = {"kind": "advisory", "value": flops}
    metrics["bytes_per_s"] = {"kind": "advisory", "value": moved}
    return Part(Results.model_validate(document), None)


def drawn(one: Part) -> Axes:
    return roofline.chart(one, roofline.spots(one, {})).figure.axes[0]


def points(axes: Axes) -> list[tuple[float, float]]:
    marked = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    return [(line.get_xdata()[0], line.get_ydata()[0]) for line in marked]


def test_a_case_lies_at_its_work_per_byte_and_work_per_second() -> None:
    axes = drawn(part())
    assert points(axes) == [(2.0, 2.0e10)]
    assert axes.get_xscale() == axes.get_yscale() == "log"


def test_its_label_is_its_number_and_the_fraction_of_the_floor() -> None:
    assert "1: 31 %" in [text.get_text() for text in drawn(part()).texts]


def test_bandwidths_are_slopes_that_end_at_the_highest_peak() -> None:
    axes = drawn(part())
    lines = [line for line in axes.lines if len(line.get_xdata()) == 2]
    slopes = [line for line in lines if line.get_ydata()[0] != line.get_ydata()[1]]
    rates = [line.get_ydata()[1] / line.get_xdata()[1] for line in slopes]
    assert sorted(rates) == pytest.approx([1.9e10, 2.1e11])
    assert all(line.get_ydata()[1] == pytest.approx(9.6e10) for line in slopes)


def test_a_newly_calibrated_bandwidth_or_peak_is_a_roof_at_once() -> None:
    one = part(l3_bytes_per_s=5.0e10, gemm_flop_per_s=2.0e11)
    assert roofline.bandwidths(one) == {"l1": 2.1e11, "l3": 5.0e10, "memory": 1.9e10}
    assert list(roofline.peaks(one)) == ["gemm", "f64"]


def test_the_bus_is_no_roof_of_the_device() -> None:
    assert "h2d" not in roofline.bandwidths(part(h2d_bytes_per_s=5.0e10))


def test_other_ceilings_are_listed_with_the_unit_that_their_name_carries() -> None:
    one = part(specials_per_s=2.2e9, barrier_s=3.1e-6, h2d_bytes_per_s=5.0e10)
    listed = dict(tables.ceilings(one).rows)
    assert listed["specials"] == "2.20 G/s"
    assert listed["barrier"] == "3.10 \u00b5s"
    assert listed["h2d"] == "50 GB/s"
    assert listed["f64"] == "96 Gflop/s"


def test_a_mere_copy_is_in_the_table_and_not_on_the_axes() -> None:
    (spot,) = roofline.spots(part(flops=0.0), {})
    assert spot.number == 0
    (row,) = roofline.table([spot]).rows
    assert row[0] == DASH
    assert row[3] == Share(0.31, "31 %")


@pytest.mark.parametrize("beyond", [1e300, 1e-300])
@pytest.mark.filterwarnings("error")
def test_what_no_machine_does_is_in_the_table_and_stretches_no_axis(beyond: float) -> None:
    document = builders.host_results()
    builders.add_rates(document)
    document["ceilings"] |= {"odd_bytes_per_s": beyond, "odd_flop_per_s": beyond}
    for name, number in (("flop_per_s", 0), ("bytes_per_s", 1)):
        document["cases"][number]["variants"]["optimized"]["metrics"][name]["value"] = beyond
    one = Part(Results.model_validate(document), None)
    found = roofline.spots(one, {})
    assert [spot.number for spot in found] == [0, 1, 0, 2]
    assert "odd" not in roofline.bandwidths(one) and "odd" not in roofline.peaks(one)
    drawing = roofline.chart(one, [spot for spot in found if spot.number])
    drawing.figure.draw_without_rendering()
    assert len(points(drawing.figure.axes[0])) == 2
    assert [row[0] for row in roofline.table(found).rows] == [DASH, "1", DASH, "2"]


def test_a_case_without_rates_of_its_own_takes_them_from_its_profile() -> None:
    results = Results.model_validate(builders.host_results())
    profile = Profile.model_validate(profile_builders.host())
    found = roofline.spots(Part(results, None), {(HOST, STEP, "optimized"): profile})
    (spot,) = [one for one in found if one.number]
    assert spot.flops == pytest.approx(2.0e6 / 0.0006)
    assert spot.intensity == pytest.approx(0.5)


def test_a_variant_is_filled_or_hollow_and_marked_by_its_precision_and_a_single_one_is_drawn(workplace: Workplace) -> None:
    document = builders.host_results()
    builders.add_rates(document)
    document["cases"][1]["id"] = document["cases"][1]["id"].replace("f64", "f32")
    axes = drawn(Part(Results.model_validate(document), None))
    marked = [line for line in axes.lines if line.get_marker() not in ("", "None")]
    assert [line.get_marker() for line in marked] == ["o", "o", "s", "s"]
    assert [line.get_markerfacecolor() for line in marked] == [Pen()["optimized"], Pen()["paper"]] * 2
    one = part().results.model_dump(by_alias=True, mode="json")
    workplace.measure(HOST, one)
    alts = [figure or "" for figure in page_reader.drawn(workplace).figures]
    assert any(alt.startswith("Roofline of") and "20 Gflop/s, 31 % of the floor" in alt for alt in alts)


def test_the_table_has_the_rates_in_their_units_and_roofs_the_highest_first() -> None:
    (spot,) = roofline.spots(part(), {})
    (row,) = roofline.table([spot]).rows
    assert row[1:] == ("rk4_step/n:48/f64", "optimized", Share(0.31, "31 %"), "20 Gflop/s", "10 GB/s", "2")
    assert list(roofline.bandwidths(part(l3_bytes_per_s=5.0e10))) == ["l1", "l3", "memory"]
    left, right = drawn(part()).get_xlim()
    ridges = [9.6e10 / 2.1e11, 9.6e10 / 1.9e10]
    assert left < min(*ridges, 2.0) and max(*ridges, 2.0) < right


def test_no_label_hides_another() -> None:
    one = part()
    (spot,) = roofline.spots(one, {})
    crowd: list[Any] = [
        roofline.Spot(k, "c", "optimized", "f64", spot.flops * (1 + 0.001 * k), spot.bytes, 0.3)
        for k in range(1, 30)
    ]
    axes = roofline.chart(one, crowd).figure.axes[0]
    assert len(points(axes)) == 29
    labels = [text.get_text() for text in axes.texts if ": 30 %" in text.get_text()]
    assert 1 <= len(labels) < 29


# As a machine of two cores was calibrated: pairs of peaks and of caches lie close together.
CLOSE = {
    "f32_flop_per_s": 2.36e11, "f32_gemm_flop_per_s": 2.13e11, "f64_flop_per_s": 1.18e11,
    "f64_gemm_flop_per_s": 1.07e11, "l1_bytes_per_s": 5.41e11, "l2_bytes_per_s": 2.35e11,
    "l3_bytes_per_s": 1.98e11, "memory_bytes_per_s": 6.2e10,
}  # fmt: skip


def outlines(axes: Axes) -> dict[str, Path]:
    """For each label, the rotated rectangle that its letters cover on the figure."""
    renderer = FigureCanvasAgg(axes.figure).get_renderer()
    found = {}
    for text in axes.texts:
        angle = radians(text.get_rotation())
        text.set_rotation(0)
        flat = text.get_window_extent(renderer)
        found[text.get_text()] = roofline.outline(
            (flat.x0, flat.y0), flat.width, 0.9 * flat.height, angle
        )
    return found


@pytest.mark.parametrize("flops", [5.0e10, 2.0e10, 2.0e9])
def test_each_of_two_close_roofs_has_a_label_that_no_line_strikes_through(flops: float) -> None:
    axes = drawn(part(flops=flops, moved=1.0e10, **CLOSE))
    labels = outlines(axes)
    assert {text.rpartition(" ")[0] for text in labels if text.endswith(" G")} == {
        "f32 236", "f32 gemm 213", "f64 118", "f64 gemm 107"
    }
    slopes = {text.split()[0] for text in labels if text.endswith("B/s")}
    assert slopes == {"l1", "l2", "l3", "memory"}
    lines = [axes.transData.transform(line.get_xydata()) for line in axes.lines]
    roofs = [Path(line) for line in lines if len(line) == 2]
    assert len(roofs) == len(CLOSE)
    for said, label in labels.items():
        assert not any(label.intersects_path(roof) for roof in roofs), said
        assert not any(label.intersects_path(b) for a, b in labels.items() if a != said), said
