# SPDX-License-Identifier: Apache-2.0
"""Clusterless decoding as its users would write it: the equations of kernels/clusterless_kde, one
electrode after another, on whole arrays. The data are those of the suite's cases."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from libraries import Library

EPS = 1e-15
POSITION_WIDTH = math.sqrt(12.5)
FEATURE_WIDTH = 24.0

# samples, edges, electrodes, mean encoding and decoding spikes, places
SIZES = {
    "tiny": (100, 50, 4, 20, 10, 100),
    "small": (500, 100, 8, 50, 30, 200),
    "medium": (2000, 500, 16, 200, 100, 500),
    "large": (5000, 1000, 32, 500, 300, 1000),
    "realistic": (10000, 2000, 64, 1000, 400, 2000),
}

# The sum of the results of the cases decode/size:*/data:profile.
SUMS = {
    "tiny": -45032.5513403,
    "small": -490868.220555,
    "medium": -8764391.13003,
    "large": -104713628.037,
}

Array = np.ndarray[Any, np.dtype[Any]]
GAMMA = np.uint64(0x9E3779B97F4A7C15)


def mix(z: Array) -> Array:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@dataclass(frozen=True)
class Stream:
    """Counter-based numbers: kind 0 counts, 1 times, 2 features."""

    seed: int
    kind: int
    phase: int
    electrode: int

    def uniform(self, count: int) -> Array:
        number = self.kind + 8 * self.phase + 16 * self.electrode
        with np.errstate(over="ignore"):
            key = mix(np.uint64(self.seed) + GAMMA * np.uint64(number + 1) + np.zeros(1, np.uint64))
            drawn = mix(key + GAMMA * np.arange(1, count + 1, dtype=np.uint64))
        return (drawn >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def normal(self, count: int) -> Array:
        """Nearly: sums of twelve, less six, added in order."""
        twelve = self.uniform(12 * count).reshape(count, 12)
        total = np.zeros(count)
        for column in twelve.T:
            total = total + column
        return total - 6


@dataclass(frozen=True)
class Spikes:
    times: Array  # [n] s
    features: Array  # [n, 2]


@dataclass(frozen=True)
class Recording:
    """A run along a track of 100 cm, and spikes whose features are noise."""

    positions: Array  # [K] cm at times linspace(0, 100, K)
    edges: Array  # [T] s
    places: Array  # [P] cm
    encoding: list[Spikes]
    decoding: list[Spikes]


def spikes(seed: int, phase: int, electrode: int, mean: float, seconds: float) -> Spikes:
    drawn = Stream(seed, 0, phase, electrode).normal(1)[0]
    count = max(1, math.floor(mean + math.sqrt(mean) * drawn + 0.5))
    times = np.sort(Stream(seed, 1, phase, electrode).uniform(count) * seconds)
    return Spikes(times, Stream(seed, 2, phase, electrode).normal(2 * count).reshape(count, 2))


def recording(size: str, seed: int = 42) -> Recording:
    samples, edges, electrodes, encoding, decoding, places = SIZES[size]
    return Recording(
        positions=np.linspace(0, 100, samples),
        edges=np.linspace(0, 20, edges),
        places=(np.arange(places) + 0.5) * 100 / places,
        encoding=[spikes(seed, 0, e, encoding, 100) for e in range(electrodes)],
        decoding=[spikes(seed, 1, e, decoding, 20) for e in range(electrodes)],
    )


def normal_density(xp: Any, a: Any, b: Any, width: float) -> Any:
    return xp.exp(-0.5 * ((a - b) / width) ** 2) / (width * math.sqrt(2 * math.pi))


def occupancy(xp: Any, positions: Any, places: Any) -> Any:
    """Mean density of positions [n] at places [P]."""
    return normal_density(xp, positions[:, None], places[None, :], POSITION_WIDTH).mean(0)


def ground(xp: Any, at: Any, places: Any, density: Any, samples: int) -> Any:
    """One electrode's part of the ground process, [P]."""
    rate = at.shape[0] / samples
    return xp.clip(rate * occupancy(xp, at, places) / density, EPS, None)


def log_likelihood(
    xp: Any, heard: Any, marks: Any, at: Any, places: Any, density: Any, samples: int
) -> Any:
    """Log-likelihood [m, P] of decoding spikes with features `heard` [m, D] at places [P], given
    encoding spikes with features `marks` [n, D] at positions `at` [n]."""
    of_marks = normal_density(xp, heard[:, None, :], marks[None, :, :], FEATURE_WIDTH).prod(-1)
    of_places = normal_density(xp, at[:, None], places[None, :], POSITION_WIDTH)
    joint = (of_marks @ of_places) / marks.shape[0]
    return xp.log(xp.clip(marks.shape[0] / samples * joint / density, EPS, None))


class Decoder:
    """Encodes when it is made; `decode` goes from host arrays to out [T, P] on the device,
    without waiting."""

    def __init__(self, library: Library, data: Recording) -> None:
        self.library, self.data = library, data
        self.log_likelihood = library.compiled(log_likelihood)
        samples = len(data.positions)
        of_time = np.linspace(0, 100, samples)
        self.places = library.put(data.places)
        self.density = library.compiled(occupancy)(library.put(data.positions), self.places)
        self.at = [library.put(np.interp(s.times, of_time, data.positions)) for s in data.encoding]
        self.marks = [library.put(s.features) for s in data.encoding]
        of_electrode = library.compiled(ground)
        self.ground = sum(of_electrode(at, self.places, self.density, samples) for at in self.at)

    def decode(self) -> Any:
        data, library = self.data, self.library
        out = library.rows(-self.ground, len(data.edges))
        for heard, marks, at in zip(data.decoding, self.marks, self.at, strict=True):
            row = np.searchsorted(data.edges[1:-1], heard.times, side="right")
            terms = self.log_likelihood(
                library.put(heard.features),
                marks,
                at,
                self.places,
                self.density,
                len(data.positions),
            )
            out = library.add_rows(out, row, terms)
        return out
