# SPDX-License-Identifier: Apache-2.0
"""Fits of two-time correlations as their users would write them: the formulas of kernels/xpcs_fit
on whole arrays, laminar flow. The data are those of the suite's cases."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]

Q, GAP = 0.0054, 2e6
TRUTH = (0.3, 1.0, 1000.0, 0.5, 50.0, 2e-4, 0.3, 5e-5, -6.0)
START = (0.5, 1.05, 1500.0, 0.3, 10.0, 3e-4, 0.1, 1e-5, 0.0)
SEED = 20251022

# angles, frames
SIZES = {"t": (4, 48), "s0": (10, 100), "s": (10, 300), "l": (20, 500)}


@dataclass(frozen=True)
class Measurement:
    angles: Array  # [angles] degrees
    times: Array  # [frames] s
    data: Array  # [angles, frames, frames]


def noise(count: int) -> Array:
    """Philox4x32-10 of each index; the sum of four uniforms, of unit variance."""
    mask, low = np.uint64(0xFFFFFFFF), np.arange(count, dtype=np.uint64)
    words = [low & mask, low >> np.uint64(32), np.zeros_like(low), np.zeros_like(low)]
    keys = [np.uint64(SEED & 0xFFFFFFFF), np.uint64(SEED >> 32)]
    with np.errstate(over="ignore"):
        for _ in range(10):
            first = np.uint64(0xD2511F53) * words[0]
            second = np.uint64(0xCD9E8D57) * words[2]
            words = [
                (second >> np.uint64(32)) ^ words[1] ^ keys[0],
                second & mask,
                (first >> np.uint64(32)) ^ words[3] ^ keys[1],
                first & mask,
            ]
            keys = [
                (keys[0] + np.uint64(0x9E3779B9)) & mask,
                (keys[1] + np.uint64(0xBB67AE85)) & mask,
            ]
    total = sum(word.astype(np.int64) for word in words) - 2 * (2**32 - 1)
    return np.asarray(total, np.float64) * (1.7320508075688772 / 4294967296.0)


def integral(xp: Any, rate: Any) -> Any:
    """Cumulative trapezoids of unit step, zero at frame 1."""
    steps = (rate[1:] + rate[:-1]) / 2
    whole = xp.cumsum(steps, 0)
    return xp.concatenate([0 * rate[:1] - steps[:1], whole - steps[:1]])


def apart(x: Any) -> Any:
    return x[:, None] - x[None, :]


def smooth(xp: Any, difference: Any) -> Any:
    return xp.sqrt(difference**2 + 1e-20)


def floored(xp: Any, rate: Any, by: list[Any]) -> tuple[Any, list[Any]]:
    live = rate > 1e-10
    return xp.where(live, rate, 1e-10 + 0 * rate), [xp.where(live, one, 0 * one) for one in by]


def normal_equations(
    xp: Any, parameters: Any, angles: Any, times: Any, data: Any
) -> tuple[Any, Any, Any]:
    """F, g [p] and N [p, p]: the model, its derivatives array by array, and their products."""
    contrast, offset, d0, alpha, d_offset, gamma0, beta, gamma_offset, phi0 = parameters
    dt = times[1] - times[0]
    kappa, flow = Q**2 * dt / 2, Q * GAP * dt / (2 * math.pi)

    late = times + 1e-10
    rate, by_rate = floored(
        xp,
        d0 * late**alpha + d_offset,
        [late**alpha, d0 * late**alpha * xp.log(late), 1 + 0 * late],
    )
    shifted = xp.where(times > 0, times, dt + 0 * times)
    shear, by_shear = floored(
        xp,
        gamma0 * shifted**beta + gamma_offset,
        [shifted**beta, gamma0 * shifted**beta * xp.log(shifted), 1 + 0 * shifted],
    )
    ds, dq = apart(integral(xp, rate)), apart(integral(xp, shear))
    a, b = smooth(xp, ds), smooth(xp, dq)
    decay = xp.exp(-kappa * a)

    psi = (phi0 - angles)[:, None, None] * (math.pi / 180)
    x = flow * xp.cos(psi) * b[None]
    tiny = xp.abs(x) < 1e-3
    safe = xp.where(tiny, 1 + 0 * x, x)
    sinc = xp.where(tiny, 1 - x**2 / 6 + x**4 / 120, xp.sin(safe) / safe)
    slope = xp.where(tiny, -x / 3 + x**3 / 30, (xp.cos(safe) - xp.sin(safe) / safe) / safe)
    g = (decay[None] * sinc**2) ** 2
    r = offset + contrast * g - data

    bent = 4 * contrast * decay[None] ** 2 * sinc**3 * slope
    columns = [g, 1 + 0 * g]
    columns += [
        -2 * kappa * contrast * g * (ds / a * apart(integral(xp, one)))[None]
        for one in by_rate
    ]
    columns += [
        bent * flow * xp.cos(psi) * (dq / b * apart(integral(xp, one)))[None]
        for one in by_shear
    ]
    columns += [-bent * flow * xp.sin(psi) * (math.pi / 180) * b[None]]
    jacobian = xp.stack([column.reshape(-1) for column in columns])
    flat = r.reshape(-1)
    return (flat @ flat) / 2, jacobian @ flat, jacobian @ jacobian.T


def model(parameters: tuple[float, ...], angles: Array, times: Array) -> Array:
    """The model of the correlations in NumPy, which also makes the data."""
    contrast, offset, d0, alpha, d_offset, gamma0, beta, gamma_offset, phi0 = parameters
    dt = times[1] - times[0]
    shifted = np.where(times > 0, times, dt)
    rate = np.maximum(d0 * (times + 1e-10) ** alpha + d_offset, 1e-10)
    shear = np.maximum(gamma0 * shifted**beta + gamma_offset, 1e-10)
    a = smooth(np, apart(integral(np, rate)))
    b = smooth(np, apart(integral(np, shear)))
    psi = np.radians(phi0 - angles)[:, None, None]
    x = Q * GAP * dt / (2 * math.pi) * np.cos(psi) * b[None]
    g1 = np.exp(-(Q**2) * dt / 2 * a)[None] * np.sinc(x / np.pi) ** 2
    return np.asarray(offset + contrast * g1**2)


def measurement(angles: int, frames: int, dt: float) -> Measurement:
    """Noise of 0.01 over the truth."""
    phi = -90 + (np.arange(angles) + 0.5) * 180 / angles
    times = np.arange(frames) * dt
    clean = model(TRUTH, phi, times)
    return Measurement(phi, times, clean * (1 + 0.01 * noise(clean.size).reshape(clean.shape)))
