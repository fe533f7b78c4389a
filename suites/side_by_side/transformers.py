# SPDX-License-Identifier: Apache-2.0
"""A transformer's loss and its gradient in plain array operations (kernels/gpt_train/README.md),
and the inputs of the suite's cases."""

from dataclasses import dataclass
from typing import Any

import numpy as np

EPSILON, BASE, CAP = 1e-6, 500000.0, 15.0
SEED = 1234
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Shape:
    vocabulary: int
    width: int
    layers: int
    groups: int
    repeats: int
    head: int
    inner: int
    batch: int
    columns: int
    document: int

    @property
    def query_width(self) -> int:
        return self.groups * self.repeats * self.head

    @property
    def key_width(self) -> int:
        return self.groups * self.head


SHAPES = {
    "micro": Shape(61, 16, 2, 2, 2, 8, 20, 2, 12, 5),
    "tiny": Shape(1024, 128, 2, 2, 2, 32, 384, 2, 128, 64),
    "small": Shape(8192, 256, 4, 2, 2, 64, 896, 4, 256, 128),
}


def mixed(z: Any) -> Any:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hashed(stream: int, index: Any) -> Any:
    with np.errstate(over="ignore"):
        key = mixed(np.uint64(SEED) + np.uint64(stream) * GOLDEN)
        return mixed(key + (np.asarray(index, np.uint64) + np.uint64(1)) * GOLDEN)


def near_normal(stream: int, count: int) -> Any:
    h = hashed(stream, np.arange(count))
    fields = sum(((h >> np.uint64(16 * k)) & np.uint64(0xFFFF)).astype(np.int64) for k in range(4))
    return (fields - 131070) * (1 / np.sqrt(1431655765.0))


def batch(shape: Shape, documents: bool, pad_tail: int = 0) -> tuple[Any, Any]:
    """Tokens and documents of step 0: [B, T]."""
    last = np.uint64(shape.vocabulary - 1)
    at = np.arange(shape.batch * shape.columns, dtype=np.uint64)
    draw = hashed(1, at)
    u = draw >> np.uint64(40)
    base = ((((u * u >> np.uint64(24)) * u) >> np.uint64(24)) * last) >> np.uint64(24)
    follows = (at % np.uint64(2) == 1) & ((draw & np.uint64(3)) != 0)
    tokens = np.where(follows, (np.uint64(5) * np.roll(base, 1) + np.uint64(7)) % last, base)
    starts = (hashed(2, at) % np.uint64(shape.document) == 0).reshape(shape.batch, shape.columns)
    starts[:, 0] = False
    doc = 1 + np.cumsum(starts & documents, axis=1)
    tokens = tokens.astype(np.int64).reshape(shape.batch, shape.columns)
    if pad_tail:
        tokens[-1, -pad_tail:], doc[-1, -pad_tail:] = shape.vocabulary - 1, 0
    return tokens, doc


def parameters(s: Shape) -> list[Any]:
    """E, W_head, g_final, and of each layer g1, Wq, Wk, Wv, Wo, g2, Wf [2, d, I], Wd."""
    to_d, deep = 1 / np.sqrt(s.width), 2 * s.layers

    def drawn(stream: int, shape: tuple[int, ...], sigma: float) -> Any:
        return (near_normal(stream, int(np.prod(shape))) * sigma).reshape(shape)

    def norm(stream: int) -> Any:
        return 1 + drawn(stream, (s.width,), 0.1)

    all_of_them = [
        drawn(16, (s.vocabulary, s.width), 1),
        drawn(17, (s.width, s.vocabulary), 4 * to_d),
        norm(18),
    ]
    for layer in range(s.layers):
        first = 32 + 16 * layer
        all_of_them += [
            norm(first),
            drawn(first + 1, (s.width, s.query_width), to_d),
            drawn(first + 2, (s.width, s.key_width), to_d),
            drawn(first + 3, (s.width, s.key_width), to_d),
            drawn(first + 4, (s.query_width, s.width), 1 / np.sqrt(deep * s.query_width)),
            norm(first + 5),
            drawn(first + 6, (2, s.width, s.inner), to_d),
            drawn(first + 7, (s.inner, s.width), 1 / np.sqrt(deep * s.inner)),
        ]
    return all_of_them


@dataclass(frozen=True)
class Masks:
    """What follows from a batch: cosines and sines [T, 1, K/2], 0 where a pair sees each other and
    -1e30 where not [B, 1, 1, T, T], what is hit [n, V] and whether it counts [n, 1]."""

    cosines: Any
    sines: Any
    hidden: Any
    hit: Any
    counted: Any
    count: float


def masks(s: Shape, tokens: Any, documents: Any) -> Masks:
    half = s.head // 2
    angles = np.arange(s.columns)[:, None] * BASE ** (-np.arange(half) / half)
    pad = s.vocabulary - 1
    segments = np.where(tokens == pad, -1, documents)
    seen = (segments[:, :, None] == segments[:, None, :]) & np.tri(s.columns, dtype=bool)
    following = np.roll(tokens, -1, axis=1)
    counted = (following != pad) & (np.roll(documents, -1, axis=1) == documents)
    counted[:, -1] = False
    hit = (following.reshape(-1, 1) == np.arange(s.vocabulary)).astype(float)
    return Masks(
        np.cos(angles)[:, None],
        np.sin(angles)[:, None],
        np.where(seen, 0.0, -1e30)[:, None, None],
        hit,
        counted.reshape(-1, 1).astype(float),
        float(counted.sum()),
    )


