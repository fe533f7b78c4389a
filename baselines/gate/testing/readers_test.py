# SPDX-License-Identifier: Apache-2.0
"""Exports read by the programs that they are for: Apache Otava, which cmake/ci/readers.sh installs, Google
Benchmark's compare.py, which is Debian's, and CTest. HOLDFAST_READERS, which that script sets, lets nothing be skipped."""

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

HOLDFAST = os.environ["HOLDFAST_BINARY"]
FAKE_SUITE = Path(os.environ["FAKE_SUITE_BINARY"])
READERS = os.environ.get("HOLDFAST_READERS")
COMPARE = Path("/usr/share/benchmark/compare.py")
COMMITS, MORE_LAUNCHES, SLOWER = 40, 25, 28  # 4 launches become 5, and a step takes a tenth longer
CASE = "fake_suite/add/n:8/f64"
HEADLINES = {"speedup", "peak_ratio", "time_s", "launches", "peak_bytes", "registers_max"}


def run(*command: str | Path, **environment: str) -> str:
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def needed(path: Path, where: str) -> Path:
    if not path.exists():
        sentence = f"{path} is not there; {where}"
        if READERS:
            pytest.fail(sentence)
        pytest.skip(sentence)
    return path


def reader(name: str) -> Path:
    return needed(Path(READERS or "readers") / "bin" / name, "install it: cmake/ci/readers.sh")


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A results root of the fake suite, written by the real command."""
    build = tmp_path / "build"
    build.mkdir()
    shutil.copy(FAKE_SUITE, build / "fake_suite")
    listed = run(build / "fake_suite", "--list=json")
    (build / "fake_suite.list.json").write_text(listed)
    (build / "content.json").write_text(
        json.dumps({"content": "sha256:" + "1" * 64, "git": {"dirty": False, "sha": None}})
    )
    results = tmp_path / "results"
    options = [f"--bin-dir={build}", f"--out={results}", "--processes=9"]
    run(HOLDFAST, "run", "fake_suite", "--device=host", *options, FAKE_SUITE="one_clock")
    return results


def times(document: dict[str, Any], factor: float, launches: int | None = None) -> dict[str, Any]:
    made = copy.deepcopy(document)
    for case in made["cases"]:
        metrics = case["variants"]["optimized"]["metrics"]
        time = metrics["time_s"]
        spread = [1 + 0.0004 * (at * 7 % 11 - 5) for at in range(len(time["processes"]))]
        time["processes"] = [1e-3 * factor * one for one in spread]
        time["median"] = sorted(time["processes"])[len(spread) // 2]
        time["mad_between"] = sorted(abs(one - time["median"]) for one in time["processes"])[len(spread) // 2]
        if launches is not None and case["id"] == CASE:
            metrics["launches"]["value"] = launches
    return made


def stored(results: Path) -> tuple[Path, dict[str, Any]]:
    (path,) = results.glob("*/fake_suite.json")
    return path, json.loads(path.read_text("utf-8"))


def test_otava_finds_the_commits_that_changed_a_level(measured: Path, tmp_path: Path) -> None:
    otava = reader("otava")
    path, document = stored(measured)
    store, out = tmp_path / "history", tmp_path / "otava"
    for number in range(COMMITS):
        noise = 1 + 0.001 * (number * 5 % 7 - 3)
        slower = 1.1 if number >= SLOWER else 1.0
        made = times(document, noise * slower, 5 if number >= MORE_LAUNCHES else 4)
        utc = f"2026-{1 + number // 28:02d}-{1 + number % 28:02d}T12:00:00Z"
        made["run"] |= {"utc": utc, "id": f"{utc}-1", "content": f"sha256:{number:064x}"}
        path.write_text(json.dumps(made))
        run(HOLDFAST, "history", "append", measured, f"--store={store}")
    run(HOLDFAST, "export", store, "--format=otava", f"--out={out}")
    config = ["--config-file", str(out / "otava.yaml")]
    test = f"{path.parent.name}.{CASE.replace('/', '-').replace(':', '-')}.optimized"
    assert test in run(otava, "list-tests", *config).split()
    assert set(run(otava, "list-metrics", *config, test).split()) == {"launches", "time_s"}
    said = run(otava, "analyze", *config, "--since", "2026-01-01", "--output", "json", test)
    found = {
        change["metric"]: (change["index"], float(change["forward_change_percent"]), point["attributes"]["commit"])
        for point in json.loads(said)[test]
        for change in point["changes"]
    }
    assert found["launches"] == (MORE_LAUNCHES, 25, f"sha256:{MORE_LAUNCHES:064x}")
    index, change, _ = found["time_s"]
    assert index == SLOWER
    assert change == pytest.approx(10, abs=0.5)


def test_compare_of_google_benchmark_tells_a_tenth_more(measured: Path, tmp_path: Path) -> None:
    python = reader("python3")
    needed(COMPARE, "install it: apt-get install libbenchmark-tools")
    path, document = stored(measured)
    for name, factor in (("before", 1.0), ("after", 1.1)):
        path.write_text(json.dumps(times(document, factor)))
        exported = run(HOLDFAST, "export", measured, "--format=gbench")
        (tmp_path / f"{name}.json").write_text(exported)
    dumped = tmp_path / "compared.json"
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    run(python, COMPARE, "--no-color", "-d", dumped, "benchmarks", *files)
    found = {one["name"]: one for one in json.loads(dumped.read_text())}
    ids = [case["id"] for case in document["cases"]]
    assert set(found) == {f"{id}/optimized" for id in ids} | {"OVERALL_GEOMEAN"}
    for id in ids:
        told = found[f"{id}/optimized"]
        assert [one["time"] for one in told["measurements"]] == pytest.approx([0.1] * 9)
        assert told["utest"]["nr_of_repetitions"] == 9 and told["utest"]["time_pvalue"] < 0.01


def test_ctest_writes_every_headline_of_a_verdict_into_test_xml(tmp_path: Path) -> None:
    """Of a real suite: dry where CUDA's compiler is, and on the host."""
    results, build = tmp_path / "results", tmp_path / "ctest"
    run_options = ["--tier=smoke", f"--out={results}", "--processes=1"]
    devices = os.environ["DEVICES"].split()
    for device in devices:
        run(HOLDFAST, "run", "cubed_sphere_swe", f"--device={device}", *run_options)
    build.mkdir()
    baselines = tmp_path / "baselines"
    shutil.copytree(Path(os.environ["POLICY"]), baselines / "policy")
    command = [HOLDFAST, "check", str(results), "--ctest", f"--baselines={baselines}", "--undecided=warn"]
    quoted = " ".join(f'"{word}"' for word in command)
    (build / "CTestTestfile.cmake").write_text(f"add_test(perf.check {quoted})\n")
    (build / "DartConfiguration.tcl").write_text(
        f"SourceDirectory: {build}\nBuildDirectory: {build}\nSite: here\nBuildName: toy\n"
    )
    done = subprocess.run(["ctest", "-T", "Test"], cwd=build, capture_output=True, text=True, check=False)
    (document,) = build.glob("Testing/*/Test.xml")
    named = {
        one.get("name"): float(one.findtext("Value") or "nan")
        for one in ElementTree.parse(document).iter("NamedMeasurement")
        if one.get("type") == "numeric/double"
    }
    verdict = json.loads((results / "verdict.json").read_text())
    several = len(devices) > 1
    expected = {
        f"{row['device_class'] + ' ' if several else ''}{row['case']} {row['metric']}": row["value"]
        for row in verdict["rows"]
        if row["metric"] in HEADLINES and row["variant"] != "reference" and isinstance(row["value"], int | float)
    }
    assert {name.rpartition(" ")[2] for name in expected} >= {"speedup", "time_s", "peak_bytes"}, done.stdout
    for name, value in expected.items():
        assert named[name] == pytest.approx(value, rel=1e-5), name
    assert {name: named[name] for name in verdict["counts"]} == verdict["counts"]
