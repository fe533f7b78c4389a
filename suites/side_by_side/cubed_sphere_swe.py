# SPDX-License-Identifier: Apache-2.0
"""Times a plain formulation of a shallow-water step in turn with the suite's own.

  python3 cubed_sphere_swe.py --library=jax --n=48
"""

import sys

import numpy as np
from measuring import compare, judged, library, options, unless_interrupted
from shallow_water import NORM_AFTER_A_STEP, ShallowWater


def main() -> int:
    parser = options(__doc__ or "", "cubed_sphere_swe")
    parser.add_argument("--n", type=int, choices=(24, 48, 96, 192, 384), default=48)
    given = parser.parse_args()
    known = library(given, "float64")
    water = ShallowWater(known, given.n)

    def step() -> None:
        water.step()
        water.wait()

    compare(given, known, f"cubed_sphere_swe/rk4_step/n:{given.n}/f64", step)
    small = ShallowWater(known, 8)
    small.step()
    error = float(np.linalg.norm(known.host(small.state[0]))) / NORM_AFTER_A_STEP - 1
    return judged(f"norm of {known.name}'s heights at n = 8 against golden", abs(error), 1e-12)


if __name__ == "__main__":
    sys.exit(unless_interrupted(main))
