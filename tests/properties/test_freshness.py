"""A reader with an overlay sees what it would see if the vault had just been indexed."""

from __future__ import annotations

import random
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import apsw
import pytest

from indexed_vault import LAYOUT, IndexedVault
from second_brain.errors import NotFound, NotRedacted, OutOfDate, VaultUnavailable
from second_brain.graph.queries import related_notes
from second_brain.graph.settings import Settings
from second_brain.index import catalog, exact
from second_brain.index.reader import open_reader
from second_brain.index.resolve import resolve
from second_brain.indexing import freshness as freshnesses
from second_brain.indexing.freshness import Freshness
from second_brain.indexing.preparing import Rules
from second_brain.model import Layout, Scope
from second_brain.network import network_of
from second_brain.vault.redaction import Redaction
from stub_embedder import StubEmbedder

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


def _freshness(vault, scope=Scope()):  # noqa: B008 - frozen
    return Freshness(vault.db, scope, vault.vault, Rules(vault.redact, LAYOUT))


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
    with closing(_freshness(vault, scope)) as freshness, closing(open_reader(vault.db, scope)) as reader:
        for step in range(6):
            for _ in range(rng.choice((0, 1, 1, 3))):
                _edit(rng, vault)
            freshness.lay_over(reader)
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


@contextmanager
def _seen_by(freshness, vault, scope=Scope()):  # noqa: B008 - frozen
    """A reader after a look, and the look."""
    with closing(freshness), closing(open_reader(vault.db, scope)) as reader:
        look = freshness.lay_over(reader)
        with reader.snapshot():
            yield reader, look


@pytest.mark.requirement("FR-40")
def test_an_overlay_shows_nothing_outside_of_the_scope(two):
    two.write("out.md", "changed secret [[in]]\n")
    two.write("fresh.md", "new secret\n")
    with _seen_by(_freshness(two), two, Scope(folders=("log",))) as (reader, _):
        assert catalog.paths(reader) == ["log/in.md"]
        for table in ("files", "texts", "links", "tags", "hidden", "moved"):
            with pytest.raises(apsw.AuthError):
                reader.connection.execute(f"SELECT * FROM fresh.{table}").fetchall()
        with pytest.raises(NotFound) as refused:
            resolve(reader, "fresh")
        assert not refused.value.options


@pytest.mark.requirement("NFR-5")
@pytest.mark.parametrize(
    "scope",
    [Scope(folders=("log",)), Scope(excluded=("out",)), Scope(tags=("boat",))],
    ids=["folder", "without", "tag"],
)
def test_changes_outside_of_the_scope_neither_count_nor_hide_those_inside(two, scope, monkeypatch):
    monkeypatch.setattr(freshnesses, "MOST", 3)
    two.write_all({f"out/{number}.md": "new outside\n" for number in range(9)})
    two.write("out.md", "#other\n")
    two.write("log/in.md", "#boat and sail\n")
    with _seen_by(_freshness(two, scope), two, scope) as (reader, look):
        assert look.left == 0
        assert catalog.note_at(reader, "log/in.md").words == 3


def test_a_note_that_cannot_be_read_stays_as_it_was_and_is_tried_again(two, monkeypatch):
    two.write("out.md", "changed\n")
    monkeypatch.setattr("second_brain.vault.vault.MAX_NOTE_BYTES", 3)
    freshness = _freshness(two)
    with _seen_by(freshness, two) as (reader, look):
        assert look.left == 0
        assert "secret" in exact_text(reader, "out.md")
    monkeypatch.undo()
    with _seen_by(freshness, two) as (reader, _):
        assert exact_text(reader, "out.md") == "changed\n"


def exact_text(reader, path):
    return catalog.text_of(reader, catalog.note_at(reader, path).doc)


def test_more_changes_than_can_be_read_are_counted(two, monkeypatch):
    monkeypatch.setattr(freshnesses, "MOST", 1)
    two.write("out.md", "changed\n")
    two.write("new.md", "new\n")
    (two.root / "log/in.md").unlink()
    with _seen_by(_freshness(two), two) as (reader, look):
        assert look.left == 2
        assert sorted(catalog.paths(reader)) == ["log/in.md", "out.md"]  # all is told as it was
        assert exact_text(reader, "out.md") == "secret\n"


def test_unchanged_notes_are_read_no_second_time(two, monkeypatch):
    read = []
    vault_of = two.vault

    def counting():
        vault = vault_of()
        original = vault.read
        vault.read = lambda path: (read.append(path), original(path))[1]
        return vault

    freshness = Freshness(two.db, Scope(), counting, Rules(two.redact, LAYOUT))
    for path in ("new.md", "new.md", "newer.md"):
        two.write(path, "new\n", mtime=1_700_000_000)
        with _seen_by(freshness, two) as (reader, _):
            assert reader.edited >= {path}
    assert read == ["new.md", "newer.md"]


