# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them. Documents hold seconds and bytes only; prefixes appear here and
nowhere else."""

from collections.abc import Sequence

from holdfast_report.reading import Value

SECONDS = [(1.0, "s"), (1e-3, "ms"), (1e-6, "\u00b5s"), (1e-9, "ns")]
BYTES = [(1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]
RATES = [(1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, "")]
STEPS = {"s": SECONDS, "B": BYTES, "/s": RATES}  # also of the scripts of a site's pages
MINUS = "\u2212"
LONGEST = 1e15  # from which on no number is written in full
LARGEST = 1e300  # that a figure shows, so that numbers computed from its limits are finite


def unit_of(metric: str) -> str:
    """The unit that a metric's name carries; a ratio, as f64_over_f32_bytes, has none."""
    if "_over_" in metric:
        return "1"
    if metric.endswith("_per_s"):
        what = metric.removesuffix("_per_s").rpartition("_")[2]
        return {"bytes": "B/s", "flop": "flop/s"}.get(what, "1/s")
    if metric.endswith("_s"):
        return "s"
    return "B" if "bytes" in metric.split("_") else "1"


def digits(number: float) -> str:
    """Three significant digits, whole numbers in full: 412, 18.1, 0.0042, 1,177,856."""
    size = abs(number)
    if number == int(number) and size < LONGEST:
        text = f"{int(number):,}"
    elif 99.95 <= size < LONGEST:
        text = f"{number:,.0f}"
    elif 1e-4 <= size < 99.95:
        text = f"{number:#.3g}"
    else:
        text = f"{number:.2e}"
    return text.replace("-", MINUS)


def scaled(number: float, steps: list[tuple[float, str]]) -> tuple[float, str]:
    for scale, name in steps:
        if abs(number) >= scale * 0.9995:
            return number / scale, name
    scale, name = steps[-1]
    return number / scale, name


def drawable(value: float) -> float:
    """The value, limited to what a figure can show."""
    return min(max(value, -LARGEST), LARGEST)


def readable(value: Value | None, unit: str) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return short_hash(value)
    if unit == "%":
        return share(value)
    if unit == "s":
        return "0 s" if value == 0 else "{} {}".format(*pair(scaled(value, SECONDS)))
    if unit == "B":
        return "{} {}".format(*pair(scaled(value, BYTES)))
    if unit.endswith("/s"):
        number, prefix = scaled(value, RATES)
        return f"{digits(number)} {prefix}{unit.removeprefix('1')}"
    if unit in ("", "1"):
        return digits(value)
    return f"{digits(value)} {unit.removesuffix('s') if value == 1 else unit}"


def pair(found: tuple[float, str]) -> tuple[str, str]:
    return digits(found[0]), found[1]


def scale_of(ticks: Sequence[float], unit: str) -> tuple[float, str]:
    """The divisor of the ticks, and the unit that they then have."""
    largest = max(abs(tick) for tick in ticks)
    if not largest:
        return 1.0, unit if unit != "1" else ""
    if unit == "s" or unit == "B":
        steps = SECONDS if unit == "s" else BYTES
        number, name = scaled(largest, steps)
        return largest / number, name
    if unit.endswith("/s"):
        number, prefix = scaled(largest, RATES)
        return largest / number, prefix + unit.removeprefix("1")
    return 1.0, ""


def labels_of(ticks: Sequence[float], unit: str) -> list[str]:
    """Labels in one unit, with as many digits as tell each tick's own value."""
    scale, name = scale_of(ticks, unit)
    numbers = [tick / scale for tick in ticks]
    least = 1e-9 * max(abs(number) for number in numbers)
    for count in range(3, 12):
        if all(abs(float(f"{number:.{count}g}") - number) <= least for number in numbers):
            break
    return [f"{plain(number, count)} {name}".strip() for number in numbers]


def plain(number: float, count: int) -> str:
    return f"{float(f'{number:.{count}g}'):,.15g}".replace("-", MINUS)


def hundredths(fraction: float, sign: str) -> str:
    """Three significant digits; thousands in full."""
    number = 100 * fraction
    size = abs(number)
    form = ".3g" if size < 999.5 else ",.0f" if size < LONGEST else ".2e"
    return f"{number:{sign}{form}} %".replace("-", MINUS)


def percent(fraction: float) -> str:
    """A change: +8.5 %."""
    return hundredths(fraction, "+")


def change_of(before: float, fraction: float) -> str:
    """A change as a percentage, which a change from 0 does not have."""
    return "from 0" if before == 0 else percent(fraction)


def share(fraction: float) -> str:
    return hundredths(fraction, "")


def times(ratio: float) -> str:
    return f"{digits(ratio)}\u00d7"


def short_hash(text: str) -> str:
    """sha256:1a2b3c4d5e... -> 1a2b3c4d; other texts stay."""
    algorithm, colon, value = text.partition(":")
    return value[:8] if colon and algorithm.startswith("sha") else text


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
