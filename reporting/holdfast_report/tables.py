# SPDX-License-Identifier: Apache-2.0
"""From documents to what the page shows of one part: rows of bars, stacks and cells, without a
figure or a tag."""

from collections.abc import Sequence

from holdfast_report.bars import Bar, Stack
from holdfast_report.cells import DASH, Table, compact
from holdfast_report.documents import Case, Kernel
from holdfast_report.policy import bound_for
from holdfast_report.root import Part, Root
from holdfast_report.units import digits, readable, share, short_hash, times, unit_of

COMPILING = {"trace": "trace_s", "lower": "lower_s", "compile": "compile_s", "load": "load_s"}
WHOLE = "first_call_s"  # from construction to the end of the first step, compiling included
STAGES = (*COMPILING, "the rest")  # what a bar is made of
VARIANTS = ("optimized", "reference")
TOP_KERNELS = 6
MOST_COUNTS = 5  # different ones that a cell tells one by one
MOST_ROWS = 2000  # of a table; the documents have the rest
# Stages far shorter than the longest would be empty rows; the table has them.
SHORTEST_STACK = 0.01
# A workload's own reading of what its README's formula says the peak is.
FORMULA = "formula_peak_bytes"


def name_in(part: Part, case: str) -> str:
    """A case id without its suite, which the heading says."""
    return case.removeprefix(part.suite + "/")


def variant_bars(part: Part, case: Case, metric: str, unit: str) -> list[Bar]:
    """One bar per variant; the first names the case."""
    bars: list[Bar] = []
    for variant in VARIANTS:
        value = case.number(variant, metric)
        if value is not None:
            name = "" if bars else name_in(part, case.id)
            bars.append(Bar(name, value, f"{variant} {readable(value, unit)}", variant))
    return bars


def speedups(root: Root, part: Part) -> list[Bar]:
    bars = []
    for case in part.measured:
        metric = case.metric("case", "speedup")
        if metric is None or metric.number is None:
            continue
        bound = bound_for(root.bounds, case.id, part.device_class, "case", "speedup")
        least = bound.least if bound else None
        text = times(metric.number) + (
            f"  (\u2265 {digits(least)}\u00d7)" if least is not None else ""
        )
        below = least is not None and metric.number < least
        bars.append(
            Bar(
                name=name_in(part, case.id),
                value=metric.number,
                text=text,
                role="bad" if below else "optimized",
                dots=tuple(metric.processes),
                bound=least,
            )
        )
    return bars


def speedup_table(part: Part) -> Table:
    rows = []
    for case in part.measured:
        metric = case.metric("case", "speedup")
        if metric is None or metric.number is None:
            continue
        spread = metric.mad_between / metric.number if metric.mad_between is not None else None
        rows.append(
            (
                name_in(part, case.id),
                times(metric.number),
                f"\u00b1{share(spread)}" if spread is not None else DASH,
                str(len(metric.processes)),
                readable(case.number("optimized", "time_s"), "s"),
                readable(case.number("reference", "time_s"), "s"),
            )
        )
    head = ("case", "speedup", "spread between processes", "processes", "optimized", "reference")
    return Table(head, rows)


def component_shares(part: Part) -> list[Bar]:
    """What a step's time is made of: derived readings named <component>_share, largest first in
    each case."""
    bars = []
    for case in part.measured:
        found = [
            Bar(
                f"{name_in(part, case.id)}  {name.removesuffix('_share')}",
                metric.number,
                share(metric.number),
            )
            for name, metric in case.derived.items()
            if name.endswith("_share") and metric.number is not None
        ]
        bars.extend(sorted(found, key=lambda bar: -bar.value))
    return bars


def beyond_whole(parts: Sequence[Part]) -> bool:
    """Whether a part, timed by itself, takes longer than the step that it is a part of."""
    return any(bar.value > 1 for part in parts for bar in component_shares(part))


def launch_shares(part: Part) -> list[Bar]:
    """Each kernel's share of a step's launches, where more than one kernel is launched. Cases and
    variants that launch the same (other sizes of one family, say) are shown once."""
    bars = []
    known = set()
    for case in part.measured:
        for variant in case.variants:
            launched = [kernel for kernel in case.variants[variant].kernels if kernel.launches]
            ranked = sorted(launched, key=lambda kernel: (-(kernel.launches or 0), kernel.name))
            shape = (variant, tuple((kernel.name, kernel.launches) for kernel in ranked))
            if len(ranked) < 2 or shape in known:
                continue
            known.add(shape)
            total = sum(kernel.launches or 0 for kernel in ranked)
            for kernel in ranked[:TOP_KERNELS]:
                portion = (kernel.launches or 0) / total
                name = f"{name_in(part, case.id)}  {kernel.name}"
                bars.append(Bar(name, portion, f"{share(portion)} of {total:,}", variant))
    return bars


def other_ratios(part: Part) -> Table:
    """Derived readings that are no shares: one thing over another of the same run."""
    rows = [
        (name_in(part, case.id), name, readable(metric.number, unit_of(name)))
        for case in part.measured
        for name, metric in case.derived.items()
        if not name.endswith("_share") and metric.number is not None
    ]
    return Table(("case", "reading", "value"), rows, text_columns=2)


