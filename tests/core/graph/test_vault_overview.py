"""The map: clusters, orphans and bridges, always the same ones."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

import second_brain
from graph_vault import PLAIN, edge
from second_brain.graph import overview as module
from second_brain.graph.formulas import Edges
from second_brain.graph.overview import Node, overview

pytestmark = pytest.mark.requirement("RG-7")


def notes(size, tags=None):
    return [Node(f"n{i:03}.md", f"Title {i}", {t.casefold(): t for t in (tags or {}).get(i, ())}) for i in range(size)]


def clique(*members, score=0.8):
    return [edge(a, b, score) for a in members for b in members if a < b]


TWO_GROUPS = Edges.of([*clique(0, 1, 2, 3), *clique(4, 5, 6), edge(3, 4, 0.2)])


def test_the_groups_of_a_vault_are_its_clusters_largest_first():
    found = overview(notes(9), TWO_GROUPS, PLAIN)
    assert [(c.id, c.members, c.size) for c in found.clusters] == [(0, (0, 1, 2, 3), 4), (1, (4, 5, 6), 3)]
    assert (found.note_count, found.edge_count) == (9, 10)
    assert found.orphans == ("n007.md", "n008.md")


def test_notes_of_a_cluster_come_by_degree_then_path_and_the_first_is_its_hub():
    (first, _) = overview(notes(7), TWO_GROUPS, PLAIN).clusters
    assert first.notes == ("n003.md", "n000.md", "n001.md", "n002.md")
    assert first.hub == "n003.md"


def test_no_more_than_25_notes_of_a_cluster_are_named():
    (found,) = overview(notes(30), Edges.of(clique(*range(30))), PLAIN).clusters
    assert (found.size, len(found.notes)) == (30, 25)


def test_bridges_name_the_clusters_that_they_hold_together():
    found = overview(notes(7), TWO_GROUPS, PLAIN)
    assert [(b.node, b.path, b.title, b.connects_clusters) for b in found.bridges] == [
        (3, "n003.md", "Title 3", (0, 1)),
        (4, "n004.md", "Title 4", (0, 1)),
    ]


def test_two_notes_have_no_bridge():
    assert overview(notes(2), Edges.of([edge(0, 1, 0.5)]), PLAIN).bridges == ()


@pytest.mark.parametrize(("least", "count", "orphans"), [(None, 1, 1), (0.0, 2, 0), (0.5, 0, 3), (0.3, 1, 1)])
def test_edges_below_the_least_score_count_for_nothing(least, count, orphans):
    edges = Edges.of([edge(0, 1, 0.3), edge(1, 2, 0.1, link=0.7)])
    found = overview(notes(3), edges, PLAIN, least)
    assert (found.edge_count, len(found.orphans)) == (count, orphans)


@pytest.mark.parametrize(("size", "orphans"), [(0, ()), (1, ("n000.md",))])
def test_a_vault_without_edges_is_all_orphans(size, orphans):
    found = overview(notes(size), Edges.of([]), PLAIN)
    assert (found.note_count, found.clusters, found.orphans, found.bridges) == (size, (), orphans, ())


def labels(tags, groups=((0, 1, 2), (3, 4)), titles=None):
    size = max(max(group) for group in groups) + 1
    nodes = notes(size, tags)
    if titles is not None:
        nodes = [Node(node.path, titles, node.tags) for node in nodes]
    return [c.label for c in overview(nodes, Edges.of([e for g in groups for e in clique(*g)]), PLAIN).clusters]


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ({0: ["a"], 1: ["b"], 2: ["b"], 3: ["c"]}, ["b", "c"]),
        ({0: ["b"], 1: ["a"], 3: ["x"]}, ["a", "x"]),
        ({0: ["b", "a"], 1: ["b"], 3: ["b", "c"], 4: ["b"]}, ["b", "c"]),
        ({0: ["Boat"], 1: ["boat"], 2: ["Boat"], 3: ["boat"]}, ["Boat", "Title 3"]),
        ({}, ["Title 0", "Title 3"]),
    ],
)
def test_a_cluster_is_called_by_its_most_common_tag_that_is_no_label_yet(tags, wanted):
    assert labels(tags) == wanted


def test_a_label_that_is_taken_gets_a_number():
    assert labels({}, ((0, 1, 2), (3, 4), (5, 6)), titles="Daily") == ["Daily", "Daily (2)", "Daily (3)"]
    assert labels({0: ["DAILY"]}, titles="Daily") == ["DAILY", "Daily (2)"]


def test_a_hub_without_a_title_is_called_by_its_path():
    assert labels({}, ((0, 1),), titles=" ") == ["n000.md"]


def test_at_most_five_tags_are_named_by_count_then_by_letter():
    tags = {0: ["f", "e", "d", "c", "b", "a"], 1: ["f"]}
    (found,) = overview(notes(2, tags), Edges.of(clique(0, 1)), PLAIN).clusters
    assert found.top_tags == ("f", "a", "b", "c", "d")


def tangled(scores=(0.2, 0.3, 0.55, 0.7), size=150, number=700):
    rng = random.Random(5)
    pairs = {tuple(sorted(rng.sample(range(size), 2))): rng.choice(scores) for _ in range(number)}
    return [edge(a, b, score) for (a, b), score in pairs.items()]


def shuffled(edges, seed):
    order = list(range(len(edges)))
    random.Random(seed).shuffle(order)
    return edges.where(order)


@pytest.mark.parametrize("greedy", [True, False])
@pytest.mark.parametrize("scores", [(0.5,), (0.2, 0.3, 0.55, 0.7)])
def test_the_map_does_not_depend_on_the_order_of_the_edges(scores, greedy, monkeypatch):
    monkeypatch.setattr(module, "_EDGES_OF_GREEDY", 10**6 if greedy else 0)
    edges = Edges.of(tangled(scores))
    maps = [overview(notes(150), shuffled(edges, seed), PLAIN) for seed in range(4)]
    assert maps[0].clusters
    assert all(found == maps[0] for found in maps)


SCRIPT = """
import sys
from graph_vault import PLAIN
from test_vault_overview import Edges, notes, overview, tangled, module
module._EDGES_OF_GREEDY = int(sys.argv[1])
tags = {i: {f"t{i % 7}", f"u{i % 3}", f"v{i % 5}"} for i in range(150)}
print(overview(notes(150, tags), Edges.of(tangled()), PLAIN))
"""


@pytest.mark.parametrize("greedy", ["0", "1000000"])
def test_the_map_does_not_depend_on_the_seed_of_hashes(greedy):
    here = Path(__file__).parent
    places = [here, here.parents[1], Path(second_brain.__file__).parents[1]]
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(map(str, places))}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, greedy], env=environment, capture_output=True, text=True, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1
    assert "clusters" in found.pop()


def test_louvain_takes_over_where_greedy_would_take_too_long_and_finds_the_same_groups(monkeypatch):
    greedy = overview(notes(7), TWO_GROUPS, PLAIN)
    monkeypatch.setattr(module, "_EDGES_OF_GREEDY", 3)
    assert overview(notes(7), TWO_GROUPS, PLAIN) == greedy
