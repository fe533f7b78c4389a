# SPDX-License-Identifier: Apache-2.0
"""Text that somebody planted in results, reasons, profiles, last words and names (formats/hostile_text.json), through
every output of the real commands and of the page: it is shown as text, or refused with one sentence."""

import csv
import importlib.util
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

HOLDFAST = os.environ["HOLDFAST_BINARY"]
FAKE_SUITE = os.environ["FAKE_SUITE_BINARY"]
BASELINES = Path(__file__).parents[2]
ROOT = BASELINES.parent
SUITE, CLASS, DEVICE = "hostile", "cuda-dry-sm_90", "cuda-dry:sm_90"
UTC = "2026-11-21T12:00:00Z"

TEXTS: dict[str, str] = json.loads(
    (BASELINES / "formats" / "hostile_text.json").read_text("utf-8")
)["kinds"]
TEXTS["length"] *= 20_000
BYTES = {
    kind: text.encode("latin-1" if kind == "not_utf8" else "utf-8")
    for kind, text in TEXTS.items()
}
SHOWN = {
    kind: some.decode("utf-8", "replace") for kind, some in BYTES.items()
}  # as a document can hold it
CASES = {kind: f"{SUITE}/{kind}/n:8/f64" for kind in TEXTS}
ARGUMENTS = {
    kind: text for kind, text in BYTES.items() if kind != "length"
}  # one is 128 KiB at most


@dataclass
class Said:
    code: int
    output: bytes
    complaints: bytes


def run(
    *command: str | bytes | Path,
    words: bytes = b"",
    fake: str = "ok",
    **environment: str,
) -> Said:
    given = {
        **os.environb,
        b"FAKE_SUITE": fake.encode(),
        **{k.encode(): v.encode() for k, v in environment.items()},
    }
    if words:
        given[b"FAKE_WORDS"] = words[:100_000]
    done = subprocess.run(
        command, capture_output=True, check=False, env=given, timeout=120
    )
    assert done.returncode >= 0, (command, done.stderr[-300:])
    return Said(done.returncode, done.stdout, done.stderr)


def metric(kind: str, value: float) -> dict[str, Any]:
    return {"kind": kind, "value": value}


def case(kind: str, launches: int, failed: bool) -> dict[str, Any]:
    kernel = {
        "name": SHOWN[kind], "registers": 40, "spill_bytes": 0, "shared_bytes": 0, "launches": launches,
        "cubin": "sha256:" + ("b" if failed else "a") * 64, "kind": "fused",
    }  # fmt: skip
    metrics = {
        "launches": metric("exact", launches),
        "registers_max": metric("codegen", launches),
    }
    return {
        "id": CASES[kind], "tier": "gate", "status": "failed" if failed else "ok",
        "reason": SHOWN[kind] if failed else None, "executed": False, "metrics": {},
        "check": {"status": "not_executed", "error": None, "limit": 1e-12, "oracle": SHOWN[kind]},
        "variants": {"optimized": {"identity": "sha256:" + str(launches) * 64, "kernels": [kernel], "metrics": metrics}},
    }  # fmt: skip


def results(cases: list[dict[str, Any]], list_hash: str, day: int) -> dict[str, Any]:
    everything = " ".join(text for kind, text in SHOWN.items() if kind != "length")
    utc = UTC.replace("21T", f"{day}T")
    return {
        "schema": "holdfast-results/1", "suite": SUITE, "tier": "gate", "partial": False, "list_hash": list_hash,
        "run": {
            "id": f"{utc}-7f3a", "utc": utc, "content": f"sha256:{'c' * 64}",
            "git": {"sha": None, "dirty": False}, "processes": 1,
        },
        "env": {
            "device_class": CLASS, "device_name": DEVICE, "driver": everything, "cuda": everything,
            "device": {"name": everything, "sm": "sm_90", "sms": 132, "memory_bytes": None}, "nvrtc": "13.0.88",
            "nvjitlink": "13.0.88", "compiler": everything, "flags": None, "fingerprint": everything,
            "host": {"cpu": everything, "processor": "Fake-1-2", "threads": 2, "isa": "x86-64-v4"},
        },
        "quality": {
            "valid": True, "reasons": [], "load": None, "sm_clock_hz": None, "throttled": None,
            "temperature_c": None, "other_processes": None,
        },
        "ceilings": {}, "cases": cases,
    }  # fmt: skip


