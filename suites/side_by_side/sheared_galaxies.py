# SPDX-License-Identifier: Apache-2.0
"""Images of sheared galaxies as their users would write them: the equations of
kernels/galaxy_shear on whole arrays and one inverse transform."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from libraries import Library

HALF_LIGHT = 1.6783469900166605

# Pixel [23, 23] of the benchmark's truth, and the small scene's pixels at PLACES.
BENCHMARK_PIXEL = 3.0806214971571218e-02
PLACES = ((0, 0), (3, 3), (4, 4), (7, 2))
SMALL_PIXELS = {
    "gaussian": (
        1.7809954197825317e-03,
        3.7373748091215721e-02,
        3.8462441952046962e-02,
        5.1926707954178981e-03,
    ),
    "moffat": (
        2.7626840309965240e-03,
        2.7881497944143005e-02,
        2.8595273962141565e-02,
        5.8915034693530609e-03,
    ),
}

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Scene:
    fft: int
    image: int
    pixel_scale: float
    psf: str  # gaussian, by its standard deviation, or a Moffat profile of beta 2.5, by its width
    width: float


BENCHMARK = {
    "gaussian": Scene(128, 48, 0.263, "gaussian", 0.382),
    "moffat": Scene(128, 48, 0.263, "moffat", 0.9),
}
SMALL = {
    "gaussian": Scene(16, 8, 0.25, "gaussian", 0.3),
    "moffat": Scene(16, 8, 0.25, "moffat", 0.7),
}
BENCHMARK_TRUTH = (0.01, 0.0, 1.0, 0.5, 0.0, 0.0, 24.0, 24.0)
SMALL_TRUTH = (0.02, -0.03, 1.0, 0.45, 0.08, -0.05, 4.2, 3.9)


def response(scene: Scene, kx: Array, ky: Array) -> Array:
    q = np.hypot(kx, ky) / scene.pixel_scale
    if scene.psf == "gaussian":
        psf = np.exp(-0.5 * (scene.width * q) ** 2)
    else:
        x = q * scene.width / (2 * math.sqrt(2 ** (1 / 2.5) - 1))
        psf = (1 + x) * np.exp(-x)
    return psf * np.sinc(kx / (2 * np.pi)) * np.sinc(ky / (2 * np.pi))


def unit_determinant(p: float, q: float) -> Array:
    return np.array([[1 + p, q], [q, 1 - p]]) / math.sqrt(1 - p * p - q * q)


def draw(xp: Any, kx: Any, ky: Any, weight: Any, form: Any, shift: Any, image: int) -> Any:
    """form: flux, then r0^2 M as xx, xy, yy."""
    t = 1 + form[1] * kx**2 + 2 * form[2] * kx * ky + form[3] * ky**2
    plane = form[0] * weight * t**-1.5 * xp.exp(-1j * (kx * shift[0] + ky * shift[1]))
    n = plane.shape[0] - 1
    half = n // 2
    rows = xp.concatenate((plane[half:n], plane[:1] + plane[n:], plane[1:half]), 0)
    last = rows[:, half:]
    mirrored = xp.concatenate((last[:1], xp.flip(last[1:], (0,))), 0)
    whole = xp.concatenate((rows[:, :half], last + xp.conj(mirrored)), 1)
    return xp.fft.irfft2(whole, (n, n))[:image, :image]


class Stamp:
    def __init__(self, library: Library, scene: Scene) -> None:
        self.library, self.scene = library, scene
        half = scene.fft // 2
        step = 2 * np.pi / scene.fft
        kx, ky = np.meshgrid(step * np.arange(half + 1), step * np.arange(-half, half + 1))
        self.kx, self.ky = library.put(kx), library.put(ky)
        self.weight = library.put(response(scene, kx, ky))
        self.drawn = library.compiled(lambda xp, *planes: draw(xp, *planes, image=scene.image))

    def image(self, z: tuple[float, ...]) -> Any:
        g1, g2, flux, hlr, e1, e2, x, y = z
        size = self.scene.image
        origin = size / 2 + (0.5 if size % 2 == 0 else 0) - size // 2
        shear = unit_determinant(g1, g2)
        metric = shear @ unit_determinant(e1, e2) @ shear
        metric *= (hlr / HALF_LIGHT / self.scene.pixel_scale) ** 2
        form = self.library.put([flux, metric[0, 0], metric[0, 1], metric[1, 1]])
        shift = self.library.put([x - origin, y - origin])
        return self.drawn(self.kx, self.ky, self.weight, form, shift)
