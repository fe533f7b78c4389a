# SPDX-License-Identifier: Apache-2.0
"""`cmake --build build/release --target unchanged-runs`, or `python3 cmake/unchanged_runs.py BUILD [options]`: the gate's
verdicts on unchanged code.

Each suite is measured and accepted once on the quiet machine, then measured and judged repeatedly under load: on host beside
processes that only compute, on cuda-dry also beside other runs, which on host would take turns. The exit codes go into a table of
baselines/measured.md, where rows that are not measured now stay. Results for this build are kept in BUILD/unchanged, so that an
interrupted run continues; --again forgets them.

  python3 cmake/unchanged_runs.py build/release                                    the whole table: hours on two cores
  python3 cmake/unchanged_runs.py build/release --device=host --loads=0,4 --runs=3 --suites=galaxy_shear
"""

import argparse
import contextlib
import json
import queue
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from measured_tables import (
    Journal,
    Load,
    beside_earlier,
    cells_of,
    content_of,
    gate_of,
    place_of_table,
    processor_of,
    provenance,
    write_table,
)

ROOT = Path(__file__).resolve().parents[1]
EXITS = (0, 1, 2, 3, 4)
NAME = "unchanged-runs"  # of the table in the page


@dataclass(frozen=True)
class Plan:
    device: str
    load: int  # processes that compute beside it
    runs: int
    few: bool = False  # the smoke tier and four gate cases; else the gate tier


WHOLE = (
    Plan("cuda-dry:sm_90", 16, 20),
    Plan("host", 0, 10),
    Plan("host", 1, 10, few=True),
    Plan("host", 4, 10, few=True),
    Plan("host", 16, 10, few=True),
)


@dataclass
class Run:
    device: str
    load: int
    few: bool
    suite: str
    number: int
    exit: int  # of `run` if that failed, else of `check`
    undecided: int  # values, whether they block or only warn
    on_shared_cores: int  # of these, while others used the other halves of the cores
    blocking: list[str]  # what blocked,
    blocking_on_own_cores: int  # and how many of those other work cannot explain
    seconds: float
    judged: int  # times and ratios that were compared with something,
    ratios: int  # the ratios among them,
    undecided_ratios: int  # and those that were left undecided


def judged_rows(verdict: dict) -> list[dict]:
    """Times and ratios that were compared with something, or would have been."""
    return [row for row in verdict["rows"] if row["kind"] in ("time", "ratio") and (row.get("standard") or row["verdict"] == "NOISY")]


def fail(sentence: str, code: int = 2) -> None:
    print(f"unchanged-runs: {sentence}", file=sys.stderr)
    sys.exit(code)


