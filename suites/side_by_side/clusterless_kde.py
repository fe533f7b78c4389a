# SPDX-License-Identifier: Apache-2.0
"""Times a plain formulation of clusterless decoding in turn with the suite's own decode.

  python3 clusterless_kde.py --library=jax --size=medium
"""

import os
import sys

from decoding import SIZES, SUMS, Decoder, recording
from measuring import compare, judged, library, options, unless_interrupted


def main() -> int:
    parser = options(__doc__ or "", "clusterless_kde")
    parser.add_argument("--size", choices=SIZES, default="medium")
    given = parser.parse_args()
    # Tuning one of Triton's products takes a minute on a GPU, and each electrode has its own shape.
    if given.device == "cuda":
        os.environ.setdefault("XLA_FLAGS", "--xla_gpu_enable_triton_gemm=false")
    known = library(given, "float32")
    decoder = Decoder(known, recording(given.size))
    case = f"clusterless_kde/decode/size:{given.size}/data:profile/f32"
    compare(given, known, case, lambda: known.wait(decoder.decode()))
    if given.size not in SUMS:
        return 0
    error = float(known.host(decoder.decode()).sum()) / SUMS[given.size] - 1
    return judged(f"sum of {known.name}'s result against the published one", abs(error), 1e-4)


if __name__ == "__main__":
    sys.exit(unless_interrupted(main))
