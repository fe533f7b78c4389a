# SPDX-License-Identifier: Apache-2.0
"""Each line that planted_code.py replaces is in its file exactly once; the nightly run builds the plants."""

from pathlib import Path

import planted_code
import pytest

KERNELS = Path(__file__).resolve().parents[1] / "kernels"


@pytest.mark.parametrize("plant", planted_code.PLANTS, ids=lambda plant: plant.what.replace(" ", "_"))
def test_the_line_of_a_plant_stands_once(plant: planted_code.Plant) -> None:
    assert (KERNELS / plant.suite / plant.file).read_text("utf-8").count(plant.line) == 1
    assert plant.line != plant.worse


SAID = """REGRESSION  suite/a/f64  cuda-dry-sm_90  optimized  (blocking)
  host_launches rose from 1 to 400 (+3.99e+04 %), the limit is +0 %
  code          kernel hop<64> is new
  next          holdfast explain suite/graph_nodes
CHANGED     suite/b/f64  cuda-dry-sm_90  optimized  (blocking)
  graph_nodes   fell from 400 to 0 (-100 %), and that can be a loss: say what it brings
"""


def test_a_plant_is_told_by_its_metric_and_kernel_in_one_row_that_blocks() -> None:
    assert planted_code.is_told(SAID, ("graph_nodes fell from 400 to 0",))
    assert planted_code.is_told(SAID, ("host_launches rose", "kernel hop<"))
    assert not planted_code.is_told(SAID, ("graph_nodes fell", "kernel hop<"))
    assert not planted_code.is_told(SAID, ("suite/graph_nodes",))
    assert not planted_code.is_told(SAID.replace("(blocking)", ""), ("graph_nodes fell",))
