# SPDX-License-Identifier: Apache-2.0
"""Times a plain formulation of a transformer's forward and backward pass in turn with the suite's
own: in f32, and on a GPU with products in bf16.

  python3 gpt_train.py --library=jax --model=tiny
"""

import sys
from typing import Any

from measuring import compare, judged, library, options, unless_interrupted
from transformers import SHAPES, batch, forward_backward, masks, parameters

MEANS = {("tiny", 0): 12.7716496646532, ("tiny", 1): 12.7255167330016}
MEANS[("small", 1)] = 14.4606451579611


def main() -> int:
    parser = options(__doc__ or "", "gpt_train")
    parser.add_argument("--model", choices=("tiny", "small"), default="tiny")
    parser.add_argument("--docs", type=int, choices=(0, 1), help="default: 0 of tiny, 1 of small")
    given = parser.parse_args()
    docs = int(given.model == "small") if given.docs is None else given.docs
    if (given.model, docs) not in MEANS:
        parser.error(f"no published loss of {given.model} with --docs={docs}")
    on_gpu = given.device == "cuda"
    known = library(given, "float32", "BF16_BF16_F32" if on_gpu else "highest")
    shape = SHAPES[given.model]
    tokens, document = batch(shape, bool(docs))
    of_batch = masks(shape, tokens, document)
    arrays = (of_batch.cosines, of_batch.sines, of_batch.hidden, of_batch.hit, of_batch.counted)
    put = tuple(known.put(array) for array in arrays)
    p = [known.put(array) for array in parameters(shape)]
    index = known.put_index(tokens.reshape(-1))
    nothing = known.put([0])

    def whole(xp: Any, of_step: Any, *p: Any) -> Any:
        return forward_backward(xp, shape, of_batch.count, of_step, p[0][index], *p)

    step = known.compiled(whole)

    def passed() -> Any:
        losses, dx, gradients = step(put, *p)
        empty = p[0] * nothing
        return losses, known.wait(known.add_rows(empty, tokens.reshape(-1), dx)), gradients

    case = f"gpt_train/forward_backward/model:{given.model}/docs:{docs}/{'bf16' if on_gpu else 'f32'}"
    compare(given, known, case, passed)
    mean = known.host(passed()[0]).sum() / of_batch.count
    off = abs(mean / MEANS[(given.model, docs)] - 1)
    return judged(f"mean loss of {known.name} against the published one", off, 2e-4 if on_gpu else 1e-5)


if __name__ == "__main__":
    sys.exit(unless_interrupted(main))
