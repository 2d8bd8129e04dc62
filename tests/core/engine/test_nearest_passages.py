"""The nearest passages, exact and through the sketch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.index import sketch, vectors
from second_brain.model import Scope
from stub_embedder import StubEmbedder

DICE = random.Random(99)
TEXTS = {
    f"{'AB'[number % 2]}/{number:03}.md": " ".join(f"w{each}" for each in DICE.choices(range(300), k=12))
    for number in range(500)
}


@pytest.fixture(scope="module")
def many(open_desk):
    return open_desk(TEXTS, embedder=StubEmbedder(96))


def plain_passages(embedder, query, folder):
    """(negative cosine, path) of the notes of a folder, each of which is one passage, nearest first."""
    vectors_of = {path: embedder.embed_query(text) for path, text in TEXTS.items() if path.startswith(folder)}
    return sorted((-float(vector.astype(float) @ query.astype(float)), path) for path, vector in vectors_of.items())


@pytest.mark.parametrize("folder", ["", "B/"])
@pytest.mark.parametrize("rescored", [None, 300])
@pytest.mark.parametrize("through_sketch", [False, True])
def test_the_nearest_passages_are_those_of_a_plain_ranker_with_and_without_the_sketch(
    many, monkeypatch, folder, rescored, through_sketch
):
    if through_sketch:
        monkeypatch.setattr(vectors, "SKETCH_ABOVE", 100)
    if rescored:
        monkeypatch.setattr(sketch, "LEAST_RESCORED", rescored)
    with many.reader.snapshot():
        model = vectors.active_model(many.reader)
        paths = [path for (path,) in many.reader.connection.execute("SELECT path FROM files ORDER BY path")]
        allowed = np.array([path.startswith(folder) for path in paths]) if folder else None
        for word in ("w1", "w2", "w3", "w4", "w5", "w6"):
            query = many.vault.embedder.embed_query(f"{word} w7")
            found = vectors.nearest(many.reader, model, query, allowed=allowed, limit=5)
            expected = plain_passages(many.vault.embedder, query, folder)[:5]
            assert [paths[passage.place] for passage in found] == [path for _, path in expected]
            assert [passage.cosine for passage in found] == pytest.approx([-minus for minus, _ in expected], abs=1e-5)


def test_the_sketch_follows_the_index(open_desk, monkeypatch, tmp_path):
    monkeypatch.setattr(vectors, "SKETCH_ABOVE", 3)
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all(
        {f"{number}.md": f"A heron, number {number}." for number in range(12)}
    )
    vault.index()
    desk = open_desk(None, vault=vault)
    desk.ask("a quaint samovar")
    vault.write("new.md", "A quaint samovar.")
    (vault.root / "0.md").unlink()
    vault.index()
    found = desk.paths("a quaint samovar", top_k=50)
    assert found[0] == "new.md"
    assert "0.md" not in found


@pytest.mark.parametrize("through_sketch", [False, True])
def test_the_nearest_passages_of_a_scope_are_as_many_as_without_the_notes_outside(
    open_desk, many, monkeypatch, through_sketch
):
    if through_sketch:
        monkeypatch.setattr(vectors, "SKETCH_ABOVE", 100)
    scoped = open_desk(None, vault=many.vault, scope=Scope(folders=("A",)))
    query = many.vault.embedder.embed_query("w8 w9")
    with scoped.reader.snapshot():
        model = vectors.active_model(scoped.reader)
        paths = [path for (path,) in scoped.reader.connection.execute("SELECT path FROM files ORDER BY path")]
        found = vectors.nearest(scoped.reader, model, query, allowed=None, limit=20)
    expected = plain_passages(many.vault.embedder, query, "A/")[:20]
    assert [paths[passage.place] for passage in found] == [path for _, path in expected]


@pytest.mark.parametrize("folder", ["", "B/"])
@pytest.mark.parametrize("through_sketch", [False, True])
def test_equally_near_passages_are_cut_by_path_whatever_order_they_were_indexed_in(
    open_desk, monkeypatch, tmp_path, folder, through_sketch
):
    if through_sketch:
        monkeypatch.setattr(vectors, "SKETCH_ABOVE", 3)
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64))
    for number in (5, 3, 1, 4, 0, 2):
        vault.write(f"{'AB'[number % 2]}/{number}.md", "The same words everywhere.")
        vault.index()
    desk = open_desk(None, vault=vault)
    with desk.reader.snapshot():
        model = vectors.active_model(desk.reader)
        paths = [path for (path,) in desk.reader.connection.execute("SELECT path FROM files ORDER BY path")]
        allowed = np.array([path.startswith(folder) for path in paths]) if folder else None
        query = vault.embedder.embed_query("the same words")
        found = vectors.nearest(desk.reader, model, query, allowed=allowed, limit=2)
    assert [paths[passage.place] for passage in found] == [path for path in paths if path.startswith(folder)][:2]


def test_an_extended_sketch_is_that_of_a_fresh_reader_and_reads_only_new_vectors(open_desk, monkeypatch, tmp_path):
    monkeypatch.setattr(vectors, "SKETCH_ABOVE", 3)
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all(
        {f"{number:02}.md": f"A heron, number {number}." for number in range(40)}
    )
    vault.index()
    desk = open_desk(None, vault=vault)
    desk.ask("a heron")
    (vault.root / "39.md").unlink()  # its chunk number is free again
    (vault.root / "00.md").unlink()
    vault.write("05.md", "An otter instead.")
    vault.write("new.md", "A quaint samovar.")
    vault.index()
    read = []
    vectors_of = sketch._vectors
    monkeypatch.setattr(sketch, "_vectors", lambda *given: read.append(len(given[3])) or vectors_of(*given))
    desk.ask("a heron")
    assert sum(read) == 2
    extended = sketch._SKETCHES[desk.reader]
    fresh = open_desk(None, vault=vault)
    fresh.ask("a heron")
    assert sum(read) > 2 + 39
    (one,), (other,) = extended.values(), sketch._SKETCHES[fresh.reader].values()
    assert one.chunks.tolist() == other.chunks.tolist()
    assert one.bits.tolist() == other.bits.tolist()


def test_a_sketch_that_grew_in_small_steps_is_checked_again(open_desk, monkeypatch, tmp_path):
    monkeypatch.setattr(vectors, "SKETCH_ABOVE", 3)
    checked = []
    recall = sketch._recall
    monkeypatch.setattr(sketch, "_recall", lambda bits, *given: checked.append(len(bits)) or recall(bits, *given))
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all(
        {f"{number:02}.md": f"A heron, number {number}." for number in range(40)}
    )
    vault.index()
    desk = open_desk(None, vault=vault)
    desk.ask("a heron")
    for number in range(40, 56):
        vault.write(f"{number:02}.md", f"A heron, number {number}.")
        vault.index()
        desk.ask("a heron")
    assert checked == [40, 51]
