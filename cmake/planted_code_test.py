# SPDX-License-Identifier: Apache-2.0
"""What `planted_code.py` plants is there to be planted; it is built at night."""

from pathlib import Path

import planted_code
import pytest

KERNELS = Path(__file__).resolve().parents[1] / "kernels"


@pytest.mark.parametrize("plant", planted_code.PLANTS, ids=lambda plant: plant.what.replace(" ", "_"))
def test_the_line_of_a_plant_stands_once(plant: planted_code.Plant) -> None:
    assert (KERNELS / plant.suite / plant.file).read_text("utf-8").count(plant.line) == 1
    assert plant.line != plant.worse
