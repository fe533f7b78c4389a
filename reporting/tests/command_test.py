# SPDX-License-Identifier: Apache-2.0
"""Bad input: one sentence, exit 2, and no file left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import builders
import pytest
from builders import HOST, Workplace
from holdfast_report.command import link_of, main


def refusal(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def break_results(workplace: Workplace, **changes: object) -> None:
    workplace.measure(HOST, builders.host_results() | changes)


def test_another_schema_version_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    break_results(workplace, schema="holdfast-results/2")
    assert "holdfast-results/2" in refusal(workplace.options(), capsys)
    assert not workplace.out.exists()


def test_a_byte_order_mark_and_the_line_ends_of_windows_are_read_as_the_gate_reads_them(
    workplace: Workplace,
) -> None:
    files = [path for folder in (workplace.results, workplace.baselines) for path in folder.rglob("*.json")]
    assert len(files) > 2
    for path in files:
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert main(workplace.options()) == 0


def test_what_cannot_be_read_takes_an_older_page_away(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(workplace.options()) == 0
    capsys.readouterr()
    break_results(workplace, surprise=1)
    refusal(workplace.options(), capsys)
    assert not (workplace.out / "index.html").exists()


@pytest.mark.parametrize("signal", ["KILL", "TERM"])
def test_a_page_that_is_killed_while_it_is_drawn_leaves_no_older_one(
    workplace: Workplace, signal: str
) -> None:
    assert main(workplace.options()) == 0
    workplace.holdfast.write_text(f"#!/bin/sh\nkill -{signal} $PPID\n")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast_report", *workplace.options()],
        cwd=Path(__file__).parents[1], capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode < 0
    assert not (workplace.out / "index.html").exists()


def test_another_verdict_version_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.judge(builders.verdict(0, []) | {"schema": "holdfast-verdict/9"})
    assert "holdfast-verdict/9" in refusal(workplace.options(), capsys)


def test_an_unknown_key_is_refused_by_name(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    break_results(workplace, surprise=1)
    said = refusal(workplace.options(), capsys)
    assert "surprise" in said and "cubed_sphere_swe.json" in said


def test_a_file_cut_short_is_refused_with_its_line(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.put(workplace.results / HOST / "cubed_sphere_swe.json", '{"schema":\n "holdfast-res')
    assert "cubed_sphere_swe.json:2: is not JSON" in refusal(workplace.options(), capsys)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], number: str
) -> None:
    path = workplace.results / HOST / "cubed_sphere_swe.json"
    builders.put(path, path.read_text().replace("1177856", number, 1))
    assert "finite" in refusal(workplace.options(), capsys)


HOSTILE = {
    "brackets": ("1177856", "[" * 5000 + "]" * 5000, "nested deeper"),
    "digits": ("1177856", "1" * 6000, "a whole number longer than any"),
    "half_a_letter": ("sha256:", "sha256:\\ud800", "half a letter ('\\ud800')"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_python_cannot_hold_is_refused_and_takes_an_older_page_away(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert main(workplace.options()) == 0
    capsys.readouterr()
    before, after, sentence = HOSTILE[kind]
    path = workplace.results / HOST / "cubed_sphere_swe.json"
    assert before in path.read_text()
    builders.put(path, path.read_text().replace(before, after, 1))
    said = refusal(workplace.options(), capsys)
    assert sentence in said and said.count("\n") == 1
    assert not (workplace.out / "index.html").exists()


def test_a_missing_results_folder_is_told_with_the_command_that_makes_one(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal([f"--results={workplace.folder / 'none'}", f"--out={workplace.out}"], capsys)
    assert "holdfast run" in said


def test_a_missing_option_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "--results" in refusal(["--out=somewhere"], capsys)


@pytest.mark.parametrize("command", ["site", "trends"])
def test_what_a_command_lacks_is_told_with_the_help_of_that_command(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal([command], capsys)
    assert said.endswith(f"--store, --out; see python3 -m holdfast_report {command} --help\n")


def test_an_unknown_command_is_told_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'trend' is no command; the commands are trends and site" in refusal(
        ["trend", "--store=history", "--out=plots"], capsys
    )


def test_an_unknown_option_is_told(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--colour" in refusal([*workplace.options(), "--colour=red"], capsys)


def test_an_output_that_is_a_file_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.put(workplace.out, "a file")
    assert "--out" in refusal(workplace.options(), capsys)
    assert workplace.out.read_text() == "a file"


def test_a_failing_trend_command_leaves_the_page_and_exit_two(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.answer(builders.trend(), code=2)
    assert "the store is broken" in refusal(workplace.options(), capsys)
    assert "the store is broken" in workplace.page()


@pytest.mark.parametrize(
    ("script", "sentence"),
    [("printf '\\377' >&2; exit 1", "ended with exit 1: \\xff"), ("printf '\\377\\n'", "is not JSON")],
)
def test_what_the_command_says_in_no_utf_8_leaves_the_page_and_exit_two(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], script: str, sentence: str
) -> None:
    workplace.holdfast.write_text(f"#!/bin/sh\n{script}\n")
    assert sentence in refusal(workplace.options(), capsys)
    assert sentence in workplace.page()


def test_a_store_whose_subjects_cannot_be_read_leaves_the_page_and_exit_two(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.put(workplace.store / builders.HOST / "2026.ndjson", '{"run":1,"subject":\n')
    assert "is written without trends" in refusal(workplace.options(), capsys)
    assert "is not JSON" in workplace.page()


def test_a_store_that_is_a_file_leaves_the_page_and_exit_two(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*workplace.options(), f"--store={builders.put(workplace.folder / 'file', '')}"]
    assert "file: is not a folder; name that of the history" in refusal(options, capsys)
    assert "is not a folder" in workplace.page()


def test_an_unknown_trend_version_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.answer(builders.trend() | {"schema": "holdfast-trend/2"})
    assert "holdfast-trend/2" in refusal(workplace.options(), capsys)


def test_an_absent_command_is_told_with_the_option_that_names_it(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--holdfast" in refusal([*workplace.options(), "--holdfast=/nowhere/holdfast"], capsys)


def test_a_command_that_cannot_be_run_leaves_the_page_and_exit_two(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.holdfast.chmod(0o600)
    assert "could not be run: [Errno 13] Permission denied" in refusal(workplace.options(), capsys)
    assert "Permission denied" in workplace.page()


def test_a_policy_that_is_none_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.put(workplace.baselines / "policy" / "common.json", "[]")
    assert "common.json" in refusal(workplace.options(), capsys)


def test_help_shows_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "python3 -m holdfast_report trends --store" in capsys.readouterr().out


@pytest.mark.parametrize("address", ["https://git.example/a b", "https://git.example/<a>", "ftp://git.example/a", "https://"])
def test_an_address_that_is_none_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], address: str
) -> None:
    assert "is no address of a repository" in refusal([*workplace.options(), f"--repository={address}"], capsys)


def test_the_address_of_a_commit_has_one_slash_between_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert link_of("https://git.example/owner/name/") == "https://git.example/owner/name/commit/"
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://git.example")
    monkeypatch.setenv("GITHUB_REPOSITORY", "lab/holdfast")
    assert link_of(None) == "https://git.example/lab/holdfast/commit/"
    monkeypatch.delenv("GITHUB_REPOSITORY")
    assert link_of(None) is None


def test_a_page_appears_whole_or_not_at_all(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is full when the page is renamed into its place."""
    beside: list[str] = []

    def full(path: Path, target: Path) -> Path:
        beside.append(path.read_text("utf-8"))
        assert not target.exists()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    assert main(workplace.options()) == 2
    assert beside and beside[0].startswith("<!doctype html>")
    assert list(workplace.out.iterdir()) == []


