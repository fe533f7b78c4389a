# SPDX-License-Identifier: Apache-2.0
from typing import Any

import numpy as np
import pytest
from transformers import SHAPES, batch, forward_backward, masks, near_normal, parameters


def passed(model: str, documents: bool, pad_tail: int = 0) -> Any:
    shape = SHAPES[model]
    tokens, document = batch(shape, documents, pad_tail)
    of_batch = masks(shape, tokens, document)
    p = parameters(shape)
    given = (of_batch.cosines, of_batch.sines, of_batch.hidden, of_batch.hit, of_batch.counted)
    x = p[0][tokens.reshape(-1)]
    losses, dx, gradients = forward_backward(np, shape, of_batch.count, given, x, *p)
    embedding = np.zeros_like(p[0])
    np.add.at(embedding, tokens.reshape(-1), dx)
    return losses, of_batch.count, [embedding, *gradients]


def norm(arrays: Any) -> float:
    return float(np.sqrt(sum((array * array).sum() for array in arrays)))


def test_numbers_are_the_published_ones() -> None:
    assert near_normal(16, 1)[0] == pytest.approx(0.1471302314278939, rel=1e-15)
    tokens, document = batch(SHAPES["micro"], True, 3)
    assert tokens[1].tolist() == [0, 7, 19, 42, 0, 7, 21, 52, 17, 60, 60, 60]
    assert document[1].tolist() == [1, 2, 3, 3, 3, 3, 3, 3, 3, 0, 0, 0]


def test_micro_has_the_published_loss_and_gradient() -> None:
    losses, count, gradients = passed("micro", True, 3)
    assert losses.sum() / count == pytest.approx(9.920412302448009, rel=1e-12)
    assert norm(gradients) == pytest.approx(35.4301314661297, rel=1e-12)
    assert norm(gradients[:1]) == pytest.approx(5.541235234661731, rel=1e-12)
    assert norm(gradients[9:11]) == pytest.approx(8.16790732913259, rel=1e-12)


@pytest.mark.parametrize(
    ("documents", "mean", "size"),
    [(False, 12.7716496646532, 82.6515421404), (True, 12.7255167330016, 84.4084612417)],
)
def test_tiny_has_the_published_loss_and_gradient(documents: bool, mean: float, size: float) -> None:
    losses, count, gradients = passed("tiny", documents)
    assert losses.sum() / count == pytest.approx(mean, rel=1e-12)
    assert norm(gradients) == pytest.approx(size, rel=1e-11)
