"""The stored graph after any sequence of edits is that of a new index of the same notes."""

from __future__ import annotations

import random
import shutil
from contextlib import closing

import apsw
import pytest

from index_dump import graph_dump
from indexed_vault import IndexedVault
from second_brain.graph.settings import Settings
from second_brain.index.opening import open_writer
from second_brain.index.schema import GRAPH_TABLES
from second_brain.indexing.graph import bring_up_to_date
from stub_embedder import StubEmbedder

WORDS = ["boat", "sail", "oar", "harbour", "tide", "rope", "knot", "lamp", "stove", "tea", "map", "chart", "star"]
FOOTER = "\n\n## Navigation\n\n" + "[[Home]] and back to the overview of everything that is kept in this place. " * 4
NAMES = [f"{folder}{name}.md" for folder in ("", "log/") for name in ("Home", "a", "b", "c", "d", "e", "f", "g")]


def _text(rng):
    body = " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 12)))
    tag = f" #{rng.choice(WORDS)}" if rng.random() < 0.3 else ""
    link = f" [[{rng.choice(NAMES)[:-3]}]]" if rng.random() < 0.4 else ""
    footer = FOOTER if rng.random() < 0.6 else ""
    return f"# {rng.choice(WORDS)}\n\n{body * rng.choice((1, 1, 6))}{tag}{link}{footer}\n"


def _edit(rng, vault):
    path = vault.root / rng.choice(NAMES)
    there = sorted(vault.root.rglob("*.md"))
    kind = rng.random()
    if kind < 0.6 or not there:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(there[0].read_text() if there and rng.random() < 0.15 else _text(rng))
    elif kind < 0.8:
        rng.choice(there).unlink()
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        rng.choice(there).rename(path)


def _rebuilt(vault, folder):
    """The graph that the index gives when nothing is known of one."""
    shutil.copy(vault.db, folder / "copy.db")
    connection = apsw.Connection(str(folder / "copy.db"))
    for table in GRAPH_TABLES:
        connection.execute(f"DELETE FROM {table}")
    connection.execute("DELETE FROM meta WHERE key = 'graph_form'")
    connection.close()
    with closing(open_writer(folder / "copy.db")) as writer:
        bring_up_to_date(writer, Settings())
    return graph_dump(folder / "copy.db")


@pytest.mark.slow
@pytest.mark.requirement("RG-6")
@pytest.mark.parametrize("seed", range(10))
def test_the_graph_after_any_edits_is_the_one_rebuilt_from_nothing(tmp_path, seed):
    rng = random.Random(seed)
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(3))
    lists = boilerplate = 0
    for _ in range(50):
        for _ in range(rng.choice((1, 1, 2, 5))):
            _edit(rng, vault)
            if rng.random() < 0.3:
                vault.sync()
        vault.sync(full=rng.random() < 0.1)
        if rng.random() < 0.1:
            vault.embedder = StubEmbedder(rng.choice((3, 4)), name=rng.choice(("one", "other")))
        if rng.random() < 0.8:
            vault.embed()
        lists += vault.graph().lists
        found = graph_dump(vault.db)
        assert found == _rebuilt(vault, tmp_path)
        boilerplate += any(found["notes"].values())
    assert lists > 100
    assert boilerplate > 0


@pytest.mark.requirement("RG-6")
def test_the_graph_kept_over_edits_is_that_of_a_new_index(tmp_path):
    rng = random.Random(99)
    vault = IndexedVault(tmp_path / "kept", embedder=StubEmbedder(3))
    for _ in range(20):
        _edit(rng, vault)
        vault.index().graph()
    fresh = IndexedVault(tmp_path / "fresh", embedder=StubEmbedder(3))
    fresh.root = vault.root
    fresh.index().graph()
    assert graph_dump(vault.db) == graph_dump(fresh.db)
    assert len(graph_dump(vault.db)["neighbours"]) > 10


@pytest.mark.parametrize("settings", [{"knn_k": 2}, {"semantic_min": 0.8}])
def test_other_settings_make_another_graph(tmp_path, settings):
    vault = IndexedVault(tmp_path, embedder=StubEmbedder(3))
    vault.write_all({f"{word}.md": word for word in WORDS})
    vault.index().graph()
    before = graph_dump(vault.db)["neighbours"]
    assert vault.graph(**settings).lists == len(WORDS)
    assert len(graph_dump(vault.db)["neighbours"]) < len(before)


def test_an_update_without_changes_writes_nothing(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({"a.md": "boat and sail", "b.md": "boat and oar"})
    vault.index().graph()
    with vault.writer() as writer:
        before = writer.connection.total_changes()
        assert bring_up_to_date(writer, Settings()).notes == 0
        assert writer.connection.total_changes() == before


def test_an_update_that_is_stopped_is_done_by_the_next(tmp_path):
    vault = IndexedVault(tmp_path)
    vault.write_all({"a.md": "boat and sail", "b.md": "boat and oar"})
    vault.index()

    with vault.writer() as writer:
        assert bring_up_to_date(writer, Settings(), lambda: True).stopped
    assert vault.graph().notes == 2
    assert len(graph_dump(vault.db)["neighbours"]) == 2
