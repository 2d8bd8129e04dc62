"""The parts of the benchmarks that need no vault: figures, queries, the rendered page."""

from __future__ import annotations

import itertools
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

import measure
import queries
import report
import run
from stage import Stage

NOTES = {
    f"Workshop/lathe {number}.md": (
        f"# Turning a bowl {number}\n\nKeep the tool rest close and the chisel sharp, wood number {number} is oak.\n"
        "## Finishing with beeswax\n\nRub along the grain until the surface is warm.\n我们学习如何打磨木碗。\n"
    )
    for number in range(40)
}
_SYLLABLES = ("bal", "dor", "fen", "gul", "hes", "kir", "lom", "nup", "rav", "sot", "tiv", "wex")
NOTES |= {
    f"Words/{first}{second} {second}{first}.md": f"# {second}{first}{first}\n\nThe {first}{second}{first} {second}ing was {first}.\n"
    for first, second in itertools.permutations(_SYLLABLES, 2)
}


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([3.0], 0.95, 3.0),
        ([4.0, 1.0, 3.0, 2.0], 0.5, 2.0),
        ([float(number) for number in range(1, 101)], 0.95, 95.0),
        ([float(number) for number in range(1, 21)], 0.95, 19.0),
        ([5.0, 9.0], 1.0, 9.0),
        ([5.0, 9.0], 0.0, 5.0),
    ],
)
def test_a_percentile_is_the_nearest_rank(values, share, expected):
    assert measure.percentile(values, share) == expected


def test_a_spread_names_median_p95_largest_and_count():
    assert measure.spread([1.0, 2.0, 9.0], "again ") == {
        "again p50": 2.0,
        "again p95": 9.0,
        "again max": 9.0,
        "again n": 3.0,
    }


@pytest.mark.parametrize(
    ("ours", "target", "better", "met"),
    [(5.0, 6.0, "lower", True), (7.0, 6.0, "lower", False), (0.9, 0.98, "higher", False), (1.0, None, "lower", None)],
)
def test_a_row_knows_whether_its_target_is_met(ours, target, better, met):
    row = measure.Row("name", "what", "s", ours, target, better, yardstick=2.0)
    assert row.met is met
    assert row.ratio == ours / 2.0


def test_a_finished_process_tells_its_peak_its_time_and_its_output():
    code = "import time; held = bytearray(60_000_000); time.sleep(0.3); print('done')"
    cost = measure.finish([sys.executable, "-c", code], peak=True)
    assert cost.out == "done\n"
    assert cost.wall_s >= 0.3
    assert 0 < cost.cpu_s < 20
    assert cost.peak_mb >= 57


def test_a_failing_process_skips_the_figure_and_says_why():
    with pytest.raises(measure.Skipped, match="ended with 3: no such thing"):
        measure.finish([sys.executable, "-c", "import sys; sys.stderr.write('no such thing'); sys.exit(3)"])


def test_memory_of_a_process_is_read_from_proc():
    assert 0 < measure.memory_mb(os.getpid(), "Pss") <= measure.memory_mb(os.getpid(), "VmHWM") * 1.1
    assert measure.memory_mb(2**30, "VmHWM") == 0.0


def test_queries_are_many_different_and_the_same_for_the_same_notes():
    found = queries.derive(NOTES, count=60)
    assert found == queries.derive(dict(reversed(NOTES.items())), count=60)
    asked = [*found.plain, *found.warm_up, *found.quoted]
    assert len(found.plain) == 60
    assert len(found.quoted) == 20
    assert len(found.warm_up) == 10
    assert len(set(asked)) == len(asked)


def test_plain_queries_hold_no_signs_and_at_most_four_words():
    found = queries.derive(NOTES, count=60)
    assert all(word.isalnum() for query in found.plain for word in query.split())
    assert max(len(query.split()) for query in found.plain) == 4


def test_queries_have_typos_and_cjk_when_the_notes_do():
    found = queries.derive(NOTES, count=60)
    text = "".join(f"{path} {note}" for path, note in NOTES.items())
    assert any(query.isascii() and query not in text for query in found.plain)
    assert any("\u4e00" <= query[0] <= "\u9fff" for query in found.plain)


def test_quoted_pieces_stand_in_a_line_of_a_note():
    for query in queries.derive(NOTES, count=60).quoted:
        assert query[0] == query[-1] == '"'
        assert any(query[1:-1] in line for note in NOTES.values() for line in note.splitlines())


def _results(*rows, skipped=None):
    return {
        "machine": {"system": "Linux", "cpus": 2, "python": "3.11.2", "at": "2026-01-01 10:00"},
        "quick": False,
        "rows": [json.loads(json.dumps({**asdict(row), "ratio": row.ratio, "met": row.met})) for row in rows],
        "skipped": skipped or {},
    }


def test_the_page_has_one_line_a_figure_with_budget_yardstick_ratio_and_load():
    fast = measure.Row("a", "Index | all", "s", 4.2, 6.0, yardstick=1.1, yardstick_name="floor", load=(0.1, 1.25))
    poor = measure.Row("b", "Hits", "", 0.9, 0.98, "higher", spread={"p95": 12.34}, facts={"notes": 300})
    page = report.render(_results(fast, poor))
    assert "| Index \\| all | <= 6.00 s | 4.20 s | yes | 1.10 s (floor) | 3.82 | 0.1, 1.2 |" in page
    assert "| Hits | >= 0.980 | 0.900 | **no** |  |  | 0.0, 0.0 |" in page
    assert "- **Hits**: p95 12.3; notes: 300" in page
    assert "Not measured" not in page


def test_the_page_names_what_could_not_be_measured():
    page = report.render(_results(skipped={"best": "The vault is not here."}))
    assert "## Not measured\n\n- best: The vault is not here." in page


def test_report_writes_the_page_where_it_is_told(tmp_path):
    figures = tmp_path / "figures.json"
    figures.write_text(json.dumps(_results(measure.Row("a", "Words warm", "ms", 123.4))), encoding="utf-8")
    assert report.main([str(figures), str(tmp_path / "page.md")]) == 0
    assert "| Words warm |  | 123 ms |" in (tmp_path / "page.md").read_text("utf-8")


def test_a_benchmark_without_its_vault_is_skipped_with_a_sentence(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("stage.SHARED", tmp_path / "nowhere")
    results = {"rows": [], "skipped": {}}
    run.measure("again", Stage(tmp_path), results)
    assert results["rows"] == []
    assert "The vault medium-5k is not here" in results["skipped"]["again"]
    assert "again: skipped." in capsys.readouterr().out