def few_cases(listed: Path, device: str) -> list[str]:
    """The smoke tier and four cases of the gate tier, spread over the list."""
    cases = [one for one in json.loads(listed.read_text("utf-8"))["cases"] if device.split(":")[0] in one["devices"]]
    gate = [one["id"] for one in cases if one["tier"] == "gate"]
    return [one["id"] for one in cases if one["tier"] == "smoke"] + gate[:: max(1, len(gate) // 4)][:4]


def count_noisy(rows: list[dict]) -> int:
    return sum(row["verdict"] == "NOISY" for row in rows)


def is_on_shared_cores(row: dict) -> bool:
    """Undecided because other guests used the other halves of the cores: a load that was not asked for."""
    return row["verdict"] == "NOISY" and "cores" in row.get("evidence", {})


class House:
    """A build, the baselines accepted for these runs, and the results so far."""

    def __init__(self, build: Path, out: Path, again: bool) -> None:
        self.build, self.out = build, out
        if not (build / "bin/holdfast").is_file():
            fail(f"{build} holds no bin/holdfast: name a folder that was built")
        if again:
            shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True, exist_ok=True)
        self.journal = Journal(out / "runs.jsonl", content_of(build), gate_of(build), Run)
        self.baselines = out / "baselines" / self.journal.name

    def suites(self) -> list[str]:
        return sorted(path.name.removesuffix(".list.json") for path in (self.build / "bin").glob("*.list.json"))

    def holdfast(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.build / "bin/holdfast", *arguments], capture_output=True, text=True, check=False)

    def measure(self, plan: Plan, suite: str, into: Path) -> subprocess.CompletedProcess[str]:
        shutil.rmtree(into, ignore_errors=True)
        options = [f"--device={plan.device}", "--tier=gate", f"--out={into}"]
        if plan.few:
            ids = few_cases(self.build / f"bin/{suite}.list.json", plan.device)
            options.append("--filter=^(" + "|".join(re.sub(r"([^\w/:-])", r"\\\1", one) for one in ids) + ")$")
        return self.holdfast("run", suite, *options)

    def stores(self) -> list[str]:
        return [f"--baselines={self.baselines}", f"--lists={self.build / 'bin'}"]

    def accept(self, device: str, suite: str) -> bool:
        """Accepts once, under the gate's own conditions: quiet, complete, correct. False if the machine has no such device."""
        stamp = self.baselines / f"{device}.{suite}.accepted"
        if stamp.is_file():
            return True
        if not (self.baselines / "policy").is_dir():
            shutil.copytree(ROOT / "baselines/policy", self.baselines / "policy")
        words, earlier = "", []
        for attempt in range(1, 6):
            print(f"accepting {suite} on {device} as it is", flush=True)
            results = self.out / "accepted" / f"{suite}-{attempt}"
            measured = self.measure(Plan(device, 0, 1), suite, results)
            if measured.returncode == 77:
                return False
            accepted = self.holdfast("baseline", "accept", str(results), *(f"--again={one}" for one in earlier), *self.stores(),
                                     "--why=unchanged code")
            if measured.returncode == accepted.returncode == 0:
                stamp.touch()
                return True
            if measured.returncode == 0:
                earlier.append(results)  # what is noisy in one run may not be in another
            words = (measured.stderr + accepted.stderr).strip()
            print(f"  attempt {attempt} of 5: {words.splitlines()[-1] if words else 'refused'}", flush=True)
        fail(f"{suite} on {device} could not be accepted: {words}", 3)
        return False

    def judge(self, plan: Plan, suite: str, number: int) -> Run:
        results = self.out / "results" / f"{plan.device}-{plan.load}-{suite}-{number}"
        begin = time.monotonic()
        done = self.measure(plan, suite, results)
        blocking, judged, own = [], [], 0
        if done.returncode == 0:
            done = self.holdfast("check", str(results), *self.stores())
            with contextlib.suppress(OSError):
                verdict = json.loads((results / "verdict.json").read_text("utf-8"))
                judged = judged_rows(verdict)
                blocking = [f"{row['verdict']} {row['case']} {row['metric']}" for row in verdict["rows"] if row["blocking"]]
                own = sum(row["blocking"] and not is_on_shared_cores(row) for row in verdict["rows"])
        ratios = [row for row in judged if row["kind"] == "ratio"]
        run = Run(plan.device, plan.load, plan.few, suite, number, done.returncode, count_noisy(judged),
                  sum(map(is_on_shared_cores, judged)), blocking, own, round(time.monotonic() - begin, 1), len(judged), len(ratios),
                  count_noisy(ratios))
        self.journal.add(run)
        if run.exit == 0:
            shutil.rmtree(results, ignore_errors=True)
        else:
            print(f"  kept in {results}: {(done.stdout + done.stderr).strip()[-300:]}", flush=True)
        return run

    def has(self, plan: Plan, suite: str, number: int) -> bool:
        return any((run.device, run.load, run.few, run.suite, run.number) == (plan.device, plan.load, plan.few, suite, number)
                   for run in self.journal.rows)


def undecided(runs: list[Run]) -> str:
    """"3 of 120, 2 of them on shared cores"."""
    shared = sum(run.on_shared_cores for run in runs)
    count = f"{sum(run.undecided for run in runs)} of {sum(run.judged for run in runs)}"
    return count + (f", {shared} of them on shared cores" if shared else "")


class Progress:
    def __init__(self, total: int) -> None:
        self.total, self.count, self.begin, self.lock = total, 0, time.monotonic(), threading.Lock()

    def tell(self, plan: Plan, run: Run) -> None:
        with self.lock:
            self.count += 1
            left = (time.monotonic() - self.begin) / self.count * (self.total - self.count)
            print(f"[{self.count}/{self.total}] {plan.device} load {plan.load} {run.suite} {run.number}: exit {run.exit}, "
                  f"{undecided([run])} undecided, {run.seconds:.0f} s; about {left / 60:.0f} min left", flush=True)


@dataclass(frozen=True)
class Task:
    plan: Plan
    suite: str
    number: int


def carry_out_task(house: House, task: Task, progress: Progress) -> None:
    progress.tell(task.plan, house.judge(task.plan, task.suite, task.number))


def at_once(house: House, load: int, tasks: list[Task], progress: Progress) -> None:
    """Runs tasks at once, each the load of the others; when no more are left, processes that only compute take their place."""
    workers = min(load + 1, len(tasks))
    left = queue.SimpleQueue()
    for task in sorted(tasks, key=lambda one: one.number / one.plan.runs):  # mixes all kinds
        left.put(task)
    with Load(load + 1 - workers) as busy, ThreadPoolExecutor(workers) as pool:

        def work() -> None:
            with contextlib.suppress(queue.Empty):
                while True:
                    carry_out_task(house, left.get_nowait(), progress)
            busy.more(1)

        for done in [pool.submit(work) for _ in range(workers)]:
            done.result()


def one_by_one(house: House, load: int, tasks: list[Task], progress: Progress) -> None:
    with Load(load):
        for task in sorted(tasks, key=lambda one: one.number):
            carry_out_task(house, task, progress)


