# SPDX-License-Identifier: Apache-2.0
"""What got worse and since when, where a reader looks first."""

import base64
import json
import re
import subprocess
import zlib
from pathlib import Path

import builders
import pytest
from builders import HOST, STEP, Workplace
from holdfast_report.cells import Branch, Share, Table
from holdfast_report.command import main
from holdfast_report.folding import Folded
from holdfast_report.run_line import Past, branch_of
from markupsafe import Markup
from page_reader import Reader

REPOSITORY = "https://git.example/owner/name"
SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def page(workplace: Workplace, monkeypatch: pytest.MonkeyPatch) -> str:
    """Slower since the seventh commit of the history, whose subject the store knows."""
    monkeypatch.setenv("GITHUB_HEAD_REF", "fuse-the-stages")
    run = {
        "run": 1, "commit": {"name": f"{7:040x}", "subject": "Launch once more", "parent": "f" * 40},
    }
    builders.put(workplace.store / HOST / "2026.ndjson", json.dumps(run, separators=(",", ":")) + "\n")
    trend = builders.trend()
    fell = trend["series"][0]
    fell["change_points"][0] |= {"before": 12.0, "after": 10.0, "change": -1 / 6}
    workplace.answer(trend)
    worse = builders.row(
        "REGRESSION", device_class=HOST, variant="case", metric="speedup", kind="ratio", value=10.1,
        baseline=12.0, change=-0.16, limit=-0.05, sentence=f"{STEP} on {HOST}: speedup fell",
    )
    noisy = builders.row("NOISY", blocking=False, metric="peak_bytes")
    workplace.judge(builders.verdict(1, [worse, builders.row("REGRESSION"), noisy]))
    assert main([*workplace.options(), f"--repository={REPOSITORY}"]) == 0
    return workplace.page()


def test_the_first_lines_say_commit_branch_date_devices_and_how_much_blocks(page: str) -> None:
    words = Reader(page).words
    first = words[: words.index("What failed, and why")]
    assert f"{SHA[:10]} on fuse-the-stages 2026-11-21 12:00 UTC" in first
    assert "cuda-dry-sm_90" in first and HOST in first
    assert "2 block, 1 warn" in first
    assert f'href="{REPOSITORY}/commit/{SHA}"' in page


def test_a_failure_says_since_which_commit_with_its_subject_and_page(page: str) -> None:
    words = Reader(page).words
    assert "speedup fell, since 00000000 Launch once more (2026-11-07), measured before it: 00000000" in words
    assert f'href="{REPOSITORY}/commit/{7:040x}"' in page


def test_a_failure_whose_value_is_not_that_of_the_last_level_says_no_commit(page: str) -> None:
    words = Reader(page).words
    said = words[words.index("launches rose from 4 to 5") :]
    assert not said.startswith("launches rose from 4 to 5, since")


def test_a_panel_names_the_commit_under_its_step_and_links_it(page: str) -> None:
    panel = page[page.index('id="trends"') :]
    assert re.search(rf'<a href="{REPOSITORY}/commit/{7:040x}".*?<text[^>]*>0000000', panel, re.DOTALL)


def test_each_case_has_an_address_and_parts_of_the_page_know_their_case(page: str) -> None:
    assert re.search(r'<tr id="case-cubed_sphere_swe_rk4_step_n_48_f64" data-case="[^"]*n:48/f64" data-name="', page)
    assert re.search(rf'<article class="finding bad" data-name="{STEP} ', page)
    assert re.search(rf'<figure class="panel" data-name="{STEP} ', page)


def test_dots_of_a_panel_cost_few_letters(workplace: Workplace) -> None:
    def size(count: int) -> int:
        values = [10.0 + (number % 7) / 10 for number in range(count)]
        series = builders.series("speedup", values[:30], variant="case")
        point = series["points"][0]
        series["points"] = [point | {"order": at + 1, "value": v} for at, v in enumerate(values)]
        workplace.answer(builders.trend() | {"series": [series]})
        assert main(workplace.options()) == 0
        return len(workplace.page())

    assert size(500) - size(100) < 400 * 16
    (panel,) = re.findall(r"<figure.*?</figure>", workplace.page(), re.DOTALL)
    assert panel.count("h0") == 100, "and each is drawn"


def test_a_tree_with_changes_is_no_commit_and_what_blocks_is_no_warning(workplace: Workplace) -> None:
    for place, document in ((HOST, builders.host_results()), (builders.DRY, builders.dry_results())):
        document["run"]["git"]["dirty"] = True
        workplace.measure(place, document)
    rows = [builders.row("NOISY", blocking=True), builders.row("ENV", metric="a"), builders.row("IMPROVED", metric="b")]
    workplace.judge(builders.verdict(4, rows))
    assert main([*workplace.options(), f"--repository={REPOSITORY}"]) == 0
    words = Reader(workplace.page()).words
    first = words[: words.index("What failed")]
    assert f"{SHA[:10]} with changes" in first and "1 block, 1 warn" in first
    assert f"{REPOSITORY}/commit/{SHA}" not in workplace.page()


def test_a_content_has_no_page_in_a_repository() -> None:
    assert Past("https://x/").address("sha256:" + "a" * 64) is None
    assert Past("https://x/").address(SHA) == f"https://x/{SHA}"
    assert Past().address(SHA) is None


def test_notes_do_not_push_what_failed_off_the_screen(workplace: Workplace) -> None:
    notes = [f"note {number}" for number in range(5)]
    workplace.judge(builders.verdict(1, [builders.row("REGRESSION")]) | {"notes": notes})
    assert main(workplace.options()) == 0
    page = workplace.page()
    folded = page[page.index("<summary>2 more notes") :]
    assert "note 3" in folded and "note 2" not in folded


def test_what_is_folded_stands_in_one_block_with_each_text_of_a_table_once() -> None:
    folded = Folded()
    table = Table(("a", "b"), [("x</script>", Share(0.5, "x")), (Branch(2, "x"), "b")])
    assert (folded.add(table), folded.add(table)) == (0, 1)
    assert folded.piece(Markup("<p>y</p>")) == 0
    block = folded.block()
    assert "<" not in block
    said = json.loads(zlib.decompress(base64.b64decode(block)))
    assert said["texts"] == ["a", "b", "x</script>", "x"]
    assert said["tables"][0] == [1, [0, 1], [[2, ["share", 50.0, 3]], [["branch", 2, 3], 1]]]
    assert said["pieces"] == ["<p>y</p>"]


def test_the_branch_is_what_ci_says_or_git_of_the_commit_checked_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_HEAD_REF", raising=False)
    monkeypatch.setenv("GITHUB_REF_NAME", "main")
    assert branch_of(SHA) == "main"
    monkeypatch.delenv("GITHUB_REF_NAME")
    monkeypatch.chdir(tmp_path)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example"]
    subprocess.run([*git, "init", "-q", "-b", "trunk"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    said = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert branch_of(said.stdout.strip()) == "trunk"
    assert branch_of(SHA) is None, "git speaks of another commit"
    subprocess.run(["git", "branch", "-q", "-m", b"caf\xe9"], check=True)
    assert branch_of(said.stdout.strip()) == r"caf\xe9"
