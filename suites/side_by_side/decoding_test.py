# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from decoding import SUMS, Decoder, Stream, recording
from libraries import NumPy


def test_the_generator_gives_the_published_numbers() -> None:
    times = Stream(seed=42, kind=1, phase=0, electrode=0).uniform(3)
    assert times.tolist() == [0.9867112511075029, 0.30866257268220887, 0.5067495250451747]
    features = Stream(seed=42, kind=2, phase=0, electrode=0).normal(3)
    assert features.tolist() == [-0.5698321302992069, -1.1338716479562505, 0.7765747821853264]


def test_counts_are_the_published_ones() -> None:
    data = recording("tiny")
    assert [len(spikes.times) for spikes in data.encoding] == [16, 10, 21, 22]
    assert [len(spikes.times) for spikes in data.decoding] == [6, 9, 17, 9]


@pytest.mark.parametrize("size", ["tiny", "small", "medium"])
def test_the_plain_formulation_gives_the_published_sums(size: str) -> None:
    out = Decoder(NumPy("float64"), recording(size)).decode()
    assert out.sum() == pytest.approx(SUMS[size], rel=1e-11)


def test_single_precision_is_within_the_published_tolerance() -> None:
    data = recording("small")
    exact, rounded = (Decoder(NumPy(kind), data).decode() for kind in ("float64", "float32"))
    assert np.allclose(rounded, exact, rtol=1e-4, atol=1e-5)
