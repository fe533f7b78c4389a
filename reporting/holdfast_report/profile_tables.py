# SPDX-License-Identifier: Apache-2.0
"""One profile as facts and rows of cells. What the device could not know is a dash, and a column
that holds nothing else is left out."""

from collections.abc import Sequence

from holdfast_report.cells import DASH, Branch, Cell, Share, Table, compact
from holdfast_report.profiles import Op, Profile, Scope, Transfer
from holdfast_report.units import digits, readable, share


def fraction_cell(fraction: float | None) -> Cell:
    return DASH if fraction is None else Share(fraction, share(fraction))


def shape(size: list[int] | None) -> str:
    """[2, 4, 6] -> 2x4x6; trailing ones are dropped."""
    if size is None:
        return DASH
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "\u00d7".join(str(extent) for extent in kept)


def overview(profile: Profile) -> list[tuple[str, str]]:
    """Facts of one step; what is zero or not known is left out."""
    seen = profile.overview
    between = " and ".join(dict.fromkeys(seen.max_gap_between or []))
    whose = "" if profile.clock == "host" else "device "
    facts: list[tuple[str, str | None]] = [
        ("mean step", mean_step(profile)),
        (f"{whose}busy", share_or_none(seen.busy_fraction)),
        (f"{whose}idle", share_or_none(seen.idle_fraction)),
        (
            "longest gap",
            f"{readable(seen.max_gap_s, 's')}, between {between}" if seen.max_gap_s else None,
        ),
        ("top operation", top_operation(profile)),
        ("least possible", readable(profile.floor_s, "s") if profile.floor_s else None),
        ("first call", readable(profile.first_call_s, "s") if profile.first_call_s else None),
    ]
    counts = [(name, number) for name, number in counted(profile) if number]
    facts += [
        (f"{name} per step", readable(number, unit_of_count(name))) for name, number in counts
    ]
    return [(name, fact) for name, fact in facts if fact]


def share_or_none(fraction: float | None) -> str | None:
    return None if fraction is None else share(fraction)


def mean_step(profile: Profile) -> str | None:
    seen = profile.overview
    if seen.mean_step_s is None:
        return None
    mean = readable(seen.mean_step_s, "s")
    if len(seen.step_s) < 2:
        return mean
    low, high = (readable(bound, "s") for bound in (min(seen.step_s), max(seen.step_s)))
    return f"{mean} ({low} to {high} in {len(seen.step_s)} steps)"


def top_operation(profile: Profile) -> str | None:
    seen = profile.overview
    if not seen.top_op:
        return None
    said = f" ({share(seen.top_op_fraction)})" if seen.top_op_fraction is not None else ""
    return f"{seen.top_op}{said}"


def counted(profile: Profile) -> list[tuple[str, float]]:
    seen = profile.overview
    return [
        ("launches", seen.launches),
        ("library calls", seen.library_calls),
        ("graph nodes", seen.graph_nodes),
        ("copies", seen.copies),
        ("synchronizations", seen.syncs),
        ("bytes to the device", seen.h2d_bytes),
        ("bytes to the host", seen.d2h_bytes),
        ("allocations", seen.allocations),
        ("compiled programs", seen.programs),
        ("plans", seen.plans),
    ]


def unit_of_count(name: str) -> str:
    return "B" if name.startswith("bytes") else "1"


def op_share(op: Op, ops: Sequence[Op]) -> float | None:
    """The share of the device's time or, where no operation has a time, of the calls."""
    if timed(ops):
        return op.fraction
    calls = sum(one.count for one in ops)
    return op.count / calls if calls else None


def timed(ops: Sequence[Op]) -> bool:
    return any(op.fraction is not None for op in ops)


def ops(profile: Profile) -> Table:
    rows = [
        (
            op.name,
            op.kind,
            fraction_cell(op_share(op, profile.ops)),
            readable(op.count, "1"),
            *(readable(seconds, "s") for seconds in (op.total_s, op.mean_s, op.min_s, op.max_s)),
            share_or_none(op.occupancy) or DASH,
            digits(op.waves) if op.waves is not None else DASH,
            shape(op.grid),
            shape(op.block),
            readable(op.registers, "1"),
            readable(op.spill_bytes, "B"),
            readable(shared_bytes(op), "B"),
        )
        for op in profile.ops
    ]
    of_what = "share of time" if timed(profile.ops) else "share of calls"
    called = ("operation", "kind", of_what, "count", "time", "mean", "shortest", "longest")
    shaped = ("occupancy", "waves", "grid", "block", "registers", "spill", "shared")
    return compact(Table((*called, *shaped), rows, text_columns=2))