class Place:
    """Accepted with hostile reasons; then worse, failed and profiled, with hostile names of kernels and devices."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.results, self.older = folder / "results", folder / "older"
        self.store, self.baselines, self.bin = (
            folder / "store",
            folder / "baselines",
            folder / "bin",
        )
        for one in (self.baselines / "policy", self.bin):
            one.mkdir(parents=True)
        listed = {
            "schema": "holdfast-list/2", "suite": SUITE,
            "metrics": {
                "launches": {"kind": "exact", "better": "lower", "unit": "1"},
                "registers_max": {"kind": "codegen", "better": "lower", "unit": "1"},
                "identity": {"kind": "codegen", "better": "same", "unit": "1"},
            },
            "cases": [
                {
                    "id": id, "tier": "gate", "reference": False, "limit": 1e-12,
                    "devices": {"cuda-dry": {"metrics": ["identity", "launches", "registers_max"]}},
                }
                for id in CASES.values()
            ],
        }  # fmt: skip
        self.list = json.dumps(listed)
        (self.bin / f"{SUITE}.list.json").write_text(self.list)
        content = {
            "content": "sha256:" + "c" * 64,
            "git": {"dirty": False, "sha": None},
        }
        (self.bin / "content.json").write_text(json.dumps(content))
        self.policy()
        self.accept()
        self.measure(
            self.results, {kind: 6 for kind in TEXTS}, failed=list(TEXTS)[::2], day=22
        )

    def policy(self) -> None:
        kinds = {
            "exact": {"gate": "block", "tolerance": 0},
            "codegen": {"gate": "block", "tolerance": 0},
        }
        rules = [
            {
                "match": id,
                "metric": "launches",
                "bound": {"max": 5, "source": SHOWN[kind]},
            }
            for kind, id in CASES.items()
        ]
        waiver = {
            "match": f"{SUITE}/**",
            "metric": "registers_max",
            "until": "2999-01-01",
            "why": SHOWN["markdown"],
        }
        document = {
            "schema": "holdfast-policy/1",
            "kinds": kinds,
            "rules": rules,
            "waivers": [waiver],
        }
        (self.baselines / "policy" / "common.json").write_text(json.dumps(document))

    def measure(
        self, root: Path, launches: dict[str, int], failed: list[str], day: int = 21
    ) -> None:
        hashed = (
            "sha256:" + __import__("hashlib").sha256(self.list.encode()).hexdigest()
        )
        cases = [case(kind, launches[kind], kind in failed) for kind in TEXTS]
        (root / CLASS).mkdir(parents=True, exist_ok=True)
        (root / CLASS / f"{SUITE}.json").write_text(
            json.dumps(results(cases, hashed, day))
        )
        (root / CLASS / f"{SUITE}.list.json").write_text(self.list)

    def accept(self) -> None:
        launches = dict.fromkeys(TEXTS, 3)
        self.measure(self.older, launches, failed=[])
        for kind in [None, *ARGUMENTS]:
            if kind:
                launches[kind] = 4
                self.measure(self.older, launches, failed=[])
            why = b"--why=" + (ARGUMENTS[kind] if kind else b"first")
            said = run(HOLDFAST, "baseline", "accept", self.older, why, *self.stores())
            assert said.code == 0, said.complaints
            plain(said.output)
            plain(said.complaints)

    def stores(self) -> list[str]:
        return [f"--baselines={self.baselines}", f"--lists={self.bin}"]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    made = Place(tmp_path_factory.mktemp("hostile"))
    run(HOLDFAST, "check", made.results, *made.stores())
    for root in (made.older, made.results):
        said = run(HOLDFAST, "history", "append", root, f"--store={made.store}")
        assert said.code == 0, said.complaints
    return made


# What no reader of plain text may meet: controls, marks of direction, separators of lines, no characters.
UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def as_text(told: bytes) -> str:
    text = told.decode("utf-8")
    found = UNSEEN.search(text)
    assert not found, (
        found and found.group(),
        text[max(0, found.start() - 60) : found.start() + 20] if found else "",
    )
    return text


def plain(told: bytes) -> None:
    """On a terminal, and in the log of a job."""
    text = as_text(told)
    assert "##[" not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]


def annotated(told: bytes) -> None:
    lines = as_text(told).splitlines()
    commands = [line for line in lines if line.lstrip().startswith("::")]
    assert commands
    for line in commands:
        assert re.fullmatch(
            r"::(error|warning) [a-z]+=[^,:]+(,[a-z]+=[^,:]+)*::.+", line
        ), line
    assert "##[" not in "".join(lines)


def outside_code(markdown: str) -> str:
    """What is left of GitHub's Markdown without fenced blocks and spans of code, by its rules; and no fence is open."""
    left, fence = [], ""
    for line in markdown.splitlines():
        opened = re.match(r" {0,3}(`{3,}|~{3,})([^`]*)$", line)
        if fence:
            closed = re.fullmatch(r" {0,3}(`{3,}|~{3,})\s*", line)
            if closed and closed.group(1).startswith(fence):
                fence = ""
        elif opened:
            fence = opened.group(1)
        else:
            left.append(re.sub(r"(?<![`\\])(`+)(?!`)(.+?)(?<!`)\1(?!`)", "", line))
    assert not fence, "a block of code is left open"
    return "\n".join(left)