def floors(part: Part) -> list[Bar]:
    bars = []
    for case in part.measured:
        bars.extend(variant_bars(part, case, "floor_fraction", "%"))
    return bars


def ceiling_name(key: str) -> str:
    """The key without its unit, which the value shows: f64_flop_per_s -> f64, launch_s -> launch."""
    bare = key.removesuffix("_per_s").removesuffix("_s")
    return bare.removesuffix("_bytes").removesuffix("_flop").replace("_", " ")


def ceilings(part: Part) -> Table:
    rows = [
        (ceiling_name(name), readable(value, unit_of(name)))
        for name, value in part.results.ceilings.items()
        if value is not None
    ]
    return Table(("ceiling, calibrated in this run", "value"), rows)


def stages_of(case: Case, variant: str) -> tuple[float, ...]:
    """What the first call was made of; it holds the stages that compile, so that the last part is
    what they leave of it."""
    compiling = [case.number(variant, metric) or 0.0 for metric in COMPILING.values()]
    whole = case.number(variant, WHOLE) or 0.0
    return *compiling, max(0.0, whole - sum(compiling))


def stages(part: Part) -> list[Stack]:
    stacks = []
    for case in part.measured:
        for variant in VARIANTS:
            parts = stages_of(case, variant)
            if any(parts):
                text = f"{variant} {readable(sum(parts), 's')}"
                stacks.append(Stack(name_in(part, case.id), parts, text))
    longest = max((sum(stack.parts) for stack in stacks), default=0.0)
    return [stack for stack in stacks if sum(stack.parts) >= SHORTEST_STACK * longest]


def stage_table(part: Part) -> Table:
    rows = []
    for case in part.measured:
        for variant in VARIANTS:
            found = [case.number(variant, metric) for metric in (*COMPILING.values(), WHOLE)]
            if any(found):
                programs = case.number(variant, "compile_warm")
                cells = [readable(value, "s") for value in found]
                rows.append((name_in(part, case.id), variant, readable(programs, "1"), *cells))
    head = ("case", "variant", "programs", *COMPILING, "first call, all of it")
    return Table(head, rows, text_columns=2)


def code_cells(kernel: Kernel) -> tuple[str, ...]:
    return (
        readable(kernel.registers, "1"),
        readable(kernel.spill_bytes, "B"),
        readable(kernel.shared_bytes, "B"),
        short_hash(kernel.cubin) if kernel.cubin else DASH,
    )


def cut(table: Table) -> Table:
    """The table cut to a readable length, with a last row that counts the rest."""
    more = len(table.rows) - MOST_ROWS
    if more <= 0:
        return table
    told = (f"and {more:,} more, in the results", *[DASH] * (len(table.head) - 1))
    return Table(table.head, [*table.rows[:MOST_ROWS], told], table.text_columns)


def listed(counts: Sequence[int]) -> str:
    """Counts in ascending order; of many different ones the ends."""
    distinct = [readable(count, "1") for count in sorted(set(counts))]
    if len(distinct) <= MOST_COUNTS:
        return ", ".join(distinct)
    return f"{distinct[0]} \u2026 {distinct[-1]}"


def kernels(part: Part) -> Table:
    """One row per kernel, variant and code: sizes that share their code share a row."""
    launches: dict[tuple[str, ...], list[int]] = {}
    for case in part.measured:
        for variant in case.variants:
            for kernel in case.variants[variant].kernels:
                key = (kernel.name, variant, kernel.kind or DASH, *code_cells(kernel))
                launches.setdefault(key, []).append(kernel.launches or 0)
    rows = []
    for (name, variant, *code), counts in sorted(launches.items()):
        rows.append((name, variant, *code, listed(counts), str(len(counts))))
    head = (
        "kernel",
        "variant",
        "kind",
        "registers",
        "spill",
        "shared",
        "code",
        "launches per step",
        "cases",
    )
    return compact(cut(Table(head, rows, text_columns=3)))


def kernels_by_case(part: Part) -> Table:
    rows = [
        (
            name_in(part, case.id),
            variant,
            kernel.name,
            readable(kernel.launches, "1"),
            *code_cells(kernel),
        )
        for case in part.measured
        for variant in case.variants
        for kernel in case.variants[variant].kernels
    ]
    head = ("case", "variant", "kernel", "launches", "registers", "spill", "shared", "code")
    return cut(Table(head, rows, text_columns=3))


def memory(part: Part) -> list[Bar]:
    bars = []
    for case in part.measured:
        bars.extend(variant_bars(part, case, "peak_bytes", "B"))
        formula = case.number("optimized", FORMULA)
        if formula is not None:
            bars.append(Bar("", formula, f"formula {readable(formula, 'B')}", "good"))
    return bars


def memory_table(part: Part) -> Table:
    rows = []
    for case in part.measured:
        peaks = [case.number(variant, "peak_bytes") for variant in VARIANTS]
        formula = case.number("optimized", FORMULA)
        ratio = case.number("case", "peak_ratio")
        if any(peak is not None for peak in peaks):
            rows.append(
                (
                    name_in(part, case.id),
                    *(readable(peak, "B") for peak in peaks),
                    readable(formula, "B"),
                    times(ratio) if ratio is not None else DASH,
                )
            )
    return Table(("case", "optimized", "reference", "formula", "reference / optimized"), rows)
