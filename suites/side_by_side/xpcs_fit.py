# SPDX-License-Identifier: Apache-2.0
"""Times a plain formulation of the normal equations of a two-time correlation fit in turn with the
suite's own.

  python3 xpcs_fit.py --library=jax --size=s
"""

import sys

import numpy as np
from correlations import SIZES, START, measurement, normal_equations
from measuring import compare, judged, library, options, unless_interrupted


def main() -> int:
    parser = options(__doc__ or "", "xpcs_fit")
    parser.add_argument("--size", choices=SIZES, default="s")
    given = parser.parse_args()
    known = library(given, "float64")
    angles, frames = SIZES[given.size]
    taken = measurement(angles, frames, 100 / frames)
    step = known.compiled(normal_equations)
    inputs = [known.put(values) for values in (START, taken.angles, taken.times, taken.data)]
    case = (
        "xpcs_fit/normal_eq/mode:laminar/scaling:shared/loss:linear/weights:unit"
        f"/size:{given.size}/f64"
    )
    compare(given, known, case, lambda: known.wait(step(*inputs)[2]))
    cost = float(known.host(step(*inputs)[0]))
    exact = float(normal_equations(np, START, taken.angles, taken.times, taken.data)[0])
    return judged(f"F of {known.name} against NumPy's", abs(cost / exact - 1), 1e-10)


if __name__ == "__main__":
    sys.exit(unless_interrupted(main))
