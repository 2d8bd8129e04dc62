"""Notes as they are on disk: read again when their file changed, and not otherwise."""

from __future__ import annotations

import os

import pytest

from second_brain.errors import NoteUnreadable
from second_brain.vault import notes_on_disk
from second_brain.vault.ignore import IgnoreRules
from second_brain.vault.notes_on_disk import NotesOnDisk
from second_brain.vault.redaction import Redaction
from second_brain.vault.vault import Vault


@pytest.fixture
def read(tmp_path, monkeypatch):
    """The notes of a folder, and the paths of the files that were read for them."""
    monkeypatch.setattr(notes_on_disk, "KEPT", 2)
    for name in "abc":
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nsecret {name}")
    vault = Vault(tmp_path, IgnoreRules(()))
    notes = NotesOnDisk(vault, Redaction(["secret"]), inline_tags=True)
    paths = []
    monkeypatch.setattr(vault, "read", lambda path, read=vault.read: paths.append(path) or read(path))
    return notes, paths


def test_the_notes_asked_for_last_are_kept(read):
    notes, paths = read
    for name in ("a", "b", "a", "c", "a", "b"):
        assert notes.outline(f"{name}.md").text == f"# {name}\n\n[redacted] {name}"
    assert paths == ["a.md", "b.md", "c.md", "b.md"]


def test_a_changed_or_deleted_file_is_noticed(read, tmp_path):
    notes, _ = read
    notes.outline("a.md")
    (tmp_path / "a.md").write_text("other text")
    assert notes.outline("a.md").text == "other text"
    assert notes.parsed("a.md").blocks
    (tmp_path / "a.md").unlink()
    assert notes.outline("a.md") is None
    assert notes.parsed("a.md") is None


def test_a_note_that_cannot_be_read_is_not_told_as_gone(read, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    notes, _ = read
    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(NoteUnreadable, match=r"a\.md.*Permission denied"):
        notes.parsed("a.md")
    assert notes.outline("a.md") is None
