"""The nearest passages: row by row in SQLite, through vectors in memory and through the sketch."""

from __future__ import annotations

import random

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.index import resident, sketch, vectors
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


def search_through(monkeypatch, through, passages=3):
    """Make more than *passages* go through the sketch, or let all be compared row by row, or by the vectors in memory."""
    monkeypatch.setattr(vectors, "ROWS_FIRST", 10**9 if through == "rows" else 0)
    if through == "sketch":
        monkeypatch.setattr(vectors, "MATRIX_BYTES", passages * 4 * 64)


def plain_passages(embedder, query, folder):
    """(negative cosine, path) of the notes of a folder, each of which is one passage, nearest first."""
    vectors_of = {path: embedder.embed_query(text) for path, text in TEXTS.items() if path.startswith(folder)}
    return sorted((-float(vector.astype(float) @ query.astype(float)), path) for path, vector in vectors_of.items())


@pytest.mark.parametrize("folder", ["", "B/"])
@pytest.mark.parametrize("rescored", [None, 300])
@pytest.mark.parametrize("through", ["rows", "matrix", "sketch"])
def test_the_nearest_passages_are_those_of_a_plain_ranker_whatever_they_go_through(
    many, monkeypatch, folder, rescored, through
):
    search_through(monkeypatch, through, passages=100)
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
    search_through(monkeypatch, "sketch")
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


@pytest.mark.parametrize("through", ["rows", "matrix", "sketch"])
def test_the_nearest_passages_of_a_scope_are_as_many_as_without_the_notes_outside(
    open_desk, many, monkeypatch, through
):
    search_through(monkeypatch, through, passages=100)
    scoped = open_desk(None, vault=many.vault, scope=Scope(folders=("A",)))
    query = many.vault.embedder.embed_query("w8 w9")
    with scoped.reader.snapshot():
        model = vectors.active_model(scoped.reader)
        paths = [path for (path,) in scoped.reader.connection.execute("SELECT path FROM files ORDER BY path")]
        found = vectors.nearest(scoped.reader, model, query, allowed=None, limit=20)
    expected = plain_passages(many.vault.embedder, query, "A/")[:20]
    assert [paths[passage.place] for passage in found] == [path for _, path in expected]


@pytest.mark.parametrize("folder", ["", "B/"])
@pytest.mark.parametrize("through", ["rows", "matrix", "sketch"])
def test_equally_near_passages_are_cut_by_path_whatever_order_they_were_indexed_in(
    open_desk, monkeypatch, tmp_path, folder, through
):
    search_through(monkeypatch, through)
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


@pytest.mark.parametrize("through", ["matrix", "sketch"])
def test_what_lies_in_memory_follows_the_index_and_only_new_vectors_are_read(open_desk, monkeypatch, tmp_path, through):
    search_through(monkeypatch, through)
    monkeypatch.setattr(sketch, "_recall", lambda *_: 1.0)
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
    vectors_of = resident.vectors_of
    monkeypatch.setattr(resident, "vectors_of", lambda *given: read.append(len(given[2])) or vectors_of(*given))
    desk.ask("a heron")
    assert sum(read) == 2
    fresh = open_desk(None, vault=vault)
    fresh.ask("a heron")
    assert sum(read) == 2 + 39
    one, other = held(desk.reader, through), held(fresh.reader, through)
    assert one.chunks.tolist() == other.chunks.tolist()
    assert one.places.tolist() == other.places.tolist()
    assert one.codes.tolist() == other.codes.tolist()


def held(reader, through):
    kept = reader.held["vectors"]
    return kept if through == "matrix" else kept.rows


def another_file(vault):
    for file in vault.db.parent.glob("index.db*"):
        file.unlink()


def another_model(vault):
    vault.embedder = StubEmbedder(64, "two")


def another_dimension(vault):
    vault.embedder = StubEmbedder(32)
    vault.embedder.fingerprint = StubEmbedder(64).fingerprint


