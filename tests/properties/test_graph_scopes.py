"""Inside a scope the graph is that of a vault that has no other notes."""

from __future__ import annotations

import random
from dataclasses import asdict

import pytest

from indexed_vault import IndexedVault
from second_brain.graph import indexed, queries
from second_brain.graph.settings import Settings
from second_brain.index import scope as scopes
from second_brain.index.reader import open_reader
from second_brain.model import Scope
from second_brain.reading.links import links_of
from stub_embedder import StubEmbedder

SETTINGS = Settings(knn_k=3, semantic_min=0.1)
WORDS = ["boat", "sail", "oar", "harbour", "tide", "rope", "knot", "lamp", "stove", "tea", "map", "chart"]
FOOTER = "\n## Template\n\n" + "What went well and what did not go so well on this day of the year. " * 4
SCOPES = {
    "folder": Scope(folders=("in",)),
    "without": Scope(excluded=("out",)),
    "tag": Scope(tags=("seen",)),
}


def _note(rng, paths, tag, *, footer):
    words = " ".join(rng.choice(WORDS) for _ in range(rng.randint(8, 60)))
    links = " ".join(f"[[{rng.choice(paths)[:-3]}]]" for _ in range(rng.randint(0, 4)))
    return f"# {rng.choice(WORDS)}\n\n#{tag} #{rng.choice(WORDS)} {words}\n\n{links}\n{FOOTER if footer else ''}"


def _notes(rng):
    """Notes inside and outside, with links across; the template is boilerplate only where all are seen."""
    inside = [f"in/{'deep/' * (number % 2)}{rng.choice(WORDS)} {number}.md" for number in range(24)]
    outside = [f"out/{rng.choice(WORDS)} {number}.md" for number in range(30)] + ["out/" + inside[0].rpartition("/")[2]]
    return (
        {path: _note(rng, inside + outside, "seen", footer=path in inside[:4]) for path in inside},
        {path: _note(rng, inside + outside, "hidden", footer=rng.random() < 0.5) for path in outside},
    )


def _told(vault, scope):
    """Everything that can be asked of the graph."""
    reader = open_reader(vault.db, scope)
    try:
        with reader.snapshot():
            paths = list(indexed.places_of(reader).paths)
        found = queries.vault_map(reader, SETTINGS)
        return {
            "related": [asdict(queries.related_notes(reader, SETTINGS, path, top_k=50)) for path in paths],
            "links": [asdict(links_of(reader, path)) for path in paths],
            "around": [asdict(queries.neighbourhood(reader, path, depth=2)) for path in paths],
            "connections": [asdict(queries.connection_of(reader, SETTINGS, paths[0], path)) for path in paths[1:]],
            "ways": [queries.way_between(reader, paths[0], path) for path in paths],
            "figures": asdict(queries.link_figures(reader)),
            "map": asdict(found.overview),
            "edges": [asdict(edge) for edge in found.edges],
        }
    finally:
        reader.close()


def _vault(folder, notes):
    vault = IndexedVault(folder, embedder=StubEmbedder(6)).write_all(notes).index()
    vault.graph(knn_k=SETTINGS.knn_k, semantic_min=SETTINGS.semantic_min)
    return vault


@pytest.fixture(scope="module", params=[1, 2])
def vaults(request, tmp_path_factory):
    inside, outside = _notes(random.Random(request.param))
    folder = tmp_path_factory.mktemp("vaults")
    return _vault(folder / "mixed", inside | outside), _vault(folder / "alone", inside)


@pytest.mark.requirement("FR-40", "NFR-5", "RG-5", "RG-6")
@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_a_scope_has_the_graph_of_its_notes_alone(vaults, scope):
    mixed, alone = vaults
    found = _told(mixed, scope)
    assert found == _told(alone, Scope())
    assert found != _told(mixed, Scope())
    assert len(found["edges"]) > 40
    assert any(step["path"] and len(step["path"]) > 2 for step in found["connections"])


def _reduced(vault):
    with vault.reader() as reader:
        return indexed.boilerplate.reduced(reader.connection, indexed.graph_rows.note_model(reader.connection))


@pytest.mark.parametrize("leak", ["stored neighbours", "boilerplate of all", "links of all"])
def test_the_comparison_catches_a_leak(vaults, leak, monkeypatch):
    mixed, alone = vaults
    expected = _told(alone, Scope())
    if leak == "stored neighbours":
        monkeypatch.setattr(indexed, "_is_stored", lambda reader, model, settings: True)
        monkeypatch.setattr(scopes, "GRAPH_TABLES", ())
    elif leak == "boilerplate of all":
        everywhere = _reduced(mixed)
        assert everywhere
        monkeypatch.setattr(indexed.boilerplate, "reduced", lambda connection, model: everywhere)
    else:
        monkeypatch.setattr(scopes, "NOTE_TABLES", ())
    try:
        found = _told(mixed, SCOPES["folder"])
    except Exception:  # noqa: BLE001 - the authorizer refuses what has no view
        assert leak != "boilerplate of all"
        return
    assert found != expected


def test_the_same_vault_gives_the_same_graph_again(vaults):
    mixed, _ = vaults
    assert _told(mixed, Scope()) == _told(mixed, Scope())