def marked_down(told: bytes) -> None:
    left = outside_code(as_text(told))
    for obeyed in (
        "@planted",
        "](",
        "![",
        "http://",
        "www.planted",
        "<script",
        "<img",
        "<svg",
        "<iframe",
        "$planted",
        "**planted",
    ):
        found = re.search(r"(?<!\\)" + re.escape(obeyed), left)
        assert not found, (
            obeyed,
            left[max(0, found.start() - 80) : found.start() + 40],
        )
    assert not re.search(r"^\s*(> )?# planted", left, re.MULTILINE)
    assert set(re.findall(r"<(\w+)", left)) <= {"details", "summary", "br"}


def commented(told: bytes) -> None:
    """The same text, as cmake/ci/comment.py puts it on a pull request."""
    spec = importlib.util.spec_from_file_location(
        "comment", ROOT / "cmake" / "ci" / "comment.py"
    )
    assert spec and spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    run_of = {
        "conclusion": "failure",
        "head_sha": "a" * 40,
        "html_url": "https://github.com/lab/holdfast/runs/1",
    }
    body = script.comment(run_of, told.decode("utf-8"))
    assert body.startswith(script.MARK) and body.count("<!--") == 1
    assert not re.search(r"@planted", body)
    assert len(body) < 65_536


def xml(told: bytes) -> None:
    tree = ElementTree.fromstring(told)
    assert {element.tag for element in tree.iter()} <= {
        "testsuites", "testsuite", "properties", "property", "testcase", "failure", "skipped", "system-out", "error",
    }  # fmt: skip
    as_text("".join(tree.itertext()).encode().replace(b"\t", b""))


def document(told: bytes) -> None:
    def unlike(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        assert len(dict(pairs)) == len(pairs)
        return dict(pairs)

    json.loads(told.decode("utf-8"), object_pairs_hook=unlike)


def table(told: bytes) -> None:
    text = as_text(told)
    rows = list(csv.reader(io.StringIO(text), delimiter="\t"))
    assert not [
        cell for row in rows for cell in row if cell[:1] in ("=", "+", "-", "@")
    ]


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[str]]] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, [name for name, _ in attrs]))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "script":
            self.scripts.append(data)


