"""The graph as it is asked of an index."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from indexed_vault import LAYOUT, IndexedVault
from second_brain.errors import Ambiguous, InvalidParameter, NotFound
from second_brain.graph import indexed, queries
from second_brain.graph.edges import all_edges, edges_of
from second_brain.graph.indexed import IndexedFacts, complete_facts
from second_brain.graph.settings import Settings
from second_brain.index.reader import open_reader
from second_brain.indexing.freshness import Freshness
from second_brain.indexing.preparing import Rules
from second_brain.model import Scope
from stub_embedder import StubEmbedder

WORDS = ["boat", "sail", "oar", "harbour", "tide", "rope", "knot", "lamp", "stove", "tea", "map", "chart"]
SETTINGS = Settings(knn_k=4, semantic_min=0.2)


def _random_notes(seed, count=30):
    rng = random.Random(seed)
    paths = [f"{rng.choice(['', 'a/', 'b/'])}{rng.choice(WORDS)} {number}.md" for number in range(count)]
    return {
        path: f"#{rng.choice(WORDS)} {' '.join(rng.choice(WORDS) for _ in range(rng.randint(0, 30)))} "
        + " ".join(f"[[{rng.choice(paths)[:-3]}]]" for _ in range(rng.randint(0, 5)))
        for path in paths
    }


@pytest.fixture
def vault(tmp_path):
    made = IndexedVault(tmp_path, embedder=StubEmbedder(5)).write_all(_random_notes(3)).index()
    made.graph(knn_k=SETTINGS.knn_k, semantic_min=SETTINGS.semantic_min)
    return made


@pytest.mark.requirement("RG-5", "RG-6")
@pytest.mark.parametrize("many", [300, 0], ids=["links one by one", "links at once"])
def test_edges_at_each_note_are_those_of_the_whole_graph(vault, many, monkeypatch):
    monkeypatch.setattr(indexed, "_MANY", many)
    with vault.reader() as reader:
        everything = list(all_edges(complete_facts(reader, SETTINGS), SETTINGS))
        facts = IndexedFacts(reader, SETTINGS)
        one_by_one = {edge for node in range(30) for edge in edges_of(facts, SETTINGS, node)}
    assert sorted(one_by_one, key=lambda edge: (edge.a, edge.b)) == everything
    assert len(everything) > 60


@pytest.mark.requirement("RG-6")
def test_stored_neighbours_are_those_computed_anew(vault, monkeypatch):
    with vault.reader() as reader:
        assert isinstance(indexed.meaning_of(reader, SETTINGS), indexed._Stored)
        stored = list(all_edges(complete_facts(reader, SETTINGS), SETTINGS))
    with vault.reader() as reader:
        monkeypatch.setattr(indexed, "_is_stored", lambda reader, model, settings: False)
        assert list(all_edges(complete_facts(reader, SETTINGS), SETTINGS)) == stored


def test_other_settings_than_the_stored_ones_are_computed(vault):
    with vault.reader() as reader:
        wide = list(all_edges(complete_facts(reader, Settings(knn_k=9)), Settings(knn_k=9)))
        narrow = list(all_edges(complete_facts(reader, Settings(knn_k=1)), Settings(knn_k=1)))
    assert len(wide) > len(narrow)


def test_an_index_without_vectors_has_links_tags_and_common_mentions(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"a.md": "#x [[b]] [[c]]", "b.md": "#x", "c.md": "text"})
    vault.sync()
    vault.graph()
    with vault.reader() as reader:
        found = queries.related_notes(reader, Settings(), "b").neighbours
    assert [(one.path, one.signals.semantic, one.because) for one in found] == [
        ("a.md", 0.0, ("links here", "shares #x")),
        ("c.md", 0.0, ("1 note links to both",)),
    ]


@pytest.mark.requirement("RG-7", "SV-11")
def test_what_changed_since_the_sync_is_in_the_graph(vault):
    freshness = Freshness(vault.db, Scope(), vault.vault, Rules(vault.redact, LAYOUT))
    with closing(open_reader(vault.db, Scope())) as reader, closing(freshness):
        paths = queries.vault_map(reader, SETTINGS).overview.note_count
        gone = queries.related_notes(reader, SETTINGS, next(iter(_random_notes(3)))).neighbours[0].path
        (vault.root / gone).unlink()
        vault.write("new.md", f"[[{next(iter(_random_notes(3)))[:-3]}]]")
        freshness.lay_over(reader)
        found = queries.related_notes(reader, SETTINGS, next(iter(_random_notes(3))), top_k=50).neighbours
        assert "new.md" in [one.path for one in found]
        assert gone not in [one.path for one in found]
        assert queries.vault_map(reader, SETTINGS).overview.note_count == paths
        with reader.snapshot():
            assert isinstance(indexed.meaning_of(reader, SETTINGS), indexed._Computed)


@pytest.mark.parametrize("part", ["template", "navigation", "dataview"])
def test_what_is_repeated_in_many_notes_relates_none(tmp_path, part):
    repeated = {
        "template": "## What went well\n\nWrite three lines on what went well on this day and why it did so.\n" * 2,
        "navigation": "## Navigation\n\n"
        + "Back to the overview of the house, over to the garden, up to the roof.\n" * 3,
        "dataview": "## Open ends\n\n```dataview\n"
        + "TABLE due, status FROM #project WHERE !completed SORT due ASC\n" * 3
        + "```\n",
    }[part]
    texts = {word: f"# {word}\n\n{' '.join([word, word[::-1]] * 20)}\n\n" for word in WORDS}
    related = {}
    for name, tail in (("with", repeated), ("without", "")):
        vault = IndexedVault(tmp_path / name, embedder=StubEmbedder(64))
        vault.write_all(
            {f"{word}.md": text + tail for word, text in texts.items()} | {"twin.md": texts["boat"]}
        ).index()
        vault.graph()
        with vault.reader() as reader:
            related[name] = [
                [(one.path, one.signals.semantic) for one in queries.related_notes(reader, Settings(), word).neighbours]
                for word in WORDS
            ]
    assert related["with"] == related["without"]
    assert related["without"][0][0][0] == "twin.md"


@pytest.mark.parametrize(
    ("ask", "error", "parameter"),
    [
        (lambda r: queries.related_notes(r, SETTINGS, "nowhere"), NotFound, "target"),
        (lambda r: queries.related_notes(r, SETTINGS, "twin"), Ambiguous, "target"),
        (lambda r: queries.related_notes(r, SETTINGS, "one", top_k=0), InvalidParameter, "top_k"),
        (lambda r: queries.related_notes(r, SETTINGS, "one", top_k=51), InvalidParameter, "top_k"),
        (lambda r: queries.connection_of(r, SETTINGS, "one", "nowhere"), NotFound, "note_b"),
        (lambda r: queries.connection_of(r, SETTINGS, "nowhere", "one"), NotFound, "note_a"),
        (lambda r: queries.connection_of(r, SETTINGS, "one", "[[ONE]]"), InvalidParameter, "note_b"),
        (lambda r: queries.vault_map(r, SETTINGS, min_score=1.5), InvalidParameter, "min_score"),
        (lambda r: queries.vault_map(r, SETTINGS, min_score=float("nan")), InvalidParameter, "min_score"),
        (lambda r: queries.neighbourhood(r, "one", depth=4), InvalidParameter, "depth"),
        (lambda r: queries.neighbourhood(r, "one", limit=0), InvalidParameter, "limit"),
        (lambda r: queries.way_between(r, "one", "nowhere"), NotFound, "to"),
        (lambda r: queries.way_between(r, "one", "one", max_hops=99), InvalidParameter, "max_hops"),
    ],
)
def test_what_cannot_be_meant_is_named(tmp_path, ask, error, parameter):
    vault = IndexedVault(tmp_path).write_all({"one.md": "", "a/twin.md": "", "b/twin.md": ""})
    vault.sync()
    with vault.reader() as reader, pytest.raises(error) as refused:
        ask(reader)
    assert refused.value.parameter == parameter
    assert refused.value.hint


@pytest.mark.requirement("RG-7")
def test_a_graph_that_is_turned_off_has_no_edges(vault):
    off = Settings(knn_k=4, semantic_min=0.2, enabled=False)
    with vault.reader() as reader:
        found = queries.vault_map(reader, off).overview
        assert (found.edge_count, len(found.orphans)) == (0, found.note_count)
        path = found.orphans[0]
        assert queries.related_notes(reader, off, path).neighbours == ()
        assert not queries.connection_of(reader, off, path, found.orphans[1]).connected


@pytest.mark.requirement("RG-8")
def test_steps_are_told_in_the_direction_of_the_way(tmp_path):
    vault = IndexedVault(tmp_path).write_all({"c.md": "[[b]]", "b.md": "[[a]]", "a.md": "x", "z.md": "alone"})
    vault.sync()
    with vault.reader() as reader:
        found = queries.connection_of(reader, Settings(), "c", "a")
        assert found.path == ("c.md", "b.md", "a.md")
        assert [(step.src, step.dst, step.because) for step in found.steps] == [
            ("c.md", "b.md", ("linked from here",)),
            ("b.md", "a.md", ("linked from here",)),
        ]
        assert found.closeness == pytest.approx(0.175**2)
        back = queries.connection_of(reader, Settings(), "a", "b")
        assert back.direct.because == ("links here",)
        assert not queries.connection_of(reader, Settings(), "a", "z").connected
        assert queries.way_between(reader, "a", "c").path == ("a.md", "b.md", "c.md")
        assert queries.way_between(reader, "a", "c", max_hops=1).path == ()


def test_figures_of_links_name_hubs_dead_names_and_orphans(tmp_path):
    vault = IndexedVault(tmp_path).write_all(
        {
            "a.md": "[[Hub]] [[Ghost]]\n[[ghost#x]]",
            "b.md": "[[hub]] [x](No%20One.md) ![[p.png]]",
            "Hub.md": "[[#x]]",
            "z.md": "",
        }
    )
    vault.sync()
    with vault.reader() as reader:
        found = queries.link_figures(reader)
    assert (found.notes, found.links, found.hubs, found.orphans) == (4, 5, (("Hub.md", 2),), ("z.md",))
    assert found.unresolved == (("Ghost", (("a.md", 1), ("a.md", 2))), ("No One", (("b.md", 1),)))
