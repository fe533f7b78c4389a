# SPDX-License-Identifier: Apache-2.0
"""A Runge-Kutta step of kernels/cubed_sphere_swe as its users would write it: operators as
matrices, einsum along either axis of all six panels, borders averaged by a gather. The penalties
are folded into the divergence, -Hv^-1 Dvc^T Hc (identity 2 of that workload's README)."""

import math
from typing import Any

import numpy as np
from decoding import GAMMA, Array, mix
from libraries import Library

A = 102207746025903.0 / 808013506696916.0
B = -289843969221617.0 / 9696162080362992.0

# The first rows of Dvc and Pvc (vertices to centres), then the one in the middle; the last rows
# mirror the first.
DVC = (
    (-79 / 78, 27 / 26, -1 / 26, 1 / 78, 0),
    (2 / 21, -9 / 7, 9 / 7, -2 / 21, 0),
    (1 / 75, 0, -27 / 25, 83 / 75, -1 / 25),
    (1 / 24, -9 / 8, 9 / 8, -1 / 24, 0),
)
PVC = (
    (1 / 2 + A + 2 * B, 1 / 2 - 2 * A - 3 * B, A, B, 0),
    (
        -8 / 63 - 52 * A / 21 - 104 * B / 21,
        29 / 42 + 104 * A / 21 + 52 * B / 7,
        1 / 2 - 52 * A / 21,
        -4 / 63 - 52 * B / 21,
        0,
    ),
    (
        -1 / 25 + 26 * A / 25 + 52 * B / 25,
        -1 / 50 - 52 * A / 25 - 78 * B / 25,
        3 / 5 + 26 * A / 25,
        13 / 25 + 26 * B / 25,
        -3 / 50,
    ),
    (-1 / 16, 9 / 16, 9 / 16, -1 / 16, 0),
)


NORM_AFTER_A_STEP = 14.173292236547905  # of h at n = 8


def to_centres(rows: tuple[tuple[float, ...], ...], n: int, sign: float) -> Array:
    """[n, n+1]"""
    matrix = np.zeros((n, n + 1))
    for row in range(3, n - 3):
        matrix[row, row - 1 : row + 3] = rows[3][:4]
    for row in range(3):
        matrix[row, :5] = rows[row]
        matrix[n - 1 - row, n - 4 :] = sign * np.array(rows[row][::-1])
    return matrix


def weights(points: int, first: tuple[float, ...]) -> Array:
    all = np.ones(points)
    all[: len(first)] = first
    all[points - len(first) :] = first[::-1]
    return all


def points_of(t: Array) -> Array:
    """The vertices of all panels on the sphere, [6, n+1, n+1, 3]."""
    t1, t2 = np.meshgrid(t, t, indexing="ij")
    one = np.ones_like(t1)
    x, y, z = np.stack([t1, t2, one]) / np.sqrt(1 + t1**2 + t2**2)
    panels = [(x, y, z), (-x, z, y), (-z, -x, y), (x, -z, y), (z, x, y), (-x, y, -z)]
    return np.stack([np.stack(panel, -1) for panel in panels])


def copies(n: int, t: Array) -> tuple[Array, Array]:
    """The indices of the copies of each vertex, [6 (n+1)^2, 3], and their weights; a point inside a
    panel is its own only copy."""
    places = np.rint(points_of(t).reshape(-1, 3) * 2.0**36).astype(np.int64)
    _, inverse, counts = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    inverse = inverse.reshape(-1)
    by_point = np.argsort(inverse, kind="stable")
    first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    own = np.arange(len(places))
    index, weight = np.repeat(own[:, None], 3, 1), np.zeros((len(places), 3))
    for copy in range(3):
        has = counts[inverse] > copy
        index[has, copy] = by_point[first[inverse[has]] + copy]
        weight[has, copy] = 1 / counts[inverse[has]]
    return index, weight


