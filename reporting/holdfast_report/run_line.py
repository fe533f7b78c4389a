# SPDX-License-Identifier: Apache-2.0
"""What was measured, in one line: commit, branch, date, devices; and what came of it: how much
blocks, how much warns."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from holdfast_report.documents import Verdict
from holdfast_report.root import Root

LOUD = ("WARN", "NOISY", "DRIFT", "ENV")


@dataclass(frozen=True)
class Past:
    """What is known of commits besides their hashes."""

    link: str | None = None  # what a hash is appended to
    subjects: Mapping[str, str] = field(default_factory=dict)  # by hash
    parents: Mapping[str, str] = field(default_factory=dict)  # hash by hash

    def address(self, commit: str) -> str | None:
        return self.link + commit if self.link and not commit.startswith("sha256:") else None


@dataclass(frozen=True)
class RunLine:
    commit: str | None  # None where the tree had changes that no commit has
    short: str
    branch: str | None
    subject: str | None
    date: str
    devices: list[str]


def run_line(root: Root, subjects: Mapping[str, str]) -> RunLine | None:
    """The line of the newest part; parts of several commits are reported by the verdict's own
    notes."""
    if not root.parts:
        return None
    run = max((part.results.run for part in root.parts), key=lambda run: run.utc)
    sha = run.git.sha
    known = sha is not None and not run.git.dirty
    return RunLine(
        commit=sha if known else None,
        short=f"{sha[:10]}{'' if known else ' with changes'}" if sha else run.content[7:17],
        branch=branch_of(sha) if sha else None,
        subject=subjects.get(sha) if sha and known else None,
        date=run.utc.replace("T", " ").removesuffix("Z")[:16] + " UTC",
        devices=sorted({part.device_class for part in root.parts}),
    )


def branch_of(sha: str) -> str | None:
    """The branch that CI names; elsewhere git's, if the commit is checked out."""
    said = os.environ.get("GITHUB_HEAD_REF") or os.environ.get("GITHUB_REF_NAME")
    if said:
        return said
    command = ["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"]
    try:
        done = subprocess.run(
            command, capture_output=True, encoding="utf-8", errors="backslashreplace", timeout=10,
            check=False, cwd=Path.cwd(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    lines = done.stdout.split()
    return lines[1] if len(lines) == 2 and lines[0] == sha and lines[1] != "HEAD" else None


def tally(verdict: Verdict) -> str:
    """9 block, 13 warn"""
    block = sum(row.blocking for row in verdict.rows)
    warn = sum(not row.blocking and row.verdict in LOUD for row in verdict.rows)
    return f"{block} block, {warn} warn"