def forward_backward(xp: Any, s: Shape, count: float, given: Any, x: Any, *p: Any) -> Any:
    """x = E[tokens]: [n, d]. Losses [n, 1], dx, and the gradients of all parameters but E."""
    cosines, sines, hidden, hit, counted = given
    rows = (s.batch, s.columns)
    n, scale = s.batch * s.columns, s.head**-0.5

    def normed(x: Any, g: Any) -> Any:
        r = ((x * x).sum(-1) / s.width + EPSILON)[:, None] ** -0.5
        return x * r * g, x * r, r

    def norm_back(dy: Any, g: Any, xh: Any, r: Any) -> Any:
        w = dy * g
        return r * (w - xh * ((w * xh).sum(-1) / s.width)[:, None]), (dy * xh).sum(0)

    def rotated(q: Any, sign: float) -> Any:
        half = s.head // 2
        first, second = q[..., :half], q[..., half:]
        w = sign * sines
        return xp.concatenate((first * cosines - second * w, second * cosines + first * w), -1)

    def by_head(q: Any, repeats: int) -> Any:  # [B, H, R or 1, T, K]
        return xp.moveaxis(q.reshape(*rows, s.groups, repeats, s.head), 1, 3)

    def by_row(q: Any, width: int) -> Any:
        return xp.moveaxis(q, 3, 1).reshape(n, width)

    def turned(q: Any, heads: int, sign: float) -> Any:
        return rotated(q.reshape(*rows, heads, s.head), sign).reshape(n, heads * s.head)

    kept = []
    for layer in range(s.layers):
        g1, wq, wk, wv, wo, g2, wf, wd = p[3 + 8 * layer : 11 + 8 * layer]
        y1, xh1, r1 = normed(x, g1)
        q = by_head(turned(y1 @ wq, s.groups * s.repeats, 1), s.repeats)
        k, v = by_head(turned(y1 @ wk, s.groups, 1), 1), by_head(y1 @ wv, 1)
        scores = q @ xp.moveaxis(k, -1, -2) * scale + hidden
        powers = xp.exp(scores - xp.amax(scores, -1)[..., None])
        shares = powers / powers.sum(-1)[..., None]
        o = by_row(shares @ v, s.query_width)
        x = x + o @ wo
        y2, xh2, r2 = normed(x, g2)
        u, a = y2 @ wf[0], y2 @ wf[1]
        h = u * a / (1 + xp.exp(-a))
        x = x + h @ wd
        kept.append((y1, xh1, r1, q, k, v, shares, o, y2, xh2, r2, u, a, h))

    y, xh, r = normed(x, p[2])
    capped = CAP * xp.tanh(y @ p[1] / CAP)
    powers = xp.exp(capped - CAP)
    sums = powers.sum(-1)[:, None]
    losses = counted * (CAP + xp.log(sums) - (hit * capped).sum(-1)[:, None])
    dz = (powers / sums - hit) * counted * count**-0.5 * (1 - (capped / CAP) ** 2)
    dx, dg_final = norm_back(dz @ p[1].T, p[2], xh, r)
    gradients = [y.T @ dz, dg_final]

    of_layers: list[Any] = []
    for layer in reversed(range(s.layers)):
        g1, wq, wk, wv, wo, g2, wf, wd = p[3 + 8 * layer : 11 + 8 * layer]
        y1, xh1, r1, q, k, v, shares, o, y2, xh2, r2, u, a, h = kept[layer]
        dwd, dh = h.T @ dx, dx @ wd.T
        sigmoid = 1 / (1 + xp.exp(-a))
        du, da = dh * a * sigmoid, dh * u * sigmoid * (1 + a * (1 - sigmoid))
        back, dg2 = norm_back(du @ wf[0].T + da @ wf[1].T, g2, xh2, r2)
        dx = dx + back
        dwo, do = o.T @ dx, by_head(dx @ wo.T, s.repeats)
        slopes = do @ xp.moveaxis(v, -1, -2)
        slopes = shares * (slopes - (shares * slopes).sum(-1)[..., None]) * scale
        dq = turned(by_row(slopes @ k, s.query_width), s.groups * s.repeats, -1)
        dk = (xp.moveaxis(slopes, -1, -2) @ q).sum(2)[:, :, None]
        dk = turned(by_row(dk, s.key_width), s.groups, -1)
        dv = by_row((xp.moveaxis(shares, -1, -2) @ do).sum(2)[:, :, None], s.key_width)
        back, dg1 = norm_back(dq @ wq.T + dk @ wk.T + dv @ wv.T, g1, xh1, r1)
        dx = dx + back
        of_layers = [dg1, y1.T @ dq, y1.T @ dk, y1.T @ dv, dwo, dg2, y2.T @ du, y2.T @ da, dwd, *of_layers]
    return losses, dx, gradients + of_layers