def test_baselines_lie_in_their_folder_here_unless_another_is_named(
    workplace: Workplace, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [option for option in workplace.options() if not option.startswith("--baselines")]
    workplace.answer(builders.trend(), code=1)
    monkeypatch.chdir(workplace.results)
    assert main(options) == 2
    assert "ended with exit 1" in workplace.page() and "--baselines" not in workplace.page(), "nor need there be one"
    monkeypatch.chdir(workplace.folder)
    assert main(options) == 2
    assert "--baselines=baselines" in workplace.page()


def test_a_series_of_which_nothing_is_left_is_not_drawn(workplace: Workplace) -> None:
    trend = builders.trend()
    trend["series"].append(builders.series("speedup", [], variant="case", case="toy/empty/f64"))
    workplace.answer(trend)
    assert main(workplace.options()) == 0
    assert "toy/empty" not in workplace.page()


def test_a_command_that_never_answers_is_given_up(
    workplace: Workplace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[object] = []

    def waits(command: list[str], *, timeout: float | None, **_: object) -> None:
        limits.append(timeout)
        raise subprocess.TimeoutExpired(command, timeout or 0)

    monkeypatch.setattr("holdfast_report.run_line.subprocess.run", waits)
    monkeypatch.setattr("holdfast_report.history.PATIENCE", 0.1)
    for lines in (0, 1, 2):
        workplace.holdfast.write_text(
            f"#!/bin/sh\nhead -n {lines} {workplace.folder}/trend.json\nexec tail -f /dev/null\n"
        )
        assert "wrote nothing for 0.1 s" in refusal(workplace.options(), capsys)
        assert "wrote nothing" in workplace.page()
    assert limits and all(limits), "nor is git waited for"
    workplace.holdfast.write_text(
        f"#!/bin/sh\ncat {workplace.folder}/trend.json\nexec tail -f /dev/null >/dev/null\n"
    )
    assert "did not end for 0.1 s, and was stopped" in refusal(workplace.options(), capsys)


def test_a_command_whose_answer_is_refused_is_not_waited_for(workplace: Workplace) -> None:
    workplace.holdfast.write_text(
        f"#!/bin/sh\nhead -n 1 {workplace.folder}/trend.json\nprintf '{{\\n\\n'\nexec sleep 600\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "holdfast_report", *workplace.options()],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 2 and ":2: is not JSON" in done.stderr


def test_the_module_runs_from_a_shell(workplace: Workplace) -> None:
    package = str(Path(__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "holdfast_report", *workplace.options()],
        env=os.environ | {"PYTHONPATH": package},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip() == str(workplace.out / "index.html")


def test_an_empty_results_folder_is_told_with_the_command_that_fills_it(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = workplace.folder / "empty"
    (empty / HOST).mkdir(parents=True)
    said = refusal([f"--results={empty}", f"--out={workplace.out}"], capsys)
    assert "holds no results, no verdict and no profiles" in said and "holdfast run" in said
    assert not workplace.out.exists()


def test_a_copy_in_another_folder_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    workplace.measure("old", builders.host_results())
    said = refusal(workplace.options(), capsys)
    assert f"of the device class '{HOST}', and its folder says 'old'" in said


def test_a_copy_of_another_name_is_refused(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    builders.put(workplace.results / HOST / "cubed_sphere_swe (copy).json", builders.host_results())
    said = refusal(workplace.options(), capsys)
    assert "of the suite 'cubed_sphere_swe', and its name says 'cubed_sphere_swe (copy)'" in said


def test_the_folder_of_a_device_class_is_told_with_the_one_above_it(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refusal([f"--results={workplace.results / HOST}", f"--out={workplace.out}"], capsys)
    assert f"give the one above it: --results {workplace.results}\n" in said


@pytest.mark.parametrize("folder", [f"results/{HOST}", f"results/{HOST}/profiles", "baselines/policy"])
def test_a_folder_that_may_not_be_read_is_not_taken_for_an_empty_one(
    workplace: Workplace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    folder: str,
) -> None:
    assert main(workplace.options()) == 0
    capsys.readouterr()
    closed = workplace.folder / folder
    closed.mkdir(exist_ok=True)
    listed = os.listdir

    def refuse(path: Path) -> list[str]:
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied")
        return listed(path)

    monkeypatch.setattr(os, "listdir", refuse)
    assert f"{closed}: cannot be read (Permission denied)" in refusal(workplace.options(), capsys)
    assert not (workplace.out / "index.html").exists()


def test_an_interrupted_command_says_so_and_ends_by_the_signal(workplace: Workplace) -> None:
    workplace.holdfast.write_text("#!/bin/sh\nkill -INT $PPID\nexec sleep 600\n")
    done = subprocess.run(
        [sys.executable, "-m", "holdfast_report", *workplace.options()],
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == -signal.SIGINT
    assert done.stderr == "holdfast_report: interrupted; no file is left half written\n"


def test_a_file_in_place_of_a_folder_is_not_said_to_be_absent(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    file = builders.put(workplace.folder / "a_file", "{}")
    said = refusal([f"--results={file}", f"--out={workplace.out}"], capsys)
    assert f"{file} is no folder; give the results root" in said and "there is no" not in said
    said = refusal([*workplace.options(), f"--baselines={file}"], capsys)
    assert said == f"holdfast_report: {file} is no folder (--baselines)\n"


def test_a_verdict_alone_is_a_page(workplace: Workplace) -> None:
    alone = builders.put(workplace.folder / "alone" / "verdict.json", builders.verdict(3, [])).parent
    assert main([f"--results={alone}", f"--out={workplace.out}"]) == 0
    assert "incomplete" in workplace.page()


@pytest.mark.parametrize("given", ["--out=", ""])
def test_an_empty_value_is_refused_and_means_no_folder_of_ones_own(
    given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is empty" in refusal([given], capsys)


def test_a_name_that_is_no_utf8_is_refused_in_a_sentence(
    workplace: Workplace, capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"--out={workplace.out}" + os.fsdecode(b"\xff")
    assert "\\udcff: is no UTF-8" in refusal([f"--results={workplace.results}", out], capsys)
    assert not Path(out.removeprefix("--out=")).exists()


@pytest.mark.parametrize("asked", [["--help"], None])
def test_a_full_standard_output_is_told_in_a_sentence(
    workplace: Workplace, asked: list[str] | None
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast_report", *(asked or workplace.options())],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot write to the standard output" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
