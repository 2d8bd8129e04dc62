"""Another model or another layout is built beside the old one, which answers until the new one is complete."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crashing import CrashServer
from indexed_vault import IndexedVault
from second_brain.index import vectors
from second_brain.index.reader import open_reader
from second_brain.indexing.embed import BATCH
from second_brain.model import Layout, Scope
from second_brain.search.engine import search
from second_brain.search.request import from_arguments
from stub_embedder import StubEmbedder
from vaults import crash_notes

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path):
    return IndexedVault(tmp_path).write_all(crash_notes.as_bytes())


def ask(vault, query, ranking="best", **arguments):
    reader = open_reader(vault.db, Scope())
    try:
        return search(reader, from_arguments(query=query, ranking=ranking, now=NOW, **arguments), vault.tools())
    finally:
        reader.close()


def passages(vault):
    return sum(len(chunks) for chunks in vault.dump()["chunks"].values())


def stop_after(vault, batches):
    """A `should_stop` that lets so many batches pass."""
    most = vault.embedder.texts + batches * BATCH
    return lambda: vault.embedder.texts >= most


@pytest.mark.requirement("RG-10")
def test_another_model_is_built_beside_the_old_one_which_answers_until_it_is_complete(vault, tmp_path):
    vault.index()
    old, new = vault.embedder, StubEmbedder(24, "second")
    expected = ask(vault, "kitchen clock")
    vault.embedder = new
    vault.embed(stop_after(vault, 1))
    vault.embedder = old
    assert ask(vault, "kitchen clock") == expected
    with vault.reader() as reader:
        assert {(model.fingerprint, model.state) for model in vectors.models(reader)} == {
            (old.fingerprint, "active"),
            (new.fingerprint, "building"),
        }
    vault.embedder = new
    report = vault.embed()
    assert report.embedded == passages(vault) - BATCH
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")
    assert ask(vault, "kitchen clock", "meaning").hits


@pytest.mark.requirement("RG-10")
def test_notes_that_change_while_a_model_is_built_come_out_right(vault, tmp_path):
    vault.index()
    vault.embedder = StubEmbedder(24, "second")
    vault.embed(stop_after(vault, 1))
    vault.write("latin.md", "changed on the way")
    (vault.root / "Areas/Home/lantern repair 1.md").rename(vault.root / "moved.md")
    (vault.root / "broken.md").unlink()
    vault.index()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_going_back_to_the_old_model_half_way_embeds_nothing_and_leaves_nothing(vault, tmp_path):
    vault.index()
    old = vault.embedder
    made = old.texts
    vault.embedder = StubEmbedder(24, "second")
    vault.embed(stop_after(vault, 1))
    vault.embedder = old
    vault.index()
    assert old.texts == made
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def switched(vault, embedder, layout):
    """How many texts a switch to *embedder* embeds."""
    before = embedder.texts
    vault.embedder, vault.layout = embedder, layout
    vault.index()
    return embedder.texts - before


@pytest.mark.requirement("RG-10")
def test_switching_back_to_the_former_model_embeds_only_what_changed_meanwhile(vault, tmp_path):
    first, second = (vault.embedder, vault.layout), (StubEmbedder(24, "second"), Layout(25, 5))
    vault.index()
    assert switched(vault, *second) > 0
    vault.sync()  # prunes
    assert switched(vault, *first) == 0
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")
    assert ask(vault, "kitchen clock", "meaning").hits
    assert switched(vault, *second) == 0
    vault.write("latin.md", "changed on the way")
    assert switched(vault, *second) == 1
    assert switched(vault, *first) == 1
    assert vault.dump() == vault.fresh_dump(tmp_path / "again")


def test_one_former_model_is_kept_and_no_more(vault):
    first = (vault.embedder, vault.layout)
    vault.index()
    for name in ("second", "third"):
        switched(vault, StubEmbedder(24, name), vault.layout)
    with vault.writer() as writer:
        kept = {
            (fingerprint, state)
            for fingerprint, state in writer.connection.execute(
                "SELECT fingerprint, state FROM models WHERE id IN (SELECT model FROM vectors)"
            )
        }
        assert writer.connection.execute("SELECT count(DISTINCT model) FROM vectors").get == 2
    assert kept == {("stub:third:24", "active"), ("stub:second:24", "former")}
    assert switched(vault, *first) > 0


@pytest.mark.requirement("RG-13")
def test_the_vectors_of_the_former_model_go_with_the_texts_that_must_not_be_stored(vault):
    from second_brain.vault.redaction import Redaction

    vault.index()
    switched(vault, StubEmbedder(24, "second"), vault.layout)
    vault.redact = Redaction(("kitchen",))
    vault.index()
    with vault.writer() as writer:
        assert writer.connection.execute("SELECT count(*) FROM vectors WHERE chunk IS NULL").get == 0


def test_a_third_model_puts_a_half_built_one_aside(vault, tmp_path):
    vault.index()
    vault.embedder = StubEmbedder(24, "second")
    vault.embed(stop_after(vault, 1))
    vault.embedder = StubEmbedder(8, "third")
    vault.embed()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


@pytest.mark.requirement("RG-10")
def test_another_layout_is_built_beside_the_old_one_which_answers_until_it_is_complete(vault, tmp_path):
    vault.index()
    expected = ask(vault, "kitchen clock", "meaning")
    best = ask(vault, "kitchen clock")
    vault.layout = Layout(25, 5)
    vault.embed(stop_after(vault, 2))
    vault.sync()
    assert ask(vault, "kitchen clock", "meaning") == expected
    assert ask(vault, "kitchen clock") == best
    vault.index()
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")


def test_another_layout_embeds_only_the_passages_that_differ(vault):
    vault.index()
    made = vault.embedder.texts
    same = {row[-1] for rows in vault.dump()["chunks"].values() for row in rows}
    vault.layout = Layout(25, 5)
    vault.index()
    other = [row[-1] for rows in vault.dump()["chunks"].values() for row in rows]
    assert vault.embedder.texts - made <= len([text_hash for text_hash in other if text_hash not in same])


def test_the_same_fingerprint_with_another_dimension_starts_anew(vault, tmp_path):
    vault.index()
    vault.embedder = StubEmbedder(24)
    vault.embedder.fingerprint = StubEmbedder(16).fingerprint
    vault.embed()
    with vault.reader() as reader:
        assert vectors.active_model(reader).dim == 24
        assert vectors.embedded(reader, vectors.active_model(reader))[0] == passages(vault)


@pytest.mark.slow
@pytest.mark.requirement("RG-10")
def test_a_switch_killed_at_random_resumes_where_it_stopped(vault, tmp_path):
    vault.index()
    vault.embedder = StubEmbedder(24, "second")
    with CrashServer() as server:
        for moment in (0.05, 0.1, 0.02, 0.08):
            server.run("embed", vault, kill_after=moment, embedder="second")
    done = len({key for key in vault.dump()["vectors"] if key[0] == vault.embedder.fingerprint})
    vault.embed()
    assert vault.embedder.texts <= passages(vault) - done
    assert vault.dump() == vault.fresh_dump(tmp_path / "fresh")