def test_a_file_that_was_only_touched_is_as_it_was(two):
    two.write("out.md", "secret\n", mtime=1_700_000_000)
    with _seen_by(_freshness(two), two) as (reader, _):
        assert reader.edited == frozenset()
        assert reader.databases == ("main",)


@pytest.mark.requirement("RG-13")
def test_what_must_not_be_shown_any_more_is_not_shown_before_the_sync_that_forgets_it(two, monkeypatch):
    two.redact = Redaction(["sec.et"])
    with _seen_by(_freshness(two), two) as (reader, _):
        assert "secret" not in exact_text(reader, "out.md")
    monkeypatch.setattr(freshnesses, "MOST", 1)
    with closing(_freshness(two)) as freshness, closing(open_reader(two.db, Scope())) as reader:
        with pytest.raises(OutOfDate) as told:
            freshness.lay_over(reader)
        assert "sync" in told.value.hint


def test_a_note_whose_redaction_fails_is_not_shown(two, monkeypatch):
    def fail(self, text):
        raise NotRedacted("The pattern takes too long.", hint="Make it simpler.")

    two.redact = Redaction(["sec.et"])
    monkeypatch.setattr(Redaction, "apply", fail)
    with _seen_by(_freshness(two), two) as (reader, _):
        assert catalog.paths(reader) == []


@pytest.mark.requirement("RG-17")
def test_a_moved_note_keeps_its_meaning(tmp_path):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(8))
    vault.write_all({"a.md": "boat sail oar", "b.md": "boat sail", "c.md": "stove"}).index().graph()
    (vault.root / "a.md").rename(vault.root / "ship.md")
    with _seen_by(_freshness(vault), vault) as (reader, _):
        found = related_notes(reader, Settings(), "ship")
        assert [one.path for one in found.neighbours] == ["b.md"]
        assert found.warnings == ()
    vault.write("b.md", "stove and lamp")
    with _seen_by(_freshness(vault), vault) as (reader, _):
        assert "similar text is that of before" in related_notes(reader, Settings(), "b").warnings[0]


def test_boilerplate_stays_boilerplate_in_a_note_that_was_edited(tmp_path):
    footer = "\n\n## Template\n\n" + "What went well and what did not go so well on this day of the year.\n" * 2
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(32), layout=Layout(200, 0))
    vault.write_all(
        {f"{word}.md": f"{word} {word[::-1]}{footer}" for word in (*WORDS, "lamp", "stove")}
    ).index().graph()
    scope = Scope(excluded=("nowhere",))
    for word in ("boat", "sail", "oar"):
        vault.write(f"{word}.md", f"{word} {word[::-1]} again{footer}")
    with _seen_by(_freshness(vault, scope), vault, scope) as (reader, _):
        for word in ("boat", "harbour"):
            assert [one.path for one in related_notes(reader, Settings(), word).neighbours] == []


def test_a_look_is_never_undone_by_an_earlier_one(two):
    """Of many threads that look and ask each sees at least what was there before it looked."""
    freshness = _freshness(two)
    failed = []

    def ask(reader):
        for _ in range(40):
            there = len(list(two.root.glob("n*.md")))
            freshness.lay_over(reader)
            with reader.snapshot():
                seen = sum(path.startswith("n") for path in catalog.paths(reader))
            if seen < there:
                failed.append((seen, there))

    with closing(freshness), closing(open_reader(two.db, Scope())) as reader, ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(ask, reader) for _ in range(3)]
        for number in range(60):
            two.write(f"n{number}.md", "x")
        for one in asked:
            one.result()
    assert failed == []


def test_a_vault_that_is_away_is_told(two):
    two.root.rename(two.root.parent / "away")
    freshness = _freshness(two)
    with closing(freshness), closing(open_reader(two.db, Scope())) as reader, pytest.raises(VaultUnavailable):
        freshness.lay_over(reader)


def test_an_emptied_vault_is_taken_for_one_that_is_away(tmp_path):
    vault = IndexedVault(tmp_path).write_all({f"{number}.md": "x" for number in range(6)})
    vault.sync()
    shutil.rmtree(vault.root)
    vault.root.mkdir()
    with closing(_freshness(vault)) as freshness, closing(open_reader(vault.db, Scope())) as reader:
        with pytest.raises(VaultUnavailable) as told:
            freshness.lay_over(reader)
        assert "sync" in told.value.hint
