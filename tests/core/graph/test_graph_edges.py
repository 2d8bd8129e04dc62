"""Edges at one note and edges of all notes are the same edges."""

from __future__ import annotations

import random
import time
from itertools import combinations

import numpy as np
import pytest

from graph_vault import PLAIN, random_vault, unit, vault
from second_brain.graph.edges import all_edges, edges_of
from second_brain.graph.facts import Complete
from second_brain.graph.neighbours import NOBODY, Lists
from second_brain.graph.settings import Settings

pytestmark = pytest.mark.requirement("RG-5", "RG-6")

VARIANTS = [
    PLAIN,
    Settings(knn_k=2, semantic_min=0.0, min_edge_score=0.3, comention_cap=1, comention_max_fanout=3),
    Settings(knn_k=0, weight_semantic=0.0, weight_tag=1 / 3, comention_max_fanout=1),
]


def by_the_contract(facts, settings):
    """Contracts 1.6 read out slowly: {(a, b): (semantic, link, tag, count, composite)}."""
    edges = {}
    for a, b in combinations(range(len(facts.paths)), 2):
        cosine = facts.cosines(a, [b])[0]
        there, back = b in facts.outgoing[a], a in facts.outgoing[b]
        speak = [t for t in facts.outgoing if 2 <= len(t) <= settings.comention_max_fanout]
        count = sum(a in targets and b in targets for targets in speak)
        if not (b in facts.nearest(a) or a in facts.nearest(b) or there or back or count):
            continue
        link = {2: 1.0, 1: 0.7, 0: 0.0}[there + back]
        ours, theirs = set(facts.tags(a)), set(facts.tags(b))
        tag = len(ours & theirs) / len(ours | theirs) if ours | theirs else 0.0
        near = max(0.0, cosine or 0.0)
        score = settings.weight_semantic * near + settings.weight_link * link + settings.weight_tag * tag
        score += settings.weight_comention * min(1, count / settings.comention_cap)
        if score >= settings.min_edge_score or link or count:
            edges[a, b] = (near, link, tag, count, score)
    return edges


@pytest.mark.parametrize("settings", VARIANTS)
def test_the_union_of_the_edges_of_each_note_is_all_edges_to_the_last_bit(settings):
    for seed in range(120):
        facts = random_vault(np.random.default_rng(seed), settings)
        every = list(all_edges(facts, settings))
        alone = [list(edges_of(facts, settings, node)) for node in range(len(facts.paths))]
        assert all(found == [e for e in every if node in (e.a, e.b)] for node, found in enumerate(alone)), seed
        assert [(e.a, e.b) for e in every] == sorted({(e.a, e.b) for found in alone for e in found}), seed


@pytest.mark.parametrize("settings", VARIANTS)
def test_edges_are_those_of_the_contract(settings):
    for seed in range(120):
        facts = random_vault(np.random.default_rng(seed), settings)
        wanted = by_the_contract(facts, settings)
        found = list(all_edges(facts, settings))
        assert [(e.a, e.b) for e in found] == list(wanted), seed
        for e in found:
            near, link, tag, count, score = wanted[e.a, e.b]
            assert (e.signals.semantic, e.signals.link, e.signals.tag, e.comention_count) == (near, link, tag, count)
            assert e.composite == pytest.approx(score)
            assert (e.a_to_b, e.b_to_a) == (e.b in facts.outgoing[e.a], e.a in facts.outgoing[e.b])


@pytest.mark.parametrize("size", [0, 1])
def test_a_vault_without_pairs_has_no_edges(size):
    facts = vault(size)
    assert list(all_edges(facts, PLAIN)) == []
    assert [list(edges_of(facts, PLAIN, node)) for node in range(size)] == [[]] * size


@pytest.mark.parametrize(("targets", "count"), [(20, 1), (21, 0)])
def test_a_note_that_links_to_too_many_says_nothing_of_them(targets, count):
    facts = vault(targets + 1, [(0, other) for other in range(1, targets + 1)])
    counts = {(e.a, e.b): e.comention_count for e in all_edges(facts, PLAIN)}
    assert counts.get((1, 2), 0) == count


def test_edges_at_a_hub_take_less_than_a_tenth_of_a_second():
    rng = random.Random(1)
    links = {(source, 0) for source in range(1, 2700)}
    links |= {(source, rng.randrange(2700, 12000)) for source in range(1, 2700) for _ in range(6)}
    vectors = unit(np.random.default_rng(1).normal(size=(12000, 384)))
    facts = _quick_vault(12000, links, vectors)
    took = min(_seconds(lambda: edges_of(facts, PLAIN, 0)) for _ in range(3))
    assert len(edges_of(facts, PLAIN, 0)) > 9000
    assert took < 0.1 * 5  # five times the promise, for slow machines


def _quick_vault(size, links, vectors):
    outgoing = [set() for _ in range(size)]
    for source, target in links:
        outgoing[source].add(target)
    paths = [f"{node:05}.md" for node in range(size)]
    lists = Lists(np.full((size, 8), NOBODY), np.zeros((size, 8)))
    return Complete(paths, paths, [frozenset(t) for t in outgoing], [{"t": "t"}] * size, vectors, lists)


def _seconds(call):
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
