"""A reader with an overlay sees what it would see if the vault had just been indexed."""

from __future__ import annotations

import random
from contextlib import closing

import apsw
import pytest

from indexed_vault import LAYOUT, IndexedVault
from second_brain.errors import NotFound, VaultUnavailable
from second_brain.index import catalog, exact
from second_brain.index.reader import open_reader
from second_brain.index.resolve import resolve
from second_brain.indexing import freshness as freshnesses
from second_brain.indexing.freshness import Freshness
from second_brain.indexing.preparing import Rules
from second_brain.model import Scope
from second_brain.network import network_of

SCOPES = {
    "vault": Scope(),
    "folder": Scope(folders=("log",)),
    "tag": Scope(tags=("boat",)),
    "without": Scope(excluded=("log",)),
}
WORDS = ["boat", "sail", "oar", "harbour", "日本", "Ünder"]
NAMES = ["a.md", "b.md", "log/a.md", "log/c.md", "log/deep/d.md", "other/Ünder.md"]


def _text(rng):
    words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 8)))
    head = (
        f"---\naliases: [{rng.choice(WORDS)}]\ntags: [{rng.choice(['boat', 'sail'])}]\n---\n"
        if rng.random() < 0.5
        else ""
    )
    return f"{head}# {rng.choice(WORDS)}\n\n{words} [[{rng.choice(NAMES)[:-3]}]] [[{rng.choice(WORDS)}#x]] #{rng.choice(['boat', 'oar'])}\n"


def _edit(rng, vault):
    there = sorted(vault.root.rglob("*.md"))
    path = vault.root / rng.choice(NAMES)
    path.parent.mkdir(parents=True, exist_ok=True)
    kind = rng.random()
    if kind < 0.6 or not there:
        path.write_text(_text(rng), "utf-8")
    elif kind < 0.8:
        rng.choice(there).unlink()
    else:
        rng.choice(there).rename(path)


def _freshness(vault):
    return Freshness(vault.db, vault.vault, Rules(vault.redact, LAYOUT))


def _seen(reader):
    """Everything of the notes that can be asked for, without their numbers."""
    with reader.snapshot():
        network = network_of(reader)
        paths = sorted(catalog.paths(reader))
        rows = {path: catalog.note_at(reader, path) for path in paths}
        return {
            "notes": [(row.path, row.title, row.content_hash, row.size, row.words) for row in rows.values()],
            "tags": catalog.tags_of(reader, paths),
            "counts": catalog.tag_counts(reader),
            "folders": catalog.folder_counts(reader),
            "properties": sorted(catalog.property_examples(reader, 20)),
            "aliases": catalog.aliases(reader),
            "headings": {path: catalog.headings(reader, row.doc) for path, row in rows.items()},
            "links": [(link[:5], target) for link, target in network.everything()],
            "backlinks": {path: [link[:5] for link in network.links_to(path)] for path in paths},
            "exact": {word: exact.holders(reader, f" {word} ").tolist() for word in WORDS},
            "words": {word: sorted(reader.occurrences(word.casefold())[0].tolist()) for word in WORDS},
        }


@pytest.mark.requirement("SV-11")
@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
@pytest.mark.parametrize("seed", range(4))
def test_what_changed_since_the_sync_is_seen_as_after_one(tmp_path, seed, scope):
    rng = random.Random(seed)
    vault = IndexedVault(tmp_path / "old")
    for _ in range(6):
        _edit(rng, vault)
    vault.sync()
    with closing(_freshness(vault)) as freshness, closing(open_reader(vault.db, scope)) as reader:
        for step in range(6):
            for _ in range(rng.choice((0, 1, 1, 3))):
                _edit(rng, vault)
            reader.lay_over(freshness.overlay(scope)[0])
            new = IndexedVault(tmp_path / f"new{step}")
            new.root = vault.root
            new.sync()
            with closing(open_reader(new.db, scope)) as expected:
                assert _seen(reader) == _seen(expected)
            if rng.random() < 0.3:
                vault.sync()


@pytest.fixture
def two(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({"log/in.md": "#boat [[out]]\n", "out.md": "secret\n"})
    vault.sync()
    return vault


@pytest.mark.requirement("FR-40")
def test_an_overlay_shows_nothing_outside_of_the_scope(two):
    two.write("out.md", "changed secret [[in]]\n")
    two.write("fresh.md", "new secret\n")
    scope = Scope(folders=("log",))
    with closing(_freshness(two)) as freshness:
        overlay, _ = freshness.overlay(scope)
        assert overlay is None
        whole, _ = freshness.overlay(Scope())
    with closing(open_reader(two.db, scope)) as reader:
        reader.lay_over(whole)
        with reader.snapshot():
            assert catalog.paths(reader) == ["log/in.md"]
            for table in ("files", "texts", "links", "tags", "hidden"):
                with pytest.raises(apsw.AuthError):
                    reader.connection.execute(f"SELECT * FROM fresh.{table}").fetchall()
            with pytest.raises(NotFound) as refused:
                resolve(reader, "fresh")
            assert not refused.value.options


def test_a_note_that_cannot_be_read_stays_as_it_was(two, monkeypatch):
    two.write("out.md", "changed\n")
    monkeypatch.setattr("second_brain.vault.vault.MAX_NOTE_BYTES", 3)
    with closing(_freshness(two)) as freshness, closing(open_reader(two.db, Scope())) as reader:
        overlay, left = freshness.overlay(Scope())
        assert (overlay, left) == (None, 0)
        reader.lay_over(overlay)
        with reader.snapshot():
            assert catalog.note_at(reader, "out.md") is not None


def test_more_changes_than_can_be_read_are_counted(two, monkeypatch):
    monkeypatch.setattr(freshnesses, "MOST", 1)
    two.write("out.md", "changed\n")
    two.write("new.md", "new\n")
    (two.root / "log/in.md").unlink()
    with closing(_freshness(two)) as freshness, closing(open_reader(two.db, Scope())) as reader:
        overlay, left = freshness.overlay(Scope())
        assert left == 2
        reader.lay_over(overlay)
        with reader.snapshot():
            assert catalog.paths(reader) == ["out.md"]


def test_unchanged_notes_are_read_no_second_time(two, monkeypatch):
    read = []
    vault_of = two.vault

    def counting():
        vault = vault_of()
        original = vault.read
        vault.read = lambda path: (read.append(path), original(path))[1]
        return vault

    with closing(Freshness(two.db, counting, Rules(two.redact, LAYOUT))) as freshness:
        assert freshness.overlay(Scope()) == (None, 0)
        two.write("new.md", "new\n")
        first = freshness.overlay(Scope())
        assert freshness.overlay(Scope()) == first
        two.write("newer.md", "newer\n")
        assert freshness.overlay(Scope())[0].notes == {"new.md", "newer.md"}
    assert read == ["new.md", "newer.md"]


def test_a_vault_that_is_away_is_told(two):
    two.root.rename(two.root.parent / "away")
    with closing(_freshness(two)) as freshness, pytest.raises(VaultUnavailable):
        freshness.overlay(Scope())
