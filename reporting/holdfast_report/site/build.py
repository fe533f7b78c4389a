# SPDX-License-Identifier: Apache-2.0
"""The whole site, on all processors. What did not change is not written again, so that a publisher
sees what is new."""

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from holdfast_report.site.addresses import of_case
from holdfast_report.site.cases import case_page
from holdfast_report.site.comparison import comparison
from holdfast_report.site.pages import (
    Renderer,
    Site,
    badge,
    class_page,
    index,
    run_page,
    runs,
)
from holdfast_report.writing import replacing, withdraw

SHARE = 16  # pages that a process takes at a time
ALONE = 24  # pages that are not worth a second process

Page = Callable[[Site, Renderer], dict[str, str]]


def one_case(case: str, out: Path, site: Site, renderer: Renderer) -> dict[str, str]:
    return dict([case_page(site, renderer, case, out)])


def one_run(at: int, site: Site, renderer: Renderer) -> dict[str, str]:
    return dict([run_page(site, renderer, at)])


def one_class(name: str, site: Site, renderer: Renderer) -> dict[str, str]:
    return dict([class_page(site, renderer, name)])


def overview(site: Site, renderer: Renderer) -> dict[str, str]:
    return {
        "index.html": index(site, renderer),
        "runs.html": runs(site, renderer),
        "badge.svg": badge(site.archive),
    }


def pages_of(site: Site, out: Path) -> list[Page]:
    found: list[Page] = [comparison, overview]
    found += [partial(one_class, name) for name in site.archive.classes]
    found += [partial(one_case, case, out) for case in site.archive.cases]
    found += [partial(one_run, at) for at in range(len(site.archive.commits))]
    return found


def put(path: Path, text: str) -> bool:
    """Writes a file beside its place and renames it, unless it already has this text; returns
    whether it was written."""
    content = text.encode()
    try:
        if path.stat().st_size == len(content) and path.read_bytes() == content:
            return False
    except OSError:
        pass
    with replacing(path) as beside:
        beside.write_bytes(content)
    return True


shared: tuple[Site, list[Page], Path] | None = None  # what a forked process begins with


def be_ended() -> None:
    """Of a worker. Ctrl-C reaches it as well, but its parent ends it: by a signal, at which it still
    removes what it has half written."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())


def write_share(numbers: range) -> tuple[int, int]:
    assert shared is not None
    site, pages, out = shared
    renderer = Renderer(site)
    written = total = 0
    for number in numbers:
        for address, text in pages[number](site, renderer).items():
            written += put(out / address, text)
            total += 1
    return written, total


def shares(count: int) -> Iterator[range]:
    """The first pages are the longest: each is a share of its own."""
    yield from (range(number, number + 1) for number in range(min(2, count)))
    for start in range(2, count, SHARE):
        yield range(start, min(start + SHARE, count))


def remove_renamed(site: Site, out: Path) -> None:
    """The pages of cases that have another name now: nothing else would say that they are old."""
    kept = {out / of_case(case) for case in site.archive.cases}
    for page in (out / "case").rglob("*.html"):
        if page not in kept:
            withdraw(page)


def build(site: Site, out: Path) -> tuple[int, int]:
    """Returns how many files were written, and how many the site has."""
    global shared
    pages = pages_of(site, out)
    shared = site, pages, out
    workers = len(os.sched_getaffinity(0))
    try:
        if workers == 1 or len(pages) <= ALONE:
            done = [write_share(range(len(pages)))]
        else:
            with multiprocessing.get_context("fork").Pool(workers, be_ended) as pool:
                done = pool.map(write_share, shares(len(pages)), chunksize=1)
    finally:
        shared = None
    remove_renamed(site, out)
    return sum(written for written, _ in done), sum(total for _, total in done)
