# SPDX-License-Identifier: Apache-2.0
"""The command line: the only place that knows exit codes and prints, except the notice of
waiting for the baselines (store.py)."""

import argparse
import os
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NoReturn

from holdfast_report import Problem
from holdfast_report.history import Series, ask
from holdfast_report.page import render
from holdfast_report.plots import draw_all, worth_a_plot
from holdfast_report.reading import files_below
from holdfast_report.root import folder_of, read_baselines, read_root
from holdfast_report.run_line import Past
from holdfast_report.since_when import trends_of
from holdfast_report.site.command import publish
from holdfast_report.site.reading import subjects_and_parents
from holdfast_report.store import journal_of
from holdfast_report.units import plural
from holdfast_report.writing import replacing, withdraw

EXAMPLES = """examples:
  python3 -m holdfast_report --results build/release/results --store build/release/history \\
    --out build/release/report --holdfast build/release/bin/holdfast
  python3 -m holdfast_report --results profile --out report
  python3 -m holdfast_report trends --store build/release/history --out plots \\
    --holdfast build/release/bin/holdfast --metric speedup   one SVG and PNG per series
  python3 -m holdfast_report site --store build/release/history --out site \\
    --holdfast build/release/bin/holdfast   the history as static pages

exit: 0 the page is written; 2 bad input, which one sentence explains
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Problem(f"{message}; see {self.prog} --help")

    def print_help(self, file: object = None) -> None:
        say(self.format_help(), end="")


def add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="where to write")
    parser.add_argument(
        "--baselines",
        metavar="DIR",
        type=Path,
        help="the accepted baselines (default: baselines, if it is there)",
    )
    parser.add_argument(
        "--holdfast",
        metavar="PATH",
        default=os.environ.get("HOLDFAST", "holdfast"),
        help="the command that reads the store (default: $HOLDFAST, else holdfast on the PATH)",
    )


def page_parser() -> Parser:
    parser = Parser(
        prog="python3 -m holdfast_report",
        description="Draws a run as one HTML page: verdict, failures, trends, numbers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--results", metavar="DIR", type=Path, required=True, help="a results root, judged or not"
    )
    parser.add_argument(
        "--store", metavar="DIR", type=Path, help="the history; without it the page has no trends"
    )
    add_repository(parser)
    add_common(parser)
    return parser


def trends_parser() -> Parser:
    parser = Parser(
        prog="python3 -m holdfast_report trends",
        description="Draws one SVG and one PNG for each series of the history (a case, variant and "
        "metric on a device class) that says something: it changed or drifted, gates by its level, "
        "or is not well. Progress goes to stderr.",
        allow_abbrev=False,
    )
    parser.add_argument("--store", metavar="DIR", type=Path, required=True, help="the history")
    parser.add_argument(
        "--case", metavar="GLOB", help="only these cases: * within a part of the id, ** across"
    )
    parser.add_argument("--metric", metavar="GLOB", help="only these metrics, as '*_s'")
    parser.add_argument(
        "--all", action="store_true", help="also what stood still, or has one commit only"
    )
    add_common(parser)
    return parser


def site_parser() -> Parser:
    parser = Parser(
        prog="python3 -m holdfast_report site",
        description="Draws the history as static pages: what changed, when, on which device; each "
        "case, commit and device class; any two commits compared.",
        allow_abbrev=False,
    )
    parser.add_argument("--store", metavar="DIR", type=Path, required=True, help="the history")
    add_repository(parser)
    add_common(parser)
    return parser


def add_repository(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--repository",
        metavar="URL",
        help="where commits have their pages, as https://github.com/owner/name "
        "(default: of $GITHUB_SERVER_URL and $GITHUB_REPOSITORY, else commits are not linked)",
    )


def link_of(given: str | None) -> str | None:
    """The address that a commit's hash is appended to; on GitHub's CI the environment names the
    repository."""
    if given is None:
        server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
        given = f"{server}/{name}" if server and name else None
    if given is not None and not re.fullmatch(r"https?://[^\s\"'<>]+", given):
        raise Problem(f"--repository={given}: is no address of a repository (https://...)")
    return f"{given.rstrip('/')}/commit/" if given else None


def baselines_of(given: Path | None) -> Path | None:
    if given is not None:
        return folder_of(given, " (--baselines)")
    usual = Path("baselines")
    return usual if usual.is_dir() else None


def is_empty(store: Path) -> bool:
    if store.exists() and not store.is_dir():
        raise Problem(f"--store={store}: is not a folder; name that of the history")
    begun = journal_of(store).exists()  # whoever reads it finishes it
    return not store.is_dir() or not (begun or files_below(store, "*/*.ndjson"))


def tell(said: str) -> None:
    print(f"holdfast_report: {said}", file=sys.stderr, flush=True)


def prepare(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Problem(
            f"--out={out}: cannot be made ({error.strerror}); choose another place"
        ) from error


def write(path: Path, text: str) -> None:
    with replacing(path) as beside:
        beside.write_text(text, "utf-8")


def trends_or_reason(
    holdfast: str, store: Path | None, baselines: Path | None, *options: str
) -> tuple[Iterable[Series], str | None]:
    if store is None:
        return [], "no store was named; add --store=DIR"
    if not store.exists():
        tell(f"warning: there is no folder --store={store}; no trends are drawn")
    if is_empty(store):
        return (
            [],
            (
                f"the store {store} holds no history yet; "
                f"holdfast history append RESULTS --store={store} begins it"
            ),
        )
    return ask(holdfast, store, baselines, *options), None


def draw_page(arguments: list[str]) -> str:
    options = page_parser().parse_args(arguments)
    page = options.out / "index.html"
    link = link_of(options.repository)
    withdraw(page)
    baselines = baselines_of(options.baselines)
    root = read_root(options.results, baselines)
    prepare(options.out)
    problem = None
    try:
        series, absent = trends_or_reason(
            options.holdfast, options.store, baselines, "--brief"
        )
        trends = trends_of(root, series, link)
        known = subjects_and_parents(options.store) if options.store and not absent else ()
    except Problem as found:  # the verdict is worth a page without trends
        problem, absent, known = found, str(found), ()
        trends = trends_of(root, [], link)
    write(page, render(root, trends, absent, options.out, Past(link, *known)))
    if problem:
        raise Problem(f"{page} is written without trends: {problem}")
    return str(page)


def draw_trends(arguments: list[str]) -> str:
    options = trends_parser().parse_args(arguments)
    baselines = baselines_of(options.baselines)
    chosen_by = {"--case": options.case, "--metric": options.metric}
    only = [f"{name}={glob}" for name, glob in chosen_by.items() if glob is not None]
    series, absent = trends_or_reason(options.holdfast, options.store, baselines, *only)
    if absent:
        raise Problem(absent)
    still, chosen = 0, []
    for one in series:
        if options.all or worth_a_plot(one):
            chosen.append(one)
        else:
            still += 1
    prepare(options.out)
    entries = read_baselines(baselines, {}) if baselines else {}
    paths = draw_all(chosen, entries, options.out, tell)
    said = f"{plural(len(paths), 'plot')} of {len(chosen):,} series in {options.out}"
    return f"{said}; {still:,} more say nothing new, --all draws them too" if still else said


def draw_site(arguments: list[str]) -> str:
    options = site_parser().parse_args(arguments)
    link = link_of(options.repository)
    prepare(options.out)
    baselines = baselines_of(options.baselines)
    return publish(options.holdfast, options.store, baselines, link, options.out)


DRAW = {"trends": draw_trends, "site": draw_site}


def refuse_unreadable(arguments: list[str]) -> None:
    for argument in arguments:
        if not argument or re.fullmatch("--[a-z-]+=", argument):
            raise Problem(f"{argument or 'a value'} is empty; give it, or leave the option out")
        try:
            argument.encode()
        except UnicodeEncodeError as error:
            shown = argument.encode(errors="backslashreplace").decode()
            raise Problem(f"{shown}: is no UTF-8; name it otherwise") from error


def say(said: str, end: str = "\n") -> None:
    try:
        print(said, end=end, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the end of the process
        raise Problem(f"cannot write to the standard output ({error.strerror})") from error


def main(arguments: list[str]) -> int:
    try:
        refuse_unreadable(arguments)
        named = bool(arguments) and not arguments[0].startswith("-")
        if named and arguments[0] not in DRAW:
            raise Problem(
                f"'{arguments[0]}' is no command; the commands are {' and '.join(DRAW)}, and "
                "without one --results is drawn as a page"
            )
        say(DRAW[arguments[0]](arguments[1:]) if named else draw_page(arguments))
        return 0
    except Problem as problem:
        tell(str(problem))
        return 2
