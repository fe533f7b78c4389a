# SPDX-License-Identifier: Apache-2.0
"""A formulation and a suite's case, timed in turn: options, rounds, what is printed."""

import argparse
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from libraries import LIBRARIES, Library

NOT_INSTALLED, BAD_INPUT = 77, 2


class Suite:
    """A case of a suite in a process of its own, timed a sample at a time when it is asked."""

    def __init__(self, binary: Path, case: str, device: str) -> None:
        command = [binary, f"--device={device}", "--tier=full", f"--filter=^{case}$", "--lock-step"]
        self.process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.hear()

    def hear(self) -> str:
        assert self.process.stdout and self.process.stderr
        line = self.process.stdout.readline().strip()
        if not line:
            raise SystemExit(f"the suite ended: {self.process.stderr.read().strip()}")
        return line

    def seconds(self) -> float:
        assert self.process.stdin
        self.process.stdin.write("optimized\n")
        self.process.stdin.flush()
        return float(self.hear().split()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def timed(step: Callable[[], None], steps: int = 1) -> float:
    """Seconds of one step; `step` waits for what it did."""
    start = time.perf_counter()
    for _ in range(steps):
        step()
    return (time.perf_counter() - start) / steps


def rounds(suite: Suite, step: Callable[[], None], budget: float) -> list[tuple[float, float]]:
    """(theirs, ours) of ABBA rounds, three at least; a sample of theirs takes 4 ms or a step."""
    steps = max(1, round(4e-3 / timed(step)))
    found: list[tuple[float, float]] = []
    end = time.monotonic() + budget
    while len(found) < 3 or time.monotonic() < end:
        first, a, b, last = timed(step, steps), suite.seconds(), suite.seconds(), timed(step, steps)
        found.append(((first + last) / 2, (a + b) / 2))
    return found


def options(description: str, suite: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--library", choices=sorted(LIBRARIES), default="jax")
    parser.add_argument("--device", choices=("host", "cuda"), default="host")
    parser.add_argument("--budget", type=float, default=10, metavar="SECONDS", help="10 by default")
    parser.add_argument(
        "--suite", type=Path, default=Path("build/release/bin") / suite, metavar="BINARY"
    )
    return parser


def library(given: argparse.Namespace, dtype: str, products: str = "highest") -> Library:
    """Ends the process with one sentence where there is nothing to compare. `products` is their
    arithmetic, as JAX calls it, which alone knows more than that of its numbers."""
    if not given.suite.exists():
        print(f"{given.suite} is not there; build it, or name it with --suite", file=sys.stderr)
        raise SystemExit(BAD_INPUT)
    if products != "highest" and given.library != "jax":
        print(f"products in {products} need --library=jax", file=sys.stderr)
        raise SystemExit(BAD_INPUT)
    try:
        return LIBRARIES[given.library](given.device, dtype, products)
    except ImportError:
        print(f"{given.library} is not installed; pip install it first", file=sys.stderr)
        raise SystemExit(NOT_INSTALLED) from None
    except RuntimeError as error:
        print(f"{given.library} has no {given.device} device: {error}", file=sys.stderr)
        raise SystemExit(NOT_INSTALLED) from None


def three_digits(ratio: float) -> str:
    """Without an exponent below a million."""
    return f"{float(f'{ratio:.3g}'):g}"


def compare(
    given: argparse.Namespace, known: Library, case: str, step: Callable[[], None]
) -> None:
    first = timed(step)
    timed(step)
    with Suite(given.suite, case, given.device) as suite:
        measured = rounds(suite, step, given.budget)
    ratios = sorted(theirs / ours for theirs, ours in measured)
    theirs, ours = (statistics.median(side) for side in zip(*measured, strict=True))
    programs = f", {known.programs} programs" if known.programs else ""
    print(f"{known.name}: {theirs:.3e} s per step, first call {first:.3g} s{programs}")
    print(f"{case}, optimized: {ours:.3e} s per step")
    print(
        f"{three_digits(statistics.median(ratios))} times as fast"
        f" ({three_digits(ratios[0])} to {three_digits(ratios[-1])} over {len(ratios)} rounds)"
    )


def judged(what: str, error: float, limit: float) -> int:
    print(f"{what}: off by {error:.1e}")
    return 0 if error <= limit else 1


def unless_interrupted(main: Callable[[], int]) -> int:
    try:
        return main()
    except KeyboardInterrupt:
        print("interrupted; nothing was compared", file=sys.stderr)
        return 128 + signal.SIGINT