def page(told: bytes) -> None:
    text = told.decode("utf-8")
    reader = Tags()
    reader.feed(text)
    assert not [
        tag
        for tag, names in reader.tags
        if tag in ("img", "iframe", "object") or any(n.startswith("on") for n in names)
    ]
    assert [names for tag, names in reader.tags if tag == "script"] == [
        ["type", "id"],
        [],
        [],
    ], "the page's own"
    assert not [script for script in reader.scripts if "planted()" in script]
    assert "planted" in text


def command(*words: str) -> Callable[[Place], tuple[bytes, bytes]]:
    def told(place: Place) -> tuple[bytes, bytes]:
        filled = [word.format(**vars(place)) for word in words]
        said = run(HOLDFAST, *filled)
        assert said.code in (0, 1, 3), said.complaints
        return said.output, said.complaints

    return told


def file(name: str) -> Callable[[Place], tuple[bytes, bytes]]:
    return lambda place: ((place.results / name).read_bytes(), b"")


def drawn(place: Place) -> tuple[bytes, bytes]:
    out = place.folder / "page"
    options = [
        f"--results={place.results}",
        f"--store={place.store}",
        f"--out={out}",
        f"--holdfast={HOLDFAST}",
    ]
    said = run(
        sys.executable, "-P", "-m", "holdfast_report", *options, f"--baselines={place.baselines}",
        PYTHONPATH=str(ROOT / "reporting"),
    )  # fmt: skip
    assert said.code == 0, said.complaints
    return (out / "index.html").read_bytes(), said.complaints


def otava(place: Place) -> tuple[bytes, bytes]:
    out = place.folder / "otava"
    said = run(HOLDFAST, "export", place.store, "--format=otava", f"--out={out}")
    assert said.code == 0, said.complaints
    return b"".join(
        one.read_bytes() for one in sorted(out.rglob("*.csv"))
    ), said.complaints


STORES = ("--baselines={baselines}", "--lists={bin}")
FIRST = CASES["markdown"]
OUTPUTS: dict[str, tuple[Callable[[Place], tuple[bytes, bytes]], Callable[[bytes], None]]] = {
    "terminal": (command("check", "{results}", *STORES), plain),
    "terminal, quiet": (command("check", "{results}", "--quiet", *STORES), plain),
    "annotations": (command("check", "{results}", "--annotations", *STORES), annotated),
    "verdict.json": (file("verdict.json"), document),
    "verdict.md": (file("verdict.md"), marked_down),
    "comment": (file("verdict.md"), commented),
    "verdict.xml": (file("verdict.xml"), xml),
    "export junit": (command("export", "{results}", "--format=junit"), xml),
    "export gbench": (command("export", "{older}", "--format=gbench"), document),
    "export bmf": (command("export", "{older}", "--format=bmf"), document),
    "export gha": (command("export", "{older}", "--format=gha"), document),
    "export otava": (otava, table),
    "show": (command("baseline", "show", "--baselines={baselines}"), plain),
    "baseline diff": (command("baseline", "diff", "{results}", *STORES), plain),
    "policy": (command("policy", FIRST, "--baselines={baselines}"), plain),
    "diff": (command("diff", "{older}", "{results}"), plain),
    "list": (command("list", "--bin-dir={bin}"), plain),
    "trend": (command("trend", "--store={store}", "--case=**"), plain),
    "trend json": (command("trend", "--store={store}", "--json"), document),
    "resolution": (command("doctor", "--resolution={results}"), plain),
    "page": (drawn, page),
} | {
    f"explain {kind}": (command("explain", id, "{results}", *STORES), plain) for kind, id in CASES.items()
}  # fmt: skip


