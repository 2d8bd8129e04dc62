"""A file that was never an index is not moved, locked, opened or replaced, whatever command names it."""

from __future__ import annotations

import pytest

from second_brain.config import load
from second_brain.errors import IndexUnavailable
from second_brain.service import SecondBrain


@pytest.mark.requirement("RG-16")
@pytest.mark.parametrize("mode", ["incremental", "full"])
@pytest.mark.parametrize("content", [b"thesis\n", b"\x89PNG\r\n\x1a\n", b"SQLite format 2", b"x" * 100_000])
def test_a_file_that_is_no_index_is_left_as_it_is(tmp_path, mode, content):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("heron\n")
    beside = tmp_path / "beside"
    beside.mkdir()
    foreign = beside / "thesis.txt"
    foreign.write_bytes(content)
    brain = SecondBrain(load(flags={"db_path": str(foreign)}, env={}, vault=str(vault)))
    with pytest.raises(IndexUnavailable, match="not a Second Brain index") as caught:
        brain.sync(mode, embed=False)
    assert "--db" in caught.value.hint
    assert foreign.read_bytes() == content
    assert [each.name for each in beside.iterdir()] == ["thesis.txt"]


def test_an_empty_file_may_become_an_index(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("heron\n")
    (tmp_path / "made").touch()
    brain = SecondBrain(load(flags={"db_path": str(tmp_path / "made")}, env={}, vault=str(vault)))
    assert brain.sync(embed=False).notes.processed == 1


def test_a_damaged_index_that_is_moved_is_told(tmp_path, caplog):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("heron\n")
    db = tmp_path / "index.db"
    db.write_bytes(b"garbage " * 2_000)
    brain = SecondBrain(load(flags={"db_path": str(db)}, env={}, vault=str(vault)))
    assert brain.sync("full", embed=False).notes.processed == 1
    assert "is kept as index.db.damaged-" in caplog.text
