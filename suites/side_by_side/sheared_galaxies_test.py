# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from libraries import NumPy
from sheared_galaxies import (
    BENCHMARK,
    BENCHMARK_PIXEL,
    BENCHMARK_TRUTH,
    PLACES,
    SMALL,
    SMALL_PIXELS,
    SMALL_TRUTH,
    Stamp,
)


@pytest.mark.parametrize("psf", ["gaussian", "moffat"])
def test_the_plain_formulation_gives_the_published_pixels(psf: str) -> None:
    image = Stamp(NumPy("float64"), SMALL[psf]).image(SMALL_TRUTH)
    found = [image[place] for place in PLACES]
    assert np.allclose(found, SMALL_PIXELS[psf], rtol=0, atol=1e-12 * image.max())


def test_the_benchmarks_truth_has_its_published_peak() -> None:
    image = Stamp(NumPy("float64"), BENCHMARK["gaussian"]).image(BENCHMARK_TRUTH)
    assert image[23, 23] == pytest.approx(BENCHMARK_PIXEL, rel=1e-12)
    assert image.sum() == pytest.approx(9.9999998136046298e-01, rel=1e-12)