@pytest.mark.parametrize("output", OUTPUTS)
def test_what_is_planted_is_shown_as_text(place: Place, output: str) -> None:
    told, held = OUTPUTS[output]
    said, complaints = told(place)
    assert said
    held(said)
    plain(complaints)


@pytest.mark.parametrize("kind", TEXTS)
def test_a_suites_last_words_and_names_are_text(kind: str, tmp_path: Path) -> None:
    words, root = BYTES[kind], tmp_path / "results"
    ran = run(
        HOLDFAST,
        "run",
        FAKE_SUITE,
        "--device=host",
        f"--out={root}",
        "--processes=1",
        words=words,
        fake="crash",
    )
    profiled = run(
        HOLDFAST,
        "profile",
        FAKE_SUITE,
        "add/",
        "--device=host",
        f"--out={tmp_path / 'profile'}",
        words=words,
    )
    compared = run(
        HOLDFAST,
        "ab",
        FAKE_SUITE,
        FAKE_SUITE,
        "--filter=add",
        "--unit=0.001",
        words=words,
        fake="dies",
    )
    assert (ran.code, profiled.code, compared.code) == (0, 0, 3), (
        ran,
        profiled,
        compared,
    )
    for said in (ran, profiled, compared):
        plain(said.output)
        plain(said.complaints)
    (kept,) = root.glob("*/fake_suite.json")
    document(kept.read_bytes())
    assert {one["status"] for one in json.loads(kept.read_text("utf-8"))["cases"]} == {
        "crashed"
    }


NAMES: dict[str, Callable[[dict[str, Any], str], None]] = {
    "case": lambda made, name: made["cases"][0].update(id=f"{SUITE}/{name}/f64"),
    "suite": lambda made, name: made.update(suite=name),
    "device class": lambda made, name: made["env"].update(device_class=name),
    "device": lambda made, name: made["env"].update(device_name=name),
    "variant": lambda made, name: made["cases"][0]["variants"].update(
        {name: made["cases"][0]["variants"]["optimized"]}
    ),
    "metric": lambda made, name: made["cases"][0]["variants"]["optimized"][
        "metrics"
    ].update({name: metric("exact", 1)}),
}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", TEXTS)
def test_no_name_is_planted(place: Place, kind: str, name: str, tmp_path: Path) -> None:
    root = tmp_path / "results"
    place.measure(root, dict.fromkeys(TEXTS, 4), failed=[])
    stale = root / "verdict.json"
    stale.write_text("well")
    path = root / CLASS / f"{SUITE}.json"
    made = json.loads(path.read_text("utf-8"))
    NAMES[name](made, SHOWN[kind])
    path.write_text(json.dumps(made))
    said = run(HOLDFAST, "check", root, *place.stores())
    assert said.code == 2, said.output
    plain(said.complaints)
    assert said.complaints.count(b"\n") == 1
    assert json.loads(stale.read_text("utf-8"))["exit"] == 2


@pytest.mark.parametrize(
    "kind", ["brackets", "digits", "half a letter", "nul", "not_utf8"]
)
def test_what_no_document_can_hold_is_refused(
    place: Place, kind: str, tmp_path: Path
) -> None:
    planted = {
        "brackets": b"[" * 5000 + b"]" * 5000, "digits": b"1" * 6000, "half a letter": b'"\\ud800"',
        "nul": b'"planted\\u0000"', "not_utf8": b'"' + BYTES["not_utf8"] + b'"',
    }[kind]  # fmt: skip
    root = tmp_path / "results"
    place.measure(root, dict.fromkeys(TEXTS, 4), failed=[])
    path = root / CLASS / f"{SUITE}.json"
    path.write_bytes(
        path.read_bytes().replace(b'"partial": false', b'"partial": ' + planted, 1)
    )
    said = run(HOLDFAST, "check", root, *place.stores())
    assert said.code == 2, said.output
    plain(said.complaints)
    assert said.complaints.count(b"\n") == 1