def random_start(n: int) -> tuple[Array, Array, Array]:
    """h [6, n+1, n+1], v1 [6, n, n+1], v2 [6, n+1, n]."""

    def field(tag: int, *shape: int) -> Array:
        with np.errstate(over="ignore"):
            k = np.arange(math.prod(shape), dtype=np.uint64)
            z = mix(np.uint64(tag << 40) + k + GAMMA)
        return ((z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1).reshape(shape)

    return field(1, 6, n + 1, n + 1), field(2, 6, n, n + 1), field(3, 6, n + 1, n)


class ShallowWater:
    """`step` makes one Runge-Kutta step of dt = 1 / 3n on the device."""

    def __init__(self, library: Library, n: int) -> None:
        self.library, self.n = library, n
        dx = math.pi / (2 * n)
        vertices = np.arange(n + 1) * dx - math.pi / 4
        vertices[n] = math.pi / 4
        t, tc = np.tan(vertices), np.tan((np.arange(n) + 0.5) * dx - math.pi / 4)
        hv = weights(n + 1, (7 / 18, 9 / 8, 1, 71 / 72))
        hc = weights(n, (13 / 12, 7 / 8, 25 / 24))
        dvc, pvc = to_centres(DVC, n, -1) / dx, to_centres(PVC, n, 1)
        pcv = (pvc * hc[:, None]).T / hv[:, None]  # Hv Pcv = Pvc^T Hc
        divergence = -(dvc * hc[:, None]).T / hv[:, None]

        def root(t1: Array, t2: Array) -> Array:
            return np.sqrt(1 + t1[:, None] ** 2 + t2[None, :] ** 2)

        d, s = root(t, t), 1 + t**2
        index, weight = copies(n, t)
        self.constants = {
            "dvc": dvc, "pvc": pvc, "pcv": pcv, "divergence": divergence,
            "jq12": t[:, None] * t[None, :] / d,
            "inverse_j": d**3 / (s[:, None] * s[None, :]),
            "jq11": np.broadcast_to(s[None, :], (n, n + 1)) / root(tc, t),
            "jq22": np.broadcast_to(s[:, None], (n + 1, n)) / root(t, tc),
            "weight": weight,
        }  # fmt: skip
        self.tables = {name: library.put(value) for name, value in self.constants.items()}
        self.tables["index"] = library.put_index(index)
        self.advance = library.compiled(runge_kutta)
        self.state = tuple(library.put(field) for field in random_start(n))

    def step(self) -> None:
        self.state = self.advance(self.tables, *self.state, 1 / (3 * self.n))

    def wait(self) -> None:
        self.library.wait(self.state[0])


def projected(c: dict[str, Any], h: Any) -> Any:
    return (h.reshape(-1)[c["index"]] * c["weight"]).sum(-1).reshape(h.shape)


def tendency(xp: Any, c: dict[str, Any], h: Any, v1: Any, v2: Any) -> tuple[Any, Any, Any]:
    def along_x1(matrix: Any, field: Any) -> Any:
        return xp.einsum("ij,pjk->pik", matrix, field)

    def along_x2(matrix: Any, field: Any) -> Any:
        return xp.einsum("ij,pkj->pki", matrix, field)

    hp = projected(c, h)
    u1 = c["jq11"] * v1 + along_x1(c["pvc"], c["jq12"] * along_x2(c["pcv"], v2))
    u2 = c["jq22"] * v2 + along_x2(c["pvc"], c["jq12"] * along_x1(c["pcv"], v1))
    div = along_x1(c["divergence"], u1) + along_x2(c["divergence"], u2)
    dh = projected(c, -c["inverse_j"] * div)
    return dh, -along_x1(c["dvc"], hp), -along_x2(c["dvc"], hp)


def runge_kutta(xp: Any, c: dict[str, Any], h: Any, v1: Any, v2: Any, dt: float) -> Any:
    def ahead(k: Any, by: float) -> Any:
        return tuple(y + by * slope for y, slope in zip((h, v1, v2), k, strict=True))

    k1 = tendency(xp, c, h, v1, v2)
    k2 = tendency(xp, c, *ahead(k1, dt / 2))
    k3 = tendency(xp, c, *ahead(k2, dt / 2))
    k4 = tendency(xp, c, *ahead(k3, dt))
    return tuple(
        y + dt / 6 * (a + 2 * b + 2 * g + d)
        for y, a, b, g, d in zip((h, v1, v2), k1, k2, k3, k4, strict=True)
    )
