# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from libraries import NumPy
from shallow_water import NORM_AFTER_A_STEP, ShallowWater, copies


def test_edge_points_have_two_copies_and_corners_three() -> None:
    n = 8
    _, weight = copies(n, np.tan(np.linspace(-np.pi / 4, np.pi / 4, n + 1)))
    counted = np.unique((weight > 0).sum(1), return_counts=True)[1]
    assert counted.tolist() == [6 * (n - 1) ** 2, 24 * (n - 1), 24]


@pytest.fixture(scope="module")
def stepped() -> ShallowWater:
    water = ShallowWater(NumPy("float64"), 8)
    water.step()
    return water


def test_a_step_gives_the_golden_values(stepped: ShallowWater) -> None:
    h, v1, v2 = stepped.state
    assert np.linalg.norm(h) == pytest.approx(NORM_AFTER_A_STEP, rel=1e-13)
    assert h[2, 3, 4] == pytest.approx(0.22242473994310058, rel=1e-12)
    assert v1[1, 2, 3] == pytest.approx(0.58863830041436671, rel=1e-12)
    assert v2[4, 5, 6] == pytest.approx(-0.79299091045571857, rel=1e-12)


def test_ten_steps_give_the_golden_norms(stepped: ShallowWater) -> None:
    water = ShallowWater(NumPy("float64"), 8)
    for _ in range(10):
        water.step()
    norms = [float(np.linalg.norm(field)) for field in water.state]
    golden = [15.360266894103505, 12.333996895244846, 12.095843332995525]
    assert norms == pytest.approx(golden, rel=1e-12)
