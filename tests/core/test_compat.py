"""The first version's function names still work."""

from __future__ import annotations

import json

import apsw

from second_brain.compat import extract_sections, open_db, scan_vault


def test_a_vault_is_scanned_and_scanned_again(tmp_path):
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "a.md").write_text("---\ntags: [boat]\n---\n# Tide table\n\n## Reading it\n\nHigh water.\n")
    db = open_db(tmp_path / "index.db")

    assert scan_vault(db, vault) == {"processed": 1, "skipped": 0, "deleted": 0, "moved": 0}
    assert scan_vault(db, vault)["skipped"] == 1
    assert scan_vault(db, vault, reindex=True)["processed"] == 1
    stored = apsw.Connection(str(db)).execute("SELECT extracted FROM files").get
    assert json.loads(stored) == {"title": "Tide table", "tags": ["boat"], "h2s": ["Reading it"]}


def test_the_parts_of_a_text_are_what_the_index_stores():
    text = "---\ntags: [boat, tide]\n---\n# Tide table\n\n## One\n\n#inline\n\n## Two\n"

    assert extract_sections(text) == {"title": "Tide table", "tags": ["boat", "tide"], "h2s": ["One", "Two"]}
    assert extract_sections("plain") == {"title": "", "tags": [], "h2s": []}
