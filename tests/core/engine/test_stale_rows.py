"""Rows that an earlier program or a crash may leave for paths without a note: they must never count."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product

import numpy as np
import pytest

from indexed_vault import IndexedVault
from second_brain.index import catalog
from second_brain.search.vocabulary import facets, schema_block
from stub_embedder import StubEmbedder


def moment(month, day=1):
    return datetime(2026, month, day, tzinfo=UTC).timestamp()


NOTES = {
    f"{folder}/{name}.md": (f"---\ntags: [{tags}]\n---\nThe lantern of {name}.", moment(month))
    for folder, name, tags, month in (
        ("Old/Work", "alpha", "homelab", 2),
        ("Old/Work", "beta", "homelab, k8s", 5),
        ("Old/Play", "gamma", "k8s", 3),
        ("Old", "delta", "homelab", 5),
        ("Side", "epsilon", "homelab", 5),
    )
}
AFTERWARDS = {  # path -> (tags, month), once Old/Work is New/Job, Old/Play/gamma is gone and delta lies at the root
    "New/Job/alpha.md": ({"homelab"}, 2),
    "New/Job/beta.md": ({"homelab", "k8s"}, 5),
    "delta.md": ({"homelab"}, 5),
    "Side/epsilon.md": ({"homelab"}, 5),
}
STALE = ("Old/Work/alpha.md", "Old/Work/beta.md", "Old/Play/gamma.md", "Old/delta.md", "New/Job/phantom.md")


@pytest.fixture(scope="module")
def desk(open_desk, tmp_path_factory):
    vault = IndexedVault(tmp_path_factory.mktemp("stale"), embedder=StubEmbedder(64))
    for path, (text, mtime) in NOTES.items():
        vault.write(path, text, mtime=mtime)
    vault.index()
    (vault.root / "New").mkdir()
    (vault.root / "Old/Work").rename(vault.root / "New/Job")
    (vault.root / "Old/delta.md").rename(vault.root / "delta.md")
    (vault.root / "Old/Play/gamma.md").unlink()
    vault.index()
    lantern = vault.embedder.embed_query("lantern").astype("<f4").tobytes()
    with vault.writer() as writer:
        for path in STALE:
            for tag in ("homelab", "k8s", "ghost"):
                writer.connection.execute("INSERT INTO tags(path, tag, key) VALUES(?, ?, ?)", (path, tag, tag))
            writer.connection.execute(
                "INSERT INTO embeddings(path, model, dim, vector) VALUES(?, ?, 64, ?)",
                (path, vault.embedder.fingerprint, lantern),
            )
        writer.connection.execute(
            "INSERT INTO vectors(model, chunk, text_hash, vector) VALUES(1, 1000000, x'00', ?)", (lantern,)
        )
    return open_desk(None, vault=vault)


CHOICES = {
    "folder": {"folder": "New"},
    "tags": {"tags": ["homelab"]},
    "after": {"modified_after": "2026-03-01"},
    "before": {"modified_before": "2026-04-30"},
}
COMBINATIONS = [
    tuple(name for name, chosen in zip(CHOICES, switches, strict=True) if chosen)
    for switches in product((False, True), repeat=4)
]


def expected(names):
    return {
        path
        for path, (tags, month) in AFTERWARDS.items()
        if ("folder" not in names or path.startswith("New/"))
        and ("tags" not in names or "homelab" in tags)
        and ("after" not in names or month >= 3)
        and ("before" not in names or month <= 4)
    }


@pytest.mark.requirement("T-5", "FR-05")
@pytest.mark.parametrize("query", ["lantern", ""])
@pytest.mark.parametrize("ranking", ["best", "words", "meaning"])
@pytest.mark.parametrize("names", COMBINATIONS, ids=lambda names: "+".join(names) or "none")
def test_stale_rows_never_count_whatever_the_filters(desk, names, ranking, query):
    arguments = {key: value for name in names for key, value in CHOICES[name].items()}
    if not (query or arguments):
        arguments = {"exclude_folder": "New", "query": "-nothing"}
        found = desk.paths(**arguments, ranking=ranking, top_k=50)
        assert set(found) == {path for path in AFTERWARDS if not path.startswith("New/")}
        return
    answer = desk.ask(query, ranking=ranking, top_k=50, **arguments)
    assert {hit.path for hit in answer.hits} == expected(names)
    assert answer.total == len(expected(names))
    assert not answer.message or not expected(names)


@pytest.mark.requirement("T-5", "FR-05")
def test_stale_rows_are_in_no_count_no_facet_and_no_map(desk):
    found = facets(desk.reader)
    assert found.tags == {"homelab": 4, "k8s": 1}
    assert found.folders == {"New": 2, "New/Job": 2, "Side": 1}
    block = schema_block(desk.reader)
    assert "ghost" not in block
    assert "Old" not in block
    with desk.reader.snapshot():
        assert catalog.note_count(desk.reader) == 4
        assert catalog.tags_of(desk.reader, ["New/Job/alpha.md", *STALE])["New/Job/alpha.md"] == ["homelab"]
    for hit in desk.ask("lantern", top_k=50).hits:
        assert set(hit.tags) == AFTERWARDS[hit.path][0]


@pytest.mark.requirement("T-5")
def test_the_moved_notes_kept_their_vectors(desk):
    with desk.reader.snapshot():
        rows = desk.reader.connection.execute("SELECT path, vector FROM embeddings ORDER BY path").fetchall()
    assert [path for path, _ in rows] == sorted(AFTERWARDS)
    assert all(np.isfinite(np.frombuffer(blob, "<f4")).all() for _, blob in rows)
