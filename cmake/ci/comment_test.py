# SPDX-License-Identifier: Apache-2.0
"""The comment script against a server that answers as GitHub documents it."""

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qs, urlsplit

import comment
import pytest

SCRIPT = Path(__file__).parent / "comment.py"
REPOSITORY = "lab/holdfast"
MARK = "<!-- holdfast: verdict -->"
BOT = {"login": "github-actions[bot]", "type": "Bot"}


def pull(number: int, head: str, ref: str = "faster", sha: str = "a" * 40) -> dict[str, Any]:
    return {
        "number": number,
        "state": "open",
        "base": {"repo": {"full_name": REPOSITORY}},
        "head": {"repo": {"full_name": head}, "ref": ref, "sha": sha},
    }


class GitHub(ThreadingHTTPServer):
    """A stand-in for the API of GitHub: what it holds, and the requests that it received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.pulls: list[dict[str, Any]] = []
        self.comments: list[dict[str, Any]] = []
        self.files: dict[str, str] | None = {"results/verdict.md": "# holdfast: 1 blocks\n"}
        self.artifacts = [5]  # by their ids, in the order in which they are listed; only 5 can be had
        self.asked: list[tuple[str, str, str | None]] = []
        self.packed: bytes | None = None  # in place of the files
        self.expired = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def archive(self) -> bytes:
        if self.packed is not None:
            return self.packed
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in (self.files or {}).items():
                archive.writestr(name, content)
        return packed.getvalue()


class Answer(BaseHTTPRequestHandler):
    server: GitHub

    def log_message(self, *_: Any) -> None:
        pass

    def answer(self) -> None:
        github, url = self.server, urlsplit(self.path)
        query = {key: values[-1] for key, values in parse_qs(url.query).items()}
        github.asked.append((self.command, self.path, self.headers["Authorization"]))
        path = url.path.removeprefix(f"/repos/{REPOSITORY}")
        length = int(self.headers["Content-Length"] or 0)
        body = json.loads(self.rfile.read(length)) if length else {}
        begin = (int(query.get("page", 1)) - 1) * int(query.get("per_page", 30))
        end = begin + int(query.get("per_page", 30))
        if path == "/pulls":
            owner, _, ref = query["head"].partition(":")
            self.send(
                [
                    one
                    for one in github.pulls
                    if one["state"] == query["state"]
                    and one["head"]["repo"]["full_name"].startswith(f"{owner}/")
                    and one["head"]["ref"] == ref
                ][begin:end]
            )
        elif path.startswith("/pulls/"):
            self.send(next(one for one in github.pulls if f"/pulls/{one['number']}" == path))
        elif path == "/actions/runs/77/artifacts":
            listed = [{"id": id, "name": "holdfast", "expired": github.expired} for id in github.artifacts]
            self.send({"artifacts": listed if github.files is not None else []})
        elif path == "/actions/artifacts/5/zip":
            self.send_response(302)
            self.send_header("Location", f"{github.address}/elsewhere/archive.zip")
            self.end_headers()
        elif path == "/elsewhere/archive.zip":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(github.archive())
        elif path.endswith("/comments") and self.command == "GET":
            self.send(github.comments[begin:end])
        elif path.endswith("/comments"):
            github.comments.append({"id": 1000 + len(github.comments), "user": BOT} | body)
            self.send(github.comments[-1], 201)
        elif path.startswith("/issues/comments/") and self.command == "PATCH":
            one = next(c for c in github.comments if path.endswith(f"/{c['id']}"))
            one.update(body)
            self.send(one)
        else:
            self.send({"message": "Not Found"}, 404)

    do_GET = do_POST = do_PATCH = answer

    def send(self, content: Any, code: int = 200) -> None:
        self.send_response(code)
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


@pytest.fixture
def github() -> Iterator[GitHub]:
    server = GitHub()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def run(github: GitHub, folder: Path, head: str = REPOSITORY, code: int = 0, **change: Any) -> str:
    checked = {
        "id": 77,
        "event": "pull_request",
        "conclusion": "failure",
        "html_url": "https://example.org/runs/77",
        "head_sha": "a" * 40,
        "head_branch": "faster",
        "head_repository": {"full_name": head, "owner": {"login": head.split("/")[0]}},
        "pull_requests": [{"number": 3}] if head == REPOSITORY else [],
    } | change
    event = folder / "event.json"
    event.write_text(json.dumps({"workflow_run": checked}))
    environment = {
        "GITHUB_API_URL": github.address,
        "GITHUB_REPOSITORY": REPOSITORY,
        "GITHUB_TOKEN": "secret",
        "GITHUB_EVENT_PATH": str(event),
    }
    said = io.StringIO()
    with mock.patch.dict(os.environ, environment, clear=True), redirect_stdout(said), redirect_stderr(said):
        ended = comment.main()
    assert ended == code, said.getvalue()
    return said.getvalue()


def test_what_its_environment_lacks_is_told_in_a_sentence() -> None:
    given = {"GITHUB_API_URL": "https://example.org", "GITHUB_REPOSITORY": REPOSITORY, "GITHUB_TOKEN": ""}
    done = subprocess.run([sys.executable, SCRIPT], env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "comment.py: the environment lacks GITHUB_TOKEN, GITHUB_EVENT_PATH, which the workflow `comment` gives\n"


def test_a_verdict_becomes_one_comment(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    assert "posted the comment on pull request 3" in run(github, tmp_path)
    assert "\n\n# holdfast: 1 blocks\n" in github.comments[0]["body"]
    assert "https://example.org/runs/77" in github.comments[0]["body"]


def test_a_later_verdict_replaces_it_wherever_it_stands(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    people = [{"id": n, "user": {"login": "ann"}, "body": f"{MARK} not mine"} for n in range(130)]
    github.comments = [*people, {"id": 900, "user": BOT, "body": f"{MARK}\nold"}]
    assert "updated" in run(github, tmp_path)
    assert len(github.comments) == 131
    assert "1 blocks" in github.comments[-1]["body"]
    assert all("not mine" in one["body"] for one in github.comments[:-1])


def test_of_a_fork_it_is_the_open_one_with_its_repository_branch_and_commit(
    github: GitHub, tmp_path: Path
) -> None:
    github.pulls = [
        pull(4, "ann/holdfast", sha="b" * 40),
        pull(5, "ann/other"),
        pull(6, "ann/holdfast"),
        pull(7, "ann/holdfast", ref="slower"),
        pull(8, "ann/holdfast") | {"state": "closed"},
    ]
    assert "pull request 6" in run(github, tmp_path, "ann/holdfast")


def test_a_verdict_that_is_out_of_date_is_not_told(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY, sha="b" * 40)]
    assert "no comment: 0 open pull requests" in run(github, tmp_path)
    assert not github.comments


@pytest.mark.parametrize("other", [
    pull(3, REPOSITORY, ref="slower"), pull(3, "ann/holdfast"), pull(3, REPOSITORY) | {"state": "closed"},
    pull(3, REPOSITORY) | {"base": {"repo": {"full_name": "ann/holdfast"}}},
], ids=["branch", "head", "closed", "base"])
def test_a_pull_request_that_is_listed_and_another_is_not_commented(
    github: GitHub, tmp_path: Path, other: dict[str, Any]
) -> None:
    github.pulls = [other]
    assert "no comment: 0 open pull requests" in run(github, tmp_path)
    assert not github.comments


def test_of_two_pull_requests_of_one_commit_none_is_commented(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, "ann/holdfast"), pull(4, "ann/holdfast")]
    assert "no comment: 2 open pull requests" in run(github, tmp_path, "ann/holdfast")
    assert not github.comments


def test_another_comment_of_ours_stays(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    github.comments = [{"id": 900, "user": BOT, "body": f"of another program, which quotes {MARK}"}, {"id": 901, "user": None, "body": MARK}]
    assert "posted" in run(github, tmp_path)
    assert [one["body"] for one in github.comments][:2] == [f"of another program, which quotes {MARK}", MARK]


def test_an_artifact_that_has_expired_is_no_verdict(github: GitHub, tmp_path: Path) -> None:
    github.pulls, github.expired = [pull(3, REPOSITORY)], True
    run(github, tmp_path)
    assert "No verdict was reached" in github.comments[0]["body"]


@pytest.mark.parametrize("listed", [[5, 4], [4, 5]], ids=["newest first", "oldest first"])
def test_of_a_check_that_ran_again_the_newest_verdict_is_told(github: GitHub, tmp_path: Path, listed: list[int]) -> None:
    github.pulls, github.artifacts = [pull(3, REPOSITORY)], listed
    run(github, tmp_path)
    assert "1 blocks" in github.comments[0]["body"]


def test_what_the_server_refuses_is_a_failure(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    assert "/actions/runs/78/artifacts?name=holdfast&per_page=100 answered 404" in run(github, tmp_path, code=1, id=78)
    assert not github.comments


def test_the_artifact_does_not_say_which_pull_request(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY), pull(4, REPOSITORY, ref="other")]
    github.files = {"results/verdict.md": "4", "pr_number": "4", "../../verdict.md": "x"}
    assert "pull request 3" in run(github, tmp_path)


def test_a_push_is_not_commented(github: GitHub, tmp_path: Path) -> None:
    assert "not on a pull request" in run(github, tmp_path, event="push")
    assert not github.asked


def test_without_a_verdict_it_says_how_the_check_ended(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    github.files = None
    run(github, tmp_path)
    assert "ended as `failure`" in github.comments[0]["body"]


def test_a_verdict_does_not_hide_how_the_check_ended(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    github.files = {"results/verdict.md": "# holdfast: well\n"}  # says the change's own judge
    run(github, tmp_path)
    body = github.comments[0]["body"]
    assert "# holdfast: well" in body
    assert body.startswith(f"{MARK}\n[The check of aaaaaaaaaaaa](https://example.org/runs/77) ended as `failure`.\n\n")


@pytest.mark.parametrize("spoil", ["encrypted", "of another method", "no lzma", "no bzip2", "cut", "begun before its begin", "no archive"])
def test_an_archive_that_cannot_be_read_is_no_verdict(
    github: GitHub, tmp_path: Path, spoil: str
) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("results/verdict.md", "# holdfast: well\n" * 99)
    content = bytearray(packed.getvalue())
    directory = content.rindex(b"PK\1\2")
    if spoil == "encrypted":
        content[6] |= 1
        content[directory + 8] |= 1
    if spoil == "of another method":
        content[8] = content[directory + 10] = 99
    if spoil in ("no lzma", "no bzip2"):
        content[8] = content[directory + 10] = {"no lzma": zipfile.ZIP_LZMA, "no bzip2": zipfile.ZIP_BZIP2}[spoil]
    if spoil == "cut":
        content[60:70] = b"\xff" * 10
    if spoil == "begun before its begin":
        content[content.rindex(b"PK\5\6") + 16] += 40
    github.packed = b"" if spoil == "no archive" else bytes(content)
    run(github, tmp_path)
    assert "No verdict was reached; the check ended as `failure`" in github.comments[0]["body"]


def test_what_the_artifact_says_is_quoted(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    github.files = {"results/verdict.md": f"@everyone {MARK}\x1b[2J" + "x" * 200_000}
    run(github, tmp_path)
    body = github.comments[0]["body"]
    assert "@everyone" not in body and body.count("<!--") == 1 and "\x1b" not in body
    assert len(body) < 65_536


def test_the_token_goes_to_github_alone(github: GitHub, tmp_path: Path) -> None:
    github.pulls = [pull(3, REPOSITORY)]
    run(github, tmp_path)
    for _, path, token in github.asked:
        assert token == (None if path.startswith("/elsewhere") else "Bearer secret"), path