def shared_bytes(op: Op) -> int | None:
    if op.shared_bytes is None and op.dynamic_shared_bytes is None:
        return None
    return (op.shared_bytes or 0) + (op.dynamic_shared_bytes or 0)


def tree(scopes: Sequence[Scope]) -> list[Scope]:
    """Parents before their children, siblings by their time."""
    known = {scope.path: scope for scope in scopes}

    def place(scope: Scope) -> tuple[tuple[float, str], ...]:
        steps = scope.path.split("/")
        prefixes = ["/".join(steps[: end + 1]) for end in range(len(steps))]
        return tuple(
            (-(known[prefix].total_s or 0.0) if prefix in known else 0.0, prefix)
            for prefix in prefixes
        )

    return sorted(scopes, key=place)


def own_fraction(scope: Scope) -> float | None:
    """The scope's share without its parts, of the same whole."""
    if scope.fraction is None or scope.self_s is None or not scope.total_s:
        return None
    return scope.fraction * scope.self_s / scope.total_s


def scope_table(profile: Profile) -> Table:
    rows = [
        (
            Branch(scope.depth, scope.path.rpartition("/")[2]),
            fraction_cell(scope.fraction),
            fraction_cell(own_fraction(scope)),
            readable(scope.total_s, "s"),
            readable(scope.self_s, "s"),
            readable(scope.count, "1"),
            readable(scope.launches, "1"),
        )
        for scope in tree(profile.scopes)
    ]
    head = ("scope", "with its parts", "itself", "time", "own time", "entered", "launches")
    return compact(Table(head, rows))


def transfers(profile: Profile) -> Table:
    def cells(way: str, moved: Transfer) -> tuple[str, ...]:
        return (
            way,
            readable(moved.count, "1"),
            readable(moved.bytes, "B"),
            readable(moved.total_s, "s"),
            readable(moved.bytes_per_s, "B/s"),
        )

    seen = profile.transfers
    ways = {
        "host to device": seen.h2d,
        "device to host": seen.d2h,
        "within the device": seen.d2d,
    }
    rows = [cells(way, moved) for way, moved in ways.items() if moved.count]
    return compact(Table(("transfers", "count", "bytes", "time", "rate"), rows))


def gaps(profile: Profile) -> Table:
    rows = [
        (gap.after, gap.before, readable(gap.seconds, "s"), readable(gap.at_s, "s"))
        for gap in profile.gaps
    ]
    return Table(("idle after", "before", "for", "at"), rows, text_columns=2)


def windows(profile: Profile) -> Table:
    """The windows of a long loop, which was sampled at intervals; a single window is the whole
    profile."""
    if len(profile.windows) < 2:
        return Table(("steps",), [])
    slowest = max((window.mean_step_s or 0.0 for window in profile.windows), default=0.0)
    rows: list[tuple[Cell, ...]] = []
    for window in profile.windows:
        said = readable(window.mean_step_s, "s")
        timed = window.mean_step_s is not None and slowest > 0
        mean = Share((window.mean_step_s or 0.0) / slowest, said) if timed else said
        steps = f"{window.first_step:,} to {window.first_step + window.steps - 1:,}"
        rows.append((steps, mean, share_or_none(window.busy_fraction) or DASH))
    return compact(Table(("steps", "mean step", "device busy"), rows))


def device_counts(profile: Profile) -> list[tuple[str, str]]:
    """What the device's own counters said, over all profiled steps."""
    seen = profile.device_counts
    if seen is None:
        return []
    return [
        ("kernels", readable(seen.kernels, "1")),
        ("copied to the device", readable(seen.copied_bytes_h2d, "B")),
        ("copied to the host", readable(seen.copied_bytes_d2h, "B")),
        ("copied within the device", readable(seen.copied_bytes_d2d, "B")),
        ("modules loaded", readable(seen.modules_loaded, "1")),
        ("just-in-time compilations", readable(seen.jit_runs, "1")),
        ("peak memory", readable(seen.memory_peak_bytes, "B")),
    ]
