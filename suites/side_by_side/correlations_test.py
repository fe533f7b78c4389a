# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from correlations import START, TRUTH, measurement, model, noise, normal_equations

DIAGONAL = [
    73.45094628825234,
    192,
    6.192115398382886e-08,
    0.25262270918188723,
    3.297517405030552e-08,
    74266460.91350555,
    9.853998602528675,
    59636534.837168574,
    0.004369523908743918,
]
GRADIENT = [
    18.95920414380489,
    27.765365845152722,
    -0.0004157956162003193,
    -0.770378597776159,
    -0.0003079405843412717,
    -11674.04307800626,
    -4.011839296672717,
    -10429.21154237139,
    0.015229059746810533,
]


def test_the_noise_is_the_published_one() -> None:
    assert noise(4).tolist() == [
        0.19744777248756357,
        0.41791998540079855,
        0.09310480226073731,
        -0.6505515113851165,
    ]


def test_the_data_have_the_published_sums() -> None:
    tiny = measurement(3, 8, 1)
    clean = model(TRUTH, tiny.angles, tiny.times)
    assert clean.sum() == pytest.approx(222.54770641604057, rel=1e-14)
    assert tiny.data.sum() == pytest.approx(222.62408443073215, rel=1e-14)
    small = measurement(10, 300, 100 / 300)
    assert small.data.sum() == pytest.approx(909128.576863877, rel=1e-13)


def test_the_plain_formulation_gives_the_published_normal_equations() -> None:
    tiny = measurement(3, 8, 1)
    cost, gradient, matrix = normal_equations(np, START, tiny.angles, tiny.times, tiny.data)
    assert cost == pytest.approx(2.54670870072525, rel=1e-12)
    assert np.diag(matrix) == pytest.approx(DIAGONAL, rel=1e-9)
    assert gradient == pytest.approx(GRADIENT, rel=1e-9)
    assert matrix[1, 7] == pytest.approx(-85800.34476380952, rel=1e-9)
