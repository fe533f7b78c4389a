# SPDX-License-Identifier: Apache-2.0
"""What a template shows of a change, a run and an environment, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast_report.site import addresses
from holdfast_report.site.archive import Archive, Commit, Run
from holdfast_report.site.levels import Change, Creep
from holdfast_report.units import change_of, plural, readable


@dataclass(frozen=True)
class State:
    """A verdict by word, symbol and tone."""

    text: str
    symbol: str
    tone: str


def state_of(runs: Sequence[Run]) -> State:
    """The verdicts of one class, or of several as one."""
    if not any(run.counts for run in runs):
        return State("not judged", "?", "odd")
    block, warn = (sum(counted) for counted in zip(*(run.judged for run in runs), strict=True))
    warned = f", {warn} warn" if warn else ""
    if block:
        return State(f"{block} block{warned}", "\u2717", "bad")
    doubts = dict.fromkeys(doubt for run in runs for doubt in run.doubts)
    said = "; ".join([f"passed{warned}", *doubts])
    return State(said, "\u2248", "odd") if warn or doubts else State(said, "\u2713", "good")


@dataclass(frozen=True)
class Moved:
    """A change of level or a drift, as a line of a list."""

    address: str
    case: str
    metric: str
    variant: str
    device_class: str
    tone: str
    symbol: str
    percent: str
    levels: str  # from which to which
    commit: Commit
    after: Commit | None = None  # the level changed behind it, where this is not the parent
    until: Commit | None = None  # of what creeps: the commit of its last step
    steps: int = 1


def tone_of(worse: bool | None) -> tuple[str, str]:
    return {True: ("bad", "\u2717"), False: ("good", "\u25b2"), None: ("odd", "\u2260")}[worse]


def behind(change: Change, archive: Archive) -> Commit | None:
    """The last measured commit before the change, if it is not the parent: a commit between them
    that was not measured may have brought the change."""
    commit, last = archive.commits[change.at], archive.commits[change.behind]
    return None if commit.parent == last.name else last


def moved(change: Change | Creep, archive: Archive) -> Moved:
    device_class, case, variant, metric = change.key
    unit = archive.unit(change.key)
    tone, symbol = tone_of(change.worse)
    creeping = isinstance(change, Creep)
    steps = change.steps if isinstance(change, Creep) else [change]
    stretches = (
        change.stretches if isinstance(change, Creep) else [(change.before, change.after)]
    )
    return Moved(
        address=f"{addresses.of_case(case)}#{addresses.anchor(change.key)}",
        case=case,
        metric=metric,
        variant=variant,
        device_class=device_class,
        tone=tone,
        symbol=symbol,
        percent=change_of(steps[0].before, change.change),
        levels=", then ".join(
            f"{readable(before, unit)} \u2192 {readable(after, unit)}"
            for before, after in stretches
        ),
        commit=archive.commits[steps[0].at],
        after=behind(steps[0], archive),
        until=archive.commits[steps[-1].at] if creeping else None,
        steps=len(steps),
    )


def summary(changes: Sequence[Change]) -> str:
    """3 series got worse, 1 better."""
    worse = sum(change.worse is True for change in changes)
    better = sum(change.worse is False for change in changes)
    other = len(changes) - worse - better
    parts = [f"{plural(worse, 'level')} worse"] if worse else []
    parts += [f"{plural(better, 'level')} better"] if better else []
    parts += [f"{plural(other, 'level')} changed"] if other else []
    return ", ".join(parts)


@dataclass(frozen=True)
class Surroundings:
    """A change of the environment."""

    address: str
    run_address: str
    device_class: str
    commit: Commit
    said: str


def differences(before: Run, after: Run) -> str:
    facts = [
        f"{name} {before.facts.get(name, 'unknown')} \u2192 {after.facts.get(name, 'unknown')}"
        for name in {**before.facts, **after.facts}
        if before.facts.get(name) != after.facts.get(name)
    ]
    prints = f"fingerprint {before.print} \u2192 {after.print}"
    return "; ".join([*facts, prints])


def surroundings(archive: Archive, device_class: str) -> list[Surroundings]:
    """The newest first."""
    return [
        Surroundings(
            address=addresses.of_class(device_class),
            run_address=addresses.of_run(archive.commits[after.at]),
            device_class=device_class,
            commit=archive.commits[after.at],
            said=differences(before, after),
        )
        for before, after in reversed(archive.environment_changes(device_class))
    ]
