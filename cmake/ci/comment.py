# SPDX-License-Identifier: Apache-2.0
"""Puts the verdict of a check on its pull request, as one comment that later checks update.

Run by the workflow `comment`, which may write to pull requests and therefore trusts nothing that the
check produced: the pull request comes from the event, and the artifact is quoted as text."""

import io
import json
import lzma
import os
import struct
import sys
import urllib.error
import urllib.parse
import urllib.request
import zipfile
import zlib
from pathlib import Path
from typing import Any

MARK = "<!-- holdfast: verdict -->"
AUTHOR = "github-actions[bot]"
ARTIFACT = "holdfast"
ENVIRONMENT = ("GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_TOKEN", "GITHUB_EVENT_PATH")
VERDICT = "results/verdict.md"
LARGEST_ARCHIVE = 200 << 20
LARGEST_VERDICT = 1 << 20
LONGEST = 60_000  # of the 65 536 characters that a comment may have
PER_PAGE = 100
# What zipfile and its decompressors raise for a crafted archive: encrypted, an unknown method, truncated.
UNREADABLE = (KeyError, RuntimeError, EOFError, OSError, ValueError, struct.error, zlib.error, lzma.LZMAError, zipfile.BadZipFile)


class Nothing(Exception):
    """Why there is nothing to comment, which is no failure."""


class Keep(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: an archive lies on another host, which must not get the token."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Api:
    """The endpoints of https://docs.github.com/rest that a comment needs."""

    def __init__(self, address: str, repository: str, token: str) -> None:
        self.root = f"{address}/repos/{repository}"
        self.token = token

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        request = self.request(self.root + path, method, body)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def pages(self, path: str) -> list[Any]:
        found: list[Any] = []
        separator = "&" if "?" in path else "?"
        for page in range(1, 100):
            some = self.ask("GET", f"{path}{separator}per_page={PER_PAGE}&page={page}")
            found += some
            if len(some) < PER_PAGE:
                break
        return found

    def archive(self, number: int) -> bytes:
        request = self.request(f"{self.root}/actions/artifacts/{number}/zip")
        try:
            with urllib.request.build_opener(Keep).open(request, timeout=60) as answer:
                return answer.read(LARGEST_ARCHIVE)
        except urllib.error.HTTPError as answer:
            if answer.code not in (301, 302, 303, 307, 308):
                raise
            with urllib.request.urlopen(answer.headers["Location"], timeout=300) as archive:
                return archive.read(LARGEST_ARCHIVE)

    def request(self, url: str, method: str = "GET", body: Any = None) -> urllib.request.Request:
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Accept": "application/vnd.github+json",
            "X-GitHub-Api-Version": "2022-11-28",
        }
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.Request(url, data, headers, method=method)


def pull_request(api: Api, run: dict[str, Any], repository: str) -> int:
    """The open pull request whose head is what was checked. The event of a fork lists none."""
    if run["event"] != "pull_request":
        raise Nothing(f"the check ran on a {run['event']}, not on a pull request")
    head = run["head_repository"]["full_name"]
    listed = [one["number"] for one in run["pull_requests"]]
    if listed and head == repository:
        open_ones = [api.ask("GET", f"/pulls/{number}") for number in listed]
    else:
        owner = run["head_repository"]["owner"]["login"]
        named = urllib.parse.urlencode({"state": "open", "head": f"{owner}:{run['head_branch']}"})
        open_ones = api.pages(f"/pulls?{named}")
    found = [
        one["number"]
        for one in open_ones
        if one["state"] == "open"
        and one["base"]["repo"]["full_name"] == repository
        and one["head"]["repo"]
        and one["head"]["repo"]["full_name"] == head
        and one["head"]["ref"] == run["head_branch"]
        and one["head"]["sha"] == run["head_sha"]
    ]
    if len(found) != 1:
        raise Nothing(
            f"{len(found)} open pull requests have {run['head_sha'][:12]} of {head} as their head"
        )
    return int(found[0])


def verdict(api: Api, run: dict[str, Any]) -> str:
    found = api.ask("GET", f"/actions/runs/{run['id']}/artifacts?name={ARTIFACT}&per_page=100")
    kept = [one for one in found["artifacts"] if one["name"] == ARTIFACT and not one["expired"]]
    if not kept:
        return ""
    # All attempts of a run share its id, and no order is promised: a later one has a larger id.
    packed = io.BytesIO(api.archive(max(int(one["id"]) for one in kept)))
    try:
        with zipfile.ZipFile(packed) as archive, archive.open(VERDICT) as file:
            return file.read(LARGEST_VERDICT).decode("utf-8", "replace")
    except UNREADABLE:
        return ""


def quoted(text: str) -> str:
    """Neutralizes foreign text: it mentions nobody, hides no comment and cannot pass for ours."""
    shown = "".join(c for c in text if c.isprintable() or c in "\n\t")
    return shown.replace("@", "@\u200b").replace("<!--", "&lt;!--")[:LONGEST]


def comment(run: dict[str, Any], text: str) -> str:
    said = quoted(text).strip() or f"No verdict was reached; the check ended as `{run['conclusion']}`."
    short = run["head_sha"][:12]
    ended = f"[The check of {short}]({run['html_url']}) ended as `{run['conclusion']}`."
    return f"{MARK}\n{ended}\n\n{said}\n"  # ours first: an open fence or tag in foreign text hides what follows


def post(api: Api, number: int, body: str) -> str:
    for one in api.pages(f"/issues/{number}/comments"):
        if one["user"] and one["user"]["login"] == AUTHOR and one["body"].startswith(MARK):
            api.ask("PATCH", f"/issues/comments/{one['id']}", {"body": body})
            return "updated"
    api.ask("POST", f"/issues/{number}/comments", {"body": body})
    return "posted"


def main() -> int:
    lacking = [name for name in ENVIRONMENT if not os.environ.get(name)]
    if lacking:
        print(f"comment.py: the environment lacks {', '.join(lacking)}, which the workflow `comment` gives", file=sys.stderr)
        return 2
    address, repository, token, event = (os.environ[name] for name in ENVIRONMENT)
    api = Api(address, repository, token)
    run = json.loads(Path(event).read_text("utf-8"))["workflow_run"]
    try:
        number = pull_request(api, run, repository)
        done = post(api, number, comment(run, verdict(api, run)))
    except Nothing as reason:
        print(f"no comment: {reason}")
        return 0
    except urllib.error.HTTPError as error:
        print(f"{error.url} answered {error.code} {error.reason}", file=sys.stderr)
        return 1
    print(f"{done} the comment on pull request {number}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