def another_file_and_model(vault):
    another_file(vault)
    another_model(vault)


def another_file_and_dimension(vault):
    another_file(vault)
    another_dimension(vault)


def another_file_of_a_model_that_calls_itself_the_same(vault):
    former = vault.embedder.fingerprint
    another_file(vault)
    another_model(vault)
    vault.embedder.fingerprint = former


def an_edit(vault):
    vault.write("03.md", "A quaint samovar beside number w7.")


@pytest.mark.parametrize("through", ["rows", "matrix", "sketch"])
@pytest.mark.parametrize(
    "change",
    [
        another_model,
        another_dimension,
        another_file_and_model,
        another_file_and_dimension,
        another_file,
        another_file_of_a_model_that_calls_itself_the_same,
        an_edit,
    ],
    ids=lambda f: f.__name__,
)
def test_a_reader_that_goes_on_answers_as_a_fresh_one_whatever_came_in_place_of_what_it_knew(
    open_desk, monkeypatch, tmp_path, through, change
):
    search_through(monkeypatch, through)
    monkeypatch.setattr(sketch, "_recall", lambda *_: 1.0)
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(64)).write_all(
        {f"{number:02}.md": " ".join(f"w{each}" for each in DICE.choices(range(40), k=12)) for number in range(30)}
    )
    vault.index()
    desk = open_desk(None, vault=vault)
    desk.ask("w1 w7")
    change(vault)
    vault.index()
    fresh = open_desk(None, vault=vault)
    desk.embedders = fresh.embedders
    for _ in range(2):
        one, other = (
            [(hit.path, hit.score) for hit in each.ask("w1 w7", ranking="best").hits] for each in (desk, fresh)
        )
        assert one == other
        assert one


@pytest.mark.parametrize("through", ["matrix", "sketch"])
def test_what_lies_in_memory_is_let_go_when_another_way_takes_over(open_desk, many, monkeypatch, through):
    desk = open_desk(None, vault=many.vault)
    search_through(monkeypatch, "sketch" if through == "matrix" else "matrix")
    desk.ask("w1 w7")
    monkeypatch.undo()
    search_through(monkeypatch, through)
    desk.ask("w1 w7")
    assert [type(kept) for kept in desk.reader.held.values()] == [
        resident.Resident if through == "matrix" else sketch.Sketch
    ]


def test_one_question_loads_no_vectors_and_more_of_them_do(open_desk, many):
    desk = open_desk(None, vault=many.vault)
    desk.ask("w1 w7")
    assert not desk.reader.held
    desk.ask("w1 w8")
    assert desk.reader.held


def test_a_narrow_filter_does_not_load_the_vectors_outside_of_it(open_desk, many, monkeypatch):
    read = []
    vectors_of = resident.vectors_of
    monkeypatch.setattr(resident, "vectors_of", lambda *given: read.append(len(given[2])) or vectors_of(*given))
    search_through(monkeypatch, "matrix")
    desk = open_desk(None, vault=many.vault)
    query = many.vault.embedder.embed_query("w8 w9")

    def nearest(allowed):
        before = desk.reader.counters.vectors_read
        with desk.reader.snapshot():
            model = vectors.active_model(desk.reader)
            found = vectors.nearest(desk.reader, model, query, allowed=allowed, limit=5)
        return [passage.chunk for passage in found], desk.reader.counters.vectors_read - before

    few = np.arange(500) % 10 == 3
    row_by_row, compared = nearest(few)
    assert not read
    assert compared == 50
    assert nearest(None)[1] == 500
    assert sum(read) == 500
    assert nearest(few) == (row_by_row, 50)
    assert sum(read) == 500


def test_a_sketch_that_grew_in_small_steps_is_checked_again(open_desk, monkeypatch, tmp_path):
    search_through(monkeypatch, "sketch")
    checked = []
    recall = sketch._recall
    monkeypatch.setattr(sketch, "_recall", lambda *given: checked.append(len(given[2])) or recall(*given))
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