def carry_out(house: House, plans: list[Plan], suites: list[str]) -> None:
    here = {(device, suite): house.accept(device, suite) for device in dict.fromkeys(plan.device for plan in plans) for suite in suites}
    for device in dict.fromkeys(device for (device, _), present in here.items() if not present):
        print(f"this machine has no {device}: it has no rows", flush=True)
    tasks = [Task(plan, suite, number) for plan in plans for suite in suites if here[plan.device, suite]
             for number in range(1, plan.runs + 1) if not house.has(plan, suite, number)]
    progress = Progress(len(tasks))
    for device, load in dict.fromkeys((task.plan.device, task.plan.load) for task in tasks):
        these = [task for task in tasks if (task.plan.device, task.plan.load) == (device, load)]
        (one_by_one if device == "host" else at_once)(house, load, these, progress)


HEAD = ("| device | processes beside it | cases | suite | runs | exit 0 | 1 | 2 | 3 | 4 | undecided times and ratios "
        "| undecided ratios | seconds of a run | measured |")


def rows_of_table(runs: list[Run], origin: str) -> list[str]:
    rows = []
    for device, load, few, suite in sorted({(run.device, run.load, run.few, run.suite) for run in runs}):
        these = [run for run in runs if (run.device, run.load, run.few, run.suite) == (device, load, few, suite)]
        exits = [str(sum(run.exit == code for run in these)) for code in EXITS]
        median = sorted(run.seconds for run in these)[len(these) // 2]
        cells = [device, str(load), "smoke, four of gate" if few else "gate", suite, str(len(these)), *exits,
                 undecided(these), f"{sum(run.undecided_ratios for run in these)} of {sum(run.ratios for run in these)}",
                 f"{median:.0f}", origin]
        rows.append("| " + " | ".join(cells) + " |")
    return rows


def order_of_row(row: str) -> tuple[str, int, str, str, str]:
    device, load, cases, suite = cells_of(row)[:4]
    return device, int(load), processor_of(row), cases, suite


def write_rows(page: Path, runs: list[Run], content: str) -> None:
    rows = beside_earlier(page, NAME, HEAD, rows_of_table(runs, provenance(content)), key=4)
    lines = ["Made by `cmake --build build/release --target unchanged-runs`.", "", HEAD, "|" + "---|" * len(cells_of(HEAD)),
             *sorted(rows, key=order_of_row)]
    write_table(page, NAME, "\n".join(lines))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--device", choices=["host", "cuda-dry:sm_90"], help="rows of this device alone")
    parser.add_argument("--loads", help="processes beside it, 0,4,16; default: as in the table")
    parser.add_argument("--runs", type=int, help="of each suite; default: as in the table")
    parser.add_argument("--suites", help="of the build, by comma; default: all")
    parser.add_argument("--cases", choices=["gate", "few"], help="the gate tier, or smoke and four of gate; default: as in the table")
    parser.add_argument("--out", type=Path, help="default: BUILD/unchanged")
    parser.add_argument("--page", type=Path, default=ROOT / "baselines/measured.md")
    parser.add_argument("--again", action="store_true", help="forgets what was measured before")
    given = parser.parse_args()
    if given.runs is not None and given.runs < 1:
        fail(f"--runs={given.runs}: at least one")
    plans = [plan for plan in WHOLE if given.device in (None, plan.device)]
    if given.loads is not None:
        if not re.fullmatch(r"\d+(,\d+)*", given.loads):
            fail(f"--loads={given.loads}: numbers of processes, by comma")
        loads = [int(load) for load in given.loads.split(",")]
        known = {plan.device: plan for plan in reversed(plans)}
        plans = [Plan(device, load, known[device].runs, few=device == "host" and load > 0)
                 for device in dict.fromkeys(plan.device for plan in plans) for load in loads]
    plans = [Plan(plan.device, plan.load, given.runs or plan.runs, plan.few if given.cases is None else given.cases == "few")
             for plan in plans]
    house = House(given.build, given.out or given.build / "unchanged", given.again)
    suites = house.suites() if given.suites is None else given.suites.split(",")
    for suite in suites:
        if suite not in house.suites():
            fail(f"--suites: this build has no suite '{suite}'; it has {', '.join(house.suites())}")
    place_of_table(given.page, NAME)  # before hours of measuring
    done = house.journal.rows
    try:
        carry_out(house, plans, suites)
    finally:
        write_rows(given.page, done, house.journal.content)
    bad = sum(run.exit in (1, 2, 3) for run in done)
    quiet = [run for run in done if run.load == 0]
    # Warnings fail no change, and other work on the same cores is not load 0.
    open_ones = sum(run.exit == 4 and run.blocking_on_own_cores > 0 for run in quiet)
    print(f"{len(done)} runs of unchanged code: {bad} that ended in 1, 2 or 3; at load 0 {sum(run.exit == 4 for run in quiet)} of "
          f"{len(quiet)} that ended in 4, {open_ones} of them on cores of their own, and {undecided(quiet)} times and ratios "
          "undecided, warnings among them")
    sys.exit(1 if bad or open_ones else 0)


if __name__ == "__main__":
    main()
