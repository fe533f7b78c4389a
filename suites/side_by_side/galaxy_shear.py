# SPDX-License-Identifier: Apache-2.0
"""Times a plain formulation of a galaxy's image in turn with the suite's own.

  python3 galaxy_shear.py --library=jax --psf=moffat
"""

import sys

from measuring import compare, judged, library, options, unless_interrupted
from sheared_galaxies import (
    BENCHMARK,
    BENCHMARK_TRUTH,
    PLACES,
    SMALL,
    SMALL_PIXELS,
    SMALL_TRUTH,
    Stamp,
)


def main() -> int:
    parser = options(__doc__ or "", "galaxy_shear")
    parser.add_argument("--psf", choices=BENCHMARK, default="gaussian")
    given = parser.parse_args()
    known = library(given, "float64")
    stamp = Stamp(known, BENCHMARK[given.psf])
    case = f"galaxy_shear/render/fft:128/image:48/batch:1/psf:{given.psf}/f64"
    compare(given, known, case, lambda: known.wait(stamp.image(BENCHMARK_TRUTH)))
    small = known.host(Stamp(known, SMALL[given.psf]).image(SMALL_TRUTH))
    pairs = zip(PLACES, SMALL_PIXELS[given.psf], strict=True)
    error = max(abs(small[place] - value) for place, value in pairs) / small.max()
    return judged(f"pixels of {known.name}'s small scene against golden", float(error), 1e-12)


if __name__ == "__main__":
    sys.exit(unless_interrupted(main))
